//! The order of harts while nothing happens but that they take turns. What decides it is looked up once:
//! no device has been accessed since, and no hart has begun to wait or been woken.
use flick_device::Time;

use super::{Choice, Console, End, Machine, Turn};

/// The time of a hart that waits.
const WAITS: Time = Time::MAX;
const AT_ONCE: usize = 4;

/// What the next turns are decided by.
pub(super) struct QuietOrder {
    /// By hart, in groups.
    times: Vec<[Time; AT_ONCE]>,
    /// By hart: `stimecmp`, and the virtual time at which it is reached.
    deadlines: Vec<(u64, Time)>,
    /// The next event of a device, or the first timer of a hart that waits.
    event: Time,
}

impl QuietOrder {
    /// A hart's slice has ended.
    pub fn set_time(&mut self, hart: usize, time: Time) {
        self.times[hart / AT_ONCE][hart % AT_ONCE] = time;
    }

    fn time(&self, hart: usize) -> Time {
        self.times[hart / AT_ONCE][hart % AT_ONCE]
    }

    /// The first hart, its time, and the time of the next one.
    fn first_and_next(&mut self) -> (usize, Time, Time) {
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
        if self.injection.is_some() || self.board.has_news() {
            return;
        }
        let now = self.board.now();
        let mut event = self.board.next_event().unwrap_or(WAITS);
        for unit in self
            .harts
            .iter()
            .filter(|unit| unit.waits && !unit.is_stopped)
        {
            if let Some(ticks) = unit.processor.registers().deadline() {
                event = event.min(self.board.when(ticks, now));
            }
        }
        let time = |unit: &super::Unit| match unit.waits {
            true => WAITS,
            false => unit.time,
        };
        let mut order = self.spare_order.take().unwrap_or_else(|| QuietOrder {
            times: vec![],
            deadlines: vec![],
            event,
        });
        order.event = event;
        order.times.clear();
        for group in self.harts.chunks(AT_ONCE) {
            let of = |n: usize| group.get(n).map_or(WAITS, time);
            order.times.push(std::array::from_fn(of));
        }
        order.deadlines.clear();
        // No `stimecmp` is there that has been looked up.
        order.deadlines.resize(self.harts.len(), (0, 0));
        self.order = Some(order);
    }

    /// Something happens.
    pub(super) fn end_quiet_order(&mut self) {
        if let Some(order) = self.order.take() {
            self.spare_order = Some(order);
        }
    }

    /// The same by what is looked up anew.
    fn looked_up_choice(&self) -> Choice {
        let (first, next) = self.first_and_next().unwrap_or((usize::MAX, None));
        let events = [self.board.next_event(), self.deadline(first)];
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
        if self.board.has_news() {
            self.end_quiet_order();
            return Ok(None);
        }
        if let Some(htif) = &mut self.htif
            && let Some(status) = htif.poll(self.board, console)
        {
            return Err(Turn::Ended(End::Exit(status)));
        }
        let Some(order) = &mut self.order else {
            return Ok(None);
        };
        let (first, time, next) = order.first_and_next();
        if time >= order.event {
            self.end_quiet_order();
            return Ok(None);
        }
        let mut until = order.event;
        if let Some(ticks) = self.harts[first].processor.registers().deadline() {
            let known = &mut order.deadlines[first];
            let now = self.board.now();
            if known.0 != ticks || known.1 == 0 {
                *known = (ticks, self.board.when(ticks, now));
            }
            // As `deadline` of this hart alone.
            let when = known.1.max(now);
            if when > time {
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
