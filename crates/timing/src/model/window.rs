//! How long an out-of-order core waits for memory: an interval model. The core goes on behind a load
//! that has not come back, until its window is full, and then waits for it. Loads whose addresses do
//! not come from one another are under way together.
//!
//! There are two measures of time. *Progress* is what the core has computed, without any waiting.
//! *Now* is progress and all waiting until then.
use crate::platform::{self, MOST_MISSES};

/// Places that the compiler's pass gives to loads.
pub const SLOTS: usize = 64;

/// What the pass knows of an access: its own place, and those of the loads that its address comes
/// from. 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Where later accesses find when this one comes back.
    pub own: u8,
    /// The loads that the address comes from.
    pub from: [u8; 2],
    /// It comes from the one of them that was executed last, and not from both.
    pub either: bool,
}

/// Lines under way that later accesses find.
const FLYING: usize = 64;

/// The source of an address that a caller has handed over: whatever was loaded last.
pub const LATEST: u8 = flick_abi::timed::LATEST as u8;

/// What an access has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Femtoseconds beyond a hit in the nearest cache.
    pub latency: u64,
    /// Femtoseconds for which the way to the memory is busy.
    pub busy: u64,
    /// The same of the way from a farther cache to the nearest one.
    pub fill: u64,
    /// The same of what walks page tables.
    pub walk: u64,
    /// It was fetched ahead: the core needs no buffer for it.
    pub ahead: bool,
    /// The number of its line.
    pub line: u64,
}

/// A miss that the core may have to wait for.
#[derive(Clone, Copy, Debug, Default)]
struct Miss {
    /// The progress at which the window is full.
    limit: u64,
    /// When it comes back.
    done: u64,
}

/// The misses under way of a core. Times are femtoseconds.
#[derive(Clone, Debug)]
pub struct Window {
    ahead: u64,
    misses: usize,
    /// The last misses, in a ring: the core may have to wait for those from `first` on.
    ring: Box<[Miss; MOST_MISSES]>,
    first: usize,
    next: usize,
    /// When the line of each buffer comes back, in a ring of `misses`; and the next one.
    buffers: [u64; MOST_MISSES],
    buffer: usize,
    /// When the way to the memory is free.
    free: u64,
    /// The same of the way from a farther cache to the nearest one.
    fills: u64,
    /// The same of what walks page tables.
    walks: u64,
    /// When the load of each place comes back.
    ready: [u64; SLOTS],
    /// How many accesses there had been at that load.
    stamps: [u64; SLOTS],
    accesses: u64,
    /// The lines that were found last, and when each comes back: another access to it waits as long.
    flying: Box<[(u64, u64); FLYING]>,
    /// All waiting until now.
    waited: u64,
}

impl Window {
    /// No miss is under way.
    pub fn new(window: &platform::Window) -> Self {
        Self {
            ahead: window.ahead,
            misses: window.misses,
            ring: Box::new([Miss::default(); MOST_MISSES]),
            first: 0,
            next: 0,
            buffers: [0; MOST_MISSES],
            buffer: 0,
            free: 0,
            fills: 0,
            walks: 0,
            ready: [0; SLOTS],
            stamps: [0; SLOTS],
            accesses: 0,
            flying: Box::new([(u64::MAX, 0); FLYING]),
            waited: 0,
        }
    }

    /// Becomes as `other`, which has the same shape. It allocates nothing ([`super::View::copy`]).
    pub fn copy(&mut self, other: &Window) {
        self.ring.copy_from_slice(&*other.ring);
        (self.first, self.next) = (other.first, other.next);
        (self.buffers, self.buffer) = (other.buffers, other.buffer);
        (self.stamps, self.accesses) = (other.stamps, other.accesses);
        (self.free, self.fills, self.walks) = (other.free, other.fills, other.walks);
        (self.ready, self.waited) = (other.ready, other.waited);
        self.flying.copy_from_slice(&*other.flying);
    }

    /// The core has come to `progress`: it has waited for misses with which its window was full.
    #[inline]
    fn advance(&mut self, progress: u64) {
        while self.first != self.next {
            let miss = self.ring[self.first % MOST_MISSES];
            if miss.limit > progress {
                return;
            }
            self.first += 1;
            self.waited += miss.done.saturating_sub(miss.limit + self.waited);
        }
    }

    /// All waiting until `progress`, without that for what is under way then.
    pub fn waited(&mut self, progress: u64) -> u64 {
        self.advance(progress);
        self.waited
    }

    /// What was loaded to the places `from` has been computed with, and the result is in `own`.
    #[inline]
    pub fn computes(&mut self, chain: Chain) {
        let ready = self.ready(chain);
        self.load(chain.own, ready);
    }

    /// When what was loaded to the places `from` has come back.
    #[inline]
    fn ready(&self, chain: Chain) -> u64 {
        let [a, b] = chain.from.map(|from| usize::from(from) % SLOTS);
        if chain.either && b != 0 {
            return match self.stamps[a] > self.stamps[b] {
                true => self.ready[a],
                false => self.ready[b],
            };
        }
        self.ready[a].max(self.ready[b])
    }

    /// A load to the place `own` has come back at `done`.
    #[inline]
    fn load(&mut self, own: u8, done: u64) {
        let own = usize::from(own) % SLOTS;
        if own != 0 {
            self.ready[own] = done;
            self.stamps[own] = self.accesses;
        }
    }

    /// Makes an access at `progress`. The result is the waiting that has come to light with it.
    #[inline]
    pub fn access(&mut self, progress: u64, chain: Chain, reach: Reach, write: bool) -> u64 {
        let before = self.waited;
        self.advance(progress);
        let now = progress + self.waited;
        self.accesses += 1;
        let mut start = now.max(self.ready(chain));
        let found = reach.latency > 0;
        if found {
            // A buffer is free when the line that had it before has come back.
            if !reach.ahead {
                start = start.max(self.buffers[self.buffer]);
            }
            if reach.busy > 0 {
                start = start.max(self.free);
                self.free = self.free.max(now) + reach.busy;
            }
            if reach.walk > 0 {
                start = start.max(self.walks);
                self.walks = self.walks.max(now) + reach.walk;
            }
            if reach.fill > 0 {
                start = start.max(self.fills);
                self.fills = self.fills.max(now) + reach.fill;
            }
        }
        let mut done = start + reach.latency;
        let flying = &mut self.flying[reach.line as usize % FLYING];
        if found {
            *flying = (reach.line, done);
        } else if flying.0 == reach.line {
            done = done.max(flying.1);
        }
        if found && !reach.ahead {
            self.buffers[self.buffer] = done;
            self.buffer = (self.buffer + 1) % self.misses;
        }
        if !write {
            self.load(chain.own, done);
            self.load(LATEST, done);
        }
        if found {
            // The ring has no place for more: the core waits for the oldest.
            if self.next - self.first == MOST_MISSES {
                let oldest = self.ring[self.first % MOST_MISSES];
                self.first += 1;
                self.waited += oldest.done.saturating_sub(now);
            }
            self.ring[self.next % MOST_MISSES] = Miss {
                limit: progress + self.ahead,
                done,
            };
            self.next += 1;
        }
        self.waited - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NS: u64 = 1_000_000;

    /// A core whose window is full after 50 ns, with four lines under way at a time.
    fn window() -> Window {
        Window::new(&platform::Window {
            instructions: 0,
            ahead: 50 * NS,
            misses: 4,
            streams: 0,
            chain: 0,
            issue: 0,
            fault: 0,
        })
    }

    const FAR: Reach = Reach {
        latency: 100 * NS,
        busy: 0,
        fill: 0,
        walk: 0,
        ahead: false,
        line: 0,
    };

    /// The time of 1,000 accesses, each a nanosecond after the other.
    fn time(window: &mut Window, reach: Reach, chain: Chain, write: bool) -> u64 {
        for i in 0..1000 {
            window.access(i * NS, chain, reach, write);
        }
        (1000 * NS + window.waited(2000 * NS)) / 1000
    }

    #[test]
    fn a_chain_costs_its_latencies() {
        let chain = Chain {
            own: 5,
            from: [5, 0],
            either: false,
        };
        let each = time(&mut window(), FAR, chain, false);
        assert!((99 * NS..=101 * NS).contains(&each), "{each}");
    }

    #[test]
    fn others_overlap_as_far_as_there_are_buffers() {
        let alone = Chain {
            own: 5,
            from: [0, 6],
            either: false,
        };
        let each = time(&mut window(), FAR, alone, false);
        assert!((24_900_000..=26 * NS).contains(&each), "{each}");
        let each = time(&mut window(), FAR, Chain::default(), true);
        assert!((24_900_000..=26 * NS).contains(&each), "{each}");
    }

    #[test]
    fn the_way_to_memory_bounds_a_stream() {
        let stream = Reach {
            latency: 10 * NS,
            busy: 7 * NS,
            fill: 0,
            walk: 0,
            ahead: true,
            line: 0,
        };
        let each = time(&mut window(), stream, Chain::default(), false);
        assert!(
            (7 * NS - 100_000..=7 * NS + 100_000).contains(&each),
            "{each}"
        );
    }

    #[test]
    fn the_way_from_a_farther_cache_bounds_its_lines() {
        let near = Reach {
            latency: 4 * NS,
            fill: 2 * NS,
            ..Reach::default()
        };
        let each = time(&mut window(), near, Chain::default(), false);
        assert!((1_900_000..=2_100_000).contains(&each), "{each}");
        let walks = Reach {
            walk: 3 * NS,
            ..near
        };
        let each = time(&mut window(), walks, Chain::default(), false);
        assert!((2_900_000..=3_100_000).contains(&each), "{each}");
    }

    #[test]
    fn what_the_window_hides_costs_nothing() {
        let near = Reach {
            latency: 3 * NS,
            ..FAR
        };
        let mut window = window();
        assert_eq!(time(&mut window, near, Chain::default(), false), NS);
        // A miss alone costs what is left of it when the window is full.
        let mut window = super::tests::window();
        window.access(0, Chain::default(), FAR, false);
        assert_eq!(window.waited(49 * NS), 0);
        assert_eq!(window.waited(50 * NS), 50 * NS);
    }

    #[test]
    fn an_address_may_come_from_either_load() {
        let mut window = window();
        let chain = |own, from| Chain {
            own,
            from,
            either: false,
        };
        window.access(0, chain(1, [0, 0]), FAR, false);
        window.access(0, chain(2, [0, 1]), FAR, false);
        window.access(0, chain(3, [LATEST, 0]), FAR, false);
        assert_eq!(window.waited(100 * NS), 250 * NS);
        // From the one that was executed last, which is the nearest: 100 ns, and the two before.
        let mut window = super::tests::window();
        window.access(0, chain(1, [0, 0]), FAR, false);
        window.access(0, chain(1, [1, 0]), FAR, false);
        window.access(0, chain(2, [0, 0]), FAR, false);
        let either = Chain {
            either: true,
            ..chain(3, [1, 2])
        };
        window.access(0, either, FAR, false);
        assert_eq!(window.waited(100 * NS), 150 * NS);
        window.access(100 * NS, chain(4, [3, 0]), Reach::default(), false);
        window.access(100 * NS, chain(5, [4, 0]), FAR, false);
        assert_eq!(window.waited(300 * NS), 200 * NS);
    }

    #[test]
    fn a_line_under_way_comes_back_for_all_its_accesses() {
        // Elements of a list, each with a value that is read before the address of the next one.
        let chain = |own| Chain {
            own,
            from: [2, 0],
            either: false,
        };
        let mut window = window();
        for i in 0..1000 {
            let far = Reach { line: i, ..FAR };
            window.access(2 * i * NS, chain(1), far, false);
            let near = Reach {
                line: i,
                ..Reach::default()
            };
            window.access((2 * i + 1) * NS, chain(2), near, false);
        }
        let each = (2000 * NS + window.waited(3000 * NS)) / 1000;
        assert!((99 * NS..=102 * NS).contains(&each), "{each}");
    }

    #[test]
    fn a_copy_goes_on_alike() {
        let mut one = window();
        one.access(0, Chain::default(), FAR, false);
        let mut two = window();
        two.copy(&one);
        for i in 1..300 {
            let [a, b] = [&mut one, &mut two]
                .map(|window| window.access(i * NS, Chain::default(), FAR, false));
            assert_eq!(a, b);
        }
    }
}
