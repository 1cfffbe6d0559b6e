//! `didi try`: a tour on a temporary copy of the sample project, driven as a client drives it.
//!
//! Everything shown is what a server answered over its pipes. What needs an engine says so where none is
//! found.
//!
//! Spec: P-38, the command line.

mod client;

use std::{fs, io::Write, path::Path, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};
use rust_embed::RustEmbed;
use serde_json::{Value, json};

use self::client::Client;
use crate::source;

#[derive(RustEmbed)]
#[folder = "../../tests/fixtures/projects/sample"]
#[exclude = ".godot/*"]
#[exclude = ".didi/*"]
struct Sample;

/// The file that the tour changes, and the words that it changes in it.
const SCRIPT: &str = "res://levels/meadow.gd";
const SCENE: &str = "res://levels/meadow.tscn";

/// Nodes of the scene tree that are shown.
const SHOWN_NODES: usize = 24;

/// How long the tour waits for its job.
const JOB_LIMIT: Duration = Duration::from_secs(120);

/// Walks through the server; everything goes to `out`.
///
/// # Errors
/// One sentence: the tour is the first thing that a new user runs, so any surprise ends it.
pub fn run(out: &mut dyn Write, pass_on: &[String]) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    unpack(folder.path())?;
    let (client, hello) = Client::start(folder.path(), pass_on)?;
    let mut tour = Tour { client, out, folder: folder.path() };
    tour.hello(&hello)?;
    tour.packs()?;
    tour.tools()?;
    tour.scene()?;
    tour.search()?;
    tour.change()?;
    tour.job()?;
    tour.game()?;
    tour.say("\nThat was Didi. Connect your own client as the README shows:\n    didi --project <your Godot project>\n")?;
    tour.client.end();
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "fills a folder that nobody else has")]
fn unpack(folder: &Path) -> Result<(), String> {
    for name in Sample::iter() {
        let place = folder.join(&*name);
        let say = |error: std::io::Error| format!("`{name}` can't be unpacked: {error}");
        fs::create_dir_all(place.parent().unwrap_or(folder)).map_err(say)?;
        if let Some(file) = Sample::get(&name) {
            fs::write(&place, &file.data).map_err(say)?;
        }
    }
    Ok(())
}

struct Tour<'a> {
    client: Client,
    out: &'a mut dyn Write,
    folder: &'a Path,
}

impl Tour<'_> {
    fn say(&mut self, text: &str) -> Result<(), String> {
        writeln!(self.out, "{text}").map_err(|error| format!("standard output is closed: {error}"))
    }

    fn head(&mut self, title: &str) -> Result<(), String> {
        self.say(&format!("\n{title}\n{}", "-".repeat(title.len())))
    }

    /// Calls a tool that has no reason to refuse.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        self.client
            .call(tool, arguments)?
            .map_err(|refusal| format!("`{tool}` refused: {}", refusal["error"]["message"]))
    }

    fn hello(&mut self, hello: &Value) -> Result<(), String> {
        let info = &hello["serverInfo"];
        let (name, version) = (text(&info["title"]), text(&info["version"]));
        self.say(&format!("{name} {version}, speaking MCP {}", text(&hello["protocolVersion"])))?;
        self.say(&format!("on a temporary copy of the sample game: {}", self.folder.display()))
    }

    fn packs(&mut self) -> Result<(), String> {
        self.head("Tool packs, each a library of its own")?;
        let room = self.call("didi_control_room", json!({"fields": ["server"]}))?;
        for pack in room["server"]["packs"].as_array().into_iter().flatten() {
            let line = format!(
                "  {:9} {:3} tools  {}",
                text(&pack["state"]),
                pack["tools"],
                text(&pack["file"])
            );
            self.say(&line)?;
        }
        Ok(())
    }

    fn tools(&mut self) -> Result<(), String> {
        self.head("Tools")?;
        let list = self.client.request("tools/list", json!({}))?;
        let tools = list["tools"].as_array().cloned().unwrap_or_default();
        let bytes = list["tools"].to_string().len();
        for tool in &tools {
            if tool["_meta"]["didi"]["legacy"] == true {
                continue;
            }
            let kind =
                if tool["annotations"]["readOnlyHint"] == true { "reads  " } else { "changes" };
            let name = text(&tool["name"]);
            self.say(&format!(
                "  {kind}  {name:28} {}",
                first_sentence(&text(&tool["description"]))
            ))?;
        }
        self.say(&format!("  {} names, {bytes} bytes in the client's context", tools.len()))
    }

    fn scene(&mut self) -> Result<(), String> {
        self.head("The scene tree, read from the file")?;
        let tree = self.call(
            "scene_get_hierarchy",
            json!({"root_path": SCENE, "include_properties": false}),
        )?;
        let mut lines = vec![];
        outline(&tree["scene_tree"], 1, &mut lines);
        let more = lines.len().saturating_sub(SHOWN_NODES);
        for line in lines.iter().take(SHOWN_NODES) {
            self.say(line)?;
        }
        if more > 0 { self.say(&format!("  ... and {more} more nodes")) } else { Ok(()) }
    }

    fn search(&mut self) -> Result<(), String> {
        self.head("A search for \"lamp\" in scripts")?;
        let arguments = json!({"query": "lamp", "extensions": [".gd"], "max_results": 6, "case_sensitive": false});
        let found = self.call("project_search_text", arguments)?;
        for hit in found["matches"].as_array().into_iter().flatten() {
            let place = format!("{}:{}", text(&hit["path"]), hit["line"]);
            self.say(&format!("  {place:28} {}", text(&hit["preview"]).trim()))?;
        }
        Ok(())
    }

    /// A preview, a refusal without a token, and the confirmed change with its diff.
    fn change(&mut self) -> Result<(), String> {
        self.head("A change: previewed, confirmed, read back")?;
        let before = self.read_script()?;
        let after = format!("## Changed by the tour.\n{before}");
        let arguments = json!({"script_path": SCRIPT, "source_text": after, "overwrite": true});
        if let Err(refusal) = self.client.call("script_create", arguments.clone())? {
            let error = &refusal["error"];
            self.say(&format!(
                "  without a confirmation: {} {}",
                error["code"],
                text(&error["data"]["code"])
            ))?;
        }
        let preview = self.call("script_create", with(&arguments, "dry_run", json!(true)))?;
        let preview = &preview["mutation_preview"];
        let (target, seen) =
            (text(&preview["changes"][0]["target"]), &preview["changes"][0]["before"]);
        self.say(&format!(
            "  dry run: {target} has {} bytes now, and is still untouched",
            seen["size_bytes"]
        ))?;
        if self.read_script()? != before {
            return Err("the dry run changed the file".into());
        }
        let token = preview["confirmation_token"].clone();
        let done = self.call("script_create", with(&arguments, "confirmation_token", token))?;
        self.say(&format!(
            "  confirmed: {} {}",
            text(&done["status"]),
            text(&done["script_path"])
        ))?;
        let now = self.read_script()?;
        for line in difference(&before, &now) {
            self.say(&format!("    {line}"))?;
        }
        let journal =
            self.client.request("resources/read", json!({"uri": "godot://project/journal"}))?;
        let journal: Value =
            serde_json::from_str(&text(&journal["contents"][0]["text"])).unwrap_or_default();
        let newest = &journal["entries"][0];
        self.say(&format!(
            "  journal: {} {} {}",
            text(&newest["at"]),
            text(&newest["tool"]),
            text(&newest["outcome"])
        ))
    }

    fn read_script(&self) -> Result<String, String> {
        let file = self.folder.join(SCRIPT.trim_start_matches("res://"));
        fs::read_to_string(file).map_err(|error| format!("`{SCRIPT}` can't be read: {error}"))
    }

    /// A real export by the engine as a job, asked for until it is done.
    fn job(&mut self) -> Result<(), String> {
        self.head("A job: exporting the game as a pack file")?;
        let arguments = json!({
            "preset": "Linux",
            "output_path": "res://out/lantern.pck",
            "mode": "pack",
            "request_id": "tour-export",
        });
        let bar = ProgressBar::new_spinner().with_style(
            ProgressStyle::with_template("  {spinner} {msg} {elapsed}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        bar.enable_steady_tick(Duration::from_millis(80));
        bar.set_message("exporting");
        let deadline = source::now() + JOB_LIMIT;
        let answer = loop {
            let answer = self.client.call("project_export", arguments.clone())?;
            let working = answer.as_ref().is_ok_and(|answer| answer["status"] == "working");
            if !working || source::now() > deadline {
                break answer;
            }
        };
        bar.finish_and_clear();
        match answer {
            Ok(done) if done["status"] != "working" => self.say(&format!(
                "  done: {} with {} bytes, by Godot {}",
                text(&done["output_path"]),
                done["size_bytes"],
                text(&done["engine_version"]),
            )),
            Ok(_) => Err("the export did not end in time".into()),
            Err(refusal) => self.needs_engine(&refusal),
        }
    }

    fn game(&mut self) -> Result<(), String> {
        self.head("The game itself, headless for two seconds")?;
        let arguments = json!({"timeout_seconds": 2});
        match self.client.call("runtime_launch", arguments)? {
            Ok(run) => self.say(&format!("  {}", text(&run["summary"]))),
            Err(refusal) => self.needs_engine(&refusal),
        }
    }

    fn needs_engine(&mut self, refusal: &Value) -> Result<(), String> {
        let error = &refusal["error"];
        if error["data"]["code"] != "engine_unavailable" {
            return Err(text(&error["message"]));
        }
        self.say("  left out: this needs Godot 4.5 or newer, and none was found here")?;
        self.say(&format!(
            "  the way out, as the server says it: {}",
            text(&error["data"]["restart_with"])
        ))
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn first_sentence(text: &str) -> String {
    text.split_inclusive(". ").next().unwrap_or(text).trim().to_owned()
}

fn with(arguments: &Value, name: &str, value: Value) -> Value {
    let mut arguments = arguments.clone();
    arguments[name] = value;
    arguments
}

fn outline(node: &Value, depth: usize, lines: &mut Vec<String>) {
    let instance = match text(&node["instance_of"]) {
        scene if scene.is_empty() => String::new(),
        scene => format!("  <- {scene}"),
    };
    let kind = match text(&node["type"]) {
        kind if kind.is_empty() => String::new(),
        kind => format!("  ({kind})"),
    };
    lines.push(format!("{}{}{kind}{instance}", "  ".repeat(depth), text(&node["name"])));
    for child in node["children"].as_array().into_iter().flatten() {
        outline(child, depth + 1, lines);
    }
}

/// Lines that differ between two texts, less what they share at both ends.
fn difference(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - head;
    let tail = (old.iter().rev().zip(new.iter().rev()))
        .take(rest)
        .take_while(|(one, other)| one == other)
        .count();
    let mut lines = vec![format!("@@ line {} @@", head + 1)];
    lines.extend(old[head..old.len() - tail].iter().map(|line| format!("-{line}")));
    lines.extend(new[head..new.len() - tail].iter().map(|line| format!("+{line}")));
    lines.extend(new.iter().skip(new.len() - tail).take(2).map(|line| format!(" {line}")));
    lines
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn a_difference_shows_the_changed_lines_alone() {
        assert_eq!(difference("a\nb\nc\n", "a\nx\nc\n"), ["@@ line 2 @@", "-b", "+x", " c"]);
        assert_eq!(difference("a\n", "n\na\n"), ["@@ line 1 @@", "+n", " a"]);
        assert_eq!(difference("a\na\n", "a\n"), ["@@ line 2 @@", "-a"]);
    }
}
