//! Counts identical failures in a row, and says so from the second on. Nothing is refused for it.
//!
//! Spec: P-27, repeated failures.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use didi_plugin_api::refusal::{REMEDY_FIELDS, Refusal};
use serde_json::json;

/// Calls that are remembered at the most; the set is emptied beyond it.
const MAX_CALLS: usize = 256;

/// Failures in a row, by caller, tool and arguments.
#[derive(Default)]
pub struct Repeats {
    failures: Mutex<BTreeMap<String, (String, u32)>>,
}

impl Repeats {
    /// Notes how a call ended, and adds `repeated` to a failure that was seen just before.
    ///
    /// `call` names the caller, the tool and the arguments without the confirmation token.
    pub fn note<T>(&self, call: &str, result: &mut Result<T, Refusal>) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let Err(refusal) = result else {
            failures.remove(call);
            return;
        };
        let code = refusal.code.name.to_string();
        let count = match failures.get(call) {
            Some((last, count)) if *last == code => count + 1,
            _ => 1,
        };
        if failures.len() >= MAX_CALLS {
            failures.clear();
        }
        failures.insert(call.to_owned(), (code, count));
        if count < 2 {
            return;
        }
        let follow = REMEDY_FIELDS.iter().find(|field| refusal.data.contains_key(**field));
        let note = "the same call failed the same way; act on the named field before calling again";
        refusal.data.insert(
            "repeated".into(),
            json!({"count": count, "follow": follow.unwrap_or(&"no_remedy"), "note": note}),
        );
    }
}

#[cfg(test)]
mod tests {
    use didi_plugin_api::refusal::{Refusal, codes};

    use super::Repeats;

    #[test]
    fn the_second_identical_failure_says_so_and_a_success_starts_anew() {
        let repeats = Repeats::default();
        let fail = |code| {
            let mut failed: Result<(), _> = Err(Refusal::new(code, "no").field("x"));
            repeats.note("call", &mut failed);
            failed.unwrap_err().data.get("repeated").cloned()
        };
        assert_eq!(fail(codes::NOT_FOUND), None);
        let second = fail(codes::NOT_FOUND).unwrap();
        assert_eq!((second["count"].as_u64(), second["follow"].as_str()), (Some(2), Some("field")));
        assert_eq!(fail(codes::CONFLICT), None);
        assert!(fail(codes::CONFLICT).is_some());
        repeats.note("call", &mut Ok(()));
        assert_eq!(fail(codes::CONFLICT), None);
    }
}
