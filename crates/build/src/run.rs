//! Running other programs.
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Output};

use crate::{Error, Result};

/// What ends a command early.
#[derive(Debug)]
pub enum Stop {
    /// Flick's own error; not printed yet.
    Error(Error),
    /// A tool has said on stderr what is wrong; its exit code.
    Exit(u8),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

pub type Step<T = ()> = std::result::Result<T, Stop>;

/// Runs tools, shows their command lines on request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Runner {
    pub verbose: bool,
}

impl Runner {
    /// Runs `tool` with the caller's standard streams; its failure is the caller's.
    pub fn run(&self, tool: &Path, args: &[OsString]) -> Step {
        self.run_set(tool, args, |_| {})
    }

    /// The same, with other settings.
    pub fn run_set(&self, tool: &Path, args: &[OsString], set: impl FnOnce(&mut Command)) -> Step {
        let mut command = self.command(tool, args);
        set(&mut command);
        success(command.status().map_err(|e| cannot_start(tool, &e))?)
    }

    /// Runs `tool` and keeps what it prints.
    pub fn capture(&self, tool: &Path, args: &[OsString]) -> Result<Output> {
        self.capture_set(tool, args, |_| {})
    }

    /// The same, with other settings.
    pub fn capture_set(
        &self,
        tool: &Path,
        args: &[OsString],
        set: impl FnOnce(&mut Command),
    ) -> Result<Output> {
        let mut command = self.command(tool, args);
        set(&mut command);
        command.output().map_err(|e| cannot_start(tool, &e))
    }

    fn command(&self, tool: &Path, args: &[OsString]) -> Command {
        if self.verbose {
            eprint!("flick: {}", tool.display());
            for arg in args {
                eprint!(" {}", quoted(&arg.to_string_lossy()));
            }
            eprintln!();
        }
        let mut command = Command::new(tool);
        command.args(args);
        command
    }
}

/// A tool's failure, which it has explained itself.
pub fn success(status: ExitStatus) -> Step {
    if status.success() {
        Ok(())
    } else {
        Err(Stop::Exit(exit_code(status)))
    }
}

fn quoted(arg: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./,:@%".contains(c);
    if !arg.is_empty() && arg.chars().all(plain) {
        arg.into()
    } else {
        format!("'{}'", arg.replace('\'', r"'\''"))
    }
}

/// As a shell reports it.
pub(crate) fn exit_code(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .or_else(|| status.signal().map(|s| 128 + s))
        .unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}

fn cannot_start(tool: &Path, error: &std::io::Error) -> Error {
    Error::new(
        103,
        "a tool that Flick calls failed",
        tool.display().to_string(),
        format!("it cannot be started: {error}"),
        "run `flick doctor`",
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn shown_commands_can_be_pasted() {
        assert_eq!(super::quoted("-O2"), "-O2");
        assert_eq!(super::quoted("-DX=\"a b\""), "'-DX=\"a b\"'");
        assert_eq!(super::quoted("it's"), r"'it'\''s'");
        assert_eq!(super::quoted(""), "''");
    }
}
