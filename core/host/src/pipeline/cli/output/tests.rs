//! Tests of `output`: one report in each form.

use serde_json::{Value, json};

use super::{Printer, Report};
use crate::{
    cli::client::{Format, OutputOptions},
    pipeline::cli::outcome::Trouble,
};

fn printed(format: Format, result_only: bool, report: &Report) -> (u8, String) {
    let options = OutputOptions { format: Some(format), json: false, quiet: true };
    let mut out = vec![];
    let exit = Printer::new(&options, &mut out, false).result_only(result_only).finish(report);
    (exit, String::from_utf8(out).unwrap())
}

fn rows() -> Value {
    json!([{"name": "a\tb", "tags": ["x", "y"], "size": 1}, {"name": "long name", "more": null, "size": 20}])
}

#[test]
fn a_table_for_people_and_for_lines() {
    let report = Report::of("command", json!({}), rows());
    assert_eq!(
        printed(Format::Human, false, &report),
        (0, "NAME       TAGS  SIZE  MORE\na\\tb       x, y  1\nlong name        20\n".into())
    );
    assert_eq!(
        printed(Format::Tsv, false, &report),
        (0, "name\ttags\tsize\tmore\na\\tb\t[\"x\",\"y\"]\t1\t\nlong name\t\t20\t\n".into())
    );
}

#[test]
fn single_values_in_each_form() {
    for (value, human, tsv) in [
        (json!("two\nlines"), "two\nlines\n", "two\\nlines\n"),
        (json!(4), "4\n", "4\n"),
        (json!(null), "", ""),
        (json!([]), "[]\n", ""),
        (json!(["a", 1]), "[\n  \"a\",\n  1\n]\n", "a\n1\n"),
        (
            json!({"a": {"b": 1}, "c": "d"}),
            "{\n  \"a\": {\n    \"b\": 1\n  },\n  \"c\": \"d\"\n}\n",
            "a\t{\"b\":1}\nc\td\n",
        ),
    ] {
        let report = Report::of("command", json!({}), value);
        assert_eq!(printed(Format::Human, false, &report).1, human);
        assert_eq!(printed(Format::Tsv, false, &report).1, tsv);
    }
}

#[test]
fn one_envelope_for_programs() {
    let mut report = Report::of("command", json!({"result": 4}), json!(4));
    report.warnings.push("odd".into());
    let (exit, text) = printed(Format::Json, false, &report);
    let expected = json!({
        "success": true, "command": "command", "data": {"result": 4}, "errors": [], "warnings": ["odd"],
    });
    assert_eq!((exit, serde_json::from_str::<Value>(&text).unwrap()), (0, expected.clone()));
    let (_, line) = printed(Format::Ndjson, false, &report);
    let mut frame = expected;
    frame["type"] = "result".into();
    assert_eq!(line.lines().count(), 1);
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), frame);
    assert_eq!(printed(Format::Tsv, true, &report), (0, "4\n".into()));
}

#[test]
fn a_trouble_decides_the_exit_code_and_stands_in_the_envelope() {
    let trouble = Trouble::new("COMMAND_FAILED", 6, "why").with(json!({"busyReason": "settling"}));
    let report = Report::failed("command", trouble);
    let (exit, text) = printed(Format::Json, false, &report);
    let envelope: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(exit, 6);
    assert_eq!(envelope["success"], false);
    let error = json!({"code": "COMMAND_FAILED", "message": "why", "busyReason": "settling"});
    assert_eq!(envelope["errors"], json!([error]));
    assert_eq!(printed(Format::Tsv, false, &report), (6, String::new()));
    assert_eq!(printed(Format::Tsv, true, &report), (6, String::new()));
}

#[test]
fn each_report_of_progress_is_a_line_once() {
    let options = OutputOptions { format: Some(Format::Ndjson), json: false, quiet: true };
    let mut out = vec![];
    let mut printer = Printer::new(&options, &mut out, false);
    let told = json!({"active": true, "progress": {"title": "Baking", "pct": 0.5}});
    for progress in
        [&told, &told, &json!({"active": false, "progress": null}), &json!({"active": true})]
    {
        printer.progress(progress);
    }
    printer.finish(&Report::of("command", json!({}), json!(1)));
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0], json!({"type": "progress", "title": "Baking", "pct": 0.5}));
    assert_eq!(lines[1]["type"], "result");
}

#[test]
fn a_result_alone_has_no_progress_before_it() {
    let options = OutputOptions { format: Some(Format::Ndjson), json: false, quiet: true };
    let mut out = vec![];
    let mut printer = Printer::new(&options, &mut out, false).result_only(true);
    assert!(!printer.wants_progress(), "nobody is asked for what is not shown");
    printer.progress(&json!({"active": true, "progress": {"title": "Baking", "pct": 0.5}}));
    printer.finish(&Report::of("command", json!({}), json!(1)));
    assert_eq!(String::from_utf8(out).unwrap(), "1\n");
}
