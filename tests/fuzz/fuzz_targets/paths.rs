//! Feeds `didi_fuzz::paths`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| didi_fuzz::paths(data));
