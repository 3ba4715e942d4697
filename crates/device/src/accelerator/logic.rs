//! What an accelerator computes: the trait of `crates/accelerator`, by which users add some, too.
pub use flick_accelerator::{Accelerator, Computed};
