//! Programs of the card: `flick card cc`, and `flick machine run --program`, which takes the card's
//! kernel, a program that it starts, and its files.
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use flick_abi::card::write_argument;
use flick_diagnostics::Code;
use flick_driver::{Error, FrontEnd};
use flick_machine::Files;

use crate::console_place::ConsolePlace;
use crate::machine_command::{read, unreadable};

#[derive(Subcommand)]
pub enum CardCommand {
    /// Compile and link C by clang, for `flick machine run --program`: clang's options
    #[command(disable_help_flag = true)]
    Cc {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// The same for C++
    #[command(name = "c++", disable_help_flag = true)]
    Cxx {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

impl CardCommand {
    /// Becomes the compiler, and comes back only with an error.
    pub fn run(self) -> Error {
        let (front, args) = match self {
            Self::Cc { args } => (FrontEnd::C, args),
            Self::Cxx { args } => (FrontEnd::Cxx, args),
        };
        flick_driver::card_cc(front, &args)
    }
}

#[derive(Args)]
pub struct CardProgram {
    /// A program that `flick card cc` has made: the card's kernel starts it, with the arguments
    /// behind `--`. The exit status is the program's
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kernel", "initrd", "append"])]
    program: Option<PathBuf>,
    /// A file that the program can open (repeatable); its name there is the file's own, without
    /// folders, unless another one is given
    #[arg(long = "file", value_name = "FILE[=NAME]", requires = "program")]
    files: Vec<OsString>,
    /// The program's arguments
    #[arg(last = true, value_name = "ARGUMENT", requires = "program")]
    arguments: Vec<OsString>,
}

impl CardProgram {
    /// The program's file, if there is one.
    pub fn name(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// Adds the archive and the command line for a program.
    pub fn add_to(&self, files: &mut Files) -> Result<(), Error> {
        let Some(program) = &self.program else {
            return Ok(());
        };
        let mut archive = tar::Builder::new(Vec::new());
        let name = own_name(program);
        add(&mut archive, program, name)?;
        for file in &self.files {
            let (file, name) = split(file);
            add(&mut archive, file, name)?;
        }
        let archive = archive.into_inner();
        files.initrd = Some(archive.map_err(|error| unreadable(program, &error))?);
        let mut line = String::new();
        let words =
            std::iter::once(name.as_os_str()).chain(self.arguments.iter().map(|word| &**word));
        for word in words {
            if !line.is_empty() {
                line.push(' ');
            }
            write_argument(word.as_bytes(), &mut line).expect("a String takes all");
        }
        files.append = Some(line);
        Ok(())
    }

    /// The console of a program is lines: a terminal edits and shows them, and their end is said.
    pub fn console(&self, place: ConsolePlace) -> ConsolePlace {
        if self.program.is_none() {
            return place;
        }
        ConsolePlace {
            input: Box::new(EndedInput {
                input: place.input,
                is_ended: false,
            }),
            is_terminal: false,
            ..place
        }
    }
}

/// `FILE` or `FILE=NAME`, where a `=` can be in the name of a file that exists.
fn split(word: &OsString) -> (&Path, &Path) {
    let file = Path::new(word);
    let bytes = word.as_bytes();
    match bytes.iter().rposition(|&byte| byte == b'=') {
        Some(at) if !file.exists() => {
            let part = |bytes| Path::new(std::ffi::OsStr::from_bytes(bytes));
            (part(&bytes[..at]), part(&bytes[at + 1..]))
        }
        _ => (file, own_name(file)),
    }
}

fn own_name(path: &Path) -> &Path {
    path.file_name().map_or(path, Path::new)
}

/// Adds a file; the archive is the same wherever and whenever it is made.
fn add(archive: &mut tar::Builder<Vec<u8>>, file: &Path, name: &Path) -> Result<(), Error> {
    let bytes = read(file)?;
    let mut header = tar::Header::new_ustar();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_mtime(0);
    let added = header.set_path(name).and_then(|()| {
        header.set_cksum();
        archive.append(&header, bytes.as_slice())
    });
    added.map_err(|error| {
        let what = "a file cannot be in the program's archive";
        let help = "give it another name: --file FILE=NAME";
        Error::new(
            Code::FileAccess,
            what,
            name.display().to_string(),
            error.to_string(),
            help,
        )
    })
}

const CONTROL_D: u8 = 4;
const CONTROL_V: u8 = 0x16;

/// Input as the console of a program has it (`firmware/lib/src/console.c`): Ctrl-D is the end, and
/// Ctrl-V is in front of a byte that is one of the two.
struct EndedInput<R> {
    input: R,
    is_ended: bool,
}

impl<R: Read> Read for EndedInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_ended || buffer.len() < 2 {
            return Ok(0);
        }
        // Each byte may become two.
        let mut bytes = vec![0; buffer.len() / 2];
        let size = self.input.read(&mut bytes)?;
        if size == 0 {
            self.is_ended = true;
            buffer[0] = CONTROL_D;
            return Ok(1);
        }
        let mut at = 0;
        for &byte in &bytes[..size] {
            if matches!(byte, CONTROL_D | CONTROL_V) {
                buffer[at] = CONTROL_V;
                at += 1;
            }
            buffer[at] = byte;
            at += 1;
        }
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_has_an_end() {
        let mut input = EndedInput {
            input: &b"a\x04b\x16"[..],
            is_ended: false,
        };
        let mut all = vec![];
        input.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"a\x16\x04b\x16\x16\x04");
    }

    #[test]
    fn files_have_names_of_their_own() {
        let word = OsString::from("some/folder/data=in/put");
        assert_eq!(
            split(&word),
            (Path::new("some/folder/data"), Path::new("in/put"))
        );
        let word = OsString::from("some/folder/data");
        assert_eq!(
            split(&word),
            (Path::new("some/folder/data"), Path::new("data"))
        );
    }
}
