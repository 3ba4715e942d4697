//! Jumps to labels by their addresses, as `goto *` makes them: by tables of every form, some of
//! which the program's makers say nothing of, by labels that are stored or chosen, copied, kept
//! elsewhere for a while.

use crate::code::{Flow, Form, Kind, Label, Table, Target, x};
use crate::function::Function;
use flick_riscv_testing::asm::{addi, i, ld, r, sd};

const BLEZ: u32 = 0x5063;

/// How the address of a label is come by.
#[derive(Clone)]
enum Way {
    /// Numbers of tables of one form: one of them by chance.
    Tables(Vec<usize>),
    /// Addresses that code stores on the stack.
    Stored,
    /// One of some addresses, by branches.
    Chosen,
}

impl Function<'_> {
    /// Blocks that are entered by the addresses of their labels. Some jump on in the same way, as
    /// interpreters do; a counter bounds that.
    pub fn computed_goto(&mut self, depth: u32) {
        let tiny = self.rng.chance(15);
        let count = 2 + self.rng.below(if tiny { 2 } else { 4 });
        let labels: Vec<Label> = (0..count).map(|_| self.code.label()).collect();
        let end = self.code.label();
        let counter = if tiny || self.rng.chance(40) {
            None
        } else {
            self.counter()
        };
        if let Some(counter) = counter {
            let turns = 2 + self.rng.below(6) as i32;
            self.code.constant(counter, turns);
        }
        let way = self.way(&labels, tiny);
        self.jump_to_one(&labels, &way);
        for &label in &labels {
            self.code.place(label);
            if tiny {
                let (to, from) = (self.rng.pick(&self.set.to_x), self.set.any_x(&mut self.rng));
                self.copy(to, from);
            } else {
                self.some(2, depth);
            }
            match counter {
                Some(counter) if self.rng.chance(70) => {
                    self.code
                        .insn(addi(counter, counter, -1), x(counter), x(counter));
                    // bge x0, counter
                    self.code.branch(BLEZ, 0, counter, end);
                    let way = if self.rng.chance(80) {
                        way.clone()
                    } else {
                        self.way(&labels, false)
                    };
                    self.jump_to_one(&labels, &way);
                }
                _ if self.rng.chance(75) => self.code.jump(end),
                // Falls through.
                _ => {}
            }
        }
        self.code.place(end);
        if let Some(counter) = counter {
            self.counter_done(counter);
        }
    }

    /// `tiny`: the labels are so near that a byte holds their distance.
    fn way(&mut self, labels: &[Label], tiny: bool) -> Way {
        match self.rng.below(10) {
            _ if tiny => {}
            0..2 if self.locals.is_some() => return Way::Stored,
            2 => return Way::Chosen,
            _ => {}
        }
        let form = match self.rng.below(10) {
            _ if tiny => Form::Distance(1, Some(labels[0])),
            0..4 => Form::Address,
            4..6 => Form::Distance(4, None),
            6 => Form::Distance(2, Some(self.rng.pick(labels))),
            7..9 => Form::Distance(4, Some(self.rng.pick(labels))),
            _ => Form::Distance(8, Some(self.rng.pick(labels))),
        };
        let count = if self.rng.chance(25) { 2 } else { 1 };
        let has_holes = self.rng.chance(30);
        let numbers = (0..count).map(|_| self.table(labels, form, has_holes));
        Way::Tables(numbers.collect())
    }

    /// A table of 4 or 8 labels; with holes every other entry is none.
    fn table(&mut self, labels: &[Label], form: Form, has_holes: bool) -> usize {
        let size = if self.rng.chance(50) { 4 } else { 8 };
        let mut entries = Vec::new();
        for _ in 0..size {
            entries.push(Some(self.rng.pick(labels)));
            if has_holes {
                entries.push(None);
            }
        }
        self.code.tables.push(Table {
            entries,
            has_holes,
            form,
            hidden: self.rng.chance(50),
        });
        self.code.tables.len() - 1
    }

    fn label_address(&mut self, rd: u32, to: Target) {
        self.code
            .line(Kind::Address { rd, to }, 0, x(rd), Flow::Next);
    }

    fn jump_to_one(&mut self, labels: &[Label], way: &Way) {
        let [target, _, held] = self.temporary;
        match way {
            Way::Tables(numbers) => self.load_entry(numbers),
            Way::Stored => self.store_and_load(labels),
            Way::Chosen => self.choose(labels),
        }
        let mut by = target;
        if let Some((base, offset, size)) = self.locals
            && self.rng.chance(20)
        {
            let at = offset + 8 * self.rng.below(size as u64 / 8) as i32;
            self.code.insn(sd(by, base, at), x(by) | x(base), 0);
            self.straight();
            self.code.insn(ld(held, base, at), x(base), x(held));
            by = held;
        } else if self.rng.chance(25) {
            self.copy(held, by);
            by = held;
        }
        if self.rng.chance(25) {
            self.skip_one();
        }
        let bits = if self.rng.chance(15) {
            // jalr clears bit 0.
            let away = self.rng.signed(12) / 2;
            self.code.insn(addi(by, by, -away), x(by), x(by));
            i(0x67, 0, by, away)
        } else {
            self.jump_register(by)
        };
        let flow = Flow::Table(labels.to_vec());
        self.code.line(Kind::Bits(bits), x(by), 0, flow);
    }

    /// An entry of one of some tables, by a register's contents.
    fn load_entry(&mut self, numbers: &[usize]) {
        let [index, table, base] = self.temporary;
        let form = self.code.tables[numbers[0]].form;
        let has_holes = self.code.tables[numbers[0]].has_holes;
        // Both have so many.
        let fewest = |&n: &usize| self.code.tables[n].entries.len();
        let entries = numbers.iter().map(fewest).min().unwrap_or(0) as i32;
        let value = self.set.any_x(&mut self.rng);
        let count = if has_holes { entries / 2 } else { entries };
        self.code
            .insn(i(0x7013, index, value, count - 1), x(value), x(index));
        if has_holes {
            self.code
                .insn(i(0x1013, index, index, 1), x(index), x(index));
        }
        self.label_address(table, Target::Table(numbers[0]));
        for &other in &numbers[1..] {
            let over = self.code.label();
            self.condition(over);
            self.label_address(table, Target::Table(other));
            self.code.place(over);
        }
        let shift = form.size().trailing_zeros();
        let reads = x(index) | x(table);
        if shift != 0 && self.rng.chance(60) {
            // sh1add, sh2add, sh3add
            let word = 0x2000_0033 | shift << 13;
            self.code
                .insn(r(word, index, index, table), reads, x(index));
        } else {
            if shift != 0 {
                let bits = i(0x1013, index, index, shift as i32);
                self.code.insn(bits, x(index), x(index));
            }
            self.code
                .insn(r(0x33, index, index, table), reads, x(index));
        }
        // lb, lh, lw, ld
        let load = 0x03 | shift << 12;
        self.code.insn(i(load, index, index, 0), x(index), x(index));
        let from = match form {
            Form::Address => return,
            Form::Distance(_, None) => table,
            Form::Distance(_, Some(label)) => {
                self.label_address(base, Target::Label(label));
                base
            }
        };
        let (a, b) = if self.rng.chance(50) {
            (index, from)
        } else {
            (from, index)
        };
        self.code
            .insn(r(0x33, index, a, b), x(index) | x(from), x(index));
    }

    /// A table on the stack, made where it is used.
    fn store_and_load(&mut self, labels: &[Label]) {
        let Some((base, offset, _)) = self.locals else {
            return self.choose(labels);
        };
        let [index, other, _] = self.temporary;
        // As many as any locals have room for.
        for n in 0..2 {
            let label = self.rng.pick(labels);
            self.label_address(other, Target::Label(label));
            let bits = sd(other, base, offset + 8 * n);
            self.code.insn(bits, x(other) | x(base), 0);
        }
        let value = self.set.any_x(&mut self.rng);
        self.code
            .insn(i(0x7013, index, value, 1), x(value), x(index));
        // sh3add
        let reads = x(index) | x(base);
        self.code
            .insn(r(0x2000_6033, index, index, base), reads, x(index));
        self.code.insn(ld(index, index, offset), x(index), x(index));
    }

    fn choose(&mut self, labels: &[Label]) {
        let target = self.temporary[0];
        self.label_address(target, Target::Label(labels[0]));
        for &label in labels.iter().skip(1).take(2) {
            let over = self.code.label();
            self.condition(over);
            self.label_address(target, Target::Label(label));
            self.code.place(over);
        }
    }
}
