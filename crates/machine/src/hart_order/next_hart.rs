//! Which hart is the first, which wait, and until when: looked up among all harts.
use flick_device::Time;

use super::{Console, Machine};
use crate::board;

impl Machine<'_> {
    pub(super) fn apply_lines(&mut self) {
        for (hart, bit, level) in self.wiring.take_lines() {
            let Some(level) = self.faulty_level(hart, bit, level) else {
                continue;
            };
            let Some(unit) = self.harts.get_mut(hart) else {
                continue;
            };
            unit.processor.set_line(bit, level);
            // A hart that was put off has its turn for an interrupt.
            unit.put_off = if level { 0 } else { unit.put_off };
        }
        // What wakes a hart is at the time of the hart or event that was first.
        let now = self.wiring.now();
        for unit in &mut self.harts {
            if unit.can_wake()
                && unit
                    .processor
                    .wakes(|| unit.board.time_at(now.max(unit.time)))
            {
                unit.wake(now);
            }
        }
    }

    /// The hart with the least time of those that do not wait.
    pub(super) fn first(&self) -> Option<usize> {
        self.first_and_next().map(|(first, _)| first)
    }

    /// The same, and the least time of the others.
    pub(super) fn first_and_next(&self) -> Option<(usize, Option<Time>)> {
        let mut first = None;
        let mut next: Option<Time> = None;
        for (n, unit) in self.harts.iter().enumerate() {
            if unit.waits {
                continue;
            }
            let other = match first {
                None => {
                    first = Some((n, unit.turn_time()));
                    continue;
                }
                Some((_, time)) if unit.turn_time() < time => {
                    first = Some((n, unit.turn_time()));
                    time
                }
                Some(_) => unit.turn_time(),
            };
            next = Some(next.map_or(other, |next| next.min(other)));
        }
        first.map(|(first, _)| (first, next))
    }

    /// The virtual time at which a hart that waits, or this one, is interrupted by its own timer.
    pub(super) fn deadline(&self, running: usize) -> Option<Time> {
        let units = self.harts.iter().enumerate();
        let units = units.filter(|(_, unit)| !unit.is_stopped);
        let all = units.filter_map(|(n, unit)| {
            if n != running && !unit.can_wake() {
                return None;
            }
            let ticks = unit.processor.registers().deadline()?;
            let when = unit.board.when(ticks, self.wiring.now());
            let is_future = when > unit.time || unit.waits;
            (when != Time::MAX && is_future).then_some(when)
        });
        all.min()
    }

    /// All harts wait: time goes on to the next event. False: there is none.
    pub(super) fn wait(&mut self, console: &mut dyn Console) -> bool {
        let deadline = self.deadline(usize::MAX);
        let event = self.wiring.next_event();
        let now = self.wiring.now();
        let fault = match self.boots() {
            true => None,
            false => self.next_fault(usize::MAX),
        };
        let Some(next) = [deadline, event, fault].into_iter().flatten().min() else {
            return self.outside.ask(self.input_board, console, now, true);
        };
        if self.outside.ask(self.input_board, console, now, false) {
            return true;
        }
        self.wiring.go_to(next.max(now));
        board::advance(self.boards, next);
        let at = next.max(now);
        self.let_faults_happen_at(usize::MAX, at);
        for unit in &mut self.harts {
            if unit.can_wake() && unit.processor.wakes(|| unit.board.time_at(at)) {
                unit.wake(at);
            }
        }
        true
    }
}
