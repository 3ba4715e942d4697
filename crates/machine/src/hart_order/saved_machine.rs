//! The state of a machine without its memory, for snapshots.
use flick_device::{BadState, Time};
use flick_hart::{BadProcessor, Begin, SavedProcessor};
use serde::{Deserialize, Serialize};

use super::{Machine, Unit};
use crate::board::SavedBoard;

/// Harts, devices, events, and whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedMachine {
    harts: Vec<(SavedProcessor, Time, bool)>,
    /// Whose slice it is, and its start, cycles and lead if it has not begun.
    current: Option<(u32, Option<[u64; 3]>)>,
    is_timed: bool,
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
    /// Can its state be saved? What caches and predictors have in timed mode cannot, so that it can
    /// only at the beginning of this mode.
    pub fn is_savable(&self) -> bool {
        let has_run = self.timed.iter().any(|timing| timing.elapsed() != 0);
        !self.is_timed || !has_run && self.current.is_none()
    }

    /// Its state but for the memory, between turns or while it pauses, if it
    /// [is savable](Self::is_savable).
    pub fn save(&self) -> SavedMachine {
        let hart = |unit: &Unit| (unit.processor.save(), unit.time, unit.waits);
        SavedMachine {
            harts: self.harts.iter().map(hart).collect(),
            current: self.current.map(|(hart, begin)| {
                let begin = begin.map(|begin| [begin.start, begin.cycles, begin.lead]);
                (hart as u32, begin)
            }),
            is_timed: self.is_timed,
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
                let fits =
                    begin.is_none_or(|[start, cycles, _]| is_slice(cycles) && start < END_OF_TIME);
                let begin = begin.map(|[start, cycles, lead]| Begin {
                    start,
                    cycles,
                    lead,
                });
                fits.then_some(Some((hart as usize, begin)))
            }
            Some(_) => None,
            None => Some(None),
        };
        self.current = current.ok_or(BadSnapshot::Order)?;
        // Caches are empty where timed mode begins.
        self.set_mode(false);
        self.last = None;
        self.board.restore(&saved.board)?;
        for (unit, (processor, time, waits)) in self.harts.iter_mut().zip(&saved.harts) {
            if *time >= END_OF_TIME {
                return Err(BadSnapshot::Order);
            }
            unit.processor.restore(processor)?;
            (unit.time, unit.waits) = (*time, *waits);
        }
        self.set_mode(saved.is_timed);
        self.outside.go_to(saved.moments);
        Ok(())
    }
}
