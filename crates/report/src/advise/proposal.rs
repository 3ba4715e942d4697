//! What is proposed, against the program with nothing placed: only what takes less than that.
use flick_events::profile::{Profile, Runs};
use flick_events::timed::Timed;

use super::advice::{Advice, WORTH};

/// What the advice comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The groups of the advice move.
    Moves,
    /// All that is placed goes back to the host.
    Undo,
    /// The program stays as it is: nothing that moves would gain a hundredth.
    AtBest,
    /// The program stays as it is: the best placement takes so many picoseconds, and with nothing placed
    /// it takes less.
    Slower(u64),
    /// The same; and what it takes with nothing placed is without `flick_alloc`, which no placement
    /// decides about.
    Data(u64),
}

/// Times are picoseconds of the run, as `flick stat` has them.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub advice: Advice,
    pub before: u64,
    pub as_is: u64,
    pub advised: u64,
    pub outcome: Outcome,
}

impl Proposal {
    pub fn new(timed: &Timed) -> Self {
        let mut advice = Advice::new(&timed.profile);
        let (before, as_is) = (timed.baseline(), timed.migrating);
        let best = advised(&advice, timed);
        let moves = !advice.groups.is_empty();
        let is_worse = as_is as f64 > before as f64 * (1.0 + WORTH);
        let outcome = if moves && best < before {
            Outcome::Moves
        } else if is_worse && timed.has_own_memory() && has_placed_data(&timed.profile) {
            Outcome::Data(best)
        } else if is_worse && has_placed_code(&timed.profile) {
            Outcome::Undo
        } else if moves {
            Outcome::Slower(best)
        } else {
            Outcome::AtBest
        };
        let advised = match outcome {
            Outcome::Moves => best,
            Outcome::Undo => {
                advice.all_back((as_is - before) as f64);
                before
            }
            _ => {
                advice.nothing();
                as_is
            }
        };
        Self {
            advice,
            before,
            as_is,
            advised,
            outcome,
        }
    }

    /// Whether there is anything to change.
    pub fn changes(&self) -> bool {
        matches!(self.outcome, Outcome::Moves | Outcome::Undo)
    }
}

/// How long the run takes as the advice has it. What the profile does not know of stays as it is; if it
/// knows too much (threads, calls that exceptions leave), in proportion.
fn advised(advice: &Advice, timed: &Timed) -> u64 {
    let (now, then) = (advice.now, advice.then);
    let measured = timed.migrating as f64;
    let after = match timed.threads {
        1 if now < measured * 1.02 => measured - (now - then),
        _ => measured * then / now.max(1.0),
    };
    after.max(0.0) as u64
}

/// Whether functions have run on the NxP.
fn has_placed_code(profile: &Profile) -> bool {
    let mut functions = profile.functions.iter();
    functions.any(|function| function.runs == Runs::Nxp)
}

/// Whether there are accesses to NxP-local memory that no placed function has allocated: `flick_alloc`,
/// `FLICK_NXP_DATA`.
fn has_placed_data(profile: &Profile) -> bool {
    let mut functions = profile.functions.iter();
    functions.any(|function| function.local > function.marked)
}

#[cfg(test)]
mod tests {
    use flick_events::profile::{Edge, Function};

    use super::*;

    fn function(name: &str, runs: Runs, host: u64, nxp: u64) -> Function {
        Function {
            name: name.into(),
            runs,
            calls: 1,
            host,
            nxp,
            ..Function::default()
        }
    }

    /// A `main` that calls `work`.
    fn timed(work: Function, migrating: u64, before: u64) -> Timed {
        Timed {
            migrating,
            staying: before,
            before,
            threads: 1,
            host_counted: true,
            profile: Profile {
                host_nxp_host: 1_000,
                nxp_host_nxp: 1_000,
                functions: vec![function("main", Runs::Host, 10_000, 90_000), work],
                edges: vec![Edge {
                    caller: 0,
                    callee: 1,
                    calls: 1,
                }],
            },
            ..Timed::default()
        }
    }

    #[test]
    fn what_gains_moves() {
        let work = function("work", Runs::Host, 900_000, 100_000);
        let proposal = Proposal::new(&timed(work, 910_000, 910_000));
        assert_eq!(proposal.outcome, Outcome::Moves);
        assert_eq!(proposal.advised, 111_000);
        let work = function("work", Runs::Host, 100_000, 900_000);
        let proposal = Proposal::new(&timed(work, 110_000, 110_000));
        assert_eq!(proposal.outcome, Outcome::AtBest);
        assert!(!proposal.changes() && proposal.advised == proposal.as_is);
    }

    #[test]
    fn nothing_that_is_worse_than_before_is_proposed() {
        // It is better there than as it is; and with nothing placed all data is the host's own.
        let mut work = function("work", Runs::Host, 900_000, 500_000);
        work.local = 10;
        let mut data = timed(work.clone(), 910_000, 100_000);
        data.own_levels = vec![1, 1];
        let proposal = Proposal::new(&data);
        assert_eq!(proposal.outcome, Outcome::Data(511_000));
        assert!(proposal.advice.groups.is_empty());
        assert_eq!(proposal.advised, 910_000);
        // What is placed goes back where the model finds nothing: the two worlds have other code.
        work.runs = Runs::Nxp;
        work.local = 0;
        let proposal = Proposal::new(&timed(work, 511_000, 100_000));
        assert_eq!(proposal.outcome, Outcome::Undo);
        assert_eq!(proposal.advised, 100_000);
        assert_eq!(proposal.advice.groups[0].moves, [(1, false)]);
        assert_eq!(proposal.advice.groups[0].gain, 411_000.0);
    }
}
