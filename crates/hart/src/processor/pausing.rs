//! Slices that pause, so that a debugger can look at the hart. A pause changes nothing: when the hart
//! goes on, it takes the cycles that it would have taken without.
use flick_engine::fp::fcsr::Fcsr;
use flick_engine::{Control, Exit, NoObserver, Observer, Unlimited, run};

use super::{NOWHERE, Processor, SliceEnd};
use crate::bus::Bus;

/// A control that can pause a hart.
pub trait Pausing: Control {
    /// Has it said no to the instruction that would be next?
    fn has_paused(&self) -> bool;
}

impl Pausing for Unlimited {
    fn has_paused(&self) -> bool {
        false
    }
}

/// How a part of a slice ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// In front of an instruction. The slice goes on later.
    Paused,
    /// With the slice, which had so many cycles.
    Ended(SliceEnd, u64),
}

impl<B: Bus> Processor<'_, B> {
    /// A slice begins, of which [`resume`](Self::resume) executes the instructions.
    pub fn begin(&mut self, cycles: u64, is_alone: bool) {
        let core = &mut self.core;
        core.view.slice.begin(cycles, is_alone);
        core.view.watch_code();
        core.page = NOWHERE;
        core.traps = 0;
    }

    /// Executes the slice to its end, or until the hart has executed `pause` cycles since its reset
    /// and would execute an instruction, or until `control` says no.
    pub fn resume<O: Observer, K: Pausing>(
        &mut self,
        pause: u64,
        observer: &mut O,
        control: &mut K,
    ) -> Part {
        let core = &mut self.core;
        core.view.slice.pause_at(pause.saturating_sub(self.passed));
        let thread = self.fcsr.load(&mut self.hart);
        let exit = run(&mut self.hart, core, observer, control);
        self.fcsr = Fcsr::store(&self.hart, thread);
        if exit == Exit::Budget && (core.view.slice.is_paused() || control.has_paused()) {
            return Part::Paused;
        }
        let (end, cycles) = self.finish(exit);
        Part::Ended(end, cycles)
    }

    /// The same without an observer or a control.
    pub fn go_on(&mut self, pause: u64) -> Part {
        self.resume(pause, &mut NoObserver, &mut Unlimited)
    }

    /// Cycles that the hart has executed since its reset; those in which it waited do not count. So it
    /// is the number of instructions and exceptions.
    pub fn steps(&self) -> u64 {
        self.passed + self.core.view.slice.executed()
    }

    /// Cycles that it has executed of a slice that is not over.
    pub fn slice_cycles(&self) -> u64 {
        self.core.view.slice.executed()
    }

    pub(super) fn finish(&mut self, exit: Exit) -> (SliceEnd, u64) {
        let core = &mut self.core;
        let executed = core.view.slice.executed();
        core.counts.cycles += executed;
        core.counts.instructions += executed - core.traps;
        self.passed += executed;
        core.view.slice.begin(0, false);
        core.traps = 0;
        let end = match exit {
            Exit::Wait => SliceEnd::Wait,
            _ => SliceEnd::Turn,
        };
        (end, executed)
    }
}
