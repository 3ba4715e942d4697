//! The witness of promises finds what a unit that is wrong, or a packet that no unit has sent, would do.
use std::collections::HashMap;

use flick_abi::dtu::{self, Command, CommandWord, Endpoint, Error};
use flick_device::Device;
use flick_device::dtu::{CommandNumber, Dtu, Packet, PacketKind, PromiseCounts, Promises};

use crate::commands::{SEND, sender_and_receiver};
use crate::network::Network;

/// The receive endpoint, and who acknowledges its messages.
const RECEIVES: u16 = 5;
const HART: usize = 1;

/// Two tiles whose packets a witness sees.
struct Watched {
    network: Network,
    promises: Promises,
}

impl Watched {
    fn new(credits: u16) -> Self {
        let network = sender_and_receiver(credits, 4);
        let promises = Promises::default();
        Self { network, promises }
    }

    fn occupied(&mut self) -> u32 {
        match self.network.endpoint(1, RECEIVES) {
            Some(Endpoint::Receive(receive)) => receive.occupied.count_ones(),
            other => panic!("{other:?}"),
        }
    }

    /// Packets that a tile has sent, which no link has.
    fn sent(&mut self, tile: usize) -> Vec<Packet> {
        std::mem::take(&mut self.network.arounds[tile].sent)
    }

    /// Packets arrive, and the witness looks.
    fn arrive(&mut self, packets: &[Packet]) {
        for packet in packets {
            let tile = usize::from(packet.to);
            let count = self.occupied();
            let before = self.promises.before(packet, &self.network.units[tile]);
            let (units, arounds) = (&mut self.network.units, &mut self.network.arounds);
            units[tile].packet(packet.clone(), &mut arounds[tile]);
            let stored = self.occupied().saturating_sub(count);
            let unit = &self.network.units[tile];
            if let Some(before) = before {
                self.promises.after(&before, stored, unit, 0);
            }
        }
    }

    /// A hart's command, whose packets are kept back.
    fn command(&mut self, tile: usize, hart: usize, word: CommandWord) -> Vec<Packet> {
        let (unit, around) = (
            &mut self.network.units[tile],
            &mut self.network.arounds[tile],
        );
        around.hart = hart;
        unit.write(dtu::COMMAND, 8, word.bits(), around).unwrap();
        let due = around.now + 1_000_000;
        // Nothing is sent again so early.
        around.run_until(unit, due, 1);
        self.sent(tile)
    }

    /// A message of the sender: its packets.
    fn send(&mut self) -> Vec<Packet> {
        self.network.prepare(0, 0, b"request");
        self.command(0, 0, SEND)
    }

    /// The receiver fetches a message and gives its credit back: the packets.
    fn acknowledge(&mut self) -> Vec<Packet> {
        self.command(1, HART, CommandWord::new(Command::Fetch, RECEIVES));
        let slot = (0..4).find(|&slot| {
            let Some(Endpoint::Receive(receive)) = self.network.endpoint(1, RECEIVES) else {
                panic!("no receive endpoint");
            };
            receive.occupied >> slot & 1 != 0 && receive.unread >> slot & 1 == 0
        });
        let word = CommandWord::new(Command::Acknowledge, RECEIVES).with_slot(slot.unwrap());
        self.command(1, HART, word)
    }

    fn rests(&mut self) {
        let units = self.network.units.iter();
        let units: HashMap<u16, &Dtu> = units.map(|unit| (unit.tile(), unit)).collect();
        self.promises.rests(&units, 0);
    }

    /// What is broken says this.
    fn breaks(&self, text: &str) {
        let broken = self.promises.broken();
        assert!(broken.len() == 1 && broken[0].contains(text), "{broken:?}");
        assert_eq!(self.promises.counts().broken, 1);
    }

    /// A message with its confirmation.
    fn exchange(&mut self) -> Vec<Packet> {
        let message = self.send();
        self.arrive(&message);
        let done = self.sent(1);
        self.arrive(&done);
        message
    }
}

#[test]
fn units_keep_their_promises() {
    let mut world = Watched::new(2);
    for _ in 0..3 {
        world.exchange();
        let credits = world.acknowledge();
        world.arrive(&credits);
        let done = world.sent(0);
        world.arrive(&done);
        world.rests();
    }
    assert_eq!(world.promises.broken(), [""; 0]);
    let counts = PromiseCounts {
        messages: 3,
        credits: 3,
        ..PromiseCounts::default()
    };
    assert_eq!(world.promises.counts(), counts);
}

#[test]
fn a_message_that_comes_twice_is_found() {
    let mut world = Watched::new(2);
    let message = world.exchange();
    // A unit that has forgotten what it has heard.
    world.network.units[1] = sender_and_receiver(2, 4).units.remove(1);
    world.arrive(&message);
    world.breaks("came twice");
}

#[test]
fn an_outcome_that_is_wrong_is_found() {
    for (slots, text) in [
        (4, "came, and its sender got an error"),
        (0, "did not come, and its sender got no error"),
    ] {
        let mut world = Watched::new(2);
        for _ in 0..slots.min(1) {
            let message = world.send();
            world.arrive(&message);
        }
        if slots == 0 {
            // The receiver's activity owns the endpoint no more.
            let word = dtu::endpoint_word(RECEIVES, 0);
            world.network.write(1, 0, word, 0);
            let message = world.send();
            let before = world.promises.before(&message[0], &world.network.units[1]);
            let (units, arounds) = (&mut world.network.units, &mut world.network.arounds);
            units[1].packet(message[0].clone(), &mut arounds[1]);
            let unit = &world.network.units[1];
            world.promises.after(&before.unwrap(), 0, unit, 0);
        }
        let mut done = world.sent(1).remove(0);
        if let PacketKind::Done { error, .. } = &mut done.kind {
            *error = if slots == 0 { 0 } else { Error::Gone as u8 };
        }
        let before = world.promises.before(&done, &world.network.units[0]);
        let unit = &world.network.units[0];
        world.promises.after(&before.unwrap(), 0, unit, 0);
        world.breaks(text);
    }
}

#[test]
fn a_credit_that_comes_twice_is_found() {
    let mut world = Watched::new(3);
    world.exchange();
    // Two more are spent and never arrive.
    for _ in 0..2 {
        let message = world.send();
        let PacketKind::Message(command, _) = message[0].kind else {
            panic!("{message:?}");
        };
        // The sender's unit takes it for an answer of the receiver's.
        let (from, to) = (1, 0);
        let kind = PacketKind::Done {
            command,
            part: 0,
            error: 0,
        };
        let (units, arounds) = (&mut world.network.units, &mut world.network.arounds);
        units[0].packet(Packet { from, to, kind }, &mut arounds[0]);
    }
    let mut credits = world.acknowledge();
    world.arrive(&credits);
    assert_eq!(world.promises.counts().broken, 0);
    if let PacketKind::Credits(CommandNumber { number, .. }, _) = &mut credits[0].kind {
        *number += 1;
    }
    world.arrive(&credits);
    world.breaks("got a credit back that it had not spent");
}

#[test]
fn a_lost_credit_is_found() {
    let mut world = Watched::new(2);
    world.exchange();
    world.rests();
    assert_eq!(world.promises.counts().broken, 0);
    world.network.units[1] = sender_and_receiver(2, 4).units.remove(1);
    world.rests();
    world.breaks("has lost 1 credits of endpoint 2 of tile 0");
}

#[test]
fn an_abort_without_end_is_found() {
    let mut world = Watched::new(2);
    world.send();
    let (unit, around) = (&mut world.network.units[0], &mut world.network.arounds[0]);
    around.hart = 3;
    // Of bank 0, which sends.
    unit.write(dtu::ABORT, 8, 0, around).unwrap();
    world.promises.has_acted(unit, 1_000);
    world.promises.has_acted(unit, 10_000_000);
    assert_eq!(world.promises.counts().broken, 0);
    world.promises.has_acted(unit, u64::MAX);
    world.breaks("an abort of tile 0 has not ended since 1000 ps");
}
