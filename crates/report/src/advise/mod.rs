//! `flick advise`: what of a program to move to the NxP, what to move back, and what that would
//! gain (`docs/timing.md`, "Advice").
mod advice;
mod advice_file;
mod advice_json;
mod advice_text;
mod build_command;
mod build_rounds;
mod cut;
mod model;
mod proposal;
mod reasons_to_stay;
mod verify_text;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use flick_diagnostics::Code;
use flick_events::Summary;
use flick_image::{Error, output};
use flick_names::Demangle;

use crate::reasons::{self, Reasons};
use crate::run_program::{self, file_error};
use crate::{again, json, named_platform};
use advice_file::Entries;
use advice_text::Foot;
use build_rounds::{Trial, Verified};
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
    /// For programs instead of people (`docs/json.md`).
    pub json: bool,
    /// The command that builds the program: it is built by the advice, and run again.
    pub verify: Option<Vec<OsString>>,
}

/// Runs `command` (program, then arguments), writes the placement file and prints the advice to
/// stderr, and ends as the program ended. 126 and 127, as in a shell, where it cannot be started.
/// FLK0104 without a platform, FLK0105 where the file cannot be written, FLK0112 where the program
/// records no functions, FLK0118 where the advice cannot be verified.
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
    let mut environment = vec![("FLICK_STATS", record.as_os_str())];
    environment.extend(again::profile(&platform));
    let mut child = match run_program::start("flick advise", command, &environment) {
        Ok(child) => child,
        Err(status) => return Ok(status),
    };
    let program = Path::new(program);
    let status = child.wait().map_err(|e| file_error(program, &e))?;
    let records = run_program::records(&record)?;
    let done = match again::last_summary(&records, child.id()) {
        Some(summary) => advise(&summary, (command, &platform, status), options),
        None => Err(nothing(program, why_no_record(program, status))),
    };
    // Dying by a signal runs no destructors.
    drop(dir);
    match done {
        Ok(()) => {}
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

/// Writes the placement file, if there is anything to change, and prints the advice.
fn advise(
    summary: &Summary,
    (command, platform, status): (&[OsString], &OsStr, ExitStatus),
    options: &Options,
) -> Result<(), Error> {
    let program = Path::new(&command[0]);
    let timed = summary.timed.as_ref().filter(|timed| timed.host_counted);
    let Some(timed) = timed.filter(|timed| !timed.profile.functions.is_empty()) else {
        let why = "its host code does not record its time".to_owned();
        return Err(nothing(program, why));
    };
    let proposal = Proposal::new(timed);
    let words = build_command::words(command);
    let entries = Entries::of(&proposal, timed, &Reasons::of(&summary.files));
    let mut remarks = advice_file::remarks(&proposal, timed, &words);
    let trial = options.verify.as_deref().map(|build| Trial {
        command,
        build,
        platform,
        status,
    });
    let trial = trial.filter(|_| proposal.changes());
    let file = options.output.as_path();
    // It is shown before it is tried: builds take time.
    if !options.json {
        let foot = match (&trial, proposal.changes()) {
            (Some(_), _) => Foot::Tried,
            (None, true) => Foot::Written(file),
            (None, false) => Foot::Nothing,
        };
        print(&advice_text::text(
            &proposal,
            timed,
            &words,
            foot,
            options.demangle,
        ));
    }
    let verified = match &trial {
        None => None,
        Some(trial) => match trial.run(&proposal, &entries) {
            Ok(verified) => Some(verified),
            Err(error) => {
                // For who repeats the build by himself.
                leave(file, &entries, &remarks)?;
                return Err(error);
            }
        },
    };
    remarks.extend(verified.iter().map(Verified::remark));
    let best = match &verified {
        Some(verified) => verified.entries(),
        None => proposal.changes().then_some(&entries),
    };
    if let Some(best) = best {
        leave(file, best, &remarks)?;
    }
    let written = best.map(|_| file);
    if options.json {
        let mut keys = advice_json::keys(&proposal, timed, verified.as_ref());
        let shown: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        keys["program"] = shown.into();
        keys["exit_status"] = status.code().into();
        keys["signal"] = status.signal().into();
        keys["placement_file"] = written.map(|file| file.to_string_lossy()).into();
        print(&json::document("advise", keys));
    } else if let (Some(verified), Some(trial)) = (&verified, &trial) {
        let build = build_command::words(trial.build);
        print(&verify_text::text(
            verified,
            &proposal,
            (&build, written),
            options.demangle,
        ));
    }
    Ok(())
}

/// Where stderr is closed, the text has no reader.
fn print(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Leaves the placement file, and an earlier one as `FILE.old`.
fn leave(file: &Path, entries: &Entries, remarks: &[String]) -> Result<(), Error> {
    output::write_keeping_old(file, entries.text(remarks).as_bytes())
        .map_err(|e| file_error(file, &e))
}
