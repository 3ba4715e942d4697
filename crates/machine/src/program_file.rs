//! Programs for a machine: RV64 ELF files, and raw images.
use flick_device::Refused;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{LittleEndian, Object, ObjectSymbol, elf};

use crate::board::Board;
use crate::htif::Htif;

/// What is to be loaded.
#[derive(Debug)]
pub struct Program {
    /// The first instruction.
    pub entry: u64,
    /// The words by which it tells its end.
    pub htif: Option<Htif>,
    segments: Vec<(u64, Vec<u8>, u64)>,
}

/// Why a file is no program, or cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadProgram {
    /// An ELF file for another machine.
    #[error("it is an ELF file, but not for RV64")]
    Machine,
    /// Its tables are broken.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// It wants memory that the machine lacks.
    #[error("{size:#x} bytes at {address:#x} are not in the machine's memory")]
    Memory {
        /// The first address.
        address: u64,
        /// Bytes.
        size: u64,
    },
}

/// What a program may want at most.
const MOST: u64 = 1 << 40;

impl Program {
    /// An RV64 ELF file, or else an image that begins at `base`.
    pub fn parse(file: &[u8], base: u64) -> Result<Self, BadProgram> {
        if !file.starts_with(b"\x7fELF") {
            return Ok(Self {
                entry: base,
                htif: None,
                segments: vec![(base, file.to_vec(), file.len() as u64)],
            });
        }
        let damaged = |error: object::Error| BadProgram::Damaged(error.to_string());
        if file.get(4) != Some(&elf::ELFCLASS64) || file.get(5) != Some(&elf::ELFDATA2LSB) {
            return Err(BadProgram::Machine);
        }
        let header = elf::FileHeader64::<LittleEndian>::parse(file).map_err(damaged)?;
        if header.e_machine(LittleEndian) != elf::EM_RISCV {
            return Err(BadProgram::Machine);
        }
        let mut segments = vec![];
        let mut left = file.len();
        for segment in header
            .program_headers(LittleEndian, file)
            .map_err(damaged)?
        {
            let size = segment.p_memsz(LittleEndian);
            if segment.p_type(LittleEndian) != elf::PT_LOAD || size == 0 {
                continue;
            }
            let truncated = |()| BadProgram::Damaged("a segment is not in the file".into());
            let bytes = segment.data(LittleEndian, file).map_err(truncated)?;
            let address = segment.p_paddr(LittleEndian);
            if size > MOST || (bytes.len() as u64) > size {
                return Err(BadProgram::Memory { address, size });
            }
            // No linker gives bytes to two segments, and many of them would be more than the host has.
            let shared = || BadProgram::Damaged("its segments share bytes".into());
            left = left.checked_sub(bytes.len()).ok_or_else(shared)?;
            segments.push((address, bytes.to_vec(), size));
        }
        let all = object::File::parse(file).map_err(damaged)?;
        let symbol = |name| {
            let symbol = all.symbols().find(|symbol| symbol.name() == Ok(name));
            symbol.map(|symbol| symbol.address())
        };
        let htif = symbol("tohost").map(|to_host| Htif {
            to_host,
            from_host: symbol("fromhost"),
        });
        Ok(Self {
            entry: header.e_entry(LittleEndian),
            htif,
            segments,
        })
    }

    /// The address behind its last byte.
    pub fn end(&self) -> u64 {
        let ends = self
            .segments
            .iter()
            .map(|(at, _, size)| at.saturating_add(*size));
        ends.max().unwrap_or(0)
    }

    /// Copies it to the board's memory, which is zero.
    pub fn load(&self, board: &Board) -> Result<(), BadProgram> {
        for (address, bytes, size) in &self.segments {
            let (address, size) = (*address, *size);
            let last = address.checked_add(size - u64::from(size != 0));
            // The end, which may be zeros, is in memory, too.
            let is_there =
                last.is_some_and(|last| size == 0 || board.read_memory(last, &mut [0]).is_ok());
            let loaded = board.write_memory(address, bytes);
            if !is_there || loaded == Err(Refused) {
                return Err(BadProgram::Memory { address, size });
            }
        }
        Ok(())
    }
}
