//! Tiles whose caches are not coherent: a hart loads what its own cache holds, until it drops the line.
mod bare_assembly;
mod bare_machine;
mod written_machine;

use bare_machine::{Quiet, on_machine};
use flick_machine::snapshot::Snapshot;
use flick_machine::{End, Turn, Unwatched, timing_of};
use flick_timing::machine;

/// Hart 0 loads `data` (1), lets hart 1 store 7 and 8 to its two words, and loads them again, before and
/// after `cbo.inval`. Hart 1 does `behind` after its stores. Atomics pass by the caches, so the harts
/// see each other's turns. The status has the digits: before, after, and the neighbour's word, to which
/// hart 0 has stored 5 before all that.
fn program(behind: &str) -> String {
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
  cbo.inval (s0)
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
isa = "rv64gc_zicbom"
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
    let program = bare_assembly::build(&format!("stale-{name}"), "rv64gc_zicbom", text);
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
    assert_eq!(status("through", &program(""), &through, true), 0x175);
    // In functional mode there are no caches.
    assert_eq!(status("functional", &program(""), &through, false), 0x775);
}

/// The stores of hart 1 stay in its cache until it writes the line back. The line takes the neighbour's
/// word along: hart 1 has filled it after hart 0's store.
#[test]
fn dirty_lines_reach_memory_when_they_are_cleaned() {
    let back = file("none", "back");
    // Hart 0's own store is lost with its line, too.
    assert_eq!(status("back", &program(""), &back, true), 0x113);
    assert_eq!(
        status("clean", &program("cbo.clean (s0)"), &back, true),
        0x173
    );
    assert_eq!(
        status("flush", &program("cbo.flush (s0)"), &back, true),
        0x173
    );
    assert_eq!(
        status("inval", &program("cbo.inval (s0)"), &back, true),
        0x113
    );
    // Lines of the same set take its place: 16 sets of two lines of 32 bytes.
    let evicts = "lw t1, 0x200(s0)\n lw t1, 0x400(s0)\n";
    assert_eq!(status("evicts", &program(evicts), &back, true), 0x173);
}

/// The protocol lets all harts see one memory. Invalidations lose nothing there.
#[test]
fn coherent_caches_have_no_stale_lines() {
    for write in ["back", "through"] {
        let directory = file("directory", write);
        let all = program("cbo.inval (s0)");
        assert_eq!(
            status(&format!("directory-{write}"), &all, &directory, true),
            0x775
        );
    }
}

/// The end of timed mode is the end of the caches: memory has all stores.
#[test]
fn functional_mode_sees_what_caches_held() {
    let text = program("slti x0, x0, 2");
    assert_eq!(status("ends", &text, &file("none", "back"), true), 0x773);
}
