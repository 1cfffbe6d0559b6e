//! Classes of the reference from the engine's own dump; used by the example and the tests, not by the pack.
//!
//! Each becomes a JSON object in the shape of the tool's answers, with its documentation.
//!
//! Spec: P-53, scripts.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// All classes by name, each as the reference holds it.
pub(crate) fn classes(dump: &Value) -> BTreeMap<String, Value> {
    let mut classes: BTreeMap<String, Value> = BTreeMap::new();
    for class in list(dump, "classes") {
        classes.insert(text(class, "name"), engine_class(class));
    }
    for class in list(dump, "builtin_classes") {
        classes.insert(text(class, "name"), builtin_class(class));
    }
    classes.insert("@GlobalScope".into(), global_scope(dump));
    classes
}

fn list<'d>(of: &'d Value, key: &str) -> &'d [Value] {
    of[key].as_array().map_or(&[], Vec::as_slice)
}

/// A text member, empty where there is none.
pub(crate) fn text(of: &Value, key: &str) -> String {
    of[key].as_str().unwrap_or_default().to_owned()
}

fn engine_class(class: &Value) -> Value {
    let mut made = described(class);
    made.insert("is_instantiable".into(), class["is_instantiable"].clone());
    if let Some(base) = class["inherits"].as_str() {
        made.insert("inherits".into(), base.into());
    }
    if class["api_type"] == "editor" {
        made.insert("editor_only".into(), true.into());
    }
    let methods = list(class, "methods").iter().map(|one| (text(one, "name"), method(one)));
    made.insert("methods".into(), methods.collect());
    let properties = list(class, "properties").iter().map(|one| {
        let mut made = Map::from_iter([("type".to_owned(), kind(one))]);
        if one["setter"].as_str().is_none_or(str::is_empty) {
            made.insert("read_only".into(), true.into());
        }
        (text(one, "name"), documented(made, one))
    });
    made.insert("properties".into(), properties.collect());
    let signals = list(class, "signals").iter().map(|one| {
        let made = Map::from_iter([("args".to_owned(), arguments(one))]);
        (text(one, "name"), documented(made, one))
    });
    made.insert("signals".into(), signals.collect());
    made.insert("enums".into(), enums(list(class, "enums"), list(class, "constants")));
    made.into()
}

fn builtin_class(class: &Value) -> Value {
    let mut made = described(class);
    made.insert("is_instantiable".into(), true.into());
    let name = text(class, "name");
    let mut methods = Map::new();
    let overloads: Vec<Value> = list(class, "constructors").iter().map(arguments).collect();
    methods
        .insert(name.clone(), json!({ "overloads": overloads, "returns": name, "static": true }));
    methods.extend(list(class, "methods").iter().map(|one| (text(one, "name"), method(one))));
    made.insert("methods".into(), methods.into());
    let members = list(class, "members").iter().map(|one| {
        let made = Map::from_iter([("type".to_owned(), kind(one))]);
        (text(one, "name"), documented(made, one))
    });
    made.insert("properties".into(), members.collect());
    made.insert("signals".into(), json!({}));
    made.insert("enums".into(), enums(list(class, "enums"), list(class, "constants")));
    made.into()
}

/// What is there without a class: functions, enums, and the singletons as properties.
fn global_scope(dump: &Value) -> Value {
    let about = "What every script reaches without a class: utility functions, enums, singletons.";
    let functions =
        list(dump, "utility_functions").iter().map(|one| (text(one, "name"), method(one)));
    let singletons = list(dump, "singletons")
        .iter()
        .map(|one| (text(one, "name"), json!({ "type": one["type"], "read_only": true })));
    json!({
        "description": about,
        "is_instantiable": false,
        "methods": functions.collect::<Map<_, _>>(),
        "properties": singletons.collect::<Map<_, _>>(),
        "signals": {},
        "enums": enums(list(dump, "global_enums"), list(dump, "global_constants")),
    })
}

fn described(class: &Value) -> Map<String, Value> {
    let parts = [text(class, "brief_description"), text(class, "description")];
    let parts: Vec<&str> =
        parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    Map::from_iter([("description".to_owned(), parts.join("\n\n").into())])
}

fn documented(mut made: Map<String, Value>, of: &Value) -> Value {
    let about = text(of, "description");
    if !about.trim().is_empty() {
        made.insert("doc".into(), about.trim().into());
    }
    made.into()
}

fn method(method: &Value) -> Value {
    let mut made = Map::from_iter([("args".to_owned(), arguments(method))]);
    let returned = &method["return_value"];
    let returned = if returned.is_object() {
        kind(returned)
    } else {
        method["return_type"].as_str().map_or("void".into(), |name| plain(name).into())
    };
    made.insert("returns".into(), returned);
    for (key, from) in [
        ("const", "is_const"),
        ("static", "is_static"),
        ("virtual", "is_virtual"),
        ("vararg", "is_vararg"),
    ] {
        if method[from] == true {
            made.insert(key.into(), true.into());
        }
    }
    documented(made, method)
}

/// `name: Type = default`, one an argument.
fn arguments(of: &Value) -> Value {
    let one = |argument: &Value| {
        let default = argument["default_value"].as_str();
        let default = default.map(|value| format!(" = {value}")).unwrap_or_default();
        let kind = plain(&text(argument, "type"));
        let line = format!("{}: {kind}{default}", text(argument, "name"));
        Value::from(line)
    };
    list(of, "arguments").iter().map(one).collect()
}

fn kind(of: &Value) -> Value {
    plain(&text(of, "type")).into()
}

/// A type as a script writes it.
fn plain(kind: &str) -> String {
    let Some((shape, of)) = kind.split_once("::") else { return kind.to_owned() };
    // `24/17:InputEvent` names the class behind numbers of the inspector's.
    let of = of.rsplit(':').next().unwrap_or(of);
    match shape {
        "typedarray" => format!("Array[{of}]"),
        "typeddictionary" => format!("Dictionary[{}]", of.replace(';', ", ")),
        _ => of.to_owned(),
    }
}

/// Enums with their values, and constants outside of one under `constants`.
fn enums(enums: &[Value], constants: &[Value]) -> Value {
    let mut made = Map::new();
    for one in enums {
        let values = list(one, "values");
        let mut entry = Map::from_iter([("values".to_owned(), values_of(values))]);
        if one["is_bitfield"] == true {
            entry.insert("bitfield".into(), true.into());
        }
        let docs = docs_of(values);
        if !docs.is_empty() {
            entry.insert("docs".into(), docs.into());
        }
        made.insert(text(one, "name"), entry.into());
    }
    if !constants.is_empty() {
        let mut entry = Map::from_iter([("values".to_owned(), values_of(constants))]);
        entry.insert("docs".into(), docs_of(constants).into());
        made.insert("constants".into(), entry.into());
    }
    made.into()
}

fn values_of(values: &[Value]) -> Value {
    values.iter().map(|one| (text(one, "name"), one["value"].clone())).collect()
}

fn docs_of(values: &[Value]) -> Map<String, Value> {
    let documented = values.iter().filter(|one| !text(one, "description").is_empty());
    documented.map(|one| (text(one, "name"), one["description"].clone())).collect()
}
