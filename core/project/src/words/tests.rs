use didi_formats::uid;
use proptest::prelude::*;

use super::Words;

#[test]
fn whole_words_are_found_and_parts_of_words_are_not() {
    let words = Words::of(b"[node name=\"Lamp Post\" parent=\"A/B\"]\nspeed_1 = 3d\nlast");
    for there in ["Lamp", "Lamp Post", "A/B", "speed_1", "last", "name", "", "= 3d", "..."] {
        assert!(words.may_hold(there), "{there}");
    }
    for not_there in ["Lam", "speed", "Post Lamps", "d", "lamp"] {
        assert!(!words.may_hold(not_there), "{not_there}");
    }
}

#[test]
fn a_word_behind_an_escape_is_found() {
    let words = Words::of(r#"text = "a\nspeed\tüber""#.as_bytes());
    assert!(words.may_hold("speed") && words.may_hold("über"));
}

#[test]
fn a_uid_is_found_however_it_is_spelled() {
    let words = Words::of(b"uid=\"uid://dk3q8n5w1x2yz\" other=\"uid://\"");
    let number = uid::number("uid://dk3q8n5w1x2yz").unwrap();
    assert!(words.may_hold_uid(number));
    assert!(!words.may_hold_uid(number + 1));
    assert!(words.may_hold("uid"));
}

#[test]
fn a_file_of_which_nothing_is_known_may_hold_everything() {
    assert!(Words::unknown().may_hold("anything") && Words::unknown().may_hold_uid(7));
    assert!(!Words::of(b"").may_hold("anything"));
}

#[test]
fn few_words_that_are_not_there_seem_to_be() {
    let text: Vec<String> = (0..20_000).map(|count| format!("word_{count}")).collect();
    let text = text.join(" ");
    let words = Words::of(text.as_bytes());
    let wrong = (0..10_000).filter(|count| words.may_hold(&format!("other_{count}"))).count();
    assert!(wrong < 300, "{wrong} of 10,000");
}

proptest! {
    #[test]
    fn every_text_holds_its_own_pieces_between_marks(text in "[a-z_0-9./\" \\\\é]{0,200}") {
        let words = Words::of(text.as_bytes());
        for piece in text.split(['/', '"', '.', ' ']) {
            prop_assert!(words.may_hold(piece) || piece.contains('\\'));
        }
    }
}
