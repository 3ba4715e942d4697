//! Messages: commands, errors, credits, answers, interrupts.
use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, Error, FLAG_ANSWER, FLAG_CREDIT, HEADER_SIZE, Header,
    Identity, NO_HEADER_ENDPOINT, ReceiveEndpoint, SendEndpoint,
};
use flick_device::dtu::{BadDtu, Dtu};
use flick_device::{Device, Refused};

use crate::network::{COMMAND, LATENCY, MEMORY, Network, access, description};

/// The buffer of a receive endpoint.
pub const BUFFER: u64 = MEMORY + 0x1_0000;
/// The buffer of one that takes answers.
const ANSWERS: u64 = MEMORY + 0x2_0000;
pub const SEND: CommandWord = CommandWord::new(Command::Send, 2);
const SEND_FOR_ANSWER: CommandWord = SEND.with_answer(3);
const REPLY: CommandWord = CommandWord::new(Command::Reply, 5);
const ACKNOWLEDGE: CommandWord = CommandWord::new(Command::Acknowledge, 5);

/// What hart 0 of tile 0 sends by, to hart 1 of tile 1.
pub fn send_endpoint(credits: u16) -> SendEndpoint {
    SendEndpoint {
        activity: 0,
        tile: 1,
        endpoint: 5,
        receiver: 11,
        label: 0x1abe1,
        credits,
        most_credits: credits,
        log2_message: 8,
    }
}

/// Endpoint 2 of tile 0 sends to endpoint 5 of tile 1; endpoint 3 of tile 0 takes answers.
pub fn sender_and_receiver(credits: u16, slots: u8) -> Network {
    let mut network = Network::two();
    network.set_up(0, 2, Endpoint::Send(send_endpoint(credits)));
    let answers = ReceiveEndpoint::new(0, ANSWERS, 7, 2);
    network.set_up(0, 3, Endpoint::Receive(answers));
    let receive = ReceiveEndpoint::new(11, BUFFER, 8, slots);
    network.set_up(1, 5, Endpoint::Receive(receive));
    network
}

fn header_at(network: &mut Network, tile: usize, address: u64) -> Header {
    let bytes = &*network.memory(tile, address, HEADER_SIZE);
    Header::from_bytes(bytes.try_into().unwrap())
}

#[test]
fn a_message_and_its_answer() {
    let mut network = sender_and_receiver(2, 4);
    network.write(1, 1, dtu::INTERRUPT, 1 << 5);
    network.write(0, 0, dtu::LABEL, 0x5555);
    network.prepare(0, 0, b"request");
    network.start(0, 0, SEND_FOR_ANSWER);
    assert_eq!(network.read(0, 0, dtu::COMMAND), SEND_FOR_ANSWER.bits());
    network.rest();
    assert_eq!(network.result(0, 0), Ok(0));
    // There: the command, the latency, 16 + 24 + 7 bytes. Back: the latency, 16 bytes.
    assert_eq!(network.links.now, COMMAND + 2 * LATENCY + (47 + 16) * 250);
    assert_eq!(network.credits(0, 2), 1);
    assert!(network.arounds[1].line(1, dtu::INTERRUPT_BIT));
    assert!(!network.arounds[1].line(3, dtu::INTERRUPT_BIT));
    assert_eq!(network.read(1, 1, dtu::EVENTS), 1 << 5);
    assert_eq!(network.read(1, 0, dtu::EVENTS), 0);

    let address = network.fetch(1, 1, 5).unwrap();
    assert_eq!(address, BUFFER);
    assert!(!network.arounds[1].line(1, dtu::INTERRUPT_BIT));
    let expected = Header {
        flags: 0,
        tile: 0,
        endpoint: 2,
        answer_endpoint: 3,
        size: 7,
        activity: 0,
        answer_label: 0x5555,
        label: 0x1abe1,
    };
    assert_eq!(header_at(&mut network, 1, address), expected);
    assert_eq!(network.memory(1, address + 24, 7), b"request");

    assert_eq!(network.send(1, 1, REPLY, b"answer"), Ok(0));
    assert_eq!(network.credits(0, 2), 2);
    let Some(Endpoint::Receive(receive)) = network.endpoint(1, 5) else {
        panic!("the endpoint has become another");
    };
    assert_eq!((receive.occupied, receive.unread), (0, 0));
    let address = network.fetch(0, 0, 3).unwrap();
    let expected = Header {
        flags: FLAG_ANSWER | FLAG_CREDIT,
        tile: 1,
        endpoint: 5,
        answer_endpoint: NO_HEADER_ENDPOINT,
        size: 6,
        activity: 11,
        answer_label: 0,
        label: 0x5555,
    };
    assert_eq!(header_at(&mut network, 0, address), expected);
    assert_eq!(network.memory(0, address + 24, 6), b"answer");
    // An answer takes none, and its slot is freed without a credit.
    let answers = |command| CommandWord::new(command, 3);
    assert_eq!(
        network.command(0, 0, answers(Command::Reply)),
        Err(Error::NoAnswer)
    );
    assert_eq!(network.command(0, 0, answers(Command::Acknowledge)), Ok(0));
    assert_eq!(
        network.command(0, 0, answers(Command::Acknowledge)),
        Err(Error::NoAnswer)
    );
    assert_eq!(network.fetch(0, 0, 3), None);
}

#[test]
fn credits_bound_the_messages_under_way() {
    let mut network = sender_and_receiver(2, 4);
    assert_eq!(network.send(0, 0, SEND, b"a"), Ok(0));
    assert_eq!(network.send(0, 0, SEND, b"b"), Ok(0));
    assert_eq!(network.send(0, 0, SEND, b"c"), Err(Error::NoCredits));
    assert_eq!(network.fetch(1, 1, 5), Some(BUFFER));
    // It takes no answer.
    assert_eq!(network.command(1, 1, REPLY), Err(Error::NoAnswer));
    assert_eq!(network.command(1, 1, ACKNOWLEDGE), Ok(0));
    network.rest();
    assert_eq!(network.credits(0, 2), 1);
    // The free slot is used, and the older message is first.
    assert_eq!(network.send(0, 0, SEND, b"d"), Ok(0));
    assert_eq!(network.fetch(1, 1, 5), Some(BUFFER + 0x100));
    assert_eq!(network.fetch(1, 1, 5), Some(BUFFER));
    assert_eq!(network.memory(1, BUFFER + 24, 1), b"d");
}

#[test]
fn a_full_receiver_gives_the_credit_back() {
    let mut network = sender_and_receiver(4, 2);
    assert_eq!(network.send(0, 0, SEND, b"a"), Ok(0));
    assert_eq!(network.send(0, 0, SEND, b"b"), Ok(0));
    assert_eq!(network.send(0, 0, SEND, b"c"), Err(Error::NoSpace));
    assert_eq!(network.credits(0, 2), 2);
}

#[test]
fn a_receiver_that_is_gone_keeps_the_credit() {
    let mut network = sender_and_receiver(3, 2);
    let other = ReceiveEndpoint::new(12, BUFFER, 8, 2);
    network.set_up(1, 5, Endpoint::Receive(other));
    assert_eq!(network.send(0, 0, SEND, b"a"), Err(Error::Gone));
    network.set_up(1, 5, Endpoint::Send(send_endpoint(1)));
    assert_eq!(network.send(0, 0, SEND, b"a"), Err(Error::Gone));
    assert_eq!(network.credits(0, 2), 1);
    assert_eq!(network.read(1, 2, dtu::EVENTS), 0);
}

#[test]
fn a_failed_answer_can_be_made_again_or_left() {
    let mut network = sender_and_receiver(3, 3);
    for _ in 0..3 {
        assert_eq!(network.send(0, 0, SEND_FOR_ANSWER, b"a"), Ok(0));
    }
    // Two answers fill the slots. The third finds none.
    assert_eq!(network.send(1, 1, REPLY.with_slot(2), b"a"), Ok(0));
    assert_eq!(network.send(1, 1, REPLY.with_slot(1), b"b"), Ok(0));
    assert_eq!(
        network.send(1, 1, REPLY.with_slot(0), b"c"),
        Err(Error::NoSpace)
    );
    assert_eq!(network.credits(0, 2), 2);
    assert_eq!(network.fetch(0, 0, 3), Some(ANSWERS));
    let free = CommandWord::new(Command::Acknowledge, 3);
    assert_eq!(network.command(0, 0, free), Ok(0));
    // An answer too long for its slot, one too long for the unit, and then one that fits.
    assert_eq!(
        network.send(1, 1, REPLY, &[0; 105]),
        Err(Error::OutOfBounds)
    );
    assert_eq!(
        network.send(1, 1, REPLY, &[0; 500]),
        Err(Error::OutOfBounds)
    );
    assert_eq!(network.send(1, 1, REPLY, &[7; 104]), Ok(0));
    assert_eq!(network.credits(0, 2), 3);
    // The requester is gone: its credit comes back with the slot.
    network.set_up(
        0,
        3,
        Endpoint::Receive(ReceiveEndpoint::new(0, ANSWERS, 7, 2)),
    );
    assert_eq!(network.send(0, 0, SEND_FOR_ANSWER, b"a"), Ok(0));
    network.set_up(
        0,
        3,
        Endpoint::Receive(ReceiveEndpoint::new(1, ANSWERS, 7, 2)),
    );
    assert_eq!(network.send(1, 1, REPLY, b"d"), Err(Error::Gone));
    assert_eq!(network.command(1, 1, ACKNOWLEDGE), Ok(0));
    network.rest();
    assert_eq!(network.credits(0, 2), 3);
    assert_eq!(network.command(1, 1, ACKNOWLEDGE), Err(Error::NoAnswer));
}

#[test]
fn one_message_has_one_answer() {
    let mut network = sender_and_receiver(1, 2);
    network.write(1, 0, dtu::current(2), 11);
    assert_eq!(network.send(0, 0, SEND_FOR_ANSWER, b"a"), Ok(0));
    network.prepare(1, 1, b"one");
    network.prepare(1, 2, b"two");
    network.start(1, 1, REPLY);
    network.start(1, 2, REPLY);
    network.rest();
    assert_eq!(network.result(1, 1), Ok(0));
    assert_eq!(network.result(1, 2), Err(Error::NoAnswer));
    assert!(network.fetch(0, 0, 3).is_some());
    assert_eq!(network.fetch(0, 0, 3), None);
}

#[test]
fn a_credit_of_a_former_endpoint_is_void() {
    let mut network = sender_and_receiver(2, 2);
    assert_eq!(network.send(0, 0, SEND, b"a"), Ok(0));
    let mut again = send_endpoint(2);
    again.credits = 1;
    network.set_up(0, 2, Endpoint::Send(again));
    assert_eq!(network.command(1, 1, ACKNOWLEDGE), Ok(0));
    network.rest();
    assert_eq!(network.credits(0, 2), 1);
}

#[test]
fn refusals_that_send_nothing() {
    let mut network = sender_and_receiver(2, 2);
    let fails = |network: &mut Network, word, error| {
        assert_eq!(network.command(0, 0, word), Err(error));
        assert_eq!((network.credits(0, 2), network.links.carried), (2, 0));
    };
    network.prepare(0, 0, b"x");
    fails(
        &mut network,
        CommandWord::new(Command::Send, 3),
        Error::NoEndpoint,
    );
    fails(
        &mut network,
        CommandWord::new(Command::Send, 99),
        Error::NoEndpoint,
    );
    fails(
        &mut network,
        CommandWord::new(Command::Fetch, 2),
        Error::NoEndpoint,
    );
    fails(
        &mut network,
        CommandWord::new(Command::Acknowledge, 2),
        Error::NoEndpoint,
    );
    fails(
        &mut network,
        CommandWord::new(Command::Reply, 2),
        Error::NoEndpoint,
    );
    fails(
        &mut network,
        CommandWord::new(Command::Read, 2),
        Error::NoEndpoint,
    );
    fails(&mut network, SEND.with_answer(2), Error::NoEndpoint);
    fails(&mut network, SEND.with_answer(79), Error::NoEndpoint);
    fails(
        &mut network,
        CommandWord {
            command: 99,
            ..SEND
        },
        Error::NoCommand,
    );
    fails(&mut network, CommandWord::from_bits(0), Error::NoCommand);
    network.write(0, 0, dtu::SIZE, 256 - 23);
    fails(&mut network, SEND, Error::OutOfBounds);
    network.write(0, 0, dtu::SIZE, u64::MAX);
    fails(&mut network, SEND, Error::OutOfBounds);
    network.write(0, 0, dtu::SIZE, 8);
    network.write(0, 0, dtu::ADDRESS, MEMORY - 4);
    fails(&mut network, SEND, Error::NoMemory);
    // Another activity does not see the endpoint.
    network.prepare(0, 1, b"x");
    assert_eq!(network.command(0, 1, SEND), Err(Error::NoEndpoint));
    // Nor does a bank without an activity see one that is nobody's.
    let mut nobody = send_endpoint(2);
    nobody.activity = dtu::NO_ACTIVITY;
    network.set_up(0, 2, Endpoint::Send(nobody));
    network.write(0, 0, dtu::current(0), dtu::NO_ACTIVITY.into());
    network.prepare(0, 0, b"x");
    fails(&mut network, SEND, Error::NoEndpoint);
}

#[test]
fn a_window_bounds_what_a_bank_reaches_in_its_tile() {
    let mut network = sender_and_receiver(9, 9);
    network.write(0, 0, dtu::window_base(0), MEMORY + 0x100);
    network.write(0, 0, dtu::window_size(0), 0x100);
    let mut at = |address, size| {
        network.write(0, 0, dtu::ADDRESS, address);
        network.write(0, 0, dtu::SIZE, size);
        network.command(0, 0, SEND)
    };
    assert_eq!(at(MEMORY + 0x100, 0x80), Ok(0));
    assert_eq!(at(MEMORY + 0x1ff, 1), Ok(0));
    assert_eq!(at(MEMORY + 0x1ff, 2), Err(Error::NoMemory));
    assert_eq!(at(MEMORY + 0xff, 2), Err(Error::NoMemory));
    // No byte is outside.
    assert_eq!(at(0, 0), Ok(0));
}

#[test]
fn no_link_leads_there() {
    let mut network = sender_and_receiver(2, 2);
    network.arounds[0].tiles.clear();
    assert_eq!(network.send(0, 0, SEND, b"a"), Err(Error::Unreachable));
    assert_eq!(network.credits(0, 2), 2);
}

#[test]
fn messages_within_a_tile_pass_the_unit_alone() {
    let mut network = sender_and_receiver(2, 2);
    let mut own = send_endpoint(1);
    own.tile = 0;
    own.receiver = 1;
    network.set_up(0, 2, Endpoint::Send(own));
    network.set_up(
        0,
        5,
        Endpoint::Receive(ReceiveEndpoint::new(1, BUFFER, 8, 2)),
    );
    network.arounds[0].tiles.clear();
    assert_eq!(network.send(0, 0, SEND_FOR_ANSWER, b"a"), Ok(0));
    // The command, the message, and its confirmation.
    assert_eq!((network.links.now, network.links.carried), (3 * COMMAND, 0));
    assert_eq!(network.fetch(0, 1, 5), Some(BUFFER));
    assert_eq!(network.send(0, 1, REPLY, b"b"), Ok(0));
    assert_eq!(network.fetch(0, 0, 3), Some(ANSWERS));
    assert_eq!(network.credits(0, 2), 1);
}

#[test]
fn sleep_ends_with_a_message_or_with_its_time() {
    let mut network = sender_and_receiver(2, 2);
    let sleep = CommandWord::new(Command::Sleep, 0);
    network.write(1, 1, dtu::SIZE, 1000);
    assert_eq!(network.command(1, 1, sleep), Ok(0));
    assert_eq!(network.links.now, COMMAND + 1_000_000);
    network.write(1, 1, dtu::SIZE, 0);
    network.start(1, 1, sleep);
    network.rest();
    assert_eq!(network.read(1, 1, dtu::COMMAND), sleep.bits());
    assert_eq!(network.send(0, 0, SEND, b"a"), Ok(0));
    assert_eq!(network.result(1, 1), Ok(0));
    // The message is still unread.
    assert_eq!(network.command(1, 1, sleep), Ok(0));
}

#[test]
fn a_command_that_runs_is_not_disturbed() {
    let mut network = sender_and_receiver(2, 2);
    network.prepare(0, 0, b"first");
    network.start(0, 0, SEND);
    // Neither another command nor other registers.
    network.start(0, 0, CommandWord::new(Command::Fetch, 3));
    network.prepare(0, 0, b"secon");
    network.write(0, 0, dtu::SIZE, 2);
    network.rest();
    assert_eq!(network.result(0, 0), Ok(0));
    assert_eq!(network.memory(1, BUFFER + 4, 2), [5, 0]);
    assert_eq!(network.credits(0, 2), 1);
}

#[test]
fn registers() {
    let mut network = Network::new(vec![description(7)]);
    let identity = Identity::from_bits(network.read(0, 2, dtu::IDENTITY));
    let expected = Identity {
        version: 1,
        endpoints: 80,
        slots: 32,
        message: 512,
        tile: 7,
    };
    assert_eq!(identity, expected);
    // After reset.
    assert_eq!(network.read(0, 0, dtu::ENABLE), 0xf);
    assert_eq!(network.read(0, 0, dtu::ACTIVITY), 0xffff);
    assert_eq!(network.read(0, 0, dtu::current(3)), 0xffff);
    assert_eq!(network.read(0, 0, dtu::window_base(3)), 0);
    assert_eq!(network.read(0, 0, dtu::window_size(3)), u64::MAX);
    assert_eq!(network.read(0, 0, dtu::TIMEOUT), dtu::FIRST_TIMEOUT);
    // Each hart has its own.
    for offset in [
        dtu::RESULT,
        dtu::ADDRESS,
        dtu::SIZE,
        dtu::OFFSET,
        dtu::LABEL,
        dtu::INTERRUPT,
    ] {
        network.write(0, 1, offset, 0x1234_5678_9abc_def0);
        assert_eq!(network.read(0, 1, offset), 0x1234_5678_9abc_def0);
        assert_eq!(network.read(0, 2, offset), 0);
    }
    // Banks and endpoints that the unit does not have.
    for offset in [
        dtu::current(4),
        dtu::window_base(4),
        dtu::endpoint_word(80, 0),
        0x50,
        0x1028,
    ] {
        network.write(0, 0, offset, 5);
        assert_eq!(network.read(0, 0, offset), 0, "{offset:#x}");
    }
    network.write(0, 0, dtu::ENABLE, u64::MAX);
    assert_eq!(network.read(0, 0, dtu::ENABLE), 0xf);
    // Receive endpoints are among the first 64, and have as many slots as the unit.
    let receive = Endpoint::Receive(ReceiveEndpoint::new(1, BUFFER, 8, 200));
    network.set_up(0, 64, receive);
    assert_eq!(network.endpoint(0, 64), None);
    network.set_up(0, 63, receive);
    let expected = Endpoint::Receive(ReceiveEndpoint::new(1, BUFFER, 8, 32));
    assert_eq!(network.endpoint(0, 63), Some(expected));
    let (unit, around) = (&mut network.units[0], &mut network.arounds[0]);
    let size = unit.size();
    for (offset, size) in [(0, 4), (4, 8), (1, 1), (size, 8), (u64::MAX - 7, 8)] {
        assert_eq!(unit.read(offset, size, around), Err(Refused), "{offset:#x}");
        assert_eq!(
            unit.write(offset, size, 0, around),
            Err(Refused),
            "{offset:#x}"
        );
    }
    assert_eq!(access(unit, around, 4, 0, None), Err(Refused));
}

#[test]
fn units_that_cannot_be() {
    let bad = |change: &dyn Fn(&mut flick_device::dtu::DtuDescription)| {
        let mut changed = description(0);
        change(&mut changed);
        Dtu::new(changed).err()
    };
    assert_eq!(bad(&|_| ()), None);
    assert_eq!(bad(&|d| d.tile = 256), Some(BadDtu::Tile(256)));
    assert_eq!(bad(&|d| d.endpoints = 0), Some(BadDtu::Endpoints(0)));
    assert_eq!(bad(&|d| d.endpoints = 256), Some(BadDtu::Endpoints(256)));
    assert_eq!(bad(&|d| d.slots = 33), Some(BadDtu::Slots(33)));
    assert_eq!(bad(&|d| d.message = 24), Some(BadDtu::Message(24)));
    assert_eq!(bad(&|d| d.packet = 96), Some(BadDtu::Packet(96)));
    assert_eq!(bad(&|d| d.harts = 65), Some(BadDtu::Harts(65)));
    assert_eq!(bad(&|d| d.kernel = Some(4)), Some(BadDtu::Kernel(4)));
}

#[test]
fn a_kernel_gives_credits_and_takes_messages_away() {
    let mut network = sender_and_receiver(2, 4);
    assert_eq!(network.send(0, 0, SEND, b"a"), Ok(0));
    assert_eq!(network.send(0, 0, SEND, b"b"), Ok(0));
    let mut words = Endpoint::Send(send_endpoint(2)).words();
    network.write(0, 0, dtu::endpoint_word(2, 3), words[3]);
    assert_eq!(network.credits(0, 2), 2);
    // Slot 0 is freed. Slot 1 is as before, and slot 3 is of a message that the unit does not know.
    let mut receive = ReceiveEndpoint::new(11, BUFFER, 8, 4);
    (receive.occupied, receive.unread) = (0b1010, 0b1111);
    words = Endpoint::Receive(receive).words();
    network.write(1, 0, dtu::endpoint_word(5, 3), words[3]);
    receive.unread = 0b1010;
    assert_eq!(network.endpoint(1, 5), Some(Endpoint::Receive(receive)));
    assert_eq!(network.fetch(1, 1, 5), Some(BUFFER + 0x100));
    assert_eq!(network.fetch(1, 1, 5), Some(BUFFER + 0x300));
    assert_eq!(network.command(1, 1, ACKNOWLEDGE), Err(Error::NoAnswer));
    assert_eq!(
        network.command(1, 1, REPLY.with_slot(3)),
        Err(Error::NoAnswer)
    );
    assert_eq!(network.command(1, 1, ACKNOWLEDGE.with_slot(3)), Ok(0));
    // Another set-up drops the rest.
    network.set_up(
        1,
        5,
        Endpoint::Receive(ReceiveEndpoint {
            activity: 12,
            ..receive
        }),
    );
    let empty = ReceiveEndpoint::new(12, BUFFER, 8, 4);
    assert_eq!(network.endpoint(1, 5), Some(Endpoint::Receive(empty)));
}
