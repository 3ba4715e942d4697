//! The comparison of a file's translation with the same image's translation by this Flick, for
//! `flick verify`.
use flick_abi::layout::{BINDER_SIZE, ENTRY_BEHIND_CALL, TranslatedEntry, TranslatedPiece};
use flick_abi::names::TRANSLATION_WORDS;
use flick_image::host_memory::{HostMemory, Pointer};
use flick_image::module_in_file::{TranslationInFile, wrong_translation};
use flick_image::translation::{Displacement, Place, Translated};
use flick_image::{Error, Result};

use crate::image_code::ImageCode;

/// Differences of one kind beyond these say nothing new.
const SHOWN: usize = 8;

/// A file's translation beside its image's.
pub struct Comparison<'a> {
    pub memory: &'a HostMemory<'a>,
    /// Address of the image.
    pub image: u64,
    pub translation: &'a TranslationInFile<'a>,
    /// What this Flick makes of the image.
    pub made: &'a Translated,
    /// From offset 0.
    pub code: ImageCode<'a>,
}

impl Comparison<'_> {
    /// Whether this version of Flick has made the translation: then each difference is a damage.
    pub fn is_comparable(&self) -> bool {
        self.translation.stamp == Some(self.made.stamp()) || self.is_same()
    }

    /// Whether all that the translator makes is the same: code outside of displacements, and tables.
    pub fn is_same(&self) -> bool {
        self.code_differences().is_empty() && self.table_differences().is_empty()
    }

    /// All differences, those of the displacements and of the stamp, too.
    pub fn differences(&self) -> Vec<Error> {
        let mut all = self.code_differences();
        all.extend(self.table_differences());
        let stamp = self.made.stamp();
        if let Some(other) = self.translation.stamp.filter(|&other| other != stamp) {
            all.push(wrong_translation(format!(
                "its record ({:#x}) has the stamp {other:016x}, and the stamp of its contents is \
                 {stamp:016x}",
                self.translation.at
            )));
        }
        if self.translation.code.len() == self.made.code.len() {
            all.extend(self.displacement_differences());
        }
        all.extend(self.cell_difference());
        all
    }

    /// The first cell that does not lead to its binder.
    fn cell_difference(&self) -> Option<Error> {
        let cells = 0..self.made.outside.len().min(self.translation.cells as usize) as u64;
        let mut cells = cells.map(|n| {
            let binder = self.made.binders + BINDER_SIZE * n;
            (
                n,
                self.translation.cells_at + 8 * n,
                self.translation.code_at + binder,
            )
        });
        let (n, cell, binder) = cells.find(|&(_, cell, binder)| {
            self.memory.pointer(cell).and_then(|to| to.address()) != Some(binder)
        })?;
        Some(wrong_translation(format!(
            "cell {n} ({cell:#x}) does not lead to its binder, which is at {binder:#x}"
        )))
    }

    /// A place in the code for people.
    fn place(&self, offset: usize) -> String {
        let pieces = &self.made.pieces;
        let after = pieces.partition_point(|piece| piece.code as usize <= offset);
        let function = after
            .checked_sub(1)
            .map(|at| &pieces[at])
            .and_then(|piece| {
                let function = self.code.function_at(piece.guest.into())?;
                let name = flick_names::demangled(&function.name);
                Some(format!("{name}.nxp+{:#x}", offset - piece.code as usize))
            });
        format!(
            "{} (code {offset:#x}, address {:#x})",
            function.as_deref().unwrap_or("the code"),
            self.translation.code_at + offset as u64
        )
    }

    fn code_differences(&self) -> Vec<Error> {
        let (file, made) = (
            self.translation.code,
            self.made.code_without_displacements(),
        );
        let mut wrong = vec![];
        if file.len() != made.len() {
            wrong.push(wrong_translation(format!(
                "its code has {} bytes, and this flick makes {} of the image",
                file.len(),
                made.len()
            )));
        }
        let mut fields = self.made.displacements.iter().map(|d| d.end as usize);
        let mut field = fields.next();
        let mut last = None;
        for at in 0..file.len().min(made.len()) {
            while field.is_some_and(|end| end <= at) {
                field = fields.next();
            }
            if file[at] == made[at] || field.is_some_and(|end| end - 4 <= at) {
                continue;
            }
            // The first of each function.
            let piece = self.made.pieces.partition_point(|p| p.code as usize <= at);
            if last.replace(piece) == Some(piece) {
                continue;
            }
            if wrong.len() == SHOWN {
                break;
            }
            wrong.push(wrong_translation(format!(
                "{} has {:#04x}, and this flick makes {:#04x} of the image",
                self.place(at),
                file[at],
                made[at]
            )));
        }
        wrong
    }

    fn table_differences(&self) -> Vec<Error> {
        let (file, made) = (self.translation, self.made);
        let mut wrong = vec![];
        let name = |guest: u32| match self.code.function_at(guest.into()) {
            Some(function) => flick_names::demangled(&function.name).into_owned(),
            None => format!("image {guest:#x}"),
        };
        for (what, file, made) in [
            ("pieces", file.pieces.len(), made.pieces.len()),
            ("entries", file.entries.len(), made.entries.len()),
            (
                "bytes of records of registers",
                file.states.len(),
                made.states.len(),
            ),
            ("cells", file.cells as usize, made.outside.len()),
            (
                "as the place of binders",
                file.binders as usize,
                made.binders as usize,
            ),
        ] {
            if file != made {
                wrong.push(wrong_translation(format!(
                    "it has {file} {what}, and this flick makes {made}"
                )));
            }
        }
        let pieces = file.pieces.iter().zip(&made.pieces).enumerate();
        if let Some((n, (in_file, made))) = pieces.into_iter().find(|(_, (a, b))| a != b) {
            let at = file.pieces_at + (n * size_of::<TranslatedPiece>()) as u64;
            wrong.push(wrong_translation(format!(
                "the piece of {} ({at:#x}) has {}, and this flick makes {}",
                name(made.guest),
                piece_text(in_file),
                piece_text(made)
            )));
        }
        let entries = file.entries.iter().zip(&made.entries).enumerate();
        if let Some((n, (in_file, made))) = entries.into_iter().find(|(_, (a, b))| a != b) {
            let at = file.entries_at + (n * size_of::<TranslatedEntry>()) as u64;
            wrong.push(wrong_translation(format!(
                "entry {n} ({at:#x}), within {}, has {}, and this flick makes {}",
                name(made.guest),
                entry_text(in_file),
                entry_text(made)
            )));
        }
        if let Some(leaves) = &file.leaves
            && *leaves != made.leaves
        {
            wrong.push(wrong_translation(format!(
                "its {} leaves are not the {} that this flick finds",
                leaves.len(),
                made.leaves.len()
            )));
        }
        let mut bytes = file.states.iter().zip(&made.states);
        if let Some(n) = bytes.position(|(a, b)| a != b) {
            let after = made
                .pieces
                .partition_point(|piece| piece.states as usize <= n);
            let piece = after.checked_sub(1).map(|at| &made.pieces[at]);
            wrong.push(wrong_translation(format!(
                "the records of registers of {} ({:#x}) have {:#04x}, and this flick makes {:#04x}",
                piece.map_or("no function".into(), |piece| name(piece.guest)),
                file.states_at + n as u64,
                file.states[n],
                made.states[n]
            )));
        }
        wrong
    }

    /// The address to which the displacement leads in the file.
    pub fn target(&self, displacement: &Displacement) -> Option<u64> {
        let end = usize::try_from(displacement.end).ok()?;
        let field = self.translation.code.get(end.checked_sub(4)?..end)?;
        let distance = i32::from_le_bytes(field.try_into().ok()?);
        let end = self.translation.code_at.wrapping_add(displacement.end);
        Some(end.wrapping_add_signed(distance.into()))
    }

    fn displacement_differences(&self) -> Vec<Error> {
        let mut wrong = vec![];
        let words = match self.words() {
            Ok(words) => words,
            Err(error) => {
                wrong.push(error);
                None
            }
        };
        for displacement in &self.made.displacements {
            let (want, what) = match displacement.place {
                Place::Image(offset) => {
                    let function = self.code.function_at(offset).map_or(String::new(), |f| {
                        format!(" ({}+{:#x})", f.name, offset - f.offset)
                    });
                    let at = self.image.wrapping_add(offset);
                    (at, format!("offset {offset:#x} of the image{function}"))
                }
                Place::Cell(n) => {
                    let at = self.translation.cells_at + 8 * u64::from(n);
                    (at, format!("cell {n}"))
                }
                Place::Word(n) => {
                    let Some(words) = words else { continue };
                    let name = TRANSLATION_WORDS.get(n).copied().unwrap_or_default();
                    (words + 8 * n as u64, format!("the word {name}"))
                }
            };
            let to = self.target(displacement);
            if to == Some(want) {
                continue;
            }
            wrong.push(wrong_translation(format!(
                "{} leads to {:#x}, and {what} is at {want:#x}",
                self.place(displacement.end as usize - 4),
                to.unwrap_or_default()
            )));
            if wrong.len() >= SHOWN {
                break;
            }
        }
        wrong
    }

    /// The address of the words, if there are displacements to them. Each word must lead to its
    /// function or table in the runtime.
    pub fn words(&self) -> Result<Option<u64>> {
        // A damaged displacement must not decide: most of them agree.
        let mut counts = std::collections::BTreeMap::new();
        for displacement in &self.made.displacements {
            if let (Place::Word(n), Some(to)) = (displacement.place, self.target(displacement)) {
                *counts.entry(to.wrapping_sub(8 * n as u64)).or_insert(0) += 1;
            }
        }
        let Some((&at, _)) = counts.iter().max_by_key(|(_, count)| **count) else {
            return Ok(None);
        };
        for (n, name) in TRANSLATION_WORDS.iter().enumerate() {
            let word = at.wrapping_add(8 * n as u64);
            let is_right = match self.memory.pointer(word) {
                Some(Pointer::Symbol(symbol, addend)) => symbol == *name && addend == 0,
                // A static program has the runtime in itself.
                Some(Pointer::To(to)) => match self.memory.symbol(name) {
                    Some(symbol) => to == symbol,
                    None => self.memory.is_mapped(to),
                },
                None => false,
            };
            if !is_right {
                return Err(wrong_translation(format!(
                    "the word at {word:#x} does not lead to the runtime's {name}"
                )));
            }
        }
        Ok(Some(at))
    }
}

fn piece_text(piece: &TranslatedPiece) -> String {
    format!(
        "image {:#x}, code {:#x}, {} bytes, registers {:#x}, frame {}",
        piece.guest, piece.code, piece.size, piece.states, piece.frame
    )
}

fn entry_text(entry: &TranslatedEntry) -> String {
    let behind = match entry.code & ENTRY_BEHIND_CALL {
        0 => "",
        _ => " behind a call",
    };
    let code = entry.code & !ENTRY_BEHIND_CALL;
    format!("image {:#x}, code {code:#x}{behind}", entry.guest)
}
