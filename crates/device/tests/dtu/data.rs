//! Reads and writes of remote memory.
use flick_abi::dtu::{self, Command, CommandWord, Endpoint, Error, MemoryEndpoint};

use crate::network::{BYTE, COMMAND, LATENCY, MEMORY, Network};

const REMOTE: u64 = MEMORY + 0x4_0000;
const LOCAL: u64 = MEMORY + 0x6_0000;
pub const READ: CommandWord = CommandWord::new(Command::Read, 9);
pub const WRITE: CommandWord = CommandWord::new(Command::Write, 9);

/// Endpoint 9 of tile 0 reaches so many bytes of tile 1, which are all different.
pub fn remote_memory(size: u64) -> Network {
    let mut network = Network::two();
    network.set_up(0, 9, Endpoint::Memory(memory(size)));
    let bytes: Vec<u8> = (0..size).map(|i| (i * 7 + i / 256) as u8).collect();
    network
        .memory(1, REMOTE, bytes.len())
        .copy_from_slice(&bytes);
    network
}

/// Memory that has the data of an activity is reached while that activity runs there.
#[test]
fn memory_is_of_an_activity() {
    let mut network = remote_memory(64);
    let own = MemoryEndpoint {
        receiver: 9,
        ..memory(64)
    };
    network.set_up(0, 9, Endpoint::Memory(own));
    let gone = Err(Error::Gone);
    for (current, outcome) in [(8, gone), (9, Ok(0)), (dtu::NO_ACTIVITY, gone)] {
        network.write(1, 0, dtu::current(0), current.into());
        for command in [READ, WRITE] {
            transfer(&mut network, 0, 64);
            assert_eq!(network.command(0, 0, command), outcome, "{current}");
        }
    }
}

fn memory(size: u64) -> MemoryEndpoint {
    MemoryEndpoint {
        activity: 0,
        can_read: true,
        can_write: true,
        tile: 1,
        address: REMOTE,
        size,
        receiver: 0,
    }
}

/// Where the bytes of a transfer are in a tile.
pub fn address(tile: usize) -> u64 {
    [LOCAL, REMOTE][tile]
}

/// The registers of a transfer.
pub fn transfer(network: &mut Network, offset: u64, size: u64) {
    network.write(0, 0, dtu::ADDRESS, LOCAL);
    network.write(0, 0, dtu::OFFSET, offset);
    network.write(0, 0, dtu::SIZE, size);
}

#[test]
fn transfers_of_all_sizes() {
    for size in [0, 1, 8, 1023, 1024, 1025, 4096, 40_000] {
        for offset in [0, 1, 100] {
            let mut network = remote_memory(65_536);
            let range = size as usize;
            transfer(&mut network, offset, size);
            assert_eq!(network.command(0, 0, READ), Ok(0));
            let read = network.memory(0, LOCAL, range).to_vec();
            let remote = network.memory(1, REMOTE + offset, range).to_vec();
            assert_eq!(read, remote);
            // The byte behind is as it was.
            assert_eq!(network.memory(0, LOCAL + size, 1), [0]);
            network.memory(1, REMOTE, 65_536).fill(0xee);
            assert_eq!(network.command(0, 0, WRITE), Ok(0));
            let written = network.memory(1, REMOTE + offset, range).to_vec();
            assert_eq!(written, read);
            assert_eq!(network.memory(1, REMOTE + offset + size, 1), [0xee]);
            if offset > 0 {
                assert_eq!(network.memory(1, REMOTE + offset - 1, 1), [0xee]);
            }
        }
    }
}

#[test]
fn a_long_transfer_uses_the_link() {
    for command in [READ, WRITE] {
        let size = 65_536;
        let mut network = remote_memory(size);
        transfer(&mut network, 0, size);
        assert_eq!(network.command(0, 0, command), Ok(0));
        let ideal = size * BYTE;
        assert!(
            network.links.now * 9 <= ideal * 10,
            "{} for {ideal}",
            network.links.now
        );
    }
    // A short one waits for the latency there and back.
    let mut network = remote_memory(8);
    transfer(&mut network, 0, 8);
    assert_eq!(network.command(0, 0, READ), Ok(0));
    assert_eq!(
        network.links.now,
        COMMAND + 2 * LATENCY + (24 + 16 + 8) * BYTE
    );
}

#[test]
fn ranges_and_rights() {
    let mut network = remote_memory(4096);
    let fails = |network: &mut Network, offset, size, command, error| {
        transfer(network, offset, size);
        assert_eq!(network.command(0, 0, command), Err(error));
    };
    fails(&mut network, 0, 4097, READ, Error::OutOfBounds);
    fails(&mut network, 4090, 7, WRITE, Error::OutOfBounds);
    fails(&mut network, u64::MAX, 2, READ, Error::OutOfBounds);
    fails(&mut network, 2, u64::MAX, READ, Error::OutOfBounds);
    let read_only = MemoryEndpoint {
        can_write: false,
        ..memory(4096)
    };
    network.set_up(0, 9, Endpoint::Memory(read_only));
    fails(&mut network, 0, 8, WRITE, Error::NoRight);
    let write_only = MemoryEndpoint {
        can_read: false,
        ..memory(4096)
    };
    network.set_up(0, 9, Endpoint::Memory(write_only));
    fails(&mut network, 0, 8, READ, Error::NoRight);
    network.write(0, 0, dtu::window_size(0), 16);
    fails(&mut network, 0, 8, WRITE, Error::NoMemory);
    assert_eq!(network.links.carried, 0);
    // An endpoint whose range is no memory.
    network.write(0, 0, dtu::window_size(0), u64::MAX);
    let nowhere = MemoryEndpoint {
        address: MEMORY - 2000,
        ..memory(1 << 30)
    };
    network.set_up(0, 9, Endpoint::Memory(nowhere));
    fails(&mut network, 0, 10_000, READ, Error::NoMemory);
    fails(&mut network, 0, 10_000, WRITE, Error::NoMemory);
    let at_the_end = MemoryEndpoint {
        address: u64::MAX - 7,
        ..memory(u64::MAX)
    };
    network.set_up(0, 9, Endpoint::Memory(at_the_end));
    fails(&mut network, 0, 100_000, READ, Error::NoMemory);
    fails(&mut network, 8, 1, READ, Error::NoMemory);
    // Data of the own tile that are no memory.
    network.set_up(0, 9, Endpoint::Memory(memory(4096)));
    for (address, command) in [
        (0x1000, WRITE),
        (MEMORY + 0xf_ff00, READ),
        (u64::MAX - 10, READ),
    ] {
        network.write(0, 0, dtu::ADDRESS, address);
        network.write(0, 0, dtu::OFFSET, 0);
        network.write(0, 0, dtu::SIZE, 4096);
        assert_eq!(network.command(0, 0, command), Err(Error::NoMemory));
    }
    network.arounds[0].tiles.clear();
    fails(&mut network, 0, 4096, READ, Error::Unreachable);
}

#[test]
fn the_own_tile() {
    let mut network = remote_memory(4096);
    let own = MemoryEndpoint {
        tile: 0,
        ..memory(4096)
    };
    network.set_up(0, 9, Endpoint::Memory(own));
    network.memory(0, REMOTE, 4096).fill(0x77);
    transfer(&mut network, 0, 4096);
    assert_eq!(network.command(0, 0, READ), Ok(0));
    assert_eq!(network.memory(0, LOCAL, 4096), [0x77; 4096]);
    // Four packets there and back, one after the other.
    assert_eq!((network.links.now, network.links.carried), (9 * COMMAND, 0));
}

#[test]
fn ranges_do_not_wrap() {
    // Memory at address 0 is where a range behind the last address would go on.
    let last = u64::MAX - 1023;
    for command in [READ, WRITE] {
        let mut network = remote_memory(4096);
        for tile in 0..2 {
            network.arounds[tile].memory_base = 0;
            network.arounds[tile].memory.fill(tile as u8 + 1);
        }
        let all = MemoryEndpoint {
            address: 0,
            ..memory(u64::MAX)
        };
        network.set_up(0, 9, Endpoint::Memory(all));
        // A window of the tile's last bytes has more bytes than there are behind its base.
        network.write(0, 0, dtu::window_base(0), 0x1000);
        network.write(0, 0, dtu::ADDRESS, last);
        network.write(0, 0, dtu::OFFSET, 0x1000);
        network.write(0, 0, dtu::SIZE, 2048);
        assert_eq!(network.command(0, 0, command), Err(Error::NoMemory));
        let end = MemoryEndpoint {
            address: last,
            ..memory(4096)
        };
        network.set_up(0, 9, Endpoint::Memory(end));
        network.write(0, 0, dtu::ADDRESS, 0x1000);
        network.write(0, 0, dtu::OFFSET, 0);
        assert_eq!(network.command(0, 0, command), Err(Error::NoMemory));
        network.rest();
        for tile in 0..2 {
            let memory = &network.arounds[tile].memory;
            assert!(memory.iter().all(|&byte| byte == tile as u8 + 1));
        }
        assert_eq!(network.links.carried, 0);
    }
}

#[test]
fn no_byte_is_in_every_window() {
    let mut network = remote_memory(4096);
    network.write(0, 0, dtu::window_size(0), 0);
    transfer(&mut network, 0, 0);
    assert_eq!(network.command(0, 0, READ), Ok(0));
    assert_eq!(network.command(0, 0, WRITE), Ok(0));
    assert_eq!(network.links.carried, 0);
}
