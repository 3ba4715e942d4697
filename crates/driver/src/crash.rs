//! Failures that are not the user's: FLK0106 says whose they are and what to send to whom.
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use flick_diagnostics::Code;
use flick_image::output;

use crate::reproduction::Reproduction;
use crate::run::Runner;
use crate::{Error, Result};

/// A directory for clang's temporary files, and for its own report about a crash.
const REPORTS: &str = "CLANG_CRASH_DIAGNOSTICS_DIR";

/// A directory for reports of crashes, unless the user has one. Clang makes it if it crashes. No
/// earlier process had the name: what one of them left there would be taken for a crash of this
/// one.
pub fn reports(words: &[OsString]) -> Option<PathBuf> {
    let option = |w: &OsString| w.to_string_lossy().starts_with("-fcrash-diagnostics-dir");
    if std::env::var_os(REPORTS).is_some() || words.iter().any(option) {
        return None;
    }
    Some(std::env::temp_dir().join(unused_name()))
}

/// Process identifiers come back; together with the time they do not.
fn unused_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanoseconds = now.unwrap_or_default().as_nanos();
    format!("flick-crash-{}-{nanoseconds:x}", std::process::id())
}

/// Makes clang put its own report about a crash there, and nothing else.
pub fn reports_word(dir: &Path) -> OsString {
    let mut word = OsString::from("-fcrash-diagnostics-dir=");
    word.push(dir);
    word
}

/// Whether a failing command crashed: clang left a report, or died of its own fault.
pub fn happened(reports: Option<&Path>, code: u8) -> bool {
    // ILL, ABRT, BUS, FPE, SEGV; KILL and the like come from outside.
    reports.is_some_and(has_files) || [132, 134, 135, 136, 139].contains(&code)
}

/// The directory may be there and empty.
fn has_files(reports: &Path) -> bool {
    std::fs::read_dir(reports).is_ok_and(|mut entries| entries.next().is_some())
}

/// The error for a compiler that crashed. The command is repeated without Flick, on the copies in
/// the reproduction, to see whose fault it is.
pub fn explain(saved: &Reproduction, runner: Runner) -> Result<Error> {
    let dir = &saved.dir;
    let reports = dir.join("plain-clang");
    let set = |command: &mut Command| {
        command.env(REPORTS, &reports).stdin(Stdio::null());
    };
    runner.capture_set(Path::new("sh"), &[dir.join("plain.sh").into()], set)?;
    let (whose, why, next) = if has_files(&reports) {
        (
            "clang's",
            "clang crashes on it without Flick, too",
            "report it to LLVM; other options, for example another -O, may avoid it",
        )
    } else {
        (
            "Flick's",
            "clang alone compiles it",
            "report it to Flick; until then keep the functions of this file on the host (FLICK_HOST, or \
             `host NAME` in a placement file)",
        )
    };
    let first = saved.args.sources.first();
    Ok(Error::new(
        Code::InternalCrash,
        format!("the compiler crashed; this is a bug of {whose}, not of your program"),
        first.map(|s| s.display().to_string()).unwrap_or_default(),
        why,
        format!(
            "{next}. {0} has all that a report needs; {0}/run.sh repeats it",
            dir.display()
        ),
    ))
}

/// Runs `command`; a panic is a bug of Flick's, and is said to be one. The exit code is then that
/// of an internal software error (sysexits.h).
pub fn guarded(command: impl FnOnce() -> ExitCode) -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        output::message(own_bug(&place, message(info)));
    }));
    // Nothing is used after a panic.
    let command = std::panic::AssertUnwindSafe(command);
    std::panic::catch_unwind(command).unwrap_or(ExitCode::from(70))
}

fn message<'a>(info: &'a std::panic::PanicHookInfo) -> &'a str {
    let payload = info.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no reason given")
}

fn own_bug(place: &str, why: &str) -> Error {
    Error::new(
        Code::InternalCrash,
        "flick cc failed; this is a bug of Flick's, not of your program",
        place,
        why,
        "repeat the command with FLICK_SAVE_DIR=DIR in the environment and report the directory that \
         appears in DIR",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_process_left_is_not_a_crash_of_this_one() {
        let earlier = tempfile::tempdir().unwrap();
        std::fs::write(earlier.path().join("prog.c"), "int x;").unwrap();
        assert!(happened(Some(earlier.path()), 1));
        let next = reports(&[]).unwrap();
        assert!(!happened(Some(&next), 1));
        assert_ne!(
            reports(&[]).unwrap(),
            next,
            "another process, the same identifier"
        );
    }

    #[test]
    fn a_panic_is_an_error_with_a_code() {
        assert_eq!(guarded(|| panic!("on purpose")), ExitCode::from(70));
        let _ = std::panic::take_hook();
        let text = own_bug("a.rs:1:2", "on purpose").to_string();
        assert!(
            text.starts_with("flick: error: [FLK0106] ") && text.contains("a.rs:1:2: on purpose")
        );
    }
}
