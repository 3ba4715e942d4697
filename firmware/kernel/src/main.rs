//! The kernel of a tile (`docs/kernel.md`). One hart runs it, and serves the programs on the others.
#![no_std]
#![no_main]
// Harts that execute their calls leave what harts tell each other about calls unused.
#![cfg_attr(any(feature = "symmetric", feature = "alone"), allow(dead_code))]

#[cfg(feature = "alone")]
mod alone;
mod archive_files;
mod backtrace;
mod cache;
mod calls;
mod claim;
mod consents;
mod console;
mod contexts;
mod csr;
mod devices;
mod direct;
mod dtu;
mod endings;
mod failure;
mod first_program;
mod float_state;
mod hart_page;
mod hart_unit;
#[cfg(feature = "host")]
mod host;
#[cfg(feature = "host")]
mod host_hart;
mod kernel;
mod kernel_hart;
#[cfg(feature = "symmetric")]
mod locks;
mod machine_map;
mod mailboxes;
mod migration;
mod port_table;
mod portal_write;
mod portals;
mod processes;
mod program_image;
mod program_symbols;
#[cfg(feature = "root")]
mod root;
mod routes;
#[cfg(feature = "symmetric")]
mod symmetric;
mod thread_ends;
mod tiles;
mod trace_points;
mod user_hart;
mod vector_state;

core::arch::global_asm!(include_str!("trace_points.S"));
core::arch::global_asm!(include_str!("start.S"));
core::arch::global_asm!(include_str!("trap_entry.S"));
