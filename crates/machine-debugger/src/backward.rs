//! Back to the last stop. What was in between is executed again from a snapshot, first to find the stop, and
//! then to go there.
use crate::run_timeline::{DENSE, Place, Stop, Timeline, stop};
use crate::stop_points::StopPoints;
use crate::watched_slice::{Moment, Pause};
use flick_machine::{End, Turn};

/// Steps in front of where a run back ends, at which a snapshot makes the next one short.
const NEAR: u64 = 1000;

impl Timeline<'_, '_> {
    /// Goes back to the instruction or exception that this hart has executed last.
    pub fn step_back(&mut self, hart: usize) -> Stop {
        let steps = self.machine.hart(hart).map_or(0, |hart| hart.steps());
        let Some(steps) = steps.checked_sub(1) else {
            return self.go_to_begin();
        };
        let target = Moment { hart, steps };
        match self.go_to(target) {
            true => Stop::Step(hart),
            false => self.go_to_begin(),
        }
    }

    /// Goes back to the last breakpoint, watched access or trap, or to where the past begins.
    /// `wants_stop` is asked now and then.
    pub fn continue_back(&mut self, wants_stop: &mut dyn FnMut() -> bool) -> Stop {
        let mut end = Place::of(self.machine);
        loop {
            let before = |place: &Place| (place.steps, place.moments) < (end.steps, end.moments);
            let Some(at) = self.kept.iter().rposition(|kept| before(&kept.place)) else {
                return self.go_to_begin();
            };
            let begin = self.kept[at].place.clone();
            self.put(at);
            match self.last_stop(&end, wants_stop) {
                Err(Interrupted) => return self.settle(),
                Ok(Some((moment, pause))) => {
                    let target = match pause {
                        // In front of the access.
                        Pause::Watchpoint { .. } => Moment {
                            steps: moment.steps - 1,
                            ..moment
                        },
                        _ => moment,
                    };
                    return match self.go_to(target) {
                        true => stop(target.hart, pause),
                        false => self.go_to_begin(),
                    };
                }
                Ok(None) => end = begin,
            }
        }
    }

    /// The last stop in front of `end`, from here on.
    fn last_stop(
        &mut self,
        end: &Place,
        wants_stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<(Moment, Pause)>, Interrupted> {
        let points = self.points.clone();
        self.set_traps(self.traps);
        let goal = end.moment();
        let mut last = None;
        while !self.is_at(end) {
            let (turn, pause) = self.turn(Some(&points), goal, &mut || true);
            let hart = match turn {
                Turn::Paused(hart) => Some(hart),
                Turn::Ran => self.machine.last_hart(),
                Turn::Ended(End::Idle) => None,
                Turn::Ended(_) => break,
            };
            let here = hart.and_then(|hart| {
                let steps = self.machine.hart(hart)?.steps();
                Some(Moment { hart, steps })
            });
            match (here, pause) {
                (Some(here), Some(pause @ (Pause::Breakpoint | Pause::Trap { .. })))
                    if self.machine.steps() < end.steps =>
                {
                    last = Some((here, pause));
                }
                // The access was executed in front of the end.
                (Some(here), Some(pause @ Pause::Watchpoint { .. }))
                    if self.machine.steps() <= end.steps =>
                {
                    last = Some((here, pause));
                }
                _ => {}
            }
            if let Turn::Paused(_) = turn {
                self.skip = here;
            }
            if wants_stop() {
                return Err(Interrupted);
            }
        }
        Ok(last)
    }

    /// Is the machine at this place, or behind it?
    fn is_at(&self, end: &Place) -> bool {
        let here = Place::of(self.machine);
        match end.moment() {
            Some(moment) => here.moment() == Some(moment) || here.steps > end.steps,
            None => here.current.is_none() && here.moments >= end.moments,
        }
    }

    /// Goes to where a hart is in front of its next instruction and has executed so many. False: it is
    /// not in the known past.
    fn go_to(&mut self, target: Moment) -> bool {
        let steps = |place: &Place| place.by_hart[target.hart];
        let before = |place: &Place| steps(place) < target.steps;
        let kept = self.kept.iter();
        let known = kept.clone().rposition(|kept| before(&kept.place));
        let first = self.kept.first().map(|kept| steps(&kept.place));
        let at = match known {
            Some(at) => at,
            None if first == Some(target.steps) => 0,
            None => return false,
        };
        self.put(at);
        self.set_traps([0; 2]);
        // Snapshots on the way and near the end make the next way short.
        let near = target.steps.saturating_sub(NEAR);
        loop {
            let here = Place::of(self.machine);
            let is_far = here.steps - self.nearest_before(here.steps) >= DENSE;
            if is_far && here.current.is_none() {
                self.keep();
            }
            let steps = here.by_hart[target.hart];
            let goal = Moment {
                steps: if steps < near { near } else { target.steps },
                ..target
            };
            match self.turn(None::<&StopPoints>, Some(goal), &mut || true).0 {
                Turn::Paused(_) if goal == target => break,
                Turn::Paused(_) => {
                    let steps = self.machine.steps();
                    if steps - self.nearest_before(steps) > 50 * NEAR {
                        self.keep();
                    }
                }
                Turn::Ran => {}
                // All wait, and what comes next is known.
                Turn::Ended(End::Idle) if self.machine.outside.is_known() => {}
                Turn::Ended(_) => return false,
            }
        }
        self.skip = Some(target);
        true
    }

    fn nearest_before(&self, steps: u64) -> u64 {
        let at = self.kept.partition_point(|kept| kept.place.steps <= steps);
        at.checked_sub(1).map_or(0, |at| self.kept[at].place.steps)
    }

    fn go_to_begin(&mut self) -> Stop {
        if !self.kept.is_empty() {
            self.put(0);
        }
        Stop::Begin
    }
}

/// The debugger wants something else.
struct Interrupted;
