//! `gridmap_export_mesh_library`: a scene's direct children as the items of a `MeshLibrary`.
//!
//! An engine of its own makes the library in the call's scratch folder and loads it again from there. Only a
//! library that came back whole is written into the project, by the host and in one step, so nothing half
//! made is ever there.
//!
//! Spec: P-56, mesh libraries.

use didi_plugin_api::{digest::sha256_hex, prelude::*};

mod engine;

/// Longest time limit, in seconds.
const MAX_TIMEOUT_SECONDS: u64 = 300;
/// Largest library, in bytes; the host writes no larger file.
const MAX_LIBRARY_BYTES: u64 = 256 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Existing .tscn.
    #[schemars(length(min = 1, max = 1024))]
    source_scene: String,
    /// A .meshlib path.
    #[schemars(length(min = 1, max = 1024))]
    output_path: String,
    /// The shapes of static bodies, else the mesh's faces.
    #[serde(default = "didi_plugin_api::schema::yes")]
    generate_collisions: bool,
    #[serde(default = "default_timeout_seconds")]
    #[schemars(range(min = 1, max = 300))]
    timeout_seconds: u64,
    /// Replace an existing library.
    #[serde(default)]
    overwrite: bool,
}

fn default_timeout_seconds() -> u64 {
    60
}

#[derive(Serialize)]
struct Out {
    success: bool,
    output_path: String,
    item_count: u64,
    // Children without a mesh.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped_children: Vec<String>,
    size_bytes: u64,
    sha256: String,
    engine_version: String,
    ran_ms: u64,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "gridmap_export_mesh_library",
        "Makes a MeshLibrary of a scene's direct children by headless Godot; ids follow their order.",
        Effects::EXECUTES,
        run,
    )
    .confirm(Confirmation::OnOverwrite)
    .preview(preview)
    .refuses(&[
        codes::NOT_FOUND,
        codes::FORBIDDEN,
        codes::ALREADY_EXISTS,
        codes::CONFLICT,
        codes::FILE_TOO_LARGE,
        codes::PROJECT_FILE_BUSY,
        codes::UNPROCESSABLE,
        codes::ENGINE_UNAVAILABLE,
        codes::TOOLCHAIN_UNAVAILABLE,
        codes::TIMEOUT,
    ])
}

/// A conversion whose arguments were judged.
struct Plan {
    scene: ProjectPath,
    output: ProjectPath,
    engine: EngineInfo,
}

fn plan(ctx: &Ctx<'_>, args: &Args) -> Result<Plan, Refusal> {
    let project = ctx.project();
    if !project.root().folder().join("project.godot").is_file() {
        return Err(Refusal::new(codes::NOT_FOUND, "the project's folder has no `project.godot`")
            .no_remedy("no engine opens the folder until the file is there"));
    }
    let scene = project.resolve(&args.source_scene, "source_scene")?;
    let shown = scene.res_path();
    if scene.extension() != "tscn" {
        let message = format!("`{shown}` is not a text scene, which ends in `.tscn`");
        return Err(Refusal::invalid("source_scene", message));
    }
    if !scene.is_file() {
        return Err(Refusal::new(codes::NOT_FOUND, format!("no scene `{shown}` in the project"))
            .with("field", "source_scene")
            .next_call("project_list_resources", "lists the project's scenes"));
    }
    let output = project.resolve(&args.output_path, "output_path")?;
    let shown = output.res_path();
    if output.extension() != "meshlib" || output.is_dir() {
        let message = format!("`{shown}` is not a library's path, which ends in `.meshlib`");
        return Err(Refusal::invalid("output_path", message));
    }
    if output.is_file() && !args.overwrite {
        let message = format!("`{shown}` exists, and `overwrite` was not set");
        return Err(
            Refusal::new(codes::ALREADY_EXISTS, message).retry_with(json!({ "overwrite": true }))
        );
    }
    Ok(Plan { scene, output, engine: ctx.engine()? })
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let plan = plan(ctx, &args)?;
    let after = json!({
        "source_scene": plan.scene.res_path(), "generate_collisions": args.generate_collisions,
        "engine_version": plan.engine.version
    });
    Ok(Target::file(&plan.output)?.after(after))
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let plan = plan(ctx, &args)?;
    let project = ctx.project();
    let expect = if plan.output.is_file() {
        Expect::Sha256(sha256_hex(&project.read(&plan.output, MAX_LIBRARY_BYTES)?))
    } else {
        Expect::Absent
    };
    ctx.progress(0, 2, "the engine makes the library");
    let made = engine::convert(ctx, &args, &plan)?;
    ctx.progress(1, 2, "writing the library");
    let written = project.write(&plan.output, &made.bytes, expect)?;
    ctx.progress(2, 2, "written");
    Answer::of(Out {
        success: true,
        output_path: written.path,
        item_count: made.item_count,
        skipped_children: made.skipped,
        size_bytes: written.size_bytes,
        sha256: written.sha256,
        engine_version: plan.engine.version,
        ran_ms: made.ran_ms,
    })
}

#[cfg(test)]
mod tests;
