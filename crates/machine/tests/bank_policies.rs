//! Banks that choose among harts by turns or by their numbers, as programs see them in timed mode.
mod bare_assembly;
mod bare_machine;
mod paused_harts;
mod written_machine;

use bare_assembly::build;
use bare_machine::{Quiet, on_machine};
use flick_machine::snapshot::{RunIdentity, Snapshot, read_snapshot, write_snapshot};
use flick_machine::{Board, Machine, Turn, timing_of};
use flick_timing::machine;
use flick_timing::memory_system::{Event, HartCounts};
use paused_harts::Often;

const POLICIES: [&str; 3] = ["fifo", "round-robin", "priority"];

/// A tile with one bank. `caches` is of the harts' core, and of a second one whose loads overlap.
fn file(name: &str, policy: &str, caches: &str, harts: &str) -> String {
    let core = |name: &str, overlap: u32| {
        let caches = caches.replace("CORE", name);
        format!(
            r#"
[core.{name}]
issue = 1
overlap = {overlap}
[core.{name}.cycles]
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
{caches}"#
        )
    };
    let text = format!(
        r#"
name = "banks" # an assumption, as all that follows
description = "harts that wait for one bank"
timebase = "100 MHz"
{}{}
[[tile]]
name = "board"
clock = "1 GHz"
{harts}
[[tile.memory]]
name = "main"
base = 0x8000_0000
size = "4 MiB"
latency = "60 ns"
occupancy = "40 ns"
arbitration = "{policy}"
[[tile.device]]
kind = "finisher"
base = 0x10_0000
[[tile.device]]
kind = "clint"
base = 0x200_0000
"#,
        core("narrow", 1),
        core("wide", 4)
    );
    written_machine::write(&format!("banks-{name}-{policy}"), &text)
}

const CACHE: &str = r#"
[core.CORE.l1d]
size = "1 KiB"
line = "64 B"
ways = 2
write = "back"
"#;

/// Each hart executes `body` for ever, with the address of a further part of its own memory in t1. Between
/// them it waits for as many steps as `steps` of its number.
fn stream(body: &str, steps: &[u32]) -> String {
    let words: Vec<_> = steps.iter().map(u32::to_string).collect();
    format!(
        r#"
  li t0, 0x6600
  csrs mstatus, t0
  la t0, steps
  slli t1, a0, 2
  add t0, t0, t1
  lw s3, 0(t0)
  li s0, 0x80100000
  slli t1, a0, 16
  add s0, s0, t1
  li s1, 0
  li s2, 0xffff
again:
  add t1, s0, s1
  {body}
  addi s1, s1, 64
  and s1, s1, s2
  mv t3, s3
1:
  beqz t3, again
  addi t3, t3, -1
  j 1b
.balign 64
steps: .word {}
"#,
        words.join(", ")
    )
}

/// Asks a machine in timed mode at its reset. `slice`: how far harts may be ahead, in picoseconds.
fn timed<T>(
    file: &str,
    firmware: &[u8],
    slice: Option<u64>,
    ask: impl FnOnce(&mut Machine, &Board) -> T,
) -> T {
    let description = machine::Machine::load(file, &[]).unwrap();
    on_machine(file, &[], vec![], firmware, |machine, board| {
        let mut timing = timing_of(&description, &description.tiles[0]);
        timing.slice = slice.unwrap_or(timing.slice);
        machine.set_timing(timing);
        machine.set_mode(true);
        ask(machine, board)
    })
}

/// What harts have counted at a virtual time, in nanoseconds.
fn counts(file: &str, firmware: &[u8], slice: Option<u64>, end: u64) -> Vec<HartCounts> {
    timed(file, firmware, slice, |machine, _| {
        assert_eq!(machine.run_until(end * 1000, &mut Quiet), None);
        machine.timed_run().sum
    })
}

/// Loads that have missed.
fn misses(counts: &[HartCounts]) -> Vec<u64> {
    let of = |hart: &HartCounts| hart.events[Event::LoadMiss as usize];
    counts.iter().map(of).collect()
}

/// The bank serves a load in each 40 ns.
#[test]
fn each_policy_has_its_shares() {
    // Four harts ask again soon, the loads of the next one overlap, and the last one is mostly elsewhere.
    let harts = r#"
[[tile.hart]]
count = 4
isa = "rv64gcv"
core = "narrow"
[[tile.hart]]
isa = "rv64gcv"
core = "wide"
[[tile.hart]]
isa = "rv64gcv"
core = "narrow"
"#;
    let steps = [0, 1, 3, 7, 0, 1000];
    let firmware = build("bank_shares", "rv64gcv", &stream("ld t2, 0(t1)", &steps));
    let (end, served) = (400_000, 10_000_u64);
    let shares = POLICIES.map(|policy| {
        let file = file("shares", policy, CACHE, harts);
        let all = counts(&file, &firmware, None, end);
        let shares = misses(&all);
        // A hart that is ahead asks nothing: no slice changes the shares.
        for slice in [50_000, 1000] {
            let again = misses(&counts(&file, &firmware, Some(slice), end));
            assert_eq!(again, shares, "{policy}");
        }
        // Each hart's time is that of its instructions, and its stalls.
        for hart in &all {
            let stalls: u64 = hart.stalls.iter().sum();
            assert!(stalls < hart.elapsed);
            assert!(hart.bank_wait <= stalls || policy == "fifo");
        }
        assert!(served.abs_diff(shares.iter().sum()) <= 10, "{shares:?}");
        shares
    });
    let [fifo, turns, priority] = shares;
    // Four requests of the wide hart are there at a time.
    assert!(
        (4.0 - fifo[4] as f64 / fifo[0] as f64).abs() < 0.05,
        "{fifo:?}"
    );
    // The last one comes seldom, and has what it wants. The others have equal parts of the rest.
    assert!((90..100).contains(&turns[5]), "{turns:?}");
    let share = (served - turns[5]) / 5;
    let are_equal = turns[..5].iter().all(|&own| own.abs_diff(share) <= 1);
    assert!(are_equal, "{turns:?}");
    // A hart asks again within 80 ns, so that two of them keep the bank.
    assert_eq!(priority, [served / 2, served / 2, 0, 0, 0, 0]);
}

/// Harts that ask again at once.
const FIVE: &str = r#"
[[tile.hart]]
count = 5
isa = "rv64gcv_zicboz"
core = "narrow"
"#;

/// Instructions of many accesses, with caches that keep none of them, and with time that passes in front
/// of them: each comes to its end, and each hart has its turn.
#[test]
fn every_instruction_comes_to_its_end() {
    let through = CACHE.replace("back", "through");
    let code = CACHE
        .replace("l1d", "l1i")
        .replace("write = \"back\"", "hit = 2");
    let vector = "[core.CORE.vector]\ndatapath = 64\n";
    let caches = [
        ("cached", CACHE),
        ("through", &through),
        ("none", vector),
        ("code", &format!("{CACHE}{code}{vector}")),
    ];
    let bodies = [
        "ld t2, 60(t1)",
        "sd t2, 60(t1)",
        "cbo.zero (t1)",
        "amoadd.d t2, zero, (t1)",
        "vsetvli t0, zero, e64, m8, ta, ma\n vle64.v v8, (t1)",
        "vsetvli t0, zero, e64, m2, ta, ma\n vlseg4e64.v v8, (t1)",
    ];
    for (n, body) in bodies.iter().enumerate() {
        let name = format!("bank_instructions_{n}");
        let firmware = build(&name, "rv64gcv_zicboz", &stream(body, &[0; 5]));
        for (name, caches) in caches {
            let instructions = |policy| {
                let file = file(name, policy, caches, FIVE);
                let all = counts(&file, &firmware, None, 100_000);
                let all = all.iter().map(|hart| hart.instructions);
                all.collect::<Vec<_>>()
            };
            let turns = instructions("round-robin");
            let (least, most) = (turns.iter().min().unwrap(), turns.iter().max().unwrap());
            // Of an instruction with 16 accesses.
            assert!(
                *least > 200 && most - least <= 14,
                "{body}, {name}: {turns:?}"
            );
            let fifo = instructions("fifo");
            assert!(fifo.iter().all(|&n| n > 200), "{body}, {name}: {fifo:?}");
            let priority = instructions("priority");
            assert!(priority[0] > most * 3 / 2, "{body}, {name}: {priority:?}");
        }
    }
}

/// Loads are translated, as those of S. In s4 is the address of the table.
const TRANSLATED: &str = r#"
  li t0, -1
  csrw pmpaddr0, t0
  li t0, 0x1f
  csrw pmpcfg0, t0
  la s4, root
  srli t0, s4, 12
  li t1, 8 << 60
  or t0, t0, t1
  csrw satp, t0
  li t0, 0x20800
  csrs mstatus, t0
  j begin
.balign 4096
root: .quad 0, 0, 0x200000cf, 0
.balign 4096
begin:
"#;

/// Walks alone come to the bank, because each finds that its entry has left the cache. They are served as
/// loads are.
#[test]
fn walks_have_their_turns() {
    let caches = format!("{CACHE}[core.CORE.dtlb]\nentries = 4\ntables = \"cached\"\n");
    let harts = FIVE.replace("zicboz", "zicbom");
    let body = "sfence.vma\n ld t2, 0(s0)\n cbo.flush (s4)";
    let text = format!("{TRANSLATED}{}", stream(body, &[0; 5]));
    let firmware = build("bank_walks", "rv64gcv_zicbom", &text);
    let walks = |policy| {
        let file = file("walks", policy, &caches, &harts);
        let all = counts(&file, &firmware, None, 400_000);
        let walks = all
            .iter()
            .map(|hart| hart.events[Event::DataTlbMiss as usize]);
        walks.collect::<Vec<_>>()
    };
    let turns = walks("round-robin");
    assert!(turns.iter().all(|n| n.abs_diff(2000) <= 5), "{turns:?}");
    let priority = walks("priority");
    let kept = priority[..2].iter().all(|n| n.abs_diff(5000) <= 5);
    assert!(
        kept && priority[2..].iter().all(|&n| n <= 5),
        "{priority:?}"
    );
}

/// A timer interrupts hart 0 while it waits for the bank: 150 to 180 ns after it has read the time, and it
/// takes 120 ns from there until the timer is set. In s5 is how often that was, and in s6 how often
/// `behind` was the next instruction.
const INTERRUPTED: &str = r#"
  bnez a0, begin
  la t0, handler
  csrw mtvec, t0
  li s4, 0x2004000
  sd zero, 0(s4)
  li s5, 0
  li s6, 0
  la s7, behind
  li t0, 0x80
  csrw mie, t0
  csrsi mstatus, 8
  j begin
.balign 4
handler:
  addi s5, s5, 1
  csrr t4, mepc
  bne t4, s7, 1f
  addi s6, s6, 1
1:
  li t4, 0x200bff8
  ld t5, 0(t4)
  andi t6, s5, 3
  add t5, t5, t6
  addi t5, t5, 15
  sd t5, 0(s4)
  mret
begin:
"#;
const S5: usize = 21;
const S6: usize = 22;

fn interrupted_program(name: &str, load: &str) -> Vec<u8> {
    let text = stream(&format!("{load}\nbehind:"), &[0, 0, 5, 0, 9]);
    build(name, "rv64gcv", &format!("{INTERRUPTED}{text}"))
}

#[test]
fn interrupts_let_the_access_be_made() {
    let file = file("interrupts", "round-robin", "", FIVE);
    let firmware = interrupted_program("bank_interrupts", "ld t2, 0(t1)");
    for slice in [None, Some(2_000_000)] {
        timed(&file, &firmware, slice, |machine, _| {
            assert_eq!(machine.run_until(200_000_000, &mut Quiet), None);
            let loads = misses(&machine.timed_run().sum)[0];
            let registers = machine.hart(0).unwrap().hart.x;
            let (interrupts, behind) = (registers[S5], registers[S6]);
            assert!(loads > 500, "{loads}");
            // Each wait is interrupted, as soon as its load is made.
            let counts = [interrupts, behind];
            assert!(
                counts.iter().all(|n| n.abs_diff(loads) <= 3),
                "{loads} {counts:?}"
            );
        });
    }
}

/// Snapshots within slices and between them, while harts wait for the bank, have been chosen, or have made
/// one of two accesses.
#[test]
fn snapshots_have_what_waits() {
    let firmware = interrupted_program("bank_snapshots", "ld t2, 60(t1)");
    for policy in ["round-robin", "priority"] {
        let file = file("snapshots", policy, "", FIVE);
        timed(&file, &firmware, None, |machine, board| {
            let identity = RunIdentity::of(machine, &[]);
            let reset = Snapshot::take(machine, None);
            let end = 50_000_000;
            assert_eq!(machine.run_until(end, &mut Quiet), None);
            let (wanted, counts) = (machine.save(), machine.timed_run());
            reset.put(machine).unwrap();
            let mut files = vec![];
            for n in 0.. {
                let is_paused = match machine.turn(&mut Quiet, &mut Often(2)) {
                    Turn::Ended(end) => panic!("{end:?}"),
                    turn => turn != Turn::Ran,
                };
                if n % 101 == 0 {
                    let mut file = vec![];
                    let snapshot = Snapshot::take(machine, None);
                    write_snapshot(&mut file, &identity, &snapshot).unwrap();
                    files.push((is_paused, file, machine.save()));
                }
                if machine.earliest() >= end {
                    break;
                }
            }
            let within = files.iter().filter(|(is_paused, ..)| *is_paused).count();
            assert!(
                within > 5 && files.len() > within + 5,
                "{within} {}",
                files.len()
            );
            for (_, file, state) in files {
                reset.put(machine).unwrap();
                let read = read_snapshot(&file).unwrap();
                read.unpack(board.ram()).unwrap().put(machine).unwrap();
                assert!(machine.save() == state);
                assert_eq!(machine.run_until(end, &mut Quiet), None);
                assert_eq!(machine.timed_run(), counts);
                assert!(machine.save() == wanted);
            }
        });
    }
}
