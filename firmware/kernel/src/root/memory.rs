//! Memory of tiles of memory, and of accelerators.
use flick_abi::card::{Error, PAGE, rights};
use flick_abi::dtu::{Command, Endpoint, MemoryEndpoint};

use flick_kernel_core::page_tables::Physical;

use super::Object;
use super::lost_tiles::Range;
use super::tile_table::NAME;
use crate::direct::Direct;
use crate::kernel::{Answer, Caller, Done, Kernel, value};

/// What a call takes at most: it is cleared meanwhile.
const MOST_TAKEN: u64 = 16 << 20;
/// What a call copies at most.
const MOST_COPIED: u64 = 64 << 10;

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
        }
    }

    /// The same for another one.
    pub const fn part(self) -> Self {
        Self {
            is_whole: false,
            ..self
        }
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
        })
    }

    /// Its addresses.
    pub const fn range(&self) -> Range {
        Range {
            tile: self.tile,
            address: self.address,
            size: self.size,
        }
    }

    fn has(&self, wanted: u64) -> bool {
        wanted & !u64::from(self.rights) == 0
    }

    /// Is the range within it?
    fn check(&self, offset: u64, size: u64) -> Result<(), Error> {
        let end = offset.checked_add(size);
        match end.is_some_and(|end| end <= self.size) {
            true => Ok(()),
            false => Err(Error::Invalid),
        }
    }
}

impl Kernel {
    /// The first tile with this name, from a number on.
    pub fn find_tile(&mut self, caller: Caller, (name, size): (u64, u64), from: u64) -> Answer {
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
        let found = self.root.tiles.find(&bytes[..size as usize], from);
        let found = found.ok_or(Error::NotFound)?;
        Ok(Done::Values(found.tile.into(), found.endpoints.into()))
    }

    /// Memory of a tile, which nobody else has, and which is 0.
    pub fn take_tile_memory(&mut self, caller: Caller, tile: u64, size: u64) -> Answer {
        let facts = self.root.tiles.get(tile).filter(|facts| facts.is_memory());
        let facts = *facts.ok_or(Error::NotFound)?;
        if size == 0 || size > MOST_TAKEN {
            return Err(Error::Invalid);
        }
        let size = size.next_multiple_of(PAGE);
        let end = facts.base.saturating_add(facts.size);
        let mut address = facts.base;
        // From the first address on that is free.
        while let Some(next) = address.checked_add(size).filter(|&next| next <= end) {
            let in_the_way = self.root.capabilities.find_object(|object| match object {
                Object::Memory(memory) => {
                    let others_end = memory.address + memory.size;
                    let is_here = memory.is_whole && memory.tile == facts.tile;
                    is_here && memory.address < next && address < others_end
                }
                _ => false,
            });
            let range = Memory::of(facts.tile, address, size).range();
            let in_the_way = match in_the_way {
                Some(Object::Memory(other)) => Some(other.range()),
                _ => self.root.lost.in_the_way(&range),
            };
            let Some(other) = in_the_way else {
                let memory = Memory {
                    is_whole: true,
                    ..Memory::of(facts.tile, address, size)
                };
                self.clear_memory(&memory)?;
                return self.grant(caller.process, Object::Memory(memory), None);
            };
            address = other.address.saturating_add(other.size);
        }
        Err(Error::NoMemory)
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
    fn memory(&self, caller: Caller, number: u64) -> Result<(u16, Memory), Error> {
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
        memory.check(offset, size)?;
        if !memory.has(wanted) {
            return Err(Error::NotPermitted);
        }
        let part = Memory {
            address: memory.address + offset,
            size,
            rights: wanted as u8,
            ..memory.part()
        };
        self.grant(caller.process, Object::Memory(part), Some(place))
    }

    /// Copies from memory of a tile to the caller's.
    pub fn load_from_tile(
        &mut self,
        caller: Caller,
        number: u64,
        offset: u64,
        buffer: (u64, u64),
    ) -> Answer {
        self.copy(caller, number, offset, buffer, rights::READ)
    }

    /// Copies from the caller's memory to that of a tile.
    pub fn store_to_tile(
        &mut self,
        caller: Caller,
        number: u64,
        offset: u64,
        data: (u64, u64),
    ) -> Answer {
        self.copy(caller, number, offset, data, rights::WRITE)
    }

    fn copy(
        &mut self,
        caller: Caller,
        number: u64,
        offset: u64,
        (here, size): (u64, u64),
        right: u64,
    ) -> Answer {
        if !self.map.is_coherent {
            return Err(Error::NoCall);
        }
        let (_, memory) = self.memory(caller, number)?;
        memory.check(offset, size)?;
        if size > MOST_COPIED {
            return Err(Error::Invalid);
        }
        if !memory.has(right) {
            return Err(Error::NotPermitted);
        }
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        // What the unit stores to is the caller's memory, and the other way round.
        let (command, of_caller) = match right {
            rights::READ => (Command::Read, rights::WRITE),
            _ => (Command::Write, rights::READ),
        };
        let mut moved = Ok(());
        self.each_piece(caller, here, size, of_caller, |_, place, piece, before| {
            let at = (memory.tile, memory.address + offset + before);
            moved = moved.and_then(|()| unit.move_memory(command, at, place, piece));
        })?;
        moved?;
        value(0)
    }
}
