//! `audio_configure_bus`: volume, mute and solo of a bus of the running engine.
//!
//! Spec: P-52, audio buses.

use didi_plugin_api::prelude::*;

use super::{BOTH, codes};
use crate::list_buses;

const METHOD: &str = "audio.configureBus";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Its name or its index.
    bus: Bus,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -80, max = 24))]
    volume_db: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mute: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solo: Option<bool>,
}

/// A bus by its index or its name.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Bus {
    Index(u32),
    Name(String),
}

impl JsonSchema for Bus {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bus".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["string", "integer"], "minLength": 1, "maxLength": 128, "minimum": 0
        })
    }

    fn inline_schema() -> bool {
        true
    }
}

impl Bus {
    fn is(&self, bus: &Value) -> bool {
        match self {
            Bus::Index(index) => bus["index"] == *index,
            Bus::Name(name) => bus["name"] == name.as_str(),
        }
    }
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "audio_configure_bus",
        "Sets volume, mute or solo of an audio bus in the running engine.",
        Effects::SETS,
        BOTH,
        METHOD,
    )
    .live(BOTH, &[METHOD, list_buses::METHOD])
    .preview(preview)
    .checked(check)
    .refuses(&[codes::INVALID_ARGUMENTS, codes::NOT_CONNECTED, codes::NOT_FOUND])
}

fn check(args: &Args) -> Result<(), Refusal> {
    if args.volume_db.is_none() && args.mute.is_none() && args.solo.is_none() {
        return Err(Refusal::invalid(
            "volume_db",
            "one of `volume_db`, `mute` and `solo` is needed",
        ));
    }
    Ok(())
}

/// The bus as it is.
fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let mut listed = ctx.bridge_call(list_buses::METHOD, json!({}))?;
    let buses = listed["buses"].as_array_mut();
    let found = buses.into_iter().flatten().find(|bus| args.bus.is(bus)).map(Value::take);
    let Some(before) = found else {
        let refusal = Refusal::new(codes::NOT_FOUND, "there is no such bus").with("field", "bus");
        return Err(refusal.next_call("audio_list_buses", "lists them"));
    };
    let subject = before["name"].as_str().unwrap_or_default().to_owned();
    Ok(Target::read(subject, true, before))
}
