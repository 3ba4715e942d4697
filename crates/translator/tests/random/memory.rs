//! Statements that access memory: the data area, locals, the pages that are not accessible at
//! first.

use crate::code::x;
use crate::function::Function;
use crate::insn;
use crate::program::{DATA_MIDDLE, PROTECTED, PROTECTED_PAGES};
use flick_riscv_testing::asm::{addi, i, r};
use flick_riscv_testing::values::Rng;

/// `lui` with the middle of the data area.
pub fn data_middle(n: u32) -> u32 {
    0x37 | n << 7 | DATA_MIDDLE as u32
}

/// bne
const BNE: u32 = 0x1063;

impl Function<'_> {
    /// Puts an address in `register`: `start`, and at random up to 2047 more, a multiple of
    /// `align`.
    fn indexed(&mut self, register: u32, middle: u32, align: i32) {
        let index = self.set.any_x(&mut self.rng);
        let other = self.temporary[1];
        let mask = 0x7ff & !(align - 1);
        self.code
            .insn(i(0x7013, other, index, mask), x(index), x(other));
        self.code.insn(
            r(0x33, register, middle, other),
            x(middle) | x(other),
            x(register),
        );
    }

    pub fn data_access(&mut self) {
        let base = self.address();
        match self.rng.below(4) {
            0 | 1 => {
                let at = self.rng.signed(12);
                insn::access(&mut self.rng, &mut self.code, &self.set, base, at);
            }
            2 => {
                // By way of a working register, which the access may overwrite.
                let register = self.rng.pick(&self.set.to_x);
                self.indexed(register, base, 1);
                let at = self.rng.signed(12);
                insn::access(&mut self.rng, &mut self.code, &self.set, register, at);
                if (8..16).contains(&register) {
                    // It may have overwritten it.
                    let base = self.address();
                    self.indexed(register, base, 1);
                    insn::short_access(&mut self.rng, &mut self.code, &self.set, register, 256);
                }
            }
            _ => {
                let register = self.temporary[2];
                self.indexed(register, base, 1);
                for _ in 0..1 + self.rng.below(4) {
                    let at = self.rng.signed(12);
                    insn::access(&mut self.rng, &mut self.code, &self.set, register, at);
                }
            }
        }
    }

    pub fn local_access(&mut self) {
        let Some((base, offset, size)) = self.locals else {
            return self.straight();
        };
        for _ in 0..1 + self.rng.below(4) {
            if base == 2 && self.rng.chance(50) {
                let (from, to) = (offset.into(), (offset + size).into());
                insn::stack_access(&mut self.rng, &mut self.code, &self.set, from, to);
            } else {
                let at = offset + self.rng.below(size as u64 - 7) as i32;
                insn::access(&mut self.rng, &mut self.code, &self.set, base, at);
            }
        }
    }

    /// The address of something in a page that is not accessible at first, in a register.
    fn protected(&mut self, align: i32) -> (u32, i32) {
        let register = match self.rng.below(3) {
            0 => self.rng.pick(&self.set.to_x),
            _ => self.temporary[0],
        };
        let page = self.rng.below(PROTECTED_PAGES);
        let at = match self.rng.below(4) {
            // Over the beginning of the page.
            0 if page > 0 && align == 1 => -1 - self.rng.below(7) as i32,
            _ => self.rng.below(2040) as i32 & !(align - 1),
        };
        if self.rng.chance(60) {
            self.code.page(register, PROTECTED + (page << 12));
        } else {
            let (index, start) = (self.set.any_x(&mut self.rng), self.temporary[1]);
            let other = self.temporary[2];
            let mask = PROTECTED_PAGES as i32 - 1;
            self.code
                .insn(i(0x7013, other, index, mask), x(index), x(other));
            self.code
                .insn(i(0x1013, other, other, 12), x(other), x(other));
            self.code.page(start, PROTECTED);
            self.code.insn(
                r(0x33, register, start, other),
                x(start) | x(other),
                x(register),
            );
            return (register, at.max(0));
        }
        (register, at)
    }

    pub fn protected_access(&mut self) {
        let (base, at) = self.protected(1);
        insn::access(&mut self.rng, &mut self.code, &self.set, base, at);
    }

    fn aligned(&mut self, align: i32) -> u32 {
        if self.rng.chance(30) {
            let (base, at) = self.protected(align);
            let register = self.temporary[2];
            self.code
                .insn(addi(register, base, at), x(base), x(register));
            return register;
        }
        let base = self.address();
        let register = self.temporary[2];
        self.indexed(register, base, align);
        register
    }

    pub fn atomic(&mut self) {
        let base = self.aligned(8);
        for _ in 0..1 + self.rng.below(2) {
            insn::amo(&mut self.rng, &mut self.code, &self.set, base);
        }
    }

    /// The loop of an atomic operation made of lr and sc.
    pub fn reserve_loop(&mut self) {
        let base = self.aligned(8);
        let width = self.rng.pick(&[0x2000, 0x3000]);
        let data = self.set.any_x(&mut self.rng);
        let old = self.rng.pick(&self.set.to_x);
        let [status, new, _] = self.temporary;
        let order = |rng: &mut Rng| (rng.below(4) as u32) << 25;
        let out = self.code.label();
        let head = self.code.here();
        let bits = r(0x1000_002f | width, old, base, 0) | order(&mut self.rng);
        self.code.insn(bits, x(base), x(old));
        if self.rng.chance(30) {
            self.code.branch(BNE, old, data, out);
        }
        let op = self.rng.pick(&[0x33, 0x4033, 0x7033, 0x0200_0033]);
        self.code
            .insn(r(op, new, old, data), x(old) | x(data), x(new));
        let bits = r(0x1800_002f | width, status, base, new) | order(&mut self.rng);
        self.code.insn(bits, x(base) | x(new), x(status));
        self.code.branch(BNE, status, 0, head);
        self.code.place(out);
    }
}
