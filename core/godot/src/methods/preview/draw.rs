//! Boxes as lines of the rendering server.

use didi_wire::BridgeError;
use godot::{
    classes::{
        EditorInterface, RenderingServer, StandardMaterial3D,
        base_material_3d::{Flags, ShadingMode},
        rendering_server::PrimitiveType,
    },
    prelude::*,
};

use super::render_ghost::Ghost;
use crate::{methods::physics::Point, refuse};

/// How wide the lines of a plane are, in its own units.
const WIDTH: f32 = 2.0;

/// In front of everything that a scene draws.
const FRONT: i32 = 4096;

/// How many lists a surface is made of, and which of them hold its points and their colours.
const LISTS: usize = 13;
const POINTS: usize = 0;
const COLORS: usize = 3;

/// Pairs of the corners of a box that an edge joins; a corner's bits say on which side it is.
const EDGES: [(usize, usize); 12] = [
    (0, 1),
    (2, 3),
    (4, 5),
    (6, 7),
    (0, 2),
    (1, 3),
    (4, 6),
    (5, 7),
    (0, 4),
    (1, 5),
    (2, 6),
    (3, 7),
];

/// What the editor's view of the space shows.
pub(super) fn scenario() -> Result<Rid, BridgeError> {
    let view = EditorInterface::singleton().get_editor_viewport_3d();
    let world = view.and_then(|view| view.find_world_3d());
    world.map(|world| world.get_scenario()).ok_or_else(no_view)
}

/// What the edited scene is drawn on.
pub(super) fn canvas(root: &Gd<Node>) -> Result<Rid, BridgeError> {
    let world = root.get_viewport().and_then(|view| view.find_world_2d());
    world.map(|world| world.get_canvas()).ok_or_else(no_view)
}

fn no_view() -> BridgeError {
    refuse::engine("viewport_missing", "the editor has no such view")
}

/// Rectangles on a canvas.
pub(super) fn flat(ghosts: &[Ghost], canvas: Rid) -> Vec<Rid> {
    let mut server = RenderingServer::singleton();
    let mut held = vec![];
    for ghost in ghosts {
        let item = server.canvas_item_create();
        server.canvas_item_set_parent(item, canvas);
        server.canvas_item_set_z_index(item, FRONT);
        let half = ghost.size.flat() / 2.0;
        let corner = |x: f32, y: f32| ghost.position.flat() + Vector2::new(half.x * x, half.y * y);
        let around = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        for at in 0..around.len() {
            let (from, to) = (around[at], around[(at + 1) % around.len()]);
            server.canvas_item_add_line_ex(item, from, to, ghost.color()).width(WIDTH).done();
        }
        held.push(item);
    }
    held
}

/// Boxes in a space, and the material that they need for as long as they are shown.
pub(super) fn deep(ghosts: &[Ghost], scenario: Rid) -> (Vec<Rid>, Gd<StandardMaterial3D>) {
    let mut material = StandardMaterial3D::new_gd();
    material.set_shading_mode(ShadingMode::UNSHADED);
    material.set_flag(Flags::ALBEDO_FROM_VERTEX_COLOR, true);
    let mut server = RenderingServer::singleton();
    let mut held = vec![];
    for ghost in ghosts {
        let mesh = server.mesh_create();
        server.mesh_add_surface_from_arrays(mesh, PrimitiveType::LINES, &lines(ghost));
        server.mesh_surface_set_material(mesh, 0, material.get_rid());
        let body = server.instance_create2(mesh, scenario);
        server.instance_set_transform(body, transform(ghost));
        held.extend([body, mesh]);
    }
    (held, material)
}

fn transform(ghost: &Ghost) -> Transform3D {
    let turn = ghost.rotation_degrees.map_or(Vector3::ZERO, Point::deep);
    let radians = Vector3::new(turn.x.to_radians(), turn.y.to_radians(), turn.z.to_radians());
    Transform3D::new(Basis::from_euler(EulerOrder::YXZ, radians), ghost.position.deep())
}

fn lines(ghost: &Ghost) -> VarArray {
    let half = ghost.size.deep() / 2.0;
    let side = |corner: usize, axis: usize| if corner >> axis & 1 == 1 { 1.0 } else { -1.0 };
    let corner =
        |corner: usize| half * Vector3::new(side(corner, 0), side(corner, 1), side(corner, 2));
    let points: PackedVector3Array =
        EDGES.iter().flat_map(|(from, to)| [corner(*from), corner(*to)]).collect();
    let colors: PackedColorArray = points.as_slice().iter().map(|_| ghost.color()).collect();
    let mut lists = VarArray::new();
    for list in 0..LISTS {
        lists.push(&match list {
            POINTS => points.to_variant(),
            COLORS => colors.to_variant(),
            _ => Variant::nil(),
        });
    }
    lists
}
