//! Slices that pause at breakpoints, at watchpoints, at traps, or when a hart has executed so many
//! instructions.
use std::cell::Cell;

use flick_engine::{Control, Observer};
use flick_hart::{Begin, Part, Pausing, Processor};
use flick_machine::{Board, Watch};
use flick_riscv::Insn;

use crate::stop_points::{StopPoints, WatchKind};

/// Why a hart has paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It has come to the step that was wanted.
    Goal,
    /// A breakpoint is at its next instruction.
    Breakpoint,
    /// Its last instruction has accessed what is watched.
    Watchpoint { address: u64, kind: WatchKind },
    /// The last instruction, or an interrupt, has led to a handler. The cause is as in `mcause`.
    Trap { cause: u64 },
}

/// A moment: this hart has executed so many instructions and exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub hart: usize,
    pub steps: u64,
}

/// Watches slices.
pub struct Watcher<'p> {
    /// `None`: nowhere.
    pub points: Option<&'p StopPoints>,
    /// The hart pauses in front of its next instruction.
    pub goal: Option<Moment>,
    /// The hart pauses here, too.
    pub change: Option<Moment>,
    /// Any hart pauses in front of its next instruction.
    pub stops_now: bool,
    /// The breakpoint here has been seen.
    pub skip: Option<Moment>,
    /// Why the slice has paused; at a watchpoint and a trap the slice may also have ended.
    pub pause: Option<Pause>,
}

/// What an instruction has accessed, and whether it has completed.
struct Eyes<'p> {
    points: &'p StopPoints,
    breaks: bool,
    accessed: Cell<Option<(u64, WatchKind)>>,
    hit: Cell<Option<(u64, WatchKind)>>,
    has_stopped: Cell<bool>,
}

/// The observer and the control of a slice.
struct Look<'e, 'p>(&'e Eyes<'p>);

impl Observer for Look<'_, '_> {
    #[inline(always)]
    fn at(&mut self, _: u64) {
        self.0.accessed.set(None);
    }

    #[inline(always)]
    fn load(&mut self, address: u64, size: u64) {
        let hit = self.0.points.hit(address, size, false);
        self.0.accessed.set(self.0.accessed.get().or(hit));
    }

    #[inline(always)]
    fn store(&mut self, address: u64, size: u64) {
        let hit = self.0.points.hit(address, size, true);
        self.0.accessed.set(self.0.accessed.get().or(hit));
    }

    #[inline(always)]
    fn retired(&mut self, _: u64, _: Insn) {
        if let Some(hit) = self.0.accessed.take() {
            self.0.hit.set(Some(hit));
        }
    }
}

impl Control for Look<'_, '_> {
    #[inline(always)]
    fn proceed(&mut self, pc: u64) -> bool {
        let stops = self.0.hit.get().is_some() || self.0.breaks && self.0.points.is_breakpoint(pc);
        if stops {
            self.0.has_stopped.set(true);
        }
        !stops
    }
}

impl Pausing for Look<'_, '_> {
    fn has_paused(&self) -> bool {
        self.0.has_stopped.get()
    }
}

impl Watch for Watcher<'_> {
    fn execute(
        &mut self,
        hart: usize,
        processor: &mut Processor<Board>,
        begin: Option<Begin>,
    ) -> Part {
        self.pause = None;
        let steps = processor.steps();
        let goals = [self.goal, self.change].into_iter().flatten();
        let goals = goals.filter(|goal| goal.hart == hart);
        let goal = match self.stops_now {
            true => steps,
            false => goals.map(|goal| goal.steps).min().unwrap_or(u64::MAX),
        };
        if let Some(begin) = begin {
            // Nothing stops it within this slice.
            if self.points.is_none() && goal > steps.saturating_add(begin.cycles) {
                let (end, executed) = processor.run(begin);
                return self.note(processor, Part::Ended(end, executed));
            }
            processor.begin(begin);
        }
        let Some(points) = self.points else {
            let part = processor.go_on(goal);
            return self.note(processor, part);
        };
        // One instruction without its breakpoint, which has been seen.
        let at = Moment { hart, steps };
        if self.skip == Some(at) && goal > steps {
            let (part, pause) = watch(processor, points, false, steps + 1);
            self.pause = pause;
            let part = self.note(processor, part);
            let is_through = part == Part::Paused && self.pause == Some(Pause::Goal);
            if !is_through || goal == steps + 1 {
                return part;
            }
        }
        let (part, pause) = watch(processor, points, true, goal);
        self.pause = pause;
        self.note(processor, part)
    }
}

impl Watcher<'_> {
    /// What else the pause may be.
    fn note(&mut self, processor: &mut Processor<Board>, part: Part) -> Part {
        let trap = processor.take_trap_stop();
        let trap = trap.map(|cause| Pause::Trap { cause });
        let goal = (part == Part::Paused).then_some(Pause::Goal);
        self.pause = self.pause.or(trap).or(goal);
        part
    }
}

fn watch(
    processor: &mut Processor<Board>,
    points: &StopPoints,
    breaks: bool,
    goal: u64,
) -> (Part, Option<Pause>) {
    let eyes = Eyes {
        points,
        breaks,
        accessed: Cell::new(None),
        hit: Cell::new(None),
        has_stopped: Cell::new(false),
    };
    let part = processor.resume(goal, &mut Look(&eyes), &mut Look(&eyes));
    let watched = eyes.hit.get();
    let watched = watched.map(|(address, kind)| Pause::Watchpoint { address, kind });
    let breakpoint = eyes.has_stopped.get().then_some(Pause::Breakpoint);
    (part, watched.or(breakpoint))
}
