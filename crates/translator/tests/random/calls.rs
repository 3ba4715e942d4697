//! Calls by name, by pointer, and of code made at run time.

use crate::code::{Code, Flow, Kind, RA, ROOM, SAVED, Target, f, x};
use crate::function::{CLOBBERED, Function, is_saved};
use crate::insn::{self, Registers};
use crate::program::{POINTERS, PROTECTED, PROTECTED_PAGES, ROOMS};
use flick_riscv_testing::asm::{self, addi, i, r, s};

impl Function<'_> {
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

    pub fn call(&mut self) {
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
    pub fn make_code(&mut self) {
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
        if rng.chance(40) {
            // t1 is the address of a page.
            let page = PROTECTED + (rng.below(PROTECTED_PAGES) << 12);
            code.insn(0x37 | 6 << 7 | page as u32, 0, x(6));
            let at = rng.below(2040) as i32;
            insn::access(rng, &mut code, &set, 6, at);
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
