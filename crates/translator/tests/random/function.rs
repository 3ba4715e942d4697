//! One function by the psABI: its registers, frame, prologue and epilogues. Statements are in
//! `body.rs`.
//!
//! What keeps programs defined: the working registers hold something at every statement's
//! beginning and end, and nothing else is read, so that a register which an engine leaves stale has
//! no effect unless it was live.

use std::collections::HashSet;

use crate::code::{Code, Flow, Kind, Label, RA, Regs, SAVED, SAVED_X, SP, Target, f, x};
use crate::frame::{Frame, S, restore, save};
use crate::insn::Registers;
use crate::memory::data_middle;
use crate::program::{DATA_MIDDLE, FUEL, Plan, Role};
use flick_riscv_testing::asm::{self, addi, fld, fsd, ld, r, sd};
use flick_riscv_testing::values::{self, Rng};

/// t0 to t6.
const TEMPORARY: [u32; 7] = [5, 6, 7, 28, 29, 30, 31];
pub fn is_saved(n: u32) -> bool {
    SAVED_X & x(n) != 0
}

/// What a call may overwrite: all but what the psABI has kept.
pub const CLOBBERED: Regs = !SAVED & !1;

pub struct Function<'a> {
    pub plan: &'a Plan,
    pub rng: Rng,
    pub code: Code,
    /// Parts that are left out, by their seeds, and all that are not.
    pub skip: &'a HashSet<u64>,
    pub seeds: Vec<u64>,
    pub set: Registers,
    /// For addresses and targets; never read as values.
    pub temporary: [u32; 3],
    pub counters: Vec<u32>,
    /// Holds the middle of the data area, once it is set.
    pub data: Option<u32>,
    data_set: bool,
    /// Registers get constants where nothing else is asked: shrunk programs.
    plain: bool,
    /// Base register, offset and size of the locals.
    pub locals: Option<(u32, i32, i32)>,
    pub exit: Label,
    pub leaf: bool,
    /// How the results are to be had, and the arguments.
    pub class: usize,
    pub frame: Option<Frame>,
}

pub fn make(plan: &Plan, number: usize, mut rng: Rng, skip: &HashSet<u64>) -> (Code, Vec<u64>) {
    let spec = &plan.functions[number];
    match spec.role {
        Role::Save(n) => return (save(n), Vec::new()),
        Role::Restore(n) => return (restore(n), Vec::new()),
        Role::Leaf | Role::Calls => {}
    }
    let leaf = matches!(spec.role, Role::Leaf);
    let mut code = Code::default();
    let exit = code.label();
    let seed = rng.next();
    let mut function = Function {
        plan,
        rng: Rng(seed),
        code,
        skip,
        seeds: Vec::new(),
        set: Registers::default(),
        temporary: [0; 3],
        counters: Vec::new(),
        data: None,
        data_set: false,
        plain: false,
        locals: None,
        exit,
        leaf,
        class: spec.class,
        frame: None,
    };
    if let Some(class) = spec.middle {
        // A frameless part that falls into the second entry as if it jumped there.
        function.registers(false);
        function.prologue();
        function.start();
        let n = 1 + function.rng.below(3);
        function.statements(n, 1);
        function.code.place(exit);
        function.arguments(class);
        function.exit = function.code.label();
        let middle = function.code.here();
        function.code.middle = Some(middle);
        function.class = class;
        function.set = Registers::default();
    }
    let framed = spec.middle.is_none() && (!leaf || function.rng.chance(50));
    function.registers(framed);
    function.prologue();
    let exhausted = (!leaf).then(|| function.fuel());
    function.start();
    let n = 3 + function.rng.below(6);
    function.statements(n, 0);
    let exit = function.exit;
    function.code.place(exit);
    function.leave();
    if let Some(label) = exhausted {
        function.code.place(label);
        function.leave_empty();
    }
    let mut rng = Rng(seed ^ 1);
    let few = rng.chance(20);
    function
        .code
        .shorten(|| if few { true } else { rng.chance(10) });
    (function.code, function.seeds)
}

fn take(rng: &mut Rng, from: &mut Vec<u32>) -> u32 {
    let at = rng.below(from.len() as u64) as usize;
    from.swap_remove(at)
}

impl Function<'_> {
    fn classes(&self) -> (u32, u32, u32, u32) {
        let class = &self.plan.classes[self.class];
        (class.x, class.f, class.result_x, class.result_f)
    }

    /// Chooses registers and frame.
    fn registers(&mut self, framed: bool) {
        let rng = &mut self.rng;
        let by_call = (framed && rng.chance(15)).then(|| rng.pick(&[1, 2, 4]));
        let pointer = framed && by_call.is_none() && rng.chance(20);
        let mut temporaries = TEMPORARY.to_vec();
        self.temporary = [(); 3].map(|()| take(rng, &mut temporaries));
        let usable = |n: u32| {
            !(is_saved(n) && (!framed || pointer && n == 8))
                && by_call.is_none_or(|kept| !S[kept..].contains(&n))
        };
        let mut free: Vec<u32> = (5..32)
            .filter(|n| !self.temporary.contains(n) && usable(*n))
            .collect();
        // What is to survive calls.
        let mut kept: Vec<u32> = free.iter().copied().filter(|&n| is_saved(n)).collect();
        let mut reserve = |rng: &mut Rng, free: &mut Vec<u32>| {
            let n = if self.leaf {
                // Arguments and results are set while these are in use.
                let mut others: Vec<u32> = free
                    .iter()
                    .copied()
                    .filter(|n| !(10..18).contains(n))
                    .collect();
                (!others.is_empty()).then(|| take(rng, &mut others))
            } else if kept.is_empty() {
                None
            } else {
                Some(take(rng, &mut kept))
            };
            free.retain(|&other| Some(other) != n);
            n
        };
        let counters = 1 + rng.below(2);
        self.counters = (0..counters)
            .filter_map(|_| reserve(rng, &mut free))
            .collect();
        self.data_set = false;
        self.data = if rng.chance(50) {
            reserve(rng, &mut free)
        } else {
            None
        };
        let count = 4 + rng.below(7);
        self.set.to_x = (0..count.min(free.len() as u64))
            .map(|_| take(rng, &mut free))
            .collect();
        let mut floats: Vec<u32> = (0..32)
            .filter(|&n| !is_saved(n) || framed && by_call.is_none())
            .collect();
        let count = 3 + rng.below(6);
        self.set.to_f = (0..count).map(|_| take(rng, &mut floats)).collect();
        self.set.beyond_qemu = self.plan.beyond_qemu;
        self.set.from_f = self.set.to_f.clone();
        self.set.from_x = self.set.to_x.clone();
        self.set.from_x.extend([0, SP, 3, 4]);
        if self.leaf {
            self.set.from_x.push(RA);
        }
        self.frame = framed.then(|| self.frame(pointer, by_call));
        self.locals = self.frame.as_ref().map(|frame| {
            let size = frame
                .second
                .min(64)
                .max(if frame.second == 0 { 48 } else { 16 });
            if frame.pointer {
                (8, -frame.first - frame.second, size)
            } else {
                (SP, 0, size)
            }
        });
    }

    /// Counts the activation; the label is where it goes when there have been enough.
    fn fuel(&mut self) -> Label {
        let [address, value, _] = self.temporary;
        let exhausted = self.code.label();
        let enough = self.code.label();
        self.code
            .insn(0x37 | address << 7 | FUEL as u32, 0, x(address));
        self.code
            .insn(asm::i(0x2003, value, address, 0), x(address), x(value));
        self.code.insn(addi(value, value, -1), x(value), x(value));
        self.code
            .insn(asm::s(0x2023, address, value, 0), x(address) | x(value), 0);
        // Functions may be longer than a branch reaches.
        self.code.branch(0x5063, value, 0, enough);
        self.code.jump(exhausted);
        self.code.place(enough);
        exhausted
    }

    /// Gives all working registers something, then the locals and the reserved registers.
    fn start(&mut self) {
        let (nx, nf, _, _) = self.classes();
        let arguments = (10..10 + nx).collect();
        self.plain = !self.part(|_| {});
        self.define(arguments, (10..10 + nf).collect());
        if let Some((base, offset, size)) = self.locals {
            let done = self.part(|function| {
                for at in (0..size).step_by(8) {
                    let n = function.set.any_x(&mut function.rng);
                    let bits = sd(n, base, offset + at);
                    function.code.insn(bits, x(n) | x(base), 0);
                }
            });
            if !done {
                self.locals = None;
            }
        }
        if let Some(n) = self.data {
            self.code.insn(data_middle(n), 0, x(n));
            self.data_set = true;
        }
        let frame = self.frame.as_ref();
        if frame.is_some_and(|frame| frame.pointer) && self.rng.chance(60) {
            // A block of variable size on the stack.
            let (size, n) = (self.temporary[0], self.set.any_x(&mut self.rng));
            self.code.insn(asm::i(0x7013, size, n, 0x70), x(n), x(size));
            self.code
                .insn(r(0x4000_0033, SP, SP, size), x(SP) | x(size), x(SP));
        }
    }

    /// Gives the working registers that hold nothing something, where these do.
    pub fn define(&mut self, holds_x: Vec<u32>, holds_f: Vec<u32>) {
        let seed = self.rng.next();
        self.apart(seed, |function| function.define_all(holds_x, holds_f));
    }

    fn define_all(&mut self, holds_x: Vec<u32>, holds_f: Vec<u32>) {
        let mut have = Registers {
            from_x: holds_x,
            from_f: holds_f,
            ..Registers::default()
        };
        have.from_x.extend([0, SP, 3, 4]);
        for n in self.set.to_x.clone() {
            if !have.from_x.contains(&n) {
                self.define_x(n, &have);
                have.from_x.push(n);
            }
        }
        for n in self.set.to_f.clone() {
            if !have.from_f.contains(&n) {
                self.define_f(n, &have);
                have.from_f.push(n);
            }
        }
    }

    fn define_x(&mut self, n: u32, have: &Registers) {
        match self.rng.below(6) {
            _ if self.plain => self.code.constant(n, 1),
            0 => {
                let value = values::integer(&mut self.rng) as i32;
                self.code.constant(n, value);
            }
            1 => {
                let base = self.address();
                let at = self.rng.signed(12);
                self.code.insn(ld(n, base, at), x(base), x(n));
            }
            2 => {
                let (a, b) = (have.any_x(&mut self.rng), have.any_x(&mut self.rng));
                self.code.insn(r(0x33, n, a, b), x(a) | x(b), x(n));
            }
            _ => {
                let from = have.any_x(&mut self.rng);
                self.copy(n, from);
            }
        }
    }

    fn define_f(&mut self, n: u32, have: &Registers) {
        match self.rng.below(4) {
            _ if self.plain => self.code.insn(r(0xf200_0053, n, 0, 0), 0, f(n)),
            0 if !have.from_f.is_empty() => {
                let from = have.any_f(&mut self.rng);
                // fsgnj.d
                self.code.insn(r(0x2200_0053, n, from, from), f(from), f(n));
            }
            1 => {
                let from = have.any_x(&mut self.rng);
                // fcvt.d.l, fmv.d.x, fmv.w.x
                let bits = self.rng.pick(&[0xd220_7053, 0xf200_0053, 0xf000_0053]);
                self.code.insn(r(bits, n, from, 0), x(from), f(n));
            }
            _ => {
                let base = self.address();
                let at = self.rng.signed(12) & !7;
                let bits = if n & 1 == 1 && self.rng.chance(80) {
                    asm::i(0x2007, n, base, at) // flw
                } else {
                    fld(n, base, at)
                };
                self.code.insn(bits, x(base), f(n));
            }
        }
    }

    /// A register with the middle of the data area.
    pub fn address(&mut self) -> u32 {
        match self.data {
            Some(n) if self.data_set && self.rng.chance(80) => n,
            _ => {
                let n = self.temporary[0];
                self.code.page(n, DATA_MIDDLE);
                n
            }
        }
    }

    pub fn copy(&mut self, to: u32, from: u32) {
        let bits = if from != 0 && self.rng.chance(50) {
            0x8002 | to << 7 | from << 2
        } else {
            addi(to, from, 0)
        };
        self.code.insn(bits, x(from), x(to));
    }

    /// Sets the argument registers of a class.
    pub fn arguments(&mut self, class: usize) {
        let class = &self.plan.classes[class];
        let (nx, nf) = (class.x, class.f);
        self.fill(nx, nf);
    }

    fn fill(&mut self, nx: u32, nf: u32) {
        let seed = self.rng.next();
        self.apart(seed, |function| function.fill_all(nx, nf));
    }

    fn fill_all(&mut self, nx: u32, nf: u32) {
        let mut have = self.set.clone();
        for n in 10..10 + nx {
            self.define_x(n, &have);
            have.from_x.push(n);
        }
        for n in 10..10 + nf {
            self.define_f(n, &have);
            have.from_f.push(n);
        }
    }

    /// What a caller with this function's class reads.
    pub fn results(&self) -> Regs {
        let (_, _, rx, rf) = self.classes();
        let mask = |count: u32| ((1 << count) - 1) << 10;
        mask(rx) | mask(rf) << 32
    }

    /// Stores the working registers in the data area, so that what became of them is seen.
    fn show(&mut self) {
        let base = self.address();
        for n in self.set.to_x.clone() {
            let at = self.rng.signed(12);
            self.code.insn(sd(n, base, at), x(n) | x(base), 0);
        }
        for n in self.set.to_f.clone() {
            let at = self.rng.signed(12);
            self.code.insn(fsd(n, base, at), f(n) | x(base), 0);
        }
    }

    /// Results, epilogue, and a return or a tail call.
    pub fn leave(&mut self) {
        if self.rng.chance(60) {
            self.part(Self::show);
        }
        let by_call = self.frame.as_ref().is_some_and(|f| f.by_call.is_some());
        let tail = !self.leaf && !by_call && self.rng.chance(25);
        if !tail {
            let (_, _, rx, rf) = self.classes();
            self.fill(rx, rf);
            self.epilogue();
            self.ret();
            return;
        }
        let pointer = self.rng.chance(50);
        let class = self.class;
        if pointer {
            let target = self.temporary[0];
            // By way of another register: addresses of data need the first.
            let held = self.temporary[2];
            self.load_pointer(class, target);
            self.copy(held, target);
            self.arguments(class);
            self.epilogue();
            let reads = SAVED | self.plan.arguments(class) | x(RA) | x(held);
            let bits = self.jump_register(held);
            self.code.line(Kind::Bits(bits), reads, 0, Flow::Exit);
        } else {
            let to = self.plan.function_of(&mut self.rng, class);
            self.arguments(class);
            self.epilogue();
            let by = self.temporary[0];
            let far = self.rng.chance(50).then_some(by);
            let reads = SAVED | self.plan.arguments(class) | x(RA);
            let to = Target::Function(to);
            self.code
                .line(Kind::Call { rd: 0, to, far }, reads, x(by), Flow::Exit);
        }
    }

    /// `jr` or `c.jr`.
    pub fn jump_register(&mut self, n: u32) -> u32 {
        if self.rng.chance(60) {
            0x8002 | n << 7
        } else {
            asm::jr(n)
        }
    }

    /// Leaves with nothing computed.
    fn leave_empty(&mut self) {
        let (_, _, rx, rf) = self.classes();
        for n in 10..10 + rx {
            self.code.constant(n, 7);
        }
        for n in 10..10 + rf {
            self.code.insn(r(0xf200_0053, n, 0, 0), 0, f(n));
        }
        self.epilogue();
        self.ret();
    }
}
