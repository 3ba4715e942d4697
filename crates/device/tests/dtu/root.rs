//! What the root does with the units of other tiles: it sets them up, and sends messages in others' names.
use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, Error, ForwardedHeader, HEADER_SIZE, Header,
    MemoryEndpoint, NO_ACTIVITY, ReceiveEndpoint, RegisterEndpoint, SendEndpoint, SlotRecord,
};

use flick_device::dtu::DtuDescription;

use crate::network::{MEMORY, Network, description};

/// Endpoints of the root, which is activity 3 of hart 3 of tile 0.
const REGISTERS: u16 = 70;
const FORWARDS: u16 = 76;
const HART: usize = 3;
/// Memory of the root that commands use.
const LOCAL: u64 = MEMORY + 0x6_0000;
/// The endpoint of activity 11 (tile 1, hart 1) that sends to activity 20, and that for answers.
const SENDS: u16 = 65;
const ANSWERS: u16 = 2;
/// The endpoint of tile 2 that receives.
const RECEIVES: u16 = 4;

/// Three tiles: the root, one with harts, and one without a kernel, where activity 20 is current.
fn network() -> Network {
    let mut third = description(2);
    (third.harts, third.kernel) = (1, None);
    let mut network = Network::new(vec![description(0), description(1), third]);
    for (tile, hart, activity) in [(0, 3, 3), (1, 1, 11), (2, 0, 20)] {
        network.write(tile, 0, dtu::current(hart), activity);
    }
    for tile in [1, 2] {
        let registers = RegisterEndpoint { activity: 3, tile };
        network.set_up(0, REGISTERS + tile, Endpoint::Registers(registers));
    }
    let receive = ReceiveEndpoint::new(11, MEMORY, 8, 4);
    network.set_up(1, ANSWERS, Endpoint::Receive(receive));
    let receive = ReceiveEndpoint::new(20, MEMORY, 8, 4);
    network.set_up(2, RECEIVES, Endpoint::Receive(receive));
    network.set_up(1, SENDS, send(11, 2));
    network.set_up(0, FORWARDS, send(3, 0));
    network
}

/// An endpoint to activity 20.
fn send(activity: u16, credits: u16) -> Endpoint {
    Endpoint::Send(SendEndpoint {
        activity,
        tile: 2,
        endpoint: RECEIVES,
        receiver: 20,
        label: 77,
        credits,
        most_credits: credits,
        log2_message: 8,
    })
}

/// The root writes registers of a tile.
fn write(network: &mut Network, tile: u16, offset: u64, words: &[u64]) -> Result<u64, Error> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    network
        .memory(0, LOCAL, bytes.len())
        .copy_from_slice(&bytes);
    transfer(network, Command::Write, tile, offset, bytes.len())
}

/// The root reads registers of a tile.
fn read<const N: usize>(network: &mut Network, tile: u16, offset: u64) -> Result<[u64; N], Error> {
    transfer(network, Command::Read, tile, offset, 8 * N)?;
    let bytes = network.memory(0, LOCAL, 8 * N).to_vec();
    let word = |n: usize| u64::from_le_bytes(bytes[8 * n..8 * n + 8].try_into().unwrap());
    Ok(std::array::from_fn(word))
}

fn transfer(
    network: &mut Network,
    command: Command,
    tile: u16,
    offset: u64,
    size: usize,
) -> Result<u64, Error> {
    for (register, value) in [
        (dtu::ADDRESS, LOCAL),
        (dtu::SIZE, size as u64),
        (dtu::OFFSET, offset),
    ] {
        network.write(0, HART, register, value);
    }
    network.command(0, HART, CommandWord::new(command, REGISTERS + tile))
}

#[test]
fn the_root_alone_sets_the_endpoints_of_a_governed_tile_up() {
    let governed = DtuDescription {
        is_governed: true,
        ..description(1)
    };
    let mut network = Network::new(vec![description(0), governed]);
    network.write(0, 0, dtu::current(HART), 3);
    let registers = Endpoint::Registers(RegisterEndpoint {
        activity: 3,
        tile: 1,
    });
    network.set_up(0, REGISTERS + 1, registers);
    let memory = Endpoint::Memory(MemoryEndpoint {
        activity: 11,
        can_read: true,
        can_write: true,
        tile: 0,
        address: MEMORY,
        size: 4096,
        receiver: 0,
    });
    // By the kernel of the tile itself: on no hart.
    network.set_up(1, 9, memory);
    assert_eq!(network.endpoint(1, 9), None);
    network.write(1, 3, dtu::endpoint_word(9, 0), memory.words()[0]);
    assert_eq!(network.endpoint(1, 9), None);
    // Its other registers are its own.
    network.write(1, 3, dtu::current(1), 11);
    let read = CommandWord::new(Command::Read, 9);
    assert_eq!(network.command(1, 1, read), Err(Error::NoEndpoint));
    let words = memory.words();
    let at = dtu::endpoint_word(9, 0);
    assert_eq!(write(&mut network, 1, at, &words), Ok(0));
    network.write(1, 1, dtu::ADDRESS, MEMORY);
    network.write(1, 1, dtu::SIZE, 8);
    assert_eq!(network.command(1, 1, read), Ok(0));
    // Neither can it be kept, nor made larger, nor be another activity's.
    for word in 0..4 {
        network.write(1, 3, dtu::endpoint_word(9, word), u64::MAX);
    }
    assert_eq!(network.endpoint(1, 9), Some(memory));
    assert_eq!(write(&mut network, 1, at, &[0; 4]), Ok(0));
    assert_eq!(network.command(1, 1, read), Err(Error::NoEndpoint));
}

#[test]
fn the_root_sets_units_up() {
    let mut network = network();
    let memory = Endpoint::Memory(MemoryEndpoint {
        activity: 20,
        can_read: true,
        can_write: false,
        tile: 0,
        address: MEMORY,
        size: 64,
        receiver: 0,
    });
    let words = memory.words();
    assert_eq!(
        write(&mut network, 2, dtu::endpoint_word(9, 0), &words),
        Ok(0)
    );
    assert_eq!(network.endpoint(2, 9), Some(memory));
    assert_eq!(read(&mut network, 2, dtu::endpoint_word(9, 0)), Ok(words));
    // All banks of a tile at once, and a receive endpoint, whose word 3 is to stay.
    assert_eq!(write(&mut network, 1, dtu::current(0), &[5, 6, 7]), Ok(0));
    assert_eq!(network.read(1, 1, dtu::ACTIVITY), 6);
    let mut receive = ReceiveEndpoint::new(20, MEMORY + 0x100, 8, 2);
    receive.occupied = 1;
    let words = Endpoint::Receive(receive).words();
    assert_eq!(
        write(&mut network, 2, dtu::endpoint_word(10, 0), &words),
        Ok(0)
    );
    assert_eq!(
        network.endpoint(2, 10),
        Some(Endpoint::Receive(ReceiveEndpoint {
            occupied: 0,
            ..receive
        }))
    );
    let slots = dtu::endpoint_word(10, 3);
    assert_eq!(write(&mut network, 2, slots, &words[3..]), Ok(0));
    assert_eq!(network.endpoint(2, 10), Some(Endpoint::Receive(receive)));
    // More than a packet.
    let many = vec![0; 4 * 70];
    assert_eq!(
        write(&mut network, 2, dtu::endpoint_word(0, 0), &many),
        Ok(0)
    );
    assert_eq!(network.endpoint(2, RECEIVES), None);
}

#[test]
fn registers_are_whole_and_of_other_tiles() {
    let mut network = network();
    for offset in [dtu::ABORT + 4, dtu::COMMAND, dtu::ADDRESS, u64::MAX - 7] {
        let written = write(&mut network, 1, offset, &[0]);
        assert_eq!(written, Err(Error::OutOfBounds), "{offset:#x}");
    }
    let half = transfer(&mut network, Command::Write, 1, dtu::ENABLE, 4);
    assert_eq!(half, Err(Error::OutOfBounds));
    // A tile without an accelerator.
    let accelerator = write(&mut network, 2, dtu::ACCELERATOR_REGISTERS, &[1]);
    assert_eq!(accelerator, Err(Error::OutOfBounds));
    // What is not there reads as 0.
    assert_eq!(read(&mut network, 1, dtu::TIMEOUT + 8), Ok([0]));
    assert_eq!(read(&mut network, 1, dtu::gone(200)), Ok([0]));
    assert_eq!(
        write(&mut network, 1, dtu::gone(200), &[0]),
        Err(Error::NoCredits)
    );
    let record = dtu::slot_record(63, 31);
    assert_eq!(read(&mut network, 1, record), Ok(SlotRecord::NONE));
    assert_eq!(
        write(&mut network, 1, record, &[0; 4]),
        Err(Error::NoAnswer)
    );
}

#[test]
fn others_are_not_the_root() {
    let mut network = network();
    let registers = RegisterEndpoint {
        activity: 11,
        tile: 2,
    };
    network.set_up(1, REGISTERS, Endpoint::Registers(registers));
    network.prepare(1, 1, &[0; 64]);
    network.write(1, 1, dtu::OFFSET, dtu::current(0));
    for command in [Command::Read, Command::Write] {
        let result = network.command(1, 1, CommandWord::new(command, REGISTERS));
        assert_eq!(result, Err(Error::NoRight));
    }
    let result = network.command(1, 1, CommandWord::new(Command::Forward, SENDS));
    assert_eq!(result, Err(Error::NoRight));
    assert_eq!(network.read(2, 0, dtu::ACTIVITY), 20);
    // Another activity of the root's tile.
    let result = network.command(0, 0, CommandWord::new(Command::Read, REGISTERS + 1));
    assert_eq!(result, Err(Error::NoEndpoint));
}

/// Activity 11 sends, and the message is refused, since its receiver is suspended.
fn refused(network: &mut Network) {
    let send = CommandWord::new(Command::Send, SENDS).with_answer(ANSWERS);
    network.write(1, 1, dtu::LABEL, 0x55);
    assert_eq!(network.send(1, 1, send, b"what"), Err(Error::Gone));
}

/// The root sends what activity 11 could not, with the payload's bytes.
fn forward(
    network: &mut Network,
    header: Header,
    credit: Option<(u16, u32)>,
) -> Result<u64, Error> {
    let forwarded = ForwardedHeader {
        header,
        credit_endpoint: credit.map_or(0, |(endpoint, _)| endpoint),
        has_credit: credit.is_some(),
        credit_setup: credit.map_or(0, |(_, setup)| setup),
    };
    let bytes = [&forwarded.bytes()[..], b"what"].concat();
    network.send(
        0,
        HART,
        CommandWord::new(Command::Forward, FORWARDS),
        &bytes,
    )
}

/// The header of that message.
fn header() -> Header {
    Header {
        tile: 1,
        endpoint: SENDS as u8,
        answer_endpoint: ANSWERS as u8,
        activity: 11,
        answer_label: 0x55,
        label: 77,
        ..Header::default()
    }
}

#[test]
fn a_refused_message_is_forwarded_once() {
    let mut network = network();
    network.write(2, 0, dtu::current(0), NO_ACTIVITY.into());
    assert_eq!(
        write(&mut network, 1, dtu::gone(SENDS), &[0]),
        Err(Error::NoCredits)
    );
    refused(&mut network);
    assert_eq!(network.credits(1, SENDS), 1);
    let [gone] = read(&mut network, 1, dtu::gone(SENDS)).unwrap();
    assert_eq!(gone >> 32, 1);
    assert_eq!(write(&mut network, 1, dtu::gone(SENDS), &[0]), Ok(0));
    assert_eq!(
        write(&mut network, 1, dtu::gone(SENDS), &[0]),
        Err(Error::NoCredits)
    );
    let credit = Some((SENDS, gone as u32));
    assert_eq!(forward(&mut network, header(), credit), Err(Error::Gone));
    network.write(2, 0, dtu::current(0), 20);
    assert_eq!(forward(&mut network, header(), credit), Ok(0));
    // The receiver sees the message of its sender, and answers.
    let message = network.fetch(2, 0, RECEIVES).unwrap();
    let bytes = network.memory(2, message, HEADER_SIZE + 4).to_vec();
    assert_eq!(bytes[HEADER_SIZE..], *b"what");
    let got = Header::from_bytes(bytes[..HEADER_SIZE].try_into().unwrap());
    assert_eq!(
        got,
        Header {
            size: 4,
            ..header()
        }
    );
    let reply = CommandWord::new(Command::Reply, RECEIVES);
    assert_eq!(network.send(2, 0, reply, b"that"), Ok(0));
    assert_eq!(network.credits(1, SENDS), 2);
    let answer = network.fetch(1, 1, ANSWERS).unwrap();
    let bytes = network.memory(1, answer, HEADER_SIZE + 4).to_vec();
    let got = Header::from_bytes(bytes[..HEADER_SIZE].try_into().unwrap());
    assert!(got.is_answer() && got.label == 0x55 && got.tile == 2);
    assert_eq!(bytes[HEADER_SIZE..], *b"that");
}

#[test]
fn a_message_of_a_former_endpoint_brings_no_credit() {
    let mut network = network();
    network.write(2, 0, dtu::current(0), NO_ACTIVITY.into());
    refused(&mut network);
    let [gone] = read(&mut network, 1, dtu::gone(SENDS)).unwrap();
    network.set_up(1, SENDS, send(11, 2));
    let [again] = read(&mut network, 1, dtu::gone(SENDS)).unwrap();
    assert!(again >> 32 == 0 && again != gone);
    network.write(2, 0, dtu::current(0), 20);
    assert_eq!(
        forward(&mut network, header(), Some((SENDS, gone as u32))),
        Ok(0)
    );
    network.fetch(2, 0, RECEIVES).unwrap();
    let acknowledge = CommandWord::new(Command::Acknowledge, RECEIVES);
    assert_eq!(network.command(2, 0, acknowledge), Ok(0));
    network.rest();
    assert_eq!(network.credits(1, SENDS), 2);
}

#[test]
fn a_message_moves_with_its_receiver() {
    let mut network = network();
    let send = CommandWord::new(Command::Send, SENDS).with_answer(ANSWERS);
    network.write(1, 1, dtu::LABEL, 0x55);
    assert_eq!(network.send(1, 1, send, b"what"), Ok(0));
    let words: [u64; 4] = read(&mut network, 2, dtu::endpoint_word(RECEIVES, 0)).unwrap();
    let record: [u64; 4] = read(&mut network, 2, dtu::slot_record(RECEIVES, 0)).unwrap();
    let known = SlotRecord::from_words(record).unwrap();
    assert_eq!(
        (known.tile, known.activity, known.answer),
        (1, 11, Some(ANSWERS))
    );
    // Another activity uses the endpoint meanwhile.
    let other = ReceiveEndpoint::new(21, MEMORY + 0x800, 8, 4);
    network.set_up(2, RECEIVES, Endpoint::Receive(other));
    assert_eq!(
        read(&mut network, 2, dtu::slot_record(RECEIVES, 0)),
        Ok(SlotRecord::NONE)
    );
    // Then the first one is back, with its message.
    let endpoint = dtu::endpoint_word(RECEIVES, 0);
    assert_eq!(write(&mut network, 2, endpoint, &words), Ok(0));
    assert_eq!(write(&mut network, 2, endpoint + 24, &words[3..]), Ok(0));
    assert_eq!(
        write(&mut network, 2, dtu::slot_record(RECEIVES, 0), &record),
        Ok(0)
    );
    assert_eq!(network.fetch(2, 0, RECEIVES), Some(MEMORY));
    let reply = CommandWord::new(Command::Reply, RECEIVES);
    assert_eq!(network.send(2, 0, reply, b"that"), Ok(0));
    assert_eq!(network.credits(1, SENDS), 2);
    assert!(network.fetch(1, 1, ANSWERS).is_some());
}

#[test]
fn an_answer_to_a_suspended_activity_is_forwarded() {
    let mut network = network();
    // Activity 20 asks activity 3 of the root's tile, and is suspended before the answer.
    let receive = ReceiveEndpoint::new(3, MEMORY, 8, 4);
    network.set_up(0, 5, Endpoint::Receive(receive));
    let Endpoint::Send(first) = send(20, 1) else {
        unreachable!()
    };
    network.set_up(
        2,
        66,
        Endpoint::Send(SendEndpoint {
            tile: 0,
            endpoint: 5,
            receiver: 3,
            ..first
        }),
    );
    let ask = CommandWord::new(Command::Send, 66).with_answer(RECEIVES);
    assert_eq!(network.send(2, 0, ask, b"what"), Ok(0));
    network.fetch(0, HART, 5).unwrap();
    network.write(2, 0, dtu::current(0), NO_ACTIVITY.into());
    let reply = CommandWord::new(Command::Reply, 5);
    assert_eq!(network.send(0, HART, reply, b"that"), Err(Error::Gone));
    // The root takes what the unit knows of the message, so that the credit comes back once.
    let mut words = [0; 4];
    for (n, word) in words.iter_mut().enumerate() {
        let registers = RegisterEndpoint {
            activity: 3,
            tile: 0,
        };
        network.set_up(0, REGISTERS, Endpoint::Registers(registers));
        let offset = dtu::slot_record(5, 0) + 8 * n as u64;
        [*word] = read(&mut network, 0, offset).unwrap();
    }
    let known = SlotRecord::from_words(words).unwrap();
    assert_eq!(
        write(&mut network, 0, dtu::slot_record(5, 0), &SlotRecord::NONE),
        Ok(0)
    );
    assert_eq!(network.send(0, HART, reply, b"that"), Err(Error::NoAnswer));
    let acknowledge = CommandWord::new(Command::Acknowledge, 5);
    assert_eq!(network.command(0, HART, acknowledge), Ok(0));
    network.rest();
    assert_eq!(network.credits(2, 66), 0);
    network.write(2, 0, dtu::current(0), 20);
    let answer = Header {
        flags: dtu::FLAG_ANSWER | dtu::FLAG_CREDIT,
        endpoint: 5,
        activity: 3,
        label: known.label,
        ..Header::default()
    };
    assert_eq!(forward(&mut network, answer, known.credit), Ok(0));
    assert_eq!(network.credits(2, 66), 1);
    assert!(network.fetch(2, 0, RECEIVES).is_some());
}
