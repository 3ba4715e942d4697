//! Runs a command with a time limit and keeps what it printed: for what compares programs.
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use wait_timeout::ChildExt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Code(i32),
    Signal(i32),
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

#[derive(Clone, Debug)]
pub struct Finished {
    pub status: Status,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

pub struct Run<'a> {
    pub argv: &'a [String],
    pub cwd: &'a Path,
    /// Output goes through `TAG.out` and `TAG.err` in this folder, so that a child that outlives the
    /// program cannot hold us up.
    pub scratch: &'a Path,
    pub tag: &'a str,
    pub env: &'a [(String, String)],
    pub stdin: Option<&'a Path>,
    pub limit: Duration,
    /// Of processor time, which a busy machine does not stretch; a program that uses `ITIMER_PROF` or
    /// SIGPROF itself must go without.
    pub processor_limit: Option<Duration>,
}

impl Run<'_> {
    /// In a process group of its own, without the variables named `FLICK_*` that we have.
    ///
    /// # Errors
    /// Those of starting the command and of the files.
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
                // SAFETY: setitimer is async-signal-safe; `value` is valid and the old one not asked for.
                match unsafe { libc::setitimer(libc::ITIMER_PROF, &value, std::ptr::null_mut()) } {
                    0 => Ok(()),
                    _ => Err(io::Error::last_os_error()),
                }
            };
            // SAFETY: `start` makes one system call, allocates nothing and takes no lock.
            unsafe { command.pre_exec(start) };
        }
        let mut child = command.process_group(0).spawn()?;
        let status = child.wait_timeout(self.limit)?;
        if status.is_none() {
            let group = i32::try_from(child.id()).map_err(io::Error::other)?;
            // SAFETY: killpg only takes numbers; the group is the child's own, not yet reaped.
            unsafe { libc::killpg(group, libc::SIGKILL) };
            child.wait()?;
        }
        let finished = Finished {
            status: status.map_or(Status::TimedOut, |status| match status.signal() {
                Some(libc::SIGPROF) if self.processor_limit.is_some() => Status::TimedOut,
                Some(signal) => Status::Signal(signal),
                None => Status::Code(status.code().unwrap_or(-1)),
            }),
            stdout: fs::read(&out)?,
            stderr: fs::read(&err)?,
        };
        fs::remove_file(out)?;
        fs::remove_file(err)?;
        Ok(finished)
    }
}

impl Finished {
    pub fn succeeded(&self) -> bool {
        self.status == Status::Code(0)
    }

    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

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
    fn quotes_for_a_shell() {
        assert_eq!(quote("a b'c"), "'a b'\\''c'");
        assert_eq!(quote("-O2"), "-O2");
        assert_eq!(quote(""), "''");
    }
}
