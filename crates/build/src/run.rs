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
        let status = self
            .command(tool, args)
            .status()
            .map_err(|e| cannot_start(tool, &e))?;
        if status.success() {
            Ok(())
        } else {
            Err(Stop::Exit(exit_code(status)))
        }
    }

    /// Runs `tool` and keeps what it prints.
    pub fn capture(&self, tool: &Path, args: &[OsString]) -> Result<Output> {
        self.command(tool, args)
            .output()
            .map_err(|e| cannot_start(tool, &e))
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
