//! Bare programs that ask the outside by semihosting, and machines that start again.
use std::path::{Path, PathBuf};
use std::process::Command;

use flick_machine::{
    Board, Console, End, Files, Machine, Semihosting, SemihostingSetup, System, boot,
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
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (
        dir.join(format!("{name}.c")),
        dir.join(format!("{name}.elf")),
    );
    std::fs::write(&source, format!("{START}{text}")).unwrap();
    let status = Command::new("clang-19")
        .args(["--target=riscv64-unknown-elf", "-march=rv64gc", "-O1"])
        .args(["-mcmodel=medany", "-ffreestanding", "-nostdlib", "-w"])
        .args(["-fuse-ld=lld", "-Wl,--image-base=0x80000000"])
        .args([&source, &PathBuf::from("-o"), &program])
        .status()
        .unwrap();
    assert!(status.success(), "clang-19 failed");
    program
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
            free: 0x8010_0000..0x8080_0000,
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
