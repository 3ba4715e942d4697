//! The crossing between host and NxP code: its two paths, arguments and results, and unwinding.
pub(crate) mod backend;
pub(crate) mod cleanup_push;
pub(crate) mod fast_path;
mod fast_path_code;
mod frame;
pub(crate) mod gate_target;
pub(crate) mod inline;
pub(crate) mod leaving;
pub(crate) mod marshal;
mod move_code;
pub mod near_code;
pub(crate) mod next_step;
pub(crate) mod returns_twice;
pub(crate) mod signal_handler;
pub(crate) mod signature_path;
pub(crate) mod slow_path;
pub(crate) mod step;
pub(crate) mod unwinding;
