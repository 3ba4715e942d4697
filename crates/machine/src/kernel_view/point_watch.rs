//! Executes slices, and notes where harts come to the kernel's points. A hart pauses there, which
//! changes nothing ([`flick_hart::Pausing`]); it is interpreted, so that it can.
use flick_device::Time;
use flick_engine::{Control, NoObserver};
use flick_hart::{Change, HartEvent, Part, Pausing, Processor};
use flick_riscv::Insn;
use flick_timing::memory_system::STALLS;

use super::kernel_points::{KernelPoint, PointKind};
use crate::board::Board;

/// Causes of [`Spent`]: those of [`STALLS`], then instructions that take longer than the quickest, and
/// waits for banks, which are part of the others.
pub const SPENT: usize = STALLS.len() + 2;

/// What a hart in timed mode has stood still for, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent(pub [Time; SPENT]);

impl Spent {
    fn of(processor: &Processor<Board>) -> Self {
        let Some(timing) = processor.timing() else {
            return Self::default();
        };
        let counts = timing.counts();
        let mut all = [0; SPENT];
        all[..STALLS.len()].copy_from_slice(&counts.stalls);
        all[STALLS.len()] = timing.latencies();
        all[STALLS.len() + 1] = counts.bank_wait;
        Self(all)
    }

    /// What came after `before`.
    pub fn since(&self, before: &Self) -> Self {
        let differences = |n: usize| self.0[n].saturating_sub(before.0[n]);
        Self(std::array::from_fn(differences))
    }

    /// Adds another part.
    pub fn add(&mut self, other: &Self) {
        let pairs = self.0.iter_mut().zip(&other.0);
        pairs.for_each(|(sum, time)| *sum += time);
    }
}

/// What a hart does.
#[derive(Clone, Copy, Debug)]
pub enum Seen {
    /// A trap, or a return.
    Event(HartEvent),
    /// It comes to a point.
    Point {
        /// Which one.
        kind: PointKind,
        /// What its registers have.
        values: [u64; 2],
        /// a7, which has the number of a call.
        call: u64,
        /// What it has stood still for up to here.
        spent: Spent,
    },
    /// It is behind the instruction by which it returns from a trap.
    Back(Spent),
    /// It waits for an interrupt.
    Waits,
    /// It does so no more.
    GoesOn,
}

/// What is known of a hart between its slices.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The instruction that has been noted, and not been executed.
    passing: Option<u64>,
    /// It executes the instruction by which it returns from a trap.
    returns: bool,
}

/// See the module.
#[derive(Debug)]
pub struct PointWatch {
    points: Vec<KernelPoint>,
    harts: Vec<Place>,
    /// Since it was taken, and what the slice had executed.
    seen: Vec<(u64, Seen)>,
}

impl PointWatch {
    /// For a machine of so many harts.
    pub fn new(points: Vec<KernelPoint>, harts: usize) -> Self {
        Self {
            points,
            harts: vec![Place::default(); harts],
            seen: vec![],
        }
    }

    /// The harts are elsewhere.
    pub fn restart(&mut self) {
        self.harts.fill(Place::default());
        self.seen.clear();
    }

    /// Executes the rest of a slice of this hart, which has begun.
    pub fn execute_slice(&mut self, hart: usize, processor: &mut Processor<Board>) -> Part {
        loop {
            let mut look = Look {
                points: &self.points,
                place: self.harts[hart],
                has_paused: false,
            };
            let part = processor.resume(u64::MAX, &mut NoObserver, &mut look);
            self.harts[hart] = look.place;
            let events = processor.take_events().into_iter();
            let events = events.map(|event| (event.executed, Seen::Event(event)));
            self.seen.extend(events);
            if let Part::Ended(..) = part {
                return part;
            }
            self.note(hart, processor);
        }
    }

    /// What harts have done since the last call, and what their slice had executed.
    pub fn take(&mut self) -> Vec<(u64, Seen)> {
        std::mem::take(&mut self.seen)
    }

    /// The hart has come to an instruction that is to be noted.
    fn note(&mut self, hart: usize, processor: &Processor<Board>) {
        let pc = processor.hart.pc;
        let (executed, spent) = (processor.slice_cycles(), Spent::of(processor));
        if std::mem::take(&mut self.harts[hart].returns) {
            // A trap may have come behind the return.
            let trap = match self.seen.last() {
                Some((_, Seen::Event(event))) if event.change != Change::Return => {
                    Some(event.begun)
                }
                _ => None,
            };
            let at = self.seen.len() - usize::from(trap.is_some());
            self.seen
                .insert(at, (trap.unwrap_or(executed), Seen::Back(spent)));
        }
        let first = self.points.partition_point(|point| point.address < pc);
        let x = |register: usize| processor.hart.x[register];
        for point in self.points[first..]
            .iter()
            .take_while(|point| point.address == pc)
        {
            self.harts[hart].returns |= point.kind == PointKind::Return;
            let seen = Seen::Point {
                kind: point.kind,
                values: point.registers.map(x),
                call: x(17),
                spent,
            };
            self.seen.push((executed, seen));
        }
        self.harts[hart].passing = Some(pc);
    }
}

/// Pauses at the points, and behind returns.
struct Look<'p> {
    points: &'p [KernelPoint],
    place: Place,
    has_paused: bool,
}

impl Look<'_> {
    fn is_point(&self, pc: u64) -> bool {
        let all = self.points;
        let is_within = all.first().is_some_and(|point| point.address <= pc)
            && all.last().is_some_and(|point| pc <= point.address);
        is_within && all.binary_search_by_key(&pc, |point| point.address).is_ok()
    }
}

impl Control for Look<'_> {
    #[inline(always)]
    fn proceed(&mut self, pc: u64) -> bool {
        if self.place.passing == Some(pc) {
            return true;
        }
        self.place.passing = None;
        self.has_paused = self.place.returns || self.is_point(pc);
        !self.has_paused
    }

    #[inline(always)]
    fn retired(&mut self, _: u64, _: Insn) {
        self.place.passing = None;
    }
}

impl Pausing for Look<'_> {
    fn has_paused(&self) -> bool {
        self.has_paused
    }
}
