//! `--dump-tool-manifest`: the whole surface as one JSON document, whatever a session lists.
//!
//! Spec: P-23, the manifest.

use didi_plugin_api::desc::Profile;
use serde_json::{Map, Value, json};

use super::{Catalog, Tool};
use crate::answer::floor;

/// The surface of a catalog.
pub fn manifest(catalog: &Catalog) -> Value {
    let mut tools: Vec<_> = catalog.tools().iter().collect();
    tools.sort_by(|one, other| one.desc.name.cmp(&other.desc.name));
    let names = |keep: &dyn Fn(&Tool) -> bool| -> Vec<&str> {
        tools.iter().filter(|tool| keep(tool)).map(|tool| tool.desc.name.as_str()).collect()
    };
    let older = tools.iter().flat_map(|tool| {
        tool.desc.legacy_names.iter().map(|name| (name.clone(), tool.desc.name.clone().into()))
    });
    // A reserved name stands for no tool.
    let reserved = tools.iter().filter(|tool| tool.desc.is_reserved());
    let legacy: Map<String, Value> =
        older.chain(reserved.map(|tool| (tool.desc.name.clone(), Value::Null))).collect();
    let canonical = names(&|tool| !tool.desc.is_reserved());
    json!({
        "server": {"name": "didi", "version": env!("CARGO_PKG_VERSION")},
        "counts": {"canonical": canonical.len(), "legacy": legacy.len(), "resources": catalog.resources().len()},
        "names": {
            "canonical": canonical,
            "core": names(&|tool| tool.desc.profile == Profile::Core),
            "mutating": names(&|tool| tool.desc.effects.mutates_project),
            "jobs": names(&|tool| tool.desc.job),
            "legacy": legacy,
        },
        "tools": tools.iter().map(|tool| one(tool)).collect::<Vec<_>>(),
        "resources": catalog.resources().iter().map(|one| json!(one.desc)).collect::<Vec<_>>(),
        "refusals": floor::tables(catalog),
    })
}

/// A tool's declaration with the schemas as they are published.
fn one(tool: &Tool) -> Value {
    let mut document = json!(tool.desc);
    document["pack"] = tool.pack().into();
    document["implemented"] = (!tool.desc.is_reserved()).into();
    document["input_schema"] = tool.input_schema.clone();
    if let Some(output) = &tool.output_schema {
        document["output_schema"] = output.clone();
    }
    document
}
