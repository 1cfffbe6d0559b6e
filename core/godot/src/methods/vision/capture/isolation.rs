//! One branch alone in a picture: what else the scene draws is left out of a few frames.
//!
//! The rendering server is told, and no node: no property of the scene changes, so nothing could be saved by
//! accident, and nothing has to be undone. Lights and cameras stay, or the branch would not be seen as it is.

use didi_wire::BridgeError;
use godot::{
    classes::{CanvasItem, GeometryInstance3D, RenderingServer, Viewport},
    prelude::*,
};

use crate::node_path;

/// What was left out of the pictures, until it is put back.
pub(super) struct Isolation {
    hidden: Vec<Gd<CanvasItem>>,
    /// Ancestors, which can't be hidden without the branch: their own drawing is made invisible.
    blanked: Vec<Gd<CanvasItem>>,
    bodies: Vec<Gd<GeometryInstance3D>>,
    /// The view that was made transparent.
    view: Option<Gd<Viewport>>,
}

impl Isolation {
    /// Leaves everything out but the branch of a node; and the view's background, too, if that is asked for.
    ///
    /// # Errors
    /// As [`node_path::edited`].
    pub(super) fn of(
        path: &str,
        mut view: Gd<Viewport>,
        transparent: bool,
    ) -> Result<Self, BridgeError> {
        let branch = node_path::edited(path)?;
        let clears = transparent && !view.has_transparent_background();
        if clears {
            view.set_transparent_background(true);
        }
        let view = clears.then_some(view);
        let mut isolation = Isolation { hidden: vec![], blanked: vec![], bodies: vec![], view };
        isolation.leave_out(node_path::edited_root()?, &branch);
        Ok(isolation)
    }

    fn leave_out(&mut self, root: Gd<Node>, branch: &Gd<Node>) {
        let mut server = RenderingServer::singleton();
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if node == *branch {
                continue;
            }
            open.extend(node.get_children().iter_shared());
            let holds_it = node.is_ancestor_of(branch);
            let node = match node.try_cast::<CanvasItem>() {
                Ok(item) if holds_it => {
                    server.canvas_item_set_self_modulate(item.get_canvas_item(), CLEAR);
                    self.blanked.push(item);
                    continue;
                }
                Ok(item) => {
                    server.canvas_item_set_visible(item.get_canvas_item(), false);
                    self.hidden.push(item);
                    continue;
                }
                Err(node) => node,
            };
            if let Ok(body) = node.try_cast::<GeometryInstance3D>() {
                server.instance_set_visible(body.get_instance(), false);
                self.bodies.push(body);
            }
        }
    }
}

const CLEAR: Color = Color::from_rgba(0.0, 0.0, 0.0, 0.0);

impl Drop for Isolation {
    /// Shows everything as the nodes say, whether a picture was taken or its caller stopped waiting.
    fn drop(&mut self) {
        let mut server = RenderingServer::singleton();
        for item in self.hidden.drain(..).filter(Gd::is_instance_valid) {
            server.canvas_item_set_visible(item.get_canvas_item(), item.is_visible());
        }
        for item in self.blanked.drain(..).filter(Gd::is_instance_valid) {
            server.canvas_item_set_self_modulate(item.get_canvas_item(), item.get_self_modulate());
        }
        for body in self.bodies.drain(..).filter(Gd::is_instance_valid) {
            server.instance_set_visible(body.get_instance(), body.is_visible_in_tree());
        }
        if let Some(mut view) = self.view.take().filter(Gd::is_instance_valid) {
            view.set_transparent_background(false);
        }
    }
}
