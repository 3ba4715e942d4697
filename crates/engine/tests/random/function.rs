//! One function by the psABI: its registers, frame, prologue and epilogues. Statements are in
//! `body.rs`.
//!
//! What keeps programs defined: the working registers hold something at every statement's
//! beginning and end, and nothing else is read, so that a register which an engine leaves stale has
//! no effect unless it was live.

use std::collections::HashSet;

use crate::asm::{addi, fld, fsd, ld, r, sd};
use crate::code::{Code, Flow, Kind, Label, RA, Regs, SAVED, SAVED_X, SP, Target, f, x};
use crate::insn::Registers;
use crate::program::{FUEL, Plan, Role};
use crate::values::Rng;

/// t0 to t6.
const TEMPORARY: [u32; 7] = [5, 6, 7, 28, 29, 30, 31];
const S: [u32; 12] = [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];

pub fn is_saved(n: u32) -> bool {
    SAVED_X & x(n) != 0
}

/// What a call may overwrite: all but what the psABI has kept.
pub const CLOBBERED: Regs = !SAVED & !1;

struct Frame {
    /// Kept registers with their offsets from sp after the first adjustment.
    x: Vec<(u32, i32)>,
    f: Vec<(u32, i32)>,
    first: i32,
    /// A second adjustment, for the locals.
    second: i32,
    /// s0 is the sp of the caller.
    pointer: bool,
    /// Registers s0 up to this one are kept by functions that the prologue calls by t0.
    by_call: Option<usize>,
}

pub struct Function<'a> {
    pub plan: &'a Plan,
    pub rng: Rng,
    pub code: Code,
    /// Statements that are left out, by their seeds, and all seeds.
    pub skip: &'a HashSet<u64>,
    pub seeds: Vec<u64>,
    pub set: Registers,
    /// For addresses and targets; never read as values.
    pub temporary: [u32; 3],
    pub counters: Vec<u32>,
    /// Holds the middle of the data area, once it is set.
    pub data: Option<u32>,
    data_set: bool,
    /// Base register, offset and size of the locals.
    pub locals: Option<(u32, i32, i32)>,
    pub exit: Label,
    pub leaf: bool,
    /// How the results are to be had, and the arguments.
    pub class: usize,
    frame: Option<Frame>,
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

    fn frame(&mut self, pointer: bool, by_call: Option<usize>) -> Frame {
        let rng = &mut self.rng;
        let used = self.set.to_x.iter().chain(&self.counters).chain(&self.data);
        let mut used: Vec<u32> = used.copied().filter(|&n| is_saved(n)).collect();
        if pointer {
            used.push(8);
        }
        // Compilers keep them in order; the order matters to nobody.
        used.sort_unstable();
        if !self.leaf || rng.chance(30) {
            used.insert(0, RA);
        }
        let floats = self.set.to_f.iter().copied().filter(|&n| is_saved(n));
        let floats: Vec<u32> = floats.collect();
        let kept = 8 * (used.len() + floats.len()) as i32;
        // One adjustment with at least 48 bytes of locals below what is kept, or two.
        let one = rng.chance(60) && by_call.is_none();
        let second = match (one, rng.below(10)) {
            (true, _) => 0,
            (false, 0) if !pointer => 16 * (128 + rng.below(200) as i32),
            (false, _) => 16 * (1 + rng.below(20) as i32),
        };
        let room = if one {
            48 + 8 * rng.below(30) as i32
        } else {
            0
        };
        let first = (kept + room + 15) & !15;
        let mut at = first;
        let mut place = |n: u32| {
            at -= 8;
            (n, at)
        };
        let x = used.into_iter().map(&mut place).collect();
        let f = floats.into_iter().map(&mut place).collect();
        Frame {
            x,
            f,
            first,
            second,
            pointer,
            by_call,
        }
    }

    fn adjust(&mut self, by: i32) {
        let half = self.rng.chance(50);
        if (-512..512).contains(&by) && half && by != 0 {
            // c.addi16sp: imm[9|4|6|8:7|5] in bits 12, 6, 5, 4:3, 2.
            let imm = by as u32;
            let bit = |from: u32, to: u32| (imm >> from & 1) << to;
            let bits =
                0x6101 | bit(9, 12) | bit(4, 6) | bit(6, 5) | bit(8, 4) | bit(7, 3) | bit(5, 2);
            self.code.insn(bits, x(SP), x(SP));
        } else if (-2048..2048).contains(&by) {
            self.code.insn(addi(SP, SP, by), x(SP), x(SP));
        } else {
            let by_register = self.temporary[1];
            self.code.constant(by_register, by.abs());
            let base = if by < 0 { 0x4000_0033 } else { 0x33 };
            self.code
                .insn(r(base, SP, SP, by_register), x(SP) | x(by_register), x(SP));
        }
    }

    fn prologue(&mut self) {
        let Some(frame) = self.frame.take() else {
            return;
        };
        if let Some(n) = frame.by_call {
            let to = Target::Function(self.plan.save(n));
            let far = self.rng.chance(30).then_some(5);
            let kind = Kind::Call { rd: 5, to, far };
            let kept = S[..n].iter().fold(x(RA), |regs, &n| regs | x(n));
            self.code.line(kind, kept | x(SP), x(5), Flow::Next);
        } else {
            self.adjust(-frame.first);
            for &(n, at) in &frame.x {
                let bits = if self.rng.chance(50) && at < 512 {
                    // c.sdsp: offset[5:3|8:6] in bits 12 to 7.
                    let at = at as u32;
                    0xe002 | (at >> 3 & 7) << 10 | (at >> 6 & 7) << 7 | n << 2
                } else {
                    sd(n, SP, at)
                };
                self.code.insn(bits, x(n) | x(SP), 0);
            }
            for &(n, at) in &frame.f {
                self.code.insn(fsd(n, SP, at), f(n) | x(SP), 0);
            }
        }
        if frame.pointer {
            self.code.insn(addi(8, SP, frame.first), x(SP), x(8));
        }
        if frame.second != 0 {
            self.adjust(-frame.second);
        }
        self.frame = Some(frame);
    }

    /// Counts the activation; the label is where it goes when there have been enough.
    fn fuel(&mut self) -> Label {
        let [address, value, _] = self.temporary;
        let exhausted = self.code.label();
        let enough = self.code.label();
        self.code
            .insn(0x37 | address << 7 | FUEL as u32, 0, x(address));
        self.code.insn(
            crate::asm::i(0x2003, value, address, 0),
            x(address),
            x(value),
        );
        self.code.insn(addi(value, value, -1), x(value), x(value));
        self.code.insn(
            crate::asm::s(0x2023, address, value, 0),
            x(address) | x(value),
            0,
        );
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
        self.define(arguments, (10..10 + nf).collect());
        if let Some((base, offset, size)) = self.locals {
            for at in (0..size).step_by(8) {
                let n = self.set.any_x(&mut self.rng);
                self.code.insn(sd(n, base, offset + at), x(n) | x(base), 0);
            }
        }
        if let Some(n) = self.data {
            self.code.insn(crate::body::data_middle(n), 0, x(n));
            self.data_set = true;
        }
        let frame = self.frame.as_ref();
        if frame.is_some_and(|frame| frame.pointer) && self.rng.chance(60) {
            // A block of variable size on the stack.
            let (size, n) = (self.temporary[0], self.set.any_x(&mut self.rng));
            self.code
                .insn(crate::asm::i(0x7013, size, n, 0x70), x(n), x(size));
            self.code
                .insn(r(0x4000_0033, SP, SP, size), x(SP) | x(size), x(SP));
        }
    }

    /// Gives the working registers that hold nothing something, where these do.
    pub fn define(&mut self, holds_x: Vec<u32>, holds_f: Vec<u32>) {
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
            0 => {
                let value = crate::values::integer(&mut self.rng) as i32;
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
                self.code.insn(fld(n, base, at), x(base), f(n));
            }
        }
    }

    /// A register with the middle of the data area.
    pub fn address(&mut self) -> u32 {
        match self.data {
            Some(n) if self.data_set && self.rng.chance(80) => n,
            _ => {
                let n = self.temporary[0];
                self.code.insn(crate::body::data_middle(n), 0, x(n));
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
    fn results(&self) -> Regs {
        let (_, _, rx, rf) = self.classes();
        let mask = |count: u32| ((1 << count) - 1) << 10;
        mask(rx) | mask(rf) << 32
    }

    /// Results, epilogue, and a return or a tail call.
    pub fn leave(&mut self) {
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
            crate::asm::jr(n)
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

    fn epilogue(&mut self) {
        let Some(frame) = self.frame.take() else {
            return;
        };
        if frame.pointer {
            self.code.insn(addi(SP, 8, -frame.first), x(8), x(SP));
        } else if frame.second != 0 {
            self.adjust(frame.second);
        }
        if frame.by_call.is_none() {
            for &(n, at) in &frame.x {
                let bits = if self.rng.chance(50) && at < 512 {
                    // c.ldsp: offset[5|4:3|8:6] in bits 12, 6:5, 4:2.
                    let at = at as u32;
                    let offset = (at >> 5 & 1) << 12 | (at >> 3 & 3) << 5 | (at >> 6 & 7) << 2;
                    0x6002 | n << 7 | offset
                } else {
                    ld(n, SP, at)
                };
                self.code.insn(bits, x(SP), x(n));
            }
            for &(n, at) in &frame.f {
                self.code.insn(fld(n, SP, at), x(SP), f(n));
            }
            self.adjust(frame.first);
        }
        self.frame = Some(frame);
    }

    fn ret(&mut self) {
        let reads = SAVED | self.results() | x(RA);
        match self.frame.as_ref().and_then(|frame| frame.by_call) {
            Some(n) => {
                let to = Target::Function(self.plan.restore(n));
                let far = self.rng.chance(30).then_some(6);
                let kind = Kind::Call { rd: 0, to, far };
                // ra and the registers kept come from the frame.
                let kept = S[..n].iter().fold(x(RA), |regs, &n| regs | x(n));
                self.code.line(kind, reads & !kept, x(6), Flow::Exit);
            }
            None => {
                let bits = self.jump_register(RA);
                self.code.line(Kind::Bits(bits), reads, 0, Flow::Exit);
            }
        }
    }
}

fn size(n: usize) -> i32 {
    (8 * (n as i32 + 1) + 15) & !15
}

/// Keeps ra and the first `n` of s0 to s11, and returns by t0: `__riscv_save_N`.
fn save(n: usize) -> Code {
    let mut code = Code::default();
    code.insn(addi(SP, SP, -size(n)), x(SP), x(SP));
    for (k, reg) in [RA].iter().chain(&S[..n]).enumerate() {
        let at = size(n) - 8 * (k as i32 + 1);
        code.insn(sd(*reg, SP, at), x(*reg) | x(SP), 0);
    }
    code.line(Kind::Bits(crate::asm::jr(5)), SAVED | x(5), 0, Flow::Exit);
    code
}

/// The other half, which returns to the caller of its caller.
fn restore(n: usize) -> Code {
    let mut code = Code::default();
    for (k, reg) in [RA].iter().chain(&S[..n]).enumerate() {
        let at = size(n) - 8 * (k as i32 + 1);
        code.insn(ld(*reg, SP, at), x(SP), x(*reg));
    }
    code.insn(addi(SP, SP, size(n)), x(SP), x(SP));
    code.line(Kind::Bits(crate::asm::jr(RA)), SAVED | x(RA), 0, Flow::Exit);
    code
}
