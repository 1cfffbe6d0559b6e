//! Feeds `didi_fuzz::sidecars`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| didi_fuzz::sidecars(data));
