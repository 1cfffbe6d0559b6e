use super::*;

#[test]
fn tags_are_the_pack_and_the_area() {
    assert_eq!(tag("didi-pack-scene", "scene_open"), "scene");
    assert_eq!(tag("didi-pack-scene", "editor_undo"), "scene/editor");
    assert_eq!(tag("didi-host", "runtime_get_session"), "host/runtime");
    assert_eq!(tag("studio-pack", "tile_paint"), "studio-pack/tile");
}

#[test]
fn schemas_become_parameters_in_their_order() {
    let schema = json!({
        "properties": {
            "z": {"type": "string", "description": "Zed."},
            "on_error": {"type": "string", "enum": ["abort", "continue"], "default": "abort"},
            "n": {"type": "integer", "enum": [1, 2]},
            "f": {"type": "number"}, "b": {"type": "boolean"}, "o": {"type": "object"},
            "l": {"type": "array", "items": {"type": "string"}},
            "any": {"type": ["boolean", "integer"]},
        },
        "required": ["f"],
    });
    let found = parameters(&schema);
    let names: Vec<_> = found.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["z", "on_error", "n", "f", "b", "o", "l", "any"]);
    let types: Vec<_> = found.iter().map(|one| one.kind.type_name().into_owned()).collect();
    assert_eq!(
        types,
        ["String", "OnError", "Int64", "Double", "Boolean", "JObject", "String[]", "Object"]
    );
    assert!(found[3].required && !found[0].required);
    assert_eq!(found[1].default, Some(json!("abort")));
    assert_eq!(found[0].description, "Zed.");
}

#[test]
fn a_book_is_made_once_a_catalog() {
    let (shelf, catalog) = (Shelf::default(), Arc::new(Catalog::default()));
    let book = shelf.of(&catalog);
    assert!(Arc::ptr_eq(&book, &shelf.of(&catalog)));
    assert!(!Arc::ptr_eq(&book, &shelf.of(&Arc::new(Catalog::default()))));
    assert!(book.find(BATCH).is_some() && book.find("Batch").is_none());
    assert!(book.tool(BATCH).is_none());
}
