//! The counter `mtime` as a function of virtual time.
use crate::device::Time;
use serde::{Deserialize, Serialize};

/// Picoseconds in a second.
const SECOND: u128 = 1_000_000_000_000;

/// A counter of a fixed frequency that software can set: `mtime` of the privileged manual,
/// chapter 3.2.1. It starts with 0 at the machine's reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timebase {
    frequency: u64,
    /// What software has added to the ticks since reset, modulo 2^64.
    offset: u64,
}

/// A frequency that no timebase has: 0, or more than one tick in a picosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a timebase of {0} Hz: it must be from 1 Hz to 10^12 Hz")]
pub struct BadFrequency(pub u64);

impl Timebase {
    /// A counter of `frequency` ticks a second.
    pub fn new(frequency: u64) -> Result<Self, BadFrequency> {
        match (1..=SECOND).contains(&u128::from(frequency)) {
            true => Ok(Self {
                frequency,
                offset: 0,
            }),
            false => Err(BadFrequency(frequency)),
        }
    }

    /// Ticks a second.
    pub fn frequency(&self) -> u64 {
        self.frequency
    }

    /// The counter without what software has set.
    pub fn as_at_reset(&self) -> Self {
        Self { offset: 0, ..*self }
    }

    /// The counter's value at `now`.
    pub fn value(&self, now: Time) -> u64 {
        self.ticks(now).wrapping_add(self.offset)
    }

    /// Sets the counter's value at `now`; it goes on from there.
    pub fn set(&mut self, value: u64, now: Time) {
        self.offset = value.wrapping_sub(self.ticks(now));
    }

    /// The first time at which the counter has made `ticks` more ticks than at `now`. `Time::MAX`
    /// stands for a time that virtual time does not reach.
    pub fn after(&self, now: Time, ticks: u128) -> Time {
        let target = u128::from(self.ticks(now)) + ticks;
        let time = (target * SECOND).div_ceil(u128::from(self.frequency));
        Time::try_from(time).unwrap_or(Time::MAX)
    }

    /// The first time from `now` on at which the counter is at least `value`: `now` if it is so
    /// already. This is the deadline of `mtimecmp`, and of `stimecmp` (Sstc).
    pub fn reaches(&self, value: u64, now: Time) -> Time {
        match value.checked_sub(self.value(now)) {
            None | Some(0) => now,
            Some(ticks) => self.after(now, u128::from(ticks)),
        }
    }

    fn ticks(&self, now: Time) -> u64 {
        let second = SECOND as u64;
        // Ticks of whole picoseconds are counted without wide numbers.
        if second.is_multiple_of(self.frequency) {
            return now / (second / self.frequency);
        }
        // It fits: a frequency of 10^12 Hz gives as many ticks as picoseconds.
        (u128::from(now) * u128::from(self.frequency) / SECOND) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_the_first_picosecond_of_their_tick() {
        for frequency in [1, 3, 32_768, 10_000_000, 999_999_999_999, 1_000_000_000_000] {
            let mut base = Timebase::new(frequency).unwrap();
            for now in [0, 1, 99_999, 100_000, 123_456_789_012_345] {
                base.set(7, now);
                assert_eq!(base.value(now), 7);
                let at = base.reaches(1000, now);
                assert_eq!(base.value(at), 1000, "{frequency} Hz from {now}");
                assert_eq!(base.value(at - 1), 999, "{frequency} Hz from {now}");
            }
        }
    }

    #[test]
    fn a_deadline_beyond_virtual_time_is_never() {
        let base = Timebase::new(10_000_000).unwrap();
        assert_eq!(base.reaches(u64::MAX, 5), Time::MAX);
        assert_eq!(base.after(5, 1 << 64), Time::MAX);
    }

    #[test]
    fn impossible_frequencies_are_refused() {
        assert_eq!(Timebase::new(0), Err(BadFrequency(0)));
        assert!(Timebase::new(1_000_000_000_001).is_err());
    }
}
