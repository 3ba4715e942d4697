//! The memory of a finished x86-64 program or library, before it is loaded: bytes by link-time
//! address, and what the loader's relocations make of its pointers.
use std::collections::BTreeMap;

use flick_diagnostics::Code;
use object::elf;
use object::read::elf::{ElfFile64, ProgramHeader, Rela, SectionHeader, Sym};
use object::{LittleEndian, Object, ObjectSymbol};

use crate::{Error, Result};

const LE: LittleEndian = LittleEndian;

/// What a 64-bit word holds once the file is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// A link-time address, or a number.
    To(u64),
    /// The address of a symbol of another module, plus this.
    Symbol(String, i64),
}

impl Pointer {
    /// The address in this file.
    pub fn address(&self) -> Option<u64> {
        match self {
            Self::To(address) => Some(*address),
            Self::Symbol(..) => None,
        }
    }
}

struct Segment<'a> {
    address: u64,
    bytes: &'a [u8],
    /// Bytes in memory; those behind `bytes` are zero.
    size: u64,
    is_writable: bool,
    is_executable: bool,
}

/// The segments of a file, with its dynamic relocations.
pub struct HostMemory<'a> {
    segments: Vec<Segment<'a>>,
    relocated: BTreeMap<u64, Pointer>,
    symbols: BTreeMap<String, u64>,
}

impl<'a> HostMemory<'a> {
    /// FLK0308 where the tables of the file are broken. `file` is an x86-64 ELF.
    pub fn parse(file: &'a [u8]) -> Result<Self> {
        let elf = ElfFile64::<LittleEndian>::parse(file).map_err(|e| broken(&e))?;
        let mut segments = vec![];
        for header in elf.elf_program_headers() {
            if header.p_type(LE) != elf::PT_LOAD {
                continue;
            }
            let bytes = header.data(LE, file);
            let bytes = bytes.map_err(|()| broken(&"a segment is outside of the file"))?;
            let has = |flag| header.p_flags(LE) & flag != 0;
            segments.push(Segment {
                address: header.p_vaddr(LE),
                bytes,
                size: header.p_memsz(LE),
                is_writable: has(elf::PF_W),
                is_executable: has(elf::PF_X),
            });
        }
        let named = elf.symbols().filter(|symbol| !symbol.is_undefined());
        let named = named.filter_map(|symbol| Some((symbol.name().ok()?, symbol.address())));
        let symbols = named.map(|(name, at)| (name.to_owned(), at)).collect();
        let mut memory = Self {
            segments,
            relocated: BTreeMap::new(),
            symbols,
        };
        memory.relocations(&elf, file)?;
        Ok(memory)
    }

    fn relocations(&mut self, elf: &ElfFile64<'a, LittleEndian>, file: &'a [u8]) -> Result<()> {
        let symbols = elf.elf_dynamic_symbol_table();
        let allocated = |section: &&elf::SectionHeader64<_>| {
            section.sh_flags(LE) & u64::from(elf::SHF_ALLOC) != 0
        };
        for section in elf.elf_section_table().iter().filter(allocated) {
            let packed = section.relr(LE, file).map_err(|e| broken(&e))?;
            for at in packed.into_iter().flatten() {
                if let Some(value) = self.word(at) {
                    self.relocated.insert(at, Pointer::To(value));
                }
            }
            let Some((all, _)) = section.rela(LE, file).map_err(|e| broken(&e))? else {
                continue;
            };
            for rela in all {
                let addend = rela.r_addend(LE);
                let pointer = match (rela.r_type(LE, false), rela.symbol(LE, false)) {
                    (elf::R_X86_64_RELATIVE, _) | (elf::R_X86_64_64, None) => {
                        Pointer::To(addend as u64)
                    }
                    (elf::R_X86_64_64, Some(index)) => {
                        let symbol = symbols.symbol(index).map_err(|e| broken(&e))?;
                        let name = symbols.symbol_name(LE, symbol).map_err(|e| broken(&e))?;
                        if symbol.st_shndx(LE) == elf::SHN_UNDEF {
                            Pointer::Symbol(String::from_utf8_lossy(name).into_owned(), addend)
                        } else {
                            Pointer::To(symbol.st_value(LE).wrapping_add_signed(addend))
                        }
                    }
                    _ => continue,
                };
                self.relocated.insert(rela.r_offset(LE), pointer);
            }
        }
        Ok(())
    }

    fn segment(&self, address: u64, len: u64) -> Option<&Segment<'a>> {
        let end = address.checked_add(len)?;
        let holds = |segment: &&Segment| {
            segment.address <= address
                && (segment.address.checked_add(segment.size)).is_some_and(|last| end <= last)
        };
        self.segments.iter().find(holds)
    }

    /// The bytes at an address as the file has them, without relocation. `None`: they are in no
    /// segment, or not in the file.
    pub fn bytes(&self, address: u64, len: u64) -> Option<&'a [u8]> {
        let segment = self.segment(address, len)?;
        let start = usize::try_from(address - segment.address).ok()?;
        segment
            .bytes
            .get(start..start.checked_add(usize::try_from(len).ok()?)?)
    }

    /// Whether all these bytes are executable code in the file.
    pub fn is_code(&self, address: u64, len: u64) -> bool {
        let executable = |segment: &Segment| segment.is_executable;
        self.bytes(address, len).is_some() && self.segment(address, len).is_some_and(executable)
    }

    /// Whether a segment has this address.
    pub fn is_mapped(&self, address: u64) -> bool {
        self.segment(address, 1).is_some()
    }

    /// Whether all these bytes are in memory that is writable while the loader relocates it.
    pub fn is_writable(&self, address: u64, len: u64) -> bool {
        (self.segment(address, len)).is_some_and(|segment| segment.is_writable)
    }

    /// The word at an address as the file has it, without relocation.
    pub fn word(&self, address: u64) -> Option<u64> {
        let bytes = self.bytes(address, 8)?.try_into().ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// The same, of 32 bits.
    pub fn word32(&self, address: u64) -> Option<u32> {
        let bytes = self.bytes(address, 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    /// The NUL-terminated text at an address.
    pub fn text(&self, address: u64) -> Option<String> {
        let segment = self.segment(address, 1)?;
        let start = usize::try_from(address - segment.address).ok()?;
        let text = segment
            .bytes
            .get(start..)?
            .split(|&byte| byte == 0)
            .next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// The word at an address once the file is loaded.
    pub fn pointer(&self, address: u64) -> Option<Pointer> {
        let relocated = self.relocated.get(&address).cloned();
        relocated.or_else(|| self.word(address).map(Pointer::To))
    }

    /// Where a symbol is that the file defines and no tool has stripped.
    pub fn symbol(&self, name: &str) -> Option<u64> {
        self.symbols.get(name).copied()
    }

    /// The aligned addresses in writable memory at which `magic` stands.
    pub fn places_of(&self, magic: [u8; 8], alignment: usize) -> Vec<u64> {
        let mut places = vec![];
        for segment in self.segments.iter().filter(|segment| segment.is_writable) {
            let next = segment.address.checked_next_multiple_of(alignment as u64);
            let first = next.map_or(usize::MAX, |next| (next - segment.address) as usize);
            let offsets = (first..segment.bytes.len()).step_by(alignment);
            let found = offsets.filter(|&at| segment.bytes[at..].starts_with(&magic));
            places.extend(found.map(|at| segment.address + at as u64));
        }
        places
    }
}

fn broken(why: &dyn std::fmt::Display) -> Error {
    Error::new(
        Code::CorruptedImage,
        "this file is corrupted",
        "",
        why.to_string(),
        "build it again",
    )
}
