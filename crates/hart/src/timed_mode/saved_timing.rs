//! The timing of a hart, for snapshots. What its parts cost is the machine file's, and not part of it.
use flick_timing::branch_predictor::SavedPredictor;
use flick_timing::memory_system::{END_OF_TIME, SavedMemorySystem, Time};
use serde::{Deserialize, Serialize};

use super::Timing;
use super::begun_instruction::SavedBegun;
use crate::line_copies::LineCopies;

/// The state of a [`Timing`], but for the memory system, which harts share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedTiming {
    predictor: SavedPredictor,
    start: Time,
    elapsed: Time,
    instructions: u64,
    target: u64,
    /// Where caches are not coherent: the bytes of the data cache.
    copies: Option<LineCopies>,
    begun: SavedBegun,
}

impl Timing {
    /// Its state.
    pub fn save(&self) -> SavedTiming {
        SavedTiming {
            predictor: self.predictor.save(),
            start: self.start.get(),
            elapsed: self.elapsed.get(),
            instructions: self.instructions.get(),
            target: self.target.get(),
            copies: self.copies.clone(),
            begun: self.begun.save(),
        }
    }

    /// Takes what [`save`](Self::save) of a timing of the same core gave. The memory system has its state
    /// already. False: no such core is so; then
    /// it is in no sensible state.
    pub fn restore(&self, saved: &SavedTiming) -> bool {
        self.start.set(saved.start);
        self.elapsed.set(saved.elapsed);
        self.instructions.set(saved.instructions);
        self.target.set(saved.target);
        let holds = |line| self.system.is_dirty(self.number, line).is_some();
        let copies = match (&self.copies, &saved.copies) {
            (Some(copies), Some(saved)) => copies.restore(saved, holds),
            (None, None) => true,
            _ => false,
        };
        let numbers = [saved.start, saved.elapsed, saved.instructions];
        numbers.iter().all(|&number| number < END_OF_TIME)
            && copies
            && self.begun.restore(&saved.begun)
            && self.predictor.restore(&saved.predictor)
    }

    /// The state of the memory system that the hart shares with others.
    pub fn save_system(&self) -> SavedMemorySystem {
        self.system.save()
    }

    /// See [`flick_timing::memory_system::MemorySystem::restore`].
    pub fn restore_system(&self, saved: &SavedMemorySystem) -> bool {
        self.system.restore(saved)
    }
}
