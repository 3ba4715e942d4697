//! Bare programs, built by clang, on the machine `virt`.
mod bare_program;

use bare_program::build;
use flick_machine::virt::{SERIAL, Virt};
use flick_machine::{Board, Console, End, Files, Machine, boot};

/// Prints to a string, and gives bytes when the machine waits for them.
#[derive(Default)]
struct Outside {
    printed: String,
    input: Vec<u8>,
}

impl Console for Outside {
    fn output(&mut self, bytes: &[u8]) {
        self.printed
            .extend(bytes.iter().map(|&byte| char::from(byte)));
    }

    fn wait(&mut self, board: &Board, time: u64) -> bool {
        let taken = board.input(SERIAL, &self.input, time);
        self.input.drain(..taken);
        taken != 0
    }
}

struct Ran {
    end: End,
    printed: String,
    cycles: Vec<u64>,
    instructions: Vec<u64>,
}

fn run(name: &str, harts: usize, input: &str, text: &str) -> Ran {
    run_on("rv64gc_zicntr_sstc_svadu", name, harts, input, text)
}

fn run_on(isa: &str, name: &str, harts: usize, input: &str, text: &str) -> Ran {
    let mut virt = Virt {
        harts,
        isa: isa.parse().unwrap(),
        memory: 16 << 20,
        chosen: Default::default(),
    };
    let board = virt.board(vec![]).unwrap();
    let files = Files {
        firmware: build(name, text),
        ..Files::default()
    };
    let booted = boot(&mut virt, &board, &files, 1000).unwrap();
    let mut machine = Machine::new(&board, &booted.harts, booted.firmware.htif);
    machine.limit(50_000_000);
    let mut outside = Outside {
        input: input.into(),
        ..Outside::default()
    };
    let end = machine.run(&mut outside);
    Ran {
        end,
        printed: outside.printed,
        cycles: machine.cycles(),
        instructions: machine.instructions(),
    }
}

#[test]
fn a_program_prints_and_ends() {
    let ran = run(
        "hello",
        1,
        "",
        r#"void program(long hart) { print("hello\n"); end(7); }"#,
    );
    assert_eq!((ran.end, ran.printed.as_str()), (End::Exit(7), "hello\n"));
}

#[test]
fn a_program_that_waits_for_ever_is_idle() {
    let text = r#"void program(long hart) { for (;;) __asm__ volatile("wfi"); }"#;
    assert_eq!(run("idle", 2, "", text).end, End::Idle);
}

#[test]
fn a_handler_that_faults_ends_by_the_limit() {
    let text =
        r#"void program(long hart) { WRITE("mtvec", 0L); __asm__ volatile("unimp"); end(0); }"#;
    assert_eq!(run("nowhere", 1, "", text).end, End::Instructions);
}

/// Atomics, plain stores under a lock, interrupts of other harts and of the timer: harts count, and the
/// same run gives the same cycles.
const MANY: &str = r#"
static unsigned lock, total;
static unsigned long order;
static volatile unsigned ready, interrupts;
__attribute__((interrupt("machine"))) void handler(void) {
  if (READ("mcause") == (1UL << 63 | 3)) {
    *(volatile unsigned *)(0x2000000 + 4 * READ("mhartid")) = 0;
    __atomic_fetch_add(&interrupts, 1, __ATOMIC_RELAXED);
  } else {
    *(volatile unsigned long *)(0x2004000 + 8 * READ("mhartid")) = -1UL;
    __atomic_fetch_add(&interrupts, 100, __ATOMIC_RELAXED);
  }
}
void program(long hart) {
  WRITE("mtvec", (unsigned long)handler);
  for (int i = 0; i < 1000; i++) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) ;
    total++;
    order = order * 31 + hart;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
  }
  __atomic_fetch_add(&ready, 1, __ATOMIC_ACQ_REL);
  if (hart) {
    WRITE("mie", 1L << 3);
    SET("mstatus", 1L << 3);
    for (;;) __asm__ volatile("wfi");
  }
  while (ready != 4) ;
  for (int i = 1; i < 4; i++) *(volatile unsigned *)(0x2000000 + 4 * i) = 1;
  *(volatile unsigned long *)0x2004000 = *(volatile unsigned long *)0x200bff8 + 50;
  WRITE("mie", 1L << 7);
  SET("mstatus", 1L << 3);
  while (interrupts != 103) __asm__ volatile("wfi");
  print_number(total);
  put(' ');
  print_number(order);
  end(0);
}
"#;

#[test]
fn harts_agree_on_an_order_that_repeats() {
    let first = run("many", 4, "", MANY);
    assert_eq!(first.end, End::Exit(0));
    assert!(first.printed.starts_with("4000 "), "{}", first.printed);
    let second = run("again", 4, "", MANY);
    assert_eq!(first.printed, second.printed);
    assert_eq!(
        (first.cycles, first.instructions),
        (second.cycles, second.instructions)
    );
}

#[test]
fn what_comes_from_outside_interrupts() {
    let text = r#"
__attribute__((interrupt("machine"))) void handler(void) {
  unsigned source = *(volatile unsigned *)0xc200004;
  while (uart[5] & 1) {
    char c = *uart;
    put(c - 32);
    if (c == 'c') end(source == 10 ? 0 : 1);
  }
  *(volatile unsigned *)0xc200004 = source;
}
void program(long hart) {
  WRITE("mtvec", (unsigned long)handler);
  *(volatile unsigned *)(0xc000000 + 4 * 10) = 1;
  *(volatile unsigned *)0xc002000 = 1 << 10;
  uart[1] = 1;
  WRITE("mie", 1L << 11);
  SET("mstatus", 1L << 3);
  for (;;) __asm__ volatile("wfi");
}
"#;
    let ran = run("echo", 1, "abc", text);
    assert_eq!((ran.end, ran.printed.as_str()), (End::Exit(0), "ABC"));
}

/// A supervisor with page tables and a user below it: faults have their causes and addresses, accessed
/// and dirty bits are set, and a fence brings a change.
#[test]
fn page_tables() {
    let text = r#"
static unsigned long root[512] __attribute__((aligned(4096))), middle[512] __attribute__((aligned(4096))),
    leaves[512] __attribute__((aligned(4096)));
static volatile long pages[2][512] __attribute__((aligned(4096)));
static unsigned long causes[8], addresses[8];
static int count;
__attribute__((naked, aligned(4))) void handler(void) {
  __asm__ volatile("csrrw sp, mscratch, sp\n addi sp, sp, -128\n"
                   "sd ra, 0(sp)\n sd t0, 8(sp)\n sd t1, 16(sp)\n sd a0, 24(sp)\n sd a1, 32(sp)\n sd a2, 40(sp)\n"
                   "sd a3, 48(sp)\n sd a4, 56(sp)\n sd a5, 64(sp)\n sd a6, 72(sp)\n sd a7, 80(sp)\n sd t2, 88(sp)\n"
                   "call handle\n"
                   "ld ra, 0(sp)\n ld t0, 8(sp)\n ld t1, 16(sp)\n ld a0, 24(sp)\n ld a1, 32(sp)\n ld a2, 40(sp)\n"
                   "ld a3, 48(sp)\n ld a4, 56(sp)\n ld a5, 64(sp)\n ld a6, 72(sp)\n ld a7, 80(sp)\n ld t2, 88(sp)\n"
                   "addi sp, sp, 128\n csrrw sp, mscratch, sp\n mret\n");
}
static void finish(void) {
  for (int i = 0; i < count; i++) {
    print_number(causes[i]);
    put(':');
    print_number(addresses[i] & 0xfff);
    put(' ');
  }
  print_number(leaves[0] >> 6 & 3);
  print_number(leaves[1] >> 6 & 3);
  end(0);
}
void handle(void) {
  unsigned long cause = READ("mcause");
  causes[count] = cause, addresses[count++] = READ("mtval");
  if (cause == 9 || count == 8) finish();
  WRITE("mepc", READ("mepc") + 4);
}
#define LOAD(p) __asm__ volatile(".option push\n.option norvc\n lw t0, 0(%0)\n.option pop" : : "r"(p) : "t0", "memory")
#define STORE(p) __asm__ volatile(".option push\n.option norvc\n sw zero, 0(%0)\n.option pop" : : "r"(p) : "memory")
void supervisor(void) {
  char *at = (char *)0x40000000;
  LOAD(at + 8);         /* of a user's page: 13 */
  SET("sstatus", 1L << 18);
  LOAD(at + 16);        /* with SUM */
  STORE(at + 24);       /* read-only: 15 */
  STORE(at + 4096 + 32);
  leaves[1] = 0;
  __asm__ volatile("sfence.vma %0, zero" : : "r"(at + 4096) : "memory");
  LOAD(at + 4096 + 40); /* gone: 13 */
  leaves[1] = (unsigned long)pages[1] >> 12 << 10 | 0x97; /* without A */
  __asm__ volatile("sfence.vma" : : : "memory");
  STORE(at + 4096 + 48);
  __asm__ volatile("ecall");
}
void program(long hart) {
  static char stack[4096] __attribute__((aligned(16)));
  WRITE("mtvec", (unsigned long)handler);
  WRITE("mscratch", (unsigned long)(stack + 4096));
  WRITE("pmpaddr0", -1L);
  WRITE("pmpcfg0", 0x1fL);
  root[1] = (unsigned long)middle >> 12 << 10 | 1;
  root[2] = 0x80000000UL >> 12 << 10 | 0xcf;
  middle[0] = (unsigned long)leaves >> 12 << 10 | 1;
  leaves[0] = (unsigned long)pages[0] >> 12 << 10 | 0x13;
  leaves[1] = (unsigned long)pages[1] >> 12 << 10 | 0x97;
  WRITE("satp", 8UL << 60 | (unsigned long)root >> 12);
  WRITE("mepc", (unsigned long)supervisor);
  WRITE("mstatus", 1L << 11);
  __asm__ volatile("mret");
}
"#;
    let ran = run("pages", 1, "", text);
    assert_eq!(
        (ran.end, ran.printed.as_str()),
        (End::Exit(0), "13:8 15:24 13:40 9:0 13")
    );
}

/// Vectors of 512 bits: illegal while VS is off, and resumed at the element that faulted.
#[test]
fn vectors() {
    let text = r#"
unsigned long causes, starts;
static int source[64], sum[64];
__attribute__((naked, aligned(4))) void handler(void) {
  /* The first trap: VS goes on, and the instruction is executed again. The second: behind it. */
  __asm__ volatile("la t0, causes\n ld t1, 0(t0)\n csrr t2, mcause\n slli t1, t1, 8\n or t1, t1, t2\n sd t1, 0(t0)\n"
                   "li t0, 2\n bne t2, t0, 1f\n li t0, 0x200\n csrs mstatus, t0\n mret\n"
                   "1: csrr t1, vstart\n la t0, starts\n sd t1, 0(t0)\n csrw vstart, zero\n"
                   "csrr t0, mepc\n addi t0, t0, 4\n csrw mepc, t0\n mret\n");
}
void program(long hart) {
  unsigned long length;
  for (int i = 0; i < 64; i++) source[i] = i;
  WRITE("mtvec", (unsigned long)handler);
  __asm__ volatile(".option push\n.option arch, +v\n"
                   "vsetvli %0, %1, e32, m4, ta, ma\n vle32.v v8, (%2)\n vadd.vi v8, v8, 5\n vse32.v v8, (%3)\n"
                   ".option pop" : "=&r"(length) : "r"(64L), "r"(source), "r"(sum) : "memory");
  print_number(length);
  put(' ');
  print_number(sum[63]);
  /* The last 4 words of memory, and what is behind it. */
  __asm__ volatile(".option push\n.option arch, +v\n vle32.v v8, (%0)\n.option pop" : : "r"(0x81000000UL - 16) : "memory", "t0", "t1", "t2");
  put(' ');
  print_number(causes);
  put(' ');
  print_number(starts);
  end(0);
}
"#;
    let ran = run_on("rv64gcv_zvl512b", "vectors", 1, "", text);
    let expected = format!("64 68 {} 4", 2 << 8 | 5);
    assert_eq!((ran.end, ran.printed), (End::Exit(0), expected));
}
