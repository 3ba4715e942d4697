//! Migrations of threads to harts that have an extension, by the instruction that their harts lacked.
use std::collections::{BTreeMap, BTreeSet};

use flick_riscv::instruction_name;

/// The migrations for an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// Its word.
    pub word: u32,
    /// How many there were.
    pub count: u64,
    /// The threads that have moved, by their numbers.
    pub threads: BTreeSet<u64>,
}

impl Moves {
    /// The instruction, and the extension that has it.
    pub fn instruction(&self) -> String {
        instruction_name(self.word)
    }

    /// Those that a thread would save which says once what it needs, and stays.
    pub fn avoidable(&self) -> u64 {
        self.count - self.threads.len() as u64
    }
}

/// All of them, by the address of the instruction.
pub type AllMoves = BTreeMap<u64, Moves>;

/// The thread of a number has moved for an instruction.
pub(super) fn add(all: &mut AllMoves, [address, word]: [u64; 2], thread: u64) {
    let moves = all.entry(address).or_default();
    moves.word = word as u32;
    moves.count += 1;
    moves.threads.insert(thread);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_moves_again_could_stay() {
        let mut all = AllMoves::new();
        for thread in [1, 2, 1, 1] {
            // `vsetivli zero, 2, e64, m1, ta, ma`.
            add(&mut all, [0x100, 0xcd81_7057], thread);
        }
        add(&mut all, [0x104, 0xffff_ffff], 1);
        let moves = &all[&0x100];
        assert_eq!((moves.count, moves.avoidable()), (4, 2));
        assert!(
            moves.instruction().ends_with(" (v)"),
            "{}",
            moves.instruction()
        );
        assert_eq!(all[&0x104].instruction(), "0xffffffff");
    }
}
