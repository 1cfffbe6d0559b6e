//! Managed recovery with a real editor: it is killed, stopped and lost, and what a client is told, what is on disk and
//! what was sent is looked at from outside.
//!
//! Spec: P-58, managed recovery.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use didi_tests::{
    Closed, Launch, Project, Server, Signal, didi, godot, live::sessions, runs,
    server::program_alone, signal, until_gone, until_ok,
};
use serde_json::{Value, json};

/// A server with an editor of its own.
struct Managed {
    original: Project,
    server: Option<Server>,
    workspace: PathBuf,
}

fn workspace_of(project: &Project) -> PathBuf {
    project.outside().join("recovery")
}

/// A server that works on a copy of a project, in an editor of its own.
fn managing(project: &Project, engine: &Path) -> Launch {
    Launch::over(project.root())
        .args(["--managed-editor".as_ref(), engine.as_os_str()])
        .args(["--recovery-workspace".as_ref(), workspace_of(project).as_os_str()])
        .env("DIDI_SESSION_DIR", sessions(project).path)
}

impl Managed {
    fn start(original: Project) -> Option<Self> {
        let engine = godot()?;
        let workspace = workspace_of(&original);
        let mut server = managing(&original, &engine)
            .args(["--managed-ready-within", "300"])
            .env("XDG_CONFIG_HOME", original.outside().join("config"))
            .env("XDG_CACHE_HOME", original.outside().join("cache"))
            .start();
        server.initialize("2025-06-18", json!({}));
        let managed = Managed { original, server: Some(server), workspace };
        Some(managed)
    }

    /// The same, once its editor is ready.
    fn ready() -> Option<Self> {
        let mut managed = Self::start(Project::sample())?;
        managed.done("project_get_setting", json!({"setting": "application/config/name"}));
        let status = managed.status();
        assert_eq!(status["state"], "ready", "{status:#}\n{}", managed.editor_log());
        Some(managed)
    }

    fn server(&mut self) -> &mut Server {
        self.server.as_mut().unwrap()
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let id = self.server().ask("tools/call", params);
        self.answer(id)["result"].clone()
    }

    /// The answer of a request. A deadline of the engine's is longer than the wait for a line.
    fn answer(&mut self, id: u64) -> Value {
        until_ok(Duration::from_secs(400), || {
            let answer = self.server().answered(id);
            answer.ok_or_else(|| format!("there is no answer: {}", self.server().log()))
        })
    }

    fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result:#}");
        result["structuredContent"].clone()
    }

    /// What has to be refused: the error's data.
    fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result:#}");
        let text = result["content"][0]["text"].as_str().unwrap();
        serde_json::from_str::<Value>(text).unwrap()["error"]["data"].clone()
    }

    fn status(&mut self) -> Value {
        self.done("runtime_recovery_status", json!({}))
    }

    fn pid(&mut self) -> u32 {
        let status = self.status();
        u32::try_from(status["pid"].as_u64().unwrap()).unwrap()
    }

    fn file(&self, path: &str) -> PathBuf {
        self.workspace.join("project").join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.file(path)).unwrap()
    }

    fn editor_log(&self) -> String {
        fs::read_to_string(self.workspace.join("editor-1.log")).unwrap_or_default()
    }

    /// Every file of the copy that a checkpoint holds.
    fn tree(&self) -> Vec<(String, Vec<u8>)> {
        let root = self.workspace.join("project");
        let mut tree = vec![];
        let mut open = vec![root.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                if [".didi", ".godot"].contains(&name.as_str()) {
                } else if path.is_dir() {
                    open.push(path);
                } else {
                    tree.push((name, fs::read(&path).unwrap()));
                }
            }
        }
        tree.sort();
        tree
    }

    fn signal(&mut self, one: Signal) {
        signal(self.pid(), one);
    }

    /// Kills the editor and waits until it is gone.
    fn kill_editor(&mut self) {
        let pid = self.pid();
        signal(pid, Signal::KILL);
        until_gone(pid);
    }

    fn close(mut self) -> Closed {
        self.server.take().unwrap().close()
    }

    /// Confirms a restore by the token of its preview.
    fn restore(&mut self, id: &str) -> Value {
        let preview =
            self.done("runtime_restore_checkpoint", json!({"checkpoint_id": id, "dry_run": true}));
        let token = preview["mutation_preview"]["confirmation_token"].clone();
        self.done(
            "runtime_restore_checkpoint",
            json!({"checkpoint_id": id, "confirmation_token": token}),
        )
    }
}

const SCENE: &str = "levels/meadow.tscn";

fn open() -> Value {
    json!({"scene_path": "res://levels/meadow.tscn"})
}

fn new_node(name: &str) -> Value {
    json!({"node_type": "Node2D", "name": name})
}

#[test]
fn a_change_lies_between_two_checkpoints_and_the_original_is_never_written() {
    let Some(mut managed) = Managed::ready() else { return };
    let before = managed.original.tree();
    let status = managed.status();
    assert_eq!(status["checkpoints"].as_array().unwrap().len(), 1, "{status:#}");
    assert_eq!((&status["enabled"], &status["editor_running"]), (&json!(true), &json!(true)));
    managed.done("scene_open", open());
    let edited = managed.done("scene_instantiate_node", new_node("Protected"));
    assert_eq!(edited["scene_saved"], true, "{edited:#}");
    assert!(edited.get("follow_up").is_none(), "nothing is left to be done: {edited:#}");
    let receipt = &edited["recovery"];
    assert_eq!(receipt["operation"]["outcome"], "completed_saved_files_checkpointed");
    assert_eq!(receipt["operation"]["tool"], "scene_instantiate_node");
    assert_eq!(
        (&receipt["state"], &receipt["requires_reconciliation"]),
        (&json!("ready"), &json!(false))
    );
    assert!(managed.text(SCENE).contains("\"Protected\""), "it is on disk");
    let id = receipt["checkpoint_id"].as_str().unwrap().to_owned();
    let kept = managed.workspace.join("checkpoints").join(&id).join("files").join(SCENE);
    assert_eq!(fs::read_to_string(kept).unwrap(), managed.text(SCENE));
    let read = managed.done("scene_get_hierarchy", json!({}));
    assert!(read.get("recovery").is_none(), "a read carries no receipt");
    let refused = managed.refused("scene_remove_node", json!({"target_node": "/root/Nobody"}));
    assert_eq!(refused["recovery"]["operation"]["outcome"], "not_started", "{refused:#}");
    assert_eq!(refused["recovery"]["requires_reconciliation"], false);
    let journal: Value =
        serde_json::from_slice(&fs::read(managed.workspace.join("recovery.json")).unwrap())
            .unwrap();
    let outcomes: Vec<&str> = journal["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes.last(), Some(&"not_started"), "{journal:#}");
    assert!(!outcomes.contains(&"pending"), "{journal:#}");
    for tool in ["runtime_attach_session", "runtime_detach_session"] {
        let arguments = if tool.contains("attach_") && !tool.contains("detach") {
            json!({"session_id": "0".repeat(32)})
        } else {
            json!({})
        };
        assert_eq!(managed.refused(tool, arguments)["code"], "managed_session", "{tool}");
    }
    let room = managed.done("didi_control_room", json!({}));
    assert!(room.to_string().contains("ready, one restart is left"), "{room:#}");
    let taken = managed.done("runtime_checkpoint", json!({}));
    assert_eq!(taken["checkpoint_id"], id, "nothing changed since");
    assert_eq!(managed.original.tree(), before, "the original is never written");
    let pid = managed.pid();
    assert!(managed.close().status.success());
    until_gone(pid);
}

#[test]
fn an_editor_that_dies_is_started_anew_once() {
    let Some(mut managed) = Managed::ready() else { return };
    managed.done("scene_open", open());
    managed.kill_editor();
    let status = managed.status();
    assert_eq!(status["state"], "editor_exited", "looking restarts nothing: {status:#}");
    let mut dry = new_node("Dry");
    dry["dry_run"] = true.into();
    assert_eq!(managed.refused("scene_instantiate_node", dry)["code"], "not_connected");
    let dry = json!({"script_path": "res://dry.gd", "source_text": "", "dry_run": true});
    assert_eq!(managed.done("script_create", dry)["dry_run"], true);
    let unconfirmed = json!({"script_path": "res://player/player.gd", "symbol": "_ready"});
    let unconfirmed = managed.refused("script_patch_method", unconfirmed);
    assert!(unconfirmed["code"] != "editor_restarted", "{unconfirmed:#}");
    assert_eq!(managed.status()["state"], "editor_exited", "a dry run restarts nothing");
    let read = managed.done("scene_get_hierarchy", json!({}));
    assert_eq!(read["execution_mode"], "live", "a read restarts it and is served: {read:#}");
    assert!(read.to_string().contains("Lamp1"), "the scene that was open is open again");
    let status = managed.status();
    assert_eq!(
        (&status["state"], &status["automatic_restart_used"]),
        (&json!("ready"), &json!(true))
    );
    managed.kill_editor();
    let refused = managed.refused("scene_instantiate_node", new_node("Never"));
    assert_eq!(refused["code"], "not_connected", "{refused:#}");
    let status = managed.status();
    assert_eq!(status["state"], "restart_limit_reached", "{status:#}");
    let refused = managed.refused("runtime_recover_editor", json!({}));
    assert_eq!(refused["code"], "recovery_failed", "{refused:#}");
    let id = status["last_checkpoint"].as_str().unwrap().to_owned();
    let restored = managed.restore(&id);
    assert_eq!(restored["state"], "ready", "{restored:#}");
    assert_eq!(managed.status()["automatic_restart_used"], true, "a restore gives no restart back");
    managed.done("scene_open", open());
}

#[test]
fn a_change_whose_editor_had_died_does_not_start() {
    let Some(mut managed) = Managed::ready() else { return };
    managed.done("scene_open", open());
    managed.kill_editor();
    let before = managed.tree();
    let refused = managed.refused("scene_instantiate_node", new_node("Later"));
    assert_eq!(refused["code"], "editor_restarted", "{refused:#}");
    assert_eq!(refused["outcome"], "not_started");
    assert_eq!(refused["recovery"]["state"], "ready");
    assert_eq!(managed.tree(), before);
    managed.done("scene_instantiate_node", new_node("Later"));
    assert!(managed.text(SCENE).contains("\"Later\""));
}

#[test]
fn a_change_of_unknown_outcome_is_never_sent_again_and_settled_by_a_restore() {
    let Some(mut managed) = Managed::ready() else { return };
    managed.done("scene_open", open());
    let good = managed.done("scene_instantiate_node", new_node("Good"));
    let id = good["recovery"]["checkpoint_id"].as_str().unwrap().to_owned();
    let tree = managed.tree();
    let pid = managed.pid();
    managed.signal(Signal::STOP);
    let refused = managed.refused("scene_instantiate_node", new_node("Doubtful"));
    assert_eq!(refused["recovery"]["operation"]["outcome"], "failed_or_unknown", "{refused:#}");
    assert_eq!(refused["recovery"]["requires_reconciliation"], true, "{refused:#}");
    for _ in 0..2 {
        let blocked = managed.refused("scene_instantiate_node", new_node("Doubtful"));
        assert_eq!(blocked["code"], "needs_reconciliation", "{blocked:#}");
    }
    assert_eq!(managed.refused("runtime_checkpoint", json!({}))["code"], "needs_reconciliation");
    // A name that does nothing is refused as ever.
    let asset = json!({"asset_path": "res://levels/meadow.tscn", "parent_path": "/root/Hub"});
    assert_eq!(managed.refused("instantiate_asset", asset)["code"], "unimplemented");
    let accept = json!({"accept_current_files": true});
    let early = managed.refused("runtime_checkpoint", accept.clone());
    assert_eq!(early["code"], "needs_reconciliation", "the editor still runs: {early:#}");
    signal(pid, Signal::CONT);
    let listed = managed.status();
    assert_eq!(listed["requires_reconciliation"], true, "{listed:#}");
    let unconfirmed = managed.refused("runtime_restore_checkpoint", json!({"checkpoint_id": id}));
    assert_eq!(unconfirmed["code"], "confirmation_required");
    let marker = b"not in the checkpoint".to_vec();
    fs::write(managed.file("later.txt"), &marker).unwrap();
    let restored = managed.restore(&id);
    assert_eq!(restored["recovery"]["operation"]["outcome"], "restored", "{restored:#}");
    assert_eq!(managed.tree(), tree, "byte for byte");
    assert!(!runs(pid), "the uncertain editor was ended");
    assert!(!managed.text(SCENE).contains("Doubtful"));
    let preserved = managed.workspace.join(format!("preserved-1-{id}"));
    assert_eq!(fs::read(preserved.join("later.txt")).unwrap(), marker, "what was there is kept");
    managed.done("scene_open", open());
    managed.done("scene_instantiate_node", new_node("After"));
    assert_eq!(managed.text(SCENE).matches("\"After\"").count(), 1);
}

#[test]
fn uncertain_files_are_accepted_once_their_editor_is_gone() {
    let Some(mut managed) = Managed::ready() else { return };
    managed.done("scene_open", open());
    let pid = managed.pid();
    managed.signal(Signal::STOP);
    let refused = managed.refused("scene_instantiate_node", new_node("Doubtful"));
    assert_eq!(refused["recovery"]["requires_reconciliation"], true, "{refused:#}");
    signal(pid, Signal::KILL);
    until_gone(pid);
    let read = managed.done("scene_get_hierarchy", json!({}));
    assert_eq!(read["execution_mode"], "live");
    let status = managed.status();
    assert_eq!(status["requires_reconciliation"], true, "a new editor settles nothing: {status:#}");
    let accepted = managed.done("runtime_checkpoint", json!({"accept_current_files": true}));
    let receipt = &accepted["recovery"];
    assert_eq!(receipt["operation"]["outcome"], "current_saved_files_accepted", "{accepted:#}");
    assert_eq!(receipt["requires_reconciliation"], false);
    managed.done("scene_instantiate_node", new_node("After"));
}

#[test]
fn a_checkpoint_that_fails_after_a_change_is_told_beside_its_answer() {
    let Some(mut managed) = Managed::ready() else { return };
    // What comes after has no folder for its checkpoint.
    let script = json!({"script_path": "res://made.gd", "source_text": "extends Node\n"});
    managed.done("script_create", script);
    let checkpoints = managed.workspace.join("checkpoints");
    fs::rename(&checkpoints, managed.workspace.join("away")).unwrap();
    fs::write(&checkpoints, "").unwrap();
    let script = json!({"script_path": "res://more.gd", "source_text": "extends Node\n"});
    let refused = managed.refused("script_create", script);
    assert_eq!(refused["code"], "recovery_protection_failed", "{refused:#}");
    assert_eq!(refused["outcome"], "applied_checkpoint_failed");
    assert_eq!(refused["retryable"], false);
    assert_eq!(refused["next_call"]["tool"], "runtime_recovery_status");
    assert!(refused["applied_answer"].is_object(), "{refused:#}");
    assert!(managed.file("more.gd").is_file(), "the change is done");
    assert_eq!(refused["recovery"]["requires_reconciliation"], true);
}

#[test]
fn a_jobs_call_waits_for_its_job() {
    let Some(mut managed) = Managed::ready() else { return };
    let job = json!({"paths": ["res://icon.svg"], "request_id": "reimport-1"});
    let answer = managed.done("asset_reimport", job);
    assert_ne!(answer["status"], "working", "{answer:#}");
    assert_eq!(answer["recovery"]["operation"]["tool"], "asset_reimport", "{answer:#}");
}

#[test]
fn a_killed_server_takes_its_editor_along() {
    let Some(mut managed) = Managed::ready() else { return };
    let pid = managed.pid();
    managed.server.take().unwrap().kill();
    until_gone(pid);
}

#[test]
fn what_can_not_be_managed_is_refused_before_anything_is_made() {
    let project = Project::sample();
    let linked = Project::studio();
    let engine = didi_tests::stub_engine(project.outside(), "exit 1");
    let engine = engine.to_str().unwrap();
    let run = |project: &Project, more: &[&str]| {
        let mut command = program_alone(&didi());
        command.arg("--project").arg(project.root()).args(more).stdin(Stdio::null());
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{more:?}: {errors}");
        assert!(errors.contains("error: ") && errors.contains("hint: "), "{errors}");
        errors
    };
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let new = path(&project.outside().join("new"));
    let inside = path(&project.root().join("new"));
    let there = path(project.outside());
    let managed = |workspace: &str, engine: &str| {
        vec![
            "--managed-editor".to_owned(),
            engine.into(),
            "--recovery-workspace".into(),
            workspace.into(),
        ]
    };
    let strs = |args: &[String]| -> Vec<String> { args.to_vec() };
    for (args, told) in [
        (strs(&managed(&new, engine)[..2]), "go together"),
        (strs(&managed(&new, engine)[2..]), "go together"),
        (managed(&new, "/no/such/godot"), "not a file"),
        (managed(&inside, engine), "overlaps"),
        (managed(&there, engine), "overlaps"),
        (managed("/no/such/folder/new", engine), "workspace"),
    ] {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let errors = run(&project, &args);
        assert!(errors.contains(told), "{args:?}: {errors}");
        assert!(!Path::new(&new).exists() && !Path::new(&inside).exists(), "{args:?}");
    }
    fs::create_dir(&new).unwrap();
    let args = managed(&new, engine);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert!(run(&project, &args).contains("is there already"));
    fs::remove_dir(&new).unwrap();
    let errors = run(&linked, &args);
    assert!(errors.contains("is a link"), "{errors}");
    assert!(!Path::new(&new).exists(), "nothing is left");
}

#[test]
fn an_editor_that_does_not_come_up_is_told() {
    let project = Project::sample();
    let engine = didi_tests::stub_engine(project.outside(), "exit 1");
    let mut server = managing(&project, &engine).args(["--tools", "core"]).start();
    server.initialize("2025-06-18", json!({}));
    let params = json!({"name": "scene_open", "arguments": open()});
    let refused = server.request("tools/call", params)["result"].clone();
    assert!(refused.to_string().contains("not_connected"), "{refused}");
    let params = json!({"name": "runtime_recovery_status", "arguments": {}});
    let status = server.request("tools/call", params)["result"]["structuredContent"].clone();
    assert_eq!(
        status["state"], "launch_failed",
        "the core list has what refusals name: {status:#}"
    );
    assert_eq!(status["editor_running"], false);
    let script = json!({"script_path": "res://made.gd", "source_text": "extends Node\n"});
    let params = json!({"name": "script_create", "arguments": script});
    let made = server.request("tools/call", params)["result"]["structuredContent"].clone();
    assert_eq!(
        made["recovery"]["operation"]["outcome"], "completed_saved_files_checkpointed",
        "{made:#}"
    );
}

/// Ends its editor in order when a file asks for that.
const QUITTER: &str = r#"@tool
extends EditorPlugin
func _process(_delta):
	if FileAccess.file_exists("res://.godot/quit"):
		DirAccess.remove_absolute("res://.godot/quit")
		get_tree().quit()
"#;

#[test]
fn an_editor_that_was_closed_is_not_started_again_by_itself() {
    let project = Project::sample();
    project.add_plugin("quitter", QUITTER);
    let Some(mut managed) = Managed::start(project) else { return };
    let setting = json!({"setting": "application/config/name"});
    assert_eq!(managed.done("project_get_setting", setting.clone())["execution_mode"], "live");
    let pid = managed.pid();
    fs::write(managed.file(".godot/quit"), "").unwrap();
    until_gone(pid);
    let read = managed.done("project_get_setting", setting);
    assert_eq!(read["execution_mode"], "offline_fallback", "{read:#}");
    let status = managed.status();
    assert_eq!(status["state"], "editor_closed", "{status:#}");
    assert_eq!(status["automatic_restart_used"], false);
    assert_eq!(managed.refused("runtime_recover_editor", json!({}))["code"], "recovery_failed");
    let written = managed
        .done("project_set_setting", json!({"setting": "application/config/name", "value": "New"}));
    let receipt = &written["recovery"];
    assert_eq!(
        receipt["operation"]["outcome"], "completed_saved_files_checkpointed",
        "{written:#}"
    );
}

#[test]
fn a_read_of_a_resource_finds_a_lost_editor_too() {
    let Some(mut managed) = Managed::ready() else { return };
    managed.kill_editor();
    let id = managed.server().ask("resources/read", json!({"uri": "godot://editor/state"}));
    let answer = managed.answer(id);
    assert!(answer.to_string().contains("\\\"execution_mode\\\":\\\"live\\\""), "{answer}");
    assert_eq!(managed.status()["automatic_restart_used"], true);
}
