//! Activities that move to another tile of the same kind while they have no turn (M3x, section 5.4): a tile that has
//! nothing to do takes one that waits for its turn elsewhere. Those who send to it, or reach its local memory, learn
//! of its tile when the old one refuses what they send.
use flick_abi::card::Error;
use flick_abi::dtu::SlotRecord;

use super::activities::{Phase, of_units};
use super::known_rights;
use super::remote::NoAnswer;
use super::turn_order::NOBODY;
use super::{Memory, Sender};
use crate::dtu::Unit;
use crate::kernel::{Answer, Caller, Kernel, value};

impl Kernel {
    /// An activity may move from now on, or may not.
    pub fn let_move(&mut self, caller: Caller, number: u64, may: u64) -> Answer {
        let (_, activity) = self.activity(caller, number)?;
        if may > 1 {
            return Err(Error::Invalid);
        }
        if may != 0 && self.root.activities[activity].group.is_some() {
            return Err(Error::Busy);
        }
        let before = self.root.activities[activity].may_move;
        let of = &mut self.root.activities[activity];
        of.may_move = may != 0;
        let movable = &mut self.root.schedule.movable;
        *movable = *movable + u64::from(may != 0) - u64::from(before);
        if of.phase == Phase::Ready {
            let place = of.place;
            self.ask_kin_to_yield(place);
        }
        value(self.tile_of(activity).into())
    }

    /// An activity is gone.
    pub fn forget_mover(&mut self, activity: u16) {
        let may_move = self.root.activities[activity].may_move;
        self.root.schedule.movable -= u64::from(may_move);
    }

    /// Where the other tiles of the same kind are in the table.
    fn kin(&self, place: u8) -> impl Iterator<Item = u8> + use<'_> {
        let facts = self.root.tiles.at(place);
        let all = 0..self.root.tiles.count() as u8;
        let all = all.filter(move |&other| other != place);
        all.filter(move |&other| facts.is_kin(self.root.tiles.at(other)))
    }

    /// An activity that has become ready moves if it had to wait for its tile, and another one is free.
    #[inline(never)]
    pub fn find_place(&mut self, activity: u16) {
        let of = &self.root.activities[activity];
        let place = of.place;
        if !of.may_move || self.root.schedule.is_free(place) {
            return;
        }
        let free = self.kin(place).find(|&other| {
            self.root.schedule.is_free(other) && !self.root.lost.has(self.root.tiles.at(other).tile)
        });
        if let Some(free) = free {
            self.move_to(activity, free);
        }
    }

    /// The first activity that may move, of those that wait for a tile.
    fn first_mover(&self, place: u8) -> Option<u16> {
        let mut at = self.root.schedule.first(place);
        while at != NOBODY && !self.root.activities[at].may_move {
            at = self.root.activities[at].next;
        }
        (at != NOBODY).then_some(at)
    }

    /// An activity that waits for another tile, and may have its turn here.
    #[inline(never)]
    fn mover_for(&self, place: u8) -> Option<u16> {
        if self.root.schedule.movable == 0 {
            return None;
        }
        self.kin(place).find_map(|other| self.first_mover(other))
    }

    /// Whether an activity that waits for another tile would take this one.
    pub fn is_wanted(&self, place: u8) -> bool {
        self.mover_for(place).is_some()
    }

    /// A tile that has nothing to do takes an activity that waits for another one.
    pub fn steal(&mut self, place: u8) {
        let tile = self.root.tiles.at(place).tile;
        let mover = self.mover_for(place).filter(|_| !self.root.lost.has(tile));
        let Some(activity) = mover else {
            return;
        };
        self.leave_turns(activity);
        self.move_to(activity, place);
        self.append(activity);
    }

    /// Modules of the same kind learn that others wait, so that they yield if they have nothing to do.
    #[inline(never)]
    pub fn ask_kin_to_yield(&mut self, place: u8) {
        if self.root.schedule.movable == 0 || self.first_mover(place).is_none() {
            return;
        }
        for other in 0..self.root.tiles.count() as u8 {
            let is_kin =
                other != place && self.root.tiles.at(place).is_kin(self.root.tiles.at(other));
            if is_kin {
                self.ask_to_yield(other);
            }
        }
    }

    /// An activity without a turn is of another tile from now on.
    #[inline(never)]
    fn move_to(&mut self, activity: u16, place: u8) {
        self.root.activities[activity].place = place;
        // Harts reach its local memory by what they know.
        known_rights::forget_all();
    }

    /// The tile of whoever receives messages, or has its data in a memory. An activity may have moved.
    #[inline(never)]
    pub fn tile_now(&self, receiver: u16, tile: u16) -> u16 {
        let activity =
            of_units(receiver).filter(|&activity| self.root.activities.is_used(activity));
        activity.map_or(tile, |activity| self.tile_of(activity))
    }

    /// The sender, with the tile that its receiver has now.
    pub fn sender_now(&self, sender: Sender) -> Sender {
        Sender {
            tile: self.tile_now(sender.receiver, sender.tile),
            ..sender
        }
    }

    /// The memory, with the tile that its activity has now.
    pub fn memory_now(&self, memory: Memory) -> Memory {
        memory.on_tile(self.tile_now(memory.owner(), memory.tile()))
    }

    /// An answer was refused, since who asked has moved: the unit with the message learns of its tile.
    pub fn mend_record(
        &self,
        unit: Unit,
        (tile, at): (u16, u64),
        asked: &SlotRecord,
    ) -> Result<(), NoAnswer> {
        let now = self.tile_now(asked.activity, asked.tile);
        if now == asked.tile {
            return Ok(());
        }
        // The sender's endpoint has all its credits since it was set up there.
        let record = SlotRecord {
            tile: now,
            credit: None,
            ..*asked
        };
        unit.write_registers(tile, at, &record.words())
    }
}
