//! The file of a module, with the linked RV64 ELF in it.
use flick_abi::names;
use flick_image::elf_kind::parse_host;
use flick_image::final_file::STRIPPED;
use object::{Object, ObjectSection};

use crate::mappings::Mappings;

/// The contents of the file that `address` is mapped from.
pub fn module_file(mappings: &Mappings, address: u64) -> Result<Vec<u8>, String> {
    let path = mappings.file(address).ok_or("it is of no file")?;
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The RV64 ELF in a program or library.
pub fn rv64_elf(file: &[u8]) -> Result<&[u8], String> {
    let host = parse_host(file).map_err(|_| "its file is damaged")?;
    let section = host.section_by_name(names::SEC_ELF).ok_or(STRIPPED.0)?;
    Ok(section.data().map_err(|_| "its file is damaged")?)
}
