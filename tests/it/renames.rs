//! Changes of many files at once: the preview lists every place, the call changes exactly those, the engine is
//! content with the result, and a server that is killed on the way leaves every file whole.
//!
//! Spec: P-50, P-52, P-43.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant, SystemTime},
};

use didi_tests::{Launch, Project, Server, Tree, didi, godot};
use serde_json::{Value, json};

/// A changed line: the file where it was, the line's number from 1.
type Places = BTreeSet<(String, u64)>;

fn inner(path: &str) -> String {
    path.trim_start_matches("res://").to_owned()
}

/// The preview of a call, and the call confirmed with the preview's token.
fn previewed_and_confirmed(server: &mut Server, tool: &str, arguments: &Value) -> (Value, Value) {
    let mut dry = arguments.clone();
    dry["dry_run"] = true.into();
    let preview = server.call(tool, dry)["structuredContent"]["mutation_preview"].clone();
    let mut confirmed = arguments.clone();
    confirmed["confirmation_token"] = preview["confirmation_token"].clone();
    assert!(confirmed["confirmation_token"].is_string(), "{preview}");
    let result = server.call(tool, confirmed);
    assert_eq!(result["isError"], false, "{result}");
    (preview["changes"][0].clone(), result["structuredContent"].clone())
}

/// The lines in which two trees differ. A file that moved is compared with what it became.
fn differences(before: &Tree, after: &Tree, moved: &[(String, String)]) -> Places {
    let mut places = Places::new();
    let mut expected: BTreeSet<&str> = BTreeSet::new();
    for (path, old) in before {
        let to = moved.iter().find(|(from, _)| from == path).map_or(path, |(_, to)| to);
        expected.insert(to);
        let new = after.get(to).unwrap_or_else(|| panic!("`{path}` is gone, not at `{to}`"));
        let lines = |bytes: &[u8]| {
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        let (old, new) = (lines(old), lines(new));
        assert_eq!(old.len(), new.len(), "`{path}` has other lines");
        let changed = old.iter().zip(&new).enumerate().filter(|(_, (old, new))| old != new);
        places.extend(changed.map(|(at, _)| (path.clone(), at as u64 + 1)));
    }
    let more: Vec<_> = after.keys().filter(|path| !expected.contains(path.as_str())).collect();
    assert!(more.is_empty(), "files that nothing announced: {more:?}");
    places
}

fn listed(places: &Value) -> Places {
    let places = places.as_array().unwrap().iter();
    places
        .map(|one| (inner(one["path"].as_str().unwrap()), one["line"].as_u64().unwrap()))
        .collect()
}

/// The places of `[{path, places: [{line}]}]`.
fn listed_by_file(files: &Value) -> Places {
    let mut found = Places::new();
    for file in files.as_array().unwrap() {
        let path = inner(file["path"].as_str().unwrap());
        let lines = file["places"].as_array().unwrap().iter();
        found.extend(lines.map(|place| (path.clone(), place["line"].as_u64().unwrap())));
    }
    found
}

fn engine(godot: &Path, project: &Project, args: &[&str]) -> String {
    let ran = Command::new(godot)
        .args(["--headless", "--path"])
        .arg(project.root())
        .args(args)
        .output()
        .unwrap();
    String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr)
}

/// Imports, opens every scene in a tree and loads every resource, and plays the game for some frames.
fn engine_is_content(godot: &Path, project: &Project, when: &str) {
    engine(godot, project, &["--import"]);
    let kinds = ["tscn", "tres", "gd", "gdshader"];
    let paths: Vec<String> = project
        .tree()
        .into_keys()
        .filter(|path| kinds.iter().any(|kind| path.ends_with(&format!(".{kind}"))))
        .map(|path| format!("res://{path}"))
        .collect();
    let list = serde_json::to_string(&paths).unwrap();
    let script = format!(
        "extends SceneTree\nfunc _initialize() -> void:\n\tfor path: String in {list}:\n\
         \t\tvar found := load(path)\n\t\tif found == null:\n\t\t\tprinterr(\"ERROR: no \" + path)\n\
         \t\tif found is PackedScene:\n\t\t\tvar made: Node = found.instantiate()\n\
         \t\t\troot.add_child(made)\n\t\t\tmade.free()\n\tprint(\"opened all\")\n\tquit()\n"
    );
    let file = project.outside().join("open_all.gd");
    fs::write(&file, script).unwrap();
    let opened = engine(godot, project, &["-s", file.to_str().unwrap()]);
    assert!(opened.contains("opened all"), "{when}: {opened}");
    let played = engine(godot, project, &["--quit-after", "5"]);
    for said in [opened, played] {
        assert!(!said.contains("ERROR") && !said.contains("WARNING"), "{when}: {said}");
    }
}

/// One tool on the project: preview, the call, the diff of the whole tree.
fn changes_exactly_what_it_lists(
    tool: &str,
    arguments: &Value,
    listing: impl Fn(&Value) -> (Places, Vec<(String, String)>),
) -> (Project, Value, Places) {
    let project = Project::harbor();
    let mut server = Server::over_project(&project.root());
    let before = project.tree();
    let mut dry = arguments.clone();
    dry["dry_run"] = true.into();
    server.call(tool, dry);
    assert_eq!(project.tree(), before, "a preview changed something");
    let (preview, _) = previewed_and_confirmed(&mut server, tool, arguments);
    let (places, moved) = listing(&preview);
    assert_eq!(differences(&before, &project.tree(), &moved), places, "{preview:#}");
    (project, preview, places)
}

/// The whole words of the listed lines, changed as a caller would do it who reads the list.
fn change_words(project: &Project, places: &Places, old: &str, new: &str) {
    for (path, line) in places {
        let text = project.text(path).unwrap();
        let at = usize::try_from(*line).unwrap() - 1;
        let changed: Vec<String> = text
            .split_inclusive('\n')
            .enumerate()
            .map(|(number, text)| if number == at { reworded(text, old, new) } else { text.into() })
            .collect();
        project.write(path, changed.concat());
    }
}

/// A text with a word in place of another; `on_old` is another word.
fn reworded(text: &str, old: &str, new: &str) -> String {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut words = vec![];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let other = |letter: char| is_letter(letter) != is_letter(first);
        let (word, behind) = rest.split_at(rest.find(other).unwrap_or(rest.len()));
        words.push(if word == old { new } else { word });
        rest = behind;
    }
    words.concat()
}

#[test]
fn references_are_renamed_where_the_preview_says_and_nowhere_else() {
    for (old, new, count) in [("docked", "moored", 5), ("raise_flag", "hoist", 3)] {
        let arguments = json!({"target": old, "new_name": new});
        let (project, preview, places) =
            changes_exactly_what_it_lists("project_rename_references", &arguments, |preview| {
                (listed(&preview["after"]["places"]), vec![])
            });
        assert_eq!(places.len(), count, "{places:?}");
        let code = listed(&preview["after"]["code_references_not_updated"]);
        let Some(godot) = godot() else { return };
        // With the code that it lists changed as well, nothing is left that names the old one.
        change_words(&project, &code, old, new);
        engine_is_content(&godot, &project, old);
    }
}

#[test]
fn files_move_with_every_place_that_the_preview_names() {
    let arguments = json!({"moves": [
        {"from": "res://boats", "to": "res://craft/small"},
        {"from": "res://data/berth.gd", "to": "res://quay/Berth.gd"},
        {"from": "res://quay/quay.tscn", "to": "res://main.tscn"},
    ]});
    let listing = |preview: &Value| {
        let moved = preview["after"]["moved"].as_array().unwrap().iter();
        let path = |one: &Value, side: &str| inner(one[side].as_str().unwrap());
        let moved = moved.map(|one| (path(one, "from"), path(one, "to"))).collect();
        (listed(&preview["after"]["references"]), moved)
    };
    let (project, preview, places) =
        changes_exactly_what_it_lists("project_move_files", &arguments, listing);
    assert_eq!(places.len(), 20, "{places:?}");
    assert_eq!(preview["after"]["moved"].as_array().unwrap().len(), 14, "{preview:#}");
    let notes = project.text("docs/notes.md").unwrap();
    assert!(notes.contains("res://boats/boat.tscn"), "prose is not a reference");
    let Some(godot) = godot() else { return };
    engine_is_content(&godot, &project, "moved");
}

/// BL-13.
#[test]
fn a_node_is_renamed_in_every_scene_that_has_it() {
    for (node, new, update_scripts) in
        [("Hull/Mast", "Mizzen mast", true), ("Hull", "Body", true), ("Sway", "Rock", false)]
    {
        let arguments = json!({"in_scene": "res://boats/boat.tscn", "target_node": node,
            "new_name": new, "update_scripts": update_scripts});
        let (project, _, places) =
            changes_exactly_what_it_lists("scene_rename_node", &arguments, |preview| {
                (listed_by_file(&preview["before"]["files"]), vec![])
            });
        let files: BTreeSet<&str> = places.iter().map(|(path, _)| path.as_str()).collect();
        let derived = ["boats/boat.tscn", "boats/fleet.tscn", "boats/tug.tscn", "quay/quay.tscn"];
        let expected = if node == "Sway" { &derived[..1] } else { &derived[..] };
        assert!(expected.iter().all(|file| files.contains(file)), "{node}: {files:?}");
        let Some(godot) = godot() else { return };
        engine_is_content(&godot, &project, node);
    }
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    /// A part of a span.
    fn part_of(&mut self, span: Duration) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        span.mul_f64(f64::from(u32::try_from(self.0 >> 40).unwrap()) / f64::from(1_u32 << 24))
    }
}

/// What is on the disk of the files that a call changes.
struct Watched<'p> {
    project: &'p Project,
    before: &'p Tree,
    after: Tree,
    paths: Vec<String>,
}

/// A file without its bytes, which tell apart whether it was replaced.
type Seen = Option<(u64, SystemTime)>;

impl Watched<'_> {
    fn seen(&self) -> Vec<Seen> {
        let facts = |path: &String| {
            let found = fs::metadata(self.project.file(path)).ok()?;
            Some((found.len(), found.modified().unwrap()))
        };
        self.paths.iter().map(facts).collect()
    }

    /// How many of the files have changed, each being whole.
    fn new_files(&self) -> usize {
        let now = self.project.tree();
        for (path, bytes) in &now {
            let whole = [self.before.get(path), self.after.get(path)].contains(&Some(bytes));
            assert!(whole || is_staged(path), "`{path}` is neither old nor new");
        }
        let is_new = |path: &&String| now.get(*path) == self.after.get(*path);
        let new = self.paths.iter().filter(is_new).count();
        for path in self.paths.iter().filter(|path| now.get(*path) != self.after.get(*path)) {
            assert_eq!(now.get(path), self.before.get(path), "`{path}` is neither old nor new");
        }
        new
    }
}

fn is_staged(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with(".didi-"))
}

/// A tool whose server is killed, and how often.
struct Victim {
    tool: &'static str,
    arguments: Value,
    kills: usize,
}

/// Where the kills of one or more tools fell.
#[derive(Debug, Default)]
struct Fell {
    before_the_first_file: usize,
    between: usize,
    after_the_last_file: usize,
    with_staged_files: usize,
}

/// Enough scenes that the pass takes a while.
fn crowd(project: &Project) {
    let text = "[gd_scene format=3]\n\n\
         [ext_resource type=\"PackedScene\" path=\"res://boats/boat.tscn\" id=\"1\"]\n\n\
         [node name=\"Crowd\" type=\"Node2D\"]\n\n\
         [node name=\"Boat\" parent=\".\" instance=ExtResource(\"1\")]\n\n\
         [node name=\"Mast\" parent=\"Boat/Hull\" index=\"0\"]\nrotation = 0.5\n\n\
         [connection signal=\"docked\" from=\"Boat\" to=\"Boat\" method=\"raise_flag\" unbinds=1]\n\n\
         [editable path=\"Boat\"]\n";
    for number in 0..40 {
        project.write(&format!("boats/crowd/c_{number:02}.tscn"), text);
    }
}

fn served(project: &Project) -> Server {
    Launch::over(project.root()).args(["--yolo"]).start()
}

/// A call that has to work in every state, and that waits until the server is up.
fn works(server: &mut Server) {
    let listed = server.call("project_list_resources", json!({}));
    assert_eq!(listed["isError"], false, "{listed}");
}

impl Victim {
    fn kill_all(&self, dice: &mut Dice) -> Fell {
        let mut fell = Fell::default();
        let project = Project::harbor();
        crowd(&project);
        let before = project.tree();
        let mut server = served(&project);
        works(&mut server);
        let answer = server.call(self.tool, self.arguments.clone());
        assert_eq!(answer["isError"], false, "{answer}");
        let after = project.tree();
        let changed = |path: &&String| before.get(*path) != after.get(*path);
        let all: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let paths: Vec<String> = all.into_iter().filter(changed).cloned().collect();
        assert!(paths.len() > 40, "{paths:?}");
        let watched = Watched { project: &project, before: &before, after, paths };
        let (call, pass) = self.measure(&watched, &mut server);
        for kill in 0..self.kills {
            project.restore(&before);
            let old = watched.seen();
            let sent = Instant::now();
            server.ask_tool(self.tool, self.arguments.clone());
            if kill % 2 == 0 {
                // Anywhere in the call: mostly while it reads, plans and stages.
                let at = sent + dice.part_of(call);
                while Instant::now() < at {
                    std::hint::spin_loop();
                }
            } else {
                // In the pass itself, which is short: from the first file that changes on.
                wait_for_change(&watched, &old, &mut server);
                let at = Instant::now() + dice.part_of(pass);
                while Instant::now() < at {
                    std::hint::spin_loop();
                }
            }
            server.kill();
            fell.count(&watched);
            server = served(&project);
            works(&mut server);
            let left: Vec<_> = project.tree().into_keys().filter(|path| is_staged(path)).collect();
            assert!(left.is_empty(), "`{}` left {left:?}", self.tool);
            let journal = project.text(".didi/journal.json");
            let readable = |text: String| serde_json::from_str::<Value>(&text).is_ok();
            assert!(journal.is_none_or(readable), "the journal is torn");
        }
        // After all that the same server still does the whole of it.
        project.restore(&before);
        let answer = server.call(self.tool, self.arguments.clone());
        assert_eq!(answer["isError"], false, "{answer}");
        assert_eq!(project.tree(), watched.after);
        fell
    }

    /// How long a call takes, and from its first changed file to its last.
    fn measure(&self, watched: &Watched<'_>, server: &mut Server) -> (Duration, Duration) {
        let mut measured = vec![];
        for _ in 0..3 {
            watched.project.restore(watched.before);
            let old = watched.seen();
            let sent = Instant::now();
            let id = server.ask_tool(self.tool, self.arguments.clone());
            wait_for_change(watched, &old, server);
            let first = Instant::now();
            while watched.seen().iter().zip(&old).any(|(now, old)| now == old) {
                assert!(sent.elapsed() < Duration::from_secs(30), "the call does not end");
            }
            let pass = first.elapsed();
            server.answer(id);
            measured.push((sent.elapsed(), pass));
        }
        measured.sort();
        measured[1]
    }
}

fn wait_for_change(watched: &Watched<'_>, old: &[Seen], server: &mut Server) {
    let start = Instant::now();
    while watched.seen() == old {
        assert!(start.elapsed() < Duration::from_secs(30), "nothing changes: {}", server.log());
    }
}

impl Fell {
    fn count(&mut self, watched: &Watched<'_>) {
        let new = watched.new_files();
        if new == 0 {
            self.before_the_first_file += 1;
        } else if new == watched.paths.len() {
            self.after_the_last_file += 1;
        } else {
            self.between += 1;
        }
        let staged = watched.project.tree().into_keys().any(|path| is_staged(&path));
        self.with_staged_files += usize::from(staged);
    }
}

/// BL-65:
/// Two hundred kills: whatever the moment, each file is the old one or the new one, and the next server sweeps.
#[test]
fn a_kill_at_any_point_leaves_every_file_whole() {
    let victims = [
        Victim {
            tool: "project_rename_references",
            arguments: json!({"target": "docked", "new_name": "moored"}),
            kills: 67,
        },
        Victim {
            tool: "project_move_files",
            arguments: json!({"moves": [{"from": "res://boats", "to": "res://craft/small"}]}),
            kills: 67,
        },
        Victim {
            tool: "scene_rename_node",
            arguments: json!({"in_scene": "res://boats/boat.tscn", "target_node": "Hull/Mast",
                "new_name": "Mizzen", "update_scripts": true}),
            kills: 66,
        },
    ];
    // Most of the time is waited for servers that start, so the tools go side by side.
    let fallen: Vec<Fell> = std::thread::scope(|scope| {
        let runs: Vec<_> = (42..)
            .zip(&victims)
            .map(|(seed, victim)| scope.spawn(move || victim.kill_all(&mut Dice(seed))))
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let mut all = Fell::default();
    for (victim, fell) in victims.iter().zip(&fallen) {
        eprintln!("{}: {} kills, {fell:?}", victim.tool, victim.kills);
        all.before_the_first_file += fell.before_the_first_file;
        all.between += fell.between;
        all.after_the_last_file += fell.after_the_last_file;
        all.with_staged_files += fell.with_staged_files;
    }
    eprintln!("all: {all:?}");
    assert_eq!(all.before_the_first_file + all.between + all.after_the_last_file, 200);
    assert!(all.between > 0, "no kill fell between the first and the last changed file: {all:?}");
    assert!(all.with_staged_files > 0, "no kill left anything to sweep: {all:?}");
}

/// A pass holds a lock a file, and a shell allows few open files.
#[cfg(unix)]
#[test]
fn a_pass_over_more_files_than_a_process_may_open_by_default() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::empty();
    for number in 0..300 {
        project.write(&format!("a/f{number}.txt"), "x");
    }
    let program = project.outside().join("limited");
    let text = format!("#!/bin/sh\nulimit -Sn 128\nexec '{}' \"$@\"\n", didi().display());
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut server = Launch::over(project.root()).args(["--yolo"]).program(program).start();
    let moves = json!({"moves": [{"from": "res://a", "to": "res://b"}]});
    let moved = server.call("project_move_files", moves);
    assert_eq!(moved["isError"], false, "{moved}");
    assert_eq!(project.tree().keys().filter(|path| path.starts_with("b/")).count(), 300);
}
