//! The parts of the kernel that touch no hardware, so that tests and models on the host can use them.
//! The package `flick-kernel` has the rest.
//!
//! | module | subject |
//! |---|---|
//! | [`lines`] | how a user hart calls the kernel hart, and is answered |
//! | [`context`] | the registers of a thread |
//! | [`threads`] | states of threads, queues, timers |
//! | [`thread_lines`] | how threads end and are joined without the kernel hart |
//! | [`silent_ends`] | what the kernel hart knows of that |
//! | [`dispatch`] | which thread runs on which hart |
//! | [`capabilities`] | rights to objects of the root kernel, by derivation |
//! | [`claims`] | how threads move to harts with an extension without the kernel hart |
//! | [`handovers`] | how calls to gates go from thread to thread without the kernel hart |
//! | [`flat_tree`] | the machine's description |
//! | [`frames`] | pages of memory, and who uses them |
//! | [`page_tables`] | Sv39 and Sv48, demand zero, copy on write |
#![cfg_attr(not(test), no_std)]

pub mod capabilities;
pub mod claims;
pub mod context;
pub mod dispatch;
pub mod flat_tree;
pub mod frames;
pub mod handovers;
pub mod lines;
pub mod page_tables;
pub mod silent_ends;
pub mod thread_lines;
pub mod threads;
