//! Names of a program's functions, for failures: those of the file of the archive whose code the process
//! has at an address.
use core::fmt;

use elf::ElfBytes;
use elf::abi::{PF_X, STT_FUNC};
use elf::endian::LittleEndian;
use flick_abi::card::rights;

use crate::archive_files::files;
use crate::kernel::{Caller, Kernel};

/// An address, with the function that it is in, if there is one.
pub struct Place {
    address: u64,
    function: Option<(&'static str, u64)>,
}

impl fmt::Display for Place {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{:#x}", self.address)?;
        match self.function {
            Some((name, start)) => write!(to, " <{name}+{:#x}>", self.address - start),
            None => Ok(()),
        }
    }
}

/// The place of an instruction of a process, or of what is so many bytes behind it: a call may be the
/// last instruction of its function.
pub fn place(kernel: &mut Kernel, caller: Caller, address: u64, behind: u64) -> Place {
    let mut word = [0];
    let instruction = address.wrapping_sub(behind);
    let at = instruction & !7;
    let is_there = kernel
        .resolve(caller.process, at, rights::READ, None)
        .is_ok()
        && kernel.load_words(caller, at, &mut word).is_ok();
    let function = is_there.then(|| {
        let mut all = files(&kernel.map);
        all.find_map(|file| function(file.bytes, at, word[0], instruction))
    });
    Place {
        address,
        function: function.flatten(),
    }
}

/// The function of a file with an instruction, if the file has this word at an address near it.
fn function(
    file: &'static [u8],
    at: u64,
    word: u64,
    instruction: u64,
) -> Option<(&'static str, u64)> {
    let elf = ElfBytes::<LittleEndian>::minimal_parse(file).ok()?;
    let has_word = elf.segments()?.iter().any(|segment| {
        let offset = at.wrapping_sub(segment.p_vaddr);
        let bytes = file.get(segment.p_offset.wrapping_add(offset) as usize..);
        let has_word = bytes.is_some_and(|bytes| bytes.starts_with(&word.to_le_bytes()));
        has_word && segment.p_flags & PF_X != 0 && offset < segment.p_filesz
    });
    let (symbols, names) = elf.symbol_table().ok().filter(|_| has_word)??;
    let function = symbols.iter().find(|symbol| {
        let is_function = symbol.st_symtype() == STT_FUNC;
        is_function && instruction.wrapping_sub(symbol.st_value) < symbol.st_size
    })?;
    let name = names.get(function.st_name as usize).ok()?;
    Some((name, function.st_value))
}
