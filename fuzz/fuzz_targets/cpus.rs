//! Gives any bytes to what says which CPU has which extension.
#![no_main]

#[path = "../../crates/extensions/tests/fuzz/any_cpus.rs"]
mod any_cpus;

libfuzzer_sys::fuzz_target!(|data: &[u8]| any_cpus::read_any(data));
