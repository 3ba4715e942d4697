//! The kind of a file, without trust in its bytes.
use crate::{Error, Result, needed};
use flick_diagnostics::Code;

/// Kind of a file, from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// A 64-bit little-endian ELF of this `e_machine`.
    Elf64Le(u16),
    /// An ELF file of 32 bits or of big-endian order, or one that ends in its header.
    OtherElf,
    /// The file does not begin as an ELF file.
    NotElf,
}

/// Recognises a file by its first bytes.
pub fn machine(file: &[u8]) -> Machine {
    match file {
        [0x7f, b'E', b'L', b'F', 2, 1, ..] if file.len() >= 64 => {
            Machine::Elf64Le(u16::from_le_bytes([file[18], file[19]]))
        }
        [0x7f, b'E', b'L', b'F', ..] => Machine::OtherElf,
        _ => Machine::NotElf,
    }
}

/// Parses an x86-64 ELF; FLK0304 for anything else, FLK0308 where its tables are broken.
pub fn parse_host(file: &[u8]) -> Result<object::File<'_>> {
    let why = match machine(file) {
        Machine::Elf64Le(object::elf::EM_X86_64) => {
            return object::File::parse(file).map_err(|e| {
                Error::new(
                    Code::CorruptedImage,
                    "this file is corrupted",
                    "",
                    e.to_string(),
                    "build it again",
                )
            });
        }
        Machine::Elf64Le(object::elf::EM_RISCV) => "it is an ELF file for RISC-V alone",
        Machine::Elf64Le(_) | Machine::OtherElf => "it is an ELF file for another machine",
        Machine::NotElf => "it is not an ELF file",
    };
    let mut error = Error::new(
        Code::OtherMachine,
        "an object for another machine",
        "",
        why,
        "name an x86-64 program, library or object that `flick cc` has made",
    );
    if let Some(program) = needed::wrapped(file) {
        error.what = "this is not the program".into();
        error.why = "it is the script by which libtool runs a program that is not installed".into();
        error.help = format!("name the program: {program}, in the same directory");
    }
    Err(error)
}

/// Reads a file; FLK0105.
pub fn read_file(path: &std::path::Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| cannot_read(path, &e))
}

/// Opens a file of which a part is wanted; FLK0105.
pub fn open_file(path: &std::path::Path) -> Result<std::fs::File> {
    std::fs::File::open(path).map_err(|e| cannot_read(path, &e))
}

fn cannot_read(path: &std::path::Path, error: &std::io::Error) -> Error {
    Error::new(
        Code::FileAccess,
        "a file cannot be read",
        path.display().to_string(),
        error.to_string(),
        "check the path and its permissions",
    )
}
