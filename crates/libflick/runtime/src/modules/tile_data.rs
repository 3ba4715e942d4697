//! Marked variables of a module that belong to a tile of a card (`FLICK_NXP_DATA_ON`).
use std::ffi::CStr;
use std::mem::{offset_of, size_of};

use flick_abi::layout::{Module, TileData};

/// Variables of a tile.
#[derive(Clone, Copy, Debug)]
pub struct DataOfTile<'a> {
    pub start: usize,
    pub end: usize,
    pub tile: &'a CStr,
}

/// Those of a module, each tile once: each of its units that has some says the same.
pub fn of(module: &Module) -> Vec<DataOfTile<'_>> {
    const SIZE: usize = offset_of!(Module, tile_data_end) + size_of::<*const TileData>();
    if (module.size as usize) < SIZE || module.tile_data.is_null() {
        return vec![];
    }
    let bytes = module.tile_data_end as usize - module.tile_data as usize;
    let count = bytes / size_of::<TileData>();
    // SAFETY: the linker's bounds of the section, whose units have whole records.
    let records = unsafe { std::slice::from_raw_parts(module.tile_data, count) };
    let mut all: Vec<DataOfTile<'_>> = vec![];
    for record in records {
        let start = record.start as usize;
        if start != 0 && all.iter().all(|known| known.start != start) {
            all.push(DataOfTile {
                start,
                end: record.end as usize,
                // SAFETY: a C string of the module.
                tile: unsafe { CStr::from_ptr(record.tile) },
            });
        }
    }
    all
}
