//! Helpers that the tests of several crates share.
//!
//! [`output`] reads what commands print, [`tree`] finds the tree that `make` builds, [`library`] has
//! cargo build the libraries that it does not build for tests.
#![forbid(unsafe_code)]
pub mod library;
pub mod output;
pub mod tree;
