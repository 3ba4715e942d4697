//! `flick verify`: whether a finished program or library has the translation that its image has.
//!
//! The records and tables are checked by themselves, whichever version has made them. Then the
//! image is translated again, as at the link, and compared with the file's code byte for byte.
//! `verified_code.rs` makes this comparison.
use std::path::Path;

use flick_abi::layout::{ENTRY_BEHIND_CALL, TranslatedPiece};
use flick_image::elf_kind::{parse_host, read_file};
use flick_image::host_memory::{HostMemory, Pointer};
use flick_image::linked::{Linked, Target};
use flick_image::module_in_file::{ModuleInFile, TranslationInFile, corrupted, wrong_translation};
use flick_image::{Error, FinalFile, Result};
use flick_translator::features;
use xxhash_rust::xxh3::xxh3_64;

use crate::image_code::ImageCode;
use crate::translate_image;
use crate::verified_code::Comparison;

/// The result for a file.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// A line for people, without the name of the file.
    pub summary: String,
    /// What is wrong; empty if the file is right.
    pub differences: Vec<Error>,
}

/// Checks the translation in a program or library. FLK0105, FLK0303, FLK0304, FLK0307, FLK0308 for
/// a file that cannot be checked.
pub fn verify(file: &Path) -> Result<Verified> {
    let data = read_file(file)?;
    let mut verified = verify_bytes(&data).map_err(|e| e.at(file.display()))?;
    for difference in &mut verified.differences {
        difference.place = file.display().to_string();
    }
    Ok(verified)
}

/// The same of a file's contents.
pub fn verify_bytes(data: &[u8]) -> Result<Verified> {
    parse_host(data)?;
    let file = FinalFile::parse(data)?;
    let linked = Linked::parse(file.nxp_elf).map_err(|e| {
        let why = format!("its RV64 part cannot be read: {}", e.why);
        corrupted(why)
    })?;
    let memory = HostMemory::parse(data)?;
    let module = ModuleInFile::find(&memory)?;
    let mut differences = image(&memory, &module, &linked);
    let Some(at) = module.translation else {
        let summary = "no translation: its NxP code is translated at run time".into();
        return Ok(Verified {
            summary,
            differences,
        });
    };
    let translation = match TranslationInFile::read(&memory, at) {
        Ok(translation) => translation,
        Err(error) => {
            differences.push(error);
            return Ok(Verified {
                differences,
                ..Verified::default()
            });
        }
    };
    if translation.image_id != module.image_id {
        differences.push(wrong_translation(format!(
            "its record ({at:#x}) has the stamp {:016x} of another image, and the module's is \
             {:016x}: the runtime does not use it",
            translation.image_id, module.image_id
        )));
    }
    differences.extend(tables(&translation, &linked));
    differences.extend(gates(&memory, &module, &translation)?);
    let made = translate_image::translate(&linked);
    let comparison = Comparison {
        memory: &memory,
        image: module.image,
        translation: &translation,
        made: &made,
        code: ImageCode {
            linked: &linked,
            base: 0,
        },
    };
    let (functions, bytes) = (translation.pieces.len(), translation.code.len());
    let functions = match functions {
        1 => "1 function".to_owned(),
        n => format!("{n} functions"),
    };
    let what = format!("{functions}, {bytes} bytes of x86-64 code");
    let mut summary = if comparison.is_comparable() {
        differences.extend(comparison.differences());
        format!(
            "{what}, {} displacements: as this flick makes them",
            made.displacements.len()
        )
    } else {
        format!(
            "{what}: their tables are in order; another version of flick made them, so their bytes \
             are not compared"
        )
    };
    if let Err(lacks) = features::check() {
        summary += &format!("; on this machine the runtime does not use them: {lacks}");
    }
    Ok(Verified {
        summary,
        differences,
    })
}

/// The image and its stamp, and the words that lead into it.
fn image(memory: &HostMemory, module: &ModuleInFile, linked: &Linked) -> Vec<Error> {
    let mut wrong = vec![];
    let id = xxh3_64(&linked.bytes);
    if module.image_id != id {
        wrong.push(corrupted(format!(
            "the record of its module ({:#x}) has the stamp {:016x}, and the image's is {id:016x}",
            module.at, module.image_id
        )));
    }
    if module.text != linked.text || module.image_size != linked.bytes.len() as u64 {
        wrong.push(corrupted(format!(
            "the record of its module ({:#x}) says that the image has {} bytes, with code at \
             {:#x?}; it has {}, with code at {:#x?}",
            module.at,
            module.image_size,
            module.text,
            linked.bytes.len(),
            linked.text
        )));
        return wrong;
    }
    let Some(bytes) = memory.bytes(module.image, module.image_size) else {
        wrong.push(corrupted(format!(
            "the image ({:#x}) is not within the file",
            module.image
        )));
        return wrong;
    };
    let place = |offset: u64| {
        let code = ImageCode { linked, base: 0 };
        let function = match code.function_at(offset) {
            Some(function) => format!("{}+{:#x}", function.name, offset - function.offset),
            None => "no function".to_owned(),
        };
        format!(
            "offset {offset:#x} ({function}, address {:#x})",
            module.image.wrapping_add(offset)
        )
    };
    let mut at = 0;
    let ends = linked.relocations.iter().map(|r| (r.offset, r.offset + 8));
    for (start, next) in ends.chain([(module.image_size, module.image_size)]) {
        let (file, made) = (
            &bytes[at..start as usize],
            &linked.bytes[at..start as usize],
        );
        if let Some(n) = (0..file.len()).find(|&n| file[n] != made[n]) {
            wrong.push(corrupted(format!(
                "{}: the image that is loaded has {:#04x}, and the linked RV64 file has {:#04x}",
                place((at + n) as u64),
                file[n],
                made[n]
            )));
            break;
        }
        at = next as usize;
    }
    for relocation in &linked.relocations {
        let pointer = memory.pointer(module.image.wrapping_add(relocation.offset));
        let to = Pointer::To(module.image.wrapping_add_signed(relocation.addend));
        if relocation.target == Target::Image && pointer.as_ref() != Some(&to) {
            wrong.push(corrupted(format!(
                "{}: the word there does not lead to offset {:#x} of the image",
                place(relocation.offset),
                relocation.addend
            )));
            break;
        }
    }
    wrong
}

/// Whether the tables are in order and lead to the code and to the image.
fn tables(translation: &TranslationInFile, linked: &Linked) -> Vec<Error> {
    let mut wrong = vec![];
    let size = translation.code.len() as u64;
    let mut last: Option<TranslatedPiece> = None;
    for (n, &piece) in translation.pieces.iter().enumerate() {
        let follows = last.is_none_or(|last| {
            last.guest < piece.guest
                && u64::from(last.code) + u64::from(last.size) <= piece.code.into()
                && last.states <= piece.states
        });
        let why = if !follows {
            "is not behind the one before it"
        } else if piece.size == 0 || u64::from(piece.code) + u64::from(piece.size) > size {
            "has code outside of the translation's"
        } else if !linked.text.contains(&piece.guest.into()) {
            "is for an address outside of the image's code"
        } else if piece.states as usize > translation.states.len() {
            "has its records of registers outside of their table"
        } else {
            last = Some(piece);
            continue;
        };
        let at = translation.pieces_at + (n * size_of::<TranslatedPiece>()) as u64;
        wrong.push(wrong_translation(format!(
            "piece {n} ({at:#x}; image {:#x}, code {:#x}) {why}",
            piece.guest, piece.code
        )));
        break;
    }
    let mut last = None;
    for (n, entry) in translation.entries.iter().enumerate() {
        let code = entry.code & !ENTRY_BEHIND_CALL;
        let after = translation
            .pieces
            .partition_point(|piece| piece.code <= code);
        let piece = after.checked_sub(1).map(|at| translation.pieces[at]);
        let why = if last.is_some_and(|last| last >= entry.guest) {
            "is not behind the one before it"
        } else if !linked.text.contains(&entry.guest.into()) {
            "is for an address outside of the image's code"
        } else if piece.is_none_or(|piece| code - piece.code >= piece.size) {
            "leads to no function's code"
        } else {
            last = Some(entry.guest);
            continue;
        };
        let at = translation.entries_at + 8 * n as u64;
        wrong.push(wrong_translation(format!(
            "entry {n} ({at:#x}; image {:#x}, code {code:#x}) {why}",
            entry.guest
        )));
        break;
    }
    let leaves = translation.leaves.as_deref().unwrap_or_default();
    let starts_piece = |leaf: &u32| {
        let pieces = &translation.pieces;
        pieces
            .binary_search_by_key(leaf, |piece| piece.guest)
            .is_ok()
    };
    if !leaves.is_sorted_by(|a, b| a < b) || !leaves.iter().all(starts_piece) {
        wrong.push(wrong_translation(
            "its table of leaves names no functions, or not in their order",
        ));
    }
    wrong
}

/// Whether the gates lead to the code of their functions.
fn gates(
    memory: &HostMemory,
    module: &ModuleInFile,
    translation: &TranslationInFile,
) -> Result<Vec<Error>> {
    let mut wrong = vec![];
    for gate in module.gates(memory)? {
        let offset = gate.image.map(|at| at.wrapping_sub(module.image));
        let piece = offset.and_then(|offset| {
            let pieces = &translation.pieces;
            let at = pieces.binary_search_by_key(&offset, |piece| piece.guest.into());
            Some(pieces[at.ok()?])
        });
        let to = piece.map_or(0, |piece| translation.code_at + u64::from(piece.code));
        // Objects of earlier versions have no reference to the code.
        if gate.code != Some(to) && gate.code != Some(0) {
            wrong.push(wrong_translation(format!(
                "the gate of {} ({:#x}) leads to {:#x}, and its code is at {to:#x}",
                flick_names::demangled(&gate.name),
                gate.at,
                gate.code.unwrap_or_default()
            )));
        }
    }
    Ok(wrong)
}
