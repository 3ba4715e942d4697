//! A unit with pages, and the pager and root that give them.
use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, Error, HEADER_SIZE, Invalidation, MemoryEndpoint,
    PageAnswer, PageEntry, PageFault, PagesEndpoint, ReceiveEndpoint, RegisterEndpoint,
    SendEndpoint,
};

use crate::network::{MEMORY, Network};

/// Endpoints of tile 1, and of the pager and root in tile 0.
pub const PAGES: u16 = 9;
pub const ASKS: u16 = 10;
pub const REACHES: u16 = 11;
pub const SERVES: u16 = 5;
pub const REGISTERS: u16 = 6;
/// What the memory endpoint of tile 1 reaches in tile 0.
pub const FILES: u64 = MEMORY + 0x2_0000;
pub const FILES_SIZE: u64 = 0x6_0000;
pub const BUFFER: u64 = MEMORY + 0x1_0000;
pub const LOCAL: u64 = MEMORY + 0x4_0000;
pub const PAGE: u64 = 0x7000_0000;
pub const READ: CommandWord = CommandWord::new(Command::Read, PAGES);
pub const WRITE: CommandWord = CommandWord::new(Command::Write, PAGES);
/// Activities of tile 1's harts, and of the root.
pub const FIRST: u16 = 10;
pub const ROOT: u16 = 0;

pub fn memory(size: u64) -> Endpoint {
    Endpoint::Memory(MemoryEndpoint {
        activity: FIRST,
        can_read: true,
        can_write: true,
        tile: 0,
        address: FILES,
        size,
        receiver: 0,
    })
}

/// Tile 1 has pages, for harts 0 and 1. Tile 0 is the pager and the root.
pub fn paged(pager: u16) -> Network {
    let mut network = Network::two();
    network.write(1, 0, dtu::current(1), FIRST.into());
    let send = Endpoint::Send(SendEndpoint {
        activity: FIRST,
        tile: 0,
        endpoint: SERVES,
        receiver: ROOT,
        label: 77,
        credits: 1,
        most_credits: 1,
        log2_message: 6,
    });
    network.set_up(1, ASKS, send);
    network.set_up(1, REACHES, memory(FILES_SIZE));
    let pages = PagesEndpoint::new(FIRST, pager);
    network.set_up(1, PAGES, Endpoint::Pages(pages));
    let serves = ReceiveEndpoint::new(ROOT, BUFFER, 6, 4);
    network.set_up(0, SERVES, Endpoint::Receive(serves));
    let registers = RegisterEndpoint {
        activity: ROOT,
        tile: 1,
    };
    network.set_up(0, REGISTERS, Endpoint::Registers(registers));
    for (n, byte) in network
        .memory(0, FILES, FILES_SIZE as usize)
        .iter_mut()
        .enumerate()
    {
        *byte = (n / 4096 + n) as u8;
    }
    network
}

/// The registers of a command of a hart of tile 1.
pub fn access(network: &mut Network, hart: usize, address: u64, size: u64) {
    network.write(1, hart, dtu::ADDRESS, LOCAL + 0x1000 * hart as u64);
    network.write(1, hart, dtu::OFFSET, address);
    network.write(1, hart, dtu::SIZE, size);
}

/// A command of hart 0 of tile 1 that needs no pager.
pub fn outcome(
    network: &mut Network,
    word: CommandWord,
    address: u64,
    size: u64,
) -> Result<u64, Error> {
    access(network, 0, address, size);
    network.command(1, 0, word)
}

/// The root writes registers of tile 1.
pub fn root_writes(network: &mut Network, offset: u64, words: &[u64]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    network.prepare(0, 0, &bytes);
    network.write(0, 0, dtu::OFFSET, offset);
    let word = CommandWord::new(Command::Write, REGISTERS);
    assert_eq!(network.command(0, 0, word), Ok(0));
}

pub fn root_reads(network: &mut Network, offset: u64) -> u64 {
    network.prepare(0, 0, &[0; 8]);
    network.write(0, 0, dtu::OFFSET, offset);
    let word = CommandWord::new(Command::Read, REGISTERS);
    assert_eq!(network.command(0, 0, word), Ok(0));
    let at = network.read(0, 0, dtu::ADDRESS);
    u64::from_le_bytes(network.memory(0, at, 8).try_into().unwrap())
}

pub fn set_entry(network: &mut Network, number: usize, entry: PageEntry) {
    root_writes(network, dtu::page_entry(number, 0), &entry.words());
}

pub const ENTRY: PageEntry = PageEntry {
    endpoint: PAGES,
    page: PAGE,
    memory: REACHES,
    can_read: true,
    can_write: false,
    offset: 0x3000,
};

pub fn invalidate(network: &mut Network, page: Option<u64>) {
    let endpoint = PAGES as u8;
    let bits = Invalidation { endpoint, page }.bits();
    root_writes(network, dtu::INVALIDATE, &[bits]);
}

/// The fault that the pager finds next, and its slot.
pub fn fault(network: &mut Network) -> Option<(PageFault, u8)> {
    while network.read(0, 0, dtu::EVENTS) == 0 {
        if !network.step() {
            return None;
        }
    }
    let at = network.fetch(0, 0, SERVES)?;
    let message = network.memory(0, at + HEADER_SIZE as u64, 24).to_vec();
    let fault = PageFault::from_bytes(message.as_slice().try_into().unwrap());
    Some((fault, ((at - BUFFER) / 64) as u8))
}

pub fn answer(network: &mut Network, slot: u8, answer: PageAnswer) {
    let word = CommandWord::new(Command::Reply, SERVES).with_slot(slot);
    assert_eq!(network.send(0, 0, word, &answer.bytes()), Ok(0));
    network.rest();
}

pub const ANSWER: PageAnswer = PageAnswer {
    error: 0,
    memory: REACHES,
    can_read: true,
    can_write: false,
    offset: 0x3000,
};

pub fn has_read(network: &mut Network, hart: u64, from: u64, size: usize) {
    let read = network.memory(1, LOCAL + 0x1000 * hart, size).to_vec();
    assert_eq!(read, network.memory(0, FILES + from, size));
}
