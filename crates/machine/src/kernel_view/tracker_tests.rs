//! Calls whose parts are known.
use flick_abi::card::Call;
use flick_device::Time;

use super::call_tracker::{CallTracker, Entry, FinishedCall, Found, ThreadState};
use super::kernel_points::PointKind::{self, *};
use super::point_watch::Spent;

/// A tile of a kernel hart, which is number 4 of the machine, and two user harts.
struct Tile {
    tracker: CallTracker,
    calls: Vec<FinishedCall>,
    states: Vec<String>,
    unfinished: Vec<Entry>,
    a7: u64,
}

const KERNEL: usize = 4;
const RUN: u64 = 2;
const REPLY: u64 = 1;
const CALL: u64 = 8;

impl Tile {
    fn new() -> Self {
        let names = ["kernel", "user0", "user1"].map(String::from);
        Self {
            tracker: CallTracker::new(KERNEL, names.to_vec()),
            calls: vec![],
            states: vec![],
            unfinished: vec![],
            a7: 0,
        }
    }

    fn found(&mut self, found: Vec<Found>) {
        for found in found {
            match found {
                Found::Call(call) => self.calls.push(*call),
                Found::Unfinished(entry) => self.unfinished.push(entry),
                Found::Thread(ThreadState { place, time, state }) => {
                    self.states.push(format!("{time} {place}: {state}"));
                }
                Found::Hart(..) => {}
            }
        }
    }

    /// All stalls of a hart grow with its time.
    fn point(&mut self, hart: usize, time: Time, kind: PointKind, values: [u64; 2]) {
        let mut found = vec![];
        let spent = Spent([time / 2; super::SPENT]);
        let (cause, call) = (CALL, self.a7);
        let at = (KERNEL + hart, time);
        self.tracker
            .point(at, (kind, values), (cause, call), spent, &mut |f| {
                found.push(f)
            });
        self.found(found);
    }

    fn calls(&mut self, hart: usize, time: Time, call: Call) {
        self.tracker.trap_begins(KERNEL + hart, time);
        self.a7 = call as u64;
        self.point(hart, time + 2, Trap, [0; 2]);
    }

    fn back(&mut self, hart: usize, time: Time) {
        let mut found = vec![];
        let spent = Spent([time / 2; super::SPENT]);
        self.tracker
            .back(KERNEL + hart, time, spent, &mut |f| found.push(f));
        self.found(found);
    }

    /// The hart runs a thread.
    fn run(&mut self, hart: u64, time: Time, number: u64) {
        self.point(0, time, Run, [hart, number]);
        self.point(0, time + 1, Tell, [hart, RUN]);
    }
}

#[track_caller]
fn check(call: &FinishedCall, is_remote: bool, time: Time, parts: [Time; 5]) {
    assert_eq!(
        (call.is_remote, call.time, call.parts),
        (is_remote, time, parts)
    );
    assert_eq!(call.parts.iter().sum::<Time>(), call.time);
}

#[test]
fn parts_of_calls_are_the_whole() {
    let mut tile = Tile::new();
    tile.run(1, 0, 0x1_0000);
    tile.run(2, 10, 0x1_0001);
    tile.back(1, 20);
    tile.back(2, 22);
    // One that is local, with its work.
    tile.calls(1, 100, Call::ThreadSelf);
    tile.point(1, 110, Local, [0; 2]);
    tile.point(1, 113, LocalDone, [0; 2]);
    tile.back(1, 120);
    check(&tile.calls[0], false, 20, [17, 0, 0, 3, 0]);
    // Two at once: the second waits while the kernel hart serves the first, and then one for the hart.
    tile.calls(1, 200, Call::KernelNothing);
    tile.calls(2, 205, Call::KernelNothing);
    tile.point(1, 230, Ask, [0; 2]);
    tile.point(2, 235, Ask, [0; 2]);
    tile.point(0, 250, Serve, [1, 0]);
    tile.point(0, 280, Tell, [1, REPLY]);
    tile.point(0, 285, Served, [0; 2]);
    tile.point(0, 290, Serve, [2, 0]);
    tile.point(1, 300, Told, [0; 2]);
    tile.back(1, 330);
    tile.point(0, 340, Tell, [2, REPLY]);
    // It calls again before the kernel hart is ready.
    tile.point(2, 345, Told, [0; 2]);
    tile.back(2, 350);
    tile.calls(2, 351, Call::KernelNothing);
    tile.point(2, 355, Ask, [0; 2]);
    tile.point(0, 360, Served, [0; 2]);
    check(&tile.calls[1], true, 130, [60, 40, 0, 30, 0]);
    check(&tile.calls[2], true, 145, [35, 25, 35, 50, 0]);
    let (time, spent) = tile.calls[1].meanwhile.unwrap();
    assert_eq!((time, spent.0[0], tile.calls[1].work.0[0]), (70, 35, 15));
    assert_eq!(tile.calls[1].switch.0[0], 14 + 15);
    tile.point(0, 370, Serve, [2, 0]);
    tile.point(0, 380, Tell, [2, REPLY]);
    tile.point(0, 382, Served, [0; 2]);
    tile.point(2, 390, Told, [0; 2]);
    tile.back(2, 400);
    check(&tile.calls[3], true, 49, [14, 20, 5, 10, 0]);
}

#[test]
fn a_call_that_blocks_ends_on_another_hart() {
    let mut tile = Tile::new();
    tile.run(1, 0, 0x1_0000);
    tile.run(2, 10, 0x1_0001);
    tile.back(1, 20);
    tile.back(2, 22);
    tile.states.clear();
    tile.calls(1, 100, Call::ThreadSleep);
    tile.point(1, 120, Ask, [0; 2]);
    tile.point(0, 130, Serve, [1, 0]);
    tile.point(0, 150, Served, [0; 2]);
    // The other one wakes it, and ends.
    tile.calls(2, 200, Call::ThreadWakeup);
    tile.point(2, 210, Ask, [0; 2]);
    tile.point(0, 220, Serve, [2, 0]);
    tile.point(0, 225, Wake, [0, 0]);
    tile.point(0, 230, Tell, [2, REPLY]);
    tile.point(0, 235, Served, [0; 2]);
    tile.point(2, 240, Told, [0; 2]);
    tile.back(2, 250);
    tile.calls(2, 300, Call::ThreadExit);
    tile.point(2, 305, End, [0; 2]);
    tile.point(2, 310, Ask, [0; 2]);
    tile.point(0, 320, Serve, [2, 0]);
    tile.run(2, 325, 0x1_0000);
    tile.point(0, 330, Served, [0; 2]);
    tile.point(2, 340, Told, [0; 2]);
    tile.back(2, 355);
    check(&tile.calls[1], true, 255, [35, 24, 0, 20, 176]);
    assert!(tile.calls[1].meanwhile.is_none());
    assert_eq!(
        tile.states,
        [
            "100 0: calls thread_sleep (kernel hart)",
            "150 0: waits in thread_sleep",
            "200 1: calls thread_wakeup (kernel hart)",
            "225 0: ready, woken by thread 0x10001",
            "250 1: runs on user1",
            "300 1: calls thread_exit",
            "305 1: has ended",
            "355 0: runs on user1",
        ]
    );
    // Another thread at the place of the one that has ended.
    tile.run(1, 400, 0x2_0001);
    assert!(tile.unfinished.is_empty());
    tile.back(1, 410);
    assert_eq!(tile.calls.len(), 2);
    assert_eq!(tile.unfinished, [Entry::Call(Call::ThreadExit as u64)]);
}

#[test]
fn a_thread_that_claims_a_hart_ends_its_call_there() {
    let mut tile = Tile::new();
    tile.run(1, 10, 0x10003);
    tile.back(1, 20);
    tile.calls(1, 100, Call::Hint);
    assert_eq!(tile.tracker.moved_thread(KERNEL + 1), Some(0x10003));
    tile.point(1, 112, Run, [2, 0x10003]);
    tile.point(1, 112, Tell, [2, RUN]);
    tile.point(2, 130, Told, [0; 2]);
    tile.back(2, 150);
    check(&tile.calls[0], false, 50, [32, 18, 0, 0, 0]);
    assert_eq!(tile.calls[0].switch.0[0], 5 + 10);
    assert_eq!(tile.tracker.moved_thread(KERNEL + 2), Some(0x10003));
    assert_eq!(tile.tracker.moved_thread(KERNEL), None);
}
