//! A legacy client of one server: it calls tools by their names, and its calls find the engine of its project by
//! themselves.

use serde_json::{Value, json};

use crate::{Launch, Project, Server, live::sessions, server::manifest};

/// A client with an open session.
pub struct Caller {
    /// Its server, for what is no call.
    pub server: Server,
}

impl Caller {
    /// A client of a server over a project, among the engines of that project's session folder.
    pub fn of(project: &Project) -> Self {
        Caller::declaring(project, json!({}))
    }

    /// The same, with capabilities.
    pub fn declaring(project: &Project, capabilities: Value) -> Self {
        let folder = sessions(project).path;
        Caller::over(Launch::over(project.root()).env("DIDI_SESSION_DIR", folder), capabilities)
    }

    /// A client of a server that is started so.
    pub fn over(launch: Launch, capabilities: Value) -> Self {
        let mut server = launch.start();
        server.initialize("2025-06-18", capabilities);
        Caller { server }
    }

    /// Calls, and gives the result whatever it is.
    pub fn result(&mut self, tool: &str, arguments: &Value) -> Value {
        let [result] = self.results([(tool, arguments.clone())]);
        result
    }

    /// Calls several tools without waiting for one before the next: the results, whatever they are.
    pub fn results<const COUNT: usize>(&mut self, calls: [(&str, Value); COUNT]) -> [Value; COUNT] {
        let asked = calls.map(|(name, arguments)| {
            self.server.ask("tools/call", json!({"name": name, "arguments": arguments}))
        });
        asked.map(|id| self.server.answer(id)["result"].clone())
    }

    /// Calls what has to succeed, with an engine or without: its data.
    ///
    /// # Panics
    /// When it is refused.
    pub fn answered(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, &arguments);
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// Calls what has to succeed, live.
    ///
    /// # Panics
    /// When it is refused, or no engine served it.
    pub fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let data = self.answered(tool, arguments);
        assert_eq!(data["execution_mode"], "live", "{tool}: {data}");
        assert!(data.get("undo_steps").is_none(), "{tool}: the steps are the journal's: {data}");
        data
    }

    /// Previews, and calls with the preview's token what has to succeed: its data.
    ///
    /// # Panics
    /// When either is refused.
    pub fn confirmed(&mut self, tool: &str, mut arguments: Value) -> Value {
        arguments["dry_run"] = true.into();
        let preview = self.answered(tool, arguments.clone());
        let members = arguments.as_object_mut().expect("arguments are an object");
        members.remove("dry_run");
        let token = preview["mutation_preview"]["confirmation_token"].clone();
        members.insert("confirmation_token".into(), token);
        self.answered(tool, arguments)
    }

    /// Calls what has to be refused: the refusal, with the session beside its data.
    ///
    /// # Panics
    /// When it succeeds.
    pub fn refusal(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, &arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let refusal = refusal_of(&result);
        check_code(tool, &refusal);
        refusal
    }

    /// Calls what has to be refused: its code.
    ///
    /// # Panics
    /// When it succeeds.
    pub fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let refusal = self.refusal(tool, arguments);
        refusal["data"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// Calls what has to be refused as a preview and in earnest: the refusal, which is the same but for the session,
    /// that of a preview names none.
    ///
    /// # Panics
    /// When either succeeds, or they differ.
    pub fn refusal_either_way(&mut self, tool: &str, mut arguments: Value) -> Value {
        arguments["dry_run"] = true.into();
        let mut preview = self.refusal(tool, arguments.clone());
        arguments["dry_run"] = false.into();
        let earnest = self.refusal(tool, arguments);
        preview["data"]["session"] = earnest["data"]["session"].clone();
        assert_eq!(preview, earnest, "{tool}: a preview is refused as the call is");
        earnest
    }

    /// An edit of the open scene: it leaves a save to be done.
    ///
    /// # Panics
    /// When it is refused, or says nothing of the save.
    pub fn edits(&mut self, tool: &str, arguments: Value) -> Value {
        let data = self.done(tool, arguments);
        assert_eq!(data["scene_saved"], false, "{tool}: {data}");
        assert_eq!(data["follow_up"][0]["tool"], "editor_save_scene", "{tool}: {data}");
        data
    }

    /// Saves, and gives the text of the file.
    ///
    /// # Panics
    /// When it can't be saved.
    pub fn saved(&mut self, project: &Project, file: &str) -> String {
        self.done("editor_save_scene", json!({}));
        project.text(file).expect("a saved scene has a file")
    }

    /// Runs a job to its end.
    ///
    /// # Panics
    /// When it fails.
    pub fn finished(&mut self, tool: &str, arguments: &Value) -> Value {
        let name = json!({"request_id": arguments["request_id"]});
        let mut result = self.result(tool, arguments);
        while result["structuredContent"]["status"] == "working" {
            result = self.result(tool, &name);
        }
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// Reads a resource that is JSON.
    ///
    /// # Panics
    /// When it can't be read.
    pub fn resource(&mut self, uri: &str) -> Value {
        let answer = self.server.request("resources/read", json!({"uri": uri}));
        let text = answer["result"]["contents"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("`{uri}` was refused: {answer}"));
        serde_json::from_str(text).expect("the resource is JSON")
    }
}

/// The refusal that a result tells of: `code`, `message` and `data`, with the session that it came from in `data`.
///
/// # Panics
/// When it tells of none.
pub fn refusal_of(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().expect("a refusal has a text");
    let document: Value = serde_json::from_str(text).expect("the text is JSON");
    let mut error = document["error"].clone();
    error["data"]["session"] = document["session"].clone();
    error
}

/// Codes with which every call can be refused, whatever its tool declares.
const OF_EVERY_CALL: [&str; 6] = [
    "cancelled",
    "conflict",
    "internal_error",
    "invalid_arguments",
    "not_connected",
    "session_kind_rejected",
];

/// A refusal has a code that its tool declares, or that no tool does, as the host's own gates give it.
fn check_code(tool: &str, refusal: &Value) {
    let code = &refusal["data"]["code"];
    let tools = manifest()["tools"].as_array().expect("the manifest lists tools");
    let declares = |one: &Value| {
        let codes = one["codes"].as_array();
        codes.is_some_and(|codes| codes.iter().any(|declared| declared["name"] == *code))
    };
    let own = tools.iter().find(|one| one["name"] == tool);
    let is_known = own.is_none_or(declares)
        || OF_EVERY_CALL.iter().any(|name| code == name)
        || !tools.iter().any(declares);
    assert!(is_known, "`{tool}` does not declare the code of {refusal}");
}
