//! What functions have executed, by hart, for `flick stat`.
use std::collections::BTreeMap;

use flick_abi::card_interface::{RanRow, TileChoice};

/// By function, by hart, and by why it ran there.
#[derive(Debug, Default)]
pub struct Ran(BTreeMap<(u64, u32, TileChoice), RanRow>);

impl Ran {
    /// Adds what a function has executed.
    pub fn add(&mut self, row: &RanRow) {
        let key = (row.function, row.hart, row.why);
        let sum = self.0.entry(key).or_insert(RanRow {
            calls: 0,
            instructions: 0,
            moves: 0,
            ..*row
        });
        sum.calls += row.calls;
        sum.instructions += row.instructions;
        sum.moves += row.moves;
    }

    /// A row; `None` behind the last one.
    pub fn row(&self, at: usize) -> Option<RanRow> {
        self.0.values().nth(at).copied()
    }

    /// A child of `fork` counts its own.
    pub fn forked(&mut self) {
        self.0.clear();
    }
}
