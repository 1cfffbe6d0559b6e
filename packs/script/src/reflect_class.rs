//! `script_reflect_class`: what a class has, from the reference that ships with the pack, or from the project's
//! own script of that `class_name`.
//!
//! Members are listed with their signatures; the documentation of one is read by `Class.member`, because that of
//! all of them would fill a model's memory. A class of the engine is looked for first, as the engine does.
//!
//! Spec: P-53, scripts.

use didi_formats::config::ConfigFile;
use didi_plugin_api::prelude::*;
use serde_json::Map;

use reference::Reference;

#[cfg(test)]
mod make;
mod near;
mod project;
mod reference;

/// Who wrote the words, as their licence asks.
const CREDIT: &str =
    "Godot class reference by Juan Linietsky, Ariel Manzur and the Godot contributors, CC BY 3.0";
/// Classes followed upwards.
const MAX_BASES: usize = 64;
/// Kinds of members, as the reference and the answer name them.
const MEMBERS: [&str; 4] = ["methods", "properties", "signals", "enums"];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// `Class`, or `Class.member` for that member's documentation.
    #[schemars(length(min = 1, max = 256))]
    class_name: String,
}

// Only what every answer has is promised: the tool list pays for every word of a published schema.
#[derive(Default, Serialize, JsonSchema)]
struct Out {
    class_name: String,
    #[schemars(default)]
    is_known_class: bool,
    #[schemars(with = "Option<bool>")]
    is_instantiable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    inherits: Option<String>,
    #[schemars(with = "Option<Vec<String>>")]
    inheritance: Vec<String>,
    /// A project's script.
    #[serde(skip_serializing_if = "Option::is_none")]
    script_path: Option<String>,
    /// The class that has the member asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    declared_in: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(with = "Option<String>")]
    description: String,
    #[serde(flatten)]
    #[schemars(with = "Members")]
    members: Map<String, Value>,
    #[schemars(default)]
    source: &'static str,
    #[schemars(default)]
    reference_version: &'static str,
    #[schemars(with = "Option<String>")]
    api_version: &'static str,
    attached_engine_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_features_version: Option<String>,
    api_version_matches_project_features: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    credit: Option<&'static str>,
}

/// The sections of members, as they are published.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "a schema only")]
struct Members {
    #[schemars(default, schema_with = "crate::schemas::object")]
    methods: (),
    #[schemars(default, schema_with = "crate::schemas::object")]
    properties: (),
    #[schemars(default, schema_with = "crate::schemas::object")]
    signals: (),
    #[schemars(default, schema_with = "crate::schemas::object")]
    enums: (),
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "script_reflect_class",
        "Reads an engine class or project class_name: methods, properties, signals, enums, one member's docs.",
        Effects::READS,
        run,
    )
    .core()
    .sections(&["description", "methods", "properties", "signals", "enums"])
    .output::<Out>()
    .refuses(&[codes::NOT_FOUND])
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let reference = reference::get();
    let (name, member) = match args.class_name.split_once('.') {
        Some((name, member)) => (name, Some(member)),
        None => (args.class_name.as_str(), None),
    };
    let features = features(ctx);
    let line = |version: &str| version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let base = Out {
        class_name: name.to_owned(),
        is_known_class: true,
        reference_version: &reference.version,
        api_version: &reference.version,
        api_version_matches_project_features: features
            .as_ref()
            .map(|features| *features == line(&reference.version)),
        project_features_version: features,
        ..Out::default()
    };
    let known = match reference.class(name) {
        Some(class) => of_engine(reference, class, base),
        None => match project::find(ctx, name)? {
            Some(script) => of_project(ctx, reference, script, base)?,
            None => return Err(unknown(ctx, reference, name)?),
        },
    };
    Answer::of(match member {
        Some(member) => of_member(reference, known, member)?,
        None => Out { members: without_docs(known.members), ..known },
    })
}

/// The engine line that the project was made for, by `config/features`.
fn features(ctx: &Ctx<'_>) -> Option<String> {
    let project = ctx.project();
    let settings = project.resolve("res://project.godot", "project").ok()?;
    let bytes = project.read(&settings, 4 << 20).ok()?;
    let config = ConfigFile::parse(&bytes).ok()?;
    let value = config.get("application", "config/features")?;
    let value = value.parse().ok()?;
    let texts = value.as_texts()?;
    texts
        .iter()
        .find(|text| text.starts_with(|letter: char| letter.is_ascii_digit()))
        .map(ToString::to_string)
}

fn of_engine(reference: &Reference, mut class: Map<String, Value>, base: Out) -> Out {
    let mut inheritance = vec![];
    let mut next = reference.base(&base.class_name);
    while let Some(name) = next {
        inheritance.push(name.to_owned());
        next = reference.base(name);
    }
    Out {
        is_instantiable: class["is_instantiable"] == true,
        inherits: inheritance.first().cloned(),
        inheritance,
        description: class["description"].as_str().unwrap_or_default().to_owned(),
        members: MEMBERS.iter().filter_map(|kind| class.remove_entry(*kind)).collect(),
        source: "builtin_snapshot",
        credit: Some(CREDIT),
        ..base
    }
}

fn of_project(
    ctx: &Ctx<'_>,
    reference: &Reference,
    script: project::Script,
    base: Out,
) -> Result<Out, Refusal> {
    let mut inheritance: Vec<String> = vec![];
    let mut next = script.extends.clone();
    while let Some(name) = next.take().filter(|_| inheritance.len() < MAX_BASES) {
        ctx.check()?;
        let again = inheritance.contains(&name);
        inheritance.push(name.clone());
        if again {
            break;
        }
        next = match reference.base(&name) {
            Some(base) => Some(base.to_owned()),
            None if reference.has(&name) => None,
            None => project::find(ctx, &name)?.and_then(|script| script.extends),
        };
    }
    Ok(Out {
        is_instantiable: !script.is_abstract,
        inherits: inheritance.first().cloned(),
        inheritance,
        script_path: Some(script.path),
        description: script.description,
        members: script.members,
        source: "project_script",
        ..base
    })
}

/// Members without their documentation: names and signatures.
fn without_docs(mut members: Map<String, Value>) -> Map<String, Value> {
    for kind in MEMBERS {
        for (_, member) in
            members.get_mut(kind).and_then(Value::as_object_mut).into_iter().flatten()
        {
            if let Some(member) = member.as_object_mut() {
                member.shift_remove("doc");
                member.shift_remove("docs");
            }
        }
    }
    members
}

/// One member with its documentation, of the class itself or of the nearest base that has it.
fn of_member(reference: &Reference, known: Out, member: &str) -> Result<Out, Refusal> {
    let mut owner = known.class_name.clone();
    let mut found = only(&known.members, member);
    for base in &known.inheritance {
        if !found.is_empty() {
            break;
        }
        let class = reference.class(base).unwrap_or_default();
        found = only(&class, member);
        owner.clone_from(base);
    }
    if found.is_empty() {
        let class = &known.class_name;
        let names = MEMBERS
            .iter()
            .filter_map(|kind| known.members.get(*kind)?.as_object())
            .flat_map(Map::keys);
        let near = near::to(member, names.map(String::as_str));
        let message = format!("neither `{class}` nor what it extends has a member `{member}`");
        let refusal = Refusal::new(codes::NOT_FOUND, message).with("candidates", near);
        return Err(refusal.retry_with(json!({ "class_name": class })));
    }
    Ok(Out { members: found, description: String::new(), declared_in: Some(owner), ..known })
}

/// The sections of a class with nothing but one member. A value of an enum shows its enum.
fn only(class: &Map<String, Value>, member: &str) -> Map<String, Value> {
    let mut found = Map::new();
    for kind in MEMBERS {
        let Some(all) = class.get(kind).and_then(Value::as_object) else { continue };
        let own = all.iter().filter(|(name, of)| *name == member || has_value(of, member));
        let own: Map<String, Value> = own.map(|(name, of)| (name.clone(), of.clone())).collect();
        if !own.is_empty() {
            found.insert(kind.into(), own.into());
        }
    }
    found
}

fn has_value(of: &Value, member: &str) -> bool {
    of.get("values").is_some_and(|values| values.get(member).is_some())
}

fn unknown(ctx: &Ctx<'_>, reference: &Reference, name: &str) -> Result<Refusal, Refusal> {
    let own = project::names(ctx)?;
    let near = near::to(name, reference.names().chain(own.iter().map(String::as_str)));
    let message = format!(
        "`{name}` is no class of Godot {} and no `class_name` of the project's scripts",
        reference.version
    );
    let refusal = Refusal::new(codes::NOT_FOUND, message);
    Ok(match near.first().cloned() {
        Some(best) => refusal
            .with("candidates", near)
            .with("did_you_mean", best.clone())
            .retry_with(json!({ "class_name": best })),
        None => refusal.field("class_name"),
    })
}

#[cfg(test)]
mod tests;
