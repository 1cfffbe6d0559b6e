//! One condition: what it looks at, its bounds, and what was seen.

use std::sync::Arc;

use didi_engine::ring::{Level, LogRing};
use didi_wire::{BridgeError, SessionKind};
use godot::{
    classes::{Performance, performance::Monitor},
    obj::EngineEnum,
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bad;
use crate::{
    expression::{self, Prepared},
    json, node_path,
};

/// A condition as a caller sends it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Invariant {
    kind: Kind,
    name: Option<String>,
    metric: Option<String>,
    expression: Option<String>,
    #[serde(default = "root")]
    context_node: String,
    minimum: Option<f64>,
    maximum: Option<f64>,
}

fn root() -> String {
    "/root".into()
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    PerformanceBetween,
    ExpressionBetween,
    NoEngineErrors,
}

/// What a condition looks at.
enum Source {
    Monitor(Monitor),
    Expression(Box<Prepared>, String),
    Output(Arc<LogRing>, u64),
}

/// What one look found.
pub(super) enum Reading {
    Held,
    /// The value that broke it.
    Broken(Value),
}

/// A condition that is watched.
pub(super) struct Condition {
    pub(super) name: String,
    kind: Kind,
    source: Source,
    minimum: Option<f64>,
    maximum: Option<f64>,
    samples: u64,
    seen: Option<(f64, f64)>,
    last: Value,
    last_error: Option<String>,
}

/// Checks a condition.
pub(super) fn prepare(sent: Invariant, output: Arc<LogRing>) -> Result<Condition, BridgeError> {
    let name = sent.name.clone().unwrap_or_else(|| word(sent.kind).to_owned());
    let bounded = sent.minimum.is_some() || sent.maximum.is_some();
    if sent.kind != Kind::NoEngineErrors && !bounded {
        return Err(bad(&name, "`minimum` or `maximum` is needed"));
    }
    let source = match (sent.kind, sent.metric, sent.expression) {
        (Kind::PerformanceBetween, Some(metric), None) => {
            let monitor = monitor(&metric).ok_or_else(|| bad(&name, "there is no such metric"))?;
            Source::Monitor(monitor)
        }
        (Kind::ExpressionBetween, None, Some(text)) => {
            node_path::any(SessionKind::Game, &sent.context_node)?;
            Source::Expression(Box::new(expression::prepare(&text)?), sent.context_node)
        }
        (Kind::NoEngineErrors, None, None) => {
            let since = output.next_sequence();
            Source::Output(output, since)
        }
        _ => return Err(bad(&name, "a metric or an expression is needed, as its kind says")),
    };
    Ok(Condition {
        name,
        kind: sent.kind,
        source,
        minimum: sent.minimum,
        maximum: sent.maximum,
        samples: 0,
        seen: None,
        last: Value::Null,
        last_error: None,
    })
}

/// A monitor by the engine's own name of it, in small letters.
fn monitor(name: &str) -> Option<Monitor> {
    let name = name.to_ascii_uppercase();
    let found = Monitor::all_constants().iter().find(|one| one.rust_name() == name)?;
    Some(found.value())
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::PerformanceBetween => "performance_between",
        Kind::ExpressionBetween => "expression_between",
        Kind::NoEngineErrors => "no_engine_errors",
    }
}

impl Condition {
    pub(super) fn kind(&self) -> &'static str {
        word(self.kind)
    }

    /// Whether it was read at all.
    pub(super) fn was_read(&self) -> bool {
        self.samples > 0
    }

    /// Looks once.
    pub(super) fn read(&mut self) -> Reading {
        match &mut self.source {
            Source::Output(output, since) => {
                self.samples += 1;
                match output.since(*since, Level::Error).first() {
                    Some(error) => Reading::Broken(json!(error)),
                    None => Reading::Held,
                }
            }
            Source::Monitor(monitor) => {
                let value = Performance::singleton().get_monitor(*monitor);
                self.judge(value)
            }
            Source::Expression(prepared, node) => {
                let node = node_path::any(SessionKind::Game, node);
                match node.and_then(|node| prepared.evaluate(&node)) {
                    Ok(value) => match number(&value) {
                        Some(value) => self.judge(value),
                        None => self.unread("the value is no number"),
                    },
                    Err(error) => self.unread(&error.message),
                }
            }
        }
    }

    fn judge(&mut self, value: f64) -> Reading {
        self.samples += 1;
        let (least, most) = self.seen.unwrap_or((value, value));
        self.seen = Some((least.min(value), most.max(value)));
        self.last = told(value);
        let below = self.minimum.is_some_and(|minimum| value < minimum);
        let above = self.maximum.is_some_and(|maximum| value > maximum);
        if below || above || value.is_nan() { Reading::Broken(told(value)) } else { Reading::Held }
    }

    fn unread(&mut self, why: &str) -> Reading {
        self.last_error = Some(why.to_owned());
        Reading::Held
    }

    /// What was seen.
    pub(super) fn told(&self) -> Value {
        json!({
            "name": self.name,
            "kind": self.kind(),
            "samples": self.samples,
            "minimum_seen": self.seen.map(|seen| told(seen.0)),
            "maximum_seen": self.seen.map(|seen| told(seen.1)),
            "last": self.last,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "last_read_error": self.last_error,
        })
    }
}

/// Numbers, and truth as 0 and 1.
fn number(value: &Variant) -> Option<f64> {
    match value.get_type() {
        VariantType::BOOL => Some(f64::from(u8::from(value.to::<bool>()))),
        VariantType::INT | VariantType::FLOAT => value.try_to_relaxed::<f64>().ok(),
        _ => None,
    }
}

fn told(value: f64) -> Value {
    json::write(&value.to_variant()).unwrap_or_default()
}
