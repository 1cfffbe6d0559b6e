//! Files that the editor imports.

pub(crate) mod read_imported_stream;
pub(crate) mod reimport;
