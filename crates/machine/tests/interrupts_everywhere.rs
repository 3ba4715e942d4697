//! A timer interrupt in front of each instruction of a program, which sees nothing of it: the program ends
//! with the same registers and memory as without it. The interrupt is taken once, where the program was.
use flick_machine::{Board, Console, End, Files, Machine, System, boot, timing_of};
use flick_riscv_testing::asm::{addi, branch, fld, fsd, i, jal, ld, r, s, sd};

#[allow(dead_code, reason = "the other test needs more of it")]
#[path = "privileged/words.rs"]
mod words;

use words::{BEQ, BNE, ECALL, MRET, SFENCE_VMA, SRET, Words, csrr, csrw, lui, slli};

const MEMORY: u64 = 0x8000_0000;
/// When the interrupt comes, in ticks after the program has begun.
const WHEN: u64 = MEMORY + 0x8000;
/// What M mode's handler writes: registers that it uses, how often it was called, and from where.
const KEPT: u64 = MEMORY + 0x9000;
const DATA: u64 = MEMORY + 0xa000;
const TABLE: u64 = MEMORY + 0xe000;
const RESULTS: u64 = MEMORY + 0x1_0000;
const SIZE: usize = 0x1_1000;
/// A page of 1 GiB that the program's own handler maps.
const LATER: u64 = 4 << 30;
/// Never.
const NEVER: u64 = 1 << 40;

struct Quiet;

impl Console for Quiet {
    fn output(&mut self, _: &[u8]) {}
}

struct Program {
    image: Vec<u8>,
    /// The first instruction in front of which the interrupt may come.
    body: u64,
    /// The handler of S mode.
    handler: u64,
    /// Behind the last such instruction.
    end: u64,
}

fn program() -> Program {
    let mut code = Words::at(MEMORY);
    let over = code.ahead(1);
    while code.here() < MEMORY + 0x100 {
        code.add([0]);
    }
    // M mode's handler: a call is the end; an interrupt comes once.
    let machine = code.here();
    code.add([csrw(0x340, 31)]);
    code.la(31, KEPT);
    code.add([sd(30, 31, 0), csrr(30, 0x342)]);
    let exception = code.ahead(1);
    code.add([ld(30, 31, 8), addi(30, 30, 1), sd(30, 31, 8)]);
    code.add([
        csrr(30, 0xb02),
        sd(30, 31, 40),
        csrr(30, 0x341),
        sd(30, 31, 16),
        csrr(30, 0x342),
        sd(30, 31, 24),
    ]);
    code.add([sd(29, 31, 32), addi(29, 0, -1)]);
    code.li(30, 0x200_4000);
    code.add([
        sd(29, 30, 0),
        ld(29, 31, 32),
        ld(30, 31, 0),
        csrr(31, 0x340),
        MRET,
    ]);
    // S mode's: the page is mapped, and the access is made again.
    while code.here() < MEMORY + 0x200 {
        code.add([0]);
    }
    let handler = code.here();
    code.add([csrw(0x140, 31)]);
    code.la(31, TABLE);
    code.add([sd(30, 31, 8 * 100)]);
    code.li(30, MEMORY >> 2 | 0xcf);
    code.add([sd(30, 31, 8 * (LATER >> 30) as i32)]);
    code.add([
        addi(30, 0, 0),
        ld(30, 31, 8 * 100),
        SFENCE_VMA,
        csrr(31, 0x140),
        SRET,
    ]);

    code.reach(over, |distance| jal(0, distance));
    code.la(5, machine);
    code.add([csrw(0x305, 5)]);
    code.la(5, handler);
    code.add([csrw(0x105, 5)]);
    code.li(5, 1 << 13 | 1 << 15);
    code.add([csrw(0x302, 5), addi(5, 0, 0x80), csrw(0x304, 5)]);
    code.add([
        addi(5, 0, -1),
        csrw(0x3b0, 5),
        addi(5, 0, 31),
        csrw(0x3a0, 5),
    ]);
    code.li(5, 8 << 60 | TABLE >> 12);
    code.add([csrw(0x180, 5), SFENCE_VMA]);
    code.li(5, 0x2000 | 0x200 | 0x800);
    code.add([csrw(0x300, 5)]);
    for n in 0..32 {
        // fcvt.d.l
        code.add([
            addi(5, 0, n * 3 - 40),
            0xd220_7053 | (n as u32) << 7 | 5 << 15,
        ]);
    }
    code.add((7..32).map(|n| addi(n, 0, 11 * n as i32)));
    let entry = code.ahead(2);
    code.add([csrw(0x341, 5)]);
    // The timer begins.
    code.la(7, WHEN);
    code.li(8, 0x200_bff8);
    code.li(9, 0x200_4000);
    code.add([
        ld(5, 8, 0),
        ld(6, 7, 0),
        r(0x33, 5, 5, 6),
        sd(5, 9, 0),
        addi(5, 0, 0),
        addi(6, 0, 0),
        MRET,
    ]);
    code.reach_address(entry, 5);
    let body = code.here();
    statements(&mut code);
    let end = code.here();
    code.add([ECALL]);

    code.reach(exception, |distance| {
        let bge = 0x5063;
        branch(bge, 30, 0, distance)
    });
    code.add([ld(30, 31, 0), csrr(31, 0x340), csrw(0x340, 0)]);
    // Registers are results. x31 is needed for where they are.
    code.add([csrw(0x340, 31)]);
    code.la(31, RESULTS);
    code.add((1..31).map(|n| sd(n, 31, 8 * n as i32)));
    code.add([csrr(1, 0x340), sd(1, 31, 248)]);
    code.add((0..32).map(|n| fsd(n, 31, 256 + 8 * n as i32)));
    for (n, csr) in [3, 0x100, 0x141, 0x142, 0x143, 0xc20, 0xc21, 0xc22, 0x008]
        .into_iter()
        .enumerate()
    {
        code.add([csrr(1, csr), sd(1, 31, 512 + 8 * n as i32)]);
    }
    // Vector registers, eight at a time.
    code.add([addi(31, 31, 1024)]);
    for first in [0, 8, 16, 24] {
        // vs8r.v
        code.add([0xe280_0027 | 31 << 15 | first << 7, addi(31, 31, 128)]);
    }
    code.li(1, 0x5555);
    code.li(2, 0x10_0000);
    code.add([s(0x2023, 2, 1, 0), jal(0, 0)]);
    let code = code.bytes();
    assert!(code.len() < 0x8000);
    let mut image = vec![0; SIZE];
    image[..code.len()].copy_from_slice(&code);
    let mut put = |at: u64, value: u64| {
        image[(at - MEMORY) as usize..][..8].copy_from_slice(&value.to_le_bytes());
    };
    for n in 0..0x400 {
        put(DATA + 8 * n, n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    put(TABLE, 0xc7);
    put(TABLE + 16, MEMORY >> 2 | 0xcf);
    Program {
        image,
        body,
        handler,
        end,
    }
}

/// What is interrupted.
fn statements(code: &mut Words) {
    let (data, counter, sum) = (18, 19, 20);
    code.la(data, DATA);
    code.add([
        addi(data, data, 0x7f8),
        addi(counter, 0, 5),
        addi(sum, 0, 0),
    ]);
    let again = code.here();
    // Loads and stores, and some that are not aligned: over the end of a page, too.
    code.add([ld(21, data, -8), r(0x33, sum, sum, 21), sd(sum, data, 16)]);
    code.add([ld(22, data, 3), sd(22, data, 29), i(0x2003, 22, data, 6)]);
    code.add([
        lui(23, 1),
        r(0x33, 23, 23, data),
        ld(24, 23, -2041 - 8 + 4),
        sd(sum, 23, -2043 - 4),
    ]);
    // A call, which returns behind the jump over it.
    code.add([
        jal(1, 8),
        jal(0, 16),
        addi(sum, sum, 3),
        r(0x4033, 25, sum, 21),
        i(0x67, 0, 1, 0),
    ]);
    // AMOs, and a pair that is tried again.
    code.add([addi(26, data, 64), addi(26, 26, -0x7f8)]);
    code.add([
        r(0x302f, 27, 26, sum),
        r(0x0800_302f, 28, 26, counter),
        r(0xe000_202f, 29, 26, 27),
    ]);
    let reserve = code.here();
    code.add([
        r(0x1000_302f, 30, 26, 0),
        addi(30, 30, 7),
        r(0x1800_302f, 31, 26, 30),
    ]);
    let back = reserve.wrapping_sub(code.here()) as i32;
    code.add([branch(BNE, 31, 0, back)]);
    // Floating point: fadd.d, fdiv.d, fmadd.d, and its flags.
    code.add([
        0x0200_7053 | 3 << 7 | 4 << 15 | 5 << 20,
        0x1a00_7053 | 6 << 7 | 3 << 15 | 7 << 20,
    ]);
    code.add([
        0x0200_7043 | 8 << 7 | 6 << 15 | 3 << 20 | 9 << 27,
        fsd(8, data, 40),
        fld(10, data, 40),
        csrr(21, 1),
    ]);
    // Vectors: vsetvli x0, a0, e32, m2; vle32.v, vadd.vv, vmul.vv, vse32.v
    code.add([addi(10, 0, 7), 0x0d10_7057 | 10 << 15]);
    code.add([
        0x0200_6007 | 2 << 7 | 26 << 15,
        0x0220_0057 | 4 << 7 | 2 << 15 | 2 << 20,
    ]);
    code.add([
        0x9640_2057 | 6 << 7 | 2 << 15,
        addi(11, 26, 128),
        0x0200_6027 | 6 << 7 | 11 << 15,
    ]);
    // A page that is not there before the first round.
    code.li(12, LATER + (DATA - MEMORY) + 256);
    code.add([ld(13, 12, 0), addi(13, 13, 1), sd(13, 12, 0)]);
    // A short loop.
    code.add([addi(14, 0, 6)]);
    let short = code.here();
    code.add([
        addi(14, 14, -1),
        r(0x0200_0033, 15, 14, sum),
        r(0x33, sum, sum, 15),
    ]);
    let back = short.wrapping_sub(code.here()) as i32;
    code.add([branch(BNE, 14, 0, back)]);
    code.add([addi(counter, counter, -1), branch(BEQ, counter, 0, 8)]);
    code.jump(again);
    code.add([slli(sum, sum, 1)]);
}

/// How a machine is run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Engine {
    Interpreted,
    Translated,
    Timed,
}

struct Ran {
    end: End,
    cycles: u64,
    memory: Vec<u8>,
}

impl Ran {
    fn word(&self, at: u64) -> u64 {
        let at = (at - MEMORY) as usize;
        u64::from_le_bytes(self.memory[at..at + 8].try_into().unwrap())
    }

    /// What the program has computed.
    fn state(&self) -> (&[u8], &[u8]) {
        let part =
            |from: u64, to: u64| &self.memory[(from - MEMORY) as usize..(to - MEMORY) as usize];
        (part(DATA, TABLE), part(RESULTS, RESULTS + 0x1000))
    }
}

fn run(program: &Program, engine: Engine, when: u64) -> Ran {
    let settings = [
        "harts=1",
        "isa=rv64gcv_zicntr_sstc_svadu",
        "memory=16M",
        "timebase=1 GHz",
    ];
    let settings = settings.map(str::to_owned);
    let description = flick_timing::machine::Machine::load("virt", &settings).unwrap();
    let mut virt = System::new(&description).unwrap();
    let board: Board = virt.board(vec![]).unwrap();
    let mut firmware = program.image.clone();
    firmware[(WHEN - MEMORY) as usize..][..8].copy_from_slice(&when.to_le_bytes());
    let files = Files {
        firmware,
        ..Files::default()
    };
    let booted = boot(&mut virt, &board, &files).unwrap();
    let mut machine = Machine::new(&board, &booted.harts, None);
    machine.limit(1_000_000);
    machine.translate_after((engine != Engine::Interpreted).then_some(1));
    if engine == Engine::Timed {
        machine.set_timing(timing_of(&description, &virt.tile));
        machine.set_mode(true);
    }
    let end = machine.run(&mut Quiet);
    let mut memory = vec![0; SIZE];
    board.read_memory(MEMORY, &mut memory).unwrap();
    Ran {
        end,
        cycles: machine.cycles()[0],
        memory,
    }
}

/// May the program come from one place to the other by one instruction?
fn follows(program: &Program, from: u64, to: u64) -> bool {
    let at = (from - MEMORY) as usize;
    let word = u32::from_le_bytes(program.image[at..at + 4].try_into().unwrap());
    match word & 0x7f {
        0x63 | 0x67 | 0x6f => to >= program.body && to <= program.end,
        _ if word == SRET => to >= program.body,
        // An access to the page that is not there yet.
        0x03 => to == from + 4 || to == program.handler,
        _ => to == from + 4,
    }
}

#[test]
fn an_interrupt_in_front_of_any_instruction_changes_nothing() {
    let program = program();
    let undisturbed = run(&program, Engine::Interpreted, NEVER);
    assert_eq!(
        (undisturbed.end, undisturbed.word(KEPT + 8)),
        (End::Exit(0), 0)
    );
    // Where and after how many instructions the interrupt was taken.
    let mut places: Vec<(u64, u64)> = vec![];
    for when in 0.. {
        let ran = run(&program, Engine::Interpreted, when);
        if ran.word(KEPT + 8) == 0 {
            // The program was over.
            break;
        }
        for engine in [Engine::Interpreted, Engine::Translated] {
            let ran = run(&program, engine, when);
            let found = (ran.word(KEPT + 16), ran.word(KEPT + 40));
            let what = format!("{engine:?}, after {when}, at {:#x}", found.0);
            assert_eq!((ran.end, ran.word(KEPT + 8)), (End::Exit(0), 1), "{what}");
            assert_eq!(ran.word(KEPT + 24), 1 << 63 | 7, "{what}: mcause");
            assert!(
                ran.state() == undisturbed.state(),
                "{what}: the results differ"
            );
            if engine == Engine::Interpreted {
                places.push(found);
            }
            assert_eq!(Some(&found), places.last(), "{what}");
        }
    }
    // It was pending when the program began at first.
    let first = places
        .iter()
        .rposition(|place| place.0 == program.body)
        .unwrap();
    let places = &places[first..];
    let mut exceptions = 0;
    for (n, pair) in places.windows(2).enumerate() {
        let [(from, before), (to, after)] = *pair else {
            unreachable!()
        };
        assert!(
            follows(&program, from, to),
            "{n}: from {from:#x} to {to:#x}"
        );
        // In the cycle of an exception no instruction completes.
        let completes = u64::from(to != program.handler);
        exceptions += 1 - completes;
        assert_eq!(after, before + completes, "{n}: at {to:#x}");
    }
    assert_eq!(exceptions, 1);
    assert_eq!(places.last().unwrap().0, program.end);
    assert!(places.len() > 250, "only {} instructions", places.len());
}

#[test]
fn nor_does_it_in_timed_mode() {
    let program = program();
    let undisturbed = run(&program, Engine::Timed, NEVER);
    assert_eq!(
        (undisturbed.end, undisturbed.word(KEPT + 8)),
        (End::Exit(0), 0)
    );
    let mut taken = std::collections::BTreeSet::new();
    for when in (0..undisturbed.cycles).step_by(5) {
        let ran = run(&program, Engine::Timed, when);
        assert_eq!(ran.end, End::Exit(0), "{when}");
        let interrupts = ran.word(KEPT + 8);
        assert!(interrupts <= 1, "{when}: {interrupts} interrupts");
        if interrupts == 1 {
            taken.insert(ran.word(KEPT + 16));
        }
        assert!(
            ran.state() == undisturbed.state(),
            "{when}: the results differ"
        );
    }
    assert!(taken.len() > 30, "interrupts only at {taken:x?}");
}
