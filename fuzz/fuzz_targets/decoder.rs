//! Gives any bytes to the decoder.
#![no_main]

#[path = "../../crates/riscv/tests/fuzz/decoder.rs"]
mod decoder;

libfuzzer_sys::fuzz_target!(|data: &[u8]| decoder::decode_all(data));
