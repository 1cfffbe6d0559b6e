//! Builds the fixture packs: one source under many names, against plugin-api as it is, was and may become.
//!
//! Everything lies in `test-packs` under the target directory of this test binary and stays there, so that a
//! second run compiles nothing. Each plugin-api has a path or a version of its own: two crates of one name,
//! version and place would share artefacts, and a test of a changed layout would silently test the old one.
//!
//! Spec: P-31, gates of the loader.
#![allow(clippy::disallowed_methods, reason = "runs cargo and writes fixture sources")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

use didi_tests::{built_folder, repository};

/// Packs of one source; each is named by what it does.
const STRESS: [&str; 15] = [
    "stress-plain",
    "stress-second",
    "stress-watched",
    "stress-open-panics",
    "stress-open-exits",
    "stress-open-ends",
    "stress-open-aborts",
    "stress-open-loops",
    "stress-open-refuses",
    "stress-duplicate",
    "stress-unfit",
    "stress-needs",
    "stress-fickle",
    "stress-older",
    "stress-newer",
];

fn home() -> PathBuf {
    built_folder().parent().unwrap().join("test-packs")
}

/// The target directory of everything that tests build.
pub(crate) fn target() -> PathBuf {
    home().join("target")
}

/// The file name of a pack's library.
pub(crate) fn library_name(pack: &str) -> String {
    let (prefix, suffix) = (env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    format!("{prefix}{}{suffix}", pack.replace('-', "_"))
}

/// A built fixture: a name from [`STRESS`], `stress-changed`, or `plain`, which is no pack.
pub(crate) fn library(pack: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(build);
    target().join("debug").join(library_name(pack))
}

/// The packs of the product.
pub(crate) fn product_packs() -> Vec<PathBuf> {
    let packs = ["scene", "script", "project", "runtime", "vision", "export", "unity"];
    packs.map(|name| built_folder().join(library_name(&format!("didi-pack-{name}")))).to_vec()
}

fn build() {
    let home = home();
    older_api(&home.join("older"));
    newer_api(&home.join("newer"));
    changed_api(&home.join("changed"));
    let now = repository().join("plugin-api");
    let mut members = vec![("plain".to_owned(), plain_manifest())];
    for pack in STRESS {
        let (api, features) = match pack {
            "stress-older" => (home.join("older/plugin-api"), "[]"),
            "stress-newer" => (home.join("newer/plugin-api"), "[\"newer\"]"),
            _ => (now.clone(), "[]"),
        };
        members.push((pack.to_owned(), stress_manifest(pack, &api, features)));
    }
    put(&home.join("packs/plain/lib.rs"), "//! A library that is no pack.\n");
    workspace(&home.join("packs"), &members);
    let changed = stress_manifest("stress-changed", &home.join("changed/plugin-api"), "[]");
    workspace(&home.join("changed-packs"), &[("stress-changed".into(), changed)]);
    cargo(&home.join("packs"), &["build"]);
    cargo(&home.join("changed-packs"), &["build"]);
}

fn workspace(folder: &Path, members: &[(String, String)]) {
    let names: Vec<_> = members.iter().map(|(name, _)| name).collect();
    let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = {names:?}\n");
    put(&folder.join("Cargo.toml"), &manifest);
    for (name, manifest) in members {
        put(&folder.join(name).join("Cargo.toml"), manifest);
    }
    lock(folder);
}

/// Starts from the versions of this checkout, so that nothing is resolved or fetched anew.
pub(crate) fn lock(folder: &Path) {
    let ours = fs::read_to_string(repository().join("Cargo.lock")).unwrap();
    let seen = folder.join("Cargo.lock.seen");
    // Cargo takes out what the folder does not use, so the two files differ from then on.
    if fs::read_to_string(&seen).is_ok_and(|text| text == ours) {
        return;
    }
    put(&folder.join("Cargo.lock"), &ours);
    put(&seen, &ours);
}

/// A path as TOML has it.
pub(crate) fn quoted(path: &Path) -> String {
    format!("{:?}", path.to_str().unwrap())
}

fn plain_manifest() -> String {
    "[package]\nname = \"plain\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\n\
     [lib]\ncrate-type = [\"cdylib\"]\npath = \"lib.rs\"\n"
        .to_owned()
}

fn stress_manifest(pack: &str, api: &Path, features: &str) -> String {
    let source = quoted(&repository().join("tests/packs/stress/lib.rs"));
    let api = quoted(api);
    format!(
        "[package]\nname = {pack:?}\nversion = \"1.0.0\"\nedition = \"2024\"\n\n\
         [lib]\ncrate-type = [\"cdylib\"]\npath = {source}\n\n\
         [features]\ndefault = {features}\nnewer = []\n\n\
         [dependencies]\ndidi-plugin-api = {{ path = {api} }}\n\
         schemars = \"1.2\"\nserde = {{ version = \"1\", features = [\"derive\"] }}\n"
    )
}

/// 1.0.0: the host's last method was not there yet.
fn older_api(folder: &Path) {
    let method = "    /// Milliseconds since 1970 by the host's clock; since 1.1.\n    \
                  fn clock_ms(&self) -> u64 {\n        0\n    }\n";
    let edits = [
        Edit("Cargo.toml", "version = \"1.2.0\"", "version = \"1.0.0\""),
        Edit("src/abi.rs", method, ""),
        Edit("src/ctx.rs", "self.host.clock_ms()", "0"),
    ];
    copy_api(folder, &edits);
}

/// 1.3.0: one more host method, one more field of the root, one more session kind.
fn newer_api(folder: &Path) {
    let edits = [
        Edit("Cargo.toml", "version = \"1.2.0\"", "version = \"1.3.0\""),
        Edit(
            "src/abi.rs",
            "    fn clock_ms(&self) -> u64 {\n        0\n    }\n",
            "    fn clock_ms(&self) -> u64 {\n        0\n    }\n    \
             fn newer_number(&self) -> u64 {\n        41\n    }\n",
        ),
        Edit(
            "src/abi.rs",
            "    ) -> Reply,\n}\n\nimpl RootModule",
            "    ) -> Reply,\n    pub newer: extern \"C\" fn() -> u32,\n}\n\nimpl RootModule",
        ),
        Edit(
            "src/export.rs",
            "rt::root(rt::PackV1 { describe, call })",
            "extern \"C\" fn newer() -> u32 { 2 }\n rt::root(rt::PackV1 { describe, call, newer })",
        ),
        Edit(
            "src/ctx.rs",
            "    pub fn now_ms(&self) -> u64 {",
            "    pub fn newer_number(&self) -> u64 {\n        self.host.newer_number()\n    }\n    \
             /// The clock.\n    pub fn now_ms(&self) -> u64 {",
        ),
        Edit("src/desc.rs", "    /// A running game.\n    Game,", "    Game,\n    Orbiter,"),
    ];
    copy_api(folder, &edits);
}

/// The version says 1.2.0, and a reply is laid out otherwise.
fn changed_api(folder: &Path) {
    let edits = [
        Edit("src/abi.rs", "pub code: u32,", "pub code: u64,"),
        Edit(
            "src/abi.rs",
            "Reply { code, body: body.into().into() }",
            "Reply { code: code.into(), body: body.into().into() }",
        ),
        Edit(
            "src/ctx.rs",
            "reply.code == code::UNKNOWN_OP",
            "reply.code == u64::from(code::UNKNOWN_OP)",
        ),
        Edit("src/ctx.rs", "match reply.code {", "match u32::try_from(reply.code).unwrap_or(9) {"),
    ];
    copy_api(folder, &edits);
}

/// A change of one file: what it is in, what is there, and what comes in its place.
struct Edit(&'static str, &'static str, &'static str);

/// A workspace's manifest with plugin-api as the only item of one of its lists.
fn alone(manifest: &str, list: &str) -> String {
    let (before, rest) = manifest.split_once(list).unwrap();
    let (_, behind) = rest.split_once(']').unwrap();
    format!("{before}{list}\"plugin-api\"]{behind}")
}

/// A copy of plugin-api in a workspace of its own, changed by `edits`.
fn copy_api(folder: &Path, edits: &[Edit]) {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let manifest = alone(&alone(&manifest, "\nmembers = ["), "\ndefault-members = [");
    put(&folder.join("Cargo.toml"), &manifest);
    lock(folder);
    let from = repository().join("plugin-api");
    for file in files_below(&from) {
        let inside = file.strip_prefix(&from).unwrap();
        let mut text = fs::read_to_string(&file).unwrap();
        for Edit(_, old, new) in edits.iter().filter(|edit| Path::new(edit.0) == inside) {
            assert_eq!(text.matches(old).count(), 1, "{old:?} in {}", inside.display());
            text = text.replace(old, new);
        }
        // Lints of the copy are nobody's business.
        let text = text.replace("#![warn(missing_docs)]", "");
        put(&folder.join("plugin-api").join(inside), &text);
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files
}

/// Writes a file whose content differs, so that cargo sees a change only where there is one.
pub(crate) fn put(file: &Path, text: &str) {
    if fs::read_to_string(file).is_ok_and(|found| found == text) {
        return;
    }
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let fresh = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&fresh, text).unwrap();
    fs::rename(&fresh, file).unwrap();
}

/// Runs cargo in a folder, over the target directory of the tests, without a network.
pub(crate) fn cargo(folder: &Path, args: &[&str]) -> String {
    let output = try_cargo(folder, args, &[]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {args:?} in {}\n{said}\n{errors}", folder.display());
    said
}

fn try_cargo(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Output {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    Command::new(cargo)
        .args(args)
        .arg("--offline")
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target())
        // Small files, and one build of what all of them depend on.
        .envs([("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "0")])
        .env_remove("CARGO_BUILD_TARGET")
        .envs(env.iter().copied())
        .output()
        .unwrap()
}

/// What the compiler says of a pack that is to be built with `panic = "abort"`.
pub(crate) fn build_to_abort(pack: &str) -> (bool, String) {
    library(pack);
    let abort = [("CARGO_PROFILE_DEV_PANIC", "abort")];
    let output = try_cargo(&home().join("packs"), &["check", "--package", pack], &abort);
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}
