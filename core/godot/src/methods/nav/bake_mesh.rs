//! `nav.bakeMesh`: bakes the navigation mesh of a region of the open scene, as one step of undo.
//!
//! The scene's geometry is read on the main thread, as the engine wants it. The baking itself is the engine's own, on its
//! threads, and of a copy; only a mesh that came out of it replaces the one that is there.
//!
//! The engine loses a change of a region that comes while it still works on the change before: no later tick looks for
//! it. So the region is told of its mesh once more when it has taken something in.

use std::time::{Duration, Instant};

use didi_engine::{Answer, Task};
use didi_wire::{BridgeError, SessionKind};
use godot::{
    classes::{ClassDb, Engine, Resource},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    change::{Change, Planned},
    edit::{
        self, Edit, group,
        history::{self, Histories},
        owned,
    },
    methods::{Begun, Context},
    node_path,
    params::{self, Params},
    property, refuse,
};

/// How long the region is waited for. It takes a tick or two, and more where the engine's threads are busy.
const TAKE_IN_LIMIT: Duration = Duration::from_secs(2);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    nav_node_path: String,
}

/// How the two kinds of region name their parts.
struct Kind {
    class: &'static str,
    mesh: &'static str,
    server: &'static str,
    geometry: &'static str,
    is_baking: &'static str,
}

const KINDS: [Kind; 2] = [
    Kind {
        class: "NavigationRegion3D",
        mesh: "navigation_mesh",
        server: "NavigationServer3D",
        geometry: "NavigationMeshSourceGeometryData3D",
        is_baking: "is_baking_navigation_mesh",
    },
    Kind {
        class: "NavigationRegion2D",
        mesh: "navigation_polygon",
        server: "NavigationServer2D",
        geometry: "NavigationMeshSourceGeometryData2D",
        is_baking: "is_baking_navigation_polygon",
    },
];

/// A region with its mesh.
struct Region {
    kind: &'static Kind,
    root: Gd<Node>,
    node: Gd<Node>,
    mesh: Gd<Resource>,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let region = Region::find(&args.nav_node_path)?;
    let before = region.facts();
    Ok(Change::later(before, move |_| begin(region)))
}

impl Region {
    fn find(path: &str) -> Result<Self, BridgeError> {
        let (root, node) = owned::find(path)?;
        let Some(kind) = KINDS.iter().find(|kind| node.is_class(kind.class)) else {
            let message = format!("`{path}` is no NavigationRegion2D and no NavigationRegion3D");
            return Err(BridgeError::new(422, "navigation_target_wrong_type", message)
                .with("field", "nav_node_path")
                .with("actual_class", node.get_class().to_string()));
        };
        let Ok(mesh) = node.get(kind.mesh).try_to::<Gd<Resource>>() else {
            let message = format!("`{path}` has no `{}`, which says how it is baked", kind.mesh);
            return Err(refuse::conflict("navigation_mesh_missing", message)
                .with("field", "nav_node_path")
                .with("property", kind.mesh));
        };
        check_home(&mesh)?;
        property::check_saved_here(Some(&mesh), &root.get_scene_file_path().to_string())?;
        Ok(Region { kind, root, node, mesh })
    }

    fn facts(&self) -> Value {
        let (vertices, polygons) = counts(&self.mesh);
        json!({
            "nav_node_path": node_path::in_scene(&self.root, &self.node),
            "type": self.kind.class,
            "vertices": vertices,
            "polygons": polygons,
        })
    }

    /// Whether the scene is still open and the region still has its mesh.
    fn is_as_it_was(&self) -> bool {
        self.node.is_instance_valid()
            && self.root.is_instance_valid()
            && node_path::edited_root().is_ok_and(|root| root == self.root)
            && self
                .node
                .get(self.kind.mesh)
                .try_to::<Gd<Resource>>()
                .is_ok_and(|now| now == self.mesh)
    }
}

/// Refuses a mesh with a file of its own, which the open scene does not save.
fn check_home(mesh: &Gd<Resource>) -> Result<(), BridgeError> {
    let file = mesh.get_path().to_string();
    if file.is_empty() || file.contains("::") {
        return Ok(());
    }
    let message = "the region's mesh is kept in a file that the open scene does not save";
    Err(refuse::conflict("subresource_not_saved", message).with("resource_file", file))
}

fn counts(mesh: &Gd<Resource>) -> (i64, i64) {
    let size = |property: &str| {
        let held = mesh.get(property);
        held.call("size", &[]).try_to::<i64>().unwrap_or(0)
    };
    (size("vertices"), size("polygons"))
}

fn begin(region: Region) -> Begun {
    let missing = || refuse::engine("navigation_unavailable", "the engine has no navigation");
    let mut server = Engine::singleton().get_singleton(region.kind.server).ok_or_else(missing)?;
    let geometry = ClassDb::singleton().instantiate(region.kind.geometry);
    let copy = region.mesh.duplicate_resource();
    let (mesh, data) = (copy.to_variant(), geometry.clone());
    server.call(
        "parse_source_geometry_data",
        &[mesh.clone(), data.clone(), region.node.to_variant()],
    );
    server.call("bake_from_source_geometry_data_async", &[mesh, data]);
    let group = group::current();
    Ok(Box::new(Baking { region, server, copy, group, put_in: None, _geometry: geometry }))
}

/// A mesh that is being baked.
struct Baking {
    region: Region,
    server: Gd<Object>,
    copy: Gd<Resource>,
    /// The group of its call, which has ended by the frame in which the mesh is there.
    group: Option<String>,
    put_in: Option<PutIn>,
    /// Read by the engine's threads until they are done.
    _geometry: Variant,
}

/// A mesh that is in, and that its region may not have taken in yet.
struct PutIn {
    answer: Value,
    /// What the region had taken in before.
    iteration: i64,
    end: Instant,
}

impl Task for Baking {
    fn poll(&mut self) -> Option<Answer> {
        let iteration = self.iteration();
        if let Some(put_in) = &self.put_in {
            let waits = iteration == Some(put_in.iteration);
            if waits && Instant::now() < put_in.end {
                return None;
            }
            self.region.mesh.emit_changed();
            let mut answer = self.put_in.take()?.answer;
            // The mesh holds what was baked in any case.
            answer["region_updated"] = (iteration.is_some() && !waits).into();
            return Some(Ok(answer));
        }
        let busy = self.server.call(self.region.kind.is_baking, &[self.copy.to_variant()]);
        if busy.try_to::<bool>().unwrap_or(false) {
            return None;
        }
        let answer = match group::run(self.group.as_ref(), || self.take_over()) {
            Ok(answer) => answer,
            refused => return Some(refused),
        };
        let Some(iteration) = iteration else { return Some(Ok(answer)) };
        self.put_in = Some(PutIn { answer, iteration, end: Instant::now() + TAKE_IN_LIMIT });
        None
    }
}

impl Baking {
    /// How often the region has taken something in; nothing once the region is gone.
    fn iteration(&mut self) -> Option<i64> {
        let Region { node, .. } = &mut self.region;
        let region = node.is_instance_valid().then(|| node.call("get_rid", &[]))?;
        self.server.call("region_get_iteration_id", &[region]).try_to().ok()
    }

    /// Puts what was baked into the region's mesh.
    fn take_over(&self) -> Answer {
        if !self.region.is_as_it_was() {
            let message = "the region or its scene changed while it was baked; nothing was changed";
            return Err(refuse::conflict("edited_scene_changed", message).with("retry_after_ms", 0));
        }
        let (vertices, polygons) = counts(&self.copy);
        if polygons == 0 {
            let message = "nothing to walk on came out; the mesh stays as it was";
            return Err(BridgeError::new(422, "navigation_bake_empty", message)
                .with("field", "nav_node_path"));
        }
        let before = Histories::read(SessionKind::Editor);
        let facts = self.region.facts();
        self.commit()?;
        let held = counts(&self.region.mesh);
        if held != (vertices, polygons) {
            let message = format!("the mesh holds {held:?} vertices and polygons after the bake");
            return Err(refuse::engine("navigation_bake_not_held", message));
        }
        let mut answer = Ok(edit::done(json!({
            "nav_node_path": facts["nav_node_path"],
            "type": self.region.kind.class,
            "vertices": vertices,
            "polygons": polygons,
            "previous": {"vertices": facts["vertices"], "polygons": facts["polygons"]},
        })));
        history::tell(&mut answer, before.as_ref());
        answer
    }

    fn commit(&self) -> Result<(), BridgeError> {
        let Region { root, node, mesh, .. } = &self.region;
        let object: Gd<Object> = mesh.clone().upcast();
        let mut action = Edit::begin(&format!("Bake {}", node.get_name()), root)?;
        // Whichever way the steps are gone through, the region is told after the last of them.
        let told = |action: &mut Edit| {
            action.does(&object, "emit_changed", &[]);
            action.undoes(&object, "emit_changed", &[]);
        };
        told(&mut action);
        for property in ["vertices", "polygons"] {
            action.sets(&object, property, &self.copy.get(property), &mesh.get(property));
        }
        told(&mut action);
        action.commit();
        Ok(())
    }
}
