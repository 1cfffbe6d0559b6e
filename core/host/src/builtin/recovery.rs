//! The four tools of managed recovery. Without an editor of the server's own each says how to get one.
//!
//! Spec: P-58, managed recovery.

use std::sync::Arc;

use didi_plugin_api::prelude::*;

use super::State;
use crate::recovery::{MANAGED_MODE_DISABLED, NEEDS_RECONCILIATION, RECOVERY_FAILED, Recovery};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckpointArgs {
    /// Take uncertain saved files as they are, after they were looked at.
    #[serde(default)]
    accept_current_files: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RestoreArgs {
    /// From the recovery status.
    #[schemars(length(min = 1, max = 256))]
    checkpoint_id: String,
}

/// The four tools; a server with an editor of its own shows them in every profile, as its refusals name them.
pub fn tools(state: &Arc<State>) -> Vec<Tool> {
    let tools = declared(state).into_iter();
    if state.recovery.is_some() { tools.map(Tool::core).collect() } else { tools.collect() }
}

fn declared(state: &Arc<State>) -> Vec<Tool> {
    let of = || Arc::clone(state);
    let (status, taking, recovering, restoring) = (of(), of(), of(), of());
    let (taken, recovered, restored) = (of(), of(), of());
    vec![
        Tool::new(
            "runtime_recovery_status",
            "How the server's own editor stands, its checkpoints, and what to do next. Starts nothing.",
            Effects::READS,
            move |_, _: NoArgs| Answer::of(managed(&status)?.status()),
        )
        .refuses(&[MANAGED_MODE_DISABLED]),
        Tool::new(
            "runtime_checkpoint",
            "Keeps the saved project files as a checkpoint, in managed mode.",
            Effects::ADDS,
            move |_, args: CheckpointArgs| checkpoint(&taking, &args),
        )
        .preview(move |_, _: CheckpointArgs| {
            let recovery = managed(&taken)?;
            Ok(Target::read("checkpoint", true, recovery.receipt()))
        })
        .refuses(&[MANAGED_MODE_DISABLED, NEEDS_RECONCILIATION, RECOVERY_FAILED]),
        Tool::new(
            "runtime_recover_editor",
            "Starts the server's own editor anew after it ended as it should not; once.",
            Effects::EXECUTES,
            move |_, _: NoArgs| {
                let recovery = managed(&recovering)?;
                let state = recovery.recover()?;
                Answer::of(json!({"state": state, "recovery": recovery.receipt()}))
            },
        )
        .preview(move |_, _: NoArgs| {
            let recovery = managed(&recovered)?;
            Ok(Target::read("editor", true, recovery.receipt()))
        })
        .refuses(&[MANAGED_MODE_DISABLED, RECOVERY_FAILED]),
        Tool::new(
            "runtime_restore_checkpoint",
            "Puts a checkpoint in the place of the managed project and starts an editor on it.",
            Effects::EXECUTES,
            move |_, args: RestoreArgs| restore(&restoring, &args),
        )
        .confirm(Confirmation::Always)
        .preview(move |_, args: RestoreArgs| {
            let found = kept(managed(&restored)?, &args.checkpoint_id)?;
            Ok(Target::read(&args.checkpoint_id, true, found))
        })
        .refuses(&[MANAGED_MODE_DISABLED, codes::NOT_FOUND, RECOVERY_FAILED]),
    ]
}

fn managed(state: &State) -> Result<&Arc<Recovery>, Refusal> {
    state.recovery.as_ref().ok_or_else(|| {
        Refusal::new(MANAGED_MODE_DISABLED, "this server has no editor of its own")
            .restart_with("--managed-editor GODOT and --recovery-workspace NEW_DIR")
    })
}

fn checkpoint(state: &State, args: &CheckpointArgs) -> ToolResult {
    let recovery = managed(state)?;
    let _turn = recovery.turn();
    let id = recovery.checkpoint(args.accept_current_files)?;
    Answer::of(json!({"checkpoint_id": id, "recovery": recovery.receipt()}))
}

fn restore(state: &State, args: &RestoreArgs) -> ToolResult {
    let recovery = managed(state)?;
    kept(recovery, &args.checkpoint_id)?;
    let _turn = recovery.turn();
    let state = recovery.restore(&args.checkpoint_id)?;
    Answer::of(json!({
        "checkpoint_id": args.checkpoint_id,
        "state": state,
        "recovery": recovery.receipt(),
    }))
}

fn kept(recovery: &Recovery, id: &str) -> Result<Value, Refusal> {
    recovery.describe(id).ok_or_else(|| {
        Refusal::new(codes::NOT_FOUND, format!("no checkpoint `{id}` is kept"))
            .with("field", "checkpoint_id")
            .next_call("runtime_recovery_status", "lists the checkpoints that are kept")
    })
}
