//! Harts whose code others execute: code of host programs (`docs/card.md`). In front of it the machine
//! lends the hart, and does nothing more until the hart is back.
use flick_abi::descriptor::{HOST_MODE, OWNER_BITS, OWNER_LEFT};
use flick_engine::Hart;

use flick_device::Time;
use flick_riscv::{FOREIGN_MODE, FOREIGN_OWNER, Isa};

use super::Machine;
use crate::board::Board;

const _: () = assert!(FOREIGN_MODE == HOST_MODE && FOREIGN_OWNER == OWNER_BITS);

/// Cycles that a lent hart may be ahead of others: each turn costs its owner a hand-over.
const LENT_AHEAD: u64 = 100_000;

/// A hart that is lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lent {
    /// The hart.
    pub hart: usize,
    /// The owner of its code, as `satp` has it.
    pub owner: u64,
    /// Instructions that the owner may execute.
    pub budget: u64,
    /// What the hart can execute.
    pub isa: Isa,
}

/// Whether there are owners, and the hart that is to be lent.
#[derive(Debug, Default)]
pub(super) struct LentHarts {
    has_owners: bool,
    next: Option<Lent>,
}

impl Machine<'_> {
    /// Harts have the host's space, and are lent from now on.
    pub fn lend_harts(&mut self) {
        self.lent.has_owners = true;
    }

    /// A hart has come to code of a host program. Without owners the code has nobody who executes it.
    pub(super) fn lend(&mut self, hart: usize) {
        let Some(owner) = self.harts[hart].processor.host_owner() else {
            return;
        };
        if !self.lent.has_owners {
            return self.end_lent(hart, Some((OWNER_LEFT, 0)));
        }
        let unit = &self.harts[hart];
        let (time, period) = (unit.time, unit.period);
        let others = self.harts.iter().enumerate();
        let next = others.filter(|&(n, unit)| n != hart && !unit.waits);
        let next = next.map(|(_, unit)| unit.time + LENT_AHEAD * unit.period);
        let event = self.wiring.next_event().into_iter();
        let until = event.chain(self.deadline(hart)).chain(next).min();
        let cycles = until.map_or(LENT_AHEAD, |until| {
            until.saturating_sub(time).div_ceil(period)
        });
        let budget = cycles.clamp(1, LENT_AHEAD);
        self.lent.next = Some(Lent {
            hart,
            owner,
            budget,
            isa: self.harts[hart].processor.isa(),
        });
    }

    /// A descriptor from outside for the card, by the board of the host's tile. False: its ring is full.
    pub fn descriptor_from_outside(&mut self, host: &Board, bytes: &[u8]) -> bool {
        self.order = None;
        host.input_to_unit(bytes, self.wiring.now()) != 0
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

    /// The registers of a lent hart.
    pub fn lent_registers(&self, hart: usize) -> Option<&Hart> {
        self.harts.get(hart).map(|unit| &unit.processor.hart)
    }

    /// The owner of a lent hart has executed so many instructions, and leaves these registers and this
    /// fcsr in it.
    pub fn lent_has_executed(&mut self, hart: usize, instructions: u64, state: (&Hart, u64)) {
        self.order = None;
        if let Some(unit) = self.harts.get_mut(hart) {
            unit.processor.has_executed(instructions, state.0, state.1);
            unit.time += instructions * unit.period;
        }
    }

    /// A lent hart is back: it goes on, or takes an exception (`mcause`, `mtval`).
    pub fn end_lent(&mut self, hart: usize, exception: Option<(u64, u64)>) {
        self.order = None;
        if let (Some(unit), Some((cause, value))) = (self.harts.get_mut(hart), exception) {
            unit.processor.take_exception(cause, value);
            unit.time += unit.period;
        }
    }
}
