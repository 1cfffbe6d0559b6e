//! Work that goes on in the editor after its call was answered: begun, then looked at until it has ended.
//!
//! An editor holds its commands back while it imports, so the work is named at once and its state read beside it.
//!
//! Spec: P-8, jobs; P-50, settings.

use std::time::Duration;

use didi_plugin_api::prelude::*;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(250);

/// How long after its own limit the work may still tell its end, in milliseconds.
const GRACE_MS: u64 = 5000;

/// A method that begins work, the one that tells how it goes on, and the member that names the work in both.
pub(crate) struct Detached {
    pub(crate) begin: &'static str,
    pub(crate) status: &'static str,
    pub(crate) id: &'static str,
}

impl Detached {
    /// Begins the work, which takes at most `limit_ms`, and answers its end; `late` is refused when there is none.
    pub(crate) fn run(
        &self,
        ctx: &Ctx<'_>,
        mut params: Value,
        limit_ms: u64,
        late: impl FnOnce() -> Refusal,
    ) -> ToolResult {
        params["detach_timeout_ms"] = limit_ms.into();
        let end = ctx.now_ms() + limit_ms + GRACE_MS;
        let mut state = ctx.bridge_call(self.begin, params)?;
        let name = json!({ self.id: state[self.id] });
        while state["status"] == "accepted" || state["state"] == "working" {
            if ctx.now_ms() > end {
                return Err(late());
            }
            ctx.pause(PAUSE)?;
            state = ctx.bridge_call(self.status, &name)?;
        }
        if let Some(members) = state.as_object_mut() {
            members.remove("state");
            if !ctx.is_job() {
                // Nobody can ask for it by that name any more.
                members.remove(self.id);
            }
        }
        Answer::of_engine(state)
    }
}
