//! Mode 14 of `satp`, the space of a host program: where it sticks, what reaches it, and how a machine
//! lends the hart whose code it is.
mod bare_assembly;
mod bare_machine;

use bare_assembly::build;
use bare_machine::{Quiet, on_machine};
use flick_abi::descriptor::OWNER_LEFT;
use flick_engine::Hart;
use flick_machine::{End, Lent, Machine, Turn, Unwatched};

const SETTINGS: [&str; 3] = ["memory=16M", "harts=1", "isa=rv64gc_zicntr"];

/// Runs a program on a hart with the host's space, interpreted and translated.
fn runs(name: &str, text: &str, mut run: impl FnMut(&mut Machine) -> u32) -> [u32; 2] {
    let firmware = build(name, "rv64gc", text);
    let settings = [&SETTINGS[..], &["tile.board.hart.host-space=true"]].concat();
    [None, Some(2)].map(|executions| {
        on_machine("virt", &settings, vec![], &firmware, |machine, _| {
            machine.translate_after(executions);
            machine.limit(10_000_000);
            run(machine)
        })
    })
}

fn status(machine: &mut Machine) -> u32 {
    match machine.run(&mut Quiet) {
        End::Exit(status) => status,
        end => panic!("{end:?}"),
    }
}

/// All of the register sticks: the mode, and the owner.
const PROBE: &str = r#"
program:
  li t0, 14
  slli t0, t0, 60
  addi t0, t0, 99
  csrw satp, t0
  csrr t1, satp
  sub a0, t0, t1
  snez a0, a0
  addi a0, a0, 2
  j end
"#;

#[test]
fn the_mode_sticks_where_the_file_says_so() {
    assert_eq!(runs("host_probe", PROBE, status), [2; 2]);
    let firmware = build("host_probe", "rv64gc", PROBE);
    let without = on_machine("virt", &SETTINGS, vec![], &firmware, |machine, _| {
        status(machine)
    });
    assert_eq!(without, 3);
}

/// Goes to U mode at an address of the host's, and counts what comes back: the status is 1 for each
/// exception with the right cause, value and place.
const FOREIGN: &str = r#"
program:
  la t0, handler
  csrw mtvec, t0
  li t0, -1
  csrw pmpaddr0, t0
  li t0, 0x1f
  csrw pmpcfg0, t0
  li t0, 14
  slli t0, t0, 60
  addi t0, t0, 5
  csrw satp, t0
  # MPP is U mode.
  li t0, 0x1800
  csrc mstatus, t0
  li t0, 0x6000
  csrs mstatus, t0
  li s1, 0x555512345678
  csrw mepc, s1
  li s2, 7
  mret
.balign 4
handler:
  csrr t0, mcause
  csrr t1, mtval
  csrr t2, mepc
  li a0, 0
  beqz s2, 1f
  # The cause is in s3, the value in s4, and the place in s1.
  bne t0, s3, 1f
  bne t1, s4, 1f
  bne t2, s1, 1f
  li a0, 1
1: j end
"#;

#[test]
fn code_without_an_owner_is_left() {
    let text = FOREIGN.replace("mret\n", "li s3, 24\n  li s4, 0\n  mret\n");
    assert_eq!(OWNER_LEFT, 24);
    assert_eq!(runs("host_nobody", &text, status), [1; 2]);
}

/// Turns up to the one that lends a hart.
fn lent(machine: &mut Machine) -> Lent {
    loop {
        if let Turn::Ended(end) = machine.turn(&mut Quiet, &mut Unwatched) {
            panic!("{end:?}");
        }
        if let Some(lent) = machine.take_lent() {
            return lent;
        }
    }
}

#[test]
fn an_owner_executes_the_code() {
    let run = |machine: &mut Machine| {
        machine.lend_harts(0..1);
        let first = lent(machine);
        assert_eq!((first.hart, first.owner), (0, 5));
        let before = (machine.instructions()[0], machine.cycles()[0]);
        let mut registers: Hart = *machine.lent_registers(0).unwrap();
        assert_eq!((registers.pc, registers.x[18]), (0x5555_1234_5678, 7));
        // Its budget is over.
        registers.pc = 0x7777_0000;
        machine.lent_has_executed(0, (first.budget, 0), (&registers, 0));
        machine.end_lent(0, None);
        let second = lent(machine);
        assert_eq!(second.owner, 5);
        let after = (machine.instructions()[0], machine.cycles()[0]);
        assert_eq!(after, (before.0 + first.budget, before.1 + first.budget));
        // It leaves its code.
        let mut registers: Hart = *machine.lent_registers(0).unwrap();
        assert_eq!(registers.pc, 0x7777_0000);
        (registers.x[0], registers.x[19], registers.x[20]) = (3, 12, 0x4444);
        (registers.x[9], registers.pc) = (0x4444, 0x4444);
        machine.lent_has_executed(0, (10, 0), (&registers, 0xe1));
        machine.end_lent(0, Some((12, 0x4444)));
        assert!(machine.take_lent().is_none());
        let end = status(machine);
        assert_eq!(machine.hart(0).unwrap().fcsr(), 0xe1);
        end
    };
    assert_eq!(runs("host_owner", FOREIGN, run), [1; 2]);
}

/// In S mode, and in M mode with the rights of a user, nothing of the host's is reached.
#[test]
fn only_user_code_is_the_hosts() {
    let text = r#"
program:
  la t0, handler
  csrw mtvec, t0
  li t0, -1
  csrw pmpaddr0, t0
  li t0, 0x1f
  csrw pmpcfg0, t0
  li s0, 0
  li t0, 14
  slli t0, t0, 60
  csrw satp, t0
  # MPRV with MPP at U mode.
  li t0, 0x1800
  csrc mstatus, t0
  li t0, 0x20000
  csrs mstatus, t0
  la s1, handler
  ld t1, (s1)
  # S mode.
  li t0, 0x20000
  csrc mstatus, t0
  li t0, 0x800
  csrs mstatus, t0
  la t0, program
  csrw mepc, t0
  mret
.balign 4
handler:
  li t0, 0x20000
  csrc mstatus, t0
  csrr t0, mcause
  add s0, s0, t0
  li t1, 12
  beq t0, t1, 1f
  csrr t0, mepc
  addi t0, t0, 4
  csrw mepc, t0
  # Back in M mode, with the rights of M mode.
  li t0, 0x1800
  csrs mstatus, t0
  mret
1: mv a0, s0
  j end
"#;
    let text = text.replace("  ld t1, (s1)\n", "  .option norvc\n  ld t1, (s1)\n");
    assert_eq!(runs("host_others", &text, status), [13 + 12; 2]);
}
