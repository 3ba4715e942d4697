//! Stops before an instruction of a hart: by its number, or by its address. A hart that has some is
//! interpreted, so that it stops exactly there.
use flick_engine::{Control, CsrAccess, CsrWrite};
use flick_riscv::Insn;

use super::{Pausing, Processor};
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

/// The state of [`Stops`]: number, instruction or address, and times (0: it is an instruction) of each;
/// instructions that have completed; the stops that have come.
pub(super) type SavedStops = (Vec<(u32, u64, u64)>, u64, Vec<u32>);

impl Stops {
    pub fn save(&self) -> SavedStops {
        let stop = |stop: &Stop| match stop.at {
            StopAt::Instruction(instruction) => (stop.number as u32, instruction, 0),
            StopAt::Address(address, times) => (stop.number as u32, address, times.max(1)),
        };
        let come = self.come.iter().map(|&number| number as u32);
        let stops = self.stops.iter().map(stop);
        (stops.collect(), self.retired, come.collect())
    }

    /// False: no hart has these stops.
    pub fn restore(&mut self, saved: &SavedStops) -> bool {
        let (stops, retired, come) = saved;
        let stop = |&(number, at, times): &(u32, u64, u64)| Stop {
            number: number as usize,
            at: match times {
                0 => StopAt::Instruction(at),
                times => StopAt::Address(at, times),
            },
        };
        self.stops = stops.iter().map(stop).collect();
        self.come = come.iter().map(|&number| number as usize).collect();
        self.retired = *retired;
        *retired < 1 << 62
    }
    pub fn is_empty(&self) -> bool {
        self.stops.is_empty() && self.come.is_empty()
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

/// Another control, and behind it stops.
pub(super) struct Stopping<'k, K> {
    pub stops: &'k mut Stops,
    pub inner: &'k mut K,
}

impl<K: Control> Control for Stopping<'_, K> {
    #[inline(always)]
    fn proceed(&mut self, pc: u64) -> bool {
        self.inner.proceed(pc) && (self.stops.is_empty() || self.stops.proceed(pc))
    }

    #[inline(always)]
    fn jump(&mut self, pc: u64, target: u64) {
        self.inner.jump(pc, target);
    }

    #[inline(always)]
    fn retired(&mut self, pc: u64, insn: Insn) {
        // Nothing is counted for nobody.
        if !self.stops.is_empty() {
            self.stops.retired(pc, insn);
        }
        self.inner.retired(pc, insn);
    }
}

impl<K: Pausing> Pausing for Stopping<'_, K> {
    fn has_paused(&self) -> bool {
        self.inner.has_paused()
    }
}

impl<B: Bus> Processor<'_, B> {
    /// The slice ends at this stop, which has a number. To be set at the hart's reset.
    pub fn stop_at(&mut self, number: usize, at: StopAt) {
        self.stops.stops.push(Stop { number, at });
    }

    /// Are the numbers of all stops below this one?
    pub fn has_stops_below(&self, end: usize) -> bool {
        let numbers = self.stops.stops.iter().map(|stop| stop.number);
        numbers
            .chain(self.stops.come.iter().copied())
            .all(|number| number < end)
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
