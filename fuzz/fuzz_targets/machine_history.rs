//! Gives any bytes to the readers of snapshots and recordings, and lets machines go on from snapshots of
//! which bytes were changed.
#![no_main]

#[path = "../../crates/machine/tests/fuzz/patched_snapshots.rs"]
mod patched_snapshots;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    patched_snapshots::read_any(data);
    patched_snapshots::go_on_from_patched(data);
});
