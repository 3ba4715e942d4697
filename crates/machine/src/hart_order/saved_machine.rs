//! The state of a machine without its memory, for snapshots.
use flick_device::{BadState, Time};
use flick_hart::{BadProcessor, Begin, MOST_CYCLES, SavedProcessor};
use flick_timing::memory_system::END_OF_TIME;
use serde::{Deserialize, Serialize};

use super::{Machine, TimedParts, Unit};
use crate::board::{SavedBoard, SavedWiring};
use crate::injection::SavedInjection;
use crate::machine_timing::SavedMachineTiming;
use crate::semihosting::SavedSemihosting;

/// Harts, devices, events, and whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedMachine {
    harts: Vec<SavedUnit>,
    /// Whose slice it is, and its start, cycles and lead if it has not begun.
    current: Option<(u32, Option<[u64; 3]>)>,
    is_timed: bool,
    /// In timed mode, or after it: what caches, cores and counters have.
    timing: Option<SavedMachineTiming>,
    parts: TimedParts,
    /// How often the outside was asked.
    moments: u64,
    /// By tile.
    boards: Vec<SavedBoard>,
    wiring: SavedWiring,
    faults: Option<SavedInjection>,
    semihosting: Option<SavedSemihosting>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedUnit {
    processor: SavedProcessor,
    time: Time,
    waits: bool,
    is_stopped: bool,
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
    /// There are other tiles.
    #[error("it is of a machine with {saved_tiles} tiles, and not {tiles}")]
    Tiles {
        /// In the state.
        saved_tiles: usize,
        /// Of the machine.
        tiles: usize,
    },
    /// No order of harts is so.
    #[error("the order of its harts is impossible")]
    Order,
    /// There are other caches or cores.
    #[error("it is of a machine with other caches, TLBs, memories or cores")]
    Timing,
    /// There are other faults.
    #[error("it is of a run with other faults")]
    Faults,
    /// There is no semihosting, or files are open that cannot be.
    #[error("it is of a run with other semihosting")]
    Semihosting,
}

impl Machine<'_> {
    /// Its state but for the memory, between turns or while it pauses.
    pub fn save(&self) -> SavedMachine {
        let hart = |unit: &Unit| SavedUnit {
            processor: unit.processor.save(),
            time: unit.time,
            waits: unit.waits,
            is_stopped: unit.is_stopped,
        };
        let timing = self.timing.as_ref().filter(|_| !self.timed.is_empty());
        SavedMachine {
            harts: self.harts.iter().map(hart).collect(),
            current: self.current.map(|(hart, begin)| {
                let begin = begin.map(|begin| [begin.start, begin.cycles, begin.lead]);
                (hart as u32, begin)
            }),
            is_timed: self.is_timed,
            timing: timing.map(|timing| timing.save(&self.timed)),
            parts: self.parts.clone(),
            moments: self.outside.moments(),
            boards: self.boards.iter().map(|board| board.save()).collect(),
            wiring: self.wiring.save(),
            faults: self.injection.as_ref().map(|injection| injection.save()),
            semihosting: self.semihosting.as_ref().map(|calls| calls.save()),
        }
    }

    /// Takes a state that [`save`](Self::save) of an equal machine gave. The memory is as it was then.
    /// After an error the machine is in no sensible state.
    pub fn restore(&mut self, saved: &SavedMachine) -> Result<(), BadSnapshot> {
        self.check_order(saved)?;
        self.current = saved.current.map(|(hart, begin)| {
            let begin = begin.map(|[start, cycles, lead]| Begin {
                start,
                cycles,
                lead,
            });
            (hart as usize, begin)
        });
        self.set_mode(false);
        self.order = None;
        for (board, saved) in self.boards.iter().zip(&saved.boards) {
            board.restore(saved)?;
        }
        self.wiring.restore(self.boards, &saved.wiring)?;
        for (unit, saved) in self.harts.iter_mut().zip(&saved.harts) {
            unit.processor.restore(&saved.processor)?;
            (unit.time, unit.waits) = (saved.time, saved.waits);
            unit.is_stopped = saved.is_stopped;
        }
        self.restore_faults(saved)?;
        self.restore_timing(saved)?;
        let has_calls = match (&mut self.semihosting, &saved.semihosting) {
            (None, None) => true,
            (Some(calls), Some(saved)) => calls.restore(saved),
            _ => false,
        };
        if !has_calls {
            return Err(BadSnapshot::Semihosting);
        }
        // What of the current slice was before counts for nothing.
        self.last = self.current.map(|(hart, _)| {
            let steps = self.harts[hart].processor.steps();
            (hart, self.most.map(|_| steps))
        });
        self.outside.go_to(saved.moments);
        self.restart_trace();
        self.wiring.restart_promises(true);
        Ok(())
    }

    /// Could its harts have come to this order and these times?
    fn check_order(&self, saved: &SavedMachine) -> Result<(), BadSnapshot> {
        let harts = self.harts.len();
        if saved.harts.len() != harts {
            let saved = saved.harts.len();
            return Err(BadSnapshot::Harts { saved, harts });
        }
        let (saved_tiles, tiles) = (saved.boards.len(), self.boards.len());
        if saved_tiles != tiles {
            return Err(BadSnapshot::Tiles { saved_tiles, tiles });
        }
        let tick = |hart: usize| match saved.is_timed {
            true => 1,
            false => self.harts[hart].period,
        };
        let is_short = |hart: usize, cycles: u64| {
            let time = cycles.checked_mul(tick(hart));
            time.is_some_and(|time| time < END_OF_TIME)
        };
        let is_current = saved.current.is_none_or(|(hart, begin)| {
            let hart = hart as usize;
            hart < harts
                && begin.is_none_or(|[start, cycles, _]| {
                    (1..=MOST_CYCLES).contains(&cycles)
                        && is_short(hart, cycles)
                        && start < END_OF_TIME
                })
        });
        let mut all = saved.harts.iter().enumerate();
        let are_harts = all.all(|(hart, unit)| {
            unit.time < END_OF_TIME && is_short(hart, unit.processor.most_cycles())
        });
        let has_tick = |tick: Time| tick <= 1 || self.harts.iter().any(|unit| unit.period == tick);
        match is_current && are_harts && has_tick(saved.wiring.tick()) {
            true => Ok(()),
            false => Err(BadSnapshot::Order),
        }
    }

    fn restore_faults(&mut self, saved: &SavedMachine) -> Result<(), BadSnapshot> {
        let harts = self.harts.len();
        let fits = match (&mut self.injection, &saved.faults) {
            (None, None) => true,
            (Some(injection), Some(saved)) => injection.restore(saved, harts),
            _ => false,
        };
        let count = self.injection.as_ref().map_or(0, |all| all.count());
        let mut all = self.harts.iter();
        let are_known = all.all(|unit| unit.processor.has_stops_below(count));
        match fits && are_known {
            true => Ok(()),
            false => Err(BadSnapshot::Faults),
        }
    }

    /// The harts' timings, which a hart in timed mode has. Its processor was restored without.
    fn restore_timing(&mut self, saved: &SavedMachine) -> Result<(), BadSnapshot> {
        self.timed = vec![];
        if !saved.parts.are_possible(self.harts.len()) {
            return Err(BadSnapshot::Timing);
        }
        self.parts = saved.parts.clone();
        let Some(state) = &saved.timing else {
            return match saved.is_timed {
                true => Err(BadSnapshot::Timing),
                false => Ok(()),
            };
        };
        let timing = self.timing.as_ref().ok_or(BadSnapshot::Timing)?;
        let classes = self.harts.iter().map(|unit| unit.processor.classes());
        let timed = timing.build(classes);
        if timed.len() != self.harts.len() || !timing.restore(&timed, state) {
            return Err(BadSnapshot::Timing);
        }
        self.is_timed = saved.is_timed;
        let units = self.harts.iter_mut().zip(&saved.harts).zip(&timed);
        for ((unit, saved), timing) in units.filter(|_| self.is_timed) {
            unit.processor.set_timing(Some(timing.clone()));
            unit.processor.restore_fetched(&saved.processor);
        }
        self.timed = timed;
        Ok(())
    }
}
