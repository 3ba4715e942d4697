//! The data transfer unit of a tile (`docs/dtu.md`).
//!
//! | file | subject |
//! |---|---|
//! | `mod.rs` | the unit as a device: registers, interrupts, snapshots |
//! | `bank_state.rs` | registers and command of a hart |
//! | `endpoint_table.rs` | endpoints and slots |
//! | `command_execution.rs` | commands, and their abort |
//! | `data_transfer.rs` | packets of reads and writes |
//! | `page_translation.rs` | reads and writes of pages |
//! | `arrivals.rs` | packets that arrive |
//! | `confirmation.rs` | packets that are sent again |
//! | `heard_commands.rs` | packets that come again |
//! | `kernel_pages.rs` | registers for the tile's kernel |
//! | `root_requests.rs` | registers that the root reaches from its tile, and messages that it forwards |
//! | `returned_credits.rs` | credits on their way back |
//! | `packet.rs` | packets |
//! | `promises.rs` | a witness of what units promise, for tests of whole machines |
//! | `state_check.rs` | saved states that are refused |
//!
//! Tokens of events are the banks' numbers; tokens above them are for packets within the tile, and for
//! credits that are sent again.
mod arrivals;
mod bank_state;
mod command_execution;
mod confirmation;
mod data_transfer;
mod endpoint_table;
mod heard_commands;
mod kernel_pages;
mod packet;
mod page_translation;
mod promises;
mod returned_credits;
mod root_requests;
mod state_check;

use flick_abi::dtu::{
    self, Endpoint, HEADER_SIZE, Identity, MOST_BANKS, MOST_ENDPOINTS, MOST_SLOTS,
    RECEIVE_ENDPOINTS, VERSION,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::device::{BadState, Device, Refused, Surroundings, Time, load_state, save_state};
use bank_state::{Bank, Step};
use endpoint_table::EndpointState;
use heard_commands::HeardCommands;
pub use packet::{CommandNumber, Credit, Message, Packet, PacketClass, PacketKind, UNIT_BANK};
use page_translation::PageTable;
pub use promises::{Before, PromiseCounts, Promises};
use returned_credits::ReturnedCredits;
use root_requests::RecordWords;
use state_check::DEVICE;

/// Bytes of a packet's part of a transfer at most.
const MOST_PACKET: u32 = 1 << 16;
/// Tiles have numbers of 8 bits in headers.
const MOST_TILES: u16 = 256;
/// The token of packets within the tile.
const LOOPED: u32 = MOST_BANKS as u32;
/// The token of credits that are sent again.
const RETURNS: u32 = LOOPED + 1;

/// What a unit has. A machine file's `[tile.dtu]` says most of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DtuDescription {
    /// The number of the tile.
    pub tile: u16,
    /// Endpoints.
    pub endpoints: u16,
    /// Slots that a receive endpoint has at most.
    pub slots: u8,
    /// Bytes of a message at most, with its header.
    pub message: u16,
    /// Bytes of a packet's part of a transfer at most: a power of two.
    pub packet: u32,
    /// Picoseconds of a command, and of a packet within the tile; 0: a command is executed at once.
    pub command: Time,
    /// Femtoseconds of a cycle, for `SLEEP`.
    pub cycle: u64,
    /// Harts of the tile. Each has a bank.
    pub harts: usize,
    /// The hart that runs the tile's kernel.
    pub kernel: Option<usize>,
    /// Whether it is the root's, which reaches the registers of all units.
    pub is_root: bool,
    /// Whether the root alone sets its endpoints up: the harts of its own tile cannot.
    pub is_governed: bool,
}

/// A unit that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadDtu {
    /// The tile's number.
    #[error("a unit's tile has a number below {MOST_TILES}, and not {0}")]
    Tile(u16),
    /// Too many endpoints, or none.
    #[error("a unit has from 1 to {MOST_ENDPOINTS} endpoints, and not {0}")]
    Endpoints(u16),
    /// Too many slots, or none.
    #[error("a receive endpoint has from 1 to {MOST_SLOTS} slots, and not {0}")]
    Slots(u8),
    /// No room for a header.
    #[error("a message has a header of {HEADER_SIZE} bytes, and not {0} with its payload")]
    Message(u16),
    /// No power of two, or too large.
    #[error("a packet has a power of two of bytes up to {MOST_PACKET}, and not {0}")]
    Packet(u32),
    /// Too many harts, or none.
    #[error("a unit has from 1 to {MOST_BANKS} banks, and not {0}")]
    Harts(usize),
    /// There is no such hart.
    #[error("the kernel's hart {0} is none of the tile")]
    Kernel(usize),
}

/// What can change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct State {
    banks: Vec<Bank>,
    endpoints: Vec<EndpointState>,
    enable: u64,
    waiting_interrupt: u64,
    /// Cycles.
    timeout: u64,
    heard: HeardCommands,
    returned: ReturnedCredits,
    record: RecordWords,
    pages: PageTable,
    /// Packets within the tile, the oldest first.
    looped: VecDeque<Packet>,
}

impl State {
    fn new(description: &DtuDescription) -> Self {
        Self {
            banks: vec![Bank::default(); description.harts],
            endpoints: vec![EndpointState::default(); description.endpoints.into()],
            enable: bits(description.harts),
            waiting_interrupt: u64::MAX,
            timeout: dtu::FIRST_TIMEOUT,
            heard: HeardCommands::default(),
            returned: ReturnedCredits::default(),
            record: RecordWords::default(),
            pages: PageTable::default(),
            looped: VecDeque::new(),
        }
    }
}

/// So many bits from bit 0 on.
fn bits(count: usize) -> u64 {
    1_u64.checked_shl(count as u32).unwrap_or(0).wrapping_sub(1)
}

/// The bits of endpoints.
fn sum(endpoints: impl Iterator<Item = (u64, u16)>) -> u64 {
    endpoints.fold(0, |bits, (bit, _)| bits | bit)
}

/// A data transfer unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dtu {
    description: DtuDescription,
    state: State,
    /// Receive endpoints with unread messages, a bit each: as the endpoints say.
    unread: u64,
}

impl Dtu {
    /// A unit after reset: all banks take commands, none has an activity, no endpoint is usable.
    pub fn new(description: DtuDescription) -> Result<Self, BadDtu> {
        let DtuDescription {
            tile,
            endpoints,
            slots,
            message,
            packet,
            harts,
            kernel,
            ..
        } = description;
        let is_kernel_wrong = kernel.is_some_and(|hart| hart >= harts);
        let bad = match () {
            _ if tile >= MOST_TILES => BadDtu::Tile(tile),
            _ if endpoints == 0 || endpoints > MOST_ENDPOINTS => BadDtu::Endpoints(endpoints),
            _ if slots == 0 || slots > MOST_SLOTS => BadDtu::Slots(slots),
            _ if usize::from(message) <= HEADER_SIZE => BadDtu::Message(message),
            _ if !packet.is_power_of_two() || packet > MOST_PACKET => BadDtu::Packet(packet),
            _ if harts == 0 || harts > MOST_BANKS => BadDtu::Harts(harts),
            _ if is_kernel_wrong => BadDtu::Kernel(kernel.unwrap_or_default()),
            _ => {
                let state = State::new(&description);
                return Ok(Self {
                    description,
                    state,
                    unread: 0,
                });
            }
        };
        Err(bad)
    }

    /// Gives all banks an activity, and sets endpoints up. For a unit whose tile has no kernel.
    pub(crate) fn set_up(&mut self, activity: u16, endpoints: &[(u16, Endpoint)]) {
        self.state
            .banks
            .iter_mut()
            .for_each(|bank| bank.current = activity);
        let slots = self.description.slots;
        for &(number, endpoint) in endpoints {
            let words = endpoint.words();
            for word in dtu::WRITE_ORDER {
                if let Some(table) = self.state.endpoints.get_mut(usize::from(number)) {
                    table.write_word(word, words[word], number, slots);
                    self.look_at(number);
                }
            }
        }
    }

    /// The number of its tile.
    pub fn tile(&self) -> u16 {
        self.description.tile
    }

    /// Bytes of its registers.
    pub fn size(&self) -> u64 {
        dtu::registers_size(self.description.endpoints)
    }

    /// The endpoint with a number, if the activity owns it.
    fn endpoint_of(&self, number: u16, activity: u16) -> Option<Endpoint> {
        let table = self.state.endpoints.get(usize::from(number))?;
        table.of_activity(activity)
    }

    /// Receive endpoints with unread messages, a bit each, and their owners.
    fn unread(&self) -> impl Iterator<Item = (u64, u16)> {
        let mut left = self.unread;
        std::iter::from_fn(move || {
            loop {
                let number = left.trailing_zeros();
                let bit = 1_u64.checked_shl(number)?;
                left &= !bit;
                match self.state.endpoints[number as usize].unread_owner() {
                    Some(dtu::NO_ACTIVITY) | None => {}
                    Some(owner) => return Some((bit, owner)),
                }
            }
        })
    }

    /// An endpoint has changed: has it unread messages?
    fn look_at(&mut self, number: u16) {
        let endpoint = self.state.endpoints.get(usize::from(number));
        if let Some(endpoint) = endpoint.filter(|_| number < RECEIVE_ENDPOINTS) {
            let is_unread = endpoint.unread_owner().is_some();
            self.unread = self.unread & !(1 << number) | u64::from(is_unread) << number;
        }
    }

    /// All endpoints have changed.
    fn look_at_all(&mut self) {
        self.unread = 0;
        (0..RECEIVE_ENDPOINTS).for_each(|number| self.look_at(number));
    }

    /// `EVENTS` of an activity.
    fn events(&self, activity: u16) -> u64 {
        sum(self.unread().filter(|&(_, owner)| owner == activity))
    }

    /// `WAITING`.
    fn waiting(&self) -> u64 {
        let banks = self.state.banks.iter();
        sum(self
            .unread()
            .filter(|&(_, owner)| banks.clone().all(|bank| bank.current != owner)))
    }

    /// The credits for a tile that it has not confirmed: those of the packet under way, and others.
    pub fn credits_to(&self, tile: u16) -> (&[Credit], &[Credit]) {
        self.state.returned.to_tile(tile)
    }

    /// Brings the interrupts up to date, and wakes banks that sleep.
    fn update(&mut self, around: &mut dyn Surroundings) {
        debug_assert!((0..RECEIVE_ENDPOINTS).all(|number| {
            let endpoint = self.state.endpoints.get(usize::from(number));
            let is_unread = endpoint.is_some_and(|all| all.unread_owner().is_some());
            is_unread == (self.unread >> number & 1 != 0)
        }));
        let has_waiting = self.waiting() & self.state.waiting_interrupt != 0;
        let mut has_faults = false;
        for index in 0..self.state.banks.len() {
            let bank = &self.state.banks[index];
            let wakes = bank
                .running
                .as_ref()
                .is_some_and(|running| match running.step {
                    Step::Sleeps(_) => self.events(running.activity) != 0,
                    Step::Faults { .. } => {
                        has_faults = true;
                        false
                    }
                    _ => false,
                });
            let interrupts = self.events(bank.current) & bank.interrupt != 0;
            if wakes {
                self.finish(index, dtu::Error::None, 0, around);
            }
            let level = interrupts || has_waiting && self.description.kernel == Some(index);
            let bank = &mut self.state.banks[index];
            if bank.level != level {
                bank.level = level;
                around.set_hart_line(index, dtu::INTERRUPT_BIT, level);
            }
        }
        // No other command of the unit is looked at for that: there is an update for each access.
        if has_faults {
            self.go_on_with_pages(around);
        }
    }

    /// Whether a command that was aborted runs still.
    fn aborts(&self) -> bool {
        let mut commands = self
            .state
            .banks
            .iter()
            .filter_map(|bank| bank.running.as_ref());
        commands.any(|running| running.is_aborted)
    }

    fn read_bank(&self, index: usize, offset: u64) -> u64 {
        let bank = &self.state.banks[index];
        match offset {
            dtu::COMMAND => bank.running.as_ref().map_or(0, |running| running.word),
            dtu::RESULT => bank.result,
            dtu::ADDRESS => bank.address,
            dtu::SIZE => bank.size,
            dtu::OFFSET => bank.offset,
            dtu::LABEL => bank.label,
            dtu::EVENTS => self.events(bank.current),
            dtu::ACTIVITY => bank.current.into(),
            dtu::INTERRUPT => bank.interrupt,
            dtu::IDENTITY => Identity {
                version: VERSION,
                endpoints: self.description.endpoints,
                slots: self.description.slots,
                message: self.description.message,
                tile: self.description.tile,
            }
            .bits(),
            _ => 0,
        }
    }

    fn write_bank(&mut self, index: usize, offset: u64, value: u64, around: &mut dyn Surroundings) {
        let bank = &mut self.state.banks[index];
        match offset {
            dtu::COMMAND => self.start(index, value, around),
            dtu::RESULT => bank.result = value,
            dtu::ADDRESS => bank.address = value,
            dtu::SIZE => bank.size = value,
            dtu::OFFSET => bank.offset = value,
            dtu::LABEL => bank.label = value,
            dtu::INTERRUPT => {
                bank.interrupt = value;
                self.update(around);
            }
            _ => {}
        }
    }

    /// The bank of an access to a register.
    fn check_access(
        &self,
        offset: u64,
        size: u32,
        around: &mut dyn Surroundings,
    ) -> Result<usize, Refused> {
        let hart = around.hart();
        let is_register = size == 8 && offset.is_multiple_of(8) && offset < self.size();
        match is_register && hart < self.state.banks.len() {
            true => Ok(hart),
            false => Err(Refused),
        }
    }

    /// The next packet within the tile comes when the unit has had time for it.
    fn schedule_looped(&self, around: &mut dyn Surroundings) {
        let at = around.now().saturating_add(self.description.command);
        around.schedule(LOOPED, at);
    }
}

impl Device for Dtu {
    fn unit(&self) -> Option<&Dtu> {
        Some(self)
    }

    fn read(
        &mut self,
        offset: u64,
        size: u32,
        around: &mut dyn Surroundings,
    ) -> Result<u64, Refused> {
        let bank = self.check_access(offset, size, around)?;
        if offset < dtu::PAGE {
            return Ok(self.read_bank(bank, offset));
        }
        let register = self.kernel_register(offset);
        Ok(register.map_or(0, |register| self.read_kernel_page(register)))
    }

    fn write(
        &mut self,
        offset: u64,
        size: u32,
        value: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        let bank = self.check_access(offset, size, around)?;
        if offset < dtu::PAGE {
            self.write_bank(bank, offset, value, around);
        } else if let Some(register) = self.kernel_register(offset)
            && !(self.description.is_governed && register.is_of_endpoint())
        {
            self.write_kernel_page(register, value, around);
            self.update(around);
        }
        Ok(())
    }

    fn event(&mut self, token: u32, around: &mut dyn Surroundings) {
        if token == LOOPED {
            if let Some(packet) = self.state.looped.pop_front() {
                if !self.state.looped.is_empty() {
                    self.schedule_looped(around);
                }
                self.arrive(packet, around);
            }
        } else if token == RETURNS {
            self.send_credits_again(around);
        } else if (token as usize) < self.state.banks.len() {
            self.time_is_over(token as usize, around);
        }
    }

    fn packet(&mut self, packet: Packet, around: &mut dyn Surroundings) {
        self.arrive(packet, around);
    }

    fn reset(&mut self) {
        self.state = State::new(&self.description);
        self.unread = 0;
    }

    fn save(&self) -> Vec<u8> {
        save_state(&self.state)
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        let state: State = load_state(DEVICE, state)?;
        state_check::check(&state, &self.description)?;
        self.state = state;
        self.look_at_all();
        Ok(())
    }
}
