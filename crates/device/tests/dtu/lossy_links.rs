//! Packets that are lost: they are sent again, and in the end a command has an error.
use flick_abi::dtu::{self, Command, CommandWord, Endpoint, Error, ReceiveEndpoint};
use flick_device::Time;
use flick_device::dtu::{Packet, PacketClass};

use crate::commands::{SEND, sender_and_receiver};
use crate::data::{READ, WRITE, address, remote_memory, transfer};
use crate::network::{COMMAND, LATENCY, MEMORY, Network};

/// Picoseconds of a cycle.
const CYCLE: Time = 1_000;
const TIMEOUT: Time = dtu::FIRST_TIMEOUT * CYCLE;
const FREE: CommandWord = CommandWord::new(Command::Acknowledge, 5);

/// The next packets of a class are lost.
fn lose(network: &mut Network, class: PacketClass, mut count: u64) {
    network.links.loses = Box::new(move |packet: &Packet| {
        let is_lost = packet.class() == class && count > 0;
        count -= u64::from(is_lost);
        is_lost
    });
}

#[test]
fn a_lost_message_or_confirmation_costs_time() {
    for class in [PacketClass::Message, PacketClass::Confirmation] {
        for count in 0..5 {
            let mut network = sender_and_receiver(1, 4);
            lose(&mut network, class, count);
            assert_eq!(network.send(0, 0, SEND, b"a"), Ok(0));
            // Each wait is twice the one before.
            let waits = ((1 << count) - 1) * TIMEOUT;
            let least = COMMAND + waits + 2 * LATENCY;
            assert!(
                (least..least + LATENCY).contains(&network.links.now),
                "{count}"
            );
            let received = network.fetch(1, 1, 5);
            assert!(received.is_some() && network.fetch(1, 1, 5).is_none());
            assert_eq!(network.credits(0, 2), 0);
            assert_eq!(network.command(1, 1, FREE), Ok(0));
            network.rest();
            assert_eq!(network.credits(0, 2), 1);
        }
    }
}

#[test]
fn a_dead_link_ends_commands() {
    for class in [PacketClass::Message, PacketClass::Confirmation] {
        let mut network = sender_and_receiver(2, 4);
        network.write(0, 3, dtu::TIMEOUT, 1_000);
        lose(&mut network, class, u64::MAX);
        assert_eq!(network.send(0, 0, SEND, b"a"), Err(Error::NoConfirmation));
        let waits = COMMAND + 31 * 1_000 * CYCLE;
        assert!((waits..waits + LATENCY).contains(&network.links.now));
        // The unit does not know whether the message has arrived.
        assert_eq!(network.credits(0, 2), 1);
        let arrives = class == PacketClass::Confirmation;
        assert_eq!(network.fetch(1, 1, 5).is_some(), arrives);
        assert!(network.fetch(1, 1, 5).is_none());
        // The link works again.
        network.links.loses = Box::new(|_| false);
        assert_eq!(network.send(0, 0, SEND, b"b"), Ok(0));
        assert!(network.fetch(1, 1, 5).is_some() && network.fetch(1, 1, 5).is_none());
    }
}

#[test]
fn a_lost_answer_is_sent_again_and_comes_once() {
    for (class, is_dead) in [
        (PacketClass::Answer, false),
        (PacketClass::Confirmation, false),
        (PacketClass::Answer, true),
        (PacketClass::Confirmation, true),
    ] {
        let mut network = sender_and_receiver(1, 4);
        let answers = ReceiveEndpoint::new(0, MEMORY + 0x9000, 6, 2);
        network.set_up(0, 4, Endpoint::Receive(answers));
        let asks = SEND.with_answer(4);
        assert_eq!(network.send(0, 0, asks, b"a"), Ok(0));
        assert!(network.fetch(1, 1, 5).is_some());
        lose(&mut network, class, if is_dead { u64::MAX } else { 2 });
        let reply = CommandWord::new(Command::Reply, 5);
        let ends = network.send(1, 1, reply, b"b");
        let arrives = !is_dead || class == PacketClass::Confirmation;
        let expected = if is_dead {
            Err(Error::NoConfirmation)
        } else {
            Ok(0)
        };
        assert_eq!(ends, expected);
        // Nobody can answer once more, or give the credit back once more.
        assert_eq!(network.send(1, 1, reply, b"b"), Err(Error::NoAnswer));
        assert_eq!(network.command(1, 1, FREE), Err(Error::NoAnswer));
        network.rest();
        assert_eq!(network.credits(0, 2), u16::from(arrives));
        assert_eq!(network.fetch(0, 0, 4).is_some(), arrives);
        assert!(network.fetch(0, 0, 4).is_none());
    }
}

#[test]
fn lost_credits_come_back() {
    let mut network = sender_and_receiver(4, 4);
    for _ in 0..4 {
        assert_eq!(network.send(0, 0, SEND, b"a"), Ok(0));
    }
    assert_eq!(network.credits(0, 2), 0);
    // The first is lost, and the others wait for it.
    lose(&mut network, PacketClass::Credit, 2);
    for slot in 0..3 {
        assert_eq!(network.command(1, 1, FREE.with_slot(slot)), Ok(0));
    }
    network.rest();
    assert_eq!(network.credits(0, 2), 3);
    assert!(network.links.now > 3 * TIMEOUT);
    // The unit gives up, and tries again with the next.
    assert_eq!(network.send(0, 0, SEND, b"a"), Ok(0));
    lose(&mut network, PacketClass::Credit, u64::MAX);
    assert_eq!(network.command(1, 1, FREE.with_slot(0)), Ok(0));
    network.rest();
    assert_eq!(network.credits(0, 2), 2);
    network.links.loses = Box::new(|_| false);
    assert_eq!(network.command(1, 1, FREE.with_slot(3)), Ok(0));
    network.rest();
    assert_eq!(network.credits(0, 2), 4);
}

#[test]
fn transfers_recover_what_is_lost() {
    for command in [READ, WRITE] {
        for class in [PacketClass::Data, PacketClass::Confirmation] {
            let mut network = remote_memory(65_536);
            let mut packets = 0;
            network.links.loses = Box::new(move |packet: &Packet| {
                packets += u64::from(packet.class() == class);
                packet.class() == class && packets % 7 == 3
            });
            transfer(&mut network, 0, 65_536);
            let bytes: Vec<u8> = (0..65_536_u32).map(|n| (n / 7) as u8).collect();
            let (from, to) = if command == READ { (1, 0) } else { (0, 1) };
            let start = address(from);
            network
                .memory(from, start, bytes.len())
                .copy_from_slice(&bytes);
            assert_eq!(network.command(0, 0, command), Ok(0));
            let start = address(to);
            assert!(network.memory(to, start, bytes.len()) == bytes);
            network.rest();
        }
    }
}

#[test]
fn a_transfer_over_a_dead_link_ends() {
    for command in [READ, WRITE] {
        let mut network = remote_memory(65_536);
        lose(&mut network, PacketClass::Data, u64::MAX);
        transfer(&mut network, 0, 65_536);
        assert_eq!(network.command(0, 0, command), Err(Error::NoConfirmation));
        assert!((31 * TIMEOUT..32 * TIMEOUT).contains(&network.links.now));
        // An abort of it ends, too.
        network.start(0, 0, command);
        network.step();
        network.write(0, 3, dtu::ABORT, 0);
        network.rest();
        assert_eq!(network.read(0, 3, dtu::ABORT), 0);
        assert_eq!(network.result(0, 0), Err(Error::NoConfirmation));
    }
}
