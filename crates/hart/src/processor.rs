//! A hart that executes: the engine's core with privileged registers, traps and a view of memory.
use std::cell::Cell;
use std::rc::Rc;

use flick_engine::fp::fcsr::Fcsr;
use flick_engine::vector::{self, VectorState};
use flick_engine::{Core, CsrAccess, Exception, Exit, Hart, Trap};
use flick_riscv::{Insn, decode};

use crate::bus::{Bus, PAGE};
use crate::csr_access::Moment;
use crate::decoded_pages::{Class, CodeCache, Floats, Slots, changes_floats, empty_slots};
use crate::hart_events::{Change, HartEvent};
use crate::memory_view::View;
use crate::page_tables::Regime;
use crate::privileged_registers::{Counts, Registers, environment, status};
use crate::timed_mode::{ClassCounter, Marker};
use crate::traps::cause;
use flick_riscv::{Isa, Mmu};

mod block_runner;
mod fetched_pages;
mod foreign_code;
mod machine_side;
mod privileged_instructions;
mod semihosting_call;
mod stops;

use block_runner::{Runner, code_regime};
pub use stops::StopAt;
use stops::{SavedStops, Stops};

mod debug_access;
mod pausing;
mod saved_processor;

pub use pausing::{Begin, Part, Pausing};
pub use saved_processor::{BadProcessor, SavedProcessor};

/// Pages whose slots are at hand.
const PAGES: usize = 64;
/// No page.
const NOWHERE: u64 = 1;
const FS_DIRTY: u64 = 3;

/// Why a slice has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceEnd {
    /// Its cycles have passed, or another hart has to go first.
    Turn,
    /// The hart waits for an interrupt.
    Wait,
    /// The hart has executed this.
    Marker(Marker),
    /// The hart waits for the answer to a call of semihosting, with which it goes on behind the call.
    Call,
    /// The next instruction is a host program's, which the hart does not execute itself
    /// ([`Processor::host_owner`]).
    Foreign,
}

/// A hart with its state.
pub struct Processor<'m, B> {
    /// Registers of user code.
    pub hart: Hart,
    fcsr: Fcsr,
    stops: Stops,
    core: Privileged<'m, B>,
}

/// A page that was fetched from.
#[derive(Clone, Copy)]
struct KnownPage {
    key: u64,
    slots: *const Slots,
    physical: u64,
    /// See [`crate::page_tables::Physical`].
    bits: u32,
}

impl KnownPage {
    const NONE: Self = Self {
        key: NOWHERE,
        slots: std::ptr::null(),
        physical: 0,
        bits: 64,
    };
}

struct Privileged<'m, B> {
    registers: Registers,
    view: View<'m, B>,
    /// If the hart has vectors.
    vector: Option<Box<VectorState>>,
    counts: Counts,
    /// Exceptions in this slice: they take a cycle, and are no instructions.
    traps: u64,
    /// All exceptions, for what counts beside the hart.
    live_traps: Rc<Cell<u64>>,
    /// Exceptions in all slices that have ended.
    exceptions: u64,
    /// Exceptions and interrupts at which the hart pauses: bits by their codes.
    trap_stops: [u64; 2],
    /// `mcause` of the one at which it has paused.
    stopped_by: Option<u64>,
    /// Traps and returns since they were taken, if they are wanted.
    events: Option<Vec<HartEvent>>,
    classes: Rc<ClassCounter>,
    /// Functional mode counts them, too.
    counts_classes: bool,
    waits: bool,
    marker: Option<Marker>,
    /// Calls of semihosting are seen, and one has been made.
    semihosting: bool,
    call: bool,
    /// The slice ends in front of an instruction of a host program.
    foreign: bool,
    class: Class,
    /// The virtual page that is fetched from, and its slots.
    page: u64,
    /// What is left of an address there. In timed mode it is a line that is fetched from.
    page_mask: u64,
    slots: *const Slots,
    pages: [KnownPage; PAGES],
    /// [`CodeCache::retirements`] when they were found.
    retirements: u64,
    /// For an instruction whose second half is in another page, or whose page has parts that are protected
    /// differently: it is decoded at each execution. All other slots are 0.
    lone: Box<Slots>,
    lone_at: usize,
    runner: Runner,
}

impl<'m, B: Bus> Processor<'m, B> {
    /// A hart at its reset, which executes from `pc`.
    pub fn new(
        bus: &'m B,
        code: &'m CodeCache,
        (isa, mmu): (Isa, Mmu),
        hart_id: u64,
        pc: u64,
    ) -> Self {
        let registers = Registers::new(isa, mmu, hart_id);
        let class = class_of(&registers);
        let lone = empty_slots();
        let view = View::new(bus, code, regime_of(&registers));
        let runner = Runner::new(&registers);
        let mut all = Self {
            hart: Hart { pc, ..Hart::ZERO },
            fcsr: Fcsr::default(),
            stops: Stops::default(),
            core: Privileged {
                registers,
                view,
                vector: isa.vlen().and_then(VectorState::new),
                counts: Counts::default(),
                traps: 0,
                live_traps: Rc::default(),
                exceptions: 0,
                trap_stops: [0; 2],
                stopped_by: None,
                events: None,
                classes: Rc::default(),
                counts_classes: false,
                waits: false,
                marker: None,
                semihosting: false,
                call: false,
                foreign: false,
                class,
                page: NOWHERE,
                page_mask: !(PAGE - 1),
                slots: &raw const *lone,
                pages: [KnownPage::NONE; PAGES],
                retirements: code.retirements(),
                lone,
                lone_at: 0,
                runner,
            },
        };
        all.core.refresh();
        all
    }

    /// Executes a slice, and returns how many cycles have passed, or picoseconds in timed mode.
    pub fn run(&mut self, begin: Begin) -> (SliceEnd, u64) {
        self.begin(begin);
        let thread = self.fcsr.load(&mut self.hart);
        let exit = self.execute();
        self.fcsr = Fcsr::store(&self.hart, thread);
        self.finish(exit)
    }
}

fn class_of(registers: &Registers) -> Class {
    let floats = match registers.mstatus >> status::FS_SHIFT & 3 {
        0 => Floats::Off,
        FS_DIRTY => Floats::Dirty,
        _ => Floats::Clean,
    };
    Class {
        isa: registers.isa,
        floats,
    }
}

fn regime_of(registers: &Registers) -> Regime {
    Regime {
        privilege: registers.data_privilege(),
        satp: registers.satp,
        sum: registers.mstatus & status::SUM != 0,
        mxr: registers.mstatus & status::MXR != 0,
        updates: registers.menvcfg & environment::ADUE != 0,
    }
}

impl<B: Bus> Privileged<'_, B> {
    fn time(&self) -> u64 {
        self.view.bus.time(self.view.slice.executed())
    }

    fn moment(&self) -> Moment {
        let executed = self.view.slice.executed();
        Moment {
            time: self.view.bus.time(executed),
            counts: self.counts_at(executed, self.traps),
        }
    }

    /// Cycles and instructions, when the slice has executed so much, and taken so many exceptions.
    fn counts_at(&self, executed: u64, traps: u64) -> Counts {
        let (cycles, instructions) = match self.view.timing() {
            None => (executed, executed - traps),
            Some(timing) => (timing.cycles(executed), timing.instructions()),
        };
        Counts {
            cycles: self.counts.cycles + cycles,
            instructions: self.counts.instructions + instructions,
        }
    }

    /// A change that began when the slice had executed so much.
    fn keep(&mut self, begun: u64, change: Change) {
        if let Some(events) = &mut self.events {
            events.push(HartEvent {
                executed: self.view.slice.executed(),
                begun,
                privilege: self.registers.privilege,
                change,
            });
        }
    }

    /// Privilege, `mstatus`, `satp` or protection have changed.
    fn refresh(&mut self) {
        self.view.set_regime(regime_of(&self.registers));
        self.class = class_of(&self.registers);
        self.runner.table.select(code_regime(&self.registers));
        self.page = NOWHERE;
        let privilege = self.registers.privilege as usize;
        self.classes.set_privilege(privilege);
    }

    /// Forgets where code is.
    fn forget_code(&mut self) {
        self.forget_pages();
        self.runner.table.forget();
    }

    /// Forgets where decoded instructions are.
    fn forget_pages(&mut self) {
        self.pages.fill(KnownPage::NONE);
        self.page = NOWHERE;
    }

    /// At the start of a slice: is what is known of the page of `pc` what would be found anew?
    fn knows_page(&self, pc: u64) -> bool {
        let known = &self.pages[(pc / PAGE) as usize % PAGES];
        known.key == self.key(pc / PAGE * PAGE)
            && known.slots == self.slots
            && self.retirements == self.view.code.retirements()
            && self
                .view
                .timing()
                .is_none_or(|timing| timing.fetches_are_free())
    }

    fn key(&self, page: u64) -> u64 {
        let floats = self.class.floats as u64;
        page | (self.registers.privilege as u64) << 1 | floats << 3
    }

    /// The state of floating point changes for the first time since it was saved.
    fn make_dirty(&mut self) {
        self.registers.mstatus |= status::FS;
        self.refresh();
    }
}

impl<'m, B: Bus> Core for Privileged<'m, B> {
    type Memory = View<'m, B>;

    #[inline(always)]
    fn memory(&self) -> &Self::Memory {
        &self.view
    }

    #[inline(always)]
    fn target(&self, target: u64) -> Option<u64> {
        Some(target & !1)
    }

    #[inline(always)]
    fn is_misaligned(&self, target: u64) -> bool {
        target & self.runner.misaligned != 0
    }

    #[inline(always)]
    unsafe fn fetch(&self, pc: u64) -> Insn {
        if pc & self.page_mask != self.page {
            return Insn::UNDECODED;
        }
        // SAFETY: the slots live as long as the cache or this hart; the index is below their number.
        // They have words of instructions.
        unsafe {
            let slots = &*self.slots;
            let slot: &Cell<u64> = slots.get_unchecked((pc % PAGE / 2) as usize);
            Insn::from_word(slot.get())
        }
    }

    #[cold]
    #[inline(never)]
    fn fill(&mut self, pc: u64) -> Result<(), Trap> {
        if self.is_foreign() {
            self.foreign = true;
            return Err(Trap::fetch_page(pc));
        }
        let (known, is_uniform) = self.slots_at(pc)?;
        if self.view.timing().is_some() && pc & self.page_mask != self.page {
            let physical = known.physical + pc % PAGE;
            let privilege = self.registers.privilege;
            self.view
                .charge_fetch(pc, physical, known.bits, privilege)?;
        }
        self.page = pc & self.page_mask;
        let slots = known.slots;
        self.slots = slots;
        let at = (pc % PAGE / 2) as usize;
        // SAFETY: as in `fetch`.
        let slot = unsafe { &(&*slots)[at] };
        if slot.get() != 0 && is_uniform {
            return Ok(());
        }
        let class = self.class;
        let insn = class.decode(pc, |at| self.half(at))?;
        let is_whole = pc % PAGE + insn.len() <= PAGE;
        if is_whole {
            slot.set(insn.word());
        }
        if !(is_whole && is_uniform) {
            self.lone[self.lone_at].set(0);
            self.lone[at].set(insn.word());
            self.lone_at = at;
            self.slots = &raw const *self.lone;
        }
        Ok(())
    }

    #[cold]
    fn bits(&self, pc: u64) -> u32 {
        let low = self.half(pc).unwrap_or(0).into();
        match low & 3 {
            3 => low | u32::from(self.half(pc + 2).unwrap_or(0)) << 16,
            _ => low,
        }
    }

    fn fence_i(&mut self) {
        if let Some(timing) = self.view.timing() {
            timing.flush_code();
        }
        self.page = NOWHERE;
    }

    #[cold]
    #[inline(never)]
    fn csr(&mut self, hart: &mut Hart, access: CsrAccess) -> Option<u64> {
        self.access_csr(hart, access)
    }

    #[cold]
    #[inline(never)]
    fn exception(&mut self, hart: &mut Hart, exception: Exception) -> Result<u64, Exit> {
        if self.foreign {
            return Err(Exit::Budget);
        }
        if self.view.take_postponed() {
            if let Some(timing) = self.view.timing() {
                timing.postpone(self.vector.as_ref().map_or(0, |vector| vector.vstart()));
            }
            return Err(Exit::Budget);
        }
        let privilege = self.registers.privilege as u64;
        let (code, value) = match exception {
            Exception::Ecall => (cause::CALL_FROM_USER + privilege, 0),
            Exception::Ebreak if self.is_semihosting_call(hart.pc) => {
                // Others may see what it does.
                if self.view.slice.is_visible() {
                    self.view.slice.pass();
                    if let Some(timing) = self.view.timing() {
                        timing.count_marker();
                    }
                    self.call = true;
                    hart.pc += 4;
                }
                return Err(Exit::Budget);
            }
            Exception::Ebreak => (cause::BREAKPOINT, hart.pc),
            Exception::Illegal { bits } => {
                if let Some(marker) = Marker::of(bits) {
                    // No other instruction is a part of the slice, whether the hart pauses here or not.
                    self.view.slice.end();
                    self.view.slice.pass();
                    self.marker = Some(marker);
                    if let Some(timing) = self.view.timing() {
                        timing.count_marker();
                    }
                    return Ok(hart.pc + 4);
                }
                if self.class.floats == Floats::Clean && changes_floats(decode(bits)) {
                    let insn = decode(bits);
                    if self.class.isa.has_insn(insn) {
                        self.make_dirty();
                        return Ok(hart.pc);
                    }
                }
                (cause::ILLEGAL, bits.into())
            }
            Exception::Trap(trap) => (trap.cause as u64, trap.addr),
        };
        self.view.reservation.forget();
        let begun = self.view.slice.executed();
        // It takes a cycle: a handler that does nothing but fault must not run for ever.
        self.view.slice.pass();
        if let Some(timing) = self.view.timing() {
            timing.give_up();
            timing.charge_trap(&self.view.slice);
        }
        self.traps += 1;
        self.live_traps.set(self.live_traps.get() + 1);
        let pc = self.registers.raise(code, value, hart.pc);
        self.keep(begun, Change::Exception(code));
        self.stop_on_trap(0, code);
        self.refresh();
        Ok(pc)
    }

    #[cold]
    #[inline(never)]
    fn privileged(&mut self, hart: &mut Hart, insn: Insn) -> Result<u64, Exception> {
        self.execute_privileged(hart, insn)
    }

    /// VS becomes dirty. So does FS at instructions of floating point, which are illegal while it is off
    /// ("Vector Context Status in mstatus", "Vector Floating-Point Instructions").
    fn vector(&mut self, _hart: &Hart, insn: Insn) -> Option<(&mut VectorState, &Self::Memory)> {
        if self.registers.mstatus & status::VS == 0 {
            return None;
        }
        match self.class.floats {
            Floats::Off if vector::is_float(insn) => return None,
            Floats::Clean if vector::is_float(insn) => self.make_dirty(),
            _ => {}
        }
        self.registers.mstatus |= status::VS;
        let vector = self.vector.as_mut()?;
        if let Some(timing) = self.view.timing() {
            let width = 8 << (vector.vtype() >> 3 & 7);
            timing.charge_vector(&self.view.slice, vector.vl() * width);
        }
        Some((vector, &self.view))
    }

    #[inline(always)]
    fn is_interrupted(&self) -> bool {
        self.view.slice.is_due()
    }

    #[cold]
    #[inline(never)]
    fn interrupt(&mut self, hart: &mut Hart) -> Result<u64, Exit> {
        if self.view.slice.is_paused() {
            return Err(Exit::Budget);
        }
        let time = match self.registers.looks_at_time() {
            true => self.time(),
            false => 0,
        };
        let interrupt = self.registers.next_interrupt(time);
        // An access that has waited for a bank is made before.
        let has_waited = self.view.timing().is_some_and(|timing| timing.take_wait());
        let is_first = interrupt.is_none() || !has_waited;
        if let Some((number, to)) = interrupt.filter(|_| is_first) {
            self.waits = false;
            self.view.reservation.forget();
            hart.pc = self.registers.interrupt(number, to, hart.pc);
            let now = self.view.slice.executed();
            self.keep(now, Change::Interrupt(number));
            self.refresh();
            if let Some(timing) = self.view.timing() {
                timing.give_up();
                timing.charge_trap(&self.view.slice);
            }
            self.stop_on_trap(1, number.into());
        } else if self.waits {
            if self.registers.pending(time) & self.registers.mie == 0 {
                return Err(Exit::Wait);
            }
            self.waits = false;
        }
        if !self.view.slice.go_on() {
            return Err(Exit::Budget);
        }
        if !is_first {
            self.view.slice.check();
        }
        Ok(hart.pc)
    }

    #[inline(always)]
    fn retired(&mut self) {
        self.view.slice.pass();
    }
}
