//! Virtual time and the order of events in it. Nothing here reads the host's clock: the same calls give
//! the same order on any host.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod thread_token;
pub mod timer_queue;

/// Picoseconds of virtual time.
pub type Time = u64;

/// Events by time, each with a key that no other event has. Events of the same time come in the order
/// of their groups, and those of one group in the order in which they were scheduled.
///
/// A machine has few of them at a time, so they are a sorted list: that is quicker than a tree.
#[derive(Clone, Debug)]
pub struct EventQueue<K> {
    /// By time, group and sequence number; the next one is the last.
    events: Vec<(Place, K)>,
    sequence: u64,
}

/// Time, group and sequence number.
type Place = (Time, u32, u64);

impl<K> Default for EventQueue<K> {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            sequence: 0,
        }
    }
}

impl<K: Copy + Ord> EventQueue<K> {
    /// A queue without events.
    pub fn new() -> Self {
        Self::default()
    }

    /// The event `key` of the first group is at `time`, and at no other time.
    pub fn schedule(&mut self, key: K, time: Time) {
        self.schedule_in(0, key, time);
    }

    /// The same of an event of this group.
    pub fn schedule_in(&mut self, group: u32, key: K, time: Time) {
        self.cancel(key);
        let place = (time, group, self.sequence);
        self.sequence += 1;
        let at = self.events.partition_point(|&(other, _)| other > place);
        self.events.insert(at, (place, key));
    }

    /// There is no event `key`.
    pub fn cancel(&mut self, key: K) {
        if let Some(at) = self.events.iter().rposition(|&(_, other)| other == key) {
            self.events.remove(at);
        }
    }

    /// The time of the next event.
    pub fn next(&self) -> Option<Time> {
        self.events.last().map(|&((time, ..), _)| time)
    }

    /// Takes the next event, if it is not after `time`.
    pub fn pop(&mut self, time: Time) -> Option<(Time, K)> {
        self.next().filter(|&next| next <= time)?;
        let ((time, ..), key) = self.events.pop()?;
        Some((time, key))
    }

    /// All events, in the order in which they come. Scheduled in this order again they come so.
    pub fn events(&self) -> impl Iterator<Item = (Time, K)> + '_ {
        let all = self.events.iter().rev();
        all.map(|&((time, ..), key)| (time, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order() {
        let mut queue = EventQueue::new();
        for (key, time) in [(1, 20), (2, 10), (3, 20), (4, 5), (1, 20)] {
            queue.schedule(key, time);
        }
        queue.cancel(4);
        assert_eq!(queue.next(), Some(10));
        assert_eq!(queue.pop(9), None);
        let all: Vec<_> = std::iter::from_fn(|| queue.pop(30)).collect();
        assert_eq!(all, [(10, 2), (20, 3), (20, 1)]);
    }

    #[test]
    fn groups_come_before_the_order_of_calls() {
        let mut queue = EventQueue::new();
        for (group, key, time) in [(2, 1, 20), (1, 2, 20), (2, 3, 10), (1, 4, 20)] {
            queue.schedule_in(group, key, time);
        }
        let all: Vec<_> = std::iter::from_fn(|| queue.pop(30)).collect();
        assert_eq!(all, [(10, 3), (20, 2), (20, 4), (20, 1)]);
    }
}
