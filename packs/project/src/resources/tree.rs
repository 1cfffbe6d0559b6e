//! `godot://project/tree`: the index of the project's files. Not a scene tree.
//!
//! Spec: P-50, resources.

use didi_plugin_api::prelude::*;

use crate::index::{self, Indexed};

pub(crate) fn resource() -> Resource {
    Resource::new(
        "godot://project/tree",
        "project-tree",
        "Index of the project's files with type, uid and dependencies",
        read,
    )
}

#[derive(Serialize)]
struct Out {
    project_root: String,
    total_resources: usize,
    resources: Vec<Indexed>,
    truncated: bool,
}

fn read(ctx: &Ctx<'_>, _: &str) -> ToolResult {
    let project = ctx.project();
    let start = project.resolve("res://", "uri")?;
    let listing = index::list(ctx, &start, true, |_| true)?;
    Answer::of(Out {
        project_root: project.root().folder().to_string_lossy().into_owned(),
        total_resources: listing.files.len(),
        resources: listing.files,
        truncated: listing.truncated,
    })
}
