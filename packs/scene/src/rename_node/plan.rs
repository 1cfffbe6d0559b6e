//! The plan of a renaming: every file with its places, worked out before anything is written.
//!
//! Spec: P-52, scenes.

use std::collections::BTreeMap;

use didi_formats::{
    edit,
    scene::{ExtResource, Lookup, Scene},
    uid,
};
use didi_plugin_api::{
    ctx::{Change, Expect, Splice},
    digest::{sha256_hex, sha256_hex_beside},
    prelude::*,
};

use super::{
    Args, KEPT_LETTERS, Place,
    graph::{Graph, MAX_SCENE_BYTES},
    paths::{Path, Renaming, joined, store, stored},
    refuse,
    scene::{Places, node_path, nodes_at},
    script,
};
use crate::walk;

/// Largest script read, in bytes.
const MAX_SCRIPT_BYTES: u64 = 4 << 20;

/// One file with its places.
#[derive(Serialize, Deserialize)]
pub(super) struct FilePlan {
    /// `res://` path.
    pub(super) path: String,
    /// Of the bytes that were planned from.
    pub(super) sha256: String,
    pub(super) places: Vec<Place>,
    splices: Vec<Splice>,
}

impl FilePlan {
    fn new(
        path: &ProjectPath,
        sha256: String,
        splices: &[edit::Splice],
        places: Vec<Place>,
    ) -> Self {
        let splices = splices.iter().map(|one| Splice::new(one.span.range(), one.text.as_str()));
        FilePlan { path: path.res_path(), sha256, places, splices: splices.collect() }
    }

    /// The change of a file that is still as it was planned from.
    pub(super) fn change(&self) -> Change {
        Change::Edit {
            path: self.path.clone(),
            splices: self.splices.clone(),
            expect: Expect::Sha256(self.sha256.clone()),
        }
    }
}

/// What is to be done.
#[derive(Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) scene: String,
    pub(super) node: String,
    pub(super) files: Vec<FilePlan>,
    /// Scripts with places that are not to be changed.
    pub(super) left: Vec<FilePlan>,
    pub(super) notes: Vec<String>,
}

/// Works the plan out; the same checks for a preview and for the change itself.
pub(super) fn make(ctx: &Ctx<'_>, args: &Args) -> Result<Plan, Refusal> {
    check_name(&args.new_name)?;
    let place = ctx.project().resolve(&args.in_scene, "in_scene")?;
    if place.extension() != "tscn" {
        let message = format!("`{}` is not a text scene, which ends in `.tscn`", place.res_path());
        return Err(refuse(codes::INVALID_ARGUMENTS, message, "in_scene"));
    }
    let bytes = ctx.project().read(&place, MAX_SCENE_BYTES)?;
    let (scene, sha256) = sha256_hex_beside(&bytes, || parse(&place, &bytes));
    let scene = scene?;
    let (target, path) = find(&scene, &args.target_node)?;
    let old = scene.nodes()[target].name.to_string();
    if old == args.new_name {
        return Ok(Plan {
            scene: place.res_path(),
            node: store(&path),
            files: vec![],
            left: vec![],
            notes: vec![],
        });
    }
    let unique = scene.nodes()[target]
        .property("unique_name_in_owner")
        .is_some_and(|raw| raw.text == "true");
    let mut planning = Planning {
        ctx,
        args,
        old,
        plan: Plan {
            scene: place.res_path(),
            node: store(&path),
            files: vec![],
            left: vec![],
            notes: vec![],
        },
        renamings: vec![],
        scripts: BTreeMap::new(),
    };
    let is_root = path.is_empty();
    let found = planning.scene(&scene, &place, vec![path], unique)?;
    drop(scene);
    planning.add(&place, || sha256, found);
    // A scene that uses this one gives its root a name of its own.
    if !is_root {
        planning.users(&bytes)?;
    }
    planning.all_scripts()?;
    Ok(planning.plan)
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let bad = |letter: char| letter.is_control() || KEPT_LETTERS.contains(&letter);
    if !name.chars().any(bad) && !name.trim().is_empty() {
        return Ok(());
    }
    let message = format!(
        "`{}` can't name a node: the engine replaces . : @ / \" % and control characters",
        name.escape_debug()
    );
    Err(refuse(codes::INVALID_ARGUMENTS, message, "new_name"))
}

fn is_gdscript(path: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|end| end.eq_ignore_ascii_case("gd"))
}

fn parse<'b>(place: &ProjectPath, bytes: &'b [u8]) -> Result<Scene<'b>, Refusal> {
    Scene::parse(bytes).map_err(|error| {
        Refusal::new(codes::UNPROCESSABLE, format!("`{}` can't be read: {error}", place.res_path()))
            .with("line", error.line)
            .with("column", error.column)
            .field("in_scene")
    })
}

/// The node by its path from the root, or by the path that the hierarchy gives: `/root/<Root>/...`.
fn find(scene: &Scene<'_>, text: &str) -> Result<(usize, Path), Refusal> {
    let mut path = stored(text);
    let root_name = scene.root().map(|root| scene.nodes()[root].name.to_string());
    if text.starts_with("/root/") && path.get(1) == root_name.as_ref() {
        path.drain(..2);
    }
    match nodes_at(scene, &path).as_slice() {
        [one] => Ok((*one, path)),
        [] => {
            let message = match scene.find(&store(&path)) {
                Lookup::Inside(_) => format!(
                    "`{text}` stands in a scene that this one uses; rename it in that scene"
                ),
                _ => format!("the scene has no node `{text}`"),
            };
            Err(Refusal::new(codes::NOT_FOUND, message)
                .with("field", "target_node")
                .next_call("scene_get_hierarchy", "shows the scene's node paths"))
        }
        several => {
            let lines: Vec<_> = several.iter().map(|index| scene.nodes()[*index].line).collect();
            let message = format!(
                "`{text}` names {} nodes, in lines {lines:?}; mend the scene first",
                several.len()
            );
            Err(refuse(codes::CONFLICT, message, "target_node"))
        }
    }
}

struct Planning<'c, 'h> {
    ctx: &'c Ctx<'h>,
    args: &'c Args,
    old: String,
    plan: Plan,
    /// What each affected scene sees of the node.
    renamings: Vec<(Vec<Path>, bool)>,
    /// Scripts by path, with the scene's number in `renamings` and the node that has each.
    scripts: BTreeMap<String, Vec<(usize, Path)>>,
}

impl Planning<'_, '_> {
    /// The scenes that use the node's own, which has these bytes, with the node's places in each.
    fn users(&mut self, own: &[u8]) -> Result<(), Refusal> {
        let first = self.plan.scene.clone();
        // The node's own scene is the first that was looked through.
        let mut places = BTreeMap::from([(first.clone(), self.renamings[0].clone())]);
        let graph = Graph::of(self.ctx, (&first, own))?;
        for path in graph.affected(&first).into_iter().filter(|path| *path != first) {
            self.ctx.check()?;
            let place = self.ctx.project().resolve(&path, "in_scene")?;
            let bytes = self.ctx.project().read(&place, MAX_SCENE_BYTES)?;
            let scene = parse(&place, &bytes)?;
            let (aliases, unique) = aliases(&scene, &graph, &places);
            if aliases.is_empty() {
                continue;
            }
            places.insert(path, (aliases.clone(), unique));
            let found = self.scene(&scene, &place, aliases, unique)?;
            drop(scene);
            self.add(&place, || sha256_hex(&bytes), found);
        }
        Ok(())
    }

    /// Looks through a scene that has the node at these places.
    fn scene(
        &mut self,
        scene: &Scene<'_>,
        place: &ProjectPath,
        aliases: Vec<Path>,
        unique: bool,
    ) -> Result<(Vec<edit::Splice>, Vec<Place>), Refusal> {
        self.refuse_clash(scene, place, &aliases)?;
        let renaming =
            Renaming { aliases: &aliases, unique, old: &self.old, new: &self.args.new_name };
        let own = place.res_path() == self.plan.scene;
        let found = Places::of(scene, &renaming, own);
        self.note_scripts(scene, aliases, unique)?;
        Ok(found)
    }

    fn add(
        &mut self,
        path: &ProjectPath,
        sha256: impl FnOnce() -> String,
        (splices, places): (Vec<edit::Splice>, Vec<Place>),
    ) {
        if !splices.is_empty() {
            self.plan.files.push(FilePlan::new(path, sha256(), &splices, places));
        }
    }

    fn refuse_clash(
        &self,
        scene: &Scene<'_>,
        path: &ProjectPath,
        aliases: &[Path],
    ) -> Result<(), Refusal> {
        for alias in aliases {
            let Some((_, parent)) = alias.split_last() else { continue };
            let wanted = joined(parent, std::slice::from_ref(&self.args.new_name));
            if let Some(taken) = nodes_at(scene, &wanted).first() {
                let message = format!(
                    "`{}` has a node `{}` already, in line {}",
                    path.res_path(),
                    store(&wanted),
                    scene.nodes()[*taken].line
                );
                return Err(refuse(codes::ALREADY_EXISTS, message, "new_name"));
            }
        }
        Ok(())
    }

    /// Remembers which nodes of the scene have a script, so that paths in it can be judged.
    fn note_scripts(
        &mut self,
        scene: &Scene<'_>,
        aliases: Vec<Path>,
        unique: bool,
    ) -> Result<(), Refusal> {
        let mut own = vec![];
        for (index, node) in scene.nodes().iter().enumerate() {
            let id = node.property("script").and_then(|raw| {
                let inner = raw.text.strip_prefix("ExtResource(")?.trim_end_matches(')');
                Some(inner.trim().trim_matches('"').to_owned())
            });
            let script = id.and_then(|id| scene.ext_resource(&id));
            let script = script.map(|found| script_of(self.ctx, found)).transpose()?;
            if let Some(script) = script.filter(|path| is_gdscript(path)) {
                own.push((script, node_path(scene, index)));
            }
        }
        let scene_number = self.renamings.len();
        self.renamings.push((aliases, unique));
        for (script, base) in own {
            self.scripts.entry(script).or_default().push((scene_number, base));
        }
        Ok(())
    }

    fn all_scripts(&mut self) -> Result<(), Refusal> {
        for (script, users) in std::mem::take(&mut self.scripts) {
            self.ctx.check()?;
            self.script(&script, &users)?;
        }
        Ok(())
    }

    fn script(&mut self, script: &str, users: &[(usize, Path)]) -> Result<(), Refusal> {
        let path = self.ctx.project().resolve(script, "in_scene")?;
        let Ok(bytes) = self.ctx.project().read(&path, MAX_SCRIPT_BYTES) else {
            self.plan
                .notes
                .push(format!("`{script}` can't be read, so paths in it were not looked at"));
            return Ok(());
        };
        let Some(text) = didi_gdscript::text_of(&bytes) else {
            self.plan
                .notes
                .push(format!("`{script}` is not UTF-8 text, so paths in it were not looked at"));
            return Ok(());
        };
        let shift = bytes.len() - text.len();
        let (mut splices, mut changed, mut left) = (vec![], vec![], vec![]);
        for literal in script::literals(text, &|| self.ctx.cancelled()) {
            let seen: Vec<Option<String>> = users
                .iter()
                .map(|(scene, base)| self.renaming(*scene).seen_from(base, literal.path()))
                .collect();
            let Some(renamed) = seen.iter().flatten().next() else { continue };
            let place = literal.place(renamed);
            if seen.iter().any(|one| one.as_ref() != Some(renamed)) {
                self.plan.notes.push(format!(
                    "line {} of `{script}` names the node from some nodes that have the script and not from others; it is left",
                    place.line
                ));
                left.push(place);
            } else if self.args.update_scripts {
                let mut splice = literal.splice(renamed);
                let shift = u32::try_from(shift).unwrap_or(0);
                splice.span.start += shift;
                splice.span.end += shift;
                splices.push(splice);
                changed.push(place);
            } else {
                left.push(place);
            }
        }
        if !splices.is_empty() {
            self.plan.files.push(FilePlan::new(&path, sha256_hex(&bytes), &splices, changed));
        }
        if !left.is_empty() {
            self.plan.left.push(FilePlan::new(&path, sha256_hex(&bytes), &[], left));
        }
        Ok(())
    }

    fn renaming(&self, scene: usize) -> Renaming<'_> {
        let (aliases, unique) = &self.renamings[scene];
        Renaming { aliases, unique: *unique, old: &self.old, new: &self.args.new_name }
    }
}

/// The script that a reference leads to: where the path is stale, the one whose sidecar holds the uid.
fn script_of(ctx: &Ctx<'_>, reference: &ExtResource<'_>) -> Result<String, Refusal> {
    let stored = reference.path.to_string();
    let there = ctx.project().resolve(&stored, "in_scene").is_ok_and(|place| place.is_file());
    let number = reference.uid.as_deref().unwrap_or(&stored);
    let Some(number) = uid::number(number).filter(|_| !there) else { return Ok(stored) };
    let sidecar = walk::by_uid(ctx, "uid", number)?.map(|place| place.res_path());
    let script = sidecar.and_then(|path| path.strip_suffix(".uid").map(str::to_owned));
    Ok(script.filter(|path| is_gdscript(path)).unwrap_or(stored))
}

/// The node's places in a scene that uses scenes which have it, and whether `%Name` finds it there.
fn aliases(
    scene: &Scene<'_>,
    graph: &Graph,
    places: &BTreeMap<String, (Vec<Path>, bool)>,
) -> (Vec<Path>, bool) {
    let mut found = vec![];
    let mut unique = false;
    for (index, node) in scene.nodes().iter().enumerate() {
        let instance = node.instance.as_deref().and_then(|id| scene.ext_resource(id));
        let Some((inner, named)) = instance.and_then(|found| places.get(graph.scene_of(found)))
        else {
            continue;
        };
        let base = node_path(scene, index);
        // A name that is unique in its scene is known in a scene that inherits it, and not in one that instances it.
        unique |= *named && node.path.is_none();
        found.extend(inner.iter().map(|alias| joined(&base, alias)));
    }
    (found, unique)
}
