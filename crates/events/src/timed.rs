//! What a timed run predicts, and its text for people.
pub use crate::timed_data::*;
pub use crate::timed_render::{duration, verdict};
