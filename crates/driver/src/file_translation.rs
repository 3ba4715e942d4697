//! The translation in a finished file beside its RV64 code, for `flick objdump --translated`.
//!
//! The file has no table from which RV64 instruction its code comes. The image is translated again,
//! and if the result is the same outside of displacements, its origins are those of the file's code.
use std::collections::BTreeMap;

use flick_abi::names::TRANSLATION_WORDS;
use flick_image::host_memory::HostMemory;
use flick_image::linked::{Linked, Target};
use flick_image::module_in_file::{ModuleInFile, TranslationInFile};
use flick_image::translation::Translated;
use flick_names::{Demangle, plain};
use flick_translator::disassembly;

use crate::image_code::ImageCode;
use crate::translate_image;
use crate::verified_code::Comparison;

/// The text under the lines of a disassembly. Offsets count from the image's start.
#[derive(Default)]
pub struct FileTranslation {
    /// By function: the first line below its name.
    heads: BTreeMap<u64, String>,
    /// By instruction of the image.
    lines: BTreeMap<u64, String>,
}

impl FileTranslation {
    /// `None`: `file`, a finished one, has no translation that can be shown.
    pub fn of(file: &[u8], nxp_elf: &[u8], demangle: Demangle) -> Option<Self> {
        let memory = HostMemory::parse(file).ok()?;
        let module = ModuleInFile::find(&memory).ok()?;
        let translation = TranslationInFile::read(&memory, module.translation?).ok()?;
        let linked = &Linked::parse(nxp_elf).ok()?;
        let made = translate_image::translate_with_origins(linked);
        let code = ImageCode { linked, base: 0 };
        let comparison = Comparison {
            memory: &memory,
            image: module.image,
            translation: &translation,
            made: &made,
            code,
        };
        let is_same = comparison.is_same();
        let function = |guest: u64| {
            let function = code.function_at(guest)?;
            let name = demangle.apply(&function.name);
            Some(match guest - function.offset {
                0 => name.into_owned(),
                distance => format!("{name}+{distance:#x}"),
            })
        };
        // The words of the image that have addresses of the host.
        let host_names: BTreeMap<u64, &str> = (linked.relocations.iter())
            .filter_map(|relocation| match &relocation.target {
                Target::Host { name, .. } => Some((relocation.offset, name.as_str())),
                Target::Image => None,
            })
            .collect();
        let words = is_same.then(|| comparison.words().ok().flatten()).flatten();
        let name = |address: u64| {
            let within = |start: u64, len: u64| {
                let offset = address.wrapping_sub(start);
                (offset < len).then_some(offset)
            };
            if let Some(offset) = within(translation.code_at, translation.code.len() as u64) {
                let pieces = &translation.pieces;
                let after = pieces.partition_point(|piece| u64::from(piece.code) <= offset);
                let piece = &pieces[after.checked_sub(1)?];
                let distance = offset - u64::from(piece.code);
                let name = function(piece.guest.into())?;
                return Some(match distance {
                    0 => format!("{name}.nxp"),
                    _ => format!("{name}.nxp+{distance:#x}"),
                });
            }
            if let Some(offset) = within(translation.cells_at, 8 * translation.cells) {
                return Some(format!("cell {}", offset / 8));
            }
            let word = words.and_then(|at| within(at, 8 * TRANSLATION_WORDS.len() as u64));
            if let Some(word) = word {
                let name = TRANSLATION_WORDS[word as usize / 8];
                return Some(name.trim_start_matches("__flick_1_").to_owned());
            }
            let offset = within(module.image, module.image_size)?;
            let host = host_names.get(&offset);
            let host = host.map(|name| format!("{} on the host", demangle.apply(plain(name))));
            let inside = || function(offset).unwrap_or_else(|| format!("image+{offset:#x}"));
            Some(host.unwrap_or_else(inside))
        };
        let mut all = Self::default();
        for (n, piece) in translation.pieces.iter().enumerate() {
            let range = translation.range(n);
            let (start, end) = (piece.code, piece.code.saturating_add(piece.size));
            let bytes = translation.code.get(start as usize..end as usize);
            let lines = disassembly(
                bytes.unwrap_or_default(),
                translation.code_at + u64::from(start),
                &name,
            );
            let mut cold = 0;
            for line in lines {
                let (guest, is_cold) = origin(&made, start + line.offset as u32)
                    .filter(|_| is_same)
                    .unwrap_or((piece.guest, false));
                cold += if is_cold { line.len } else { 0 };
                let part = if is_cold { "cold" } else { "" };
                let at = translation.code_at + u64::from(start) + line.offset as u64;
                let line = format!("{part:>16} {at:>7x}:\t{}\n", line.text);
                all.lines.entry(guest.into()).or_default().push_str(&line);
            }
            let rest = range.len().saturating_sub(piece.size as usize);
            all.heads.insert(
                piece.guest.into(),
                if is_same {
                    format!(
                        "x86-64 in the file: {} bytes of code, {cold} of them cold; {rest} of \
                         constants and padding\n",
                        piece.size
                    )
                } else {
                    format!(
                        "x86-64 in the file: {} bytes of code, not as this flick makes them, so \
                         they stand below the first instruction\n",
                        piece.size
                    )
                },
            );
        }
        Some(all)
    }

    /// The first line of the function at this offset.
    pub fn head(&self, function: u64) -> String {
        let none = || "x86-64 in the file: none, it is left to the interpreter\n".to_owned();
        self.heads.get(&function).cloned().unwrap_or_else(none)
    }

    /// The code made of the instruction at this offset.
    pub fn of_instruction(&self, offset: u64) -> String {
        self.lines.get(&offset).cloned().unwrap_or_default()
    }
}

/// The instruction from which the code at an offset comes, and whether it is cold.
fn origin(made: &Translated, code: u32) -> Option<(u32, bool)> {
    let after = made.origins.partition_point(|origin| origin.code <= code);
    let origin = made.origins.get(after.checked_sub(1)?)?;
    Some((origin.guest, origin.is_cold))
}
