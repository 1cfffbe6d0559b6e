//! `resource_create`: writes a `.tres` whose every value is one that the engine reads, or refuses.
//!
//! Types and names are checked against the engine's own description and the project's scripts. The file is
//! read back by the format's rules before the answer says anything.
//!
//! Spec: P-50, the project's files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use didi_formats::{
    edit,
    scene::Scene,
    variant::{self, json as literal},
};
use didi_plugin_api::{digest::sha256_hex, prelude::*};
use didi_project::{facts, walk::File};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Map;

use crate::index;

mod classes;
mod scripts;
#[cfg(test)]
mod tests;

use classes::{API_VERSION, Classes, nearest};

const LIMITATION: &str = "names and types are checked, not ranges or meaning; an open editor sees the file after its next scan";
/// Largest existing resource that is read before it is replaced, in bytes.
const MAX_REPLACED_BYTES: u64 = 64 << 20;
/// Most properties of one resource.
const MAX_PROPERTIES: usize = 1024;
/// Most resources kept inside the file.
const MAX_SUB_RESOURCES: usize = 64;

pub(crate) fn tool() -> Tool {
    Tool::new(
        "resource_create",
        "Writes a .tres text resource, every value rendered as a Godot literal or refused.",
        Effects::CHANGES,
        run,
    )
    .core()
    .confirm(Confirmation::OnOverwrite)
    .preview(preview)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::ALREADY_EXISTS,
        codes::CONFLICT,
        codes::FORBIDDEN,
        codes::FILE_TOO_LARGE,
        codes::NOT_FOUND,
        codes::PROJECT_FILE_BUSY,
    ])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    save_path: String,
    /// Engine class or a project's `class_name`.
    #[serde(default = "default_type")]
    #[schemars(length(min = 1, max = 128))]
    resource_type: String,
    /// {name: value} or [{name, value}]; `{"type": "Vector2" | "ExtResource", ..}` for what JSON lacks.
    #[serde(default)]
    #[schemars(schema_with = "properties_schema")]
    properties: Value,
    /// May name those above by `{"type": "SubResource", "id"}`.
    #[serde(default)]
    #[schemars(length(max = 64))]
    sub_resources: Vec<Sub>,
    #[serde(default)]
    overwrite: bool,
    #[serde(default)]
    allow_unknown_type: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sub {
    #[schemars(length(min = 1, max = 64))]
    id: String,
    #[schemars(length(min = 1, max = 128))]
    resource_type: String,
    #[serde(default)]
    #[schemars(schema_with = "properties_schema")]
    properties: Value,
}

fn default_type() -> String {
    "StandardMaterial3D".into()
}

fn properties_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["object", "array"], "items": { "type": "object" } })
}

#[derive(Serialize)]
struct Out {
    status: &'static str,
    save_path: String,
    resource_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_type: Option<String>,
    file_bytes: u64,
    properties_written: Vec<String>,
    property_check: PropertyCheck,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sub_resource_property_checks: BTreeMap<String, PropertyCheck>,
    external_references: Vec<External>,
    sub_resources_written: usize,
    load_steps: usize,
    limitation: &'static str,
}

/// What was held against what.
#[derive(Debug, Default, Serialize)]
struct PropertyCheck {
    checked: bool,
    api_version: &'static str,
    type_checked_against: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_declared_but_written: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    written_as_declared_type: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    declared_by_script: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_by: Option<&'static str>,
}

/// A file that the resource names.
#[derive(Debug, Clone, Serialize)]
struct External {
    path: String,
    #[serde(rename = "type")]
    kind: String,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
}

/// A resource that is ready to be written.
struct Plan {
    place: ProjectPath,
    previous: Option<(usize, String)>,
    text: String,
    resource_type: String,
    engine_type: Option<String>,
    properties: Vec<String>,
    checked: PropertyCheck,
    sub_checked: BTreeMap<String, PropertyCheck>,
    externals: Vec<External>,
    sub_resources: usize,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let plan = plan(ctx, &args)?;
    let replaces = plan.previous.is_some();
    let expect = plan.previous.map_or(Expect::Absent, |(_, digest)| Expect::Sha256(digest));
    let written = ctx.project().write(&plan.place, plan.text.as_bytes(), expect)?;
    let bytes = ctx.project().read(&plan.place, MAX_REPLACED_BYTES)?;
    let read_back = read_type(&bytes).filter(|read| *read == plan.resource_type);
    let Some(resource_type) = read_back else {
        let message = format!("`{}` does not hold what was written", written.path);
        return Err(Refusal::new(codes::CONFLICT, message)
            .with("reason", "changed_after_write")
            .retry_after_ms(0));
    };
    Answer::of(Out {
        status: match (written.changed, replaces) {
            (false, _) => "unchanged",
            (true, true) => "replaced",
            (true, false) => "created",
        },
        save_path: written.path,
        resource_type,
        engine_type: plan.engine_type,
        file_bytes: written.size_bytes,
        properties_written: plan.properties,
        property_check: plan.checked,
        sub_resource_property_checks: plan.sub_checked,
        load_steps: plan.externals.len() + plan.sub_resources + 1,
        external_references: plan.externals,
        sub_resources_written: plan.sub_resources,
        limitation: LIMITATION,
    })
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let plan = plan(ctx, &args)?;
    let before = match &plan.previous {
        Some((size, digest)) => json!({"exists": true, "size_bytes": size, "sha256": digest}),
        None => json!({"exists": false}),
    };
    let digest = sha256_hex(plan.text.as_bytes());
    Ok(Target::read(plan.place.res_path(), plan.previous.is_some(), before)
        .after(json!({"size_bytes": plan.text.len(), "sha256": digest})))
}

/// The class name that a file gives itself: that of its script, else the engine's.
fn read_type(bytes: &[u8]) -> Option<String> {
    let scene = Scene::parse(bytes).ok()?;
    let header = scene.header();
    header.script_class.as_ref().or(header.resource_type.as_ref()).map(ToString::to_string)
}

fn plan(ctx: &Ctx<'_>, args: &Args) -> Result<Plan, Refusal> {
    let (place, previous) = place(ctx, args)?;
    if args.sub_resources.len() > MAX_SUB_RESOURCES {
        let message = format!("at most {MAX_SUB_RESOURCES} resources are kept in one file");
        return Err(Refusal::invalid("sub_resources", message));
    }
    let mut writer = Writer::new(ctx, args.allow_unknown_type)?;
    let mut sections = String::new();
    let mut sub_checked = BTreeMap::new();
    for sub in &args.sub_resources {
        let body = writer.resource(&sub.resource_type, &sub.properties, "sub_resources")?;
        let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if !sub.id.chars().all(legal) {
            let message = format!("the id `{}` is not of letters, digits and `_`", sub.id);
            return Err(Refusal::invalid("sub_resources", message));
        }
        let class = body.engine_type.clone().unwrap_or_else(|| sub.resource_type.clone());
        if writer.subs.insert(sub.id.clone(), class.clone()).is_some() {
            return Err(Refusal::invalid(
                "sub_resources",
                format!("the id `{}` is there twice", sub.id),
            ));
        }
        let _ = write!(
            sections,
            "[sub_resource type={} id={}]\n{}\n",
            variant::escaped(&class),
            variant::escaped(&sub.id),
            body.lines
        );
        sub_checked.insert(sub.id.clone(), body.checked);
    }
    let body = writer.resource(&args.resource_type, &args.properties, "properties")?;
    let _ = write!(sections, "[resource]\n{}", body.lines);
    let uid = previous.as_ref().and_then(|(_, _, uid)| uid.clone());
    let text = writer.whole(&args.resource_type, &body, uid, &sections);
    Ok(Plan {
        place,
        previous: previous.map(|(size, digest, _)| (size, digest)),
        text,
        resource_type: args.resource_type.clone(),
        engine_type: body.engine_type,
        properties: body.names,
        checked: body.checked,
        sub_checked,
        externals: writer.externals,
        sub_resources: args.sub_resources.len(),
    })
}

/// Size, digest and uid of a file that is to be replaced.
type Previous = (usize, String, Option<String>);

/// Where the file goes, and what is there now.
fn place(ctx: &Ctx<'_>, args: &Args) -> Result<(ProjectPath, Option<Previous>), Refusal> {
    let place = ctx.project().resolve(&args.save_path, "save_path")?;
    let shown = place.res_path();
    if place.extension() == "res" {
        let message = format!("`{shown}` is a binary resource's path, and text is written");
        let spelled = format!("{}.tres", shown.trim_end_matches(".res"));
        return Err(Refusal::new(codes::INVALID_ARGUMENTS, message)
            .with("field", "save_path")
            .retry_with(json!({"save_path": spelled})));
    }
    if place.extension() != "tres" || place.is_dir() {
        return Err(Refusal::invalid(
            "save_path",
            format!("`{shown}` is no resource's path, which ends in `.tres`"),
        ));
    }
    if !place.is_file() {
        return Ok((place, None));
    }
    if !args.overwrite {
        let message = format!("`{shown}` exists, and `overwrite` was not set");
        return Err(
            Refusal::new(codes::ALREADY_EXISTS, message).retry_with(json!({"overwrite": true}))
        );
    }
    let bytes = ctx.project().read(&place, MAX_REPLACED_BYTES)?;
    // Others refer to the file by its uid, so that it keeps it.
    let uid =
        Scene::parse(&bytes).ok().and_then(|scene| scene.header().uid.clone().map(Into::into));
    Ok((place, Some((bytes.len(), sha256_hex(&bytes), uid))))
}

/// The lines of one resource.
struct Body {
    lines: String,
    names: Vec<String>,
    /// The engine class under a class of the project.
    engine_type: Option<String>,
    checked: PropertyCheck,
}

/// Puts a file together, and knows what its values may name.
struct Writer<'c, 'h> {
    ctx: &'c Ctx<'h>,
    classes: Classes,
    /// Read when the first class is met that is not the engine's.
    scripts: Option<BTreeMap<String, scripts::Script>>,
    allow_unknown: bool,
    externals: Vec<External>,
    /// Ids above, with their classes.
    subs: BTreeMap<String, String>,
}

impl<'c, 'h> Writer<'c, 'h> {
    fn new(ctx: &'c Ctx<'h>, allow_unknown: bool) -> Result<Self, Refusal> {
        ctx.check()?;
        Ok(Writer {
            ctx,
            classes: Classes::new(),
            scripts: None,
            allow_unknown,
            externals: vec![],
            subs: BTreeMap::new(),
        })
    }

    /// The project's classes, read once.
    fn scripts(&mut self) -> Result<&BTreeMap<String, scripts::Script>, Refusal> {
        if self.scripts.is_none() {
            self.scripts = Some(scripts::scripts(self.ctx)?);
        }
        Ok(self.scripts.get_or_insert_default())
    }

    fn resource(&mut self, class: &str, properties: &Value, field: &str) -> Result<Body, Refusal> {
        let type_field = if field == "properties" { "resource_type" } else { field };
        let resolved = self.class(class, type_field)?;
        let known =
            resolved.as_ref().map_or(class, |script| script.engine_type.as_str()).to_owned();
        let declared = self.classes.get(&known).is_some();
        let mut checked = PropertyCheck {
            checked: declared,
            api_version: API_VERSION,
            type_checked_against: "api_reference",
            allowed_by: (!declared).then_some("allow_unknown_type"),
            ..PropertyCheck::default()
        };
        let (mut lines, mut names) = (String::new(), vec![]);
        if let Some(script) = &resolved {
            let id = self.external(&script.path).map_err(|why| Refusal::invalid(field, why))?;
            let _ = writeln!(lines, "script = ExtResource({})", variant::escaped(&id));
        }
        let mut seen = BTreeSet::new();
        for (name, value) in listed(properties, field)? {
            if !seen.insert(name.clone()) {
                return Err(Refusal::invalid(field, format!("`{name}` is there twice")));
            }
            if name == "script" && resolved.is_some() {
                return Err(Refusal::invalid(field, format!("`{class}` brings its own `script`")));
            }
            let by_script = resolved.as_ref().and_then(|script| script.exports.get(&name)).cloned();
            let wanted = match by_script {
                Some(kind) => {
                    checked.declared_by_script.push(name.clone());
                    kind
                }
                None => self.declared(&known, &name, resolved.as_ref(), field)?,
            };
            if wanted.is_none() && !checked.declared_by_script.contains(&name) {
                checked.not_declared_but_written.push(name.clone());
            }
            let text = self.value(&name, &value, wanted.as_deref(), field)?;
            let converted =
                |wanted: &String| literal::knows(wanted) && literal::type_of(&value) != *wanted;
            if wanted.as_ref().is_some_and(converted) {
                checked.written_as_declared_type.push(name.clone());
            }
            let _ = writeln!(lines, "{} = {text}", edit::key(&name));
            names.push(name);
        }
        let engine_type = resolved.map(|script| script.engine_type);
        Ok(Body { lines, names, engine_type, checked })
    }

    /// Checks a class: `None` for one of the engine, or for an unknown one that is allowed.
    fn class(&mut self, name: &str, field: &str) -> Result<Option<scripts::Resolved>, Refusal> {
        if let Some(class) = self.classes.get(name) {
            if class.makable {
                return Ok(None);
            }
            return Err(Refusal::invalid(
                field,
                format!("no `{name}` can be made, only what extends it"),
            ));
        }
        self.scripts()?;
        let scripts = self.scripts.take().unwrap_or_default();
        let resolved = scripts::resolve(name, &scripts, &self.classes);
        let is_script = scripts.contains_key(name);
        self.scripts = Some(scripts);
        match resolved {
            Some(script) => Ok(Some(script)),
            None if is_script => Err(Refusal::invalid(
                field,
                format!("the script class `{name}` extends no resource class"),
            )),
            None if self.allow_unknown && is_identifier(name) => Ok(None),
            None => {
                let message = format!(
                    "neither the engine {API_VERSION} nor the project has a resource class `{name}`; \
                     `allow_unknown_type` writes it all the same"
                );
                let refusal = Refusal::new(codes::INVALID_ARGUMENTS, message);
                Err(match self.classes.like(name) {
                    Some(like) => refusal.with("did_you_mean", like).field(field),
                    None => refusal.field(field),
                })
            }
        }
    }

    /// The declared type of a property; `None` for what is written unchecked.
    fn declared(
        &self,
        class: &str,
        name: &str,
        script: Option<&scripts::Resolved>,
        field: &str,
    ) -> Result<Option<String>, Refusal> {
        if name == "script" || name.starts_with('_') || name.contains('/') {
            return Ok(None);
        }
        if let Some(kind) = self.classes.property(class, name) {
            return Ok(Some(kind));
        }
        if self.classes.get(class).is_none() {
            return Ok(None);
        }
        let exports = script.into_iter().flat_map(|script| script.exports.keys());
        let names = self.classes.properties(class).into_iter().chain(exports.map(String::as_str));
        let refusal =
            Refusal::new(codes::INVALID_ARGUMENTS, format!("`{class}` has no property `{name}`"));
        Err(match nearest(name, names) {
            Some(like) => refusal.with("did_you_mean", like).field(field),
            None => refusal.field(field),
        })
    }

    fn value(
        &mut self,
        name: &str,
        value: &Value,
        wanted: Option<&str>,
        field: &str,
    ) -> Result<String, Refusal> {
        if let Some(wanted) = wanted {
            self.check_class(name, value, wanted, field)?;
        }
        let mut resolve = |named: literal::Named<'_>| match named {
            literal::Named::External(path) => {
                self.external(path).map(|id| format!("ExtResource({})", variant::escaped(&id)))
            }
            literal::Named::Internal(id) if self.subs.contains_key(id) => {
                Ok(format!("SubResource({})", variant::escaped(id)))
            }
            literal::Named::Internal(id) => {
                let known: Vec<&str> = self.subs.keys().map(String::as_str).collect();
                Err(format!(
                    "no sub-resource `{id}` stands above; there are `{}`",
                    known.join("`, `")
                ))
            }
        };
        literal::text(value, wanted, "\n", &mut resolve)
            .map_err(|fault| Refusal::invalid(field, format!("`{name}`: {}", fault.message)))
    }

    /// Whether a resource that is named is of a class that the property takes, as far as is known.
    fn check_class(
        &self,
        name: &str,
        value: &Value,
        wanted: &str,
        field: &str,
    ) -> Result<(), Refusal> {
        let given = match (value["type"].as_str(), value["id"].as_str(), value["path"].as_str()) {
            (Some("SubResource"), Some(id), _) => self.subs.get(id).cloned(),
            (Some("ExtResource"), _, Some(path)) => {
                self.file(path).ok().map(|(_, file)| self.type_of_file(&file))
            }
            _ => None,
        };
        let Some(given) = given else { return Ok(()) };
        let fits =
            |wanted: &str| self.classes.is_a(&given, wanted) || self.classes.is_a(wanted, &given);
        let known = self.classes.get(&given).is_some() && given != "Resource";
        if !known || wanted.split(',').any(|wanted| fits(wanted.trim())) {
            return Ok(());
        }
        Err(Refusal::invalid(
            field,
            format!("`{name}` takes a `{wanted}`, and a `{given}` was named"),
        ))
    }

    /// The id of an external resource, which is noted when it is new.
    fn external(&mut self, path: &str) -> Result<String, String> {
        let (path, file) = self.file(path)?;
        if let Some(known) = self.externals.iter().find(|known| known.path == path) {
            return Ok(known.id.clone());
        }
        let number = self.externals.len() + 1;
        let name = path.rsplit('/').next().unwrap_or_default();
        let stem: String = name.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
        let id = format!("{number}_{}", stem.to_ascii_lowercase());
        let kind = self.type_of_file(&file);
        let uid = facts::uid_of(&file);
        self.externals.push(External { path, kind, id: id.clone(), uid });
        Ok(id)
    }

    fn file(&self, path: &str) -> Result<(String, File), String> {
        let root = self.ctx.project();
        let place = root.root().resolve(path).map_err(|fault| fault.to_string())?;
        let path = place.res_path();
        match File::at(&place) {
            Some(file) => Ok((path, file)),
            None => Err(format!("no file `{path}` in the project")),
        }
    }

    fn type_of_file(&self, file: &File) -> String {
        let indexed = index::describe(file);
        match indexed.resource_type {
            Some(class) if self.classes.get(&class).is_some() => class,
            // As the engine writes it, whatever the language.
            _ if indexed.kind.ends_with("Script") => "Script".into(),
            _ if self.classes.get(indexed.kind).is_some() => indexed.kind.into(),
            _ => "Resource".into(),
        }
    }

    /// The whole file, of the format that its values need.
    fn whole(&self, class: &str, body: &Body, uid: Option<String>, sections: &str) -> String {
        let engine_type = body.engine_type.as_deref();
        let mut text =
            format!("[gd_resource type={}", variant::escaped(engine_type.unwrap_or(class)));
        if engine_type.is_some() {
            let _ = write!(text, " script_class={}", variant::escaped(class));
        }
        // The engine writes this one array only in files of the fourth format.
        let format = if sections.contains("PackedVector4Array(") { 4 } else { 3 };
        let _ = write!(text, " format={format}");
        if let Some(uid) = uid {
            let _ = write!(text, " uid={}", variant::escaped(&uid));
        }
        text.push_str("]\n\n");
        for External { path, kind, id, uid } in &self.externals {
            let _ = write!(text, "[ext_resource type={}", variant::escaped(kind));
            if let Some(uid) = uid {
                let _ = write!(text, " uid={}", variant::escaped(uid));
            }
            let _ = writeln!(text, " path={} id={}]", variant::escaped(path), variant::escaped(id));
        }
        if !self.externals.is_empty() {
            text.push('\n');
        }
        text.push_str(sections);
        text
    }
}

/// Properties by name: an object's sorted, a list's in its order.
fn listed(properties: &Value, field: &str) -> Result<Vec<(String, Value)>, Refusal> {
    let mut found = vec![];
    match properties {
        Value::Null => {}
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            found.extend(sorted.into_iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        Value::Array(items) => {
            for item in items {
                found.push(pair(item).ok_or_else(|| {
                    Refusal::invalid(
                        field,
                        "each item is {\"name\": text, \"value\": any} and no more",
                    )
                })?);
            }
        }
        _ => {
            return Err(Refusal::invalid(
                field,
                "properties are an object or a list of {name, value}",
            ));
        }
    }
    if found.len() > MAX_PROPERTIES {
        return Err(Refusal::invalid(
            field,
            format!("at most {MAX_PROPERTIES} properties are written"),
        ));
    }
    if found.iter().any(|(name, _)| name.is_empty() || name.chars().any(char::is_control)) {
        return Err(Refusal::invalid(field, "a property's name is one line and not empty"));
    }
    Ok(found)
}

fn pair(item: &Value) -> Option<(String, Value)> {
    let map: &Map<String, Value> = item.as_object().filter(|map| map.len() == 2)?;
    Some((map.get("name")?.as_str()?.to_owned(), map.get("value")?.clone()))
}

fn is_identifier(name: &str) -> bool {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    name.chars().all(legal) && !name.starts_with(|letter: char| letter.is_ascii_digit())
}
