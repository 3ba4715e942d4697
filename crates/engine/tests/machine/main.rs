//! The core of a small machine: it shows that [`Core`](flick_engine::Core) carries a machine's
//! hart.

mod core;

use core::{CYCLES, MCAUSE, MEPC, MSTATUS, MTVAL, MachineHart, PAGE, READS};

use flick_engine::fp::env::mxcsr;
use flick_engine::fp::fcsr::Fcsr;
use flick_engine::{Exit, InstructionBudget, Memory, Unlimited, csr_number};
use flick_riscv_testing::asm::{i, jal, r, s};

const CODE: u64 = 0x10_0000;
const HANDLER: u64 = 0x20_0000;

const EBREAK: u32 = 0x0010_0073;
const ECALL: u32 = 0x73;
const MRET: u32 = 0x3020_0073;
const WFI: u32 = 0x1050_0073;
const SRET: u32 = 0x1020_0073;
const FENCE_I: u32 = 0x100f;

const A0: u32 = 10;
const A1: u32 = 11;
const A2: u32 = 12;

fn addi(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x13, rd, rs1, imm)
}

fn csrrw(rd: u32, number: u32, rs1: u32) -> u32 {
    i(0x1073, rd, rs1, number as i32)
}

fn csrrs(rd: u32, number: u32, rs1: u32) -> u32 {
    i(0x2073, rd, rs1, number as i32)
}

fn csrrwi(number: u32, immediate: u32) -> u32 {
    i(0x5073, 0, immediate, number as i32)
}

/// A machine with `code`, and a handler that ends the run.
fn stopping(code: &[u32]) -> MachineHart {
    let mut machine = MachineHart::new(&[(CODE, code), (HANDLER, &[EBREAK])]);
    machine.core.mtvec = HANDLER;
    machine
}

/// Runs up to `ebreak`.
fn end(machine: &mut MachineHart) {
    assert_eq!(machine.run(&mut Unlimited), Exit::Ebreak);
}

/// Runs into the handler: the trap's cause, address and value.
fn trap(machine: &mut MachineHart) -> (u64, u64, u64) {
    end(machine);
    assert_eq!(machine.hart.pc, HANDLER);
    let core = &machine.core;
    (core.mcause, core.mepc, core.mtval)
}

#[test]
fn an_instruction_straddles_two_pages() {
    let code = [addi(A0, 0, 5), addi(A1, A0, 7), EBREAK];
    let start = CODE + PAGE - 6;
    let mut machine = MachineHart::new(&[(start, &code)]);
    end(&mut machine);
    assert_eq!((machine.hart.x[10], machine.hart.x[11]), (5, 12));
    assert_eq!(machine.hart.pc, start + 8);
}

#[test]
fn a_fetch_faults_at_the_second_half() {
    // addi a0, x0, 5, of which the second half is in a page that must not be executed.
    let mut machine = stopping(&[EBREAK]);
    let last = CODE + PAGE - 2;
    machine.core.pages.map(CODE + PAGE, false);
    machine.core.pages.store32(last, addi(A0, 0, 5)).unwrap();
    machine.hart.pc = last;
    assert_eq!(trap(&mut machine), (12, last, CODE + PAGE));
    assert_eq!((machine.hart.x[10], machine.core.instret), (0, 0));
    // At the first half, and where there is no page.
    machine.hart.pc = CODE + PAGE;
    assert_eq!(trap(&mut machine), (12, CODE + PAGE, CODE + PAGE));
    machine.hart.pc = 0x6000_0001;
    assert_eq!(trap(&mut machine), (12, 0x6000_0000, 0x6000_0000));
}

#[test]
fn a_handler_mends_a_fault_and_returns() {
    // The store faults. Its handler gives it an address where it does not.
    let code = [s(0x3023, A0, A1, 8), r(0x33, A2, A0, A1), EBREAK];
    let handler = [
        csrrs(5, MCAUSE, 0),
        csrrs(6, MTVAL, 0),
        csrrs(7, MEPC, 0),
        addi(A0, 28, 0),
        MRET,
    ];
    let mut machine = MachineHart::new(&[(CODE, &code), (HANDLER, &handler)]);
    machine.core.mtvec = HANDLER;
    machine.core.pages.map(0x3000, false);
    (machine.hart.x[10], machine.hart.x[11], machine.hart.x[28]) = (0x5000_0000, 7, 0x3000);
    end(&mut machine);
    let x = &machine.hart.x;
    assert_eq!((x[5], x[6], x[7]), (15, 0x5000_0008, CODE));
    assert_eq!(x[12], 0x3007);
    assert_eq!(machine.core.pages.load64(0x3008), Ok(7));
    // What faulted did not retire; `mret` did.
    assert_eq!(machine.core.instret, 5 + 2);
}

#[test]
fn calls_and_illegal_instructions_go_to_the_handler() {
    for (word, cause, value) in [
        (ECALL, 11, 0),
        (0, 2, 0),
        (SRET, 2, SRET),
        // A register that does not exist, and one that must not be written.
        (csrrs(A0, 0x5c0, 0), 2, csrrs(A0, 0x5c0, 0)),
        (
            csrrw(0, csr_number::CYCLE, A0),
            2,
            csrrw(0, csr_number::CYCLE, A0),
        ),
        // A reserved rounding mode in frm: fadd.d f0, f0, f0, dyn.
        (0x0200_7053, 2, 0x0200_7053),
    ] {
        let mut machine = stopping(&[addi(A1, 0, 1), word, addi(A1, 0, 2)]);
        machine.fcsr = Fcsr::new(5 << 5);
        assert_eq!(
            trap(&mut machine),
            (cause, CODE + 4, value.into()),
            "{word:#x}"
        );
        assert_eq!((machine.hart.x[11], machine.core.instret), (1, 1));
    }
}

#[test]
fn time_is_the_cores() {
    let code = [
        csrrs(A0, csr_number::CYCLE, 0),
        csrrs(A1, csr_number::INSTRET, 0),
        csrrs(A2, csr_number::TIME, 0),
        EBREAK,
    ];
    let mut machine = stopping(&code);
    (machine.core.cycle, machine.core.instret) = (10_000, 2_000);
    for _ in 0..2 {
        machine.hart.pc = CODE;
        let (cycle, instret) = (machine.core.cycle, machine.core.instret);
        end(&mut machine);
        let x = &machine.hart.x;
        assert_eq!((x[10], x[11]), (cycle, instret + 1));
        assert_eq!(x[12], (cycle + 2 * CYCLES) / 10);
    }
}

#[test]
fn csr_instructions_read_and_write_as_they_say() {
    let code = [
        // Without a destination csrrw does not read; without a source csrrs does not write.
        csrrw(0, READS, A0),
        csrrs(A1, READS, 0),
        // The bits of the immediate are set: csrrsi a2, 6.
        i(0x6073, A2, 6, READS as i32),
        EBREAK,
    ];
    let mut machine = stopping(&code);
    machine.hart.x[10] = 16;
    end(&mut machine);
    assert_eq!((machine.hart.x[11], machine.hart.x[12]), (17, 18));
    assert_eq!(machine.core.reads, 18 | 6);
}

#[test]
fn an_interrupt_comes_between_instructions() {
    // The handler counts in a1 and looks where it came from.
    let code = [addi(A0, A0, 1), addi(A0, A0, 1), jal(0, -8)];
    let handler = [addi(A1, A1, 1), csrrs(A2, MEPC, 0), MRET];
    let mut machine = MachineHart::new(&[(CODE, &code), (HANDLER, &handler)]);
    machine.core.mtvec = HANDLER;
    machine.core.mstatus = 8;
    // During the eleventh instruction the timer becomes due.
    machine.core.timer = 10 * CYCLES + 1;
    let mut budget = InstructionBudget { left: 20 };
    assert_eq!(machine.run(&mut budget), Exit::Budget);
    // Eleven, the handler's three, and six more.
    assert_eq!(machine.core.instret, 20);
    let x = &machine.hart.x;
    assert_eq!((x[11], x[12]), (1, CODE + 8));
    assert_eq!((x[10], machine.hart.pc), (17 - 5, CODE + 8));
    assert_eq!((machine.core.mcause, machine.core.cycle), (1 << 63 | 7, 60));
    // While interrupts are off, it waits.
    machine.core.mstatus = 0;
    machine.core.timer = 1;
    budget.left = 3;
    assert_eq!(machine.run(&mut budget), Exit::Budget);
    assert_eq!(machine.hart.x[11], 1);
    machine.core.mstatus = 8;
    budget.left = 1;
    assert_eq!(machine.run(&mut budget), Exit::Budget);
    assert_eq!((machine.hart.x[11], machine.hart.pc), (2, HANDLER + 4));
}

#[test]
fn a_hart_waits() {
    let code = [csrrwi(MSTATUS, 8), WFI, addi(A0, A0, 1), EBREAK];
    let mut machine = MachineHart::new(&[(CODE, &code), (HANDLER, &[MRET])]);
    machine.core.mtvec = HANDLER;
    for _ in 0..2 {
        assert_eq!(machine.run(&mut Unlimited), Exit::Wait);
        assert_eq!((machine.hart.pc, machine.hart.x[10]), (CODE + 8, 0));
    }
    // Another hart has the thread meanwhile, and time goes on.
    machine.core.cycle = 1000;
    machine.core.timer = 1000;
    end(&mut machine);
    assert_eq!((machine.hart.x[10], machine.core.mepc), (1, CODE + 8));
    assert_eq!(machine.core.instret, 4);
}

#[test]
fn code_changes_at_a_fence() {
    // sw a1, 8(a0); fence.i; what is stored there is addi a2, a2, 5.
    let code = [s(0x2023, A0, A1, 8), FENCE_I, 0, EBREAK];
    let mut machine = stopping(&code);
    machine.hart.pc = CODE + 8;
    assert_eq!(trap(&mut machine).0, 2);
    machine.hart.pc = CODE;
    (machine.hart.x[10], machine.hart.x[11]) = (CODE, addi(A2, A2, 5).into());
    end(&mut machine);
    assert_eq!((machine.hart.x[12], machine.hart.pc), (5, CODE + 12));
}

/// fdiv.d fa0, fa1, fa2, dyn; frflags a0; j back.
const DIVIDE: [u32; 3] = [0x1ac5_f553, 0x0010_2573, 0xff9f_f06f];

#[test]
fn each_hart_has_its_fcsr() {
    // A third in all five modes. Two harts take turns of one instruction in this thread.
    let third = |frm: u64| {
        let mut machine = stopping(&DIVIDE);
        (machine.hart.f[11], machine.hart.f[12]) = (1.0_f64.to_bits(), 3.0_f64.to_bits());
        machine.fcsr = Fcsr::new(frm << 5);
        machine
    };
    let (down, up) = (0x3fd5_5555_5555_5555, 0x3fd5_5555_5555_5556);
    let thread = mxcsr();
    let modes = [(0, down), (1, down), (2, down), (3, up), (4, down)];
    for (a, quotient_a) in modes {
        for (b, quotient_b) in modes {
            let mut harts = [third(a), third(b)];
            // The second one divides by zero.
            harts[1].hart.f[12] = 0;
            for turn in 0..4 {
                for hart in &mut harts {
                    let mut budget = InstructionBudget { left: 1 };
                    assert_eq!(hart.run(&mut budget), Exit::Budget);
                    assert_eq!(mxcsr(), thread);
                }
                if turn == 1 {
                    harts[1].hart.f[12] = 3.0_f64.to_bits();
                }
            }
            // Inexact alone, and after a division by zero.
            assert_eq!(harts[0].fcsr, Fcsr::new(a << 5 | 1));
            assert_eq!(harts[1].fcsr, Fcsr::new(b << 5 | 8 | 1));
            assert_eq!((harts[0].hart.x[10], harts[1].hart.x[10]), (1, 8));
            assert_eq!(harts[0].hart.f[10], quotient_a, "{a} {b}");
            assert_eq!(harts[1].hart.f[10], quotient_b, "{a} {b}");
        }
    }
}

#[test]
fn a_hart_changes_its_rounding_mode() {
    // fsrmi 3 (up); fsflagsi 0; fdiv.d; ebreak
    let mut machine = stopping(&[csrrwi(2, 3), csrrwi(1, 0), DIVIDE[0], EBREAK]);
    machine.fcsr = Fcsr::new(4 << 5 | 31);
    (machine.hart.f[11], machine.hart.f[12]) = (1.0_f64.to_bits(), 3.0_f64.to_bits());
    end(&mut machine);
    assert_eq!(machine.fcsr.value(), 3 << 5 | 1);
    assert_eq!(machine.hart.f[10], 0x3fd5_5555_5555_5556);
}
