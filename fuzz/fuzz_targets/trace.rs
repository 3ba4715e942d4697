//! Gives any bytes to the reader of traces.
#![no_main]

#[path = "../../crates/events/tests/fuzz/trace.rs"]
mod trace;

libfuzzer_sys::fuzz_target!(|data: &[u8]| trace::read_all(data));
