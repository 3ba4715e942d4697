//! Interrupt lines that are forced to a level, or rise late.
use std::collections::BTreeMap;

use flick_device::Time;
use serde::{Deserialize, Serialize};

/// A hart's number, and a bit of its `mip`.
pub type Line = (usize, u32);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultyLines {
    /// The levels that devices want.
    wanted: BTreeMap<Line, bool>,
    forced: BTreeMap<Line, bool>,
    /// By how much the next rise is late.
    delays: BTreeMap<Line, Time>,
}

/// What a device's change of a line becomes.
#[derive(Debug, PartialEq, Eq)]
pub enum Change {
    /// The line has this level.
    Level(bool),
    /// It rises after this time.
    Later(Time),
}

impl FaultyLines {
    /// A device sets a line.
    pub fn set(&mut self, line: Line, level: bool) -> Change {
        let before = self.wanted.insert(line, level).unwrap_or(false);
        if let Some(&forced) = self.forced.get(&line) {
            return Change::Level(forced);
        }
        let rises = level && !before;
        match rises.then(|| self.delays.remove(&line)).flatten() {
            Some(delay) => Change::Later(delay),
            None => Change::Level(level),
        }
    }

    pub fn delay(&mut self, line: Line, by: Time) {
        self.delays.insert(line, by);
    }

    pub fn force(&mut self, line: Line, level: bool) {
        self.forced.insert(line, level);
    }

    /// The level that the line has again.
    pub fn release(&mut self, line: Line) -> bool {
        self.forced.remove(&line);
        self.level(line)
    }

    /// Lines of which something is known.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        let levels = self.wanted.keys().chain(self.forced.keys());
        levels.chain(self.delays.keys())
    }

    /// Is each late rise late by less?
    pub fn delays_are_below(&self, time: Time) -> bool {
        self.delays.values().all(|&delay| delay < time)
    }

    /// The level of a line.
    pub fn level(&self, line: Line) -> bool {
        let wanted = self.wanted.get(&line);
        let forced = self.forced.get(&line);
        forced.or(wanted).copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_forced_and_late() {
        let mut lines = FaultyLines::default();
        let line = (1, 11);
        lines.force(line, false);
        assert_eq!(lines.set(line, true), Change::Level(false));
        assert!(lines.release(line));
        lines.delay(line, 50);
        assert_eq!(lines.set((0, 11), true), Change::Level(true));
        lines.set(line, false);
        lines.delay(line, 50);
        assert_eq!(lines.set(line, true), Change::Later(50));
        assert_eq!(lines.set(line, false), Change::Level(false));
        // It has fallen before it could rise.
        assert!(!lines.level(line));
        assert_eq!(lines.set(line, true), Change::Level(true));
    }
}
