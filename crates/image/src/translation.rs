//! The translation of an image, for the image object.
use flick_abi::layout::{TranslatedEntry, TranslatedPiece};

/// What a displacement of translated code leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A byte of the image.
    Image(u64),
    /// A word, by its place in [`flick_abi::names::TRANSLATION_WORDS`].
    Word(usize),
    /// A cell, by its number.
    Cell(u32),
}

/// The four bytes before `end` become the distance from `end` to the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Displacement {
    /// From the start of the code.
    pub end: u64,
    /// Where it leads.
    pub place: Place,
}

/// From which instruction of the image a piece of code comes, up to the next origin or the end of its
/// [`TranslatedPiece`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// From the start of the code.
    pub code: u32,
    /// Offset of the instruction in the image.
    pub guest: u32,
    /// The code is rarely executed, and is placed after the function's other code.
    pub is_cold: bool,
}

/// Code of the host that stands for the image's, and what the runtime has to know of it.
#[derive(Clone, Debug, Default)]
pub struct Translated {
    /// Position-independent; nothing in it is written.
    pub code: Vec<u8>,
    /// What the linker fills in.
    pub displacements: Vec<Displacement>,
    /// See [`flick_abi::layout::Translation`].
    pub pieces: Vec<TranslatedPiece>,
    /// The same.
    pub entries: Vec<TranslatedEntry>,
    /// The same.
    pub states: Vec<u8>,
    /// The same.
    pub cells: usize,
    /// In ascending order of the code; empty if no debug information is wanted.
    pub origins: Vec<Origin>,
    /// Records of `.eh_frame` for the code.
    pub unwind: Vec<u8>,
    /// Offsets of fields in `unwind`. Each becomes the distance from itself to the code at the
    /// second offset.
    pub unwind_fields: Vec<(usize, usize)>,
}
