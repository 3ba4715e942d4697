//! What the code of a thread would have asked its table of lines (`near_lines.rs`), where it is profiled and tells
//! each access.
use super::near_lines::{LINE, NearLines};

#[derive(Debug, Default)]
pub struct Seen {
    /// The accesses at constant distances from one address, which the code looks up together: when that was, the
    /// first of them, and whether the code would call.
    at: i128,
    first: u64,
    calls: bool,
}

impl Seen {
    /// Whether the code would not call for this access, at this time of its own.
    pub fn has(&mut self, table: &NearLines, at: i128, address: u64, bytes: u64) -> bool {
        let together = self.at == at && self.first.abs_diff(address) < 1 << LINE;
        if together && self.calls {
            return false;
        }
        let known = table.has(address) && table.has(address + bytes.max(1) - 1);
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
        let (mut seen, mut table) = (Seen::default(), NearLines::new());
        // A line that is not known: the code calls for all of the group.
        assert!(!seen.has(&table, 1, 0x1000, 8));
        table.add(0x1000, 1);
        assert!(!seen.has(&table, 1, 0x1008, 8));
        // Later, and at another place, it is known.
        assert!(seen.has(&table, 2, 0x1008, 8));
        assert!(seen.has(&table, 2, 0x1010, 8));
        // The end is in another line.
        assert!(!seen.has(&table, 3, 0x103c, 8));
    }
}
