//! Where NxP code runs.
use crate::device_check::{self, Watcher};
use crate::thread::Thread;
use crate::{stats, translation};
use flick_engine::{CodeRegion, Exit, Hart, Identity, InstructionCounter, NoObserver, translate};

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

fn translated(hart: &mut Hart, code: &CodeRegion) -> Exit {
    let here = &raw const hart as usize;
    // SAFETY: whoever runs NxP code has made the thread's state.
    let limit = unsafe { (*Thread::current_or_null()).host_stack.limit(here) };
    // SAFETY: translations of a module live as long as its code may run.
    unsafe { translate::run(hart, &MEMORY, code, translation::entry_for, limit as u64) }
}

/// The engine in the calling thread.
pub struct Inline;

impl Backend for Inline {
    const COUNTED: bool = false;

    #[inline]
    fn run(&self, hart: &mut Hart, code: &CodeRegion) -> Exit {
        if translation::enabled() {
            return translated(hart, code);
        }
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
        if translation::enabled() {
            hart.retired = 0;
            let exit = translated(hart, code);
            stats::instructions(hart.retired);
            return exit;
        }
        let mut counter = InstructionCounter::default();
        let exit = flick_engine::run(hart, &MEMORY, code, &mut counter);
        stats::instructions(counter.count);
        exit
    }
}
