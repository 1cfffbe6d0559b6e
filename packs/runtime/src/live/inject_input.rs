//! `runtime_inject_input`: input as the game would get it from its devices.
//!
//! Spec: P-54, running games.

use didi_plugin_api::{prelude::*, records::Kind};

use super::{GAME, INPUT_QUEUE_FULL};

const METHOD: &str = "runtime.injectInput";

const DEVICE: (&str, Rule, bool) = ("device", Rule::Whole(-1, 31), false);

/// What an event of each kind holds.
const EVENTS: &[Kind] = &[
    (
        "action",
        &[
            ("action_name", Rule::Text(128), true),
            ("pressed", Rule::Flag, true),
            ("strength", Rule::Number(0.0, 1.0), false),
        ],
    ),
    (
        "key",
        &[
            ("pressed", Rule::Flag, true),
            ("keycode", Rule::Whole(0, 2_147_483_647), false),
            ("physical_keycode", Rule::Whole(0, 2_147_483_647), false),
            ("unicode", Rule::Whole(0, 0x10_FFFF), false),
            ("echo", Rule::Flag, false),
            ("shift_pressed", Rule::Flag, false),
            ("alt_pressed", Rule::Flag, false),
            ("ctrl_pressed", Rule::Flag, false),
            ("meta_pressed", Rule::Flag, false),
            DEVICE,
        ],
    ),
    (
        "mouse_button",
        &[
            ("button_index", Rule::Whole(1, 9), true),
            ("pressed", Rule::Flag, true),
            ("position", Rule::Point, false),
            ("global_position", Rule::Point, false),
            ("double_click", Rule::Flag, false),
            ("factor", Rule::Number(0.0, 8.0), false),
            DEVICE,
        ],
    ),
    (
        "mouse_motion",
        &[
            ("position", Rule::Point, false),
            ("global_position", Rule::Point, false),
            ("relative", Rule::Point, false),
            DEVICE,
        ],
    ),
    (
        "joypad_button",
        &[
            ("button_index", Rule::Whole(0, 21), true),
            ("pressed", Rule::Flag, true),
            ("pressure", Rule::Number(0.0, 1.0), false),
            ("device", Rule::Whole(0, 31), false),
        ],
    ),
    (
        "joypad_motion",
        &[
            ("axis", Rule::Whole(0, 5), true),
            ("axis_value", Rule::Number(-1.0, 1.0), true),
            ("device", Rule::Whole(0, 31), false),
        ],
    ),
    ("window_focus", &[("focused", Rule::Flag, true)]),
];

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// By `type`: `action {action_name, pressed, strength}`, `key {keycode|physical_keycode|unicode, pressed, echo, *_pressed}`,
    /// `mouse_button {button_index, pressed, position, double_click}`, `mouse_motion {position, relative}`,
    /// `joypad_button {button_index, pressed}`, `joypad_motion {axis, axis_value}`, `window_focus {focused}`; window pixels.
    #[schemars(length(min = 1, max = 32))]
    events: Vec<Record>,
    #[serde(default)]
    target_context: Context,
    /// A paused game's batch.
    #[serde(default)]
    paused_delivery: Delivery,
}

#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Context {
    #[default]
    GameInput,
}

#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Delivery {
    #[default]
    Hold,
    Now,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "runtime_inject_input",
        "Sends input events to the running game, all or none; action names are the project's own.",
        Effects::CHANGES,
        GAME,
        METHOD,
    )
    .core()
    .legacy("inject_input_event")
    // 32 events with their bounds stay below the 32 KiB that a request may have.
    .checked(|args: &Args| records::check("events", "type", EVENTS, &args.events))
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::RESPONSE_TOO_LARGE,
        codes::SESSION_KIND_REJECTED,
        INPUT_QUEUE_FULL,
        codes::UNKNOWN_OUTCOME,
    ])
}
