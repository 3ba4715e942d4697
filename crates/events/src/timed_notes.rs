//! Notes on a prediction's two times, which a reader needs before he relies on them. They are
//! sentences for text and for pages.
use crate::number::{bytes, grouped};
use crate::timed::{Timed, duration};

/// A part of the times that is worth a word.
const MATTERS: f64 = 0.01;
/// Of the accesses of host code to all memory, those to NxP-local memory: with fewer the data has
/// hardly been looked at.
const LOOKED_AT: f64 = 0.1;

impl Timed {
    /// Whether the time without migration is another one than that of the program with nothing
    /// placed. Where the platform describes the host's own memory, they are two answers.
    pub fn baseline_moves(&self) -> bool {
        if self.has_own_memory() {
            return true;
        }
        let (staying, before) = (self.staying as f64, self.before as f64);
        (staying - before).abs() > MATTERS * staying.min(before)
    }

    /// Whether the platform describes the host's own memory.
    pub fn has_own_memory(&self) -> bool {
        !self.own_levels.is_empty()
    }

    /// The time to compare with: of the program with nothing placed.
    pub fn baseline(&self) -> u64 {
        match self.baseline_moves() {
            true => self.before,
            false => self.staying,
        }
    }

    /// Why the time without migration is not that of the program with nothing placed; empty where
    /// it is.
    pub fn about_baseline(&self) -> Vec<String> {
        if !self.baseline_moves() {
            return Vec::new();
        }
        if self.has_own_memory() {
            return self.about_own_baseline();
        }
        let difference = duration(self.staying.abs_diff(self.before));
        let than = match self.staying > self.before {
            true => "more",
            false => "less",
        };
        vec![
            format!(
                "Placed functions have allocated up to {} with malloc: NxP memory, migrating and without migration.",
                bytes(self.allocated)
            ),
            format!(
                "With nothing placed that is ordinary memory. To the host {} accesses to it take {difference} {than} now.",
                grouped(self.allocated_accesses)
            ),
        ]
    }

    /// The same, where the host's own memory is described: all data is there with nothing placed.
    fn about_own_baseline(&self) -> Vec<String> {
        if self.allocated_accesses == 0 {
            return Vec::new();
        }
        let than = match self.staying > self.before {
            true => "longer",
            false => "shorter",
        };
        let accesses = grouped(self.allocated_accesses);
        vec![format!(
            "With nothing placed, all data is in ordinary memory. Staying, {accesses} accesses go to NxP memory: it takes {} {than}.",
            duration(self.staying.abs_diff(self.before))
        )]
    }

    /// Where accesses to the host's own memory have found their lines; empty where the platform does not
    /// describe that memory.
    pub fn about_own_memory(&self) -> Vec<String> {
        let Some((&memory, caches)) = self.own_levels.split_last() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (number, &count) in caches.iter().enumerate().skip(1) {
            found.push(format!("{} in cache {}", grouped(count), number + 1));
        }
        found.push(format!("{} in no cache", grouped(memory)));
        let ahead = match self.own_ahead {
            0 => String::new(),
            some => format!("; {} of them were fetched ahead", grouped(some)),
        };
        let faults = match self.page_faults {
            0 => String::new(),
            some => format!(" It has {} page faults.", grouped(some)),
        };
        vec![
            format!(
                "The host's own memory: of lines that are not in its nearest cache, {}{ahead}.",
                found.join(", ")
            ),
            format!(
                "{} of these accesses have missed the TLB.{faults}",
                grouped(self.own_walks)
            ),
        ]
    }

    /// Whether another run gives the same.
    pub fn is_exact(&self) -> bool {
        self.not_exact.is_empty() && (self.ordered || self.threads <= 1)
    }

    /// Whether another run gives the same, and what keeps it from that.
    pub fn about_order(&self) -> Vec<String> {
        if self.is_exact() {
            let several = match self.threads > 1 {
                true => ": its threads ran in the order of virtual time",
                false => "",
            };
            return vec![format!("Exact: another run gives the same{several}.")];
        }
        if self.not_exact.is_empty() {
            return vec![
                "Not exact: threads ran in the machine's order, since this runtime is older than Flick's order of threads.".into(),
            ];
        }
        let first = "Not exact: another run may give other times (docs/virtual-threads.md). These are not ordered by virtual time:";
        let each = self.not_exact.iter().map(|what| match &*what.place {
            "" => format!("  {}", what.call),
            place => format!("  {} in {place}", what.call),
        });
        std::iter::once(first.to_owned()).chain(each).collect()
    }

    /// That data in ordinary memory was not looked at; empty where most of it is in NxP memory.
    pub fn about_data(&self) -> Vec<String> {
        let looked_at = self.accesses + self.host_accesses;
        if !self.host_counted
            || self.has_own_memory()
            || self.other_accesses == 0
            || looked_at as f64 >= LOOKED_AT * self.other_accesses as f64
        {
            return Vec::new();
        }
        let others = grouped(self.other_accesses);
        let first = match looked_at {
            0 => format!(
                "No data of this run is in NxP memory: {others} loads and stores of host code go to ordinary memory"
            ),
            some => format!(
                "{} accesses go to NxP memory, and {others} loads and stores of host code to ordinary memory",
                grouped(some)
            ),
        };
        vec![
            first + " (malloc, variables, stacks).",
            "Those are charged a fixed cost each (load, store): how long the host waits for that data was not looked at, and".into(),
            "what moving it would gain is not known. To know, put the data that a function works on into NxP memory:".into(),
            "flick_alloc(FLICK_MEM_NXP, size) in place of malloc(size), FLICK_NXP_DATA on variables (docs/timing.md).".into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed() -> Timed {
        Timed {
            host_counted: true,
            staying: 10_470_000_000_000,
            before: 92_000_000_000,
            allocated: 3 << 20,
            allocated_accesses: 12_345_678,
            accesses: 10_000,
            other_accesses: 20_000,
            ..Timed::default()
        }
    }

    #[test]
    fn a_baseline_that_moves_is_told_with_the_effect() {
        let said = timed().about_baseline().join(" ");
        for part in ["up to 3.00 MiB", "12,345,678 accesses", "10.38 s more"] {
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(timed().baseline(), 92_000_000_000);
        let same = Timed {
            before: 10_460_000_000_000,
            ..timed()
        };
        assert!(same.about_baseline().is_empty());
        assert_eq!(same.baseline(), same.staying);
    }

    #[test]
    fn a_prediction_says_whether_it_is_exact() {
        let one = timed().about_order();
        assert_eq!(one, ["Exact: another run gives the same."]);
        let several = |ordered| Timed {
            threads: 2,
            ordered,
            ..timed()
        };
        let said = several(true).about_order().join(" ");
        assert!(said.starts_with("Exact:"), "{said}");
        assert!(several(true).is_exact() && !several(false).is_exact());
        let said = several(false).about_order().join(" ");
        assert!(said.contains("older"), "{said}");
        let not_exact = ["recvmsg", "poll"].map(|call| crate::timed::NotExact {
            call: call.into(),
            place: if call == "poll" {
                "main (prog+0x10)"
            } else {
                ""
            }
            .into(),
        });
        let two = Timed {
            not_exact: not_exact.into(),
            ..timed()
        };
        let said = two.about_order();
        assert!(said[0].starts_with("Not exact:"), "{said:?}");
        assert_eq!(said[1..], ["  recvmsg", "  poll in main (prog+0x10)"]);
    }

    #[test]
    fn the_hosts_own_memory_is_told_by_level() {
        assert!(timed().about_own_memory().is_empty());
        let described = Timed {
            own_levels: vec![9, 1_000, 2_000, 3_000],
            own_ahead: 500,
            own_walks: 70,
            page_faults: 4_000,
            accesses: 0,
            ..timed()
        };
        let said = described.about_own_memory().join(" ");
        for part in [
            "1,000 in cache 2, 2,000 in cache 3, 3,000 in no cache; 500 of",
            "70 of",
            "It has 4,000 page faults.",
        ] {
            assert!(said.contains(part), "{said}");
        }
        // The data was looked at, and what there was before is an answer of its own.
        assert!(described.about_data().is_empty());
        let same = Timed {
            before: described.staying,
            ..described
        };
        assert!(same.baseline_moves() && !timed().has_own_memory());
        let said = same.about_baseline().join(" ");
        assert!(
            said.contains("12,345,678 accesses go to NxP memory"),
            "{said}"
        );
    }

    #[test]
    fn data_that_was_not_looked_at_is_told_with_its_accesses() {
        assert!(timed().about_data().is_empty());
        let none = Timed {
            accesses: 0,
            ..timed()
        };
        let said = none.about_data().join(" ");
        assert!(said.starts_with("No data of this run"), "{said}");
        assert!(said.contains("20,000 loads and stores"), "{said}");
        assert!(said.contains("flick_alloc"), "{said}");
        let few = Timed {
            accesses: 0,
            host_accesses: 1_999,
            ..timed()
        };
        assert!(few.about_data()[0].starts_with("1,999 accesses"));
        // Nobody has counted.
        let uncounted = Timed {
            host_counted: false,
            ..none
        };
        assert!(uncounted.about_data().is_empty());
    }
}
