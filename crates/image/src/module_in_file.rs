//! The record of a module and of its translation in a finished program or library.
use std::mem::offset_of;
use std::ops::Range;

use flick_abi::layout::{
    Gate, MODULE_MAGIC, MODULE_SIZE_AT_LEAST, Module, TRANSLATION_ABI, TranslatedEntry,
    TranslatedPiece, Translation, translation_sizes,
};
use flick_abi::{ABI_VERSION, Version, names};
use flick_diagnostics::Code;

use crate::host_memory::HostMemory;
use crate::{Error, Result};

/// The fields of a [`Module`] that concern its image.
#[derive(Clone, Debug)]
pub struct ModuleInFile {
    /// Address of the record.
    pub at: u64,
    /// Address of the image.
    pub image: u64,
    /// Bytes of it.
    pub image_size: u64,
    /// [`Module::image_id`].
    pub image_id: u64,
    /// The executable part, as offsets.
    pub text: Range<u64>,
    /// Addresses of the gates.
    pub gates: Range<u64>,
    /// Address of the record of the translation, if there is one.
    pub translation: Option<u64>,
}

/// A [`Translation`] whose tables are within the file.
#[derive(Clone, Debug)]
pub struct TranslationInFile<'a> {
    /// Address of the record.
    pub at: u64,
    /// [`Translation::image_id`].
    pub image_id: u64,
    /// Address of the code.
    pub code_at: u64,
    /// The code, with the displacements that the linker has filled in.
    pub code: &'a [u8],
    /// Address of the pieces.
    pub pieces_at: u64,
    /// The same.
    pub pieces: Vec<TranslatedPiece>,
    /// Address of the entries.
    pub entries_at: u64,
    /// The same.
    pub entries: Vec<TranslatedEntry>,
    /// [`Translation::leaves`]; `None`: a version without it has made the file.
    pub leaves: Option<Vec<u32>>,
    /// Address of the records of registers.
    pub states_at: u64,
    /// The same.
    pub states: &'a [u8],
    /// Address of the cells.
    pub cells_at: u64,
    /// Number of cells.
    pub cells: u64,
    /// Where the first binder is, from the start of the code; 0 in version 1.
    pub binders: u64,
    /// [`Translation::stamp`]; `None`: a version without it has made the file.
    pub stamp: Option<u64>,
}

/// A [`Gate`] in use.
#[derive(Clone, Debug)]
pub struct GateInFile {
    /// Address of the record.
    pub at: u64,
    /// The linker's name of the function.
    pub name: String,
    /// [`Gate::image`].
    pub image: Option<u64>,
    /// [`Gate::code`].
    pub code: Option<u64>,
}

/// FLK0311: `why` something about the translation is wrong.
pub fn wrong_translation(why: impl Into<String>) -> Error {
    Error::new(
        Code::WrongTranslation,
        "the translation in this file is wrong",
        "",
        why,
        "link it again; it was changed after the link",
    )
}

/// FLK0308: `why` something about the image is wrong.
pub fn corrupted(why: impl Into<String>) -> Error {
    Error::new(
        Code::CorruptedImage,
        "the image in this file is corrupted",
        "",
        why,
        "link it again; it was changed after the link",
    )
}

impl ModuleInFile {
    /// FLK0308 where there is no usable record, FLK0303 where another version has made it.
    pub fn find(memory: &HostMemory) -> Result<Self> {
        let at = match memory.symbol(names::MODULE) {
            Some(at) => at,
            // Tools have stripped the symbols.
            None => {
                let places = memory.places_of(MODULE_MAGIC, 16);
                let usable = |&at: &u64| module_size(memory, at).is_some();
                let at = places.into_iter().find(usable);
                at.ok_or_else(|| corrupted("it has no record of its module"))?
            }
        };
        if memory.bytes(at, 8) != Some(&MODULE_MAGIC) {
            return Err(corrupted(format!(
                "the record of its module ({at:#x}) does not begin with its mark"
            )));
        }
        let size = module_size(memory, at).ok_or_else(|| {
            corrupted(format!(
                "the record of its module ({at:#x}) has a wrong size"
            ))
        })?;
        let version = memory.word32(at.wrapping_add(offset_of!(Module, abi_version) as u64));
        if let Some(version) = version.map(Version::from_bits)
            && !ABI_VERSION.reads(version)
        {
            return Err(Error::other_version("this file", version));
        }
        let field = |offset: usize| {
            let value = memory.word(at.wrapping_add(offset as u64));
            value.ok_or_else(|| corrupted("the record of its module is cut off"))
        };
        let pointer = |offset: usize| {
            let pointer = memory
                .pointer(at.wrapping_add(offset as u64))
                .and_then(|p| p.address());
            pointer.ok_or_else(|| corrupted("the record of its module has a wrong address"))
        };
        let translation = if size < offset_of!(Module, translation) as u64 + 8 {
            None
        } else {
            Some(pointer(offset_of!(Module, translation))?).filter(|&at| at != 0)
        };
        let (start, len) = (
            field(offset_of!(Module, text_offset))?,
            field(offset_of!(Module, text_size))?,
        );
        Ok(Self {
            at,
            image: pointer(offset_of!(Module, image))?,
            image_size: field(offset_of!(Module, image_size))?,
            image_id: field(offset_of!(Module, image_id))?,
            text: start..start.saturating_add(len),
            gates: pointer(offset_of!(Module, gates))?..pointer(offset_of!(Module, gates_end))?,
            translation,
        })
    }

    /// The gates in use. FLK0308 where they are not in the file.
    pub fn gates(&self, memory: &HostMemory) -> Result<Vec<GateInFile>> {
        const SIZE: usize = size_of::<Gate>();
        let size = self.gates.end.wrapping_sub(self.gates.start);
        let bytes = memory.bytes(self.gates.start, size);
        let bytes = bytes.filter(|bytes| bytes.len() % SIZE == 0);
        let bytes = bytes.ok_or_else(|| corrupted("its gates are not in the file"))?;
        let mut gates = vec![];
        for at in (0..bytes.len()).step_by(SIZE) {
            let at = self.gates.start + at as u64;
            let field = |offset: usize| memory.pointer(at.wrapping_add(offset as u64))?.address();
            if memory.word32(at + offset_of!(Gate, flags) as u64) == Some(0) {
                continue;
            }
            gates.push(GateInFile {
                at,
                name: field(offset_of!(Gate, name))
                    .and_then(|name| memory.text(name))
                    .ok_or_else(|| corrupted(format!("the gate at {at:#x} has no name")))?,
                image: field(offset_of!(Gate, image)),
                code: field(offset_of!(Gate, code)),
            });
        }
        Ok(gates)
    }
}

/// The size that a module says it has, if it can be right.
fn module_size(memory: &HostMemory, at: u64) -> Option<u64> {
    let size = memory.word32(at.wrapping_add(offset_of!(Module, size) as u64))?;
    let usable = size as usize >= MODULE_SIZE_AT_LEAST && size <= 4096;
    memory.bytes(at, size.into()).filter(|_| usable)?;
    Some(size.into())
}

impl<'a> TranslationInFile<'a> {
    /// The translation whose record is at `at`. FLK0311 where its record cannot be used or a table
    /// is not in the file.
    pub fn read(memory: &HostMemory<'a>, at: u64) -> Result<Self> {
        let outside = |what: &str| {
            wrong_translation(format!(
                "its record ({at:#x}): {what} is not within the file"
            ))
        };
        let word32 = |offset: usize| {
            let value = memory.word32(at.wrapping_add(offset as u64));
            value.ok_or_else(|| outside("the record"))
        };
        let abi = word32(offset_of!(Translation, abi))?;
        let sizes = translation_sizes(abi).ok_or_else(|| {
            wrong_translation(format!(
                "its record ({at:#x}) says that it is for runtimes with number {abi}, and this \
                 flick's has 1 to {TRANSLATION_ABI}: the runtime does not use it"
            ))
        })?;
        let size = word32(offset_of!(Translation, size))?;
        if !sizes.contains(&(size as usize)) {
            return Err(wrong_translation(format!(
                "its record ({at:#x}) says that it has {size} bytes; it has {} or more: the \
                 runtime does not use it",
                sizes.start
            )));
        }
        memory
            .bytes(at, size.into())
            .ok_or_else(|| outside("the record"))?;
        let number = |offset: usize| {
            memory
                .word(at.wrapping_add(offset as u64))
                .unwrap_or_default()
        };
        let table = |offset: usize, count: usize, size: u64, what: &str| {
            let pointer = memory
                .pointer(at.wrapping_add(offset as u64))
                .and_then(|p| p.address());
            let address = pointer.ok_or_else(|| outside(what))?;
            let len = number(count).checked_mul(size);
            let bytes = len.and_then(|len| memory.bytes(address, len));
            Ok::<_, Error>((address, bytes.ok_or_else(|| outside(what))?))
        };
        let (code_at, code) = table(
            offset_of!(Translation, code),
            offset_of!(Translation, code_size),
            1,
            "the code",
        )?;
        if !memory.is_code(code_at, code.len() as u64) {
            return Err(outside("the code"));
        }
        let (pieces_at, pieces) = table(
            offset_of!(Translation, pieces),
            offset_of!(Translation, piece_count),
            size_of::<TranslatedPiece>() as u64,
            "the table of pieces",
        )?;
        let (entries_at, entries) = table(
            offset_of!(Translation, entries),
            offset_of!(Translation, entry_count),
            size_of::<TranslatedEntry>() as u64,
            "the table of entries",
        )?;
        let (states_at, states) = table(
            offset_of!(Translation, states),
            offset_of!(Translation, states_size),
            1,
            "the table of registers",
        )?;
        let leaves = if (size as usize) < size_of::<Translation>() {
            None
        } else {
            let (_, bytes) = table(
                offset_of!(Translation, leaves),
                offset_of!(Translation, leaf_count),
                4,
                "the table of leaves",
            )?;
            Some(words(bytes).map(|[guest]| guest).collect())
        };
        let cells = number(offset_of!(Translation, cell_count));
        let cells_at = memory
            .pointer(at + offset_of!(Translation, cells) as u64)
            .and_then(|pointer| pointer.address())
            .filter(|&at| {
                let len = cells.checked_mul(8);
                len.is_some_and(|len| memory.is_writable(at, len))
            })
            .ok_or_else(|| outside("the table of cells"))?;
        let has_stamp = size as usize >= offset_of!(Translation, stamp) + 8;
        Ok(Self {
            at,
            image_id: number(offset_of!(Translation, image_id)),
            code_at,
            code,
            pieces_at,
            pieces: words(pieces)
                .map(|[guest, code, size, states, frame]| TranslatedPiece {
                    guest,
                    code,
                    size,
                    states,
                    frame,
                })
                .collect(),
            entries_at,
            entries: words(entries)
                .map(|[guest, code]| TranslatedEntry { guest, code })
                .collect(),
            leaves,
            states_at,
            states,
            cells_at,
            cells,
            binders: match abi {
                1 => 0,
                _ => number(offset_of!(Translation, binders)),
            },
            stamp: has_stamp.then(|| number(offset_of!(Translation, stamp))),
        })
    }

    /// The bytes of a piece with the constants and tables behind it, as a range of `code`.
    pub fn range(&self, piece: usize) -> Range<usize> {
        let start = self
            .pieces
            .get(piece)
            .map_or(0, |piece| piece.code as usize);
        let next = self.pieces.get(piece + 1);
        let end = next.map_or(self.code.len(), |next| next.code as usize);
        start.min(self.code.len())..end.clamp(start.min(self.code.len()), self.code.len())
    }
}

/// Records of N 32-bit words.
fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u32; N]> {
    bytes.chunks_exact(4 * N).map(|record| {
        std::array::from_fn(|n| {
            let word = std::array::from_fn(|byte| record[4 * n + byte]);
            u32::from_le_bytes(word)
        })
    })
}
