//! Where NxP code runs.
use crate::device_check::{self, Watcher};
use crate::stats;
use flick_engine::{CodeRegion, Exit, Hart, Identity, InstructionCounter, NoObserver};

// SAFETY: NxP code is the program's own code; it may touch whatever its host code may.
const MEMORY: Identity = unsafe { Identity::new() };

/// Runs a hart until it needs the host. Later backends (a simulated device, PCIe) exchange descriptors
/// instead; a crossing to them goes through the same [`crate::step`].
pub trait Backend {
    /// Whether what runs on it is counted: calls and instructions.
    const COUNTED: bool;

    /// Runs from `hart.pc`, inside `code`, until the hart leaves it or cannot go on, and says why.
    /// Tells the statistics what it counts. The answer is nothing but the engine's: to copy it would
    /// make each crossing wait for the store of its tag.
    fn run(&self, hart: &mut Hart, code: &CodeRegion) -> Exit;
}

/// The engine in the calling thread.
pub struct Inline;

impl Backend for Inline {
    const COUNTED: bool = false;

    #[inline]
    fn run(&self, hart: &mut Hart, code: &CodeRegion) -> Exit {
        flick_engine::run(hart, &MEMORY, code, &mut NoObserver)
    }
}

/// The same with instructions counted, for statistics, or accesses watched.
pub struct InlineCounted;

impl Backend for InlineCounted {
    const COUNTED: bool = true;

    #[inline]
    fn run(&self, hart: &mut Hart, code: &CodeRegion) -> Exit {
        if device_check::enabled() {
            let mut watcher = Watcher::begin();
            let exit = flick_engine::run(hart, &MEMORY, code, &mut watcher);
            stats::instructions(watcher.count);
            watcher.end();
            return exit;
        }
        let mut counter = InstructionCounter::default();
        let exit = flick_engine::run(hart, &MEMORY, code, &mut counter);
        stats::instructions(counter.count);
        exit
    }
}
