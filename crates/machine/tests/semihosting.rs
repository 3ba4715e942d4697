//! Bare programs that ask the outside by semihosting, and machines that start again, go on from snapshots, or
//! repeat what was recorded.
mod built_by_clang;

use std::path::{Path, PathBuf};

use flick_machine::snapshot::{RunIdentity, Snapshot, read_snapshot, write_snapshot};
use flick_machine::{
    BadSnapshot, Board, Console, End, Files, Input, Machine, Semihosting, SemihostingSetup, System,
    boot,
};
use flick_timing::machine;

const START: &str = r#"
typedef unsigned long word;
#define NORETURN __attribute__((noreturn))
static word call(word number, const void *argument) {
  register word a0 __asm__("a0") = number;
  register const void *a1 __asm__("a1") = argument;
  __asm__ volatile(".balign 16\n.option push\n.option norvc\n"
                   "slli x0, x0, 0x1f\n ebreak\n srai x0, x0, 7\n.option pop"
                   : "+r"(a0) : "r"(a1) : "memory");
  return a0;
}
static word length_of(const char *text) { word n = 0; while (text[n]) n++; return n; }
static word open(const char *name, word mode) { word block[] = {(word)name, mode, length_of(name)}; return call(1, block); }
static word with(word number, word a, word b, word c) { word block[] = {a, b, c, 0}; return call(number, block); }
static void print(const char *text) { call(4, text); }
static void number(word n) { char text[24]; int at = 23; text[at] = 0; do text[--at] = '0' + n % 10; while (n /= 10); print(text + at); print(" "); }
static NORETURN void leave(word status) { word block[] = {0x20026, status}; call(0x20, block); for (;;); }
void program(void);
__asm__(".text\n.globl _start\n_start:\nla sp, stack\nla t0, trap\ncsrw mtvec, t0\nj program\n.balign 4\ntrap:\nli t0, 0x100000\nli t1, 0x53333\nsw t1, 0(t0)\n1: j 1b\n");
__asm__(".bss\n.balign 16\n.space 16384\nstack:\n.text\n");
"#;

fn build(name: &str, text: &str) -> PathBuf {
    let options = [
        "-march=rv64gc",
        "-O1",
        "-mcmodel=medany",
        "-ffreestanding",
        "-w",
    ];
    built_by_clang::build(name, "c", &format!("{START}{text}"), &options)
}

#[derive(Default)]
struct Outside {
    printed: Vec<u8>,
    input: Vec<u8>,
}

impl Console for Outside {
    fn output(&mut self, bytes: &[u8]) {
        self.printed.extend(bytes);
    }

    fn read(&mut self, most: usize) -> Vec<u8> {
        self.input.drain(..most.min(self.input.len())).collect()
    }
}

/// How a program ends, and what it prints. Machines that reset start again.
fn run(program: &Path, folder: Option<&Path>, input: &str) -> (End, String) {
    let [first, second] = [None, Some(1)].map(|executions| {
        let settings = ["memory=16M".to_owned(), "harts=1".to_owned()];
        let virt = machine::Machine::load("virt", &settings).unwrap();
        let mut system = System::new(&virt).unwrap();
        let board: Board = system.board(vec![]).unwrap();
        let files = Files {
            firmware: std::fs::read(program).unwrap(),
            ..Files::default()
        };
        let booted = boot(&mut system, &board, &files).unwrap();
        let mut machine = Machine::new(&board, &booted.harts, None);
        machine.translate_after(executions);
        machine.limit(50_000_000);
        machine.answer_calls(Semihosting::new(SemihostingSetup {
            folder: folder.map(Path::to_owned),
            command_line: "program -v".to_owned(),
            free: std::iter::once(0x8010_0000..0x8080_0000).collect(),
        }));
        let mut outside = Outside {
            input: input.into(),
            ..Outside::default()
        };
        machine.restart_at_reset();
        let end = machine.run(&mut outside);
        (end, String::from_utf8_lossy(&outside.printed).into_owned())
    });
    assert_eq!(first, second);
    first
}

#[test]
fn a_program_reads_prints_and_tells_the_time() {
    let text = r#"
void program(void) {
  char line[16] = {0};
  word in = open(":tt", 0), out = open(":tt", 4);
  number(with(6, in, (word)line, 15));
  number(with(5, out, (word)line, 3));
  number(call(9, &in));
  char c = '!';
  call(3, &c);
  number(call(7, 0) == -1UL);
  word block[] = {(word)line, sizeof line};
  number(call(0x15, block));
  number(block[1]);
  print(line);
  print(" ");
  word fields[4], pointer = (word)fields;
  call(0x16, &pointer);
  number(fields[0] == 0x80100000 && fields[2] == 0x80800000 && fields[1] <= fields[3]);
  number(call(0x11, 0));
  for (volatile int i = 0; i < 100000; i++);
  word ticks;
  call(0x30, &ticks);
  number(ticks > 100000 && ticks < 100000000);
  number(call(0x31, 0));
  word all = open(":semihosting-features", 0);
  number(with(0xc, all, 0, 0));
  leave(7);
}
"#;
    let program = build("semihosting", text);
    let printed = "10 abc0 1 !1 0 10 program -v 1 1767225600 1 1000000000 5 ";
    let ran = run(&program, None, "abcd\n");
    assert_eq!(ran, (End::Exit(7), printed.into()));
}

#[test]
fn files_of_a_folder_alone() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("semihosted");
    std::fs::create_dir_all(&folder).unwrap();
    let text = r#"
void program(void) {
  char bytes[8] = {0};
  word file = open("out.txt", 6);
  if (file == -1UL) leave(call(0x13, 0));
  number(with(5, file, (word)"hello", 5));
  number(with(0xa, file, 1, 0));
  number(with(6, file, (word)bytes, 8));
  print(bytes);
  print(" ");
  number(with(0xc, file, 0, 0));
  number(with(9, file, 0, 0));
  number(with(2, file, 0, 0));
  number(with(2, file, 0, 0) == -1UL);
  number(call(0x13, 0));
  number(open("../out.txt", 4) == -1UL);
  number(call(0x13, 0));
  leave(0);
}
"#;
    let program = build("semihosting_files", text);
    let printed = "0 0 4 ello 5 0 0 1 9 1 13 ";
    assert_eq!(
        run(&program, Some(&folder), ""),
        (End::Exit(0), printed.into())
    );
    assert_eq!(std::fs::read(folder.join("out.txt")).unwrap(), b"hello");
    assert_eq!(run(&program, None, ""), (End::Exit(13), String::new()));
}

#[test]
fn hostile_arguments_fail() {
    let text = r#"
void program(void) {
  static const word wild[] = {0, 8, 0x7ffffffffffff000, -1UL, -9UL, 0x80fffffc, 0x10000000, 0x80000001};
  word out = open(":tt", 4), in = open(":tt", 0), all = open(":semihosting-features", 0);
  for (word n = 0; n < 0x40; n++) {
    if (n == 0x18 || n == 0x20) continue;
    for (int i = 0; i < 8; i++) {
      if (n != 4 || i < 7) call(n, (void *)wild[i]);
      for (int j = 0; j < 8; j++)
        if (n != 3 && n != 4 && n != 5) with(n, wild[j], wild[i], wild[j]);
    }
  }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      with(5, out, wild[i], wild[j] >= 0x80000000 ? 0 : 8);
      with(6, all, wild[i] == 0x80000001 ? 0 : wild[i], wild[j]);
      with(6, in, wild[i], wild[j]);
      with(1, wild[i], 4, wild[j]);
    }
  number(with(5, out, 0x7000000000000000, -1UL) == -1UL);
  /* An ebreak without its neighbours is a breakpoint. */
  __asm__ volatile("ebreak");
}
"#;
    let program = build("semihosting_hostile", text);
    let (end, printed) = run(&program, None, "");
    assert_eq!(end, End::Exit(5));
    assert!(printed.ends_with("1 "), "{printed:?}");
}

#[test]
fn a_machine_starts_again() {
    let text = r#"
/* Zero at the reset. */
word memory[2];
word initialised = 5;
void program(void) {
  word ticks;
  call(0x30, &ticks);
  number(memory[0]);
  number(initialised);
  /* The CLINT's software interrupt, and PLIC's priority. */
  volatile unsigned *msip = (void *)0x2000000, *priority = (void *)0xc000004;
  number(*msip + *priority);
  *msip = 1;
  *priority = 3;
  memory[0] = 1;
  initialised = 6;
  if (ticks < 1000000) {
    for (volatile int i = 0; i < 1000000; i++);
    *(volatile unsigned *)0x100000 = 0x7777;
    for (;;);
  }
  leave(3);
}
"#;
    let program = build("restart", text);
    let ran = run(&program, None, "");
    assert_eq!(ran, (End::Exit(3), "0 5 0 0 5 0 ".into()));
}

/// Lets `f` have a machine at its reset.
fn with_machine<R>(
    program: &Path,
    folder: Option<&Path>,
    f: impl FnOnce(&mut Machine, &Board) -> R,
) -> R {
    let settings = ["memory=16M".to_owned(), "harts=1".to_owned()];
    let virt = machine::Machine::load("virt", &settings).unwrap();
    let mut system = System::new(&virt).unwrap();
    let board: Board = system.board(vec![]).unwrap();
    let files = Files {
        firmware: std::fs::read(program).unwrap(),
        ..Files::default()
    };
    let booted = boot(&mut system, &board, &files).unwrap();
    let mut machine = Machine::new(&board, &booted.harts, None);
    machine.answer_calls(Semihosting::new(SemihostingSetup {
        folder: folder.map(Path::to_owned),
        ..SemihostingSetup::default()
    }));
    f(&mut machine, &board)
}

/// Copies lines from the console to the end of a file, and reads them again from another handle. The line
/// `s` makes the program wait in between.
const COPY: &str = r#"
void program(void) {
  char c[2] = {0};
  word in = open(":tt", 0), to = open("copy.txt", 8), from = open("copy.txt", 0), all = open(":semihosting-features", 0);
  if (to == -1UL) leave(1);
  with(6, all, (word)c, 1);
  print(c);
  for (int n = 0; n < 6; n++) {
    if (with(6, in, (word)c, 1)) leave(2);
    if (with(5, to, (word)c, 1)) leave(3);
    for (volatile int i = 0; i < 1000; i++);
    if (with(6, from, (word)c, 1)) leave(4);
    print(c);
    number(with(0xc, from, 0, 0));
  }
  with(6, all, (word)c, 1);
  print(c);
  number(open("missing", 0) == -1UL);
  number(call(0x13, 0));
  call(0x30, c);
  leave(0);
}
"#;
const COPIED: &str = "Sa1 b2 c3 d4 e5 f6 H1 2 ";

fn copied(machine: &mut Machine, outside: &mut Outside) -> Vec<u64> {
    let end = machine.run(outside);
    assert_eq!(
        end,
        End::Exit(0),
        "{:?}",
        String::from_utf8_lossy(&outside.printed)
    );
    assert_eq!(String::from_utf8_lossy(&outside.printed), COPIED);
    machine.cycles()
}

fn fresh_folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn open_files_are_in_snapshots() {
    let program = build("semihosting_copy", COPY);
    let folder = fresh_folder("semihosted_copy");
    let file = folder.join("copy.txt");
    let outside = |input: &str| Outside {
        input: input.into(),
        ..Outside::default()
    };
    let start = |f: &mut dyn FnMut(&mut Machine, &Board)| {
        let _ = std::fs::remove_file(&file);
        with_machine(&program, Some(&folder), f);
    };
    let mut wanted = vec![];
    start(&mut |machine, _| wanted = copied(machine, &mut outside("abcdef")));
    let time = wanted[0] * 1000;
    for part in 1..8 {
        let (mut saved, mut at_reset) = (vec![], None);
        let (mut printed, mut left, mut content) = (vec![], vec![], vec![]);
        start(&mut |machine, _| {
            let identity = RunIdentity::of(machine, &[]);
            let mut outside = outside("abcdef");
            assert_eq!(machine.run_until(time / 8 * part, &mut outside), None);
            write_snapshot(&mut saved, &identity, &Snapshot::take(machine, None)).unwrap();
            (printed, left) = (outside.printed.clone(), outside.input.clone());
            content = std::fs::read(&file).unwrap();
            assert_eq!(copied(machine, &mut outside), wanted);
            at_reset = Some(identity);
        });
        // The folder is as it was then.
        std::fs::write(&file, &content).unwrap();
        with_machine(&program, Some(&folder), |machine, board| {
            assert_eq!(at_reset, Some(RunIdentity::of(machine, &[])));
            let read = read_snapshot(&saved).unwrap();
            read.unpack(board.ram()).unwrap().put(machine).unwrap();
            machine.open_files().unwrap();
            let (printed, input) = (printed.clone(), left.clone());
            assert_eq!(copied(machine, &mut Outside { printed, input }), wanted);
            assert_eq!(std::fs::read(&file).unwrap(), b"abcdef");
        });
        // A file that has gone is known at once, and so is another run.
        std::fs::remove_file(&file).unwrap();
        with_machine(&program, Some(&folder), |machine, board| {
            let read = read_snapshot(&saved).unwrap();
            read.unpack(board.ram()).unwrap().put(machine).unwrap();
            let error = machine.open_files().unwrap_err().to_string();
            assert!(error.contains("`copy.txt`"), "{error}");
            let mut other = Machine::new(board, &[], None);
            assert!(
                RunIdentity::of(&other, &[])
                    .difference(&at_reset.unwrap())
                    .is_some()
            );
            let snapshot = read_snapshot(&saved).unwrap().unpack(board.ram()).unwrap();
            assert!(matches!(
                snapshot.put(&mut other),
                Err(BadSnapshot::Harts { .. })
            ));
        });
    }
}

/// A replay, and a run that goes back, have the answers of before, and ask the host for nothing.
#[test]
fn answers_are_repeated_without_the_host() {
    let program = build("semihosting_again", COPY);
    let folder = fresh_folder("semihosted_again");
    let (send, receive) = std::sync::mpsc::channel::<Input>();
    let wanted = with_machine(&program, Some(&folder), |machine, _| {
        let send = send.clone();
        machine
            .outside
            .record(move |input| send.send(input.clone()).unwrap());
        let mut outside = Outside {
            input: b"abcdef".to_vec(),
            ..Outside::default()
        };
        copied(machine, &mut outside)
    });
    let inputs: Vec<_> = receive.try_iter().collect();
    std::fs::remove_dir_all(&folder).unwrap();
    with_machine(&program, None, |machine, _| {
        let reset = Snapshot::take(machine, None);
        machine.outside.replay(inputs.clone());
        assert_eq!(copied(machine, &mut Outside::default()), wanted);
        // Another answer, and one that is none.
        for change in [
            |bytes: &mut Vec<u8>| bytes[0] = 9,
            |bytes: &mut Vec<u8>| bytes.clear(),
        ] {
            let mut inputs = inputs.clone();
            change(&mut inputs[2].bytes);
            reset.put(machine).unwrap();
            machine.outside.replay(inputs);
            assert_eq!(machine.run(&mut Outside::default()), End::Diverged);
        }
    });
    assert!(!folder.exists());
    // Back and forward again, and then on.
    let folder = fresh_folder("semihosted_again");
    with_machine(&program, Some(&folder), |machine, _| {
        machine.outside.keep();
        let reset = Snapshot::take(machine, None);
        let mut outside = Outside {
            input: b"abcdef".to_vec(),
            ..Outside::default()
        };
        for part in 1..8 {
            let time = wanted[0] * 1000 / 8 * part;
            assert_eq!(machine.run_until(time, &mut outside), None);
            let printed = outside.printed.clone();
            reset.put(machine).unwrap();
            outside.printed.clear();
            // What is known needs no input.
            while machine.outside.is_known() {
                machine.turn(&mut outside, &mut flick_machine::Unwatched);
            }
            assert_eq!(outside.printed, printed);
        }
        assert_eq!(copied(machine, &mut outside), wanted);
        assert_eq!(std::fs::read(folder.join("copy.txt")).unwrap(), b"abcdef");
    });
}
