//! Signals: the program's handlers, and the signals that NxP code causes.
pub(crate) mod context_check;
pub mod dispositions;
pub(crate) mod raise;
