//! One table of requests and the replies that they have to get: every endpoint, every check in its order, every limit.
//!
//! All of it runs over one connection, which has to serve on after each reply; `docs/openapi.json` has to tell of each.

use didi_tests::{
    Pipeline, Project,
    http::{Http, Response},
    json::{Kept, matches},
};
use serde_json::{Value, json};

use super::openapi::Document;

const MIB: usize = 1024 * 1024;

/// A request, and what comes back.
struct Row {
    what: String,
    method: &'static str,
    path: String,
    version: &'static str,
    target: Option<String>,
    host: Option<String>,
    token: Option<String>,
    headers: Vec<String>,
    body: Vec<u8>,
    chunked: bool,
    status: u16,
    reply: Reply,
    wanted_headers: Vec<(&'static str, &'static str)>,
    closes: bool,
}

enum Reply {
    Json(Value),
    Text(&'static str),
    Nothing,
}

/// A table that is being written down.
struct Table {
    rows: Vec<Row>,
    port: u16,
    token: String,
}

impl Table {
    fn row(&mut self, what: &str, method: &'static str, path: &str, status: u16) -> &mut Row {
        self.rows.push(Row {
            what: what.into(),
            method,
            path: path.into(),
            version: "HTTP/1.1",
            target: None,
            host: Some(format!("127.0.0.1:{}", self.port)),
            token: Some(format!("Bearer {}", self.token)),
            headers: vec![],
            body: vec![],
            chunked: false,
            status,
            reply: Reply::Nothing,
            wanted_headers: vec![],
            closes: false,
        });
        self.rows.last_mut().unwrap()
    }

    fn get(&mut self, what: &str, path: &str, reply: Value) -> &mut Row {
        self.row(what, "GET", path, 200).says(reply)
    }

    /// A request to run something that is answered with a failure.
    fn fails(&mut self, body: &str, error: &str, details: &str) -> &mut Row {
        let reply = json!({"success": false, "error": error, "errorDetails": format!("[*{details}*]"), "...": true});
        self.row(body, "POST", "/api/exec", 400).sends(body).says(reply)
    }

    fn runs(&mut self, body: &Value, reply: Value) -> &mut Row {
        let text = body.to_string();
        self.row(&text, "POST", "/api/exec", 200).sends(&text).says(reply)
    }
}

impl Row {
    fn says(&mut self, reply: Value) -> &mut Self {
        self.reply = Reply::Json(reply);
        self
    }

    fn text(&mut self, text: &'static str) -> &mut Self {
        self.reply = Reply::Text(text);
        self
    }

    /// An error outside of running a command.
    fn refuses(&mut self, error: &str, details: &str) -> &mut Self {
        self.says(json!({"error": error, "errorDetails": format!("[*{details}*]")}))
    }

    fn sends(&mut self, body: impl AsRef<[u8]>) -> &mut Self {
        self.body = body.as_ref().to_vec();
        self
    }

    fn chunked(&mut self) -> &mut Self {
        self.chunked = true;
        self
    }

    fn authorization(&mut self, value: Option<&str>) -> &mut Self {
        self.token = value.map(str::to_owned);
        self
    }

    fn host(&mut self, value: Option<&str>) -> &mut Self {
        self.host = value.map(str::to_owned);
        self
    }

    fn header(&mut self, line: &str) -> &mut Self {
        self.headers.push(line.into());
        self
    }

    fn has(&mut self, name: &'static str, value: &'static str) -> &mut Self {
        self.wanted_headers.push((name, value));
        self
    }

    fn closes(&mut self) -> &mut Self {
        self.closes = true;
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let target = self.target.as_deref().unwrap_or(&self.path);
        let mut head = format!("{} {target} {}\r\n", self.method, self.version);
        let mut line = |text: String| head.push_str(&(text + "\r\n"));
        if let Some(host) = &self.host {
            line(format!("Host: {host}"));
        }
        if let Some(token) = &self.token {
            line(format!("Authorization: {token}"));
        }
        self.headers.iter().for_each(|header| line(header.clone()));
        if self.chunked {
            line("Transfer-Encoding: chunked".into());
        } else if !self.body.is_empty() || self.method == "POST" {
            line(format!("Content-Length: {}", self.body.len()));
        }
        let mut bytes = (head + "\r\n").into_bytes();
        if !self.chunked {
            bytes.extend_from_slice(&self.body);
            return bytes;
        }
        for chunk in self.body.chunks(60_000) {
            bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        bytes
    }

    fn check(&self, response: &Response, document: &Document) {
        let what = format!("{} {} ({})", self.method, self.path, clip(&self.what));
        assert_eq!(response.status, self.status, "{what}: {}", clip(&response.text()));
        match &self.reply {
            Reply::Json(pattern) => {
                assert_eq!(response.header("content-type"), Some("application/json"), "{what}");
                if let Err(why) = matches(pattern, &response.json(), &mut Kept::new()) {
                    panic!("{what}: {why}");
                }
            }
            Reply::Text(text) => {
                assert_eq!(response.header("content-type"), Some("text/plain"), "{what}");
                assert_eq!(response.text(), *text, "{what}");
            }
            Reply::Nothing => assert_eq!(response.text(), "", "{what}"),
        }
        for (name, value) in &self.wanted_headers {
            assert_eq!(response.header(name), Some(*value), "{what}: {name}");
        }
        if self.status != 204 && self.status != 404 {
            document.check(self.method, &self.path, response);
        }
    }
}

fn clip(text: &str) -> String {
    text.chars().take(300).collect()
}

/// The endpoints, in the order of the protocol's page.
fn endpoints(table: &mut Table, root: &str) {
    let status = json!({
        "status": "ready", "mode": "editor", "product": "Didi", "pid": "[int]", "projectPath": root,
        "projectName": "[string]", "lastHeartbeat": "[*Z*]",
        "capabilities": ["exec.argv", "exec.commandLine"],
        "server": {"version": "[string]", "port": table.port, "startTime": "[*Z*]"},
    });
    table.get("the status", "/api/status", status.clone()).has("cache-control", "no-store");
    table.get("paths have no case", "/API/Status", status.clone());
    table.get("a query that says nothing", "/api/status?x=1&y", status.clone());
    table.get("a body that says nothing", "/api/status", status.clone()).sends("{}");
    table.get("the same in chunks", "/api/status", status).sends("{}").chunked();
    let editor = json!({
        "status": "ready", "projectPath": root, "projectName": "[string]", "editorConnected": false, "editor": null,
    });
    table.get("the editor", "/api/editor_status", editor);
    table.get("dialogs", "/api/dialog", json!({"active": false, "dialogs": []}));
    let tests = json!({
        "status": "none", "command": "project_run_tests", "startedAt": null, "completedAt": null, "success": null,
        "result": null,
    });
    table.get("tests", "/api/test-status", tests);
    table.get("progress", "/api/progress", json!({"active": false, "progress": null}));
    for query in ["?omit_nulls=TRUE", "?OMIT_NULLS=true", "?omit_nulls=true"] {
        table.get("BL-74", &format!("/api/progress{query}"), json!({"active": false}));
    }
    table.get(
        "BL-74",
        "/api/progress?omit_nulls=false",
        json!({"active": false, "progress": null}),
    );
    for query in
        ["?omit_nulls=1", "?omit_nulls", "?omit_nulls=", "?omit_nulls=true&omit_nulls=true"]
    {
        let reply = json!({"active": false, "progress": null, "warnings": ["[*Accepted values: true, false*]"]});
        table.get("BL-74", &format!("/api/progress{query}"), reply);
    }
    table.row("no id", "GET", "/api/job", 400).refuses("Bad Request", "'id' is required");
    table.row("an empty id", "GET", "/api/job?id=", 400).refuses("Bad Request", "'id' is required");
    table.row("a foreign id", "GET", "/api/job?id=7", 404).refuses("Job Not Found", "7");
    for body in ["", "x", "null", "[]", "{}", r#"{"id":7}"#, r#"{"id":""}"#, r#"{"id":null}"#] {
        table
            .row(body, "POST", "/api/job/cancel", 400)
            .sends(body)
            .refuses("Bad Request", "must be JSON with an 'id' field");
    }
    table
        .row("a foreign id", "POST", "/api/job/cancel", 404)
        .sends(r#"{"id":"7"}"#)
        .refuses("Job Not Found", "7");
}

/// `/api/commands`.
fn lists(table: &mut Table) {
    let whole = json!({
        "commands": "[array]", "count": "[int]", "total": "[int]", "offset": 0, "limit": null,
        "server": {"version": "[string]", "port": table.port, "startTime": "[*Z*]"},
    });
    table.get("in full", "/api/commands", whole);
    let batch = json!({
        "name": "batch", "description": "[string]", "tags": ["batch"], "package": "didi-host",
        "mainThreadRequired": false, "runtimeOnly": false,
        "parameters": [
            {"name": "operations", "description": "[string]", "type": "JObject[]", "required": true, "defaultValue": null},
            "...",
        ],
        "schema": {"type": "object", "...": true},
    });
    let one = json!({"commands": [batch], "count": 1, "total": 1, "...": true});
    table.get("one entry", "/api/commands?tag=BATCH", one);
    let compact = json!({"commands": [
        {"name": "blackboard_clear", "description": "[string]", "tags": ["project/blackboard"], "package": "didi-pack-project"},
        {"name": "blackboard_list_keys", "description": "[string]", "tags": "[array]", "package": "[string]"},
    ], "count": 2, "total": "[int]", "offset": 0, "limit": 2, "...": true});
    table.get("a page", "/api/commands?detail=compact&tag=project/blackboard&limit=2", compact);
    let last = json!({"commands": [{"name": "[*viewport_t*]", "...": true}], "offset": 0, "limit": 1, "...": true});
    table.get("from the end", "/api/commands?detail=compact&order=desc&limit=1", last);
    let package = json!({"groups": [{"package": "didi-host", "count": 1, "commands": "[array]"}], "count": 1, "...": true});
    table.get(
        "by package",
        "/api/commands?detail=compact&group_by=package&sort=package&limit=1",
        package,
    );
    let tags = json!({"groups": [
        {"tag": "batch", "count": 1, "commands": [{"name": "batch", "...": true}], "children": []},
    ], "count": 1, "...": true});
    table.get("by tag", "/api/commands?detail=compact&group_by=tag&query=transactional", tags);
    let none = json!({"commands": [], "count": 0, "total": 0, "...": true});
    table.get("BL-74", "/api/commands?query=%C3%A9", none.clone());
    table.get("no part of a tag", "/api/commands?tag=scen", none);
    table.get(
        "BL-74",
        "/api/commands?tag=&detail=compact&limit=0",
        json!({"commands": [], "count": 0, "...": true}),
    );
    for (query, details) in [
        ("detail=short", "Unknown detail value 'short'. Accepted values: compact, full"),
        ("detail=compact&detail=full", "Unknown detail value 'compact,full'"),
        ("group_by=area", "Accepted values: flat, package, tag"),
        ("sort=size", "Accepted values: name, package"),
        ("order=up", "Accepted values: asc, desc"),
        ("limit=-1", "Expected a non-negative integer"),
        ("offset=x", "Expected a non-negative integer"),
        ("limit=1.5", "Expected a non-negative integer"),
    ] {
        table
            .row("BL-74", "GET", &format!("/api/commands?{query}"), 400)
            .refuses("Invalid Request", details);
    }
}

/// Who may ask at all. Each row would fail the checks that come after its own, too.
fn checks(table: &mut Table) {
    let token = table.token.clone();
    for origin in ["http://evil.example", "null", ""] {
        table
            .row("an origin", "GET", "/api/nope", 403)
            .header(&format!("Origin: {origin}"))
            .authorization(None)
            .refuses("Forbidden", "Cross-origin requests are not allowed");
    }
    table
        .row("two origins", "GET", "/api/status", 403)
        .header("Origin: null")
        .header("Origin: null")
        .refuses("Forbidden", "Cross-origin");
    table
        .row("a preflight", "OPTIONS", "/api/exec", 403)
        .header("Origin: http://evil.example")
        .refuses("Forbidden", "Cross-origin");
    for host in [
        "evil.example",
        "evil.example:7800",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.1",
        "[fe80::1]",
        "user@127.0.0.1",
        "128.0.0.1",
        "",
    ] {
        table
            .row(host, "GET", "/api/status", 403)
            .host(Some(host))
            .authorization(None)
            .refuses("Forbidden", "Host");
    }
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1", "127.9.9.9:7800", "[::1]:7800", "[::1]"] {
        table.row(host, "GET", "/api/dialog", 200).host(Some(host)).says(json!({"...": true}));
    }
    table.row("no Host", "GET", "/api/status", 400).host(None).refuses("Bad Request", "Host");
    table
        .row("two Hosts", "GET", "/api/status", 400)
        .header("Host: localhost")
        .refuses("Bad Request", "Host");
    let foreign = table.row("a foreign target", "GET", "/api/status", 403);
    foreign.target = Some("http://evil.example/api/status".into());
    foreign.refuses("Forbidden", "Host");
    let own = table.row("a whole target", "GET", "/api/dialog", 200);
    own.target = Some("http://127.0.0.1/api/dialog".into());
    own.says(json!({"...": true}));
    table
        .row("without an origin", "OPTIONS", "/api/exec", 405)
        .authorization(None)
        .refuses("Method Not Allowed", "browser clients only")
        .has("allow", "POST");
    for wrong in [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Basic x",
        &token,
        &format!("Bearer {token}x"),
        &format!("Bearer{token}"),
    ] {
        table
            .row(wrong, "GET", "/api/nope", 401)
            .authorization(Some(wrong))
            .refuses("Unauthorized", "descriptor")
            .has("www-authenticate", "Bearer");
    }
    table
        .row("no token", "POST", "/api/exec", 401)
        .authorization(None)
        .sends("{}")
        .refuses("Unauthorized", "descriptor");
    let twice = format!("Authorization: Bearer {token}");
    table.row("two tokens", "GET", "/api/status", 401).header(&twice).refuses("Unauthorized", "");
    for right in [format!("bearer {token}"), format!("BEARER   {token} ")] {
        table
            .row("BL-70", "GET", "/api/dialog", 200)
            .authorization(Some(&right))
            .says(json!({"...": true}));
    }
    for path in ["/api/nope", "/", "/api", "/api/status/", "/api/exec/x", "/api/status%00"] {
        table.row("nowhere", "GET", path, 404).text("Not Found");
        table.row("nowhere", "POST", path, 404).sends("{}").text("Not Found");
    }
    for path in [
        "/api/status",
        "/api/editor_status",
        "/api/dialog",
        "/api/commands",
        "/api/test-status",
        "/api/progress",
        "/api/job",
    ] {
        table
            .row("BL-70", "POST", path, 405)
            .sends(vec![b'x'; 2 * MIB])
            .refuses("Method Not Allowed", "This endpoint only supports GET requests")
            .has("allow", "GET");
    }
    for (method, path) in [
        ("GET", "/api/exec"),
        ("PUT", "/api/exec"),
        ("DELETE", "/api/job/cancel"),
        ("TRACE", "/api/exec"),
    ] {
        table
            .row("BL-70", method, path, 405)
            .refuses("Method Not Allowed", "This endpoint only supports POST requests")
            .has("allow", "POST");
    }
}

/// Sizes.
fn limits(table: &mut Table) {
    // A command line of blanks, as long as it may be.
    let padded = |size: usize| {
        let (head, tail) = (r#"{"command":"no_such","x":""#, r#""}"#);
        format!("{head}{}{tail}", "x".repeat(size - head.len() - tail.len()))
    };
    for chunked in [false, true] {
        let at = table.fails(&padded(MIB), "Command Not Found", "no_such");
        at.chunked = chunked;
        let past = table
            .row("a byte more", "POST", "/api/exec", 413)
            .sends(padded(MIB + 1))
            .refuses("Payload Too Large", "1048576");
        past.chunked = chunked;
        let far = table
            .row("7 MiB", "POST", "/api/exec", 413)
            .sends(vec![b' '; 7 * MIB])
            .refuses("Payload Too Large", "1048576");
        far.chunked = chunked;
        let id = |size: usize| format!(r#"{{"id":"{}"}}"#, "7".repeat(size - 9));
        let at = table
            .row("4 KiB", "POST", "/api/job/cancel", 404)
            .sends(id(4096))
            .refuses("Job Not Found", "777");
        at.chunked = chunked;
        let past = table
            .row("a byte more", "POST", "/api/job/cancel", 413)
            .sends(id(4097))
            .refuses("Payload Too Large", "4096");
        past.chunked = chunked;
    }
}

/// What is wrong with a request to run something, in the order in which it is found.
fn exec_faults(table: &mut Table) {
    let deep = "[".repeat(5000);
    let rows = [
        ("", "Bad Request", "Request body is required"),
        (" \r\n ", "Bad Request", "Request body is required"),
        ("{", "Invalid JSON", ""),
        (deep.as_str(), "Invalid JSON", ""),
        ("null", "Invalid Request", "Request body must be a JSON object"),
        ("[]", "Invalid Request", "Request body must be a JSON object"),
        ("{}", "Invalid Request", "Command name is required"),
        (r#"{"command":"x","argv":["y"]}"#, "Invalid Request", "Exactly one"),
        (r#"{"argv":["y"],"parameters":{}}"#, "Invalid Request", "'parameters'"),
        (r#"{"argv":[]}"#, "Invalid Request", "'argv'"),
        (r#"{"argv":[""]}"#, "Invalid Request", "'argv'"),
        (r#"{"commandLine":"a \"b"}"#, "Invalid Request", "quote"),
        (r#"{"commandLine":"a\\"}"#, "Invalid Request", "backslash"),
        (r#"{"commandLine":"  "}"#, "Invalid Request", "Command name is required"),
        (r#"{"commandLine":"no_such x"}"#, "Command Not Found", "no_such"),
        (r#"{"command":"instantiate_asset"}"#, "Command Not Found", "instantiate_asset"),
        (r#"{"command":"Project_Get_Setting"}"#, "Command Not Found", "Project_Get_Setting"),
        (r#"{"command":"project_get_setting"}"#, "Parameter Validation Failed", "'setting'"),
        (r#"{"argv":["project_get_setting"]}"#, "Parameter Validation Failed", "'setting'"),
        (
            r#"{"command":"project_get_setting","parameters":{"setting":"a","x":1}}"#,
            "Parameter Validation Failed",
            "'x'",
        ),
        (
            r#"{"command":"project_run_tests","parameters":{"request_id":"12345678"}}"#,
            "Parameter Validation Failed",
            "'request_id'",
        ),
        (
            r#"{"command":"project_get_setting","parameters":{"setting":""}}"#,
            "Parameter Validation Failed",
            "setting",
        ),
        (
            r#"{"command":"project_get_setting","parameters":{"setting":"no/such"}}"#,
            "Command Execution Failed",
            "no/such",
        ),
        (
            r#"{"command":"scene_remove_node","parameters":{"target_node":"A"}}"#,
            "Command Execution Failed",
            "engine",
        ),
    ];
    for (body, error, details) in rows {
        table.fails(body, error, details);
    }
    let unbound = json!({
        "success": false, "error": "Invalid Command Arguments", "errorCode": "INVALID_COMMAND_ARGS",
        "errorDetails": "[*Did you mean --setting?*]",
        "argProblems": [
            {"kind": "unknownName", "name": "seting", "suggestion": "setting"},
            {"kind": "singleDash", "token": "-x"},
        ],
        "commandSchema": {
            "name": "project_get_setting", "description": "[string]", "tags": ["project"], "package": "didi-pack-project",
            "mainThreadRequired": true, "runtimeOnly": false,
            "parameters": [{"name": "setting", "description": "", "type": "String", "required": true, "defaultValue": null}],
        },
    });
    let argv = r#"{"argv":["project_get_setting","--seting","a","-x"]}"#;
    table.row(argv, "POST", "/api/exec", 400).sends(argv).says(unbound);
    let verbose = r#"{"verbose":true,"command":"no_such"}"#;
    table.row(verbose, "POST", "/api/exec", 400).sends(verbose).says(json!({
        "success": false, "command": "no_such", "error": "Command Not Found", "errorDetails": "[string]", "result": null,
        "message": null, "warnings": null, "executedAt": "[*Z*]", "executionTimeMs": 0,
    }));
    let refusal = json!({
        "success": false, "error": "Command Execution Failed", "errorDetails": "[string]",
        "refusal": {"code": 404, "message": "[string]", "data": {"code": "[string]", "canonical_tool": "project_get_setting", "...": true}},
    });
    let body = r#"{"command":"project_get_setting","parameters":{"setting":"no/such"}}"#;
    table.row("a refusal", "POST", "/api/exec", 400).sends(body).says(refusal);
}

/// What runs.
fn exec_runs(table: &mut Table) {
    let setting = json!({"value_literal": "\"Lantern\"", "...": true});
    let name = "application/config/name";
    let structured = json!({"command": "project_get_setting", "parameters": {"Setting": name}});
    table.runs(&structured, json!({"success": true, "result": setting}));
    let echoed = json!({"success": true, "result": setting, "parameters": {"setting": name}});
    table.runs(&json!({"argv": ["project_get_setting", name]}), echoed.clone());
    table.runs(
        &json!({"argv": ["project_get_setting", format!("--SETTING={name}")]}),
        echoed.clone(),
    );
    table.runs(&json!({"commandLine": format!("project_get_setting '{name}'")}), echoed);
    let verbose = json!({
        "success": true, "command": "project_get_setting", "result": setting, "error": null, "errorDetails": null,
        "message": null, "warnings": null, "executedAt": "[*Z*]", "executionTimeMs": "[int]",
    });
    table.runs(&json!({"command": "project_get_setting", "parameters": {"setting": name}, "verbose": true}), verbose);
    let status = json!({"status": "ready", "projectPath": "[string]", "projectName": "[string]", "editorConnected": false});
    table.runs(
        &json!({"command": "editor_status", "omitNulls": true}),
        json!({"success": true, "result": status}),
    );
    let job = json!({"success": true, "result": {"jobId": "[string]", "state": "queued"}});
    table.runs(&json!({"command": "editor_status", "job": true}), job);
}

/// Rows after which the connection is at its end, each on one of its own.
fn last_rows(table: &mut Table) {
    table
        .row("too much to be read to its end", "POST", "/api/exec", 413)
        .sends(vec![b' '; 9 * MIB])
        .chunked()
        .refuses("Payload Too Large", "1048576")
        .has("connection", "close")
        .closes();
    let old =
        table.row("HTTP/1.0", "GET", "/api/dialog", 200).host(None).says(json!({"...": true}));
    old.version = "HTTP/1.0";
    old.closes();
    table
        .row("asked to close", "GET", "/api/dialog", 200)
        .header("Connection: close")
        .says(json!({"...": true}))
        .closes();
}

fn written(pipeline: &Pipeline, rows: &[fn(&mut Table)]) -> Table {
    let mut table = Table { rows: vec![], port: pipeline.port, token: pipeline.token.clone() };
    for rows in rows {
        rows(&mut table);
    }
    table
}

/// BL-70, BL-74.
#[test]
fn every_request_gets_its_reply_and_the_connection_serves_on() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let document = Document::read();
    let root = project.root().display().to_string();
    let mut table = written(&pipeline, &[lists, checks, limits, exec_faults, exec_runs]);
    endpoints(&mut table, &root);
    let mut http = pipeline.connect();
    for row in &table.rows {
        http.send(&row.bytes()).unwrap_or_else(|error| panic!("{}: {error}", row.what));
        row.check(&http.response(), &document);
    }
    assert!(table.rows.len() >= 140, "{} rows", table.rows.len());
    for row in &written(&pipeline, &[last_rows]).rows {
        let mut http: Http = pipeline.connect();
        // The other end may stop to read.
        let _ = http.send(&row.bytes());
        row.check(&http.response(), &document);
        assert!(row.closes && http.is_closed_within(didi_tests::server::PATIENCE), "{}", row.what);
    }
}

/// BL-70.
#[test]
fn a_page_without_an_origin_is_let_in_where_that_was_allowed() {
    let project = Project::empty();
    let pipeline = Pipeline::start(&project, |launch| launch.args(["--allow-browser-clients"]));
    let document = Document::read();
    let mut table = written(&pipeline, &[]);
    table
        .row("with a token", "GET", "/api/dialog", 200)
        .header("Origin: null")
        .says(json!({"...": true}))
        .has("access-control-allow-origin", "*")
        .has("vary", "Origin");
    table
        .row("without one", "GET", "/api/dialog", 401)
        .header("Origin: null")
        .authorization(None)
        .refuses("Unauthorized", "")
        .has("access-control-allow-origin", "*");
    table
        .row("a page", "GET", "/api/dialog", 403)
        .header("Origin: http://evil.example")
        .refuses("Forbidden", "Cross-origin");
    table
        .row("a foreign Host", "GET", "/api/dialog", 403)
        .header("Origin: null")
        .host(Some("evil.example"))
        .refuses("Forbidden", "Host");
    table
        .row("a preflight", "OPTIONS", "/api/exec", 204)
        .header("Origin: null")
        .authorization(None)
        .has("access-control-allow-methods", "GET, POST, OPTIONS")
        .has("access-control-allow-headers", "Authorization, Content-Type")
        .has("access-control-max-age", "600")
        .has("access-control-allow-origin", "*")
        .has("vary", "Origin");
    table
        .row("to a private network", "OPTIONS", "/api/exec", 204)
        .header("Origin: null")
        .header("Access-Control-Request-Private-Network: true")
        .has("access-control-allow-private-network", "true");
    table.row("a program", "GET", "/api/dialog", 200).says(json!({"...": true}));
    let mut http = pipeline.connect();
    for row in &table.rows {
        http.send(&row.bytes()).unwrap();
        let response = http.response();
        row.check(&response, &document);
        if row.what == "a program" || row.what == "a page" {
            assert_eq!(response.header("access-control-allow-origin"), None, "{}", row.what);
        }
    }
}

/// The token is compared, and never shown.
#[test]
fn the_token_is_in_the_descriptor_alone() {
    let project = Project::sample();
    let pipeline =
        Pipeline::start(&project, |launch| launch.args(["--log-level", "DEBUG", "--unity-layout"]));
    for path in ["/api/status", "/api/commands", "/api/editor_status"] {
        assert!(!pipeline.get(path).text().contains(&pipeline.token), "{path}");
    }
    pipeline.result("didi_control_room", json!({}));
    let refused = pipeline.ask(&mut pipeline.connect(), "GET", "/api/nope", "");
    assert_eq!(refused.status, 404);
    assert!(!pipeline.server.log().contains(&pipeline.token));
    // Nor do tools that read the project find it.
    let found = pipeline.result("project_search_text", json!({"query": pipeline.token}));
    assert!(!found.to_string().contains("unity-pipeline-port"), "{found}");
    let listed = pipeline.result("project_list_resources", json!({}));
    assert!(!listed.to_string().contains("unity-pipeline-port"), "{listed}");
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, &pipeline.token);
    assert_eq!(bytes.unwrap().len(), 32);
}
