//! What a Didi tool pack is written against.
//!
//! A pack is a dynamic library that registers tools: a name, typed arguments, what the tool does to the
//! world, and a handler. The host does the rest alike for all packs: the protocol, argument checks,
//! previews, confirmation, jobs, follow-ups, remedies, truncation. An author sees no boundary type, no
//! `unsafe` and no JSON-RPC. `docs/pack-authoring.md` leads from an empty crate to a loaded tool.
//!
//! ```
//! use didi_plugin_api::prelude::*;
//!
//! #[derive(Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Greet {
//!     /// Who is greeted.
//!     #[schemars(length(min = 1, max = 64))]
//!     name: String,
//! }
//!
//! struct Hello;
//!
//! impl ToolPack for Hello {
//!     fn open() -> Result<Self, String> {
//!         Ok(Hello)
//!     }
//!
//!     fn tools(&'static self) -> Vec<Tool> {
//!         vec![Tool::new("hello_greet", "Greets somebody.", Effects::READS, |_, args: Greet| {
//!             Answer::of(json!({ "text": format!("Hello, {}", args.name) }))
//!         })]
//!     }
//! }
//! // In a pack's lib.rs: didi_plugin_api::export_pack!(Hello);
//! ```
#![warn(missing_docs)]

pub mod abi;
pub mod ctx;
pub mod desc;
pub mod digest;
#[doc(hidden)]
pub mod export;
pub mod lint;
pub mod near;
pub mod outcome;
pub mod pipeline;
pub mod project_path;
pub mod records;
pub mod refusal;
pub mod schema;
pub mod stamp;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod tool;

/// All that a pack usually needs.
pub mod prelude {
    pub use crate::{
        ctx::{
            Change, ChildLine, ChildReport, ChildSpec, Ctx, EngineInfo, Expect, GameCall,
            GameEnded, GameSpec, GameStarted, Level, Project, Splice, Written,
        },
        desc::{Confirmation, Effects, Mode, SessionKind, Work},
        outcome::{Answer, Fact, Target, ToolResult},
        project_path::{ProjectPath, ProjectRoot},
        records::{self, Record, Rule},
        refusal::{Code, Refusal, codes},
        schema::AnyValue,
        tool::{Resource, Tool, ToolPack},
    };
    pub use schemars::JsonSchema;
    pub use serde::{Deserialize, Serialize};
    pub use serde_json::{Value, json};
}
