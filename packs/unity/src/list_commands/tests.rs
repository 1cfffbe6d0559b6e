//! Tests of lists that are longer than an answer.

use serde_json::{Value, json};

use super::{MAX_ENTRY_BYTES, MAX_LIST_BYTES, first};

#[test]
fn a_list_is_cut_between_its_entries() {
    let entry = json!({"name": "a", "description": "x".repeat(10_000)});
    let taken = first(Value::Array(vec![entry.clone(); 100]));
    let size: usize = taken.iter().map(|entry| entry.to_string().len()).sum();
    assert!(size <= MAX_LIST_BYTES && size + 20_000 > MAX_LIST_BYTES, "{size}");
    assert!(taken.iter().all(|taken| *taken == entry));
    assert_eq!(first(json!("no list")), Vec::<Value>::new());
}

#[test]
fn an_entry_that_is_too_long_by_itself_is_told_by_its_size() {
    let entry = json!({"name": "a", "description": "x".repeat(MAX_LIST_BYTES)});
    let taken = first(json!([entry, {"name": "b"}]));
    assert_eq!(taken.len(), 2, "the list goes on behind it");
    assert_eq!(taken[0]["truncated"], true);
    assert_eq!(taken[0]["begins"].as_str().unwrap().len(), MAX_ENTRY_BYTES);
}
