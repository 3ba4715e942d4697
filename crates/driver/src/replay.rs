//! `--flick-replay=DIR`, for `run.sh` of a saved command: files come from the copies in DIR, and
//! nothing in the output tells.
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where the copies are, and where the command was given; empty outside `run.sh`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// DIR
    pub dir: PathBuf,
    pub from: PathBuf,
}

impl Replay {
    pub fn is_on(&self) -> bool {
        !self.dir.as_os_str().is_empty()
    }

    pub fn tree(&self) -> PathBuf {
        self.dir.join("tree")
    }

    /// The copy of an absolute name; a relative one is found as it is.
    pub fn file(&self, name: &Path) -> PathBuf {
        match name.strip_prefix("/") {
            Ok(rest) if self.is_on() => self.tree().join(rest),
            _ => name.into(),
        }
    }

    /// More words for clang. Headers are found through the overlay, but the sources clang's driver
    /// wants to see itself, so that their names are mapped back.
    pub fn words(&self, user: &[OsString]) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        let overlay = self.dir.join("overlay.yaml");
        words.extend(["-Xclang", "-ivfsoverlay", "-Xclang"].map(Into::into));
        words.push(overlay.into());
        words.push(format!("-ffile-prefix-map={}=", self.tree().display()).into());
        let own = [
            "-fdebug-compilation-dir",
            "-ffile-compilation-dir",
            "-fcoverage-compilation-dir",
        ];
        let has = user
            .iter()
            .any(|w| own.iter().any(|o| w.to_string_lossy().starts_with(o)));
        if !has {
            words.push(format!("-ffile-compilation-dir={}", self.from.display()).into());
        }
        words
    }

    /// What was printed, with the old names.
    pub fn restore(&self, text: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(text);
        text.replace(&self.tree().display().to_string(), "")
            .into_bytes()
    }
}
