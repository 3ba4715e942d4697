//! A unit's NxP object before the image link: which names it defines and calls, and two repairs of
//! its symbol table.
use std::collections::{BTreeMap, BTreeSet};

use flick_abi::names::{CALL_PREFIX, NXP_PREFIX};
use flick_diagnostics::Code;
use object::elf;
use object::read::elf::{ElfFile64, FileHeader, SectionHeader, Sym};
use object::{LittleEndian, U16, U32, U64};

use crate::{Error, Result};

const LE: LittleEndian = LittleEndian;
/// Of `st_other`: the function does not keep to the usual convention (RISC-V ELF psABI).
const STO_RISCV_VARIANT_CC: u8 = 0x80;

/// Names that ld.lld defines where no input does, with addresses in its output. NxP code means the
/// host's: the host linker's symbol, or a variable of the program that happens to have the name.
const LINKER_DEFINED: [&str; 17] = [
    "_DYNAMIC",
    "__bss_start",
    "__dso_handle",
    "__ehdr_start",
    "__executable_start",
    "__fini_array_end",
    "__fini_array_start",
    "__init_array_end",
    "__init_array_start",
    "__preinit_array_end",
    "__preinit_array_start",
    "_edata",
    "_end",
    "_etext",
    "edata",
    "end",
    "etext",
];

/// What the link needs to know about an NxP object.
#[derive(Debug, Default)]
pub struct Payload {
    /// The object as the RV64 linker gets it.
    pub bytes: Vec<u8>,
    /// Functions with NxP code, plain names; `true`: weak.
    pub defined: BTreeMap<String, bool>,
    /// Of these, variadic ones: their NxP code wants a list that a call by name does not hand over.
    pub variadic: BTreeSet<String>,
    /// Functions called by `__flick_call_…`, plain names.
    pub called: BTreeSet<String>,
}

impl Payload {
    /// `both`: functions that exist in `libnxp.a` and on the host. Their addresses are the host's,
    /// while calls that the code generator makes are the NxP's; the same name means both.
    /// FLK0302 for an object that cannot be read.
    pub fn read(bytes: &[u8], both: &BTreeSet<String>) -> Result<Self> {
        let elf = ElfFile64::<LittleEndian>::parse(bytes).map_err(corrupted)?;
        let sections = elf.elf_section_table();
        let symbols = elf.elf_symbol_table();
        let mut payload = Self {
            bytes: bytes.to_vec(),
            ..Self::default()
        };
        let Some(table) = sections
            .iter()
            .position(|s| s.sh_type(LE) == elf::SHT_SYMTAB)
        else {
            return Ok(payload);
        };
        let table = sections
            .section(object::SectionIndex(table))
            .map_err(corrupted)?;
        let table_at = table.sh_offset(LE) as usize;

        let mut address_taken = BTreeMap::new();
        for (index, symbol) in symbols.enumerate() {
            let name = symbols.symbol_name(LE, symbol).map_err(corrupted)?;
            let Ok(name) = std::str::from_utf8(name) else {
                continue;
            };
            if symbol.st_bind() == elf::STB_LOCAL || name.is_empty() {
                continue;
            }
            let undefined = symbol.st_shndx(LE) == elf::SHN_UNDEF;
            let weak = symbol.st_bind() == elf::STB_WEAK;
            match (
                name.strip_prefix(NXP_PREFIX),
                name.strip_prefix(CALL_PREFIX),
            ) {
                (Some(plain), _) if !undefined => {
                    if symbol.st_other() & STO_RISCV_VARIANT_CC != 0 {
                        payload.variadic.insert(plain.into());
                    }
                    payload.defined.insert(plain.into(), weak);
                }
                (None, Some(plain)) if undefined => {
                    payload.called.insert(plain.into());
                }
                _ => {}
            }
            // What the host defines may be hidden there; to this link it is from outside.
            if undefined && !name.starts_with(NXP_PREFIX) {
                let other = table_at + index.0 * size_of::<elf::Sym64<LittleEndian>>() + 5;
                payload.bytes[other] &= !3;
            }
            if undefined && (both.contains(name) || LINKER_DEFINED.contains(&name)) {
                address_taken.insert(index.0 as u32, (name.to_owned(), symbol.st_info()));
            }
        }
        let addresses = address_relocations(&elf, bytes, &address_taken)?;
        if !addresses.is_empty() {
            rename(&mut payload.bytes, table, &elf, &addresses)?;
        }
        Ok(payload)
    }
}

/// An address that is the host's although this link knows the name: where the relocation is in the
/// file, its type, the name, and binding and type of its symbol.
struct AddressUse {
    at: usize,
    kind: u32,
    name: String,
    info: u8,
}

/// Relocations against `symbols` that are no calls.
fn address_relocations(
    elf: &ElfFile64<LittleEndian>,
    file: &[u8],
    symbols: &BTreeMap<u32, (String, u8)>,
) -> Result<Vec<AddressUse>> {
    let mut uses = Vec::new();
    if symbols.is_empty() {
        return Ok(uses);
    }
    for section in elf.elf_section_table().iter() {
        let Some((entries, _)) = section.rela(LE, file).map_err(corrupted)? else {
            continue;
        };
        for (i, rela) in entries.iter().enumerate() {
            let (kind, symbol) = (rela.r_type(LE, false), rela.r_sym(LE, false));
            let call = matches!(
                kind,
                elf::R_RISCV_CALL | elf::R_RISCV_CALL_PLT | elf::R_RISCV_JAL
            );
            if let (false, Some((name, info))) = (call, symbols.get(&symbol)) {
                let at = section.sh_offset(LE) as usize + i * size_of_val(rela);
                uses.push(AddressUse {
                    at,
                    kind,
                    name: name.clone(),
                    info: *info,
                });
            }
        }
    }
    Ok(uses)
}

/// Gives the uses a symbol of their own, which stands for the host's. The symbol and string
/// tables move to the end of the file.
fn rename(
    file: &mut Vec<u8>,
    table: &elf::SectionHeader64<LittleEndian>,
    parsed: &ElfFile64<LittleEndian>,
    uses: &[AddressUse],
) -> Result<()> {
    let sections = parsed.elf_section_table();
    let strings_index = object::SectionIndex(table.sh_link(LE) as usize);
    let strings = sections.section(strings_index).map_err(corrupted)?;
    let original = parsed.data();
    let mut symbol_bytes = table.data(LE, original).map_err(corrupted)?.to_vec();
    let mut string_bytes = strings.data(LE, original).map_err(corrupted)?.to_vec();
    let mut new: BTreeMap<&str, u64> = BTreeMap::new();
    for AddressUse {
        at,
        kind,
        name,
        info,
    } in uses
    {
        let index = *new.entry(name).or_insert_with(|| {
            let symbol = elf::Sym64 {
                st_name: U32::new(LE, string_bytes.len() as u32),
                st_info: *info,
                st_other: elf::STV_DEFAULT,
                st_shndx: U16::new(LE, elf::SHN_UNDEF),
                st_value: U64::new(LE, 0),
                st_size: U64::new(LE, 0),
            };
            string_bytes.extend(
                flick_image::linked::ADDRESS_PREFIX
                    .bytes()
                    .chain(name.bytes()),
            );
            string_bytes.push(0);
            let index = symbol_bytes.len() / size_of_val(&symbol);
            symbol_bytes.extend_from_slice(object::pod::bytes_of(&symbol));
            index as u64
        });
        let r_info = index << 32 | u64::from(*kind);
        file[at + 8..at + 16].copy_from_slice(&r_info.to_le_bytes());
    }
    let headers = parsed.elf_header().e_shoff(LE) as usize;
    let header_size = size_of_val(table);
    let table_index = sections.iter().position(|s| std::ptr::eq(s, table));
    let table_index = table_index.ok_or_else(|| corrupted("no symbol table"))?;
    for (index, bytes) in [(table_index, symbol_bytes), (strings_index.0, string_bytes)] {
        file.resize(file.len().next_multiple_of(8), 0);
        let at = headers + index * header_size;
        // sh_offset and sh_size.
        let end = file.len() as u64;
        file[at + 24..at + 32].copy_from_slice(&end.to_le_bytes());
        file[at + 32..at + 40].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        file.extend(bytes);
    }
    Ok(())
}

fn corrupted(why: impl std::fmt::Display) -> Error {
    let help = "compile it again";
    Error::new(
        Code::CorruptedObject,
        "a fat object is truncated or corrupted",
        "",
        why.to_string(),
        help,
    )
}
