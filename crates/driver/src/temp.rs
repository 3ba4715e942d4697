//! Temporary files of one command.
use std::path::{Path, PathBuf};

use flick_diagnostics::Code;
use flick_image::output;

use crate::{Error, Result};

/// A directory that goes away with the value, or the one that the user wants to look into.
#[derive(Debug)]
pub struct Temp {
    path: PathBuf,
    _owned: Option<tempfile::TempDir>,
}

impl Temp {
    /// FLK0105 where it cannot be made.
    pub fn new(keep: Option<&Path>) -> Result<Self> {
        let failed = |place: &Path, e: std::io::Error| {
            let place = place.display().to_string();
            Error::new(
                Code::FileAccess,
                "a temporary directory cannot be made",
                place,
                e.to_string(),
                OUTPUT_HELP,
            )
        };
        if let Some(dir) = keep {
            std::fs::create_dir_all(dir).map_err(|e| failed(dir, e))?;
            return Ok(Self {
                path: dir.into(),
                _owned: None,
            });
        }
        let dir = tempfile::Builder::new()
            .prefix("flick-")
            .tempdir()
            .map_err(|e| failed(&std::env::temp_dir(), e))?;
        Ok(Self {
            path: dir.path().into(),
            _owned: Some(dir),
        })
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes it; FLK0105.
    pub fn write(&self, name: &str, data: &[u8]) -> Result<PathBuf> {
        let path = self.file(name);
        write(&path, data)?;
        Ok(path)
    }
}

/// Writes a file; FLK0105.
pub fn write(path: &Path, data: &[u8]) -> Result<()> {
    output::write(path, data).map_err(|e| {
        cannot_write(
            path.display().to_string(),
            &e,
            "check that the disk is not full",
        )
    })
}

/// What helps with a file that the user has named.
pub const OUTPUT_HELP: &str = "check that it is writable and that the disk is not full";

pub fn cannot_write(place: impl Into<String>, error: &std::io::Error, help: &str) -> Error {
    Error::new(
        Code::FileAccess,
        "a file cannot be written",
        place,
        error.to_string(),
        help,
    )
}
