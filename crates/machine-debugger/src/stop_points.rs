//! Where harts stop: breakpoints at virtual addresses of instructions, and watchpoints at those of data.
//! They are of the debugger alone, and change no memory.

/// Accesses that stop a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchKind {
    /// Stores.
    Write,
    /// Loads.
    Read,
    /// Both.
    Access,
}

/// A range of addresses that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Watchpoint {
    start: u64,
    last: u64,
    kind: WatchKind,
}

const BITS: usize = 1024;

/// Breakpoints and watchpoints.
#[derive(Clone, Debug, Default)]
pub struct StopPoints {
    /// Each as often as it was set.
    breakpoints: Vec<u64>,
    /// A bit for each breakpoint, so that other addresses are known fast.
    filter: [u64; BITS / 64],
    watchpoints: Vec<Watchpoint>,
}

fn bit(pc: u64) -> (usize, u64) {
    let bit = (pc / 2) as usize % BITS;
    (bit / 64, 1 << (bit % 64))
}

impl StopPoints {
    /// Harts stop in front of the instruction at this address.
    pub fn add_breakpoint(&mut self, pc: u64) {
        self.breakpoints.push(pc);
        self.make_filter();
    }

    /// Takes one away. False: there is none.
    pub fn remove_breakpoint(&mut self, pc: u64) -> bool {
        let found = self.breakpoints.iter().position(|&known| known == pc);
        if let Some(at) = found {
            self.breakpoints.swap_remove(at);
            self.make_filter();
        }
        found.is_some()
    }

    fn make_filter(&mut self) {
        self.filter = [0; BITS / 64];
        for &pc in &self.breakpoints {
            let (word, bit) = bit(pc);
            self.filter[word] |= bit;
        }
    }

    /// Harts stop behind an access of these bytes. False: they are no range.
    pub fn add_watchpoint(&mut self, start: u64, size: u64, kind: WatchKind) -> bool {
        let last = size.checked_sub(1).and_then(|more| start.checked_add(more));
        let watchpoint = last.map(|last| Watchpoint { start, last, kind });
        self.watchpoints.extend(watchpoint);
        watchpoint.is_some()
    }

    /// Takes one away. False: there is none.
    pub fn remove_watchpoint(&mut self, start: u64, size: u64, kind: WatchKind) -> bool {
        let last = start.wrapping_add(size).wrapping_sub(1);
        let wanted = Watchpoint { start, last, kind };
        let found = self.watchpoints.iter().position(|known| *known == wanted);
        found.map(|at| self.watchpoints.swap_remove(at)).is_some()
    }

    /// Takes all of them away.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.breakpoints.is_empty() && self.watchpoints.is_empty()
    }

    #[inline(always)]
    pub(crate) fn is_breakpoint(&self, pc: u64) -> bool {
        let (word, bit) = bit(pc);
        self.filter[word] & bit != 0 && self.breakpoints.contains(&pc)
    }

    /// The watchpoint that an access hits: the first of its bytes that is watched.
    #[inline(always)]
    pub(crate) fn hit(&self, address: u64, size: u64, is_store: bool) -> Option<(u64, WatchKind)> {
        if self.watchpoints.is_empty() {
            return None;
        }
        let last = address.wrapping_add(size - 1);
        let mut all = self.watchpoints.iter();
        let found = all.find(|watchpoint| {
            let is_kind = match watchpoint.kind {
                WatchKind::Write => is_store,
                WatchKind::Read => !is_store,
                WatchKind::Access => true,
            };
            is_kind && watchpoint.start <= last && address <= watchpoint.last
        });
        found.map(|watchpoint| (watchpoint.start.max(address), watchpoint.kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_found() {
        let mut points = StopPoints::default();
        assert!(points.is_empty());
        points.add_breakpoint(0x8000_0000);
        points.add_breakpoint(0x8000_0000);
        assert!(points.is_breakpoint(0x8000_0000) && !points.is_breakpoint(0x8000_0800));
        assert!(points.remove_breakpoint(0x8000_0000) && points.is_breakpoint(0x8000_0000));
        assert!(points.remove_breakpoint(0x8000_0000) && !points.is_breakpoint(0x8000_0000));
        assert!(!points.remove_breakpoint(0x8000_0000));
        assert!(points.add_watchpoint(0x1004, 4, WatchKind::Write));
        assert!(points.add_watchpoint(0x2000, 1, WatchKind::Read));
        assert!(!points.add_watchpoint(u64::MAX, 2, WatchKind::Read));
        assert!(!points.add_watchpoint(0, 0, WatchKind::Read));
        assert_eq!(
            points.hit(0x1000, 8, true),
            Some((0x1004, WatchKind::Write))
        );
        assert_eq!(points.hit(0x1000, 8, false), None);
        assert_eq!(points.hit(0x1008, 8, true), None);
        assert_eq!(
            points.hit(0x2000, 1, false),
            Some((0x2000, WatchKind::Read))
        );
        assert!(points.remove_watchpoint(0x1004, 4, WatchKind::Write));
        assert!(!points.remove_watchpoint(0x1004, 4, WatchKind::Write));
        points.clear();
        assert!(points.is_empty());
    }
}
