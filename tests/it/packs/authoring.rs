//! Follows `docs/pack-authoring.md` to the letter, in a folder outside of the workspace.
//!
//! Spec: P-31, gates of the loader; P-34, testing a pack.

use std::{fs, path::Path};

use didi_tests::{Server, repository};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    fixtures::{cargo, library_name, lock, put, quoted, target},
    host::{Host, call, text, tools},
};

/// The code blocks that name a file, as the file's path and text.
fn files_of(document: &str) -> Vec<(String, String)> {
    let mut files = vec![];
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if let Some((_, file)) = line.split_once(" title=").filter(|_| line.starts_with("```")) {
            let body: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            files.push((file.to_owned(), body.join("\n") + "\n"));
        }
    }
    files
}

/// Writes the documented pack down; the only change is where plugin-api lies.
fn write_pack(folder: &Path) {
    let document = fs::read_to_string(repository().join("docs/pack-authoring.md")).unwrap();
    let files = files_of(&document);
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Cargo.toml", "src/lib.rs", "src/list.rs", "src/add.rs", "src/tests.rs"]);
    let documented = "\"../didi/plugin-api\"";
    let here = quoted(&repository().join("plugin-api"));
    for (name, text) in files {
        put(&folder.join(name), &text.replace(documented, &here));
    }
    lock(folder);
}

#[test]
fn a_pack_written_by_the_guide_alone_is_built_listed_called_and_gated() {
    let folder = TempDir::with_prefix("didi-author-").unwrap();
    write_pack(folder.path());
    let tested = cargo(folder.path(), &["test"]);
    assert!(tested.contains("2 passed"), "{tested}");
    cargo(folder.path(), &["build"]);
    let built = target().join("debug").join(library_name("studio-credits"));

    let host = Host::new();
    let checked = host.run(&["packs", "check", built.to_str().unwrap()]);
    assert!(checked.status.success(), "{}", text(&checked.stdout));
    fs::copy(&built, host.at("packs").join(library_name("studio-credits"))).unwrap();
    let row = &host.rows(&[])[0];
    assert_eq!((&row["pack"], &row["state"]), (&json!("studio-credits"), &json!("loaded")));
    assert_eq!(row["tools"], json!(["credits_list", "credits_add"]));

    let mut server = host.serve(&[]);
    let listed = tools(&mut server);
    for tool in ["credits_list", "credits_add"] {
        assert!(listed.contains(&tool.to_owned()), "{listed:?}");
    }
    refused_like_a_built_in_one(&mut server);
    confirmed_like_a_built_in_one(&mut server, &host);
    let closed = server.close();
    assert!(closed.status.success() && closed.log.is_empty(), "{}", closed.log);
}

fn refused_like_a_built_in_one(server: &mut Server) {
    let unknown = call(server, "credits_list", json!({"limt": 1}));
    assert_eq!(unknown["error"]["code"], 400, "{unknown}");
    let too_many = call(server, "credits_list", json!({"limit": 501}));
    assert_eq!(too_many["error"]["code"], 400, "{too_many}");
    let empty = call(server, "credits_list", json!({}));
    assert_eq!((&empty["people"], &empty["truncated"]), (&json!([]), &json!(false)), "{empty}");
}

fn confirmed_like_a_built_in_one(server: &mut Server, host: &Host) {
    let credits = host.at("project/credits.txt");
    let asked = call(server, "credits_add", json!({"name": "Ada"}));
    assert_eq!(asked["error"]["code"], 428, "{asked}");
    let preview = call(server, "credits_add", json!({"name": "Ada", "dry_run": true}));
    let preview = &preview["mutation_preview"];
    assert_eq!(preview["preview_kind"], "target_state", "{preview}");
    assert_eq!(preview["changes"][0]["target"], "res://credits.txt", "{preview}");
    assert!(!credits.exists(), "a preview changes nothing");

    let mut confirmed = json!({"name": "Ada"});
    confirmed["confirmation_token"] = preview["confirmation_token"].clone();
    let added = call(server, "credits_add", confirmed.clone());
    assert_eq!(added["people"], 1, "{added}");
    assert_eq!(fs::read_to_string(&credits).unwrap(), "Ada\n");
    let again = call(server, "credits_add", confirmed);
    assert!(again["error"]["code"].is_u64(), "a token is good once: {again}");
    assert_eq!(call(server, "credits_list", json!({}))["people"], json!(["Ada"]));

    let journal = server.request("resources/read", json!({"uri": "godot://project/journal"}));
    let journal = journal["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(journal.contains("credits_add") && journal.contains("res://credits.txt"), "{journal}");
    let file = fs::read(host.at("project/.didi/journal.json")).unwrap();
    let file: Value = serde_json::from_slice(&file).unwrap();
    assert!(file.to_string().contains("credits_add"), "{file}");
}

/// The README names the dependencies in words; these are they.
fn readme_manifest() -> String {
    let api = quoted(&repository().join("plugin-api"));
    format!(
        "[package]\nname = \"studio\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [lib]\ncrate-type = [\"cdylib\"]\n\n[dependencies]\ndidi-plugin-api = {{ path = {api} }}\n\
         schemars = \"1.2\"\nserde = {{ version = \"1\", features = [\"derive\"] }}\n"
    )
}

#[test]
fn the_pack_of_the_readme_is_built_and_answers() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let (_, source) = readme.split_once("```rust\n").unwrap();
    let (source, _) = source.split_once("```\n").unwrap();
    let folder = TempDir::with_prefix("didi-readme-").unwrap();
    put(&folder.path().join("Cargo.toml"), &readme_manifest());
    put(&folder.path().join("src/lib.rs"), source);
    lock(folder.path());
    cargo(folder.path(), &["build"]);

    let host = Host::new();
    let built = target().join("debug").join(library_name("studio"));
    fs::copy(built, host.at("packs").join(library_name("studio"))).unwrap();
    fs::write(host.at("project/main.tscn"), "").unwrap();
    let mut server = host.serve(&[]);
    let counted = call(&mut server, "studio_count_scenes", json!({"folder": "res://"}));
    assert_eq!(counted["scenes"], 1, "{counted}");
    assert!(server.close().status.success());
}
