//! A tile with an accelerator of requests: registers, the state of its activity, snapshots. It has no memory but a
//! cache, and reaches arrays in other tiles through the unit's pages.
use std::collections::{BTreeMap, VecDeque};

use flick_abi::accelerator::{self, CONTEXT_WORDS, Control, STEPS_BUFFER, STEPS_BUFFERS, Status};
use serde::{Deserialize, Serialize};

use super::request_cache::{Cache, CacheShape, Line};
use super::request_logic::RequestAccelerator;
use super::request_module::Doing;
use super::work::ModuleState;
use super::{AGAIN, COMPUTED, YIELDS, context_word, work};
use crate::device::{BadState, Device, Refused, Surroundings, Time, check_state};
use crate::dtu::{BadDtu, Dtu, DtuDescription, Packet};
use crate::tile_unit::{Beside, Buffers, ModuleUnit, TileUnit};

/// What the tile has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestDescription {
    /// Its cache.
    pub cache: CacheShape,
    /// Picoseconds of a step.
    pub time: Time,
    /// Femtoseconds of a cycle.
    pub cycle: u64,
}

/// What the module does next, or waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub(super) enum Phase {
    /// Waits for a request.
    #[default]
    Fetch,
    /// Makes steps.
    Step,
    /// Answers.
    Reply,
}

/// How far a request is, as a kernel saves it. The request itself is in its slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Progress {
    pub phase: Phase,
    /// The slot of the request.
    pub slot: u8,
    /// The error of the answer.
    pub error: u64,
    /// The number of the next step.
    pub next: u64,
    /// How often all steps were made.
    pub repeated: u64,
    /// Steps of the request, and of the activity, that were made.
    pub made: u64,
    pub all: u64,
}

/// What can change besides the unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct State {
    /// The number of a [`Status`], at first [`Status::Idle`].
    pub status: u8,
    pub fault: u8,
    /// A kernel wants the module to stop, or the activity to end.
    pub stops: bool,
    pub ends: bool,
    /// The number of the status that the module gets when the root has been told; or 0.
    pub next_status: u8,
    /// Cycles that it waits for a request until it stops by itself.
    pub yields: u64,
    /// When it began to wait for a request.
    pub waits_since: Option<Time>,
    pub progress: Progress,
    pub doing: Doing,
    /// What traces have been told.
    pub told: work::Doing,
    pub cache: Cache,
    /// The lines that the step which is made has read.
    pub seen: BTreeMap<u64, Vec<u8>>,
    /// The line that it waits for.
    pub fills: Option<u64>,
    /// Lines on their way to memory, the oldest first.
    pub written: VecDeque<Line>,
}

/// The tile.
pub struct RequestTile {
    pub(super) description: RequestDescription,
    pub(super) logic: Box<dyn RequestAccelerator>,
    pub(super) module: ModuleUnit<State>,
}

impl RequestTile {
    /// The tile with this unit. Its only bank is the module's.
    pub fn new(
        unit: DtuDescription,
        description: RequestDescription,
        logic: Box<dyn RequestAccelerator>,
    ) -> Result<Self, BadDtu> {
        let line = description.cache.line as usize;
        let buffers = Buffers::new(STEPS_BUFFER, STEPS_BUFFERS + line);
        Ok(Self {
            description,
            logic,
            module: ModuleUnit::new(unit, buffers)?,
        })
    }

    /// Lets the unit do something, and the module what follows.
    fn with_unit(
        &mut self,
        around: &mut dyn Surroundings,
        f: impl FnOnce(&mut Dtu, &mut dyn Surroundings),
    ) {
        self.unit(around).act(f);
        self.go_on(around);
    }

    /// The unit, for the module.
    pub(super) fn unit<'a>(&'a mut self, around: &'a mut dyn Surroundings) -> TileUnit<'a> {
        self.module.unit(around)
    }
}

impl Progress {
    fn words(&self) -> [u64; CONTEXT_WORDS] {
        let mut words = [0; CONTEXT_WORDS];
        words[..7].copy_from_slice(&[
            self.phase as u64,
            self.slot.into(),
            self.error,
            self.next,
            self.repeated,
            self.made,
            self.all,
        ]);
        words
    }

    /// A kernel restores a word. Those that cannot be have no effect.
    fn set_word(&mut self, word: usize, value: u64) {
        match word {
            0 => {
                self.phase = match value {
                    1 => Phase::Step,
                    2 => Phase::Reply,
                    _ => Phase::Fetch,
                }
            }
            1 => self.slot = value as u8,
            2 => self.error = value,
            3 => self.next = value,
            4 => self.repeated = value,
            5 => self.made = value,
            6 => self.all = value,
            _ => {}
        }
    }
}

impl State {
    /// Whether the module works, or waits for messages.
    pub fn is_running(&self) -> bool {
        self.status == Status::Runs as u8
    }

    /// What module and logic do, for traces.
    pub fn shown(&self) -> work::Doing {
        let is = |status| self.status == status as u8;
        let module = match self.doing {
            _ if is(Status::Stopped) => ModuleState::Stopped,
            _ if is(Status::Ended) => ModuleState::Ended,
            _ if is(Status::Failed) => ModuleState::Failed,
            _ if is(Status::Idle) => ModuleState::Idle,
            Doing::Begins => ModuleState::WaitsForInput,
            Doing::Fetches | Doing::Replies | Doing::Acknowledges | Doing::Tells => {
                ModuleState::Asks
            }
            Doing::Fills => ModuleState::Reads,
            Doing::WritesBack => ModuleState::Writes,
            Doing::Computes => ModuleState::Rests,
            Doing::Pauses => ModuleState::WaitsForOutput,
        };
        work::Doing {
            computes: self.is_running() && self.doing == Doing::Computes,
            module,
        }
    }

    fn is_possible(&self, shape: CacheShape) -> bool {
        let is_line = |(&address, bytes): (&u64, &Vec<u8>)| {
            address.is_multiple_of(shape.line) && bytes.len() as u64 == shape.line
        };
        let next = [0, Status::Stopped as u8, Status::Ended as u8];
        self.status <= Status::Failed as u8
            && next.contains(&self.next_status)
            && self.cache.is_possible(shape)
            && self.seen.iter().all(is_line)
            && self.written.iter().all(|line| line.is_possible(shape))
            && self
                .fills
                .is_none_or(|line| line.is_multiple_of(shape.line))
    }

    fn control(&mut self, control: Control) {
        let runs = Status::Runs as u8;
        match (control, self.is_running()) {
            (Control::Start, false) => {
                *self = Self {
                    status: runs,
                    yields: self.yields,
                    told: self.told,
                    ..Self::default()
                };
            }
            (Control::Continue, false) => {
                *self = Self {
                    status: runs,
                    fault: self.fault,
                    yields: self.yields,
                    progress: self.progress,
                    told: self.told,
                    ..Self::default()
                };
            }
            (Control::Stop, true) => self.stops = true,
            (Control::End, true) => self.ends = true,
            _ => {}
        }
    }
}

impl Beside for State {
    fn read(
        &mut self,
        address: u64,
        bytes: &mut [u8],
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        around.read_memory(address, bytes)
    }

    fn write(
        &mut self,
        address: u64,
        bytes: &[u8],
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        around.write_memory(address, bytes)
    }

    fn read_register(&mut self, offset: u64) -> Result<u64, Refused> {
        Ok(match offset {
            accelerator::STATUS => self.status.into(),
            accelerator::FAULT => self.fault.into(),
            accelerator::BLOCKS => self.progress.all,
            accelerator::YIELD => self.yields,
            _ => context_word(offset).map_or(0, |word| self.progress.words()[word]),
        })
    }

    fn write_register(&mut self, offset: u64, value: u64) -> Result<(), Refused> {
        if offset == accelerator::CONTROL {
            if let Some(control) = Control::from_number(value) {
                self.control(control);
            }
        } else if offset == accelerator::YIELD {
            self.yields = value;
        } else if let Some(word) = context_word(offset).filter(|_| !self.is_running()) {
            self.progress.set_word(word, value);
        }
        Ok(())
    }
}

impl Device for RequestTile {
    fn unit(&self) -> Option<&Dtu> {
        Some(self.module.idle_unit())
    }

    // No hart is in the tile that could reach its registers.
    fn read(&mut self, _: u64, _: u32, _: &mut dyn Surroundings) -> Result<u64, Refused> {
        Err(Refused)
    }

    fn write(&mut self, _: u64, _: u32, _: u64, _: &mut dyn Surroundings) -> Result<(), Refused> {
        Err(Refused)
    }

    fn event(&mut self, token: u32, around: &mut dyn Surroundings) {
        match token {
            COMPUTED => self.has_computed(around),
            AGAIN => self.tries_again(around),
            YIELDS => self.go_on(around),
            _ => self.with_unit(around, |unit, inside| unit.event(token, inside)),
        }
    }

    fn packet(&mut self, packet: Packet, around: &mut dyn Surroundings) {
        self.with_unit(around, |unit, inside| unit.packet(packet, inside));
    }

    fn reset(&mut self) {
        self.module.reset();
    }

    fn save(&self) -> Vec<u8> {
        self.module.save()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        const DEVICE: &str = "accelerator of requests";
        let cache = self.description.cache;
        self.module.load(DEVICE, state, |state| {
            let is_possible = state.is_possible(cache);
            check_state(DEVICE, is_possible, "a state that it cannot have")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let progress = Progress {
            phase: Phase::Reply,
            slot: 1,
            error: 2,
            next: 3,
            repeated: 4,
            made: 5,
            all: 6,
        };
        let mut again = Progress::default();
        for (word, value) in progress.words().into_iter().enumerate() {
            again.set_word(word, value);
        }
        assert_eq!(again, progress);
        // What a kernel changes.
        let words = progress.words();
        assert_eq!(words[accelerator::STEPS_PHASE], accelerator::STEPS_REPLY);
        assert_eq!(words[accelerator::STEPS_ERROR], progress.error);
        again.set_word(0, u64::MAX);
        assert_eq!(again.phase, Phase::Fetch);
    }
}
