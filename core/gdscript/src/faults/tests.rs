use super::of_tree;
use crate::parse;

#[track_caller]
fn check_faults(text: &str, want: usize) {
    let tree = parse(text, &|| false).unwrap();
    assert_eq!(of_tree(&tree, text, 100).len(), want, "{text}");
}

#[test]
fn what_the_engine_compiles_is_no_fault() {
    check_faults("func f():\n\treturn { lua = 1, \"q r\" = 2 }\n", 0);
    check_faults("func g(): if true: return 2\n", 0);
    check_faults("@abstract func area() -> float\n", 0);
    check_faults("@abstract\nfunc area() -> float\n", 0);
    check_faults("", 0);
}

#[test]
fn what_the_engine_refuses_is_a_fault() {
    check_faults("func broken(\n", 1);
    check_faults("func broken()\n\tpass\n", 1);
    check_faults("var a = = 2\n", 1);
}

#[test]
fn faults_are_bounded() {
    let text = "var a = = 2\n".repeat(50);
    let tree = parse(&text, &|| false).unwrap();
    assert_eq!(of_tree(&tree, &text, 7).len(), 7);
}
