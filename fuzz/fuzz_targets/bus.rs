//! Gives any accesses to the bus of a machine: memory, devices, and where nothing is.
#![no_main]

#[path = "../../crates/machine/tests/fuzz/bus_accesses.rs"]
mod bus_accesses;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bus_accesses::access_all(data));
