//! Both tiles with their units, and the link between them. A link keeps the order of its packets, but for those
//! that others overtake.
use std::collections::VecDeque;

use flick_abi::descriptor::{
    DESCRIPTOR_CALL, DESCRIPTOR_SIZE, DESCRIPTOR_SLOTS, Descriptor, FIRST_HART_ENDPOINT,
    HARTS_ACTIVITY, HOST_ACTIVITY, HOST_ENDPOINT, KERNEL_ACTIVITY, KERNEL_ENDPOINT,
    LOG2_DESCRIPTOR_SLOT,
};
use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, HEADER_SIZE, Outcome, ReceiveEndpoint, SendEndpoint,
};
use flick_device::dtu::{Dtu, DtuDescription, Packet, PacketKind};
use flick_device::mock::Mock;
use flick_device::{Device, HostTile, NoSpace};

pub const CARD: usize = 0;
pub const HOST: usize = 1;
/// Banks of the card's unit.
pub const KERNEL: usize = 0;
pub const HART: usize = 1;
/// The bit of `mip` by which a unit interrupts a hart.
const LINE: u32 = flick_abi::dtu::INTERRUPT_BIT;
/// Endpoints that send to the host.
const SENDERS: [u16; 2] = [FIRST_HART_ENDPOINT + 1, FIRST_HART_ENDPOINT + 2];
const SLOT: u64 = 1 << LOG2_DESCRIPTOR_SLOT;
const HART_SLOT: u64 = 0;
/// What each bank sends.
const OUTGOING: [u64; 2] = [SLOT, 2 * SLOT];
const KERNEL_SLOTS: u64 = 3 * SLOT;
/// The time at which the bridge tries again, and units do: not now.
const NOW: u64 = 0;
/// The bridge's token of that.
const AGAIN: u32 = 1 << 16;

fn description(tile: usize, harts: usize) -> DtuDescription {
    DtuDescription {
        tile: tile as u16,
        endpoints: SENDERS[1] + 1,
        slots: 32,
        message: SLOT as u16,
        packet: 1024,
        command: 0,
        cycle: 1000,
        harts,
        kernel: (harts != 0).then_some(KERNEL),
        is_root: false,
        is_governed: false,
    }
}

fn host_tile() -> HostTile {
    HostTile::new(description(HOST, 0), 1, Box::new(NoSpace)).unwrap()
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tiles {
    unit: Dtu,
    card: Mock,
    /// The state of the host's tile, which cannot be copied itself.
    host: Vec<u8>,
    outside: Mock,
    /// By the tile that has sent them.
    links: [VecDeque<Packet>; 2],
    delayed: u8,
}

impl Tiles {
    pub fn new(slots: u8) -> Self {
        let unit = Dtu::new(description(CARD, 2)).unwrap();
        let mut card = Mock::with_memory(0, (KERNEL_SLOTS + u64::from(slots) * SLOT) as usize);
        card.tiles.insert(HOST as u16);
        let mut outside = Mock::default();
        outside.tiles.insert(CARD as u16);
        let mut tiles = Self {
            unit,
            card,
            host: host_tile().save(),
            outside,
            links: Default::default(),
            delayed: 0,
        };
        let send = |activity, credits| {
            Endpoint::Send(SendEndpoint {
                activity,
                tile: HOST as u16,
                endpoint: HOST_ENDPOINT,
                receiver: HOST_ACTIVITY,
                label: 0,
                credits,
                most_credits: credits,
                log2_message: LOG2_DESCRIPTOR_SLOT,
            })
        };
        let receive = |activity, at, slots| {
            Endpoint::Receive(ReceiveEndpoint::new(
                activity,
                at,
                LOG2_DESCRIPTOR_SLOT,
                slots,
            ))
        };
        let credits = DESCRIPTOR_SLOTS.into();
        for (number, endpoint) in [
            (
                KERNEL_ENDPOINT,
                receive(KERNEL_ACTIVITY, KERNEL_SLOTS, slots),
            ),
            (FIRST_HART_ENDPOINT, receive(HARTS_ACTIVITY, HART_SLOT, 1)),
            (SENDERS[KERNEL], send(KERNEL_ACTIVITY, credits)),
            (SENDERS[HART], send(HARTS_ACTIVITY, 1)),
        ] {
            let words = endpoint.words();
            for word in dtu::WRITE_ORDER {
                tiles.set(KERNEL, dtu::endpoint_word(number, word), words[word]);
            }
        }
        tiles.set(KERNEL, dtu::current(KERNEL), KERNEL_ACTIVITY.into());
        tiles.set(KERNEL, dtu::current(HART), HARTS_ACTIVITY.into());
        tiles.set(HART, dtu::INTERRUPT, 1 << FIRST_HART_ENDPOINT);
        tiles.close();
        tiles
    }

    fn set(&mut self, bank: usize, register: u64, value: u64) {
        self.card.hart = bank;
        self.unit.write(register, 8, value, &mut self.card).unwrap();
    }

    fn get(&mut self, bank: usize, register: u64) -> u64 {
        self.card.hart = bank;
        self.unit.read(register, 8, &mut self.card).unwrap()
    }

    /// The same of a unit that does not change by it.
    fn look(&self, bank: usize, register: u64) -> u64 {
        self.clone().get(bank, register)
    }

    /// Does a command of a bank run?
    pub fn is_busy(&self, bank: usize) -> bool {
        self.look(bank, dtu::COMMAND) != 0
    }

    /// A command that takes no other tile.
    fn execute(&mut self, bank: usize, command: CommandWord) -> u64 {
        self.set(bank, dtu::COMMAND, command.bits());
        while self.get(bank, dtu::COMMAND) != 0 {
            let soon = self.card.events.iter().find(|&(_, &at)| at == NOW);
            let token = *soon.expect("the command waits for another tile").0;
            self.card.events.remove(&token);
            self.unit.event(token, &mut self.card);
        }
        let result = self.get(bank, dtu::RESULT);
        Outcome::from_bits(result).result().unwrap_or(0)
    }

    /// A bank begins to send a descriptor, as an answer to the hart's message or as a message of its own.
    pub fn send(&mut self, bank: usize, descriptor: &Descriptor, is_reply: bool) {
        let at = OUTGOING[bank];
        let place = at as usize..at as usize + DESCRIPTOR_SIZE;
        self.card.memory[place].copy_from_slice(&descriptor.bytes());
        self.set(bank, dtu::ADDRESS, at);
        self.set(bank, dtu::SIZE, DESCRIPTOR_SIZE as u64);
        let command = match is_reply {
            true => CommandWord::new(Command::Reply, FIRST_HART_ENDPOINT),
            false => CommandWord::new(Command::Send, SENDERS[bank]),
        };
        self.set(bank, dtu::COMMAND, command.bits());
        self.transmit();
    }

    pub fn credits(&self, bank: usize) -> u64 {
        self.look(bank, dtu::endpoint_word(SENDERS[bank], 3)) & 0xffff
    }

    /// The descriptor in a slot, whose place is as before any message then.
    fn take_slot(&mut self, at: u64) -> Option<Descriptor> {
        let start = at as usize;
        let slot = &mut self.card.memory[start..start + SLOT as usize];
        let has_one = slot[..HEADER_SIZE].iter().any(|&byte| byte != 0);
        let end = HEADER_SIZE + DESCRIPTOR_SIZE;
        let descriptor = Descriptor::from_bytes(&slot[HEADER_SIZE..end]);
        slot.fill(0);
        descriptor.filter(|_| has_one)
    }

    pub fn kernel_has_unread(&self) -> bool {
        self.look(KERNEL, dtu::endpoint_word(KERNEL_ENDPOINT, 3)) >> 32 != 0
    }

    /// The kernel takes its oldest message.
    pub fn kernel_takes(&mut self) -> Option<Descriptor> {
        let at = self.execute(KERNEL, CommandWord::new(Command::Fetch, KERNEL_ENDPOINT));
        let taken = self.take_slot(at);
        let slot = ((at - KERNEL_SLOTS) / SLOT) as u8;
        let free = CommandWord::new(Command::Acknowledge, KERNEL_ENDPOINT).with_slot(slot);
        self.execute(KERNEL, free);
        self.transmit();
        taken
    }

    /// Opens the hart's endpoint, without an answer.
    pub fn open(&mut self) {
        self.execute(
            HART,
            CommandWord::new(Command::Acknowledge, FIRST_HART_ENDPOINT),
        );
        self.transmit();
    }

    /// Closes it. The descriptor that has come before, if there is one.
    pub fn close(&mut self) -> Option<Descriptor> {
        self.set(HART, dtu::endpoint_word(FIRST_HART_ENDPOINT, 3), 1);
        self.take_slot(HART_SLOT)
    }

    /// Does the unit interrupt the hart?
    pub fn interrupts(&self) -> bool {
        self.card.line(HART, LINE)
    }

    fn with_host<R>(&mut self, f: impl FnOnce(&mut HostTile, &mut Mock) -> R) -> R {
        let mut host = host_tile();
        host.load(&self.host).unwrap();
        let result = f(&mut host, &mut self.outside);
        self.host = host.save();
        result
    }

    /// An owner gives its descriptor to the ring.
    pub fn ask(&mut self, descriptor: &Descriptor) {
        let taken = self.with_host(|host, around| host.input(&descriptor.bytes(), around));
        assert_eq!(taken, DESCRIPTOR_SIZE);
        self.transmit();
    }

    /// Descriptors that have come for owners.
    pub fn take_arrived(&mut self) -> Vec<Descriptor> {
        self.with_host(|host, _| {
            let arrived = host.arrived();
            let mut arrived = arrived.borrow_mut();
            arrived.drain(..).map(|(all, _)| all).collect()
        })
    }

    fn transmit(&mut self) {
        let [card, host] = &mut self.links;
        card.extend(std::mem::take(&mut self.card.sent));
        host.extend(std::mem::take(&mut self.outside.sent));
    }

    /// Events of units that go on.
    pub fn events(&self) -> impl Iterator<Item = (usize, u32)> {
        let arounds = [(CARD, &self.card), (HOST, &self.outside)];
        arounds.into_iter().flat_map(|(tile, around)| {
            let soon = around.events.iter().filter(|&(_, &at)| at == NOW);
            soon.map(move |(&token, _)| (tile, token))
        })
    }

    /// The event at which the bridge tries again.
    pub fn again(&self) -> Option<(usize, u32)> {
        let is_to_come = self.outside.events.contains_key(&AGAIN);
        is_to_come.then_some((HOST, AGAIN))
    }

    pub fn event(&mut self, tile: usize, token: u32) {
        if tile == CARD {
            self.card.events.remove(&token);
            self.unit.event(token, &mut self.card);
        } else {
            self.outside.events.remove(&token);
            self.with_host(|host, around| host.event(token, around));
        }
        self.transmit();
    }

    /// Tiles whose packets are under way.
    pub fn senders(&self) -> impl Iterator<Item = usize> {
        [CARD, HOST]
            .into_iter()
            .filter(|&from| !self.links[from].is_empty())
    }

    /// The oldest packet of a tile arrives.
    pub fn arrive(&mut self, from: usize) {
        let Some(packet) = self.links[from].pop_front() else {
            return;
        };
        match from {
            CARD => self.with_host(|host, around| host.packet(packet, around)),
            _ => self.unit.packet(packet, &mut self.card),
        }
        self.transmit();
    }

    /// May others overtake the oldest packet of a tile?
    pub fn may_delay(&self, from: usize, most: u8) -> bool {
        let oldest = self.links[from].front().map(|packet| &packet.kind);
        self.delayed < most && matches!(oldest, Some(PacketKind::Done { .. }))
    }

    /// The packet arrives when there is no other any more, or later.
    pub fn delay(&mut self, from: usize) -> Packet {
        self.delayed += 1;
        self.links[from].pop_front().expect("a packet is under way")
    }

    /// A late packet arrives.
    pub fn arrive_late(&mut self, packet: Packet) {
        let from = usize::from(packet.from);
        self.links[from].push_front(packet);
        self.arrive(from);
    }
}

/// A descriptor of an owner's call. The number is that of the call.
pub fn call(owner: usize, number: u8, endpoint: u8) -> Descriptor {
    Descriptor {
        owner: 1 << 16 | owner as u64,
        activation: number.into(),
        endpoint,
        ..Descriptor::new(DESCRIPTOR_CALL)
    }
}
