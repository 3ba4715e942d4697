//! A run that is paused, goes on from a snapshot, or gets recorded input takes the same cycles and prints
//! the same bytes as one that is left alone.
mod bare_program;
#[path = "fuzz/patched_snapshots.rs"]
mod patched_snapshots;
mod paused_harts;

use bare_program::build;
use flick_machine::recording::{read_recording, write_header, write_input};
use flick_machine::snapshot::{
    BadSnapshotFile, RunIdentity, Snapshot, read_snapshot, write_snapshot,
};
use flick_machine::{
    Board, Booted, Console, End, Files, Machine, SERIAL, System, TRANSLATE_AFTER, Turn, Unwatched,
    boot,
};
use flick_timing::machine;
use paused_harts::Often;

/// Four harts count under a lock, with interrupts of the timer and of each other, vectors, and bytes from
/// the console.
const BUSY: &str = r#"
static unsigned lock, total;
static unsigned long order;
static volatile unsigned ready, interrupts;
__attribute__((interrupt("machine"))) void handler(void) {
  if (READ("mcause") == (1UL << 63 | 3)) {
    *(volatile unsigned *)(0x2000000 + 4 * READ("mhartid")) = 0;
    __atomic_fetch_add(&interrupts, 1, __ATOMIC_RELAXED);
  } else {
    *(volatile unsigned long *)0x2004000 = *(volatile unsigned long *)0x200bff8 + 7;
    __atomic_fetch_add(&interrupts, 100, __ATOMIC_RELAXED);
  }
}
static void count(long hart, int times) {
  for (int i = 0; i < times; i++) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) ;
    total++;
    order = order * 31 + hart;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
  }
}
void program(long hart) {
  WRITE("mtvec", (unsigned long)handler);
  SET("mstatus", 3L << 9 | 1L << 13);
  __asm__ volatile(".option push\n.option arch, +v\n vsetvli t0, zero, e32, m2, ta, ma\n vmv.v.x v8, %0\n.option pop" : : "r"(hart + 5) : "t0");
  if (!hart) {
    *(volatile unsigned long *)0x2004000 = *(volatile unsigned long *)0x200bff8 + 7;
    WRITE("mie", 1L << 7);
    SET("mstatus", 1L << 3);
  }
  count(hart, 300);
  __atomic_fetch_add(&ready, 1, __ATOMIC_ACQ_REL);
  unsigned sum[64];
  __asm__ volatile(".option push\n.option arch, +v\n vredsum.vs v4, v8, v8\n vse32.v v8, (%0)\n.option pop" : : "r"(sum) : "memory");
  __atomic_fetch_add(&total, sum[1] << 16, __ATOMIC_ACQ_REL);
  if (hart) {
    WRITE("mie", 1L << 3);
    SET("mstatus", 1L << 3);
    for (;;) { __asm__ volatile("wfi"); count(hart, 50); }
  }
  while (ready != 4) ;
  for (int n = 0; n < 3; n++) {
    while (!(uart[5] & 1)) ;
    put(*uart);
    for (int i = 1; i < 4; i++) *(volatile unsigned *)(0x2000000L + 4 * i) = 1;
    count(0, 100);
  }
  print_number(interrupts);
  put(' ');
  print_number(order);
  put(' ');
  print_number(READ("mcycle"));
  end(0);
}
"#;
const ISA: &str = "rv64gcv_zicntr_sstc_svadu";

fn virt() -> System {
    virt_with(ISA, "16M")
}

fn virt_with(isa: &str, memory: &str) -> System {
    let settings = [
        "harts=4".to_owned(),
        format!("isa={isa}"),
        format!("memory={memory}"),
    ];
    System::new(&machine::Machine::load("virt", &settings).unwrap()).unwrap()
}

fn booted(virt: &mut System, board: &Board, program: &[u8]) -> Booted {
    let files = Files {
        firmware: program.to_vec(),
        ..Files::default()
    };
    boot(virt, board, &files).unwrap()
}

/// Gives a byte now and then, as often as the host likes, which is no good place to count.
#[derive(Default)]
struct Outside {
    printed: String,
    polls: u32,
    every: u32,
    input: Vec<u8>,
}

impl Outside {
    fn new(every: u32, input: &str) -> Self {
        Self {
            every,
            input: input.into(),
            ..Self::default()
        }
    }
}

impl Console for Outside {
    fn output(&mut self, bytes: &[u8]) {
        self.printed.push_str(&String::from_utf8_lossy(bytes));
    }

    fn poll(&mut self, board: &Board, time: u64) -> bool {
        self.polls += 1;
        if self.every == 0 || !self.polls.is_multiple_of(self.every) || self.input.is_empty() {
            return false;
        }
        let taken = board.input(SERIAL, &self.input[..1], time);
        self.input.drain(..taken);
        taken != 0
    }
}

/// What must be equal.
fn result(machine: &Machine, end: Option<End>, printed: &str) -> (String, Vec<u64>, Vec<u64>) {
    assert_eq!(end, Some(End::Exit(0)), "{printed}");
    (printed.into(), machine.cycles(), machine.instructions())
}

fn finish(machine: &mut Machine, console: &mut Outside) -> (String, Vec<u64>, Vec<u64>) {
    let end = machine.run(console);
    result(machine, Some(end), &console.printed)
}

#[test]
fn pauses_snapshots_and_recordings_change_nothing() {
    let program = build("busy", BUSY);
    let mut description = virt();
    let board = description.board(vec![]).unwrap();
    let start = booted(&mut description, &board, &program);
    let fresh = || {
        let mut machine = Machine::new(&board, &start.harts, start.firmware.htif);
        machine.translate_after(Some(TRANSLATE_AFTER));
        machine
    };
    let mut machine = fresh();
    let identity = RunIdentity::of(&machine, &[]);
    let reset = Snapshot::take(&machine, None);
    let mut file = vec![];
    write_header(&mut file, &identity, 0).unwrap();
    let mut inputs = vec![];
    let (input, moments) = {
        let (send, receive) = std::sync::mpsc::channel();
        machine
            .outside
            .record(move |input| send.send(input.clone()).unwrap());
        let mut console = Outside::new(900, "xyz");
        let wanted = finish(&mut machine, &mut console);
        inputs.extend(receive.try_iter());
        (wanted, machine.outside.moments())
    };
    let wanted = input;
    assert_eq!(inputs.len(), 3);
    assert!(wanted.0.starts_with("xyz"), "{}", wanted.0);
    for input in &inputs {
        write_input(&mut file, input).unwrap();
    }
    let recording = read_recording(&file).unwrap();
    assert_eq!((recording.identity, &recording.inputs), (identity, &inputs));
    // The same machine goes back to its reset, and gets the input again.
    reset.put(&mut machine).unwrap();
    machine.outside.replay(inputs.clone());
    assert_eq!(finish(&mut machine, &mut Outside::default()), wanted);
    assert_eq!(machine.outside.moments(), moments);
    // With pauses.
    for steps in [1, 7, 60] {
        let mut machine = fresh();
        reset.put(&mut machine).unwrap();
        machine.outside.replay(inputs.clone());
        let mut console = Outside::default();
        let (mut pauses, mut kept) = (0_u64, None);
        let end = loop {
            match machine.turn(&mut console, &mut Often(steps)) {
                Turn::Ran => {}
                Turn::Paused(_) => {
                    pauses += 1;
                    // A snapshot within a slice.
                    if pauses == 3001 {
                        kept = Some((Snapshot::take(&machine, None), console.printed.clone()));
                    }
                }
                Turn::Ended(end) => break end,
            }
        };
        assert!(pauses > 30, "{pauses} of {steps}");
        assert_eq!(result(&machine, Some(end), &console.printed), wanted);
        if let Some((snapshot, printed)) = kept {
            snapshot.put(&mut machine).unwrap();
            console.printed = printed;
            assert_eq!(finish(&mut machine, &mut console), wanted, "{steps}");
        }
    }
    // Files of snapshots, for a machine of its own.
    let total = wanted.1[0] * 1000;
    for part in 1..8 {
        reset.put(&mut machine).unwrap();
        machine.outside.replay(inputs.clone());
        let mut console = Outside::default();
        let end = machine.run_until(total / 8 * part, &mut console);
        assert_eq!(end, None);
        let snapshot = Snapshot::take(&machine, None);
        let mut file = vec![];
        write_snapshot(&mut file, &identity, &snapshot).unwrap();
        let printed = console.printed.clone();
        assert_eq!(finish(&mut machine, &mut console), wanted);
        let mut description = virt();
        let board = description.board(vec![]).unwrap();
        let start = booted(&mut description, &board, &program);
        let mut other = Machine::new(&board, &start.harts, start.firmware.htif);
        assert_eq!(RunIdentity::of(&other, &[]), identity);
        let read = read_snapshot(&file).unwrap();
        assert_eq!(read.identity, identity);
        let snapshot = read.unpack(board.ram()).unwrap();
        snapshot.put(&mut other).unwrap();
        other.outside.replay(inputs.clone());
        let mut console = Outside {
            printed,
            ..Outside::default()
        };
        assert_eq!(finish(&mut other, &mut console), wanted, "{part}");
    }
}

#[test]
fn a_replay_on_another_run_is_noticed() {
    let program = build("busy_other", BUSY);
    let mut description = virt();
    let board = description.board(vec![]).unwrap();
    let start = booted(&mut description, &board, &program);
    let mut machine = Machine::new(&board, &start.harts, start.firmware.htif);
    let identity = RunIdentity::of(&machine, &[]);
    let mut bad = flick_machine::Input {
        moment: 50,
        time: 1,
        device: SERIAL as u32,
        bytes: b"x".to_vec(),
    };
    machine.outside.replay(vec![bad.clone()]);
    let reset = Snapshot::take(&machine, None);
    assert_eq!(machine.run(&mut Outside::default()), End::Diverged);
    bad.device = 99;
    reset.put(&mut machine).unwrap();
    machine.outside.replay(vec![bad]);
    assert_eq!(machine.run(&mut Outside::default()), End::Diverged);
    // Another isa, other memory, another program.
    let others = [
        virt_with("rv64gc_zicntr_sstc_svadu", "16M"),
        virt_with(ISA, "17M"),
        virt(),
    ];
    let programs = [&program, &program, &vec![0x13]];
    for (mut other, program) in others.into_iter().zip(programs) {
        let board = other.board(vec![]).unwrap();
        let start = booted(&mut other, &board, program);
        let machine = Machine::new(&board, &start.harts, None);
        assert!(
            RunIdentity::of(&machine, &[])
                .difference(&identity)
                .is_some()
        );
    }
}

#[test]
fn files_that_are_no_snapshots_are_refused() {
    let program = build("busy_refused", BUSY);
    let mut description = virt();
    let board = description.board(vec![]).unwrap();
    let start = booted(&mut description, &board, &program);
    let mut machine = Machine::new(&board, &start.harts, start.firmware.htif);
    let identity = RunIdentity::of(&machine, &[]);
    while machine.steps() < 20_000 {
        assert_eq!(
            machine.turn(&mut Outside::default(), &mut Unwatched),
            Turn::Ran
        );
    }
    let mut file = vec![];
    write_snapshot(&mut file, &identity, &Snapshot::take(&machine, None)).unwrap();
    assert!(file.len() < 100_000, "{}", file.len());
    let refused = |file: &[u8]| read_snapshot(file).unwrap_err();
    assert_eq!(refused(b"flksnap"), BadSnapshotFile::Foreign);
    assert_eq!(refused(&file[..file.len() - 1]), BadSnapshotFile::Truncated);
    for size in [8, 11, 40, 52, 60] {
        assert_eq!(refused(&file[..size]), BadSnapshotFile::Truncated);
    }
    let mut changed = file.clone();
    changed[1000] ^= 1;
    assert_eq!(refused(&changed), BadSnapshotFile::Changed);
    changed[8] = 9;
    assert_eq!(refused(&changed), BadSnapshotFile::Version(9));
    // For a machine without this memory.
    let read = read_snapshot(&file).unwrap();
    let error = read.unpack(&[]).err();
    assert_eq!(error, Some(BadSnapshotFile::Page));
}

/// The fuzz target `machine_history` does the same for longer.
#[test]
fn hostile_snapshots_harm_nothing() {
    use rand_pcg::Pcg64;
    use rand_pcg::rand_core::{RngCore, SeedableRng};
    let mut random = Pcg64::seed_from_u64(19);
    for _ in 0..300 {
        let mut data = [0; 16];
        let size = 1 + 5 * (1 + random.next_u32() as usize % 3);
        random.fill_bytes(&mut data[..size]);
        patched_snapshots::go_on_from_patched(&data[..size]);
        patched_snapshots::read_any(&data);
    }
}

/// In timed mode a pause changes nothing, either.
#[test]
fn pauses_change_nothing_in_timed_mode() {
    let program = build("busy_timed", BUSY);
    let settings = [
        "harts=4".to_owned(),
        format!("isa={ISA}"),
        "memory=16M".into(),
    ];
    let description = machine::Machine::load("virt", &settings).unwrap();
    let mut system = System::new(&description).unwrap();
    let board = system.board(vec![]).unwrap();
    let start = booted(&mut system, &board, &program);
    let mut machine = Machine::new(&board, &start.harts, start.firmware.htif);
    machine.set_timing(flick_machine::timing_of(&description, &system.tile));
    machine.set_mode(true);
    let reset = Snapshot::take(&machine, None);
    let (send, receive) = std::sync::mpsc::channel();
    machine
        .outside
        .record(move |input| send.send(input.clone()).unwrap());
    let wanted = finish(&mut machine, &mut Outside::new(900, "xyz"));
    let inputs: Vec<_> = receive.try_iter().collect();
    for steps in [1, 60] {
        reset.put(&mut machine).unwrap();
        machine.outside.replay(inputs.clone());
        let mut console = Outside::default();
        let end = loop {
            if let Turn::Ended(end) = machine.turn(&mut console, &mut Often(steps)) {
                break end;
            }
        };
        assert_eq!(result(&machine, Some(end), &console.printed), wanted);
    }
}

/// A reset brings memory and harts back, and virtual time goes on. So it does after a snapshot.
#[test]
fn a_machine_starts_again_at_its_reset() {
    let text = r#"
static volatile unsigned starts;
void program(long hart) {
  if (hart) for (;;) __asm__ volatile("wfi");
  unsigned long now = *(volatile unsigned long *)0x200bff8;
  unsigned long first = READ("mcycle");
  put('0' + starts++);
  put(now < 10 ? 'a' : 'z');
  put(first < 200 ? 'n' : 'o');
  *(volatile unsigned long *)0x2004000 = now + 20;
  while (*(volatile unsigned long *)0x200bff8 < now + 20) ;
  if (now < 50) *finisher = 0x7777;
  for (;;) end(4);
}
"#;
    let program = build("restart", text);
    let mut description = virt();
    let board = description.board(vec![]).unwrap();
    let start = booted(&mut description, &board, &program);
    let mut machine = Machine::new(&board, &start.harts, start.firmware.htif);
    machine.restart_at_reset();
    let reset = Snapshot::take(&machine, None);
    let mut console = Outside::default();
    assert_eq!(machine.run(&mut console), End::Exit(4));
    assert_eq!(console.printed, "0an0zn0zn0zn");
    let wanted = (machine.cycles(), machine.instructions());
    for time in [1_000_000, 3_000_000] {
        reset.put(&mut machine).unwrap();
        let mut console = Outside::default();
        assert_eq!(machine.run_until(time, &mut console), None);
        let saved = Snapshot::take(&machine, None);
        machine.run(&mut Outside::default());
        saved.put(&mut machine).unwrap();
        assert_eq!(machine.run(&mut console), End::Exit(4));
        assert_eq!(console.printed, "0an0zn0zn0zn");
        assert_eq!((machine.cycles(), machine.instructions()), wanted);
    }
}
