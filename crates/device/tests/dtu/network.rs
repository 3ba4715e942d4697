//! Tiles with a unit and a memory each, and links between them with latency and bandwidth.
use flick_abi::dtu::{self, Command, CommandWord, Endpoint, Error, Outcome};
use flick_device::dtu::{Dtu, DtuDescription};
use flick_device::mock::Mock;
use flick_device::{Device, Refused, Time};

use crate::links::Links;

/// The first address of each tile's memory.
pub const MEMORY: u64 = 0x8000_0000;
/// The time of a command.
pub const COMMAND: Time = 3_000;
/// The latency of a link.
pub const LATENCY: Time = 50_000;
/// Picoseconds of a byte on a link: 4 GB/s.
pub const BYTE: Time = 250;
/// No test takes longer.
const LONG: Time = 1_000_000_000_000;

/// A unit of a tile with four harts, the last of which runs the kernel.
pub fn description(tile: u16) -> DtuDescription {
    DtuDescription {
        tile,
        endpoints: 80,
        slots: 32,
        message: 512,
        packet: 1024,
        command: COMMAND,
        cycle: 1_000_000,
        harts: 4,
        kernel: Some(3),
        is_root: tile == 0,
        is_governed: false,
    }
}

/// Accesses a register as a hart, or faults.
pub fn access(
    unit: &mut Dtu,
    around: &mut Mock,
    hart: usize,
    offset: u64,
    value: Option<u64>,
) -> Result<u64, Refused> {
    around.hart = hart;
    match value {
        None => unit.read(offset, 8, around),
        Some(value) => unit.write(offset, 8, value, around).map(|()| 0),
    }
}

/// Sets an endpoint up as a kernel does.
pub fn set_up(unit: &mut Dtu, around: &mut Mock, number: u16, words: [u64; 4]) {
    let word_0 = dtu::endpoint_word(number, 0);
    access(unit, around, 0, word_0, Some(0)).unwrap();
    for word in dtu::WRITE_ORDER {
        let offset = dtu::endpoint_word(number, word);
        access(unit, around, 0, offset, Some(words[word])).unwrap();
    }
}

/// Tiles and links.
pub struct Network {
    pub units: Vec<Dtu>,
    pub arounds: Vec<Mock>,
    pub links: Links,
}

impl Network {
    /// Tiles with these units, all linked.
    pub fn new(descriptions: Vec<DtuDescription>) -> Self {
        let tiles = descriptions.len() as u16;
        let mut around = Mock::with_memory(MEMORY, 0x10_0000);
        around.tiles = (0..tiles).collect();
        Self {
            arounds: vec![around; descriptions.len()],
            units: descriptions
                .into_iter()
                .map(|d| Dtu::new(d).unwrap())
                .collect(),
            links: Links::new(LATENCY, BYTE),
        }
    }

    /// Two tiles. Hart h of tile t runs activity 10 t + h.
    pub fn two() -> Self {
        let mut network = Self::new(vec![description(0), description(1)]);
        for tile in 0..2 {
            for hart in 0..4 {
                let activity = 10 * tile as u64 + hart as u64;
                network.write(tile, 0, dtu::current(hart), activity);
            }
        }
        network
    }

    pub fn read(&mut self, tile: usize, hart: usize, offset: u64) -> u64 {
        let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
        access(unit, around, hart, offset, None).unwrap()
    }

    pub fn write(&mut self, tile: usize, hart: usize, offset: u64, value: u64) {
        let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
        access(unit, around, hart, offset, Some(value)).unwrap();
        self.collect();
    }

    pub fn set_up(&mut self, tile: usize, number: u16, endpoint: Endpoint) {
        let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
        set_up(unit, around, number, endpoint.words());
    }

    /// The endpoint as a kernel reads it.
    pub fn endpoint(&mut self, tile: usize, number: u16) -> Option<Endpoint> {
        let words = [0, 1, 2, 3].map(|word| self.read(tile, 0, dtu::endpoint_word(number, word)));
        Endpoint::from_words(words)
    }

    pub fn credits(&mut self, tile: usize, number: u16) -> u16 {
        match self.endpoint(tile, number) {
            Some(Endpoint::Send(send)) => send.credits,
            other => panic!("endpoint {number} of tile {tile} is {other:?}"),
        }
    }

    /// Bytes of a tile's memory.
    pub fn memory(&mut self, tile: usize, address: u64, size: usize) -> &mut [u8] {
        let start = (address - MEMORY) as usize;
        &mut self.arounds[tile].memory[start..start + size]
    }

    /// Puts what units have sent on the links.
    fn collect(&mut self) {
        self.links.collect(&mut self.arounds);
    }

    /// The next event or arrival happens. False: there is none.
    pub fn step(&mut self) -> bool {
        let Some((tile, happens)) = self.links.next(&mut self.arounds) else {
            return false;
        };
        assert!(self.links.now < LONG, "the network never rests");
        happens.to(&mut self.units[tile], &mut self.arounds[tile]);
        self.collect();
        true
    }

    /// Lets all happen that happens by itself.
    pub fn rest(&mut self) {
        while self.step() {}
    }

    /// Starts a command of a hart.
    pub fn start(&mut self, tile: usize, hart: usize, word: CommandWord) {
        self.write(tile, hart, dtu::COMMAND, word.bits());
    }

    /// The outcome of a hart's last command.
    pub fn result(&mut self, tile: usize, hart: usize) -> Result<u64, Error> {
        assert_eq!(self.read(tile, hart, dtu::COMMAND), 0, "the command runs");
        Outcome::from_bits(self.read(tile, hart, dtu::RESULT)).result()
    }

    /// A command from its start to its end.
    pub fn command(&mut self, tile: usize, hart: usize, word: CommandWord) -> Result<u64, Error> {
        self.start(tile, hart, word);
        while self.read(tile, hart, dtu::COMMAND) != 0 && self.step() {}
        self.result(tile, hart)
    }

    /// Sends bytes, which lie at an address of the hart's own then.
    pub fn send(
        &mut self,
        tile: usize,
        hart: usize,
        word: CommandWord,
        bytes: &[u8],
    ) -> Result<u64, Error> {
        self.prepare(tile, hart, bytes);
        self.command(tile, hart, word)
    }

    /// Puts bytes at an address of the hart's own.
    pub fn prepare(&mut self, tile: usize, hart: usize, bytes: &[u8]) {
        let address = MEMORY + 0x8_0000 + 0x1000 * hart as u64;
        self.memory(tile, address, bytes.len())
            .copy_from_slice(bytes);
        self.write(tile, hart, dtu::ADDRESS, address);
        self.write(tile, hart, dtu::SIZE, bytes.len() as u64);
    }

    /// Fetches a message: its address.
    pub fn fetch(&mut self, tile: usize, hart: usize, endpoint: u16) -> Option<u64> {
        let word = CommandWord::new(Command::Fetch, endpoint);
        let address = self.command(tile, hart, word).unwrap();
        (address != 0).then_some(address)
    }
}
