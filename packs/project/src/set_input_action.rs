//! `project_set_input_action`: defines an input action.
//!
//! Spec: P-50, settings.

use didi_plugin_api::{
    prelude::*,
    records::{Kind, Member},
};

use crate::set_autoload::{EDITOR, FILE_NOT_WRITABLE};

#[cfg(test)]
mod tests;

const METHOD: &str = "project.setInputAction";

/// The project's entry for the action can't be read.
const MALFORMED_ENTRY: Code = Code::new(409, "malformed_input_map_entry");

/// -1 is every device.
const DEVICE: Member = ("device", Rule::Whole(-1, 31), false);

/// What an event of each kind holds; the modifiers have two spellings.
const EVENTS: &[Kind] = &[
    (
        "key",
        &[
            ("keycode", Rule::Whole(0, 2_147_483_647), false),
            ("physical_keycode", Rule::Whole(0, 2_147_483_647), false),
            ("unicode", Rule::Whole(0, 0x10_FFFF), false),
            ("shift", Rule::Flag, false),
            ("alt", Rule::Flag, false),
            ("ctrl", Rule::Flag, false),
            ("meta", Rule::Flag, false),
            ("shift_pressed", Rule::Flag, false),
            ("alt_pressed", Rule::Flag, false),
            ("ctrl_pressed", Rule::Flag, false),
            ("meta_pressed", Rule::Flag, false),
            DEVICE,
        ],
    ),
    ("mouse_button", &[("button_index", Rule::Whole(1, 9), true), DEVICE]),
    ("joypad_button", &[("button_index", Rule::Whole(0, 127), true), DEVICE]),
    (
        "joypad_motion",
        &[("axis", Rule::Whole(0, 9), true), ("axis_value", Rule::Number(-1.0, 1.0), true), DEVICE],
    ),
];

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 256))]
    action: String,
    #[serde(default = "fifth")]
    #[schemars(range(min = 0.0, max = 1.0))]
    deadzone: f64,
    /// By `type`: `key {keycode|physical_keycode|unicode, shift, alt, ctrl, meta}`, `mouse_button {button_index}`,
    /// `joypad_button {button_index}`, `joypad_motion {axis, axis_value}`; `device` -1 is all.
    #[serde(default)]
    #[schemars(length(max = 64))]
    events: Vec<Record>,
    #[serde(default)]
    replace: bool,
}

fn fifth() -> f64 {
    0.2
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "project_set_input_action",
        "Adds or replaces an input action in project.godot; a game has it when it starts.",
        Effects::SETS,
        EDITOR,
        METHOD,
    )
    .core()
    .probed(METHOD, |args: &Args| &args.action)
    .checked(check)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::ALREADY_EXISTS,
        codes::CONFLICT,
        FILE_NOT_WRITABLE,
        MALFORMED_ENTRY,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    if args.action.chars().any(|letter| letter.is_control() || "/=\"".contains(letter)) {
        return Err(Refusal::invalid(
            "action",
            "an action's name holds no control letter and none of `/ = \"`",
        ));
    }
    records::check("events", "type", EVENTS, &args.events)?;
    let keys = args.events.iter().enumerate().filter(|(_, event)| event.0["type"] == "key");
    for (place, Record(event)) in keys {
        if !["keycode", "physical_keycode", "unicode"].iter().any(|key| event.contains_key(*key)) {
            let message = format!(
                "`events[{place}]`: one of `keycode`, `physical_keycode` and `unicode` is needed"
            );
            return Err(Refusal::invalid("events", message));
        }
    }
    Ok(())
}
