//! Execution by blocks, and by the interpreter where there are none.
use std::mem::offset_of;
use std::rc::Rc;

use flick_engine::{Control, Core, Exit, Hart, NoObserver, Unlimited, run};
use flick_riscv::{Extension, Insn, Isa};

use super::{Privileged, Processor, class_of};
use crate::blocks::{
    BIAS, BlockCache, BlockTable, CodeRegime, Frame, Loaded, ROOM, Reason, ends_block,
};
use crate::bus::{Bus, PAGE};
use crate::memory_view::View;
use crate::privileged_registers::{Privilege, Registers};
use crate::timed_mode::{Charges, Counting};

/// How a slice is executed.
pub(super) struct Runner {
    pub table: BlockTable,
    /// Blocks are used.
    is_on: bool,
    /// Bits that an address of an instruction must not have, but for bit 0.
    pub misaligned: u64,
    /// Why the run ends that the function `step` has made.
    ended: Option<Exit>,
}

impl Runner {
    pub fn new(registers: &Registers) -> Self {
        Self {
            table: BlockTable::new(code_regime(registers)),
            is_on: false,
            misaligned: misaligned(registers.isa),
            ended: None,
        }
    }
}

/// Bits that an address of an instruction must not have, but for bit 0.
fn misaligned(isa: Isa) -> u64 {
    match isa.has(Extension::C) {
        true => 0,
        false => 2,
    }
}

/// What decides which code an address leads to.
pub(super) fn code_regime(registers: &Registers) -> CodeRegime {
    CodeRegime {
        privilege: registers.privilege,
        satp: match registers.privilege {
            Privilege::Machine => 0,
            _ => registers.satp,
        },
        class: class_of(registers),
    }
}

/// Ends a run of the interpreter where a block may begin.
struct Piece {
    /// After one instruction.
    is_one: bool,
    is_over: bool,
    /// Where the next instruction is if nothing happens; odd: the run begins.
    next: u64,
    /// The run has been ended here.
    has_ended: bool,
}

impl Control for Piece {
    #[inline(always)]
    fn proceed(&mut self, pc: u64) -> bool {
        if self.next & 1 != 0 {
            self.next = pc;
        }
        self.has_ended = self.is_over || self.next != pc;
        !self.has_ended
    }

    #[inline(always)]
    fn retired(&mut self, pc: u64, insn: Insn) {
        self.is_over = self.is_one || ends_block(insn);
        self.next = pc.wrapping_add(insn.len());
    }
}

impl<'m, B: Bus> Processor<'m, B> {
    /// As [`Self::frame`], without addresses.
    const FRAME: Frame = {
        let base = offset_of!(Processor<'m, B>, hart) + BIAS;
        let view = offset_of!(Processor<'m, B>, core) + offset_of!(Privileged<'m, B>, view);
        let table = offset_of!(Processor<'m, B>, core)
            + offset_of!(Privileged<'m, B>, runner)
            + offset_of!(Runner, table);
        const fn distance(offset: usize, base: usize) -> i32 {
            offset as i32 - base as i32
        }
        Frame {
            kind: "",
            left: distance(view + offset_of!(View<'m, B>, left), base),
            tlb: distance(view + offset_of!(View<'m, B>, context), base),
            generation: distance(view + offset_of!(View<'m, B>, generation), base),
            table: distance(table + offset_of!(BlockTable, known), base),
            code_generation: distance(table + offset_of!(BlockTable, generation), base),
            code_base: distance(table + offset_of!(BlockTable, code_base), base),
            view: distance(view, base),
            processor: distance(0, base),
            load: 0,
            store: 0,
            step: 0,
        }
    };

    /// What blocks for this kind of hart reach.
    fn frame() -> Frame {
        let load = load::<B> as extern "C" fn(&View<'m, B>, u64, u64) -> Loaded;
        let store = store::<B> as extern "C" fn(&View<'m, B>, u64, u64, u64) -> u64;
        let step = step::<B> as extern "C" fn(&mut Processor<'m, B>, u64) -> u64;
        Frame {
            kind: std::any::type_name::<B>(),
            load: load as *const () as u64,
            store: store as *const () as u64,
            step: step as *const () as u64,
            ..Self::FRAME
        }
    }

    /// Translates what the interpreter has executed so often; `None`: nothing. What the hart does, and
    /// when, is the same.
    pub fn translate_after(&mut self, executions: Option<u8>) {
        let on = executions.is_some();
        let mut blocks = self.core.view.code.blocks.borrow_mut();
        let frame = Self::frame();
        if on && blocks.is_none() {
            *blocks = BlockCache::new(frame, ROOM);
        }
        let blocks = blocks.as_ref().filter(|blocks| blocks.is_for(frame.kind));
        let runner = &mut self.core.runner;
        runner.is_on = on && blocks.is_some();
        if let Some(blocks) = blocks {
            runner.table.code_base.set(blocks.base());
        }
        runner.table.hot = executions.unwrap_or(0);
        runner.table.forget();
    }

    /// Executes until the slice ends.
    pub(super) fn execute(&mut self) -> Exit {
        let (hart, core) = (&mut self.hart, &mut self.core);
        if !self.stops.is_empty() {
            let stops = &mut self.stops;
            return match core.charges() {
                Some(mut charges) => run(hart, core, &mut charges, stops),
                None => run(hart, core, &mut Counting(Rc::clone(&core.classes)), stops),
            };
        }
        if let Some(mut charges) = core.charges() {
            return run(hart, core, &mut charges, &mut Unlimited);
        }
        if core.counts_classes {
            let mut counting = Counting(Rc::clone(&core.classes));
            return run(hart, core, &mut counting, &mut Unlimited);
        }
        if !core.runner.is_on {
            return run(hart, core, &mut NoObserver, &mut Unlimited);
        }
        let enter = match &*self.core.view.code.blocks.borrow() {
            Some(blocks) => blocks.enter(),
            None => 0,
        };
        self.hart.x[0] = 0;
        loop {
            if self.core.is_interrupted() {
                match self.core.interrupt(&mut self.hart) {
                    Ok(pc) => self.hart.pc = pc,
                    Err(exit) => return exit,
                }
            }
            self.core.runner.table.follow(self.core.view.code.epoch());
            let ended = match self.find_block() {
                None => self.interpret(false),
                // SAFETY: the cache of this machine, whose blocks are made for such harts.
                Some(block) => match unsafe { self.enter(enter, block) } {
                    Reason::Unknown => None,
                    Reason::Budget => self.interpret(false),
                    Reason::Instruction => self.interpret(true),
                    Reason::Stepped => self.core.runner.ended.take(),
                },
            };
            if let Some(exit) = ended {
                return exit;
            }
        }
    }

    /// Executes blocks from the hart's program counter on.
    ///
    /// # Safety
    /// `block` is one of the machine's [`BlockCache`] for `hart.pc` in the current regime, and `enter` is
    /// that cache's.
    unsafe fn enter(&mut self, enter: u64, block: u64) -> Reason {
        // SAFETY: by contract, `enter` is the address of such a function.
        let enter: extern "C" fn(*mut u8, u64) -> Reason =
            unsafe { std::mem::transmute(enter as *const ()) };
        let this: *mut Self = self;
        // All that blocks and the functions that they call reach is in this object, or behind pointers
        // in it.
        let base = this
            .cast::<u8>()
            .wrapping_add(offset_of!(Processor<'m, B>, hart) + BIAS);
        enter(base, block)
    }

    /// Interprets one instruction, or the rest of what may be a block. Why the slice ends, if it does.
    fn interpret(&mut self, is_one: bool) -> Option<Exit> {
        let mut piece = Piece {
            is_one,
            is_over: false,
            next: 1,
            has_ended: false,
        };
        let exit = run(&mut self.hart, &mut self.core, &mut NoObserver, &mut piece);
        (!piece.has_ended).then_some(exit)
    }

    /// The block at the hart's program counter.
    #[inline]
    fn find_block(&mut self) -> Option<u64> {
        let pc = self.hart.pc;
        let known = self.core.runner.table.block(pc);
        known.or_else(|| self.core.find_block_slowly(pc))
    }
}

impl<B: Bus> Privileged<'_, B> {
    /// What charges the slice, in timed mode.
    pub(super) fn charges(&self) -> Option<Charges> {
        let timing = Rc::clone(self.view.timing()?);
        let slice = Rc::clone(&self.view.slice);
        Some(Charges { slice, timing })
    }

    /// The physical page at `pc`, and where it is, if its instructions may be in blocks.
    fn code_page(&mut self, pc: u64) -> Option<(u64, *mut u8)> {
        let fetched = self.view.fetch(pc, self.registers.privilege);
        let (physical, memory) = fetched.ok()?;
        self.runner.table.depend_on(pc, physical.bits);
        let page = physical.address / PAGE * PAGE;
        // Where protection differs within the page, each instruction is asked for.
        self.view.is_uniform(page).then_some((page, memory))
    }

    fn find_block_slowly(&mut self, pc: u64) -> Option<u64> {
        if pc & 1 != 0 {
            return None;
        }
        let page = match self.runner.table.page(pc) {
            Some(page) => page,
            None => {
                let (physical, _) = self.code_page(pc)?;
                let blocks = self.view.code.blocks.borrow();
                let page = blocks
                    .as_ref()?
                    .page(physical, pc / PAGE * PAGE, self.class);
                let page = page.map_or(std::ptr::null(), |page| &raw const *page);
                drop(blocks);
                self.runner.table.add_page(pc, page);
                page
            }
        };
        // SAFETY: pages are in boxes of the cache, and when it drops one its epoch changes, after which
        // the table does not have it any more.
        let block = unsafe { page.as_ref() }.and_then(|page| page.block_at(pc));
        if let Some(block) = block {
            self.runner.table.add_block(pc, block);
            return Some(block);
        }
        if !self.runner.table.is_hot(pc) {
            return None;
        }
        self.translate(pc)
    }

    #[cold]
    fn translate(&mut self, pc: u64) -> Option<u64> {
        let (physical, memory) = self.code_page(pc)?;
        let (class, code) = (self.class, self.view.code);
        // From now on stores to the page are seen.
        code.slots(physical, class);
        self.view.watch_code();
        let mut blocks = code.blocks.borrow_mut();
        let decode = |at: u64| {
            let half = |at: u64| match at / PAGE == pc / PAGE {
                // SAFETY: an aligned half-word of a page of memory.
                true => Ok(unsafe { memory.add((at % PAGE) as usize).cast::<u16>().read() }),
                false => Err(flick_engine::Trap::fetch_page(at)),
            };
            class.decode(at, half).ok()
        };
        let (page, is_emptied) = blocks.as_mut()?.translate(physical, pc, class, decode);
        if is_emptied {
            code.begin_epoch();
            self.runner.table.follow(code.epoch());
        }
        let page = page?;
        let block = page.block_at(pc)?;
        self.runner.table.add_page(pc, page);
        self.runner.table.add_block(pc, block);
        Some(block)
    }
}

/// For blocks: a load that no entry of the TLB knows.
extern "C" fn load<B: Bus>(view: &View<'_, B>, address: u64, size: u64) -> Loaded {
    match view.load_plain(address, size) {
        Some(value) => Loaded { value, is_done: 1 },
        None => Loaded {
            value: 0,
            is_done: 0,
        },
    }
}

/// For blocks: a store that no entry of the TLB knows.
extern "C" fn store<B: Bus>(view: &View<'_, B>, address: u64, size: u64, value: u64) -> u64 {
    view.store_plain(address, size, value).into()
}

/// For blocks: an instruction that the interpreter executes. May they go on at `next`?
extern "C" fn step<B: Bus>(processor: &mut Processor<'_, B>, next: u64) -> u64 {
    let code = processor.core.view.code;
    let before = (processor.core.runner.table.generation.get(), code.epoch());
    if processor.core.is_interrupted() {
        return 0;
    }
    let ended = processor.interpret(true);
    let is_ended = ended.is_some();
    processor.core.runner.ended = ended;
    let after = (processor.core.runner.table.generation.get(), code.epoch());
    u64::from(!is_ended && processor.hart.pc == next && before == after)
}

const _: () = assert!(size_of::<Hart>() > BIAS);
