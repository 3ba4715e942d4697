//! The tile of the host: the bridge between the card and the programs of the host (`docs/card.md`).
//!
//! Descriptors of host threads come as input from outside into a ring, and go to kernels by the tile's
//! unit, one after the other. What kernels send comes to the first endpoint, and is for the outside. The
//! memory of the tile is that of the host's process.
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use flick_abi::card;
use flick_abi::descriptor::{
    DESCRIPTOR_END, DESCRIPTOR_RETURN, DESCRIPTOR_SIZE, DESCRIPTOR_SLOTS, Descriptor,
    HARTS_ACTIVITY, HOST_ACTIVITY, HOST_ENDPOINT, KERNEL_ACTIVITY, KERNEL_ENDPOINT,
    LOG2_DESCRIPTOR_SLOT, RING,
};
use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, Error, HEADER_SIZE, Outcome, ReceiveEndpoint,
    SendEndpoint,
};
use serde::{Deserialize, Serialize};

use crate::device::{
    BadState, Bytes, Device, Finish, Refused, Surroundings, Time, check_state, load_state,
    save_state,
};
use crate::dtu::{BadDtu, Dtu, DtuDescription, Packet};

/// The bank that sends, and the one that receives.
const SENDS: usize = 0;
const RECEIVES: usize = 1;
const BANKS: usize = 2;
/// Addresses of the tile's own buffers: no process has these.
const OUTGOING: u64 = 1 << 55;
const INCOMING: u64 = OUTGOING + (1 << LOG2_DESCRIPTOR_SLOT);
const BUFFERS: usize = (1 + DESCRIPTOR_SLOTS as usize) << LOG2_DESCRIPTOR_SLOT;
/// The token of the time at which a descriptor is sent again. It is none of the unit's.
const AGAIN: u32 = 1 << 16;
/// The byte of a descriptor that has its endpoint.
const ENDPOINT: usize = core::mem::offset_of!(Descriptor, endpoint);
/// Picoseconds until then.
const PAUSE: Time = 1_000_000;
/// The token of the time at which the next descriptor of [`State::coming`] comes.
const COMES: u32 = AGAIN + 1;

/// The memory of the host's process, as the card reaches it.
pub trait HostSpace {
    /// Copies from it. Refuses what the process could not read itself.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refused>;

    /// Copies to it. Refuses what the process could not write itself.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refused>;
}

/// A machine without a process: all accesses are refused.
#[derive(Clone, Copy, Debug)]
pub struct NoSpace;

impl HostSpace for NoSpace {
    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), Refused> {
        Err(Refused)
    }

    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), Refused> {
        Err(Refused)
    }
}

/// Descriptors that have come from the card, and when, the oldest first. The outside takes them.
pub type Arrived = Rc<RefCell<VecDeque<(Descriptor, Time)>>>;

/// What a bank of the bridge does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Does {
    #[default]
    Nothing,
    Sends,
    /// It sends again later.
    Pauses,
    Fetches,
    Acknowledges,
}

/// What can change besides the unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    ring: VecDeque<Bytes>,
    /// Descriptors that come to the ring at these times.
    coming: BTreeMap<(Time, u64), Bytes>,
    /// How many of them there were.
    came: u64,
    sender: Does,
    receiver: Does,
    /// Messages that were no descriptors.
    strange: u64,
}

/// The tile.
pub struct HostTile {
    unit: Dtu,
    /// The tiles with kernels, which have the first numbers.
    kernels: u16,
    state: State,
    buffers: Vec<u8>,
    arrived: Arrived,
    space: Box<dyn HostSpace>,
}

impl HostTile {
    /// The tile with this unit, on a machine with so many kernels. The banks of the unit are the
    /// bridge's own.
    pub fn new(
        description: DtuDescription,
        kernels: u16,
        space: Box<dyn HostSpace>,
    ) -> Result<Self, BadDtu> {
        let description = DtuDescription {
            harts: BANKS,
            kernel: None,
            // No hart waits for its commands; what they take is the link's time.
            command: 0,
            ..description
        };
        let mut tile = Self {
            unit: Dtu::new(description)?,
            kernels,
            state: State::default(),
            buffers: vec![0; BUFFERS],
            arrived: Arrived::default(),
            space,
        };
        tile.set_up();
        Ok(tile)
    }

    /// Where descriptors from the card are.
    pub fn arrived(&self) -> Arrived {
        Rc::clone(&self.arrived)
    }

    fn set_up(&mut self) {
        let receive = Endpoint::Receive(ReceiveEndpoint {
            activity: HOST_ACTIVITY,
            buffer: INCOMING,
            log2_slot: LOG2_DESCRIPTOR_SLOT,
            slots: DESCRIPTOR_SLOTS,
            occupied: 0,
            unread: 0,
        });
        let send = |tile| {
            Endpoint::Send(SendEndpoint {
                activity: HOST_ACTIVITY,
                tile,
                endpoint: KERNEL_ENDPOINT,
                receiver: KERNEL_ACTIVITY,
                label: 0,
                credits: DESCRIPTOR_SLOTS.into(),
                most_credits: DESCRIPTOR_SLOTS.into(),
                log2_message: LOG2_DESCRIPTOR_SLOT,
            })
        };
        let mut all = vec![(HOST_ENDPOINT, receive)];
        all.extend((0..self.kernels).map(|tile| (1 + tile, send(tile))));
        self.unit.set_up(HOST_ACTIVITY, &all);
    }

    /// Lets the unit do something, and the bridge what follows.
    fn with_unit(
        &mut self,
        around: &mut dyn Surroundings,
        f: impl FnOnce(&mut Dtu, &mut dyn Surroundings),
    ) {
        self.on_bank(SENDS, around, f);
        self.go_on(around);
    }

    fn on_bank<R>(
        &mut self,
        bank: usize,
        around: &mut dyn Surroundings,
        f: impl FnOnce(&mut Dtu, &mut dyn Surroundings) -> R,
    ) -> R {
        let mut inside = Inside {
            around,
            bank,
            buffers: &mut self.buffers,
            space: &mut *self.space,
        };
        f(&mut self.unit, &mut inside)
    }

    fn get(&mut self, bank: usize, register: u64, around: &mut dyn Surroundings) -> u64 {
        let read = self.on_bank(bank, around, |unit, inside| unit.read(register, 8, inside));
        read.unwrap_or(0)
    }

    fn command(&mut self, bank: usize, command: CommandWord, around: &mut dyn Surroundings) {
        self.on_bank(bank, around, |unit, inside| {
            // Registers of page 0 take writes of 8 bytes.
            let _: Result<(), Refused> = unit.write(dtu::COMMAND, 8, command.bits(), inside);
        });
    }

    /// The outcome of the last command of a bank; `None`: it runs.
    fn outcome(
        &mut self,
        bank: usize,
        around: &mut dyn Surroundings,
    ) -> Option<Result<u64, Error>> {
        (self.get(bank, dtu::COMMAND, around) == 0).then(|| {
            let result = self.get(bank, dtu::RESULT, around);
            Outcome::from_bits(result).result()
        })
    }

    /// Descriptors whose time has come go into the ring.
    fn let_come(&mut self, around: &mut dyn Surroundings) {
        let now = around.now();
        while let Some(first) = self.state.coming.first_entry() {
            let (time, _) = *first.key();
            if time > now {
                around.schedule(COMES, time);
                break;
            }
            self.state.ring.push_back(first.remove());
        }
        self.go_on(around);
    }

    /// Goes on with what has been waited for.
    fn go_on(&mut self, around: &mut dyn Surroundings) {
        while self.go_on_sending(around) {}
        while self.go_on_receiving(around) {}
    }

    /// True: there may be more to do.
    fn go_on_sending(&mut self, around: &mut dyn Surroundings) -> bool {
        if self.state.sender == Does::Sends {
            let Some(outcome) = self.outcome(SENDS, around) else {
                return false;
            };
            match outcome {
                Ok(_) => drop(self.state.ring.pop_front()),
                // The kernel has no room, or has not begun yet; or the activity does not wait at its hart
                // any more.
                Err(error @ (Error::NoSpace | Error::NoCredits | Error::Gone)) => {
                    if error == Error::Gone {
                        self.give_credit_back(around);
                    }
                    if error == Error::NoCredits || !self.turn_to_kernel() {
                        self.state.sender = Does::Pauses;
                        let at = around.now().saturating_add(PAUSE);
                        around.schedule(AGAIN, at);
                        return false;
                    }
                }
                Err(_) => self.refuse_first(card::Error::Dead, around.now()),
            }
            self.state.sender = Does::Nothing;
        }
        self.state.sender == Does::Nothing && self.send_first(around)
    }

    /// The oldest descriptor of the ring, if it is for a hart, is for that tile's kernel from now on.
    fn turn_to_kernel(&mut self) -> bool {
        let Some(Bytes(bytes)) = self.state.ring.front_mut() else {
            return false;
        };
        core::mem::take(&mut bytes[ENDPOINT]) != 0
    }

    /// Sends the oldest descriptor of the ring that can be sent. False: there is none.
    fn send_first(&mut self, around: &mut dyn Surroundings) -> bool {
        loop {
            let Some(Bytes(bytes)) = self.state.ring.front() else {
                return false;
            };
            let first = Descriptor::from_bytes(bytes);
            let (tile, endpoint) = first.map_or((u16::MAX, 0), |all| (all.tile, all.endpoint));
            if tile >= self.kernels {
                self.refuse_first(card::Error::NotFound, around.now());
                continue;
            }
            self.buffers[..DESCRIPTOR_SIZE].copy_from_slice(bytes);
            self.state.sender = Does::Sends;
            let (to, receiver) = match endpoint {
                0 => (KERNEL_ENDPOINT, KERNEL_ACTIVITY),
                hart => (hart.into(), HARTS_ACTIVITY),
            };
            let to = u64::from(tile) | u64::from(to) << 16 | u64::from(receiver) << 32;
            // The receiver is mostly the same.
            let receiver = dtu::endpoint_word(1 + tile, 1);
            if self.get(SENDS, receiver, around) != to {
                self.on_bank(SENDS, around, |unit, inside| {
                    let _: Result<(), Refused> = unit.write(receiver, 8, to, inside);
                });
            }
            for (register, value) in [
                (dtu::ADDRESS, OUTGOING),
                (dtu::SIZE, DESCRIPTOR_SIZE as u64),
            ] {
                self.on_bank(SENDS, around, |unit, inside| {
                    let _: Result<(), Refused> = unit.write(register, 8, value, inside);
                });
            }
            let command = CommandWord::new(Command::Send, 1 + tile).with_answer(HOST_ENDPOINT);
            self.command(SENDS, command, around);
            return true;
        }
    }

    /// The receiver of the oldest descriptor was not there: the credit of the message is not lost, since
    /// nobody forwards it.
    fn give_credit_back(&mut self, around: &mut dyn Surroundings) {
        let first = self.state.ring.front();
        let Some(first) = first.and_then(|Bytes(bytes)| Descriptor::from_bytes(bytes)) else {
            return;
        };
        let register = dtu::endpoint_word(1 + first.tile, 3);
        let word = self.get(SENDS, register, around);
        self.on_bank(SENDS, around, |unit, inside| {
            // Credits are the lowest bits, and there is one less than there can be.
            let _: Result<(), Refused> = unit.write(register, 8, word + 1, inside);
        });
    }

    /// The oldest descriptor of the ring cannot be sent. Its owner is told.
    fn refuse_first(&mut self, error: card::Error, now: Time) {
        let first = self.state.ring.pop_front();
        let first = first.and_then(|Bytes(bytes)| Descriptor::from_bytes(&bytes));
        if let Some(first) = first.filter(|first| first.kind != DESCRIPTOR_END) {
            let answer = Descriptor {
                kind: DESCRIPTOR_RETURN,
                endpoint: 0,
                error: error as u32,
                ..first
            };
            self.arrived.borrow_mut().push_back((answer, now));
        }
    }

    /// True: there may be more to do.
    fn go_on_receiving(&mut self, around: &mut dyn Surroundings) -> bool {
        let fetch = CommandWord::new(Command::Fetch, HOST_ENDPOINT);
        let does = self.state.receiver;
        if does == Does::Nothing {
            let has_unread = self.get(RECEIVES, dtu::EVENTS, around) != 0;
            if has_unread {
                self.state.receiver = Does::Fetches;
                self.command(RECEIVES, fetch, around);
            }
            return has_unread;
        }
        let Some(outcome) = self.outcome(RECEIVES, around) else {
            return false;
        };
        self.state.receiver = Does::Nothing;
        let at = outcome.unwrap_or(0);
        if does == Does::Fetches && at != 0 {
            let slot = (at - INCOMING) >> LOG2_DESCRIPTOR_SLOT;
            let start = (at - OUTGOING) as usize + HEADER_SIZE;
            match Descriptor::from_bytes(&self.buffers[start..start + DESCRIPTOR_SIZE]) {
                Some(descriptor) => {
                    let arrived = (descriptor, around.now());
                    self.arrived.borrow_mut().push_back(arrived);
                }
                None => self.state.strange += 1,
            }
            self.state.receiver = Does::Acknowledges;
            let free = CommandWord::new(Command::Acknowledge, HOST_ENDPOINT).with_slot(slot as u8);
            self.command(RECEIVES, free, around);
        }
        true
    }
}

/// What the unit reaches: the bridge's buffers, and the process.
struct Inside<'a> {
    around: &'a mut dyn Surroundings,
    bank: usize,
    buffers: &'a mut [u8],
    space: &'a mut dyn HostSpace,
}

/// The bytes of the buffers at an address.
fn buffer(buffers: &mut [u8], address: u64, size: usize) -> Option<&mut [u8]> {
    let start = usize::try_from(address.checked_sub(OUTGOING)?).ok()?;
    buffers.get_mut(start..start.checked_add(size)?)
}

impl Surroundings for Inside<'_> {
    fn now(&self) -> Time {
        self.around.now()
    }

    fn set_source(&mut self, source: u32, level: bool) {
        self.around.set_source(source, level);
    }

    // The tile has no harts.
    fn set_hart_line(&mut self, _: usize, _: u32, _: bool) {}

    fn schedule(&mut self, token: u32, at: Time) {
        self.around.schedule(token, at);
    }

    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        match buffer(self.buffers, address, bytes.len()) {
            Some(from) => bytes.copy_from_slice(from),
            None => self.space.read(address, bytes)?,
        }
        Ok(())
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        match buffer(self.buffers, address, bytes.len()) {
            Some(to) => to.copy_from_slice(bytes),
            None => self.space.write(address, bytes)?,
        }
        Ok(())
    }

    fn output(&mut self, bytes: &[u8]) {
        self.around.output(bytes);
    }

    fn finish(&mut self, how: Finish) {
        self.around.finish(how);
    }

    fn hart(&self) -> usize {
        self.bank
    }

    fn send(&mut self, packet: Packet) -> bool {
        self.around.send(packet)
    }
}

impl Device for HostTile {
    // No hart is in the tile that could reach its registers.
    fn read(&mut self, _: u64, _: u32, _: &mut dyn Surroundings) -> Result<u64, Refused> {
        Err(Refused)
    }

    fn write(&mut self, _: u64, _: u32, _: u64, _: &mut dyn Surroundings) -> Result<(), Refused> {
        Err(Refused)
    }

    fn event(&mut self, token: u32, around: &mut dyn Surroundings) {
        if token == AGAIN {
            self.state.sender = Does::Nothing;
            return self.go_on(around);
        }
        if token == COMES {
            return self.let_come(around);
        }
        self.with_unit(around, |unit, inside| unit.event(token, inside));
    }

    fn packet(&mut self, packet: Packet, around: &mut dyn Surroundings) {
        self.with_unit(around, |unit, inside| unit.packet(packet, inside));
    }

    /// A whole descriptor, or none if the ring is full. Behind it there may be the time at which it comes.
    fn input(&mut self, bytes: &[u8], around: &mut dyn Surroundings) -> usize {
        let Some((descriptor, time)) = bytes.split_at_checked(DESCRIPTOR_SIZE) else {
            return 0;
        };
        let time: Option<[u8; 8]> = match time.is_empty() {
            true => Some([0; 8]),
            false => time.try_into().ok(),
        };
        let Some(time) = time.map(Time::from_le_bytes) else {
            return 0;
        };
        let State {
            ring, coming, came, ..
        } = &mut self.state;
        if ring.len() + coming.len() >= RING {
            return 0;
        }
        let descriptor = Bytes(descriptor.to_vec());
        *came += 1;
        if time <= around.now() && coming.is_empty() {
            ring.push_back(descriptor);
            self.go_on(around);
        } else {
            coming.insert((time, *came - 1), descriptor);
            self.let_come(around);
        }
        bytes.len()
    }

    fn reset(&mut self) {
        self.unit.reset();
        self.state = State::default();
        self.buffers.fill(0);
        self.arrived.borrow_mut().clear();
        self.set_up();
    }

    fn save(&self) -> Vec<u8> {
        let arrived = self.arrived.borrow();
        let arrived: Vec<(Bytes, Time)> = arrived
            .iter()
            .map(|(descriptor, time)| (Bytes(descriptor.bytes().to_vec()), *time))
            .collect();
        let buffers = Bytes(self.buffers.clone());
        save_state(&(Bytes(self.unit.save()), &self.state, buffers, arrived))
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        const DEVICE: &str = "host's tile";
        type Saved = (Bytes, State, Bytes, Vec<(Bytes, Time)>);
        let (unit, state, buffers, arrived): Saved = load_state(DEVICE, state)?;
        let is_whole = |Bytes(bytes): &Bytes| bytes.len() == DESCRIPTOR_SIZE;
        let came = arrived.iter().map(|(bytes, _)| bytes);
        let mut all = state.ring.iter().chain(state.coming.values()).chain(came);
        let fits = state.ring.len() + state.coming.len() <= RING
            && state.coming.keys().all(|&(_, number)| number < state.came)
            && all.all(is_whole)
            && buffers.0.len() == BUFFERS;
        check_state(DEVICE, fits, "its ring or its buffers are of another tile")?;
        self.unit.load(&unit.0)?;
        let descriptors = arrived
            .iter()
            .filter_map(|(bytes, time)| Some((Descriptor::from_bytes(&bytes.0)?, *time)));
        *self.arrived.borrow_mut() = descriptors.collect();
        (self.state, self.buffers) = (state, buffers.0);
        Ok(())
    }
}
