//! A witness of what units promise to each other (`docs/dtu.md`, "What is promised"), in runs of whole machines.
//! It looks at packets of links, and at the units that get them, and keeps its own account. So it finds
//! what a unit itself takes for right.
use std::collections::HashMap;

use flick_abi::dtu::{Endpoint, Header};

use super::Dtu;
use super::confirmation::MOST_SENT;
use super::packet::{CommandNumber, Credit, Packet, PacketKind, UNIT_BANK};
use crate::device::Time;

/// Broken promises that are kept. All others are only counted.
const MOST_BROKEN: usize = 16;
/// An abort waits for the confirmation of parts that are under way, each of which may be sent again so often and
/// begin the count once more.
const ABORT_COUNTS: u64 = 2;

/// A bank of a tile, and the tile that its messages go to.
type Way = (u16, u8, u16);

/// What became of the last message of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It lies in a slot of its receiver.
    Stored,
    /// The receiver's unit has refused it.
    Refused,
    /// It was the answer for a page, which lies in no slot.
    OfPage,
}

/// Credits of a send endpoint that are away.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    /// Messages that were stored and whose credits have not come back.
    count: u64,
    /// The tile and the receive endpoint that have the last one, how often that was set up, and its activity.
    at: (u16, u16, u32, u16),
    /// They are in several places, or were so: who sets an endpoint up drops its messages.
    is_scattered: bool,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromiseCounts {
    /// Messages and answers in slots.
    pub messages: u64,
    /// Credits that came back over links.
    pub credits: u64,
    /// Aborts that have ended.
    pub aborts: u64,
    /// Promises that were broken.
    pub broken: u64,
}

/// The account of a machine's units.
#[derive(Clone, Debug, Default)]
pub struct Promises {
    /// The last message of each way.
    last: HashMap<Way, (u64, Outcome)>,
    /// By the tile and the endpoint that has spent credits.
    spent: HashMap<(u16, Credit), Spent>,
    /// When the command of a unit was to be aborted that still runs.
    aborts: HashMap<u16, Time>,
    /// There were messages before the account began.
    is_late: bool,
    counts: PromiseCounts,
    broken: Vec<String>,
}

/// What the unit of a receiver was like in front of a packet.
#[derive(Debug)]
pub struct Before {
    from: u16,
    to: u16,
    what: What,
    /// Endpoints that credits may come back to, and how many they have.
    credits: Vec<(Credit, u16)>,
}

#[derive(Debug)]
enum What {
    Message {
        command: CommandNumber,
        endpoint: u16,
        receiver: u16,
        /// The tile that has spent the credit.
        payer: u16,
        cost: Option<Credit>,
        /// The endpoint takes answers for pages.
        is_of_pages: bool,
    },
    Done(CommandNumber, u8),
    Credits,
}

impl Dtu {
    fn endpoint(&self, number: u16) -> Option<Endpoint> {
        self.state.endpoints.get(usize::from(number))?.endpoint()
    }

    fn setup_of(&self, number: u16) -> u32 {
        let table = self.state.endpoints.get(usize::from(number));
        table.map_or(0, |table| table.setup())
    }

    /// Whether it executes no command, and has no packet for itself.
    fn is_quiet(&self) -> bool {
        let mut banks = self.state.banks.iter();
        self.state.looped.is_empty() && banks.all(|bank| bank.running.is_none())
    }

    /// Credits of another tile's endpoint for messages in the slots of an endpoint, and on their way back.
    fn held_credits(&self, number: u16, tile: u16, credit: Credit) -> u64 {
        let table = self.state.endpoints.get(usize::from(number));
        let costs = table.into_iter().flat_map(|table| table.costs());
        let held = costs.filter(|&(from, cost)| from == tile && cost == credit);
        let (under_way, waiting) = self.credits_to(tile);
        let back = under_way
            .iter()
            .chain(waiting)
            .filter(|&&other| other == credit);
        (held.count() + back.count()) as u64
    }

    /// The credits of an endpoint that has not been set up since.
    fn credits_of(&self, credit: Credit) -> Option<u16> {
        let table = self.state.endpoints.get(usize::from(credit.endpoint))?;
        match table.endpoint() {
            Some(Endpoint::Send(send)) if table.setup() == credit.setup => Some(send.credits),
            _ => None,
        }
    }

    /// The credits that it lacks, if it has not been set up since.
    fn missing_credits(&self, credit: Credit) -> u64 {
        match (self.credits_of(credit), self.endpoint(credit.endpoint)) {
            // Answers to an activity that does not run are the kernel's.
            (Some(count), Some(Endpoint::Send(send))) if self.runs(send.activity) => {
                u64::from(send.most_credits - count)
            }
            _ => 0,
        }
    }
}

impl Promises {
    /// The units are as after a reset, or as in a snapshot, whose messages the account does not know (`is_late`).
    pub fn restart(&mut self, is_late: bool) {
        let (counts, broken) = (self.counts, std::mem::take(&mut self.broken));
        *self = Self {
            is_late,
            counts,
            broken,
            ..Self::default()
        };
    }

    /// A packet comes to a unit. `None`: no promise is about it.
    pub fn before(&self, packet: &Packet, unit: &Dtu) -> Option<Before> {
        let (what, credits) = match &packet.kind {
            PacketKind::Message(command, message) => {
                let what = What::Message {
                    command: *command,
                    endpoint: message.endpoint,
                    receiver: message.receiver,
                    payer: Header::from_bytes(&message.header).tile.into(),
                    cost: message.cost,
                    is_of_pages: matches!(
                        unit.endpoint(message.endpoint),
                        Some(Endpoint::Pages(_))
                    ),
                };
                (what, message.refund.as_slice())
            }
            PacketKind::Done { command, error, .. } if command.bank != UNIT_BANK => {
                (What::Done(*command, *error), [].as_slice())
            }
            PacketKind::Credits(_, credits) => (What::Credits, credits.as_slice()),
            _ => return None,
        };
        let mut known: Vec<(Credit, u16)> = vec![];
        for &credit in credits {
            if let Some(count) = unit.credits_of(credit)
                && known.iter().all(|&(other, _)| other != credit)
            {
                known.push((credit, count));
            }
        }
        Some(Before {
            from: packet.from,
            to: packet.to,
            what,
            credits: known,
        })
    }

    /// The unit has taken the packet, and has put so many messages into slots.
    pub fn after(&mut self, before: &Before, stored: u32, unit: &Dtu, now: Time) {
        let &Before { from, to, .. } = before;
        match before.what {
            What::Message {
                command,
                endpoint,
                receiver,
                payer,
                cost,
                is_of_pages,
            } => {
                for _ in 0..stored {
                    self.stored((from, command.bank, to), command.number, now);
                }
                if stored != 0 {
                    let owner = unit.endpoint(endpoint).map_or(0, |table| table.activity());
                    let runs = unit.description.kernel.is_some() || unit.runs(receiver);
                    if owner != receiver || !runs {
                        let line = format!(
                            "a message of tile {from} for activity {receiver} of tile {to} came to activity \
                             {owner}, endpoint {endpoint}"
                        );
                        self.breaks(now, line);
                    }
                    if let Some(cost) = cost {
                        let at = (to, endpoint, unit.setup_of(endpoint), receiver);
                        let spent = self.spent.entry((payer, cost)).or_default();
                        spent.is_scattered |= spent.count != 0 && spent.at != at;
                        spent.count += 1;
                        spent.at = at;
                    }
                } else {
                    let outcome = match is_of_pages {
                        true => Outcome::OfPage,
                        false => Outcome::Refused,
                    };
                    let last = self.last.entry((from, command.bank, to));
                    let last = last.or_insert((command.number, outcome));
                    if last.0 < command.number {
                        *last = (command.number, outcome);
                    }
                }
            }
            What::Done(command, error) => {
                self.ended((to, command.bank, from), command.number, error, now)
            }
            What::Credits => {}
        }
        for &(credit, count) in &before.credits {
            let Some(after) = unit.credits_of(credit) else {
                continue;
            };
            let back = u64::from(after.saturating_sub(count));
            self.came_back(to, credit, back, now);
        }
    }

    fn stored(&mut self, way: Way, number: u64, now: Time) {
        self.counts.messages += 1;
        let last = self.last.insert(way, (number, Outcome::Stored));
        if let Some((last, outcome)) = last
            && last >= number
        {
            let (from, bank, to) = way;
            let what = match outcome {
                Outcome::Refused if last == number => "was refused, and came all the same",
                _ if last == number => "came twice",
                _ => "came behind a later one",
            };
            let line =
                format!("message {number} of bank {bank} of tile {from} to tile {to} {what}");
            self.breaks(now, line);
        }
    }

    /// A command has ended for the unit that executes it.
    fn ended(&mut self, way: Way, number: u64, error: u8, now: Time) {
        let Some(&(last, outcome)) = self.last.get(&way) else {
            return;
        };
        let is_stored = match outcome {
            _ if last != number => return,
            Outcome::OfPage => return,
            Outcome::Stored => true,
            Outcome::Refused => false,
        };
        if is_stored != (error == 0) {
            let (from, bank, to) = way;
            let what = match is_stored {
                true => "came, and its sender got an error",
                false => "did not come, and its sender got no error",
            };
            let line =
                format!("message {number} of bank {bank} of tile {from} to tile {to} {what}");
            self.breaks(now, line);
        }
    }

    /// So many credits came back to a tile's endpoint.
    fn came_back(&mut self, tile: u16, credit: Credit, count: u64, now: Time) {
        self.counts.credits += count;
        let spent = self.spent.entry((tile, credit)).or_default();
        let left = spent.count.checked_sub(count);
        spent.count = left.unwrap_or_default();
        if spent.count == 0 {
            self.spent.remove(&(tile, credit));
        }
        if left.is_none() && !self.is_late {
            let endpoint = credit.endpoint;
            let line = format!(
                "endpoint {endpoint} of tile {tile} got a credit back that it had not spent"
            );
            self.breaks(now, line);
        }
    }

    /// A unit has done something.
    pub fn has_acted(&mut self, unit: &Dtu, now: Time) {
        let tile = unit.description.tile;
        if !unit.aborts() {
            self.counts.aborts += u64::from(self.aborts.remove(&tile).is_some());
            return;
        }
        let since = *self.aborts.entry(tile).or_insert(now);
        let counts = ABORT_COUNTS * ((1 << MOST_SENT) - 1);
        let cycles = u128::from(unit.state.timeout.max(1)) * u128::from(counts);
        let most = cycles * u128::from(unit.description.cycle) / 1000;
        if u128::from(now - since) > most {
            self.aborts.insert(tile, now);
            let line = format!("an abort of tile {tile} has not ended since {since} ps");
            self.breaks(now, line);
        }
    }

    /// No packet is under way. `units` are those of tiles that have not stopped, by tile.
    pub fn rests(&mut self, units: &HashMap<u16, &Dtu>, now: Time) {
        let is_quiet = |tile: u16| units.get(&tile).is_some_and(|unit| unit.is_quiet());
        let mut lost = vec![];
        for (&(tile, credit), spent) in &self.spent {
            let (to, endpoint, setup, owner) = spent.at;
            if spent.is_scattered || !is_quiet(tile) || !is_quiet(to) {
                continue;
            }
            let (payer, receiver) = (units[&tile], units[&to]);
            // A kernel takes the messages of an activity away that is to run later, or elsewhere.
            let is_there = receiver.setup_of(endpoint) == setup && receiver.runs(owner);
            // A kernel may have given credits back by itself.
            let missing = payer.missing_credits(credit);
            if !is_there || missing == 0 {
                continue;
            }
            let held = receiver.held_credits(endpoint, tile, credit);
            let count = missing.min(spent.count.saturating_sub(held));
            if count != 0 {
                lost.push((tile, credit, count, to, endpoint));
            }
        }
        lost.sort_unstable_by_key(|&(tile, credit, ..)| (tile, credit.endpoint));
        for (tile, credit, count, to, receiver) in lost {
            let endpoint = credit.endpoint;
            let line = format!(
                "endpoint {receiver} of tile {to} has lost {count} credits of endpoint {endpoint} of tile {tile}"
            );
            self.breaks(now, line);
            self.spent.remove(&(tile, credit));
        }
    }

    fn breaks(&mut self, now: Time, what: String) {
        self.counts.broken += 1;
        if self.broken.len() < MOST_BROKEN {
            self.broken.push(format!("{what} (at {now} ps)"));
        }
    }

    /// What was looked at.
    pub fn counts(&self) -> PromiseCounts {
        self.counts
    }

    /// The first broken promises.
    pub fn broken(&self) -> &[String] {
        &self.broken
    }
}
