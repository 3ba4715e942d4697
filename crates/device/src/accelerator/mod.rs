//! A tile with an accelerator, its communication unit, and the module that runs the accelerator's logic on streams
//! (`docs/accelerators.md`). The module is a state machine: it asks servers for pieces of files, reads blocks into
//! the local memory, lets the logic compute, and writes the output. No processor is in the way. With two buffers the
//! logic computes while the module takes its next steps.
//!
//! | file | subject |
//! |---|---|
//! | `mod.rs` | the tile as a device: registers, memory, snapshots |
//! | `module.rs` | the steps of the module |
//! | `computation.rs` | the logic, as the module lets it compute |
//! | `stream.rs` | the state of a stream, as a kernel saves it |
//! | `work.rs` | what it does over time, for reports and traces |
//! | `logic.rs` | what an accelerator computes: the trait for users |
//! | `request.rs` | the same for requests: tile, registers, what a kernel saves |
//! | `request_module.rs` | the steps of its module |
//! | `request_cache.rs` | its cache |
//! | `request_logic.rs` | the trait for users |
//! | `functions/` | accelerators that come with Flick |
mod computation;
pub mod functions;
mod logic;
mod module;
mod request;
mod request_cache;
mod request_logic;
mod request_module;
mod stream;
mod work;

use flick_abi::accelerator::{self, BUFFERS, CONTEXT, CONTEXT_WORDS, Control, Status};
use serde::{Deserialize, Serialize};

pub use crate::device::Refused;
use crate::device::{BadState, Device, Surroundings, Time, check_state};
use crate::dtu::{BadDtu, Dtu, DtuDescription, Packet};
use crate::tile_unit::{Beside, Buffers, ModuleUnit, TileUnit};
pub use logic::{Accelerator, Computed};
pub use request::{RequestDescription, RequestTile};
pub use request_cache::CacheShape;
pub use request_logic::{Arrays, RequestAccelerator, request_by_name};
use stream::Stream;
pub use work::Work;
use work::{Doing, ModuleState};

/// The first address of the buffers for messages.
const FIRST_BUFFER: u64 = accelerator::ANSWERS_BUFFER;
/// The token of the end of a computation, and that of another try. They are none of the unit's.
const COMPUTED: u32 = 1 << 16;
const AGAIN: u32 = COMPUTED + 1;
/// That of the time at which a module that waits stops by itself.
const YIELDS: u32 = COMPUTED + 2;
/// Cycles until a command is made again that something was in the way of.
const PAUSE: u64 = 1000;

/// What the tile has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceleratorDescription {
    /// Bytes of a block.
    pub block: u64,
    /// Bytes of the local memory, which begins at address 0.
    pub memory: u64,
    /// Picoseconds of a block.
    pub time: Time,
    /// Femtoseconds of a cycle.
    pub cycle: u64,
    /// The local memory begins with two blocks: one is computed while the other is written and read.
    pub has_two_buffers: bool,
}

/// A command for an activity that is suspended, which the root makes in the module's place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Forward {
    /// There is none.
    #[default]
    None,
    /// The root is to be told.
    Tells,
    /// The root has been told, and has not taken note.
    Waits,
}

/// What the root says of a command that it was told about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Said {
    /// It has made the command.
    #[default]
    Done,
    /// The module makes it itself.
    Again,
    /// Nobody can make it.
    Refused,
}

/// What can change besides the unit and the memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct State {
    /// The number of a [`Status`], at first [`Status::Idle`].
    status: u8,
    is_pushed: bool,
    fault: u8,
    /// A kernel wants the module to stop.
    stops: bool,
    /// The number of the status that the module gets when the root has been told; or 0.
    ends: u8,
    /// What the root does in the module's place.
    forwards: Forward,
    /// What the root has said of the command, if it did not make it.
    said: Said,
    /// Cycles that it waits for a message until it stops by itself.
    yields: u64,
    /// When it began to wait for a message.
    waits_since: Option<Time>,
    stream: Stream,
    step: module::Step,
    /// The logic computes.
    computes: bool,
    work: Work,
}

/// The tile.
pub struct AcceleratorTile {
    description: AcceleratorDescription,
    logic: Box<dyn Accelerator>,
    module: ModuleUnit<State>,
}

impl AcceleratorTile {
    /// The tile with this unit. Its only bank is the module's.
    pub fn new(
        unit: DtuDescription,
        description: AcceleratorDescription,
        logic: Box<dyn Accelerator>,
    ) -> Result<Self, BadDtu> {
        Ok(Self {
            description,
            logic,
            module: ModuleUnit::new(unit, Buffers::new(FIRST_BUFFER, BUFFERS))?,
        })
    }

    /// What the module does.
    fn is_running(&self) -> bool {
        self.module.state.status == Status::Runs as u8
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
    fn unit<'a>(&'a mut self, around: &'a mut dyn Surroundings) -> TileUnit<'a> {
        self.module.unit(around)
    }
}

impl State {
    /// What module and logic do.
    fn doing(&self) -> Doing {
        let is = |status| self.status == status as u8;
        let module = match self.step {
            _ if is(Status::Stopped) => ModuleState::Stopped,
            _ if is(Status::Ended) => ModuleState::Ended,
            _ if is(Status::Failed) => ModuleState::Failed,
            _ if is(Status::Idle) => ModuleState::Idle,
            _ if self.ends != 0 || self.forwards != Forward::None => ModuleState::Asks,
            module::Step::Begins => self.stream.phase.state(false),
            module::Step::Pauses | module::Step::Keeps(..) => self.stream.phase.waits(),
            module::Step::Runs | module::Step::Fetches | module::Step::Acknowledges(..) => {
                self.stream.phase.state(true)
            }
        };
        Doing {
            computes: self.computes,
            module,
        }
    }

    /// A register as the root reads it.
    fn register(&self, offset: u64) -> u64 {
        match offset {
            accelerator::STATUS => self.status.into(),
            accelerator::INPUT => self.is_pushed.into(),
            accelerator::FAULT => self.fault.into(),
            accelerator::BLOCKS => self.stream.blocks,
            accelerator::YIELD => self.yields,
            _ => context_word(offset).map_or(0, |word| self.stream.words()[word]),
        }
    }

    /// The root writes a register. What is a module's state is taken only while it is not running.
    fn set_register(&mut self, offset: u64, value: u64) {
        let runs = self.status == Status::Runs as u8;
        match offset {
            accelerator::CONTROL => match Control::from_number(value) {
                Some(Control::Start) if !runs => {
                    *self = Self {
                        status: Status::Runs as u8,
                        is_pushed: self.is_pushed,
                        yields: self.yields,
                        work: self.work,
                        ..Self::default()
                    };
                }
                Some(Control::Stop) if runs => self.stops = true,
                Some(Control::Continue) if !runs => {
                    (self.status, self.stops) = (Status::Runs as u8, false);
                    (self.step, self.computes) = (module::Step::default(), false);
                    (self.forwards, self.said) = (Forward::None, Said::Done);
                    (self.fault, self.waits_since) = (0, None);
                }
                Some(Control::Again) if self.forwards != Forward::None => self.said = Said::Again,
                Some(Control::Refused) if self.forwards != Forward::None => {
                    self.said = Said::Refused;
                }
                _ => {}
            },
            accelerator::YIELD => self.yields = value,
            accelerator::INPUT if !runs => self.is_pushed = value & 1 != 0,
            _ if runs => {}
            _ => {
                if let Some(word) = context_word(offset) {
                    self.stream.set_word(word, value);
                }
            }
        }
    }
}

/// Picoseconds of so many cycles of so many femtoseconds.
fn cycles(count: u64, cycle: u64) -> Time {
    let time = u128::from(count) * u128::from(cycle) / 1000;
    Time::try_from(time).unwrap_or(Time::MAX)
}

/// Has a module waited for so long that others may have its tile? `since`: when it began to wait. It is woken then.
fn has_waited(
    waits: bool,
    since: &mut Option<Time>,
    delay: Option<Time>,
    around: &mut dyn Surroundings,
) -> bool {
    if !waits {
        *since = None;
        return false;
    }
    let since = *since.get_or_insert(around.now());
    let Some(delay) = delay else {
        return false;
    };
    let until = since.saturating_add(delay);
    around.schedule(YIELDS, until);
    until <= around.now()
}

/// The word of the context at an offset.
fn context_word(offset: u64) -> Option<usize> {
    let word = usize::try_from(offset.checked_sub(CONTEXT)? / 8).ok()?;
    (word < CONTEXT_WORDS).then_some(word)
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
        Ok(self.register(offset))
    }

    fn write_register(&mut self, offset: u64, value: u64) -> Result<(), Refused> {
        self.set_register(offset, value);
        Ok(())
    }
}

impl Device for AcceleratorTile {
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

    fn work(&self, now: Time) -> Option<Work> {
        Some(self.module.state.work.until(now))
    }

    fn reset(&mut self) {
        self.module.reset();
    }

    fn save(&self) -> Vec<u8> {
        self.module.save()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        const DEVICE: &str = "accelerator";
        self.module.load(DEVICE, state, |state| {
            let ends = [Status::Stopped, Status::Ended, Status::Failed].map(|status| status as u8);
            let is_known = state.status <= Status::Failed as u8
                && (state.ends == 0 || ends.contains(&state.ends));
            // The words of its stream may be any: a kernel writes them.
            check_state(DEVICE, is_known, "a status that it does not have")
        })
    }
}
