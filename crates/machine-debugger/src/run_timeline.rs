//! A machine with its past: forward to the next stop, with snapshots on the way by which it can go back.
use std::time::{Duration, Instant};

use flick_machine::snapshot::Snapshot;
use flick_machine::{Console, End, Machine, Turn};

use crate::shown_console::ShownConsole;
use crate::stop_points::{StopPoints, WatchKind};
use crate::watched_slice::{Moment, Pause, Watcher};

/// Why a machine has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// This hart has executed the instruction that it was to execute, or is in front of the one that it
    /// was to go back by.
    Step(usize),
    /// This hart has come to a breakpoint.
    Breakpoint(usize),
    /// This hart has accessed what is watched. On the way back: it is about to.
    Watchpoint {
        /// The hart.
        hart: usize,
        /// The first byte of the access that is watched.
        address: u64,
        /// The watchpoint's kind.
        kind: WatchKind,
    },
    /// This hart is in front of a handler.
    Trap {
        /// The hart.
        hart: usize,
        /// As in `mcause`.
        cause: u64,
    },
    /// The debugger wanted it.
    Wanted,
    /// The machine has ended.
    Ended(End),
    /// Nothing is known of what was before.
    Begin,
}

/// A snapshot with its place in the past.
pub(crate) struct Kept {
    pub snapshot: Snapshot,
    pub place: Place,
    printed: u64,
    /// Changes by the debugger up to here.
    changes: u64,
    /// The last of them was made here: a run that comes to this place goes on from the snapshot.
    is_change: bool,
}

/// A place in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Steps of all harts.
    pub steps: u64,
    /// Steps of each.
    pub by_hart: Vec<u64>,
    /// How often the outside had been asked.
    pub moments: u64,
    /// The hart in whose slice it is.
    pub current: Option<usize>,
}

impl Place {
    pub fn of(machine: &Machine) -> Self {
        let steps = |hart| machine.hart(hart).map_or(0, |hart| hart.steps());
        Self {
            steps: machine.steps(),
            by_hart: (0..machine.harts()).map(steps).collect(),
            moments: machine.outside.moments(),
            current: machine.current(),
        }
    }

    /// The instruction in front of which it is.
    pub fn moment(&self) -> Option<Moment> {
        let hart = self.current?;
        let steps = self.by_hart[hart];
        Some(Moment { hart, steps })
    }
}

/// Steps between snapshots near the present.
pub(crate) const DENSE: u64 = 10_000_000;
/// Snapshots may take this part of the time.
const SHARE: u32 = 8;
/// The distance between snapshots far away is this part of the distance to them.
const THIN: u64 = 8;

/// A machine that is debugged.
pub struct Timeline<'t, 'm> {
    /// The machine.
    pub machine: &'t mut Machine<'m>,
    pub(crate) console: ShownConsole<'t>,
    /// In the order of their places.
    pub(crate) kept: Vec<Kept>,
    /// When the last snapshot was made, and what it took.
    last: (Instant, Duration),
    /// Breakpoints and watchpoints.
    pub points: StopPoints,
    /// Codes of exceptions and of interrupts at which harts stop, as bits.
    pub traps: [u64; 2],
    /// The breakpoint here has been seen.
    pub(crate) skip: Option<Moment>,
    /// Changes by the debugger up to here.
    changes: u64,
}

impl<'t, 'm> Timeline<'t, 'm> {
    /// A machine whose past begins now.
    pub fn new(machine: &'t mut Machine<'m>, console: &'t mut dyn Console) -> Self {
        machine.outside.keep();
        let mut timeline = Self {
            machine,
            console: ShownConsole::new(console),
            kept: vec![],
            last: (Instant::now(), Duration::ZERO),
            points: StopPoints::default(),
            traps: [0; 2],
            skip: None,
            changes: 0,
        };
        timeline.keep();
        timeline
    }

    /// Runs until something stops it. `step`: this hart executes one instruction. `wants_stop` is asked
    /// now and then.
    pub fn forward(
        &mut self,
        step: Option<usize>,
        wants_stop: &mut dyn FnMut() -> bool,
    ) -> Option<Stop> {
        self.set_traps(self.traps);
        let goal = step.map(|hart| Moment {
            hart,
            steps: self.machine.hart(hart).map_or(0, |hart| hart.steps()) + 1,
        });
        let points = self.points.clone();
        let stop = loop {
            if self.machine.current().is_none() {
                self.keep_now_and_then();
            }
            let (turn, pause) = self.turn(Some(&points), goal, wants_stop);
            match self.stop_of(turn, pause) {
                Some(stop) => break Some(stop),
                None if wants_stop() => break None,
                None => {}
            }
        };
        self.skip = Place::of(self.machine).moment();
        stop
    }

    /// One turn of a hart, or a part of it.
    pub(crate) fn turn(
        &mut self,
        points: Option<&StopPoints>,
        goal: Option<Moment>,
        wants_stop: &mut dyn FnMut() -> bool,
    ) -> (Turn, Option<Pause>) {
        let change = self.next_change();
        let change_at = change.and_then(|at| self.kept[at].place.moment());
        let mut watcher = Watcher {
            points: points.filter(|points| !points.is_empty()),
            goal,
            change: change_at,
            stops_now: false,
            skip: self.skip,
            pause: None,
        };
        let mut console = self.console.until(wants_stop);
        let turn = self.machine.turn(&mut console, &mut watcher);
        let pause = watcher.pause;
        if let (Turn::Paused(_), Some(at)) = (turn, change)
            && Place::of(self.machine).moment() == change_at
        {
            // What the debugger has changed here is a part of the past.
            let skip = self.skip;
            self.put(at);
            self.skip = skip;
            return (Turn::Ran, None);
        }
        (turn, pause)
    }

    /// The snapshot of the debugger's next change, if the machine is in front of it.
    fn next_change(&self) -> Option<usize> {
        let next = self.changes + 1;
        let mut kept = self.kept.iter();
        kept.position(|kept| kept.is_change && kept.changes == next)
    }

    fn stop_of(&mut self, turn: Turn, pause: Option<Pause>) -> Option<Stop> {
        match (turn, pause) {
            (Turn::Paused(hart), Some(pause)) => Some(stop(hart, pause)),
            // What is watched was accessed by the last instruction of a slice: the hart is in front of
            // its next.
            (Turn::Ran, Some(pause @ (Pause::Watchpoint { .. } | Pause::Trap { .. }))) => {
                let hart = self.machine.last_hart()?;
                let steps = self.machine.hart(hart)?.steps();
                self.settle_at(Moment { hart, steps });
                Some(stop(hart, pause))
            }
            (Turn::Ended(End::Idle), _) => None,
            (Turn::Ended(end), _) => Some(Stop::Ended(end)),
            _ => None,
        }
    }

    /// Runs until a hart is in front of its next instruction, or nothing more happens.
    fn settle_at(&mut self, goal: Moment) {
        loop {
            match self.turn(None, Some(goal), &mut || true).0 {
                Turn::Ran => {}
                Turn::Paused(_) | Turn::Ended(_) => return,
            }
        }
    }

    /// Stops in front of the next instruction of any hart, or where nothing happens.
    pub fn settle(&mut self) -> Stop {
        self.set_traps([0; 2]);
        let stop = loop {
            let mut watcher = Watcher {
                points: None,
                goal: None,
                stops_now: true,
                change: None,
                skip: None,
                pause: None,
            };
            let mut stops = || true;
            let mut console = self.console.until(&mut stops);
            match self.machine.turn(&mut console, &mut watcher) {
                Turn::Ran => {}
                Turn::Paused(_) | Turn::Ended(End::Idle) => break Stop::Wanted,
                Turn::Ended(end) => break Stop::Ended(end),
            }
        };
        self.skip = None;
        stop
    }

    pub(crate) fn set_traps(&mut self, traps: [u64; 2]) {
        for hart in 0..self.machine.harts() {
            if let Some(hart) = self.machine.hart_mut(hart) {
                hart.set_trap_stops(traps[0], traps[1]);
            }
        }
    }

    /// The debugger has changed the machine: what was to come will not. A run that comes here again gets
    /// the change, too.
    pub fn changed(&mut self) {
        self.machine.outside.forget_future();
        self.console.forget_future();
        let here = Place::of(self.machine);
        let changes = self.changes;
        let order = |place: &Place| (place.steps, place.moments);
        let is_past = |kept: &Kept| order(&kept.place) <= order(&here) && kept.changes <= changes;
        self.kept.retain(is_past);
        // Several changes at one place are one.
        let again = |kept: &mut Kept| kept.is_change && kept.place == here;
        let is_again = self.kept.pop_if(again).is_some();
        if here.moment().is_none() || self.kept.is_empty() {
            // A place that no run stops at: the past begins here.
            self.kept.clear();
            return self.keep();
        }
        self.changes += u64::from(!is_again);
        self.insert(true);
    }

    /// How many snapshots there are, and how many bytes their memory takes.
    pub fn snapshots(&self) -> (usize, usize) {
        let pairs = self.kept.windows(2);
        let bytes = pairs.map(|pair| {
            let (before, after) = (&pair[0].snapshot.memory, &pair[1].snapshot.memory);
            after.bytes_beyond(before)
        });
        (self.kept.len(), bytes.sum())
    }

    fn keep_now_and_then(&mut self) {
        let steps = self.machine.steps();
        let at = self.kept.partition_point(|kept| kept.place.steps <= steps);
        let before = at.checked_sub(1).map(|at| self.kept[at].place.steps);
        let distance = steps - before.unwrap_or(0);
        let (made, took) = self.last;
        let is_time = made.elapsed() > took * SHARE || distance > 4 * DENSE;
        // Within the known past it depends on both sides.
        let after = self.kept.get(at).map(|kept| kept.place.steps - steps);
        if distance >= DENSE && is_time && after.is_none_or(|after| after >= DENSE / 2) {
            self.keep();
        }
    }

    /// Makes a snapshot here.
    pub(crate) fn keep(&mut self) {
        let place = Place::of(self.machine);
        if !self.kept.iter().any(|kept| kept.place == place) {
            self.insert(false);
        }
    }

    fn insert(&mut self, is_change: bool) {
        let began = Instant::now();
        let place = Place::of(self.machine);
        let order = |place: &Place| (place.steps, place.moments);
        let at = self
            .kept
            .partition_point(|kept| order(&kept.place) <= order(&place));
        let near = at
            .checked_sub(1)
            .or_else(|| (!self.kept.is_empty()).then_some(0));
        let near = near.map(|near| &self.kept[near].snapshot.memory);
        let kept = Kept {
            snapshot: Snapshot::take(self.machine, near),
            place,
            printed: self.console.printed,
            changes: self.changes,
            is_change,
        };
        self.kept.insert(at, kept);
        self.thin();
        self.last = (Instant::now(), began.elapsed());
    }

    /// Far from here snapshots may be far from each other.
    fn thin(&mut self) {
        let here = self.machine.steps();
        let mut at = 1;
        while at + 1 < self.kept.len() {
            let steps = |at: usize| self.kept[at].place.steps;
            let gap = steps(at + 1) - steps(at - 1);
            let nearest = here
                .abs_diff(steps(at + 1))
                .min(here.abs_diff(steps(at - 1)));
            match gap < nearest / THIN && !self.kept[at].is_change {
                true => drop(self.kept.remove(at)),
                false => at += 1,
            }
        }
    }

    /// Puts a snapshot in place.
    pub(crate) fn put(&mut self, at: usize) {
        let kept = &self.kept[at];
        // It was taken of this machine.
        let put = kept.snapshot.put(self.machine);
        debug_assert!(put.is_ok(), "{put:?}");
        self.console.printed = kept.printed;
        self.changes = kept.changes;
        self.skip = None;
    }
}

pub(crate) fn stop(hart: usize, pause: Pause) -> Stop {
    match pause {
        Pause::Goal => Stop::Step(hart),
        Pause::Breakpoint => Stop::Breakpoint(hart),
        Pause::Watchpoint { address, kind } => Stop::Watchpoint {
            hart,
            address,
            kind,
        },
        Pause::Trap { cause } => Stop::Trap { hart, cause },
    }
}
