//! A stride prefetcher of a hart: it follows data accesses that the first cache does not serve. When two
//! steps of a stream are equal, it asks for the lines of the next steps, into the hart's second cache, or
//! the first one if there is no second.
//!
//! A line is in the cache at once. An access that comes before the line's arrival waits for the rest of
//! the time. Streams are told apart by their pages, and end there: the next page may be anywhere. (A
//! stride prefetcher as gem5's tells them apart by the instruction, which the memory system does not know.)
use std::cell::RefCell;

use serde::{Deserialize, Serialize};

use super::Time;
use super::saved_system::are_times;

/// What a prefetcher can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefetcherShape {
    /// Streams that it follows at a time.
    pub streams: usize,
    /// Lines that it asks for in front of the last access.
    pub degree: u64,
}

/// log2 of the bytes of a page: no stream goes beyond.
const PAGE: u32 = 12;

/// The accesses of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Stream {
    /// The number of the page, and one more; 0: there is no stream.
    page: u64,
    /// The line of the last access, by its number.
    last: u64,
    /// Lines between the last two accesses.
    stride: i64,
    /// The line that was asked for last. It says nothing if the stride is new.
    asked: u64,
}

/// The state of a prefetcher.
#[derive(Debug)]
pub struct Prefetcher {
    shape: PrefetcherShape,
    state: RefCell<SavedPrefetcher>,
}

/// The same, for snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPrefetcher {
    /// The stream of the last access first.
    streams: Vec<Stream>,
    /// Addresses of lines that are under way, and when they arrive.
    arrivals: Vec<(u64, Time)>,
}

impl Prefetcher {
    /// It has seen nothing.
    pub fn new(shape: PrefetcherShape) -> Self {
        Self {
            shape,
            state: RefCell::default(),
        }
    }

    /// An access that the first cache does not serve. Returns the addresses of lines (of so many bytes, as
    /// log2) that it asks for.
    pub fn follow(&self, address: u64, shift: u32) -> Vec<u64> {
        let state = &mut *self.state.borrow_mut();
        let (page, line) = ((address >> PAGE) + 1, address >> shift);
        let streams = &mut state.streams;
        let known = streams.iter().position(|stream| stream.page == page);
        let Some(at) = known else {
            streams.truncate(self.shape.streams - 1);
            let stream = Stream {
                page,
                last: line,
                ..Stream::default()
            };
            streams.insert(0, stream);
            return vec![];
        };
        streams[..=at].rotate_right(1);
        let stream = &mut streams[0];
        let stride = line.wrapping_sub(stream.last) as i64;
        if stride == 0 {
            return vec![];
        }
        let is_steady = stride == stream.stride;
        stream.last = line;
        stream.stride = stride;
        if !is_steady {
            stream.asked = line;
            return vec![];
        }
        // Lines behind the one that was asked for last, and in front of the access.
        let steps = |to: u64| (to.wrapping_sub(line) as i64) / stride;
        let first = steps(stream.asked).max(0) + 1;
        let asks = first..=self.shape.degree as i64;
        let lines = asks.map(|step| line.wrapping_add((step * stride) as u64));
        let lines: Vec<u64> = lines
            .take_while(|line| (line << shift >> PAGE) + 1 == page)
            .collect();
        if let Some(&last) = lines.last() {
            stream.asked = last;
        }
        lines.into_iter().map(|line| line << shift).collect()
    }

    /// A line has been asked for.
    pub fn expect(&self, address: u64, arrival: Time) {
        self.state.borrow_mut().arrivals.push((address, arrival));
    }

    /// How long an access to a line that the cache has waits for its arrival.
    pub fn wait(&self, address: u64, shift: u32, now: Time) -> Time {
        let arrivals = &mut self.state.borrow_mut().arrivals;
        arrivals.retain(|&(_, arrival)| arrival > now);
        let line = address >> shift << shift;
        let known = arrivals.iter().find(|&&(other, _)| other == line);
        known.map_or(0, |&(_, arrival)| arrival - now)
    }

    /// For snapshots.
    pub fn save(&self) -> SavedPrefetcher {
        self.state.borrow().clone()
    }

    /// False: no prefetcher of this shape is so.
    pub fn restore(&self, saved: &SavedPrefetcher) -> bool {
        let times: Vec<Time> = saved.arrivals.iter().map(|&(_, at)| at).collect();
        let fits = saved.streams.len() <= self.shape.streams && are_times(&times);
        if fits {
            self.state.replace(saved.clone());
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefetcher() -> Prefetcher {
        Prefetcher::new(PrefetcherShape {
            streams: 2,
            degree: 4,
        })
    }

    #[test]
    fn the_third_step_of_a_stream_asks_for_more() {
        let prefetcher = prefetcher();
        let follow = |line: u64| -> Vec<u64> {
            let asked = prefetcher.follow(line * 64 + 8, 6);
            asked.iter().map(|address| address / 64).collect()
        };
        assert_eq!(follow(64), []);
        assert_eq!(follow(65), []);
        assert_eq!(follow(66), [67, 68, 69, 70]);
        assert_eq!(follow(66), []);
        assert_eq!(follow(67), [71]);
        assert_eq!(follow(68), [72]);
        // Another stride has to be seen twice, too.
        assert_eq!(follow(74), []);
        assert_eq!(follow(80), [86, 92, 98, 104]);
        assert_eq!(follow(86), [110]);
        assert_eq!(follow(84), []);
        assert_eq!(follow(82), [80, 78, 76, 74]);
    }

    #[test]
    fn streams_end_with_their_pages() {
        let prefetcher = prefetcher();
        let follow = |line: u64| prefetcher.follow(line * 64, 6).len();
        assert_eq!([61, 62, 63].map(follow), [0, 0, 0]);
        assert_eq!([64, 65, 66].map(follow), [0, 0, 4]);
        // Two streams at a time, and a third one in place of the older.
        assert_eq!([128, 67, 129, 68, 130].map(follow), [0, 1, 0, 1, 4]);
        assert_eq!([256, 69].map(follow), [0, 0]);
    }

    #[test]
    fn who_comes_early_waits() {
        let prefetcher = prefetcher();
        prefetcher.expect(0x1000, 500);
        assert_eq!(prefetcher.wait(0x1010, 6, 200), 300);
        assert_eq!(prefetcher.wait(0x1040, 6, 200), 0);
        assert_eq!(prefetcher.wait(0x1000, 6, 500), 0);
        assert!(prefetcher.save().arrivals.is_empty());
    }
}
