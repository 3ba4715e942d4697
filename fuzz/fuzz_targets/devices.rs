//! Gives any accesses, events, input and states to the models of devices.
#![no_main]

#[path = "../../crates/device/tests/fuzz/accesses.rs"]
mod accesses;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    accesses::access_all(data);
    accesses::load_any(data);
});
