//! Gives any bytes to the translator.
#![no_main]

// This target executes no code.
#[allow(dead_code)]
#[path = "../../crates/translator/tests/fuzz/guest.rs"]
mod guest;
#[path = "../../crates/translator/tests/fuzz/translator.rs"]
mod translator;

libfuzzer_sys::fuzz_target!(|data: &[u8]| translator::translate_all(data));
