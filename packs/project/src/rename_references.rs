//! `project_rename_references`: a signal, method or property gets another name in connections and tracks.
//!
//! Code is left to the caller, who sees each place. The preview is the whole plan, and the call carries out
//! exactly it.
//!
//! Spec: P-50, references; P-43.

use std::{borrow::Cow, collections::BTreeMap};

use didi_plugin_api::{
    ctx::{Change, Expect, Touched},
    digest::sha256_hex,
    prelude::*,
};

use crate::{
    analyze_impact::{max_impacts, places},
    names::{self, Kind, Place, Wanted},
    scan::{self, CHANGES, Files},
};

#[cfg(test)]
mod tests;

/// Places of the new name that a refusal lists.
const MAX_USED: usize = 10;
/// Files that a refusal or answer lists.
const MAX_FILES: usize = 20;
const LIMITATIONS: [&str; 3] = [
    "code, node names, group names and stored properties are listed and not changed",
    "a name is matched as a word; a member of the same name in another class is renamed, too",
    "scripts inside of scenes, binary scenes and names put together while the game runs are not seen",
];

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_rename_references",
        "Renames a signal, method or property in scene connections and animation tracks; lists code it leaves.",
        Effects::CHANGES,
        run,
    )
    .confirm(Confirmation::Always)
    .preview(preview)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_FOUND,
        codes::CONFLICT,
        codes::FORBIDDEN,
        codes::PROJECT_FILE_BUSY,
        codes::UNSAVED_CHANGES,
        codes::DIRTY_STATE_UNAVAILABLE,
    ])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 256))]
    target: String,
    #[schemars(length(min = 1, max = 256))]
    new_name: String,
    /// Most code places listed.
    #[serde(default = "max_impacts")]
    #[schemars(range(min = 1, max = 5000))]
    max_impacts: usize,
    /// Allow losing unsaved edits of a tab.
    #[serde(default)]
    #[expect(dead_code, reason = "the host hears it, where it asks the editor")]
    discard_unsaved: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Updated {
    path: String,
    changed_lines: Vec<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Left {
    path: String,
    line: u32,
    kind: Cow<'static, str>,
    detail: String,
}

#[derive(Serialize, Deserialize)]
struct Plan {
    updated: Vec<Updated>,
    /// Every place that changes, with the whole line's number.
    edits: Vec<Left>,
    left: Vec<Left>,
    unread: Vec<String>,
    changes: Vec<Change>,
    digests: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Out {
    status: &'static str,
    updated_files: Vec<Updated>,
    updated_file_count: usize,
    changed_lines: usize,
    code_reference_count: usize,
    code_references_not_updated: Vec<Left>,
    code_references_truncated: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread_files: Vec<String>,
    limitations: [&'static str; 3],
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let plan = plan(ctx, &args)?;
    ctx.project().check_editor(&Touched::by(&plan.changes))?;
    let after = json!({
        "updated_files": plan.updated,
        "places": plan.edits,
        "code_references_not_updated": plan.left,
        "unread_files": plan.unread,
    });
    let before = json!({"files": plan.digests});
    let subject = format!("`{}` in {} files", args.target, plan.updated.len());
    Target::read(subject, !plan.updated.is_empty(), before).after(after).planned(&plan)
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let mut plan: Plan = ctx.plan()?.map_or_else(|| plan(ctx, &args), Ok)?;
    ctx.check()?;
    if !plan.changes.is_empty() {
        ctx.project().apply(&plan.changes)?;
    }
    let max = args.max_impacts.clamp(1, 5000);
    let code_reference_count = plan.left.len();
    plan.left.truncate(max);
    Answer::of(Out {
        status: "success",
        updated_file_count: plan.updated.len(),
        changed_lines: plan.updated.iter().map(|file| file.changed_lines.len()).sum(),
        updated_files: plan.updated,
        code_reference_count,
        code_references_not_updated: plan.left,
        code_references_truncated: code_reference_count > max,
        unread_files: plan.unread,
        limitations: LIMITATIONS,
    })
}

fn plan(ctx: &Ctx<'_>, args: &Args) -> Result<Plan, Refusal> {
    for (name, field) in [(&args.target, "target"), (&args.new_name, "new_name")] {
        if !names::is_identifier(name) {
            return Err(Refusal::invalid(field, format!("`{name}` is not an identifier")));
        }
    }
    if args.target == args.new_name {
        return Err(Refusal::invalid("new_name", "`new_name` is the name that it has already"));
    }
    let files = scan::list(ctx, &CHANGES)?;
    if files.truncated {
        let skipped: Vec<Value> =
            files.skipped.iter().take(MAX_FILES).map(|(path, _)| path.as_str().into()).collect();
        let message = "not every file of the project can be read, and a place could be missed";
        return Err(Refusal::new(codes::CONFLICT, message)
            .with("skipped_files", skipped)
            .no_remedy("the files named have to be readable and within the limits of size"));
    }
    let found = places(ctx, &files, &CHANGES, Wanted::Word(&args.target))?;
    let mut left = vec![];
    let mut changing: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    for (path, place) in found.places {
        match place.kind {
            Kind::Connection | Kind::Track => changing.entry(path).or_default().push(place),
            kind => left.push(left_over(path, &place, kind)),
        }
    }
    if !changing.is_empty() {
        refuse_used(ctx, &files, &args.new_name)?;
    }
    let mut plan = Plan {
        updated: vec![],
        edits: vec![],
        left,
        unread: found
            .broken
            .iter()
            .take(MAX_FILES)
            .map(|(path, why)| format!("{path}: {why}"))
            .collect(),
        changes: vec![],
        digests: BTreeMap::new(),
    };
    for path in changing.keys() {
        plan.rewrite(ctx, &files, path, args)?;
    }
    Ok(plan)
}

fn left_over(path: String, place: &Place, kind: Kind) -> Left {
    let shown = match kind {
        Kind::Autoload => "autoload",
        Kind::Resource | Kind::Setting | Kind::NodePath => "resource_reference",
        _ => "code_reference",
    };
    let detail = match kind {
        Kind::Declared(what) => format!("declared as {what}"),
        _ => place.detail.clone(),
    };
    Left { path, line: place.line, kind: shown.into(), detail }
}

fn refuse_used(ctx: &Ctx<'_>, files: &Files, new_name: &str) -> Result<(), Refusal> {
    let used = places(ctx, files, &CHANGES, Wanted::Word(new_name))?.places;
    if used.is_empty() {
        return Ok(());
    }
    let shown: Vec<Value> = used
        .iter()
        .take(MAX_USED)
        .map(|(path, place)| json!({"path": path, "line": place.line, "kind": place.kind.impact()}))
        .collect();
    let message = format!("`{new_name}` is used already, in {} places", used.len());
    Err(Refusal::new(codes::CONFLICT, message).with("used_in", shown).field("new_name"))
}

impl Plan {
    fn rewrite(
        &mut self,
        ctx: &Ctx<'_>,
        files: &Files,
        path: &str,
        args: &Args,
    ) -> Result<(), Refusal> {
        ctx.check()?;
        let changed =
            |why: &str| Refusal::new(codes::CONFLICT, format!("`{path}` {why}")).retry_after_ms(0);
        let file = files.find(path).ok_or_else(|| changed("is gone"))?;
        let bytes =
            scan::read(&files.all[file], CHANGES.file_bytes).map_err(|why| changed(&why))?;
        let found = names::of_file(path, &bytes, Wanted::Word(&args.target))
            .map_err(|why| changed(&why))?;
        let mut splices = vec![];
        let mut lines = vec![];
        for place in found {
            if matches!(place.kind, Kind::Connection | Kind::Track) {
                lines.push(place.line);
                self.edits.push(Left {
                    path: path.to_owned(),
                    line: place.line,
                    kind: place.kind.impact().into(),
                    detail: place.detail,
                });
                splices.push(Splice::new(place.span, args.new_name.as_str()));
            }
        }
        lines.dedup();
        splices.sort_by_key(|splice| splice.start);
        let digest = sha256_hex(&bytes);
        self.digests.insert(path.to_owned(), digest.clone());
        self.changes.push(Change::Edit {
            path: path.to_owned(),
            splices,
            expect: Expect::Sha256(digest),
        });
        self.updated.push(Updated { path: path.to_owned(), changed_lines: lines });
        Ok(())
    }
}
