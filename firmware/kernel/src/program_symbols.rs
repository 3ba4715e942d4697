//! Names of a program's functions, for failures: those of the file of the archive whose code the process
//! has at an address.
use core::fmt;

use flick_abi::card::rights;

use crate::archive_files::files;
use crate::kernel::{Caller, Kernel};
use crate::program_image::{PF_X, SEGMENT};

/// Of the ELF format: bytes of the header of a section and of a symbol, and the kinds of those with functions' names.
const SECTION: u64 = 64;
const SYMBOL: u64 = 24;
const SHT_SYMTAB: u64 = 2;
const STT_FUNC: u64 = 2;

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
    let number = |at: u64, bytes: usize| number(file, at, bytes);
    let mut segments = entries(number(32, 8)?, SEGMENT, number(56, 2)?);
    segments.find(|&segment| {
        let field = |n| number(segment + n, 8).unwrap_or(0);
        let offset = at.wrapping_sub(field(16));
        let in_file = field(8).wrapping_add(offset);
        field(0) >> 32 & PF_X != 0 && offset < field(32) && number(in_file, 8) == Some(word)
    })?;
    let mut sections = entries(number(40, 8)?, SECTION, number(60, 2)?);
    let section = |place, n| number(place + n, 8);
    let symbols = sections.find(|&place| number(place + 4, 4) == Some(SHT_SYMTAB))?;
    let strings = number(40, 8)?.checked_add(SECTION * number(symbols + 40, 4)?)?;
    let count = section(symbols, 32)? / SYMBOL;
    let mut symbols = entries(section(symbols, 24)?, SYMBOL, count);
    let function = symbols.find(|&symbol| {
        let field = |n| number(symbol + n, 8).unwrap_or(0);
        field(0) >> 32 & 15 == STT_FUNC && instruction.wrapping_sub(field(8)) < field(16)
    })?;
    let name = section(strings, 24)?.checked_add(number(function, 4)?)?;
    let name = file.get(name as usize..)?.split(|&byte| byte == 0).next()?;
    Some((str::from_utf8(name).ok()?, number(function + 8, 8)?))
}

/// The entries of a table that are at places of a file, or would be.
fn entries(first: u64, size: u64, count: u64) -> impl Iterator<Item = u64> {
    // No file is so large that a place in an entry would not be a number.
    let is_place = |place: &u64| *place < u64::MAX / 2;
    (0..count).map_while(move |n| first.checked_add(n.checked_mul(size)?).filter(is_place))
}

/// A number of some bytes, up to eight.
#[inline(never)]
fn number(file: &[u8], at: u64, bytes: usize) -> Option<u64> {
    let bytes = file.get(at as usize..)?.get(..bytes)?;
    Some(
        bytes
            .iter()
            .rfold(0, |number, byte| number << 8 | u64::from(*byte)),
    )
}
