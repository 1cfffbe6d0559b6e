//! Which scenes of a project use which, by instancing or inheriting.
//!
//! Only headers of external resources are looked at; a scene is taken apart later, when it turns out to use
//! the renamed node's scene.
//!
//! Spec: P-52, scenes.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use didi_formats::{resource, scene::ExtResource, uid};
use didi_plugin_api::prelude::*;

use crate::walk;

/// Largest scene read, in bytes.
pub(super) const MAX_SCENE_BYTES: u64 = 64 << 20;

/// A used file as it is named: by path, by uid, or both.
type Named = (Option<String>, Option<u64>);

/// Scenes of the project by their `res://` path, with the scenes that each uses.
pub(super) struct Graph {
    uses: BTreeMap<String, BTreeSet<String>>,
    by_uid: BTreeMap<u64, String>,
}

/// The number of a uid that a reference gives, beside its path or in place of it.
fn uid_of(path: &str, uid: Option<&str>) -> Option<u64> {
    uid.and_then(uid::number).or_else(|| uid::number(path))
}

impl Graph {
    /// `known` is a scene that was read already, by its `res://` path.
    pub(super) fn of(ctx: &Ctx<'_>, known: (&str, &[u8])) -> Result<Self, Refusal> {
        let mut by_uid = BTreeMap::new();
        let mut named: BTreeMap<String, Vec<Named>> = BTreeMap::new();
        for file in walk::files(ctx, "tscn")? {
            ctx.check()?;
            let place = ctx.project().resolve(&file.path, "in_scene")?;
            let path = place.res_path();
            let bytes = if path == known.0 {
                Cow::Borrowed(known.1)
            } else {
                ctx.project().read(&place, MAX_SCENE_BYTES)?.into()
            };
            let own = resource::read_header(&bytes)
                .ok()
                .and_then(|header| uid::number(header.uid.as_deref()?));
            by_uid.extend(own.map(|own| (own, path.clone())));
            let used = resource::dependencies(&bytes).into_iter().map(|used| {
                (
                    Some(used.path.to_string()).filter(|path| !path.is_empty()),
                    uid_of(&used.path, used.uid.as_deref()),
                )
            });
            named.insert(path, used.collect());
        }
        let resolve = |(path, uid): Named| uid.and_then(|uid| by_uid.get(&uid).cloned()).or(path);
        let uses = named
            .into_iter()
            .map(|(scene, used)| (scene, used.into_iter().filter_map(resolve).collect()))
            .collect();
        Ok(Graph { uses, by_uid })
    }

    /// The scene that a reference leads to. As in the engine, a uid that is known counts before the path.
    pub(super) fn scene_of<'r>(&'r self, reference: &'r ExtResource<'_>) -> &'r str {
        let known = uid_of(&reference.path, reference.uid.as_deref());
        let known = known.and_then(|number| self.by_uid.get(&number));
        known.map_or(&*reference.path, String::as_str)
    }

    /// A scene and all that use it, directly or not, each after the scenes that it uses.
    pub(super) fn affected(&self, scene: &str) -> Vec<String> {
        let mut found = BTreeSet::from([scene.to_owned()]);
        let mut order = vec![scene.to_owned()];
        loop {
            // A scene joins when every affected scene that it uses has joined; a ring joins at the end.
            let waiting = self
                .uses
                .iter()
                .filter(|(path, used)| !found.contains(*path) && !used.is_disjoint(&found));
            let next: Vec<String> = waiting.map(|(path, _)| path.clone()).collect();
            if next.is_empty() {
                break;
            }
            found.extend(next.iter().cloned());
            order.extend(next);
        }
        self.sorted(order)
    }

    /// Stable order in which a scene comes after the affected scenes that it uses.
    fn sorted(&self, found: Vec<String>) -> Vec<String> {
        let all: BTreeSet<String> = found.iter().cloned().collect();
        let mut done = BTreeSet::new();
        let mut order = vec![];
        let mut left = found;
        while !left.is_empty() {
            let ready = |path: &String| {
                self.uses.get(path).is_none_or(|used| {
                    used.iter()
                        .all(|used| used == path || !all.contains(used) || done.contains(used))
                })
            };
            let (mut next, mut rest): (Vec<_>, Vec<_>) = left.into_iter().partition(ready);
            if next.is_empty() {
                // A ring of scenes can't be ordered; the engine does not load it either.
                std::mem::swap(&mut next, &mut rest);
            }
            left = rest;
            done.extend(next.iter().cloned());
            order.extend(next);
        }
        order
    }
}
