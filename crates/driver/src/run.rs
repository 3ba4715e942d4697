//! Running other programs.
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Output};

use flick_diagnostics::Code;
use flick_image::output;

use crate::temp::{Temp, write};
use crate::{Error, Result, response};

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
        let (mut command, _file) = self.command(tool, args)?;
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
        let (mut command, _file) = self.command(tool, args)?;
        set(&mut command);
        command.output().map_err(|e| cannot_start(tool, &e))
    }

    /// The same, with all of `args` in the response file `file`.
    pub fn capture_from(&self, tool: &Path, args: &[OsString], file: &Path) -> Result<Output> {
        self.show(tool, args);
        let mut command = Command::new(tool);
        command.arg(in_file(args, file)?);
        command.output().map_err(|e| cannot_start(tool, &e))
    }

    /// The command, and a response file that must live as long as it runs: as clang does, for words
    /// that are too many for the system.
    fn command(&self, tool: &Path, args: &[OsString]) -> Result<(Command, Option<Temp>)> {
        self.show(tool, args);
        let mut command = Command::new(tool);
        let bytes: usize = args.iter().map(|arg| arg.len() + 1).sum();
        if bytes <= COMMAND_LINE_BYTES || args.iter().any(|arg| arg.is_empty()) {
            command.args(args);
            return Ok((command, None));
        }
        let temp = Temp::new(None)?;
        command.arg(in_file(args, &temp.file("words"))?);
        Ok((command, Some(temp)))
    }

    fn show(&self, tool: &Path, args: &[OsString]) {
        if self.verbose {
            let mut line = format!("flick: {}", tool.display());
            for arg in args {
                line += " ";
                line += &quoted(&arg.to_string_lossy());
            }
            output::message(line);
        }
    }
}

/// clang's own bound (half of what POSIX suggests to `xargs`), so that what came to Flick as words
/// of a command line leaves it so.
const COMMAND_LINE_BYTES: usize = 64 << 10;

/// Writes a response file; the word that stands for it. FLK0105.
fn in_file(args: &[OsString], file: &Path) -> Result<OsString> {
    write(file, &response::text(args.iter().map(AsRef::as_ref)))?;
    let mut word = OsString::from("@");
    word.push(file);
    Ok(word)
}

/// A tool's failure, which it has explained itself.
pub fn success(status: ExitStatus) -> Step {
    if status.success() {
        Ok(())
    } else {
        Err(Stop::Exit(exit_code(status)))
    }
}

/// For a shell.
pub(crate) fn quoted(arg: &str) -> String {
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
        Code::FailedTool,
        "a tool that Flick calls failed",
        tool.display().to_string(),
        format!("it cannot be started: {error}"),
        "run `flick doctor`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_commands_can_be_pasted() {
        assert_eq!(quoted("-O2"), "-O2");
        assert_eq!(quoted("-DX=\"a b\""), "'-DX=\"a b\"'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn words_that_are_too_many_go_through_a_file() {
        let runner = Runner::default();
        let arguments = |count| -> Vec<String> {
            let words = vec![OsString::from("-Wl,--defsym=a=b c"); count];
            let (command, _file) = runner.command(Path::new("ld"), &words).unwrap();
            let given = command.get_args();
            given.map(|word| word.to_string_lossy().into()).collect()
        };
        assert_eq!(arguments(2), ["-Wl,--defsym=a=b c"; 2]);
        let many = arguments(100_000);
        let [one] = &many[..] else {
            panic!("{} words", many.len())
        };
        assert!(one.starts_with('@'), "{one}");
    }
}
