//! Frames: prologues and epilogues, and the functions that keep registers for them.

use crate::code::{Code, Flow, Kind, RA, SAVED, SP, Target, f, x};
use crate::function::{Function, is_saved};
use flick_riscv_testing::asm::{self, addi, fld, fsd, ld, r, sd};

pub const S: [u32; 12] = [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];

pub struct Frame {
    /// Kept registers with their offsets from sp after the first adjustment.
    pub x: Vec<(u32, i32)>,
    pub f: Vec<(u32, i32)>,
    pub first: i32,
    /// A second adjustment, for the locals.
    pub second: i32,
    /// s0 is the sp of the caller.
    pub pointer: bool,
    /// Registers s0 up to this one are kept by functions that the prologue calls by t0.
    pub by_call: Option<usize>,
}

impl Function<'_> {
    pub fn frame(&mut self, pointer: bool, by_call: Option<usize>) -> Frame {
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

    pub fn prologue(&mut self) {
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

    pub fn epilogue(&mut self) {
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

    pub fn ret(&mut self) {
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
pub fn save(n: usize) -> Code {
    let mut code = Code::default();
    code.insn(addi(SP, SP, -size(n)), x(SP), x(SP));
    for (k, reg) in [RA].iter().chain(&S[..n]).enumerate() {
        let at = size(n) - 8 * (k as i32 + 1);
        code.insn(sd(*reg, SP, at), x(*reg) | x(SP), 0);
    }
    code.line(Kind::Bits(asm::jr(5)), SAVED | x(5), 0, Flow::Exit);
    code
}

/// The other half, which returns to the caller of its caller.
pub fn restore(n: usize) -> Code {
    let mut code = Code::default();
    for (k, reg) in [RA].iter().chain(&S[..n]).enumerate() {
        let at = size(n) - 8 * (k as i32 + 1);
        code.insn(ld(*reg, SP, at), x(SP), x(*reg));
    }
    code.insn(addi(SP, SP, size(n)), x(SP), x(SP));
    code.line(Kind::Bits(asm::jr(RA)), SAVED | x(RA), 0, Flow::Exit);
    code
}
