//! The part of the image object that is code translated at the link, with its tables
//! (`docs/translator.md`, "Ahead of time").
use std::mem::offset_of;

use flick_abi::layout::{BINDER_SIZE, TRANSLATION_ABI, TranslatedPiece, Translation};
use flick_abi::names;
use object::write::{SectionId, SymbolId, SymbolSection};
use object::{SymbolKind, elf};
use xxhash_rust::xxh3::xxh3_64;

use super::code_object::{CELLS_SECTION, RECORD_SECTION, WORDS_SECTION};
use super::debug_stubs::{STUB_CODE, functions_outside, stubs_by_signature};
use super::{READ_ONLY, WRITABLE, Writer};
use crate::Result;
use crate::linked::Linked;
use crate::translation::{Place, Translated};

#[derive(Clone, Copy)]
pub(super) struct TranslationSymbols {
    pub(super) record: SymbolId,
    pub(super) code: SymbolId,
}

impl Writer {
    /// Translated code, what it reaches, and the record of it.
    pub(super) fn translation(
        &mut self,
        linked: &Linked,
        translated: &Translated,
        image: SymbolId,
    ) -> Result<TranslationSymbols> {
        let executable = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
        let text = self.section(".text.flick", executable, 64, translated.code.clone());
        let code = self.object.section_symbol(text);
        for piece in &translated.pieces {
            self.code_symbol(linked, piece, text)?;
        }
        for (name, &offset) in &linked.entries {
            let pieces = &translated.pieces;
            let at = pieces.binary_search_by_key(&offset, |piece| piece.guest.into());
            if let (Some(name), Ok(at)) = (name.strip_prefix(names::NXP_PREFIX), at) {
                let name = format!("{}{name}", names::CODE_PREFIX);
                self.define(&name, text, pieces[at].code.into(), SymbolKind::Unknown);
            }
        }
        let count = names::TRANSLATION_WORDS.len();
        let words = self.section(WORDS_SECTION, WRITABLE, 8, vec![0; 8 * count]);
        for (n, name) in names::TRANSLATION_WORDS.iter().enumerate() {
            // Weak: a runtime without them comes to its own refusal.
            let symbol = self.undefined(name, true, elf::STV_DEFAULT);
            self.relocate(words, 8 * n as u64, symbol, 0)?;
        }
        let words = self.object.section_symbol(words);
        let cells = self.cells(translated, code)?;
        self.stub_symbols(linked, translated, text);
        for displacement in &translated.displacements {
            let (symbol, offset) = match displacement.place {
                Place::Image(offset) => (image, offset),
                Place::Word(n) => (words, 8 * n as u64),
                Place::Cell(n) => (cells, 8 * u64::from(n)),
            };
            let at = displacement.end - 4;
            self.relocate_as(elf::R_X86_64_PC32, text, at, symbol, offset as i64 - 4)?;
        }
        let (pieces, entries) = (translated.piece_bytes(), translated.entry_bytes());
        let entries = self.section(".rodata.flick_entries", READ_ONLY, 4, entries);
        let entries = self.object.section_symbol(entries);
        let pieces = self.section(".rodata.flick_pieces", READ_ONLY, 4, pieces);
        let pieces = self.object.section_symbol(pieces);
        let leaves = self.section(
            ".rodata.flick_leaves",
            READ_ONLY,
            4,
            translated.leaf_bytes(),
        );
        let leaves = self.object.section_symbol(leaves);
        let states = translated.states.clone();
        let states = self.section(".rodata.flick_states", READ_ONLY, 1, states);
        let states = self.object.section_symbol(states);
        let mut record = vec![0; size_of::<Translation>()];
        let mut put = |at: usize, bytes: &[u8]| record[at..at + bytes.len()].copy_from_slice(bytes);
        put(offset_of!(Translation, abi), &TRANSLATION_ABI.to_le_bytes());
        put(
            offset_of!(Translation, size),
            &(size_of::<Translation>() as u32).to_le_bytes(),
        );
        for (at, value) in [
            (offset_of!(Translation, image_id), xxh3_64(&linked.bytes)),
            (
                offset_of!(Translation, code_size),
                translated.code.len() as u64,
            ),
            (
                offset_of!(Translation, piece_count),
                translated.pieces.len() as u64,
            ),
            (
                offset_of!(Translation, states_size),
                translated.states.len() as u64,
            ),
            (
                offset_of!(Translation, cell_count),
                translated.outside.len() as u64,
            ),
            (offset_of!(Translation, binders), translated.binders),
            (
                offset_of!(Translation, entry_count),
                translated.entries.len() as u64,
            ),
            (
                offset_of!(Translation, leaf_count),
                translated.leaves.len() as u64,
            ),
            (offset_of!(Translation, stamp), translated.stamp()),
        ] {
            put(at, &value.to_le_bytes());
        }
        let record = self.section(RECORD_SECTION, WRITABLE, 8, record);
        for (at, symbol) in [
            (offset_of!(Translation, code), code),
            (offset_of!(Translation, pieces), pieces),
            (offset_of!(Translation, states), states),
            (offset_of!(Translation, cells), cells),
            (offset_of!(Translation, entries), entries),
            (offset_of!(Translation, leaves), leaves),
        ] {
            self.relocate(record, at as u64, symbol, 0)?;
        }
        let record = self.object.section_symbol(record);
        Ok(TranslationSymbols { record, code })
    }

    /// The cells, each with the address of its binder.
    fn cells(&mut self, translated: &Translated, code: SymbolId) -> Result<SymbolId> {
        let count = translated.outside.len();
        let cells = self.section(CELLS_SECTION, WRITABLE, 8, vec![0; 8 * count.max(1)]);
        for n in 0..count as u64 {
            let binder = translated.binders + BINDER_SIZE * n;
            self.relocate(cells, 8 * n, code, binder as i64)?;
        }
        Ok(self.object.section_symbol(cells))
    }

    /// A stub has the symbol of a C++ thunk, at which gdb looks for the function behind it. gdb goes on
    /// through the stub of calls through pointers by a signature.
    fn stub_symbols(&mut self, linked: &Linked, translated: &Translated, text: SectionId) {
        let text = SymbolSection::Section(text);
        for (name, stub) in functions_outside(linked, translated) {
            self.name_code(thunk(name), text, stub, STUB_CODE);
        }
        for stub in stubs_by_signature(linked, translated) {
            self.name_code(INDIRECT_THUNK.into(), text, stub, STUB_CODE);
        }
    }

    /// For debuggers and profilers: the function's name as a copy of it.
    fn code_symbol(
        &mut self,
        linked: &Linked,
        piece: &TranslatedPiece,
        text: SectionId,
    ) -> Result<()> {
        let guest = u64::from(piece.guest);
        let after = linked.functions.partition_point(|f| f.offset <= guest);
        let Some(function) = after.checked_sub(1).and_then(|at| linked.functions.get(at)) else {
            return Ok(());
        };
        let name = format!("{}.nxp", function.name);
        let text = SymbolSection::Section(text);
        self.name_code(name, text, piece.code.into(), piece.size.into());
        Ok(())
    }
}

/// The symbol of a thunk that compilers make for indirect branches, at which gdb's `step` and `next` go
/// on.
pub(super) const INDIRECT_THUNK: &str = "__x86_indirect_thunk";

/// The symbol of a C++ thunk of `name` (Itanium C++ ABI, 5.1.4.1), which a linker may have given a
/// version.
pub(super) fn thunk(name: &str) -> String {
    let name = name.split('@').next().unwrap_or(name);
    format!("_ZThn0_{}{name}", name.len())
}
