//! `shader.getVisualGraph`: the nodes of a visual shader and how they are connected.

use didi_engine::Answer;
use godot::{
    classes::{VisualShader, visual_shader::Type},
    prelude::*,
};
use serde_json::{Value, json};

use crate::{
    json,
    methods::{Context, shader},
    params::{self, Params},
    refuse,
};

/// Most nodes and connections of one shader type.
const MAX_NODES: usize = 256;
const MAX_CONNECTIONS: usize = 512;

/// The engine's kinds of graph in a shader, with their words.
const TYPES: [(&str, Type); 10] = [
    ("vertex", Type::VERTEX),
    ("fragment", Type::FRAGMENT),
    ("light", Type::LIGHT),
    ("start", Type::START),
    ("process", Type::PROCESS),
    ("collide", Type::COLLIDE),
    ("start_custom", Type::START_CUSTOM),
    ("process_custom", Type::PROCESS_CUSTOM),
    ("sky", Type::SKY),
    ("fog", Type::FOG),
];

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let place: shader::Place = params::read(params)?;
    let held = place.held()?;
    let mut facts = held.told(&place);
    let Ok(graph) = held.shader.try_cast::<VisualShader>() else {
        let error = refuse::conflict("not_a_visual_shader", "the shader is text and has no graph");
        let reason = "lists what can be set of it";
        return Err(refuse::next_call(error, "shader_list_uniforms", place.arguments(), reason));
    };
    let types: Vec<Value> = TYPES.iter().map(|(word, kind)| told(&graph, word, *kind)).collect();
    facts["truncated"] = types.iter().any(|one| one["truncated"] == true).into();
    facts["shader_types"] = types.into();
    Ok(facts)
}

fn told(graph: &Gd<VisualShader>, word: &str, kind: Type) -> Value {
    let ids = graph.get_node_list(kind);
    let nodes: Vec<Value> = ids
        .as_slice()
        .iter()
        .take(MAX_NODES)
        .map(|id| {
            let class = graph.get_node(kind, *id).map(|node| node.get_class().to_string());
            let position = graph.get_node_position(kind, *id).to_variant();
            json!({
                "id": id,
                "class": class,
                "position": json::write(&position).unwrap_or_default(),
            })
        })
        .collect();
    let all = graph.get_node_connections(kind);
    let connections: Vec<Value> =
        all.iter_shared().take(MAX_CONNECTIONS).map(|one| connection(&one)).collect();
    json!({
        "type": word,
        "truncated": nodes.len() < ids.len() || connections.len() < all.len(),
        "nodes": nodes,
        "connections": connections,
        "node_count": ids.len(),
        "connection_count": all.len(),
    })
}

fn connection(connection: &VarDictionary) -> Value {
    let number = |name: &str| connection.get(name).and_then(|number| number.try_to::<i64>().ok());
    json!({
        "from_node": number("from_node"),
        "from_port": number("from_port"),
        "to_node": number("to_node"),
        "to_port": number("to_port"),
    })
}
