//! Names of tests: their places under `tests/`, as `cargo test` finds them.
use std::path::Path;

use crate::filter::Filter;
use crate::{errors, mistakes, program};

/// Who carries a test out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Program,
    Error,
    Mistake,
}

/// One test, `FOLDER/NAME`.
#[derive(Clone, Debug)]
pub struct Test {
    pub kind: Kind,
    pub folder: &'static str,
    pub name: String,
}

impl Test {
    pub fn path(&self) -> String {
        format!("{}/{}", self.folder, self.name)
    }
}

/// Every program, bad input and mistake under `tests`.
pub fn all(tests: &Path) -> Result<Vec<Test>, String> {
    let programs = program::discover(tests, &Filter::default())?.into_iter();
    let programs = programs.map(|p| (Kind::Program, p.language.folder(), p.name));
    let errors = errors::sources(tests)?.into_iter();
    let errors = errors.map(|(name, _)| (Kind::Error, "errors", name));
    let mistakes = mistakes::sources(tests)?.into_iter();
    let mistakes = mistakes.map(|(name, _)| (Kind::Mistake, "mistakes", name));
    Ok(programs
        .chain(errors)
        .chain(mistakes)
        .map(|(kind, folder, name)| Test { kind, folder, name })
        .collect())
}
