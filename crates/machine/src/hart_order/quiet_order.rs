//! The order of harts while nothing happens but that they take turns, wait, and are woken by lines. What
//! decides it is looked up once. It is looked up again after output, a fault, a timer of a hart that
//! waits, or a new `mtime`.
use flick_device::Time;

use super::tournament::Tournament;
use super::{Choice, Console, End, Machine, Turn};
use crate::board;

/// The time of a hart that waits.
const WAITS: Time = Time::MAX;
const AT_ONCE: usize = 4;

/// So many harts are looked through one by one at most.
const FEW: usize = 24;

/// What the next turns are decided by.
#[derive(Default)]
pub(super) struct QuietOrder {
    /// By hart, in groups, if there are few.
    times: Vec<[Time; AT_ONCE]>,
    /// By hart, if there are many.
    many: Tournament,
    /// By hart: `stimecmp`, and the virtual time at which it is reached.
    deadlines: Vec<(u64, Time)>,
    /// The first timer of a hart that waits.
    timer: Time,
    /// This, or the next event of a device.
    event: Time,
}

impl QuietOrder {
    /// A hart's slice has ended.
    pub fn set_time(&mut self, hart: usize, time: Time) {
        match self.deadlines.len() > FEW {
            true => self.many.set(hart, time),
            false => self.times[hart / AT_ONCE][hart % AT_ONCE] = time,
        }
    }

    /// A hart has no turn.
    pub fn set_waiting(&mut self, hart: usize) {
        self.set_time(hart, WAITS);
    }

    fn time(&self, hart: usize) -> Time {
        self.times[hart / AT_ONCE][hart % AT_ONCE]
    }

    /// The first hart, its time, and the time of the next one.
    fn first_and_next(&mut self) -> (usize, Time, Time) {
        if self.deadlines.len() > FEW {
            return self.many.first_and_next(WAITS);
        }
        let least = least(&self.times);
        let mut first = 0;
        while first + 1 < self.deadlines.len() && self.time(first) != least {
            first += 1;
        }
        self.set_time(first, WAITS);
        let next = self::least(&self.times);
        self.set_time(first, least);
        (first, least, next)
    }
}

/// The least time of all. The comparisons are four chains side by side.
fn least(times: &[[Time; AT_ONCE]]) -> Time {
    let [mut a, mut b, mut c, mut d] = [WAITS; AT_ONCE];
    for group in times {
        a = a.min(group[0]);
        b = b.min(group[1]);
        c = c.min(group[2]);
        d = d.min(group[3]);
    }
    a.min(b).min(c.min(d))
}

impl Machine<'_> {
    /// Looks up what decides the next turns.
    pub(super) fn begin_quiet_order(&mut self) {
        // Faults happen at times of their own.
        if self.injection.is_some() || self.wiring.has_news() {
            return;
        }
        let now = self.wiring.now();
        let mut timer = WAITS;
        for unit in self.harts.iter().filter(|unit| unit.can_wake()) {
            if let Some(ticks) = unit.processor.registers().deadline() {
                timer = timer.min(unit.board.when(ticks, now));
            }
        }
        let time = |unit: &super::Unit| match unit.waits {
            true => WAITS,
            false => unit.turn_time(),
        };
        let mut order = self.spare_order.take().unwrap_or_default();
        order.timer = timer;
        order.event = timer.min(self.wiring.next_event().unwrap_or(WAITS));
        order.deadlines.clear();
        // No `stimecmp` is there that has been looked up.
        order.deadlines.resize(self.harts.len(), (0, 0));
        if self.harts.len() > FEW {
            order.many.fill(self.harts.iter().map(time), WAITS);
        } else {
            order.times.clear();
            for group in self.harts.chunks(AT_ONCE) {
                let of = |n: usize| group.get(n).map_or(WAITS, time);
                order.times.push(std::array::from_fn(of));
            }
        }
        self.order = Some(order);
    }

    /// Devices have been accessed. Has that changed nothing but their events and harts' lines? A hart that
    /// wakes by its line takes its place.
    pub(super) fn stays_quiet(&mut self) -> bool {
        let (wiring, Some(order)) = (self.wiring, &mut self.order) else {
            return false;
        };
        let now = wiring.now();
        // At the time of an access a hart may wake by its timer.
        if !wiring.is_quiet() || order.timer <= now {
            return false;
        }
        wiring.forget_news();
        let mut has_first_timer = true;
        for (hart, bit, level) in wiring.take_lines() {
            let Some(unit) = self.harts.get_mut(hart) else {
                continue;
            };
            unit.processor.set_line(bit, level);
            let is_woken = unit.can_wake()
                && unit
                    .processor
                    .wakes(|| unit.board.time_at(now.max(unit.time)));
            if level && unit.put_off != 0 {
                unit.put_off = 0;
                order.set_time(hart, unit.time);
            }
            if is_woken {
                let ticks = unit.processor.registers().deadline();
                let timer = ticks.map(|ticks| unit.board.when(ticks, now));
                has_first_timer &= timer.is_none_or(|timer| timer > order.timer);
                unit.wake(now);
                order.set_time(hart, unit.time);
            }
        }
        order.event = order.timer.min(wiring.next_event().unwrap_or(WAITS));
        has_first_timer
    }

    /// A hart begins to wait.
    pub(super) fn begin_to_wait(&mut self, hart: usize) {
        let Some(order) = &mut self.order else {
            return;
        };
        let (unit, now) = (&self.harts[hart], self.wiring.now());
        let wakes = unit
            .processor
            .wakes(|| unit.board.time_at(now.max(unit.time)));
        // At this time another hart may wake, too.
        if wakes || order.timer <= now {
            self.end_quiet_order();
            return;
        }
        order.set_time(hart, WAITS);
        if let Some(ticks) = unit.processor.registers().deadline() {
            order.timer = order.timer.min(unit.board.when(ticks, now));
            order.event = order.event.min(order.timer);
        }
    }

    /// Something happens.
    pub(super) fn end_quiet_order(&mut self) {
        if let Some(order) = self.order.take() {
            self.spare_order = Some(order);
        }
    }

    /// All harts wait, and the next that happens is an event of a device: as [`Machine::wait`].
    fn wait_quietly(&mut self, event: Time, console: &mut dyn Console) -> Turn {
        let now = self.wiring.now();
        if !self.outside.ask(self.input_board, console, now, false) {
            self.wiring.go_to(event.max(now));
            board::advance(self.boards, event);
            if !self.stays_quiet() {
                self.end_quiet_order();
            }
        }
        Turn::Ran
    }

    /// The same by what is looked up anew.
    fn looked_up_choice(&self) -> Choice {
        let (first, next) = self.first_and_next().unwrap_or((usize::MAX, None));
        let events = [self.wiring.next_event(), self.deadline(first)];
        Choice {
            first,
            next,
            until: events.into_iter().flatten().min(),
        }
    }

    /// Which hart runs next, if only the order decides that.
    pub(super) fn choose_quietly(
        &mut self,
        console: &mut dyn Console,
    ) -> Result<Option<Choice>, Turn> {
        if self.order.is_none() {
            return Ok(None);
        }
        if self.wiring.has_news() && !self.stays_quiet() {
            self.end_quiet_order();
            return Ok(None);
        }
        if let Some(status) = self.poll_htif(console) {
            return Err(Turn::Ended(End::Exit(status)));
        }
        let Some(order) = &mut self.order else {
            return Ok(None);
        };
        let (first, time, next) = order.first_and_next();
        if time >= order.event {
            // Events of devices come before the first hart, and may change nothing for the others.
            let is_timer = order.timer <= time;
            if time == WAITS && order.event < order.timer {
                let event = order.event;
                return Err(self.wait_quietly(event, console));
            }
            if is_timer || time == WAITS {
                self.end_quiet_order();
                return Ok(None);
            }
            let event = order.event;
            let until = self.harts[first].advances_to(event);
            board::advance(self.boards, self.lent.within_limit(until));
            if !self.stays_quiet() {
                self.end_quiet_order();
            }
            return Err(Turn::Ran);
        }
        let mut until = order.event;
        let unit = &self.harts[first];
        if let Some(ticks) = unit.processor.registers().deadline() {
            let known = &mut order.deadlines[first];
            let now = self.wiring.now();
            if known.0 != ticks || known.1 == 0 {
                *known = (ticks, unit.board.when(ticks, now));
            }
            // As `deadline` of this hart alone.
            let when = known.1.max(now);
            if when > unit.time {
                until = until.min(when);
            }
        }
        let choice = Choice {
            first,
            next: (next != WAITS).then_some(next),
            until: (until != WAITS).then_some(until),
        };
        debug_assert_eq!(choice, self.looked_up_choice());
        Ok(Some(choice))
    }
}
