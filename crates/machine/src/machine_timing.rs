//! What a machine needs for timed mode: the memory system of each tile, and the costs of each hart's core.
use std::rc::Rc;

use flick_hart::{ClassCounter, Timing};
use flick_timing::core_costs::CoreCosts;
use flick_timing::memory_system::{MemorySystem, SystemShape, Time};

mod saved_machine_timing;

pub use saved_machine_timing::SavedMachineTiming;

/// A hart's place and core.
#[derive(Clone, Debug)]
pub struct HartTiming {
    /// The number of its tile.
    pub tile: usize,
    /// Its number within the tile's memory system.
    pub number: usize,
    /// What its instructions take.
    pub costs: CoreCosts,
}

/// The timing of a machine.
#[derive(Clone, Debug)]
pub struct MachineTiming {
    /// The memory system of each tile.
    pub tiles: Vec<SystemShape>,
    /// By hart, in the order of the machine's harts.
    pub harts: Vec<HartTiming>,
    /// Picoseconds that a hart may be ahead of another between accesses that others see.
    pub slice: Time,
}

impl MachineTiming {
    /// The timings of the harts, whose caches are empty.
    pub(crate) fn build<'c>(
        &self,
        classes: impl Iterator<Item = &'c Rc<ClassCounter>>,
    ) -> Vec<Rc<Timing>> {
        let systems: Vec<_> = self
            .tiles
            .iter()
            .map(MemorySystem::new)
            .map(Rc::new)
            .collect();
        let timing = |(hart, classes): (&HartTiming, &Rc<ClassCounter>)| {
            let system = Rc::clone(&systems[hart.tile]);
            let costs = hart.costs.clone();
            Rc::new(Timing::new(system, hart.number, costs, Rc::clone(classes)))
        };
        self.harts.iter().zip(classes).map(timing).collect()
    }
}
