//! The page-aligned `FLICK_NXP_DATA` sections of loaded modules.
use flick_sync::RangeList;

use crate::locks::order::DATA_RANGES;

static RANGES: RangeList = RangeList::new();

/// Adds a half-open range of NxP-local memory; an empty one is ignored.
pub fn add_data_range(start: usize, end: usize) {
    DATA_RANGES.with(|| RANGES.add(start, end));
}

/// Removes a range that was registered.
pub fn remove_data_range(start: usize, end: usize) {
    DATA_RANGES.with(|| RANGES.remove(start, end));
}

/// Async-signal-safe.
pub(crate) fn contains(address: usize) -> bool {
    RANGES.contains(address)
}
