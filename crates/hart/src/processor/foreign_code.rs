//! Code of host programs: U mode with mode 14 of `satp` (`docs/card.md`, "The host's space"). The hart
//! stops in front of it. Who owns the code executes it elsewhere, and says what has happened.
use flick_engine::Hart;
use flick_engine::fp::fcsr::Fcsr;
use flick_riscv::{FOREIGN_MODE, FOREIGN_OWNER, Isa};

use super::{Privileged, Processor};
use crate::bus::Bus;
use crate::hart_events::Change;
use crate::privileged_registers::Privilege;

impl<B: Bus> Privileged<'_, B> {
    /// Is the next instruction a host program's?
    pub(super) fn is_foreign(&self) -> bool {
        self.registers.privilege == Privilege::User && self.registers.satp >> 60 == FOREIGN_MODE
    }
}

impl<B: Bus> Processor<'_, B> {
    /// `satp` takes mode 14 from now on.
    pub fn have_host_space(&mut self) {
        self.core.registers.has_host_space = true;
    }

    /// The number of the owner, if the next instruction is a host program's.
    pub fn host_owner(&self) -> Option<u64> {
        let satp = self.core.registers.satp;
        self.core.is_foreign().then_some(satp & FOREIGN_OWNER)
    }

    /// What the hart can execute.
    pub fn isa(&self) -> Isa {
        self.core.registers.isa
    }

    /// The fcsr of the hart between slices.
    pub fn fcsr(&self) -> u64 {
        self.fcsr.value()
    }

    /// Between slices: the owner has executed so many instructions, and the hart has these registers and
    /// this fcsr. The owner executes its vector instructions with registers of its own.
    pub fn has_executed(&mut self, instructions: u64, registers: &Hart, fcsr: u64) {
        self.hart.x = registers.x;
        self.hart.x[0] = 0;
        self.hart.pc = registers.pc;
        if self.hart.f != registers.f || self.fcsr.value() != fcsr {
            self.hart.f = registers.f;
            self.fcsr = Fcsr::new(fcsr);
            self.core.make_dirty();
        }
        self.core.counts.cycles += instructions;
        self.core.counts.instructions += instructions;
    }

    /// Between slices: the hart takes an exception at its next instruction, which takes a cycle.
    pub fn take_exception(&mut self, cause: u64, value: u64) {
        let core = &mut self.core;
        core.view.reservation.forget();
        core.counts.cycles += 1;
        core.exceptions += 1;
        self.hart.pc = core.registers.raise(cause, value, self.hart.pc);
        core.keep(0, Change::Exception(cause));
        core.refresh();
    }
}
