//! Bakes the compiler, target and profile into the stamp that every pack carries.
#![allow(
    clippy::disallowed_methods,
    reason = "a build script reads cargo's environment and asks rustc for its version"
)]

use std::{env, process::Command};

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc)
        .arg("-V")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_default();
    println!("cargo:rustc-env=DIDI_API_RUSTC={}", version.trim());
    for (name, from) in [("DIDI_API_TARGET", "TARGET"), ("DIDI_API_PROFILE", "PROFILE")] {
        println!("cargo:rustc-env={name}={}", env::var(from).unwrap_or_default());
    }
    println!("cargo:rerun-if-changed=build.rs");
}
