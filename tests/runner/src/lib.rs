//! What `flick-test` and the trials of `cargo test` are made of: the tiny programs under `tests/`, built
//! with the real driver and with plain compilers, run, and compared.
//!
//! [`program`], [`errors`] and [`mistakes`] read what there is to test, [`suite`] makes jobs of it,
//! [`build`] and [`check`] carry one out, and [`pool`] runs all of them.
pub mod build;
pub mod check;
pub mod coverage;
pub mod directives;
pub mod errors;
pub mod exec;
pub mod filter;
pub mod mistake_text;
pub mod mistakes;
pub mod mode;
pub mod names;
pub mod normal;
pub mod pool;
pub mod program;
pub mod random;
pub mod recording;
pub mod stats;
pub mod strangers;
pub mod suite;
pub mod transparency;
pub mod warm;
