use std::time::Duration;

use didi_plugin_api::outcome::Target;
use proptest::prelude::*;
use serde_json::json;

use super::{Action, Approvals, Said};

fn target(text: &str, exists: bool) -> Target {
    Target::read("res://a.gd", exists, json!({"sha256": text}))
}

fn approvals() -> Approvals {
    Approvals::new(Duration::from_secs(120))
}

#[test]
fn a_token_is_good_once_for_what_it_was_minted_for() {
    let store = approvals();
    let seen = target("one", true);
    let token = store.mint_token("call", Some(&seen));
    assert_eq!(token.len(), 64);
    store.spend_token(&token, "call", Some(&seen)).unwrap();
    assert_eq!(store.spend_token(&token, "call", Some(&seen)).unwrap_err().code.name, "gone");
    let token = store.mint_token("call", Some(&seen));
    assert_eq!(store.spend_token(&token, "other", Some(&seen)).unwrap_err().code.name, "gone");
    assert_eq!(
        store.spend_token(&token, "call", Some(&seen)).unwrap_err().code.name,
        "gone",
        "a failed try spends it"
    );
}

#[test]
fn a_changed_target_is_refused_and_a_removed_one_is_not() {
    let store = approvals();
    let token = store.mint_token("call", Some(&target("one", true)));
    let refusal = store.spend_token(&token, "call", Some(&target("two", true))).unwrap_err();
    assert_eq!((refusal.code.status, &refusal.data["target_changed"]), (409, &json!(true)));
    let token = store.mint_token("call", Some(&target("one", true)));
    store.spend_token(&token, "call", Some(&target("none", false))).unwrap();
}

#[test]
fn a_token_past_its_time_is_refused() {
    let store = Approvals::new(Duration::ZERO);
    let token = store.mint_token("call", None);
    assert_eq!(store.spend_token(&token, "call", None).unwrap_err().code.status, 410);
}

#[test]
fn an_offer_can_not_be_changed_moved_or_used_twice() {
    let store = approvals();
    let state = store.mint_offer("call", None);
    let say = |state: &str, action| Said { state: state.into(), action };
    let accept = say(&state, Action::Accept);
    assert_eq!(store.spend_offer(&accept, "other", None).unwrap_err().code.name, "gone");
    store.spend_offer(&accept, "call", None).unwrap();
    assert_eq!(store.spend_offer(&accept, "call", None).unwrap_err().code.name, "gone");
    let foreign = approvals().mint_offer("call", None);
    assert!(!store.is_own_state(&foreign));
    for (action, remedy) in [(Action::Decline, "no_remedy"), (Action::Cancel, "retry_after_ms")] {
        let said = say(&store.mint_offer("call", None), action);
        let refusal = store.spend_offer(&said, "call", None).unwrap_err();
        assert_eq!(refusal.code.name, "not_approved");
        assert!(refusal.data.contains_key(remedy));
    }
}

#[test]
fn a_seal_has_one_spelling() {
    let store = approvals();
    let (mut signs, mut cases) = (0, 0);
    for _ in 0..64 {
        let state = store.mint_offer("call", None);
        let (text, seal) = state.split_once('.').unwrap();
        if let Some(place) = (0..64).step_by(2).find(|place| &seal[*place..=*place] == "0") {
            let signed = format!("{text}.{}+{}", &seal[..place], &seal[place + 1..]);
            assert!(!store.is_own_state(&signed), "{signed}");
            signs += 1;
        }
        let shouted = format!("{text}.{}", seal.to_uppercase());
        assert_eq!(store.is_own_state(&shouted), shouted == state);
        cases += usize::from(shouted != state);
    }
    assert!(signs > 20 && cases > 60, "{signs} {cases}");
}

proptest! {
    #[test]
    fn no_changed_state_opens(at in 0usize..200, byte in any::<u8>()) {
        let store = approvals();
        let state = store.mint_offer("call", None);
        let mut bytes = state.clone().into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        let changed = String::from_utf8_lossy(&bytes).into_owned();
        prop_assert!(changed == state || !store.is_own_state(&changed));
    }
}
