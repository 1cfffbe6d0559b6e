use super::*;

#[test]
fn a_token_matches_itself_alone() {
    let token = SessionToken::random();
    let text = token.reveal().to_owned();
    assert!(token.matches(&text));
    for at in 0..text.len() {
        let mut other = text.clone().into_bytes();
        other[at] = if other[at] == b'0' { b'1' } else { b'0' };
        assert!(!token.matches(std::str::from_utf8(&other).unwrap()), "differs at {at}");
    }
    assert!(!token.matches(""));
    assert!(!token.matches(&text[..63]));
    assert!(!token.matches(&(text + "0")));
}

#[test]
fn only_64_lower_case_hex_digits_are_a_token() {
    let text = SessionToken::random().reveal().to_owned();
    assert_eq!(SessionToken::parse(&text).unwrap().reveal(), text);
    assert!(SessionToken::parse(&text[1..]).is_none());
    assert!(SessionToken::parse(&"A".repeat(64)).is_none());
    assert!(SessionToken::parse(&"g".repeat(64)).is_none());
}

#[test]
fn debug_does_not_show_it() {
    let token = SessionToken::random();
    let shown = format!("{token:?}");
    assert_eq!(shown, "SessionToken(..)");
}

#[test]
fn two_random_tokens_differ() {
    assert_ne!(SessionToken::random(), SessionToken::random());
}
