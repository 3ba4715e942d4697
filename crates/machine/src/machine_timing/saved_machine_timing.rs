//! The timing of a machine, for snapshots: the memory system of each tile, and what each hart's core knows.
use std::rc::Rc;

use flick_hart::{SavedTiming, Timing};
use flick_timing::memory_system::SavedMemorySystem;
use serde::{Deserialize, Serialize};

use super::MachineTiming;

/// The state of all harts' timings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedMachineTiming {
    /// By tile; `None`: it has no hart.
    systems: Vec<Option<SavedMemorySystem>>,
    harts: Vec<SavedTiming>,
}

impl MachineTiming {
    /// The first hart of each tile.
    fn first_harts(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        let harts = &self.harts;
        (0..self.tiles.len()).map(|tile| harts.iter().position(|hart| hart.tile == tile))
    }

    /// The state of timings that [`build`](Self::build) has made.
    pub(crate) fn save(&self, timings: &[Rc<Timing>]) -> SavedMachineTiming {
        let system = |first: Option<usize>| Some(timings.get(first?)?.save_system());
        SavedMachineTiming {
            systems: self.first_harts().map(system).collect(),
            harts: timings.iter().map(|timing| timing.save()).collect(),
        }
    }

    /// Gives timings that [`build`](Self::build) has made a state. False: it is of other caches or cores.
    pub(crate) fn restore(&self, timings: &[Rc<Timing>], saved: &SavedMachineTiming) -> bool {
        let mut systems = self.first_harts().zip(&saved.systems);
        let mut harts = timings.iter().zip(&saved.harts);
        saved.systems.len() == self.tiles.len()
            && saved.harts.len() == timings.len()
            && systems.all(|(first, saved)| match (first, saved) {
                (Some(first), Some(saved)) => timings[first].restore_system(saved),
                (None, None) => true,
                _ => false,
            })
            && harts.all(|(timing, saved)| timing.restore(saved))
    }
}
