//! `preview.renderGhost`: draws boxes over the editor's view of the plane or of the space.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Batch, MAX_SHAPES, SHOWN, clear, draw, live_shapes};
use crate::{
    json,
    methods::{Context, physics::Point},
    node_path,
    params::{self, Params},
    refuse,
};

/// Most boxes of one call, and the longest label in bytes.
const MAX_PREVIEWS: usize = 64;
const MAX_LABEL: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    previews: Vec<Ghost>,
    #[serde(default = "params::yes")]
    replace: bool,
}

/// One box.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ghost {
    /// Its middle.
    pub(super) position: Point,
    pub(super) size: Point,
    pub(super) rotation_degrees: Option<Point>,
    #[serde(default)]
    kind: Kind,
    color: Option<Tint>,
    label: Option<String>,
}

/// What a box stands for.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Addition,
    Translation,
    Deletion,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct Tint {
    r: f32,
    g: f32,
    b: f32,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Addition => "addition",
            Kind::Translation => "translation",
            Kind::Deletion => "deletion",
        }
    }

    fn color(self) -> Color {
        match self {
            Kind::Addition => Color::from_rgb(0.2, 0.9, 0.3),
            Kind::Translation => Color::from_rgb(0.3, 0.6, 1.0),
            Kind::Deletion => Color::from_rgb(1.0, 0.25, 0.25),
        }
    }
}

impl Ghost {
    pub(super) fn color(&self) -> Color {
        self.color.map_or(self.kind.color(), |tint| Color::from_rgb(tint.r, tint.g, tint.b))
    }

    fn told(&self, index: usize) -> Value {
        json!({
            "index": index,
            "kind": self.kind.word(),
            "label": self.label,
            "color": json::write(&self.color().to_variant()).unwrap_or_default(),
            "color_defaulted": self.color.is_none(),
        })
    }
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    check(&args)?;
    let root = node_path::edited_root()?;
    let deep = args.previews[0].position.dimension() == 3;
    if !args.replace {
        check_room(args.previews.len())?;
    }
    let place = if deep { draw::scenario()? } else { draw::canvas(&root)? };
    let (cleared_previews, cleared_shapes) = if args.replace { clear(None) } else { (0, 0) };
    let (held, material) = if deep {
        let (held, material) = draw::deep(&args.previews, place);
        (held, Some(material))
    } else {
        (draw::flat(&args.previews, place), None)
    };
    let shapes = args.previews.len();
    let id = SHOWN.with_borrow_mut(|shown| {
        shown.made += 1;
        let id = format!("ghost_{}", shown.made);
        shown.batches.push(Batch { id: id.clone(), shapes, held, _material: material });
        id
    });
    let told: Vec<Value> =
        args.previews.iter().enumerate().map(|(index, ghost)| ghost.told(index)).collect();
    Ok(json!({
        "preview_id": id,
        "dimension": if deep { 3 } else { 2 },
        "drawn": shapes,
        "replaced_shapes": cleared_shapes,
        "cleared_previews": cleared_previews,
        "previews": told,
        "live_shapes": live_shapes(),
        "scene_modified": false,
    }))
}

fn check(args: &Args) -> Result<(), BridgeError> {
    if !(1..=MAX_PREVIEWS).contains(&args.previews.len()) {
        return Err(refuse::invalid("previews", format!("1 to {MAX_PREVIEWS} boxes are taken")));
    }
    let dimension = args.previews[0].position.dimension();
    for (index, ghost) in args.previews.iter().enumerate() {
        let deep = ghost.size.deep();
        let sized = deep.x > 0.0 && deep.y > 0.0 && (dimension == 2 || deep.z > 0.0);
        let one = ghost.position.dimension() == dimension && ghost.size.dimension() == dimension;
        let sound = ghost.position.is_sound() && ghost.size.is_sound();
        let turned =
            ghost.rotation_degrees.is_none_or(|turn| turn.dimension() == 3 && dimension == 3);
        let labelled = ghost.label.as_ref().is_none_or(|label| label.len() <= MAX_LABEL);
        if !(sized && one && sound && turned && labelled) {
            let message = format!(
                "box {index}: a middle and a size above 0 of one dimension are taken, a turn in a space \
                 alone, and a label of at most {MAX_LABEL} bytes"
            );
            return Err(refuse::invalid("previews", message).with("index", index));
        }
    }
    Ok(())
}

fn check_room(more: usize) -> Result<(), BridgeError> {
    let live = live_shapes();
    if live + more <= MAX_SHAPES {
        return Ok(());
    }
    let message = format!("{live} boxes are shown, and {more} more are over {MAX_SHAPES}");
    let error = refuse::conflict("ghost_budget_exceeded", message)
        .with("live_shapes", live)
        .with("previews_were_replaced", false);
    Err(refuse::next_call(error, "editor_clear_ghost_previews", json!({}), "makes room for more"))
}
