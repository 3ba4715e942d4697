//! What the machine asks of a hart, and tells it, between its slices.
use std::rc::Rc;

use super::Processor;
use crate::bus::{Bus, PAGE};
use crate::hart_events::HartEvent;
use crate::privileged_registers::{Counts, Registers, interrupt};
use crate::timed_mode::{ClassCounter, Timing};

impl<B: Bus> Processor<'_, B> {
    /// The privileged registers.
    pub fn registers(&self) -> &Registers {
        &self.core.registers
    }

    /// Sets the level of a bit of `mip` ([`interrupt`](crate::interrupt)). SSIP has no wire: it stays
    /// until software clears it.
    pub fn set_line(&mut self, bit: u32, level: bool) {
        let registers = &mut self.core.registers;
        if bit == interrupt::SSI {
            registers.software |= u64::from(level) << bit;
        } else {
            registers.lines = registers.lines & !(1 << bit) | u64::from(level) << bit;
        }
    }

    /// The hart has an interrupt of this number, which its machine drives.
    pub fn have_interrupt(&mut self, bit: u32) {
        self.core.registers.machine_interrupts |= 1 << bit;
    }

    /// Has the hart an interrupt for which it does not wait?
    pub fn wakes(&self, time: impl FnOnce() -> u64) -> bool {
        let registers = &self.core.registers;
        let time = if registers.looks_at_time() { time() } else { 0 };
        registers.pending(time) & registers.mie != 0
    }

    /// Keeps traps and returns from now on.
    pub fn keep_events(&mut self) {
        self.core.events = Some(vec![]);
    }

    /// Traps and returns since the last call.
    pub fn take_events(&mut self) -> Vec<HartEvent> {
        self.core
            .events
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Counts instructions by class in functional mode, too, which takes time.
    pub fn count_classes(&mut self) {
        self.core.counts_classes = true;
    }

    /// Instructions by class: those of timed mode, and of functional mode where they are counted.
    pub fn classes(&self) -> &Rc<ClassCounter> {
        &self.core.classes
    }

    /// Begins timed mode, or ends it with `None`.
    pub fn set_timing(&mut self, timing: Option<Rc<Timing>>) {
        let core = &mut self.core;
        // What timed mode has counted goes on in functional mode.
        if let Some(old) = core.view.timing() {
            core.counts.cycles += old.cycles(0);
            core.counts.instructions += old.instructions();
        }
        core.page_mask = match &timing {
            Some(timing) => timing.line_mask(),
            None => !(PAGE - 1),
        };
        core.view.set_timing(timing);
        core.refresh();
    }

    /// The timing, in timed mode.
    pub fn timing(&self) -> Option<&Timing> {
        self.core.view.timing().map(|timing| &**timing)
    }

    /// Lets cycles pass in which the hart waits.
    pub fn idle(&mut self, cycles: u64) {
        self.core.counts.cycles += cycles;
    }

    /// What the hart has counted.
    pub fn counts(&self) -> Counts {
        self.core.counts_at(0, 0)
    }
}
