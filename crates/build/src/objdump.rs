//! `flick objdump`.
use std::path::PathBuf;

use crate::{Error, Result};

/// What to show of which file.
#[derive(Clone, Debug, Default)]
pub struct Objdump {
    pub file: PathBuf,
    /// Source lines between the instructions (`-S`).
    pub source: bool,
    /// Also the host's code (`--both`), or only it (`--host`).
    pub host: bool,
    pub nxp: bool,
}

/// Prints code by function on stdout. FLK0102, FLK0103, FLK0105, FLK0304, FLK0307, FLK0308.
pub fn objdump(options: &Objdump) -> Result<()> {
    Err(Error::new(
        307,
        "no NxP code in this file",
        options.file.display().to_string(),
        "",
        "",
    ))
}
