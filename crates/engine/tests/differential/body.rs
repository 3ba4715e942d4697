//! Makes the code of one case: an instruction with random operands, and what its registers need.

use flick_riscv_testing::asm::{self, Code};
use flick_riscv_testing::opcodes::{Form, Opcode, Used};
use flick_riscv_testing::values::Rng;

/// What a register must hold before the body runs, instead of any value.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// Address in scratch memory, `minus` subtracted, aligned to `align`; `span` bytes after it are
    /// scratch too.
    Scratch { minus: i64, align: u64, span: u64 },
    /// Address of an offset in the body, `minus` subtracted, and bit 0 at random if `odd`.
    Label { offset: i32, minus: i64, odd: bool },
    /// The same as another register, half of the time.
    Like(u32),
    /// Exactly this.
    Value(u64),
}

pub struct Body {
    pub code: Code,
    pub needs: Vec<(u32, Need)>,
    /// The register that keeps pointing to the case's record.
    pub keep: u32,
}

/// Integer registers that a body uses.
struct Registers {
    used: u32,
    last: u32,
}

impl Registers {
    /// Any register, x0 included, now and then the last one.
    fn any(&mut self, rng: &mut Rng) -> u32 {
        let n = if rng.chance(15) {
            self.last
        } else {
            rng.below(32) as u32
        };
        self.note(n)
    }

    /// As `any`, but not x0.
    fn nonzero(&mut self, rng: &mut Rng) -> u32 {
        loop {
            let n = self.any(rng);
            if n != 0 {
                return n;
            }
        }
    }

    /// One that is not used yet, and not x0.
    fn fresh(&mut self, rng: &mut Rng) -> u32 {
        loop {
            let n = 1 + rng.below(31) as u32;
            if self.used >> n & 1 == 0 {
                return self.note(n);
            }
        }
    }

    fn note(&mut self, n: u32) -> u32 {
        self.used |= 1 << n;
        self.last = n;
        n
    }
}

const ROUNDING: [u32; 8] = [0, 1, 2, 3, 4, 7, 7, 7];

pub fn make(rng: &mut Rng, op: &Opcode) -> Body {
    let mut regs = Registers { used: 1, last: 10 };
    let mut code = Code::default();
    let mut needs = Vec::new();
    // Four-byte instructions stand at both alignments.
    if rng.chance(50) {
        code.half(1);
    }
    let (freg, freg2, freg3) = (
        rng.below(32) as u32,
        rng.below(32) as u32,
        rng.below(32) as u32,
    );
    let fdest = if rng.chance(20) {
        freg
    } else {
        rng.below(32) as u32
    };
    let rm = |rng: &mut Rng, has: bool| if has { rng.pick(&ROUNDING) << 12 } else { 0 };
    match op.form {
        Form::R => {
            let (rd, rs1, rs2) = (regs.any(rng), regs.any(rng), regs.any(rng));
            if rs2 != 0 && rs2 != rs1 && rng.chance(30) {
                needs.push((rs2, Need::Like(rs1)));
            }
            code.word(asm::r(op.base, rd, rs1, rs2));
        }
        Form::I => code.word(asm::i(
            op.base,
            regs.any(rng),
            regs.any(rng),
            rng.signed(12),
        )),
        Form::Shift(bits) => {
            let shamt = rng.below(1 << bits) as i32;
            code.word(asm::i(op.base, regs.any(rng), regs.any(rng), shamt));
        }
        Form::Unary => code.word(asm::i(op.base, regs.any(rng), regs.any(rng), 0)),
        Form::U => code.word(op.base | regs.any(rng) << 7 | (rng.signed(20) as u32) << 12),
        Form::Load(size) | Form::FLoad(size) | Form::Store(size) | Form::FStore(size) => {
            let base = regs.nonzero(rng);
            let imm = rng.signed(12);
            needs.push((
                base,
                Need::Scratch {
                    minus: imm.into(),
                    align: 1,
                    span: size,
                },
            ));
            code.word(match op.form {
                Form::Load(_) => asm::i(op.base, regs.any(rng), base, imm),
                Form::FLoad(_) => asm::i(op.base, fdest, base, imm),
                Form::Store(_) => asm::s(op.base, base, regs.any(rng), imm),
                _ => asm::s(op.base, base, freg, imm),
            });
        }
        Form::Lr(size) => {
            let base = regs.nonzero(rng);
            needs.push((
                base,
                Need::Scratch {
                    minus: 0,
                    align: size,
                    span: size,
                },
            ));
            code.word(asm::r(op.base, regs.any(rng), base, 0) | (rng.below(4) as u32) << 25);
        }
        Form::Amo(size) => {
            let base = regs.nonzero(rng);
            needs.push((
                base,
                Need::Scratch {
                    minus: 0,
                    align: size,
                    span: size,
                },
            ));
            let word = asm::r(op.base, regs.any(rng), base, regs.any(rng));
            code.word(word | (rng.below(4) as u32) << 25);
        }
        Form::Sc(size) => store_conditional(rng, op, size, &mut regs, &mut needs, &mut code),
        Form::Csr | Form::CsrI => {
            let csr = 1 + rng.below(3) as i32;
            code.word(asm::i(op.base, regs.any(rng), regs.any(rng), csr));
        }
        Form::Fff { rm: has } => code.word(asm::r(op.base, fdest, freg, freg2) | rm(rng, has)),
        Form::Ff { rm: has } => code.word(asm::r(op.base, fdest, freg, 0) | rm(rng, has)),
        Form::Ffff => {
            code.word(asm::r(op.base, fdest, freg, freg2) | freg3 << 27 | rm(rng, true));
        }
        Form::Xff => code.word(asm::r(op.base, regs.any(rng), freg, freg2)),
        Form::Xf { rm: has } => code.word(asm::r(op.base, regs.any(rng), freg, 0) | rm(rng, has)),
        Form::Fx { rm: has } => code.word(asm::r(op.base, fdest, regs.any(rng), 0) | rm(rng, has)),
        Form::Fence => code.word(op.base | (rng.next() as u32 & 0xff) << 20),
        Form::Bare => code.insn(op.base),
        Form::Ecall => {
            // A number without a system call: -ENOSYS.
            regs.note(10);
            needs.push((regs.note(17), Need::Value(5000 + rng.below(100_000))));
            code.word(op.base);
        }
        Form::C { free, used } | Form::CMem { free, used } => {
            let half = compressed(rng, op.base, free, used, &mut regs);
            if let Form::CMem { .. } = op.form {
                let base = match used {
                    Used::Short | Used::Short2 => 8 + (half >> 7 & 7),
                    _ => 2,
                };
                // Any offset of the instruction stays in scratch memory.
                needs.push((
                    base,
                    Need::Scratch {
                        minus: 0,
                        align: 1,
                        span: 512,
                    },
                ));
            }
            code.half(half as u16);
        }
        Form::Branch
        | Form::CBranch
        | Form::Jal
        | Form::CJ
        | Form::Jalr
        | Form::CJr
        | Form::CJalr => jump(rng, op, &mut regs, &mut needs, &mut code),
        Form::Illegal => code.insn(illegal(rng)),
        Form::MisalignedAtomic => {
            let base = regs.nonzero(rng);
            let minus = 1 + rng.below(3) as i64;
            needs.push((
                base,
                Need::Scratch {
                    minus,
                    align: 8,
                    span: 8,
                },
            ));
            let base_code = rng.pick(&[0x1000_202f, 0x0000_202f, 0x1000_302f, 0xe000_302f]);
            code.word(asm::r(base_code, regs.any(rng), base, 0));
        }
        Form::Sequence => sequence(rng, &mut regs, &mut needs, &mut code),
    }
    let keep = regs.fresh(rng);
    Body { code, needs, keep }
}

/// sc after lr on the same or another address, with or without a store between, or without lr.
fn store_conditional(
    rng: &mut Rng,
    op: &Opcode,
    size: u64,
    regs: &mut Registers,
    needs: &mut Vec<(u32, Need)>,
    code: &mut Code,
) {
    let base = regs.nonzero(rng);
    needs.push((
        base,
        Need::Scratch {
            minus: 0,
            align: size,
            span: size,
        },
    ));
    let width = op.base & 0x7000;
    let lr = |rd, at| asm::r(0x1000_002f | width, rd, at, 0);
    let mut rd = regs.any(rng);
    while rd == base {
        rd = regs.any(rng);
    }
    match rng.below(8) {
        0 => {}
        1 => {
            let other = regs.fresh(rng);
            needs.push((
                other,
                Need::Scratch {
                    minus: 0,
                    align: size,
                    span: size,
                },
            ));
            code.word(lr(rd, other));
        }
        2 => {
            code.word(lr(rd, base));
            code.word(asm::s(0x0023 | width, base, regs.any(rng), 0));
        }
        3 => {
            code.word(lr(rd, base));
            code.word(asm::r(op.base, regs.fresh(rng), base, regs.any(rng)));
        }
        _ => code.word(lr(rd, base)),
    }
    let word = asm::r(op.base, regs.any(rng), base, regs.any(rng));
    code.word(word | (rng.below(4) as u32) << 25);
}

/// Random bits in `free`, so that the result is the opcode meant.
fn compressed(rng: &mut Rng, base: u32, free: u32, used: Used, regs: &mut Registers) -> u32 {
    loop {
        let half = base | rng.next() as u32 & free;
        let (rd, rs2) = (half >> 7 & 31, half >> 2 & 31);
        let (short, short2) = (8 + (half >> 7 & 7), 8 + (half >> 2 & 7));
        let imm6 = half & 0x107c;
        let registers: &[u32] = match used {
            Used::Rd { zero } if zero || rd != 0 => &[rd],
            Used::RdRs2 { zero } if (zero || rd != 0) && rs2 != 0 => &[rd, rs2],
            Used::Short => &[short],
            Used::Short2 => &[short, short2],
            Used::SpShort if half & 0x1fe0 != 0 => &[2, short2],
            Used::SpRd if rd != 0 => &[2, rd],
            Used::SpRs2 => &[2, rs2],
            // c.addi16sp needs an immediate, the others do not mind one.
            Used::Sp if imm6 != 0 || base & 0xe003 != 0x6001 => &[2],
            Used::Lui if rd != 2 && imm6 != 0 => &[rd],
            Used::None => &[],
            _ => continue,
        };
        for &register in registers {
            regs.note(register);
        }
        return half;
    }
}

/// A control transfer forward or backward, with a mark on each path.
fn jump(
    rng: &mut Rng,
    op: &Opcode,
    regs: &mut Registers,
    needs: &mut Vec<(u32, Need)>,
    code: &mut Code,
) {
    // Greatest distance, with room for the code around; small ones are more frequent.
    let reach: u64 = match op.form {
        Form::CBranch => 200,
        Form::CJ => 2000,
        Form::Branch => 4000,
        Form::Jal => 1 << 17,
        _ => 3000,
    };
    let limit = reach >> rng.below(if reach > 1 << 16 { 17 } else { 8 });
    let gap = rng.below(limit.max(2)) as i32 & !1;
    let backward = rng.chance(50);
    let mark = regs.nonzero(rng);
    let length = if op.base & 3 == 3 { 4 } else { 2 };
    let landing = |code: &mut Code| code.word(asm::addi(mark, mark, 2));
    let fill = |code: &mut Code| code.0.extend((0..gap / 2).map(|_| 0));
    let (from, target);
    if backward {
        // j from; target: mark, j end; gap; from: jump; mark; end
        let start = code.len();
        target = start + 4;
        from = target + 8 + gap;
        code.word(asm::jal(0, from - start));
        landing(code);
        code.word(asm::jal(0, from + length + 4 - code.len()));
        fill(code);
        transfer(rng, op, regs, needs, code, target);
        code.word(asm::addi(mark, mark, 1));
    } else {
        // jump; mark; j end; gap; target: mark; end
        from = code.len();
        target = from + length + 8 + gap;
        transfer(rng, op, regs, needs, code, target);
        code.word(asm::addi(mark, mark, 1));
        code.word(asm::jal(0, target + 4 - code.len()));
        fill(code);
        landing(code);
    }
}

/// The transfer to `target` itself.
fn transfer(
    rng: &mut Rng,
    op: &Opcode,
    regs: &mut Registers,
    needs: &mut Vec<(u32, Need)>,
    code: &mut Code,
    target: i32,
) {
    let offset = target - code.len();
    match op.form {
        Form::Branch => {
            let (rs1, rs2) = (regs.any(rng), regs.any(rng));
            if rs2 != 0 && rs2 != rs1 {
                needs.push((rs2, Need::Like(rs1)));
            }
            code.word(asm::branch(op.base, rs1, rs2, offset));
        }
        Form::CBranch => {
            let short = rng.below(8) as u32;
            let register = regs.note(8 + short);
            needs.push((register, Need::Like(0)));
            code.half(asm::c_branch(op.base, short, offset));
        }
        Form::Jal => code.word(asm::jal(regs.any(rng), offset)),
        Form::CJ => code.half(asm::c_j(offset)),
        _ => {
            let rs1 = regs.nonzero(rng);
            let long = matches!(op.form, Form::Jalr);
            let imm = if long { rng.signed(12) } else { 0 };
            needs.push((
                rs1,
                Need::Label {
                    offset: target,
                    minus: imm.into(),
                    odd: true,
                },
            ));
            if long {
                code.word(asm::i(op.base, regs.any(rng), rs1, imm));
            } else {
                regs.note(1);
                code.half((op.base | rs1 << 7) as u16);
            }
        }
    }
}

/// Reserved encodings and registers that do not exist.
fn illegal(rng: &mut Rng) -> u32 {
    let any = rng.next() as u32;
    let (regs, fmt) = (any & 0x01ff_8f80, rng.below(2) as u32 * 0x0200_0000);
    match rng.below(20) {
        0 => 0,
        1 => u32::MAX,
        // Reserved static rounding modes.
        2 => 0x0000_0053 | regs | fmt | rng.pick(&[5, 6]) << 12,
        3 => 0x0000_0043 | any & 0xf9ff_8f8c | fmt | rng.pick(&[5, 6]) << 12,
        4 => 0xc000_0053 | regs & !0x01f0_0000 | fmt | rng.pick(&[5, 6]) << 12,
        // Loads, stores, branches and jalr with a reserved funct3.
        5 => 0x7003 | any & 0xffff_8f80,
        6 => rng.pick(&[0x4023, 0x5023, 0x6023, 0x7023]) | any & 0xffff_8f80,
        7 => rng.pick(&[0x2063, 0x3063]) | any & 0xffff_8f80,
        8 => 0x1067 | any & 0xffff_8f80,
        // slliw with a sixth bit of shift amount.
        9 => 0x0200_101b | any & 0x01ff_8f80,
        // lr with an operand.
        10 => 0x1010_202f | any & 0x060f_8f80,
        // CSRs that do not exist.
        11 => {
            rng.pick(&[0x1073, 0x2073]) | any & 0x000f_8f80 | rng.pick(&[0x004, 0x7ff, 0x5c0]) << 20
        }
        // Writes to a read-only counter.
        12 => 0x1073 | any & 0x000f_8f80 | 0xc00 << 20,
        // Compressed: c.addiw x0, c.lwsp x0, c.ldsp x0, c.jr x0, c.addi16sp 0, c.lui 0.
        13 => rng.pick(&[0x2001, 0x4002, 0x6002, 0x8002, 0x6101, 0x6081]),
        // Compressed: quadrant 0 funct3 4, the two reserved word operations.
        14 => rng.pick(&[0x8000, 0x9c41, 0x9c61]) | any & 0x039c,
        // Neighbours of Zba, Zbb and Zbs: carry-less products, packing, shifts of ones.
        15 => {
            any & 0x01ff_8f80
                | rng.pick(&[
                    0x0a00_1033,
                    0x0a00_2033,
                    0x0a00_3033,
                    0x0800_4033,
                    0x0800_7033,
                    0x2000_1033,
                    0x2000_5033,
                ])
        }
        // zext.h with a second operand.
        16 => 0x0810_403b | any & 0x01ef_8f80,
        // Unary operations and permutations of bits that are not in Zbb.
        17 => {
            any & 0x000f_8f80
                | rng.pick(&[
                    0x6030_1013,
                    0x6060_1013,
                    0x6100_1013,
                    0x6030_101b,
                    0x6040_101b,
                    0x2860_5013,
                    0x2880_5013,
                    0x6980_5013,
                    0x6b90_5013,
                    0x0880_501b,
                ])
        }
        // Immediate shifts of 32 bits with a sixth bit of amount.
        18 => 0x6200_501b | any & 0x01ff_8f80,
        // fsqrt with a second operand, fmv with a rounding mode.
        _ => rng.pick(&[0x5810_0053, 0x5a30_0053, 0xe000_2053, 0xf000_1053]) | any & 0x000f_8f80,
    }
}

/// A loop of two rounds over random computations, loads, stores and skips.
fn sequence(rng: &mut Rng, regs: &mut Registers, needs: &mut Vec<(u32, Need)>, code: &mut Code) {
    use flick_riscv_testing::opcodes::OPCODES;
    let pointer = regs.fresh(rng);
    needs.push((
        pointer,
        Need::Scratch {
            minus: -64,
            align: 8,
            span: 192,
        },
    ));
    let counter = regs.fresh(rng);
    needs.push((counter, Need::Value(1 + rng.below(3))));
    let kept = regs.fresh(rng);
    let free = |n: u32| n != pointer && n != counter && n != kept;
    let start = code.len();
    // `kept` stays for the record's pointer: nothing else must be left unused by chance.
    for _ in 0..6 + rng.below(14) {
        let mut any = |rng: &mut Rng| loop {
            let n = rng.below(32) as u32;
            if free(n) {
                regs.note(n);
                return n;
            }
        };
        let (rd, rs1, rs2) = (any(rng), any(rng), any(rng));
        let f = rng.next() as u32;
        let (fd, f1, f2, f3) = (f & 31, f >> 5 & 31, f >> 10 & 31, f >> 15 & 31);
        let offset = rng.below(128) as i32 - 64;
        let op = &OPCODES[rng.below(OPCODES.len() as u64) as usize];
        let rm = |rng: &mut Rng, has: bool| if has { rng.pick(&ROUNDING) << 12 } else { 0 };
        match op.form {
            Form::R => code.word(asm::r(op.base, rd, rs1, rs2)),
            Form::I => code.word(asm::i(op.base, rd, rs1, rng.signed(12))),
            Form::Shift(bits) => code.word(asm::i(op.base, rd, rs1, rng.below(1 << bits) as i32)),
            Form::Unary => code.word(asm::i(op.base, rd, rs1, 0)),
            Form::U => code.word(op.base | rd << 7 | (rng.signed(20) as u32) << 12),
            Form::Load(_) => code.word(asm::i(op.base, rd, pointer, offset)),
            Form::FLoad(_) => code.word(asm::i(op.base, fd, pointer, offset)),
            Form::Store(_) => code.word(asm::s(op.base, pointer, rs2, offset)),
            Form::FStore(_) => code.word(asm::s(op.base, pointer, f2, offset)),
            Form::Lr(_) => code.word(asm::r(op.base, rd, pointer, 0)),
            Form::Amo(_) => code.word(asm::r(op.base, rd, pointer, rs2)),
            Form::Branch => {
                // Skips one instruction of either length.
                code.word(asm::branch(op.base, rs1, rs2, 8));
                code.word(asm::addi(rd, rs1, offset));
            }
            Form::CBranch => {
                let short = rng.below(8) as u32;
                code.half(asm::c_branch(op.base, short, 4));
                code.half(1);
            }
            Form::Jal if free(1) => {
                code.word(asm::jal(rd, 6));
                code.half(0x0001);
            }
            Form::Csr | Form::CsrI => code.word(asm::i(op.base, rd, rs1, 1)),
            Form::Fff { rm: has } => code.word(asm::r(op.base, fd, f1, f2) | rm(rng, has)),
            Form::Ff { rm: has } => code.word(asm::r(op.base, fd, f1, 0) | rm(rng, has)),
            Form::Ffff => code.word(asm::r(op.base, fd, f1, f2) | f3 << 27 | rm(rng, true)),
            Form::Xff => code.word(asm::r(op.base, rd, f1, f2)),
            Form::Xf { rm: has } => code.word(asm::r(op.base, rd, f1, 0) | rm(rng, has)),
            Form::Fx { rm: has } => code.word(asm::r(op.base, fd, rs1, 0) | rm(rng, has)),
            Form::C {
                free: bits,
                used: Used::Rd { .. },
            } if rd != 0 => {
                code.half(((op.base | rng.next() as u32 & bits) & !0xf80 | rd << 7) as u16);
            }
            Form::C {
                used: Used::RdRs2 { .. },
                ..
            } if rs2 != 0 => {
                code.half((op.base | rd << 7 | rs2 << 2) as u16);
            }
            _ => {}
        }
    }
    code.word(asm::addi(counter, counter, -1));
    code.word(asm::branch(0x1063, counter, 0, start - code.len()));
    // Everything but `kept` counts as used.
    regs.used = !(1 << kept);
}
