//! What servers of files, pipes and terminals have in common: programs in Rust for harts of the root's tile (`docs/files.md`).
#![no_std]

pub mod calls;
pub mod data;
pub mod ends;
pub mod lock;
pub mod options;
pub mod program;
pub mod service;
