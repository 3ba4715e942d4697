//! What each call site of NxP functions has cost: the key is the return address and the gate.
use std::collections::HashMap;

/// Sums over the calls of a site. Femtoseconds; what its calls call is part of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Site {
    pub calls: u64,
    pub migrating: u128,
    pub staying: u128,
    pub before: u128,
    /// Of `migrating`: crossings, and waiting for a core.
    pub crossing: u128,
    pub accesses: u64,
    pub instructions: u64,
}

impl Site {
    pub fn add(&mut self, other: &Site) {
        self.calls += other.calls;
        self.migrating += other.migrating;
        self.staying += other.staying;
        self.before += other.before;
        self.crossing += other.crossing;
        self.accesses += other.accesses;
        self.instructions += other.instructions;
    }
}

/// Return address of the call, and the gate's record.
pub type Key = (usize, usize);

pub type Sites = HashMap<Key, Site>;
