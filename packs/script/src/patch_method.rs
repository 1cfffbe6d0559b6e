//! `script_patch_method`: replaces one declaration of a script, or adds it, and says whether the script compiles.
//!
//! Only the declaration's own bytes change. Comments and annotations above it stay unless the new definition
//! brings its own; the new lines take on the file's indentation, line ends and byte order mark. The file is
//! written even when the compiler then refuses it, and the answer has what it takes to go back.
//!
//! Spec: P-53, scripts.

use didi_gdscript::{BOM, symbols::Kind};
use didi_plugin_api::{digest::sha256_hex, prelude::*};

use crate::{
    check::{self, Subject, Verdict},
    source,
};

mod definition;
mod edit;
mod pieces;

/// Longest replaced definition that an answer repeats, in bytes.
const MAX_REPEATED_BYTES: usize = 64 << 10;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    file_path: String,
    /// `Inner.name` or `.name` says whose.
    #[schemars(length(min = 1, max = 256))]
    method_name: String,
    #[schemars(length(min = 1, max = 1_048_576))]
    new_definition: String,
    #[serde(default)]
    symbol_type: SymbolType,
    #[serde(default)]
    create_if_missing: bool,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SymbolType {
    #[default]
    Function,
    Variable,
    Constant,
    Signal,
    Enum,
    Class,
}

impl SymbolType {
    fn kind(self) -> Kind {
        match self {
            SymbolType::Function => Kind::Function,
            SymbolType::Variable => Kind::Variable,
            SymbolType::Constant => Kind::Constant,
            SymbolType::Signal => Kind::Signal,
            SymbolType::Enum => Kind::Enum,
            SymbolType::Class => Kind::Class,
        }
    }
}

#[derive(Serialize)]
struct Out {
    status: &'static str,
    file_path: String,
    created: bool,
    changed: bool,
    /// Absent where nobody could tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    compiles: Option<bool>,
    line: usize,
    size_bytes: usize,
    sha256: String,
    previous_sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_definition: Option<String>,
    #[serde(flatten)]
    verdict: Verdict,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "script_patch_method",
        "Replaces one declaration of a GDScript file, the rest kept byte for byte; reports compile errors.",
        Effects::CHANGES,
        run,
    )
    .core()
    .legacy("patch_script_symbols")
    .confirm(Confirmation::Always)
    .preview(preview)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_FOUND,
        codes::CONFLICT,
        codes::FORBIDDEN,
        codes::FILE_TOO_LARGE,
        codes::BINARY_OR_INVALID_UTF8,
        codes::PROJECT_FILE_BUSY,
    ])
}

/// A script as it is and as it will be.
struct Planned {
    place: ProjectPath,
    before: Vec<u8>,
    after: String,
    /// The definition that is there now.
    present: Option<String>,
    /// The text that comes in.
    text: String,
    /// Line, from 1, on which it begins.
    line: usize,
}

fn planned(ctx: &Ctx<'_>, args: &Args) -> Result<Planned, Refusal> {
    let place = source::place(ctx, &args.file_path)?;
    let before = source::read(ctx, &place)?;
    let text =
        didi_gdscript::text_of(&before).ok_or_else(|| source::not_text(&place.res_path()))?;
    let edit = edit::plan(ctx, text, args)?;
    let mark = if before.starts_with(BOM.as_bytes()) { BOM } else { "" };
    let (head, tail) = (&text[..edit.range.start], &text[edit.range.end..]);
    let lead = edit.text.len() - edit.text.trim_start().len();
    let line = head.matches('\n').count() + edit.text[..lead].matches('\n').count() + 1;
    Ok(Planned {
        after: [mark, head, &edit.text, tail].concat(),
        present: edit.present.map(|range| text[range].to_owned()),
        text: edit.text.trim().to_owned(),
        line,
        place,
        before,
    })
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let plan = planned(ctx, &args)?;
    let mut before = json!({
        "symbol_exists": plan.present.is_some(),
        "sha256": sha256_hex(&plan.before),
        "size_bytes": plan.before.len(),
    });
    let exists = plan.present.is_some();
    if let Some(present) = plan.present {
        before["definition"] = present.into();
    }
    let after = json!({
        "created": !exists,
        "changed": plan.before != plan.after.as_bytes(),
        "line": plan.line,
        "definition": plan.text,
        "sha256": sha256_hex(plan.after.as_bytes()),
        "size_bytes": plan.after.len(),
    });
    Ok(Target::read(plan.place.res_path(), exists, before).after(after))
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let plan = planned(ctx, &args)?;
    let previous_sha256 = sha256_hex(&plan.before);
    let changed = plan.before != plan.after.as_bytes();
    let file_path = plan.place.res_path();
    if changed {
        let expect = Expect::Sha256(previous_sha256.clone());
        ctx.project().write(&plan.place, plan.after.as_bytes(), expect)?;
    }
    let subject = Subject { path: &file_path, source: &plan.after, copy: None };
    let verdict = check::verdict(ctx, &subject)?;
    let created = plan.present.is_none();
    Answer::of(Out {
        status: match (changed, created) {
            (false, _) => "unchanged",
            (true, true) => "created_offline",
            (true, false) => "replaced_offline",
        },
        created,
        changed,
        compiles: verdict.compiles(),
        line: plan.line,
        size_bytes: plan.after.len(),
        sha256: sha256_hex(plan.after.as_bytes()),
        previous_sha256,
        previous_definition: plan
            .present
            .filter(|text| text.len() <= MAX_REPEATED_BYTES && changed),
        verdict,
        file_path,
    })
}

#[cfg(test)]
mod tests;
