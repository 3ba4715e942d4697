//! The translation that the link has put into a module.
use std::mem::offset_of;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use flick_abi::layout::{
    BINDER_SIZE, ENTRY_BEHIND_CALL, Module, SIZE_WITHOUT_LEAVES, TranslatedEntry, TranslatedPiece,
    Translation, translation_sizes,
};
use flick_translator::features;

use super::module_records::table;

/// A translation that this runtime and this processor can run.
pub(super) struct ModuleTranslation {
    /// First byte of the image.
    image: u64,
    code: Range<u64>,
    pieces: &'static [TranslatedPiece],
    entries: &'static [TranslatedEntry],
    leaves: &'static [u32],
    states: &'static [u8],
    cells: &'static [AtomicU64],
    /// Where the binder of the first cell is; 0: cells that lead nowhere have 0.
    binders: u64,
}

/// How the guest goes on in a module's translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleEntry {
    /// At this host address.
    At(u64),
    /// There, in a frame of as many bytes: behind a call.
    BehindCall { code: u64, frame: u32 },
}

/// Translated code in a module.
pub struct TranslatedCode {
    /// Guest address where it is entered.
    pub guest: u64,
    /// From the start of the translation.
    pub offset: u32,
    /// The translation's records of registers.
    pub states: &'static [u8],
    /// First byte of the image, from which guest addresses in the records count.
    pub module: u64,
}

/// # Safety
/// The module's record is as its size says.
unsafe fn record(module: &Module) -> Option<&'static Translation> {
    if (module.size as usize) < offset_of!(Module, translation) + size_of::<*const Translation>() {
        return None;
    }
    // SAFETY: by contract; null, or in the module.
    unsafe { module.translation.as_ref() }
}

/// Where the module has translated code; empty: nowhere.
///
/// # Safety
/// The module's record is as its size says.
pub(super) unsafe fn code_range(module: &Module) -> Range<u64> {
    // SAFETY: by contract.
    let record = unsafe { record(module) };
    record.map_or(0..0, |record| {
        record.code as u64..record.code as u64 + record.code_size
    })
}

impl ModuleTranslation {
    /// # Safety
    /// The module is mapped as long as the value lives, and its tables are as its record says.
    pub unsafe fn of(module: &Module) -> Option<Self> {
        // SAFETY: by contract.
        let record = unsafe { record(module)? };
        let sizes = translation_sizes(record.abi);
        let agrees = sizes.is_some_and(|sizes| sizes.contains(&(record.size as usize)));
        let fits = agrees && record.image_id == module.image_id && features::check().is_ok();
        // SAFETY: by contract.
        fits.then(|| unsafe {
            Self {
                image: module.image as u64,
                code: code_range(module),
                pieces: table(record.pieces, record.piece_count),
                entries: table(record.entries, record.entry_count),
                leaves: match record.size as usize {
                    0..=SIZE_WITHOUT_LEAVES => &[],
                    _ => table(record.leaves, record.leaf_count),
                },
                states: table(record.states, record.states_size),
                cells: table(record.cells, record.cell_count),
                binders: match record.abi {
                    1 => 0,
                    _ => record.code as u64 + record.binders,
                },
            }
        })
    }

    /// How the guest is entered at `address`, or goes on there.
    pub fn entry(&self, address: u64) -> Option<ModuleEntry> {
        let guest = u32::try_from(address.checked_sub(self.image)?).ok()?;
        let place = |offset: u32| self.code.start + u64::from(offset);
        if let Ok(at) = (self.pieces).binary_search_by_key(&guest, |piece| piece.guest) {
            return Some(ModuleEntry::At(place(self.pieces[at].code)));
        }
        let at = (self.entries).binary_search_by_key(&guest, |entry| entry.guest);
        let offset = self.entries[at.ok()?].code;
        if offset & ENTRY_BEHIND_CALL == 0 {
            return Some(ModuleEntry::At(place(offset)));
        }
        let offset = offset & !ENTRY_BEHIND_CALL;
        Some(ModuleEntry::BehindCall {
            code: place(offset),
            frame: self.piece_at(offset)?.frame,
        })
    }

    /// The leaves that the host may call without a crossing, as addresses in the image, in ascending
    /// order.
    pub fn leaves(&self) -> impl Iterator<Item = u64> {
        self.leaves.iter().map(|&at| self.image + u64::from(at))
    }

    /// The piece that has the code at `offset`.
    fn piece_at(&self, offset: u32) -> Option<&'static TranslatedPiece> {
        let after = self.pieces.partition_point(|piece| piece.code <= offset);
        self.pieces.get(after.checked_sub(1)?)
    }

    /// What is known of the code at the host address `pc`.
    pub fn at(&self, pc: u64) -> Option<TranslatedCode> {
        if !self.code.contains(&pc) {
            return None;
        }
        let offset = (pc - self.code.start) as u32;
        let after = self.pieces.partition_point(|piece| piece.code <= offset);
        let piece = self.pieces.get(after.checked_sub(1)?)?;
        let end = self.pieces.get(after).map(|next| next.states as usize);
        let end = end.unwrap_or(self.states.len());
        let offset = offset - piece.code;
        (offset < piece.size).then_some(())?;
        Some(TranslatedCode {
            guest: self.image + u64::from(piece.guest),
            offset,
            states: self.states.get(piece.states as usize..end)?,
            module: self.image,
        })
    }

    /// What is called through cells is looked for again.
    pub fn clear_cells(&self) {
        let mut binder = self.binders;
        for cell in self.cells {
            cell.store(binder, Ordering::Release);
            if binder != 0 {
                binder += BINDER_SIZE;
            }
        }
    }
}
