//! What functions have executed, by hart, for `flick stat`.
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use flick_abi::card_interface::{RanRow, TileChoice};

/// By function, by hart, and by why it ran there.
#[derive(Debug, Default)]
pub struct Ran {
    rows: Vec<RanRow>,
    /// Where the row of a function, a hart and a reason is.
    places: BTreeMap<(u64, u32, TileChoice), usize>,
}

impl Ran {
    /// Adds what a function has executed.
    pub fn add(&mut self, row: &RanRow) {
        match self.places.entry((row.function, row.hart, row.why)) {
            Entry::Vacant(place) => {
                place.insert(self.rows.len());
                self.rows.push(*row);
            }
            Entry::Occupied(place) => {
                let sum = &mut self.rows[*place.get()];
                sum.calls += row.calls;
                sum.instructions += row.instructions;
                sum.moves += row.moves;
            }
        }
    }

    /// A row; `None` behind the last one.
    pub fn row(&self, at: usize) -> Option<RanRow> {
        self.rows.get(at).copied()
    }
}
