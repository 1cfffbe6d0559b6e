//! `viewport_create_test_lab`: a scene with light, ground and cameras around one resource.
//!
//! The lab is text that any engine from 4.5 on loads, so it is the same with and without an engine. What can
//! stand in a 3D scene is put there; anything else is named in the metadata of the root.
//!
//! Spec: P-55, pictures.

use didi_formats::resource;
use didi_plugin_api::{digest::sha256_hex, prelude::*};

mod scene;
mod subject;

const LAB_PATH: &str = "res://didi_test_lab.tscn";
/// Largest lab that is read before it is replaced, in bytes.
const MAX_REPLACED_BYTES: u64 = 64 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// An existing res:// resource.
    #[schemars(length(min = 1, max = 1024))]
    target_resource_path: String,
    /// The lighting: `studio_neutral`, `outdoor_day`, `sunset` or `night`; another name is kept as metadata.
    #[serde(default = "default_environment")]
    #[schemars(length(max = 64))]
    environment: String,
    #[serde(default)]
    orthographic: bool,
    /// Of front, back, left, right, top, isometric; the first is current.
    #[serde(default = "default_camera_rig")]
    #[schemars(length(max = 16), inner(length(max = 64)))]
    camera_rig: Vec<String>,
    /// Replace an existing lab.
    #[serde(default)]
    overwrite: bool,
}

fn default_environment() -> String {
    "studio_neutral".into()
}

fn default_camera_rig() -> Vec<String> {
    ["front", "top", "isometric"].map(str::to_owned).to_vec()
}

#[derive(Serialize)]
struct Out {
    status: &'static str,
    lab_path: String,
    target_resource_path: String,
    target_instanced: bool,
    target_type: String,
    needs_import: bool,
    cameras: Vec<String>,
    size_bytes: u64,
    sha256: String,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "viewport_create_test_lab",
        "Writes res://didi_test_lab.tscn with light, ground and cameras around a resource. Use to look \
         at one asset by itself.",
        Effects::CHANGES,
        run,
    )
    .legacy("create_visual_test_lab")
    .confirm(Confirmation::OnOverwrite)
    .preview(preview)
    .refuses(&[
        codes::NOT_FOUND,
        codes::FORBIDDEN,
        codes::ALREADY_EXISTS,
        codes::CONFLICT,
        codes::FILE_TOO_LARGE,
        codes::PROJECT_FILE_BUSY,
        codes::UNSAVED_CHANGES,
        codes::DIRTY_STATE_UNAVAILABLE,
    ])
}

/// A lab whose arguments were judged, and what is in its place now.
struct Plan {
    lab: ProjectPath,
    previous: Option<Vec<u8>>,
    target: String,
    subject: subject::Subject,
    text: String,
    cameras: Vec<String>,
}

fn plan(ctx: &Ctx<'_>, args: &Args) -> Result<Plan, Refusal> {
    let target = target(ctx, args)?;
    let lab = ctx.project().resolve(LAB_PATH, "target_resource_path")?;
    let previous = match lab.is_file() {
        true if !args.overwrite => return Err(exists()),
        true => Some(ctx.project().read(&lab, MAX_REPLACED_BYTES)?),
        false => None,
    };
    let subject = subject::Subject::read(&target);
    let scene = scene::Lab {
        // The lab that is replaced may be referred to by its uid.
        uid: previous.as_deref().and_then(uid_of),
        target: &target.res_path(),
        subject: &subject,
        environment: &args.environment,
        orthographic: args.orthographic,
        camera_rig: &args.camera_rig,
    };
    let (text, cameras) = (scene.text(), scene.camera_names());
    Ok(Plan { lab, previous, target: target.res_path(), subject, text, cameras })
}

fn target(ctx: &Ctx<'_>, args: &Args) -> Result<ProjectPath, Refusal> {
    let field = "target_resource_path";
    let target = ctx.project().resolve(&args.target_resource_path, field)?;
    let shown = target.res_path();
    if shown == LAB_PATH {
        let message = format!("`{shown}` is the lab itself, which can't stand in itself");
        return Err(Refusal::invalid(field, message));
    }
    if !target.is_file() {
        return Err(Refusal::new(
            codes::NOT_FOUND,
            format!("no resource `{shown}` in the project"),
        )
        .with("field", field)
        .next_call("project_list_resources", "lists the project's resources"));
    }
    Ok(target)
}

fn exists() -> Refusal {
    let message = format!("`{LAB_PATH}` exists, and `overwrite` was not set");
    Refusal::new(codes::ALREADY_EXISTS, message).retry_with(json!({ "overwrite": true }))
}

fn uid_of(scene: &[u8]) -> Option<String> {
    resource::read_header(scene).ok()?.uid.map(std::borrow::Cow::into_owned)
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let plan = plan(ctx, &args)?;
    let before = match &plan.previous {
        Some(bytes) => {
            json!({ "exists": true, "size_bytes": bytes.len(), "sha256": sha256_hex(bytes) })
        }
        None => json!({ "exists": false }),
    };
    let text = plan.text.as_bytes();
    Ok(Target::read(plan.lab.res_path(), plan.previous.is_some(), before)
        .after(json!({ "size_bytes": text.len(), "sha256": sha256_hex(text) })))
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let plan = plan(ctx, &args)?;
    let expect = match &plan.previous {
        Some(bytes) => Expect::Sha256(sha256_hex(bytes)),
        None => Expect::Absent,
    };
    let written = ctx.project().write(&plan.lab, plan.text.as_bytes(), expect)?;
    Answer::of(Out {
        status: if written.replaced { "replaced_offline" } else { "created_offline" },
        lab_path: written.path,
        target_resource_path: plan.target,
        target_instanced: plan.subject.is_in_scene(),
        target_type: plan.subject.type_name,
        needs_import: plan.subject.needs_import,
        cameras: plan.cameras,
        size_bytes: written.size_bytes,
        sha256: written.sha256,
    })
}

#[cfg(test)]
mod tests;
