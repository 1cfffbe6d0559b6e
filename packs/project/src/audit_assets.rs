//! `project_audit_assets`: what is broken or unused, found in the files and, where an editor is attached,
//! checked against what it knows.
//!
//! Spec: P-50, the audit.

use didi_plugin_api::prelude::*;

use self::{
    connections::{BrokenConnection, DeadSignal},
    imports::{ImportIssue, SettingsIssue},
    links::{BrokenReference, DuplicateUid, Orphan, UidMismatch},
};
use crate::scan::{self, READS, Wanted};

mod connections;
mod imports;
mod links;
#[cfg(test)]
mod tests;

const METHOD: &str = "project.resolveUids";
/// Questions that the editor takes in one call.
const MAX_QUERIES: usize = 256;
const LIMITATIONS: [&str; 4] = [
    "paths that are put together while the game runs are not seen, so an orphan may be in use",
    "methods of the engine's own classes are not known; a method that no script declares counts as missing only \
     when its name begins with `_`",
    "an import that the engine has no record of is judged by the files' times",
    "binary scenes and resources (.scn, .res) are not read",
];

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_audit_assets",
        "Finds orphans, broken references, uid clashes, dead signals, broken connections, bad imports and settings.",
        Effects::READS,
        run,
    )
    .core()
    .modes(&[Mode::Live, Mode::OfflineFallback, Mode::Local])
    .live(&[SessionKind::Editor], &[METHOD])
    .bounded("max_findings per list and the scan limits")
    .refuses(&[codes::INVALID_ARGUMENTS])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "didi_plugin_api::schema::yes")]
    include_orphans: bool,
    #[serde(default = "didi_plugin_api::schema::yes")]
    include_broken_references: bool,
    #[serde(default = "didi_plugin_api::schema::yes")]
    include_dead_signals: bool,
    #[serde(default = "didi_plugin_api::schema::yes")]
    include_broken_connections: bool,
    #[serde(default = "didi_plugin_api::schema::yes")]
    include_import_health: bool,
    #[serde(default)]
    include_addon_orphans: bool,
    #[serde(default = "max_findings")]
    #[schemars(range(min = 1, max = 5000))]
    max_findings: usize,
}

fn max_findings() -> usize {
    500
}

#[derive(Default, Serialize)]
struct Verification {
    mode: &'static str,
    checked: usize,
    truncated: bool,
    cleared: usize,
    confirmed: usize,
    orphans_cleared: usize,
}

#[derive(Default, Serialize)]
struct Out {
    orphans: Vec<Orphan>,
    orphan_bytes: u64,
    addon_orphans_included: bool,
    excluded_addon_orphans: usize,
    broken_references: Vec<BrokenReference>,
    engine_only_references: Vec<BrokenReference>,
    /// Places whose uid and path do not name the same file, with what would mend them.
    uid_mismatches: Vec<UidMismatch>,
    /// Uids that more than one file claims.
    duplicate_uids: Vec<DuplicateUid>,
    dead_signals: Vec<DeadSignal>,
    broken_connections: Vec<BrokenConnection>,
    import_issues: Vec<ImportIssue>,
    import_issue_count: usize,
    import_scan_truncated: bool,
    scanned_import_metadata: usize,
    project_settings_issues: Vec<SettingsIssue>,
    project_settings_issue_count: usize,
    reference_verification: Verification,
    scan_source: &'static str,
    scanned_resources: usize,
    scanned_text_files: usize,
    skipped_text_files: usize,
    /// Files that can't be understood, each with why.
    unparseable_files: Vec<String>,
    undecodable_path_count: usize,
    undecodable_paths: Vec<String>,
    max_findings: usize,
    limitations: [&'static str; 4],
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let any = args.include_orphans
        || args.include_broken_references
        || args.include_dead_signals
        || args.include_broken_connections
        || args.include_import_health;
    if !any {
        return Err(Refusal::invalid("include_broken_references", "every report is switched off"));
    }
    let project = scan::project(ctx, &READS, &Wanted::All)?;
    let mut out = Out {
        scan_source: "project_files",
        scanned_resources: project.files.all.len(),
        scanned_text_files: project.files.texts.len(),
        skipped_text_files: project.files.skipped.len(),
        unparseable_files: project
            .broken
            .iter()
            .take(args.max_findings)
            .map(|(path, why)| format!("{path}: {why}"))
            .collect(),
        undecodable_path_count: project.files.undecodable_count,
        undecodable_paths: project.files.undecodable.clone(),
        max_findings: args.max_findings,
        limitations: LIMITATIONS,
        ..Out::default()
    };
    if args.include_orphans {
        let (orphans, excluded) = links::orphans(ctx, &project, args.include_addon_orphans)?;
        out.orphan_bytes = orphans.iter().map(|orphan| orphan.bytes).sum();
        (out.orphans, out.excluded_addon_orphans) = (orphans, excluded);
        out.addon_orphans_included = args.include_addon_orphans;
    }
    if args.include_broken_references {
        let found = links::broken(ctx, &project)?;
        (out.broken_references, out.uid_mismatches) = found;
        out.duplicate_uids = links::duplicates(&project);
        ask_editor(ctx, &mut out)?;
        out.project_settings_issues = imports::settings(&project);
        out.project_settings_issue_count = out.project_settings_issues.len();
    }
    if args.include_dead_signals || args.include_broken_connections {
        let found = connections::find(ctx, &project)?;
        if args.include_dead_signals {
            out.dead_signals = found.dead;
        }
        if args.include_broken_connections {
            out.broken_connections = found.broken;
        }
    }
    if args.include_import_health {
        let found = imports::find(ctx, &project)?;
        out.import_issue_count = found.issues.len();
        out.scanned_import_metadata = found.scanned;
        out.import_scan_truncated = found.truncated;
        out.import_issues = found.issues;
    }
    let cut = out.cap(args.max_findings.clamp(1, 5000));
    let truncated = cut || project.files.truncated || out.import_scan_truncated;
    Ok(Answer::of(out)?.truncated(truncated))
}

impl Out {
    /// Cuts each list; answers whether one was longer.
    fn cap(&mut self, max: usize) -> bool {
        fn cut<T>(list: &mut Vec<T>, max: usize) -> bool {
            let longer = list.len() > max;
            list.truncate(max);
            longer
        }
        [
            cut(&mut self.orphans, max),
            cut(&mut self.broken_references, max),
            cut(&mut self.engine_only_references, max),
            cut(&mut self.uid_mismatches, max),
            cut(&mut self.duplicate_uids, max),
            cut(&mut self.dead_signals, max),
            cut(&mut self.broken_connections, max),
            cut(&mut self.import_issues, max),
            cut(&mut self.project_settings_issues, max),
        ]
        .contains(&true)
    }
}

/// Asks an attached editor about what the files leave broken; what it knows is not broken.
fn ask_editor(ctx: &Ctx<'_>, out: &mut Out) -> Result<(), Refusal> {
    let verification = &mut out.reference_verification;
    if out.broken_references.is_empty() {
        verification.mode = "not_needed";
        return Ok(());
    }
    verification.mode = "unavailable";
    if ctx.mode() != Mode::Live {
        return Ok(());
    }
    let asked = out.broken_references.len().min(MAX_QUERIES);
    let queries: Vec<&str> =
        out.broken_references[..asked].iter().map(|one| one.target.as_str()).collect();
    let answer = ctx.bridge_call(METHOD, json!({ "queries": queries }))?;
    verification.mode = "live";
    verification.checked = asked;
    verification.truncated = asked < out.broken_references.len();
    let entries = answer["entries"].as_array().cloned().unwrap_or_default();
    let known = |at: usize| entries.get(at).is_some_and(|entry| entry["found"] == true);
    let all = std::mem::take(&mut out.broken_references);
    for (at, mut reference) in all.into_iter().enumerate() {
        if known(at) {
            verification.cleared += 1;
            out.engine_only_references.push(reference);
        } else {
            reference.confirmed_by_engine = at < asked;
            verification.confirmed += usize::from(at < asked);
            out.broken_references.push(reference);
        }
    }
    Ok(())
}
