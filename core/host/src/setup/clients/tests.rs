use super::*;

fn entry() -> (tempfile::TempDir, Entry) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let program = std::env::current_exe().unwrap().canonicalize().unwrap();
    let entry = Entry { program, project: root, godot: None, search: vec![] };
    (folder, entry)
}

/// What set-up makes of a text.
fn edited(client: Client, before: &str, entry: &Entry) -> Option<String> {
    let after = client.edited(Some(before.as_bytes()), entry).unwrap();
    after.map(|bytes| String::from_utf8(bytes).unwrap())
}

/// The lines of `before` are all in `after`, in their order, but for a comma that the new entry needs.
fn keeps(before: &str, after: &str) {
    let mut lines = after.split_inclusive('\n');
    for wanted in before.split_inclusive('\n') {
        let bare = |line: &str| line.trim_end().trim_end_matches(',').to_owned();
        let found = lines.any(|line| bare(line) == bare(wanted));
        assert!(found, "`{wanted}` is not kept in order:\n{after}");
    }
}

const JSONC: &str = "{\r\n\t// servers of ours\r\n\t\"inputs\": [],\r\n\t\"servers\": {\r\n\t\t\"z\": { \"type\": \"http\", \"url\": \"x\" }, // last\r\n\t},\r\n}\r\n";
const TOML: &str = "# mine\r\nmodel = \"x\" # kept\r\n\r\n[mcp_servers.z]\r\ncommand = \"y\"\r\n";

#[test]
fn an_entry_is_added_and_found_right_afterwards() {
    let (_folder, entry) = entry();
    for (client, before) in [
        (Client::ClaudeCode, ""),
        (Client::ClaudeCode, "{}"),
        (
            Client::ClaudeCode,
            "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"z\": {\"command\": \"y\"}\n  }\n}\n",
        ),
        (Client::Cursor, "{\"mcpServers\": {}}"),
        (Client::Vscode, JSONC),
        (Client::Codex, ""),
        (Client::Codex, TOML),
        (Client::Codex, "mcp_servers = { z = { command = \"y\" } }\n"),
        (Client::Codex, "[mcp_servers]\nz = { command = \"y\" } # kept\n\n[tui]\nx = 1\n"),
    ] {
        let after = edited(client, before, &entry).expect("it was not there");
        if before.contains('\n') && !before.starts_with("mcp_servers =") {
            keeps(before, &after);
        }
        assert_eq!(edited(client, &after, &entry), None, "{after}");
        let current = client.current(&after).unwrap().unwrap();
        assert_eq!(option(&current.args, &PROJECT), entry.project.to_str());
        if before.contains("\r\n") {
            assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
        }
    }
}

#[test]
fn a_byte_order_mark_stays() {
    let (_folder, entry) = entry();
    for (client, body) in [(Client::ClaudeCode, "{}"), (Client::Codex, "a = 1\n")] {
        let after = edited(client, &format!("\u{feff}{body}"), &entry).unwrap();
        assert!(after.starts_with('\u{feff}') && !after[3..].contains('\u{feff}'), "{after:?}");
        assert_eq!(edited(client, &after, &entry), None);
    }
}

#[test]
fn what_a_person_added_to_the_entry_stays() {
    let (_folder, entry) = entry();
    let json = "{\"mcpServers\": {\"didi\": {\"command\": \"/gone\", \"args\": [\"--tools\", \"core\", \"-p\", \"/gone\"], \"env\": {\"A\": \"b\"}}}}";
    let after = edited(Client::ClaudeCode, json, &entry).unwrap();
    let value: serde_json::Value = serde_json::from_str(&after).unwrap();
    let didi = &value["mcpServers"]["didi"];
    let project = entry.project.to_str().unwrap();
    assert_eq!(didi["args"], serde_json::json!(["--tools", "core", "-p", project]));
    assert_eq!(didi["env"]["A"], "b");
    assert_eq!(didi["command"], entry.program.to_str().unwrap());
    let toml = "[mcp_servers.didi]\ncommand = \"/gone\" # ours\nargs = [\"--project=/gone\"]\nstartup_timeout_sec = 9\n\n[z]\n";
    let after = edited(Client::Codex, toml, &entry).unwrap();
    assert!(after.contains("# ours\n") && after.contains("startup_timeout_sec = 9\n"), "{after}");
    assert!(after.contains(&format!("\"--project={project}\"")), "{after}");
    assert_eq!(edited(Client::Codex, &after, &entry), None);
}

#[test]
fn an_engine_that_was_named_is_passed_on() {
    let (_folder, mut entry) = entry();
    let plain = edited(Client::Codex, "", &entry).unwrap();
    entry.godot = Some("/opt/godot".into());
    let named = edited(Client::Codex, &plain, &entry).unwrap();
    assert!(named.contains("\"--godot-bin\", \"/opt/godot\""), "{named}");
    entry.godot = None;
    assert_eq!(edited(Client::Codex, &named, &entry), None, "it stays");
}

#[test]
fn two_clients_have_a_word_for_the_folder() {
    let (_folder, entry) = entry();
    let program = entry.program.to_str().unwrap();
    let with = |section: &str| {
        format!(
            "{{\"{section}\": {{\"didi\": {{\"type\": \"stdio\", \"command\": \"{program}\", \"args\": [\"--project\", \"${{workspaceFolder}}\"]}}}}}}"
        )
    };
    assert_eq!(edited(Client::Vscode, &with("servers"), &entry), None);
    assert_eq!(edited(Client::Cursor, &with("mcpServers"), &entry), None);
    assert!(edited(Client::ClaudeCode, &with("mcpServers"), &entry).is_some());
}

#[test]
fn what_does_not_read_is_refused_with_its_place() {
    let (_folder, entry) = entry();
    for (client, text, line) in [
        (Client::ClaudeCode, "{\n  \"a\": 1,\n}", Some(3)),
        (Client::ClaudeCode, "{ // no\n}", Some(1)),
        (Client::Vscode, "{\n  \"servers\": {\n", Some(2)),
        (Client::Cursor, "{\"a\": 1} {", Some(1)),
        (Client::Codex, "a = 1\nb = [1,\n", Some(2)),
        (Client::Codex, "a = 1\na = 2\n", Some(2)),
        (Client::ClaudeCode, "[]", None),
        (Client::ClaudeCode, "{\"mcpServers\": 3}", None),
        (Client::ClaudeCode, "{\"mcpServers\": {}, \"mcpServers\": {}}", None),
        (Client::Codex, "mcp_servers = 3\n", None),
    ] {
        let fault = client.edited(Some(text.as_bytes()), &entry).unwrap_err();
        assert_eq!(fault.place.map(|(line, _)| line), line, "{text}: {fault}");
    }
    let fault = Client::ClaudeCode.edited(Some(b"{\n\xff"), &entry).unwrap_err();
    assert_eq!(fault.place, Some((2, 1)));
}

#[test]
fn lines_that_end_in_two_ways_are_left_to_a_person() {
    let (_folder, entry) = entry();
    let mixed = "[mcp_servers.didi]\r\ncommand = \"/gone\"\nargs = []\r\n";
    assert!(Client::Codex.edited(Some(mixed.as_bytes()), &entry).is_err());
    let added = edited(Client::Codex, "a = 1\r\nb = 2\n", &entry).unwrap();
    assert!(added.starts_with("a = 1\r\nb = 2\n"), "what is only added to keeps every byte");
}
