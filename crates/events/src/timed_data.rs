//! The prediction of a timed run. Times are picoseconds of virtual time; *migrating* is the run as
//! it was, on the platform, *staying* the same with everything on the host, *before* the same with
//! nothing placed: what NxP code has allocated lies in the host's memory then.

use crate::profile::Profile;

/// A part of the time, and its name for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// The name for people.
    pub name: String,
    /// Picoseconds.
    pub time: u64,
}

/// The calls of NxP functions from one place. What they call in turn is part of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The function that calls.
    pub caller: String,
    /// File of the program or library that it is in, and the return address there.
    pub module: String,
    /// Offset of the return address in `module`, in bytes.
    pub offset: u64,
    /// The function that is called.
    pub callee: String,
    /// Number of calls.
    pub calls: u64,
    /// Picoseconds of the calls in the world *migrating*.
    pub migrating: u64,
    /// Picoseconds of the calls in the world *staying*.
    pub staying: u64,
    /// Picoseconds of the calls in the world *before*.
    pub before: u64,
    /// Of `migrating`: crossings, and waiting for a core.
    pub crossing: u64,
    /// Accesses of NxP code to NxP-local memory.
    pub accesses: u64,
    /// RV64 instructions of the calls.
    pub instructions: u64,
}

/// What threads did that is not ordered by virtual time: the prediction may be another one in
/// another run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotExact {
    /// The function, or what it was.
    pub call: String,
    /// The function that called, and its place in its file; empty if that is not known.
    pub place: String,
}

/// The prediction of a process, from its start to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timed {
    /// Name of the platform.
    pub platform: String,
    /// The platform file's description, one line.
    pub description: String,
    /// From the program's start to the end of its last thread.
    pub migrating: u64,
    /// The same for the world *staying*.
    pub staying: u64,
    /// The same for the world *before*.
    pub before: u64,
    /// How many threads have an account.
    pub threads: u64,
    /// Whether host code has counted itself (`--flick-timed`).
    pub host_counted: bool,
    /// The C library, whose code is charged by rule.
    pub libc: String,
    /// Sums over all threads.
    pub migrating_shares: Vec<Share>,
    /// Sums over all threads in the world *staying*.
    pub staying_shares: Vec<Share>,
    /// Accesses of host code to NxP-local memory.
    pub host_accesses: u64,
    /// Accesses of NxP code to NxP-local memory.
    pub accesses: u64,
    /// Accesses of host code to other memory, each at the same cost.
    pub other_accesses: u64,
    /// Where the platform describes the host's own memory: lines of accesses to it, migrating, by the cache
    /// that had them; the last are those that no cache had. Empty elsewhere.
    pub own_levels: Vec<u64>,
    /// Of those that the nearest cache did not have: lines that were fetched ahead.
    pub own_ahead: u64,
    /// Misses of the host's TLB there.
    pub own_walks: u64,
    /// Pages of it that host code was the first to touch, where the platform has a time for that.
    pub page_faults: u64,
    /// The most bytes of NxP-local memory at a time that NxP code has allocated itself, and the
    /// accesses to them.
    pub allocated: u64,
    /// The accesses to what NxP code has allocated.
    pub allocated_accesses: u64,
    /// Whether the runtime has looked at the order of threads; those before 1.7 have not.
    pub ordered: bool,
    /// What is not ordered by virtual time.
    pub not_exact: Vec<NotExact>,
    /// The call sites of placed functions.
    pub sites: Vec<Site>,
    /// Empty where no profile was asked for.
    pub profile: Profile,
}

/// Whether a call site's migration pays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// By this factor; and after so many units of work a call.
    Pays {
        /// *before* by *migrating*: 1 or more.
        factor: f64,
        /// Units of work a call; none if the work alone is not faster on the NxP.
        break_even: Option<f64>,
    },
    /// It would with so many units of work a call, if any number does.
    Loses {
        /// *before* by *migrating*: less than 1.
        factor: f64,
        /// Units of work a call; none if the work alone is not faster on the NxP.
        break_even: Option<f64>,
    },
}

impl Site {
    /// What a call's work is counted in: accesses to NxP-local memory, or instructions where there
    /// are none.
    pub fn unit(&self) -> &'static str {
        if self.accesses > 0 {
            "accesses"
        } else {
            "instructions"
        }
    }

    /// Units of work a call.
    pub fn work(&self) -> f64 {
        let work = if self.accesses > 0 {
            self.accesses
        } else {
            self.instructions
        };
        work as f64 / self.calls.max(1) as f64
    }

    /// Against the same calls with nothing placed. Each call's crossings are a fixed cost; all else
    /// is in proportion to the work.
    pub fn verdict(&self) -> Verdict {
        let factor = self.before as f64 / self.migrating.max(1) as f64;
        let gain = self.before as f64 - self.migrating.saturating_sub(self.crossing) as f64;
        let break_even = (gain > 0.0).then(|| self.crossing as f64 / gain * self.work());
        if factor >= 1.0 {
            Verdict::Pays { factor, break_even }
        } else {
            Verdict::Loses { factor, break_even }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        // Crossings 18 a call, an access 267 there and 825 here.
        let site = |accesses: u64| Site {
            calls: 10,
            accesses: accesses * 10,
            migrating: 10 * (18_300 + accesses * 267),
            staying: 10 * accesses * 825,
            before: 10 * accesses * 825,
            crossing: 183_000,
            ..Site::default()
        };
        let Verdict::Pays { factor, break_even } = site(1024).verdict() else {
            panic!("it pays");
        };
        assert!((factor - 2.896).abs() < 0.001);
        assert!((break_even.unwrap() - 32.8).abs() < 0.01);
        let Verdict::Loses { factor, break_even } = site(10).verdict() else {
            panic!("it loses");
        };
        assert!(factor < 0.5);
        assert!((break_even.unwrap() - 32.8).abs() < 0.01);
        let never = Site {
            calls: 1,
            instructions: 100,
            migrating: 1000,
            before: 100,
            crossing: 10,
            ..Site::default()
        };
        assert_eq!(never.unit(), "instructions");
        assert!(matches!(
            never.verdict(),
            Verdict::Loses {
                break_even: None,
                ..
            }
        ));
    }
}
