//! A program at a level (a cell): plain clang and Flick with every placement build it, every engine
//! runs it, and the results are compared.
use std::fs;
use std::path::Path;

use flick_exec::{Finished, Status};

use super::exceptions::Exceptions;
use super::making::{self, Made};
use super::outcome::{Cell, Compared, Outcome};
use super::report;
use super::running::{Done, run};
use super::stranger::{Level, Stranger};
use super::trial::Trial;
use crate::build::Compiler;
use crate::suite::Setup;

/// Seconds of processor time that a native run may take.
pub const NATIVE: u64 = 10;

/// The settings of a cell, beside its program.
pub struct Bench<'a> {
    pub setup: &'a Setup,
    pub exceptions: &'a Exceptions,
    /// The codes that docs/limits.md names.
    pub codes: Vec<String>,
}

/// Plain clang's build, and its run.
pub struct Plain {
    pub made: Made,
    /// Options that clang does not know.
    pub without: Vec<String>,
    pub done: Done,
}

impl Bench<'_> {
    /// Builds, runs and compares. Files of runs that differ stay in the folder of the cell.
    pub fn measure(&self, stranger: &Stranger, level: Level) -> Cell {
        let name = stranger.name.replace('/', ".");
        let dir = self.setup.work.join(format!("{name}-{}", level.word()));
        let outcome = match self.plain(stranger, level, &dir) {
            Err(why) => Outcome::Excluded(why),
            Ok(plain) => {
                let mut compared = Trial::new(self, stranger, level, &dir, &plain).finish();
                if self.is_steady(stranger, &dir, &plain, &compared) {
                    Outcome::Compared(compared)
                } else {
                    // How it ends can be compared all the same.
                    compared.differences.retain(|d| d.ends_otherwise);
                    match compared.differences.is_empty() {
                        true => Outcome::Excluded("it prints something else each time".into()),
                        false => Outcome::Compared(compared),
                    }
                }
            }
        };
        let differs = matches!(&outcome, Outcome::Compared(c) if !c.differences.is_empty());
        if !(differs || self.setup.keep) {
            let _ = fs::remove_dir_all(&dir);
        }
        if let Outcome::Compared(_) = outcome {
            self.exceptions.was_run(&stranger.name, level);
        }
        Cell {
            program: stranger.name.clone(),
            level,
            outcome,
        }
    }

    /// The error says why the program is excluded.
    fn plain(&self, stranger: &Stranger, level: Level, dir: &Path) -> Result<Plain, String> {
        let clang = Compiler::clang(&[]);
        let dir_of_build = dir.join("plain");
        let build = |without: &[String]| {
            making::make(stranger, level, &clang, without, &dir_of_build, self.setup)
        };
        let mut without = Vec::new();
        let mut made = build(&without);
        if let Err(failed) = &made {
            without = making::unknown_options(&failed.text);
            if !without.is_empty() {
                made = build(&without);
            }
        }
        let made = made.map_err(|f| format!("plain clang: {}", report::first_error(&f.text)))?;
        let done = run(stranger, &made, &dir.join("run"), &[], NATIVE)?;
        match done.finished.status {
            Status::Code(0) => {}
            Status::Code(_) if !stranger.succeeds => {}
            status => return Err(format!("natively: {status}")),
        }
        Ok(Plain {
            made,
            without,
            done,
        })
    }

    /// Whether plain clang's build does the same again; asked only where something differs.
    fn is_steady(
        &self,
        stranger: &Stranger,
        dir: &Path,
        plain: &Plain,
        compared: &Compared,
    ) -> bool {
        if compared.differences.is_empty() && compared.excused.is_empty() {
            return true;
        }
        (0..2).all(|_| {
            let again = run(stranger, &plain.made, &dir.join("run"), &[], NATIVE);
            again.is_ok_and(|again| same(&again.finished, &plain.done.finished))
        })
    }
}

pub fn same(one: &Finished, other: &Finished) -> bool {
    one.status == other.status && one.stdout == other.stdout
}
