//! Programs of the card: `flick card cc`, and `flick machine run --program`, which takes the card's
//! kernel, programs that it starts, and their files.
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use flick_abi::card::write_argument;
use flick_diagnostics::Code;
use flick_driver::{Error, FrontEnd, Root};
use flick_machine::{Files, System};

use crate::card_copy::Copy;
use crate::card_shell::Shell;
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
    /// Start the shell of a machine with accelerators (docs/shell.md)
    Sh(Box<Shell>),
    /// Copy files between the host and an archive of a card's files
    ///
    /// `flick card sh --contents ARCHIVE --save ARCHIVE` takes the card's files from the archive, and
    /// writes them back. A place in it is `ARCHIVE:/PATH`.
    Cp(Copy),
}

impl CardCommand {
    /// Runs the shell, copies, or becomes the compiler.
    pub fn run(self) -> Result<ExitCode, Error> {
        let (front, args) = match self {
            Self::Cc { args } => (FrontEnd::C, args),
            Self::Cxx { args } => (FrontEnd::Cxx, args),
            Self::Sh(shell) => return shell.run(),
            Self::Cp(copy) => return copy.run(),
        };
        Err(flick_driver::card_cc(front, &args))
    }
}

#[derive(Args)]
pub struct CardProgram {
    /// A program that `flick card cc` has made: the card's kernel starts it, with the arguments
    /// behind `--`. Several programs run at once: `--program A -- X --program B -- Y`. The exit status
    /// is that of the first. `TILE:FILE` is a program of that tile; others are of the root's tile, or of
    /// each tile if the machine has no root
    #[arg(long = "program", value_name = "[TILE:]FILE", conflicts_with_all = ["kernel", "initrd", "append"])]
    programs: Vec<PathBuf>,
    /// Start the servers, too, with which a program starts others (`posix_spawn`) that are its files;
    /// several programs have them anyway
    #[arg(long, requires = "programs")]
    servers: bool,
    /// A file that programs can open (repeatable); its name there is the file's own, without folders,
    /// unless another one is given
    #[arg(long = "file", value_name = "FILE[=NAME]", requires = "programs")]
    files: Vec<OsString>,
    /// The program's arguments. `--program FILE` begins a further program
    #[arg(last = true, value_name = "ARGUMENT", requires = "programs")]
    arguments: Vec<OsString>,
}

/// The word that begins a further program.
const PROGRAM: &str = "--program";
/// The file of the archive that starts several programs (`firmware/servers`).
const SERVERS: &str = "flick-servers";

/// A program and its arguments.
struct Started<'a> {
    /// The name of its tile. `None`: it has none of its own.
    tile: Option<&'a str>,
    program: &'a Path,
    arguments: Vec<&'a OsStr>,
}

impl CardProgram {
    /// The first program's file, if there is one.
    pub fn name(&self) -> Option<&Path> {
        self.programs.first().map(PathBuf::as_path)
    }

    /// Adds the archive, and the command lines of the tiles for their programs.
    pub fn add_to(&self, files: &mut Files, systems: &[System]) -> Result<(), Error> {
        let names: Vec<_> = systems.iter().map(|system| &*system.tile.name).collect();
        let started = started(&self.programs, &self.arguments, &names)?;
        let Some(first) = started.first() else {
            return Ok(());
        };
        let mut archive = Archive::new();
        let mut lines = vec![];
        for system in systems {
            let is_here = |one: &&Started<'_>| match one.tile {
                Some(tile) => tile == system.tile.name,
                None => !system.is_governed(),
            };
            let here: Vec<_> = started.iter().filter(is_here).collect();
            lines.push(match here.is_empty() {
                true => None,
                false => Some(self.line_of(&here, &mut archive)?),
            });
        }
        for file in &self.files {
            let (file, name) = split(file);
            archive.add(file, name)?;
        }
        files.initrd = Some(archive.finish(first.program)?);
        files.append_by_tile = Some(lines);
        Ok(())
    }

    /// The command line of a tile, with its programs in the archive.
    fn line_of(&self, here: &[&Started<'_>], archive: &mut Archive) -> Result<String, Error> {
        let has_servers = self.servers || here.len() > 1;
        let mut words: Vec<OsString> = vec![];
        if has_servers {
            archive.add(&Root::find()?.card_servers()?, Path::new(SERVERS))?;
            words.push(SERVERS.into());
        }
        for one in here {
            let name = own_name(one.program);
            archive.add(one.program, name)?;
            if has_servers {
                words.push((1 + one.arguments.len()).to_string().into());
            }
            words.push(name.into());
            words.extend(one.arguments.iter().map(|&word| word.into()));
        }
        Ok(command_line(&words))
    }

    /// The console of a program is lines: a terminal edits and shows them, and their end is said.
    pub fn console(&self, place: ConsolePlace) -> ConsolePlace {
        if self.programs.is_empty() {
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

/// `FILE`, or `TILE:FILE` where no file has this whole name.
fn with_tile<'a>(word: &'a Path, tiles: &[&str]) -> (Option<&'a str>, &'a Path) {
    let split = word.to_str().and_then(|word| word.split_once(':'));
    match split.filter(|(tile, _)| tiles.contains(tile) && !word.exists()) {
        Some((tile, file)) => (Some(tile), Path::new(file)),
        None => (None, word),
    }
}

/// The programs of a command line: those in front of the first `--`, of which the last one has the
/// arguments behind it, and those of [`PROGRAM`] words there.
fn started<'a>(
    programs: &'a [PathBuf],
    words: &'a [OsString],
    tiles: &[&str],
) -> Result<Vec<Started<'a>>, Error> {
    let alone = |word: &'a Path| {
        let (tile, program) = with_tile(word, tiles);
        Started {
            tile,
            program,
            arguments: vec![],
        }
    };
    let mut all: Vec<_> = programs.iter().map(|program| alone(program)).collect();
    let mut words = words.iter().map(OsString::as_os_str).peekable();
    while let Some(word) = words.next() {
        if word == PROGRAM {
            let program = words.next().ok_or_else(|| {
                let what = "a program has no file";
                let help = "write --program FILE -- ARGUMENT...";
                Error::new(Code::BadOption, what, PROGRAM, "the last word", help)
            })?;
            all.push(alone(Path::new(program)));
            words.next_if(|word| *word == "--");
        } else if let Some(last) = all.last_mut() {
            last.arguments.push(word);
        }
    }
    Ok(all)
}

fn command_line(words: &[OsString]) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        write_argument(word.as_bytes(), &mut line).expect("a String takes all");
    }
    line
}

/// The files of the machine's programs. The same files are the same archive, wherever and whenever it
/// is made.
struct Archive {
    archive: tar::Builder<Vec<u8>>,
    names: BTreeMap<PathBuf, PathBuf>,
}

impl Archive {
    fn new() -> Self {
        Self {
            archive: tar::Builder::new(Vec::new()),
            names: BTreeMap::new(),
        }
    }

    /// Adds a file, once.
    fn add(&mut self, file: &Path, name: &Path) -> Result<(), Error> {
        let before = self.names.insert(name.into(), file.into());
        match before {
            None => {}
            Some(before) if before == file => return Ok(()),
            Some(before) => {
                let reason = format!("{} has it, too", before.display());
                return Err(refused(name, &reason));
            }
        }
        let bytes = read(file)?;
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        let added = header.set_path(name).and_then(|()| {
            header.set_cksum();
            self.archive.append(&header, bytes.as_slice())
        });
        added.map_err(|error| refused(name, &error))
    }

    fn finish(self, program: &Path) -> Result<Vec<u8>, Error> {
        let archive = self.archive.into_inner();
        archive.map_err(|error| unreadable(program, &error))
    }
}

fn refused(name: &Path, reason: &dyn Display) -> Error {
    Error::new(
        Code::FileAccess,
        "a file cannot be in the archive of programs",
        name.display().to_string(),
        reason.to_string(),
        "give it another name: --file FILE=NAME",
    )
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
    fn several_programs_have_their_arguments() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let line = words("x --program b -- -- y --program c z --program d");
        let programs = ["p", "a"].map(PathBuf::from);
        let all = started(&programs, &line, &["t"]).unwrap_or_default();
        let all: Vec<_> = all
            .iter()
            .map(|s| (s.program, s.arguments.clone()))
            .collect();
        let wanted: [(&str, &[&str]); 5] = [
            ("p", &[]),
            ("a", &["x"]),
            ("b", &["--", "y"]),
            ("c", &["z"]),
            ("d", &[]),
        ];
        let wanted = wanted.map(|(name, arguments)| {
            let arguments: Vec<_> = arguments.iter().map(OsStr::new).collect();
            (Path::new(name), arguments)
        });
        assert_eq!(all, wanted);
        let line = words("x --program");
        assert!(started(&programs, &line, &[]).is_err());
    }

    #[test]
    fn a_program_has_a_tile() {
        let tiles = ["core0", "core1"];
        let of = |word| with_tile(Path::new(word), &tiles);
        assert_eq!(of("core1:in/p"), (Some("core1"), Path::new("in/p")));
        assert_eq!(of("core2:p"), (None, Path::new("core2:p")));
        assert_eq!(of("p"), (None, Path::new("p")));
    }

    #[test]
    fn a_name_is_of_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "text").unwrap();
        let mut archive = Archive::new();
        archive.add(&file, Path::new("name")).unwrap();
        archive.add(&file, Path::new("name")).unwrap();
        assert!(archive.add(folder.path(), Path::new("name")).is_err());
        let bytes = archive.finish(&file).unwrap();
        assert_eq!(tar::Archive::new(&*bytes).entries().unwrap().count(), 1);
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
