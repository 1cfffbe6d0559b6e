use super::*;

#[test]
fn gut_says_how_a_test_ended_in_attributes_and_notes() {
    let report = parse(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"GutTests\">\
         <testsuite name=\"res://test/test_a.gd.TestInner\">\
         <testcase name=\"a\" assertions=\"2\" status=\"pass\" classname=\"res://test/test_a.gd.TestInner\"/>\
         <testcase name=\"b\" assertions=\"1\" status=\"fail\">\
         <failure message=\"failed\"><![CDATA[\u{1b}[31m[Failed]: 1 != 2\n      at line 12]]></failure></testcase>\
         <testcase name=\"c\" assertions=\"0\" status=\"pending\"><skipped message=\"pending\">later</skipped></testcase>\
         <testcase name=\"d\" assertions=\"0\" status=\"pass\"/>\
         <testcase name=\"e\" assertions=\"1\" status=\"no asserts\"/>\
         </testsuite></testsuites>",
    )
    .unwrap();
    let counts = Counts { total: 5, passed: 1, failed: 1, errors: 0, skipped: 1, no_assertions: 2 };
    assert_eq!(report.counts, counts);
    let failed = &report.tests[1];
    assert_eq!(failed.file.as_deref(), Some("res://test/test_a.gd"));
    assert_eq!(failed.line, Some(12));
    assert!(failed.message.as_deref().unwrap().contains("[Failed]: 1 != 2"));
    assert_eq!(failed.full_name(), "res://test/test_a.gd.TestInner::b");
}

#[test]
fn newer_gut_leaves_the_scheme_out() {
    let file = |class: &str| script_of(class);
    assert_eq!(file("test/test_a.gd").as_deref(), Some("res://test/test_a.gd"));
    assert_eq!(file("test/test_a.gd.TestInner").as_deref(), Some("res://test/test_a.gd"));
    assert_eq!(file("test_a"), None);
}

#[test]
fn gdunit_says_it_in_notes_whose_head_is_the_place() {
    let report = parse(
        "<testsuites id=\"1\"><testsuite name=\"TestA\" package=\"res://test\">\
         <testcase name=\"a\" classname=\"TestA\" time=\"0.1\"/>\
         <testcase name=\"b\" classname=\"TestA\">\
         <failure message=\"FAILED: res://test/test_a.gd:9\" type=\"FAILURE\"><![CDATA[no]]></failure></testcase>\
         <testcase name=\"c\" classname=\"TestA\">\
         <error message=\"ERROR: res://test/test_a.gd:11\" type=\"ABORT\">bad</error></testcase>\
         </testsuite></testsuites>",
    )
    .unwrap();
    let counts = Counts { total: 3, passed: 1, failed: 1, errors: 1, skipped: 0, no_assertions: 0 };
    assert_eq!(report.counts, counts);
    let places: Vec<_> =
        report.tests.iter().map(|test| (test.file.as_deref(), test.line)).collect();
    let file = Some("res://test/test_a.gd");
    assert_eq!(places, [(None, None), (file, Some(9)), (file, Some(11))]);
}

#[test]
fn what_is_no_report_is_said_and_not_read_as_an_empty_one() {
    for text in
        ["", "<testsuites>", "<html></html>", "<testsuites><testcase name=\"a\"></testsuites>"]
    {
        assert!(parse(text).is_err(), "{text}");
    }
    // A document type could define entities that grow without end.
    let bomb =
        "<!DOCTYPE t [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><testsuites>&b;</testsuites>";
    assert!(parse(bomb).is_err());
    assert_eq!(read(std::path::Path::new("nowhere")).unwrap_err(), Fault::Missing);
}

#[test]
fn many_tests_and_deep_documents_are_read() {
    let many = "<testcase name=\"a\" classname=\"b\"/>".repeat(100_000);
    let report =
        parse(&format!("<testsuites><testsuite name=\"s\">{many}</testsuite></testsuites>"));
    assert_eq!(report.unwrap().counts.passed, 100_000);
    // Read or refused, and no stack overflow.
    let deep = 100_000;
    let text = format!(
        "<testsuites>{}{}</testsuites>",
        "<testsuite>".repeat(deep),
        "</testsuite>".repeat(deep)
    );
    let _ = parse(&text);
}
