//! What the reproductions of papers share: runs whose output is kept in raw/, and pages, tables and plots
//! that are made of it.
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use flick_diagnostics::Code;
use flick_driver::Error;
use flick_events::number::counted;
use flick_image::output;

use crate::{file_error, finish, print, unreadable};

/// A run of a program.
pub struct Run {
    /// What runs, for somebody who waits.
    pub what: String,
    /// How.
    pub command: Command,
    /// Where its output goes, in raw/.
    pub file: Option<String>,
}

/// The folder of what the programs print.
pub fn raw_folder(output: &Path) -> Result<PathBuf, Error> {
    let raw = output.join("raw");
    fs::create_dir_all(&raw).map_err(|e| unwritable(&raw, &e))?;
    Ok(raw)
}

/// Runs programs, one behind the other.
pub fn execute(runs: &mut [Run], raw: &Path) -> Result<(), Error> {
    let all = runs.len();
    for (number, run) in runs.iter_mut().enumerate() {
        // Where stderr is closed, the text has no reader.
        let _ = write!(io::stderr(), "[{}/{all}] {} ... ", number + 1, run.what);
        let begin = Instant::now();
        let output = finish(&mut run.command)?;
        if let Some(file) = &run.file {
            let path = raw.join(file);
            output::write(&path, &output.stdout).map_err(|e| unwritable(&path, &e))?;
        }
        output::message(format_args!("{:.1} s", begin.elapsed().as_secs_f64()));
    }
    Ok(())
}

/// What a program has printed, in this run or an earlier one.
pub fn read<T>(path: &Path, parse: fn(&str) -> Result<T, String>) -> Result<T, Error> {
    let text =
        fs::read_to_string(path).map_err(|e| file_error("a file cannot be read", path, &e))?;
    parse(&text).map_err(|why| unreadable(path, why))
}

/// Prints the page, and says which files were written.
pub fn publish(
    written: Result<Vec<PathBuf>, (PathBuf, io::Error)>,
    page: &str,
    output: &Path,
) -> Result<(), Error> {
    let files = written.map_err(|(path, error)| unwritable(&path, &error))?;
    print(page)?;
    output::message(format_args!(
        "{} in {}",
        counted(files.len() as u64, "file"),
        output.display()
    ));
    Ok(())
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::new(
        Code::FileAccess,
        "a file cannot be written",
        path.display().to_string(),
        error.to_string(),
        "name another directory with --output",
    )
}
