//! Credits that go back to the units of other tiles, for messages that were acknowledged. One packet to
//! a tile is under way at a time; what comes meanwhile goes with the next one.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::confirmation::MOST_SENT;
use super::packet::{CommandNumber, Credit, PacketKind, UNIT_BANK};
use crate::device::Time;

/// Credits of a packet at most.
const MOST_CREDITS: usize = 32;

/// Credits on their way back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct ReturnedCredits {
    /// By tile.
    tiles: BTreeMap<u16, Returned>,
}

/// Those of a tile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Returned {
    /// The number of the last packet.
    number: u64,
    /// What is not confirmed of it.
    under_way: Vec<Credit>,
    /// When it is sent again.
    due: Time,
    /// How often that was done.
    repeats: u8,
    /// For the next packet.
    waiting: Vec<Credit>,
}

impl Returned {
    fn packet(&self) -> PacketKind {
        let (bank, number) = (UNIT_BANK, self.number);
        PacketKind::Credits(CommandNumber { bank, number }, self.under_way.clone())
    }

    /// Whether the unit waits for a confirmation. It has given up otherwise, or has nothing to wait for.
    fn waits(&self) -> bool {
        !self.under_way.is_empty() && self.repeats < MOST_SENT
    }
}

impl ReturnedCredits {
    /// A credit for a tile. The packet that is to be sent now.
    pub fn give(&mut self, tile: u16, credit: Credit) -> Option<PacketKind> {
        let returned = self.tiles.entry(tile).or_default();
        returned.waiting.push(credit);
        if returned.waits() {
            return None;
        }
        returned.repeats = 0;
        self.next(tile)
    }

    /// A packet was confirmed. The next one that is to be sent.
    pub fn confirmed(&mut self, tile: u16, number: u64) -> Option<PacketKind> {
        let returned = self.tiles.get_mut(&tile)?;
        if returned.number != number || returned.under_way.is_empty() {
            return None;
        }
        returned.under_way.clear();
        returned.repeats = 0;
        self.next(tile)
    }

    /// The packet that is not confirmed, or a new one.
    fn next(&mut self, tile: u16) -> Option<PacketKind> {
        let returned = self.tiles.get_mut(&tile)?;
        if returned.under_way.is_empty() {
            let count = returned.waiting.len().min(MOST_CREDITS);
            returned.under_way = returned.waiting.drain(..count).collect();
            returned.number = returned.number.wrapping_add(1);
        }
        (!returned.under_way.is_empty()).then(|| returned.packet())
    }

    /// A packet to a tile was sent, and is sent again at this time.
    pub fn set_due(&mut self, tile: u16, due: Time) {
        if let Some(returned) = self.tiles.get_mut(&tile) {
            returned.due = due;
        }
    }

    /// A tile whose packet is to be sent again at a time, the packet, and how often it was sent again. Where
    /// a packet was sent too often, the unit gives up until there is another credit for that tile.
    pub fn due(&mut self, now: Time) -> Option<(u16, PacketKind, u8)> {
        for (&tile, returned) in &mut self.tiles {
            if returned.waits() && returned.due <= now {
                returned.repeats += 1;
                if returned.waits() {
                    return Some((tile, returned.packet(), returned.repeats));
                }
            }
        }
        None
    }

    /// When the next packet is to be sent again.
    pub fn next_due(&self) -> Time {
        let waiting = self.tiles.values().filter(|returned| returned.waits());
        waiting
            .map(|returned| returned.due)
            .min()
            .unwrap_or(Time::MAX)
    }

    /// The credits for a tile that it has not confirmed: those of the packet under way, and others.
    pub fn to_tile(&self, tile: u16) -> (&[Credit], &[Credit]) {
        let returned = self.tiles.get(&tile);
        returned.map_or((&[], &[]), |all| (&all.under_way, &all.waiting))
    }

    /// Whether this can be of a unit.
    pub fn is_possible(&self) -> bool {
        self.tiles.values().all(|returned| {
            let has_ended = returned.under_way.is_empty();
            returned.under_way.len() <= MOST_CREDITS
                && returned.repeats <= MOST_SENT
                && (!has_ended || returned.waiting.is_empty() && returned.repeats == 0)
        })
    }
}
