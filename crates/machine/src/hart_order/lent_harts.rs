//! Harts whose code others execute: code of host programs (`docs/card.md`). In front of it the machine
//! lends the hart, which does nothing more until it is back. Other harts may go on meanwhile, and may be
//! lent, too.
use flick_abi::descriptor::{DESCRIPTOR_SIZE, Descriptor, HOST_MODE, OWNER_BITS, OWNER_LEFT};
use flick_engine::Hart;
use flick_hart::SliceEnd;

use flick_device::Time;
use flick_riscv::{FOREIGN_MODE, FOREIGN_OWNER, Isa};

use super::Machine;
use super::full_times::FullTimes;
use crate::board::Board;

const _: () = assert!(FOREIGN_MODE == HOST_MODE && FOREIGN_OWNER == OWNER_BITS);

/// Cycles that a lent hart may be ahead of others, and that others may be ahead of a hart that is to be lent:
/// each turn of another owner costs a hand-over.
const LENT_AHEAD: u64 = 4_000_000;
/// The same in a timed run, where a message is to come at its time.
const LENT_AHEAD_TIMED: u64 = 100_000;

/// Cycles that a lent hart may be ahead of all that others do, if they go on meanwhile. An interrupt comes
/// to it so much later at most.
const AHEAD_OF_OTHERS: u64 = 2000;

/// Cycles after which its owner looks around in any case.
const MOST_CYCLES: u64 = 1_000_000;

/// A hart that is lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lent {
    /// The hart.
    pub hart: usize,
    /// The owner of its code, as `satp` has it.
    pub owner: u64,
    /// Cycles of the hart that the owner may use.
    pub budget: u64,
    /// The instructions that the hart has.
    pub isa: Isa,
    /// The virtual time at which the hart has come to the code.
    pub time: Time,
}

/// Whether there are owners, and the hart that is to be lent.
#[derive(Debug, Default)]
pub(super) struct LentHarts {
    has_owners: bool,
    /// The kernel has not come to wait for owners yet.
    boots: bool,
    next: Option<Lent>,
    /// What is at this time or later stays for later, as far as it is no part of a slice that has begun.
    limit: Option<Time>,
    full: FullTimes,
    /// A fault: bits of a word that change in so many descriptors.
    corrupts: (usize, u64, u64),
    /// A fault: the ring takes none.
    ring_is_full: bool,
}

impl LentHarts {
    /// Up to when the machine may go on.
    pub fn limit(&self) -> Option<Time> {
        self.limit
    }

    /// This time, or the last one that is within the limit.
    pub fn within_limit(&self, time: Time) -> Time {
        match self.limit {
            Some(limit) => time.min(limit.saturating_sub(1)),
            None => time,
        }
    }
}

impl Machine<'_> {
    /// Harts have the host's space, and are lent from now on. Those of these numbers are for threads.
    pub fn lend_harts(&mut self, for_threads: impl Iterator<Item = usize>) {
        self.lent.has_owners = true;
        self.lent.boots = true;
        self.lent.full = FullTimes::of(for_threads);
    }

    /// The kernel waits for owners, whose time begins. Until then a machine that waits for a fault alone is
    /// idle.
    pub fn has_booted(&mut self) {
        self.lent.boots = false;
    }

    /// See [`Self::has_booted`].
    pub(super) fn boots(&self) -> bool {
        self.lent.boots
    }

    /// The next turns leave what is at this time or later, if there is one.
    pub fn limit_time(&mut self, time: Option<Time>) {
        self.lent.limit = time;
    }

    /// The virtual time of what comes next; `None`: nothing will, without something from outside.
    pub fn next_time(&mut self) -> Option<Time> {
        if self.wiring.has_news() && !self.stays_quiet() {
            self.end_quiet_order();
            self.wiring.forget_news();
            self.apply_lines();
        }
        let first = self.first().map(|first| self.harts[first].time);
        let event = self.wiring.next_event();
        let fault = self.next_fault(usize::MAX);
        let waiting = match first {
            Some(_) => None,
            None => self.deadline(usize::MAX),
        };
        let all = [first, event, fault, waiting];
        all.into_iter().flatten().min()
    }

    /// Are there owners?
    pub(crate) fn has_owners(&self) -> bool {
        self.lent.has_owners
    }

    /// Bits of a word of the next descriptors from outside change.
    pub(crate) fn corrupt_descriptors(&mut self, word: usize, bits: u64, descriptors: u64) {
        self.lent.corrupts = (word, bits, descriptors);
    }

    /// The ring takes no descriptors from outside, or takes them again.
    pub(crate) fn fill_ring(&mut self, is_full: bool) {
        self.lent.ring_is_full = is_full;
    }

    /// A hart's slice has ended so. How much later its turn comes than its time: what others do first makes
    /// owners wait less often for each other. Their messages come to them before another owner executes code.
    pub(super) fn put_off(&mut self, hart: usize, end: SliceEnd) -> Time {
        let puts_off = self.lent.has_owners && !self.is_timed && end == SliceEnd::Foreign;
        let unit = &mut self.harts[hart];
        // Its turn has come.
        if !puts_off || unit.put_off != 0 {
            return 0;
        }
        // Interrupts do not put it off again.
        let ahead = LENT_AHEAD * unit.period;
        let lent_at = *unit.lent_at.get_or_insert(unit.time + ahead);
        lent_at.saturating_sub(unit.time)
    }

    /// A hart has come to code of a host program. Without owners the code has nobody who executes it.
    pub(super) fn lend(&mut self, hart: usize) {
        let Some(owner) = self.harts[hart].processor.host_owner() else {
            return;
        };
        if !self.lent.has_owners {
            return self.end_lent(hart, Some((OWNER_LEFT, 0)));
        }
        self.harts[hart].lent_at = None;
        let unit = &self.harts[hart];
        let (time, period) = (unit.time, unit.period);
        let others = self.harts.iter().enumerate();
        let next = others.filter(|&(n, unit)| n != hart && !unit.waits);
        let ahead = match self.is_timed {
            true => LENT_AHEAD_TIMED,
            false => LENT_AHEAD,
        };
        let next = next.map(|(_, unit)| unit.time + ahead * unit.period);
        let event = self.wiring.next_event().into_iter();
        let until = event.chain(self.deadline(hart)).chain(next).min();
        let cycles = until.map_or(ahead, |until| until.saturating_sub(time).div_ceil(period));
        let budget = cycles.clamp(1, ahead);
        let isa = unit.processor.isa();
        self.lent.full.begin(hart, time);
        let unit = &mut self.harts[hart];
        (unit.is_lent, unit.waits) = (true, true);
        if let Some(order) = &mut self.order {
            order.set_waiting(hart);
        }
        self.lent.next = Some(Lent {
            hart,
            owner,
            budget,
            isa,
            time,
        });
    }

    /// Until when the owner of a lent hart may execute its code, which has come to a time. `None`: the hart is
    /// interrupted. `others`: the first time at which other owners may do something.
    pub fn lent_until(&mut self, hart: usize, at: Time, others: Option<Time>) -> Option<Time> {
        let next = self.next_time().into_iter().chain(others).min();
        let unit = self.harts.get(hart)?;
        let registers = unit.processor.registers();
        let ticks = || unit.board.time_at(at);
        if unit.is_stopped || registers.next_interrupt(ticks()).is_some() {
            return None;
        }
        let timer = registers.deadline();
        let timer = timer.map(|ticks| unit.board.when(ticks, at));
        let ahead = next.map(|next| next.max(at) + AHEAD_OF_OTHERS * unit.period);
        let most = at + MOST_CYCLES * unit.period;
        let timer = timer.filter(|&timer| timer > at);
        Some(ahead.into_iter().chain(timer).fold(most, Time::min))
    }

    /// How long all harts for threads were lent between two times.
    pub fn full_between(&self, from: Time, to: Time) -> Time {
        self.lent.full.between(from, to)
    }

    /// A descriptor from outside for the card, by the board of the host's tile, at a virtual time that may be
    /// to come. False: its ring is full.
    pub fn descriptor_at(&mut self, host: &Board, descriptor: &Descriptor, time: Time) -> bool {
        if self.lent.ring_is_full {
            return false;
        }
        let now = self.wiring.now();
        // On the stack: each crossing comes here.
        let mut bytes = [0; DESCRIPTOR_SIZE + size_of::<Time>()];
        bytes[..DESCRIPTOR_SIZE].copy_from_slice(&descriptor.bytes());
        bytes[DESCRIPTOR_SIZE..].copy_from_slice(&time.to_le_bytes());
        let (word, bits, left) = self.lent.corrupts;
        if left > 0
            && let Some(place) = bytes.get_mut(8 * word..8 * word + 8)
        {
            let bits = bits.to_le_bytes();
            place
                .iter_mut()
                .zip(bits)
                .for_each(|(byte, bits)| *byte ^= bits);
        }
        let is_sent = host.input_to_unit(&bytes, now) != 0;
        self.lent.corrupts.2 = left - u64::from(left > 0 && is_sent);
        is_sent
    }

    /// In a child of `fork`: translated code is in memory that it shares with its parent, and is made anew.
    pub fn renew_translations(&mut self, executions: Option<u8>) {
        for board in self.boards {
            board.code.drop_blocks();
        }
        self.translate_after(executions);
    }

    /// The virtual time of the last event or access.
    pub fn now(&self) -> Time {
        self.wiring.now()
    }

    /// The hart that is lent since the last turn. The next turn comes when it is back.
    pub fn take_lent(&mut self) -> Option<Lent> {
        self.lent.next.take()
    }

    /// The ISA of each hart.
    pub fn isas(&self) -> impl Iterator<Item = Isa> {
        self.harts.iter().map(|unit| unit.processor.isa())
    }

    /// The registers of a lent hart.
    pub fn lent_registers(&self, hart: usize) -> Option<&Hart> {
        self.harts.get(hart).map(|unit| &unit.processor.hart)
    }

    /// The owner of a lent hart has executed so many instructions in so much time, and leaves these registers
    /// and this fcsr in it. In functional mode each takes a cycle.
    pub fn lent_has_executed(
        &mut self,
        hart: usize,
        (instructions, time): (u64, Time),
        state: (&Hart, u64),
    ) {
        let is_timed = self.is_timed;
        if let Some(unit) = self.harts.get_mut(hart) {
            let (cycles, time) = match is_timed {
                true => (time / unit.period, time),
                false => (instructions, instructions * unit.period),
            };
            let counted = (instructions, cycles);
            unit.processor.has_executed(counted, state.0, state.1);
            unit.time += time;
        }
    }

    /// A lent hart is back: it goes on, or takes an exception (`mcause`, `mtval`).
    pub fn end_lent(&mut self, hart: usize, exception: Option<(u64, u64)>) {
        if let (Some(unit), Some((cause, value))) = (self.harts.get_mut(hart), exception) {
            let time = unit.processor.take_exception(cause, value);
            unit.time += time.unwrap_or(unit.period);
        }
        let Some(unit) = self.harts.get_mut(hart) else {
            return;
        };
        if unit.is_lent {
            self.lent.full.end(hart, unit.time);
            // A fault may have stopped it meanwhile.
            (unit.is_lent, unit.waits) = (false, unit.is_stopped);
        }
        if let Some(order) = &mut self.order
            && !unit.waits
        {
            order.set_time(hart, unit.time);
        }
    }
}
