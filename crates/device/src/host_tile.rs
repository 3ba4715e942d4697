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
    self, Command, CommandWord, Endpoint, Error, HEADER_SIZE, ReceiveEndpoint, SendEndpoint,
};
use serde::{Deserialize, Serialize};

use crate::device::{
    BadState, Bytes, Device, Refused, Surroundings, Time, check_state, load_state, save_state,
};
use crate::dtu::{BadDtu, Dtu, DtuDescription, Packet};
use crate::tile_unit::{Beside, Buffers, Inside, TileUnit};

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
/// Picoseconds until then, for one that has not waited for long.
const PAUSE: Time = 1_000_000;
/// For others the pause is this part of what they have waited.
const PART: Time = 64;
/// Picoseconds after which a kernel that takes none is taken to have failed.
const PATIENCE: Time = 10_000_000_000_000;
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
    /// Since when the oldest descriptor has waited for room.
    waits_since: Option<Time>,
    /// Messages that were no descriptors.
    strange: u64,
}

/// The tile.
pub struct HostTile {
    unit: Dtu,
    /// The tiles with kernels, which have the first numbers.
    kernels: u16,
    state: State,
    buffers: Buffers,
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
            buffers: Buffers::new(OUTGOING, BUFFERS),
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
        self.bank(SENDS, around).act(f);
        self.go_on(around);
    }

    /// The unit, for one of the bridge's banks.
    fn bank<'a>(&'a mut self, bank: usize, around: &'a mut dyn Surroundings) -> TileUnit<'a> {
        TileUnit {
            unit: &mut self.unit,
            inside: Inside {
                around,
                bank,
                buffers: &mut self.buffers,
                beside: &mut self.space,
            },
        }
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
            let Some(outcome) = self.bank(SENDS, around).outcome() else {
                return false;
            };
            match outcome {
                Ok(_) => {
                    self.state.ring.pop_front();
                    self.state.waits_since = None;
                }
                // The kernel has no room, or has not begun yet; or the activity does not wait at its hart
                // any more.
                Err(error @ (Error::NoSpace | Error::NoCredits | Error::Gone)) => {
                    if error == Error::Gone {
                        self.give_credit_back(around);
                    }
                    if (error == Error::NoCredits || !self.turn_to_kernel())
                        && let Some(again) = self.sends_again_at(around.now())
                    {
                        self.state.sender = Does::Pauses;
                        around.schedule(AGAIN, again);
                        return false;
                    }
                }
                Err(_) => self.refuse_first(card::Error::Dead, around.now()),
            }
            self.state.sender = Does::Nothing;
        }
        self.state.sender == Does::Nothing && self.send_first(around)
    }

    /// When the oldest descriptor of the ring, for which there is no room now, is sent again. `None`: its owner
    /// is told that the kernel has failed.
    fn sends_again_at(&mut self, now: Time) -> Option<Time> {
        let waited = now.saturating_sub(*self.state.waits_since.get_or_insert(now));
        if waited > PATIENCE {
            self.refuse_first(card::Error::TimedOut, now);
            return None;
        }
        Some(now.saturating_add(PAUSE.max(waited / PART)))
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
            self.buffers.bytes[..DESCRIPTOR_SIZE].copy_from_slice(bytes);
            self.state.sender = Does::Sends;
            let (to, receiver) = match endpoint {
                0 => (KERNEL_ENDPOINT, KERNEL_ACTIVITY),
                hart => (hart.into(), HARTS_ACTIVITY),
            };
            let to = u64::from(tile) | u64::from(to) << 16 | u64::from(receiver) << 32;
            // The receiver is mostly the same.
            let receiver = dtu::endpoint_word(1 + tile, 1);
            if self.bank(SENDS, around).get(receiver) != to {
                self.bank(SENDS, around).set(receiver, to);
            }
            for (register, value) in [
                (dtu::ADDRESS, OUTGOING),
                (dtu::SIZE, DESCRIPTOR_SIZE as u64),
            ] {
                self.bank(SENDS, around).set(register, value);
            }
            let command = CommandWord::new(Command::Send, 1 + tile).with_answer(HOST_ENDPOINT);
            self.bank(SENDS, around).command(command);
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
        let word = self.bank(SENDS, around).get(register);
        // Credits are the lowest bits, and there is one less than there can be.
        self.bank(SENDS, around).set(register, word + 1);
    }

    /// The oldest descriptor of the ring cannot be sent. Its owner is told.
    fn refuse_first(&mut self, error: card::Error, now: Time) {
        self.state.waits_since = None;
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
            let has_unread = self.bank(RECEIVES, around).get(dtu::EVENTS) != 0;
            if has_unread {
                self.state.receiver = Does::Fetches;
                self.bank(RECEIVES, around).command(fetch);
            }
            return has_unread;
        }
        let Some(outcome) = self.bank(RECEIVES, around).outcome() else {
            return false;
        };
        self.state.receiver = Does::Nothing;
        let at = outcome.unwrap_or(0);
        if does == Does::Fetches && at != 0 {
            let slot = (at - INCOMING) >> LOG2_DESCRIPTOR_SLOT;
            let start = (at - OUTGOING) as usize + HEADER_SIZE;
            match Descriptor::from_bytes(&self.buffers.bytes[start..start + DESCRIPTOR_SIZE]) {
                Some(descriptor) => {
                    let arrived = (descriptor, around.now());
                    self.arrived.borrow_mut().push_back(arrived);
                }
                None => self.state.strange += 1,
            }
            self.state.receiver = Does::Acknowledges;
            let free = CommandWord::new(Command::Acknowledge, HOST_ENDPOINT).with_slot(slot as u8);
            self.bank(RECEIVES, around).command(free);
        }
        true
    }
}

impl Beside for Box<dyn HostSpace> {
    fn read(
        &mut self,
        address: u64,
        bytes: &mut [u8],
        _: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        (**self).read(address, bytes)
    }

    fn write(
        &mut self,
        address: u64,
        bytes: &[u8],
        _: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        (**self).write(address, bytes)
    }
}

impl Device for HostTile {
    fn unit(&self) -> Option<&Dtu> {
        Some(&self.unit)
    }

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
        self.buffers.bytes.fill(0);
        self.arrived.borrow_mut().clear();
        self.set_up();
    }

    fn save(&self) -> Vec<u8> {
        let arrived = self.arrived.borrow();
        let arrived: Vec<(Bytes, Time)> = arrived
            .iter()
            .map(|(descriptor, time)| (Bytes(descriptor.bytes().to_vec()), *time))
            .collect();
        let buffers = Bytes(self.buffers.bytes.clone());
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
        (self.state, self.buffers.bytes) = (state, buffers.0);
        Ok(())
    }
}
