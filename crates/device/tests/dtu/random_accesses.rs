//! Any software on two tiles: random accesses by user harts and kernels, and packets in any order.
//! No access panics, and no activity uses another's endpoint.
use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, MemoryEndpoint, ReceiveEndpoint, SendEndpoint,
};
use flick_device::Device;
use flick_device::dtu::{Dtu, Packet, PacketKind};
use flick_device::mock::Mock;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;

use crate::network::{MEMORY, access, description, set_up};

const HARTS: usize = 3;
const ENDPOINTS: u16 = 8;
const MEMORY_SIZE: u64 = 0x1000;

struct World {
    random: Pcg64Mcg,
    units: Vec<Dtu>,
    arounds: Vec<Mock>,
    /// Packets between the tiles.
    under_way: Vec<Packet>,
    /// The activity that has started the command of a bank.
    starters: [[u16; HARTS]; 2],
    delivered: u64,
    fetched: u64,
    transferred: u64,
}

type Endpoints = Vec<[u64; 4]>;

impl World {
    fn new(seed: u128) -> Self {
        let mut around = Mock::with_memory(MEMORY, MEMORY_SIZE as usize);
        around.tiles = (0..2).collect();
        let unit = |tile| {
            let mut description = description(tile);
            description.harts = HARTS;
            description.kernel = (tile == 0).then_some(2);
            description.endpoints = ENDPOINTS;
            description.packet = 64;
            Dtu::new(description).unwrap()
        };
        let mut world = Self {
            random: Pcg64Mcg::new(seed),
            units: vec![unit(0), unit(1)],
            arounds: vec![around; 2],
            under_way: Vec::new(),
            starters: [[dtu::NO_ACTIVITY; HARTS]; 2],
            delivered: 0,
            fetched: 0,
            transferred: 0,
        };
        for tile in 0..2 {
            for hart in 0..HARTS {
                world.access(tile, hart, dtu::current(hart), Some(hart as u64 / 2));
                world.access(tile, hart, dtu::ADDRESS, Some(MEMORY));
                world.access(tile, hart, dtu::SIZE, Some(8));
            }
            (0..ENDPOINTS).for_each(|number| world.set_up(tile, number));
        }
        world
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random.next_u64() % end
    }

    fn activity(&mut self) -> u16 {
        match self.below(16) {
            0 => dtu::NO_ACTIVITY,
            1 => 2,
            // Most often 0, so that activities meet.
            activity => (activity < 5) as u16,
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

    /// What a kernel gives to an endpoint. Most receive messages below 3, and send to there above.
    fn words(&mut self, number: u16) -> [u64; 4] {
        let activity = self.activity();
        let tile = match self.below(8) {
            0 => 2,
            tile => tile as u16 % 2,
        };
        let kind = match self.below(4) {
            0 => self.below(4) as u16,
            _ => number / 3,
        };
        let endpoint = match kind {
            0 => {
                let log2_slot = 3 + self.below(6) as u8;
                let (buffer, slots) = (self.address(), self.below(40) as u8);
                Endpoint::Receive(ReceiveEndpoint::new(activity, buffer, log2_slot, slots))
            }
            1 => Endpoint::Send(SendEndpoint {
                activity,
                tile,
                endpoint: self.below(4) as u16,
                receiver: self.activity(),
                label: self.random.next_u64(),
                credits: self.below(8) as u16,
                most_credits: self.below(4) as u16,
                log2_message: 4 + self.below(6) as u8,
            }),
            2 => Endpoint::Memory(MemoryEndpoint {
                activity,
                can_read: self.below(4) > 0,
                can_write: self.below(4) > 0,
                tile,
                address: self.address(),
                size: 0x400 ^ self.value(),
            }),
            _ => return [(); 4].map(|()| self.value()),
        };
        endpoint.words()
    }

    fn access(&mut self, tile: usize, hart: usize, offset: u64, value: Option<u64>) -> u64 {
        let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
        access(unit, around, hart, offset, value).unwrap()
    }

    fn set_up(&mut self, tile: usize, number: u16) {
        let words = self.words(number);
        let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
        set_up(unit, around, number, words);
    }

    fn endpoints(&mut self, tile: usize) -> Endpoints {
        let word = |e, w| dtu::endpoint_word(e, w);
        (0..ENDPOINTS)
            .map(|e| [0, 1, 2, 3].map(|w| self.access(tile, 0, word(e, w), None)))
            .collect()
    }

    /// A step of the software of a hart.
    fn software(&mut self, tile: usize, hart: usize) {
        match self.below(16) {
            0..5 => {
                let offset = 8 * self.below(11);
                if offset != dtu::COMMAND {
                    let value = match offset {
                        dtu::ADDRESS => self.address(),
                        _ => self.value(),
                    };
                    self.access(tile, hart, offset, Some(value));
                }
            }
            5..10 => {
                let command = match self.below(2) {
                    0 => Command::Send as u8,
                    _ => self.below(9) as u8,
                };
                let endpoint = match Command::from_number(command) {
                    Some(Command::Send) => 3 + self.below(3) as u16,
                    Some(Command::Read | Command::Write) => 6 + self.below(3) as u16,
                    _ => self.below(4) as u16,
                };
                let word = CommandWord {
                    command,
                    endpoint: match self.below(8) {
                        0 => self.below(u64::from(ENDPOINTS) + 1) as u16,
                        _ => endpoint,
                    },
                    answer: match self.below(4) {
                        0..3 => dtu::NO_ANSWER_ENDPOINT,
                        _ => self.below(ENDPOINTS.into()) as u16,
                    },
                    slot: self.below(4) as u8,
                };
                let activity = self.access(tile, hart, dtu::ACTIVITY, None) as u16;
                let was_idle = self.access(tile, hart, dtu::COMMAND, None) == 0;
                self.access(tile, hart, dtu::COMMAND, Some(word.bits()));
                if was_idle {
                    self.starters[tile][hart] = activity;
                }
            }
            10 => {
                let bank = self.below(HARTS as u64 + 1) as usize;
                let (offset, value) = match self.below(8) {
                    0 => (dtu::ABORT, bank as u64),
                    1 => (dtu::WAITING_INTERRUPT, self.random.next_u64()),
                    2 => (dtu::window_base(bank), MEMORY),
                    3 => (dtu::window_size(bank), self.value().max(MEMORY_SIZE / 2)),
                    4..7 => (dtu::ENABLE, u64::MAX),
                    _ => (dtu::current(bank), self.activity().into()),
                };
                self.access(tile, hart, offset, Some(value));
            }
            11..14 if self.below(4) == 0 => {
                let number = self.below(ENDPOINTS.into()) as u16;
                self.set_up(tile, number);
            }
            14 if self.below(4) == 0 => {
                let number = self.below(ENDPOINTS.into()) as u16;
                let offset = dtu::endpoint_word(number, self.below(4) as usize);
                let value = self.value();
                self.access(tile, hart, offset, Some(value));
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

    /// The command of a bank goes on, or a packet within the tile arrives.
    fn event(&mut self, tile: usize) {
        let around = &mut self.arounds[tile];
        let count = around.events.len();
        if count == 0 {
            return;
        }
        let chosen = (self.random.next_u64() % count as u64) as usize;
        let (&token, &at) = around.events.iter().nth(chosen).unwrap();
        around.events.remove(&token);
        around.now = around.now.max(at.min(around.now + 10_000_000));
        let before = self.endpoints(tile);
        let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
        let start = around.sent.len();
        unit.event(token, around);
        let after = self.endpoints(tile);
        if (token as usize) < HARTS {
            let starter = self.starters[tile][token as usize];
            self.check_use(&before, &after, starter);
            for packet in &self.arounds[tile].sent[start..] {
                check_transfer(packet, &after, starter);
            }
        }
    }

    /// A command has changed only endpoints of the activity that started it.
    fn check_use(&mut self, before: &Endpoints, after: &Endpoints, starter: u16) {
        for (before, after) in before.iter().zip(after) {
            if before != after {
                let owner = Endpoint::from_words(*before).unwrap().activity();
                assert_eq!(owner, starter, "another's endpoint was used");
                assert_ne!(owner, dtu::NO_ACTIVITY);
                self.fetched += 1;
            }
        }
    }

    fn arrive(&mut self) {
        if self.under_way.is_empty() {
            return;
        }
        let chosen = (self.random.next_u64() % self.under_way.len() as u64) as usize;
        let packet = self.under_way.swap_remove(chosen);
        let tile = usize::from(packet.to);
        let before = self.endpoints(tile);
        let kind = packet.kind.clone();
        self.units[tile].packet(packet, &mut self.arounds[tile]);
        let after = self.endpoints(tile);
        self.transferred += u64::from(matches!(kind, PacketKind::Data { .. }));
        let PacketKind::Message(_, message) = kind else {
            return;
        };
        for (before, after) in before.iter().zip(&after) {
            let receives = |words| match Endpoint::from_words(words) {
                Some(Endpoint::Receive(receive)) => Some(receive),
                _ => None,
            };
            if let (Some(before), Some(after)) = (receives(*before), receives(*after))
                && before != after
            {
                assert_eq!(after.activity, message.receiver);
                assert_ne!(after.activity, dtu::NO_ACTIVITY);
                assert_eq!((after.occupied ^ before.occupied).count_ones(), 1);
                self.delivered += 1;
            }
        }
    }

    /// The unit's future is that of another unit with its state.
    fn snapshot(&mut self, tile: usize) {
        let saved = self.units[tile].save();
        let mut other = self.units[tile].clone();
        other.reset();
        other.load(&saved).unwrap();
        assert!(other == self.units[tile]);
        self.units[tile] = other;
    }

    fn step(&mut self) {
        let (tile, hart) = (self.below(2) as usize, self.below(HARTS as u64) as usize);
        match self.below(1024) {
            0 => self.snapshot(tile),
            1..400 => self.software(tile, hart),
            400..700 => self.event(tile),
            _ => self.arrive(),
        }
        for around in &mut self.arounds {
            self.under_way.append(&mut around.sent);
        }
    }
}

/// The first packets of a transfer are within a memory endpoint of the activity.
fn check_transfer(packet: &Packet, endpoints: &Endpoints, starter: u16) {
    let (address, size, is_read) = match &packet.kind {
        PacketKind::Read { address, size, .. } => (*address, u64::from(*size), true),
        PacketKind::Write { address, bytes, .. } => (*address, bytes.len() as u64, false),
        _ => return,
    };
    let mut memories = endpoints
        .iter()
        .filter_map(|&words| match Endpoint::from_words(words) {
            Some(Endpoint::Memory(memory)) => Some(memory),
            _ => None,
        });
    let allows = memories.any(|memory| {
        let start = address.wrapping_sub(memory.address);
        let is_right = if is_read {
            memory.can_read
        } else {
            memory.can_write
        };
        let within = start <= memory.size && size <= memory.size - start;
        memory.activity == starter && memory.tile == packet.to && is_right && within
    });
    assert!(allows, "{packet:?} is of no endpoint");
}

/// `FLICK_DTU_ACCESSES=30000000` is the long run, in release: 12 million steps of software.
#[test]
fn any_software_keeps_to_its_endpoints() {
    let steps = std::env::var("FLICK_DTU_ACCESSES").map_or(100_000, |text| {
        text.parse().expect("FLICK_DTU_ACCESSES is a number")
    });
    let mut world = World::new(20);
    for number in 0..steps {
        world.step();
        // A world that has become useless begins again.
        if number % 500 == 499 {
            let counts = (world.delivered, world.fetched, world.transferred);
            world = World::new(number);
            (world.delivered, world.fetched, world.transferred) = counts;
        }
    }
    let World {
        delivered,
        fetched,
        transferred,
        ..
    } = world;
    let enough = u64::try_from(steps).unwrap() / 5_000;
    assert!(delivered > enough, "{delivered} messages were delivered");
    assert!(
        fetched > enough,
        "{fetched} commands have changed an endpoint"
    );
    assert!(
        transferred > enough,
        "{transferred} packets of data have arrived"
    );
}
