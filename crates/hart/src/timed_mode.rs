//! Timed mode: what instructions and accesses take, beyond the cycle that each has in functional mode.
//! In timed mode a slice counts picoseconds.
use std::cell::Cell;
use std::rc::Rc;

use flick_engine::Observer;
use flick_riscv::{Class, Insn, Op};
use flick_timing::branch_predictor::Predictor;
use flick_timing::core_costs::{CLASSES, CoreCosts};
use flick_timing::memory_system::{
    Event, HartCounters, HartCounts, Kind, MemorySystem, Stall, Time,
};

use crate::line_copies::LineCopies;
use crate::slice::Slice;

mod begun_instruction;
mod saved_timing;

use begun_instruction::BegunInstruction;
pub use saved_timing::SavedTiming;

/// Instructions that have completed, by privilege (U is 0, S is 1, M is 3) and class.
pub type ClassCounts = [[u64; CLASSES.len()]; 4];

/// Counts instructions by privilege and class.
#[derive(Debug, Default)]
pub struct ClassCounter {
    counts: [[Cell<u64>; CLASSES.len()]; 4],
    privilege: Cell<usize>,
}

impl ClassCounter {
    /// What has been counted.
    pub fn counts(&self) -> ClassCounts {
        let row = |row: &[Cell<u64>; CLASSES.len()]| std::array::from_fn(|n| row[n].get());
        std::array::from_fn(|privilege| row(&self.counts[privilege]))
    }

    /// Goes on from what was counted.
    pub(crate) fn set(&self, counts: &ClassCounts) {
        let rows = self.counts.iter().zip(counts);
        let pairs = rows.flat_map(|(row, counts)| row.iter().zip(counts));
        pairs.for_each(|(place, &count)| place.set(count));
    }

    pub(crate) fn set_privilege(&self, privilege: usize) {
        self.privilege.set(privilege);
    }

    #[inline(always)]
    fn count(&self, class: Class) {
        let count = &self.counts[self.privilege.get() & 3][class as usize];
        count.set(count.get() + 1);
    }
}

/// Counts alone, in functional mode.
pub struct Counting(pub Rc<ClassCounter>);

impl Observer for Counting {
    #[inline(always)]
    fn retired(&mut self, _pc: u64, insn: Insn) {
        self.0.count(insn.op().class());
    }
}

/// Instructions without effect by which software says where timed mode begins and ends: `slti x0, x0,
/// 1` and `slti x0, x0, 2`, which the ISA manual designates for custom use ("HINT Instructions").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// Timed mode begins.
    Begin,
    /// Functional mode goes on.
    End,
}

impl Marker {
    /// The marker of these bits of an instruction.
    pub fn of(bits: u32) -> Option<Self> {
        match bits {
            0x0010_2013 => Some(Self::Begin),
            0x0020_2013 => Some(Self::End),
            _ => None,
        }
    }
}

/// What an instruction takes, and its class.
#[derive(Clone, Copy, Debug)]
struct OpCost {
    time: Time,
    class: Class,
}

fn costs_by_op(costs: &CoreCosts) -> Box<[OpCost; Op::COUNT]> {
    let mut all = Box::new(
        [OpCost {
            time: 1,
            class: Class::Int,
        }; Op::COUNT],
    );
    for op in Op::all() {
        all[op as usize] = OpCost {
            time: costs.time_of(op),
            class: op.class(),
        };
    }
    all
}

/// The timing of a hart.
#[derive(Debug)]
pub struct Timing {
    system: Rc<MemorySystem>,
    /// The hart's number there.
    number: usize,
    costs: CoreCosts,
    by_op: Box<[OpCost; Op::COUNT]>,
    predictor: Predictor,
    /// The virtual time at which the slice began.
    start: Cell<Time>,
    /// Picoseconds in timed mode up to then.
    elapsed: Cell<Time>,
    instructions: Cell<u64>,
    classes: Rc<ClassCounter>,
    /// The jump that is being executed: where it leads.
    target: Cell<u64>,
    /// What the data cache holds where it is not coherent.
    copies: Option<LineCopies>,
    /// An instruction that is executed once more may have paid for a part of it that no cache keeps.
    remembers: bool,
    begun: BegunInstruction,
}

impl Timing {
    /// The timing of the hart that has this number in a memory system.
    pub fn new(
        system: Rc<MemorySystem>,
        number: usize,
        costs: CoreCosts,
        classes: Rc<ClassCounter>,
    ) -> Self {
        let data = system.data_lines(number).filter(|_| system.holds_bytes());
        let has_uncached = system.data_lines(number).is_none() || system.writes_through(number);
        let pays_ahead = system.fetch_hit(number) != 0 || costs.vector_width != 0;
        Self {
            remembers: system.arbitrates() || has_uncached || pays_ahead,
            copies: data.map(LineCopies::new),
            system,
            number,
            by_op: costs_by_op(&costs),
            predictor: Predictor::new(costs.predictor),
            costs,
            start: Cell::new(0),
            elapsed: Cell::new(0),
            instructions: Cell::new(0),
            classes,
            target: Cell::new(0),
            begun: BegunInstruction::default(),
        }
    }

    pub(crate) fn copies(&self) -> Option<&LineCopies> {
        self.copies.as_ref()
    }

    /// What the hart has counted of caches, memories and branches.
    pub fn counters(&self) -> &HartCounters {
        self.system.counters(self.number)
    }

    /// All that the hart has counted.
    pub fn counts(&self) -> HartCounts {
        let counters = self.counters();
        HartCounts {
            elapsed: self.elapsed.get(),
            instructions: self.instructions.get(),
            stalls: counters.stalls(),
            events: counters.events(),
            bank_wait: counters.bank_wait(),
        }
    }

    /// Picoseconds by which instructions have taken longer than one of the quickest class: a hart that
    /// executes in order waits for their results.
    pub fn latencies(&self) -> Time {
        let classes = self.classes.counts();
        let times = &self.costs.classes;
        let least = times.iter().min().map_or(1, |&least| least.max(1));
        let of = |row: &[u64; CLASSES.len()]| -> Time {
            let all = row.iter().zip(times);
            all.map(|(count, time)| count * time.saturating_sub(least))
                .sum()
        };
        classes.iter().map(of).sum()
    }

    /// Picoseconds in timed mode.
    pub fn elapsed(&self) -> Time {
        self.elapsed.get()
    }

    /// An instruction without a class of its own has completed.
    pub(crate) fn count_marker(&self) {
        self.instructions.set(self.instructions.get() + 1);
    }

    pub(crate) fn begin(&self, start: Time) {
        self.start.set(start);
    }

    /// A slice of so many picoseconds has passed.
    pub(crate) fn end(&self, executed: Time) {
        self.elapsed.set(self.elapsed.get() + executed);
    }

    /// Cycles of timed mode, when the slice has executed so many picoseconds.
    pub(crate) fn cycles(&self, executed: Time) -> u64 {
        (self.elapsed.get() + executed) / self.costs.period
    }

    /// What an exception takes.
    pub(crate) fn trap(&self) -> Time {
        self.costs.trap
    }

    /// Instructions that have completed in timed mode.
    pub(crate) fn instructions(&self) -> u64 {
        self.instructions.get()
    }

    /// What is left of an address in that of its line.
    pub(crate) fn line_mask(&self) -> u64 {
        !((1 << self.system.fetch_shift(self.number)) - 1)
    }

    pub(crate) fn data_shift(&self) -> u32 {
        self.system.data_shift(self.number)
    }

    /// Takes a fetch of a line no time that the hart has fetched last?
    pub(crate) fn fetches_are_free(&self) -> bool {
        self.system.fetch_hit(self.number) == 0
    }

    pub(crate) fn charge_fetch_hit(&self, slice: &Slice) {
        self.charge_ahead(slice, self.system.fetch_hit(self.number));
    }

    /// Lets time pass in front of accesses of the instruction, which it may have paid before.
    fn charge_ahead(&self, slice: &Slice, time: Time) {
        slice.charge(match self.remembers {
            true => self.begun.charge(self.instructions.get(), time),
            false => time,
        });
    }

    /// Does no cache of the hart keep what an access brings?
    fn is_uncached(&self, kind: Kind) -> bool {
        match kind {
            Kind::Fetch => false,
            Kind::Load => self.system.data_lines(self.number).is_none(),
            Kind::Store => self.system.writes_through(self.number),
        }
    }

    /// Must the hart ask before it makes an access?
    #[inline]
    pub(crate) fn asks(&self, kind: Kind) -> bool {
        self.remembers && (self.system.arbitrates() || self.is_uncached(kind))
    }

    /// The hart asks for a bank, which may choose among harts. Returns how long it waits for the bank; `None`:
    /// the access has been made before.
    pub(crate) fn ask_bank(&self, slice: &Slice, kind: Kind, physical: u64) -> Option<Time> {
        let completed = self.instructions.get();
        let is_uncached = self.is_uncached(kind);
        if is_uncached && self.begun.was_made(completed, (kind, physical)) {
            return None;
        }
        let wait = match self.system.arbitrates() {
            true => {
                let now = self.now(slice);
                self.system.ask_bank(self.number, kind, physical, now)
            }
            false => 0,
        };
        if wait == 0 && is_uncached {
            self.begun.make(completed, (kind, physical));
        }
        Some(wait)
    }

    /// The instruction waits for a bank.
    pub(crate) fn wait(&self) {
        self.begun.wait(self.instructions.get());
    }

    /// Has the instruction waited for a bank until now?
    pub(crate) fn take_wait(&self) -> bool {
        self.system.arbitrates() && self.begun.take_wait(self.instructions.get())
    }

    /// The instruction is executed once more, from a vector element on.
    pub(crate) fn postpone(&self, element: u64) {
        if self.remembers {
            self.begun.postpone(self.instructions.get(), element);
        }
    }

    /// Another instruction follows, without this one's end.
    pub(crate) fn give_up(&self) {
        if self.remembers {
            self.begun.forget();
        }
        if self.system.arbitrates() {
            self.system.give_up(self.number);
        }
    }

    pub(crate) fn system(&self) -> (&MemorySystem, usize) {
        (&self.system, self.number)
    }

    /// The virtual time in a slice.
    pub(crate) fn now(&self, slice: &Slice) -> Time {
        self.start.get() + slice.executed()
    }

    pub(crate) fn charge_trap(&self, slice: &Slice) {
        slice.charge(self.costs.trap);
    }

    pub(crate) fn charge_device(&self, slice: &Slice) {
        self.counters().stall(Stall::Device, self.costs.device);
        slice.charge(self.costs.device);
    }

    pub(crate) fn flush_code(&self) {
        self.system.flush_code(self.number);
    }

    pub(crate) fn flush_translations(&self) {
        self.system.flush_translations(self.number);
    }

    pub(crate) fn charge_fence(&self, slice: &Slice) {
        slice.charge(self.system.fence(self.number, self.now(slice)));
    }

    /// A vector instruction of `bits` of elements: one cycle for each width of the unit, the first of
    /// which is part of its class.
    pub(crate) fn charge_vector(&self, slice: &Slice, bits: u64) {
        if self.costs.vector_width != 0 {
            let beats = bits.div_ceil(self.costs.vector_width.into());
            self.charge_ahead(slice, beats.saturating_sub(1) * self.costs.period);
        }
    }
}

/// Charges the slice by what the interpreter reports.
pub struct Charges {
    pub slice: Rc<Slice>,
    pub timing: Rc<Timing>,
}

impl Charges {
    #[cold]
    fn mispredicted(&self) {
        let counters = self.timing.counters();
        counters.count(Event::Mispredicted);
        counters.stall(Stall::Branch, self.timing.costs.mispredicted);
        self.slice.charge(self.timing.costs.mispredicted);
    }
}

impl Observer for Charges {
    const TAKES_TIME: bool = true;

    #[inline(always)]
    fn retired(&mut self, pc: u64, insn: Insn) {
        let timing = &*self.timing;
        let op = insn.op();
        let OpCost { time, class } = timing.by_op[op as usize];
        self.slice.pass_for(time);
        timing.instructions.set(timing.instructions.get() + 1);
        timing.classes.count(class);
        if class == Class::Jump {
            let base = match op {
                Op::Jalr => Some(insn.rs1()),
                _ => None,
            };
            let behind = pc.wrapping_add(insn.len());
            let target = timing.target.get();
            match timing.predictor.jump(pc, target, behind, insn.rd(), base) {
                true => self.slice.charge(timing.costs.taken),
                false => self.mispredicted(),
            }
        }
    }

    #[inline(always)]
    fn branch(&mut self, pc: u64, target: u64, taken: bool) {
        let timing = &*self.timing;
        match timing.predictor.branch(pc, target, taken) {
            true if taken => self.slice.charge(timing.costs.taken),
            true => {}
            false => self.mispredicted(),
        }
    }

    #[inline(always)]
    fn jump(&mut self, _pc: u64, target: u64) {
        self.timing.target.set(target & !1);
    }
}
