//! Links between tiles, with latency and bandwidth, and the order of what happens in the tiles.
use std::collections::BTreeMap;

use flick_device::dtu::Packet;
use flick_device::mock::Mock;
use flick_device::{Device, Time};

/// Links, all tiles with all others.
pub struct Links {
    /// Of a packet on an empty link.
    latency: Time,
    /// Picoseconds of a byte.
    byte: Time,
    pub now: Time,
    /// Packets under way by arrival and number.
    under_way: BTreeMap<(Time, u64), Packet>,
    sent: u64,
    /// From when on a link is free, by its ends.
    free: BTreeMap<(u16, u16), Time>,
    /// Bytes that links have carried.
    pub carried: u64,
    /// Whether a packet is lost.
    pub loses: Box<dyn FnMut(&Packet) -> bool>,
}

/// What happens next in a tile.
pub enum Happens {
    /// The event with this token.
    Event(u32),
    /// A packet arrives.
    Arrival(Packet),
}

impl Happens {
    /// It happens to the tile's unit.
    pub fn to(self, unit: &mut dyn Device, around: &mut Mock) {
        match self {
            Self::Event(token) => unit.event(token, around),
            Self::Arrival(packet) => unit.packet(packet, around),
        }
    }
}

impl Links {
    pub fn new(latency: Time, byte: Time) -> Self {
        Self {
            latency,
            byte,
            now: 0,
            under_way: BTreeMap::new(),
            sent: 0,
            free: BTreeMap::new(),
            carried: 0,
            loses: Box::new(|_| false),
        }
    }

    /// Puts what units have sent on the links.
    pub fn collect(&mut self, arounds: &mut [Mock]) {
        for packet in arounds.iter_mut().flat_map(|around| around.sent.drain(..)) {
            let bytes = packet.bytes();
            let free = self.free.entry((packet.from, packet.to)).or_default();
            *free = self.now.max(*free) + bytes * self.byte;
            self.sent += 1;
            self.carried += bytes;
            if !(self.loses)(&packet) {
                let at = (*free + self.latency, self.sent);
                self.under_way.insert(at, packet);
            }
        }
    }

    /// The tile in which the next event or arrival is, whose time it is then. `None`: there is none.
    pub fn next(&mut self, arounds: &mut [Mock]) -> Option<(usize, Happens)> {
        let events = arounds.iter().enumerate().flat_map(|(tile, around)| {
            let events = around.events.iter();
            events.map(move |(&token, &at)| (at, tile, token))
        });
        let event = events.min();
        let arrival = self.under_way.first_key_value().map(|(&key, _)| key);
        let is_event = |at: Time| arrival.is_none_or(|(time, _)| at <= time);
        let (time, tile, happens) = match (event, arrival) {
            (Some((at, tile, token)), _) if is_event(at) => {
                arounds[tile].events.remove(&token);
                (at, tile, Happens::Event(token))
            }
            (_, Some(key)) => {
                let packet = self.under_way.remove(&key)?;
                (key.0, usize::from(packet.to), Happens::Arrival(packet))
            }
            _ => return None,
        };
        self.now = self.now.max(time);
        arounds.iter_mut().for_each(|around| around.now = self.now);
        Some((tile, happens))
    }
}
