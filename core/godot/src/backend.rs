//! Commands carried out: looked up in the table of methods, with the editor's undo histories read around them.

use std::sync::Arc;

use didi_engine::{Backend, Call, Step, server::Shared};
use didi_wire::{BridgeError, SessionKind};

use crate::{
    background,
    change::{self, Change},
    dialogs,
    edit::{
        group,
        history::{self, Histories},
    },
    methods::{self, Context, Run},
    waiting::{self, Readiness},
};

/// This engine as the bridge sees it.
pub(crate) struct GodotBackend {
    context: Context,
    readiness: Readiness,
}

impl GodotBackend {
    pub(crate) fn new(kind: SessionKind, shared: Arc<Shared>) -> Self {
        GodotBackend { context: Context { kind, shared }, readiness: Readiness::new(kind) }
    }
}

impl Backend for GodotBackend {
    fn begin(&mut self, call: &Call) -> Step {
        group::run(call.undo_group.as_ref(), || self.run(call))
    }

    fn each_frame(&mut self) {
        background::look();
        let activity = &self.context.shared.activity;
        activity.frame(self.readiness.has_started(), waiting::is_importing());
        if self.context.kind == SessionKind::Editor {
            activity.look_at_dialogs(dialogs::open);
        }
    }

    fn is_ready(&mut self) -> bool {
        self.readiness.look()
    }
}

impl GodotBackend {
    fn run(&self, call: &Call) -> Step {
        let Some(run) = methods::find(call.method.name) else {
            let message = format!("`{}` is not built into this extension", call.method.name);
            return Step::Done(Err(BridgeError::new(501, "not_implemented", message)));
        };
        let (context, params) = (&self.context, &call.params);
        match run {
            Run::Now(run) => self.with_steps(|| Step::Done(run(context, params))),
            Run::Change(plan) => self.with_steps(|| {
                plan(context, params).map_or_else(|error| Step::Done(Err(error)), Change::make)
            }),
            Run::Later(run) => change::begun(run(context, params)),
        }
    }

    /// Runs what ends in this frame, and tells the steps that the histories gained by it.
    fn with_steps(&self, command: impl FnOnce() -> Step) -> Step {
        let before = Histories::read(self.context.kind);
        let mut step = command();
        if let Step::Done(answer) = &mut step {
            history::tell(answer, before.as_ref());
        }
        step
    }
}
