//! Statements: straight code, memory accesses, structured and unstructured control flow, calls.

use crate::asm::{self, addi, i, r, s};
use crate::code::{Code, Flow, Kind, Label, RA, ROOM, SAVED, Target, f, x};
use crate::function::{CLOBBERED, Function, is_saved};
use crate::insn::{self, Registers};
use crate::program::{DATA_MIDDLE, POINTERS, PROTECTED, PROTECTED_PAGES, ROOMS};
use crate::values::Rng;

/// `lui` with the middle of the data area.
pub fn data_middle(n: u32) -> u32 {
    0x37 | n << 7 | DATA_MIDDLE as u32
}

const BRANCHES: [u32; 6] = [0x0063, 0x1063, 0x4063, 0x5063, 0x6063, 0x7063];
const BNEZ: u32 = 0x1063;
const BLEZ: u32 = 0x5063;

impl Function<'_> {
    /// Each statement has a seed, so that leaving one out changes no other.
    pub fn statements(&mut self, count: u64, depth: u32) {
        for _ in 0..count {
            let seed = self.rng.next();
            if self.skip.contains(&seed) {
                continue;
            }
            self.seeds.push(seed);
            let outer = core::mem::replace(&mut self.rng, Rng(seed));
            self.statement(depth);
            self.rng = outer;
        }
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
            76..81 if depth < 2 => self.switch(depth),
            81..85 if depth < 1 => self.tangle(depth),
            85..87 if depth > 0 => self.early_exit(),
            87..97 if !self.leaf => self.call(),
            97..99 if !self.leaf => self.make_code(),
            99 if depth > 0 => self.leave_here(),
            _ => self.straight(),
        }
    }

    fn straight(&mut self) {
        for _ in 0..1 + self.rng.below(7) {
            insn::compute(&mut self.rng, &mut self.code, &self.set);
        }
    }

    /// A branch on working registers.
    fn condition(&mut self, to: Label) {
        let (a, mut b) = (self.set.any_x(&mut self.rng), self.set.any_x(&mut self.rng));
        if self.rng.chance(40) {
            b = 0;
        }
        let base = self.rng.pick(&BRANCHES);
        self.code.branch(base, a, b, to);
    }

    /// Puts an address in `register`: `start`, and at random up to 2047 more, a multiple of `align`.
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

    fn data_access(&mut self) {
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

    fn local_access(&mut self) {
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
        let lui = |n: u32, page: u64| 0x37 | n << 7 | (PROTECTED + (page << 12)) as u32;
        let at = match self.rng.below(4) {
            // Over the beginning of the page.
            0 if page > 0 && align == 1 => -1 - self.rng.below(7) as i32,
            _ => self.rng.below(2040) as i32 & !(align - 1),
        };
        if self.rng.chance(60) {
            self.code.insn(lui(register, page), 0, x(register));
        } else {
            let (index, start) = (self.set.any_x(&mut self.rng), self.temporary[1]);
            let other = self.temporary[2];
            let mask = PROTECTED_PAGES as i32 - 1;
            self.code
                .insn(i(0x7013, other, index, mask), x(index), x(other));
            self.code
                .insn(i(0x1013, other, other, 12), x(other), x(other));
            self.code.insn(lui(start, 0), 0, x(start));
            self.code.insn(
                r(0x33, register, start, other),
                x(start) | x(other),
                x(register),
            );
            return (register, at.max(0));
        }
        (register, at)
    }

    fn protected_access(&mut self) {
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

    fn atomic(&mut self) {
        let base = self.aligned(8);
        for _ in 0..1 + self.rng.below(2) {
            insn::amo(&mut self.rng, &mut self.code, &self.set, base);
        }
    }

    /// The loop of an atomic operation made of lr and sc.
    fn reserve_loop(&mut self) {
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
            self.code.branch(BNEZ, old, data, out);
        }
        let op = self.rng.pick(&[0x33, 0x4033, 0x7033, 0x0200_0033]);
        self.code
            .insn(r(op, new, old, data), x(old) | x(data), x(new));
        let bits = r(0x1800_002f | width, status, base, new) | order(&mut self.rng);
        self.code.insn(bits, x(base) | x(new), x(status));
        self.code.branch(BNEZ, status, 0, head);
        self.code.place(out);
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
    fn skip_one(&mut self) {
        let over = self.code.label();
        self.condition(over);
        insn::compute(&mut self.rng, &mut self.code, &self.set);
        self.code.place(over);
    }

    fn some(&mut self, most: u64, depth: u32) {
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
    fn counter(&mut self) -> Option<u32> {
        let counter = self.counters.pop()?;
        self.set.from_x.push(counter);
        Some(counter)
    }

    fn counter_done(&mut self, counter: u32) {
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
        let cases = 2 + self.rng.below(6) as usize;
        let end = self.code.label();
        let [index, table, other] = self.temporary;
        let value = self.set.any_x(&mut self.rng);
        let checked = !cases.is_power_of_two() || self.rng.chance(50);
        let mask = if checked { 7 } else { cases as i32 - 1 };
        self.code
            .insn(i(0x7013, index, value, mask), x(value), x(index));
        if checked {
            self.code.constant(other, cases as i32 - 1);
            self.code.branch(0x6063, other, index, end);
        }
        let labels: Vec<Label> = (0..cases).map(|_| self.code.label()).collect();
        let absolute = self.rng.chance(40);
        let number = self.code.tables.len();
        self.code.tables.push(crate::code::Table {
            labels: labels.clone(),
            absolute,
        });
        let shift = if absolute { 3 } else { 2 };
        self.code
            .insn(i(0x1013, index, index, shift), x(index), x(index));
        let to = Target::Table(number);
        self.code
            .line(Kind::Address { rd: table, to }, 0, x(table), Flow::Next);
        self.code
            .insn(r(0x33, index, index, table), x(index) | x(table), x(index));
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

    /// Blocks with jumps between them in any direction, entered anywhere; a counter bounds how often
    /// it goes backward.
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

    /// Loads a function pointer of a class.
    pub fn load_pointer(&mut self, class: usize, target: u32) {
        let (at, count) = self.plan.pointers(class);
        let index = self.set.any_x(&mut self.rng);
        let table = self.temporary[1];
        let mask = count as i32 - 1;
        self.code
            .insn(i(0x7013, target, index, mask), x(index), x(target));
        self.code
            .insn(i(0x1013, target, target, 3), x(target), x(target));
        self.code
            .insn(0x37 | table << 7 | POINTERS as u32, 0, x(table));
        self.code.insn(
            r(0x33, target, target, table),
            x(target) | x(table),
            x(target),
        );
        self.code
            .insn(i(0x3003, target, target, at), x(target), x(target));
    }

    fn call(&mut self) {
        let class = self.rng.below(self.plan.classes.len() as u64) as usize;
        let reads = SAVED | self.plan.arguments(class);
        if self.rng.chance(40) {
            let held = self.temporary[2];
            if self.rng.chance(30) {
                // The address itself, now and then of the middle of a function.
                self.arguments(class);
                let to = self.plan.entry_of(&mut self.rng, class);
                self.code
                    .line(Kind::Address { rd: held, to }, 0, x(held), Flow::Next);
            } else {
                self.load_pointer(class, held);
                self.arguments(class);
            }
            let bits = if self.rng.chance(50) {
                0x9002 | held << 7
            } else {
                i(0x67, RA, held, 0)
            };
            self.code
                .line(Kind::Bits(bits), reads | x(held), CLOBBERED, Flow::Next);
        } else {
            self.arguments(class);
            let to = self.plan.function_of(&mut self.rng, class);
            let far = self.rng.chance(40).then_some(RA);
            let to = Target::Function(to);
            self.code
                .line(Kind::Call { rd: RA, to, far }, reads, CLOBBERED, Flow::Next);
        }
        self.after_call(class);
    }

    fn after_call(&mut self, class: usize) {
        let class = &self.plan.classes[class];
        let (rx, rf) = (class.result_x, class.result_f);
        let mut holds_x: Vec<u32> = (10..10 + rx).collect();
        holds_x.extend(self.set.to_x.iter().filter(|&&n| is_saved(n)));
        let mut holds_f: Vec<u32> = (10..10 + rf).collect();
        holds_f.extend(self.set.to_f.iter().filter(|&&n| is_saved(n)));
        self.define(holds_x, holds_f);
    }

    /// Writes a small function, tells the hart, and calls it; most often another one in the same
    /// place after it.
    fn make_code(&mut self) {
        let room = self.rng.below(ROOMS);
        for _ in 0..1 + self.rng.below(3) {
            let class = self.rng.below(self.plan.classes.len() as u64) as usize;
            self.write_code(class, room);
            self.arguments(class);
            let held = self.temporary[2];
            let reads = SAVED | self.plan.arguments(class) | x(held);
            let bits = i(0x67, RA, held, 0);
            self.code
                .line(Kind::Bits(bits), reads, CLOBBERED, Flow::Next);
            self.after_call(class);
        }
    }

    fn write_code(&mut self, class: usize, room: u64) {
        let words = self.made(class);
        let [value, part, held] = self.temporary;
        let to = Target::Room(room);
        self.code
            .line(Kind::Address { rd: held, to }, 0, x(held), Flow::Next);
        for (n, &word) in words.iter().enumerate() {
            self.code.constant(value, word as i32);
            if n == 0 {
                // addi with an immediate that only the run knows.
                let from = self.set.any_x(&mut self.rng);
                self.code.insn(i(0x1013, part, from, 20), x(from), x(part));
                self.code
                    .insn(r(0x6033, value, value, part), x(value) | x(part), x(value));
            }
            self.code
                .insn(s(0x2023, held, value, 4 * n as i32), x(held) | x(value), 0);
        }
        self.code.insn(0x100f, 0, 0); // fence.i
    }

    /// The words of a function without frame; the first is an `addi` with no immediate yet.
    fn made(&mut self, class: usize) -> Vec<u32> {
        let class = &self.plan.classes[class];
        let mut code = Code::default();
        let rng = &mut self.rng;
        // The destination counts as an argument from here on.
        let first = 10 + rng.below(4) as u32;
        code.insn(addi(first, 0, 0), 0, x(first));
        let mut set = Registers {
            beyond_qemu: self.set.beyond_qemu,
            from_x: (10..10 + class.x).chain([0, first]).collect(),
            to_x: vec![10, 11, first],
            from_f: vec![10, 11],
            to_f: vec![10, 11],
        };
        for n in 10..12 {
            let from = set.any_x(rng);
            code.insn(r(0xf200_0053, n, from, 0), x(from), f(n));
        }
        for n in 10..12 {
            let (a, b) = (set.any_x(rng), set.any_x(rng));
            code.insn(r(0x33, n, a, b), x(a) | x(b), x(n));
            set.from_x.push(n);
        }
        for _ in 0..rng.below(5) {
            insn::compute(rng, &mut code, &set);
        }
        let mut halves = asm::Code::default();
        for line in &code.lines {
            if let Kind::Bits(bits) = line.kind {
                halves.insn(bits);
            }
        }
        if halves.0.len() % 2 == 0 && rng.chance(50) {
            halves.word(asm::jr(RA));
        } else {
            halves.half(0x8082);
        }
        halves.0.resize(halves.0.len().next_multiple_of(2), 1);
        assert!(halves.len() as u64 <= ROOM);
        let words = halves.0.chunks(2);
        words
            .map(|w| u32::from(w[0]) | u32::from(w[1]) << 16)
            .collect()
    }
}
