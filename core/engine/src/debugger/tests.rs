use super::*;

fn debugger(line: &str) -> Debugger {
    let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    Debugger::of_arguments(&arguments)
}

#[test]
fn a_command_line_says_who_debugs_a_game() {
    let played = "--path p --remote-debug tcp://127.0.0.1:6007 --editor-pid 25193 --scene res://a";
    assert_eq!(debugger(played), Debugger::Editor { pid: Some(25193) });
    assert_eq!(debugger("--remote-debug tcp://127.0.0.1:6007"), Debugger::Editor { pid: None });
    assert_eq!(debugger("--remote-debug x --editor-pid"), Debugger::Editor { pid: None });
    assert_eq!(debugger("--path p --editor-pid 7"), Debugger::None);
    assert_eq!(debugger("--path p -- --remote-debug x"), Debugger::None);
    assert_eq!(debugger(""), Debugger::None);
}

#[test]
fn a_game_names_the_way_to_its_stack() {
    let told = debugger("--remote-debug x --editor-pid 7").refuse_stack();
    assert_eq!((told.code, told.code_name()), (409, Some("stack_is_with_editor")));
    assert_eq!(told.data["editor_pid"], 7);
    assert_eq!(told.data["next_call"]["tool"], "runtime_list_sessions");
    let alone = debugger("").refuse_stack();
    assert_eq!((alone.code, alone.code_name()), (409, Some("not_under_debugger")));
    assert_eq!(alone.data["next_call"]["tool"], "runtime_read_output");
}
