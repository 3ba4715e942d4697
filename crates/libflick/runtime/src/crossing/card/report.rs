//! What ran on the card, for the summary of the process.
use std::collections::HashMap;

use flick_abi::card_interface::{HartRow, RanRow, TileChoice};
use flick_events::card::{Card, CardHart, OnTile, RanOn};

use super::card_library::Machine;
use super::{owner, token};
use crate::accounts::stats;
use crate::config;
use crate::modules;
use crate::os::signal_mask::BlockedSignals;

/// The summary's part.
pub fn card() -> Card {
    let mut card = Card {
        machine: config::get().machine.clone(),
        ..Card::default()
    };
    let rows = {
        let _blocked = BlockedSignals::new();
        owner::hold();
        // SAFETY: the thread has the token, and blocks all signals.
        let rows = take(&mut unsafe { Machine::get() }, &mut card);
        token::release();
        rows
    };
    // Those of closed modules have no names any more.
    modules::for_each_gate(|gate| {
        let rows = rows.get(&(std::ptr::from_ref(gate) as u64));
        for row in rows.into_iter().flatten() {
            let calls = stats::of_gate(gate, row.calls.max(1));
            card.ran.extend(calls.map(|mut calls| {
                calls.count = row.calls;
                RanOn {
                    hart: row.hart as usize,
                    calls,
                    instructions: row.instructions,
                    moves: row.moves,
                    why: match row.why {
                        TileChoice::Default => OnTile::ByDefault,
                        TileChoice::Preferred => OnTile::AtRunTime,
                        TileChoice::Marked => OnTile::ByMark,
                        TileChoice::Placed => OnTile::ByPlacement,
                        TileChoice::Moved => OnTile::ForInstruction,
                    },
                }
            }));
        }
    });
    card
}

fn take(machine: &mut Machine, card: &mut Card) -> HashMap<u64, Vec<RanRow>> {
    let [_, _, sent, received, time] = machine.counts();
    (card.sent, card.received, card.time) = (sent, received, time);
    let mut hart = HartRow::default();
    while machine.hart(card.harts.len(), &mut hart) {
        let name = hart.name.get(..hart.name_size).unwrap_or_default();
        card.harts.push(CardHart {
            name: String::from_utf8_lossy(name).into_owned(),
            firmware: hart.firmware,
            functions: hart.functions,
        });
    }
    let mut rows: HashMap<u64, Vec<RanRow>> = HashMap::new();
    let (mut at, mut row) = (0, RanRow::default());
    while machine.ran(at, &mut row) {
        rows.entry(row.function).or_default().push(row);
        at += 1;
    }
    rows
}
