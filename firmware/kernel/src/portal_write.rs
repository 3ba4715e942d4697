//! `portal_write`: the caller's hart copies the data to the receiver's buffer by its unit. A tile without
//! a unit has portals of its own only, and the hart copies itself.
use core::sync::atomic::{AtomicU64, Ordering};

use flick_abi::card::{Error, PAGE, PORTAL_BYTES};
use flick_abi::dtu::{self, Command, CommandWord, Error as UnitError};
use flick_kernel_core::context::Context;
use flick_kernel_core::page_tables::{PageTables, Physical};

use crate::cache;
use crate::consents::{Allowed, Ended};
use crate::dtu::{KERNEL, NOTES, Unit};
use crate::hart_page::HartLocal;
use crate::hart_unit::{Attempt, HartUnit, failed, heed, note};
use crate::mailboxes::label;
use crate::portals::PORTALS;

/// Bytes of one command: the hart does as it is told between them.
const MOST: u64 = 8192;
/// Pieces of a list that are read at once.
const PIECES: usize = 8;
/// Messages that find no room are sent again so often.
const TRIES: u32 = 1000;

/// Page tables as another hart has written them.
struct Fresh;

impl Physical for Fresh {
    fn load(&self, address: u64) -> u64 {
        // SAFETY: a word of a page table. An atomic operation sees what the kernel hart has stored, without
        // coherence, too; it changes nothing.
        unsafe { AtomicU64::from_ptr(address as *mut u64) }.fetch_or(0, Ordering::Relaxed)
    }

    fn store(&mut self, _: u64, _: u64) {}

    fn clear(&mut self, _: u64) {}

    fn copy(&mut self, _: u64, _: u64) {}
}

/// Why a copy has stopped.
enum Stopped {
    /// Memory of the program cannot be accessed.
    Fault,
    /// The hart shall run another thread.
    Preempted,
    /// The unit has failed.
    Failed,
}

pub fn portal_write(
    local: &mut HartLocal,
    context: &Context,
    [tile, port, data, size, _]: [u64; 5],
) -> Attempt {
    let HartUnit { consents, .. } = local.unit;
    let (own, tiles) = local.unit.tile;
    if tile >= tiles || port >= PORTALS || size == 0 || size > PORTAL_BYTES {
        return failed(Error::Invalid);
    }
    if local.unit.unit.is_none() && tile != own {
        return Attempt::Ask(note::NOTHING);
    }
    let Some((place, key, allowed)) = consents.find(tile, port, context.process) else {
        return Attempt::Ask(note::NOTHING);
    };
    if size > allowed.size || !consents.begin(place, key) {
        return Attempt::Ask(note::NOTHING);
    }
    let mut copy = Copy {
        unit: local.unit.unit,
        memory: local.unit.memory,
        list: allowed.list,
        pieces: local.pieces.as_mut_ptr().addr() as u64,
        next: 0,
        to: 0,
        room: 0,
    };
    if let Some(unit) = copy.unit {
        unit.set_memory_endpoint(copy.memory, tile);
    }
    match copy.all(local, context, (data, size), &allowed) {
        Ok(()) => {
            consents.end(place);
            told(local, context, (tile, port), size)
        }
        Err(Stopped::Failed) => {
            consents.end(place);
            let _: Attempt = told(local, context, (tile, port), 0);
            match tile == own {
                true => Attempt::Ask(note::FAILED),
                false => failed(Error::Dead),
            }
        }
        Err(stopped) => match (consents.again(place, key), stopped) {
            // The receiver learns that nobody writes any more, and the call finds no consent.
            (Ended::TakenBack, _) if tile == own => Attempt::Ask(note::FAILED),
            (ended, stopped) => {
                if ended == Ended::TakenBack {
                    let _: Attempt = told(local, context, (tile, port), 0);
                }
                match stopped {
                    Stopped::Fault => Attempt::Ask(note::FAULT),
                    _ => Attempt::Preempted,
                }
            }
        },
    }
}

/// The receiver's kernel is told of the bytes that were written; none: the write has failed.
fn told(
    local: &mut HartLocal,
    context: &Context,
    (tile, port): (u64, u64),
    bytes: u64,
) -> Attempt {
    let (own, _) = local.unit.tile;
    let Some(unit) = local.unit.unit.filter(|_| tile != own) else {
        return Attempt::Ask(note::WRITTEN);
    };
    local.outgoing[0] = bytes;
    let from = (local.outgoing.as_ptr().addr() as u64, 8);
    let label = label(own, port, context.process);
    for _ in 0..TRIES {
        let to = (tile as u16, NOTES, KERNEL);
        match local.unit.send(&unit, to, label, from) {
            Ok(_) => return Attempt::Done([0, 0]),
            Err(UnitError::NoSpace) => {}
            Err(_) => break,
        }
    }
    failed(Error::Dead)
}

/// A copy under way.
struct Copy {
    unit: Option<Unit>,
    /// The hart's endpoint for memory.
    memory: u16,
    /// The list of the receiver's pieces, in its tile.
    list: u64,
    /// Where the hart keeps some of them.
    pieces: u64,
    /// The next piece.
    next: usize,
    /// Where the next bytes go, and how many fit there.
    to: u64,
    room: u64,
}

impl Copy {
    /// Copies all.
    fn all(
        &mut self,
        local: &mut HartLocal,
        context: &Context,
        (data, size): (u64, u64),
        allowed: &Allowed,
    ) -> Result<(), Stopped> {
        let tables = PageTables::of_satp(context.satp);
        let frame = |address| tables.reach(address, &mut Fresh).ok_or(Stopped::Fault);
        let mut done = 0;
        let mut skip = allowed.offset;
        while done < size {
            if heed(local) {
                return Err(Stopped::Preempted);
            }
            if self.room == 0 {
                self.next_piece(skip)?;
                skip = 0;
            }
            let at = data + done;
            let from = frame(at)?;
            let most = self.room.min(size - done).min(MOST);
            let mut run = (PAGE - at % PAGE).min(most);
            // Pages behind each other go in one command.
            while run < most && frame(at + run)? == from + run {
                run = (run + PAGE).min(most);
            }
            self.move_bytes(from, run)?;
            (done, self.to, self.room) = (done + run, self.to + run, self.room - run);
        }
        Ok(())
    }

    /// Goes on with the next piece of the receiver's memory.
    fn next_piece(&mut self, skip: u64) -> Result<(), Stopped> {
        let place = self.next % PIECES;
        let piece = match self.unit {
            Some(unit) => {
                if place == 0 {
                    let at = self.list + 8 * self.next as u64;
                    self.command(&unit, Command::Read, self.pieces, at, 8 * PIECES as u64)?;
                    cache::refresh(self.pieces, 8 * PIECES as u64);
                }
                self.pieces + 8 * place as u64
            }
            None => {
                let at = self.list + 8 * self.next as u64;
                cache::refresh(at, 8);
                at
            }
        };
        // SAFETY: a word of the hart's own record, or of the list in this tile.
        let piece = unsafe { (piece as *const u64).read_volatile() };
        self.next += 1;
        self.to = piece / PAGE * PAGE + skip;
        self.room = (piece % PAGE + 1) * PAGE - skip;
        Ok(())
    }

    fn move_bytes(&mut self, from: u64, size: u64) -> Result<(), Stopped> {
        match self.unit {
            Some(unit) => self.command(&unit, Command::Write, from, self.to, size),
            None => {
                cache::refresh(from, size);
                // SAFETY: memory of the caller, and memory of a process that has consented, both of which
                // stay until the hart has said that it is done.
                unsafe {
                    core::ptr::copy(from as *const u8, self.to as *mut u8, size as usize);
                }
                Ok(())
            }
        }
    }

    fn command(
        &self,
        unit: &Unit,
        command: Command,
        address: u64,
        offset: u64,
        size: u64,
    ) -> Result<(), Stopped> {
        unit.set(dtu::ADDRESS, address);
        unit.set(dtu::SIZE, size);
        unit.set(dtu::OFFSET, offset);
        let done = unit.execute(CommandWord::new(command, self.memory));
        done.map(|_| ()).map_err(|_| Stopped::Failed)
    }
}
