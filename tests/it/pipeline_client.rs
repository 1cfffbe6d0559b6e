//! The Pipeline's client: the program against a scripted Unity, and against Didi's own server.

mod exits;
mod forms;
mod jobs;
#[cfg(unix)]
mod pack;
mod same;
mod status;

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use didi_tests::server::Ran;
use serde_json::Value;

/// The programs of the machine are seen by every test that looks for instances far from a project.
static MACHINE: RwLock<()> = RwLock::new(());

/// Held by a test that counts on no editor and no player running.
pub(crate) fn quiet_machine() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a test that starts what looks like one.
pub(crate) fn busy_machine() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().unwrap_or_else(PoisonError::into_inner)
}

/// The envelope that a run printed.
pub(crate) fn envelope(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// The code of the first error of a run.
pub(crate) fn code(ran: &Ran) -> String {
    envelope(ran)["errors"][0]["code"].as_str().unwrap_or_default().to_owned()
}

/// The process of a program that has ended.
pub(crate) fn dead_pid() -> u32 {
    let mut child = didi_tests::server::program_alone(&didi_tests::didi())
        .arg("--version")
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id();
    child.wait().unwrap();
    pid
}
