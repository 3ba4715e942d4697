//! Stops before an instruction of a hart: by its number, or by its address. A hart that has some is
//! interpreted, so that it stops exactly there.
use flick_engine::{Control, CsrAccess, CsrWrite};
use flick_riscv::Insn;

use super::Processor;
use crate::bus::Bus;
use crate::privileged_registers::Privilege;

/// Where a hart stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAt {
    /// When so many instructions have completed.
    Instruction(u64),
    /// Before the execution of this number (1 is the first) of the instruction at an address.
    Address(u64, u64),
}

#[derive(Debug)]
struct Stop {
    number: usize,
    at: StopAt,
}

/// The stops that have not come yet.
#[derive(Debug, Default)]
pub(super) struct Stops {
    stops: Vec<Stop>,
    /// Instructions that have completed.
    retired: u64,
    /// The numbers of stops that have come.
    come: Vec<usize>,
}

impl Stops {
    pub fn is_empty(&self) -> bool {
        self.stops.is_empty()
    }
}

impl Control for Stops {
    fn proceed(&mut self, pc: u64) -> bool {
        let retired = self.retired;
        let is_due = |stop: &Stop| match stop.at {
            StopAt::Instruction(instruction) => instruction <= retired,
            StopAt::Address(address, times) => address == pc && times <= 1,
        };
        let come = &mut self.come;
        self.stops.retain(|stop| {
            let is_due = is_due(stop);
            if is_due {
                come.push(stop.number);
            }
            !is_due
        });
        self.come.is_empty()
    }

    fn retired(&mut self, pc: u64, _: Insn) {
        self.retired += 1;
        for stop in &mut self.stops {
            if let StopAt::Address(address, times) = &mut stop.at
                && *address == pc
            {
                *times -= 1;
            }
        }
    }
}

impl<B: Bus> Processor<'_, B> {
    /// The slice ends at this stop, which has a number. To be set at the hart's reset.
    pub fn stop_at(&mut self, number: usize, at: StopAt) {
        self.stops.stops.push(Stop { number, at });
    }

    /// The numbers of the stops at which the last slice has ended.
    pub fn take_stops(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.stops.come)
    }

    /// Changes bits of a control and status register, as far as it can have them. False: the hart has no
    /// such register.
    pub fn flip_csr(&mut self, number: u32, bits: u64) -> bool {
        use flick_engine::Core;
        let access = |write| CsrAccess {
            number,
            reads: true,
            write,
        };
        let privilege = self.core.registers.privilege;
        self.core.registers.privilege = Privilege::Machine;
        self.core.view.slice.begin(0, 0);
        let thread = self.fcsr.load(&mut self.hart);
        let old = self.core.csr(&mut self.hart, access(None));
        let is_there = old.is_some_and(|old| {
            let write = Some(CsrWrite::Replace(old ^ bits));
            self.core.csr(&mut self.hart, access(write)).is_some()
        });
        self.fcsr = flick_engine::fp::fcsr::Fcsr::store(&self.hart, thread);
        self.core.registers.privilege = privilege;
        self.core.refresh();
        is_there
    }

    /// Other memory may be there than before.
    pub fn forget_memory(&mut self) {
        self.core.view.flush_protections();
        self.core.forget_code();
    }
}
