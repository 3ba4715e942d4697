//! Names of a program's functions, for failures: those of the file of the archive whose code the process
//! has at an address.
use core::fmt;

use elf::abi::{PF_X, SHT_SYMTAB, STT_FUNC};
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

// Records of ELF files for 64 bits. The crate `elf` checks more than is needed here, in code that the
// kernel has no room for.
#[repr(C)]
struct Header {
    ident: [u8; 16],
    others: [u64; 2],
    segments: u64,
    sections: u64,
    flags: u32,
    /// Of this header, of a segment's, segments, of a section's, sections, and which has names.
    sizes: [u16; 6],
}

#[repr(C)]
struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    physical: u64,
    size: u64,
}

#[repr(C)]
struct Section {
    name: u32,
    kind: u32,
    others: [u64; 2],
    offset: u64,
    size: u64,
    link: u32,
}

#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    others: [u8; 3],
    value: u64,
    size: u64,
}

/// A record of a file, which consists of numbers.
fn record<T>(file: &[u8], at: u64) -> Option<T> {
    let bytes = file.get(at as usize..)?.get(..size_of::<T>())?;
    // SAFETY: the bytes are there, and all bytes are numbers.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// The function of a file with an instruction, if the file has this word at an address near it.
fn function(
    file: &'static [u8],
    at: u64,
    word: u64,
    instruction: u64,
) -> Option<(&'static str, u64)> {
    let header: Header = record(file, 0)?;
    let [_, segment_size, segments, section_size, sections, _] = header.sizes.map(u64::from);
    if !header.ident.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let has_word = (0..segments).any(|n| {
        let segment = record::<Segment>(file, header.segments + n * segment_size);
        segment.is_some_and(|of| {
            let offset = at.wrapping_sub(of.address);
            let there = record::<u64>(file, of.offset.wrapping_add(offset));
            u64::from(of.flags & PF_X) != 0 && offset < of.size && there == Some(word)
        })
    });
    if !has_word {
        return None;
    }
    let section = |n| record::<Section>(file, header.sections + n * section_size);
    let symbols = (0..sections)
        .filter_map(section)
        .find(|of| of.kind == SHT_SYMTAB)?;
    let size = size_of::<Symbol>() as u64;
    let all =
        (0..symbols.size / size).filter_map(|n| record::<Symbol>(file, symbols.offset + n * size));
    let function = all
        .filter(|symbol| symbol.info & 15 == STT_FUNC)
        .find(|symbol| instruction.wrapping_sub(symbol.value) < symbol.size)?;
    let names = section(symbols.link.into())?;
    let name = file.get((names.offset + u64::from(function.name)) as usize..)?;
    let name = name.split(|&byte| byte == 0).next()?;
    Some((core::str::from_utf8(name).ok()?, function.value))
}
