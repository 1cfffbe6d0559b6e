//! The kit itself: what it scripts, records and insists on.

use std::fs;

use serde_json::{Value, json};

use super::Kit;
use crate::prelude::*;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Write {
    #[schemars(length(max = 64))]
    text: String,
    /// SHA-256 that has to be there.
    #[schemars(length(max = 64))]
    over: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

const OWN: Code = Code::new(409, "own");

type Run = fn(&Ctx<'_>, Nothing) -> ToolResult;

struct Sample;

impl ToolPack for Sample {
    fn open() -> Result<Self, String> {
        Ok(Sample)
    }

    fn tools(&'static self) -> Vec<Tool> {
        let read = |name, run| Tool::new(name, "Does a thing.", Effects::READS, run);
        let (tell, attach, engine): (Run, Run, Run) = (tell, attach, engine);
        vec![
            Tool::new("sample_write", "Writes a file.", Effects::CHANGES, write)
                .refuses(&[codes::ALREADY_EXISTS, codes::CONFLICT])
                .preview(|ctx, _: Write| {
                    Target::file(&ctx.project().resolve("res://a/b.txt", "path")?)
                }),
            read("sample_tell", tell),
            read("sample_attach", attach),
            read("sample_engine", engine)
                .refuses(&[codes::NOT_CONNECTED, codes::ENGINE_UNAVAILABLE]),
            Tool::new("sample_bounded", "Forgets its bound.", Effects::READS, |_, _: Nothing| {
                Answer::of(json!({}))
            })
            .bounded("entries"),
            Tool::new("sample_undeclared", "Refuses oddly.", Effects::READS, |_, _: Nothing| {
                Err(Refusal::new(OWN, "no").no_remedy("it is a test"))
            }),
        ]
    }

    fn resources(&'static self) -> Vec<Resource> {
        let read = |_: &Ctx<'_>, key: &str| Answer::of(json!({"key": key}));
        vec![Resource::new("sample://board/{key}", "board", "A board.", read)]
    }
}

fn write(ctx: &Ctx<'_>, args: Write) -> ToolResult {
    let place = ctx.project().resolve("res://a/b.txt", "path")?;
    let expect = args.over.map_or(Expect::Absent, Expect::Sha256);
    Answer::of(ctx.project().write(&place, args.text.as_bytes(), expect)?)
}

fn tell(ctx: &Ctx<'_>, _: Nothing) -> ToolResult {
    ctx.progress(1, 2, "half");
    ctx.log(Level::Info, "a line");
    ctx.check()?;
    Answer::of(json!({"now_ms": ctx.now_ms(), "mode": ctx.mode()}))
}

fn attach(ctx: &Ctx<'_>, _: Nothing) -> ToolResult {
    ctx.attach("image/png", &[1, 2, 3])?;
    Answer::of(json!({}))
}

fn engine(ctx: &Ctx<'_>, _: Nothing) -> ToolResult {
    let version = ctx.engine()?.version;
    let scene = ctx.bridge_call("scene.get", json!({"path": "res://a.tscn"}))?;
    let spec = json!({"args": ["--version"], "timeout_ms": 1000, "max_output_bytes": 1000});
    let spec: ChildSpec = serde_json::from_value(spec).unwrap();
    let exit_code = ctx.run_child(&spec)?.exit_code;
    Answer::of(json!({"version": version, "scene": scene, "exit_code": exit_code}))
}

fn kit() -> (tempfile::TempDir, Kit) {
    let folder = tempfile::tempdir().unwrap();
    let kit = Kit::open::<Sample>(folder.path());
    (folder, kit)
}

#[test]
fn writes_are_real_and_keep_to_what_they_expect() {
    let (folder, kit) = kit();
    let one = json!({"text": "one"});
    assert!(!kit.preview("sample_write", &one).unwrap().exists);
    let written = kit.call("sample_write", &one).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("a/b.txt")).unwrap(), "one");
    assert_eq!((&written["replaced"], &written["changed"]), (&json!(false), &json!(true)));
    let again = kit.call("sample_write", &one).unwrap_err();
    assert_eq!(again.code, codes::ALREADY_EXISTS);
    let other = json!({"text": "two", "over": "0".repeat(64)});
    assert_eq!(kit.call("sample_write", &other).unwrap_err().code, codes::CONFLICT);
    let right = json!({"text": "two", "over": written["sha256"]});
    assert_eq!(kit.call("sample_write", &right).unwrap()["replaced"], true);
    assert_eq!(kit.record().written, ["res://a/b.txt", "res://a/b.txt"]);
}

#[test]
fn what_a_handler_tells_its_host_is_recorded() {
    let (_folder, kit) = kit();
    let kit = kit.mode(Mode::OfflineFallback);
    kit.set_now_ms(5);
    let told = kit.call("sample_tell", &json!({})).unwrap();
    assert_eq!(told, json!({"now_ms": 5, "mode": "offline_fallback"}));
    kit.call("sample_attach", &json!({})).unwrap();
    let record = kit.record();
    assert_eq!(record.progress, [(1, 2, "half".to_owned())]);
    assert_eq!(record.log, ["a line"]);
    assert_eq!(record.attached, [("image/png".to_owned(), 3)]);
}

#[test]
fn a_caller_who_gives_up_ends_the_handler() {
    let (_folder, kit) = kit();
    kit.cancel();
    assert_eq!(kit.call("sample_tell", &json!({})).unwrap_err().code, codes::CANCELLED);
}

#[test]
fn the_engine_and_children_are_what_the_test_scripts() {
    let (_folder, kit) = kit();
    let none = kit.call("sample_engine", &json!({})).unwrap_err();
    assert_eq!(none.code, codes::ENGINE_UNAVAILABLE);
    let kit = kit.children("4.6.stable", |spec| {
        assert_eq!(spec.args, ["--version"]);
        Ok(ChildReport {
            pid: 1,
            exit_code: Some(0),
            signal: None,
            timed_out: false,
            tree_exited: true,
            ran_ms: 1,
            lines: vec![],
            output_truncated: false,
        })
    });
    assert_eq!(kit.call("sample_engine", &json!({})).unwrap_err().code, codes::NOT_CONNECTED);
    let kit = kit.bridge(|method, params| Ok(json!([method, params["path"]])));
    let answer = kit.call("sample_engine", &json!({})).unwrap();
    let expected =
        json!({"version": "4.6.stable", "scene": ["scene.get", "res://a.tscn"], "exit_code": 0});
    assert_eq!(answer, expected);
}

#[test]
fn a_template_is_read_with_its_variable() {
    let (_folder, kit) = kit();
    assert_eq!(kit.read("sample://board/{key}", "main").unwrap(), json!({"key": "main"}));
}

#[test]
fn arguments_that_do_not_fit_are_refused_with_the_field() {
    let (_folder, kit) = kit();
    let refusal = kit.call("sample_write", &json!({"text": 7})).unwrap_err();
    assert_eq!(refusal.code, codes::INVALID_ARGUMENTS);
    assert_eq!(refusal.data["field"], Value::from("arguments"));
}

#[test]
#[should_panic(expected = "declares a bound")]
fn a_bounded_tool_that_does_not_say_truncated_fails_its_test() {
    let _ = kit().1.call("sample_bounded", &json!({}));
}

#[test]
#[should_panic(expected = "undeclared code")]
fn a_refusal_with_an_undeclared_code_fails_its_test() {
    let _ = kit().1.call("sample_undeclared", &json!({}));
}

struct Unfit;

impl ToolPack for Unfit {
    fn open() -> Result<Self, String> {
        Ok(Unfit)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![Tool::new("Unfit", "Has no legal name.", Effects::READS, |_, _: Nothing| {
            Answer::of(json!({}))
        })]
    }
}

#[test]
#[should_panic(expected = "the name `Unfit`")]
fn a_declaration_that_breaks_a_rule_fails_its_test() {
    let _ = Kit::open::<Unfit>(tempfile::tempdir().unwrap().path());
}
