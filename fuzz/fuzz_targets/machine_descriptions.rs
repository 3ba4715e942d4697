//! Gives any texts to the readers of machine files and of files of faults.
#![no_main]

#[path = "../../crates/machine/tests/fuzz/any_machine_file.rs"]
mod any_machine_file;

libfuzzer_sys::fuzz_target!(|data: &[u8]| any_machine_file::read_any(data));
