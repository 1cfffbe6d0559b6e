//! `tools/list`: one page, the same order every time.
//!
//! Spec: P-22, listings.

use std::sync::Arc;

use didi_plugin_api::desc::Profile;
use didi_wire::descriptor::SessionKind;
use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{Server, discover::server_info, era, era::Terms};
use crate::{bridge::Routes, catalog::ListView, jsonrpc::ProtocolError};

/// A listing whose entries are serialised already.
pub(super) struct ToolList {
    tools: Arc<RawValue>,
    modern: bool,
    meta: Value,
}

impl Serialize for ToolList {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        if self.modern {
            map.serialize_entry("resultType", "complete")?;
        }
        map.serialize_entry("tools", &*self.tools)?;
        if self.modern {
            map.serialize_entry("ttlMs", &0)?;
            map.serialize_entry("cacheScope", "private")?;
        }
        if self.meta.as_object().is_some_and(|meta| !meta.is_empty()) {
            map.serialize_entry("_meta", &self.meta)?;
        }
        map.end()
    }
}

impl Server {
    pub(super) fn list_tools(
        &self,
        terms: &Terms,
        params: &Map<String, Value>,
    ) -> Result<ToolList, ProtocolError> {
        refuse_cursor(params)?;
        let dispatcher = self.dispatcher();
        let view = ListView {
            profile: self.facts.profile,
            confirmations_skipped: self.facts.yolo,
            engine: engine_kind(terms, &dispatcher.shared.routes),
            page: self.shows_page(terms),
        };
        let tools = dispatcher.catalog().listing(view);
        let mut meta = json!({});
        if terms.is_modern() {
            meta[era::SERVER_INFO_KEY] = server_info();
        }
        if view.profile == Profile::Core {
            // The same on every entry of the core list, so said once.
            meta["didi"] = json!({
                "toolProfile": "core",
                "confirmationsSkipped": self.facts.yolo,
                "editorConnected": view.engine == Some(SessionKind::Editor),
            });
            if let Some(kind) = view.engine {
                meta["didi"]["sessionKind"] = kind.as_str().into();
            }
        }
        Ok(ToolList { tools, modern: terms.is_modern(), meta })
    }
}

/// The kind of the engine that would serve a client's calls. A listing opens no route.
pub(super) fn engine_kind(terms: &Terms, routes: &Routes) -> Option<SessionKind> {
    let route = match (&terms.session, terms.stateless) {
        (Some(session), _) => routes.held_by_name(session),
        (None, true) => None,
        (None, false) => routes.selected(),
    };
    route.map(|route| route.kind())
}

/// No list here has a second page, so no cursor was ever issued.
pub(super) fn refuse_cursor(params: &Map<String, Value>) -> Result<(), ProtocolError> {
    if params.contains_key("cursor") {
        return Err(ProtocolError::params(
            "this list has one page, and no cursor was issued for it",
        )
        .data(json!({"field": "cursor"})));
    }
    Ok(())
}
