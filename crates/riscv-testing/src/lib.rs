//! What the tests of `flick-engine` and `flick-translator` share: an assembler that is independent
//! of the decoder, the list of opcodes with their operands, the engine's extensions, seeded random
//! values, and qemu-riscv64 with the ELF files that it runs.
//!
//! For tests alone: no part of Flick depends on it but in its `dev-dependencies`.

pub mod asm;
pub mod elf;
pub mod inputs;
pub mod isa;
pub mod mapping;
pub mod opcodes;
pub mod qemu;
pub mod values;
