//! The NxP code of a finished program or library.
use flick_abi::{ABI_VERSION, Note, Version, names};
use flick_diagnostics::Code;
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, ReadRef, SectionKind, elf};

use crate::elf_kind::{Machine, machine, parse_host};
use crate::place_lines::Placements;
use crate::{Error, Result};

/// A parsed x86-64 ELF with an image.
#[derive(Debug)]
pub struct FinalFile<'a> {
    /// The linked RV64 ELF, with symbols and debug information.
    pub nxp_elf: &'a [u8],
    /// Link-time address of the image; `None` where the symbols were stripped.
    pub image_address: Option<u64>,
    /// Units that the link kept.
    pub units: Vec<u64>,
    /// The placement lines of the units.
    pub placements: Placements,
}

impl<'a> FinalFile<'a> {
    /// FLK0304 for a file of another machine, FLK0307 for one without NxP code, FLK0308 where it is
    /// corrupted.
    pub fn parse(file: &'a [u8]) -> Result<Self> {
        let host = parse_host(file)?;
        check_version(&host)?;
        let section = host.section_by_name(names::SEC_ELF).ok_or_else(|| {
            let (why, help) = if host.section_by_name(names::SEC_NXP).is_some() {
                (
                    "it is a fat object, not linked yet",
                    "link it with `flick cc`",
                )
            } else if is_stripped(&host) {
                STRIPPED
            } else {
                (
                    "nothing in it was placed on the NxP",
                    "`flick place --explain` says why",
                )
            };
            Error::new(Code::NoNxpCode, "no NxP code in this file", "", why, help)
        })?;
        let nxp_elf = section.data().map_err(|e| corrupted(&e))?;
        if machine(nxp_elf) != Machine::Elf64Le(elf::EM_RISCV) {
            return Err(corrupted(&"its RV64 part is not an RV64 ELF file"));
        }
        ElfFile64::<LittleEndian>::parse(nxp_elf).map_err(|e| corrupted(&e))?;
        // The guard is the first byte of the image.
        let image_address = host
            .symbols()
            .find(|symbol| symbol.name() == Ok(names::LINK_GUARD))
            .map(|symbol| symbol.address());
        let units = units(&host)?;
        Ok(Self {
            nxp_elf,
            image_address,
            units,
            placements: Placements::of_file(&host)?,
        })
    }

    /// Bytes of RV64 instructions.
    pub fn code_size(&self) -> Result<u64> {
        let elf = ElfFile64::<LittleEndian>::parse(self.nxp_elf).map_err(|e| corrupted(&e))?;
        let code = elf.sections().filter(|s| s.kind() == SectionKind::Text);
        Ok(code.map(|section| section.size()).sum())
    }
}

/// FLK0303 where another version of Flick linked `host`.
pub fn check_version(host: &object::File) -> Result<()> {
    match version(host) {
        Some(version) if !ABI_VERSION.reads(version) => {
            Err(Error::other_version("this file", version))
        }
        _ => Ok(()),
    }
}

/// Of which version an ELF file says that it is.
pub fn version<'d, R: ReadRef<'d>>(file: &object::File<'d, R>) -> Option<Version> {
    Note::find(file.section_by_name(names::SEC_NOTE)?.data().ok()?)
}

/// Why the tools cannot look into a program that has NxP code all the same, and what helps.
pub const STRIPPED: (&str, &str) = (
    "it has NxP code; what tools need of it was stripped (llvm-strip removes .flick.elf and .flick.place)",
    "look at the file from before; strip with GNU strip, or with llvm-strip --strip-debug",
);

/// Whether a linked file with an image lacks the sections that the loader does not need.
pub fn is_stripped(host: &object::File) -> bool {
    let has = |name| host.section_by_name(name).is_some();
    has(names::SEC_GATES) && has(names::SEC_NOTE) && !has(names::SEC_ELF)
}

/// Units that a linked host file contains, in link order (section `flick_units`).
pub fn units(host: &object::File) -> Result<Vec<u64>> {
    const SIZE: usize = size_of::<flick_abi::layout::Unit>();
    let Some(section) = host.section_by_name(names::SEC_UNITS) else {
        return Ok(Vec::new());
    };
    let data = section.data().map_err(|e| corrupted(&e))?;
    if data.len() % SIZE != 0 {
        return Err(corrupted(&"its list of units has a wrong size"));
    }
    let id = |record: &[u8]| u64::from_le_bytes(std::array::from_fn(|i| record[i]));
    Ok(data
        .chunks_exact(SIZE)
        .map(id)
        .filter(|&id| id != 0)
        .collect())
}

fn corrupted(why: &dyn std::fmt::Display) -> Error {
    Error::new(
        Code::CorruptedImage,
        "the image in this file is corrupted",
        "",
        why.to_string(),
        "build it again",
    )
}
