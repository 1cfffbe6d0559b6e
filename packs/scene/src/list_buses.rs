//! `audio_list_buses`: the audio buses of an attached engine, or those of the project's bus layout.
//!
//! Without an engine the layout that a start of the project would load is read from the disk. What keeps the
//! engine from loading a layout leaves it with `Master` alone, and the answer says so the same way.
//!
//! Spec: P-52, audio buses.

use didi_plugin_api::prelude::*;

mod layout;

pub(crate) const METHOD: &str = "audio.listBuses";
/// Buses in one answer that was read from a file.
const MAX_BUSES: usize = 512;
/// Refusals of the engine's end after which the files answer.
const STANDS_IN_FOR: [Code; 3] = [codes::NOT_CONNECTED, codes::ENGINE_REFUSED, codes::TIMEOUT];
const NOTE: &str = "the attached engine did not answer, so this is the layout on disk";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

#[derive(Serialize)]
struct Out {
    status: &'static str,
    buses: Vec<Bus>,
    bus_count: usize,
    layout_present: bool,
    layout_path: Option<String>,
    layout_loads: bool,
    // What keeps it from loading.
    #[serde(skip_serializing_if = "Option::is_none")]
    layout_problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    live_error: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    live_error_note: Option<&'static str>,
}

/// One bus, as the engine has it after loading.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Bus {
    index: usize,
    name: String,
    // A number; `inf` and its kind as text, because JSON has no such numbers.
    volume_db: Value,
    mute: bool,
    solo: bool,
    bypass_effects: bool,
    send: String,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "audio_list_buses",
        "Lists audio buses with volume, mute, solo, bypass, send and, live, effects.",
        Effects::READS,
        run,
    )
    .modes(&[Mode::Live, Mode::OfflineFallback])
    .live(&[SessionKind::Editor, SessionKind::Game], &[METHOD])
    .bounded("offline stops at bus index 512; the live read has no cap")
    .refuses(&[codes::CONFLICT, codes::FORBIDDEN, codes::FILE_TOO_LARGE, codes::UNPROCESSABLE])
}

fn run(ctx: &Ctx<'_>, _: Args) -> ToolResult {
    if ctx.mode() != Mode::Live {
        return offline(ctx, None);
    }
    match ctx.bridge_call(METHOD, json!({})) {
        Ok(data) => live(data),
        Err(refusal) if STANDS_IN_FOR.contains(&refusal.code) => offline(ctx, Some(&refusal)),
        Err(refusal) => Err(refusal),
    }
}

fn live(mut data: Value) -> ToolResult {
    // The host says it for every tool.
    let said = data.as_object_mut().and_then(|members| members.remove("truncated"));
    Ok(Answer::of(data)?.truncated(said == Some(Value::Bool(true))))
}

fn offline(ctx: &Ctx<'_>, live_error: Option<&Refusal>) -> ToolResult {
    let found = layout::find(ctx)?;
    let (read, problem) = match &found {
        None => (layout::Read::master(), None),
        Some(place) => match layout::read(ctx, place)? {
            Ok(read) => (read, None),
            Err(problem) => (layout::Read::master(), Some(problem)),
        },
    };
    let truncated = read.bus_count > read.buses.len();
    let out = Out {
        status: "success",
        buses: read.buses,
        bus_count: read.bus_count,
        layout_present: found.is_some(),
        layout_loads: found.is_some() && problem.is_none(),
        layout_path: found.map(|place| place.res_path()),
        layout_problem: problem,
        live_error: live_error
            .map(|refusal| json!({ "code": refusal.code.name, "message": refusal.message })),
        live_error_note: live_error.map(|_| NOTE),
    };
    Ok(Answer::of(out)?.truncated(truncated))
}

#[cfg(test)]
mod tests;
