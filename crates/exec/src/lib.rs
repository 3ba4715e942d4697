//! Runs a command with a time limit, and keeps its output and its exit status. `flick torture` and
//! the tests use it to compare programs.
//!
//! A [`Run`] describes the command, [`Run::finish`] starts it, `child.rs` waits for it, and
//! [`Finished`] has the result. Output goes through files, and not through pipes.
#![warn(missing_docs)]
mod child;

pub use child::processor_time;

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How a command has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The command has exited with this status.
    Code(i32),
    /// The signal of this number has ended the command.
    Signal(i32),
    /// The command ran past a limit of time, and was killed.
    TimedOut,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => write!(f, "ran past its time limit"),
        }
    }
}

/// The result of a command.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it has ended.
    pub status: Status,
    /// All that it has written to standard output.
    pub stdout: Vec<u8>,
    /// All that it has written to standard error.
    pub stderr: Vec<u8>,
    /// Processor time of the command and of the processes that it waited for.
    pub cpu: Duration,
}

/// Limits that the kernel keeps for each process of a command.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caps {
    /// Bytes of private writable memory. Memory that is only reserved does not count.
    pub data: Option<u64>,
    /// Bytes of a file that is written.
    pub file: Option<u64>,
    /// Seconds of processor time. The kernel ends a process that passes them, which counts as a
    /// time-out.
    pub cpu: Option<u64>,
    /// The kernel kills the command where the thread that has started it ends. Its children are not
    /// killed.
    pub with_caller: bool,
}

/// A command, and the conditions of its run.
pub struct Run<'a> {
    /// The program and its arguments.
    pub argv: &'a [String],
    /// The folder in which the command runs.
    pub cwd: &'a Path,
    /// Output goes through `TAG.out` and `TAG.err` in this folder. So a child that outlives the
    /// program, and would keep a pipe open, cannot delay the result.
    pub scratch: &'a Path,
    /// It names the files of this command's output in `scratch`.
    pub tag: &'a str,
    /// Variables that are set beside those of the caller.
    pub env: &'a [(String, String)],
    /// The file that is the standard input. Without one the input is empty.
    pub stdin: Option<&'a Path>,
    /// The time by the clock on the wall, after which the command is killed.
    pub limit: Duration,
    /// A limit of processor time, which a busy machine does not stretch. A program that uses
    /// `ITIMER_PROF` or SIGPROF itself must go without.
    pub processor_limit: Option<Duration>,
    /// Further limits.
    pub caps: Caps,
}

impl Run<'_> {
    /// Runs the command in a process group of its own, without the caller's variables `FLICK_*`.
    ///
    /// # Errors
    /// The command could not be started, or its files could not be written or read.
    pub fn finish(&self) -> io::Result<Finished> {
        let out = self.scratch.join(format!("{}.out", self.tag));
        let err = self.scratch.join(format!("{}.err", self.tag));
        let mut command = Command::new(&self.argv[0]);
        command.args(&self.argv[1..]).current_dir(self.cwd);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("FLICK_") {
                command.env_remove(name);
            }
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(match self.stdin {
            Some(file) => Stdio::from(File::open(file)?),
            None => Stdio::null(),
        });
        command
            .stdout(File::create(&out)?)
            .stderr(File::create(&err)?);
        if let Some(limit) = self.processor_limit {
            let value = libc::itimerval {
                it_interval: libc::timeval {
                    tv_sec: 0,
                    tv_usec: 0,
                },
                it_value: libc::timeval {
                    tv_sec: limit.as_secs().try_into().map_err(io::Error::other)?,
                    tv_usec: limit.subsec_micros().into(),
                },
            };
            // A timer outlives `exec`.
            let start = move || {
                // SAFETY: setitimer is async-signal-safe. `value` is valid, and null asks for no
                // old value.
                match unsafe { libc::setitimer(libc::ITIMER_PROF, &value, std::ptr::null_mut()) } {
                    0 => Ok(()),
                    _ => Err(io::Error::last_os_error()),
                }
            };
            // SAFETY: `start` makes one system call, allocates nothing and takes no lock.
            unsafe { command.pre_exec(start) };
        }
        let limits = self.caps.resources();
        if !limits.is_empty() {
            let set = move || {
                limits.iter().try_for_each(|&(resource, most)| {
                    let value = libc::rlimit {
                        rlim_cur: most,
                        rlim_max: most,
                    };
                    // SAFETY: setrlimit is async-signal-safe; `value` is valid.
                    match unsafe { libc::setrlimit(resource, &value) } {
                        0 => Ok(()),
                        _ => Err(io::Error::last_os_error()),
                    }
                })
            };
            // SAFETY: `set` makes system calls, allocates nothing and takes no lock.
            unsafe { command.pre_exec(set) };
        }
        if self.caps.with_caller {
            // SAFETY: getpid takes nothing and always succeeds.
            let caller = unsafe { libc::getpid() };
            let end_with = move || {
                // SAFETY: prctl and getppid are async-signal-safe, and take numbers.
                let set = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
                // The caller may have ended before.
                // SAFETY: as above.
                match set == 0 && unsafe { libc::getppid() } == caller {
                    true => Ok(()),
                    false => Err(io::Error::last_os_error()),
                }
            };
            // SAFETY: `end_with` makes system calls, allocates nothing and takes no lock.
            unsafe { command.pre_exec(end_with) };
        }
        let child = command.process_group(0).spawn()?;
        let (ended, cpu) = child::wait(child, self.limit)?;
        let finished = Finished {
            status: ended.map_or(Status::TimedOut, |status| match status.signal() {
                Some(libc::SIGPROF) if self.processor_limit.is_some() => Status::TimedOut,
                // The kernel sends SIGKILL where both limits are the same.
                Some(libc::SIGXCPU | libc::SIGKILL) if self.caps.spent(cpu) => Status::TimedOut,
                Some(signal) => Status::Signal(signal),
                None => Status::Code(status.code().unwrap_or(-1)),
            }),
            stdout: fs::read(&out)?,
            stderr: fs::read(&err)?,
            cpu,
        };
        fs::remove_file(out)?;
        fs::remove_file(err)?;
        Ok(finished)
    }
}

impl Caps {
    fn resources(self) -> Vec<(libc::__rlimit_resource_t, u64)> {
        let all = [
            (libc::RLIMIT_DATA, self.data),
            (libc::RLIMIT_FSIZE, self.file),
            (libc::RLIMIT_CPU, self.cpu),
        ];
        let asked = all.into_iter();
        asked.filter_map(|(r, most)| Some((r, most?))).collect()
    }

    /// Whether the limit of processor time can have ended a process that took this much.
    fn spent(self, cpu: Duration) -> bool {
        // The kernel checks the limit at ticks, and `cpu` is its account at the end.
        let slack = Duration::from_millis(500);
        self.cpu
            .is_some_and(|most| cpu + slack >= Duration::from_secs(most))
    }
}

impl Finished {
    /// Whether the command has exited with status 0.
    pub fn succeeded(&self) -> bool {
        self.status == Status::Code(0)
    }

    /// Standard output, with a replacement for bytes that are no UTF-8.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error, in the same form.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// A word as a shell reads it.
pub fn quote(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./=+,:%@".contains(&b);
    if !word.is_empty() && word.bytes().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: u64) -> Finished {
        let dir = tempfile::tempdir().unwrap();
        let input = dir.path().join("in");
        fs::write(&input, "typed\n").unwrap();
        Run {
            argv: &["sh".into(), "-c".into(), script.into()],
            cwd: dir.path(),
            scratch: dir.path(),
            tag: "t",
            env: &[("GIVEN".into(), "value".into())],
            stdin: Some(&input),
            limit: Duration::from_secs(limit),
            processor_limit: Some(Duration::from_millis(300)),
            caps: Caps::default(),
        }
        .finish()
        .unwrap()
    }

    #[test]
    fn keeps_output_and_status() {
        let finished = sh("cat; echo $GIVEN; echo err >&2; exit 3", 10);
        assert_eq!(finished.status, Status::Code(3));
        assert_eq!(finished.stdout_text(), "typed\nvalue\n");
        assert_eq!(finished.stderr_text(), "err\n");
        assert_eq!(sh("kill -9 $$", 10).status, Status::Signal(9));
        assert!(sh("true", 10).succeeded());
    }

    #[test]
    fn ends_what_runs_too_long() {
        assert_eq!(sh("sleep 30 & sleep 30", 1).status, Status::TimedOut);
        assert_eq!(sh("while :; do :; done", 60).status, Status::TimedOut);
    }

    #[test]
    fn knows_what_it_took() {
        let idle = sh("sleep 0.2", 10);
        assert!(idle.cpu < Duration::from_millis(100), "{:?}", idle.cpu);
        let busy = sh("while :; do :; done", 60);
        assert!(busy.cpu >= Duration::from_millis(250), "{:?}", busy.cpu);
    }

    #[test]
    fn the_kernel_keeps_caps() {
        let dir = tempfile::tempdir().unwrap();
        let capped = |script: &str, caps| {
            let run = Run {
                argv: &["sh".into(), "-c".into(), script.into()],
                cwd: dir.path(),
                scratch: dir.path(),
                tag: "t",
                env: &[],
                stdin: None,
                limit: Duration::from_secs(60),
                processor_limit: None,
                caps,
            };
            run.finish().unwrap().status
        };
        let cpu = Caps {
            cpu: Some(1),
            ..Caps::default()
        };
        assert_eq!(capped("while :; do :; done", cpu), Status::TimedOut);
        assert_eq!(capped("kill -9 $$", cpu), Status::Signal(libc::SIGKILL));
        let file = Caps {
            file: Some(4096),
            ..Caps::default()
        };
        let long = "exec head -c 9999 /dev/zero >big";
        assert_eq!(capped(long, file), Status::Signal(libc::SIGXFSZ));
        let data = Caps {
            data: Some(64 << 20),
            ..Caps::default()
        };
        let large = "x=0123456789abcdef; while :; do x=$x$x; done";
        assert!(!matches!(capped(large, data), Status::Code(0)));
    }

    #[test]
    fn quotes_for_a_shell() {
        assert_eq!(quote("a b'c"), "'a b'\\''c'");
        assert_eq!(quote("-O2"), "-O2");
        assert_eq!(quote(""), "''");
    }
}
