//! Runs a command with a time limit and keeps what it printed.
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
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
    pub stderr: String,
}

pub struct Run<'a> {
    pub argv: &'a [String],
    pub cwd: &'a Path,
    /// An empty folder or one that may be written to: output goes through files there, so that a
    /// child that outlives the program cannot hold us up.
    pub scratch: &'a Path,
    pub env: &'a [(&'a str, String)],
    pub stdin: Option<&'a Path>,
    pub limit: Duration,
}

impl Run<'_> {
    /// In a process group of its own, without the variables named `FLICK_*` that we have.
    pub fn finish(&self) -> io::Result<Finished> {
        let out: PathBuf = self.scratch.join("torture.out");
        let err: PathBuf = self.scratch.join("torture.err");
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
        let mut child = command.process_group(0).spawn()?;
        let status = child.wait_timeout(self.limit)?;
        if status.is_none() {
            let group = i32::try_from(child.id()).map_err(io::Error::other)?;
            // SAFETY: killpg only takes numbers; the group is the child's own, not yet reaped.
            unsafe { libc::killpg(group, libc::SIGKILL) };
            child.wait()?;
        }
        Ok(Finished {
            status: status.map_or(Status::TimedOut, |status| match status.signal() {
                Some(signal) => Status::Signal(signal),
                None => Status::Code(status.code().unwrap_or(-1)),
            }),
            stdout: fs::read(&out)?,
            stderr: String::from_utf8_lossy(&fs::read(&err)?).into_owned(),
        })
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
        Run {
            argv: &["sh".into(), "-c".into(), script.into()],
            cwd: dir.path(),
            scratch: dir.path(),
            env: &[("GIVEN", "value".into())],
            stdin: None,
            limit: Duration::from_secs(limit),
        }
        .finish()
        .unwrap()
    }

    #[test]
    fn keeps_output_and_status() {
        let finished = sh("echo $GIVEN; echo err >&2; exit 3", 10);
        assert_eq!(finished.status, Status::Code(3));
        assert_eq!(finished.stdout, b"value\n");
        assert_eq!(finished.stderr, "err\n");
        assert_eq!(sh("kill -9 $$", 10).status, Status::Signal(9));
    }

    #[test]
    fn ends_what_runs_too_long() {
        assert_eq!(sh("sleep 30 & sleep 30", 1).status, Status::TimedOut);
    }
}
