//! Feeds `didi_fuzz::variant_json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| didi_fuzz::variant_json(data));
