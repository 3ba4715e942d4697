//! Random programs, on a machine that interprets and on one that translates: the same registers, memory,
//! traps, and counts at each trap. The seed of a failure is printed; `FLICK_SEED` runs it alone.
mod bare_machine;

use bare_machine::{Quiet, on_machine};
use flick_machine::End;
use flick_riscv::{Access, Class, Format, Op};
use flick_riscv_testing::asm::{addi, branch, fld, fsd, i, jal, ld, r, s, sd};
use flick_riscv_testing::values::{Rng, boxed, double, integer};

const PROGRAMS: u64 = 250;
/// The first address of memory.
const MEMORY: u64 = 0x8000_0000;

// Places in the image.
const DATA: usize = 0x10000;
const VALUES: usize = 0x12000;
const RESULTS: usize = 0x13000;
const TABLES: usize = 0x14000;
const LOG: usize = 0x20000;
const SIZE: usize = 0x80000;

// Registers with a task of their own. The last four belong to the handler of traps.
const GP: u32 = 3;
const ATOMIC: u32 = 25;
const CODE: u32 = 26;
const TIMES: u32 = 27;
const LAST_RANDOM: u64 = 24;

const BEQ: u32 = 0x0063;
const BNE: u32 = 0x1063;
const BLT: u32 = 0x4063;
const JALR: u32 = 0x0067;
const FENCE_I: u32 = 0x0000_100f;
const MRET: u32 = 0x3020_0073;

fn csrr(rd: u32, csr: u32) -> u32 {
    0x2073 | rd << 7 | csr << 20
}

fn csrw(csr: u32, rs1: u32) -> u32 {
    0x1073 | rs1 << 15 | csr << 20
}

fn lui(rd: u32, upper: u32) -> u32 {
    0x37 | rd << 7 | upper << 12
}

/// Where a body is executed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Machine,
    Supervisor,
    User,
}

struct Writer {
    words: Vec<u32>,
}

impl Writer {
    fn add(&mut self, words: impl IntoIterator<Item = u32>) {
        self.words.extend(words);
    }

    fn at(&self) -> i32 {
        4 * self.words.len() as i32
    }

    /// Makes the word at `from` lead to here.
    fn lead_here(&mut self, from: i32, make: impl Fn(i32) -> u32) {
        self.words[from as usize / 4] = make(self.at() - from);
    }
}

fn program(seed: u64) -> (Vec<u8>, Mode) {
    let rng = &mut Rng(seed);
    let mode = rng.pick(&[Mode::Machine, Mode::Supervisor, Mode::User]);
    let mut code = Writer { words: vec![] };
    // The image is at the first instruction.
    code.add([0x17 | 30 << 7]);
    // Over the handler.
    let over = code.at();
    code.add([0]);
    let handler = code.at();
    code.add([
        csrr(30, 0x342),
        sd(30, 31, 0),
        csrr(29, 0x341),
        sd(29, 31, 8),
    ]);
    code.add([
        csrr(28, 0x343),
        sd(28, 31, 16),
        csrr(28, 0xb02),
        sd(28, 31, 24),
    ]);
    code.add([addi(31, 31, 32)]);
    let interrupt = code.at();
    code.add([0]);
    // An exception: behind the instruction, which has 2 or 4 bytes.
    code.add([i(0x5003, 30, 29, 0), i(0x7013, 30, 30, 3), addi(30, 30, -3)]);
    code.add([addi(28, 0, 4), branch(BEQ, 30, 0, 8), addi(28, 0, 2)]);
    code.add([r(0x33, 29, 29, 28), csrw(0x341, 29), MRET]);
    code.lead_here(interrupt, |distance| branch(BLT, 30, 0, distance));
    // The timer: some ticks later again.
    let ticks = 1 + rng.below(6) as i32;
    code.add([lui(30, 0x200c), ld(29, 30, -8), addi(29, 29, ticks)]);
    code.add([lui(30, 0x2004), sd(29, 30, 0), MRET]);

    code.lead_here(over, |distance| jal(0, distance));
    code.add([addi(29, 30, handler), csrw(0x305, 29)]);
    // FS, and the timer.
    code.add([lui(29, 6), csrw(0x300, 29)]);
    code.add([addi(29, 0, 0x80), csrw(0x304, 29)]);
    code.add([lui(28, 0x2004), sd(0, 28, 0)]);
    code.add([lui(29, VALUES as u32 >> 12), r(0x33, 29, 29, 30)]);
    code.add((1..28).map(|n| ld(n, 29, 8 * n as i32)));
    code.add((0..32).map(|n| fld(n, 29, 256 + 8 * n as i32)));
    code.add([lui(31, LOG as u32 >> 12), r(0x33, 31, 31, 30)]);
    code.add([
        lui(GP, DATA as u32 >> 12),
        r(0x33, GP, GP, 30),
        addi(GP, GP, 0x7f0),
    ]);
    code.add([addi(ATOMIC, GP, 16 + 8 * rng.below(4) as i32)]);
    code.add([addi(TIMES, 0, 20 + rng.below(200) as i32)]);
    code.add([
        addi(28, 0, -1),
        csrw(0x3b0, 28),
        addi(28, 0, 31),
        csrw(0x3a0, 28),
    ]);
    code.add([addi(28, 0, 7), csrw(0x306, 28), csrw(0x106, 28)]);
    if mode != Mode::Machine {
        code.add([
            lui(29, TABLES as u32 >> 12),
            r(0x33, 29, 29, 30),
            i(0x5013, 29, 29, 12),
        ]);
        code.add([
            addi(28, 0, 8),
            i(0x1013, 28, 28, 60),
            r(0x33, 29, 29, 28),
            csrw(0x180, 29),
        ]);
    }
    let mode_bits = match mode {
        Mode::Machine => 3,
        Mode::Supervisor => 1,
        Mode::User => 0,
    };
    // MPP, MPIE, FS.
    code.add([lui(29, 6), addi(28, 0, mode_bits), i(0x1013, 28, 28, 11)]);
    code.add([r(0x33, 29, 29, 28), addi(29, 29, 0x80), csrw(0x300, 29)]);
    let body = code.at() + 4 * 6;
    code.add([addi(CODE, 30, 0), lui(28, 1), r(0x33, CODE, CODE, 28)]);
    code.add([addi(29, 30, body), csrw(0x341, 29), MRET]);
    assert_eq!(code.at(), body);
    assert!(body < 2048);
    let mut bodies = Body {
        rng,
        code,
        spare: body,
    };
    let length = 20 + bodies.rng.below(100);
    bodies.statements(length);
    let Body { rng, mut code, .. } = bodies;
    let back = body - (code.at() + 8);
    code.add([
        addi(TIMES, TIMES, -1),
        branch(BEQ, TIMES, 0, 8),
        jal(0, back),
    ]);
    // The end: registers to memory, and the finisher.
    code.add([
        lui(30, RESULTS as u32 >> 12),
        lui(29, 0x40000),
        i(0x1013, 29, 29, 1),
    ]);
    code.add([r(0x33, 30, 30, 29)]);
    code.add((1..28).map(|n| sd(n, 30, 8 * n as i32)));
    code.add((0..32).map(|n| fsd(n, 30, 256 + 8 * n as i32)));
    code.add([
        csrr(29, 3),
        sd(29, 30, 512),
        csrr(29, 0xc02),
        sd(29, 30, 520),
    ]);
    code.add([
        csrr(29, 0xc00),
        sd(29, 30, 528),
        csrr(29, 0xc01),
        sd(29, 30, 536),
    ]);
    code.add([
        lui(29, 5),
        addi(29, 29, 0x555),
        lui(28, 0x100),
        s(0x2023, 28, 29, 0),
        jal(0, 0),
    ]);
    assert!(code.at() < DATA as i32);

    let mut image = vec![0; SIZE];
    for (at, word) in image.chunks_exact_mut(4).zip(&code.words) {
        at.copy_from_slice(&word.to_le_bytes());
    }
    let mut put = |at: usize, value: u64| image[at..at + 8].copy_from_slice(&value.to_le_bytes());
    for n in 0..DATA / 8 / 8 {
        put(DATA + 8 * n, integer(rng));
    }
    for n in 0..32 {
        put(VALUES + 8 * n, integer(rng));
        let float = if rng.chance(50) {
            boxed(rng)
        } else {
            double(rng)
        };
        put(VALUES + 256 + 8 * n, float);
    }
    // Pages of 1 GiB: devices and memory, and memory once more.
    let rights = if mode == Mode::User { 0xdf } else { 0xcf };
    put(TABLES, rights);
    put(TABLES + 16, MEMORY >> 2 | rights);
    put(TABLES + 24, MEMORY >> 2 | rights);
    (image, mode)
}

struct Body<'a> {
    rng: &'a mut Rng,
    code: Writer,
    /// The offset of an instruction that may be copied.
    spare: i32,
}

impl Body<'_> {
    fn register(&mut self) -> u32 {
        match self.rng.below(LAST_RANDOM + 1) as u32 {
            GP => 10,
            number => number,
        }
    }

    fn statements(&mut self, count: u64) {
        for _ in 0..count {
            match self.rng.below(100) {
                0..=7 => {
                    // Over some instructions, or not.
                    let (a, b) = (self.register(), self.register());
                    let base = BEQ | self.rng.pick(&[0, 1, 4, 5, 6, 7]) << 12;
                    let from = self.code.at();
                    self.code.add([0]);
                    let over = self.rng.below(5);
                    self.instructions(over);
                    self.code
                        .lead_here(from, |distance| branch(base, a, b, distance));
                }
                8 | 9 => {
                    // A loop.
                    let times = 1 + self.rng.below(9) as i32;
                    self.code.add([addi(24, 0, times)]);
                    let start = self.code.at();
                    let within = 1 + self.rng.below(4);
                    self.instructions(within);
                    self.code.add([addi(24, 24, -1), i(0x7013, 24, 24, 15)]);
                    let distance = start - self.code.at();
                    self.code.add([branch(BNE, 24, 0, distance)]);
                }
                10 | 11 => {
                    // A call by a register, and back.
                    let at = self.code.at();
                    self.code.add([
                        0x17 | 1 << 7,
                        i(JALR, 5, 1, 12),
                        jal(0, 8),
                        i(JALR, 0, 5, 0),
                    ]);
                    assert_eq!(self.code.at() - at, 16);
                }
                12 => {
                    // An instruction is replaced by another one.
                    let to = self.code.at() + 4 * 4 + 4 * self.rng.below(2) as i32;
                    let from = self.spare;
                    self.code
                        .add([i(0x2003, 24, CODE, from - 0x1000), 0, FENCE_I]);
                    let at = self.code.words.len() - 2;
                    if (to - 0x1000).abs() < 2048 && (from - 0x1000).abs() < 2048 {
                        self.code.words[at] = s(0x2023, CODE, 24, to - 0x1000);
                    } else {
                        self.code.words[at] = addi(0, 0, 0);
                        self.code.words[at - 1] = addi(0, 0, 0);
                    }
                    // What is replaced is no part of anything.
                    self.instructions(1);
                    self.spare = self.code.at();
                    self.plain();
                    self.plain();
                    self.plain();
                }
                _ => self.instructions(1),
            }
        }
    }

    fn instructions(&mut self, count: u64) {
        for _ in 0..count {
            self.instruction();
        }
    }

    /// A computation.
    fn plain(&mut self) {
        let (rd, a, b) = (self.register(), self.register(), self.register());
        let base = self
            .rng
            .pick(&[0x33, 0x4000_0033, 0x4033, 0x0200_0033, 0x3b]);
        self.code.add([r(base, rd, a, b)]);
    }

    fn instruction(&mut self) {
        let op = loop {
            let op = self.rng.pick(&Op::ALL);
            let is_jump = matches!(op.class(), Class::Jump | Class::Branch);
            let is_left_out = matches!(op.class(), Class::Privileged | Class::Vector) || is_jump;
            if op.encoding() != (0, 0) && !is_left_out {
                break op;
            }
        };
        let bits = op.encoding().1;
        let (rd, a, b) = (self.register(), self.register(), self.register());
        let number = |rng: &mut Rng| rng.below(32) as u32;
        let (fd, fa, fb, fc) = (
            number(self.rng),
            number(self.rng),
            number(self.rng),
            number(self.rng),
        );
        let rm = if self.rng.chance(80) {
            7
        } else {
            self.rng.below(8) as u32
        };
        let imm = self.rng.signed(12);
        let base = if self.rng.chance(95) { GP } else { a };
        let word = match (op.format(), op.access()) {
            (Format::Unary, Access::Load(_))
            | (Format::R, Access::Store(_) | Access::Update(_)) => {
                let at = if self.rng.chance(95) { ATOMIC } else { a };
                let b = if op.access() == Access::Load(4) || op.access() == Access::Load(8) {
                    0
                } else {
                    b
                };
                r(bits, rd, at, b)
            }
            (Format::I, Access::Load(_)) => i(bits, rd, base, imm),
            (Format::FI, _) => i(bits, fd, base, imm),
            (Format::S, _) => s(bits, base, b, imm),
            (Format::FS, _) => s(bits, base, fb, imm),
            (Format::Bare | Format::Environment, _) => bits,
            (Format::U, _) => bits | rd << 7 | (self.rng.next() as u32) << 12,
            (Format::I, _) => i(bits, rd, a, imm),
            (Format::Shift6, _) => bits | rd << 7 | a << 15 | (self.rng.below(64) as u32) << 20,
            (Format::Shift5, _) => bits | rd << 7 | a << 15 | (self.rng.below(32) as u32) << 20,
            (Format::Unary, _) => r(bits, rd, a, 0),
            (Format::R, _) => r(bits, rd, a, b),
            (Format::Csr | Format::CsrI, _) => {
                // fflags, frm, fcsr; cycle, time and instret, which are read-only.
                let csr = self.rng.pick(&[1, 2, 3, 0xc00, 0xc01, 0xc02]);
                let a = if csr >= 0xc00 && self.rng.chance(80) {
                    0
                } else {
                    a
                };
                bits | rd << 7 | a << 15 | csr << 20
            }
            (Format::Ff, _) => r(bits, fd, fa, 0),
            (Format::FfRm, _) => r(bits, fd, fa, 0) | rm << 12,
            (Format::Fff, _) => r(bits, fd, fa, fb),
            (Format::FffRm, _) => r(bits, fd, fa, fb) | rm << 12,
            (Format::FfffRm, _) => r(bits, fd, fa, fb) | fc << 27 | rm << 12,
            (Format::Fx, _) => r(bits, fd, a, 0),
            (Format::FxRm, _) => r(bits, fd, a, 0) | rm << 12,
            (Format::Xf, _) => r(bits, rd, fa, 0),
            (Format::XfRm, _) => r(bits, rd, fa, 0) | rm << 12,
            (Format::Xff, _) => r(bits, rd, fa, fb),
            (format, _) => unreachable!("{format:?} is left out"),
        };
        self.code.add([word]);
    }
}

#[derive(Debug, PartialEq)]
struct Outcome {
    end: End,
    pcs: Vec<u64>,
    instructions: Vec<u64>,
    cycles: Vec<u64>,
}

fn execute(image: &[u8], translate_after: Option<u8>) -> (Outcome, Vec<u8>) {
    let settings = [
        "harts=1",
        "isa=rv64gc_zba_zbb_zbs_zicond_zicntr_svadu",
        "memory=16M",
    ];
    on_machine("virt", &settings, vec![], image, |machine, board| {
        machine.limit(200_000);
        machine.translate_after(translate_after);
        let end = machine.run(&mut Quiet);
        let mut memory = vec![0; 2 << 20];
        board.read_memory(MEMORY, &mut memory).unwrap();
        let outcome = Outcome {
            end,
            pcs: machine.program_counters(),
            instructions: machine.instructions(),
            cycles: machine.cycles(),
        };
        (outcome, memory)
    })
}

fn check(seed: u64) -> End {
    let (image, mode) = program(seed);
    let (wanted, memory) = execute(&image, None);
    for after in [1, 5] {
        let (found, other) = execute(&image, Some(after));
        let what = format!("FLICK_SEED={seed} in {mode:?}, translated after {after}");
        let differs = memory.iter().zip(&other).position(|(a, b)| a != b);
        if let Some(at) = differs {
            let word = |memory: &[u8]| {
                let at = at / 8 * 8;
                u64::from_le_bytes(memory[at..at + 8].try_into().unwrap())
            };
            let (wanted, found) = (word(&memory), word(&other));
            panic!("{what}: at {at:#x} is {found:#x} instead of {wanted:#x}");
        }
        assert_eq!(found, wanted, "{what}");
    }
    wanted.end
}

#[test]
fn translated_programs_do_the_same() {
    if let Ok(seed) = std::env::var("FLICK_SEED") {
        check(seed.parse().unwrap());
        return;
    }
    let programs = std::env::var("FLICK_PROGRAMS").map_or(PROGRAMS, |n| n.parse().unwrap());
    let ends: Vec<End> = (1..=programs).map(check).collect();
    let exits = ends.iter().filter(|end| **end == End::Exit(0)).count();
    assert!(
        exits as u64 > programs / 2,
        "only {exits} programs come to their end"
    );
}
