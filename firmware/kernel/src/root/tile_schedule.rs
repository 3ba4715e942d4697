//! Which activity has the accelerator of a tile: those that can run take turns (M3x, section 4.6).
use flick_abi::accelerator::{self, Control, Notice, Status};
use flick_abi::card::Error;
use flick_abi::dtu::{self, ACCELERATOR_REGISTERS, Endpoint, NO_ACTIVITY};

use super::activities::{Activity, DRAINS, Phase, in_units, of_units};
use super::activity_image::{notices, of_nobody};
use super::groups;
use super::remote::NoAnswer;
use super::tile_table::TileFacts;
use super::turn_order::{NOBODY, Turns};
use crate::csr;
use crate::dtu::{CALLS, Message, Unit};
use crate::kernel::Kernel;

/// Cycles that a module waits for a message until another activity gets its tile. Some 20 µs are a switch of the next
/// accelerator behind PCIe. Who waits for that keeps the tile, or two chains would take it from each other at each block.
const YIELD: u64 = 60_000;
/// The same if who sends to it has no turn: no message comes soon.
const YIELD_AT_ONCE: u64 = 1;
/// The error of an activity whose tile does not answer.
const LOST: u64 = Error::Failed as u64;
/// The time after which the kernel looks whether a module has stopped whose notice may be lost: so many parts of a
/// second.
const LOOKS: u64 = 1_000;
/// Parts of a turn: a turn ends soon, and a receiver has time for its sender's last message.
const SOON: u64 = 8;
const LAST_MESSAGE: u64 = 64;
/// So many times it looks at an accelerator of requests, which may wait for its pager when it writes its cache back.
/// Then its activity ends.
const MOST_LOOKS: u8 = 20;

/// How long an activity may wait for a message if others wait for its tile.
fn yield_time(of: &Activity) -> u64 {
    match of.is_starved || of.lets_answer {
        true => YIELD_AT_ONCE,
        false => YIELD,
    }
}

impl Unit {
    /// The module of a tile stops at its next stable point.
    fn stop_module(&self, facts: &TileFacts) -> Result<(), NoAnswer> {
        let control = ACCELERATOR_REGISTERS + accelerator::CONTROL;
        self.write_registers(facts.tile, control, &[Control::Stop as u64])?;
        match facts.is_request {
            true => self.leave_pager(facts.tile),
            false => Ok(()),
        }
    }
}

impl Kernel {
    /// Whether the activity has its tile.
    pub fn is_current(&self, activity: u16) -> bool {
        let of = &self.root.activities[activity];
        of.phase != Phase::Free
            && self.root.schedule.tiles[usize::from(of.place)].current == activity
    }

    /// An activity can run.
    #[inline(never)]
    pub fn make_ready(&mut self, activity: u16) {
        self.root.activities[activity].phase = Phase::Ready;
        self.find_place(activity);
        self.append(activity);
        self.give_turn(self.root.activities[activity].place);
    }

    /// The next activity gets a tile that is free. A tile that is not free gets to know that others wait. What that
    /// leads to on other tiles comes behind it, and not within it: the stack is small, and groups are many.
    #[inline(never)]
    pub fn give_turn(&mut self, place: u8) {
        let Some(unit) = self.tiles.unit else {
            return;
        };
        self.root.schedule.to_give |= 1 << place;
        if core::mem::replace(&mut self.root.schedule.gives, true) {
            return;
        }
        while self.root.schedule.to_give != 0 {
            let place = self.root.schedule.to_give.trailing_zeros();
            self.root.schedule.to_give &= !(1 << place);
            self.give_tile(unit, place as u8);
        }
        self.root.schedule.gives = false;
    }

    fn give_tile(&mut self, unit: Unit, place: u8) {
        let now = csr::time();
        let turn_end = now.saturating_add(self.root.schedule.slice);
        loop {
            if self.root.schedule.is_free(place) {
                self.steal(place);
            }
            let turns = &mut self.root.schedule.tiles[usize::from(place)];
            if !turns.has_others() {
                return;
            }
            if turns.current != NOBODY || turns.drains {
                if turns.due == u64::MAX {
                    turns.due = turn_end;
                }
                self.ask_to_yield(place);
                self.ask_kin_to_yield(place);
                return;
            }
            let activity = turns.first;
            match self.root.activities[activity].group {
                None => {
                    if self.begin_turns(unit, &[activity]) {
                        return;
                    }
                }
                // The tile waits for those of the other members.
                Some(group) if !self.can_start(group) => return,
                Some(group) => {
                    let mut all = [NOBODY; groups::MEMBERS];
                    let mut count = 0;
                    for member in self.root.groups.members(group) {
                        all[count] = member;
                        count += 1;
                    }
                    self.begin_turns(unit, &all[..count]);
                    return;
                }
            }
        }
    }

    /// Activities, which are the next ones of their tiles, get them at the same time. False: none has its turn.
    #[inline(never)]
    fn begin_turns(&mut self, unit: Unit, all: &[u16]) -> bool {
        let turn_end = csr::time().saturating_add(self.root.schedule.slice);
        let (mut others, mut wanted) = (false, false);
        // Those whose tiles answer, as bits.
        let mut good = 0_u32;
        for (n, &activity) in all.iter().enumerate() {
            let place = self.root.activities[activity].place;
            self.leave_turns(activity);
            others |= self.root.schedule.tiles[usize::from(place)].has_others();
            wanted |= self.is_wanted(place);
            let facts = *self.root.tiles.at(place);
            // A tile that has not answered may have a module that runs.
            let is_there = self.ask_lost_tile(facts.tile).is_ok();
            let image = &mut self.root.activities[activity].image;
            let is_there = is_there && image.restore(unit, &facts).is_ok();
            good |= u32::from(is_there) << n;
        }
        let yields = others || wanted;
        for (n, &activity) in all.iter().enumerate() {
            let of = &mut self.root.activities[activity];
            let control = match core::mem::replace(&mut of.has_begun, true) {
                true => Control::Continue,
                false => Control::Start,
            };
            of.lets_answer = false;
            let cycles = if yields { yield_time(of) } else { 0 };
            let tile = self.tile_of(activity);
            let of = &mut self.root.activities[activity];
            let how = (in_units(activity), control, cycles);
            let is_there = good >> n & 1 != 0 && of.image.go_on(unit, tile, how).is_ok();
            good &= !(u32::from(!is_there) << n);
            if is_there {
                of.phase = Phase::Runs;
                let place = of.place;
                let turns = &mut self.root.schedule.tiles[usize::from(place)];
                *turns = Turns {
                    current: activity,
                    due: if others { turn_end } else { u64::MAX },
                    stops: false,
                    is_longer: false,
                    looks: 0,
                    yields,
                    ..*turns
                };
                self.root.schedule.turns += 1;
            }
        }
        for (n, &activity) in all.iter().enumerate() {
            match good >> n & 1 {
                0 => {
                    self.lose_tile(self.tile_of(activity), None);
                    self.end(activity, Status::Failed as u64, LOST);
                }
                _ => self.starve(unit, activity, false),
            }
        }
        good != 0
    }

    /// Others wait for a tile, or would take it.
    #[inline(never)]
    pub fn ask_to_yield(&mut self, place: u8) {
        let current = self.root.schedule.tiles[usize::from(place)].current;
        let group = match current {
            NOBODY => None,
            current => self.root.activities[current].group,
        };
        let Some(group) = group else {
            return self.ask_one_to_yield(place);
        };
        for member in self.root.groups.members(group) {
            self.ask_one_to_yield(self.root.activities[member].place);
        }
    }

    fn ask_one_to_yield(&mut self, place: u8) {
        let turns = &mut self.root.schedule.tiles[usize::from(place)];
        if let Some(unit) = self.tiles.unit
            && turns.current != NOBODY
            && !turns.drains
            && !core::mem::replace(&mut turns.yields, true)
        {
            self.tell_to_yield(unit, place);
        }
    }

    /// The module of a tile gets to know that others wait.
    pub fn tell_to_yield(&self, unit: Unit, place: u8) {
        let turns = &self.root.schedule.tiles[usize::from(place)];
        if turns.current == NOBODY || !turns.yields || turns.drains {
            return;
        }
        let cycles = yield_time(&self.root.activities[turns.current]);
        let register = ACCELERATOR_REGISTERS + accelerator::YIELD;
        let tile = self.root.tiles.at(place).tile;
        // A tile that does not answer is found when its turn ends.
        let _: Result<(), NoAnswer> = unit.write_registers(tile, register, &[cycles]);
    }

    /// The accelerator that an activity sends its output to gets messages soon, or does not.
    fn starve(&mut self, unit: Unit, activity: u16, is_starved: bool) {
        let of = &mut self.root.activities[activity];
        let Some(Endpoint::Send(send)) = of.image.endpoint(accelerator::OUTPUT_REQUESTS) else {
            return;
        };
        let receiver = of_units(send.receiver).filter(|&other| self.root.activities.is_used(other));
        let Some(receiver) = receiver else {
            return;
        };
        let of = &mut self.root.activities[receiver];
        if of.is_starved != is_starved {
            of.is_starved = is_starved;
            let place = of.place;
            if self.is_current(receiver) {
                self.tell_to_yield(unit, place);
            }
        }
    }

    /// Turns are over.
    pub fn end_turns(&mut self, now: u64) {
        let Some(unit) = self.tiles.unit else {
            return;
        };
        for place in 0..self.root.tiles.count() as u8 {
            let turns = &mut self.root.schedule.tiles[usize::from(place)];
            if turns.due > now {
                continue;
            }
            let facts = *self.root.tiles.at(place);
            let tile = facts.tile;
            let again = self.map.frequency / LOOKS;
            let current = turns.current;
            if !turns.stops
                && current != NOBODY
                && let Some(group) = self.root.activities[current].group
            {
                self.stop_group(unit, group);
                continue;
            }
            if let Some(later) = self.turn_end_of_sender(place, now) {
                let turns = &mut self.root.schedule.tiles[usize::from(place)];
                (turns.due, turns.is_longer) = (later, true);
                continue;
            }
            let turns = &mut self.root.schedule.tiles[usize::from(place)];
            turns.due = now.saturating_add(again);
            let told = match core::mem::replace(&mut turns.stops, true) {
                false => unit.stop_module(&facts),
                // It should have stopped. Its notice may be lost, or the tile.
                true => match unit.read_register(tile, ACCELERATOR_REGISTERS + accelerator::STATUS)
                {
                    Ok(status) if status == Status::Runs as u64 => {
                        turns.looks = turns.looks.saturating_add(1);
                        match facts.is_request {
                            true if turns.looks > MOST_LOOKS => unit.end_requests(tile),
                            true => unit.leave_pager(tile),
                            false => Ok(()),
                        }
                    }
                    Ok(status) => {
                        let status = Status::from_number(status).unwrap_or(Status::Failed);
                        self.tile_is_free(place, status, 0, u64::MAX);
                        Ok(())
                    }
                    Err(error) => Err(error),
                },
            };
            if told.is_err() {
                self.tile_is_free(place, Status::Failed, LOST, 0);
            }
        }
    }

    /// A turn that is over goes on if that of the activity that sends to this one ends soon: this one yields behind its
    /// last message then. If it went first, its tile would be another one's, and the sender would wait and yield, too:
    /// chains took the tiles of a chain from each other for some 400 µs. A turn gets longer once.
    fn turn_end_of_sender(&mut self, place: u8, now: u64) -> Option<u64> {
        let turns = self.root.schedule.tiles[usize::from(place)];
        if turns.stops || turns.is_longer || turns.current == NOBODY {
            return None;
        }
        let soon = now.saturating_add(self.root.schedule.slice / SOON);
        let receiver = in_units(turns.current);
        for other in 0..self.root.tiles.count() {
            let of = self.root.schedule.tiles[other];
            if of.current == NOBODY || of.stops || of.due <= now || of.due > soon {
                continue;
            }
            let image = &mut self.root.activities[of.current].image;
            if let Some(Endpoint::Send(send)) = image.endpoint(accelerator::OUTPUT_REQUESTS)
                && send.receiver == receiver
            {
                return Some(
                    of.due
                        .saturating_add(self.root.schedule.slice / LAST_MESSAGE),
                );
            }
        }
        None
    }

    /// The turn of a tile is over: its module stops. A tile that does not answer is found when the kernel looks.
    #[inline(never)]
    pub fn stop_turn(&mut self, unit: Unit, place: u8) {
        let facts = *self.root.tiles.at(place);
        let turns = &mut self.root.schedule.tiles[usize::from(place)];
        turns.due = csr::time() + self.map.frequency / LOOKS;
        if !core::mem::replace(&mut turns.stops, true) {
            let _: Result<(), NoAnswer> = unit.stop_module(&facts);
        }
    }

    /// Modules tell what happens.
    pub fn attend_activities(&mut self, unit: Unit) {
        while let Some(message) = unit.fetch(CALLS) {
            self.module_tells(unit, &message);
            // The module goes on when its credit is back.
            unit.acknowledge(CALLS, message.slot);
        }
    }

    fn module_tells(&mut self, unit: Unit, message: &Message) {
        let words = *message
            .payload
            .first_chunk()
            .unwrap_or(&[0; accelerator::NOTICE_WORDS]);
        let place = self.root.tiles.place(message.header.tile.into());
        let (Some(place), Some(notice)) = (place, Notice::from_words(words)) else {
            return;
        };
        let turns = self.root.schedule.tiles[usize::from(place)];
        // A message of an earlier activity may have been on its way.
        let is_its = message.header.label == turns.current.into();
        match notice {
            Notice::Status {
                status,
                fault,
                waits,
            } if is_its || turns.drains => self.tile_is_free(place, status, fault, waits),
            Notice::Status { .. } => {}
            _ if is_its => self.forward(unit, turns.current, notice),
            _ => {}
        }
    }

    /// The module of a tile has stopped, or its activity is over. `waits`: the endpoints by whose messages it goes on.
    #[inline(never)]
    fn tile_is_free(&mut self, place: u8, status: Status, fault: u64, waits: u64) {
        let Some(unit) = self.tiles.unit else {
            return;
        };
        let facts = *self.root.tiles.at(place);
        let turns = &mut self.root.schedule.tiles[usize::from(place)];
        let activity = turns.current;
        let (stops, drains) = (turns.stops, turns.drains);
        let group = match activity {
            NOBODY => None,
            activity => self.root.activities[activity].group,
        };
        if let Some(group) = group
            && status == Status::Stopped
            && !stops
            && !drains
            && !self.yields_with_group(unit, activity, group)
        {
            return;
        }
        let turns = &mut self.root.schedule.tiles[usize::from(place)];
        if activity != NOBODY && !drains {
            let image = &mut self.root.activities[activity].image;
            match image.save(unit, &facts) {
                // Its confirmation is under way: the kernel looks again.
                Ok(None) => {
                    turns.stops = true;
                    turns.due = csr::time() + self.map.frequency / LOOKS;
                    return;
                }
                Ok(Some(())) if status == Status::Stopped => {
                    let unread = image.unread();
                    turns.current = NOBODY;
                    turns.due = u64::MAX;
                    // It may get the next turn, too.
                    if group.is_none() {
                        self.starve(unit, activity, true);
                    }
                    match waits == 0 || unread & waits != 0 {
                        true if group.is_none() => self.make_ready(activity),
                        _ => self.root.activities[activity].phase = Phase::Waits(waits),
                    }
                }
                Ok(Some(())) => {
                    turns.current = NOBODY;
                    // Requests come until their activity is revoked, or cannot stop.
                    let (status, fault) = match facts.is_request {
                        true => (Status::Failed, LOST),
                        false => (status, fault),
                    };
                    self.end(activity, status as u64, fault);
                }
                Err(NoAnswer) => {
                    turns.current = NOBODY;
                    self.lose_tile(facts.tile, None);
                    self.end(activity, Status::Failed as u64, LOST);
                }
            }
        }
        let turns = &mut self.root.schedule.tiles[usize::from(place)];
        if turns.current == NOBODY || turns.drains {
            let (first, last) = (turns.first, turns.last);
            *turns = Turns {
                first,
                last,
                ..Turns::NONE
            };
            self.give_turn(place);
        }
        if let Some(group) = group {
            self.consider_group(group);
        }
    }

    /// An activity that has its tile is revoked: the module comes to its next step, and does nothing meanwhile.
    pub fn drain(&mut self, activity: u16) {
        let place = self.root.activities[activity].place;
        let facts = *self.root.tiles.at(place);
        let tile = facts.tile;
        let turns = &mut self.root.schedule.tiles[usize::from(place)];
        turns.current = NOBODY;
        let Some(unit) = self.tiles.unit else {
            return;
        };
        turns.drains = true;
        turns.stops = true;
        turns.due = csr::time() + self.map.frequency / LOOKS;
        let root = self.map.tile.0 as u16;
        // From now on no command of the module has an endpoint, but that by which it tells that it has stopped.
        let (endpoints, count) = of_nobody(&facts, notices(root, NOBODY.into(), DRAINS));
        let endpoints = endpoints[..count].as_flattened();
        let stopped = unit
            .write_registers(tile, dtu::current(0), &[NO_ACTIVITY.into()])
            .and_then(|()| unit.write_registers(tile, dtu::endpoint_word(0, 0), endpoints))
            .and_then(|()| unit.write_registers(tile, dtu::current(0), &[DRAINS.into()]))
            .and_then(|()| match facts.is_request {
                true => unit.end_requests(tile),
                false => unit.stop_module(&facts),
            });
        if stopped.is_err() {
            self.lose_tile(tile, None);
            self.tile_is_free(place, Status::Failed, LOST, 0);
        }
    }
}
