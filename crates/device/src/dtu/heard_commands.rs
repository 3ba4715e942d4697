//! Which packets of other units have had their effect, so that one that comes again has none.
//!
//! A bank has one command at a time, and numbers them. So the unit keeps the last command of each bank
//! from which it has heard, and what it has confirmed of it.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::data_transfer::PACKETS_UNDER_WAY;
use super::packet::{CommandNumber, UNIT_BANK};

/// The last commands of the banks of other units.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct HeardCommands {
    /// By tile and bank.
    last: BTreeMap<(u16, u8), HeardCommand>,
}

/// What has arrived of a command.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct HeardCommand {
    number: u64,
    /// The first error.
    error: u8,
    /// The parts of the command up to here have arrived.
    below: u64,
    /// Parts behind it, and their ends.
    above: Vec<(u64, u64)>,
}

/// What a packet is to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It has not come before.
    New,
    /// It was confirmed with this error.
    Again(u8),
    /// Nobody waits for its confirmation.
    Late,
}

impl HeardCommands {
    /// What the packet for a part of a command is.
    pub fn arrival(&self, tile: u16, command: CommandNumber, part: u64) -> Arrival {
        let Some(heard) = self.last.get(&(tile, command.bank)) else {
            return Arrival::New;
        };
        let is_known = part < heard.below || heard.above.iter().any(|&(start, _)| start == part);
        // No unit sends more parts before the first one is confirmed.
        let is_full = heard.above.len() >= PACKETS_UNDER_WAY && part != heard.below;
        match command.number {
            number if number > heard.number => Arrival::New,
            number if number < heard.number => Arrival::Late,
            _ if is_known => Arrival::Again(heard.error),
            _ if is_full => Arrival::Late,
            _ => Arrival::New,
        }
    }

    /// A new packet for a part of so many bytes has had its effect, or an error.
    pub fn note(&mut self, tile: u16, command: CommandNumber, part: u64, size: u64, error: u8) {
        // Most packets are the only ones of their commands, or come in order.
        if let Some(heard) = self.last.get_mut(&(tile, command.bank)) {
            if heard.number != command.number {
                (heard.number, heard.error, heard.below) = (command.number, 0, 0);
                heard.above.clear();
            }
            if heard.above.is_empty() && part <= heard.below {
                let end = part.saturating_add(size.max(1));
                heard.below = heard.below.max(end);
                if heard.error == 0 {
                    heard.error = error;
                }
                return;
            }
        }
        let none = HeardCommand {
            number: command.number,
            error: 0,
            below: 0,
            above: vec![],
        };
        let heard = self
            .last
            .entry((tile, command.bank))
            .or_insert(none.clone());
        if heard.number != command.number {
            *heard = none;
        }
        if heard.error == 0 {
            heard.error = error;
        }
        heard.above.push((part, part.saturating_add(size.max(1))));
        heard.above.sort_unstable();
        let mut below = heard.below;
        heard.above.retain(|&(start, end)| {
            let continues = start <= below;
            below = if continues { below.max(end) } else { below };
            !continues
        });
        heard.below = below;
    }

    /// Whether this can be of a unit.
    pub fn is_possible(&self) -> bool {
        self.last.iter().all(|(&(_, bank), heard)| {
            let parts = &heard.above;
            let first = parts.first().map_or(u64::MAX, |&(start, _)| start);
            bank <= UNIT_BANK
                && heard.below < first
                && parts.len() <= PACKETS_UNDER_WAY
                && parts.iter().all(|(start, end)| start < end)
                && parts.is_sorted_by(|a, b| a.0 < b.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(number: u64) -> CommandNumber {
        CommandNumber { bank: 1, number }
    }

    #[test]
    fn a_packet_is_new_once() {
        let mut heard = HeardCommands::default();
        assert_eq!(heard.arrival(3, command(7), 0), Arrival::New);
        heard.note(3, command(7), 0, 1, 4);
        assert_eq!(heard.arrival(3, command(7), 0), Arrival::Again(4));
        assert_eq!(heard.arrival(3, command(6), 0), Arrival::Late);
        assert_eq!(heard.arrival(3, command(8), 0), Arrival::New);
        assert_eq!(heard.arrival(2, command(7), 0), Arrival::New);
        heard.note(3, command(8), 0, 1, 0);
        assert_eq!(heard.arrival(3, command(8), 0), Arrival::Again(0));
        assert_eq!(heard.arrival(3, command(7), 0), Arrival::Late);
    }

    #[test]
    fn parts_come_in_any_order() {
        let mut heard = HeardCommands::default();
        for part in [64, 192, 128] {
            assert_eq!(heard.arrival(0, command(1), part), Arrival::New);
            heard.note(0, command(1), part, 64, 0);
            assert_eq!(heard.arrival(0, command(1), part), Arrival::Again(0));
        }
        assert_eq!(heard.arrival(0, command(1), 0), Arrival::New);
        heard.note(0, command(1), 0, 64, 0);
        assert_eq!(heard.last[&(0, 1)].below, 256);
        assert!(heard.last[&(0, 1)].above.is_empty());
        assert!(heard.is_possible());
        // More than a unit has under way.
        for part in 0..40 {
            let part = 512 + 64 * part;
            if heard.arrival(0, command(1), part) == Arrival::New {
                heard.note(0, command(1), part, 64, 0);
            }
        }
        assert_eq!(heard.last[&(0, 1)].above.len(), PACKETS_UNDER_WAY);
        assert_eq!(heard.arrival(0, command(1), 256), Arrival::New);
        assert!(heard.is_possible());
        heard.last.get_mut(&(0, 1)).unwrap().below = 600;
        assert!(!heard.is_possible());
    }
}
