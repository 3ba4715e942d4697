//! Machine instructions in SSA form, before registers are allocated.
use std::collections::BTreeMap;

use regalloc2::{
    Block, Inst, InstRange, Operand, OperandConstraint, OperandKind, PReg, PRegSet, RegClass, VReg,
};

use crate::registers::{Reg, Regs, host, is_kept};
use crate::thunk::Callee;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cc {
    E,
    Ne,
    L,
    Ge,
    B,
    Ae,
}

impl Cc {
    pub fn negated(self) -> Self {
        match self {
            Cc::E => Cc::Ne,
            Cc::Ne => Cc::E,
            Cc::L => Cc::Ge,
            Cc::Ge => Cc::L,
            Cc::B => Cc::Ae,
            Cc::Ae => Cc::B,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alu {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Mul,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    Left,
    Right,
    Arithmetic,
    /// To the right.
    Rotate,
    RotateLeft,
}

/// One operand to one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Sext8,
    Sext16,
    Sext32,
    Zext16,
    Zext32,
    /// Byte order of 64 bits.
    Swap,
    /// lzcnt, tzcnt, popcnt; of 32 bits if `word`.
    LeadingZeros {
        word: bool,
    },
    TrailingZeros {
        word: bool,
    },
    Ones {
        word: bool,
    },
}

/// Size of an integer access; loads of less than 64 bits extend by sign or by zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    B { signed: bool },
    H { signed: bool },
    W { signed: bool },
    D,
}

/// What the address of an access is made of, before the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Sp,
    Base,
    /// base + index << k
    Index(u8),
    /// A byte of the guest's module; the distance from its start ([`Op::Address`]), with the offset
    /// in it.
    Image(u64),
}

impl Form {
    pub fn operands(self) -> usize {
        match self {
            Form::Sp | Form::Image(_) => 0,
            Form::Base => 1,
            Form::Index(_) => 2,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arith {
    Add,
    Sub,
    Mul,
    Div,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Equal,
    Less,
    LessOrEqual,
}

/// Bits of a floating-point value that an instruction changes without arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Negate,
    Clear,
}

/// A sign that is another value's, its opposite, or the opposite of one's own if the other's is
/// set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopySign {
    Same,
    Opposite,
    Xor,
}

/// Integers that floating-point values are converted from or to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    W,
    Wu,
    L,
    Lu,
}

/// The rounding mode of a conversion; `Away` is to nearest with ties away from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
    Away,
    /// As MXCSR has it.
    Current,
}

/// A conversion to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToInt {
    pub to: Integer,
    pub single: bool,
    pub rounding: Rounding,
}

impl ToInt {
    /// The host has an instruction for it, which differs in what it gives for values out of range.
    pub fn is_direct(self) -> bool {
        matches!(self.to, Integer::W | Integer::L)
            && matches!(self.rounding, Rounding::Zero | Rounding::Current)
    }
}

/// A conversion from an integer (of 32 bits without a sign: extended, from `L`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromInt {
    pub from: Integer,
    pub single: bool,
    pub rounding: Rounding,
}

/// Read-modify-write of one memory word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    Swap,
    Add,
    And,
    Or,
    Xor,
    Min,
    Max,
    MinU,
    MaxU,
}

/// Why translated code goes back to the caller of [`run`](crate::run()).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u64)]
pub enum Reason {
    /// `hart.pc` is where execution goes on.
    #[default]
    Continue = 0,
    /// The same, and the instruction there is one for the interpreter.
    Interpret = 1,
    /// The interpreter executes the rest of the budget ([`Counting::Budget`](crate::Counting::Budget)).
    Budget = 2,
}

impl From<u64> for Reason {
    fn from(number: u64) -> Self {
        match number {
            1 => Self::Interpret,
            2 => Self::Budget,
            _ => Self::Continue,
        }
    }
}

/// Operands by position: uses first, then definitions; behind them those that keep values for
/// [`Node::state`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Defines what the entry finds in registers.
    Entry,
    /// A value of no importance.
    Undef,
    Const(i64),
    /// A floating-point register's bits.
    FloatConst(u64),
    /// An address in the guest's module, as its distance from the start
    /// ([`Program::is_placed`](crate::Program::is_placed)).
    Address(u64),
    /// The guest's sp plus an offset.
    GetSp(i32),
    /// From and to a host register that is pinned ([`Code::pinned`]).
    GetHome(PReg),
    SetHome(PReg),
    SetSp,
    AddSp(i32),
    Unary(Unary),
    /// The flag is `true` for operations on 32 bits, whose upper half is of no importance.
    Alu(Alu, bool),
    AluImm(Alu, i32, bool),
    Shift(Shift, bool),
    ShiftImm(Shift, u8, bool),
    /// a & !b
    AndNot,
    /// a + (b << k) + offset
    Lea(u8, i32),
    Load(Width, i32, Form),
    Store(Width, i32, Form),
    /// Of a constant.
    StoreConst(Width, i32, Form, i32),
    /// The flag is `true` for single precision, which is not boxed.
    LoadFloat(i32, Form, bool),
    StoreFloat(i32, Form, bool),
    /// From and to the hart, at this offset.
    LoadHart(i32),
    StoreHart(i32),
    LoadHartFloat(i32),
    StoreHartFloat(i32),
    /// 1 or 0 by a comparison, of 64 bits.
    Set(Cc, Option<i32>),
    /// b where the comparison of a and b holds, else a.
    Other(Cc),
    /// c where b is 0 (or is not, if the comparison is `Ne`), else a.
    IfZero(Cc),
    /// The flag is `true` for comparisons of 32 bits.
    Branch(Cc, Option<i32>, bool),
    /// By whether some bits are 0 (`E`) or not (`Ne`); the flag is `true` if they are among the lower
    /// 32.
    BranchBits(Cc, i32, bool),
    Jump,
    MulHigh {
        signed: bool,
    },
    Div {
        signed: bool,
        remainder: bool,
        word: bool,
    },
    Arith(Arith, bool),
    Sqrt(bool),
    /// A value whose NaNs are the canonical one.
    Canonical(bool),
    /// Two of them by one comparison (`simplify/pairs.rs`).
    CanonicalPair(bool),
    /// A single-precision value out of a register: what is not boxed is the canonical NaN.
    Unbox,
    /// The same value with the upper half set.
    Box,
    Sign(Sign, bool),
    /// a with a sign made of its own and b's.
    CopySign(CopySign, bool),
    FloatCompare(Compare, bool),
    /// The instruction's word is for what is left to the interpreter's function.
    FromInt(FromInt, u64),
    ToInt(ToInt),
    /// Between double and single precision.
    Narrow(Rounding),
    Widen,
    /// The bits of a register of the other file; of the lower half alone if single, not boxed.
    BitsToFloat(bool),
    BitsToInt(bool),
    /// Of 32 or 64 bits: `Atomic` read-modify-write; old value.
    Atomic(Atomic, bool),
    LoadReserved(bool),
    StoreConditional(bool),
    Fence,
    Pause,
    /// The interpreter's function for a floating-point instruction, by its word.
    Helper(u64),
    /// [`crate::vector`] of the instruction whose word is an operand.
    Vector,
    /// The guest's return address.
    Call {
        callee: Callee,
        back: u64,
        results: u64,
    },
    CallIndirect {
        back: u64,
        results: u64,
    },
    TailCall(Callee),
    TailCallIndirect,
    /// To the blocks of this function by the guest's address, or by an index ([`Table`]); else to
    /// whoever has called [`run`](crate::run()).
    Table(u32),
    Return,
    /// Back to [`run`](crate::run()): everything alive goes to the hart. Goes on at this address.
    Exit(Reason, u64),
    /// Counts guest instructions.
    Count(i32),
    /// The same at a budget point, where so many must be left.
    CountWithin {
        count: u32,
        needed: u32,
    },
}

impl Op {
    /// What the address of an access of memory is made of.
    pub fn form(&self) -> Option<Form> {
        match *self {
            Op::Load(_, _, form)
            | Op::Store(_, _, form)
            | Op::StoreConst(_, _, form, _)
            | Op::LoadFloat(_, form, _)
            | Op::StoreFloat(_, form, _) => Some(form),
            _ => None,
        }
    }

    /// The same access at a byte of the guest's module.
    pub fn at_image(self, at: u64) -> Self {
        let form = Form::Image(at);
        match self {
            Op::Load(width, ..) => Op::Load(width, 0, form),
            Op::Store(width, ..) => Op::Store(width, 0, form),
            Op::StoreConst(width, _, _, k) => Op::StoreConst(width, 0, form, k),
            Op::LoadFloat(_, _, single) => Op::LoadFloat(0, form, single),
            Op::StoreFloat(_, _, single) => Op::StoreFloat(0, form, single),
            op => op,
        }
    }

    /// The offset of an access.
    pub fn offset(&self) -> i32 {
        match *self {
            Op::Load(_, offset, _)
            | Op::Store(_, offset, _)
            | Op::StoreConst(_, offset, ..)
            | Op::LoadFloat(offset, ..)
            | Op::StoreFloat(offset, ..) => offset,
            _ => 0,
        }
    }
}

/// Stands for what a pinned register has, where a value is asked for.
pub fn in_pinned(place: PReg) -> VReg {
    VReg::new(FIRST_PINNED + place.hw_enc(), place.class())
}

/// The register of [`in_pinned`].
pub fn as_pinned(value: VReg) -> Option<PReg> {
    let number = value.vreg().checked_sub(FIRST_PINNED)?;
    Some(host(number))
}

/// No function has as many values.
const FIRST_PINNED: usize = VReg::MAX - 16;

/// How a guest register follows from values, or from where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe<V> {
    Value(V),
    Const(i64),
    /// See [`Op::Address`].
    Address(u64),
    /// a + (b << k) + offset
    Sum(V, V, u8, i32),
    Offset(V, i32),
}

impl<V: Copy> Recipe<V> {
    pub fn values(self) -> impl Iterator<Item = V> {
        let (a, b) = match self {
            Recipe::Value(a) | Recipe::Offset(a, _) => (Some(a), None),
            Recipe::Sum(a, b, ..) => (Some(a), Some(b)),
            Recipe::Const(_) | Recipe::Address(_) => (None, None),
        };
        a.into_iter().chain(b)
    }

    pub fn map<W>(self, f: impl Fn(V) -> W) -> Recipe<W> {
        match self {
            Recipe::Value(a) => Recipe::Value(f(a)),
            Recipe::Const(k) => Recipe::Const(k),
            Recipe::Address(at) => Recipe::Address(at),
            Recipe::Sum(a, b, k, offset) => Recipe::Sum(f(a), f(b), k, offset),
            Recipe::Offset(a, offset) => Recipe::Offset(f(a), offset),
        }
    }
}

/// What is still to be done to a value before it is the guest's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Finish {
    pub sext32: bool,
    /// A NaN is the canonical one.
    pub canonical: bool,
    /// It is of single precision, and to be boxed.
    pub single: bool,
}

/// Where a guest register is at an instruction. Those that are not named are in the hart, or dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<V> {
    pub reg: Reg,
    pub recipe: Recipe<V>,
    pub finish: Finish,
}

/// The upper half of a register whose lower half a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upper {
    /// The value's own.
    Own,
    /// The lower half's sign.
    Sign,
    /// It was not computed, because nothing reads it.
    Unknown,
}

/// What a guest register is from the guest instruction at `pc` on, up to its next name in the
/// block, for debug information. Names keep no value alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    pub pc: u64,
    pub reg: Reg,
    pub recipe: Recipe<VReg>,
    pub upper: Upper,
}

/// Distances from the canonical frame address; `None`: unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuestFrame {
    /// The address minus sp.
    pub sp: Option<i32>,
    /// The address minus s0.
    pub fp: Option<i32>,
}

/// What chooses the successor of a block.
pub enum Table {
    /// The guest's address: those of the successors, in their order. At others so many instructions were
    /// counted too much.
    Address { to: Vec<u64>, counted: u32 },
    /// An index: the number of the successor, if it has one. Others are left to the interpreter,
    /// from the address `from` on, where so many instructions are that were counted.
    Index {
        to: Vec<Option<u32>>,
        from: u64,
        counted: u32,
    },
}

pub struct Node {
    pub op: Op,
    /// The guest instruction.
    pub pc: u64,
    /// The guest instruction that finds the guest's frame as it is here. It is another one where a
    /// frame is not made yet (`simplify/early.rs`).
    pub frame_pc: u64,
    /// The guest instruction to which this belongs for a debugger, likewise.
    pub line_pc: u64,
    pub operands: Vec<Operand>,
    pub clobbers: PRegSet,
    pub state: Vec<Place<VReg>>,
    /// How many operands, the last ones, only keep values for the state (`simplify/keep.rs`).
    pub kept: usize,
}

impl Node {
    /// The parts of its result, if that is a sum of 64 bits.
    pub fn sum(&self) -> Option<Recipe<VReg>> {
        match self.op {
            Op::AluImm(Alu::Add, k, false) => Some(Recipe::Offset(self.value(0), k)),
            Op::Alu(Alu::Add, false) => Some(Recipe::Sum(self.value(0), self.value(1), 0, 0)),
            Op::Lea(k, offset) => Some(Recipe::Sum(self.value(0), self.value(1), k, offset)),
            _ => None,
        }
    }

    pub fn new(op: Op, pc: u64, operands: Vec<Operand>) -> Self {
        Self {
            op,
            pc,
            frame_pc: pc,
            line_pc: pc,
            operands,
            clobbers: PRegSet::empty(),
            state: vec![],
            kept: 0,
        }
    }

    /// The node of a block that only leads from one to another.
    pub fn edge() -> Self {
        Self::new(Op::Jump, 0, vec![])
    }

    pub fn is_edge(&self) -> bool {
        self.op == Op::Jump && self.pc == 0
    }

    /// Operands of the instruction itself.
    pub fn own(&self) -> &[Operand] {
        &self.operands[..self.operands.len() - self.kept]
    }

    /// Values that the instruction or its state needs.
    pub fn uses(&self) -> impl Iterator<Item = VReg> + '_ {
        self.own_uses().chain(self.state_uses())
    }

    pub fn state_uses(&self) -> impl Iterator<Item = VReg> + '_ {
        let values = self.state.iter().flat_map(|place| place.recipe.values());
        values.filter(|&value| as_pinned(value).is_none())
    }

    pub fn own_uses(&self) -> impl Iterator<Item = VReg> + '_ {
        let used =
            |o: &&Operand| o.kind() == OperandKind::Use && o.as_fixed_nonallocatable().is_none();
        self.own().iter().filter(used).map(|o| o.vreg())
    }

    pub fn defs(&self) -> impl Iterator<Item = VReg> + '_ {
        let defined = |o: &&Operand| o.kind() == OperandKind::Def;
        self.operands.iter().filter(defined).map(|o| o.vreg())
    }

    /// The `n`th operand's value.
    pub fn value(&self, n: usize) -> VReg {
        self.operands[n].vreg()
    }

    /// The value that a call has passed on as `value`: what its callee keeps.
    pub fn passed(&self, value: VReg) -> Option<VReg> {
        let fixed = |o: &Operand| match o.constraint() {
            OperandConstraint::FixedReg(place) => Some(place),
            _ => None,
        };
        let is_call = matches!(self.op, Op::Call { .. } | Op::CallIndirect { .. });
        let defined = |o: &&Operand| o.kind() == OperandKind::Def && o.vreg() == value;
        let place = fixed(self.operands.iter().find(defined)?)?;
        if !is_call || !is_kept(place) {
            return None;
        }
        let used = |o: &&Operand| o.kind() == OperandKind::Use && fixed(o) == Some(place);
        self.operands.iter().find(used).map(|o| o.vreg())
    }

    /// Makes it an instruction that does nothing.
    pub fn clear(&mut self) {
        self.op = Op::Undef;
        self.operands.clear();
        self.state.clear();
    }

    pub fn substitute_own(&mut self, f: impl Fn(VReg) -> VReg) {
        for o in &mut self.operands {
            if o.kind() == OperandKind::Use {
                *o = Operand::new(f(o.vreg()), o.constraint(), o.kind(), o.pos());
            }
        }
    }

    pub fn substitute(&mut self, f: impl Fn(VReg) -> VReg) {
        self.substitute_own(&f);
        for place in &mut self.state {
            place.recipe = place.recipe.map(&f);
        }
    }
}

/// A function in SSA form. Block 0 is the entry; it has no parameters and no predecessors. Blocks of
/// further entries follow it. To the register allocator they are successors of it, in front of the
/// one to which it jumps.
#[derive(Default)]
pub struct Code {
    /// Blocks that are entered from outside, and the guest addresses of these entries.
    pub entries: Vec<(u64, usize)>,
    /// Whether code behind calls may be entered from outside. It may not if the guest can come to a
    /// call by a way that is not seen here: what is known of values then holds for the ways that
    /// are seen.
    pub has_returns: bool,
    /// Whether these entries are directly behind the calls, where r11 has the address.
    pub is_back_at_calls: bool,
    /// Guest registers that are in their homes throughout, which the allocator does not have.
    pub pinned: Regs,
    /// Whether the code counts in [`COUNT`](crate::registers::COUNT).
    pub counts_in_register: bool,
    /// Guest registers that are in the hart throughout: every write goes there at once.
    pub in_hart: Regs,
    pub nodes: Vec<Node>,
    /// The nodes of each block.
    pub ranges: Vec<(usize, usize)>,
    pub succs: Vec<Vec<Block>>,
    pub preds: Vec<Vec<Block>>,
    pub params: Vec<Vec<VReg>>,
    /// Instructions that were counted and are not executed on the ways from blocks to their successors, of
    /// which this has the numbers. [`crate::simplify`] makes nodes of them.
    pub taken_back: BTreeMap<(usize, usize), u32>,
    /// Arguments for the parameters of each successor.
    pub args: Vec<Vec<Vec<VReg>>>,
    pub vregs: usize,
    /// The guest registers of values that are parameters, at first; 0: of others.
    pub owners: Vec<u8>,
    /// Of each [`Op::Table`].
    pub tables: Vec<Table>,
    /// Blocks in which so much is alive over calls that values which the hart has, too, are loaded
    /// where they are used.
    pub crowded: Vec<bool>,
    /// Names of each block, in ascending order of `pc`; empty unless they were asked for.
    pub names: Vec<Vec<Name>>,
    /// Where the guest's frame is, from each of these addresses up to the next; likewise.
    pub frames: BTreeMap<u64, GuestFrame>,
    /// What the caller has in s0 to s3, if a frame is made later than in the guest's code.
    pub callers: [Option<VReg>; 4],
    /// Values of which the allocator is to record the places, by their numbers.
    pub tracked: Vec<(VReg, Inst, Inst, u32)>,
}

impl regalloc2::Function for Code {
    fn num_insts(&self) -> usize {
        self.nodes.len()
    }
    fn num_blocks(&self) -> usize {
        self.ranges.len()
    }
    fn entry_block(&self) -> Block {
        Block::new(0)
    }
    fn block_insns(&self, block: Block) -> InstRange {
        let (start, end) = self.ranges[block.index()];
        InstRange::new(Inst::new(start), Inst::new(end))
    }
    fn block_succs(&self, block: Block) -> &[Block] {
        &self.succs[block.index()]
    }
    fn block_preds(&self, block: Block) -> &[Block] {
        &self.preds[block.index()]
    }
    fn block_params(&self, block: Block) -> &[VReg] {
        &self.params[block.index()]
    }
    fn is_ret(&self, inst: Inst) -> bool {
        matches!(
            self.nodes[inst.index()].op,
            Op::Return | Op::TailCall(_) | Op::TailCallIndirect | Op::Exit(..)
        )
    }
    fn is_branch(&self, inst: Inst) -> bool {
        matches!(
            self.nodes[inst.index()].op,
            Op::Branch(..) | Op::BranchBits(..) | Op::Jump | Op::Table(_)
        )
    }
    fn branch_blockparams(&self, block: Block, _: Inst, succ: usize) -> &[VReg] {
        &self.args[block.index()][succ]
    }
    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        &self.nodes[inst.index()].operands
    }
    fn inst_clobbers(&self, inst: Inst) -> PRegSet {
        self.nodes[inst.index()].clobbers
    }
    fn num_vregs(&self) -> usize {
        self.vregs
    }
    fn debug_value_labels(&self) -> &[(VReg, Inst, Inst, u32)] {
        &self.tracked
    }
    fn spillslot_size(&self, _: RegClass) -> usize {
        1
    }
}
