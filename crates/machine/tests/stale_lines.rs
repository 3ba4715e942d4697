//! Tiles whose caches are not coherent: a hart loads what its own cache holds, until it drops the line.
mod bare_assembly;
mod bare_machine;
mod written_machine;

use bare_machine::{Quiet, on_machine};
use flick_machine::snapshot::Snapshot;
use flick_machine::{End, Turn, Unwatched, timing_of};
use flick_timing::machine;

/// Drops the line of `data`.
const LINE: &str = "cbo.inval (s0)";

/// Hart 0 loads `data` (1), lets hart 1 store 7 and 8 to its two words, and loads them again, before and
/// after `drop`. Hart 1 does `behind` after its stores. Atomics pass by the caches, so the harts
/// see each other's turns. The status has the digits: before, after, and the neighbour's word, to which
/// hart 0 has stored 5 before all that.
fn program(drop: &str, behind: &str) -> String {
    format!(
        r#"
  la s0, data
  la s1, turn
  bnez a0, second
  lw s2, 0(s0)
  li t0, 5
  sw t0, 8(s0)
  li t0, 1
  amoadd.w zero, t0, (s1)
1: amoadd.w t1, zero, (s1)
  li t2, 2
  bne t1, t2, 1b
  lw s2, 0(s0)
  {drop}
  lw s3, 0(s0)
  lw s4, 8(s0)
  slli s2, s2, 8
  slli s3, s3, 4
  or s2, s2, s3
  or s2, s2, s4
  mv a0, s2
  j end
second:
1: amoadd.w t1, zero, (s1)
  beqz t1, 1b
  li t0, 7
  sw t0, 0(s0)
  sb t0, 5(s0)
  {behind}
  li t0, 1
  amoadd.w zero, t0, (s1)
2: wfi
  j 2b
.data
.balign 64
data: .word 1, 0, 3, 0
.balign 64
turn: .word 0
"#
    )
}

/// The file of a machine.
fn file(coherence: &str, write: &str) -> String {
    let latency = match coherence {
        "none" => "",
        _ => "\nlatency = \"5 ns\"",
    };
    let text = format!(
        r#"
name = "stale" # an assumption, as all that follows
description = "two harts"
timebase = "1 MHz"
[core.small]
issue = 1
[core.small.cycles]
int = 1
load = 1
store = 1
branch = 1
taken = 1
jump = 1
mul = 1
div = 1
fp = 1
fp-mul = 1
fp-div = 1
atomic = 1
address = 1
bit = 1
system = 1
trap = 1
[core.small.l1d]
size = "1 KiB"
line = "32 B"
ways = 2
write = "{write}"
[[tile]]
name = "board"
clock = "1 GHz"
[[tile.hart]]
count = 2
isa = "rv64gc_zicbom_xtheadcmo"
core = "small"
[tile.coherence]
kind = "{coherence}"{latency}
[[tile.memory]]
name = "main"
base = 0x8000_0000
size = "64 KiB"
latency = "20 ns"
[[tile.device]]
kind = "finisher"
base = 0x10_0000
[[tile.device]]
kind = "clint"
base = 0x200_0000
"#
    );
    written_machine::write(&format!("stale-{coherence}-{write}"), &text)
}

fn status(name: &str, text: &str, file: &str, is_timed: bool) -> u32 {
    let program = bare_assembly::build(&format!("stale-{name}"), "rv64gc_zicbom_xtheadcmo", text);
    let description = machine::Machine::load(file, &[]).unwrap();
    on_machine(file, &[], vec![], &program, |machine, _| {
        machine.set_timing(timing_of(&description, &description.tiles[0]));
        machine.set_mode(is_timed);
        let reset = Snapshot::take(machine, None);
        machine.limit(1_000_000);
        let End::Exit(status) = machine.run(&mut Quiet) else {
            panic!("{text}");
        };
        // The same from snapshots after each slice, which have what is in the caches.
        let cycles = machine.cycles();
        reset.put(machine).unwrap();
        machine.limit(1_000_000);
        let again = loop {
            match machine.turn(&mut Quiet, &mut Unwatched) {
                Turn::Ended(end) => break end,
                _ => {
                    let saved = Snapshot::take(machine, None);
                    let state = machine.save();
                    reset.put(machine).unwrap();
                    saved.put(machine).unwrap();
                    assert!(machine.save() == state, "{text}");
                }
            }
        };
        assert_eq!((again, machine.cycles()), (End::Exit(status), cycles));
        status
    })
}

/// The stores of hart 1 reach memory at once, and hart 0 sees them when it drops its line.
#[test]
fn a_stale_line_is_seen_until_it_is_dropped() {
    let through = file("none", "through");
    assert_eq!(status("through", &program(LINE, ""), &through, true), 0x175);
    // In functional mode there are no caches.
    assert_eq!(
        status("functional", &program(LINE, ""), &through, false),
        0x775
    );
}

/// The stores of hart 1 stay in its cache until it writes the line back. The line takes the neighbour's
/// word along: hart 1 has filled it after hart 0's store.
#[test]
fn dirty_lines_reach_memory_when_they_are_cleaned() {
    let back = file("none", "back");
    // Hart 0's own store is lost with its line, too.
    assert_eq!(status("back", &program(LINE, ""), &back, true), 0x113);
    assert_eq!(
        status("clean", &program(LINE, "cbo.clean (s0)"), &back, true),
        0x173
    );
    assert_eq!(
        status("flush", &program(LINE, "cbo.flush (s0)"), &back, true),
        0x173
    );
    assert_eq!(
        status("inval", &program(LINE, "cbo.inval (s0)"), &back, true),
        0x113
    );
    // Lines of the same set take its place: 16 sets of two lines of 32 bytes.
    let evicts = "lw t1, 0x200(s0)\n lw t1, 0x400(s0)\n";
    assert_eq!(status("evicts", &program(LINE, evicts), &back, true), 0x173);
}

/// The same by operations on whole caches.
#[test]
fn whole_caches_are_cleaned_and_dropped() {
    let (through, back) = (file("none", "through"), file("none", "back"));
    for (name, drop, behind, file, digits) in [
        ("through-iall", "th.dcache.iall", "", &through, 0x175),
        ("through-ciall", "th.dcache.ciall", "", &through, 0x175),
        ("through-call", "th.dcache.call", "", &through, 0x115),
        ("iall", "th.dcache.iall", "", &back, 0x113),
        (
            "call-iall",
            "th.dcache.iall",
            "th.dcache.call",
            &back,
            0x173,
        ),
        (
            "ciall-iall",
            "th.dcache.iall",
            "th.dcache.ciall",
            &back,
            0x173,
        ),
        (
            "iall-iall",
            "th.dcache.iall",
            "th.dcache.iall",
            &back,
            0x113,
        ),
        // Hart 0's line is dirty, too, and memory gets all of it.
        (
            "call-ciall",
            "th.dcache.ciall",
            "th.dcache.call",
            &back,
            0x115,
        ),
        // Code has another cache.
        ("icache", "th.icache.iall", "th.dcache.call", &back, 0x115),
    ] {
        assert_eq!(
            status(name, &program(drop, behind), file, true),
            digits,
            "{name}"
        );
        assert_eq!(
            status(name, &program(drop, behind), file, false),
            0x775,
            "{name}"
        );
    }
}

/// Users may not, and harts without XTheadCmo have no such instructions.
#[test]
fn operations_on_whole_caches_may_be_illegal() {
    let text = |mode: &str, insn: &str| {
        format!(
            r#"
  bnez a0, 2f
  la t0, 1f
  csrw mtvec, t0
  li t0, -1
  csrw pmpaddr0, t0
  li t0, 0x1f
  csrw pmpcfg0, t0
  la t0, 3f
  csrw mepc, t0
  li t0, 0x1800
  csrc mstatus, t0
  li t0, {mode}
  csrs mstatus, t0
  mret
3:
  {insn}
  ebreak
  .balign 4
1:
  csrr a0, mcause
  j end
2: wfi
  j 2b
"#
        )
    };
    let (user, supervisor, machine) = ("0", "0x800", "0x1800");
    let has = file("none", "back");
    let written = std::fs::read_to_string(&has).unwrap();
    let lacks = written.replace("_xtheadcmo", "");
    let lacks = written_machine::write("stale-lacks-operations", &lacks);
    for insn in [
        "th.dcache.call",
        "th.dcache.iall",
        "th.dcache.ciall",
        "th.icache.iall",
    ] {
        for (mode, file, cause) in [
            (user, &has, 2),
            (supervisor, &has, 3),
            (machine, &has, 3),
            (machine, &lacks, 2),
        ] {
            let name = format!("may-{insn}-{mode}-{cause}");
            for is_timed in [false, true] {
                let found = status(&name, &text(mode, insn), file, is_timed);
                assert_eq!(found, cause, "{name}");
            }
        }
    }
}

/// The protocol lets all harts see one memory. Invalidations lose nothing there.
#[test]
fn coherent_caches_have_no_stale_lines() {
    for write in ["back", "through"] {
        let directory = file("directory", write);
        for (name, drop) in [("line", LINE), ("all", "th.dcache.iall")] {
            let all = program(drop, drop);
            let name = format!("directory-{write}-{name}");
            assert_eq!(status(&name, &all, &directory, true), 0x775, "{name}");
        }
    }
}

/// The end of timed mode is the end of the caches: memory has all stores.
#[test]
fn functional_mode_sees_what_caches_held() {
    let text = program(LINE, "slti x0, x0, 2");
    assert_eq!(status("ends", &text, &file("none", "back"), true), 0x773);
}
