//! The engine's resource classes, with the properties that a file can hold.
//!
//! The table was made from the engine's own description of its interface; see its first lines.
//!
//! Spec: P-50, the project's files.

use std::collections::BTreeMap;

use didi_plugin_api::near::distance;

const TABLE: &str = include_str!("../../data/resource_classes.txt");
/// The engine that the table describes.
pub(crate) const API_VERSION: &str = "4.6.3";

/// One class.
#[derive(Debug, Clone)]
pub(crate) struct Class {
    pub(crate) base: &'static str,
    /// Whether an object of it can be made.
    pub(crate) makable: bool,
    properties: &'static str,
}

/// All classes by name.
pub(crate) struct Classes(BTreeMap<&'static str, Class>);

impl Classes {
    pub(crate) fn new() -> Self {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        let class = |line: &'static str| {
            let mut words = line.split(' ');
            let name = words.next()?;
            let base = words.next()?;
            let properties = words.next().unwrap_or("");
            let makable = !name.ends_with('!');
            Some((name.trim_end_matches('!'), Class { base, makable, properties }))
        };
        Classes(lines.filter_map(class).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Class> {
        self.0.get(name)
    }

    /// The type of a property, of the class itself or of one that it extends.
    pub(crate) fn property(&self, class: &str, name: &str) -> Option<String> {
        let mut at = self.get(class);
        while let Some(class) = at {
            let mut pairs = class.properties.split(',').filter_map(|pair| pair.split_once(':'));
            if let Some((_, kind)) = pairs.find(|(known, _)| *known == name) {
                return Some(kind_text(kind));
            }
            at = self.get(class.base);
        }
        None
    }

    /// All properties of a class.
    pub(crate) fn properties(&self, class: &str) -> Vec<&'static str> {
        let mut names = vec![];
        let mut at = self.get(class);
        while let Some(class) = at {
            let pairs = class.properties.split(',').filter_map(|pair| pair.split_once(':'));
            names.extend(pairs.map(|(name, _)| name));
            at = self.get(class.base);
        }
        names
    }

    /// Whether one class is the other or extends it.
    pub(crate) fn is_a(&self, class: &str, other: &str) -> bool {
        let mut at = class;
        loop {
            if at == other {
                return true;
            }
            let Some(class) = self.get(at) else { return false };
            at = class.base;
        }
    }

    /// Names like a wrong one, the nearest first.
    pub(crate) fn like(&self, name: &str) -> Option<&'static str> {
        nearest(name, self.0.keys().copied())
    }
}

/// `Dictionary[A|B]` stands for a comma that separates properties.
fn kind_text(kind: &str) -> String {
    if kind.starts_with("Dictionary[") { kind.replace('|', ", ") } else { kind.replace('|', ",") }
}

/// The name that differs by the fewest letters, if by few.
pub(crate) fn nearest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let wrong = wrong.to_lowercase();
    let near = |name: &'n str| {
        let distance = distance(&wrong, &name.to_lowercase());
        (distance <= 2 && distance < wrong.chars().count().min(name.len()))
            .then_some((distance, name))
    };
    names.filter_map(near).min().map(|(_, name)| name)
}
