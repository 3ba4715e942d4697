//! Tiles and links. Tile 0 has a root with software of this test: it sets units up, and answers requests.
use flick_abi::accelerator::{
    self, ANSWERS, ANSWERS_BUFFER, ANSWERS_SLOTS, CONTROL, Control, INPUT, INPUT_DATA,
    INPUT_REQUESTS, Input, LOG2_NOTICE, LOG2_SLOT, OUTPUT_DATA, OUTPUT_REQUESTS, REQUESTS,
    REQUESTS_BUFFER, REQUESTS_SLOTS, STATUS,
};
use flick_abi::dtu::{
    self, ACCELERATOR_REGISTERS, Command, CommandWord, Endpoint, Error, HEADER_SIZE, Header,
    MemoryEndpoint, Outcome, ReceiveEndpoint, RegisterEndpoint, SendEndpoint,
};
use flick_abi::file_protocol::{Answer, REQUEST_SIZE, Request};
use flick_device::accelerator::{Accelerator, AcceleratorDescription, AcceleratorTile};
use flick_device::dtu::{Dtu, DtuDescription};
use flick_device::mock::Mock;
use flick_device::{Device, Time};

use crate::links::Links;

/// The root's memory, in which files are.
pub const MEMORY: u64 = 0x8000_0000;
const MEMORY_SIZE: usize = 0x10_0000;
/// The local memory of an accelerator, and a block.
pub const LOCAL: u64 = 4096;
pub const BLOCK: u64 = 2048;
/// Picoseconds of a command, of a link, and of a block.
pub const COMMAND: Time = 3_000;
pub const LATENCY: Time = 10_000;
pub const BYTE: Time = 62;
pub const COMPUTE: Time = 5_856_000;
/// The root's activity, and that of each accelerator.
pub const ROOT: u16 = 1;
pub const ACTIVITY: u16 = 7;
/// The root's endpoint for requests, and where the buffers of its software are.
pub const SERVES: u16 = 2;
pub const SLOTS: u64 = MEMORY + 0xf_0000;
pub const SCRATCH: u64 = MEMORY + 0xf_8000;
/// The root's endpoints to the registers and the memory of tiles, by tile.
const REGISTERS: u16 = 10;
const MEMORIES: u16 = 20;

pub struct World {
    root: Dtu,
    pub accelerators: Vec<Box<dyn Device>>,
    pub arounds: Vec<Mock>,
    pub links: Links,
}

/// A request that the root has fetched.
pub struct Asked {
    pub label: u64,
    pub request: Request,
    slot: u8,
}

/// The unit of a tile.
pub fn unit(tile: usize) -> DtuDescription {
    DtuDescription {
        tile: tile as u16,
        endpoints: 32,
        slots: 32,
        message: 512,
        packet: 1024,
        command: COMMAND,
        cycle: 1_000_000,
        harts: 1,
        kernel: (tile == 0).then_some(0),
        is_root: tile == 0,
        is_governed: false,
    }
}

impl World {
    /// Tiles with these accelerators, from tile 1 on.
    pub fn new(logics: Vec<Box<dyn Accelerator>>) -> Self {
        let single = |logic| (logic, false);
        Self::with_buffers(logics.into_iter().map(single).collect())
    }

    /// The same, some of which have two buffers, and twice as much memory.
    pub fn with_buffers(logics: Vec<(Box<dyn Accelerator>, bool)>) -> Self {
        let description = |has_two_buffers| AcceleratorDescription {
            block: BLOCK,
            memory: memory_of(has_two_buffers),
            time: COMPUTE,
            cycle: 1_000_000,
            has_two_buffers,
        };
        let tile = |(n, (logic, two))| {
            let tile = AcceleratorTile::new(unit(n + 1), description(two), logic).unwrap();
            (Box::new(tile) as Box<dyn Device>, memory_of(two))
        };
        Self::with_tiles(logics.into_iter().enumerate().map(tile).collect())
    }

    /// These tiles, from tile 1 on, with so many bytes of memory each.
    pub fn with_tiles(all: Vec<(Box<dyn Device>, u64)>) -> Self {
        let tiles = all.len() + 1;
        let linked = (0..tiles as u16).collect();
        let mut arounds = vec![Mock::with_memory(MEMORY, MEMORY_SIZE)];
        let local = |&(_, size): &(_, u64)| Mock::with_memory(0, size as usize);
        arounds.extend(all.iter().map(local));
        arounds
            .iter_mut()
            .for_each(|around| around.tiles.clone_from(&linked));
        let mut world = Self {
            root: Dtu::new(unit(0)).unwrap(),
            accelerators: all.into_iter().map(|(tile, _)| tile).collect(),
            arounds,
            links: Links::new(LATENCY, BYTE),
        };
        world.write(dtu::current(0), ROOT.into());
        world.set_own(
            SERVES,
            Endpoint::Receive(ReceiveEndpoint::new(ROOT, SLOTS, 8, 8)),
        );
        for tile in 1..tiles as u16 {
            let registers = RegisterEndpoint {
                activity: ROOT,
                tile,
            };
            world.set_own(REGISTERS + tile, Endpoint::Registers(registers));
            let memory = MemoryEndpoint {
                activity: ROOT,
                can_read: true,
                can_write: true,
                tile,
                address: 0,
                size: u64::MAX,
                receiver: 0,
            };
            world.set_own(MEMORIES + tile, Endpoint::Memory(memory));
            world.empty_buffers(tile);
            world.set_registers(tile, dtu::current(0), &[ACTIVITY.into()]);
        }
        world
    }

    /// Sets up the endpoints of a tile that receive messages: there are none then.
    pub fn empty_buffers(&mut self, tile: u16) {
        let answers = ReceiveEndpoint::new(ACTIVITY, ANSWERS_BUFFER, LOG2_SLOT, ANSWERS_SLOTS);
        self.set_up(tile, ANSWERS, Endpoint::Receive(answers));
        let requests = ReceiveEndpoint::new(ACTIVITY, REQUESTS_BUFFER, LOG2_SLOT, REQUESTS_SLOTS);
        self.set_up(tile, REQUESTS, Endpoint::Receive(requests));
    }

    /// Input comes from the root, in a file at an address, or from whoever writes it.
    fn set_input(&mut self, tile: u16, input: Input, file: (u64, u64)) {
        self.set_registers(tile, ACCELERATOR_REGISTERS + INPUT, &[input as u64]);
        self.set_up(tile, INPUT_REQUESTS, to_root(INPUT_REQUESTS));
        self.set_up(tile, INPUT_DATA, memory(0, file.0, file.1));
    }

    /// A chain of so many accelerators between two files of the root, by their addresses and sizes.
    pub fn chain(&mut self, accelerators: u16, from: (u64, u64), to: (u64, u64)) {
        for tile in 1..=accelerators {
            match tile {
                1 => self.set_input(tile, Input::Asked, from),
                _ => self.set_input(tile, Input::Pushed, (0, 0)),
            }
            let next = if tile == accelerators {
                Err(to)
            } else {
                Ok(tile + 1)
            };
            self.set_output(tile, next);
        }
    }

    /// Output goes to the root's file, or to another accelerator.
    fn set_output(&mut self, tile: u16, to: Result<u16, (u64, u64)>) {
        let (requests, data) = match to {
            Err((address, size)) => (to_root(OUTPUT_REQUESTS), memory(0, address, size)),
            Ok(next) => {
                let send = SendEndpoint {
                    activity: ACTIVITY,
                    tile: next,
                    endpoint: REQUESTS,
                    receiver: ACTIVITY,
                    label: 0,
                    credits: 1,
                    most_credits: 1,
                    log2_message: LOG2_SLOT,
                };
                // Buffers are the first half of the memory.
                let buffers = self.arounds[usize::from(next)].memory.len() as u64 / 2;
                (Endpoint::Send(send), memory(next, 0, buffers))
            }
        };
        self.set_up(tile, OUTPUT_REQUESTS, requests);
        self.set_up(tile, OUTPUT_DATA, data);
    }

    /// The root is told what happens, with this label.
    pub fn tell_root(&mut self, tile: u16, label: u16) {
        let Endpoint::Send(send) = to_root(label) else {
            unreachable!();
        };
        let notices = SendEndpoint {
            log2_message: LOG2_NOTICE,
            ..send
        };
        self.set_up(tile, accelerator::ROOT, Endpoint::Send(notices));
    }

    pub fn control(&mut self, tile: u16, control: Control) {
        self.set_registers(tile, ACCELERATOR_REGISTERS + CONTROL, &[control as u64]);
    }

    pub fn status(&mut self, tile: u16) -> u64 {
        self.registers::<1>(tile, ACCELERATOR_REGISTERS + STATUS)[0]
    }

    /// The root writes registers of a tile.
    pub fn set_registers(&mut self, tile: u16, offset: u64, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.bytes(SCRATCH, bytes.len()).copy_from_slice(&bytes);
        self.transfer(
            Command::Write,
            REGISTERS + tile,
            offset,
            SCRATCH,
            bytes.len(),
        );
    }

    /// The root reads registers of a tile.
    pub fn registers<const N: usize>(&mut self, tile: u16, offset: u64) -> [u64; N] {
        self.transfer(Command::Read, REGISTERS + tile, offset, SCRATCH, 8 * N);
        let bytes = self.bytes(SCRATCH, 8 * N).to_vec();
        std::array::from_fn(|n| u64::from_le_bytes(bytes[8 * n..8 * n + 8].try_into().unwrap()))
    }

    /// The root copies memory of a tile to or from its own.
    pub fn copy(&mut self, command: Command, tile: u16, offset: u64, own: u64, size: usize) {
        self.transfer(command, MEMORIES + tile, offset, own, size);
    }

    fn transfer(&mut self, command: Command, endpoint: u16, offset: u64, own: u64, size: usize) {
        let word = CommandWord::new(command, endpoint);
        let done = self.command(word, own, size as u64, offset);
        assert_eq!(done, Ok(0), "{command:?} of {size} at {offset:#x}");
    }

    pub fn set_up(&mut self, tile: u16, number: u16, endpoint: Endpoint) {
        self.set_registers(tile, dtu::endpoint_word(number, 0), &endpoint.words());
    }

    /// Sets an endpoint of the root up.
    pub fn set_own(&mut self, number: u16, endpoint: Endpoint) {
        for word in dtu::WRITE_ORDER {
            self.write(dtu::endpoint_word(number, word), endpoint.words()[word]);
        }
    }

    /// The root's memory.
    pub fn bytes(&mut self, address: u64, size: usize) -> &mut [u8] {
        let start = (address - MEMORY) as usize;
        &mut self.arounds[0].memory[start..start + size]
    }

    pub fn read(&mut self, offset: u64) -> u64 {
        self.root.read(offset, 8, &mut self.arounds[0]).unwrap()
    }

    fn write(&mut self, offset: u64, value: u64) {
        self.root
            .write(offset, 8, value, &mut self.arounds[0])
            .unwrap();
        self.collect();
    }

    /// A command of the root from its start to its end.
    pub fn command(
        &mut self,
        word: CommandWord,
        address: u64,
        size: u64,
        offset: u64,
    ) -> Result<u64, Error> {
        for (register, value) in [
            (dtu::ADDRESS, address),
            (dtu::SIZE, size),
            (dtu::OFFSET, offset),
            (dtu::COMMAND, word.bits()),
        ] {
            self.write(register, value);
        }
        while self.read(dtu::COMMAND) != 0 && self.step() {}
        Outcome::from_bits(self.read(dtu::RESULT)).result()
    }

    /// The next request to the root. `None`: nothing goes on any more.
    pub fn asked(&mut self) -> Option<Asked> {
        while self.read(dtu::EVENTS) == 0 {
            if !self.step() {
                return None;
            }
        }
        self.asked_now()
    }

    /// The request to the root that is there.
    pub fn asked_now(&mut self) -> Option<Asked> {
        if self.read(dtu::EVENTS) == 0 {
            return None;
        }
        let (label, request, slot) = self.fetch::<REQUEST_SIZE>();
        Some(Asked {
            label,
            request: Request::from_bytes(&request).unwrap(),
            slot,
        })
    }

    /// The message that is there: its label, payload and slot.
    pub fn fetch<const N: usize>(&mut self) -> (u64, [u8; N], u8) {
        let at = self
            .command(CommandWord::new(Command::Fetch, SERVES), 0, 0, 0)
            .unwrap();
        let message = self.bytes(at, HEADER_SIZE + N).to_vec();
        let (header, payload) = message.split_first_chunk::<HEADER_SIZE>().unwrap();
        let slot = ((at - SLOTS) / 256) as u8;
        let payload = payload.try_into().unwrap();
        (Header::from_bytes(header).label, payload, slot)
    }

    /// The credit of a message goes back.
    pub fn acknowledge(&mut self, slot: u8) {
        let word = CommandWord::new(Command::Acknowledge, SERVES).with_slot(slot);
        self.command(word, 0, 0, 0).unwrap();
    }

    pub fn answer(&mut self, asked: &Asked, answer: Answer) -> Result<u64, Error> {
        self.reply(asked.slot, answer)
    }

    /// Answers the message in a slot.
    pub fn reply(&mut self, slot: u8, answer: Answer) -> Result<u64, Error> {
        let bytes = answer.bytes();
        self.bytes(SCRATCH, bytes.len()).copy_from_slice(&bytes);
        let word = CommandWord::new(Command::Reply, SERVES).with_slot(slot);
        self.command(word, SCRATCH, bytes.len() as u64, 0)
    }

    fn collect(&mut self) {
        self.links.collect(&mut self.arounds);
    }

    /// The next event or arrival happens. False: there is none.
    pub fn step(&mut self) -> bool {
        let Some((tile, happens)) = self.links.next(&mut self.arounds) else {
            return false;
        };
        let unit: &mut dyn Device = match tile {
            0 => &mut self.root,
            _ => &mut *self.accelerators[tile - 1],
        };
        happens.to(unit, &mut self.arounds[tile]);
        self.collect();
        true
    }
}

/// Bytes of an accelerator's local memory.
pub fn memory_of(has_two_buffers: bool) -> u64 {
    LOCAL << u32::from(has_two_buffers)
}

/// An endpoint to the root's software, which knows the sender by the label.
pub fn to_root(label: u16) -> Endpoint {
    Endpoint::Send(SendEndpoint {
        activity: ACTIVITY,
        tile: 0,
        endpoint: SERVES,
        receiver: ROOT,
        label: label.into(),
        credits: 1,
        most_credits: 1,
        log2_message: LOG2_SLOT,
    })
}

pub fn memory(tile: u16, address: u64, size: u64) -> Endpoint {
    Endpoint::Memory(MemoryEndpoint {
        activity: ACTIVITY,
        can_read: true,
        can_write: true,
        tile,
        address,
        size,
        receiver: 0,
    })
}
