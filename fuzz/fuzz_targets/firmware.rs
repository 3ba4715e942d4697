//! Starts any bytes as firmware: ELF files of which bytes are changed, and images of any instructions.
#![no_main]

#[path = "../../crates/machine/tests/fuzz/any_firmware.rs"]
mod any_firmware;

libfuzzer_sys::fuzz_target!(|data: &[u8]| any_firmware::start(data));
