//! A linked RV64 shared ELF taken apart into the parts of an image: bytes, relocations, functions.
//!
//! RISC-V ELF psABI, chapter "Dynamic relocations".
use std::collections::BTreeMap;
use std::ops::Range;

use flick_abi::layout::Arity;
use flick_abi::names::{CALL_PREFIX, NXP_PREFIX, SEC_ARITY};
use flick_abi::{NXP_MARCH, march};
use flick_diagnostics::Code;
use object::elf;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader, Rela, SectionHeader, Sym};
use object::{LittleEndian, Object, ObjectSymbol, ObjectSymbolTable, SymbolFlags};

use crate::jump_targets::{self, Jumps};
use crate::{Error, Result};
use crate::{landing_pads, line_table, unwind_rows};

const LE: LittleEndian = LittleEndian;

/// A use of the host function's address where the name alone would mean the NxP's own function; see
/// the driver crate's `payload`.
pub const ADDRESS_PREFIX: &str = "__flick_address_";

/// All offsets count from the first byte of the image.
#[derive(Clone, Debug, Default)]
pub struct Linked {
    /// Where the linked file has the image's first byte.
    pub base: u64,
    /// The image's contents, before relocation.
    pub bytes: Vec<u8>,
    /// The executable part.
    pub text: Range<u64>,
    /// The words that hold addresses.
    pub relocations: Vec<Relocation>,
    /// Sorted by offset, one for each.
    pub functions: Vec<Function>,
    /// `__flick_nxp_f` and where it is.
    pub entries: BTreeMap<String, u64>,
    /// Sorted by offset, one for each.
    pub arity: Vec<Arity>,
    /// The targets of jumps through registers.
    pub jumps: Jumps,
    /// Empty without debug information.
    pub lines: line_table::Table,
    /// Empty without call frame information.
    pub unwind: unwind_rows::Table,
    /// Where the unwinder may send control, sorted.
    pub landing_pads: Vec<u64>,
    /// What the code was compiled for, all units together.
    pub march: String,
}

/// The 64-bit word at `offset` becomes `target` + `addend`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Offset of the word in the image, in bytes.
    pub offset: u64,
    /// What `addend` counts from.
    pub target: Target,
    /// Bytes.
    pub addend: i64,
}

/// What an address in the image leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The first byte of the image.
    Image,
    /// A function or variable of the host.
    Host {
        /// The linker's name.
        name: String,
        /// If nothing defines the name, the address is 0.
        weak: bool,
    },
}

/// A function symbol of the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Offset of the first instruction in the image, in bytes.
    pub offset: u64,
    /// Bytes of code.
    pub size: u64,
    /// As in the source.
    pub name: String,
}

/// The name in the source of a symbol of the image: without Flick's prefixes and without the suffix
/// that makes names of static functions unique (`.flick.` and eight hexadecimal digits).
///
/// ```
/// assert_eq!(flick_image::linked::plain_name("__flick_nxp_sum.flick.0123abcd"), "sum");
/// ```
pub fn plain_name(symbol: &str) -> &str {
    let name = symbol
        .strip_prefix(NXP_PREFIX)
        .or_else(|| symbol.strip_prefix(CALL_PREFIX))
        .unwrap_or(symbol);
    flick_names::plain(name)
}

/// Addresses in a linked RV64 ELF (`ld.lld-19`'s) from which calls leave the image, and the host
/// functions they go to. RISC-V ELF psABI, chapter "Procedure linkage table": a header of 32 bytes,
/// then 16 for each jump slot, in their order.
pub fn exits(file: &[u8]) -> BTreeMap<u64, String> {
    let mut exits = BTreeMap::new();
    let Ok(elf) = ElfFile64::<LittleEndian>::parse(file) else {
        return exits;
    };
    let table = elf.elf_section_table();
    let Some((_, plt)) = table.section_by_name(LE, b".plt") else {
        return exits;
    };
    let slots = table
        .section_by_name(LE, b".rela.plt")
        .and_then(|(_, s)| s.rela(LE, file).ok());
    let symbols = elf.elf_dynamic_symbol_table();
    for (i, slot) in (0u64..).zip(slots.flatten().into_iter().flat_map(|(slots, _)| slots)) {
        let symbol = slot
            .symbol(LE, false)
            .and_then(|index| symbols.symbol(index).ok());
        let name = symbol.and_then(|symbol| symbols.symbol_name(LE, symbol).ok());
        let name = name.map(|name| plain_name(&String::from_utf8_lossy(name)).to_owned());
        exits.extend(name.map(|name| (plt.sh_addr(LE).wrapping_add(32 + 16 * i), name)));
    }
    exits
}

impl Linked {
    /// FLK0306 where the file holds what an image cannot; FLK0103 where it is not what
    /// `ld.lld-19 -shared` makes.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let elf = ElfFile64::<LittleEndian>::parse(file).map_err(|e| not_linked(&e))?;
        if elf.elf_header().e_machine(LE) != elf::EM_RISCV {
            return Err(not_linked(&"not an RV64 file"));
        }
        let (bytes, text, base) = load(&elf, file)?;
        let mut linked = Self {
            base,
            bytes,
            text,
            ..Self::default()
        };
        linked.relocations = relocations(&elf, file, base, linked.bytes.len() as u64)?;
        linked.symbols(&elf, base);
        linked.arity = arity(&elf, file, base, &linked.functions);
        linked.jumps = jump_targets::read(&elf, file, base, &linked.functions)?;
        linked.lines = line_table::read(&elf, base, linked.bytes.len() as u64);
        linked.unwind = unwind_rows::read(&elf, base, linked.bytes.len() as u64);
        linked.landing_pads = landing_pads::read(&linked.unwind.frames, &linked.bytes);
        linked.march = march(&elf).unwrap_or_else(|| NXP_MARCH.into());
        Ok(linked)
    }

    fn symbols(&mut self, elf: &ElfFile64<LittleEndian>, base: u64) {
        let mut functions: BTreeMap<u64, Function> = BTreeMap::new();
        for symbol in elf
            .symbol_table()
            .into_iter()
            .flat_map(|table| table.symbols())
        {
            let Ok(name) = symbol.name() else { continue };
            let SymbolFlags::Elf { st_info, st_other } = symbol.flags() else {
                continue;
            };
            let offset = symbol.address().wrapping_sub(base);
            if symbol.is_undefined() || name.is_empty() || offset > self.bytes.len() as u64 {
                continue;
            }
            // The linker makes hidden symbols local; the visibility tells them from the copies that
            // are local to a unit.
            if name.starts_with(NXP_PREFIX) && st_other & 3 == elf::STV_HIDDEN {
                self.entries.insert(name.into(), offset);
            }
            if st_info & 15 == elf::STT_FUNC && self.text.contains(&offset) {
                let function = Function {
                    offset,
                    size: symbol.size(),
                    name: plain_name(name).into(),
                };
                match functions.get(&offset) {
                    Some(known) if known.size >= function.size => {}
                    _ => {
                        functions.insert(offset, function);
                    }
                }
            }
        }
        self.functions = functions.into_values().collect();
    }
}

/// The records of functions that the linker has kept. What several objects say of one holds
/// together: the linker takes one definition of a weak function.
fn arity(
    elf: &ElfFile64<LittleEndian>,
    file: &[u8],
    base: u64,
    functions: &[Function],
) -> Vec<Arity> {
    const RECORD: usize = 16;
    let table = elf.elf_section_table();
    let section = table.section_by_name(LE, SEC_ARITY.as_bytes());
    let Some(data) = section.and_then(|(_, section)| section.data(LE, file).ok()) else {
        return vec![];
    };
    let mut all: BTreeMap<u32, Arity> = BTreeMap::new();
    for record in data.chunks_exact(RECORD) {
        let half = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
        let address = (0..8).fold(0, |word, n| word | u64::from(record[n]) << (8 * n));
        let offset = address.wrapping_sub(base);
        let is_function = functions
            .binary_search_by_key(&offset, |f| f.offset)
            .is_ok();
        let Some(offset) = u32::try_from(offset).ok().filter(|_| is_function) else {
            continue;
        };
        let new = Arity {
            offset,
            arguments: half(8),
            results: half(10),
            calls: half(12),
            flags: half(14),
        };
        all.entry(offset)
            .and_modify(|known| {
                known.arguments |= new.arguments;
                known.results |= new.results;
                known.calls |= new.calls;
                known.flags |= new.flags;
            })
            .or_insert(new);
    }
    all.into_values().collect()
}

fn load(elf: &ElfFile64<LittleEndian>, file: &[u8]) -> Result<(Vec<u8>, Range<u64>, u64)> {
    let segments: Vec<_> = elf
        .elf_program_headers()
        .iter()
        .filter(|p| p.p_type(LE) == elf::PT_LOAD)
        .collect();
    let base = segments
        .iter()
        .map(|p| p.p_vaddr(LE))
        .min()
        .ok_or_else(|| not_linked(&"no code"))?;
    if elf
        .elf_program_headers()
        .iter()
        .any(|p| p.p_type(LE) == elf::PT_TLS)
    {
        return Err(cannot_hold(
            "a thread-local variable",
            "give it to the host",
        ));
    }
    check_sections(elf)?;
    let mut bytes = Vec::new();
    let mut text = 0..0;
    for segment in segments {
        let data = segment
            .data(LE, file)
            .map_err(|()| not_linked(&"a truncated segment"))?;
        let start = segment.p_vaddr(LE) - base;
        let end = start + data.len() as u64;
        if end > u64::from(u32::MAX) {
            return Err(cannot_hold(
                "more than 4 GiB of code and constants",
                "place less",
            ));
        }
        if bytes.len() < end as usize {
            bytes.resize(end as usize, 0);
        }
        bytes[start as usize..end as usize].copy_from_slice(data);
        if segment.p_flags(LE) & elf::PF_X != 0 {
            text = if text.is_empty() {
                start..end
            } else {
                text.start.min(start)..text.end.max(end)
            };
        }
    }
    Ok((bytes, text, base))
}

/// Everything writable must be what only the dynamic loader writes.
fn check_sections(elf: &ElfFile64<LittleEndian>) -> Result<()> {
    let table = elf.elf_section_table();
    for section in table.iter() {
        let flags = section.sh_flags(LE);
        let name = table.section_name(LE, section).unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        if flags & u64::from(elf::SHF_ALLOC) == 0 || section.sh_size(LE) == 0 {
            continue;
        }
        if flags & u64::from(elf::SHF_TLS) != 0 {
            return Err(cannot_hold(
                "a thread-local variable",
                "give it to the host",
            ));
        }
        let loader_only = name.starts_with(".data.rel.ro")
            || matches!(&*name, ".dynamic" | ".got" | ".got.plt" | ".relro_padding");
        if flags & u64::from(elf::SHF_WRITE) != 0 && !loader_only {
            return Err(cannot_hold(
                &format!("writable data (section {name})"),
                "variables have their home on the host: declare it in a C unit",
            ));
        }
    }
    Ok(())
}

/// The ISA string that the linker has made of those of all objects: their attribute
/// `Tag_RISCV_arch` (RISC-V ELF psABI, chapter "Attributes").
fn march(elf: &ElfFile64<LittleEndian>) -> Option<String> {
    /// Odd tags have strings, even ones numbers.
    const ARCH: u64 = 5;
    let table = elf.elf_section_table();
    let (_, section) = table.section_by_name(LE, b".riscv.attributes")?;
    let attributes = section.attributes(LE, elf.data()).ok()?;
    let mut vendors = attributes.subsections().ok()?;
    while let Some(vendor) = vendors.next().ok()? {
        let mut scopes = vendor.subsubsections();
        while let Some(scope) = scopes.next().ok()? {
            let mut values = scope.attributes();
            while let Some(tag) = values.read_tag().ok()? {
                if tag == ARCH {
                    let mut plain = String::new();
                    march::write_plain(
                        str::from_utf8(values.read_string().ok()?).ok()?,
                        &mut plain,
                    )?;
                    return Some(plain);
                }
                if tag % 2 == 0 {
                    values.read_integer().ok()?;
                } else {
                    values.read_string().ok()?;
                }
            }
        }
    }
    None
}

fn relocations(
    elf: &ElfFile64<LittleEndian>,
    file: &[u8],
    base: u64,
    size: u64,
) -> Result<Vec<Relocation>> {
    let mut all = Vec::new();
    let table = elf.elf_section_table();
    let symbols = elf.elf_dynamic_symbol_table();
    for section in table
        .iter()
        .filter(|s| s.sh_flags(LE) & u64::from(elf::SHF_ALLOC) != 0)
    {
        if matches!(section.sh_type(LE), elf::SHT_RELR | elf::SHT_REL) {
            return Err(not_linked(&"relocations without addends"));
        }
        let Some((entries, _)) = section.rela(LE, file).map_err(|e| not_linked(&e))? else {
            continue;
        };
        for rela in entries {
            let offset = rela.r_offset(LE).wrapping_sub(base);
            if offset.checked_add(8).is_none_or(|end| end > size) {
                return Err(not_linked(&"a relocation outside of the image"));
            }
            let addend = rela.r_addend(LE);
            let symbol = rela.symbol(LE, false);
            let relative = |value: i64| Relocation {
                offset,
                target: Target::Image,
                addend: value.wrapping_sub(base as i64),
            };
            let relocation = match (rela.r_type(LE, false), symbol) {
                (elf::R_RISCV_NONE, _) => continue,
                (elf::R_RISCV_RELATIVE, _) | (elf::R_RISCV_64, None) => relative(addend),
                (elf::R_RISCV_64 | elf::R_RISCV_JUMP_SLOT, Some(index)) => {
                    let symbol = symbols.symbol(index).map_err(|e| not_linked(&e))?;
                    let name = symbols
                        .symbol_name(LE, symbol)
                        .map_err(|e| not_linked(&e))?;
                    let name = String::from_utf8_lossy(name).into_owned();
                    if symbol.st_type() == elf::STT_TLS {
                        return Err(cannot_hold(&format!("thread-local {name}"), ""));
                    }
                    if symbol.st_shndx(LE) == elf::SHN_UNDEF {
                        let weak = symbol.st_bind() == elf::STB_WEAK;
                        let host = name
                            .strip_prefix(CALL_PREFIX)
                            .or_else(|| name.strip_prefix(ADDRESS_PREFIX));
                        let name = host.map(str::to_owned).unwrap_or(name);
                        Relocation {
                            offset,
                            target: Target::Host { name, weak },
                            addend,
                        }
                    } else {
                        relative((symbol.st_value(LE) as i64).wrapping_add(addend))
                    }
                }
                (kind, symbol) => {
                    let name = symbol
                        .and_then(|index| symbols.symbol(index).ok())
                        .and_then(|symbol| symbols.symbol_name(LE, symbol).ok())
                        .map(|name| format!(" for {}", plain_name(&String::from_utf8_lossy(name))))
                        .unwrap_or_default();
                    return Err(cannot_hold(
                        &format!("a relocation of type {kind} (RISC-V ELF psABI){name}"),
                        "",
                    ));
                }
            };
            all.push(relocation);
        }
    }
    all.sort_by_key(|r| r.offset);
    Ok(all)
}

fn cannot_hold(why: &str, help: &str) -> Error {
    let help = if help.is_empty() {
        "place the function that uses it on the host"
    } else {
        help
    };
    Error::new(
        Code::UnsupportedInImage,
        "NxP code needs what the image cannot hold",
        "",
        why,
        help,
    )
}

pub(crate) fn not_linked(why: &dyn std::fmt::Display) -> Error {
    Error::new(
        Code::FailedTool,
        "a tool that Flick calls failed",
        "ld.lld-19",
        format!("its output is not understood: {why}"),
        "`flick doctor` tells which linker is used; it must be LLVM 19's",
    )
}

#[cfg(test)]
mod tests {
    use super::plain_name;

    #[test]
    fn names_as_in_the_source() {
        assert_eq!(plain_name("__flick_nxp_f"), "f");
        assert_eq!(plain_name("__flick_call_memcpy"), "memcpy");
        assert_eq!(plain_name("__flick_nxp_f.flick.0123abcd"), "f");
        assert_eq!(plain_name("f.flick.12"), "f.flick.12");
        assert_eq!(plain_name("plain"), "plain");
    }
}
