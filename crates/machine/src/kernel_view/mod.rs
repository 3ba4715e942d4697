//! What a machine sees of the card's kernel: calls with their parts, and which thread runs where. The
//! kernel's ELF file says at which addresses to look (`kernel_points.rs`).
use flick_device::Time;
use flick_hart::Change;

mod call_sums;
mod call_tracker;
mod hart_moves;
mod kernel_points;
mod point_log;
mod point_watch;
#[cfg(test)]
mod tracker_tests;

pub use call_sums::{CallCounts, CallSums, STALL_PARTS, StallSums, Times};
pub use call_tracker::{CALL_PARTS, CallPart, Entry};
pub use hart_moves::{AllMoves, Moves};
pub use kernel_points::{KernelPoint, PointKind, points_of};
pub use point_log::PointLog;
pub use point_watch::{SPENT, Seen, Spent};

pub(crate) use point_watch::PointWatch;

use crate::machine_trace::Tracer;
use call_tracker::{CallTracker, Found};

/// Moments that are kept before they are brought into order.
const KEPT: usize = 4096;

/// What a hart does at a time.
struct Moment {
    time: Time,
    hart: usize,
    seen: Seen,
    /// `mcause` of its last trap.
    cause: u64,
}

/// See the module.
pub struct KernelView {
    /// Not in order: a hart may be ahead of others.
    moments: Vec<Moment>,
    /// By tile.
    trackers: Vec<CallTracker>,
    /// By hart.
    tiles: Vec<usize>,
    causes: Vec<u64>,
    /// The harts that wait, as the trace has them.
    waits: Vec<bool>,
    has_restarted: bool,
    counts: CallCounts,
    log: Option<PointLog>,
}

impl KernelView {
    /// Of a machine whose tiles have these first harts, and whose harts have these names.
    pub fn new(first_harts: &[usize], names: &[String]) -> Self {
        let ends = first_harts.iter().skip(1).copied().chain([names.len()]);
        let ranges = first_harts.iter().zip(ends);
        let (mut trackers, mut tiles) = (vec![], vec![]);
        for (tile, (&first, end)) in ranges.enumerate() {
            trackers.push(CallTracker::new(first, names[first..end].to_vec()));
            tiles.extend((first..end).map(|_| tile));
        }
        Self {
            moments: vec![],
            trackers,
            causes: vec![0; tiles.len()],
            waits: vec![false; tiles.len()],
            has_restarted: false,
            tiles,
            counts: CallCounts::default(),
            log: None,
        }
    }

    /// Writes all points from now on.
    pub fn log(&mut self, log: PointLog) {
        self.log = Some(log);
    }

    /// Ends what was written, and says what was wrong with its file.
    pub fn end_log(&mut self) -> std::io::Result<()> {
        self.log.take().map_or(Ok(()), PointLog::end)
    }

    /// What a hart has done in a slice that began at a time, in a unit. It waits from `waits` on.
    pub fn slice(
        &mut self,
        hart: usize,
        (start, tick): (Time, Time),
        all: Vec<(u64, Seen)>,
        waits: Option<Time>,
    ) {
        if std::mem::take(&mut self.waits[hart]) {
            self.add(hart, start, tick, Seen::GoesOn);
        }
        for (executed, seen) in all {
            self.add(hart, start + executed * tick, tick, seen);
        }
        if let Some(time) = waits {
            self.waits[hart] = true;
            self.add(hart, time, tick, Seen::Waits);
        }
    }

    /// A hart does something at a time.
    fn add(&mut self, hart: usize, time: Time, tick: Time, seen: Seen) {
        let seen = match seen {
            // Times within a slice are of no use behind it.
            Seen::Event(mut event) => {
                event.begun = time - (event.executed - event.begun) * tick;
                Seen::Event(event)
            }
            seen => seen,
        };
        if let Seen::Event(event) = &seen {
            match event.change {
                Change::Exception(code) => self.causes[hart] = code,
                Change::Interrupt(number) => self.causes[hart] = 1 << 63 | u64::from(number),
                Change::Return => {}
            }
        }
        let cause = self.causes[hart];
        self.moments.push(Moment {
            time,
            hart,
            seen,
            cause,
        });
    }

    /// No hart does anything before this time any more. What was before is looked at, and traced.
    pub fn advance(&mut self, time: Time, trace: &mut Option<Tracer>) {
        if self.moments.len() >= KEPT {
            self.look(time, trace);
        }
    }

    fn look(&mut self, time: Time, trace: &mut Option<Tracer>) {
        // Moments of a hart at the same time stay in their order.
        self.moments.sort_by_key(|moment| moment.time);
        let end = self.moments.partition_point(|moment| moment.time < time);
        let moments: Vec<_> = self.moments.drain(..end).collect();
        for moment in moments {
            self.look_at(&moment, trace);
        }
    }

    fn look_at(&mut self, moment: &Moment, trace: &mut Option<Tracer>) {
        let &Moment {
            time, hart, cause, ..
        } = moment;
        let tile = self.tiles[hart];
        let (tracker, counts) = (&mut self.trackers[tile], &mut self.counts);
        let mut trace = trace.as_mut();
        match moment.seen {
            Seen::Event(event) => {
                if event.change != Change::Return {
                    tracker.trap_begins(hart, event.begun);
                }
                if let Some(trace) = trace {
                    match tracker.is_user_hart(hart) {
                        true => trace.has_privilege(hart, event.privilege),
                        false => trace.event(hart, time, &event),
                    }
                }
                return;
            }
            Seen::Waits => {
                if let Some(trace) = trace {
                    trace.waits(hart, time);
                }
                return;
            }
            Seen::GoesOn => {
                if let Some(trace) = trace {
                    trace.waits_no_more(hart, time);
                }
                return;
            }
            Seen::Back(_) | Seen::Point { .. } => {}
        }
        if let Seen::Point {
            kind: PointKind::Move,
            values,
            ..
        } = moment.seen
        {
            let thread = tracker.moved_thread(hart).unwrap_or_default();
            hart_moves::add(&mut counts.moves, values, thread);
        }
        let mut found = |found| match found {
            Found::Call(call) => counts.add(&call),
            Found::Unfinished(entry) => counts.add_unfinished(entry),
            Found::Thread(state) => {
                if let Some(trace) = &mut trace {
                    trace.thread(tile, state.place, state.time, state.state);
                }
            }
            Found::Hart(hart, name) => {
                if let Some(trace) = &mut trace {
                    trace.state(hart, time, name);
                }
            }
        };
        match moment.seen {
            Seen::Back(spent) => tracker.back(hart, time, spent, &mut found),
            Seen::Point {
                kind,
                values,
                call,
                spent,
            } => {
                if let Some(log) = &mut self.log {
                    log.point((hart, time), (kind, values), call);
                }
                tracker.point(
                    (hart, time),
                    (kind, values),
                    (cause, call),
                    spent,
                    &mut found,
                );
            }
            Seen::Event(_) | Seen::Waits | Seen::GoesOn => {}
        }
    }

    /// The run has ended, or pauses: all is looked at.
    pub fn finish(&mut self, trace: &mut Option<Tracer>) {
        self.look(Time::MAX, trace);
    }

    /// Time has another unit from now on.
    pub fn changes_mode(&mut self, trace: &mut Option<Tracer>) {
        self.finish(trace);
        self.trackers.iter_mut().for_each(CallTracker::forget_calls);
    }

    /// Harts are elsewhere: the machine starts again, or goes on from a snapshot.
    pub fn restart(&mut self, trace: &mut Option<Tracer>) {
        self.finish(trace);
        self.trackers.iter_mut().for_each(CallTracker::restart);
        self.waits.fill(false);
        self.has_restarted = true;
    }

    /// Has it restarted since the last call?
    pub fn take_restart(&mut self) -> bool {
        std::mem::take(&mut self.has_restarted)
    }

    /// The calls so far, and those that have not returned.
    pub fn counts(&self) -> CallCounts {
        let mut counts = self.counts.clone();
        let open = self.trackers.iter().flat_map(CallTracker::open_calls);
        open.for_each(|entry| counts.add_unfinished(entry));
        counts
    }
}
