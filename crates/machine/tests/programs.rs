//! Bare programs, built by clang, on the machine `virt`.
mod bare_program;

use bare_program::build;
use flick_machine::{
    Board, Console, End, Files, HartTiming, Machine, MachineTiming, SERIAL, System,
    TRANSLATE_AFTER, TimedRun, boot,
};
use flick_timing::branch_predictor::{Directions, PredictorShape};
use flick_timing::core_costs::{CLASSES, CoreCosts};
use flick_timing::machine;
use flick_timing::machine::Arbitration;
use flick_timing::memory_system::{
    BankShape, CacheShape, CoherenceShape, DataShape, Event, HartCounts, HartShape, MemoryShape,
    SystemShape, TlbShape,
};

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

#[derive(Debug, PartialEq)]
struct Ran {
    end: End,
    printed: String,
    cycles: Vec<u64>,
    instructions: Vec<u64>,
    pcs: Vec<u64>,
    memory: Memory,
    timed: TimedRun,
}

/// The machine's memory, too much to print.
#[derive(PartialEq)]
struct Memory(Vec<u8>);

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let sum = self.0.iter().fold(0_u64, |sum, &byte| {
            sum.wrapping_mul(31).wrapping_add(byte.into())
        });
        write!(f, "{sum:#x}")
    }
}

fn run(name: &str, harts: usize, input: &str, text: &str) -> Ran {
    run_on("rv64gc_zicntr_sstc_svadu", name, harts, input, text)
}

/// Runs it interpreted, and translated at once and later: nothing may differ.
fn run_on(isa: &str, name: &str, harts: usize, input: &str, text: &str) -> Ran {
    let program = build(name, text);
    let run = |translate_after| run_by(translate_after, isa, &program, harts, input, None);
    let ran = run(None);
    assert_eq!(run(Some(1)), ran, "{name}: translated at once");
    assert_eq!(run(Some(TRANSLATE_AFTER)), ran, "{name}: translated");
    ran
}

fn run_by(
    translate_after: Option<u8>,
    isa: &str,
    program: &[u8],
    harts: usize,
    input: &str,
    timing: Option<MachineTiming>,
) -> Ran {
    let settings = [
        format!("harts={harts}"),
        format!("isa={isa}"),
        "memory=16M".to_owned(),
    ];
    let mut virt = System::new(&machine::Machine::load("virt", &settings).unwrap()).unwrap();
    let board = virt.board(vec![]).unwrap();
    let files = Files {
        firmware: program.to_vec(),
        ..Files::default()
    };
    let booted = boot(&mut virt, &board, &files).unwrap();
    let mut machine = Machine::new(&board, &booted.harts, booted.firmware.htif);
    machine.limit(50_000_000);
    machine.translate_after(translate_after);
    if let Some(timing) = timing {
        machine.set_timing(timing);
        machine.set_mode(true);
    }
    let mut outside = Outside {
        input: input.into(),
        ..Outside::default()
    };
    let end = machine.run(&mut outside);
    let mut memory = vec![0; 8 << 20];
    board.read_memory(0x8000_0000, &mut memory).unwrap();
    Ran {
        end,
        printed: outside.printed,
        cycles: machine.cycles(),
        instructions: machine.instructions(),
        pcs: machine.program_counters(),
        memory: Memory(memory),
        timed: machine.timed_run(),
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

/// Harts of 1 GHz with caches of 4 KiB, a shared one of 64 KiB, and one memory.
fn timing(harts: usize, slice: u64) -> MachineTiming {
    let cache = |line, sets, ways| CacheShape { line, sets, ways };
    let costs = CoreCosts {
        period: 1000,
        classes: [1000; CLASSES.len()],
        taken: 1000,
        mispredicted: 3000,
        trap: 5000,
        device: 20_000,
        vector_width: 64,
        predictor: PredictorShape {
            directions: Directions::Static,
            ..PredictorShape::default()
        },
    };
    let tlb = TlbShape {
        entries: cache(0, 1, 16),
        walk: 2000,
        reads: true,
    };
    let hart = HartShape {
        code: Some((cache(6, 32, 2), 0)),
        data: Some(DataShape {
            lines: cache(6, 32, 2),
            writes_through: false,
            allocates: true,
        }),
        second: None,
        prefetcher: None,
        code_tlb: Some(tlb),
        data_tlb: Some(tlb),
        shared: vec![10_000],
        store_buffer: 2,
        overlap: 1.0,
    };
    MachineTiming {
        tiles: vec![SystemShape {
            harts: vec![hart; harts],
            shared: vec![cache(6, 256, 4)],
            holds_bytes: false,
            coherence: Some(CoherenceShape {
                transfer: 15_000,
                upgrade: 8000,
            }),
            memories: vec![MemoryShape {
                range: 0x8000_0000..0x9000_0000,
                latency: 100_000,
                byte: 0.0,
                banks: BankShape {
                    banks: 1,
                    interleave: 6,
                    occupancy: 10_000,
                    arbitration: Arbitration::Fifo,
                },
            }],
            elsewhere: 50_000,
        }],
        harts: (0..harts)
            .map(|number| HartTiming {
                tile: 0,
                number,
                costs: costs.clone(),
            })
            .collect(),
        slice,
    }
}

fn run_timed(name: &str, harts: usize, slice: u64, text: &str) -> Ran {
    let isa = "rv64gcv_zicntr_sstc_svadu";
    let timing = timing(harts, slice);
    run_by(Some(1), isa, &build(name, text), harts, "", Some(timing))
}

const WALKS: &str = r#"
static char data[256 << 10] __attribute__((aligned(4096)));
__attribute__((noinline)) static long walk(long size, long stride) {
  long sum = 0;
  for (long at = 0; at < size; at += stride) sum += *(volatile char *)(data + at);
  return sum;
}
static void measure(long size) {
  walk(size, 64);
  long before = READ("cycle");
  walk(size, 64);
  print_number((READ("cycle") - before) * 10 / (size / 64));
  put(' ');
}
void program(long hart) {
  measure(2048);
  measure(32 << 10);
  measure(256 << 10);
  end(0);
}"#;

#[test]
fn in_timed_mode_an_access_costs_the_levels_that_it_reaches() {
    let ran = run_timed("timed_walks", 1, 1_000_000, WALKS);
    assert_eq!(ran.end, End::Exit(0));
    let costs: Vec<u64> = ran
        .printed
        .split_whitespace()
        .map(|n| n.parse().unwrap())
        .collect();
    // Tenths of cycles: four instructions and a taken branch, and then the shared cache and the memory.
    let [own, shared, memory] = costs[..] else {
        panic!("{}", ran.printed)
    };
    assert!((50..100).contains(&own), "{own}");
    assert!((150..153).contains(&shared), "{shared}");
    assert!((1150..1152).contains(&memory), "{memory}");
    // The same cycles again, with slices of any length.
    for slice in [1_000_000, 500_000, 10_000] {
        let again = run_timed("timed_walks", 1, slice, WALKS);
        assert_eq!(
            (again.cycles, again.printed),
            (ran.cycles.clone(), ran.printed.clone())
        );
    }
}

#[test]
fn harts_that_store_to_one_line_wait_for_each_other() {
    let text = |distance| {
        format!(
            r#"
static volatile long words[1024] __attribute__((aligned(64)));
static volatile int done, go;
void program(long hart) {{
  __atomic_fetch_add(&go, 1, __ATOMIC_SEQ_CST);
  while (go != 2) ;
  for (int i = 0; i < 10000; i++) words[hart * {distance}]++;
  __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
  if (hart) for (;;) __asm__ volatile("wfi");
  while (done != 2) ;
  print_number(READ("cycle"));
  put(' ');
  print_number(words[0] + words[{distance}]);
  end(0);
}}"#
        )
    };
    let run = |distance: u64, slice| {
        let ran = run_timed(
            &format!("timed_sharing_{distance}"),
            2,
            slice,
            &text(distance),
        );
        assert_eq!(ran.end, End::Exit(0), "{}", ran.printed);
        let (cycles, sum) = ran.printed.split_once(' ').unwrap();
        assert_eq!(sum, "20000");
        cycles.parse::<u64>().unwrap()
    };
    let (apart, shared) = (run(8, 100_000), run(1, 100_000));
    assert!(shared * 10 > apart * 11, "{shared} {apart}");
    // Half the slice moves no figure by more than 0.5 %.
    for (distance, cycles) in [(8, apart), (1, shared)] {
        let half = run(distance, 50_000);
        assert!(half.abs_diff(cycles) * 200 <= cycles, "{half} {cycles}");
    }
}

/// The models compute while the hart's floating-point environment is that of the thread.
#[test]
fn models_raise_no_flags() {
    let mut timing = timing(1, 100_000);
    let tile = &mut timing.tiles[0];
    tile.harts[0].overlap = 1.7;
    tile.memories[0].byte = 0.3;
    let text = r#"
static char data[64 << 10];
void program(long hart) {
  SET("mstatus", 0x2000);
  WRITE("fflags", 0L);
  for (int at = 0; at < sizeof data; at += 64) data[at] += 1;
  print_number(READ("fflags"));
  end(0);
}"#;
    let program = build("timed_flags", text);
    let ran = run_by(None, "rv64gc_zicntr", &program, 1, "", Some(timing));
    assert_eq!((ran.end, &*ran.printed), (End::Exit(0), "0"));
}

#[test]
fn a_marker_begins_timed_mode() {
    let ran = run_timed(
        "timed_marker",
        1,
        1_000_000,
        r#"
static char data[64 << 10];
__attribute__((noinline)) static long walk(void) {
  long before = READ("cycle");
  for (int at = 0; at < sizeof data; at += 64) *(volatile char *)(data + at);
  return READ("cycle") - before;
}
void program(long hart) {
  __asm__ volatile("slti x0, x0, 2");
  long functional = walk();
  __asm__ volatile("slti x0, x0, 1");
  long timed = walk();
  __asm__ volatile("slti x0, x0, 2");
  long again = walk();
  print_number(functional == again);
  print_number(timed > 10 * functional);
  end(0);
}"#,
    );
    assert_eq!((ran.end, &*ran.printed), (End::Exit(0), "11"));
    // The part in front of the program's, and the program's own, whose caches are empty at first.
    let timed = ran.timed;
    let [start, walk] = &timed.first[..] else {
        panic!("{timed:?}")
    };
    let misses = |counts: &HartCounts| counts.events[Event::LoadMiss as usize];
    assert_eq!(timed.parts, 2);
    assert_eq!(start.begin, 0);
    assert!(start.harts[0].elapsed <= walk.begin);
    assert!((1024..1034).contains(&misses(&walk.harts[0])), "{timed:?}");
    let mut sum = start.harts[0];
    sum.add(&walk.harts[0]);
    assert_eq!(timed.sum, [sum]);
}

#[test]
fn a_vector_load_in_timed_mode_goes_on_where_it_waited() {
    let ran = run_timed(
        "timed_vectors",
        2,
        1_000_000,
        r#"
static unsigned char data[4096] __attribute__((aligned(64)));
static volatile int done;
void program(long hart) {
  SET("mstatus", 0x600);
  for (int i = 0; i < 2048; i++) data[2048 * hart + i] = i * 7;
  unsigned long got = 0, trimmed = 0, vl;
  for (int i = 0; i < 2048; i += vl) {
    unsigned char out[256];
    __asm__ volatile(".option push\n.option arch, +v\nvsetvli %0, %3, e8, m8, ta, ma\nvle8ff.v v8, (%1)\nvse8.v v8, (%2)\ncsrr %0, vl\n.option pop"
      : "=&r"(vl) : "r"(data + 2048 * hart + i), "r"(out), "r"(128) : "memory");
    trimmed += vl != 128;
    for (int n = 0; n < vl; n++) got += out[n] == (unsigned char)((i + n) * 7);
  }
  while (done != hart) ;
  print_number(got); put(' '); print_number(trimmed); put(' ');
  done = hart + 1;
  while (done != 2) ;
  if (hart) end(0);
  for (;;) __asm__ volatile("wfi");
}"#,
    );
    assert_eq!((ran.end, &*ran.printed), (End::Exit(0), "2048 0 2048 0 "));
}

#[test]
fn code_that_another_hart_changes_is_executed_as_it_is() {
    let text = r#"
static volatile unsigned go, done;
long answer(void);
__asm__(".balign 4096\n.option push\n.option norvc\nanswer: addi a0, zero, 1\nret\n.option pop\n.balign 4096\n");
void program(long hart) {
  if (hart) {
    for (unsigned n = 2; n < 50; n++) {
      while (go != n) ;
      *(volatile unsigned *)answer = 0x513 | n << 20;
      __asm__ volatile("fence" ::: "memory");
      done = n;
    }
    for (;;) __asm__ volatile("wfi");
  }
  long sum = 0;
  for (unsigned n = 2; n < 50; n++) {
    for (int i = 0; i < 100; i++) sum += answer();
    go = n;
    while (done != n) ;
    __asm__ volatile("fence.i" ::: "memory");
  }
  print_number(sum);
  end(0);
}
"#;
    let ran = run("changing", 2, "", text);
    assert_eq!((ran.end, ran.printed.as_str()), (End::Exit(0), "117600"));
}
