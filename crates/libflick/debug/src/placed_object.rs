//! A relocatable object that gets addresses in this process: a linker for one object, in place. What
//! it leaves is an ELF file whose sections and symbols have the addresses of the process, as gdb wants
//! it.
//!
//! System V gABI, chapters 4 and 5; x86-64 psABI 4.4, "Relocation".
use std::ffi::c_int;
use std::ops::Range;

use flick_image::write::CELLS_SECTION;
use object::elf::{self, FileHeader64, Rela64, SectionHeader64, Sym64};
use object::read::elf::{FileHeader, Rela, SectionHeader, Sym};
use object::{LittleEndian, SectionIndex, SymbolIndex};

const LE: LittleEndian = LittleEndian;
const PAGE: u64 = 4096;

/// Sections with the same protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Code,
    Constant,
    Writable,
}

impl Group {
    pub const ALL: [Self; 3] = [Self::Code, Self::Constant, Self::Writable];

    /// For `mprotect`.
    pub fn protection(self) -> c_int {
        match self {
            Self::Code => libc::PROT_READ | libc::PROT_EXEC,
            Self::Constant => libc::PROT_READ,
            Self::Writable => libc::PROT_READ | libc::PROT_WRITE,
        }
    }

    /// `None`: the process does not need the section. What relocation alone changes is constant.
    fn of(section: &SectionHeader64<LittleEndian>, name: &[u8]) -> Option<Self> {
        let has = |flag: u32| section.sh_flags(LE) & u64::from(flag) != 0;
        if !has(elf::SHF_ALLOC) {
            None
        } else if has(elf::SHF_EXECINSTR) {
            Some(Self::Code)
        } else if section.sh_type(LE) == elf::SHT_NOBITS || name == CELLS_SECTION.as_bytes() {
            Some(Self::Writable)
        } else {
            Some(Self::Constant)
        }
    }
}

/// What is to be known of a section.
struct Section {
    name: String,
    group: Option<Group>,
    /// In the memory; 0 for a section that has no place there.
    address: u64,
    /// Its bytes in the file; empty for `SHT_NOBITS`.
    file: Range<usize>,
    /// Of its header in the file.
    header: usize,
    is_relocations: bool,
}

/// An object, and where its parts are to be.
pub struct Object {
    elf: Vec<u8>,
    sections: Vec<Section>,
    /// By [`Group`]: pages from the start of the memory.
    groups: [Range<u64>; 3],
    start: u64,
}

impl Object {
    /// Lays out the sections that the process needs.
    pub fn parse(elf: Vec<u8>) -> Result<Self, String> {
        let mut sections = vec![];
        let mut groups = [const { 0..0 }; 3];
        let header = FileHeader64::<LittleEndian>::parse(&*elf).map_err(text)?;
        let table = header.sections(LE, &*elf).map_err(text)?;
        let first = header.e_shoff(LE) as usize;
        for (n, section) in table.iter().enumerate() {
            let name = table.section_name(LE, section).map_err(text)?;
            let file = section
                .file_range(LE)
                .map_or(0..0, |(at, size)| at as usize..at as usize + size as usize);
            elf.get(file.clone())
                .ok_or("a section is not in the object")?;
            sections.push(Section {
                name: String::from_utf8_lossy(name).into_owned(),
                group: Group::of(section, name),
                address: 0,
                file,
                header: first + n * size_of::<SectionHeader64<LittleEndian>>(),
                is_relocations: section.sh_type(LE) == elf::SHT_RELA,
            });
        }
        let mut end = 0_u64;
        for group in Group::ALL {
            let start = end.next_multiple_of(PAGE);
            end = start;
            for (section, header) in sections.iter_mut().zip(table.iter()) {
                if section.group == Some(group) {
                    section.address = end.next_multiple_of(header.sh_addralign(LE).max(1));
                    end = section.address + header.sh_size(LE);
                }
            }
            groups[group as usize] = start..end.next_multiple_of(PAGE);
        }
        Ok(Self {
            elf,
            sections,
            groups,
            start: 0,
        })
    }

    /// Bytes of memory for it.
    pub fn size(&self) -> u64 {
        self.groups[Group::Writable as usize].end
    }

    /// Places it at `start`, a multiple of the size of pages, with the addresses that `resolve` has
    /// for names. A name that nobody has is 0 if that may be.
    pub fn place(
        &mut self,
        start: u64,
        resolve: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<(), String> {
        self.start = start;
        for section in &mut self.sections {
            section.address += section.group.map_or(0, |_| start);
        }
        let patches = self.patches(resolve)?;
        for (at, bytes) in patches {
            self.elf[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        Ok(())
    }

    /// What changes in the file, and where.
    fn patches(
        &self,
        resolve: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<Vec<(usize, Vec<u8>)>, String> {
        use std::mem::offset_of;
        let header = FileHeader64::<LittleEndian>::parse(&*self.elf).map_err(text)?;
        let table = header.sections(LE, &*self.elf).map_err(text)?;
        let mut patches = vec![(
            offset_of!(FileHeader64<LittleEndian>, e_type),
            elf::ET_EXEC.to_le_bytes().to_vec(),
        )];
        for section in &self.sections {
            if section.group.is_some() {
                let field = offset_of!(SectionHeader64<LittleEndian>, sh_addr);
                let address = section.address.to_le_bytes().to_vec();
                patches.push((section.header + field, address));
            }
            if section.is_relocations {
                // They are done.
                let field = offset_of!(SectionHeader64<LittleEndian>, sh_type);
                patches.push((section.header + field, elf::SHT_NULL.to_le_bytes().to_vec()));
            }
        }
        let symbols = table
            .symbols(LE, &*self.elf, elf::SHT_SYMTAB)
            .map_err(text)?;
        let symbols_at = self.section(symbols.section())?.file.start;
        let mut addresses = vec![];
        for (n, symbol) in symbols.iter().enumerate() {
            let name = symbols.symbol_name(LE, symbol).map_err(text)?;
            let name = String::from_utf8_lossy(name);
            let address = match symbols
                .symbol_section(LE, symbol, SymbolIndex(n))
                .map_err(text)?
            {
                Some(section) => self.section(section)?.address + symbol.st_value(LE),
                None if name.is_empty() || symbol.st_shndx(LE) != elf::SHN_UNDEF => {
                    symbol.st_value(LE)
                }
                None => match resolve(&name) {
                    Some(address) => address,
                    None if symbol.st_bind() == elf::STB_WEAK => 0,
                    None => return Err(format!("nobody has {name}")),
                },
            };
            addresses.push(address);
            let at = symbols_at + n * size_of::<Sym64<LittleEndian>>();
            if symbol.st_shndx(LE) == elf::SHN_UNDEF && address != 0 {
                let field = offset_of!(Sym64<LittleEndian>, st_shndx);
                patches.push((at + field, elf::SHN_ABS.to_le_bytes().to_vec()));
            }
            if symbol.st_shndx(LE) != elf::SHN_UNDEF || address != 0 {
                let field = offset_of!(Sym64<LittleEndian>, st_value);
                patches.push((at + field, address.to_le_bytes().to_vec()));
            }
        }
        for section in table.iter() {
            let Some((relocations, _)) = section.rela(LE, &*self.elf).map_err(text)? else {
                continue;
            };
            let target = self.section(SectionIndex(section.sh_info(LE) as usize))?;
            for relocation in relocations {
                patches.push(patch(target, relocation, &addresses)?);
            }
        }
        Ok(patches)
    }

    fn section(&self, index: SectionIndex) -> Result<&Section, String> {
        let section = self.sections.get(index.0);
        section.ok_or_else(|| "a section is missing".into())
    }

    /// Addresses and bytes that the process gets; everything else is 0.
    pub fn contents(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let needed = self.sections.iter().filter(|s| s.group.is_some());
        needed.map(|section| (section.address, &self.elf[section.file.clone()]))
    }

    /// Where a group of sections is.
    pub fn range(&self, group: Group) -> Range<u64> {
        let range = &self.groups[group as usize];
        self.start + range.start..self.start + range.end
    }

    /// Where the section of this name is.
    pub fn address_of(&self, name: &str) -> Option<u64> {
        let section = self.sections.iter().find(|section| section.name == name)?;
        section.group.map(|_| section.address)
    }

    /// The file for gdb.
    pub fn into_elf(self) -> Vec<u8> {
        self.elf
    }
}

/// What a relocation of a section changes in the file.
fn patch(
    section: &Section,
    relocation: &Rela64<LittleEndian>,
    addresses: &[u64],
) -> Result<(usize, Vec<u8>), String> {
    let symbol = addresses.get(relocation.r_sym(LE, false) as usize);
    let symbol = symbol.ok_or("a relocation names no symbol")?;
    let value = symbol.wrapping_add_signed(relocation.r_addend(LE));
    let offset = relocation.r_offset(LE);
    let too_far = |_| "its code is too far away".to_owned();
    let bytes = match relocation.r_type(LE, false) {
        elf::R_X86_64_64 => value.to_le_bytes().to_vec(),
        elf::R_X86_64_32 => u32::try_from(value)
            .map_err(too_far)?
            .to_le_bytes()
            .to_vec(),
        elf::R_X86_64_PC32 => {
            let distance = value.wrapping_sub(section.address.wrapping_add(offset)) as i64;
            let distance = i32::try_from(distance).map_err(too_far)?;
            distance.to_le_bytes().to_vec()
        }
        other => return Err(format!("a relocation of type {other}")),
    };
    let end = offset.checked_add(bytes.len() as u64);
    if end.is_none_or(|end| end > section.file.len() as u64) {
        return Err("a relocation is outside of its section".into());
    }
    Ok((section.file.start + offset as usize, bytes))
}

fn text(error: object::Error) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use object::write::{self, Relocation, StandardSection, Symbol, SymbolId, SymbolSection};
    use object::{
        Architecture, BinaryFormat, Endianness, ObjectSymbol, RelocationFlags, SymbolFlags,
        SymbolKind, SymbolScope,
    };

    use super::*;

    const START: u64 = 0x7000_0000;
    const OUTSIDE: u64 = START + 0x1_0000;

    fn symbol(name: &str, section: SymbolSection, weak: bool) -> Symbol {
        Symbol {
            name: name.into(),
            value: 4,
            size: 0,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak,
            section,
            flags: SymbolFlags::None,
        }
    }

    /// An object with 16 bytes of code, 8 of debug information and 8 of cells. `relocate` says which
    /// relocation the code has.
    fn object(relocate: impl FnOnce(&mut write::Object) -> Option<(u64, SymbolId, u32)>) -> Object {
        let (format, machine) = (BinaryFormat::Elf, Architecture::X86_64);
        let mut out = write::Object::new(format, machine, Endianness::Little);
        let code = out.section_id(StandardSection::Text);
        out.append_section_data(code, &[0xcc; 16], 16);
        let cells = out.section_id(StandardSection::UninitializedData);
        out.append_section_bss(cells, 8, 8);
        let debug = out.add_section(vec![], b".debug_info".to_vec(), object::SectionKind::Debug);
        out.append_section_data(debug, &[0; 8], 1);
        let here = out.add_symbol(symbol("here", SymbolSection::Section(code), false));
        let relocation = |offset, symbol, r_type| Relocation {
            offset,
            symbol,
            addend: 2,
            flags: RelocationFlags::Elf { r_type },
        };
        out.add_relocation(debug, relocation(0, here, elf::R_X86_64_64))
            .unwrap();
        if let Some((offset, symbol, r_type)) = relocate(&mut out) {
            out.add_relocation(code, relocation(offset, symbol, r_type))
                .unwrap();
        }
        Object::parse(out.write().unwrap()).unwrap()
    }

    fn outside(name: &str) -> Option<u64> {
        (name == "outside").then_some(OUTSIDE)
    }

    fn undefined(name: &'static str, weak: bool, offset: u64, r_type: u32) -> Object {
        object(|out| {
            let symbol = out.add_symbol(symbol(name, SymbolSection::Undefined, weak));
            Some((offset, symbol, r_type))
        })
    }

    #[test]
    fn an_object_gets_addresses() {
        let mut placed = undefined("outside", false, 8, elf::R_X86_64_PC32);
        assert_eq!(placed.size(), 2 * PAGE);
        placed.place(START, &outside).unwrap();
        assert_eq!(placed.range(Group::Code), START..START + PAGE);
        assert_eq!(
            placed.range(Group::Writable),
            START + PAGE..START + 2 * PAGE
        );
        assert_eq!(placed.address_of(".text"), Some(START));
        assert_eq!(placed.address_of(".debug_info"), None);
        let (at, bytes) = placed.contents().find(|(at, _)| *at == START).unwrap();
        let distance = i32::from_le_bytes(bytes[8..12].try_into().unwrap());
        assert_eq!(at + 8 + distance as u64, OUTSIDE + 2);
        // gdb reads it as a file that was linked for these addresses.
        let elf = placed.into_elf();
        let file = object::read::elf::ElfFile64::<LittleEndian>::parse(&*elf).unwrap();
        assert_eq!(file.elf_header().e_type(LE), elf::ET_EXEC);
        use object::{Object as _, ObjectSection};
        let here = file.symbols().find(|symbol| symbol.name() == Ok("here"));
        assert_eq!(here.unwrap().address(), START + 4);
        assert_eq!(file.section_by_name(".text").unwrap().address(), START);
        let debug = file.section_by_name(".debug_info").unwrap();
        assert_eq!((debug.address(), debug.relocations().count()), (0, 0));
        assert_eq!(debug.data().unwrap(), (START + 6).to_le_bytes());
    }

    #[test]
    fn names_that_nobody_has() {
        let mut weak = undefined("nobody", true, 8, elf::R_X86_64_64);
        weak.place(START, &outside).unwrap();
        let (_, bytes) = weak.contents().find(|(at, _)| *at == START).unwrap();
        assert_eq!(bytes[8..], 2_u64.to_le_bytes());
        let mut strong = undefined("nobody", false, 8, elf::R_X86_64_64);
        assert_eq!(
            strong.place(START, &outside),
            Err("nobody has nobody".into())
        );
    }

    #[test]
    fn relocations_that_cannot_be() {
        for (offset, r_type) in [
            (13, elf::R_X86_64_PC32),
            (u64::MAX, elf::R_X86_64_PC32),
            (8, elf::R_X86_64_GOTPCREL),
        ] {
            let mut broken = undefined("outside", false, offset, r_type);
            broken.place(START, &outside).unwrap_err();
        }
        let mut far = undefined("outside", false, 8, elf::R_X86_64_PC32);
        far.place(START + (1 << 33), &outside).unwrap_err();
    }
}
