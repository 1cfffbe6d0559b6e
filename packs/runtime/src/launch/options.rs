//! Judges what a caller adds to the engine's command line.
//!
//! There is no shell, so nothing here could become a command. Metacharacters are refused all the same: they
//! only ever come from a caller who thinks there is one. What would make the engine do something other than
//! run this project is refused, and files are held inside the project.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

const FIELD: &str = "extra_args";
/// Characters that only a shell gives a meaning to.
const SHELL: [char; 7] = [';', '&', '|', '`', '$', '<', '>'];
/// Options that run something else, or that this tool sets itself.
const TAKEN: [&str; 25] = [
    "--path",
    "--main-pack",
    "--upwards",
    "-u",
    "--editor",
    "-e",
    "--project-manager",
    "-p",
    "--recovery-mode",
    "--import",
    "--export-release",
    "--export-debug",
    "--export-pack",
    "--export-patch",
    "--build-solutions",
    "--install-android-build-template",
    "--doctool",
    "--gdextension-docs",
    "--gdscript-docs",
    "--convert-3to4",
    "--validate-conversion-3to4",
    "--dump-gdextension-interface",
    "--dump-extension-api",
    "--log-file",
    "--benchmark-file",
];
/// Options whose value is a file.
const TAKES_FILE: [&str; 4] = ["--script", "-s", "--write-movie", "--scene"];
/// Endings of what the engine would open when it stands alone on the line.
const OPENED: [&str; 6] = [".tscn", ".scn", ".gd", ".pck", ".zip", ".godot"];

/// Whether an engine option is among the arguments. After `--` they are the game's own.
pub(super) fn names(args: &[String], option: &str) -> bool {
    engine_part(args).any(|arg| arg == option)
}

fn engine_part(args: &[String]) -> impl Iterator<Item = &str> {
    args.iter().map(String::as_str).take_while(|arg| !matches!(*arg, "--" | "++"))
}

/// Refuses what can't be passed on, naming the argument.
pub(super) fn check(ctx: &Ctx<'_>, args: &[String]) -> Result<(), Refusal> {
    for arg in args {
        let odd = arg.chars().find(|letter| SHELL.contains(letter) || letter.is_control());
        if let Some(letter) = odd {
            let shown = letter.escape_debug();
            return wrong(arg, &format!("holds `{shown}`, and no shell reads the arguments"));
        }
    }
    let mut before = "";
    for arg in engine_part(args) {
        if TAKEN.contains(&arg) || arg.starts_with("--dump-") {
            return wrong(arg, "makes the engine do something other than run this project");
        }
        if TAKES_FILE.contains(&before) || opens(arg) {
            ctx.project().resolve(arg, FIELD)?;
        }
        before = arg;
    }
    Ok(())
}

fn opens(arg: &str) -> bool {
    let lower = arg.to_ascii_lowercase();
    !arg.starts_with('-') && OPENED.iter().any(|end| lower.ends_with(end))
}

fn wrong(arg: &str, why: &str) -> Result<(), Refusal> {
    let shown: String = arg.escape_debug().take(120).collect();
    Err(Refusal::invalid(FIELD, format!("`{shown}` in `extra_args` {why}")))
}
