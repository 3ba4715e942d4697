//! Memory of tiles of memory, and of accelerators.
use flick_abi::card::{Error, PAGE, rights};
use flick_abi::dtu::{Command, Endpoint, MemoryEndpoint};

use flick_kernel_core::page_tables::Physical;

use super::Object;
use super::activities::of_units;
use super::known_rights::{self, Kind};
use super::lost_tiles::Range;
use super::tile_table::{NAME, TileFacts};
use crate::csr;
use crate::direct::Direct;
use crate::hart_unit::note;
use crate::kernel::{Answer, Caller, Done, Kernel, value};

/// What a call takes at most.
const MOST_TAKEN: u64 = 1 << 30;
/// It is cleared in parts: others are served in between.
const PART: u64 = 1 << 20;
/// A part of a second, behind which others need not wait for a process that does not ask for its next part.
const PAUSE: u64 = 200;
/// What a call copies at most.
pub const MOST_COPIED: u64 = 64 << 10;

/// A range of the memory of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// The tile.
    pub tile: u16,
    /// Its first address there.
    pub address: u64,
    /// Its bytes.
    pub size: u64,
    /// [`rights`].
    rights: u8,
    /// It was taken from the memory of a tile, and goes back there.
    is_whole: bool,
    /// The activity, by its number in the units, whose local memory it is; 0: it is a tile of memory's.
    owner: u16,
}

impl Memory {
    /// All rights to a range that nobody takes.
    pub const fn of(tile: u16, address: u64, size: u64) -> Self {
        Self {
            tile,
            address,
            size,
            rights: (rights::READ | rights::WRITE) as u8,
            is_whole: false,
            owner: 0,
        }
    }

    /// The local memory of an activity.
    pub const fn local(facts: &TileFacts, owner: u16) -> Self {
        Self {
            owner,
            ..Self::of(facts.tile, facts.base, facts.size)
        }
    }

    /// The same for another one.
    pub const fn part(self) -> Self {
        Self {
            is_whole: false,
            ..self
        }
    }

    /// A part of it, or with fewer rights.
    pub fn narrow(&self, (offset, size): (u64, u64), wanted: u64) -> Result<Self, Error> {
        self.check(offset, size)?;
        if !self.has(wanted) {
            return Err(Error::NotPermitted);
        }
        Ok(Self {
            address: self.address + offset,
            size,
            rights: wanted as u8,
            ..self.part()
        })
    }

    /// An endpoint of an activity that reaches it.
    pub fn endpoint(&self, activity: u16) -> Endpoint {
        Endpoint::Memory(MemoryEndpoint {
            activity,
            can_read: self.has(rights::READ),
            can_write: self.has(rights::WRITE),
            tile: self.tile,
            address: self.address,
            size: self.size,
            receiver: self.owner,
        })
    }

    /// The activity that has its data there, as units know it; 0: none.
    pub const fn owner(&self) -> u16 {
        self.owner
    }

    /// Its tile.
    pub const fn tile(&self) -> u16 {
        self.tile
    }

    /// The same on another tile.
    pub const fn on_tile(self, tile: u16) -> Self {
        Self { tile, ..self }
    }

    /// As harts look it up.
    fn words(&self) -> known_rights::Words {
        let tile = u32::from(self.tile & 0xff) | u32::from(self.rights) << 8;
        let small = tile | u32::from(self.owner) << 16;
        (small, self.address, self.size)
    }

    /// Are these rights among its own?
    pub fn has(&self, wanted: u64) -> bool {
        wanted & !u64::from(self.rights) == 0
    }

    /// Is the range within it?
    pub fn check(&self, offset: u64, size: u64) -> Result<(), Error> {
        let end = offset.checked_add(size);
        match end.is_some_and(|end| end <= self.size) {
            true => Ok(()),
            false => Err(Error::Invalid),
        }
    }
}

/// Memory that a process takes, while it is cleared.
#[derive(Clone, Copy, Debug)]
pub struct Taking {
    process: u16,
    memory: Memory,
    /// Bytes that are 0.
    done: u64,
    /// When the last part was cleared.
    at: u64,
}

impl Kernel {
    /// The first tile with this name, from a number on.
    pub fn find_tile(&mut self, caller: Caller, (name, size): (u64, u64), from: u64) -> Answer {
        let bytes = self.load_name(caller, (name, size))?;
        let name = &bytes[..size as usize];
        if let Some(found) = self.root.tiles.find(name, from) {
            return Ok(Done::Values(found.tile.into(), found.endpoints.into()));
        }
        let (tile, endpoints) = self.root.cores.find(name, from).ok_or(Error::NotFound)?;
        Ok(Done::Values(tile.into(), endpoints as u64))
    }

    /// A name of the caller, with zeros behind it.
    pub fn load_name(
        &mut self,
        caller: Caller,
        (name, size): (u64, u64),
    ) -> Result<[u8; NAME], Error> {
        let mut bytes = [0; NAME];
        if size > NAME as u64 {
            return Err(Error::Invalid);
        }
        self.each_piece(
            caller,
            name,
            size,
            rights::READ,
            |_, place, piece, before| {
                let to = &mut bytes[before as usize..][..piece as usize];
                // SAFETY: bytes of the process's memory, which have just been resolved.
                unsafe { core::ptr::copy(place as *const u8, to.as_mut_ptr(), to.len()) };
            },
        )?;
        Ok(bytes)
    }

    /// Memory of a tile, which nobody else has, and which is 0.
    pub fn take_tile_memory(&mut self, caller: Caller, tile: u64, size: u64) -> Answer {
        let facts = self.root.tiles.get(tile).filter(|facts| facts.is_memory());
        let facts = *facts.ok_or(Error::NotFound)?;
        if size == 0 || size > MOST_TAKEN {
            return Err(Error::Invalid);
        }
        let size = size.next_multiple_of(PAGE);
        let (now, pause) = (csr::time(), self.map.frequency / PAUSE);
        // The kernel of another tile makes the call again, or does not.
        let goes_on = |taking: &Taking| {
            taking.process == caller.process || now.saturating_sub(taking.at) < pause
        };
        let taking = match self.root.taking.filter(goes_on) {
            None => Taking {
                process: caller.process,
                memory: self.find_free(facts.tile, (facts.base, facts.size), size)?,
                done: 0,
                at: now,
            },
            Some(taking) => taking,
        };
        let Taking { memory, done, .. } = taking;
        if taking.process != caller.process || (memory.tile, memory.size) != (facts.tile, size) {
            // Another one takes memory.
            return Ok(Done::Again);
        }
        let part = Memory {
            address: memory.address + done,
            size: PART.min(size - done),
            ..memory
        };
        let cleared = self.clear_memory(&part);
        if cleared.is_err() || done + part.size == size {
            self.root.taking = None;
            cleared?;
            return self.grant(caller.process, Object::Memory(memory), None);
        }
        self.root.taking = Some(Taking {
            done: done + part.size,
            at: now,
            ..taking
        });
        Ok(Done::Again)
    }

    /// Memory of a tile from the first address on that is free.
    fn find_free(&self, tile: u16, (base, most): (u64, u64), size: u64) -> Result<Memory, Error> {
        let end = base.saturating_add(most);
        let mut address = base;
        while let Some(next) = address.checked_add(size).filter(|&next| next <= end) {
            let in_the_way = self.root.capabilities.find_object(|object| match object {
                Object::Memory(memory) => {
                    let others_end = memory.address + memory.size;
                    let is_here = memory.is_whole && memory.tile == tile;
                    is_here && memory.address < next && address < others_end
                }
                _ => false,
            });
            let range = Range {
                tile,
                address,
                size,
            };
            address = match (in_the_way, self.root.lost.in_the_way(&range)) {
                (Some(Object::Memory(other)), _) => other.address + other.size,
                (_, Some(lost)) => lost.end(),
                _ => {
                    return Ok(Memory {
                        is_whole: true,
                        ..Memory::of(tile, address, size)
                    });
                }
            };
        }
        Err(Error::NoMemory)
    }

    /// A process is over.
    pub fn forget_taking(&mut self, process: u16) {
        self.root.taking = self.root.taking.filter(|taking| taking.process != process);
    }

    /// It is 0 afterwards.
    pub fn clear_memory(&mut self, memory: &Memory) -> Result<(), Error> {
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let zeros = self.frames.allocate().ok_or(Error::NoMemory)?;
        Direct.clear(zeros);
        let mut pages = (0..memory.size).step_by(PAGE as usize);
        let cleared = pages.try_for_each(|offset| {
            let at = (memory.tile, memory.address + offset);
            unit.move_memory(Command::Write, at, zeros, PAGE)
        });
        self.frames.free(zeros);
        Ok(cleared?)
    }

    /// The object of a capability, if it is memory.
    pub fn memory(&self, caller: Caller, number: u64) -> Result<(u16, Memory), Error> {
        match self.capability(caller, number)? {
            (place, Object::Memory(memory)) => Ok((place, memory)),
            _ => Err(Error::Invalid),
        }
    }

    /// A capability for a part, or with fewer rights.
    pub fn narrow_memory(
        &mut self,
        caller: Caller,
        number: u64,
        (offset, size): (u64, u64),
        wanted: u64,
    ) -> Answer {
        let (place, memory) = self.memory(caller, number)?;
        let part = memory.narrow((offset, size), wanted)?;
        self.grant(caller.process, Object::Memory(part), Some(place))
    }

    /// Where the memory is in the kernel's, if it is the local memory of an activity that does not run.
    pub fn image_of(&self, memory: &Memory) -> Option<u64> {
        let activity = of_units(memory.owner).filter(|&activity| !self.is_current(activity))?;
        let offset = memory.address - self.facts_of(activity).base;
        Some(self.root.activities[activity].image.memory(offset))
    }

    /// Copies between memory of a tile and the caller's, by the right that it needs there. The caller's hart can do
    /// that itself, if it knows the right, and if no activity without a turn has the memory.
    pub fn copy(
        &mut self,
        caller: Caller,
        [number, offset, here, size, ..]: [u64; 6],
        right: u64,
        why: u64,
    ) -> Answer {
        if !self.map.is_coherent {
            return Err(Error::NoCall);
        }
        let (_, object) = self.capability(caller, number)?;
        let Object::Memory(memory) = self.root.views.seen(object) else {
            return Err(Error::Invalid);
        };
        memory.check(offset, size)?;
        if size > MOST_COPIED {
            return Err(Error::Invalid);
        }
        let memory = self.memory_now(memory);
        if !memory.has(right) {
            return Err(Error::NotPermitted);
        }
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        // What the unit stores to is the caller's memory, and the other way round.
        let (command, of_caller) = match right {
            rights::READ => (Command::Read, rights::WRITE),
            _ => (Command::Write, rights::READ),
        };
        let image = self.image_of(&memory);
        let is_of_host = self.is_of_host(caller);
        if !is_of_host
            && why & 0xff == note::NOTHING
            && size != 0
            && image.is_none()
            && unit.has_harts()
        {
            known_rights::add(Kind::Memory, caller.process, number, memory.words());
            return Ok(Done::Again);
        }
        // Pages that follow each other in memory are moved by one command.
        let (mut moved, mut start, mut length, mut first) = (Ok(()), 0, 0, offset);
        let mut move_row = |start, length, first| {
            if length == 0 {
                return;
            }
            if let Some(image) = image {
                let at = image + first;
                let (from, to) = match command {
                    Command::Read => (at, start),
                    _ => (start, at),
                };
                // SAFETY: bytes of the process's memory, which have just been resolved, and of an activity's image.
                unsafe { core::ptr::copy(from as *const u8, to as *mut u8, length as usize) };
                return;
            }
            let at = (memory.tile, memory.address + first);
            moved = moved.and_then(|()| unit.move_memory(command, at, start, length));
        };
        self.each_piece(caller, here, size, of_caller, |_, place, piece, before| {
            if is_of_host {
                // A copy of the piece, whose place the next one gets.
                return move_row(place, piece, offset + before);
            }
            if start + length != place {
                move_row(start, length, first);
                (start, length, first) = (place, 0, offset + before);
            }
            length += piece;
        })?;
        move_row(start, length, first);
        moved?;
        value(0)
    }
}
