//! `scene_rename_node`: gives a node another name everywhere that names it.
//!
//! In the node's own scene and in every scene that instances or inherits it: headers, parents, connections,
//! editable lines, node paths in values, animation tracks. Paths in scripts are listed, and changed only when
//! asked. The plan is the preview, and what is written is the plan.
//!
//! Spec: P-52, scenes.

use std::borrow::Cow;

use didi_plugin_api::{ctx::Change, prelude::*};

mod graph;
mod paths;
mod plan;
mod scene;
mod script;

use plan::{FilePlan, Plan};

/// Letters that the engine replaces when it names a node.
const KEPT_LETTERS: [char; 6] = ['.', ':', '@', '/', '"', '%'];

/// Places that one answer names.
const MAX_PLACES: usize = 2000;

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// res:// .tscn that has the node.
    #[schemars(length(min = 1, max = 1024))]
    in_scene: String,
    /// Path in the scene, such as `Ground/Grass`; `.` is the root.
    #[schemars(length(min = 1, max = 4096))]
    target_node: String,
    #[schemars(length(min = 1, max = 256))]
    new_name: String,
    /// Also change paths in scripts.
    #[serde(default)]
    update_scripts: bool,
}

/// One place that names the node.
#[derive(Clone, Serialize, Deserialize)]
struct Place {
    line: usize,
    kind: Cow<'static, str>,
    before: String,
    after: String,
}

#[derive(Serialize)]
struct FileOut<'p> {
    path: &'p str,
    places: &'p [Place],
}

#[derive(Serialize)]
struct Out<'p> {
    status: &'static str,
    in_scene: &'p str,
    target_node: &'p str,
    new_name: String,
    changed_files: Vec<FileOut<'p>>,
    place_count: usize,
    /// Paths in scripts that were left as they are.
    script_places: Vec<FileOut<'p>>,
    notes: &'p [String],
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "scene_rename_node",
        "Renames a node in its scene and in all scenes that use it, with every path that names it.",
        Effects::CHANGES,
        run,
    )
    .confirm(Confirmation::Always)
    .preview(preview)
    .refuses(&[
        codes::NOT_FOUND,
        codes::ALREADY_EXISTS,
        codes::CONFLICT,
        codes::UNPROCESSABLE,
        codes::FILE_TOO_LARGE,
        codes::FORBIDDEN,
        codes::PROJECT_FILE_BUSY,
    ])
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let plan = plan::make(ctx, &args)?;
    let subject = format!("{}::{}", plan.scene, plan.node);
    // The digests bind the confirmation to the files as they were planned from.
    let files: Vec<Value> = plan
        .files
        .iter()
        .map(|file| json!({"path": file.path, "sha256": file.sha256, "places": file.places}))
        .collect();
    let before = json!({"files": files, "script_places": outs(&plan.left), "notes": plan.notes});
    Target::read(subject, true, before).after(json!({"name": args.new_name})).planned(&plan)
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let plan: Plan = ctx.plan()?.map_or_else(|| plan::make(ctx, &args), Ok)?;
    let changes: Vec<Change> = plan.files.iter().map(FilePlan::change).collect();
    let written = ctx.project().apply(&changes)?;
    let changed = written.iter().any(|file| file.changed);
    Answer::of(Out {
        status: if changed { "renamed" } else { "unchanged" },
        in_scene: &plan.scene,
        target_node: &plan.node,
        new_name: args.new_name,
        place_count: plan.files.iter().map(|file| file.places.len()).sum(),
        changed_files: outs(&plan.files),
        script_places: outs(&plan.left),
        notes: &plan.notes,
    })
}

fn outs(files: &[FilePlan]) -> Vec<FileOut<'_>> {
    let mut left = MAX_PLACES;
    let mut out = vec![];
    for file in files {
        let shown = file.places.len().min(left);
        left -= shown;
        out.push(FileOut { path: &file.path, places: &file.places[..shown] });
    }
    out
}

fn refuse(code: Code, message: String, field: &str) -> Refusal {
    Refusal::new(code, message).field(field)
}

#[cfg(test)]
mod tests;
