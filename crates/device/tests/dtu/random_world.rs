//! Two tiles with any software: random accesses by user harts and kernels.
use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, MemoryEndpoint, PageAnswer, PagesEndpoint,
    ReceiveEndpoint, RegisterEndpoint, SendEndpoint,
};
use flick_device::Device;
use flick_device::dtu::{Dtu, Packet};
use flick_device::mock::Mock;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;
use std::collections::BTreeMap;

use crate::network::{MEMORY, access, description, set_up};

pub const HARTS: usize = 3;
pub const ENDPOINTS: u16 = 8;
const MEMORY_SIZE: u64 = 0x1000;
/// Bits for seeds: those of the golden ratio.
const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// The credits of a send endpoint that it does not have now.
#[derive(Clone, Copy, Default)]
pub struct Away {
    /// Those that messages have cost and that are to come back.
    pub spent: u32,
    /// Those of messages that were refused with `GONE`.
    pub gone: u32,
}

pub struct World {
    pub random: Pcg64Mcg,
    /// Whether kernels leave endpoints as they are. Then the credits come back at the end.
    pub is_calm: bool,
    /// Whether tile 0 is the root, whose software may change any register and invent credits.
    pub has_root: bool,
    pub units: Vec<Dtu>,
    pub arounds: Vec<Mock>,
    /// Packets between the tiles.
    pub under_way: Vec<Packet>,
    /// The activity that has started the command of a bank.
    pub starters: [[u16; HARTS]; 2],
    /// By tile and endpoint.
    pub away: BTreeMap<(usize, u16), Away>,
    pub counts: Counts,
}

/// Things that have happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub delivered: u64,
    pub used: u64,
    pub transferred: u64,
    pub came_back: u64,
    pub of_root: u64,
    /// Transfers that pagers have made possible.
    pub paged: u64,
}

pub type Endpoints = Vec<[u64; 4]>;

impl World {
    pub fn new(seed: u128, counts: Counts) -> Self {
        let mut around = Mock::with_memory(MEMORY, MEMORY_SIZE as usize);
        around.tiles = (0..2).collect();
        let has_root = seed % 4 == 2;
        let unit = |tile| {
            let mut description = description(tile);
            description.harts = HARTS;
            description.kernel = (tile == 0).then_some(2);
            description.endpoints = ENDPOINTS;
            description.packet = 64;
            description.is_root = has_root && tile == 0;
            Dtu::new(description).unwrap()
        };
        let mut world = Self {
            // The generator takes the same numbers for seeds that differ in their low bits alone.
            random: Pcg64Mcg::new(seed.wrapping_add(1).wrapping_mul(ODD)),
            is_calm: seed % 2 == 1,
            has_root,
            units: vec![unit(0), unit(1)],
            arounds: vec![around; 2],
            under_way: Vec::new(),
            starters: [[dtu::NO_ACTIVITY; HARTS]; 2],
            away: BTreeMap::new(),
            counts,
        };
        // Receivers are there before their senders.
        for number in 0..ENDPOINTS {
            for tile in 0..2 {
                world.set_up(tile, number);
            }
        }
        for tile in 0..2 {
            for bank in 0..HARTS {
                world.access(tile, bank, dtu::current(bank), Some(bank as u64 / 2));
                world.access(tile, bank, dtu::ADDRESS, Some(MEMORY));
                world.access(tile, bank, dtu::SIZE, Some(8));
            }
        }
        world
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.random.next_u64() % end
    }

    fn activity(&mut self) -> u16 {
        match self.below(16) {
            0 => dtu::NO_ACTIVITY,
            1 => 2,
            // Most often 0, so that activities meet.
            activity => u16::from(activity < 5),
        }
    }

    /// A value that may be an address, a size, or anything.
    fn value(&mut self) -> u64 {
        match self.below(8) {
            0 => self.random.next_u64(),
            1 => u64::MAX - self.below(64),
            2 => MEMORY + self.below(MEMORY_SIZE),
            _ => self.below(40),
        }
    }

    fn address(&mut self) -> u64 {
        match self.below(8) {
            0 => self.value(),
            _ => MEMORY + self.below(MEMORY_SIZE - 0x400),
        }
    }

    /// Whether there are endpoints of pages: where a kernel writes any words, it would spend credits by some.
    fn has_pages(&self) -> bool {
        self.is_calm || self.has_root
    }

    /// Word 0 of an endpoint of no kind that the world lacks.
    fn first_word(&self, value: u64) -> u64 {
        match value & 15 {
            5 if !self.has_pages() => value ^ 5,
            _ => value,
        }
    }

    /// What a kernel gives to an endpoint. Most receive messages below 3, and send to there above.
    fn words(&mut self, number: u16) -> [u64; 4] {
        let activity = self.activity();
        let tile = match self.below(8) {
            0 => 2,
            tile => tile as u16 % 2,
        };
        let kind = match self.below(4) {
            0 if !self.is_calm => self.below(4) as u16,
            _ if self.has_root && number == ENDPOINTS - 1 => 4,
            _ if self.has_pages() && number == ENDPOINTS - 2 => 5,
            _ => number / 3,
        };
        let credits = self.below(8) as u16;
        let (endpoint, receiver) = self.receiver(tile);
        let endpoint = match kind {
            0 => {
                let log2_slot = 3 + self.below(6).max(3) as u8;
                let (buffer, slots) = (self.address(), self.below(40) as u8);
                Endpoint::Receive(ReceiveEndpoint::new(activity, buffer, log2_slot, slots))
            }
            1 => Endpoint::Send(SendEndpoint {
                activity,
                tile,
                endpoint,
                receiver,
                label: self.random.next_u64(),
                credits,
                most_credits: match self.is_calm {
                    true => credits,
                    false => self.below(4) as u16,
                },
                log2_message: 4 + self.below(6).max(2) as u8,
            }),
            2 => Endpoint::Memory(MemoryEndpoint {
                activity,
                can_read: self.below(4) > 0,
                can_write: self.below(4) > 0,
                tile,
                address: self.address(),
                size: 0x400 ^ self.value(),
                receiver: 0,
            }),
            4 => Endpoint::Registers(RegisterEndpoint { activity, tile }),
            5 => Endpoint::Pages(PagesEndpoint::new(activity, 3 + self.below(3) as u16)),
            _ => {
                let [first, rest @ ..] = [(); 4].map(|()| self.value());
                let [second, third, fourth] = rest;
                return [self.first_word(first), second, third, fourth];
            }
        };
        endpoint.words()
    }

    pub fn access(&mut self, tile: usize, hart: usize, offset: u64, value: Option<u64>) -> u64 {
        let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
        access(unit, around, hart, offset, value).unwrap()
    }

    pub fn endpoints(&mut self, tile: usize) -> Endpoints {
        let word = |e, w| dtu::endpoint_word(e, w);
        (0..ENDPOINTS)
            .map(|e| [0, 1, 2, 3].map(|w| self.access(tile, 0, word(e, w), None)))
            .collect()
    }

    /// An endpoint of a tile and an activity that mostly owns it.
    fn receiver(&mut self, tile: u16) -> (u16, u16) {
        let number = self.below(4) as u16;
        let tile = usize::from(tile);
        if tile < 2 && self.below(8) > 0 {
            let words = self.endpoints(tile)[usize::from(number)];
            if let Some(Endpoint::Receive(receive)) = Endpoint::from_words(words) {
                return (number, receive.activity);
            }
        }
        (number, self.activity())
    }

    /// A kernel gives an endpoint to somebody.
    fn set_up(&mut self, tile: usize, number: u16) {
        let words = self.words(number);
        let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
        set_up(unit, around, number, words);
        self.away.remove(&(tile, number));
    }

    /// An endpoint and a slot for a command: mostly those that an activity can use.
    fn endpoint_for(&mut self, tile: usize, command: u8, activity: u16) -> (u16, u8) {
        let wanted = |words| match (Endpoint::from_words(words)?, Command::from_number(command)?) {
            (Endpoint::Send(send), Command::Send | Command::Forward) => Some((send.activity, 0)),
            (Endpoint::Memory(memory), Command::Read | Command::Write) => {
                Some((memory.activity, 0))
            }
            (Endpoint::Registers(registers), Command::Read | Command::Write) => {
                Some((registers.activity, 0))
            }
            (Endpoint::Pages(pages), Command::Read | Command::Write) => Some((pages.activity, 0)),
            (Endpoint::Receive(receive), _) => {
                Some((receive.activity, receive.occupied.trailing_zeros() as u8))
            }
            _ => None,
        };
        let endpoints = (0..).zip(self.endpoints(tile));
        let usable: Vec<(u16, u8)> = endpoints
            .filter_map(|(number, words)| {
                let (owner, slot) = wanted(words)?;
                (owner == activity).then_some((number, slot))
            })
            .collect();
        match self.below(8) {
            0 => {}
            chosen => {
                if let Some(&usable) = usable.get(chosen as usize % usable.len().max(1)) {
                    return usable;
                }
            }
        }
        (
            self.below(u64::from(ENDPOINTS) + 1) as u16,
            self.below(4) as u8,
        )
    }

    /// The next command may be for registers: they are words, and some exist. Or it is for a page.
    fn choose_registers(&mut self, tile: usize, hart: usize, endpoint: u16) {
        let words = self.endpoints(tile).get(usize::from(endpoint)).copied();
        if let Some(Endpoint::Registers(_)) = words.and_then(Endpoint::from_words) {
            let offset = match self.below(4) {
                0 => self.value(),
                1 if self.below(2) == 0 => dtu::INVALIDATE,
                1 if self.below(2) == 0 => dtu::page_entry(0, 0) + 8 * self.below(16),
                1 => dtu::gone(0) + 8 * self.below(ENDPOINTS.into()),
                2 => dtu::slot_record(0, 0) + 8 * self.below(0x800),
                _ => dtu::ABORT + 8 * self.below(0x240),
            };
            let size = 8 * self.below(6);
            self.access(tile, hart, dtu::OFFSET, Some(offset));
            self.access(tile, hart, dtu::SIZE, Some(size));
        }
        if let Some(Endpoint::Pages(_)) = words.and_then(Endpoint::from_words) {
            let address = MEMORY + self.below(MEMORY_SIZE / 2);
            let offset = dtu::PAGE_SIZE * self.below(2) + self.below(64);
            let size = 1 + self.below(200);
            for (register, value) in [
                (dtu::ADDRESS, address),
                (dtu::OFFSET, offset),
                (dtu::SIZE, size),
            ] {
                self.access(tile, hart, register, Some(value));
            }
        }
    }

    /// A receive endpoint of an activity and a slot with what a unit has asked for a page.
    fn asked_page(&mut self, tile: usize, activity: u16) -> Option<(u16, u8)> {
        let endpoints = (0..).zip(self.endpoints(tile));
        let receives: Vec<_> = endpoints
            .filter_map(|(number, words)| match Endpoint::from_words(words)? {
                Endpoint::Receive(receive) => Some((number, receive)),
                _ => None,
            })
            .filter(|(_, receive)| receive.activity == activity)
            .collect();
        receives.into_iter().find_map(|(number, receive)| {
            let mut slots = (0..32).filter(|&slot| receive.occupied >> slot & 1 != 0);
            let slot = slots.find(|&slot| {
                let start = receive.slot_address(slot).wrapping_sub(MEMORY) as usize;
                let answer_endpoint = self.arounds[tile].memory.get(start.saturating_add(3));
                answer_endpoint == Some(&(ENDPOINTS as u8 - 2))
            })?;
            Some((number, slot))
        })
    }

    /// The hart's next answer may be that of a pager.
    fn choose_page(&mut self, tile: usize, hart: usize) {
        let answer = PageAnswer {
            error: self.below(8) / 7,
            memory: ENDPOINTS - 1 - self.below(9) as u16 / 8,
            can_read: self.below(4) > 0,
            can_write: self.below(2) > 0,
            offset: match self.below(8) {
                0 => self.value(),
                _ => self.below(0x200),
            },
        };
        let start = (MEMORY_SIZE - 0x20) as usize;
        let bytes = answer.bytes();
        self.arounds[tile].memory[start..start + bytes.len()].copy_from_slice(&bytes);
        let address = MEMORY + start as u64;
        self.access(tile, hart, dtu::ADDRESS, Some(address));
        self.access(tile, hart, dtu::SIZE, Some(bytes.len() as u64));
    }

    /// A step of the software of a hart.
    pub fn software(&mut self, tile: usize, hart: usize) {
        match self.below(16) {
            0..5 => {
                let offset = 8 * self.below(11);
                if offset != dtu::COMMAND {
                    let value = match offset {
                        dtu::ADDRESS => self.address(),
                        dtu::SIZE if self.below(4) > 0 => self.below(32),
                        _ => self.value(),
                    };
                    self.access(tile, hart, offset, Some(value));
                }
            }
            5..10 => {
                let mut command = match self.below(4) {
                    0 | 1 => Command::Send as u8,
                    2 => Command::Read as u8 + self.below(2) as u8,
                    _ => self.below(10) as u8,
                };
                if command == Command::Sleep as u8 && self.below(8) > 0 {
                    command = Command::Fetch as u8;
                }
                let activity = self.access(tile, hart, dtu::ACTIVITY, None) as u16;
                let (mut endpoint, mut slot) = self.endpoint_for(tile, command, activity);
                if self.below(2) == 0
                    && let Some(asked) = self.asked_page(tile, activity)
                {
                    command = Command::Reply as u8;
                    (endpoint, slot) = asked;
                }
                self.choose_registers(tile, hart, endpoint);
                if command == Command::Reply as u8 && self.below(4) > 0 {
                    self.choose_page(tile, hart);
                }
                let word = CommandWord {
                    command,
                    endpoint,
                    answer: match self.below(2) {
                        0 => dtu::NO_ANSWER_ENDPOINT,
                        _ => self.endpoint_for(tile, Command::Fetch as u8, activity).0,
                    },
                    slot,
                };
                let was_idle = self.access(tile, hart, dtu::COMMAND, None) == 0;
                self.access(tile, hart, dtu::COMMAND, Some(word.bits()));
                if was_idle {
                    self.starters[tile][hart] = activity;
                }
            }
            10 => {
                let bank = self.below(HARTS as u64 + 1) as usize;
                let (offset, value) = match self.below(8) {
                    0 => (dtu::ABORT, bank as u64 % HARTS as u64),
                    1 => (dtu::WAITING_INTERRUPT, self.random.next_u64()),
                    2 => (dtu::window_base(bank), MEMORY),
                    3 => (dtu::window_size(bank), self.value().max(MEMORY_SIZE / 2)),
                    4..7 => (dtu::ENABLE, u64::MAX),
                    _ => (dtu::current(bank), self.activity().into()),
                };
                self.access(tile, hart, offset, Some(value));
            }
            11 if !self.is_calm => {
                let number = self.below(ENDPOINTS.into()) as u16;
                self.set_up(tile, number);
            }
            12 if !self.is_calm && self.below(4) == 0 => {
                let (number, word) = (self.below(ENDPOINTS.into()) as u16, self.below(4));
                let offset = dtu::endpoint_word(number, word as usize);
                let value = match word {
                    0 => {
                        let value = self.value();
                        self.first_word(value)
                    }
                    _ => self.value(),
                };
                self.access(tile, hart, offset, Some(value));
                if word == 0 {
                    // Credits under way are void.
                    self.away.remove(&(tile, number));
                }
            }
            _ => {
                let size = 1 << self.below(4);
                let offset = self.below(0x4000);
                let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
                around.hart = hart;
                // Most of these are refused.
                let _ = unit.read(offset, size, around);
            }
        }
    }
}
