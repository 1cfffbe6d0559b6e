//! The scratch project that a shader is compiled in.
//!
//! Spec: P-53, scripts.
#![allow(clippy::disallowed_methods, reason = "writes into the scratch folder of its own call")]

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use didi_formats::config::{ConfigFile, ConfigSection};
use didi_plugin_api::prelude::*;

use super::includes::Sources;

/// What the script says before it compiles the shader that is known to be wrong.
pub(super) const CANARY: &str = "didi: a wrong shader";
/// What the script says before it compiles the shader asked about.
pub(super) const SUBJECT: &str = "didi: the shader";
/// What the script says at the end.
pub(super) const END: &str = "didi: the end";

const WRONG: &str = "shader_type canvas_item;\nvoid fragment() { COLOR = float(; }\n";
/// Largest settings file read, in bytes.
const MAX_SETTINGS_BYTES: u64 = 4 << 20;

/// Lays the shader, what it includes and the script out; answers the project's folder.
pub(super) fn lay(ctx: &Ctx<'_>, sources: &Sources) -> Result<PathBuf, Refusal> {
    let folder = ctx.scratch_folder()?.join("shader");
    let write = |below: &str, text: &str| -> io::Result<()> {
        let file = folder.join(below);
        fs::create_dir_all(file.parent().unwrap_or(&folder))?;
        fs::write(file, text)
    };
    let all = || -> io::Result<()> {
        write("project.godot", &settings(ctx))?;
        write(".didi/wrong.gdshader", WRONG)?;
        write(".didi/check.gd", &script())?;
        for file in &sources.files {
            write(file.path.trim_start_matches("res://"), &file.text)?;
        }
        Ok(())
    };
    all().map_err(|error| {
        let message = format!("a copy of the shader can't be written: {error}");
        Refusal::new(codes::INTERNAL_ERROR, message).no_remedy("the scratch folder can't be used")
    })?;
    Ok(folder)
}

/// Settings without anything that runs; the project's global uniforms are known to its shaders.
fn settings(ctx: &Ctx<'_>) -> String {
    let mut text = String::from(
        "config_version=5\n\n[application]\n\nconfig/name=\"didi shader check\"\n\n[debug]\n\n\
         file_logging/enable_file_logging=false\nfile_logging/enable_file_logging.pc=false\n",
    );
    let project = ctx.project();
    let own = project
        .resolve("res://project.godot", "project")
        .and_then(|place| project.read(&place, MAX_SETTINGS_BYTES))
        .unwrap_or_default();
    if let Ok(own) = ConfigFile::parse(&own) {
        text.push_str("\n[shader_globals]\n\n");
        for global in own.sections_named("shader_globals").flat_map(ConfigSection::entries) {
            text.extend([&*global.key, "=", global.raw().text, "\n"]);
        }
    }
    text
}

/// Names and paths come as arguments: nothing of the project becomes code here.
fn script() -> String {
    format!(
        "extends SceneTree\nfunc _init():\n\tprinterr(\"{CANARY}\")\n\
         \tload(\"res://.didi/wrong.gdshader\").get_shader_uniform_list()\n\
         \tprinterr(\"{SUBJECT}\")\n\tvar shader = load(OS.get_cmdline_user_args()[0])\n\
         \tif shader is Shader:\n\t\tshader.get_shader_uniform_list()\n\
         \tprinterr(\"{END}\")\n\tquit()\n"
    )
}

/// The engine's arguments; the shader's path comes last, behind `--`.
pub(super) fn arguments(folder: &Path, shader: &str) -> Vec<String> {
    let folder = folder.to_string_lossy();
    ["--headless", "--path", &folder, "--script", "res://.didi/check.gd", "--", shader]
        .map(str::to_owned)
        .to_vec()
}
