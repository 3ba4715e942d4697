//! Further runs of a program, for their predictions: `--verify-baseline`, `--repeat`.
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitStatus;

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
    let dir = tempfile::Builder::new()
        .prefix("flick-stat")
        .tempdir()
        .map_err(|e| file_error(&std::env::temp_dir(), &e))?;
    let record = dir.path().join("record");
    let mut environment = vec![
        ("FLICK_STATS", record.as_os_str()),
        ("FLICK_PLATFORM", platform),
    ];
    environment.extend(more);
    let program = Path::new(&command[0]);
    let mut child =
        run_program::quiet(command, &environment).map_err(|e| file_error(program, &e))?;
    let status = child.wait().map_err(|e| file_error(program, &e))?;
    Ok(Again {
        status,
        timed: last(&run_program::records(&record)?, child.id()),
    })
}

/// What process `pid` predicts; after `exec` its last program.
pub fn last(records: &str, pid: u32) -> Option<Timed> {
    let all = flick_events::parse(records).ok()?;
    all.into_iter().rfind(|summary| summary.pid == pid)?.timed
}
