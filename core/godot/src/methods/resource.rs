//! Resources that the editor holds.

pub(crate) mod refresh_cached;
