//! A program that others have written, and how it is built and run.
use std::fmt;
use std::path::PathBuf;

use crate::program::Language;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    O0,
    O2,
    Os,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::O0, Level::O2, Level::Os];

    pub fn word(self) -> &'static str {
        match self {
            Level::O0 => "O0",
            Level::O2 => "O2",
            Level::Os => "Os",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "-{}", self.word())
    }
}

/// Sources that one command compiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    pub sources: Vec<PathBuf>,
    pub language: Language,
    /// Options, without the optimisation level.
    pub words: Vec<String>,
}

/// A file or folder that stands beside the program when it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    pub from: PathBuf,
    /// Relative to the folder of the run.
    pub to: PathBuf,
    /// A copy of its own, since the program writes there.
    pub copied: bool,
}

#[derive(Clone, Debug)]
pub struct Stranger {
    /// Path in its suite, without the ending.
    pub name: String,
    pub units: Vec<Unit>,
    /// Whose compiler links it.
    pub language: Language,
    /// At the end of the link line.
    pub libs: Vec<String>,
    pub args: Vec<String>,
    pub stdin: Option<PathBuf>,
    pub data: Vec<Data>,
    /// A status other than 0 is a failure, with plain clang as well.
    pub succeeds: bool,
    /// The levels that it is meant for.
    pub levels: Vec<Level>,
}

/// The contents of a suite.
#[derive(Default)]
pub struct Found {
    pub programs: Vec<Stranger>,
    /// Programs for other machines, and duplicates: by reason.
    pub elsewhere: Vec<(String, String)>,
    /// Directives that the reader does not understand, a line each.
    pub not_understood: Vec<String>,
}

impl Found {
    pub fn extend(&mut self, other: Found) {
        self.programs.extend(other.programs);
        self.elsewhere.extend(other.elsewhere);
        self.not_understood.extend(other.not_understood);
    }
}
