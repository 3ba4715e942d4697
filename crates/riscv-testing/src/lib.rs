//! What the tests of `flick-engine`, `flick-translator` and `flick-machine` share: an assembler that is independent
//! of the decoder, the list of opcodes with their operands, the engine's extensions, seeded random
//! values, qemu-riscv64 with the ELF files that it runs, and random vector instructions.
//!
//! For tests alone: no part of Flick depends on it but in its `dev-dependencies`.
//!
//! **From where.** The opcodes are the rows of `flick-riscv`'s table, and the extensions those of
//! `flick-abi`. All randomness comes from a seed, which a test prints or the user names.
//!
//! | file | step |
//! |---|---|
//! | `values.rs` | seeded random numbers |
//! | `inputs.rs` | seeded bytes in the place of a fuzzer's |
//! | `opcodes.rs` | opcodes, and how their operands may be chosen |
//! | `asm.rs` | instructions as words, without the decoder |
//! | `mapping.rs` | memory at fixed addresses, for code and data |
//! | `elf.rs` | an executable with the code |
//! | `isa.rs` | the extensions, as tools take them |
//! | `qemu.rs` | the executable's output under qemu-riscv64 |
//! | `vector_cases.rs` | random vector instructions with their state, and a comparison of results |
//!
//! **Where to.** Tests of `flick-engine`, `flick-translator` and `flick-machine` execute the code,
//! and compare registers and memory with those of qemu-riscv64, of Spike or of the interpreter.

pub mod asm;
pub mod elf;
pub mod inputs;
pub mod isa;
pub mod mapping;
pub mod opcodes;
pub mod qemu;
pub mod values;
pub mod vector_cases;
