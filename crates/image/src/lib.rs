//! Reader and writer of fat objects and images (`docs/formats.md`).
pub mod error;

pub use error::{Code, Error, Result};
