//! Feeds `didi_fuzz::config`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| didi_fuzz::config(data));
