//! The class reference that ships with the pack: an index, and blocks that are unpacked when asked for.
//!
//! Made by the example `class_reference` from the engine's own dump; `data/NOTICE.md` names its authors and
//! licence.
//!
//! Spec: P-53, scripts.

use std::{collections::BTreeMap, sync::OnceLock};

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use serde::Deserialize;
use serde_json::{Map, Value};

/// What the file begins with.
const MAGIC: &[u8; 8] = b"DIDIREF1";
/// Largest part of the file, unpacked.
const MAX_PART_BYTES: usize = 4 << 20;

static DATA: &[u8] = include_bytes!("../../data/class_reference.bin");

/// Where a class is.
struct Place {
    inherits: String,
    block: usize,
    start: usize,
    length: usize,
}

/// The index of the reference.
pub(super) struct Reference {
    /// The engine that it was made from, such as `4.6.3.stable`.
    pub(super) version: String,
    /// Offset and length of each block in the file.
    blocks: Vec<(usize, usize)>,
    classes: BTreeMap<String, Place>,
}

#[derive(Deserialize)]
struct Index {
    version: String,
    blocks: Vec<(usize, usize)>,
    classes: Vec<(String, String, usize, usize, usize)>,
}

/// The reference; its index is read once.
pub(super) fn get() -> &'static Reference {
    static REFERENCE: OnceLock<Reference> = OnceLock::new();
    REFERENCE.get_or_init(|| open().expect("the reference that the pack was built with is whole"))
}

fn open() -> Option<Reference> {
    let rest = DATA.strip_prefix(MAGIC)?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let index: Index = serde_json::from_slice(&unpacked(rest.get(..length)?)?).ok()?;
    let mut at = DATA.len() - rest.len() + length;
    let blocks = (index.blocks.iter())
        .map(|(packed, _)| {
            at += packed;
            (at - packed, *packed)
        })
        .collect();
    let classes = (index.classes.into_iter())
        .map(|(name, inherits, block, start, length)| {
            (name, Place { inherits, block, start, length })
        })
        .collect();
    Some(Reference { version: index.version, blocks, classes })
}

fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    decompress_to_vec_zlib_with_limit(packed, MAX_PART_BYTES).ok()
}

impl Reference {
    /// The names of all classes, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.classes.keys().map(String::as_str)
    }

    /// The class that a class extends; `None` for one that is not there or extends nothing.
    pub(super) fn base(&self, name: &str) -> Option<&str> {
        let place = self.classes.get(name)?;
        (!place.inherits.is_empty()).then_some(place.inherits.as_str())
    }

    /// Whether there is such a class.
    pub(super) fn has(&self, name: &str) -> bool {
        self.classes.contains_key(name)
    }

    /// A class with its documentation.
    pub(super) fn class(&self, name: &str) -> Option<Map<String, Value>> {
        let place = self.classes.get(name)?;
        let (offset, length) = *self.blocks.get(place.block)?;
        let block = unpacked(DATA.get(offset..offset + length)?)?;
        serde_json::from_slice(block.get(place.start..place.start + place.length)?).ok()
    }
}
