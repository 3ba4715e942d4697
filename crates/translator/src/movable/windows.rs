//! Stand-ins for the addresses of a function and of what it refers to.
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::program::NEAR;

/// The stand-in of the function's start.
pub const START: u64 = 1 << 20;
/// The stand-in of the first place that the function refers to. Each has a window of addresses, with
/// the place in the middle. The function's own window is as large as the largest function.
const FIRST: u64 = START + (1 << 20);
const WINDOW: u64 = 1 << 19;
/// So far from a place reaches its window.
pub const REACH: u64 = WINDOW / 2;
const MOST: usize = ((NEAR as u64 - FIRST) / WINDOW) as usize;

/// Of one function.
pub struct Windows {
    range: Range<u64>,
    /// The address in the middle of each window, and the offset of the `auipc` of which it is the
    /// result.
    all: Vec<(u64, Option<u64>)>,
    /// Windows by address; `auipc`s have windows of their own.
    places: BTreeMap<u64, usize>,
    highs: BTreeMap<u64, usize>,
}

impl Windows {
    /// For the function in `range`.
    pub fn new(range: Range<u64>) -> Self {
        Self {
            range,
            all: vec![],
            places: BTreeMap::new(),
            highs: BTreeMap::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Forgets the windows from this one on.
    pub fn truncate(&mut self, len: usize) {
        self.all.truncate(len);
        self.places.retain(|_, &mut window| window < len);
        self.highs.retain(|_, &mut window| window < len);
    }

    /// A window of its own for the result of the `auipc` at an offset.
    pub fn add(&mut self, real: u64, high: Option<u64>) -> Option<usize> {
        let window = self.all.len();
        if window == MOST {
            return None;
        }
        self.all.push((real, high));
        match high {
            Some(offset) => self.highs.insert(offset, window),
            None => self.places.insert(real, window),
        };
        Some(window)
    }

    /// The window of the `auipc` at this offset.
    pub fn of_high(&self, offset: u64) -> Option<usize> {
        self.highs.get(&offset).copied()
    }

    /// The stand-in of the address to which a window belongs.
    pub fn center(&self, window: usize) -> u64 {
        FIRST + REACH + window as u64 * WINDOW
    }

    /// Of an address; `None`: there are too many.
    pub fn stand_in(&mut self, real: u64) -> Option<u64> {
        if self.range.contains(&real) || real == self.range.end {
            return Some(START + (real - self.range.start));
        }
        let known = self.places.get(&real).copied();
        let window = known.or_else(|| self.add(real, None))?;
        Some(self.center(window))
    }

    /// The address for which one stands in.
    pub fn real(&self, stand_in: u64) -> Option<u64> {
        let own = stand_in.wrapping_sub(START);
        if own <= self.range.end - self.range.start {
            return Some(self.range.start + own);
        }
        let (window, distance) = self.window(stand_in)?;
        Some(self.all[window].0.wrapping_add_signed(distance))
    }

    /// The offset of one of the `paired` `auipc`s whose result, or what is near it, this is.
    pub fn offset_of_high(&self, stand_in: u64, paired: &BTreeSet<usize>) -> Option<u64> {
        let (window, _) = self.window(stand_in)?;
        self.all[window].1.filter(|_| paired.contains(&window))
    }

    fn window(&self, stand_in: u64) -> Option<(usize, i64)> {
        let window = usize::try_from(stand_in.checked_sub(FIRST)? / WINDOW).ok()?;
        let distance = stand_in.wrapping_sub(self.center(window)) as i64;
        (window < self.all.len()).then_some((window, distance))
    }
}
