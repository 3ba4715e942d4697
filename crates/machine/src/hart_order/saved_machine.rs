//! The state of a machine without its memory, for snapshots.
use flick_device::{BadState, Time};
use flick_hart::{BadProcessor, SavedProcessor};
use serde::{Deserialize, Serialize};

use super::{Machine, Unit};
use crate::board::SavedBoard;

/// Harts, devices, events, and whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedMachine {
    harts: Vec<(SavedProcessor, Time, bool)>,
    current: Option<(u32, Option<(u64, bool)>)>,
    /// How often the outside was asked.
    moments: u64,
    board: SavedBoard,
}

/// Why a machine cannot go on from a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSnapshot {
    /// A device refuses its state.
    #[error(transparent)]
    Device(#[from] BadState),
    /// A hart refuses its state.
    #[error(transparent)]
    Hart(#[from] BadProcessor),
    /// There are other harts.
    #[error("it is of a machine with {saved} harts, and not {harts}")]
    Harts {
        /// In the state.
        saved: usize,
        /// Of the machine.
        harts: usize,
    },
    /// No order of harts is so.
    #[error("the order of its harts is impossible")]
    Order,
}

/// No machine runs for so long.
const END_OF_TIME: Time = 1 << 62;
/// No slice has more cycles.
const MOST_CYCLES: u64 = 1 << 32;

impl Machine<'_> {
    /// Its state but for the memory, between turns or while it pauses.
    pub fn save(&self) -> SavedMachine {
        let hart = |unit: &Unit| (unit.processor.save(), unit.time, unit.waits);
        SavedMachine {
            harts: self.harts.iter().map(hart).collect(),
            current: self.current.map(|(hart, begin)| (hart as u32, begin)),
            moments: self.outside.moments(),
            board: self.board.save(),
        }
    }

    /// Takes a state that [`save`](Self::save) of an equal machine gave. The memory is as it was then.
    /// After an error the machine is in no sensible state.
    pub fn restore(&mut self, saved: &SavedMachine) -> Result<(), BadSnapshot> {
        let harts = self.harts.len();
        if saved.harts.len() != harts {
            let saved = saved.harts.len();
            return Err(BadSnapshot::Harts { saved, harts });
        }
        let is_slice = |cycles: u64| (1..=MOST_CYCLES).contains(&cycles);
        let current = match saved.current {
            Some((hart, begin)) if (hart as usize) < harts => {
                let fits = begin.is_none_or(|(cycles, _)| is_slice(cycles));
                fits.then_some(Some((hart as usize, begin)))
            }
            Some(_) => None,
            None => Some(None),
        };
        self.current = current.ok_or(BadSnapshot::Order)?;
        self.board.restore(&saved.board)?;
        for (unit, (processor, time, waits)) in self.harts.iter_mut().zip(&saved.harts) {
            if *time >= END_OF_TIME {
                return Err(BadSnapshot::Order);
            }
            unit.processor.restore(processor)?;
            (unit.time, unit.waits) = (*time, *waits);
        }
        self.outside.go_to(saved.moments);
        Ok(())
    }
}
