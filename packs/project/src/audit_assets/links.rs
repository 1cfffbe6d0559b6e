//! References to nothing, uids that clash with paths or each other, and assets that nothing names.
//!
//! Spec: P-50, the audit.

use std::collections::{BTreeMap, BTreeSet};

use didi_formats::{resource, uid};
use didi_plugin_api::prelude::*;
use memchr::memmem;

use crate::{
    index::kind_of,
    references::{Format, Kind, folder_of},
    scan::{self, Project, READS},
};

/// Largest model file that is searched for the names of its textures, in bytes.
const MAX_MODEL_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Debug, Serialize)]
pub(super) struct BrokenReference {
    pub(super) source: String,
    pub(super) line: u32,
    pub(super) target: String,
    pub(super) kind: &'static str,
    pub(super) confirmed_by_engine: bool,
}

/// Tags by which an extension's entries name a system.
const SYSTEMS: [&str; 6] = ["android", "ios", "linux", "macos", "web", "windows"];

#[derive(Debug, Serialize)]
pub(super) struct UidMismatch {
    source: String,
    line: u32,
    uid: String,
    path: String,
    /// `no_path`, `stale_path`, `unknown_uid` or `other_file`.
    kind: &'static str,
    /// The file that the engine loads, when it knows all uids.
    #[serde(skip_serializing_if = "Option::is_none")]
    loads: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix_uid: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct DuplicateUid {
    uid: String,
    files: Vec<String>,
    referred_by: Vec<String>,
    question: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct Orphan {
    path: String,
    #[serde(rename = "type")]
    kind: &'static str,
    pub(super) bytes: u64,
}

/// Whether a path names something, in places that the scan does not look into, too.
fn there(ctx: &Ctx<'_>, project: &Project, path: &str) -> bool {
    project.exists(path)
        || ctx.project().root().resolve(path).is_ok_and(|place| place.real().exists())
}

/// The uid of a number, as the engine writes it.
fn text_of(mut number: u64) -> String {
    let mut letters = vec![];
    loop {
        let digit = u8::try_from(number % 34).unwrap_or(0);
        letters.push(char::from(if digit < 25 { b'a' + digit } else { b'0' + digit - 25 }));
        number /= 34;
        if number == 0 {
            break;
        }
    }
    format!("uid://{}", letters.into_iter().rev().collect::<String>())
}

/// Broken references, and uids that do not fit their paths.
pub(super) fn broken(
    ctx: &Ctx<'_>,
    project: &Project,
) -> Result<(Vec<BrokenReference>, Vec<UidMismatch>), Refusal> {
    let (mut broken, mut mismatches) = (vec![], vec![]);
    for (at, references) in &project.references {
        ctx.check()?;
        let file = &project.files.texts[*at];
        if Format::of(&file.path) == Some(Format::Tagged) {
            externals(ctx, project, *at, &mut broken, &mut mismatches);
        }
        for reference in references {
            let checked = match reference.kind {
                Kind::Load
                | Kind::Autoload
                | Kind::Setting
                | Kind::Placeholder
                | Kind::Value
                | Kind::Config => true,
                Kind::Preset => !reference.bare,
                Kind::ExtPath | Kind::ExtUid | Kind::Import | Kind::CodeText | Kind::Json => false,
            };
            // What the engine writes is not there before; a movie is a place to write to.
            let made = reference.target.starts_with("res://.godot/")
                || reference.detail.ends_with("movie_file");
            let elsewhere =
                file.extension() == "gdextension" && is_for_another_system(&reference.detail);
            if !checked || made || elsewhere {
                continue;
            }
            let kind = if reference.by_uid() {
                project.resolve(&reference.target).is_none().then_some("unresolved_uid")
            } else {
                (!there(ctx, project, &reference.target)).then_some("missing_file")
            };
            broken.extend(kind.map(|kind| BrokenReference {
                source: file.path.clone(),
                line: reference.line,
                target: reference.target.clone(),
                kind,
                confirmed_by_engine: false,
            }));
        }
    }
    broken.sort_by(|one, other| (&one.source, one.line).cmp(&(&other.source, other.line)));
    Ok((broken, mismatches))
}

/// Whether an entry of an extension is for another system than this one, where nobody needs its library.
fn is_for_another_system(detail: &str) -> bool {
    let key = detail.rsplit('/').next().unwrap_or_default();
    let mut tags = key.split('.');
    tags.any(|tag| SYSTEMS.contains(&tag) && tag != std::env::consts::OS)
}

/// The external resources of a scene: every mix of uid and path.
fn externals(
    ctx: &Ctx<'_>,
    project: &Project,
    at: usize,
    broken: &mut Vec<BrokenReference>,
    mismatches: &mut Vec<UidMismatch>,
) {
    let file = &project.files.texts[at];
    let Ok(bytes) = scan::read(file, READS.file_bytes) else { return };
    for external in resource::dependencies(&bytes) {
        if external.placeholder {
            continue;
        }
        let path = match &*external.path {
            "" => String::new(),
            path if path.contains("://") => path.to_owned(),
            beside => format!("{}/{beside}", folder_of(&file.path).trim_end_matches('/')),
        };
        let by_uid = external.uid.as_deref().and_then(|uid| project.resolve(uid));
        let has_uid = external.uid.as_deref().is_some_and(uid::is_uid);
        let path_leads = if uid::is_uid(&path) {
            project.resolve(&path).map(ToOwned::to_owned)
        } else {
            (!path.is_empty() && there(ctx, project, &path)).then(|| path.clone())
        };
        let mut miss = |kind: &'static str, target: &str| {
            broken.push(BrokenReference {
                source: file.path.clone(),
                line: external.line,
                target: target.to_owned(),
                kind,
                confirmed_by_engine: false,
            });
        };
        let uid = external.uid.as_deref().unwrap_or_default();
        let (kind, loads) = match (&path_leads, by_uid) {
            // The engine does not load one without a path, whatever its uid.
            (None, Some(_)) if path.is_empty() => {
                miss("missing_file", uid);
                ("no_path", None)
            }
            (None, Some(owner)) => ("stale_path", Some(owner)),
            (None, None) if uid::is_uid(&path) => {
                miss("unresolved_uid", &path);
                continue;
            }
            (None, None) => {
                miss("missing_file", if path.is_empty() { uid } else { &path });
                continue;
            }
            (Some(path), None) if has_uid => ("unknown_uid", Some(path.as_str())),
            (Some(path), Some(owner)) if path != owner && !shares_uid(project, uid, path) => {
                ("other_file", Some(owner))
            }
            (Some(_), _) => continue,
        };
        let fix_uid = path_leads.as_deref().and_then(|path| uid_of(project, path));
        mismatches.push(UidMismatch {
            source: file.path.clone(),
            line: external.line,
            uid: uid.to_owned(),
            path: path.clone(),
            kind,
            loads: loads.map(ToOwned::to_owned),
            fix_path: by_uid.filter(|_| path_leads.is_none()).map(ToOwned::to_owned),
            fix_uid: fix_uid.filter(|_| matches!(kind, "unknown_uid" | "other_file")),
        });
    }
}

/// Whether a file is one of several that claim a uid.
fn shares_uid(project: &Project, text: &str, path: &str) -> bool {
    let owners = uid::number(text).and_then(|number| project.uids.get(&number));
    owners.is_some_and(|owners| owners.iter().any(|at| project.files.all[*at].path == path))
}

fn uid_of(project: &Project, path: &str) -> Option<String> {
    let at = project.files.find(path)?;
    let owned = project.uids.iter().find(|(_, files)| files.contains(&at));
    owned.map(|(number, _)| text_of(*number))
}

/// Uids that several files claim, with who refers to them.
pub(super) fn duplicates(project: &Project) -> Vec<DuplicateUid> {
    let mut found: BTreeMap<u64, DuplicateUid> = BTreeMap::new();
    for (number, files) in &project.uids {
        let paths: BTreeSet<&String> =
            files.iter().map(|at| &project.files.all[*at].path).collect();
        if paths.len() > 1 {
            let one = DuplicateUid {
                uid: text_of(*number),
                files: paths.into_iter().cloned().collect(),
                referred_by: vec![],
                question: "which of the files keeps the uid?",
            };
            found.insert(*number, one);
        }
    }
    if found.is_empty() {
        return vec![];
    }
    for (at, references) in &project.references {
        for reference in references {
            let number = uid::number(&reference.target);
            if let Some(one) = number.and_then(|number| found.get_mut(&number)) {
                one.referred_by
                    .push(format!("{}:{}", project.files.texts[*at].path, reference.line));
            }
        }
    }
    found.into_values().collect()
}

/// Assets that nothing names, and how many of addons were left out.
pub(super) fn orphans(
    ctx: &Ctx<'_>,
    project: &Project,
    with_addons: bool,
) -> Result<(Vec<Orphan>, usize), Refusal> {
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for (at, references) in &project.references {
        let holder = &project.files.texts[*at].path;
        for reference in references {
            let target = project.resolve(&reference.target);
            if let Some(target) = target.filter(|to| holder.strip_suffix(".import") != Some(to)) {
                named.insert(target);
            }
        }
    }
    let mut orphans = vec![];
    let mut excluded = 0;
    for file in &project.files.all {
        let kind = match kind_of(&file.extension()) {
            kind @ ("Texture2D" | "Shader") => kind,
            "AudioStreamWAV" | "AudioStreamOggVorbis" | "AudioStreamMP3" => "AudioStream",
            "Mesh" => "MeshResource",
            "FontFile" => "Font",
            _ => continue,
        };
        if named.contains(file.path.as_str()) {
            continue;
        }
        if !with_addons && file.path.starts_with("res://addons/") {
            excluded += 1;
            continue;
        }
        orphans.push(Orphan { path: file.path.clone(), kind, bytes: file.size });
    }
    if !orphans.is_empty() {
        drop_used_by_models(ctx, project, &mut orphans)?;
    }
    Ok((orphans, excluded))
}

/// A model names its textures in its own format.
fn drop_used_by_models(
    ctx: &Ctx<'_>,
    project: &Project,
    orphans: &mut Vec<Orphan>,
) -> Result<(), Refusal> {
    for file in &project.files.all {
        let model = matches!(
            file.extension().as_str(),
            "gltf" | "glb" | "fbx" | "obj" | "mtl" | "dae" | "blend" | "fnt"
        );
        if !model || file.size > MAX_MODEL_BYTES {
            continue;
        }
        ctx.check()?;
        let Ok(bytes) = scan::read(file, MAX_MODEL_BYTES) else { continue };
        orphans.retain(|orphan| {
            let name = orphan.path.rsplit('/').next().unwrap_or_default();
            orphan.path == file.path || memmem::find(&bytes, name.as_bytes()).is_none()
        });
    }
    Ok(())
}
