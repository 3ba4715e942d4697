//! The command that builds the program anew, by a placement file.
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use flick_abi::settings::PLACE;
use flick_diagnostics::Code;
use flick_image::Error;

use crate::run_program::{self, file_error};

/// Lines of the command's output that a message has.
const TAIL: usize = 20;
/// Bytes at the end of the output that are looked at.
const LOOKED_AT: u64 = 64 << 10;

/// Runs `command` with `place` as the placement file of each `flick cc` in it; without one, as the user
/// does. Its output is kept for the message. FLK0118 where it fails.
pub fn build(command: &[OsString], place: Option<&Path>) -> Result<(), Error> {
    let failed = |why: String| cannot_verify(command, why, "repeat the build command by itself");
    let Some((program, arguments)) = command.split_first() else {
        return Ok(());
    };
    let dir = std::env::temp_dir();
    let mut output = tempfile::tempfile().map_err(|e| file_error(&dir, &e))?;
    let both = || output.try_clone().map_err(|e| file_error(&dir, &e));
    let mut child = Command::new(program);
    child
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(both()?)
        .stderr(both()?)
        // A compiler cache does not know of the file.
        .env("CCACHE_DISABLE", "1");
    match place {
        Some(place) => child.env(PLACE, place),
        None => child.env_remove(PLACE),
    };
    run_program::heeds_the_terminal(&mut child);
    let status = child.status().map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(());
    }
    let tail = tail(&mut output).unwrap_or_default();
    Err(failed(match tail.is_empty() {
        true => ended(status),
        false => format!("{}; its output ends with:\n{tail}", ended(status)),
    }))
}

/// FLK0118.
pub fn cannot_verify(command: &[OsString], why: String, help: &str) -> Error {
    Error::new(
        Code::CannotVerify,
        "the advice cannot be verified",
        words(command),
        why,
        help,
    )
}

/// How a command ended that should have ended by itself.
pub fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with status {code}"),
        (None, Some(signal)) => format!("it was killed by signal {signal}"),
        (None, None) => "it did not end by itself".to_owned(),
    }
}

/// A command for people.
pub fn words(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

fn tail(output: &mut File) -> io::Result<String> {
    let length = output.metadata()?.len();
    output.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT)))?;
    let mut bytes = Vec::new();
    output.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let last = &lines[lines.len().saturating_sub(TAIL)..];
    let indented = last.iter().map(|line| format!("  {line}"));
    Ok(indented.collect::<Vec<_>>().join("\n"))
}
