//! Feeds `didi_fuzz::gdscript`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| didi_fuzz::gdscript(data));
