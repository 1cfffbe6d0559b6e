use super::{Dialect, Kind, tokens};

fn texts(source: &str, dialect: Dialect) -> Vec<&str> {
    tokens(source, dialect)
        .into_iter()
        .filter(|token| matches!(token.kind, Kind::Text(_)))
        .map(|token| &source[token.inner])
        .collect()
}

#[test]
fn strings_are_told_from_comments_in_each_language() {
    let source =
        "# \"a\"\nvar x = \"b\\\"c\" + 'd' # 'e'\nvar y = \"\"\"f\n\"g\" \"\"\"\nr\"h\" &\"i\"";
    assert_eq!(texts(source, Dialect::Gdscript), ["b\\\"c", "d", "f\n\"g\" ", "h", "i"]);
    let source = "// \"a\"\n/* \"b\" */ x = \"c\"; y = @\"d\"\"e\\\"; z = '\\'';";
    assert_eq!(texts(source, Dialect::Csharp), ["c", "d\"\"e\\", "\\'"]);
    assert_eq!(texts("#include \"a\" // \"b\"", Dialect::Shader), ["a"]);
    assert_eq!(texts("x = \"open\ny = \"b\"", Dialect::Gdscript), ["open", "b"]);
}

#[test]
fn node_paths_are_one_token() {
    let source = "$A/B.queue_free()\n$\"C D\"\nx = %Name\ny = a %b\n$../Up.x";
    let paths: Vec<&str> = tokens(source, Dialect::Gdscript)
        .into_iter()
        .filter(|token| token.kind == Kind::NodePath)
        .map(|token| &source[token.inner])
        .collect();
    assert_eq!(paths, ["A/B", "C D", "%Name", "../Up"]);
}
