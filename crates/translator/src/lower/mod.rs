//! Guest instructions to machine instructions in SSA form.
mod bits;
mod convert;
mod float;
mod flow;
mod int;
mod memory;
mod vector;

use std::ops::Range;

use regalloc2::{Block, Operand, PReg, RegClass, VReg};

use super::code::*;
use super::counting::{Counting, Points, counted, is_behind_left, is_call};
use super::function::{self, End, Function};
use super::liveness::Liveness;
use super::program::{NEAR, Program};
use super::registers::*;
use flick_engine::Hart;
use flick_riscv::{Class, Insn, Op as Guest};

/// Whether instructions of this kind, which do not jump, have a translation, unless they are those of
/// [`flick_engine::vector::is_executed_alone`]; the interpreter executes all others.
pub fn is_translated(op: Guest) -> bool {
    !matches!(
        op,
        Guest::Undecoded
            | Guest::End
            | Guest::Illegal
            | Guest::FenceI
            | Guest::Ecall
            | Guest::Ebreak
            | Guest::Csrrw
            | Guest::Csrrs
            | Guest::Csrrc
            | Guest::Csrrwi
            | Guest::Csrrsi
            | Guest::Csrrci
            | Guest::Sret
            | Guest::Mret
            | Guest::Wfi
            | Guest::SfenceVma
            | Guest::SinvalVma
            | Guest::SfenceWInval
            | Guest::SfenceInvalIr
            | Guest::CboInval
            | Guest::CboClean
            | Guest::CboFlush
            | Guest::CboZero
            | Guest::ThDcacheCall
            | Guest::ThDcacheIall
            | Guest::ThDcacheCiall
            | Guest::ThIcacheIall
            | Guest::FlickDot
            | Guest::FlickSad
            | Guest::FlickCrc
            | Guest::FlickGather
            | Guest::VConfig
            | Guest::VArith
            | Guest::VLoad
            | Guest::VStore
    )
}

/// Registers that instructions of a function read or write.
fn named(function: &Function) -> Regs {
    let insns = function.blocks.iter().flat_map(|block| &block.insns);
    insns.fold(0, |all, &(_, insn)| all | insn.reads() | insn.writes())
}

/// Integer registers that the allocator has.
const MOST_ALIVE: u32 = 7;
const MANY_CASES: usize = 8;

/// Registers that functions keep for their callers and that have no home.
const OUTSIDE: Regs = SAVED & !HOMES & !FIXED;

/// A loop with these blocks makes calls, and has more guest registers alive than there are registers.
fn is_crowded(blocks: &[function::Block]) -> bool {
    let alive = (blocks[0].live_in & !FIXED & 0xffff_ffff).count_ones();
    alive > MOST_ALIVE && has_calls(blocks)
}

/// The blocks of crowded loops.
fn crowded(function: &Function, loops: &[Range<usize>]) -> Vec<bool> {
    let mut crowded = vec![false; function.blocks.len()];
    for blocks in loops {
        crowded[blocks.clone()].fill(is_crowded(&function.blocks[blocks.clone()]));
    }
    crowded
}

fn has_calls(blocks: &[function::Block]) -> bool {
    let mut insns = blocks.iter().flat_map(|block| &block.insns);
    insns.any(|&(_, insn)| is_call(insn))
}

/// A crowded loop around a switch with many cases: an interpreter's, in which rare cases make calls.
fn interpreter(function: &Function, loops: &[Range<usize>]) -> Option<Range<usize>> {
    let is_switch = |block: &function::Block| match &block.end {
        End::Table { to, .. } => to.len() >= MANY_CASES,
        _ => false,
    };
    let is_one = |blocks: &&Range<usize>| {
        let blocks = &function.blocks[Range::clone(blocks)];
        blocks.iter().any(is_switch) && is_crowded(blocks)
    };
    loops.iter().find(is_one).cloned()
}

/// Registers that loops elsewhere change without calls. Memory would be a slow place for these.
fn changed_in_loops(function: &Function, loops: &[Range<usize>], elsewhere: &Range<usize>) -> Regs {
    let others = loops.iter().filter(|one| !elsewhere.contains(&one.start));
    let bodies = others.map(|one| &function.blocks[one.clone()]);
    let insns = bodies.filter(|body| !has_calls(body)).flatten();
    let insns = insns.flat_map(|block| &block.insns);
    insns.fold(0, |all, (_, insn)| all | insn.writes())
}

/// Whether a displacement reaches what is at this distance from the start of the guest's module.
pub fn is_near(at: u64) -> bool {
    (-NEAR..NEAR).contains(&(at as i64))
}

/// Whether a register with these bits has a boxed single.
pub fn is_boxed(bits: u64) -> bool {
    bits >> 32 == u32::MAX.into()
}

/// Offset of a guest register in the hart.
pub fn slot(reg: Reg) -> i32 {
    let at = if is_float(reg) {
        std::mem::offset_of!(Hart, f) + 8 * (reg - 32)
    } else {
        std::mem::offset_of!(Hart, x) + 8 * reg
    };
    at as i32
}

/// The guest register at an offset in the hart.
pub fn register_at(slot: i32) -> Reg {
    let floats = std::mem::offset_of!(Hart, f) as i32;
    match slot - floats {
        at @ 0..256 => 32 + at as Reg / 8,
        _ => (slot as usize - std::mem::offset_of!(Hart, x)) / 8,
    }
}

pub struct Lower<'a> {
    pub program: &'a dyn Program,
    pub function: &'a Function,
    pub liveness: &'a Liveness<'a>,
    pub counting: Counting,
    /// If there are budgets.
    points: Option<Points>,
    code: Code,
    /// The node that defines each value.
    definitions: Vec<Option<usize>>,
    /// Values that are boxed single-precision ones for certain.
    boxed: Vec<bool>,
    /// Where guest registers are now.
    now: [Option<VReg>; 64],
    /// Registers that are no values here: those that never are, and those without a home that the
    /// function does not name, which stay in the hart.
    absent: Regs,
    /// Whether what callees keep in the hart goes there at once: there are crowded blocks, where it
    /// is read.
    writes_back: bool,
    /// Of the jump at the end of this block.
    by_index: Option<ByIndex>,
    /// Whether the blocks get names.
    with_names: bool,
}

/// A jump by the index of a table, and what is where before its index becomes an address.
struct ByIndex {
    targets: Vec<u64>,
    from: u64,
    counted: u32,
    index: VReg,
    now: [Option<VReg>; 64],
    live: Regs,
}

/// What is known around one instruction.
#[derive(Clone, Copy)]
struct At {
    pc: u64,
    insn: Insn,
    /// Guest registers alive before and after it.
    before: Regs,
    after: Regs,
    /// Registers that have a value before it.
    defined: Regs,
}

impl<'a> Lower<'a> {
    pub fn run(
        program: &'a dyn Program,
        function: &'a Function,
        liveness: &'a Liveness<'a>,
        counting: Counting,
        with_names: bool,
    ) -> Code {
        let loops = function.loops();
        let crowded = crowded(function, &loops);
        let (pinned, in_hart) = match interpreter(function, &loops) {
            Some(blocks) => (
                PINNED,
                OUTSIDE & !changed_in_loops(function, &loops, &blocks),
            ),
            None => (0, 0),
        };
        let mut lower = Self {
            program,
            function,
            liveness,
            counting,
            points: counting.has_points().then(|| Points::of(function)),
            code: Code {
                pinned,
                in_hart,
                ..Code::default()
            },
            definitions: vec![],
            boxed: vec![],
            now: [None; 64],
            absent: FIXED | pinned | in_hart | SAVED & !named(function) & !HOMES,
            writes_back: crowded.contains(&true),
            by_index: None,
            with_names,
        };
        lower.function();
        let entries = std::iter::repeat_n(false, 1 + function.entries.len());
        lower.code.crowded = entries.chain(crowded).collect();
        lower.code.vregs = lower.definitions.len();
        lower.code.owners.resize(lower.code.vregs, 0);
        lower.code
    }

    fn fresh(&mut self, class: RegClass) -> VReg {
        let value = VReg::new(self.definitions.len(), class);
        self.definitions.push(None);
        self.boxed.push(false);
        value
    }

    fn push(&mut self, op: Op, pc: u64, operands: Vec<Operand>) {
        self.code.nodes.push(Node::new(op, pc, operands));
    }

    fn push_uses(&mut self, op: Op, pc: u64, uses: &[VReg]) {
        let operands = uses.iter().map(|&v| Operand::reg_use(v)).collect();
        self.push(op, pc, operands);
    }

    /// A node whose last operand defines a value.
    fn defining(&mut self, op: Op, pc: u64, operands: Vec<Operand>, value: VReg) -> VReg {
        self.push(op, pc, operands);
        self.definitions[value.vreg()] = Some(self.code.nodes.len() - 1);
        value
    }

    /// A node with one result.
    fn value(&mut self, op: Op, pc: u64, uses: &[VReg], class: RegClass) -> VReg {
        let value = self.fresh(class);
        let mut operands: Vec<Operand> = uses.iter().map(|&v| Operand::reg_use(v)).collect();
        operands.push(Operand::reg_def(value));
        self.defining(op, pc, operands, value)
    }

    /// The same, with the result in the register of the first operand.
    fn tied(&mut self, op: Op, pc: u64, uses: &[VReg], class: RegClass) -> VReg {
        let value = self.fresh(class);
        let mut operands: Vec<Operand> = uses.iter().map(|&v| Operand::reg_use(v)).collect();
        operands.push(Operand::reg_reuse_def(value, 0));
        self.defining(op, pc, operands, value)
    }

    fn int(&mut self, op: Op, pc: u64, uses: &[VReg]) -> VReg {
        self.value(op, pc, uses, RegClass::Int)
    }

    fn constant(&mut self, value: i64, pc: u64) -> VReg {
        self.int(Op::Const(value), pc, &[])
    }

    /// A floating-point register's contents.
    fn float_constant(&mut self, bits: u64, pc: u64) -> VReg {
        let value = self.value(Op::FloatConst(bits), pc, &[], RegClass::Float);
        self.boxed[value.vreg()] = is_boxed(bits);
        value
    }

    /// An address of the guest's code or constants.
    fn guest_address(&mut self, at: u64, pc: u64) -> VReg {
        if self.program.is_placed() {
            self.constant(at as i64, pc)
        } else if is_near(at) {
            self.int(Op::Address(at), pc, &[])
        } else {
            let start = self.int(Op::Address(0), pc, &[]);
            let distance = self.constant(at as i64, pc);
            self.int(Op::Alu(Alu::Add, false), pc, &[start, distance])
        }
    }

    /// The operation that makes the value again, if it is a constant.
    fn constant_op(&self, value: VReg) -> Option<Op> {
        let op = self.definition(value)?.op;
        matches!(op, Op::Const(_) | Op::Address(_)).then_some(op)
    }

    /// The guest address that a value is, if it is known to be one.
    fn known_address(&self, value: VReg) -> Option<u64> {
        match self.definition(value)?.op {
            Op::Const(k) if self.program.is_placed() => Some(k as u64),
            Op::Address(at) => Some(at),
            _ => None,
        }
    }

    fn definition(&self, value: VReg) -> Option<&Node> {
        self.definitions[value.vreg()].map(|node| &self.code.nodes[node])
    }

    fn known(&self, value: VReg) -> Option<i64> {
        match self.definition(value)?.op {
            Op::Const(k) => Some(k),
            _ => None,
        }
    }

    /// A constant that fits an immediate operand.
    fn small(&self, value: VReg) -> Option<i32> {
        i32::try_from(self.known(value)?).ok()
    }

    /// The value of a guest register.
    fn get(&mut self, reg: Reg, pc: u64) -> VReg {
        match reg {
            0 => self.constant(0, pc),
            SP => self.int(Op::GetSp(0), pc, &[]),
            GP | TP => self.int(Op::LoadHart(slot(reg)), pc, &[]),
            _ if let Some(place) = self.pinned(reg) => self.int(Op::GetHome(place), pc, &[]),
            _ => match self.now[reg] {
                Some(value) => value,
                None if self.code.in_hart & bit(reg) != 0 => self.load_from_hart(reg, pc),
                None => {
                    let value = self.value(Op::Undef, pc, &[], class(reg));
                    self.now[reg] = Some(value);
                    value
                }
            },
        }
    }

    /// The host register that has the guest's throughout.
    fn pinned(&self, reg: Reg) -> Option<PReg> {
        home(reg).filter(|_| self.code.pinned & bit(reg) != 0)
    }

    fn get_float(&mut self, number: usize, pc: u64) -> VReg {
        self.get(32 + number, pc)
    }

    fn set(&mut self, reg: Reg, value: VReg, pc: u64) {
        match reg {
            0 => {}
            SP => self.push_uses(Op::SetSp, pc, &[value]),
            GP | TP => self.push_uses(Op::StoreHart(slot(reg)), pc, &[value]),
            _ if let Some(place) = self.pinned(reg) => {
                self.push_uses(Op::SetHome(place), pc, &[value]);
            }
            _ => {
                self.now[reg] = Some(value);
                if self.code.in_hart & bit(reg) != 0 {
                    self.store_in_hart(reg, value, pc);
                }
            }
        }
    }

    fn set_float(&mut self, number: usize, value: VReg, pc: u64) {
        self.set(32 + number, value, pc);
    }

    /// Names, at the last node, the guest registers that are alive there.
    fn name_state(&mut self, live: Regs, after: Regs) {
        let Some(at) = self.code.nodes.len().checked_sub(1) else {
            return;
        };
        for reg in members(live & !self.absent) {
            let Some(value) = self.now[reg] else { continue };
            let dies = after & bit(reg) == 0;
            let recipe = self.recipe(value, dies);
            self.code.nodes[at].state.push(Place {
                reg,
                recipe,
                finish: Finish::default(),
            });
        }
    }

    /// How to have a value without it: what is read for the last time need not be kept for this.
    fn recipe(&self, value: VReg, dies: bool) -> Recipe<VReg> {
        let Some(node) = self.definition(value) else {
            return Recipe::Value(value);
        };
        match node.op {
            Op::Const(k) => Recipe::Const(k),
            Op::FloatConst(bits) => Recipe::Const(bits as i64),
            Op::Address(at) => Recipe::Address(at),
            _ if dies => node.sum().unwrap_or(Recipe::Value(value)),
            _ => Recipe::Value(value),
        }
    }

    fn function(&mut self) {
        let function = self.function;
        // Machine block 0 is an entry of its own, so that a loop may lead to the function's start.
        // Guest blocks that nobody reaches by a path that is translated have no machine block.
        let first = 1 + function.entries.len();
        let machine = |block: usize| Block::new(first + block);
        let targets = std::iter::once(&0).chain(&function.entries);
        for (at, &to) in targets.enumerate() {
            let begin = self.code.nodes.len();
            self.now = [None; 64];
            let start = match at {
                0 => function.entry,
                _ => function.blocks[to].start,
            };
            let live = function.blocks[to].live_in & !self.absent;
            self.entry(live, start);
            self.code.ranges.push((begin, self.code.nodes.len()));
            self.code.params.push(vec![]);
            if self.with_names {
                self.code.names.push(vec![]);
                self.note_names(&[None; 64], start);
            }
            let args = members(live).map(|reg| self.get(reg, start)).collect();
            if at == 0 {
                let entries = 1..first;
                let succs = entries.clone().map(Block::new).chain([machine(to)]);
                self.code.succs.push(succs.collect());
                self.code.preds.push(vec![]);
                let none = std::iter::repeat_n(vec![], entries.len());
                self.code.args.push(none.chain([args]).collect());
            } else {
                self.code.succs.push(vec![machine(to)]);
                self.code.preds.push(vec![Block::new(0)]);
                self.code.args.push(vec![args]);
                self.code.entries.push((start, at));
            }
        }

        let starts = self.liveness.defined_at_starts(function);
        for (at, block) in function.blocks.iter().enumerate() {
            let begin = self.code.nodes.len();
            self.now = [None; 64];
            let mut params = vec![];
            for reg in members(block.live_in & !self.absent) {
                let value = self.fresh(class(reg));
                self.now[reg] = Some(value);
                self.code.owners.resize(value.vreg() + 1, 0);
                self.code.owners[value.vreg()] = reg as u8;
                params.push(value);
            }
            self.code.params.push(params);
            let defined = self.liveness.defined(block, starts[at]);
            if self.with_names {
                self.code.names.push(vec![]);
                self.note_names(&[None; 64], block.start);
            }
            self.block(at, &defined);
            self.code.ranges.push((begin, self.code.nodes.len()));
            let succs = block.succs();
            self.code
                .succs
                .push(succs.iter().map(|&to| machine(to)).collect());
            if let Some(points) = &self.points {
                let number = self.code.succs.len() - 1;
                let all = points.taken_back(block).into_iter().enumerate();
                let ways = all.filter(|&(_, count)| count != 0);
                let taken_back = ways.map(|(succ, count)| ((number, succ), count));
                self.code.taken_back.extend(taken_back);
            }
            let mut preds: Vec<Block> = block.preds.iter().map(|&from| machine(from)).collect();
            if at == 0 {
                preds.push(Block::new(0));
            }
            let entered = |&&(_, from): &&(u64, usize)| function.entries[from - 1] == at;
            let entries = self.code.entries.iter().filter(entered);
            preds.extend(entries.map(|&(_, from)| Block::new(from)));
            self.code.preds.push(preds);
            let args = succs
                .iter()
                .map(|&to| {
                    let live = function.blocks[to].live_in & !self.absent;
                    // All of `live_out` was given a value before the end's node.
                    members(live).filter_map(|reg| self.now[reg]).collect()
                })
                .collect();
            self.code.args.push(args);
        }
    }

    fn entry(&mut self, live: Regs, pc: u64) {
        let mut operands = vec![];
        for reg in members(live) {
            if let Some(place) = home(reg) {
                let value = self.fresh(class(reg));
                operands.push(Operand::reg_fixed_def(value, place));
                self.now[reg] = Some(value);
            }
        }
        self.push(Op::Entry, pc, operands);
        for reg in members(live & !HOMES) {
            self.load_from_hart(reg, pc);
        }
        self.push(Op::Jump, pc, vec![]);
    }

    fn load_from_hart(&mut self, reg: Reg, pc: u64) -> VReg {
        let op = if is_float(reg) {
            Op::LoadHartFloat(slot(reg))
        } else {
            Op::LoadHart(slot(reg))
        };
        let value = self.value(op, pc, &[], class(reg));
        self.now[reg] = Some(value);
        value
    }

    fn block(&mut self, number: usize, defined: &[Regs]) {
        let block = &self.function.blocks[number];
        let mut after = vec![0; block.insns.len()];
        let mut live = block.live_out;
        for n in (0..block.insns.len()).rev() {
            after[n] = live;
            live = self.liveness.before(block, n, live, defined[n]);
        }
        let ends_by_itself = matches!(
            block.end,
            End::Next(_) | End::Interpret(_) | End::Outside(_)
        );
        let indexed = match &block.end {
            End::Table {
                indexed: Some(indexed),
                ..
            } if block.live_out & indexed.scratch == 0
                && !self.writes_in_place(&block.insns[indexed.address..]) =>
            {
                Some(indexed)
            }
            _ => None,
        };
        for (n, &(pc, insn)) in block.insns.iter().enumerate() {
            let last = n + 1 == block.insns.len();
            let before = self.now;
            let at = At {
                pc,
                insn,
                before: self.liveness.before(block, n, after[n], defined[n]),
                after: after[n],
                defined: defined[n],
            };
            self.count((number, n), at);
            match indexed {
                Some(indexed) if n == indexed.address => {
                    // What is alive has a value.
                    self.give_values(at.before, pc);
                    self.by_index = Some(ByIndex {
                        targets: indexed.targets.clone(),
                        from: pc,
                        counted: match self.counting {
                            Counting::None => 0,
                            _ => (block.insns.len() - n) as u32 + self.counted_behind(block),
                        },
                        index: self.get(indexed.index, pc),
                        now: self.now,
                        live: at.before,
                    });
                }
                // It cannot fault, and nobody else reads it.
                Some(indexed) if n == indexed.load => continue,
                _ => {}
            }
            if last && !ends_by_itself {
                self.give_values(block.live_out, pc);
                self.end(block, at);
            } else {
                self.insn(at);
                self.write_back(at);
            }
            if let (true, Some(&(next, _))) = (self.with_names, block.insns.get(n + 1)) {
                self.note_names(&before, next);
            }
        }
        if ends_by_itself {
            let pc = block.insns.last().map_or(block.start, |&(pc, _)| pc);
            self.count_up(block, block.insns.len(), pc);
            self.give_values(block.live_out, pc);
            match block.end {
                End::Interpret(to) => self.exit(Reason::Interpret, to, block.live_out),
                End::Outside(to) => self.exit(Reason::Continue, to, block.live_out),
                _ => self.push(Op::Jump, pc, vec![]),
            }
        }
    }

    /// Counts what is to be counted in front of the `n`th instruction of a block.
    fn count(&mut self, (number, n): (usize, usize), at: At) {
        let block = &self.function.blocks[number];
        self.count_up(block, n, at.pc);
        if let Some(points) = &self.points
            && points.is_at((number, block), n)
        {
            let count = points.way(block, n);
            let needed = match self.counting {
                Counting::PastBudget if self.is_entered((number, block), n) => 1,
                Counting::PastBudget => {
                    self.push(Op::Count(count as i32), at.pc, vec![]);
                    return;
                }
                _ => points.needed(count),
            };
            self.push(Op::CountWithin { count, needed }, at.pc, vec![]);
            self.name_state(at.before, at.before);
        }
    }

    /// May the function be entered in front of the `n`th instruction of a block?
    fn is_entered(&self, (number, block): (usize, &function::Block), n: usize) -> bool {
        match n.checked_sub(1) {
            None => number == 0 || self.function.entries.contains(&number),
            Some(before) => is_call(block.insns[before].1),
        }
    }

    /// What is counted at a block's end of what is behind it.
    fn counted_behind(&self, block: &function::Block) -> u32 {
        let points = self.points.as_ref();
        points.map_or(0, |points| points.behind(block))
    }

    /// The same without a budget point.
    fn count_up(&mut self, block: &function::Block, n: usize, pc: u64) {
        let count = match self.counting {
            Counting::None => 0,
            Counting::Retired => counted(block, n),
            Counting::Budget | Counting::PastBudget => is_behind_left(block, n).into(),
        };
        if count != 0 {
            self.push(Op::Count(count as i32), pc, vec![]);
        }
    }

    /// Whether what is where changes, though states do not name it.
    fn writes_in_place(&self, insns: &[(u64, Insn)]) -> bool {
        let written = insns.iter().fold(0, |all, (_, insn)| all | insn.writes());
        written & (self.code.pinned | self.code.in_hart) != 0
    }

    fn write_back(&mut self, at: At) {
        if !self.writes_back || is_call(at.insn) {
            return;
        }
        for reg in members(at.insn.writes() & OUTSIDE & !self.code.in_hart) {
            if let Some(value) = self.now[reg] {
                self.store_in_hart(reg, value, at.pc);
            }
        }
    }

    /// Names the registers that have other values now than `before`, from `pc` on.
    fn note_names(&mut self, before: &[Option<VReg>; 64], pc: u64) {
        let Some(names) = self.code.names.last_mut() else {
            return;
        };
        for (reg, (now, before)) in self.now.iter().zip(before).enumerate() {
            if let Some(value) = *now
                && now != before
            {
                names.push(Name {
                    pc,
                    reg,
                    recipe: Recipe::Value(value),
                    upper: Upper::Own,
                });
            }
        }
    }

    /// Every register of the set has a value from here on.
    fn give_values(&mut self, live: Regs, pc: u64) {
        for reg in members(live & !self.absent) {
            self.get(reg, pc);
        }
    }

    fn exit(&mut self, reason: Reason, to: u64, live: Regs) {
        self.push(Op::Exit(reason, to), to, vec![]);
        self.name_state(live, live);
    }

    fn insn(&mut self, at: At) {
        let op = at.insn.op();
        match op.class() {
            Class::Load | Class::Store => self.access(at),
            Class::Atomic => self.atomic(at),
            Class::Fp | Class::FpMul | Class::FpDiv => self.float(at),
            Class::Address | Class::Bit => self.bits(at),
            Class::Jump => self.call(at),
            Class::Vector => self.vector(at),
            _ if flick_engine::vector::is_executed_alone(at.insn) => self.vector(at),
            _ if op == Guest::Nop => {}
            _ if op == Guest::Fence => self.push(Op::Fence, at.pc, vec![]),
            _ if op == Guest::Pause => self.push(Op::Pause, at.pc, vec![]),
            _ => self.compute(at),
        }
    }
}
