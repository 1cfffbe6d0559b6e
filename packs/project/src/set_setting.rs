//! `project_set_setting`: writes or removes one project setting, in the editor or in `project.godot`.
//!
//! Offline the file is edited in place: every byte but the asked ones stays. What the file already holds
//! says which type a setting has; without that, nothing can be checked but that the text is a value.
//!
//! Spec: P-50, settings.

use didi_formats::{
    config::{ConfigFile, setting_place},
    edit::{Edit, EditError},
    variant::{self, Value as Variant, json as literal},
};
use didi_plugin_api::{digest::sha256_hex, prelude::*};

use crate::{
    get_setting::SETTING_NOT_FOUND,
    set_autoload::FILE_NOT_WRITABLE,
    settings::{self, SETTINGS},
};

mod engine_types;
mod resources;
#[cfg(test)]
mod tests;

const METHOD: &str = "project.setSetting";
const LIMITATION: &str = "without an editor no name can be checked, and types only against the file and the \
                          settings of the engine 4.6.3";
/// The setting holds a value of another type.
const SETTING_TYPE_MISMATCH: Code = Code::new(409, "setting_type_mismatch");
/// How often a write is tried again when another process was faster.
const MAX_TRIES: usize = 16;

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_set_setting",
        "Writes or removes a project setting and reads the file back.",
        Effects::SETS,
        run,
    )
    .core()
    .modes(&[Mode::Live, Mode::OfflineFallback])
    .live(&[SessionKind::Editor], &[METHOD])
    .preview(preview)
    .leaves(&[Work::Restart])
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        SETTING_NOT_FOUND,
        SETTING_TYPE_MISMATCH,
        resources::NOT_A_TRANSLATION,
        resources::TRANSLATION_SOURCE_REGISTERED,
        resources::TRANSLATION_SOURCE_NOT_IMPORTED,
        codes::NOT_FOUND,
        codes::CONFLICT,
        codes::FORBIDDEN,
        codes::FILE_TOO_LARGE,
        codes::PROJECT_FILE_BUSY,
        FILE_NOT_WRITABLE,
        codes::NOT_CONNECTED,
    ])
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Slash name; not autoload/* or input/*.
    #[schemars(length(min = 1, max = 256))]
    setting: String,
    /// `{"type": "Vector2", ..}` for what JSON lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<AnyValue>,
    #[serde(default)]
    remove: bool,
    /// Allow a name the engine does not define.
    #[serde(default)]
    create: bool,
}

#[derive(Serialize)]
struct Out {
    status: &'static str,
    setting: String,
    persisted: bool,
    previous_value: Option<String>,
    value_written: Option<String>,
    defined_by_engine: Option<bool>,
    section: String,
    key: String,
    section_created: bool,
    replaced_existing: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_text_reads_as: Option<String>,
    limitation: &'static str,
}

/// What a call would do to the file as it is.
struct Plan {
    bytes: Vec<u8>,
    edit: Edit,
    previous: Option<String>,
    section: String,
    key: String,
    section_created: bool,
}

impl Plan {
    fn status(&self, args: &Args) -> &'static str {
        match (self.edit.is_empty(), args.remove) {
            (true, _) => "unchanged",
            (false, true) => "removed",
            (false, false) => "written",
        }
    }
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    check(&args)?;
    if ctx.mode() == Mode::Live {
        return live(ctx, &args);
    }
    let mut tries = 1;
    let plan = loop {
        ctx.check()?;
        let plan = plan(ctx, &args)?;
        if plan.edit.is_empty() {
            break plan;
        }
        let place = ctx.project().resolve(SETTINGS, "setting")?;
        let expect = Expect::Sha256(sha256_hex(&plan.bytes));
        match ctx.project().write(&place, &plan.edit.apply(&plan.bytes), expect) {
            Ok(_) => break plan,
            // Another process wrote between the read and the write; the file is read anew.
            Err(refusal) if refusal.code == codes::CONFLICT && tries < MAX_TRIES => tries += 1,
            Err(refusal) => return Err(refusal),
        }
    };
    let bytes = settings::read(ctx)?;
    let written = read_setting(&parse(&bytes)?, &args.setting);
    let changed = !plan.edit.is_empty();
    let answer = Answer::of(Out {
        status: plan.status(&args),
        setting: args.setting,
        persisted: true,
        replaced_existing: changed && !args.remove && plan.previous.is_some(),
        previous_value: plan.previous,
        value_written: written,
        defined_by_engine: None,
        section: plan.section,
        key: plan.key,
        section_created: plan.section_created,
        value_text_reads_as: args.value.as_ref().and_then(|value| reads_as(&value.0)),
        limitation: LIMITATION,
    })?;
    Ok(if changed { answer.fact(Fact::WrittenTo(SETTINGS.into())) } else { answer })
}

fn live(ctx: &Ctx<'_>, args: &Args) -> ToolResult {
    let mut said = ctx.bridge_call(METHOD, args)?;
    let restart = said.as_object_mut().and_then(|said| said.remove("requires_editor_restart"));
    let answer = Answer::of(said)?;
    Ok(match restart.and_then(|restart| restart.as_bool()) {
        Some(needed) => answer.fact(Fact::RequiresEditorRestart(needed)),
        None => answer,
    })
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    check(&args)?;
    let Plan { bytes, edit, previous, .. } = plan(ctx, &args)?;
    let after = edit.apply(&bytes);
    let after = read_setting(&parse(&after)?, &args.setting);
    let subject = format!("{SETTINGS}#{}", args.setting);
    Ok(Target::read(subject, previous.is_some(), json!({"value_literal": previous}))
        .after(json!({"value_literal": after})))
}

/// What can be told of the arguments alone.
fn check(args: &Args) -> Result<(), Refusal> {
    let name = args.setting.as_str();
    if name.chars().any(char::is_control) || name.split('/').any(|part| part.trim().is_empty()) {
        let message = "a setting's name is parts with slashes between them, on one line";
        return Err(Refusal::invalid("setting", message));
    }
    for (section, tool) in
        [("autoload", "project_set_autoload"), ("input", "project_set_input_action")]
    {
        if name.split('/').next() == Some(section) {
            let message = format!("`{section}/*` is not set as a bare setting");
            return Err(Refusal::new(codes::INVALID_ARGUMENTS, message)
                .with("field", "setting")
                .next_call(tool, "checks and writes what such an entry needs"));
        }
    }
    match (&args.value, args.remove) {
        (Some(_), true) => Err(Refusal::invalid("remove", "`remove` takes no `value`")),
        (None, false) => Err(Refusal::invalid(
            "value",
            "`value` is missing or null; a setting is taken away by `remove`",
        )),
        _ => Ok(()),
    }
}

fn plan(ctx: &Ctx<'_>, args: &Args) -> Result<Plan, Refusal> {
    let bytes = settings::read(ctx)?;
    let config = parse(&bytes)?;
    let name = args.setting.as_str();
    let previous = read_setting(&config, name);
    let place = config.place_of(name).unwrap_or_else(|| setting_place(name));
    let (section, key) = (place.section.to_owned(), place.key.to_owned());
    let edit = match &args.value {
        None => config.remove_setting(name),
        Some(value) => {
            resources::check(ctx, name, &value.0)?;
            let text = text_of(name, &value.0, previous.as_deref(), line_end(&bytes))?;
            config.set_setting(name, &text)
        }
    };
    let edit = edit.map_err(|error| refused(&error))?;
    let section_created = args.value.is_some()
        && !section.is_empty()
        && config.sections_named(&section).next().is_none();
    drop(config);
    Ok(Plan { bytes, edit, previous, section, key, section_created })
}

/// The file by the engine's rules; what the engine can't load is not written to.
fn parse(bytes: &[u8]) -> Result<ConfigFile<'_>, Refusal> {
    ConfigFile::parse(bytes)
        .map_err(|error| conflict(error.line, format!("can't be understood: {error}")))
}

fn conflict(line: u32, why: String) -> Refusal {
    Refusal::new(codes::CONFLICT, format!("`{SETTINGS}` {why}"))
        .with("line", line)
        .no_remedy("the file has to be mended by hand at the line named")
}

fn refused(error: &EditError) -> Refusal {
    match error {
        EditError::Refused { line, message } => {
            conflict(*line, format!("is not written to, line {line}: {message}"))
        }
        EditError::Name(_) => Refusal::invalid("setting", error.to_string()),
        _ => Refusal::invalid("value", error.to_string()),
    }
}

fn read_setting(config: &ConfigFile<'_>, name: &str) -> Option<String> {
    let place = config.place_of(name)?;
    config.get(place.section, place.key).map(|found| found.text.to_owned())
}

fn line_end(bytes: &[u8]) -> &'static str {
    let first = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    match first.map(|at| &bytes[at..]) {
        Some([b'\r', b'\n', ..]) => "\r\n",
        Some([b'\r', ..]) => "\r",
        _ => "\n",
    }
}

/// The value's text, of the type that the file shows; without one, of that which the engine gives the setting.
fn text_of(name: &str, value: &Value, held: Option<&str>, eol: &str) -> Result<String, Refusal> {
    // An explicit type is meant: only what the file holds binds it.
    let engine = || engine_types::of(name).filter(|_| value["type"].is_null()).map(str::to_owned);
    let wanted = match held {
        Some(held) => type_held(held, value),
        None => engine(),
    };
    let by = if held.is_some() { "in the file" } else { "in the engine" };
    literal::plain_text(value, wanted.as_deref(), eol).map_err(|fault| match fault.expected {
        Some(expected) if fault.at.is_empty() => {
            let message = format!("`{name}` {by}: {}", fault.message);
            Refusal::new(SETTING_TYPE_MISMATCH, message)
                .with("expected_type", expected)
                .with("given_type", fault.given)
                .field("value")
        }
        _ => Refusal::invalid("value", fault.message),
    })
}

/// The type of the literal in the file, where it binds.
fn type_held(held: &str, value: &Value) -> Option<String> {
    Some(match variant::parse(held).ok()? {
        Variant::Null | Variant::Object { .. } | Variant::Resource(_) => return None,
        // A whole number may stand for a float that somebody wrote by hand; it has to be said.
        Variant::Int(_) if value["type"] == "float" => return None,
        Variant::Array { element: Some(element), .. } => format!("Array[{element}]"),
        Variant::Dictionary { types: Some((key, value)), .. } => {
            format!("Dictionary[{key}, {value}]")
        }
        Variant::Construct { name, .. } if !literal::knows(name) => return None,
        Variant::Packed(packed) if !literal::knows(packed.type_name()) => return None,
        other => other.type_name().to_owned(),
    })
}

/// The type that a string's text would have without its quotes.
fn reads_as(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    variant::check(text).ok()?;
    match variant::parse(text).ok()? {
        Variant::String(_) | Variant::Construct { .. } if text.starts_with('"') => None,
        value => Some(value.type_name().to_owned()),
    }
}
