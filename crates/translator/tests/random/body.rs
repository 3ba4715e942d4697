//! Statements: straight code, structured and unstructured control flow.

use crate::code::{Flow, Form, Kind, Label, Table, Target, x};
use crate::function::Function;
use crate::insn;
use flick_riscv_testing::asm::{addi, i, r};
use flick_riscv_testing::values::Rng;

const BRANCHES: [u32; 6] = [0x0063, 0x1063, 0x4063, 0x5063, 0x6063, 0x7063];
const BNEZ: u32 = 0x1063;
const BLEZ: u32 = 0x5063;

impl Function<'_> {
    pub fn statements(&mut self, count: u64, depth: u32) {
        for _ in 0..count {
            self.part(|function| function.statement(depth));
        }
    }

    /// What can be left out; is it there?
    pub fn part(&mut self, make: impl FnOnce(&mut Self)) -> bool {
        let seed = self.rng.next();
        if self.skip.contains(&seed) {
            return false;
        }
        self.seeds.push(seed);
        self.apart(seed, make);
        true
    }

    /// With random numbers of its own, so that what follows does not hang on how many it takes.
    pub fn apart(&mut self, seed: u64, make: impl FnOnce(&mut Self)) {
        let outer = core::mem::replace(&mut self.rng, Rng(seed));
        make(self);
        self.rng = outer;
    }

    fn statement(&mut self, depth: u32) {
        match self.rng.below(100) {
            0..22 => self.straight(),
            22..34 => self.data_access(),
            34..40 => self.local_access(),
            40..47 => self.protected_access(),
            47..49 => self.atomic(),
            49..51 => self.reserve_loop(),
            51..55 => self.status(),
            55..60 => self.skip_one(),
            60..68 if depth < 3 => self.branches(depth),
            68..76 if depth < 2 => self.counted_loop(depth),
            76..79 if depth < 2 => self.switch(depth),
            79..82 if depth < 2 => self.computed_goto(depth),
            82..85 if depth < 1 => self.tangle(depth),
            85..87 if depth > 0 => self.early_exit(),
            87..97 if !self.leaf => self.call(),
            97..99 if !self.leaf => self.make_code(),
            99 if depth > 0 => self.leave_here(),
            _ => self.straight(),
        }
    }

    pub fn straight(&mut self) {
        for _ in 0..1 + self.rng.below(7) {
            insn::compute(&mut self.rng, &mut self.code, &self.set);
        }
    }

    /// A branch on working registers.
    pub fn condition(&mut self, to: Label) {
        let (a, mut b) = (self.set.any_x(&mut self.rng), self.set.any_x(&mut self.rng));
        if self.rng.chance(40) {
            b = 0;
        }
        let base = self.rng.pick(&BRANCHES);
        self.code.branch(base, a, b, to);
    }

    /// fcsr, frm and fflags; no reserved rounding mode is made.
    fn status(&mut self) {
        let rd = if self.rng.chance(40) {
            0
        } else {
            self.rng.pick(&self.set.to_x)
        };
        let value = self.set.any_x(&mut self.rng);
        let masked = self.temporary[0];
        let imm = self.rng.below(32) as u32;
        let (bits, reads) = match self.rng.below(11) {
            // Reads.
            0 => (i(0x2073, rd, 0, 1 + self.rng.below(3) as i32), 0),
            // fsrmi
            1 | 2 => (i(0x5073, rd, imm % 5, 2), 0),
            // fsflags, csrs, csrc; fsflagsi, csrsi, csrci
            3 => (i(0x1073, rd, value, 1), x(value)),
            4 => (i(0x2073, rd, value, 1), x(value)),
            5 => (i(0x3073, rd, value, 1 + self.rng.below(3) as i32), x(value)),
            6 => (i(0x5073, rd, imm, 1), 0),
            7 => (i(0x6073, rd, imm, 1), 0),
            8 => (i(0x7073, rd, imm, 1 + self.rng.below(3) as i32), 0),
            // fsrm and fscsr with a value whose mode is one of four.
            n => {
                let (mask, csr) = if n == 9 { (3, 2) } else { (0x7f, 3) };
                self.code
                    .insn(i(0x7013, masked, value, mask), x(value), x(masked));
                (i(0x1073, rd, masked, csr), x(masked))
            }
        };
        self.code.insn(bits, reads, x(rd));
    }

    /// A branch over one operation.
    pub fn skip_one(&mut self) {
        let over = self.code.label();
        self.condition(over);
        insn::compute(&mut self.rng, &mut self.code, &self.set);
        self.code.place(over);
    }

    pub fn some(&mut self, most: u64, depth: u32) {
        let count = 1 + self.rng.below(most);
        self.statements(count, depth + 1);
    }

    fn branches(&mut self, depth: u32) {
        let (other, end) = (self.code.label(), self.code.label());
        self.condition(other);
        self.some(3, depth);
        if self.rng.chance(60) {
            self.code.jump(end);
            self.code.place(other);
            self.some(3, depth);
        } else {
            self.code.place(other);
        }
        self.code.place(end);
    }

    /// Takes a register that the body does not write. It may read it.
    pub fn counter(&mut self) -> Option<u32> {
        let counter = self.counters.pop()?;
        self.set.from_x.push(counter);
        Some(counter)
    }

    pub fn counter_done(&mut self, counter: u32) {
        self.set.from_x.retain(|&n| n != counter);
        self.counters.push(counter);
    }

    fn counted_loop(&mut self, depth: u32) {
        let Some(counter) = self.counter() else {
            return self.straight();
        };
        let count = 1 + self.rng.below(6) as i32;
        let up = self.rng.chance(40);
        let end = self.code.label();
        self.code.constant(counter, if up { 0 } else { count });
        let head = self.code.here();
        let at_top = self.rng.chance(30);
        if at_top && !up {
            self.code.branch(0x0063, counter, 0, end);
        }
        self.some(3, depth);
        if self.rng.chance(40) {
            let to = if at_top && !up {
                end
            } else {
                self.code.label()
            };
            self.condition(to);
            self.some(1, depth);
            if to != end {
                self.code.place(to);
            }
        }
        let step = if up { 1 } else { -1 };
        // c.addi or addi
        let bits = if self.rng.chance(50) {
            1 | counter << 7 | if up { 1 << 2 } else { 0x107c }
        } else {
            addi(counter, counter, step)
        };
        self.code.insn(bits, x(counter), x(counter));
        if up {
            let limit = self.temporary[0];
            self.code.constant(limit, count);
            self.code.branch(0x4063, counter, limit, head);
        } else if at_top {
            self.code.jump(head);
        } else {
            self.code.branch(BNEZ, counter, 0, head);
        }
        self.code.place(end);
        self.counter_done(counter);
    }

    /// A jump by a table: 32-bit distances from it or 64-bit addresses.
    fn switch(&mut self, depth: u32) {
        let cases = 2 + self.rng.below(9) as usize;
        let end = self.code.label();
        let [index, table, other] = self.temporary;
        let value = self.set.any_x(&mut self.rng);
        let checked = !cases.is_power_of_two() || self.rng.chance(50);
        let mask = if checked { 15 } else { cases as i32 - 1 };
        self.code
            .insn(i(0x7013, index, value, mask), x(value), x(index));
        if checked {
            self.code.constant(other, cases as i32 - 1);
            self.code.branch(0x6063, other, index, end);
        }
        let labels: Vec<Label> = (0..cases).map(|_| self.code.label()).collect();
        let absolute = self.rng.chance(40);
        let number = self.code.tables.len();
        self.code.tables.push(Table {
            entries: labels.iter().copied().map(Some).collect(),
            has_holes: false,
            form: if absolute {
                Form::Address
            } else {
                Form::Distance(4, None)
            },
            hidden: false,
        });
        let to = Target::Table(number);
        self.code
            .line(Kind::Address { rd: table, to }, 0, x(table), Flow::Next);
        if self.rng.chance(60) {
            // sh3add, sh2add
            let word = if absolute { 0x2000_6033 } else { 0x2000_4033 };
            self.code
                .insn(r(word, index, index, table), x(index) | x(table), x(index));
        } else {
            let shift = if absolute { 3 } else { 2 };
            self.code
                .insn(i(0x1013, index, index, shift), x(index), x(index));
            self.code
                .insn(r(0x33, index, index, table), x(index) | x(table), x(index));
        }
        let width = if absolute { 0x3003 } else { 0x2003 };
        self.code
            .insn(i(width, index, index, 0), x(index), x(index));
        if !absolute {
            self.code
                .insn(r(0x33, index, index, table), x(index) | x(table), x(index));
        }
        let bits = self.jump_register(index);
        self.code
            .line(Kind::Bits(bits), x(index), 0, Flow::Table(labels.clone()));
        for label in labels {
            self.code.place(label);
            self.some(2, depth);
            // Some fall through.
            if self.rng.chance(75) {
                self.code.jump(end);
            }
        }
        self.code.place(end);
    }

    /// Blocks with jumps between them in any direction, entered anywhere; a counter bounds how
    /// often it goes backward.
    fn tangle(&mut self, depth: u32) {
        let Some(counter) = self.counter() else {
            return self.straight();
        };
        let count = 3 + self.rng.below(4) as usize;
        let blocks: Vec<Label> = (0..count).map(|_| self.code.label()).collect();
        let end = self.code.label();
        let turns = 2 + self.rng.below(8) as i32;
        self.code.constant(counter, turns);
        let first = self.rng.pick(&blocks);
        self.condition(first);
        for (n, &block) in blocks.iter().enumerate() {
            self.code.place(block);
            self.some(2, depth);
            for _ in 0..1 + self.rng.below(2) {
                let to = self.rng.below(count as u64) as usize;
                if to <= n {
                    self.code
                        .insn(addi(counter, counter, -1), x(counter), x(counter));
                    // bge x0, counter
                    self.code.branch(BLEZ, 0, counter, end);
                }
                self.condition(blocks[to]);
            }
            if self.rng.chance(25) {
                let to = if n + 1 < count {
                    blocks[n + 1 + self.rng.below((count - n - 1) as u64) as usize]
                } else {
                    end
                };
                self.code.jump(to);
            }
        }
        self.code.place(end);
        self.counter_done(counter);
    }

    /// Sometimes goes to the function's end.
    fn early_exit(&mut self) {
        let over = self.code.label();
        self.condition(over);
        let exit = self.exit;
        self.code.jump(exit);
        self.code.place(over);
    }

    /// Another epilogue in the middle of the function.
    fn leave_here(&mut self) {
        let over = self.code.label();
        self.condition(over);
        self.leave();
        self.code.place(over);
    }
}
