//! Single random instructions on registers that the generator allows.

use flick_riscv::{Class, Format, Op, decode};

use crate::code::{Code, Regs, f, x};
use flick_riscv_testing::asm;
use flick_riscv_testing::opcodes::{BEYOND_QEMU, Form, OPCODES, Opcode};
use flick_riscv_testing::values::Rng;

/// Registers that may be written, and those that hold something to read.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// [`BEYOND_QEMU`] is allowed.
    pub beyond_qemu: bool,
    pub to_x: Vec<u32>,
    pub from_x: Vec<u32>,
    pub to_f: Vec<u32>,
    pub from_f: Vec<u32>,
}

impl Registers {
    pub fn any_x(&self, rng: &mut Rng) -> u32 {
        rng.pick(&self.from_x)
    }

    pub fn any_f(&self, rng: &mut Rng) -> u32 {
        rng.pick(&self.from_f)
    }

    /// A destination; x0 now and then.
    fn rd(&self, rng: &mut Rng) -> u32 {
        if rng.chance(3) {
            0
        } else {
            rng.pick(&self.to_x)
        }
    }

    /// Two sources, now and then one twice: results of comparisons hang on it.
    fn two_x(&self, rng: &mut Rng) -> (u32, u32) {
        let (a, b) = (self.any_x(rng), self.any_x(rng));
        (a, if rng.chance(12) { a } else { b })
    }

    /// A floating-point register among some, most often one of those for a precision: odd numbers
    /// are for singles. What is no boxed single is a NaN to operations on singles.
    fn of(&self, rng: &mut Rng, from: &[u32], single: bool) -> u32 {
        let fits = |n: &u32| (n & 1 == 1) == single;
        let some: Vec<u32> = from.iter().copied().filter(fits).collect();
        if some.is_empty() || rng.chance(10) {
            rng.pick(from)
        } else {
            rng.pick(&some)
        }
    }

    fn fd(&self, rng: &mut Rng, single: bool) -> u32 {
        self.of(rng, &self.to_f, single)
    }

    fn one_f(&self, rng: &mut Rng, single: bool) -> u32 {
        self.of(rng, &self.from_f, single)
    }

    fn two_f(&self, rng: &mut Rng, single: bool) -> (u32, u32) {
        let (a, b) = (self.one_f(rng, single), self.one_f(rng, single));
        (a, if rng.chance(12) { a } else { b })
    }

    fn contains(&self, reads: Regs, writes: Regs) -> bool {
        let mut readable = 1;
        self.from_x.iter().for_each(|&n| readable |= x(n));
        self.from_f.iter().for_each(|&n| readable |= f(n));
        let mut writable = 0;
        self.to_x.iter().for_each(|&n| writable |= x(n));
        self.to_f.iter().for_each(|&n| writable |= f(n));
        reads & !readable == 0 && writes & !writable == 0
    }
}

const ROUNDING: [u32; 8] = [0, 1, 2, 3, 4, 7, 7, 7];

pub fn opcode(rng: &mut Rng, wanted: impl Fn(&Form) -> bool) -> &'static Opcode {
    loop {
        let op = &OPCODES[rng.below(OPCODES.len() as u64) as usize];
        if wanted(&op.form) {
            return op;
        }
    }
}

/// An instruction that computes: no memory, no control flow, no CSR.
pub fn compute(rng: &mut Rng, code: &mut Code, set: &Registers) {
    let rare = rng.below(100);
    if rare < 6 && set.beyond_qemu {
        let op = rng.pick(&BEYOND_QEMU);
        let (rd, a) = (rng.pick(&set.to_x), set.any_x(rng));
        let b = match op.format() {
            Format::R => set.any_x(rng),
            Format::Unary => 0,
            format => unreachable!("{}: {format:?} is not drawn here", op.name()),
        };
        let (_, base) = op.encoding();
        return code.insn(asm::r(base, rd, a, b), x(a) | x(b), x(rd));
    }
    if rare == 99 {
        // pause, fence.tso
        return code.insn(rng.pick(&[0x0100_000f, 0x8330_000f]), 0, 0);
    }
    // Integer arithmetic is most of real code, but a small part of the table.
    let integer = rng.chance(45);
    let op = opcode(rng, |form| match form {
        Form::R | Form::I | Form::Shift(_) | Form::Unary | Form::U | Form::C { .. } => true,
        Form::Fff { .. } | Form::Ff { .. } | Form::Ffff | Form::Xff => !integer,
        Form::Xf { .. } | Form::Fx { .. } => !integer,
        Form::Fence => !integer,
        _ => false,
    });
    one(rng, code, set, op);
}

fn one(rng: &mut Rng, code: &mut Code, set: &Registers, op: &Opcode) {
    // Nothing is read or written for a hint.
    let integer = |code: &mut Code, bits: u32, reads: Regs, rd: u32| {
        code.insn(bits, if rd == 0 { 0 } else { reads }, x(rd));
    };
    // The precision of the operands is in the encoding, that of what fcvt.s.d and fcvt.d.s read is
    // the other one.
    let single = op.base & 0x0200_0000 == 0;
    let of_source = single != matches!(op.base, 0x4010_0053 | 0x4200_0053);
    let rounding = |rng: &mut Rng, has: bool| if has { rng.pick(&ROUNDING) << 12 } else { 0 };
    match op.form {
        Form::R => {
            let (rd, (a, b)) = (set.rd(rng), set.two_x(rng));
            integer(code, asm::r(op.base, rd, a, b), x(a) | x(b), rd);
        }
        Form::I => {
            let (rd, a) = (set.rd(rng), set.any_x(rng));
            integer(code, asm::i(op.base, rd, a, rng.signed(12)), x(a), rd);
        }
        Form::Shift(bits) => {
            let (rd, a) = (set.rd(rng), set.any_x(rng));
            let amount = rng.below(1 << bits) as i32;
            integer(code, asm::i(op.base, rd, a, amount), x(a), rd);
        }
        Form::Unary => {
            let (rd, a) = (set.rd(rng), set.any_x(rng));
            integer(code, asm::i(op.base, rd, a, 0), x(a), rd);
        }
        Form::U => {
            let rd = set.rd(rng);
            integer(
                code,
                op.base | rd << 7 | (rng.signed(20) as u32) << 12,
                0,
                rd,
            );
        }
        Form::Fff { rm } => {
            let (rd, (a, b)) = (set.fd(rng, single), set.two_f(rng, single));
            let bits = asm::r(op.base, rd, a, b) | rounding(rng, rm);
            code.insn(bits, f(a) | f(b), f(rd));
        }
        Form::Ff { rm } => {
            let (rd, a) = (set.fd(rng, single), set.one_f(rng, of_source));
            code.insn(asm::r(op.base, rd, a, 0) | rounding(rng, rm), f(a), f(rd));
        }
        Form::Ffff => {
            let (rd, a) = (set.fd(rng, single), set.one_f(rng, single));
            let (b, c) = set.two_f(rng, single);
            let bits = asm::r(op.base, rd, a, b) | c << 27 | rounding(rng, true);
            code.insn(bits, f(a) | f(b) | f(c), f(rd));
        }
        Form::Xff => {
            let (rd, (a, b)) = (set.rd(rng), set.two_f(rng, single));
            code.insn(asm::r(op.base, rd, a, b), f(a) | f(b), x(rd));
        }
        Form::Xf { rm } => {
            let (rd, a) = (set.rd(rng), set.one_f(rng, single));
            code.insn(asm::r(op.base, rd, a, 0) | rounding(rng, rm), f(a), x(rd));
        }
        Form::Fx { rm } => {
            let (rd, a) = (set.fd(rng, single), set.any_x(rng));
            code.insn(asm::r(op.base, rd, a, 0) | rounding(rng, rm), x(a), f(rd));
        }
        Form::Fence => code.insn(op.base | (rng.next() as u32 & 0xff) << 20, 0, 0),
        Form::C { free, .. } => {
            compressed(rng, code, set, op.base, free, |_, _| true);
        }
        _ => unreachable!("{} does not compute", op.name),
    }
}

/// A 16-bit instruction with random bits in `free`, if one is found whose registers and immediate
/// are allowed.
pub fn compressed(
    rng: &mut Rng,
    code: &mut Code,
    set: &Registers,
    base: u32,
    free: u32,
    allowed: impl Fn(u32, i64) -> bool,
) -> bool {
    for _ in 0..100 {
        let half = base | rng.next() as u32 & free;
        let Some((reads, writes)) = of_compressed(half) else {
            continue;
        };
        let insn = decode(half);
        if set.contains(reads, writes) && allowed(insn.rs1() as u32, insn.imm() as i64) {
            code.insn(half, reads, writes);
            return true;
        }
    }
    false
}

/// What a 16-bit instruction reads and writes; none for control flow and what is reserved.
fn of_compressed(half: u32) -> Option<(Regs, Regs)> {
    let insn = decode(half);
    let goes_on = !matches!(
        insn.op().class(),
        Class::Branch | Class::Jump | Class::System
    );
    (goes_on && insn.op() != Op::Illegal).then(|| (insn.reads(), insn.writes()))
}

/// A load or store of any form at `offset` from register `base`; the address has room for eight
/// bytes.
pub fn access(rng: &mut Rng, code: &mut Code, set: &Registers, base: u32, offset: i32) {
    let op = opcode(rng, |form| {
        matches!(
            form,
            Form::Load(_) | Form::FLoad(_) | Form::Store(_) | Form::FStore(_)
        )
    });
    match op.form {
        Form::Load(_) => {
            let rd = set.rd(rng);
            code.insn(asm::i(op.base, rd, base, offset), x(base), x(rd));
        }
        Form::FLoad(_) => {
            let rd = set.fd(rng, matches!(op.form, Form::FLoad(4)));
            code.insn(asm::i(op.base, rd, base, offset), x(base), f(rd));
        }
        Form::Store(_) => {
            let data = set.any_x(rng);
            code.insn(asm::s(op.base, base, data, offset), x(base) | x(data), 0);
        }
        _ => {
            let data = set.any_f(rng);
            code.insn(asm::s(op.base, base, data, offset), x(base) | f(data), 0);
        }
    }
}

/// A 16-bit load or store with an immediate below `room` at `base`, which is in x8 to x15; false if
/// none was found.
pub fn short_access(rng: &mut Rng, code: &mut Code, set: &Registers, base: u32, room: i64) -> bool {
    let op = opcode(
        rng,
        |form| matches!(form, Form::CMem { free, .. } if free & 0x380 == 0x380),
    );
    let Form::CMem { free, .. } = op.form else {
        return false;
    };
    let mut with_base = set.clone();
    with_base.from_x.push(base);
    // Stack-relative forms have a register in these bits too: they are not asked for here.
    if matches!(op.base & 3, 2) {
        return false;
    }
    let fixed = op.base | (base - 8) << 7;
    compressed(
        rng,
        code,
        &with_base,
        fixed,
        free & !0x380,
        |rs1, offset| rs1 == base && offset + 8 <= room,
    )
}

/// A 16-bit load or store relative to sp, at `from..to`.
pub fn stack_access(rng: &mut Rng, code: &mut Code, set: &Registers, from: i64, to: i64) -> bool {
    let op = opcode(rng, |form| matches!(form, Form::CMem { .. }));
    let Form::CMem { free, .. } = op.form else {
        return false;
    };
    op.base & 3 == 2
        && compressed(rng, code, set, op.base, free, |rs1, offset| {
            rs1 == 2 && offset >= from && offset + 8 <= to
        })
}

/// An atomic read-modify-write at an aligned address in `base`.
pub fn amo(rng: &mut Rng, code: &mut Code, set: &Registers, base: u32) {
    let op = opcode(rng, |form| matches!(form, Form::Amo(_)));
    let (rd, data) = (set.rd(rng), set.any_x(rng));
    let bits = asm::r(op.base, rd, base, data) | (rng.below(4) as u32) << 25;
    code.insn(bits, x(base) | x(data), x(rd));
}
