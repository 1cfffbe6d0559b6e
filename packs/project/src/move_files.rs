//! `project_move_files`: moves files and folders, and everything that names them follows in the same pass.
//!
//! What is moved, what is rewritten and what is left is worked out by [`plan`]; the preview is that plan, and
//! the call carries out exactly it. A uid stays with its file, so only paths are rewritten.
//!
//! Spec: P-50, moving files; P-43.

use didi_plugin_api::prelude::*;

use self::plan::{Edit, Left, Plan, Step};

mod plan;
#[cfg(test)]
mod tests;

/// Moves of one call.
const MAX_MOVES: usize = 64;
const NOTE: &str = "the caches in .godot know the old places until the next import; open the editor or run \
                    the engine with --headless --import";

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_move_files",
        "Moves or renames files and folders; .uid, .import and every reference follow, look-alikes do not.",
        Effects::CHANGES,
        run,
    )
    .confirm(Confirmation::Always)
    .preview(preview)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_FOUND,
        codes::ALREADY_EXISTS,
        codes::CONFLICT,
        codes::FORBIDDEN,
        codes::FILE_TOO_LARGE,
        codes::PROJECT_FILE_BUSY,
    ])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 64))]
    moves: Vec<Move>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Move {
    /// File or folder.
    #[schemars(length(min = 7, max = 1024))]
    from: String,
    /// Its whole new path; nothing may be there.
    #[schemars(length(min = 7, max = 1024))]
    to: String,
}

#[derive(Serialize)]
struct Out {
    status: &'static str,
    moved: Vec<Step>,
    moved_count: usize,
    updated_files: Vec<Updated>,
    updated_file_count: usize,
    updated_references: usize,
    /// Places that look like a reference and were left, each with why.
    not_followed: Vec<Left>,
    /// Folders that the moves left empty.
    empty_folders: Vec<String>,
    import_needed: bool,
    note: &'static str,
}

#[derive(Serialize)]
struct Updated {
    path: String,
    changed_lines: Vec<u32>,
}

fn planned(ctx: &Ctx<'_>, args: &Args) -> Result<Plan, Refusal> {
    let moves: Vec<(&str, &str)> =
        args.moves.iter().take(MAX_MOVES).map(|one| (&*one.from, &*one.to)).collect();
    plan::build(ctx, &moves)
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let plan = planned(ctx, &args)?;
    let subject = format!("{} moves", args.moves.len());
    let after = json!({
        "moved": plan.steps,
        "references": plan.edits,
        "not_followed": plan.left,
    });
    Target::read(subject, true, plan.before()).after(after).planned(&plan)
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let plan: Plan = ctx.plan()?.map_or_else(|| planned(ctx, &args), Ok)?;
    ctx.check()?;
    ctx.project().apply(&plan.changes)?;
    let updated_files = updated(&plan.edits);
    Answer::of(Out {
        status: "success",
        moved_count: plan.steps.len(),
        moved: plan.steps,
        updated_file_count: updated_files.len(),
        updated_files,
        updated_references: plan.edits.len(),
        not_followed: plan.left,
        empty_folders: plan.emptied,
        import_needed: true,
        note: NOTE,
    })
}

/// The files of the edits, where they are now, with their lines.
fn updated(edits: &[Edit]) -> Vec<Updated> {
    let mut files: Vec<Updated> = vec![];
    for edit in edits {
        let path = edit.now_at.as_ref().unwrap_or(&edit.path);
        match files.last_mut() {
            Some(last) if last.path == *path => last.changed_lines.push(edit.line),
            _ => files.push(Updated { path: path.clone(), changed_lines: vec![edit.line] }),
        }
    }
    for file in &mut files {
        file.changed_lines.dedup();
    }
    files
}
