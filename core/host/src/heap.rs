//! How the process gives memory back.
//!
//! A large file is read, answered and forgotten, call after call, on whichever thread is free. Left alone, the C
//! library learns from that to keep such pieces in each thread's own heap, so that a server that once read a scene
//! of 13 MB held 90 MB from then on.
#![cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    allow(unsafe_code, reason = "the C library's heap is set by a function of its own")
)]

/// Pieces from this size on are mapped one by one and given back when they are freed, in bytes. Smaller ones
/// are what calls use again and again.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_FROM_BYTES: libc::c_int = 2 * 1024 * 1024;

/// Heaps that all threads share, so that what one call left free the next one uses.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAPS: libc::c_int = 2;

/// Sets the heap up. Called once, before there are other threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn set_up() {
    for (setting, value) in
        [(libc::M_MMAP_THRESHOLD, MAPPED_FROM_BYTES), (libc::M_ARENA_MAX, HEAPS)]
    {
        // SAFETY: the function takes two numbers, and no other thread allocates yet.
        unsafe { libc::mallopt(setting, value) };
    }
}

/// Other C libraries give large pieces back by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn set_up() {}
