use super::*;

fn filled(count: usize) -> LogRing {
    let ring = LogRing::new();
    for number in 1..=count {
        let level = if number % 2 == 0 { Level::Error } else { Level::Info };
        ring.push(level, "test", &format!("record {number}"), Value::Null);
    }
    ring
}

fn page(ring: &LogRing, cursor: u64, limit: usize) -> Page {
    ring.read(Query { cursor, limit: Some(limit), minimum_level: None }).unwrap()
}

fn sequences(page: &Page) -> Vec<u64> {
    page.records.iter().map(|record| record.sequence).collect()
}

#[test]
fn pages_follow_each_other_without_gap_or_repetition() {
    let ring = filled(7);
    let mut cursor = 0;
    let mut seen = vec![];
    loop {
        let page = page(&ring, cursor, 3);
        seen.extend(sequences(&page));
        cursor = page.next_cursor;
        if !page.has_more {
            break;
        }
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(cursor, 8);
    let empty = page(&ring, cursor, 3);
    assert_eq!((sequences(&empty), empty.next_cursor, empty.truncated), (vec![], 8, false));
}

#[test]
fn a_filter_does_not_hold_the_cursor_back() {
    let ring = filled(9);
    let query = Query { cursor: 0, limit: Some(500), minimum_level: Some(Level::Warning) };
    let page = ring.read(query).unwrap();
    assert_eq!(sequences(&page), [2, 4, 6, 8]);
    assert_eq!((page.next_cursor, page.has_more), (10, false));
}

#[test]
fn the_oldest_go_first_and_a_reader_is_told() {
    let ring = filled(MAX_RECORDS + 10);
    let first = page(&ring, 0, 1);
    assert_eq!((first.oldest_cursor, sequences(&first)), (11, vec![11]));
    assert!(first.dropped_before_cursor && first.truncated);
    assert!(page(&ring, 5, 1).dropped_before_cursor);
    assert!(!page(&ring, 11, 500).dropped_before_cursor);
}

#[test]
fn a_cursor_beyond_the_next_record_is_refused_with_the_next_one() {
    let ring = filled(3);
    assert!(ring.read(Query { cursor: 4, ..Query::default() }).is_ok());
    let refused = ring.read(Query { cursor: 5, ..Query::default() }).unwrap_err();
    assert_eq!(refused.code_name(), Some("cursor_ahead"));
    assert_eq!(refused.data["retry_with"]["cursor"], 4);
    assert!(ring.read(Query { limit: Some(0), ..Query::default() }).is_err());
    assert!(ring.read(Query { limit: Some(501), ..Query::default() }).is_err());
}

#[test]
fn long_messages_are_cut_at_a_character_and_long_details_are_left_out() {
    let ring = LogRing::new();
    ring.push(Level::Info, "test", &"é".repeat(MAX_MESSAGE_BYTES), Value::Null);
    ring.push(Level::Info, "test", "fits", Value::from("x".repeat(MAX_DETAILS_BYTES)));
    let page = page(&ring, 0, 10);
    assert_eq!(page.records[0].message.len(), MAX_MESSAGE_BYTES);
    assert!(page.records[0].message_truncated && page.truncated);
    assert_eq!(page.records[1].details, Value::Null);
}

#[test]
fn a_page_of_large_records_ends_early_and_says_so() {
    let ring = LogRing::new();
    for _ in 0..100 {
        ring.push(Level::Info, "test", &"x".repeat(MAX_MESSAGE_BYTES), Value::Null);
    }
    let first = page(&ring, 0, 500);
    assert!(first.has_more && first.records.len() < 100, "{}", first.records.len());
    assert_eq!(first.next_cursor, first.records.last().unwrap().sequence + 1);
}

#[test]
fn what_matters_is_found_from_a_sequence_on() {
    let ring = filled(6);
    let found = ring.since(4, Level::Warning);
    assert_eq!(found.iter().map(|record| record.sequence).collect::<Vec<_>>(), [4, 6]);
    assert!(ring.since(7, Level::Debug).is_empty());
    assert_eq!(ring.next_sequence(), 7);
}
