//! The host's core and its own memory: caches, TLB, streams that are fetched ahead, and what the core waits
//! for all of these.
use super::streams::Streams;
use super::view::View;
use super::window::{Chain, Reach, Window};
use crate::platform::{Core, Region};

/// The most levels that accesses are counted by; the last is the memory.
pub const LEVELS: usize = 8;

/// Lines of accesses by the level that had them, the nearest cache first, and misses of the TLB. Of the
/// nearest cache there are only those that the models have seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// By cache; behind the last cache, the memory.
    pub found: [u64; LEVELS],
    /// Of the lines that the nearest cache did not have: those that were fetched ahead.
    pub ahead: u64,
    /// Misses of the TLB.
    pub walks: u64,
}

/// What a host's core knows of its own memory, beside its [`View`].
#[derive(Clone, Debug)]
pub struct HostCore {
    window: Window,
    streams: Streams,
    /// log2 of the nearest cache's line, and its number of sets.
    shape: (u32, u64),
    /// Femtoseconds for which a line keeps the memory busy.
    busy: u64,
    /// Of a line that was fetched ahead.
    ahead: u64,
    /// Of a hit in the nearest cache.
    chain: u64,
    /// The core waits for the load that was last, whatever it does meanwhile: other accesses to its line wait, too.
    pub is_late: bool,
    /// The longest wait that the window hides.
    hidden: u64,
    /// Counts.
    pub levels: Levels,
}

impl HostCore {
    /// `None`: the platform does not describe the host's own memory.
    pub fn new(core: &Core, view: &View) -> Option<Self> {
        let window = core.window.as_ref()?;
        let shape = view.own_shape();
        let line = core
            .caches
            .iter()
            .rfind(|cache| cache.holds[Region::Host as usize]);
        let line = line.map_or(8, |cache| cache.line);
        Some(Self {
            window: Window::new(window),
            streams: Streams::new(window.streams),
            shape,
            busy: (line as f64 * core.memory[Region::Host as usize].byte).round() as u64,
            ahead: view.hit(1),
            chain: window.chain,
            is_late: false,
            hidden: window.ahead,
            levels: Levels::default(),
        })
    }

    /// Copies the state of `other`, which is of the same platform. Counts begin anew.
    pub fn copy(&mut self, other: &HostCore) {
        self.window.copy(&other.window);
        self.streams.copy(&other.streams);
        self.levels = Levels::default();
    }

    /// log2 of the nearest cache's line, and how many sets it has; 0 if there is none.
    pub fn shape(&self) -> (u32, u64) {
        self.shape
    }

    /// All waiting until `progress`.
    pub fn waited(&mut self, progress: u64) -> u64 {
        self.window.waited(progress)
    }

    /// What comes of loads has been computed with ([`Window::computes`]).
    #[inline]
    pub fn computes(&mut self, chain: Chain) {
        self.window.computes(chain);
    }

    /// Makes an access to the host's own memory: the waiting that has come to light.
    #[inline]
    pub fn access(
        &mut self,
        view: &mut View,
        (place, bytes, write): (u64, u64, bool),
        chain: Chain,
        progress: u64,
    ) -> u64 {
        let reach = self.reach(view, (place, bytes), chain.own);
        self.is_late = !write && !reach.ahead && reach.latency > self.hidden;
        self.window.access(progress, chain, reach, write)
    }

    #[inline]
    fn reach(&mut self, view: &mut View, (place, bytes): (u64, u64), own: u8) -> Reach {
        let walk = view.own_page(place);
        let mut reach = Reach::default();
        if walk > 0 {
            self.levels.walks += 1;
            reach.walk = view.own_walks_each();
        }
        let shift = self.shape.0;
        let last = place.wrapping_add(bytes.max(1) - 1) >> shift;
        let mut line = place >> shift;
        if self.shape.1 == 0 {
            // There is no cache: an access is one of the memory.
            line = last;
        }
        while line <= last {
            let at = line << shift;
            let (level, mut latency) = view.own_line(at);
            let count = level.min(LEVELS - 1);
            self.levels.found[count] += 1;
            if view.is_behind(level) {
                reach.busy += self.busy;
            }
            if level > 0 {
                let is_ahead = self.streams.misses(at, shift, own);
                reach.fill += view.each(level, is_ahead);
                if is_ahead && latency > self.ahead {
                    latency = self.ahead;
                    reach.ahead = true;
                    self.levels.ahead += 1;
                }
            }
            reach.latency = reach.latency.max(latency);
            line += 1;
        }
        reach.line = last;
        reach.latency += walk;
        if reach.latency > 0 {
            reach.latency += self.chain;
        }
        reach
    }
}
