//! `export_pack!` and what its expansion calls: the stamp, the library header, the guards against panics.
//!
//! Spec: P-30, the boundary of a pack.
#![allow(unsafe_code, reason = "hands the root module over as abi_stable's header wants it")]

pub use abi_stable::{
    library::{CheckTypeLayout, LibHeader, RootModuleResult},
    std_types::RSlice,
};
use abi_stable::{
    prefix_type::{PrefixRefTrait, PrefixTypeTrait},
    std_types::RResult,
};
use std::{
    any::Any,
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Once, OnceLock},
};

use serde_json::value::to_raw_value;

pub use crate::{
    abi::{HostRef, PackV1, PackV1Ref, Reply},
    stamp::{API_VERSION, PROFILE, RUSTC, STAMP_LEN, Stamp, TARGET},
};
use crate::{
    abi::{code, phase},
    ctx::Ctx,
    desc::PackDesc,
    outcome::fault,
    refusal::Refusal,
    tool::{PreviewHandler, ReadHandler, Resource, RunHandler, Tool, ToolPack},
};

/// A pack that was opened: its descriptor document, and of what that declares the handlers alone.
pub struct Opened {
    descriptor: Vec<u8>,
    tools: Vec<(RunHandler, Option<PreviewHandler>)>,
    resources: Vec<ReadHandler>,
}

impl Opened {
    /// Opens `P` once and for all.
    ///
    /// # Errors
    /// What [`ToolPack::open`] says, or a descriptor that does not serialise.
    pub fn new<P: ToolPack>(name: &str, version: &str) -> Result<Self, String> {
        let pack: &'static P = Box::leak(Box::new(P::open()?));
        Opened::of(name, version, pack.needs(), pack.tools(), pack.resources())
    }

    /// A pack of these parts; the host's own tools come this way, too.
    ///
    /// # Errors
    /// A descriptor that does not serialise.
    pub fn of(
        name: &str,
        version: &str,
        needs: Vec<String>,
        tools: Vec<Tool>,
        resources: Vec<Resource>,
    ) -> Result<Self, String> {
        let say = |error: serde_json::Error| error.to_string();
        let descriptor = PackDesc {
            name: name.into(),
            version: version.into(),
            api: API_VERSION.into(),
            needs,
            tools: tools
                .iter()
                .map(|tool| to_raw_value(&tool.desc))
                .collect::<Result<_, _>>()
                .map_err(say)?,
            resources: resources
                .iter()
                .map(|resource| to_raw_value(&resource.desc))
                .collect::<Result<_, _>>()
                .map_err(say)?,
        };
        Ok(Opened {
            descriptor: serde_json::to_vec(&descriptor).map_err(say)?,
            tools: tools.into_iter().map(|tool| (tool.run, tool.preview)).collect(),
            resources: resources.into_iter().map(|resource| resource.read).collect(),
        })
    }

    /// The descriptor document.
    pub fn descriptor(&self) -> &[u8] {
        &self.descriptor
    }

    /// Runs an entry in a phase.
    pub fn call(&self, entry: u32, asked: u32, args: &[u8], host: HostRef<'_>) -> Reply {
        let ctx = match Ctx::new(host) {
            Ok(ctx) => ctx,
            Err(refusal) => return refused(&refusal),
        };
        let entry = entry as usize;
        match asked {
            phase::RUN => match self.tools.get(entry) {
                Some((run, _)) => reply(run(&ctx, args)),
                None => no_entry("tool", entry),
            },
            phase::PREVIEW => match self.tools.get(entry).map(|(_, preview)| preview) {
                Some(Some(preview)) => reply(preview(&ctx, args)),
                Some(None) => Reply::new(code::UNKNOWN_OP, Vec::new()),
                None => no_entry("tool", entry),
            },
            phase::RESOURCE => match self.resources.get(entry) {
                Some(read) => reply(read(&ctx, &String::from_utf8_lossy(args))),
                None => no_entry("resource", entry),
            },
            _ => Reply::new(code::UNKNOWN_OP, Vec::new()),
        }
    }
}

fn no_entry(what: &str, entry: usize) -> Reply {
    Reply::new(code::FAULT, format!("the pack has no {what} number {entry}"))
}

fn reply<T: serde::Serialize>(result: Result<T, Refusal>) -> Reply {
    match result {
        Ok(value) => match serde_json::to_vec(&value) {
            Ok(body) => Reply::new(code::OK, body),
            Err(error) => refused(&fault(&error.to_string())),
        },
        Err(refusal) => refused(&refusal),
    }
}

fn refused(refusal: &Refusal) -> Reply {
    match serde_json::to_vec(refusal) {
        Ok(body) => Reply::new(code::REFUSED, body),
        Err(error) => Reply::new(code::FAULT, error.to_string()),
    }
}

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
    static PLACE: Cell<Option<(String, u32)>> = const { Cell::new(None) };
}

/// Every library has its own copy of std and so its own panic hook: the host's never sees a pack's panic.
/// This one notes the place for the fault answer, silently, and leaves other panics to the hook before it.
fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if CALLS.get() > 0 {
                PLACE.set(info.location().map(|at| (at.file().into(), at.line())));
            } else {
                before(info);
            }
        }));
    });
}

/// Runs `work`, and turns a panic into a fault.
fn guard(work: impl FnOnce() -> Reply) -> Reply {
    install_hook();
    CALLS.set(CALLS.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    CALLS.set(CALLS.get() - 1);
    outcome.unwrap_or_else(|payload| {
        let at = PLACE.take().map(|(file, line)| format!(" at {file}:{line}")).unwrap_or_default();
        Reply::new(code::FAULT, format!("panicked{at}: {}", panic_text(payload)))
    })
}

/// The words of a panic.
fn panic_text(payload: Box<dyn Any + Send>) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a payload that is no text".into());
    // A payload whose drop panics must not escape either.
    let _ = catch_unwind(AssertUnwindSafe(move || drop(payload)));
    text
}

/// Where a library keeps its opened pack.
pub type PackCell = OnceLock<Result<Opened, String>>;

/// Opens the pack on the first call and answers its descriptor.
pub fn describe<P: ToolPack>(cell: &'static PackCell, name: &str, version: &str) -> Reply {
    guard(|| match cell.get_or_init(|| Opened::new::<P>(name, version)) {
        Ok(opened) => Reply::new(code::OK, opened.descriptor()),
        Err(why) => Reply::new(code::REFUSED, why.as_bytes()),
    })
}

/// Runs an entry of a pack that was described.
pub fn call(
    cell: &'static PackCell,
    entry: u32,
    asked: u32,
    args: RSlice<'_, u8>,
    host: HostRef<'_>,
) -> Reply {
    guard(|| match cell.get() {
        Some(Ok(opened)) => opened.call(entry, asked, args.as_slice(), host),
        _ => Reply::new(code::FAULT, "called before a successful describe"),
    })
}

/// Hands the root module to the library header.
pub fn root(pack: PackV1) -> RootModuleResult {
    let prefix = pack.leak_into_prefix();
    // SAFETY: a prefix reference is one thin pointer, and abi_stable's header takes it in erased form.
    RResult::ROk(unsafe { prefix.to_prefix_ref().cast() })
}

/// Makes a crate a tool pack: `export_pack!(MyPack);` with `MyPack: ToolPack`.
#[macro_export]
macro_rules! export_pack {
    ($pack:ty) => {
        #[allow(unsafe_code, reason = "exports the two symbols of a pack")]
        const _: () = {
            use $crate::export as rt;
            #[cfg(panic = "abort")]
            compile_error!(
                "a tool pack must be built with panic = \"unwind\": with \"abort\" a panic in a handler \
                 would end the host"
            );
            #[unsafe(export_name = concat!("didi_pack_stamp_", env!("CARGO_PKG_NAME")))]
            pub static STAMP: rt::Stamp = rt::Stamp::of(&[
                "{\"pack\":\"",
                env!("CARGO_PKG_NAME"),
                "\",\"version\":\"",
                env!("CARGO_PKG_VERSION"),
                "\",\"api\":\"",
                rt::API_VERSION,
                "\",\"target\":\"",
                rt::TARGET,
                "\",\"rustc\":\"",
                rt::RUSTC,
                "\",\"profile\":\"",
                rt::PROFILE,
                "\"}",
            ]);
            static CELL: rt::PackCell = rt::PackCell::new();
            extern "C" fn describe() -> rt::Reply {
                rt::describe::<$pack>(&CELL, env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
            }
            extern "C" fn call<'a>(
                entry: u32,
                phase: u32,
                args: rt::RSlice<'a, u8>,
                host: rt::HostRef<'a>,
            ) -> rt::Reply {
                rt::call(&CELL, entry, phase, args, host)
            }
            extern "C" fn root() -> rt::RootModuleResult {
                rt::root(rt::PackV1 { describe, call })
            }
            // SAFETY: `root` answers the root module of the type named here, made by the same crate.
            #[unsafe(export_name = concat!("didi_pack_v1_", env!("CARGO_PKG_NAME")))]
            pub static ROOT: rt::LibHeader = unsafe {
                rt::LibHeader::from_constructor::<rt::PackV1Ref>(root, rt::CheckTypeLayout::Yes)
            };
        };
    };
}

#[cfg(test)]
mod tests;
