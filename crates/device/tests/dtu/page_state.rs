//! A state of the model of pages: a unit that reads a page, and the tile of its pager and of the memory.
use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, Error, Header, MemoryEndpoint, Outcome, PAGE_SIZE,
    PageAnswer, PagesEndpoint, ReceiveEndpoint, SendEndpoint,
};
use flick_device::Device;
use flick_device::dtu::{CommandNumber, Dtu, DtuDescription, Packet, PacketKind};
use flick_device::mock::Mock;
use std::collections::{BTreeMap, VecDeque};

use crate::model_state::is_soon;
use crate::network::{MEMORY, access, set_up};

/// Endpoints of tile 0, and the pager's.
pub const PAGES: u16 = 0;
pub const ASKS: u16 = 1;
pub const REACHES: u16 = 2;
pub const SERVES: u16 = 0;
pub const READER: u16 = 10;
pub const PAGER: u16 = 20;
/// The page, and the address in it that is read.
pub const PAGE: u64 = 7 * PAGE_SIZE;
pub const IN_PAGE: u64 = 0xf00;
/// More packets than are under way at a time.
pub const MANY: u64 = 34;
/// Where the byte is at first, and then.
pub const PLACES: [u64; 2] = [MEMORY, MEMORY + 0x40];
pub const VALUES: [u8; 2] = [0xa0, 0xa1];
pub const BUFFER: u64 = MEMORY + 0x80;
pub const LOCAL: u64 = MEMORY;

/// What goes wrong, so that a property must find it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The root takes no page away.
    NotInvalidated,
    /// Answers carry the label that the unit awaits.
    Relabelled,
}

#[derive(Clone, Debug)]
pub struct Paging {
    pub reads: usize,
    /// Bytes of a read, each of which is a packet.
    pub size: u64,
    pub credits: u16,
    /// Whether the root moves the page.
    pub moves: bool,
    /// Whether the pager may say that there is no page.
    pub refuses: bool,
    pub aborts: u8,
    pub losses: u8,
    pub repeats: u8,
    pub fault: Option<Fault>,
}

pub const CALM: Paging = Paging {
    reads: 2,
    size: 2,
    credits: 1,
    moves: false,
    refuses: false,
    aborts: 0,
    losses: 0,
    repeats: 0,
    fault: None,
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub units: [Dtu; 2],
    pub arounds: [Mock; 2],
    pub links: BTreeMap<u16, VecDeque<Packet>>,
    /// A read that runs, and whether it began behind the move.
    pub reads: Option<bool>,
    /// How reads have ended, with their value.
    pub ended: Vec<(Error, u8)>,
    /// A read that began behind the move got the old byte.
    pub got_old: bool,
    pub is_fetching: bool,
    /// Slots of faults that the pager has not answered.
    pub fetched: Vec<u8>,
    pub moved: bool,
    pub invalidated: bool,
    /// The root has seen that nothing reaches the old place.
    pub freed: bool,
    pub roots: u64,
    pub aborts: u8,
    pub lost: u8,
    pub repeated: u8,
}

impl State {
    pub fn new(paging: &Paging) -> Self {
        let unit = |tile: u16| {
            Dtu::new(DtuDescription {
                tile,
                endpoints: 3,
                slots: 2,
                message: 64,
                packet: 1,
                command: 0,
                cycle: 1000,
                harts: 1,
                kernel: (tile == 1).then_some(0),
                is_root: false,
                is_governed: false,
            })
            .unwrap()
        };
        let mut around = Mock::with_memory(MEMORY, 0x100);
        around.tiles = (0..2).collect();
        let mut state = Self {
            units: [unit(0), unit(1)],
            arounds: [around.clone(), around],
            links: BTreeMap::new(),
            reads: None,
            ended: vec![],
            got_old: false,
            is_fetching: false,
            fetched: vec![],
            moved: false,
            invalidated: false,
            freed: false,
            roots: 0,
            aborts: 0,
            lost: 0,
            repeated: 0,
        };
        for (place, value) in PLACES.into_iter().zip(VALUES) {
            let start = (place - MEMORY) as usize;
            state.arounds[1].memory[start..start + MANY as usize].fill(value);
        }
        let send = Endpoint::Send(SendEndpoint {
            activity: READER,
            tile: 1,
            endpoint: SERVES,
            receiver: PAGER,
            label: 0,
            credits: paging.credits,
            most_credits: paging.credits,
            log2_message: 6,
        });
        let memory = Endpoint::Memory(MemoryEndpoint {
            activity: READER,
            can_read: true,
            can_write: true,
            tile: 1,
            // The range that is read lies at the first place, if the page does.
            address: MEMORY - IN_PAGE,
            size: 2 * PAGE_SIZE,
            receiver: 0,
        });
        let pages = Endpoint::Pages(PagesEndpoint::new(READER, ASKS));
        let serves = Endpoint::Receive(ReceiveEndpoint::new(PAGER, BUFFER, 6, 2));
        for (tile, number, endpoint) in [
            (0, ASKS, send),
            (0, REACHES, memory),
            (0, PAGES, pages),
            (1, SERVES, serves),
        ] {
            let (unit, around) = (&mut state.units[tile], &mut state.arounds[tile]);
            set_up(unit, around, number, endpoint.words());
        }
        state.write(0, dtu::current(0), READER.into());
        state.write(1, dtu::current(0), PAGER.into());
        state
    }

    pub fn write(&mut self, tile: usize, offset: u64, value: u64) {
        let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
        access(unit, around, 0, offset, Some(value)).unwrap();
    }

    pub fn read(&self, tile: usize, offset: u64) -> u64 {
        let (mut unit, mut around) = (self.units[tile].clone(), self.arounds[tile].clone());
        access(&mut unit, &mut around, 0, offset, None).unwrap()
    }

    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.links.values().flatten()
    }

    pub fn is_quiet(&self) -> bool {
        let mut events = self
            .arounds
            .iter()
            .flat_map(|around| around.events.values());
        self.packets().next().is_none() && !events.any(|&at| is_soon(at))
    }

    /// The root's request to the unit of tile 0, which takes no time.
    pub fn of_root(&mut self, kind: impl Fn(CommandNumber) -> PacketKind) -> PacketKind {
        self.roots += 1;
        let command = CommandNumber {
            bank: 60,
            number: self.roots,
        };
        let (from, to, kind) = (1, 0, kind(command));
        let sent = self.arounds[0].sent.len();
        self.units[0].packet(Packet { from, to, kind }, &mut self.arounds[0]);
        // The unit sends the answer before what else follows, or behind that.
        let mut new = self.arounds[0].sent.split_off(sent).into_iter();
        let is_answer = |packet: &Packet| match &packet.kind {
            PacketKind::Done { command, .. } | PacketKind::Data { command, .. } => {
                command.bank == 60
            }
            _ => false,
        };
        let answer = new.find(is_answer).expect("the unit answers");
        self.arounds[0].sent.extend(new);
        answer.kind
    }

    /// Whether the root may use the old place.
    pub fn may_free(&mut self) -> bool {
        let answer = self.of_root(|command| PacketKind::ReadRegisters {
            command,
            part: 0,
            register: dtu::INVALIDATE,
            size: 8,
        });
        matches!(answer, PacketKind::Data { bytes, .. } if bytes == [0; 8])
    }

    /// The pager answers.
    pub fn reply(&mut self, slot: u8, answer: PageAnswer) {
        let bytes = answer.bytes();
        let start = 0x40 + MANY as usize - 2;
        let at = LOCAL + start as u64;
        let memory = &mut self.arounds[1].memory;
        let before = memory[start..start + bytes.len()].to_vec();
        memory[start..start + bytes.len()].copy_from_slice(&bytes);
        self.write(1, dtu::ADDRESS, at);
        self.write(1, dtu::SIZE, bytes.len() as u64);
        let word = CommandWord::new(Command::Reply, SERVES).with_slot(slot);
        self.write(1, dtu::COMMAND, word.bits());
        self.arounds[1].memory[start..start + before.len()].copy_from_slice(&before);
        self.fetched.retain(|&other| other != slot);
    }

    pub fn transmit(&mut self, fault: Option<Fault>) {
        for tile in 0..2 {
            for packet in std::mem::take(&mut self.arounds[tile].sent) {
                self.links.entry(packet.to).or_default().push_back(packet);
            }
        }
        if fault == Some(Fault::Relabelled) {
            let awaited = self.read(0, dtu::endpoint_word(PAGES, 2));
            let packets = self.links.values_mut().flatten();
            for packet in packets.filter(|packet| packet.to == 0) {
                if let PacketKind::Message(_, message) = &mut packet.kind {
                    let label = awaited;
                    let header = Header::from_bytes(&message.header);
                    message.header = Header { label, ..header }.bytes();
                }
            }
        }
    }

    /// Takes note of commands that have ended.
    pub fn observe(&mut self) {
        let outcome = Outcome::from_bits(self.read(0, dtu::RESULT)).result();
        if let Some(is_behind) = self.reads
            && self.read(0, dtu::COMMAND) == 0
        {
            self.reads = None;
            let value = self.arounds[0].memory[0];
            self.ended
                .push((outcome.err().unwrap_or(Error::None), value));
            self.got_old |= is_behind && outcome.is_ok() && value == VALUES[0];
        }
        if self.is_fetching && self.read(1, dtu::COMMAND) == 0 {
            self.is_fetching = false;
            let found = Outcome::from_bits(self.read(1, dtu::RESULT)).result();
            if let Ok(address @ 1..) = found {
                self.fetched.push(((address - BUFFER) / 64) as u8);
            }
        }
    }

    pub fn is_enabled(&self) -> bool {
        self.read(0, dtu::ENABLE) & 1 != 0
    }

    /// All rests, and the pager has answered everything.
    pub fn rests(&self) -> bool {
        let has_answered = self.fetched.is_empty() && self.read(1, dtu::EVENTS) == 0;
        let mut arounds = self.arounds.iter();
        has_answered
            && self.packets().next().is_none()
            && arounds.all(|around| around.events.is_empty())
    }
}
