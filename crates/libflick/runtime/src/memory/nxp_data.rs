//! The page-aligned `FLICK_NXP_DATA` sections of loaded modules, and whose memory they are on a card with
//! several tiles.
use flick_abi::descriptor::HOST_TILES;
use flick_sync::RangeList;

use crate::locks::order::DATA_RANGES;

static RANGES: RangeList = RangeList::new();

/// Those of a tile (`FLICK_NXP_DATA_ON`), by its number.
static OF_TILES: [RangeList; HOST_TILES] = [const { RangeList::new() }; HOST_TILES];

/// Adds a half-open range of NxP-local memory; an empty one is ignored.
pub fn add_data_range(start: usize, end: usize) {
    DATA_RANGES.with(|| RANGES.add(start, end));
}

/// Removes a range that was registered.
pub fn remove_data_range(start: usize, end: usize) {
    DATA_RANGES.with(|| RANGES.remove(start, end));
}

/// A range that was added is memory of this tile, as long as it is there.
pub fn give_to_tile(tile: u16, start: usize, end: usize) {
    DATA_RANGES.with(|| OF_TILES[usize::from(tile)].add(start, end));
}

/// It is not any longer.
pub fn take_from_tile(tile: u16, start: usize, end: usize) {
    DATA_RANGES.with(|| OF_TILES[usize::from(tile)].remove(start, end));
}

/// The tile that has this address; `None`: no module says so. Async-signal-safe.
pub(crate) fn tile_of(address: usize) -> Option<u16> {
    let has = |ranges: &RangeList| ranges.contains(address);
    OF_TILES.iter().position(has).map(|tile| tile as u16)
}

/// Async-signal-safe.
pub(crate) fn contains(address: usize) -> bool {
    RANGES.contains(address)
}
