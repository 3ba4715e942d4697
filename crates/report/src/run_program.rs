//! A program that a command of Flick runs, in the manner of perf: it gets what the terminal sends,
//! and the command ends as it ended.
use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{self, Command, ExitCode, ExitStatus, Stdio};
use std::{fs, io};

use flick_diagnostics::Code;
use flick_image::{Error, output};

/// Starts `command` (program, then arguments) for `tool`. Where that cannot be, says so on stderr
/// and gives the exit status: 126 and 127, as in a shell.
pub fn start(
    tool: &str,
    command: &[OsString],
    environment: &[(&str, &OsStr)],
) -> Result<process::Child, ExitCode> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(ExitCode::from(2));
    };
    let child = Command::new(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .spawn()
        .map_err(|error| {
            output::message(Error::new(
                Code::FileAccess,
                "the program cannot be started",
                program.to_string_lossy(),
                error.to_string(),
                format!("give its path: {tool} ./program"),
            ));
            let missing = error.kind() == io::ErrorKind::NotFound;
            ExitCode::from(if missing { 127 } else { 126 })
        })?;
    // What the terminal sends is for the program; we live on to report.
    for signal in TERMINAL {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    Ok(child)
}

/// What the terminal sends to end a program.
pub const TERMINAL: [i32; 2] = [libc::SIGINT, libc::SIGQUIT];

/// Starts `command` once more, with nothing to read and nobody to read it.
pub fn quiet(command: &[OsString], environment: &[(&str, &OsStr)]) -> io::Result<process::Child> {
    let mut child = Command::new(&command[0]);
    child
        .args(&command[1..])
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    heeds_the_terminal(&mut child);
    child.spawn()
}

/// The terminal can end the program that `child` starts. What [`start`] ignores would be ignored there, too,
/// and nobody could end it.
pub fn heeds_the_terminal(child: &mut Command) {
    // SAFETY: `signal` may be called between `fork` and `exec`, and installs no handler.
    unsafe {
        child.pre_exec(|| {
            for signal in TERMINAL {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

/// Ends as the program ended: its exit status is returned, its signal raised. Dying by a signal
/// runs no destructors.
pub fn end_as(status: ExitStatus) -> ExitCode {
    match status.code() {
        Some(code) => ExitCode::from(code as u8),
        None => die_of(status.signal().unwrap_or(libc::SIGKILL)),
    }
}

/// Ends this process by the signal that ended the program, without a second core file.
fn die_of(signal: i32) -> ExitCode {
    // SAFETY: plain system calls with valid arguments; the signal's default action is restored
    // first.
    unsafe {
        libc::setrlimit(
            libc::RLIMIT_CORE,
            &libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            },
        );
        libc::signal(signal, libc::SIG_DFL);
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
        libc::raise(signal);
    }
    // A signal that does not end a process by default has not ended the program either.
    ExitCode::from(128u8.saturating_add(signal as u8))
}

/// The records that the program's runtime left in the file at `path`; empty where it left none.
/// FLK0105, also where there was no room for one.
pub fn records(path: &Path) -> Result<String, Error> {
    match fs::read(path) {
        Ok(bytes) if !bytes.is_empty() => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(file_error(path, &error));
        }
        _ => {}
    }
    let probe = path.with_extension("room");
    fs::write(&probe, [0; RECORD])
        .and_then(|()| fs::remove_file(&probe))
        .map_err(|error| {
            let place = path.parent().unwrap_or(path);
            let mut shown = file_error(place, &error);
            shown.what = "the record of the run cannot be written".into();
            shown.help = "make room there, or set TMPDIR to a directory that has some".into();
            shown
        })?;
    Ok(String::new())
}

/// Bytes that a record takes, or so.
const RECORD: usize = 16 << 10;

/// FLK0105.
pub fn file_error(path: &Path, error: &io::Error) -> Error {
    Error::new(
        Code::FileAccess,
        "a file cannot be read or written",
        path.display().to_string(),
        error.to_string(),
        "check that the place exists, is writable and not full",
    )
}
