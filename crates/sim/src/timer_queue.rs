//! Timers that expire at a virtual time, once or again and again.
use std::collections::{BTreeMap, BTreeSet};

use crate::Time;

/// When a timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The next time.
    pub at: Time,
    /// How long after that it expires again; 0: never.
    pub interval: Time,
}

/// Armed timers, by their keys. Those of the same time expire in the order in which they were armed.
#[derive(Clone, Debug)]
pub struct Timers<K> {
    armed: BTreeMap<K, (Setting, u64)>,
    queue: BTreeSet<(Time, u64, K)>,
    sequence: u64,
}

impl<K> Default for Timers<K> {
    fn default() -> Self {
        Self {
            armed: BTreeMap::new(),
            queue: BTreeSet::new(),
            sequence: 0,
        }
    }
}

impl<K: Copy + Ord> Timers<K> {
    /// No timer is armed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Arms a timer, or disarms it; what it was.
    pub fn set(&mut self, key: K, setting: Option<Setting>) -> Option<Setting> {
        let before = self.armed.remove(&key).map(|(before, sequence)| {
            self.queue.remove(&(before.at, sequence, key));
            before
        });
        if let Some(setting) = setting {
            self.sequence += 1;
            self.armed.insert(key, (setting, self.sequence));
            self.queue.insert((setting.at, self.sequence, key));
        }
        before
    }

    /// What a timer is set to, if it is armed.
    pub fn get(&self, key: K) -> Option<Setting> {
        self.armed.get(&key).map(|&(setting, _)| setting)
    }

    /// How many timers are armed.
    pub fn armed(&self) -> usize {
        self.armed.len()
    }

    /// When the next one expires.
    pub fn next(&self) -> Option<Time> {
        self.queue.first().map(|&(time, ..)| time)
    }

    /// The next one expires: which it is, and when. It is armed again if it has an interval.
    pub fn expire(&mut self) -> Option<(K, Time)> {
        let (time, _, key) = self.queue.pop_first()?;
        let (setting, _) = self.armed.remove(&key)?;
        if setting.interval != 0 {
            let at = time.saturating_add(setting.interval);
            self.set(key, Some(Setting { at, ..setting }));
        }
        Some((key, time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn once(at: Time) -> Option<Setting> {
        Some(Setting { at, interval: 0 })
    }

    #[test]
    fn timers_expire_in_the_order_of_time_and_then_of_arming() {
        let mut timers = Timers::new();
        timers.set('b', once(20));
        timers.set('a', once(20));
        timers.set('c', once(10));
        assert_eq!((timers.next(), timers.armed()), (Some(10), 3));
        let all: Vec<_> = std::iter::from_fn(|| timers.expire()).collect();
        assert_eq!(all, [('c', 10), ('b', 20), ('a', 20)]);
        assert_eq!((timers.next(), timers.armed()), (None, 0));
    }

    #[test]
    fn a_timer_with_an_interval_is_armed_again() {
        let mut timers = Timers::new();
        let setting = Setting {
            at: 10,
            interval: 5,
        };
        assert_eq!(timers.set('a', Some(setting)), None);
        timers.set('b', once(15));
        let four: Vec<_> = (0..4).filter_map(|_| timers.expire()).collect();
        assert_eq!(four, [('a', 10), ('b', 15), ('a', 15), ('a', 20)]);
        assert_eq!(timers.get('a').map(|left| left.at), Some(25));
    }

    #[test]
    fn arming_and_disarming_say_what_was() {
        let mut timers = Timers::new();
        assert_eq!(timers.set('a', once(10)), None);
        assert_eq!(timers.set('a', once(30)), once(10));
        assert_eq!(timers.next(), Some(30));
        assert_eq!(timers.set('a', None), once(30));
        assert_eq!((timers.next(), timers.get('a')), (None, None));
        assert_eq!(timers.expire(), None);
    }
}
