use super::kind_of;

#[test]
fn an_unknown_ending_is_another_file() {
    assert_eq!(kind_of("gdshader"), "Shader");
    assert_eq!(kind_of(""), "OtherFile");
}
