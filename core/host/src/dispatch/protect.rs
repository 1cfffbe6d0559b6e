//! Managed recovery around a call: an editor that is there before it is routed, a checkpoint before and after a change.
//!
//! Without an editor of the server's own nothing here does anything. Nothing is ever run a second time.
//!
//! Spec: P-58, managed recovery.

use std::{sync::Arc, time::Duration};

use didi_plugin_api::{
    desc::{Confirmation, Mode, ToolDesc},
    outcome::Fact,
    refusal::{Refusal, codes},
};
use serde_json::{Map, Value, json};

use crate::{
    answer::{self, Outcome, Success},
    cancel::Cancel,
    jobs::Ticket,
    recovery::{
        EDITOR_RESTARTED, Ensured, MANAGED_SESSION, Operation, OperationResult, PROTECTION_FAILED,
        Recovery,
    },
};

/// How often a caller that waits for its job looks whether it is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Tools that recovery itself is made of.
const OWN: [&str; 4] = [
    "runtime_checkpoint",
    "runtime_recover_editor",
    "runtime_recovery_status",
    "runtime_restore_checkpoint",
];

/// Tools that would take the server's editor from it.
const BY_HAND: [&str; 2] = ["runtime_attach_session", "runtime_detach_session"];

/// Whether recovery leaves a call as it is: its own business, or a name that does nothing.
fn is_left_alone(desc: &ToolDesc) -> bool {
    OWN.contains(&desc.name.as_str()) || desc.is_reserved()
}

/// Before a call is routed: waits for the editor, and starts one that was lost, once.
///
/// # Errors
/// `managed_session`; `needs_reconciliation`; `editor_restarted` for a change whose editor had to be started anew.
pub(super) fn before_routing(
    recovery: &Recovery,
    desc: &ToolDesc,
    arguments: &Map<String, Value>,
    has_word: bool,
) -> Result<(), Refusal> {
    if BY_HAND.contains(&desc.name.as_str()) {
        let message = "this server owns its editor, which is not attached or detached by hand";
        let refusal = Refusal::new(MANAGED_SESSION, message)
            .next_call("runtime_recovery_status", "says how the owned editor stands");
        return Err(recovery.with_receipt(refusal));
    }
    if is_left_alone(desc) || !is_authorized(desc.confirmation, arguments, has_word) {
        return Ok(());
    }
    if desc.effects.mutates_project {
        recovery.check_settled()?;
    }
    if recovery.ensure_editor() == Ensured::Same || !desc.effects.mutates_project {
        return Ok(());
    }
    let message = format!(
        "the editor had ended and was started anew, and `{}` was not started: look at what is there now",
        desc.name
    );
    let refusal = Refusal::new(EDITOR_RESTARTED, message)
        .with("outcome", "not_started")
        .next_call("runtime_recovery_status", "says how things stand after the restart");
    Err(recovery.with_receipt(refusal))
}

/// Whether a call would run: a dry run does not, nor does a change that still has to be confirmed.
fn is_authorized(rule: Confirmation, arguments: &Map<String, Value>, has_word: bool) -> bool {
    let is_set = |name: &str| arguments.get(name) == Some(&Value::Bool(true));
    let needs_word = match rule {
        Confirmation::Never => false,
        Confirmation::Always => true,
        Confirmation::OnOverwrite => is_set("overwrite"),
    };
    !is_set("dry_run") && (!needs_word || has_word || arguments.contains_key("confirmation_token"))
}

/// Runs a change between its two checkpoints; anything else as it is.
pub(super) fn around(
    recovery: Option<&Arc<Recovery>>,
    desc: &ToolDesc,
    run: impl FnOnce() -> (Outcome, Vec<Fact>),
    refused: impl FnOnce(Refusal) -> Outcome,
) -> Outcome {
    let recovery = recovery.filter(|_| desc.effects.mutates_project && !is_left_alone(desc));
    let Some(recovery) = recovery else { return run().0 };
    let _turn = recovery.turn();
    let operation = match recovery.protect(&desc.name) {
        Ok(operation) => operation,
        Err(refusal) => return refused(refusal),
    };
    let (mut outcome, facts) = run();
    outcome.body = match outcome.body {
        Ok(success) => protected(recovery, &operation, success, &facts, outcome.mode),
        Err(refusal) => {
            if is_uncertain(&refusal, outcome.mode, || recovery.has_moved()) {
                recovery.unknown(&operation);
            } else {
                recovery.not_started(&operation);
            }
            Err(recovery.with_receipt(refusal))
        }
    };
    outcome
}

/// Whether nobody knows what a refused change did.
///
/// A refusal of the caller's own making did nothing. What broke on the way did what the files tell: where they are as
/// they were (`has_moved`), only a live engine can have changed something that they do not show.
fn is_uncertain(refusal: &Refusal, mode: Mode, has_moved: impl FnOnce() -> bool) -> bool {
    match refusal.data.get("outcome").and_then(Value::as_str) {
        Some("not_started") => return false,
        Some("unknown_outcome") => return true,
        _ => {}
    }
    let broke_off = refusal.code.status >= 500 || refusal.code == codes::CANCELLED;
    // The pack or the extension broke, or nobody waited for the answer: whatever it was doing was begun.
    let in_memory =
        mode == Mode::Live && (refusal.code == codes::CANCELLED || refusal.code.status == 500);
    broke_off && (in_memory || has_moved())
}

fn protected(
    recovery: &Recovery,
    operation: &Operation,
    success: Success,
    facts: &[Fact],
    mode: Mode,
) -> Result<Success, Refusal> {
    let leaves_scene = mode == Mode::Live && facts.contains(&Fact::SceneSaved(false));
    match recovery.done(operation, leaves_scene) {
        Ok(saved) => Ok(with_receipt(success, &recovery.receipt(), saved)),
        Err((outcome, why)) => Err(unprotected(recovery, &success, outcome, &why)),
    }
}

/// The answer with the receipt in it; a scene that was saved is nothing left to do.
fn with_receipt(success: Success, receipt: &Value, saved: bool) -> Success {
    let mut data: Map<String, Value> =
        serde_json::from_str(success.structured.get()).unwrap_or_default();
    if saved {
        data.insert("scene_saved".into(), true.into());
        if let Some(Value::Array(steps)) = data.get_mut("follow_up") {
            steps.retain(|step| step["work"] != "save");
        }
        if data.get("follow_up") == Some(&json!([])) {
            data.shift_remove("follow_up");
        }
    }
    data.insert("recovery".into(), receipt.clone());
    Success { structured: answer::whole(&data), ..success }
}

fn unprotected(
    recovery: &Recovery,
    success: &Success,
    outcome: OperationResult,
    why: &str,
) -> Refusal {
    let applied: Value = serde_json::from_str(success.structured.get()).unwrap_or_default();
    let message = format!("the change is done, and was not protected: {why}");
    let refusal = Refusal::new(PROTECTION_FAILED, message)
        .with("outcome", json!(outcome))
        .with("applied_answer", applied)
        .next_call(
            "runtime_recovery_status",
            "says how things stand; do not send the change again",
        );
    recovery.with_receipt(refusal)
}

/// Under managed recovery a job's call waits for its job; a caller that gives up cancels it.
pub(super) fn wait_for_job(recovery: Option<&Arc<Recovery>>, ticket: &Ticket, cancel: &Cancel) {
    if recovery.is_none() {
        return;
    }
    while ticket.wait(LOOK_EVERY).is_none() {
        if cancel.is_raised() {
            ticket.cancel();
            return;
        }
    }
}

#[cfg(test)]
mod tests;
