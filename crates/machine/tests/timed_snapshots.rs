//! In timed mode a run that goes on from a snapshot has the caches, translations, predictions and waits of the
//! run that was saved: the same cycle of every event, the same trace, the same counts.
mod bare_program;
mod paused_harts;

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use bare_program::build;
use flick_events::trace::{Trace, What};
use flick_machine::snapshot::{RunIdentity, Snapshot, read_snapshot, write_snapshot};
use flick_machine::{
    BadSnapshot, Board, Booted, Console, End, Files, Input, Machine, MachineTiming, SERIAL,
    SavedMachine, System, TimedRun, Tracer, Turn, boot, timing_of,
};
use flick_timing::machine;
use paused_harts::Often;

/// Four harts under Sv39 with small pages: they chase through memory, count under a lock, divide, branch,
/// return and jump, while the timer interrupts the first one and the console has bytes for it. Timed mode
/// begins and ends in the middle.
const WORK: &str = r#"
static unsigned lock;
static unsigned long order, interrupts;
static volatile unsigned ready;
static unsigned long tables[3][512] __attribute__((aligned(4096)));
static unsigned chain[1 << 15];
static unsigned long next_timer(void) { return *(volatile unsigned long *)0x200bff8 + 3; }
__attribute__((interrupt("machine"))) void handler(void) {
  *(volatile unsigned long *)0x2004000 = next_timer();
  interrupts++;
}
static unsigned long once(unsigned long n) { return n * 3; }
static unsigned long twice(unsigned long n) { return n / 7; }
static unsigned long deep(unsigned long n) { return n < 2 ? n : deep(n - 1) + deep(n - 2); }
static unsigned long (*const all[])(unsigned long) = {once, twice, deep};
__attribute__((noinline)) static unsigned long chase(long hart, int times) {
  unsigned long at = hart * 77, sum = 0;
  for (int i = 0; i < times; i++) {
    at = (at * 1103515245 + 12345) >> 3 & 32767;
    sum += chain[at]++;
    if (sum & 5) sum ^= at;
    unsigned long (*volatile f)(unsigned long) = all[at % 3];
    sum += f(at & 7);
    if (i % 8 == 0) {
      while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) ;
      order = order * 31 + hart;
      __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    }
    if (i % 64 == 0) __asm__ volatile("fence.i\n sfence.vma" ::: "memory");
  }
  return sum;
}
static void supervisor(long hart) {
  unsigned long sum = chase(hart, 40);
  if (hart == 1) __asm__ volatile("slti x0, x0, 1");
  sum += chase(hart, 300);
  if (!hart) {
    for (int n = 0; n < 2; n++) {
      while (!(uart[5] & 1)) ;
      put(*uart);
      sum += chase(hart, 30);
    }
  }
  if (hart == 2) __asm__ volatile("slti x0, x0, 2");
  sum += chase(hart, 40);
  __atomic_fetch_add(&order, sum, __ATOMIC_RELAXED);
  __atomic_fetch_add(&ready, 1, __ATOMIC_ACQ_REL);
  if (hart) for (;;) __asm__ volatile("wfi");
  while (ready != 4) ;
  print_number(interrupts);
  put(' ');
  print_number(order);
  end(0);
}
void program(long hart) {
  if (hart > 3) for (;;) __asm__ volatile("wfi");
  if (!hart) {
    for (unsigned long n = 0; n < 512; n++) {
      tables[0][n] = n << 28 | 0xef;
      tables[1][n] = (0x80000000 + (n << 21)) >> 2 | 0xef;
      tables[2][n] = (0x80000000 + (n << 12)) >> 2 | 0xef;
    }
    tables[0][2] = (unsigned long)tables[1] >> 2 | 1;
    tables[1][0] = (unsigned long)tables[2] >> 2 | 1;
    __atomic_store_n(&ready, 9, __ATOMIC_RELEASE);
    while (ready != 12) ;
    ready = 0;
  } else {
    while (ready < 9) ;
    __atomic_fetch_add(&ready, 1, __ATOMIC_ACQ_REL);
    while (ready > 4) ;
  }
  WRITE("mtvec", (unsigned long)handler);
  WRITE("satp", 8UL << 60 | (unsigned long)tables[0] >> 12);
  WRITE("pmpaddr0", -1UL);
  WRITE("pmpcfg0", 31);
  if (!hart) {
    *(volatile unsigned long *)0x2004000 = next_timer();
    WRITE("mie", 1L << 7);
  }
  __asm__ volatile("csrc mstatus, %1\n csrs mstatus, %2\n csrw mepc, %0\n mv a0, %3\n mret"
                   : : "r"(supervisor), "r"(3L << 11), "r"(1L << 11 | 1L << 7), "r"(hart) : "memory", "a0");
}
"#;

#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// States of each hart: when, and which.
type States = Vec<Vec<(u64, String)>>;

fn states(trace: &[u8]) -> States {
    let trace = Trace::read(trace).unwrap();
    let process = &trace.processes[0];
    let of_thread = |thread: &flick_events::trace::Thread| {
        let states = thread.map(|event| match event.what {
            What::State { id, .. } => Some((event.time, process.name(id)?.text.clone())),
            _ => None,
        });
        states.into_iter().flatten().collect()
    };
    process.threads.iter().map(of_thread).collect()
}

#[derive(Default)]
struct Bytes {
    printed: String,
    polls: u32,
    input: Vec<u8>,
}

impl Console for Bytes {
    fn output(&mut self, bytes: &[u8]) {
        self.printed.push_str(&String::from_utf8_lossy(bytes));
    }

    fn poll(&mut self, board: &Board, time: u64) -> bool {
        self.polls += 1;
        if self.input.is_empty() || !self.polls.is_multiple_of(4000) {
            return false;
        }
        let taken = board.input(SERIAL, &self.input[..1], time);
        self.input.drain(..taken);
        taken != 0
    }
}

/// A machine, of which each test run has one of its own.
struct Rig {
    program: Vec<u8>,
    settings: Vec<String>,
    timing: MachineTiming,
    board: Board,
    start: Booted,
}

impl Rig {
    fn new(program: &[u8], settings: &[&str]) -> Self {
        let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
        let description = machine::Machine::load("rocket-rvv", &settings).unwrap();
        let mut system = System::new(&description).unwrap();
        let board = system.board(vec![]).unwrap();
        let files = Files {
            firmware: program.to_vec(),
            ..Files::default()
        };
        let start = boot(&mut system, &board, &files).unwrap();
        Self {
            program: program.to_vec(),
            settings,
            timing: timing_of(&description, &system.tile),
            board,
            start,
        }
    }

    fn machine(&self) -> (Machine<'_>, Shared) {
        let mut machine = Machine::new(&self.board, &self.start.harts, None);
        machine.set_timing(self.timing.clone());
        machine.count_classes();
        let file = Shared::default();
        let names = (0..5).map(|hart| format!("hart {hart}")).collect();
        machine.trace(Tracer::new(Box::new(file.clone()), "a", "b", names));
        (machine, file)
    }

    /// One more machine of this kind.
    fn again(&self) -> Self {
        let settings: Vec<_> = self.settings.iter().map(String::as_str).collect();
        Self::new(&self.program, &settings)
    }
}

/// All that a run leaves.
#[derive(PartialEq)]
struct Outcome {
    printed: String,
    cycles: Vec<u64>,
    counts: TimedRun,
    state: SavedMachine,
}

fn finish(machine: &mut Machine, console: &mut Bytes) -> Outcome {
    let end = machine.run(console);
    assert_eq!(end, End::Exit(0), "{}", console.printed);
    outcome(machine, console)
}

fn outcome(machine: &Machine, console: &Bytes) -> Outcome {
    Outcome {
        printed: console.printed.clone(),
        cycles: machine.cycles(),
        counts: machine.timed_run(),
        state: machine.save(),
    }
}

fn check(found: &Outcome, wanted: &Outcome, what: &str) {
    assert_eq!(found.printed, wanted.printed, "{what}");
    assert_eq!(found.cycles, wanted.cycles, "{what}");
    assert_eq!(found.counts, wanted.counts, "{what}");
    assert!(found.state == wanted.state, "{what}: the state");
}

/// A machine of its own goes on from a snapshot's file. Its trace is the rest of `all`.
fn go_on(rig: &Rig, file: &[u8], inputs: &[Input], printed: &str, all: &States) -> Outcome {
    let other = rig.again();
    let (mut machine, trace) = other.machine();
    let read = read_snapshot(file).unwrap();
    read.unpack(other.board.ram())
        .unwrap()
        .put(&mut machine)
        .unwrap();
    machine.outside.replay(inputs.to_vec());
    let times: Vec<_> = (0..5).map(|hart| machine.time(hart).unwrap()).collect();
    let mut console = Bytes {
        printed: printed.to_owned(),
        ..Bytes::default()
    };
    let outcome = finish(&mut machine, &mut console);
    machine.end_trace().unwrap();
    let rest = states(&trace.0.borrow());
    for (hart, (rest, all)) in rest.iter().zip(all).enumerate() {
        let behind = |state: &&(u64, String)| state.0 > times[hart];
        assert_eq!(rest[0].0, times[hart]);
        let rest: Vec<_> = rest.iter().filter(behind).collect();
        assert_eq!(rest, all.iter().filter(behind).collect::<Vec<_>>());
    }
    outcome
}

fn file_of(machine: &Machine, identity: &RunIdentity) -> Vec<u8> {
    let mut file = vec![];
    write_snapshot(&mut file, identity, &Snapshot::take(machine, None)).unwrap();
    file
}

#[test]
fn the_future_is_the_same_to_the_cycle() {
    check_future("timed_work", &["tile.soc.memory.main.size=16 MiB"]);
}

#[test]
fn the_future_of_harts_that_wait_in_turns_is_the_same() {
    let settings = [
        "tile.soc.memory.main.size=16 MiB",
        "tile.soc.memory.main.banks=1",
        "tile.soc.memory.main.occupancy=100 ns",
        "tile.soc.memory.main.arbitration=round-robin",
    ];
    check_future("timed_turns", &settings);
}

fn check_future(name: &str, settings: &[&str]) {
    let program = build(name, WORK);
    let rig = Rig::new(&program, settings);
    let (mut machine, trace) = rig.machine();
    let identity = RunIdentity::of(&machine, &[]);
    let reset = Snapshot::take(&machine, None);
    let (send, receive) = std::sync::mpsc::channel();
    machine
        .outside
        .record(move |input| send.send(input.clone()).unwrap());
    let mut console = Bytes {
        input: b"xy".to_vec(),
        ..Bytes::default()
    };
    let wanted = finish(&mut machine, &mut console);
    let inputs: Vec<_> = receive.try_iter().collect();
    assert_eq!(inputs.len(), 2);
    machine.end_trace().unwrap();
    let all = states(&trace.0.borrow());
    // All parts of the model have had something to do.
    let sum = |n: usize| {
        wanted
            .counts
            .sum
            .iter()
            .map(|counts| counts.events[n])
            .sum::<u64>()
    };
    assert!((0..9).all(|event| sum(event) > 0), "{:?}", wanted.counts);
    assert!(wanted.printed.starts_with("xy"));
    // Between slices, in all modes.
    let last = *wanted.cycles.iter().max().unwrap() * 1000;
    let mut modes = [0; 2];
    for part in 1..10 {
        reset.put(&mut machine).unwrap();
        machine.outside.replay(inputs.clone());
        let mut console = Bytes::default();
        assert_eq!(machine.run_until(last / 10 * part, &mut console), None);
        modes[usize::from(machine.is_timed())] += 1;
        let file = file_of(&machine, &identity);
        let found = go_on(&rig, &file, &inputs, &console.printed, &all);
        check(&found, &wanted, &format!("part {part}"));
        let found = finish(&mut machine, &mut console);
        check(&found, &wanted, &format!("part {part}, the run itself"));
    }
    assert!(modes[0] > 0 && modes[1] > 4, "{modes:?}");
    // Within slices.
    reset.put(&mut machine).unwrap();
    machine.outside.replay(inputs.clone());
    let mut console = Bytes::default();
    let (mut pauses, mut saved) = (0_u64, 0);
    let found = loop {
        match machine.turn(&mut console, &mut Often(3)) {
            Turn::Ran => {}
            Turn::Ended(End::Exit(0)) => break outcome(&machine, &console),
            Turn::Ended(end) => panic!("{end:?}"),
            Turn::Paused(_) => {
                pauses += u64::from(machine.is_timed());
                if machine.is_timed() && pauses % 4001 == 1 {
                    saved += 1;
                    let file = file_of(&machine, &identity);
                    let found = go_on(&rig, &file, &inputs, &console.printed, &all);
                    check(&found, &wanted, &format!("pause {pauses}"));
                }
            }
        }
    };
    assert!(saved > 5, "{saved} of {pauses}");
    check(&found, &wanted, "with pauses");
}

#[test]
fn other_caches_are_refused() {
    let program = build("timed_other", WORK);
    let size = "tile.soc.memory.main.size=16 MiB";
    let rig = Rig::new(&program, &[size]);
    let (mut machine, _) = rig.machine();
    let identity = RunIdentity::of(&machine, &[]);
    machine.set_mode(true);
    assert_eq!(machine.run_until(50_000_000, &mut Bytes::default()), None);
    let snapshot = Snapshot::take(&machine, None);
    for setting in [
        "core.rocket.l1d.size=32 KiB",
        "core.rocket.dtlb.entries=16",
        "core.rocket.returns=4",
        "core.rocket.store-buffer=3",
        "tile.soc.memory.main.banks=4",
    ] {
        let other = Rig::new(&program, &[size, setting]);
        let (mut machine, _) = other.machine();
        let found = RunIdentity::of(&machine, &[]).difference(&identity);
        assert_eq!(found, Some("another machine"), "{setting}");
        assert_eq!(
            snapshot.put(&mut machine),
            Err(BadSnapshot::Timing),
            "{setting}"
        );
    }
    // A run that has no timed mode.
    let other = Rig::new(&program, &[size]);
    let mut machine = Machine::new(&other.board, &other.start.harts, None);
    assert_eq!(snapshot.put(&mut machine), Err(BadSnapshot::Timing));
}
