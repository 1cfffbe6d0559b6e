//! Export presets.

pub(crate) mod reload_presets;
