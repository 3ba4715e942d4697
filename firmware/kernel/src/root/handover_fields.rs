//! What the kernel hart knows of hand-overs (`handovers.rs`): which gates have a field, and what has happened since it
//! has opened the word.
use flick_abi::card::{FOR_EVER, rights};
use flick_kernel_core::handovers::{Change, FIELDS, Field, Handovers};
use flick_kernel_core::threads::{Place, State, Wait};

use super::gate_calls::{TakenCall, place_of_field, slot_of_field};
use super::gates::SLOTS;
use super::handovers::{ENTRIES, HAS_HANDOVERS, WORD, is_in_page, set};
use super::known_rights;
use crate::csr;
use crate::direct::Direct;
use crate::hart_page::Seen;
use crate::kernel::{Answer, Kernel};
use crate::user_hart::load;

/// A receiver runs on the hart of its caller.
#[derive(Clone, Copy, Debug)]
struct LentHart {
    hart: u8,
    receiver: u64,
    caller: u64,
}

/// What the kernel hart knows of a field.
#[derive(Clone, Copy, Debug)]
struct HandoverField {
    gate: Option<u8>,
    lent: Option<LentHart>,
    /// The call that has no answer yet, the hart of its receiver, and that of its caller.
    asked: (u8, u8, u8),
    /// The receiver whose buffer has been looked up: its number, the buffer, and its physical address.
    known: (u64, u64, u64),
    /// The same of the caller that waits.
    known_caller: (u64, u64, u64),
}

/// All of them.
#[derive(Debug)]
pub struct HandoverFields {
    word: Handovers,
    all: [HandoverField; FIELDS],
    /// Some gate has a field.
    is_used: bool,
}

impl HandoverFields {
    /// None.
    pub const fn new() -> Self {
        const NONE: HandoverField = HandoverField {
            gate: None,
            lent: None,
            asked: (0, 0, 0),
            known: (0, 0, 0),
            known_caller: (0, 0, 0),
        };
        Self {
            word: Handovers::new(),
            all: [NONE; FIELDS],
            is_used: false,
        }
    }

    /// The field of a gate.
    pub fn field_of(&self, gate: u8) -> Option<usize> {
        self.all.iter().position(|field| field.gate == Some(gate))
    }

    /// The physical address of the buffer of a thread that waits at a gate, if it has been looked up.
    pub fn known_buffer(&self, gate: u8, of: (u64, u64)) -> Option<u64> {
        let (receiver, buffer, at) = self.all[self.field_of(gate)?].known;
        ((receiver, buffer) == of).then_some(at)
    }

    /// Calls and answers while the word is open leave the field as it is. The thread may wait with another buffer
    /// behind them than is known.
    #[inline(always)]
    pub fn has_other_buffer(&self, gate: u8) -> bool {
        let is_other = |n: usize| load(&ENTRIES[n].buffer) != self.all[n].known.2;
        HAS_HANDOVERS && self.is_used && self.field_of(gate).is_some_and(is_other)
    }

    /// A gate is gone.
    pub fn forget_gate(&mut self, gate: u8) {
        if let Some(n) = self.field_of(gate) {
            (self.all[n].gate, self.all[n].lent) = (None, None);
            self.is_used = self.all.iter().any(|field| field.gate.is_some());
        }
    }

    /// Pages of a process change. What was looked up of any is of no use.
    pub fn forget_pages(&mut self) {
        if self.is_used {
            self.forget_some_pages();
        }
    }

    #[inline(never)]
    fn forget_some_pages(&mut self) {
        for field in &mut self.all {
            (field.known, field.known_caller) = ((0, 0, 0), (0, 0, 0));
            field.lent = None;
        }
    }
}

impl Kernel {
    /// Calls of a gate of this tile may be handed over, if there is a field for it.
    pub fn begin_handovers(&mut self, gate: u8) {
        let has_all = HAS_HANDOVERS && self.map.is_root && self.map.is_coherent;
        // A thread that claims another hart takes the order of moves with it.
        if !has_all || self.dispatch.threads.special != 0 {
            return;
        }
        let fields = &mut self.root.handovers;
        if fields.field_of(gate).is_none()
            && let Some(field) = fields.all.iter_mut().find(|field| field.gate.is_none())
        {
            field.gate = Some(gate);
            fields.is_used = true;
        }
    }

    /// Harts may hand over from now on, while the kernel hart has nothing to do.
    #[inline(always)]
    pub fn open_handovers(&mut self) {
        if HAS_HANDOVERS && self.root.handovers.is_used && !self.root.handovers.word.are_open() {
            self.open_fields();
        }
    }

    #[inline(never)]
    fn open_fields(&mut self) {
        let fields = core::array::from_fn(|n| self.field_now(n).unwrap_or_default());
        let handovers = &mut self.root.handovers;
        let idle = handovers.all.each_ref().map(|field| field.asked.2);
        handovers.word.open(&WORD, fields, idle);
    }

    fn field_now(&mut self, n: usize) -> Option<Field> {
        let gate = self.root.handovers.all[n].gate?;
        let (endpoint, _) = self.root.place_of(gate);
        let may_lend = !self.dispatch.threads.has_ready() && !self.dispatch.is_any_asked();
        if let Some(lent) = self.root.handovers.all[n].lent {
            if self.is_still_lent(n, lent) {
                let unit = self.tiles.unit.filter(|_| may_lend)?;
                if self.has_other_messages(gate, endpoint) || unit.has_unread(endpoint) {
                    return None;
                }
                self.interrupt_for_gate(gate, true);
                return Some(Field::Lent(lent.hart));
            }
            self.root.handovers.all[n].lent = None;
        }
        let reader = self.first_at_gate(gate).filter(|_| may_lend);
        match reader {
            Some(reader) => self.ready_field(n, (gate, endpoint), reader),
            None => self.asked_field(n, endpoint),
        }
    }

    /// Messages that the kernel hart alone has for a gate.
    fn has_other_messages(&self, gate: u8, endpoint: u16) -> bool {
        self.root.next_call(endpoint).is_some() || self.root.services.next_end(gate, true).is_some()
    }

    /// Is the receiver of a field on the hart of its caller, which waits?
    fn is_still_lent(&self, n: usize, lent: LentHart) -> bool {
        let threads = &self.dispatch.threads;
        let receiver = threads.find_any(lent.receiver);
        receiver.is_some()
            && self.dispatch.running(lent.hart) == receiver
            && self.harts.forget >> lent.hart & 1 == 0
            && self
                .waiting_caller(n, lent.caller)
                .is_some_and(|caller| threads[caller].harts >> lent.hart & 1 != 0)
    }

    /// A thread waits for the next message of a gate.
    fn ready_field(
        &mut self,
        n: usize,
        (gate, endpoint): (u8, u16),
        reader: Place,
    ) -> Option<Field> {
        if self.has_other_messages(gate, endpoint) || !self.has_room_for(n) {
            return None;
        }
        let wait = self.wait_at_gate(gate, reader);
        let (buffer, until) = (wait.buffer, wait.until);
        if until != FOR_EVER || !is_in_page(buffer) {
            return None;
        }
        let number = self.dispatch.threads.number(reader);
        let entry = &ENTRIES[n];
        if self.root.handovers.all[n].known != (number, buffer, load(&entry.buffer)) {
            let tables = self.processes[self.dispatch.threads[reader].process].tables?;
            let at = tables.reach(buffer, rights::WRITE, &mut Direct)?;
            self.root.handovers.all[n].known = (number, buffer, at);
            set(&entry.buffer, at);
            entry.set_seen([Seen::NONE; 2]);
        }
        let thread = &self.dispatch.threads[reader];
        let harts = thread.harts & !self.harts.forget;
        set(&entry.context, thread.context);
        set(&entry.receiver, number);
        set(&entry.right, wait.number);
        set(&entry.slot, slot_of_field(n));
        set(&entry.harts, harts);
        Some(Field::Ready)
    }

    /// A receiver has not answered yet, and the hart of its caller is idle.
    fn asked_field(&mut self, n: usize, endpoint: u16) -> Option<Field> {
        let TakenCall {
            place: call,
            caller,
            taker: (taker, right),
            buffer,
        } = self.taken_call(endpoint)?;
        let receiver = self.dispatch.threads.find_any(taker)?;
        let State::Running(runs) = self.dispatch.threads[receiver].state else {
            return None;
        };
        let thread = &self.dispatch.threads[caller];
        let hart = thread.last_hart;
        let may = self.dispatch.idle() & thread.harts & !self.harts.forget;
        if hart >= 64 || may >> hart & 1 == 0 || !is_in_page(buffer) {
            return None;
        }
        let number = self.dispatch.threads.number(caller);
        let known = self.root.handovers.all[n].known_caller;
        let at = match known.0 == number && known.1 == buffer {
            true => known.2,
            false => {
                let tables = self.processes[thread.process].tables?;
                tables.reach(buffer, rights::WRITE, &mut Direct)?
            }
        };
        self.root.handovers.all[n].known_caller = (number, buffer, at);
        let page = self.harts.page(hart)?;
        let entry = &ENTRIES[n];
        set(&entry.receiver, taker);
        set(&entry.right, right);
        set(&entry.slot, SLOTS + u64::from(call));
        set(&entry.caller, number);
        set(&entry.caller_context, thread.context);
        set(&entry.answer, at);
        set(&entry.caller_page, core::ptr::from_ref(page).addr() as u64);
        set(&entry.caller_hart, hart.into());
        self.root.handovers.all[n].asked = (call, runs, hart);
        Some(Field::Asked)
    }

    /// The kernel hart will use what it knows of harts and threads.
    #[inline(always)]
    pub fn close_handovers(&mut self) {
        if HAS_HANDOVERS && self.root.handovers.word.are_open() {
            self.close_fields();
        }
    }

    #[inline(always)]
    fn close_fields(&mut self) {
        if let Some(now) = self.root.handovers.word.close(&WORD) {
            self.settle_fields(now);
        }
    }

    #[inline(never)]
    fn settle_fields(&mut self, now: u64) {
        let mut changes = [None; 2 * FIELDS];
        let mut count = 0;
        let calls = |n: usize, hart| {
            known_rights::wait_for_hart(hart);
            load(&ENTRIES[n].calls)
        };
        self.root.handovers.word.settle(now, calls, |change| {
            changes[count] = Some(change);
            count += 1;
        });
        for change in changes.into_iter().flatten() {
            self.has_changed(change);
        }
    }

    /// Harts have handed over without the kernel hart. The rest is as if it had been asked.
    #[inline(never)]
    fn has_changed(&mut self, change: Change) -> Option<()> {
        match change {
            Change::Called(n, hart) => {
                let caller = self.dispatch.running(hart)?;
                let receiver = load(&ENTRIES[n].receiver);
                let place = self.dispatch.threads.find_any(receiver)?;
                let taker = (receiver, load(&ENTRIES[n].right));
                self.note_direct_call(n, self.root.handovers.all[n].gate?, caller, taker);
                self.leave_wait(place);
                self.dispatch.handed_over(hart, place);
                self.root.handovers.all[n].lent = Some(LentHart {
                    hart,
                    receiver,
                    caller: self.dispatch.threads.number(caller),
                });
            }
            Change::Answered(n, hart) => {
                let receiver = self.dispatch.running(hart)?;
                let gate = self.root.handovers.all[n].gate?;
                let caller = self.end_direct_call(place_of_field(n))?;
                self.dispatch.handed_over(hart, caller);
                let readers = self.root.readers(gate);
                self.dispatch.threads.append(readers, receiver);
                self.forget_wait(gate);
                let _: Answer = self.wait(receiver, Wait::Gate(gate), FOR_EVER);
                self.root.handovers.all[n].lent = None;
            }
            Change::Told(n) => {
                let (call, runs, hart) = self.root.handovers.all[n].asked;
                known_rights::wait_for_hart(runs);
                let caller = self.end_direct_call(call)?;
                self.dispatch.has_begun(hart, caller, csr::time());
            }
        }
        Some(())
    }
}
