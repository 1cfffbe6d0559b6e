//! Tests of lists that are longer than an answer.

use serde_json::json;

use super::{MAX_ENTRY_BYTES, MAX_LIST_BYTES, first};
use crate::ask::Cutter;

#[test]
fn a_list_is_cut_between_its_entries() {
    let entry = json!({"name": "a", "description": "x".repeat(10_000)});
    let taken = first(vec![entry.clone(); 100], &mut Cutter::default());
    let size: usize = taken.iter().map(|entry| entry.to_string().len()).sum();
    assert!(size <= MAX_LIST_BYTES && size + 20_000 > MAX_LIST_BYTES, "{size}");
    assert!(taken.iter().all(|taken| *taken == entry));
}

#[test]
fn an_entry_that_is_too_long_by_itself_is_told_by_its_name_and_size() {
    let entry = json!({"name": "a", "description": "x".repeat(MAX_LIST_BYTES)});
    let mut cutter = Cutter::default();
    let taken = first(vec![entry, json!({"name": "b"})], &mut cutter);
    assert!(cutter.has_cut);
    assert_eq!(taken.len(), 2, "the list goes on behind it");
    assert_eq!((&taken[0]["truncated"], &taken[0]["name"]), (&json!(true), &json!("a")));
    assert_eq!(taken[0]["begins"].as_str().unwrap().len(), MAX_ENTRY_BYTES);
}
