//! Real libraries, good and bad, in front of the real server.
//!
//! Spec: P-31, gates of the loader; P-37, pinned packs; P-39, updating packs.
#![allow(clippy::disallowed_methods, reason = "writes pack files the way a studio's build does")]

mod authoring;
mod fixtures;
mod host;

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use didi_tests::Server;
use serde_json::{Value, json};

use self::{
    fixtures::{build_to_abort, library, library_name, product_packs},
    host::{Host, ask, call, hello, said, text, tools},
};

const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// Replaces bytes of equal length, wherever they are.
fn rewrite(bytes: &mut [u8], old: &str, new: &str) {
    assert_eq!(old.len(), new.len());
    let places: Vec<_> = (0..bytes.len() - old.len())
        .filter(|at| bytes[*at..].starts_with(old.as_bytes()))
        .collect();
    assert!(!places.is_empty(), "{old:?} is not in the file");
    for at in places {
        bytes[at..at + old.len()].copy_from_slice(new.as_bytes());
    }
}

/// The same pack, built anew: other code, another version, another list of tools.
fn second_build(bytes: &mut [u8]) {
    rewrite(bytes, "build_one", "build_two");
    rewrite(bytes, "\"version\":\"1.0.0\"", "\"version\":\"1.0.1\"");
}

/// A bad file: its name, the gate that refuses it, and what the reason has to name.
struct Bad(&'static str, &'static str, &'static [&'static str]);

const BAD: &[Bad] = &[
    Bad("cut", "image", &["cut short", "past the end of the file", "copy it again"]),
    Bad("plain", "stamp", &["a library but not a tool pack", "take it out"]),
    Bad(
        "other-major",
        "stamp",
        &["stress-second", "1.0.0", "plugin-api 2.2.0", "plugin-api 1.2.0", "rebuild the pack"],
    ),
    Bad(
        "stress-changed",
        "layout",
        &["stress-changed", "plugin-api 1.2.0", "lays the interface out"],
    ),
    Bad(
        "stress-open-panics",
        "descriptor",
        &["panicked at", "lib.rs:", "stress pack panics", "mend"],
    ),
    Bad("stress-open-refuses", "descriptor", &["does not open: it has no licence on this machine"]),
    Bad("stress-open-exits", "trial", &["exit code 7", "mend"]),
    Bad("stress-open-ends", "trial", &["wrote no descriptor", "early", "mend"]),
    Bad("stress-open-aborts", "trial", &["signal 6"]),
    Bad("stress-open-loops", "trial", &["within 5 s", "mend", "didi packs check"]),
    Bad(
        "stress-duplicate",
        "descriptor",
        &["`project_search_text`", "`stress-duplicate` 1.0.0", "`didi-pack-project`", "rename"],
    ),
    Bad("stress-needs", "descriptor", &["`stress-needs` 1.0.0", "`host.teleport`", "update didi"]),
    Bad("writable", "file", &["writable by others", "chmod go-w"]),
    Bad("linked", "file", &["is a link", "copy the pack"]),
    Bad("folder", "file", &["not a regular file"]),
    Bad("twice", "descriptor", &["`stress-plain`", "twice", "remove one"]),
];

/// A folder with every good and every bad pack.
fn crowded() -> Host {
    let host = Host::new();
    for pack in product_packs() {
        fs::copy(&pack, host.at("packs").join(pack.file_name().unwrap())).unwrap();
    }
    for good in ["stress-plain", "stress-older", "stress-newer", "stress-unfit"] {
        host.add(good);
    }
    for Bad(name, ..) in BAD.iter().filter(|bad| bad.0.starts_with("stress-") || bad.0 == "plain") {
        host.add(name);
    }
    host.add_changed("stress-second", "cut", |bytes| bytes.truncate(bytes.len() * 3 / 5));
    host.add_changed("stress-second", "other-major", |bytes| {
        rewrite(bytes, "\"api\":\"1.2.0\"", "\"api\":\"2.2.0\"");
    });
    let writable = host.add_changed("stress-second", "writable", |_| {});
    fs::set_permissions(writable, fs::Permissions::from_mode(0o666)).unwrap();
    symlink(library("stress-second"), host.at("packs").join(library_name("linked"))).unwrap();
    fs::create_dir(host.at("packs").join(library_name("folder"))).unwrap();
    host.add_changed("stress-plain", "twice", |bytes| second_build(bytes));
    fs::write(host.at("packs/read me.txt"), "not a library").unwrap();
    fs::copy(library("stress-second"), host.at("packs/second.so.bak")).unwrap();
    host
}

fn file_of(row: &Value) -> &str {
    Path::new(row["file"].as_str().unwrap()).file_name().unwrap().to_str().unwrap()
}

fn row<'r>(rows: &'r [Value], name: &str) -> &'r Value {
    let name = library_name(name);
    rows.iter().find(|row| file_of(row) == name).unwrap_or_else(|| panic!("no row of {name}"))
}

#[test]
fn good_packs_are_served_and_each_bad_one_is_refused_in_one_line() {
    let host = crowded();
    let mut server = host.serve(&[]);
    let listed = tools(&mut server);
    for tool in ["project_search_text", "script_get_symbols", "plain_say", "older_say", "unfit_say"]
    {
        assert!(listed.contains(&tool.to_owned()), "{tool} is not in {listed:?}");
    }
    assert!(!listed.contains(&"newer_orbit".to_owned()), "an unknown session kind was guessed");
    assert_eq!(call(&mut server, "plain_say", json!({}))["pack"], "stress-plain");
    assert_eq!(call(&mut server, "older_say", json!({}))["pack"], "stress-older");
    assert_eq!(call(&mut server, "newer_say", json!({}))["pack"], "stress-newer");
    let searched = call(&mut server, "project_search_text", json!({"query": "config"}));
    assert_eq!(searched["matches"][0]["path"], "res://project.godot", "{searched}");
    let closed = server.close();
    assert!(closed.status.success());
    for Bad(name, _, words) in BAD {
        let file = library_name(name);
        let lines: Vec<_> = closed
            .log
            .lines()
            .filter(|line| line.contains(&format!("{file} is not served")))
            .collect();
        assert_eq!(lines.len(), 1, "{name}: {lines:?}\n{}", closed.log);
        for word in *words {
            assert!(lines[0].contains(word), "{name}: {word:?} is not in {}", lines[0]);
        }
    }
    let refused = closed.log.lines().filter(|line| line.contains("is not served")).count();
    assert_eq!(refused, BAD.len(), "{}", closed.log);
}

#[test]
fn the_list_says_of_each_file_which_gate_refused_it_and_why() {
    let host = crowded();
    let rows = host.rows(&[]);
    for Bad(name, gate, words) in BAD {
        let row = row(&rows, name);
        assert_eq!(row["state"], "refused", "{row}");
        assert_eq!(row["reasons"].as_array().unwrap().len(), 1, "{row}");
        let reason = &row["reasons"][0];
        assert_eq!(reason["gate"], *gate, "{row}");
        for word in *words {
            assert!(
                reason["reason"].as_str().unwrap().contains(word),
                "{name}: {word:?}, {reason}"
            );
        }
    }
    let loaded: Vec<_> = rows.iter().filter(|row| row["state"] == "loaded").collect();
    assert_eq!(loaded.len(), 11, "{loaded:#?}");
    for row in &loaded {
        assert_eq!(row["sha256"].as_str().unwrap().len(), 64, "{row}");
        assert!(
            row["api"].is_string() && row["rustc"].as_str().unwrap().starts_with("rustc"),
            "{row}"
        );
    }
    assert_eq!(rows.len(), BAD.len() + 11);
    assert_eq!(row(&rows, "stress-older")["api"], "1.0.0");
    let newer = row(&rows, "stress-newer");
    assert_eq!(newer["api"], "1.3.0");
    let left_out = newer["reasons"][0]["reason"].as_str().unwrap();
    assert!(left_out.contains("`newer_orbit`") && left_out.contains("orbiter"), "{left_out}");
    let unfit = row(&rows, "stress-unfit");
    assert_eq!(unfit["tools"], json!(["unfit_say"]));
    for (place, left_out) in
        ["tool `Not A Name`", "resource `godot://project/journal`"].iter().enumerate()
    {
        let reason = unfit["reasons"][place]["reason"].as_str().unwrap();
        assert!(reason.starts_with(left_out) && reason.contains("is left out"), "{unfit}");
    }
    let shown = text(&host.run(&["packs", "list"]).stdout);
    assert!(shown.contains("loaded    stress-plain 1.0.0 (api 1.2.0), 6 tools"), "{shown}");
    assert!(shown.contains("refused   libplain.so, 0 tools"), "{shown}");
}

#[test]
fn an_older_and_a_newer_minor_run_with_what_the_other_side_lacks() {
    let host = Host::new();
    host.add("stress-older");
    host.add("stress-newer");
    let mut server = host.serve(&[]);
    assert_eq!(call(&mut server, "older_clock", json!({}))["now_ms"], 0);
    let now = call(&mut server, "newer_clock", json!({}));
    assert!(now["now_ms"].as_u64().unwrap() > 1_700_000_000_000, "{now}");
    let next = call(&mut server, "newer_next", json!({}));
    assert_eq!(next["next"], 41, "a method that this host lacks runs its default body");
    assert!(server.close().status.success());
}

#[test]
fn a_panicking_handler_is_a_fault_and_the_next_call_works() {
    let host = Host::new();
    host.add("stress-plain");
    let mut server = host.serve(&[]);
    for _ in 0..3 {
        let fault = call(&mut server, "plain_panic", json!({}));
        let error = &fault["error"];
        assert_eq!(error["code"], 500, "{fault}");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("lib.rs:") && message.contains("the stress tool panics"),
            "{fault}"
        );
        assert!(error["data"]["no_remedy"].is_string(), "{fault}");
        assert_eq!(call(&mut server, "plain_say", json!({}))["build"], "build_one");
    }
    assert!(server.close().status.success());
}

#[test]
fn what_a_pack_prints_stays_out_of_the_protocol() {
    let host = Host::new();
    host.add("stress-plain");
    let mut server = host.serve(&[]);
    let printed = call(&mut server, "plain_print", json!({}));
    assert_eq!(printed["flushed"], true, "{printed}");
    let closed = server.close();
    assert_eq!(closed.rest, Vec::<Value>::new());
    assert!(closed.log.contains("not the server's"), "{}", closed.log);
    assert!(closed.log.contains("prints to standard output while it opens"), "{}", closed.log);
}

#[test]
fn a_tool_that_declares_a_read_can_not_write() {
    let host = Host::new();
    host.add("stress-plain");
    let mut server = host.serve(&[]);
    let lied = call(&mut server, "plain_lie", json!({}));
    assert_eq!(lied["error"]["code"], 500, "{lied}");
    assert!(lied["error"]["message"].as_str().unwrap().contains("declares no writing"), "{lied}");
    assert!(!host.at("project/lie.txt").exists());
}

#[test]
fn a_pack_that_declares_otherwise_than_in_its_trial_is_not_called() {
    let host = Host::new();
    host.add("stress-fickle");
    assert_eq!(host.rows(&[])[0]["state"], "loaded");
    let mut server = hello(host.launch(&[]).env("STRESS_FICKLE", "1"));
    let fault = call(&mut server, "fickle_say", json!({}));
    assert_eq!(fault["error"]["code"], 500, "{fault}");
    assert!(fault["error"]["message"].as_str().unwrap().contains("than in its trial"), "{fault}");
    assert!(server.close().status.success());
}

#[test]
fn a_second_start_tries_nothing_and_opens_nothing() {
    let host = Host::new();
    host.add("stress-plain");
    let loads = host.at("loads");
    let count = || fs::read_to_string(&loads).unwrap_or_default().lines().count();
    let start = || hello(host.launch(&[]).env("STRESS_LOADS", &loads));
    let mut first = start();
    assert!(tools(&mut first).contains(&"plain_say".to_owned()));
    assert!(first.close().status.success());
    assert_eq!(count(), 1, "the trial opens it once");
    let mut second = start();
    assert!(tools(&mut second).contains(&"plain_say".to_owned()));
    assert_eq!(count(), 1, "a known digest is not tried again");
    call(&mut second, "plain_say", json!({}));
    call(&mut second, "plain_say", json!({}));
    assert_eq!(count(), 2, "the first call opens it");
    assert!(second.close().status.success());
    // A check is always a trial.
    let pack = host.at("packs").join(library_name("stress-plain"));
    let checked =
        host.run_with(&["packs", "check", pack.to_str().unwrap()], &[("STRESS_LOADS", &loads)]);
    assert!(checked.status.success());
    assert_eq!(count(), 3);
}

#[test]
fn servers_that_start_together_share_one_cache() {
    let host = Host::new();
    host.add("stress-plain");
    host.add("stress-second");
    let mut servers: Vec<_> = (0..4).map(|_| host.launch(&[]).start()).collect();
    for server in &mut servers {
        server.initialize("2025-06-18", json!({}));
        assert_eq!(call(server, "plain_say", json!({}))["build"], "build_one");
        assert_eq!(call(server, "second_say", json!({}))["build"], "build_one");
    }
    for server in servers {
        let closed = server.close();
        assert!(closed.status.success() && !closed.log.contains("is not served"), "{}", closed.log);
    }
    let copies = fs::read_dir(host.at("cache")).unwrap().count();
    assert_eq!(copies, 2, "one folder a digest");
}

/// Finds the one private copy of a pack.
fn private_copy(host: &Host, pack: &str) -> PathBuf {
    let folders = fs::read_dir(host.at("cache")).unwrap();
    let mut copies = folders.map(|one| one.unwrap().path().join(library_name(pack)));
    copies.find(|copy| copy.exists()).unwrap()
}

#[test]
fn a_private_copy_that_was_changed_is_not_run() {
    let host = Host::new();
    host.add("stress-plain");
    assert_eq!(host.rows(&[])[0]["state"], "loaded");
    let copy = private_copy(&host, "stress-plain");
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(host.at("cache")).unwrap().permissions().mode() & 0o777, 0o700);
    let mut bytes = fs::read(&copy).unwrap();
    rewrite(&mut bytes, "build_one", "build_bad");
    fs::write(&copy, bytes).unwrap();
    let mut server = host.serve(&[]);
    let fault = call(&mut server, "plain_say", json!({}));
    assert_eq!(fault["error"]["code"], 500, "{fault}");
    assert!(fault["error"]["message"].as_str().unwrap().contains("was changed"), "{fault}");
    assert!(server.close().status.success());
}

#[test]
fn a_cache_that_others_can_write_to_is_not_used() {
    let host = Host::new();
    host.add("stress-plain");
    fs::create_dir(host.at("cache")).unwrap();
    fs::set_permissions(host.at("cache"), fs::Permissions::from_mode(0o777)).unwrap();
    let rows = host.rows(&[]);
    assert_eq!(rows[0]["state"], "refused");
    let reason = rows[0]["reasons"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("not yours alone") && reason.contains("--pack-cache"), "{reason}");
}

#[test]
fn a_pack_folder_that_others_can_write_to_is_refused_file_by_file() {
    let host = Host::new();
    host.add("stress-plain");
    fs::set_permissions(host.at("packs"), fs::Permissions::from_mode(0o777)).unwrap();
    let rows = host.rows(&[]);
    let reason = rows[0]["reasons"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("its folder is writable by others"), "{reason}");
    assert_eq!(rows[0]["reasons"][0]["gate"], "file");
}

#[test]
fn a_pack_folder_that_is_not_there_is_a_usage_error() {
    let host = Host::new();
    let output = host.run(&["--packs", "not/there", "packs", "list"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.starts_with("error: `not/there` is not a folder\nhint: "), "{said}");
}

#[test]
fn a_pack_that_would_abort_on_a_panic_does_not_compile() {
    let (built, said) = build_to_abort("stress-plain");
    assert!(!built, "{said}");
    assert!(said.contains("a tool pack must be built with panic = \"unwind\""), "{said}");
}

#[test]
fn what_open_says_of_the_machine_is_asked_again_at_the_next_start() {
    let host = Host::new();
    host.add("stress-open-refuses");
    host.add("stress-open-exits");
    let loads = host.at("loads");
    for expected in [2, 3] {
        host.run_with(&["packs", "list"], &[("STRESS_LOADS", &loads)]);
        let opened = fs::read_to_string(&loads).unwrap();
        assert_eq!(opened.lines().count(), expected, "{opened}");
    }
}

/// The same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0x1405_7b7e_f767_814f);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

#[test]
fn sixty_cut_copies_are_refused_and_none_ends_the_server() {
    let host = Host::new();
    let whole = fs::read(library("stress-plain")).unwrap();
    let mut random = Random(0x5eed);
    for number in 0..60 {
        let length = random.below(whole.len());
        let place = host.at("packs").join(library_name(&format!("cut-{number:02}")));
        fs::write(place, &whole[..length]).unwrap();
    }
    let rows = host.rows(&[]);
    assert_eq!(rows.len(), 60);
    for row in &rows {
        assert_eq!(
            (&row["state"], &row["reasons"][0]["gate"]),
            (&json!("refused"), &json!("image"))
        );
    }
    host.add("stress-plain");
    let mut server = host.serve(&[]);
    assert_eq!(call(&mut server, "plain_say", json!({}))["build"], "build_one");
    assert!(server.close().status.success());
}

/// Damage inside the code is only caught by a digest that is written elsewhere; the trial contains it.
#[test]
fn copies_with_flipped_bits_end_no_listing() {
    let host = Host::new();
    let whole = fs::read(library("stress-second")).unwrap();
    let mut random = Random(0xf11b);
    for number in 0..20 {
        let mut bytes = whole.clone();
        for _ in 0..64 {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        let place = host.at("packs").join(library_name(&format!("flipped-{number:02}")));
        fs::write(place, bytes).unwrap();
    }
    host.add("stress-plain");
    let rows = host.rows(&[]);
    assert_eq!(rows.len(), 21);
    assert_eq!(row(&rows, "stress-plain")["state"], "loaded");
}

#[test]
fn a_check_ends_with_success_only_for_a_good_pack() {
    let host = Host::new();
    let check = |file: &Path| host.run(&["packs", "check", file.to_str().unwrap()]);
    let good = check(&library("stress-plain"));
    assert_eq!(good.status.code(), Some(0), "{}", text(&good.stderr));
    assert!(text(&good.stdout).starts_with("ok: pack stress-plain 1.0.0 passes every gate"));
    let cases = [
        (library("stress-open-exits"), "refused at gate `trial`"),
        (library("stress-changed"), "refused at gate `layout`"),
        (library("plain"), "refused at gate `stamp`"),
        (host.at("nothing.so"), "refused at gate `file`"),
    ];
    for (file, words) in cases {
        let bad = check(&file);
        assert_eq!(bad.status.code(), Some(1), "{}", file.display());
        assert!(text(&bad.stdout).starts_with(words), "{}", text(&bad.stdout));
        assert_eq!(text(&bad.stdout).lines().count(), 1, "{}", text(&bad.stdout));
    }
}

#[test]
fn a_check_judges_what_the_pack_declares_too() {
    let host = Host::new();
    let cases = [
        ("stress-needs", "refused at gate `descriptor`", "host.teleport"),
        ("stress-unfit", "not wholly served: gate `descriptor`", "Not A Name"),
    ];
    for (pack, verdict, words) in cases {
        let bad = host.run(&["packs", "check", library(pack).to_str().unwrap()]);
        let said = text(&bad.stdout);
        assert_eq!(bad.status.code(), Some(1), "{said}");
        assert!(said.starts_with(verdict) && said.contains(words), "{said}");
    }
}

#[test]
fn with_a_pin_list_only_listed_digests_are_loaded() {
    let host = Host::new();
    let pinned = host.add("stress-plain");
    let list = host.at("packs.lock");
    let wrote = host.run(&["packs", "pin", "--output", list.to_str().unwrap()]);
    assert!(wrote.status.success(), "{}", text(&wrote.stderr));
    let pins: Value = serde_json::from_slice(&fs::read(&list).unwrap()).unwrap();
    assert_eq!(pins["packs"][0]["name"], "stress-plain", "{pins}");
    assert_eq!(pins["packs"][0]["sha256"], host.rows(&[])[0]["sha256"], "{pins}");

    host.add("stress-second");
    let lock = ["--packs-lock", list.to_str().unwrap()];
    let rows = host.rows(&lock);
    assert_eq!(row(&rows, "stress-plain")["state"], "loaded");
    let stranger = row(&rows, "stress-second");
    assert_eq!(stranger["reasons"][0]["gate"], "pin", "{stranger}");
    assert!(stranger["reasons"][0]["reason"].as_str().unwrap().contains("not on the pin list"));

    // The same pack with other bytes is another file.
    let mut bytes = fs::read(&pinned).unwrap();
    second_build(&mut bytes);
    fs::write(&pinned, bytes).unwrap();
    assert_eq!(row(&host.rows(&lock), "stress-plain")["reasons"][0]["gate"], "pin");
    assert_eq!(row(&host.rows(&[]), "stress-plain")["state"], "loaded");

    let gone = host.run(&["--packs-lock", "not-there.json", "packs", "list"]);
    assert_eq!(gone.status.code(), Some(2), "{}", text(&gone.stderr));
    assert!(text(&gone.stderr).contains("error:") && text(&gone.stderr).contains("hint:"));
}

#[test]
fn a_pack_of_the_opened_project_is_never_taken() {
    let host = Host::new();
    host.add("stress-plain");
    for folder in ["", "packs", ".didi/packs", "addons/didi/packs"] {
        let folder = host.at("project").join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::copy(library("stress-second"), folder.join(library_name("didi-pack-second"))).unwrap();
    }
    let mut server = host.serve(&[]);
    let listed = tools(&mut server);
    assert!(listed.contains(&"plain_say".to_owned()) && !listed.contains(&"second_say".to_owned()));
    assert!(!server.close().log.contains("second"));
}

#[test]
fn an_earlier_folder_shadows_a_later_one_and_the_implicit_ones_come_last() {
    let host = Host::new();
    for folder in ["early", "late", "bin/packs"] {
        fs::create_dir(host.at(folder)).unwrap();
    }
    let place = |folder: &str| host.at(folder).join(library_name("stress-plain"));
    host.add_changed("stress-plain", "stress-plain", |bytes| second_build(bytes));
    fs::rename(host.at("packs").join(library_name("stress-plain")), place("early")).unwrap();
    fs::copy(library("stress-plain"), place("late")).unwrap();
    fs::copy(library("stress-second"), host.at("bin/packs").join(library_name("second"))).unwrap();
    fs::copy(library("stress-plain"), host.at("bin").join(library_name("didi-pack-plain")))
        .unwrap();
    // A library beside the program that is not marked as a pack is passed over.
    fs::copy(library("plain"), host.at("bin").join(library_name("plain"))).unwrap();
    let early = host.at("early");
    let output = host.run_with(
        &["--packs", early.to_str().unwrap(), "packs", "list", "--json"],
        &[("DIDI_PACKS", &host.at("late"))],
    );
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let states: Vec<_> = (list["packs"].as_array().unwrap().iter())
        .map(|row| (row["version"].as_str().unwrap(), row["state"].as_str().unwrap()))
        .collect();
    assert_eq!(
        states,
        [("1.0.1", "loaded"), ("1.0.0", "shadowed"), ("1.0.0", "loaded"), ("1.0.0", "shadowed")]
    );
}

/// Replaces a file the way a careful build does: written beside it, then renamed.
fn replace(place: &Path, bytes: &[u8]) {
    let fresh = place.with_extension("new");
    fs::write(&fresh, bytes).unwrap();
    fs::rename(&fresh, place).unwrap();
}

fn second_watched() -> Vec<u8> {
    let mut bytes = fs::read(library("stress-watched")).unwrap();
    second_build(&mut bytes);
    bytes
}

/// Calls `watched_say` and answers which build spoke.
fn speaking(server: &mut Server) -> String {
    call(server, "watched_say", json!({}))["build"].as_str().unwrap().to_owned()
}

#[test]
fn a_pack_replaced_during_a_call_ends_that_call_on_the_old_code() {
    let host = Host::new();
    let place = host.add("stress-watched");
    let mut server = host.serve(&["--watch-packs"]);
    assert_eq!(speaking(&mut server), "build_one");
    assert!(tools(&mut server).contains(&"watched_build_one".to_owned()));
    let running = ask(&mut server, "watched_wait", json!({"until": "go"}));
    server.notification("notifications/progress");

    replace(&place, &second_watched());
    server.notification(TOOLS_CHANGED);
    assert_eq!(speaking(&mut server), "build_two", "new calls run the new code");
    let listed = tools(&mut server);
    assert!(listed.contains(&"watched_build_two".to_owned()), "{listed:?}");
    assert!(!listed.contains(&"watched_build_one".to_owned()), "{listed:?}");
    server.notification("notifications/progress");

    fs::write(host.at("project/go"), "").unwrap();
    let ended = said(&mut server, running);
    assert_eq!(ended["build"], "build_one", "the running call ended on the old code");
    assert!(ended["looks"].as_u64().unwrap() > 0);
    assert!(server.close().status.success());
}

#[test]
fn a_pack_overwritten_in_place_does_the_server_no_harm() {
    let host = Host::new();
    let place = host.add("stress-watched");
    let mut server = host.serve(&["--watch-packs"]);
    assert_eq!(speaking(&mut server), "build_one");
    let running = ask(&mut server, "watched_wait", json!({"until": "go"}));
    server.notification("notifications/progress");

    // Truncated, and half of it written: what a stopped copy leaves.
    let bytes = second_watched();
    fs::write(&place, &bytes[..bytes.len() / 2]).unwrap();
    server.wait_for_log("its replacement is refused");
    assert_eq!(speaking(&mut server), "build_one", "the pack taken up before goes on");
    assert!(tools(&mut server).contains(&"watched_build_one".to_owned()));

    fs::write(&place, &bytes).unwrap();
    server.notification(TOOLS_CHANGED);
    assert_eq!(speaking(&mut server), "build_two");
    fs::write(host.at("project/go"), "").unwrap();
    assert_eq!(said(&mut server, running)["build"], "build_one");
    assert!(server.close().status.success());
}

#[test]
fn a_watched_folder_takes_packs_in_and_lets_them_go() {
    let host = Host::new();
    host.add("stress-plain");
    let mut server = host.serve(&["--watch-packs"]);
    assert_eq!(call(&mut server, "plain_say", json!({}))["pack"], "stress-plain");
    // An update of the server itself does not stop the one that runs.
    fs::remove_file(host.binary()).unwrap();
    let place = host.add("stress-second");
    server.notification(TOOLS_CHANGED);
    assert_eq!(call(&mut server, "second_say", json!({}))["pack"], "stress-second");
    fs::remove_file(place).unwrap();
    server.notification(TOOLS_CHANGED);
    assert!(!tools(&mut server).contains(&"second_say".to_owned()));
    assert_eq!(call(&mut server, "plain_say", json!({}))["pack"], "stress-plain");
    assert!(server.close().status.success());
}

#[test]
fn without_the_flag_only_a_restart_takes_a_new_pack_up() {
    let host = Host::new();
    let place = host.add("stress-watched");
    let mut server = host.serve(&[]);
    assert_eq!(speaking(&mut server), "build_one");
    fs::write(&place, second_watched()).unwrap();
    // Another server takes it up, and this one still has not.
    let mut next = host.serve(&["--watch-packs"]);
    assert_eq!(speaking(&mut next), "build_two");
    assert!(next.close().status.success());
    assert_eq!(speaking(&mut server), "build_one");
    assert!(tools(&mut server).contains(&"watched_build_one".to_owned()));
    let closed = server.close();
    assert!(!closed.rest.iter().any(|message| message["method"] == TOOLS_CHANGED));
}
