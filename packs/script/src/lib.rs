//! Scripts: symbols, creation, checks: the pack's table of contents.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

mod attach_to_node;
mod check;
mod check_syntax;
mod create;
mod csharp_build;
mod detach_from_node;
mod get_symbols;
mod patch_method;
mod reflect_class;
mod schemas;
mod scripts;
mod shader_check;
mod source;
mod syntax;
mod uniforms;

/// The pack.
pub struct ScriptPack;

impl ToolPack for ScriptPack {
    fn open() -> Result<Self, String> {
        Ok(ScriptPack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![
            create::tool(),
            get_symbols::tool(),
            check_syntax::tool(),
            patch_method::tool(),
            reflect_class::tool(),
            shader_check::tool(),
            csharp_build::tool(),
            attach_to_node::tool(),
            detach_from_node::tool(),
            uniforms::list::tool(),
            uniforms::set::tool(),
            uniforms::get_graph::tool(),
        ]
    }
}

didi_plugin_api::export_pack!(ScriptPack);
