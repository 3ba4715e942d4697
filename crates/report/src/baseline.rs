//! `flick stat --verify-baseline`: the predicted time without migration against a run in which nothing migrates.
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use flick_events::timed::{Timed, duration};
use flick_image::Error;

use crate::child::file_error;

/// Runs `command` with everything on the host, its output thrown away, and compares. `records`: of the first run, whose
/// process was `pid`.
pub fn verify(
    command: &[OsString],
    platform: Option<&OsStr>,
    records: &str,
    pid: u32,
) -> Result<String, Error> {
    let Some(first) = last(records, pid) else {
        return Ok(" Baseline: the run has left no prediction.\n\n".into());
    };
    let dir = tempfile::Builder::new()
        .prefix("flick-stat")
        .tempdir()
        .map_err(|e| file_error(&std::env::temp_dir(), &e))?;
    let record = dir.path().join("record");
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .env("FLICK_STATS", &record)
        .env("FLICK_PLATFORM", platform.unwrap_or_default())
        .env("FLICK_OFFLOAD", "off")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|e| file_error(Path::new(&command[0]), &e))?;
    let pid = child.id();
    child
        .wait()
        .map_err(|e| file_error(Path::new(&command[0]), &e))?;
    let records = fs::read(&record).unwrap_or_default();
    let Some(second) = last(&String::from_utf8_lossy(&records), pid) else {
        return Ok(" Baseline: the run with FLICK_OFFLOAD=off has left no prediction.\n\n".into());
    };
    Ok(compare(&first, &second))
}

fn last(records: &str, pid: u32) -> Option<Timed> {
    let all = flick_events::parse(records).ok()?;
    all.into_iter().rfind(|summary| summary.pid == pid)?.timed
}

fn compare(first: &Timed, second: &Timed) -> String {
    let difference = second.migrating as f64 / first.staying.max(1) as f64 - 1.0;
    let remark = if first.host_counted {
        ""
    } else {
        " Host code was not built with --flick-timed: the second run lacks its time.\n"
    };
    format!(
        " Baseline: {} predicted, {} in a run with everything on the host ({:+.1} %)\n{remark}\n",
        duration(first.staying),
        duration(second.migrating),
        difference * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_of_the_second_run() {
        let first = Timed {
            staying: 1_000_000,
            host_counted: true,
            ..Timed::default()
        };
        let second = Timed {
            migrating: 1_050_000,
            ..Timed::default()
        };
        let text = compare(&first, &second);
        assert!(text.contains("1.000 us predicted, 1.050 us"), "{text}");
        assert!(text.contains("(+5.0 %)"), "{text}");
    }
}
