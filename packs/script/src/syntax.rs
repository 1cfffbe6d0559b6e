//! `GDScript` text as a syntax tree, for tools: a cancelled call ends the reading.
//!
//! Spec: P-53, scripts.

use didi_gdscript::Tree;
use didi_plugin_api::prelude::*;

/// The syntax tree of a script.
///
/// # Errors
/// `cancelled` when the caller gave up meanwhile.
pub(crate) fn parse(ctx: &Ctx<'_>, text: &str) -> Result<Tree, Refusal> {
    let tree = didi_gdscript::parse(text, &|| ctx.cancelled());
    ctx.check()?;
    Ok(tree.expect("a parse that was not cancelled answers a tree"))
}
