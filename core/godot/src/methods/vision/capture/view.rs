//! The views of an editor and the one of a game.

mod linear;

use didi_wire::{BridgeError, SessionKind};
use godot::{
    classes::{DisplayServer, EditorInterface, Image, RenderingServer, Viewport, image::Format},
    prelude::*,
};

use crate::{node_path, refuse};

/// Smallest side of a view that shows something; a hidden one has two pixels.
const MIN_SIDE: i32 = 8;

/// The view that a name means.
///
/// # Errors
/// `not_found` (404) for another name.
pub(in crate::methods::vision) fn find(
    kind: SessionKind,
    name: Option<&str>,
) -> Result<(Gd<Viewport>, String), BridgeError> {
    if kind == SessionKind::Game {
        return match name {
            None | Some("active_editor_view") => {
                Ok((node_path::window()?.upcast(), "game".to_owned()))
            }
            Some(_) => {
                Err(refuse::invalid("camera_identifier", "a game has one view, which has no name"))
            }
        };
    }
    let editor = EditorInterface::singleton();
    let flat = || editor.get_editor_viewport_2d().map(Gd::upcast::<Viewport>);
    let deep = || editor.get_editor_viewport_3d().map(Gd::upcast::<Viewport>);
    let found = match name.unwrap_or("active_editor_view") {
        "active_editor_view" => match (flat(), deep()) {
            (Some(flat), _) if shows(&flat) => Some((flat, "editor_2d")),
            (_, Some(deep)) => Some((deep, "editor_3d")),
            _ => None,
        },
        "editor_3d" | "active_editor_view_3d" | "3d" => deep().map(|view| (view, "editor_3d")),
        "editor_2d" | "active_editor_view_2d" | "2d" | "canvas_item" => {
            flat().map(|view| (view, "editor_2d"))
        }
        other => {
            let message = format!("`{other}` is no view of the editor");
            return Err(
                BridgeError::new(404, "not_found", message).with("field", "camera_identifier")
            );
        }
    };
    found
        .map(|(view, name)| (view, name.to_owned()))
        .ok_or_else(|| refuse::engine("viewport_missing", "the editor has no such view"))
}

fn shows(viewport: &Gd<Viewport>) -> bool {
    let size = viewport.get_visible_rect().size;
    #[allow(clippy::cast_precision_loss, reason = "a small number")]
    let least = MIN_SIDE as f32;
    size.x >= least && size.y >= least
}

/// Has everything drawn where the engine's own loop draws nothing: its window is minimised, or the game has switched the
/// loop off. A picture would be an old one otherwise. Once a frame.
pub(in crate::methods::vision) fn draw_if_nothing_does() {
    let mut server = RenderingServer::singleton();
    if !server.is_render_loop_enabled() || !DisplayServer::singleton().window_can_draw() {
        server.force_draw_ex().swap_buffers(false).done();
    }
}

/// Its picture, in bytes of four channels, as a screen shows it.
///
/// # Errors
/// `not_found` (404) while the view is hidden.
pub(in crate::methods::vision) fn take(
    viewport: &Gd<Viewport>,
    name: &str,
) -> Result<Gd<Image>, BridgeError> {
    if !shows(viewport) {
        let message = format!("the view `{name}` is hidden");
        return Err(BridgeError::new(404, "not_found", message).with("field", "camera_identifier"));
    }
    let image = viewport.get_texture().and_then(|texture| texture.get_image());
    let mut image = image.filter(|image| !image.is_empty()).ok_or_else(not_read)?;
    if viewport.is_using_hdr_2d() {
        return linear::as_shown(image).ok_or_else(not_read);
    }
    image.convert(Format::RGBA8);
    Ok(image)
}

fn not_read() -> BridgeError {
    refuse::engine("viewport_not_read", "the engine gave no picture of the view")
}
