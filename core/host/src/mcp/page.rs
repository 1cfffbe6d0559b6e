//! The control room's page, a document for clients that show one beside a tool's answer: who is told of it, and reading
//! it.
//!
//! It holds no data: it shows what `didi_control_room` answers, and calls tools through the client that shows it.
//!
//! Spec: P-28, the control room's page.

use serde_json::{Value, json};

use super::{Server, discover::complete, era::Terms};

/// The extension by which a client says that it shows pages.
const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// The media type of a page.
const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// The page's address.
pub const URI: &str = "ui://didi/control-room";

/// The tool whose answers it shows.
pub const TOOL: &str = "didi_control_room";

const DOCUMENT: &str = include_str!("../../data/control_room.html");

/// Who is told of the page (`--ui-app`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Clients that say that they show pages.
    ToDeclared,
    /// Every client.
    Always,
    /// Nobody, and reading it is refused.
    Never,
}

impl Server {
    /// Whether a request's client is told of the page.
    pub(super) fn shows_page(&self, terms: &Terms) -> bool {
        match self.facts.page {
            Shown::Always => true,
            Shown::Never => false,
            Shown::ToDeclared => {
                let declared = &terms.capabilities["extensions"][EXTENSION];
                let types = declared["mimeTypes"].as_array();
                // One that names no types takes the only one there is.
                declared.is_object() && types.is_none_or(|types| types.contains(&MIME_TYPE.into()))
            }
        }
    }

    /// The page's entry in the list of resources.
    pub(super) fn listed_page(&self) -> Value {
        json!({
            "uri": URI,
            "name": "control-room",
            "title": "Control room",
            "description": "The server's own state as a page.",
            "mimeType": MIME_TYPE,
            "_meta": {"didi": {
                "executionModes": ["local"],
                "implemented": true,
                "currentMode": "local",
                "liveAvailable": false,
                "editorConnected": false,
                "subscribable": false,
            }},
        })
    }

    /// The page, unless it is switched off; `None` for another address, too.
    pub(super) fn read_page(&self, uri: &str, terms: &Terms) -> Option<Value> {
        if uri != URI || self.facts.page == Shown::Never {
            return None;
        }
        let content = json!({
            "uri": URI,
            "mimeType": MIME_TYPE,
            "text": DOCUMENT,
            "_meta": {"ui": {"prefersBorder": true}},
        });
        Some(complete(terms, json!({"contents": [content]}), Some((0, "private"))))
    }
}
