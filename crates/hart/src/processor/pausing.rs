//! Slices that pause, so that a debugger can look at the hart. A pause changes nothing: when the hart
//! goes on, it takes the cycles that it would have taken without.
use std::cell::Cell;
use std::rc::Rc;

use flick_engine::fp::fcsr::Fcsr;
use flick_engine::{Control, Exit, NoObserver, Observer, Unlimited, run};
use flick_riscv::Insn;

use super::stops::Stopping;
use super::{NOWHERE, Processor, SliceEnd};
use crate::bus::Bus;
use crate::timed_mode::{Counting, Timing};

/// How a slice begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// The virtual time.
    pub start: u64,
    /// Cycles that it has at most, or picoseconds in timed mode.
    pub cycles: u64,
    /// The hart is the first of all for so many of them, so that the others may see what it does.
    pub lead: u64,
}

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
    /// With the slice, which had so many cycles, or picoseconds in timed mode.
    Ended(SliceEnd, u64),
}

impl<B: Bus> Processor<'_, B> {
    /// A slice begins, of which [`resume`](Self::resume) executes the instructions.
    pub fn begin(&mut self, begin: Begin) {
        let core = &mut self.core;
        core.view.slice.begin(begin.cycles, begin.lead);
        core.view.begin_slice();
        if !core.knows_page(self.hart.pc) {
            core.page = NOWHERE;
        }
        core.traps = 0;
        if let Some(timing) = core.view.timing() {
            timing.begin(begin.start);
        }
    }

    /// Executes the slice to its end, or until the hart has executed `pause` instructions and exceptions
    /// since its reset and would execute an instruction, or until `control` says no.
    pub fn resume<O: Observer, K: Pausing>(
        &mut self,
        pause: u64,
        observer: &mut O,
        control: &mut K,
    ) -> Part {
        self.pause_at(pause);
        let thread = self.fcsr.load(&mut self.hart);
        let (hart, core) = (&mut self.hart, &mut self.core);
        let control = &mut Stopping {
            stops: &mut self.stops,
            inner: control,
        };
        let (exit, has_paused) = match core.charges() {
            Some(mut charges) => {
                let counted = core.counts.instructions + core.exceptions + core.traps;
                let mut limited = Limited {
                    traps: Rc::clone(&core.live_traps),
                    limit: pause
                        .saturating_sub(counted)
                        .saturating_add(core.live_traps.get()),
                    timing: Rc::clone(&charges.timing),
                    inner: control,
                    has_paused: false,
                };
                let mut both = Both(&mut charges, observer);
                let exit = run(hart, core, &mut both, &mut limited);
                (exit, limited.has_paused())
            }
            None if core.counts_classes => {
                let mut counting = Counting(Rc::clone(&core.classes));
                let exit = run(hart, core, &mut Both(&mut counting, observer), control);
                (exit, control.has_paused())
            }
            None => {
                let exit = run(hart, core, observer, control);
                (exit, control.has_paused())
            }
        };
        self.fcsr = Fcsr::store(&self.hart, thread);
        self.part(exit, has_paused)
    }

    /// The same without an observer or a control: by blocks, if the hart uses them.
    pub fn go_on(&mut self, pause: u64) -> Part {
        if self.core.view.timing().is_some() {
            return self.resume(pause, &mut NoObserver, &mut Unlimited);
        }
        self.pause_at(pause);
        let thread = self.fcsr.load(&mut self.hart);
        let exit = self.execute();
        self.fcsr = Fcsr::store(&self.hart, thread);
        self.part(exit, false)
    }

    fn pause_at(&self, pause: u64) {
        let slice = &self.core.view.slice;
        let cycles = match self.core.view.timing() {
            // The control pauses.
            Some(_) => u64::MAX,
            None => slice
                .executed()
                .saturating_add(pause.saturating_sub(self.steps())),
        };
        slice.pause_at(cycles);
    }

    fn part(&mut self, exit: Exit, has_paused: bool) -> Part {
        let is_paused = has_paused || self.core.view.slice.is_paused();
        if exit == Exit::Budget
            && is_paused
            && self.core.marker.is_none()
            && !self.core.call
            && !self.core.foreign
        {
            return Part::Paused;
        }
        let (end, cycles) = self.finish(exit);
        Part::Ended(end, cycles)
    }

    /// Instructions that have completed or raised an exception since the reset.
    pub fn steps(&self) -> u64 {
        let core = &self.core;
        let counts = core.counts_at(core.view.slice.executed(), core.traps);
        counts.instructions + core.exceptions + core.traps
    }

    /// Cycles that it has executed of a slice that is not over, or picoseconds in timed mode.
    pub fn slice_cycles(&self) -> u64 {
        self.core.view.slice.executed()
    }

    pub(super) fn finish(&mut self, exit: Exit) -> (SliceEnd, u64) {
        let core = &mut self.core;
        core.exceptions += core.traps;
        let executed = core.view.slice.executed();
        match core.view.timing() {
            None => {
                core.counts.cycles += executed;
                core.counts.instructions += executed - core.traps;
            }
            Some(timing) => timing.end(executed),
        }
        core.view.end_slice();
        core.view.slice.begin(0, 0);
        core.traps = 0;
        let end = match (exit, core.marker.take()) {
            _ if std::mem::take(&mut core.call) => SliceEnd::Call,
            _ if std::mem::take(&mut core.foreign) => SliceEnd::Foreign,
            (_, Some(marker)) => SliceEnd::Marker(marker),
            (Exit::Wait, None) => SliceEnd::Wait,
            _ => SliceEnd::Turn,
        };
        (end, executed)
    }
}

/// In timed mode a slice counts no instructions: what has completed, and exceptions, are counted here.
struct Limited<'k, K> {
    timing: Rc<Timing>,
    traps: Rc<Cell<u64>>,
    limit: u64,
    inner: &'k mut K,
    has_paused: bool,
}

impl<K: Pausing> Control for Limited<'_, K> {
    #[inline(always)]
    fn proceed(&mut self, pc: u64) -> bool {
        self.has_paused = self.timing.instructions() + self.traps.get() >= self.limit;
        !self.has_paused && self.inner.proceed(pc)
    }

    #[inline(always)]
    fn jump(&mut self, pc: u64, target: u64) {
        self.inner.jump(pc, target);
    }

    #[inline(always)]
    fn retired(&mut self, pc: u64, insn: Insn) {
        self.inner.retired(pc, insn);
    }
}

impl<K: Pausing> Pausing for Limited<'_, K> {
    fn has_paused(&self) -> bool {
        self.has_paused || self.inner.has_paused()
    }
}

/// Two observers.
struct Both<'o, A, O>(&'o mut A, &'o mut O);

impl<A: Observer, O: Observer> Observer for Both<'_, A, O> {
    const TAKES_TIME: bool = A::TAKES_TIME || O::TAKES_TIME;

    #[inline(always)]
    fn at(&mut self, pc: u64) {
        self.0.at(pc);
        self.1.at(pc);
    }

    #[inline(always)]
    fn atomic(&mut self) {
        self.0.atomic();
        self.1.atomic();
    }

    #[inline(always)]
    fn retired(&mut self, pc: u64, insn: Insn) {
        self.0.retired(pc, insn);
        self.1.retired(pc, insn);
    }

    #[inline(always)]
    fn load(&mut self, address: u64, size: u64) {
        self.0.load(address, size);
        self.1.load(address, size);
    }

    #[inline(always)]
    fn store(&mut self, address: u64, size: u64) {
        self.0.store(address, size);
        self.1.store(address, size);
    }

    #[inline(always)]
    fn branch(&mut self, pc: u64, target: u64, taken: bool) {
        self.0.branch(pc, target, taken);
        self.1.branch(pc, target, taken);
    }

    #[inline(always)]
    fn jump(&mut self, pc: u64, target: u64) {
        self.0.jump(pc, target);
        self.1.jump(pc, target);
    }
}
