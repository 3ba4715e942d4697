//! Banks that choose among the harts that wait for them: by turns (round robin), or the lowest number
//! first (priority).
//!
//! An access whose line has to come from such a bank asks first ([`MemorySystem::ask_bank`]), before anything
//! changes. If the bank is busy, the hart waits until the bank is free, and asks again at that time. All
//! accesses before that time have asked by then, because harts access the shared part in the order of
//! virtual time. The first of them that asks lets the bank choose. The bank begins to serve the chosen
//! one, whose access then takes the rest of the latency. The others wait for the next time.
//!
//! A hart has one request at most. A request ends with its access, with the hart's next request, or when
//! the hart gives it up. If a bank has been chosen for it, the bank stays busy for the time of one access.
use serde::{Deserialize, Serialize};

use super::cache_lines::LineState;
use super::{END_OF_TIME, Kind, Lookup, Memory, MemorySystem, Stall, Time};

/// An access for which a hart asks a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    kind: Kind,
    address: u64,
    /// When it comes to the bank, behind the caches that it has asked.
    arrival: Time,
    /// When the bank begins to serve it, if it is chosen.
    start: Option<Time>,
}

impl Request {
    fn is_for(&self, kind: Kind, address: u64) -> bool {
        (self.kind, self.address) == (kind, address)
    }

    /// When a bank has begun to serve it.
    pub fn start(&self) -> Time {
        self.start.unwrap_or(self.arrival)
    }
}

/// A bank that chooses.
#[derive(Clone, Copy)]
struct Place<'s> {
    memory: &'s Memory,
    bank: usize,
}

impl Place<'_> {
    fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self.memory, other.memory) && self.bank == other.bank
    }
}

impl MemorySystem {
    /// Are there banks that choose? Then the hart asks before its accesses.
    pub fn arbitrates(&self) -> bool {
        self.arbitrates
    }

    /// Asks for an access that the hart's own cache does not serve, and that
    /// [`access`](Self::access) makes next. Returns how long the hart waits until it asks again; 0: it may
    /// make the access now. Belongs to the shared part.
    pub fn ask_bank(&self, hart: usize, kind: Kind, address: u64, now: Time) -> Time {
        let wait = self.wait_for_bank(hart, kind, address, now, 0);
        let cause = match kind {
            Kind::Fetch => Stall::Fetch,
            Kind::Load => Stall::Load,
            Kind::Store => Stall::Store,
        };
        self.harts[hart].counters.stall(cause, wait);
        wait
    }

    /// The same before [`translate`](Self::translate), for the first entry of `walked` that the hart's
    /// cache does not have.
    pub fn ask_bank_for_walk(&self, hart: usize, kind: Kind, walked: &[u64], now: Time) -> Time {
        let Some(tlb) = self.tlb(hart, kind).filter(|tlb| tlb.reads) else {
            return 0;
        };
        let mut entries = walked.iter().copied();
        let missing = entries.find(|&at| self.lookup(hart, Kind::Load, at) == Lookup::Miss);
        let wait = missing.map_or(0, |at| {
            self.wait_for_bank(hart, Kind::Load, at, now, tlb.walk)
        });
        self.harts[hart].counters.stall(Stall::Translation, wait);
        wait
    }

    /// The hart does not make the access for which it has asked.
    pub fn give_up(&self, hart: usize) {
        self.harts[hart].request.set(None);
    }

    /// `ahead` passes before the access asks the caches.
    fn wait_for_bank(&self, hart: usize, kind: Kind, address: u64, now: Time, ahead: Time) -> Time {
        let own = &self.harts[hart].request;
        let Some((place, latency)) = self.bank_for(hart, kind, address) else {
            own.set(None);
            return 0;
        };
        let known = own.get().filter(|request| request.is_for(kind, address));
        let request = known.unwrap_or(Request {
            kind,
            address,
            arrival: now + ahead + latency,
            start: None,
        });
        own.set(Some(request));
        if request.start.is_some() {
            return 0;
        }
        let banks = &place.memory.banks;
        let earliest = banks.free_at(place.bank).max(request.arrival);
        if earliest == request.arrival && self.waiting(place).all(|other| other == hart) {
            self.serve(place, hart, request.arrival);
            return 0;
        }
        // The bank is waited for from the arrival on.
        let wait_until = |then: Time| {
            let counters = &self.harts[hart].counters;
            counters.wait(then - now.max(request.arrival));
            then - now
        };
        if earliest > now {
            return wait_until(earliest);
        }
        // It waits itself, so that one is chosen.
        while let Some(chosen) = self.choose(place, now) {
            self.serve(place, chosen, now);
            let next = banks.free_at(place.bank);
            if chosen == hart {
                break;
            }
            if next > now {
                return wait_until(next);
            }
        }
        0
    }

    /// The harts that wait for a bank, in the order of their numbers.
    fn waiting<'s>(&'s self, place: Place<'s>) -> impl Iterator<Item = usize> + 's {
        let waits = move |&hart: &usize| {
            let request = self.harts[hart].request.get();
            request
                .filter(|request| request.start.is_none())
                .and_then(|request| self.choosing_bank(request.address))
                .is_some_and(|other| other.is(&place))
        };
        (0..self.harts.len()).filter(waits)
    }

    /// Whom a bank that is free serves of those that have come to it. A hart that has got its line
    /// otherwise needs the bank no more.
    fn choose(&self, place: Place, now: Time) -> Option<usize> {
        let needs = |&hart: &usize| {
            let request = &self.harts[hart].request;
            let Some(Request {
                kind,
                address,
                arrival,
                ..
            }) = request.get()
            else {
                return false;
            };
            let needs = self.bank_for(hart, kind, address).is_some();
            if !needs {
                request.set(None);
            }
            needs && arrival <= now
        };
        let waiting = self.waiting(place).filter(needs);
        place.memory.banks.choice(place.bank, waiting)
    }

    /// A bank begins to serve the request of a hart.
    fn serve(&self, place: Place, hart: usize, start: Time) {
        let bytes = self.time_of_line(hart, place.memory);
        let banks = &place.memory.banks;
        banks.serve(place.bank, hart, self.harts.len(), bytes, start);
        let request = &self.harts[hart].request;
        request.set(request.get().map(|request| Request {
            start: Some(start),
            ..request
        }));
    }

    /// The request of the hart for the line of an address that its access comes to now, if a bank serves
    /// it.
    pub(super) fn take_chosen(&self, hart: usize, address: u64) -> Option<Request> {
        let request = &self.harts[hart].request;
        let chosen = request.get()?;
        let is_chosen = chosen.address == address && chosen.start.is_some();
        is_chosen.then(|| request.take()).flatten()
    }

    /// The bank of an address, if it is one that chooses.
    fn choosing_bank(&self, address: u64) -> Option<Place<'_>> {
        let mut all = self.memories.iter();
        let memory = all.find(|memory| memory.range.contains(&address))?;
        let bank = memory.banks.bank_of(address);
        memory.banks.choose().then_some(Place { memory, bank })
    }

    /// The bank that an access comes to, if it is one that chooses, and the latency before that. Changes
    /// nothing. The levels are those that the access itself asks.
    fn bank_for(&self, hart: usize, kind: Kind, address: u64) -> Option<(Place<'_>, Time)> {
        let place = self.choosing_bank(address)?;
        let caches = &self.harts[hart];
        if kind != Kind::Fetch && self.coherence.is_some() {
            let has_line = |lines: &super::Lines| lines.state(address).is_some();
            let is_upgrade = !(kind == Kind::Store && self.writes_through(hart))
                && caches.lines_for(kind).is_some_and(has_line);
            if is_upgrade || self.others_have_modified(hart, address) {
                return None;
            }
        }
        let second = caches.second.iter().map(|(lines, hit)| (lines, hit));
        let levels = second.chain(self.shared.iter().zip(&caches.shared));
        let mut latency = 0;
        for (lines, hit) in levels {
            if lines.state(address).is_some() {
                return None;
            }
            latency += hit;
        }
        Some((place, latency))
    }

    /// Has another hart's data cache a line modified?
    fn others_have_modified(&self, hart: usize, address: u64) -> bool {
        let has = |number: usize| {
            let data = self.harts[number].data.as_ref();
            let state = data.and_then(|data| data.lines.state(address));
            number != hart && state == Some(LineState::Modified)
        };
        match &self.sharers {
            Some(sharers) => sharers.of(address).any(has),
            None => (0..self.harts.len()).any(has),
        }
    }

    /// From a snapshot. False: no bank has such a request.
    pub(super) fn restore_request(&self, hart: usize, saved: Option<Request>) -> bool {
        self.harts[hart].request.set(saved);
        saved.is_none_or(|request| {
            request.arrival <= request.start()
                && request.start() < END_OF_TIME
                && self.choosing_bank(request.address).is_some()
        })
    }
}

#[cfg(test)]
mod tests;
