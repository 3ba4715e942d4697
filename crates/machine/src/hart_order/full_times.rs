//! The times at which all harts for threads of host programs are lent: a thread whose descriptor has come
//! waits for a hart then.
use std::collections::VecDeque;

use flick_device::Time;

/// Times that are kept. Who waits for longer than the oldest of them is said to have waited less.
const KEPT: usize = 1 << 12;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct FullTimes {
    /// Until when each hart was lent the last time: for ever, while it is.
    ends: Vec<(usize, Time)>,
    /// Since when all are lent.
    since: Option<Time>,
    /// When all were lent, in order.
    past: VecDeque<(Time, Time)>,
}

impl FullTimes {
    /// These harts are for threads.
    pub fn of(harts: impl Iterator<Item = usize>) -> Self {
        Self {
            ends: harts.map(|hart| (hart, 0)).collect(),
            ..Self::default()
        }
    }

    /// A hart is lent from now on. All that happened before has been told.
    pub fn begin(&mut self, hart: usize, now: Time) {
        self.close(now);
        self.set(hart, Time::MAX);
        let is_full = self.ends.iter().all(|&(_, end)| end > now);
        self.since = is_full.then_some(now);
    }

    /// A hart is lent up to a time, which may be to come.
    pub fn end(&mut self, hart: usize, time: Time) {
        self.set(hart, time);
    }

    fn set(&mut self, hart: usize, time: Time) {
        let own = self.ends.iter_mut().find(|(other, _)| *other == hart);
        if let Some((_, end)) = own {
            *end = time;
        }
    }

    /// When the time ends that has begun, as far as that is known.
    fn first_end(&self) -> Time {
        let ends = self.ends.iter().map(|&(_, end)| end);
        ends.min().unwrap_or(Time::MAX)
    }

    fn close(&mut self, now: Time) {
        let end = self.first_end().min(now);
        if let Some(since) = self.since.take()
            && end > since
        {
            if self.past.len() == KEPT {
                self.past.pop_front();
            }
            self.past.push_back((since, end));
        }
    }

    /// How long all harts were lent between two times.
    pub fn between(&self, from: Time, to: Time) -> Time {
        let current = self.since.map(|since| (since, self.first_end()));
        let all = self.past.iter().rev().copied();
        // In order, so that those before `from` come last.
        let all = current.into_iter().chain(all);
        all.take_while(|&(_, end)| end > from)
            .map(|(begin, end)| end.min(to).saturating_sub(begin.max(from)))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_harts_of_two_are_lent_while_both_are() {
        let mut full = FullTimes::of([1, 2].into_iter());
        full.begin(1, 10);
        assert_eq!(full.between(0, 100), 0);
        full.begin(2, 20);
        assert_eq!(full.between(0, 100), 80);
        assert_eq!(full.between(30, 40), 10);
        full.end(1, 60);
        full.end(2, 50);
        assert_eq!(full.between(0, 100), 30);
        // Hart 1 is back at 60, so that all are lent again from 55 to then.
        full.begin(2, 55);
        assert_eq!(full.between(0, 100), 35);
        full.begin(1, 70);
        assert_eq!(full.between(0, 100), 65);
        assert_eq!(full.between(40, 57), 12);
        assert_eq!(full.between(90, 80), 0);
    }

    #[test]
    fn a_hart_that_is_none_for_threads_does_not_count() {
        let mut full = FullTimes::of([1].into_iter());
        full.begin(0, 10);
        assert_eq!(full.between(0, 100), 0);
    }
}
