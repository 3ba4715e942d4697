//! Faults on purpose: what happens to a machine, and when (`docs/faults.md`). A fault happens at a
//! virtual time, or in front of an instruction of a hart, so that a run repeats to the cycle.
//!
//! | file | subject |
//! |---|---|
//! | `mod.rs` | [`Injection`]: which faults are due |
//! | `faulty_lines.rs` | interrupt lines that are forced or late |
//! | `faulty_packets.rs` | packets between tiles that are lost, late or repeated |
//! | `fault_actions.rs` | what faults do to a machine |
//! | `saved_injection.rs` | which faults are left, for snapshots |
mod fault_actions;
mod faulty_lines;
pub(crate) mod faulty_packets;
mod saved_injection;

use flick_device::Time;
use flick_hart::StopAt;
use flick_timing::faults::{Action, Fault, When};

pub use fault_actions::BadFault;
use faulty_lines::FaultyLines;
pub use saved_injection::SavedInjection;
use serde::{Deserialize, Serialize};

/// The faults of a run.
#[derive(Debug)]
pub struct Injection {
    faults: Vec<Fault>,
    /// Faults with a time that have not happened, by their numbers.
    waiting: Vec<usize>,
    /// What ends at a time.
    ends: Vec<(Time, Ending)>,
    lines: FaultyLines,
}

/// What a fault leaves behind, and which ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Ending {
    /// A line of a hart is not forced any more.
    Line(usize, u32),
    /// A late rise of a line comes.
    Rise(usize, u32),
    /// A range of addresses of a tile is there again.
    Refusal(usize, u64, u64),
    /// The ring of descriptors has room again.
    Ring,
    /// The endpoint of a tile's kernel has room again.
    Endpoint(usize),
}

impl Injection {
    /// All faults are to come.
    pub fn new(faults: Vec<Fault>) -> Self {
        let has_time = |fault: &Fault| matches!(fault.when, When::Time(_) | When::Cycle { .. });
        let waiting = (0..faults.len()).filter(|&n| has_time(&faults[n]));
        Self {
            waiting: waiting.collect(),
            faults,
            ends: vec![],
            lines: FaultyLines::default(),
        }
    }

    /// Stops of harts, with the numbers of their faults.
    fn stops(&self) -> impl Iterator<Item = (usize, usize, StopAt)> {
        let all = self.faults.iter().enumerate();
        all.filter_map(|(number, fault)| match fault.when {
            When::Instruction { hart, instruction } => {
                Some((hart, number, StopAt::Instruction(instruction)))
            }
            When::Address {
                hart,
                address,
                times,
            } => Some((hart, number, StopAt::Address(address, times))),
            _ => None,
        })
    }

    fn action(&self, number: usize) -> Action {
        self.faults[number].action
    }
}
