//! What the code of a thread would have asked its table of lines (`own_memory.rs`), where it is profiled and tells
//! each access.
use flick_abi::timed::LINE_COUNT;

/// log2 of the bytes of a line in the table.
pub const LINE: u32 = 6;

#[derive(Debug, Default)]
pub struct Seen {
    /// As the code's own table would be.
    pub lines: [u64; LINE_COUNT],
    /// The accesses at constant distances from one address, which the code looks up together: when that was, the
    /// first of them, and whether the code would call.
    at: i128,
    first: u64,
    calls: bool,
}

impl Seen {
    /// Whether the code would not call for this access, at this time of its own.
    pub fn has(&mut self, at: i128, address: u64, bytes: u64) -> bool {
        let together = self.at == at && self.first.abs_diff(address) < 1 << LINE;
        if together && self.calls {
            return false;
        }
        let has = |address: u64| {
            let line = address >> LINE;
            self.lines[line as usize % LINE_COUNT] == line << LINE
        };
        let known = has(address) && has(address + bytes.max(1) - 1);
        if !together {
            (self.at, self.first) = (at, address);
        }
        self.calls = !known;
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_looked_up_together() {
        let mut seen = Seen::default();
        // A line that is not known: the code calls for all of the group.
        assert!(!seen.has(1, 0x1000, 8));
        seen.lines[0x1000 / 64 % LINE_COUNT] = 0x1000;
        assert!(!seen.has(1, 0x1008, 8));
        // Later, and at another place, it is known.
        assert!(seen.has(2, 0x1008, 8));
        assert!(seen.has(2, 0x1010, 8));
        // The end is in another line.
        assert!(!seen.has(3, 0x103c, 8));
    }
}
