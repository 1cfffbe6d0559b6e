//! The classes of instanced scenes: an instance's own file says only which scene it is.
//!
//! Spec: P-52, scenes.

use std::collections::BTreeMap;

use didi_formats::scene::Scene;
use didi_plugin_api::prelude::*;

/// Scenes opened for one answer, and their bytes in all.
const MAX_FILES: usize = 256;
const MAX_TOTAL_BYTES: u64 = 32 << 20;
/// Scenes that inherit from one another.
const MAX_STEPS: usize = 16;

/// Classes of roots by the path of their scene, as far as the files tell.
pub(super) struct Instances<'c, 'h> {
    ctx: &'c Ctx<'h>,
    known: BTreeMap<String, Option<String>>,
    bytes_left: u64,
}

impl<'c, 'h> Instances<'c, 'h> {
    pub(super) fn new(ctx: &'c Ctx<'h>) -> Self {
        Instances { ctx, known: BTreeMap::new(), bytes_left: MAX_TOTAL_BYTES }
    }

    /// The class of a scene's root.
    pub(super) fn class_of(&mut self, path: &str) -> Option<String> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let found = self.follow(path);
        self.known.insert(path.to_owned(), found.clone());
        found
    }

    /// The class where the chain of base scenes ends. A chain that leads back to itself has none.
    fn follow(&mut self, path: &str) -> Option<String> {
        let mut path = path.to_owned();
        for _ in 0..MAX_STEPS {
            if self.known.len() >= MAX_FILES {
                return None;
            }
            let place = self.ctx.project().root().resolve(&path).ok()?;
            if place.extension() != "tscn" {
                return None;
            }
            let bytes = place.read(self.bytes_left).ok()?;
            self.bytes_left -= bytes.len() as u64;
            let scene = Scene::parse(&bytes).ok()?;
            let root = scene.root()?;
            if let Some(class) = &scene.nodes()[root].type_name {
                return Some(class.clone().into_owned());
            }
            scene.inherits()?.clone_into(&mut path);
        }
        None
    }
}
