//! `flick card sh`: a machine with a root, whose first program is the card's shell. The shell starts servers of files
//! and pipes.
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser};
use flick_driver::{Error, Root};

use crate::machine_command::{Run, run_machine};

#[derive(Args)]
pub struct Shell {
    /// A machine with a root (docs/root.md), as for `flick machine run`
    #[arg(long, value_name = "NAME|FILE", default_value = "accelerators")]
    machine: OsString,
    /// Execute these commands in place of lines from the console
    #[arg(short = 'c', value_name = "COMMANDS")]
    commands: Option<OsString>,
    /// An archive of `tar` or `cpio` with the first files
    #[arg(long, value_name = "ARCHIVE")]
    contents: Option<PathBuf>,
    /// A program that `flick card cc` has made: a command by its name (repeatable)
    #[arg(long = "program", value_name = "FILE[=NAME]")]
    programs: Vec<OsString>,
    /// MiB of memory for the data of files
    #[arg(long, value_name = "MIB", default_value_t = 16)]
    size: u32,
    /// Options of `flick machine run`
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<OsString>,
}

/// The options of `flick machine run`.
#[derive(Parser)]
struct RunOptions {
    #[command(flatten)]
    run: Run,
}

/// The name of the archive among the files of programs.
const CONTENTS: &str = "contents";

impl Shell {
    pub fn run(self) -> Result<ExitCode, Error> {
        let root = Root::find()?;
        let mut words: Vec<OsString> = vec!["flick machine run".into()];
        let mut add = |option: &str, value: OsString| words.extend([option.into(), value]);
        add("--machine", self.machine);
        add("--program", root.card_program("shell")?.into());
        for server in ["file-server", "pipe-server"] {
            add("--file", root.card_program(server)?.into());
        }
        for program in self.programs {
            add("--file", program);
        }
        if let Some(contents) = &self.contents {
            let mut file = contents.clone().into_os_string();
            file.push("=");
            file.push(CONTENTS);
            add("--file", file);
        }
        words.push("--servers".into());
        words.extend(self.options);
        words.push("--".into());
        if let Some(commands) = self.commands {
            words.extend(["-c".into(), commands]);
        }
        words.extend(["-s".into(), "--size".into(), self.size.to_string().into()]);
        if self.contents.is_some() {
            words.push(CONTENTS.into());
        }
        let options = RunOptions::try_parse_from(words).unwrap_or_else(|error| error.exit());
        run_machine(options.run, None)
    }
}
