//! `editor_render_ghost_preview` and `editor_clear_ghost_previews`: wireframe boxes over the editor's view.
//!
//! They show where something would be. No node of the scene is made or changed.
//!
//! Spec: P-55, pictures.

use didi_plugin_api::{prelude::*, records::Kind};

use crate::EDITOR;

const RENDER: &str = "preview.renderGhost";
const CLEAR: &str = "preview.clearGhosts";

/// Farthest place, and largest size.
const FAR: f64 = 1_000_000.0;

/// What boxes may stand for.
const KINDS: [&str; 3] = ["addition", "translation", "deletion"];

/// More boxes than are shown at once.
const BUDGET_EXCEEDED: Code = Code::new(409, "ghost_budget_exceeded");

/// What a box holds.
const GHOST: &[Kind] = &[(
    "",
    &[
        ("position", Rule::Place(FAR), true),
        ("size", Rule::Size(FAR), true),
        ("rotation_degrees", Rule::Point3(360_000.0), false),
        ("kind", Rule::Text(16), false),
        ("color", Rule::Color, false),
        ("label", Rule::Text(256), false),
    ],
)];

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Render {
    /// `{position, size, rotation_degrees, kind: addition|translation|deletion, color, label}`; all 2D or all 3D.
    #[schemars(length(min = 1, max = 64))]
    previews: Vec<Record>,
    #[serde(default = "didi_plugin_api::schema::yes")]
    replace: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Clear {
    /// All without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    preview_id: Option<String>,
}

pub(crate) fn render() -> Tool {
    Tool::of_engine::<Render>(
        "editor_render_ghost_preview",
        "Draws wireframe boxes over the editor's view; the scene is not touched.",
        Effects::READS,
        EDITOR,
        RENDER,
    )
    .checked(check)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NO_EDITED_SCENE,
        BUDGET_EXCEEDED,
    ])
}

pub(crate) fn clear() -> Tool {
    Tool::of_engine::<Clear>(
        "editor_clear_ghost_previews",
        "Removes one or all of the wireframe previews.",
        Effects::READS,
        EDITOR,
        CLEAR,
    )
    .refuses(&[codes::INVALID_ARGUMENTS, codes::NOT_CONNECTED, codes::NOT_FOUND])
}

fn check(args: &Render) -> Result<(), Refusal> {
    records::check("previews", "", GHOST, &args.previews)?;
    let is_deep = |ghost: &Record, name: &str| ghost.0[name].get("z").is_some();
    let deep = args.previews.first().is_some_and(|ghost| is_deep(ghost, "position"));
    for (place, ghost) in args.previews.iter().enumerate() {
        let kind = ghost.0.get("kind").and_then(Value::as_str);
        let fault = if kind.is_some_and(|kind| !KINDS.contains(&kind)) {
            "`kind` is `addition`, `translation` or `deletion`"
        } else if is_deep(ghost, "position") != deep || is_deep(ghost, "size") != deep {
            "`position` and `size` of all have one dimension"
        } else if !deep && ghost.0.contains_key("rotation_degrees") {
            "a flat box is not turned"
        } else {
            continue;
        };
        return Err(Refusal::invalid("previews", format!("`previews[{place}]`: {fault}")));
    }
    Ok(())
}
