//! Virtual time and the order of events in it. Nothing here reads the host's clock: the same calls give
//! the same order on any host.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

/// Picoseconds of virtual time.
pub type Time = u64;

/// Events by time, each with a key that no other event has. Events of the same time come in the order
/// in which they were scheduled.
#[derive(Clone, Debug)]
pub struct EventQueue<K> {
    by_time: BTreeMap<(Time, u64), K>,
    by_key: BTreeMap<K, (Time, u64)>,
    sequence: u64,
}

impl<K> Default for EventQueue<K> {
    fn default() -> Self {
        Self {
            by_time: BTreeMap::new(),
            by_key: BTreeMap::new(),
            sequence: 0,
        }
    }
}

impl<K: Copy + Ord> EventQueue<K> {
    /// A queue without events.
    pub fn new() -> Self {
        Self::default()
    }

    /// The event `key` is at `time`, and at no other time.
    pub fn schedule(&mut self, key: K, time: Time) {
        self.cancel(key);
        let place = (time, self.sequence);
        self.sequence += 1;
        self.by_time.insert(place, key);
        self.by_key.insert(key, place);
    }

    /// There is no event `key`.
    pub fn cancel(&mut self, key: K) {
        if let Some(place) = self.by_key.remove(&key) {
            self.by_time.remove(&place);
        }
    }

    /// The time of the next event.
    pub fn next(&self) -> Option<Time> {
        self.by_time.first_key_value().map(|(&(time, _), _)| time)
    }

    /// Takes the next event, if it is not after `time`.
    pub fn pop(&mut self, time: Time) -> Option<(Time, K)> {
        self.next().filter(|&next| next <= time)?;
        let ((time, _), key) = self.by_time.pop_first()?;
        self.by_key.remove(&key);
        Some((time, key))
    }

    /// All events, in the order in which they come. Scheduled in this order again they come so.
    pub fn events(&self) -> impl Iterator<Item = (Time, K)> + '_ {
        self.by_time.iter().map(|(&(time, _), &key)| (time, key))
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
}
