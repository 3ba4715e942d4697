//! Where a machine goes back to is where it was: every register, what it knows of addresses, the order of
//! events. And from there it comes to where it had come.
#[path = "../../machine/tests/bare_program/mod.rs"]
mod bare_program;

use bare_program::build;
use flick_engine::Hart;
use flick_machine::{
    Board, Console, End, Files, Machine, SavedMachine, System, TRANSLATE_AFTER, boot, timing_of,
};
use flick_machine_debugger::{Stop, Timeline, WatchKind};
use flick_timing::machine;

/// Two harts count under a lock, and interrupt each other.
const COUNT: &str = r#"
volatile unsigned long total, wakes;
static unsigned lock;
__attribute__((interrupt("machine"))) void handler(void) {
  *(volatile unsigned *)(0x2000000 + 4 * READ("mhartid")) = 0;
  wakes++;
}
void program(long hart) {
  if (hart > 1) for (;;) __asm__ volatile("wfi");
  WRITE("mtvec", (unsigned long)handler);
  WRITE("mie", 1L << 3);
  SET("mstatus", 1L << 3);
  for (int i = 0; i < 300; i++) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) ;
    total++;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    if (i % 50 == hart) *(volatile unsigned *)(0x2000000L + 4 * !hart) = 1;
    if (i % 100 == 99) put('0' + hart);
  }
  if (hart) for (;;) __asm__ volatile("wfi");
  while (total != 600) ;
  end(3);
}
"#;

#[derive(Default)]
struct Printed(String);

impl Console for Printed {
    fn output(&mut self, bytes: &[u8]) {
        self.0.push_str(&String::from_utf8_lossy(bytes));
    }
}

/// Interpreted, translated soon and late, and with caches in timed mode.
fn with_machine(name: &str, test: impl Fn(&mut Machine, &Board, bool)) {
    let settings = ["harts=2", "isa=rv64gc_zicntr_sstc", "memory=8M"].map(str::to_owned);
    let virt = machine::Machine::load("virt", &settings).unwrap();
    let settings = ["tile.soc.memory.main.size=8 MiB".to_owned()];
    let rocket = machine::Machine::load("rocket-rvv", &settings).unwrap();
    let firmware = build(name, COUNT);
    for (description, translates) in [
        (&virt, None),
        (&virt, Some(1)),
        (&virt, Some(TRANSLATE_AFTER)),
        (&rocket, None),
    ] {
        let mut system = System::new(description).unwrap();
        let board = system.board(vec![]).unwrap();
        let files = Files {
            firmware: firmware.clone(),
            ..Files::default()
        };
        let booted = boot(&mut system, &board, &files).unwrap();
        let mut machine = Machine::new(&board, &booted.harts, booted.firmware.htif);
        machine.translate_after(translates);
        machine.set_timing(timing_of(description, &system.tile));
        machine.set_mode(description.name == "rocket-rvv");
        test(&mut machine, &board, translates.is_some());
    }
}

fn never() -> bool {
    false
}

/// What must be equal: all of the machine without its memory. Blocks remember other pages of code than
/// the interpreter: with them it is what software sees.
#[derive(PartialEq)]
enum State {
    All(Box<SavedMachine>),
    Seen(Vec<(Hart, u64, Vec<Option<u64>>)>),
}

fn state(timeline: &Timeline, translates: bool) -> State {
    let machine = &timeline.machine;
    if !translates {
        return State::All(Box::new(machine.save()));
    }
    let harts = (0..machine.harts()).map(|hart| machine.hart(hart).unwrap());
    let seen = harts.map(|hart| {
        let csrs = (0..4096).map(|number| hart.csr(number)).collect();
        (hart.hart, hart.steps(), csrs)
    });
    State::Seen(seen.collect())
}

#[test]
fn steps_lead_back_through_the_same_states() {
    with_machine("count_steps", |machine, _, translates| {
        let mut console = Printed::default();
        let mut timeline = Timeline::new(machine, &mut console);
        for hart in [0, 1] {
            let mut states = vec![];
            for _ in 0..120 {
                let stop = timeline.forward(Some(hart), &mut never);
                assert_eq!(stop, Some(Stop::Step(hart)));
                states.push(state(&timeline, translates));
            }
            let last = states.pop();
            for (n, before) in states.iter().enumerate().rev() {
                assert_eq!(timeline.step_back(hart), Stop::Step(hart));
                assert!(
                    state(&timeline, translates) == *before,
                    "hart {hart}, step {n}"
                );
            }
            for _ in 0..119 {
                timeline.forward(Some(hart), &mut never);
            }
            assert!(last == Some(state(&timeline, translates)));
        }
    });
}

#[test]
fn stops_are_found_backwards_in_the_order_of_before() {
    with_machine("count_stops", |machine, board, _| {
        let mut console = Printed::default();
        let mut timeline = Timeline::new(machine, &mut console);
        // The last word of the program's data is unknown: the loop's store to `total` is found by what
        // changes.
        let word = (0x8000_0000_u64..0x8000_8000).step_by(8);
        let before: Vec<_> = word.clone().map(|at| read(board, at)).collect();
        assert_eq!(
            timeline.forward(None, &mut never),
            Some(Stop::Ended(End::Exit(3)))
        );
        let mut changed = word.zip(before);
        let total = changed.find(|&(at, before)| before == 0 && read(board, at) == 600);
        let (total, _) = total.expect("the program has counted");
        assert!(timeline.points.add_watchpoint(total, 8, WatchKind::Write));
        let mut values = vec![];
        let mut states = vec![];
        while let Stop::Watchpoint { address, .. } = timeline.continue_back(&mut never) {
            assert_eq!(address, total);
            values.push(read(board, total));
            states.push(timeline.machine.steps());
        }
        let all: Vec<u64> = (0..600).rev().collect();
        assert_eq!(values, all);
        assert!(states.is_sorted_by(|a, b| a > b));
        // Forward again they are behind each store.
        for value in 1..=600 {
            let stop = timeline.forward(None, &mut never);
            assert!(matches!(stop, Some(Stop::Watchpoint { .. })), "{stop:?}");
            assert_eq!(read(board, total), value);
        }
        assert_eq!(
            timeline.forward(None, &mut never),
            Some(Stop::Ended(End::Exit(3)))
        );
        drop(timeline);
        // Each byte is shown once.
        assert_eq!(console.0.len(), 6, "{}", console.0);
    });
}

#[test]
fn interrupts_stop_harts_both_ways() {
    with_machine("count_interrupts", |machine, _, _| {
        let mut console = Printed::default();
        let mut timeline = Timeline::new(machine, &mut console);
        timeline.traps = [0, 1 << 3];
        let mut forward = vec![];
        loop {
            match timeline.forward(None, &mut never) {
                Some(Stop::Trap { hart, cause }) => {
                    assert_eq!(cause, 1 << 63 | 3);
                    forward.push((hart, timeline.machine.hart(hart).unwrap().steps()));
                }
                stop => {
                    assert_eq!(stop, Some(Stop::Ended(End::Exit(3))));
                    break;
                }
            }
        }
        assert!(forward.len() > 5);
        let mut back = vec![];
        while let Stop::Trap { hart, .. } = timeline.continue_back(&mut never) {
            back.push((hart, timeline.machine.hart(hart).unwrap().steps()));
        }
        back.reverse();
        assert_eq!(forward, back);
    });
}

#[test]
fn what_the_debugger_changes_is_a_part_of_the_past() {
    with_machine("count_changes", |machine, _, _| {
        let mut console = Printed::default();
        let mut timeline = Timeline::new(machine, &mut console);
        let step = |timeline: &mut Timeline, times| {
            for _ in 0..times {
                assert_eq!(timeline.forward(Some(0), &mut never), Some(Stop::Step(0)));
            }
        };
        let set = |timeline: &mut Timeline, value| {
            let hart = timeline.machine.hart_mut(0).unwrap();
            assert!(hart.set_csr(0x340, value));
            timeline.changed();
        };
        let get = |timeline: &Timeline| timeline.machine.hart(0).unwrap().csr(0x340);
        step(&mut timeline, 100);
        set(&mut timeline, 7);
        set(&mut timeline, 8);
        step(&mut timeline, 100);
        set(&mut timeline, 9);
        step(&mut timeline, 10);
        for back in 1..=150 {
            assert_eq!(timeline.step_back(0), Stop::Step(0));
            // At the place of a change it has been made.
            let wanted = match back {
                0..=10 => 9,
                11..=110 => 8,
                _ => 0,
            };
            assert_eq!(get(&timeline), Some(wanted), "{back}");
        }
        step(&mut timeline, 150);
        assert_eq!(get(&timeline), Some(9));
        // A change in the past makes another future.
        for _ in 0..50 {
            timeline.step_back(0);
        }
        set(&mut timeline, 5);
        step(&mut timeline, 60);
        assert_eq!(get(&timeline), Some(5));
    });
}

fn read(board: &Board, address: u64) -> u64 {
    let mut bytes = [0; 8];
    board.read_memory(address, &mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}
