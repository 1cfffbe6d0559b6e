//! `audio_add_bus`: one more bus at the end of the editor's layout.
//!
//! Spec: P-52, audio buses.

use didi_plugin_api::prelude::*;

use super::{EDITOR, codes};

const METHOD: &str = "audio.addBus";

/// There is a bus of this name.
const NAME_IN_USE: Code = Code::new(409, "bus_name_in_use");
/// There is one that differs in upper and lower case alone.
const NAME_DIFFERS_IN_CASE: Code = Code::new(409, "bus_name_differs_only_in_case");
/// The engine gave it another name.
const NAME_CHANGED: Code = Code::new(409, "bus_name_changed_by_engine");
/// There is no bus to feed.
const SEND_NOT_FOUND: Code = Code::new(404, "send_bus_not_found");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 256))]
    name: String,
    /// The bus that it feeds.
    #[serde(default = "master")]
    #[schemars(length(min = 1, max = 256))]
    send: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -80, max = 24))]
    volume_db: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mute: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solo: Option<bool>,
}

fn master() -> String {
    "Master".into()
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "audio_add_bus",
        "Adds an audio bus to the editor's layout and waits until the layout's file has it.",
        Effects::ADDS,
        EDITOR,
        METHOD,
    )
    .probed(METHOD, |args: &Args| &args.name)
    .checked(check)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        NAME_IN_USE,
        NAME_DIFFERS_IN_CASE,
        NAME_CHANGED,
        SEND_NOT_FOUND,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    if let Some(letter) = args.name.chars().find(|letter| letter.is_control()) {
        let message = "a bus's name holds no control character";
        return Err(Refusal::new(codes::INVALID_ARGUMENTS, message)
            .with("character", format!("U+{:04X}", u32::from(letter)))
            .field("name"));
    }
    let trimmed = args.name.trim();
    if trimmed.is_empty() {
        return Err(Refusal::invalid("name", "a bus's name is not blank"));
    }
    if trimmed != args.name {
        let message = "a bus's name neither begins nor ends with a blank";
        return Err(Refusal::new(codes::INVALID_ARGUMENTS, message)
            .with("field", "name")
            .retry_with(json!({"name": trimmed})));
    }
    if args.send == args.name {
        let message = "a bus does not feed itself";
        return Err(Refusal::new(codes::INVALID_ARGUMENTS, message)
            .with("field", "send")
            .retry_with(json!({"send": "Master"})));
    }
    Ok(())
}
