//! Step one: a name, canonical or legacy, to a tool.
//!
//! Spec: P-7, the path of a call.

use std::sync::Arc;

use serde_json::json;

use super::Call;
use crate::{
    catalog::{Catalog, Tool},
    jsonrpc::ProtocolError,
    text::clip,
};

/// A call whose tool is known.
pub struct Resolved {
    pub(super) call: Call,
    pub(super) tool: Arc<Tool>,
}

/// Finds the tool.
///
/// # Errors
/// `-32602` naming the unknown name: a fault of the client's program, not of the call.
pub fn resolve(call: Call, catalog: &Catalog) -> Result<Resolved, ProtocolError> {
    if let Some(tool) = catalog.find(&call.name) {
        return Ok(Resolved { tool: Arc::clone(tool), call });
    }
    let message = format!("Unknown tool: {}", clip(&call.name));
    Err(ProtocolError::params(message).data(json!({"name": call.name})))
}
