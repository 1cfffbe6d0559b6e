//! The frozen boundary, generation 1: two functions of the pack, nine of the host.
//!
//! Bytes and numbers cross here and nothing else; what grows is the JSON inside the bytes. Authors of
//! packs never import this module. How the layout may grow is said in `docs/abi.md`.
//!
//! Spec: P-30, the boundary of a pack.
#![allow(unsafe_code, reason = "abi_stable's derives expand to unsafe trait implementations")]
#![allow(non_local_definitions, reason = "emitted by abi_stable's sabi_trait")]
#![allow(missing_docs, reason = "abi_stable's derives publish undocumented helper items")]
#![allow(clippy::pedantic, reason = "abi_stable's derives do not keep to the pedantic lints")]

use abi_stable::{
    StableAbi,
    library::RootModule,
    package_version_strings, sabi_trait,
    sabi_types::{RRef, VersionStrings},
    std_types::{RSlice, RStr, RVec},
};

/// One answer across the boundary, in either direction.
///
/// `code` is an open set of numbers (see [`code`]), never a closed enum; `body` holds bytes whose form the
/// function says.
#[repr(C)]
#[derive(StableAbi)]
pub struct Reply {
    pub code: u32,
    pub body: RVec<u8>,
}

/// The numbers of [`Reply::code`]. An unknown one is read as [`code::FAULT`].
pub mod code {
    /// Done; the body is the answer.
    pub const OK: u32 = 0;
    /// Refused; the body is a `Refusal` as JSON.
    pub const REFUSED: u32 = 1;
    /// A defect of the side that answered; the body is a sentence.
    pub const FAULT: u32 = 2;
    /// The host does not know the operation asked for.
    pub const UNKNOWN_OP: u32 = 3;
}

/// What a call of an entry asks for. An unknown phase is answered with [`code::UNKNOWN_OP`].
pub mod phase {
    /// Do the work of tool number `entry`.
    pub const RUN: u32 = 0;
    /// Check the arguments of tool number `entry`, read its target and change nothing.
    pub const PREVIEW: u32 = 1;
    /// Read resource number `entry`.
    pub const RESOURCE: u32 = 2;
}

impl Reply {
    /// A reply of `code` with `body`, taken over without a copy.
    pub fn new(code: u32, body: impl Into<Vec<u8>>) -> Self {
        Reply { code, body: body.into().into() }
    }
}

/// The host during one call. Borrowed, so that a pack can't keep it.
#[sabi_trait]
pub trait HostV1: Send + Sync {
    /// Asks the engine; `params` is JSON; 0 ms is the host's own deadline.
    fn bridge_call(&self, method: RStr<'_>, params: RSlice<'_, u8>, timeout_ms: u64) -> Reply;
    /// The bytes of a `res://` file.
    fn read_file(&self, path: RStr<'_>) -> Reply;
    /// Replaces a `res://` file in one step; `options` and the answer are JSON.
    fn write_file(&self, path: RStr<'_>, data: RSlice<'_, u8>, options: RSlice<'_, u8>) -> Reply;
    /// Adds binary content to the answer.
    fn attach(&self, mime: RStr<'_>, data: RSlice<'_, u8>) -> Reply;
    /// Tells a waiting client how far the work is.
    fn progress(&self, done: u64, total: u64, note: RStr<'_>);
    /// Writes a line to the host's log.
    fn log(&self, level: u32, text: RStr<'_>);
    /// Whether the caller has given up.
    fn cancelled(&self) -> bool;
    /// The growth point: named operations with JSON payloads.
    #[sabi(last_prefix_field)]
    fn request(&self, op: RStr<'_>, payload: RSlice<'_, u8>) -> Reply;
    /// Milliseconds since 1970 by the host's clock; since 1.1.
    fn clock_ms(&self) -> u64 {
        0
    }
}

/// A borrowed host, as it crosses.
pub type HostRef<'a> = HostV1_TO<'a, RRef<'a, ()>>;

/// The root of a pack's library.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PackV1Ref, prefix_fields = PackV1Prefix)))]
#[sabi(missing_field(option))]
pub struct PackV1 {
    /// Opens the pack once and answers its descriptor document.
    pub describe: extern "C" fn() -> Reply,
    /// Runs an entry in a [`phase`] with arguments as JSON.
    #[sabi(last_prefix_field)]
    pub call: for<'a> extern "C" fn(
        entry: u32,
        phase: u32,
        args: RSlice<'a, u8>,
        host: HostRef<'a>,
    ) -> Reply,
}

impl RootModule for PackV1Ref {
    abi_stable::declare_root_module_statics! {PackV1Ref}
    const BASE_NAME: &'static str = "didi_pack";
    const NAME: &'static str = "didi tool pack";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}
