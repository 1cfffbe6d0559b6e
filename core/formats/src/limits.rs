//! Bounds of what is read, each enforced where the thing is created.

/// Largest file that is read, in bytes (512 MiB). Spans are 32 bit wide; scenes of 67 MB are real.
pub const MAX_FILE_BYTES: usize = 512 * 1024 * 1024;

/// Deepest nesting of arrays, dictionaries and objects in one value of a file, in levels.
///
/// A file is checked without recursion, so this bounds memory and not the stack.
pub const MAX_NESTING_LEVELS: usize = 5_000;

/// Deepest nesting that [`crate::variant::parse`] turns into a tree, in levels.
///
/// A tree is built and dropped by recursion. The engine itself writes at most 100 levels.
pub const MAX_VALUE_LEVELS: usize = 200;

/// Most places of one kind that are remembered for one file, as a count: lossy string escapes, and
/// constructors that this build does not know.
pub const MAX_REMARKS: usize = 100;

/// Most bytes that a header needs in practice, as the length to hand to
/// [`crate::resource::read_header`].
pub const HEADER_BYTES: usize = 4 * 1024;
