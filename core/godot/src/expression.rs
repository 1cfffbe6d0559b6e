//! Read-only expressions evaluated by the engine, after they were checked word for word.

use std::time::{Duration, Instant};

use didi_engine::sandbox::{self, Fault};
use didi_wire::BridgeError;
use godot::{
    classes::{ClassDb, Expression},
    global::Error,
    prelude::*,
};
use serde_json::Value;

use crate::json;

/// Most bytes of a value in JSON.
const MAX_VALUE_BYTES: usize = 256 * 1024;

/// An expression that was checked and parsed, to be evaluated as often as wanted.
pub(crate) struct Prepared {
    expression: Gd<Expression>,
    reads: Vec<sandbox::Read>,
}

/// Checks and parses.
///
/// # Errors
/// `unsafe_expression` (403), `expression_parse_failed` (422).
pub(crate) fn prepare(text: &str) -> Result<Prepared, BridgeError> {
    let checked = sandbox::check(text).map_err(refused)?;
    let mut names = vec!["node".to_owned()];
    names.extend(checked.reads.iter().map(|read| read.name.clone()));
    let names: PackedStringArray = names.iter().map(GString::from).collect();
    let mut expression = Expression::new_gd();
    if expression.parse_ex(&checked.text).input_names(&names).done() != Error::OK {
        return Err(failed("expression_parse_failed", &expression));
    }
    Ok(Prepared { expression, reads: checked.reads })
}

impl Prepared {
    /// Evaluates with a node bound.
    ///
    /// # Errors
    /// `expression_execution_failed` (422); `not_found` for a property that the node's class does not have.
    pub(crate) fn evaluate(&mut self, node: &Gd<Node>) -> Result<Variant, BridgeError> {
        let mut inputs = VarArray::new();
        inputs.push(&node.to_variant());
        for read in &self.reads {
            inputs.push(&native(node, &read.property)?);
        }
        let run =
            self.expression.execute_ex().inputs(&inputs).show_error(false).const_calls_only(true);
        let value = run.done();
        if self.expression.has_execute_failed() {
            return Err(failed("expression_execution_failed", &self.expression));
        }
        Ok(value)
    }
}

/// A property of the node's own class, read past its script.
fn native(node: &Gd<Node>, property: &str) -> Result<Variant, BridgeError> {
    let classes = ClassDb::singleton();
    let class = node.get_class().to_string();
    let list = classes.class_get_property_list(&class);
    let known = list
        .iter_shared()
        .any(|one| one.get("name").is_some_and(|name| name.stringify() == property));
    if !known {
        let message = format!("`{class}` has no property `{property}` of its own");
        return Err(BridgeError::new(403, "unsafe_expression", message).with("field", "expression"));
    }
    let value = classes.class_get_property(node, property);
    if value.get_type() == VariantType::OBJECT {
        let message = format!("`{property}` holds an object, which an expression may not reach");
        return Err(BridgeError::new(403, "unsafe_expression", message).with("field", "expression"));
    }
    Ok(value)
}

/// A value as JSON, within its bound.
///
/// # Errors
/// `request_failed` (415) for what has no form, `response_too_large` (413).
pub(crate) fn told(value: &Variant) -> Result<Value, BridgeError> {
    let told = json::write(value).map_err(|unsupported| {
        BridgeError::new(415, "request_failed", unsupported.0).with("field", "expression")
    })?;
    if told.to_string().len() > MAX_VALUE_BYTES {
        let message = format!("the value is over the limit of {MAX_VALUE_BYTES} bytes");
        return Err(
            BridgeError::new(413, "response_too_large", message).with("field", "expression")
        );
    }
    Ok(told)
}

/// Refuses what took too long.
///
/// # Errors
/// `request_failed` (408).
pub(crate) fn check_time(began: Instant, limit: Duration) -> Result<(), BridgeError> {
    if began.elapsed() <= limit {
        return Ok(());
    }
    let message = format!("the expression took longer than {} ms", limit.as_millis());
    Err(BridgeError::new(408, "request_failed", message)
        .with("retry_with", serde_json::json!({ "timeout_ms": 5000 })))
}

fn refused(fault: Fault) -> BridgeError {
    match &fault {
        Fault::Syntax { .. } => BridgeError::new(422, "expression_parse_failed", fault.to_string()),
        Fault::Unsafe(_) => BridgeError::new(403, "unsafe_expression", fault.to_string()),
    }
    .with("field", "expression")
}

fn failed(code: &str, expression: &Gd<Expression>) -> BridgeError {
    let message = format!("the engine says: {}", expression.get_error_text());
    BridgeError::new(422, code, message).with("field", "expression")
}
