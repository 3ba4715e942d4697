//! The accounts of a run: statistics, virtual time, profile and the device check.
pub mod device_check;
pub(crate) mod gate_counts;
pub(crate) mod hook;
mod migrations;
pub mod stats;
pub(crate) mod symbols;
pub mod timed;
