//! Feeds `didi_fuzz::document`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| didi_fuzz::document(data));
