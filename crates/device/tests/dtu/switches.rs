//! Activities that are switched: suspended receivers, aborts; snapshots.
use flick_abi::dtu::{self, Command, CommandWord, Endpoint, Error, ReceiveEndpoint};
use flick_device::Device;
use flick_device::dtu::{CommandNumber, Dtu, Packet, PacketKind};

use crate::commands::{BUFFER, SEND, send_endpoint, sender_and_receiver};
use crate::data::{READ, WRITE, remote_memory, transfer};
use crate::network::{Network, access, description};

#[test]
fn a_suspended_receiver_wakes_the_kernel() {
    let mut network = sender_and_receiver(4, 4);
    network.write(1, 1, dtu::INTERRUPT, u64::MAX);
    network.write(1, 3, dtu::current(1), 12);
    assert_eq!(network.send(0, 0, SEND, b"a"), Ok(0));
    let line = |network: &Network, hart| network.arounds[1].line(hart, dtu::INTERRUPT_BIT);
    assert!(line(&network, 3) && !line(&network, 1));
    assert_eq!(network.read(1, 3, dtu::WAITING), 1 << 5);
    assert_eq!(network.read(1, 1, dtu::EVENTS), 0);
    // The kernel has seen it.
    network.write(1, 3, dtu::WAITING_INTERRUPT, !(1 << 5));
    assert!(!line(&network, 3));
    assert_eq!(network.read(1, 3, dtu::WAITING), 1 << 5);
    // It runs the activity on another hart.
    network.write(1, 2, dtu::INTERRUPT, 1 << 5);
    network.write(1, 3, dtu::current(2), 11);
    assert_eq!(network.read(1, 3, dtu::WAITING), 0);
    assert!(line(&network, 2) && !line(&network, 1));
    assert_eq!(network.fetch(1, 2, 5), Some(BUFFER));
    assert!(!line(&network, 2));
}

#[test]
fn a_tile_without_a_kernel_refuses_messages_for_suspended_receivers() {
    let mut alone = description(1);
    alone.kernel = None;
    let mut network = Network::new(vec![description(0), alone]);
    network.write(0, 0, dtu::current(0), 0);
    network.set_up(0, 2, Endpoint::Send(send_endpoint(4)));
    network.set_up(
        1,
        5,
        Endpoint::Receive(ReceiveEndpoint::new(11, BUFFER, 8, 4)),
    );
    assert_eq!(network.send(0, 0, SEND, b"a"), Err(Error::Gone));
    network.write(1, 0, dtu::current(2), 11);
    assert_eq!(network.send(0, 0, SEND, b"a"), Ok(0));
    assert_eq!(network.credits(0, 2), 2);
}

#[test]
fn an_aborted_transfer_ends_when_its_packets_are_back() {
    for command in [READ, WRITE] {
        let mut network = remote_memory(65_536);
        transfer(&mut network, 0, 65_536);
        network.start(0, 0, command);
        network.step();
        network.write(0, 3, dtu::ABORT, 0);
        assert_eq!(network.read(0, 3, dtu::ABORT), 1);
        assert_eq!(network.read(0, 3, dtu::ENABLE), 0b1110);
        network.rest();
        assert_eq!(network.read(0, 3, dtu::ABORT), 0);
        assert_eq!(network.result(0, 0), Err(Error::Aborted));
        assert!(network.links.carried < 40_000);
        // Another command does nothing until the kernel enables the bank.
        assert_eq!(network.command(0, 0, command), Err(Error::Aborted));
        network.write(0, 3, dtu::ENABLE, 0b1111);
        assert_eq!(network.command(0, 0, command), Ok(0));
    }
}

#[test]
fn a_kernel_that_enables_a_bank_does_not_hide_what_was_aborted() {
    let mut network = remote_memory(65_536);
    transfer(&mut network, 0, 65_536);
    network.start(0, 0, READ);
    network.step();
    network.write(0, 3, dtu::ABORT, 0);
    // As the kernel of a tile may that its root has aborted.
    network.write(0, 3, dtu::ENABLE, 0b1111);
    assert_eq!(network.read(0, 3, dtu::ABORT), 1);
    network.rest();
    assert_eq!(network.read(0, 3, dtu::ABORT), 0);
    assert_eq!(network.result(0, 0), Err(Error::Aborted));
    assert!(network.links.carried < 40_000);
}

#[test]
fn a_transfer_whose_last_packet_is_under_way_is_completed() {
    let mut network = remote_memory(4096);
    transfer(&mut network, 0, 4096);
    network.start(0, 0, READ);
    network.step();
    network.write(0, 3, dtu::ABORT, 0);
    network.rest();
    assert_eq!(network.result(0, 0), Ok(0));
}

#[test]
fn commands_that_have_not_begun_are_aborted_or_completed() {
    let mut network = sender_and_receiver(2, 2);
    network.prepare(0, 0, b"a");
    network.start(0, 0, SEND);
    network.write(0, 3, dtu::ABORT, 0);
    assert_eq!(network.read(0, 3, dtu::ABORT), 1);
    network.rest();
    assert_eq!(network.result(0, 0), Ok(0));
    assert_eq!(network.read(1, 1, dtu::EVENTS), 1 << 5);
    for command in [Command::Sleep, Command::Read, Command::Write] {
        network.write(0, 3, dtu::ENABLE, 1);
        network.start(0, 0, CommandWord::new(command, 2));
        network.write(0, 3, dtu::ABORT, 0);
        assert_eq!(network.read(0, 3, dtu::ABORT), 0);
        assert_eq!(network.result(0, 0), Err(Error::Aborted));
    }
    assert!(network.arounds[0].events.is_empty());
    // A sleeper.
    network.write(0, 3, dtu::ENABLE, 1);
    network.write(0, 0, dtu::SIZE, 0);
    network.start(0, 0, CommandWord::new(Command::Sleep, 0));
    network.rest();
    network.write(0, 3, dtu::ABORT, 0);
    assert_eq!(network.result(0, 0), Err(Error::Aborted));
    // Banks that do not exist.
    network.write(0, 3, dtu::ABORT, 4);
    network.write(0, 3, dtu::ABORT, u64::MAX);
    assert_eq!(network.read(0, 3, dtu::ABORT), 0);
}

#[test]
fn packets_of_no_command_are_ignored() {
    let mut network = remote_memory(4096);
    transfer(&mut network, 0, 4096);
    network.start(0, 0, READ);
    network.step();
    let before = network.units[0].clone();
    let around = &mut network.arounds[0];
    let memory = around.memory.clone();
    let packet = |kind| Packet {
        from: 1,
        to: 0,
        kind,
    };
    let command = |bank, number| CommandNumber { bank, number };
    for (command, part) in [
        (command(0, 1), 512),
        (command(0, 2), 0),
        (command(1, 1), 0),
        (command(200, 1), 0),
        (command(0, 1), 4096),
    ] {
        let bytes = vec![9; 1024];
        let data = PacketKind::Data {
            command,
            part,
            bytes,
        };
        network.units[0].packet(packet(data), around);
        let done = PacketKind::Done {
            command,
            part,
            error: 0,
        };
        network.units[0].packet(packet(done), around);
    }
    // Nor is data of another length taken.
    let short = PacketKind::Data {
        command: command(0, 1),
        part: 0,
        bytes: vec![9; 3],
    };
    network.units[0].packet(packet(short), around);
    assert_eq!(network.units[0], before);
    assert_eq!(around.memory, memory);
    network.rest();
    assert_eq!(network.result(0, 0), Ok(0));
}

#[test]
fn a_snapshot_in_the_middle_of_everything() {
    let mut network = remote_memory(65_536);
    network.set_up(0, 2, Endpoint::Send(send_endpoint(4)));
    network.set_up(
        1,
        5,
        Endpoint::Receive(ReceiveEndpoint::new(11, BUFFER, 8, 4)),
    );
    transfer(&mut network, 0, 65_536);
    network.start(0, 0, READ);
    network.write(0, 3, dtu::current(1), 0);
    network.prepare(0, 1, b"message");
    network.start(0, 1, SEND);
    let mut steps = 0;
    loop {
        for tile in 0..2 {
            let saved = network.units[tile].save();
            let mut other = Dtu::new(description(tile as u16)).unwrap();
            other.load(&saved).unwrap();
            assert_eq!(other, network.units[tile]);
            network.units[tile] = other;
        }
        if !network.step() {
            break;
        }
        steps += 1;
    }
    assert!(steps > 128);
    assert_eq!(network.result(0, 0), Ok(0));
    assert_eq!(network.result(0, 1), Ok(0));
    let saved = network.units[1].save();
    network.units[1].reset();
    let new = Dtu::new(description(1)).unwrap();
    assert_eq!(network.units[1], new);
    // A state of another unit, a short one, a longer one.
    let mut fewer = description(1);
    fewer.endpoints -= 1;
    let mut unit = Dtu::new(fewer).unwrap();
    assert!(unit.load(&saved).is_err());
    assert!(network.units[1].load(&saved[1..]).is_err());
    assert!(network.units[1].load(&[&saved[..], &[0]].concat()).is_err());
    assert_eq!(network.units[1], new);
    let (unit, around) = (&mut network.units[1], &mut network.arounds[1]);
    unit.load(&saved).unwrap();
    assert_eq!(access(unit, around, 1, dtu::EVENTS, None), Ok(1 << 5));
}

#[test]
fn an_endpoint_has_no_more_than_its_most_credits() {
    let mut network = sender_and_receiver(1, 2);
    assert_eq!(network.send(0, 0, SEND, b"a"), Ok(0));
    // The kernel gives a credit while the message has one.
    let words = Endpoint::Send(send_endpoint(1)).words();
    network.write(0, 3, dtu::endpoint_word(2, 3), words[3]);
    let free = CommandWord::new(Command::Acknowledge, 5);
    assert_eq!(network.command(1, 1, free), Ok(0));
    network.rest();
    assert_eq!(network.credits(0, 2), 1);
}
