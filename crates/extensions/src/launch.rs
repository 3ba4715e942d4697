//! How a program and its watcher begin.
//!
//! The process that the user has started becomes the program, so that its number, parent, exit status
//! and job control are the program's. The watcher is another process, in a session of its own, so that
//! no key of a terminal reaches it. The program is not its parent: it must not see a child that it did
//! not make.
use std::ffi::{CString, OsString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::{fs, io, ptr};

use flick_diagnostics::Code;
use flick_image::Error;

use crate::cpus::{Cpu, Cpus};
use crate::move_policy::{Policy, Time};
use crate::watcher::Watcher;
use crate::{affinity, description, sources, thread_stops};

/// What the command line says.
pub struct Options {
    /// A description of CPUs.
    pub cpus: Option<PathBuf>,
    /// For how long a thread is held the first time, in nanoseconds.
    pub hold: Time,
    /// A report is written to standard error at the end.
    pub has_report: bool,
}

/// A thread that keeps coming back is held so many times longer at most.
const LONGEST: Time = 100;

/// All CPUs, as the system and the user's description have them.
///
/// # Errors
/// FLK0115: the description is unreadable or malformed.
pub fn cpus(file: Option<&Path>) -> Result<Vec<Cpu>, Error> {
    let mut cpus = sources::of_system(Path::new("/"));
    if let Some(file) = file {
        let error = |place: String, why: String| {
            Error::new(
                Code::CpuDescription,
                "a description of CPUs cannot be used",
                place,
                why,
                "docs/migration.md has its keys",
            )
        };
        let name = file.display().to_string();
        let text = fs::read_to_string(file).map_err(|why| error(name.clone(), why.to_string()))?;
        description::add(&mut cpus, &text)
            .map_err(|wrong| error(format!("{name}:{}", wrong.line), wrong.why))?;
    }
    Ok(cpus)
}

/// Runs a program in this process, under a watcher. It returns only if that fails.
///
/// # Errors
/// FLK0115; FLK0114: this process cannot be watched. FLK0103: the program cannot be executed.
pub fn run(command: &[OsString], options: &Options) -> Result<std::convert::Infallible, Error> {
    let cpus = Cpus::new(cpus(options.cpus.as_deref())?);
    let policy = Policy {
        hold: options.hold,
        longest: options.hold.saturating_mul(LONGEST),
    };
    start_watcher(cpus, policy, options.has_report).map_err(|why| unwatched(&why))?;
    affinity::watch_calls().map_err(|why| unwatched(&why))?;
    execute(command)
}

fn unwatched(why: &io::Error) -> Error {
    Error::new(
        Code::UnwatchedProgram,
        "a program cannot be watched",
        "",
        why.to_string(),
        "flick run --extensions needs ptrace and seccomp filters: no debugger or strace above it, and \
         a container that allows both",
    )
}

/// Starts the watcher of this process, and waits until it watches.
fn start_watcher(cpus: Cpus, policy: Policy, has_report: bool) -> io::Result<()> {
    let mut ends = [0; 2];
    // SAFETY: `pipe2` writes two numbers; they are files that nobody else owns.
    let (ready, tell) = unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    };
    // SAFETY: the calls have numbers as arguments alone. This process has one thread, so that a copy of
    // it may do all that it could.
    let (program, first) = unsafe {
        // Where only ancestors may watch (Yama), the watcher is named by any, for now.
        libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0);
        (libc::getpid(), libc::fork())
    };
    match first {
        -1 => return Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: as above. The process between ends at once, so that the watcher has another parent.
            unsafe {
                match libc::fork() {
                    0 => {}
                    -1 => libc::_exit(*libc::__errno_location()),
                    _ => libc::_exit(0),
                }
                libc::setsid();
            }
            drop(ready);
            become_watcher(cpus, policy, has_report, program, tell);
        }
        between => {
            let mut status = 0;
            // SAFETY: the status lives across the call.
            unsafe { libc::waitpid(between, &raw mut status, 0) };
            if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) != 0 {
                return Err(io::Error::from_raw_os_error(libc::WEXITSTATUS(status)));
            }
        }
    }
    drop(tell);
    let mut word = [0_u8; 4];
    // SAFETY: the word lives across the call. The file is open.
    let read = unsafe { libc::read(ready.as_raw_fd(), word.as_mut_ptr().cast(), word.len()) };
    // SAFETY: the call has numbers as arguments alone.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, 0, 0, 0, 0) };
    match i32::from_ne_bytes(word) {
        0 if read == 4 => Ok(()),
        0 => Err(io::Error::other("the watcher has ended")),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Watches `program`, says so by `tell`, and ends with it.
fn become_watcher(cpus: Cpus, policy: Policy, has_report: bool, program: i32, tell: OwnedFd) -> ! {
    let watcher =
        thread_stops::seize(program).and_then(|()| Watcher::new(cpus, policy, has_report, program));
    let error = watcher
        .as_ref()
        .map_or_else(|e| e.raw_os_error().unwrap_or(libc::EIO), |_| 0);
    let word = error.to_ne_bytes();
    // SAFETY: the word lives across the call. Files 0 and 1 are the program's: a pipe must end with it.
    unsafe {
        libc::write(tell.as_raw_fd(), word.as_ptr().cast(), word.len());
        libc::close(0);
        libc::close(1);
        libc::chdir(c"/".as_ptr());
    }
    drop(tell);
    if let Ok(watcher) = watcher {
        watcher.watch();
    }
    // SAFETY: nothing is left to be written.
    unsafe { libc::_exit(0) }
}

/// This process becomes the program.
fn execute(command: &[OsString]) -> Result<std::convert::Infallible, Error> {
    let error = |why: String| {
        let name = command
            .first()
            .map(|name| name.to_string_lossy().into_owned());
        Error::new(
            Code::FailedTool,
            "the program cannot be executed",
            name.unwrap_or_default(),
            why,
            "check its name, and that it is a program of this machine",
        )
    };
    let words = command
        .iter()
        .map(|word| CString::new(word.clone().into_vec()));
    let words: Vec<CString> = words
        .collect::<Result<_, _>>()
        .map_err(|why| error(why.to_string()))?;
    let Some(program) = words.first() else {
        return Err(error("no program is named".into()));
    };
    let mut pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(ptr::null());
    // SAFETY: the words end with zeros and live across the call, and the list ends with a null pointer.
    unsafe { libc::execvp(program.as_ptr(), pointers.as_ptr()) };
    Err(error(io::Error::last_os_error().to_string()))
}
