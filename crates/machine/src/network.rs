//! Packets that are under way between tiles. Times are those of [`flick_timing::network`].
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
    /// With the tokens of their events. They are few.
    travelling: Vec<(u32, Travelling)>,
    next: u32,
    /// Those of packets to come.
    pub faults: FaultyPackets,
    had_faults: bool,
}

/// The state of [`Packets`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPackets {
    network: SavedNetwork,
    travelling: Vec<(u32, Travelling)>,
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
        let fault = self.faults.of(&packet);
        self.had_faults |= fault.is_some();
        let [first, again] = departures(fault);
        let again = again.map(|later| (self.enter(packet.clone(), way), later));
        let first = first.map(|later| (self.enter(packet, way), later));
        Some([first, again])
    }

    /// A packet is under way. The token of its event.
    fn enter(&mut self, packet: Packet, way: Option<Way>) -> u32 {
        while self.place(self.next).is_some() {
            self.next = self.next.wrapping_add(1);
        }
        let token = self.next;
        self.next = self.next.wrapping_add(1);
        self.travelling.push((token, (packet, way)));
        token
    }

    /// Where the packet with a token is in the list.
    fn place(&self, token: u32) -> Option<usize> {
        self.travelling
            .iter()
            .position(|&(other, _)| other == token)
    }

    /// The head of a packet is at a router: the tile whose router it comes to next and when, or the packet
    /// if it is at its receiver. `None`: there is no such packet.
    pub fn go_on(&mut self, token: u32, now: Time) -> Option<Result<(usize, Time), Packet>> {
        let place = self.place(token)?;
        let (_, (packet, way)) = &mut self.travelling[place];
        if let Some(way) = way.as_mut().filter(|way| !way.is_over()) {
            let at = self.network.step(way, packet.bytes(), now);
            return Some(Ok((self.network.tile(way), at)));
        }
        let (_, (packet, _)) = self.travelling.swap_remove(place);
        Some(Err(packet))
    }

    /// Whether a packet was lost, late or repeated on purpose.
    pub fn had_faults(&self) -> bool {
        self.had_faults
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
            travelling: {
                let mut all = self.travelling.clone();
                all.sort_unstable_by_key(|&(token, _)| token);
                all
            },
            next: self.next,
            faults: self.faults.clone(),
        }
    }

    /// Takes what [`save`](Self::save) of an equal network gave, whose events have these tokens. False: it
    /// is of another one, or impossible.
    pub fn restore(&mut self, saved: &SavedPackets, tokens: &[u32]) -> bool {
        let mut tokens = tokens.to_vec();
        tokens.sort_unstable();
        let mut all = saved.travelling.iter();
        let keys = saved.travelling.iter().map(|(token, _)| token);
        let fits = keys.eq(&tokens)
            && tokens.is_sorted_by(|a, b| a < b)
            && all.all(|(_, (packet, way))| match way {
                Some(way) => self.network.has(way),
                None => packet.from == packet.to,
            })
            && saved
                .travelling
                .iter()
                .all(|(_, (packet, _))| usize::from(packet.to) < self.tiles)
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
