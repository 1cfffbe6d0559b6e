//! Step two: is the tool in the list that this process shows?
//!
//! Spec: P-22, listings.

use std::sync::Arc;

use didi_plugin_api::desc::Profile;
use serde_json::json;

use super::{Call, resolve::Resolved};
use crate::{
    catalog::{Catalog, Tool},
    jsonrpc::ProtocolError,
};

/// A call of a tool that the client was shown.
pub struct Listed {
    pub(super) call: Call,
    pub(super) tool: Arc<Tool>,
}

impl Listed {
    pub(super) fn parts(&self) -> (&Call, &Tool) {
        (&self.call, &self.tool)
    }
}

/// Checks the list.
///
/// # Errors
/// `-32602` with `restart_with`: no argument of the call can fix it.
pub fn check(
    resolved: Resolved,
    catalog: &Catalog,
    profile: Profile,
) -> Result<Listed, ProtocolError> {
    let Resolved { call, tool } = resolved;
    let profile = if call.caller.every_tool { Profile::Full } else { profile };
    if catalog.shows(profile, &call.name) {
        return Ok(Listed { call, tool });
    }
    let message =
        format!("`{}` is not in the core profile, which this server was started with", call.name);
    Err(ProtocolError::params(message).data(json!({
        "name": call.name,
        "toolProfile": profile,
        "restart_with": "--tools full",
    })))
}
