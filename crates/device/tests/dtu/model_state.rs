//! A state of the model of the protocol: three tiles with their units, links and software.
use flick_abi::dtu::{
    self, CommandWord, Endpoint, Error, ForwardedHeader, HEADER_SIZE, Header, MemoryEndpoint,
    NO_HEADER_ENDPOINT, Outcome, ReceiveEndpoint, SendEndpoint,
};
use flick_device::dtu::{CommandNumber, Dtu, DtuDescription, Packet, PacketKind};
use flick_device::mock::Mock;
use flick_device::{Device, Time};
use std::collections::{BTreeMap, VecDeque};

use crate::network::{MEMORY, access, set_up};

/// The tile of the receiver.
pub const TILE: usize = 2;
/// The receiving activity, and another on the same hart.
pub const RECEIVER: u16 = 20;
pub const OTHER: u16 = 21;
/// Endpoints of a sender.
pub const SENDS: u16 = 0;
pub const TAKES_ANSWERS: u16 = 1;
pub const REACHES: u16 = 2;
/// The receiver's endpoint.
pub const RECEIVES: u16 = 3;
pub const BUFFER: u64 = MEMORY + 0x80;
pub const PACKET: u32 = 1;

/// The registers that the model reads, beside the endpoints.
const REGISTERS: [u64; 7] = [
    dtu::COMMAND,
    dtu::RESULT,
    dtu::EVENTS,
    dtu::ABORT,
    dtu::ENABLE,
    dtu::WAITING,
    dtu::current(0),
];
const ENDPOINTS: usize = 4;

/// A fault of the links, which a property must find.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// Such packets do not arrive.
    Lost(fn(&PacketKind) -> bool),
    /// Such packets do not arrive, and no unit sends them again.
    LostForEver(fn(&PacketKind) -> bool),
    /// Such packets arrive once more, as those of the next command.
    Renumbered(fn(&PacketKind) -> bool),
    /// Messages are for the other activity.
    OtherReceiver,
    /// The root forwards messages without asking the sender's unit whether they were refused.
    Untaken,
}

/// How much the software does.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Messages that each sender tries to send.
    pub messages: [u8; 2],
    pub credits: u16,
    pub slots: u8,
    /// Whether messages take answers.
    pub answers: bool,
    /// How often the kernel of the receiver's tile switches.
    pub switches: u8,
    /// How often the kernel of each sender's tile aborts what runs.
    pub aborts: u8,
    /// Packets of a read and of a write by the second sender, in place of messages.
    pub transfers: u64,
    /// Whether the receiver's kernel gives the endpoint to the other activity.
    pub gives_away: bool,
    /// Whether the receiver's tile has a kernel.
    pub kernel: bool,
    /// Whether the second sender is the root, which forwards messages of the first to suspended receivers.
    pub forwards: bool,
    /// How many packets are lost.
    pub losses: u8,
    /// How many packets arrive, and once more behind others.
    pub repeats: u8,
    /// How many packets others overtake.
    pub delays: u8,
    /// How often a unit sends again what is still under way.
    pub early: u8,
    pub fault: Option<Fault>,
}

impl Scenario {
    /// Whether links lose, repeat and delay nothing.
    pub fn is_calm(&self) -> bool {
        let all = [self.losses, self.repeats, self.delays, self.early];
        all == [0; 4] && !matches!(self.fault, Some(Fault::Lost(_)))
    }
}

/// What the software of hart 0 of a tile waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doing {
    Send(u8),
    Fetch(u16),
    Free(u8),
    Transfer,
    Forward(u8),
}

/// An event of a command that goes on, and none that sends packets again.
pub fn is_soon(at: Time) -> bool {
    at == 0
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub units: Vec<Dtu>,
    pub arounds: Vec<Mock>,
    /// Registers of hart 0, by tile, and then words of endpoints. They are kept because the
    /// properties read them often.
    registers: [[u64; REGISTERS.len() + 4 * ENDPOINTS]; 3],
    pub links: BTreeMap<(u16, u16), VecDeque<Packet>>,
    pub doing: [Option<Doing>; 3],
    /// Messages that a sender has tried to send, with what it knows.
    pub tried: [Vec<(u8, Option<Error>)>; 2],
    pub transferred: Vec<Error>,
    /// Messages that the root has taken from the first sender, and how their last `FORWARD` has ended.
    pub forwarded: Vec<(u8, Option<Error>)>,
    /// How often the root has tried, and how often it has taken a message.
    pub forwards: u8,
    taken: u64,
    /// How often the first sender's endpoint was set up.
    send_setup: u32,
    /// Messages in the order of their fetch, and by which activity.
    pub received: Vec<(u8, u16)>,
    /// Slots of fetched messages or answers, by tile.
    pub fetched: [Vec<u8>; 3],
    pub answers: u8,
    /// Replies that were tried.
    pub replies: u8,
    pub switches: u8,
    pub aborts: [u8; 3],
    pub gave_away: bool,
    pub lost: u8,
    pub repeated: u8,
    pub delayed: u8,
    pub early: u8,
}

/// What the receiver's software stores to its memory behind the end of a write.
pub const STORED: u8 = 0xee;

impl State {
    pub fn new(scenario: &Scenario) -> Self {
        let description = |tile: usize| DtuDescription {
            tile: tile as u16,
            endpoints: ENDPOINTS as u16,
            slots: 2,
            message: 32,
            packet: PACKET,
            command: 0,
            cycle: 1000,
            harts: 2,
            kernel: (tile != TILE || scenario.kernel).then_some(1),
            is_root: tile == 1 && scenario.forwards,
            is_governed: false,
        };
        let mut around = Mock::with_memory(MEMORY, 0x100);
        around.tiles = (0..3).collect();
        let mut state = Self {
            units: (0..3)
                .map(|tile| Dtu::new(description(tile)).unwrap())
                .collect(),
            arounds: vec![around; 3],
            registers: [[0; REGISTERS.len() + 4 * ENDPOINTS]; 3],
            links: BTreeMap::new(),
            doing: [None; 3],
            tried: Default::default(),
            transferred: Vec::new(),
            forwarded: Vec::new(),
            forwards: 0,
            taken: 0,
            send_setup: 2,
            received: Vec::new(),
            fetched: Default::default(),
            answers: 0,
            replies: 0,
            switches: 0,
            aborts: [0; 3],
            gave_away: false,
            lost: 0,
            repeated: 0,
            delayed: 0,
            early: 0,
        };
        for sender in [0, 1] {
            let send = Endpoint::Send(SendEndpoint {
                activity: 10,
                tile: TILE as u16,
                endpoint: RECEIVES,
                receiver: RECEIVER,
                label: 0,
                credits: scenario.credits,
                most_credits: scenario.credits,
                log2_message: 5,
            });
            state.set_up(sender, SENDS, send);
            let answers = ReceiveEndpoint::new(10, BUFFER, 5, 1);
            state.set_up(sender, TAKES_ANSWERS, Endpoint::Receive(answers));
            let memory = Endpoint::Memory(MemoryEndpoint {
                activity: 10,
                can_read: true,
                can_write: true,
                tile: TILE as u16,
                address: MEMORY,
                size: 0x40,
                receiver: 0,
            });
            state.set_up(sender, REACHES, memory);
            state.write(sender, dtu::current(0), 10);
        }
        let receive = ReceiveEndpoint::new(RECEIVER, BUFFER, 5, scenario.slots);
        state.set_up(TILE, RECEIVES, Endpoint::Receive(receive));
        state.write(TILE, dtu::current(0), RECEIVER.into());
        for tile in 0..3 {
            state.read_registers(tile);
        }
        state
    }

    pub fn set_up(&mut self, tile: usize, number: u16, endpoint: Endpoint) {
        let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
        set_up(unit, around, number, endpoint.words());
    }

    /// A tile's registers have changed.
    pub fn read_registers(&mut self, tile: usize) {
        let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
        let words = (0..4 * ENDPOINTS).map(|i| dtu::endpoint_word((i / 4) as u16, i % 4));
        let offsets = REGISTERS.into_iter().chain(words);
        for (register, offset) in self.registers[tile].iter_mut().zip(offsets) {
            *register = access(unit, around, 0, offset, None).unwrap();
        }
    }

    pub fn read(&self, tile: usize, offset: u64) -> u64 {
        let register = REGISTERS.iter().position(|&other| other == offset);
        self.registers[tile][register.expect("the model does not read this register")]
    }

    pub fn write(&mut self, tile: usize, offset: u64, value: u64) {
        let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
        access(unit, around, 0, offset, Some(value)).unwrap();
    }

    pub fn endpoint(&self, tile: usize, number: u16) -> Option<Endpoint> {
        let (words, _) = self.registers[tile][REGISTERS.len()..].as_chunks::<4>();
        Endpoint::from_words(words[usize::from(number)])
    }

    pub fn receives(&self) -> ReceiveEndpoint {
        match self.endpoint(TILE, RECEIVES) {
            Some(Endpoint::Receive(receive)) => receive,
            other => panic!("the receiver has {other:?}"),
        }
    }

    /// Puts what a unit has sent on the links.
    pub fn transmit(&mut self, tile: usize, fault: Option<Fault>) {
        for mut packet in std::mem::take(&mut self.arounds[tile].sent) {
            let link = self.links.entry((packet.from, packet.to)).or_default();
            match fault {
                Some(Fault::Lost(is_it) | Fault::LostForEver(is_it)) if is_it(&packet.kind) => {
                    continue;
                }
                Some(Fault::Renumbered(is_it)) if is_it(&packet.kind) => {
                    let mut again = packet.clone();
                    if let PacketKind::Message(command, _)
                    | PacketKind::Credits(command, _)
                    | PacketKind::Write { command, .. } = &mut again.kind
                    {
                        command.number += 1;
                    }
                    link.push_back(packet);
                    packet = again;
                }
                Some(Fault::OtherReceiver) => {
                    if let PacketKind::Message(_, message) = &mut packet.kind {
                        message.receiver = OTHER;
                    }
                }
                _ => {}
            }
            link.push_back(packet);
        }
        if let Some(Fault::LostForEver(_)) = fault {
            self.arounds[tile].events.retain(|_, at| is_soon(*at));
        }
    }

    /// Whether no packet is under way, and no unit acts but to send one again.
    pub fn is_quiet(&self) -> bool {
        let mut events = self
            .arounds
            .iter()
            .flat_map(|around| around.events.values());
        self.packets().next().is_none() && !events.any(|&at| is_soon(at))
    }

    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.links.values().flatten()
    }

    /// Sender's tile and payload of the message in a slot.
    pub fn message(&self, slot: u8) -> (u8, u8) {
        let start = (BUFFER - MEMORY) as usize + 32 * usize::from(slot);
        let memory = &self.arounds[TILE].memory;
        (memory[start + 1], memory[start + HEADER_SIZE])
    }

    pub fn is_idle(&self, tile: usize) -> bool {
        self.doing[tile].is_none()
    }

    pub fn is_enabled(&self, tile: usize) -> bool {
        self.read(tile, dtu::ENABLE) & 1 != 0
    }

    pub fn current(&self, tile: usize) -> u16 {
        self.read(tile, dtu::current(0)) as u16
    }

    pub fn start(&mut self, tile: usize, doing: Doing, word: CommandWord) {
        self.doing[tile] = Some(doing);
        self.write(tile, dtu::COMMAND, word.bits());
    }

    pub fn prepare(&mut self, tile: usize, payload: u8) {
        self.arounds[tile].memory[0x40] = payload;
        self.write(tile, dtu::ADDRESS, MEMORY + 0x40);
        self.write(tile, dtu::SIZE, 1);
    }

    /// The error of a message of the first sender, as its software knows it behind what the root has done.
    pub fn final_error(&self, payload: u8, error: Option<Error>) -> Option<Error> {
        let mut all = self.forwarded.iter();
        match all.find(|(other, _)| *other == payload) {
            Some(&(_, forwarded)) => forwarded,
            None => error,
        }
    }

    /// Messages of the first sender that its unit could not deliver.
    pub fn refused(&self) -> impl Iterator<Item = u8> {
        let gone = |&&(_, error): &&(u8, _)| error == Some(Error::Gone);
        self.tried[0]
            .iter()
            .filter(gone)
            .map(|&(payload, _)| payload)
    }

    /// Whether the root has delivered it.
    pub fn is_delivered(&self, payload: u8) -> bool {
        self.forwarded.contains(&(payload, Some(Error::None)))
    }

    /// The root takes a message from the first sender's unit, as by a `WRITE` that takes no time.
    pub fn take_gone(&mut self) -> Error {
        let packet = Packet {
            from: 1,
            to: 0,
            kind: PacketKind::WriteRegisters {
                command: self.next_of_root(),
                part: 0,
                register: dtu::gone(SENDS),
                bytes: vec![0; 8],
            },
        };
        self.units[0].packet(packet, &mut self.arounds[0]);
        match self.arounds[0].sent.pop().map(|packet| packet.kind) {
            Some(PacketKind::Done { error, .. }) => Error::from_number(error).unwrap(),
            other => panic!("the unit answers {other:?}"),
        }
    }

    /// A command of a bank of the root that does nothing else.
    fn next_of_root(&mut self) -> CommandNumber {
        self.taken += 1;
        CommandNumber {
            bank: 1,
            number: self.taken,
        }
    }

    /// What the root's `FORWARD` sends.
    pub fn prepare_forward(&mut self, payload: u8, takes_answer: bool) {
        let forwarded = ForwardedHeader {
            header: Header {
                tile: 0,
                endpoint: SENDS as u8,
                answer_endpoint: match takes_answer {
                    true => TAKES_ANSWERS as u8,
                    false => NO_HEADER_ENDPOINT,
                },
                activity: 10,
                ..Header::default()
            },
            credit_endpoint: SENDS,
            has_credit: true,
            credit_setup: self.send_setup,
        };
        let bytes = [&forwarded.bytes()[..], &[payload]].concat();
        self.arounds[1].memory[0x40..0x40 + bytes.len()].copy_from_slice(&bytes);
        self.write(1, dtu::ADDRESS, MEMORY + 0x40);
        self.write(1, dtu::SIZE, bytes.len() as u64);
    }

    /// Takes note of a command that has ended.
    pub fn observe(&mut self, tile: usize) {
        let Some(doing) = self.doing[tile].filter(|_| self.read(tile, dtu::COMMAND) == 0) else {
            return;
        };
        self.doing[tile] = None;
        let result = Outcome::from_bits(self.read(tile, dtu::RESULT)).result();
        let error = result.err().unwrap_or(Error::None);
        match doing {
            Doing::Send(payload) => {
                let tried = self.tried[tile]
                    .iter_mut()
                    .find(|(other, _)| *other == payload);
                tried.unwrap().1 = Some(error);
            }
            Doing::Fetch(activity) => {
                if let Ok(address @ 1..) = result {
                    let slot = ((address - BUFFER) / 32) as u8;
                    if tile == TILE {
                        self.received.push((self.message(slot).1, activity));
                    }
                    self.fetched[tile].push(slot);
                }
            }
            Doing::Free(slot) if error == Error::None => {
                self.answers += u8::from(tile != TILE);
                self.fetched[tile].retain(|&other| other != slot);
            }
            Doing::Free(_) => {}
            Doing::Forward(payload) => {
                let mut all = self.forwarded.iter_mut();
                let forwarded = all.find(|(other, _)| *other == payload);
                forwarded.unwrap().1 = Some(error);
            }
            Doing::Transfer => {
                self.transferred.push(error);
                self.arounds[TILE].memory[0] = STORED;
            }
        }
    }
}
