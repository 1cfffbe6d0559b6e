//! The control room's page in a real browser, shown by a page that stands in for a client. Reports come from the real
//! server; what the page says of them is read out of its document. Pictures stay in the folder of the tests' output.

use std::{
    fs,
    io::Read as _,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use didi_plugin_api::testkit::left_out;
use didi_tests::{Launch, Project, built_folder, server::PATIENCE, tests_folder};
use serde_json::{Map, Value, json};

const URI: &str = "ui://didi/control-room";
const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// How often a browser that gave the page up is asked.
const TRIES: usize = 4;

/// The browser; without one a test is left out, and with `CI=true` it fails.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let search = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&search)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file());
    if found.is_none() {
        left_out("a Chromium on the search path");
    }
    found
}

fn capabilities() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": [MIME_TYPE]}}})
}

/// The page and a report, from a server over this project.
fn asked(launch: Launch) -> (String, Value) {
    let mut server = launch.start();
    server.initialize("2025-11-25", capabilities());
    let page = server.request("resources/read", json!({"uri": URI}));
    let page = page["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    let report = server.call("didi_control_room", json!({}));
    server.close();
    (page, report)
}

fn over(project: &Project) -> Launch {
    Launch::over(project.root()).env("DIDI_SESSION_DIR", project.sessions_folder())
}

/// One showing of the page.
struct Show {
    name: &'static str,
    page: String,
    /// Results of the tool, in the order in which they are given.
    reports: Vec<Value>,
    presses: Value,
    theme: &'static str,
    variables: Value,
    width: u32,
    /// Whether the client passes calls on.
    tools: bool,
    /// Whether the first report comes by itself.
    first: bool,
}

impl Show {
    fn of(name: &'static str, page: &str, report: &Value) -> Self {
        Show {
            name,
            page: page.to_owned(),
            reports: vec![report.clone()],
            presses: json!([]),
            theme: "light",
            variables: json!({}),
            width: 900,
            tools: true,
            first: true,
        }
    }

    /// Runs the browser; answers what the page told. A browser on a machine that is busy may give a page up, so it is
    /// asked a few times.
    fn told(&self, browser: &Path) -> Value {
        let told = (0..TRIES).find_map(|_| self.shown(browser));
        told.unwrap_or_else(|| panic!("{} was not done in time", self.name))
    }

    /// One run of the browser; nothing when it ended before the page was done.
    fn shown(&self, browser: &Path) -> Option<Value> {
        const HEIGHT: u32 = 1400;
        let given = json!({
            "page": STANDARD.encode(&self.page),
            "reports": self.reports,
            "presses": self.presses,
            "theme": self.theme,
            "variables": self.variables,
            "tools": self.tools,
            "first": self.first,
            "height": HEIGHT,
        });
        // Kept to ASCII, as the browser's own decoder takes one byte for one letter.
        let given = STANDARD.encode(ascii(&given.to_string()));
        let template = fs::read_to_string(tests_folder().join("fixtures/page/host.html")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let host = folder.path().join("host.html");
        fs::write(&host, template.replace("{{GIVEN}}", &given)).unwrap();
        let picture = output_folder().join(format!("{}.png", self.name));
        let mut child = Command::new(browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .args(["--disable-dev-shm-usage", "--hide-scrollbars", "--virtual-time-budget=120000"])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg(format!("--window-size={},{HEIGHT}", self.width))
            .arg(format!("--screenshot={}", picture.display()))
            .arg("--dump-dom")
            .arg(format!("file://{}", host.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let document = output_of(&mut child);
        let (_, told) = document.split_once("id=\"told\"")?;
        let (_, told) = told.split_once('>').unwrap();
        let (told, _) = told.split_once('<').unwrap();
        assert!(picture.is_file(), "{} is missing", picture.display());
        Some(serde_json::from_slice(&STANDARD.decode(told).unwrap()).unwrap())
    }
}

/// The browser's output, within the tests' patience.
fn output_of(child: &mut Child) -> String {
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text).unwrap()
    });
    let end = Instant::now() + 2 * PATIENCE;
    while !reader.is_finished() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("the browser did not end in time");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait().unwrap();
    reader.join().unwrap()
}

fn output_folder() -> PathBuf {
    let folder = built_folder().join("../test-output/control_room");
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn ascii(text: &str) -> String {
    let unit = |unit: u16| match u8::try_from(unit) {
        Ok(letter) if letter.is_ascii() => char::from(letter).to_string(),
        _ => format!("\\u{unit:04x}"),
    };
    text.encode_utf16().map(unit).collect()
}

fn panel<'t>(told: &'t Value, name: &str) -> &'t Value {
    let panel = &told["panels"][name];
    assert!(panel.is_object(), "no panel {name}: {told}");
    panel
}

fn says(told: &Value, name: &str, words: &str) {
    let text = panel(told, name)["text"].as_str().unwrap();
    assert!(text.contains(words), "{name} does not say {words:?}: {text}");
}

#[test]
fn the_page_is_told_to_clients_that_show_pages() {
    let project = Project::sample();
    let listed = |launch: Launch, capabilities: Value| {
        let mut server = launch.start();
        server.initialize("2025-11-25", capabilities);
        let resources = server.request("resources/list", json!({}))["result"]["resources"].clone();
        let resource = resources.as_array().unwrap().iter().any(|one| one["uri"] == URI);
        let tools = server.request("tools/list", json!({}))["result"]["tools"].clone();
        let pages: Vec<(String, Value)> = (tools.as_array().unwrap().iter())
            .filter(|tool| tool["_meta"]["ui"].is_object())
            .map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["_meta"]["ui"].clone()))
            .collect();
        let read = server.request("resources/read", json!({"uri": URI}));
        server.close();
        (resource, pages, read)
    };
    let (resource, pages, read) = listed(over(&project), capabilities());
    assert!(resource);
    assert_eq!(pages, [("didi_control_room".to_owned(), json!({"resourceUri": URI}))]);
    let content = &read["result"]["contents"][0];
    assert_eq!((&content["mimeType"], &content["uri"]), (&json!(MIME_TYPE), &json!(URI)));
    assert_eq!(content["_meta"], json!({"ui": {"prefersBorder": true}}));
    let page = content["text"].as_str().unwrap();
    assert!(page.len() < 60 * 1024, "the page has {} bytes", page.len());
    for word in ["http:", "https:", "innerHTML", "eval("] {
        assert!(!page.contains(word), "the page says {word}");
    }

    let (resource, pages, read) = listed(over(&project), json!({}));
    assert!(!resource && pages.is_empty(), "a client that declares nothing is told nothing");
    assert!(read["result"].is_object(), "who knows the address may read it");
    let (resource, pages, _) = listed(over(&project).args(["--ui-app", "always"]), json!({}));
    assert!(resource && pages.len() == 1);
    let off = over(&project).args(["--ui-app", "off"]);
    let (resource, pages, read) = listed(off, capabilities());
    assert!(!resource && pages.is_empty());
    assert_eq!(read["error"]["code"], -32002, "{read}");
}

/// Names and colours of a report's lights.
fn lights(report: &Value) -> Map<String, Value> {
    let lights = report["structuredContent"]["lights"].as_array().unwrap();
    let pair = |light: &Value| (light["name"].as_str().unwrap().to_owned(), light["color"].clone());
    lights.iter().map(pair).collect()
}

#[test]
fn each_light_is_shown_in_each_of_its_states() {
    let Some(browser) = browser() else { return };
    let bare = Project::sample();
    let (page, dark) = asked(over(&bare).args(["--yolo"]));
    let ready = Project::sample();
    ready.write("addons/didi/didi.gdextension", "[configuration]\n");
    ready.write(".didi/blackboard/plan.json", "{}");
    let packs = tempfile::tempdir().unwrap();
    let name = format!("{}broken{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    fs::write(packs.path().join(name), "no library").unwrap();
    let (_, light) = asked(over(&ready));
    let with_broken = over(&ready).args(["--packs".into(), packs.path().to_path_buf()]);
    let (_, broken) = asked(with_broken);
    let lost = {
        let mut server = over(&bare).start();
        server.initialize("2025-11-25", capabilities());
        fs::remove_file(bare.file("project.godot")).unwrap();
        let report = server.call("didi_control_room", json!({}));
        server.close();
        report
    };
    let seen = [&dark, &light, &broken, &lost].map(lights);
    let has = |name: &str, color: &str| seen.iter().any(|lights| lights[name] == color);
    for (name, colors) in [
        ("Bridge", &["red"][..]),
        ("Project", &["green", "amber", "red"]),
        ("Packs", &["green", "amber"]),
        ("Safety", &["green", "red"]),
        ("Work", &["green", "amber"]),
    ] {
        for color in colors {
            assert!(has(name, color), "no report has {name} in {color}");
        }
    }
    // What needs an engine, or a server with an editor of its own, is shown from a report that says so.
    let mut engine = light.clone();
    let spare = json!([
        {"name": "Bridge", "color": "green", "reason": "editor 4711 is attached"},
        {"name": "Project", "color": "green", "reason": "project.godot and the addon are there"},
        {"name": "Packs", "color": "green", "reason": "every pack is served"},
        {"name": "Safety", "color": "amber", "reason": "the server may end and start anew the editor that it owns"},
        {"name": "Work", "color": "green", "reason": "a board file is there"},
    ]);
    engine["structuredContent"]["lights"] = spare;
    engine["structuredContent"]["sessions"] =
        json!([{"session_id": "ab".repeat(16), "kind": "editor", "pid": 4711}]);
    let mut waiting = engine.clone();
    engine["structuredContent"]["selected_session"] = "ab".repeat(16).into();
    waiting["structuredContent"]["lights"][0] = json!({"name": "Bridge", "color": "amber", "reason": "1 engine of this project runs, and none is selected"});
    for (name, report, theme, width) in [
        ("no_engine_dark_400", &dark, "dark", 400),
        ("no_engine_light_900", &dark, "light", 900),
        ("ready_light_400", &light, "light", 400),
        ("broken_pack_dark_900", &broken, "dark", 900),
        ("project_lost_light_900", &lost, "light", 900),
        ("attached_dark_900", &engine, "dark", 900),
        ("waiting_light_400", &waiting, "light", 400),
    ] {
        let told = Show { theme, width, ..Show::of(name, &page, report) }.told(&browser);
        assert_eq!(told["odd"], json!([]), "{name}");
        assert_eq!(told["overflow"], 0, "{name} is wider than {width} pixels: {told}");
        for (light, color) in lights(report) {
            let place = if light == "Packs" { "Surface" } else { light.as_str() };
            assert_eq!(panel(&told, place)["light"], color, "{name}: {light}");
            says(&told, place, color.as_str().unwrap());
        }
        for wanted in ["Bridge", "Project", "Surface", "Safety", "Work", "Log", "Journal"] {
            panel(&told, wanted);
        }
        assert!(told["sizes"].as_u64().unwrap() > 0, "its size was told");
        let paper = if theme == "dark" { "rgb(23, 25, 28)" } else { "rgb(255, 255, 255)" };
        assert_eq!(told["theme"], paper, "{name}");
    }
}

#[test]
fn what_it_does_goes_through_the_client() {
    let Some(browser) = browser() else { return };
    let project = Project::sample();
    let (page, mut report) = asked(over(&project));
    let session = "cd".repeat(16);
    report["structuredContent"]["sessions"] =
        json!([{"session_id": session, "kind": "editor", "pid": 7}]);
    let mut attached = report.clone();
    attached["structuredContent"]["selected_session"] = session.clone().into();
    let done = json!({"content": [{"type": "text", "text": "{}"}], "isError": false});
    let refusal = json!({"error": {"code": 404, "message": "no session is attached", "data": {}}});
    let refused =
        json!({"content": [{"type": "text", "text": refusal.to_string()}], "isError": true});
    let show = Show {
        reports: vec![report.clone(), done, attached, refused],
        presses: json!([{"press": "Attach"}, {"press": "Detach"}, {"type": "scene_get_h"}]),
        ..Show::of("pressed", &page, &report)
    };
    let told = show.told(&browser);
    let calls = json!([
        {"name": "runtime_attach_session", "arguments": {"session_id": session}},
        {"name": "didi_control_room", "arguments": {}},
        {"name": "runtime_detach_session", "arguments": {}},
    ]);
    assert_eq!(told["calls"], calls, "{told}");
    assert_eq!(told["said"], "no session is attached");
    assert_eq!(told["shown"], 1, "one tool has that in its name");
    assert_eq!(told["odd"], json!([]));

    // Without a first report it asks for one; without the right to ask it says what it waits for.
    let show = Show { first: false, ..Show::of("asks", &page, &report) };
    let told = show.told(&browser);
    assert_eq!(told["calls"], json!([{"name": "didi_control_room", "arguments": {}}]));
    let show = Show { first: false, tools: false, ..Show::of("may_not_ask", &page, &report) };
    let told = show.told(&browser);
    assert_eq!(told["calls"], json!([]));
    assert_eq!(told["buttons"], json!([["Refresh", true]]));
    assert_eq!(told["said"], "Waiting for the first report.");
}

#[test]
fn nothing_that_it_is_told_becomes_markup_or_a_request() {
    let Some(browser) = browser() else { return };
    let trap = TcpListener::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let address = format!("http://{}/x", trap.local_addr().unwrap());
    let project = Project::sample();
    let (page, mut report) = asked(over(&project));
    let evil = format!(
        "<img src=\"{address}\" onerror=\"parent.postMessage('got out','*')\"><script>fetch('{address}')</script>"
    );
    let room = &mut report["structuredContent"];
    room["lights"] =
        json!([{"name": "Bridge", "color": evil, "reason": evil}, null, 7, {"name": "Log"}]);
    room["project"] = json!({"name": evil, "root": "x".repeat(1 << 20), "addon_present": evil});
    room["log"] = json!([{"at": evil, "level": null, "message": evil}, null]);
    room["tools"] = json!(vec![json!({"name": evil, "pack": evil, "mode": evil}); 3000]);
    room["sessions"] = json!([{"session_id": evil, "kind": evil, "pid": evil}]);
    room["facts"] = json!({"not": "a list"});
    let show = Show {
        variables: json!({
            "--color-background-primary": format!("url({address})"),
            "--color-text-primary": format!("image-set(\"{address}\" 1x)"),
            "background": format!("url({address})"),
        }),
        presses: json!([{"type": "img"}]),
        ..Show::of("hostile", &page, &report)
    };
    let told = show.told(&browser);
    says(&told, "Bridge", "<img src=");
    assert_eq!(panel(&told, "Bridge")["light"], "amber", "what it does not know is amber");
    assert!(!told.to_string().contains("FORGED"), "another frame's word was taken");
    let tags = told["tags"].as_array().unwrap();
    assert!(!tags.contains(&json!("img")), "{tags:?}");
    assert_eq!(told["shown"], 500, "rows are bounded");
    assert_eq!(told["odd"], json!([]), "its text ran");
    assert_eq!(told["overflow"], 0);
    assert!(trap.accept().is_err(), "something was asked for at {address}");

    // What is no report, a failure of the client, a refused call.
    for (name, result, words) in [
        ("no_report", json!({"content": [{"type": "text", "text": "hello"}]}), "no report"),
        ("odd_report", json!({"structuredContent": {"lights": 7}}), "no report"),
        ("refused", json!({"isError": true, "content": []}), "refused"),
    ] {
        let told = Show::of(name, &page, &result).told(&browser);
        assert!(told["said"].as_str().unwrap().contains(words), "{name}: {told}");
    }
}
