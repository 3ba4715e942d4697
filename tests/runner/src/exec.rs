//! Runs a command with a time limit and captures what it prints.
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, io};

use wait_timeout::ChildExt;

use crate::directives::Exit;

/// A command as a person would type it.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    pub env: Vec<(String, String)>,
    pub stdin: String,
    pub timeout: u64,
}

#[derive(Clone, Debug)]
pub struct Finished {
    /// `None`: it ran past its time limit and was killed.
    pub exit: Option<Exit>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Invocation {
    pub fn new(argv: Vec<String>, cwd: &Path) -> Self {
        Self {
            argv,
            cwd: cwd.to_owned(),
            env: Vec::new(),
            stdin: String::new(),
            timeout: 120,
        }
    }

    /// A shell line that repeats it.
    pub fn shell(&self) -> String {
        let mut words: Vec<String> = self
            .env
            .iter()
            .map(|(k, v)| format!("{k}={}", quote(v)))
            .collect();
        words.extend(self.argv.iter().map(|w| quote(w)));
        let input = if self.stdin.is_empty() {
            String::new()
        } else {
            format!("printf %s {} | ", quote(&self.stdin))
        };
        format!(
            "cd {} && {input}{}",
            quote(&self.cwd.display().to_string()),
            words.join(" ")
        )
    }

    /// Runs it in a process group of its own; output goes through files named after `tag`, so that
    /// a child that outlives it cannot hold the runner up. Variables named `FLICK_*` are not
    /// inherited.
    pub fn run(&self, tag: &str) -> io::Result<Finished> {
        let (out, err, input) = (
            self.cwd.join(format!("{tag}.out")),
            self.cwd.join(format!("{tag}.err")),
            self.cwd.join(format!("{tag}.in")),
        );
        fs::write(&input, &self.stdin)?;
        let mut command = Command::new(&self.argv[0]);
        command.args(&self.argv[1..]).current_dir(&self.cwd);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("FLICK_") {
                command.env_remove(name);
            }
        }
        command.envs(self.env.iter().map(|(k, v)| (k, v)));
        command.stdin(File::open(&input)?);
        command
            .stdout(File::create(&out)?)
            .stderr(Stdio::from(File::create(&err)?));
        let mut child = command.process_group(0).spawn()?;
        let status = child.wait_timeout(Duration::from_secs(self.timeout))?;
        if status.is_none() {
            let group = i32::try_from(child.id()).map_err(io::Error::other)?;
            // SAFETY: killpg only takes numbers; the group is the child's own, not yet reaped.
            unsafe { libc::killpg(group, libc::SIGKILL) };
            child.wait()?;
        }
        let exit = status.map(|s| match s.signal() {
            Some(signal) => Exit::Signal(signal),
            None => Exit::Code(s.code().unwrap_or(-1)),
        });
        let finished = Finished {
            exit,
            stdout: fs::read(&out)?,
            stderr: fs::read(&err)?,
        };
        for file in [out, err, input] {
            fs::remove_file(file)?;
        }
        Ok(finished)
    }
}

impl Finished {
    pub fn succeeded(&self) -> bool {
        self.exit == Some(Exit::Code(0))
    }

    pub fn how(&self) -> String {
        self.exit
            .map_or_else(|| "ran past its time limit".into(), |e| e.to_string())
    }

    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

fn quote(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./=+,:%@".contains(&b);
    if !word.is_empty() && word.bytes().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// No core files from the programs that are meant to crash.
pub fn forbid_core_files() {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `none` is a valid rlimit that outlives the call.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, timeout: u64) -> Finished {
        let dir = std::env::temp_dir();
        let mut run = Invocation::new(vec!["sh".into(), "-c".into(), script.into()], &dir);
        run.timeout = timeout;
        run.run(&format!(
            "flick-test-exec-{}-{timeout}-{}",
            std::process::id(),
            script.len()
        ))
        .unwrap()
    }

    #[test]
    fn captures_output_and_status() {
        let f = sh("echo out; echo err >&2; exit 3", 10);
        assert_eq!(
            (f.exit, f.stdout_text().as_str(), f.stderr_text().as_str()),
            (Some(Exit::Code(3)), "out\n", "err\n")
        );
        assert_eq!(
            sh("kill -SEGV $$", 10).exit,
            Some(Exit::Signal(libc::SIGSEGV))
        );
    }

    #[test]
    fn ends_what_runs_too_long() {
        assert_eq!(sh("sleep 30 & sleep 30", 1).exit, None);
    }

    #[test]
    fn quotes_for_a_shell() {
        assert_eq!(quote("a b'c"), "'a b'\\''c'");
        assert_eq!(quote("-O2"), "-O2");
    }
}
