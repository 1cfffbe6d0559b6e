//! Feeds `didi_fuzz::scene`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| didi_fuzz::scene(data));
