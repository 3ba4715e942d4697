//! The translation of an image, for the image object.
use flick_abi::layout::{TranslatedEntry, TranslatedPiece};
use xxhash_rust::xxh3::Xxh3;

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

/// What the code calls that is not the image's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// Its stub, from the start of the code.
    pub stub: u64,
    /// The word of the image that names the function.
    pub function: u64,
}

/// From which instruction of the image a piece of code comes, up to the next origin or the end of its
/// [`TranslatedPiece`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// From the start of the code.
    pub code: u32,
    /// Offset of the instruction in the image.
    pub guest: u32,
    /// Offset of the instruction that finds the frame of the image's code as this code does.
    pub frame: u32,
    /// The code is rarely executed, and is placed after the function's other code.
    pub is_cold: bool,
}

/// Where a register of the image's code is, or what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// Nobody knows.
    #[default]
    Nowhere,
    /// A register for integers, by its hardware number.
    Register(u8),
    /// The lower half of xmm0 to xmm15.
    Vector(u8),
    /// So many bytes from rsp.
    Stack(u32),
    /// So many bytes from rbp, in the hart.
    Hart(i32),
    /// It has this value.
    Const(i64),
    /// It is the address of this byte of the image.
    Address(u64),
    /// It is r15, which is the image's sp, plus this.
    Sp(i32),
}

/// A register's home from a place in the code on, up to the register's next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Homed {
    /// From the start of the code.
    pub code: u32,
    /// x0 to x31 are 0 to 31, f0 to f31 are 32 to 63. The home of [`Homed::CFA`] is another's.
    pub reg: u8,
    /// The home.
    pub home: Home,
    /// How many bytes of it are the register's: 8, or 4 whose upper half is not known.
    pub size: u8,
    /// The home has the lower half, and the register's upper half is its sign.
    pub is_extended: bool,
}

impl Homed {
    /// The canonical frame address of the function, in the place of a register.
    pub const CFA: u8 = 0;
    /// The first of four: what the caller has in s0 to s3, where the frame of the image's code is not
    /// made yet.
    pub const CALLERS: u8 = 64;
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
    pub leaves: Vec<u32>,
    /// The same.
    pub states: Vec<u8>,
    /// By number: what is called through the cell with this number.
    pub outside: Vec<Outside>,
    /// Where the binder of the first cell is, from the start of the code.
    pub binders: u64,
    /// In ascending order of the code; empty if no debug information is wanted.
    pub origins: Vec<Origin>,
    /// The same: where the registers of the image's code are.
    pub homes: Vec<Homed>,
    /// Of each piece, if debug information is wanted: offsets in it from which rsp is so many bytes
    /// below the return address.
    pub depths: Vec<Vec<(usize, u32)>>,
    /// Records of `.eh_frame` for the code.
    pub unwind: Vec<u8>,
    /// Offsets of fields in `unwind`. Each becomes the distance from itself to the code at the
    /// second offset.
    pub unwind_fields: Vec<(usize, usize)>,
}

impl Translated {
    /// The code with zeros where the linker fills in displacements.
    pub fn code_without_displacements(&self) -> Vec<u8> {
        let mut code = self.code.clone();
        for displacement in &self.displacements {
            let end = displacement.end as usize;
            if let Some(field) = end.checked_sub(4).and_then(|at| code.get_mut(at..end)) {
                field.fill(0);
            }
        }
        code
    }

    /// The pieces as the file has them.
    pub fn piece_bytes(&self) -> Vec<u8> {
        let words = self.pieces.iter().flat_map(|piece| {
            [
                piece.guest,
                piece.code,
                piece.size,
                piece.states,
                piece.frame,
            ]
        });
        words.flat_map(u32::to_le_bytes).collect()
    }

    /// The entries as the file has them.
    pub fn entry_bytes(&self) -> Vec<u8> {
        let words = (self.entries.iter()).flat_map(|entry| [entry.guest, entry.code]);
        words.flat_map(u32::to_le_bytes).collect()
    }

    /// The leaves as the file has them.
    pub fn leaf_bytes(&self) -> Vec<u8> {
        self.leaves
            .iter()
            .copied()
            .flat_map(u32::to_le_bytes)
            .collect()
    }

    /// See [`flick_abi::layout::Translation::stamp`].
    pub fn stamp(&self) -> u64 {
        let mut hash = Xxh3::new();
        for part in [
            &self.code_without_displacements(),
            &self.piece_bytes(),
            &self.entry_bytes(),
            &self.leaf_bytes(),
            &self.states,
        ] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.digest()
    }
}
