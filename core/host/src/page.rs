//! The control room's page: the document, and who is told of it.
//!
//! It holds no data: it shows what one tool answers, and calls tools through the client that shows it.
//!
//! Spec: P-28, the control room's page.

/// The page's address.
pub const URI: &str = "ui://didi/control-room";

/// Its media type.
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// The tool whose answers it shows.
pub const TOOL: &str = "didi_control_room";

/// All of it.
pub const DOCUMENT: &str = include_str!("../data/control_room.html");

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
