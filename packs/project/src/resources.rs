//! The readable resources of this pack, one file each.
//!
//! Spec: P-50, resources.

pub(crate) mod boards;
pub(crate) mod scenarios;
pub(crate) mod tree;

#[cfg(test)]
mod tests;
