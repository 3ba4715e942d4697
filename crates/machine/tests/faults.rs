//! Faults on purpose: what programs see of them, interpreted and translated, with pauses and from snapshots.
mod bare_assembly;
mod bare_machine;
mod paused_harts;

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use bare_machine::{Quiet, on_machine};
use flick_device::virtio::{MemoryImage, Overlay};
use flick_machine::snapshot::Snapshot;
use flick_machine::{BlockDisk, End, Machine, Turn};
use flick_timing::faults;
use paused_harts::Often;

/// Harts but the first one wait. A trap ends with the status 100 and its cause.
const START: &str = r#"
  la t0, trap
  csrw mtvec, t0
  beqz a0, program
  j other
.balign 4
trap:
  csrr a0, mcause
  andi a0, a0, 63
  addi a0, a0, 100
  j end
"#;

fn build(name: &str, text: &str) -> Vec<u8> {
    bare_assembly::build(name, "rv64gc", &format!("{START}{text}"))
}

/// Runs to the end with pauses. At some of them, and between some slices, `f` gets the machine.
fn run_with_pauses(machine: &mut Machine, mut f: impl FnMut(&mut Machine)) -> End {
    for turns in 1_u64.. {
        match machine.turn(&mut Quiet, &mut Often(17)) {
            Turn::Ended(end) => return end,
            Turn::Ran | Turn::Paused(_) if turns.is_power_of_two() || turns % 5000 == 7 => {
                f(machine)
            }
            Turn::Ran | Turn::Paused(_) => {}
        }
    }
    End::Idle
}

/// How a machine is run.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Interpreted,
    Translated,
    /// With pauses, at which it goes on from snapshots.
    Saved,
}

/// The end of a program with faults, and the cycles of hart 0, interpreted, translated, and from snapshots.
fn run(name: &str, text: &str, faults: &str) -> (End, u64) {
    let firmware = build(name, text);
    let all = [How::Interpreted, How::Translated, How::Saved].map(|how| {
        let disk = BlockDisk {
            disk: Box::new(Overlay::new(MemoryImage(vec![7; 4096]))),
            is_read_only: false,
        };
        let settings = ["harts=2", "memory=16M"];
        on_machine("virt", &settings, vec![disk], &firmware, |machine, _| {
            machine.translate_after((how == How::Translated).then_some(2));
            machine.limit(300_000);
            machine
                .inject(faults::parse("faults.toml", faults, &[("board", 4)]).unwrap())
                .unwrap();
            let end = match how {
                How::Saved => run_with_pauses(machine, |machine| {
                    Snapshot::take(machine, None).put(machine).unwrap();
                }),
                _ => machine.run(&mut Quiet),
            };
            (end, machine.cycles()[0])
        })
    });
    assert_eq!(all[0], all[1], "{name}");
    // The allowed instructions are counted by slices.
    let is_even = all[0] == all[2] || all[0].0 == End::Instructions;
    assert!(is_even && all[0].0 == all[2].0, "{name}: {all:?}");
    all[0]
}

/// Hart 0 counts in `s0` until a word is not 0, and ends with it.
const LOOP: &str = r#"
program:
  la s1, word
  li s0, 0
loop:
  addi s0, s0, 1
  ld a0, 0(s1)
  beqz a0, loop
  j end
other:
  wfi
  j other
.balign 8
word: .quad 0
"#;

/// Tests ask at the same time, and one alone may write the file.
static WORD: LazyLock<u64> = LazyLock::new(find_word);

fn address_of_word() -> u64 {
    *WORD
}

fn find_word() -> u64 {
    let elf = build("faults_word", &format!("{LOOP}.globl word\n"));
    let place = elf.windows(16).position(|bytes| bytes == [0; 16]);
    assert!(place.is_some());
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("faults_word.elf");
    let names = Command::new("llvm-nm-19").arg(path).output().unwrap();
    let names = String::from_utf8(names.stdout).unwrap();
    let line = names.lines().find(|line| line.ends_with(" word")).unwrap();
    u64::from_str_radix(&line[..16], 16).unwrap()
}

#[test]
fn bits_flip_at_their_time() {
    let word = address_of_word();
    let fault = |when: &str| {
        let flip = format!("do = \"flip-memory\"\naddress = {word:#x}\nbits = 9\n");
        run(
            "flip",
            LOOP,
            &format!("[[fault]]\nat = {{ {when} }}\n{flip}"),
        )
    };
    let (end, cycles) = fault("time = \"30 us\"");
    assert_eq!(end, End::Exit(9));
    assert!((30_000..30_020).contains(&cycles), "{cycles}");
    let (end, cycles) = fault("hart = 0, cycle = 1000");
    assert_eq!(end, End::Exit(9));
    assert!((1000..1020).contains(&cycles), "{cycles}");
    let (end, cycles) = fault("hart = 0, instruction = 500");
    assert_eq!(end, End::Exit(9));
    assert!((500..520).contains(&cycles), "{cycles}");
}

#[test]
fn registers_flip_at_an_address() {
    // The third time that the loop begins.
    let text = r#"
program:
  li a0, 0
.balign 4096
loop:
  addi a0, a0, 1
  li t0, 20
  bne a0, t0, loop
  j end
other:
  j other
"#;
    let faults = "[[fault]]\nat = { hart = 0, address = 0x8000_3000, times = 3 }\n\
                  do = \"flip-register\"\nhart = 0\nregister = \"a0\"\nbits = 0x10\n\
                  [[fault]]\nat = { hart = 0, instruction = 4 }\n\
                  do = \"flip-register\"\nhart = 0\nregister = \"mscratch\"\nbits = 0x10\n";
    let (end, without) = run("flip_register", text, &faults.replace("a0", "s5"));
    assert_eq!(end, End::Exit(20));
    // From 2 to 18.
    let (end, with) = run("flip_register", text, faults);
    assert_eq!(end, End::Exit(20));
    assert_eq!(without - with, 3 * 16);
}

#[test]
fn harts_stop() {
    let stop = "[[fault]]\nat = { hart = 0, cycle = 100 }\ndo = \"stop-hart\"\nhart = 0\n";
    let (end, _) = run("stop", LOOP, stop);
    assert_eq!(end, End::Idle);
    let word = address_of_word();
    let faults = format!(
        "{stop}cycles = 5000\n[[fault]]\nat = {{ hart = 0, instruction = 200 }}\n\
         do = \"flip-memory\"\naddress = {word:#x}\nbits = 1\n"
    );
    let (end, cycles) = run("stop", LOOP, &faults);
    assert_eq!(end, End::Exit(1));
    assert!((5200..5220).contains(&cycles), "{cycles}");
}

#[test]
fn accesses_are_refused() {
    let word = address_of_word() / 4096 * 4096;
    let refuse = "do = \"refuse-access\"\nsize = \"4 KiB\"\n";
    let at = "[[fault]]\nat = { time = \"1 us\" }\n";
    // The program is in the page, too: a fetch faults, and so does the handler.
    let (end, _) = run(
        "refuse",
        LOOP,
        &format!("{at}{refuse}address = {word:#x}\n"),
    );
    assert_eq!(end, End::Instructions);
    let text = r#"
program:
  li s0, 0x10000000
1: lbu t0, 5(s0)
  j 1b
other:
  j other
"#;
    let faults = format!("{at}{refuse}address = 0x1000_0000\n");
    assert_eq!(run("refuse_device", text, &faults).0, End::Exit(105));
}

#[test]
fn lines_are_raised_and_suppressed() {
    let text = r#"
program:
  # The software interrupt of this hart.
  li t0, 8
  csrw mie, t0
  csrsi mstatus, 8
  li t1, 0x2000000
  li t0, 1
  sw t0, 0(t1)
  li t2, 2000
1: addi t2, t2, -1
  bnez t2, 1b
  li a0, 1
  j end
other:
  j other
"#;
    let line = |action: &str| {
        let at = "[[fault]]\nat = { time = \"0 s\" }\n";
        let faults = format!("{at}do = \"{action}\nhart = 0\nline = \"MSIP\"\n");
        run("lines", text, &faults)
    };
    assert_eq!(line("suppress-line\"").0, End::Exit(1));
    let (end, late) = line("delay-line\"\nby = \"2 us\"");
    assert_eq!(end, End::Exit(103));
    let (end, early) = line("raise-line\"");
    assert_eq!(end, End::Exit(103));
    let (end, suppressed) = line("suppress-line\"\nfor = \"3 us\"");
    assert_eq!(end, End::Exit(103));
    assert!(
        early < 100 && (2000..2100).contains(&late),
        "{early} {late}"
    );
    assert!((3000..3100).contains(&suppressed), "{suppressed}");
}

#[test]
fn what_the_machine_lacks_is_told() {
    on_machine("virt", &["harts=1"], vec![], &[0x13; 4], |machine, _| {
        for (action, what) in [
            (
                "\"stop-hart\"\nhart = 1",
                "there is no hart 1: the machine has 1",
            ),
            ("\"drop-request\"", "there is no disk 0"),
            (
                "\"flip-memory\"\naddress = 0x100\nbits = 1",
                "there is no memory at 0x100",
            ),
        ] {
            let text = format!("\n[[fault]]\nat = {{ time = \"1 us\" }}\ndo = {action}\n");
            let error = machine
                .inject(faults::parse("f", &text, &[("board", 512)]).unwrap())
                .unwrap_err();
            assert_eq!((error.to_string().as_str(), error.line), (what, 2));
        }
    });
}
