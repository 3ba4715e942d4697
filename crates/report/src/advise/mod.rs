//! `flick advise`: what of a program to move to the NxP, what to move back, and what that would
//! gain (`docs/timing.md`, "Advice").
mod advice;
mod advice_file;
mod advice_text;
mod cut;
mod model;
mod proposal;
mod reasons_to_stay;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use flick_diagnostics::Code;
use flick_events::Summary;
use flick_image::{Error, output};
use flick_names::Demangle;

use crate::named_platform;
use crate::reasons::{self, Reasons};
use crate::run_program::{self, file_error};
use advice_file::Entries;
use proposal::Proposal;

/// The placement file, if none is named.
pub const PLACEMENT: &str = "flick.place";

/// What `flick advise` was asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The placement file; an earlier one becomes `FILE.old`.
    pub output: PathBuf,
    /// A name or a file; without it `FLICK_PLATFORM` says.
    pub platform: Option<OsString>,
    /// Whether names of C++ are shown as in the source.
    pub demangle: Demangle,
}

/// Runs `command` (program, then arguments), writes the placement file and prints the advice to
/// stderr, and ends as the program ended. 126 and 127, as in a shell, where it cannot be started.
/// FLK0104 without a platform, FLK0105 where the file cannot be written, FLK0112 where the program
/// records no functions.
pub fn run(command: &[OsString], options: &Options) -> Result<ExitCode, Error> {
    let Some(program) = command.first() else {
        return Ok(ExitCode::from(2));
    };
    let platform = named_platform::required("flick advise", options.platform.as_deref())?;
    let dir = tempfile::Builder::new()
        .prefix("flick-advise")
        .tempdir()
        .map_err(|e| file_error(&std::env::temp_dir(), &e))?;
    let record = dir.path().join("record");
    let environment = [
        ("FLICK_STATS", record.as_os_str()),
        ("FLICK_PLATFORM", platform.as_os_str()),
        ("FLICK_PROFILE", "functions".as_ref()),
        // What is taken for the host's now shall not be what is on the NxP.
        ("FLICK_OFFLOAD", "auto".as_ref()),
    ];
    let mut child = match run_program::start("flick advise", command, &environment) {
        Ok(child) => child,
        Err(status) => return Ok(status),
    };
    let program = Path::new(program);
    let status = child.wait().map_err(|e| file_error(program, &e))?;
    let records = run_program::records(&record)?;
    let summary = flick_events::parse(&records)
        .unwrap_or_default()
        .into_iter()
        .rfind(|summary| summary.pid == child.id());
    let printed = match summary {
        Some(summary) => advise(&summary, command, options),
        None => Err(nothing(program, why_no_record(program, status))),
    };
    // Dying by a signal runs no destructors.
    drop(dir);
    // Where stderr is closed, the text has no reader.
    match printed {
        Ok(text) => {
            let _ = io::stderr().write_all(text.as_bytes());
        }
        // The program's own end says more than that it left nothing to advise on.
        Err(error) if !status.success() => {
            let _ = writeln!(io::stderr(), "{error}");
        }
        Err(error) => return Err(error),
    }
    Ok(run_program::end_as(status))
}

fn why_no_record(program: &Path, status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("it was killed by signal {signal}"),
        None => match reasons::no_record(&reasons::executable(program)).0 {
            why if status.success() => format!("it left no record: {why}"),
            why => format!("it left no record: {why}; or it ended by _exit"),
        },
    }
}

fn nothing(program: &Path, why: String) -> Error {
    Error::new(
        Code::NothingToAdvise,
        "there is nothing to advise on",
        program.display().to_string(),
        why,
        "compile and link the program with flick cc --flick-timed, and let it end by itself",
    )
}

/// Writes the placement file; the text for people.
fn advise(summary: &Summary, command: &[OsString], options: &Options) -> Result<String, Error> {
    let program = Path::new(&command[0]);
    let timed = summary.timed.as_ref().filter(|timed| timed.host_counted);
    let Some(timed) = timed.filter(|timed| !timed.profile.functions.is_empty()) else {
        let why = "its host code does not record its time".to_owned();
        return Err(nothing(program, why));
    };
    let proposal = Proposal::new(timed);
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let words = words.join(" ");
    let mut written = None;
    if proposal.changes() {
        let placed = Reasons::of(&summary.files);
        let entries = Entries::of(&proposal, timed, &placed);
        let text = entries.text(&advice_file::remarks(&proposal, timed, &words));
        output::write_keeping_old(&options.output, text.as_bytes())
            .map_err(|e| file_error(&options.output, &e))?;
        written = Some(options.output.as_path());
    }
    Ok(advice_text::text(
        &proposal,
        timed,
        &words,
        written,
        options.demangle,
    ))
}
