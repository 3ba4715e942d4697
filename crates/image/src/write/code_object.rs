//! The translation of an image as an object of its own, for a process that has the image already.
use flick_abi::names;
use object::elf;

use super::debug_stubs::functions_outside;
use super::{READ_ONLY, Writer, internal};
use crate::Result;
use crate::linked::Linked;
use crate::translation::Translated;

/// The section of a [`code_object`] with the record of the translation.
pub const RECORD_SECTION: &str = ".data.rel.ro.flick_translation";

/// The section with a word for each of [`names::TRANSLATION_WORDS`].
pub const WORDS_SECTION: &str = ".data.rel.ro.flick_words";

/// The section with the cells, which the runtime writes.
pub const CELLS_SECTION: &str = ".data.flick_cells";

/// An x86-64 relocatable with the code, its tables, unwind and debug information. `file`: the linked
/// RV64 ELF that `linked` was parsed from. The names that it leaves undefined are
/// [`names::LINK_GUARD`], which is the first byte of the image, the runtime's
/// [`names::TRANSLATION_WORDS`], and weakly functions and variables of the host that the image names.
pub fn code_object(linked: &Linked, file: &[u8], translated: &Translated) -> Result<Vec<u8>> {
    let mut out = Writer::new();
    let image = out.undefined(names::LINK_GUARD, false, elf::STV_HIDDEN);
    let code = out.translation(linked, translated, image)?.code;
    // gdb looks for the function behind a stub in the same file.
    for (name, _) in functions_outside(linked, translated) {
        out.undefined(name, true, elf::STV_DEFAULT);
    }
    out.debug_sections(linked, file, translated, [code, image])?;
    let frames = out.section(".eh_frame", READ_ONLY, 8, translated.unwind.clone());
    for &(field, to) in &translated.unwind_fields {
        out.relocate_as(elf::R_X86_64_PC32, frames, field as u64, code, to as i64)?;
    }
    out.object.write().map_err(|e| internal(&e))
}
