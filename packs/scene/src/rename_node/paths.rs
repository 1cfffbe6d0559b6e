//! Node paths as segments, and where a path names the renamed node.
//!
//! Spec: P-52, scenes.

/// Segments from a scene's root; empty for the root itself.
pub(super) type Path = Vec<String>;

/// What is renamed, as one scene sees it.
pub(super) struct Renaming<'r> {
    /// The node's places in this scene.
    pub(super) aliases: &'r [Path],
    /// Whether `%Name` finds it in this scene.
    pub(super) unique: bool,
    pub(super) old: &'r str,
    pub(super) new: &'r str,
}

/// A path as it is stored in `parent=`, `from=`, `to=` and `path=`.
pub(super) fn stored(text: &str) -> Path {
    text.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
}

/// The stored form of segments.
pub(super) fn store(path: &[String]) -> String {
    if path.is_empty() { ".".into() } else { path.join("/") }
}

pub(super) fn joined(base: &[String], rest: &[String]) -> Path {
    [base, rest].concat()
}

impl Renaming<'_> {
    /// Whether a path as it is stored can name the node: it holds the node's name.
    pub(super) fn can_be_in(&self, path: &str) -> bool {
        path.contains(self.old)
    }

    /// A path from the scene's root with the renamed segment, where it has one.
    pub(super) fn in_scene(&self, path: &[String]) -> Option<Path> {
        let alias =
            self.aliases.iter().find(|alias| !alias.is_empty() && path.starts_with(alias))?;
        let mut renamed = path.to_vec();
        self.new.clone_into(&mut renamed[alias.len() - 1]);
        Some(renamed)
    }

    /// Whether a path from the root is the node itself.
    pub(super) fn is_node(&self, path: &[String]) -> bool {
        self.aliases.iter().any(|alias| !alias.is_empty() && alias == path)
    }

    /// A node path as it stands in a value or a script, seen from `base`, with the renamed segments.
    pub(super) fn seen_from(&self, base: &[String], text: &str) -> Option<String> {
        let (path, subnames) = match text.split_once(':') {
            Some((path, rest)) => (path, Some(rest)),
            None => (text, None),
        };
        if path.starts_with('/') {
            return None;
        }
        let mut here: Option<Path> = Some(base.to_vec());
        let mut renamed = false;
        let mut parts = vec![];
        for part in path.split('/') {
            let (next, named) = self.step(here.as_deref(), part);
            renamed |= named.is_some();
            parts.push(named.unwrap_or_else(|| part.to_owned()));
            here = next;
        }
        if !renamed {
            return None;
        }
        let path = parts.join("/");
        Some(subnames.map_or_else(|| path.clone(), |rest| format!("{path}:{rest}")))
    }

    /// One segment from a known place: where it leads, and its new spelling when it names the node.
    fn step(&self, here: Option<&[String]>, part: &str) -> (Option<Path>, Option<String>) {
        if let Some(name) = part.strip_prefix('%') {
            let found = self.unique && name == self.old;
            let place = found.then(|| self.aliases[0].clone());
            return (place, found.then(|| format!("%{}", self.new)));
        }
        let Some(here) = here else { return (None, None) };
        match part {
            "" | "." => (Some(here.to_vec()), None),
            ".." => (here.split_last().map(|(_, up)| up.to_vec()), None),
            name => {
                let next = joined(here, &[name.to_owned()]);
                let named = self.is_node(&next).then(|| self.new.to_owned());
                (Some(next), named)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Renaming, stored};

    #[test]
    fn a_path_is_followed_from_where_it_stands() {
        let aliases = [stored("A/Old"), stored("Inst/A/Old")];
        let renaming = Renaming { aliases: &aliases, unique: true, old: "Old", new: "New" };
        let from = |base: &str, text: &str| renaming.seen_from(&stored(base), text);
        assert_eq!(from(".", "A/Old").as_deref(), Some("A/New"));
        assert_eq!(from("A/Other", "../Old/Kid:size:x").as_deref(), Some("../New/Kid:size:x"));
        assert_eq!(from("A/Old/Kid", "..").as_deref(), None);
        assert_eq!(from("A/Old/Kid", "../../Old").as_deref(), Some("../../New"));
        assert_eq!(from("B", "%Old/Kid").as_deref(), Some("%New/Kid"));
        assert_eq!(from(".", "Inst/A/Old").as_deref(), Some("Inst/A/New"));
        for other in ["A/Older", "Old", "../Old", "A/Old2/Kid", "/root/A/Old"] {
            assert_eq!(from(".", other), None, "{other}");
        }
        assert_eq!(from("A", "Old").as_deref(), Some("New"));
    }
}
