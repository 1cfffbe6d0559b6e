//! `script_create`: writes a script and says whether it compiles.
//!
//! The text is written as it was sent, byte for byte. A compiler is asked afterwards, so that a script which
//! does not compile is still there to be mended; without a compiler the syntax alone is read.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::{digest::sha256_hex, prelude::*};

use crate::check::{self, Subject, Verdict};

/// Largest existing script whose content is read before it is replaced, in bytes.
const MAX_REPLACED_BYTES: u64 = 64 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    script_path: String,
    // An empty file is a file.
    #[schemars(length(min = 0, max = 1_048_576))]
    source_text: String,
    /// Replace an existing script.
    #[serde(default)]
    overwrite: bool,
}

#[derive(Serialize)]
struct Out {
    status: &'static str,
    script_path: String,
    size_bytes: u64,
    sha256: String,
    #[serde(flatten)]
    verdict: Verdict,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "script_create",
        "Writes a new GDScript file and reports its compile errors. Use for new scripts and whole \
         rewrites.",
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

/// Where the script goes, and what is there now.
struct Place {
    path: ProjectPath,
    previous: Option<Previous>,
}

struct Previous {
    size_bytes: usize,
    sha256: String,
}

fn place(ctx: &Ctx<'_>, args: &Args) -> Result<Place, Refusal> {
    let path = ctx.project().resolve(&args.script_path, "script_path")?;
    let shown = path.res_path();
    let unusable = |why: &str| Err(Refusal::invalid("script_path", format!("`{shown}` {why}")));
    if path.extension() != "gd" {
        return unusable("is not a script's path, which ends in `.gd`");
    }
    if path.is_dir() {
        return unusable("is a folder, and a script is a file");
    }
    if !path.is_file() {
        return Ok(Place { path, previous: None });
    }
    if !args.overwrite {
        let message = format!("`{shown}` exists, and `overwrite` was not set");
        return Err(
            Refusal::new(codes::ALREADY_EXISTS, message).retry_with(json!({ "overwrite": true }))
        );
    }
    let bytes = ctx.project().read(&path, MAX_REPLACED_BYTES)?;
    let previous = Previous { size_bytes: bytes.len(), sha256: sha256_hex(&bytes) };
    Ok(Place { path, previous: Some(previous) })
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let Place { path, previous } = place(ctx, &args)?;
    let before = match &previous {
        Some(file) => {
            json!({ "exists": true, "size_bytes": file.size_bytes, "sha256": file.sha256 })
        }
        None => json!({ "exists": false }),
    };
    let text = args.source_text.as_bytes();
    Ok(Target::read(path.res_path(), previous.is_some(), before)
        .after(json!({ "size_bytes": text.len(), "sha256": sha256_hex(text) })))
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let Place { path, previous } = place(ctx, &args)?;
    let replaces = previous.is_some();
    let expect = previous.map_or(Expect::Absent, |file| Expect::Sha256(file.sha256));
    let written = ctx.project().write(&path, args.source_text.as_bytes(), expect)?;
    let subject = Subject { path: &written.path, source: &args.source_text, copy: None };
    let verdict = check::verdict(ctx, &subject)?;
    Answer::of(Out {
        status: if replaces { "replaced_offline" } else { "created_offline" },
        script_path: written.path,
        size_bytes: written.size_bytes,
        sha256: written.sha256,
        verdict,
    })
}

#[cfg(test)]
mod tests;
