//! `signal.listConnections`: a node's signals, their arguments, and who listens.

use didi_engine::Answer;
use godot::{builtin::VariantType, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use super::connections::{self, Connection};
use crate::{
    json,
    methods::Context,
    node_path,
    params::{self, Params},
};

const MAX_SIGNALS: usize = 256;
const MAX_ARGUMENTS: usize = 16;
const MAX_CONNECTIONS: usize = 256;
const MAX_BYTES: usize = 256 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    emitter_node: Option<String>,
    target_node: Option<String>,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let path = connections::emitter(args.emitter_node.as_deref(), args.target_node.as_deref())?;
    let root = node_path::edited_root()?;
    let node = node_path::edited(path)?;
    let mut list = List { root, truncated_at: None, editor: 0, engine: 0 };
    let mut signals: Vec<(String, VarDictionary)> = node
        .get_signal_list()
        .iter_shared()
        .filter_map(|signal| Some((signal.get("name")?.stringify().to_string(), signal)))
        .collect();
    signals.sort_by(|a, b| a.0.cmp(&b.0));
    if signals.len() > MAX_SIGNALS {
        list.truncated_at = Some("signals");
    }
    let (mut told, mut bytes) = (vec![], 0);
    for (name, signal) in signals.into_iter().take(MAX_SIGNALS) {
        let one = list.signal(&node, &name, &signal);
        bytes += one.to_string().len();
        if bytes > MAX_BYTES {
            list.truncated_at = Some("bytes");
            break;
        }
        told.push(one);
    }
    Ok(json!({
        "signals": told,
        "target_node": path,
        "editor_connections": list.editor,
        "engine_connections": list.engine,
        "truncated": list.truncated_at.is_some(),
        "truncated_at": list.truncated_at,
    }))
}

struct List {
    root: Gd<Node>,
    truncated_at: Option<&'static str>,
    editor: usize,
    engine: usize,
}

impl List {
    fn signal(&mut self, node: &Gd<Node>, name: &str, signal: &VarDictionary) -> Value {
        let arguments = signal.get("args").and_then(|args| args.try_to::<AnyArray>().ok());
        let arguments: Vec<Value> = arguments.map_or_else(Vec::new, |arguments| {
            let shown = arguments.iter_shared().take(MAX_ARGUMENTS);
            shown.filter_map(|one| argument(&one.try_to::<VarDictionary>().ok()?)).collect()
        });
        let connections = connections::of(node, name);
        if connections.len() > MAX_CONNECTIONS {
            self.truncated_at = Some("connections");
        }
        let connections: Vec<Value> =
            connections.iter().take(MAX_CONNECTIONS).map(|one| self.connection(one)).collect();
        json!({ "name": name, "arguments": arguments, "connections": connections })
    }

    fn connection(&mut self, connection: &Connection) -> Value {
        let target = connection.callable.object().and_then(|object| object.try_cast::<Node>().ok());
        let inside = |node: &Gd<Node>| *node == self.root || self.root.is_ancestor_of(node);
        let path = target.filter(inside).map(|node| node_path::in_scene(&self.root, &node));
        let origin = match (connection.flags & connections::PERSIST, &path) {
            (1.., _) => "scene",
            (_, Some(_)) => {
                self.engine += 1;
                "engine"
            }
            _ => {
                self.editor += 1;
                "editor"
            }
        };
        json!({
            "target_node": path,
            "target_method": connection.callable.method_name().map(|name| name.to_string()),
            "flags": connection.flags,
            "origin": origin,
        })
    }
}

fn argument(argument: &VarDictionary) -> Option<Value> {
    let kind = argument.get("type")?.try_to::<i32>().ok()?;
    let named = VariantType::try_from_ord(kind).map_or("Variant", json::type_name);
    let name = argument.get("name")?.stringify().to_string();
    Some(json!({ "name": name, "type_id": kind, "type_name": named }))
}
