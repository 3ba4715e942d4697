//! Tiles whose units did not answer when endpoints of theirs were to be cleared. Such an accelerator may still write to
//! memory that was revoked: nobody else gets that until the unit answers again.
use flick_abi::accelerator::{self, Control, Status};
use flick_abi::card::Error;
use flick_abi::dtu::{self, ACCELERATOR_REGISTERS, MemoryEndpoint, NO_ACTIVITY};

use super::remote::NoAnswer;
use crate::csr;
use crate::dtu::Unit;
use crate::kernel::{Kernel, is_past};

/// Ranges that lost tiles may reach; each has two endpoints for memory.
const RANGES: usize = 64;
/// A part of a second, after which a lost tile is asked again.
const PAUSE: u64 = 100;

/// Addresses of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The tile.
    pub tile: u16,
    /// The first address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
}

impl Range {
    /// What an endpoint reaches.
    pub fn of(endpoint: &MemoryEndpoint) -> Self {
        Self {
            tile: endpoint.tile,
            address: endpoint.address,
            size: endpoint.size,
        }
    }

    /// The first address behind it.
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.size)
    }

    fn meets(&self, other: &Self) -> bool {
        self.tile == other.tile && self.address < other.end() && other.address < self.end()
    }
}

/// What a lost tile may reach.
#[derive(Clone, Copy, Debug)]
struct Lost {
    tile: u16,
    /// When it is asked again.
    until: u64,
    reaches: Option<Range>,
}

/// All of them.
#[derive(Debug)]
pub struct LostTiles {
    all: [Option<Lost>; RANGES],
    /// Places that are used.
    count: usize,
    /// There were more tiles with ranges than places: each lost tile may reach everything.
    is_full: bool,
}

impl LostTiles {
    /// None.
    pub const fn new() -> Self {
        Self {
            all: [None; RANGES],
            count: 0,
            is_full: false,
        }
    }

    /// Is the tile lost?
    pub fn has(&self, tile: u16) -> bool {
        self.all.iter().flatten().any(|lost| lost.tile == tile)
    }

    /// A range that a lost tile may reach, and which has a part of this one.
    pub fn in_the_way(&self, range: &Range) -> Option<Range> {
        if self.is_full {
            return Some(Range {
                size: u64::MAX,
                ..*range
            });
        }
        let mut reached = self.all.iter().flatten().filter_map(|lost| lost.reaches);
        reached.find(|reached| reached.meets(range))
    }

    fn add(&mut self, lost: Lost) {
        if lost.reaches.is_none() && self.has(lost.tile) {
            return;
        }
        match self.all.iter_mut().find(|place| place.is_none()) {
            Some(place) => {
                *place = Some(lost);
                self.count += 1;
            }
            None => self.is_full |= !self.widen(lost),
        }
    }

    /// Without a place more, a range of the same tile covers the new one, too, and what is between them. False: it has
    /// none there.
    fn widen(&mut self, lost: Lost) -> bool {
        let Some(new) = lost.reaches else {
            return false;
        };
        let mut all = self.all.iter_mut().flatten();
        let is_near = |of: &&mut Lost| {
            of.tile == lost.tile && of.reaches.is_some_and(|range| range.tile == new.tile)
        };
        let Some(Lost {
            reaches: Some(range),
            ..
        }) = all.find(is_near)
        else {
            return false;
        };
        let end = range.end().max(new.end());
        range.address = range.address.min(new.address);
        range.size = end - range.address;
        true
    }

    fn remove(&mut self, tile: u16) {
        for place in &mut self.all {
            let taken = place.take_if(|lost| lost.tile == tile);
            self.count -= usize::from(taken.is_some());
        }
        self.is_full &= self.count != 0;
    }
}

impl Unit {
    /// The accelerator of a tile has no activity and no endpoints any more, and no command runs.
    fn end_all(&self, tile: u16, endpoints: u16) -> Result<(), NoAnswer> {
        self.write_registers(tile, dtu::current(0), &[NO_ACTIVITY.into()])?;
        let control = ACCELERATOR_REGISTERS + accelerator::CONTROL;
        self.write_registers(tile, control, &[Control::Stop as u64])?;
        (0..endpoints).try_for_each(|number| self.set_remote(tile, number, None))?;
        self.finish_commands(tile)?;
        // It comes to its next step first.
        let status = self.read_register(tile, ACCELERATOR_REGISTERS + accelerator::STATUS)?;
        match status == Status::Runs as u64 {
            true => Err(NoAnswer),
            false => Ok(()),
        }
    }
}

impl Kernel {
    /// A tile has not answered. It may still reach a range.
    pub fn lose_tile(&mut self, tile: u16, reaches: Option<Range>) {
        let until = csr::time() + self.map.frequency / PAUSE;
        self.root.lost.add(Lost {
            tile,
            until,
            reaches,
        });
    }

    /// A tile that was lost is asked now and then. If it answers, it is as after its reset.
    pub fn ask_lost_tile(&mut self, tile: u16) -> Result<(), Error> {
        // Most often there is none. Each switch of a tile asks.
        if self.root.lost.count == 0 {
            return Ok(());
        }
        let mut all = self.root.lost.all.iter().flatten();
        let Some(until) = all.find(|lost| lost.tile == tile).map(|lost| lost.until) else {
            return Ok(());
        };
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let endpoints = self
            .root
            .tiles
            .get(tile.into())
            .map_or(0, |facts| facts.endpoints);
        if !is_past(until) {
            return Err(Error::Failed);
        }
        let is_there = unit.end_all(tile, endpoints);
        let until = csr::time() + self.map.frequency / PAUSE;
        let places = self.root.lost.all.iter_mut().flatten();
        places
            .filter(|lost| lost.tile == tile)
            .for_each(|lost| lost.until = until);
        is_there?;
        self.root.lost.remove(tile);
        Ok(())
    }
}
