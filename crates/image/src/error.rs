//! The error type of everything that builds, links or reads files: a stable code and the four parts
//! that every message has (`docs/formats.md`, "Errors").
use std::fmt;

use flick_abi::{ABI_VERSION, Version};
use flick_diagnostics::Code;

/// `flick: error: [FLKnnnn] what: where: why` and a `help:` line.
///
/// ```
/// use flick_diagnostics::Code;
/// use flick_image::Error;
///
/// let error = Error::new(Code::NoNxpCode, "no NxP code", "a.out", "nothing is placed", "mark it");
/// let first = error.to_string().lines().next().unwrap().to_owned();
/// assert_eq!(first, "flick: error: [FLK0307] no NxP code: a.out: nothing is placed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The code, which chooses the page in `docs/errors/`.
    pub code: Code,
    /// What happened.
    pub what: String,
    /// File, option or symbol; left out of the message when empty.
    pub place: String,
    /// The reason; left out of the message when empty.
    pub why: String,
    /// What to do next.
    pub help: String,
}

impl Error {
    /// An error of these four parts and its code.
    pub fn new(
        code: Code,
        what: impl Into<String>,
        place: impl Into<String>,
        why: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            code,
            what: what.into(),
            place: place.into(),
            why: why.into(),
            help: help.into(),
        }
    }

    /// The message of something that does not keep the tool from its work.
    pub fn as_warning(&self) -> String {
        self.to_string()
            .replacen("flick: error:", "flick: warning:", 1)
    }

    /// What Flick knows about an error that another tool has reported.
    pub fn as_note(&self) -> String {
        self.to_string()
            .replacen("flick: error:", "flick: note:", 1)
    }

    /// FLK0303: `what` was made by another version, `found`, than this command, and cannot be used
    /// together with it.
    pub fn other_version(what: &str, found: Version) -> Self {
        let newer = found > ABI_VERSION;
        Self::new(
            Code::OtherVersion,
            "made by another version of Flick",
            "",
            format!("{what} has format {found}, this flick reads {ABI_VERSION}"),
            if newer {
                "use the newer Flick for this, too; or build it again with this one"
            } else {
                "build it again with this flick"
            },
        )
    }

    /// The same error, found in `place`.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.place = place.to_string();
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "flick: error: [{}] {}", self.code, self.what)?;
        for part in [&self.place, &self.why] {
            if !part.is_empty() {
                write!(f, ": {part}")?;
            }
        }
        if !self.help.is_empty() {
            write!(f, "\nhelp: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// The result of all that builds, links or reads files.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_has_all_parts() {
        let e = Error::new(
            Code::CorruptedObject,
            "a fat object is corrupted",
            "",
            "its checksum is wrong",
            "rebuild it",
        );
        assert_eq!(
            e.at("a.o").to_string(),
            "flick: error: [FLK0302] a fat object is corrupted: a.o: its checksum is wrong\nhelp: rebuild it"
        );
    }
}
