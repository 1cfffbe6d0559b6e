//! Reads and edits Godot's text files without losing a byte: scenes, resources and settings.
//!
//! Bytes in, values out. This crate opens no file and knows neither MCP nor the project around a
//! file; resolving a `res://` path or a uid is left to its callers.
//!
//! * [`document`]: the lossless model, a file as spans that tile it.
//! * [`scene`]: a `.tscn` or `.tres` as resources, nodes, connections and findings.
//! * [`config`]: `project.godot`, `export_presets.cfg`, `.import` and `plugin.cfg`.
//! * [`variant`]: the typed view of one value, parsed on demand.
//! * [`edit`]: changes of a file as byte splices that leave everything else alone.
//! * [`resource`] and [`uid`]: what an index needs of a file, cheaply.
//!
//! The rules are those of the engine's own text parser, observed on 4.6.3. Where the engine refuses a
//! file, this crate gives an error with its line and column, or a finding that says so.
#![deny(missing_docs)]

pub mod config;
pub mod document;
pub mod edit;
mod error;
mod lexer;
pub mod limits;
pub mod resource;
pub mod scene;
mod text;
pub mod uid;
pub mod variant;

pub use error::FormatError;
