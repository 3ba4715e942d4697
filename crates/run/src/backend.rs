//! Where NxP code runs.
use crate::device_check::{self, Watcher};
use crate::{stats, timed, translation};
use flick_engine::{CodeRegion, Exit, Hart, Identity, InstructionCounter, NoObserver};

// SAFETY: NxP code is the program's own code; it may touch whatever its host code may.
const MEMORY: Identity = unsafe { Identity::new() };

/// Runs a hart until it needs the host. Later backends (a simulated device, PCIe) exchange descriptors
/// instead; a crossing to them goes through the same [`crate::step`].
pub trait Backend {
    /// Whether what runs on it is counted: calls and instructions.
    const COUNTED: bool;

    /// Runs from `hart.pc`, inside `code`, until the hart leaves it or cannot go on, and says why; or says
    /// which translated code the crossing is to call. `interpret`: the first instruction is one that
    /// translated code has left to the interpreter.
    fn run(&self, hart: &mut Hart, code: &CodeRegion, interpret: bool) -> Result<u64, Exit>;

    /// Tells the statistics of the instructions that `hart.retired` counts.
    fn count(&self, hart: &mut Hart);
}

#[inline]
fn translated(hart: &mut Hart, code: &CodeRegion, interpret: bool) -> Result<u64, Exit> {
    // SAFETY: NxP code is the program's own.
    unsafe { flick_translator::advance(hart, &MEMORY, code, translation::entry_if_hot, interpret) }
}

/// The engine in the calling thread.
pub struct Inline;

impl Backend for Inline {
    const COUNTED: bool = false;

    #[inline]
    fn run(&self, hart: &mut Hart, code: &CodeRegion, interpret: bool) -> Result<u64, Exit> {
        if translation::enabled() {
            return translated(hart, code, interpret);
        }
        Err(flick_engine::run(hart, &MEMORY, code, &mut NoObserver))
    }

    #[inline]
    fn count(&self, _hart: &mut Hart) {}
}

/// The same with instructions counted, for statistics, or accesses watched.
pub struct InlineCounted;

impl Backend for InlineCounted {
    const COUNTED: bool = true;

    fn run(&self, hart: &mut Hart, code: &CodeRegion, interpret: bool) -> Result<u64, Exit> {
        if device_check::enabled() {
            let mut watcher = Watcher::begin();
            let exit = flick_engine::run(hart, &MEMORY, code, &mut watcher);
            hart.retired += watcher.count;
            watcher.end();
            return Err(exit);
        }
        if timed::enabled()
            && let Some((exit, instructions)) = timed::crossing::observe(hart, &MEMORY, code)
        {
            hart.retired += instructions;
            return Err(exit);
        }
        if translation::enabled() {
            return translated(hart, code, interpret);
        }
        let mut counter = InstructionCounter::default();
        let exit = flick_engine::run(hart, &MEMORY, code, &mut counter);
        hart.retired += counter.count;
        Err(exit)
    }

    fn count(&self, hart: &mut Hart) {
        stats::instructions(std::mem::take(&mut hart.retired));
    }
}
