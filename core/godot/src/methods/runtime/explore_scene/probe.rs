//! One expression that is read in every frame, and whether its value moves.

use didi_wire::{BridgeError, SessionKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    expression::{self, Prepared},
    node_path,
};

/// A probe as a caller sends it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sent {
    expression: String,
    #[serde(default = "root")]
    context_node: String,
    name: Option<String>,
}

fn root() -> String {
    "/root".into()
}

pub(super) struct Probe {
    pub(super) name: String,
    prepared: Prepared,
    context_node: String,
    samples: u64,
    first: Value,
    last: Value,
    /// Numbers of the value at which it moved last.
    at: Vec<f64>,
    last_read_error: Option<String>,
}

impl Probe {
    pub(super) fn prepare(sent: &Sent) -> Result<Self, BridgeError> {
        node_path::any(SessionKind::Game, &sent.context_node)?;
        Ok(Probe {
            name: sent.name.clone().unwrap_or_else(|| sent.expression.clone()),
            prepared: expression::prepare(&sent.expression)?,
            context_node: sent.context_node.clone(),
            samples: 0,
            first: Value::Null,
            last: Value::Null,
            at: vec![],
            last_read_error: None,
        })
    }

    pub(super) fn was_read(&self) -> bool {
        self.samples > 0
    }

    /// Reads once, and says whether the value has moved by more than `epsilon`.
    pub(super) fn read(&mut self, epsilon: f64) -> bool {
        let node = node_path::any(SessionKind::Game, &self.context_node);
        let value = node.and_then(|node| self.prepared.evaluate(&node));
        let told = match value.and_then(|value| expression::told(&value)) {
            Ok(told) => told,
            Err(error) => {
                self.last_read_error = Some(error.message);
                return false;
            }
        };
        let mut numbers = vec![];
        collect(&told, &mut numbers);
        let other = |(a, b): (&f64, &f64)| (a - b).abs() > epsilon;
        let moved = numbers.len() != self.at.len()
            || numbers.iter().zip(&self.at).any(other)
            || (numbers.is_empty() && told != self.last);
        if self.samples == 0 {
            self.first = told.clone();
        }
        self.samples += 1;
        self.last = told;
        if moved {
            self.at = numbers;
        }
        moved
    }

    /// Where the value went.
    pub(super) fn told(&self) -> Value {
        json!({
            "name": self.name,
            "samples": self.samples,
            "first": self.first,
            "last": self.last,
            "last_read_error": self.last_read_error,
        })
    }
}

/// All numbers of a value, in order.
fn collect(value: &Value, numbers: &mut Vec<f64>) {
    match value {
        Value::Number(number) => numbers.extend(number.as_f64()),
        Value::Bool(value) => numbers.push(f64::from(u8::from(*value))),
        Value::Array(items) => items.iter().for_each(|item| collect(item, numbers)),
        Value::Object(members) => members.values().for_each(|item| collect(item, numbers)),
        Value::Null | Value::String(_) => {}
    }
}
