//! The descriptor document: all that a pack declares, as it crosses the boundary in JSON.
//!
//! Unknown members are ignored, so the document may grow. An unknown value of a closed word, such as a
//! session kind, refuses the one tool that uses it: an older host must not guess.
//!
//! Spec: P-32, the descriptor document.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::refusal::Code;

/// What a pack declares. Tools and resources are read one by one, so that a bad one refuses itself alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PackDesc {
    /// The pack's crate name.
    pub name: String,
    /// The pack's own version.
    pub version: String,
    /// The plugin-api version that it was built against.
    pub api: String,
    /// Host operations without which the pack can't work, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// [`ToolDesc`] documents as texts, in listing order; the place is the entry number.
    pub tools: Vec<Box<RawValue>>,
    /// [`ResourceDesc`] documents as texts; the place is the entry number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Box<RawValue>>,
}

/// Which list shows a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Shown by `--tools core` and `--tools full`.
    Core,
    /// Shown by `--tools full` only.
    #[default]
    Full,
}

/// A way in which a tool can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// From an attached engine.
    Live,
    /// From the files, where a live path exists and no engine serves it.
    OfflineFallback,
    /// From the files, or by a process of its own; it has no live path.
    Local,
    /// From the server's own state.
    LocalStatus,
    /// Changes or reads which engine is attached.
    LocalSessionManagement,
    /// In none: the name is kept for older clients, and a call is refused with what to call instead. Since 1.2.
    Unimplemented,
}

impl Mode {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Live => "live",
            Mode::OfflineFallback => "offline_fallback",
            Mode::Local => "local",
            Mode::LocalStatus => "local_status",
            Mode::LocalSessionManagement => "local_session_management",
            Mode::Unimplemented => "unimplemented",
        }
    }
}

/// A kind of engine process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// The Godot editor.
    Editor,
    /// A running game.
    Game,
}

/// What a tool does to the world. Required; the four annotation hints are derived from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    /// Whether a call may change the project or the engine.
    pub mutates_project: bool,
    /// Whether a call changes the server's own session state.
    #[serde(default)]
    pub changes_server: bool,
    /// Whether a change can only add.
    #[serde(default)]
    pub only_adds: bool,
    /// Whether the same call twice lands in the same state.
    pub same_when_repeated: bool,
    /// Whether code of the project, or a tool chain, may run and reach beyond it.
    #[serde(default)]
    pub open_world: bool,
}

impl Effects {
    /// Reads and changes nothing.
    pub const READS: Effects = Effects {
        mutates_project: false,
        changes_server: false,
        only_adds: false,
        same_when_repeated: true,
        open_world: false,
    };
    /// Changes or removes what is there; a second call may do more.
    pub const CHANGES: Effects =
        Effects { mutates_project: true, same_when_repeated: false, ..Effects::READS };
    /// Sets something; a second identical call changes nothing.
    pub const SETS: Effects = Effects { mutates_project: true, ..Effects::READS };
    /// Adds, and never alters what is there.
    pub const ADDS: Effects = Effects { only_adds: true, ..Effects::CHANGES };
    /// Runs the project's own code in a process of its own.
    pub const EXECUTES: Effects = Effects { open_world: true, ..Effects::CHANGES };
}

/// When a call needs a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmation {
    /// Never.
    #[default]
    Never,
    /// Every call.
    Always,
    /// When the argument `overwrite` is true and the preview found something to replace.
    OnOverwrite,
}

/// Work that a success can leave undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Save the edited scene.
    Save,
    /// Restart the editor.
    Restart,
    /// Ask again for a job that still runs.
    Poll,
}

/// What a tool declares.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolDesc {
    /// `area_verb_noun`, 1 to 60 of `a-z 0-9 _`.
    pub name: String,
    /// Older names that still reach it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub legacy_names: Vec<String>,
    /// For display.
    pub title: String,
    /// Tells a model when to use it; ASCII.
    pub description: String,
    /// A closed object; see [`crate::schema`].
    pub input_schema: Value,
    /// Published only where a test checks it against a real answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Which list shows it.
    #[serde(default)]
    pub profile: Profile,
    /// Ways in which it can answer, best first.
    pub modes: Vec<Mode>,
    /// Kinds of engine that serve its live path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionKind>,
    /// Bridge methods that it may use, and no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bridge_methods: Vec<String>,
    /// What it does to the world.
    pub effects: Effects,
    /// When it has to be confirmed.
    #[serde(default)]
    pub confirmation: Confirmation,
    /// Whether it can read its target without changing it.
    #[serde(default)]
    pub previews: bool,
    /// What can cut its answer short; absent in an unbounded one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// Work that a success can leave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follow_ups: Vec<Work>,
    /// Whether it can run as a job under a `request_id`.
    #[serde(default)]
    pub job: bool,
    /// Sections that `fields` can choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<String>,
    /// Codes of its refusals, beside those of the host's gates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<Code>,
}

impl ToolDesc {
    /// Whether it is a name that is kept for older clients and does nothing.
    pub fn is_reserved(&self) -> bool {
        self.modes == [Mode::Unimplemented]
    }
}

/// A readable resource, or a template of several.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResourceDesc {
    /// A URI, or a template with one `{variable}`.
    pub uri: String,
    /// Listed instances of a template, as the variable's value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<String>,
    /// For programs.
    pub name: String,
    /// For people.
    pub title: String,
    /// What it holds.
    pub description: String,
    /// MIME type of the text.
    pub mime_type: String,
    /// Ways in which it can answer.
    pub modes: Vec<Mode>,
    /// Kinds of engine that it can be read from; none without a live path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionKind>,
    /// Bridge methods that a read may reach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bridge_methods: Vec<String>,
    /// File below the project whose change is announced to subscribers; may hold the `{variable}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<String>,
}
