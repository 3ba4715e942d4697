//! Further runs of a program, for their predictions: `--verify-baseline`, `--repeat`, `flick advise --verify`.
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitStatus;

use flick_events::Summary;
use flick_events::timed::Timed;
use flick_image::Error;

use crate::run_program::{self, file_error};

/// How a further run ended, and what it predicts, if it left that.
pub struct Again {
    pub status: ExitStatus,
    pub timed: Option<Timed>,
}

/// Runs `command` for `platform` and with `more` in its environment. It reads nothing and what it
/// prints is thrown away: what the user sees is of the first run.
pub fn run(
    command: &[OsString],
    platform: &OsStr,
    more: &[(&str, &OsStr)],
) -> Result<Again, Error> {
    let (status, pid, records) =
        records_of(command, &[&[("FLICK_PLATFORM", platform)], more].concat())?;
    Ok(Again {
        status,
        timed: last(&records, pid),
    })
}

/// What has a run record its functions.
pub fn profile(platform: &OsStr) -> [(&'static str, &OsStr); 3] {
    [
        ("FLICK_PLATFORM", platform),
        ("FLICK_PROFILE", OsStr::new("functions")),
        // What is taken for the host's now shall not be what is on the NxP.
        ("FLICK_OFFLOAD", OsStr::new("auto")),
    ]
}

/// As [`run`], with the functions: how it ended, and its summary, if it left one.
pub fn profiled(
    command: &[OsString],
    platform: &OsStr,
) -> Result<(ExitStatus, Option<Summary>), Error> {
    let (status, pid, records) = records_of(command, &profile(platform))?;
    Ok((status, last_summary(&records, pid)))
}

/// How it ended, its process, and the records of that and its children.
fn records_of(
    command: &[OsString],
    more: &[(&str, &OsStr)],
) -> Result<(ExitStatus, u32, String), Error> {
    let dir = tempfile::Builder::new()
        .prefix("flick-again")
        .tempdir()
        .map_err(|e| file_error(&std::env::temp_dir(), &e))?;
    let record = dir.path().join("record");
    let mut environment = vec![("FLICK_STATS", record.as_os_str())];
    environment.extend(more);
    let program = Path::new(&command[0]);
    let mut child =
        run_program::quiet(command, &environment).map_err(|e| file_error(program, &e))?;
    let status = child.wait().map_err(|e| file_error(program, &e))?;
    Ok((status, child.id(), run_program::records(&record)?))
}

/// What process `pid` predicts; after `exec` its last program.
pub fn last(records: &str, pid: u32) -> Option<Timed> {
    last_summary(records, pid)?.timed
}

/// All of the record of process `pid`; after `exec` that of its last program.
pub fn last_summary(records: &str, pid: u32) -> Option<Summary> {
    let all = flick_events::parse(records).ok()?;
    all.into_iter().rfind(|summary| summary.pid == pid)
}
