//! `flick card sh`: a machine with a root, whose first program is the card's shell. The shell starts servers of files
//! and pipes.
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser};
use flick_diagnostics::Code;
use flick_driver::{Error, Root};

use crate::card_files::Tree;
use crate::machine_command::{Run, run_machine, unwritable};
use crate::sent_files::{self, Sent, SentFiles};

#[derive(Args)]
pub struct Shell {
    /// A machine with a root (docs/root.md), as for `flick machine run`
    #[arg(long, value_name = "NAME|FILE", default_value = "accelerators")]
    machine: OsString,
    /// Execute these commands in place of lines from the console
    #[arg(short = 'c', value_name = "COMMANDS")]
    commands: Option<OsString>,
    /// The first files: an archive of `tar` or `cpio`, or a folder
    #[arg(long, value_name = "ARCHIVE|FOLDER")]
    contents: Option<PathBuf>,
    /// Where all files are written when the shell has ended: an archive of `tar`, or a folder that is
    /// there or has a slash behind it
    #[arg(long, value_name = "ARCHIVE|FOLDER")]
    save: Option<PathBuf>,
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
        for server in ["file-server", "pipe-server", "terminal-server"] {
            add("--file", root.card_program(server)?.into());
        }
        for program in self.programs {
            add("--file", program);
        }
        let packed = self.contents.as_deref().map(packed).transpose()?.flatten();
        let contents = packed.as_ref().map(tempfile::NamedTempFile::path);
        if let Some(contents) = contents.or(self.contents.as_deref()) {
            let mut file = OsString::from(contents);
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
        let mark = sent_files::mark(&words);
        if self.save.is_some() {
            words.extend(["-w".into(), OsString::from(&mark)]);
        }
        words.extend(["-s".into(), "--size".into(), self.size.to_string().into()]);
        if self.contents.is_some() {
            words.push(CONTENTS.into());
        }
        let mut options = RunOptions::try_parse_from(words).unwrap_or_else(|error| error.exit());
        let Some(save) = self.save else {
            return run_machine(options.run, None);
        };
        let sent = Sent::default();
        let all = sent.clone();
        options.run.around_output =
            Some(Box::new(move |to| Box::new(SentFiles::new(to, &mark, all))));
        let status = run_machine(options.run, None)?;
        let tree = sent_files::files_of(&sent.borrow()).ok_or_else(|| {
            Error::new(
                Code::MachineEnd,
                "the card's files are not saved",
                save.display().to_string(),
                "the machine has ended before its shell had written all of them",
                "end the shell by exit or the end of its input, and look for its own message",
            )
        })?;
        match save.is_dir() || save.as_os_str().as_bytes().ends_with(b"/") {
            true => tree.write_host(Path::new(""), &save)?,
            false => tree.write_archive(&save)?,
        }
        Ok(status)
    }
}

/// The archive of a folder. `None`: it is none, and so an archive.
fn packed(contents: &Path) -> Result<Option<tempfile::NamedTempFile>, Error> {
    if !contents.is_dir() {
        return Ok(None);
    }
    let mut tree = Tree::default();
    tree.add_host(contents, Path::new(""))?;
    let file = tempfile::NamedTempFile::new();
    let file = file.map_err(|error| unwritable(&std::env::temp_dir(), &error))?;
    tree.write_archive(file.path())?;
    Ok(Some(file))
}
