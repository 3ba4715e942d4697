//! Packets that are under way between tiles. Times are those of [`flick_timing::network`].
use std::collections::BTreeMap;

use flick_device::Time;
use flick_device::dtu::Packet;
use flick_timing::machine::Link;
use flick_timing::network::{LinkCounts, Network, SavedNetwork, Way};
use serde::{Deserialize, Serialize};

use crate::injection::faulty_packets::{FaultyPackets, departures};

/// A packet, and where it is; `None`: it stays in its tile.
type Travelling = (Packet, Option<Way>);

/// The network of a machine, and what it carries.
#[derive(Debug, Default)]
pub struct Packets {
    network: Network,
    tiles: usize,
    /// By the tokens of their events.
    travelling: BTreeMap<u32, Travelling>,
    next: u32,
    /// Those of packets to come.
    pub faults: FaultyPackets,
}

/// The state of [`Packets`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPackets {
    network: SavedNetwork,
    travelling: BTreeMap<u32, Travelling>,
    next: u32,
    faults: FaultyPackets,
}

impl Packets {
    /// The links of a machine with so many tiles.
    pub fn new(links: &[Link], tiles: usize) -> Self {
        Self {
            network: Network::new(links, tiles),
            tiles,
            ..Self::default()
        }
    }

    /// A packet leaves a tile. The tokens of its events, and how much later they are: none if it is lost,
    /// two if it is repeated. `None`: no link leads to the receiver.
    pub fn send(&mut self, from: usize, packet: Packet) -> Option<[Option<(u32, Time)>; 2]> {
        let to = usize::from(packet.to);
        let way = match to == from {
            true => None,
            false => Some(self.network.way(from, to)?),
        };
        if let Some(way) = &way {
            self.network.enter(way, packet.bytes());
        }
        let [first, again] = departures(self.faults.of(&packet));
        let again = again.map(|later| (self.enter(packet.clone(), way), later));
        let first = first.map(|later| (self.enter(packet, way), later));
        Some([first, again])
    }

    /// A packet is under way. The token of its event.
    fn enter(&mut self, packet: Packet, way: Option<Way>) -> u32 {
        while self.travelling.contains_key(&self.next) {
            self.next = self.next.wrapping_add(1);
        }
        let token = self.next;
        self.next = self.next.wrapping_add(1);
        self.travelling.insert(token, (packet, way));
        token
    }

    /// The head of a packet is at a router: the tile whose router it comes to next and when, or the packet
    /// if it is at its receiver. `None`: there is no such packet.
    pub fn go_on(&mut self, token: u32, now: Time) -> Option<Result<(usize, Time), Packet>> {
        let (packet, way) = self.travelling.get_mut(&token)?;
        if let Some(way) = way.as_mut().filter(|way| !way.is_over()) {
            let at = self.network.step(way, packet.bytes(), now);
            return Some(Ok((self.network.tile(way), at)));
        }
        let (packet, _) = self.travelling.remove(&token)?;
        Some(Err(packet))
    }

    /// How many packets have not arrived.
    pub fn under_way(&self) -> usize {
        self.travelling.len()
    }

    /// Names and counts of the links.
    pub fn counts(&self) -> Vec<(String, LinkCounts)> {
        let all = self.network.counts();
        all.map(|(name, counts)| (name.to_owned(), counts))
            .collect()
    }

    /// All that decides what packets take, as a text.
    pub fn description(&self) -> String {
        self.network.description()
    }

    /// No packet is under way.
    pub fn reset(&mut self) {
        self.travelling.clear();
        self.faults = FaultyPackets::default();
        self.network.reset();
    }

    /// For snapshots.
    pub fn save(&self) -> SavedPackets {
        SavedPackets {
            network: self.network.save(),
            travelling: self.travelling.clone(),
            next: self.next,
            faults: self.faults.clone(),
        }
    }

    /// Takes what [`save`](Self::save) of an equal network gave, whose events have these tokens. False: it
    /// is of another one, or impossible.
    pub fn restore(&mut self, saved: &SavedPackets, tokens: &[u32]) -> bool {
        let mut tokens = tokens.to_vec();
        tokens.sort_unstable();
        let mut all = saved.travelling.values();
        let fits = saved.travelling.keys().eq(&tokens)
            && all.all(|(packet, way)| match way {
                Some(way) => self.network.has(way),
                None => packet.from == packet.to,
            })
            && saved
                .travelling
                .values()
                .all(|(packet, _)| usize::from(packet.to) < self.tiles)
            && saved.faults.is_possible()
            && self.network.restore(&saved.network);
        if fits {
            self.travelling.clone_from(&saved.travelling);
            self.next = saved.next;
            self.faults = saved.faults.clone();
        }
        fits
    }
}
