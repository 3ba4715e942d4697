//! `portal_write`: the caller's hart copies the data to the receiver's buffer by its unit. A tile without
//! a unit has portals of its own only, and the hart copies itself.
use flick_abi::card::{Error, PAGE, PORTAL_BYTES, rights};
use flick_abi::dtu::{self, Command, CommandWord, Error as UnitError, Outcome};

use crate::cache;
use crate::consents::{Allowed, Ended};
use crate::dtu::{HARTS, KERNEL, NOTES, Registers};
use crate::hart_page::{HartLocal, Sending};
use crate::hart_unit::{
    Attempt, Fresh, HartUnit, Values, end, failed, finish, heed, note, process, tables,
};
use crate::mailboxes::label;
use crate::portals::PORTALS;
use crate::trace_points::point;

/// Bytes of one command: the hart does as it is told between them.
const MOST: u64 = 8192;
/// Pieces of a list that are read at once.
const PIECES: usize = 8;
/// Messages that find no room are sent again so often.
const TRIES: u32 = 1000;

/// Why a copy has stopped.
enum Stopped {
    /// The consent is to fewer bytes.
    TooLarge,
    /// Memory of the program cannot be accessed.
    Fault,
    /// The hart shall run another thread.
    Preempted,
    /// The unit has failed.
    Failed,
}

/// From `trap_entry.S`: `portal_write`.
#[unsafe(no_mangle)]
extern "C" fn try_write(
    tile: u64,
    port: u64,
    data: u64,
    size: u64,
    _: u64,
    local: &mut HartLocal,
) -> Values {
    point!("local");
    let attempt = portal_write(local, (tile, port), (data, size));
    end(local, attempt)
}

fn portal_write(
    local: &mut HartLocal,
    (tile, port): (u64, u64),
    (data, size): (u64, u64),
) -> Attempt {
    let HartUnit {
        consents,
        registers,
        tile: own,
        ..
    } = local.unit;
    // A hart without an endpoint for memory copies itself.
    let registers = registers.filter(|_| local.unit.memory != 0);
    let is_place = tile < local.unit.tiles && port < PORTALS;
    if !is_place || size == 0 || size > PORTAL_BYTES {
        return failed(Error::Invalid);
    }
    if registers.is_none() && tile != own {
        return Attempt::Ask(note::NOTHING);
    }
    let Some((place, key)) = consents.find(tile, port, process(local)) else {
        return Attempt::Ask(note::NOTHING);
    };
    let Some(allowed) = consents.begin(place, key) else {
        return Attempt::Ask(note::NOTHING);
    };
    let mut copy = Copy {
        registers,
        memory: local.unit.memory,
        list: allowed.list,
        pieces: local.pieces.as_mut_ptr().addr() as u64,
        next: 0,
        to: 0,
        room: 0,
    };
    if let Some(registers) = registers {
        finish(local, &registers);
        registers.set_memory_endpoint(copy.memory, tile);
        // The hart's next message sets its endpoint up.
        local.sending.tile = Sending::NONE;
    }
    let copied = match size > allowed.size {
        true => Err(Stopped::TooLarge),
        false => copy.all(local, (data, size), &allowed),
    };
    match copied {
        Ok(()) => {
            consents.end(place);
            told(local, (tile, port), size)
        }
        Err(Stopped::Failed) => {
            consents.end(place);
            let _: Attempt = told(local, (tile, port), 0);
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
                    let _: Attempt = told(local, (tile, port), 0);
                }
                match stopped {
                    Stopped::Fault => Attempt::Ask(note::FAULT),
                    Stopped::TooLarge => Attempt::Ask(note::NOTHING),
                    _ => Attempt::Preempted,
                }
            }
        },
    }
}

/// The receiver's kernel is told of the bytes that were written; none: the write has failed.
fn told(local: &mut HartLocal, (tile, port): (u64, u64), bytes: u64) -> Attempt {
    let HartUnit {
        registers,
        tile: own,
        message,
        ..
    } = local.unit;
    let Some(registers) = registers.filter(|_| tile != own) else {
        return Attempt::Ask(note::WRITTEN);
    };
    local.outgoing[0] = bytes;
    registers.set(dtu::ADDRESS, local.outgoing.as_ptr().addr() as u64);
    registers.set(dtu::SIZE, 8);
    let to = (tile as u16, NOTES, KERNEL);
    let label = label(own, port, process(local));
    registers.set_message_endpoint(message, HARTS, to, (label, u16::MAX));
    for _ in 0..TRIES {
        match registers.execute(CommandWord::new(Command::Send, message)) {
            Ok(_) => return Attempt::Done([0, 0]),
            Err(UnitError::NoSpace) => {}
            Err(_) => break,
        }
    }
    failed(Error::Dead)
}

/// A copy under way.
struct Copy {
    registers: Option<Registers>,
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

/// A part of a copy that one command does.
#[derive(Clone, Copy)]
struct Part {
    from: u64,
    to: u64,
    size: u64,
}

impl Copy {
    /// Copies all.
    fn all(
        &mut self,
        local: &mut HartLocal,
        (data, size): (u64, u64),
        allowed: &Allowed,
    ) -> Result<(), Stopped> {
        let mut done = 0;
        self.next_piece(allowed.offset)?;
        let mut part = self.part(local, data, size)?;
        loop {
            let changes = local.changes;
            if heed(local) {
                return Err(Stopped::Preempted);
            }
            if changes != local.changes {
                // The pages may be elsewhere now.
                part = self.part(local, data + done, part.size)?;
            }
            self.start(part);
            done += part.size;
            (self.to, self.room) = (self.to + part.size, self.room - part.size);
            // The next part is looked up meanwhile, unless the unit has to read where it goes.
            let is_read =
                self.room != 0 || self.registers.is_none() || !self.next.is_multiple_of(PIECES);
            let next =
                (done < size && is_read).then(|| self.next_part(local, data + done, size - done));
            self.finish()?;
            if done == size {
                return Ok(());
            }
            part = match next {
                Some(next) => next?,
                None => self.next_part(local, data + done, size - done)?,
            };
        }
    }

    fn next_part(&mut self, local: &HartLocal, at: u64, size: u64) -> Result<Part, Stopped> {
        if self.room == 0 {
            self.next_piece(0)?;
        }
        self.part(local, at, size)
    }

    /// The next part, of so many bytes at most.
    fn part(&self, local: &HartLocal, at: u64, size: u64) -> Result<Part, Stopped> {
        let most = size.min(self.room).min(MOST);
        let pages = (at % PAGE + most).div_ceil(PAGE);
        let found = tables(local).reach_many(at, rights::READ, pages, &mut Fresh);
        let (from, pages) = found.ok_or(Stopped::Fault)?;
        Ok(Part {
            from,
            to: self.to,
            size: most.min(pages * PAGE - at % PAGE),
        })
    }

    /// Goes on with the next piece of the receiver's memory.
    fn next_piece(&mut self, skip: u64) -> Result<(), Stopped> {
        let place = self.next % PIECES;
        let piece = match self.registers {
            Some(registers) => {
                if place == 0 {
                    let at = self.list + 8 * self.next as u64;
                    self.command(
                        &registers,
                        Command::Read,
                        self.pieces,
                        at,
                        8 * PIECES as u64,
                    );
                    self.finish()?;
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

    /// Starts to copy a part. The unit goes on by itself.
    fn start(&self, part: Part) {
        let Part { from, to, size } = part;
        match self.registers {
            Some(registers) => self.command(&registers, Command::Write, from, to, size),
            None => {
                cache::refresh(from, size);
                // SAFETY: memory of the caller, and memory of a process that has consented, both of which
                // stay until the hart has said that it is done.
                unsafe { core::ptr::copy(from as *const u8, to as *mut u8, size as usize) };
            }
        }
    }

    /// Waits for what was started.
    fn finish(&self) -> Result<(), Stopped> {
        let Some(registers) = self.registers else {
            return Ok(());
        };
        registers.finish();
        let done = Outcome::from_bits(registers.get(dtu::RESULT)).result();
        done.map(|_| ()).map_err(|_| Stopped::Failed)
    }

    fn command(&self, registers: &Registers, command: Command, at: u64, offset: u64, size: u64) {
        registers.set(dtu::ADDRESS, at);
        registers.set(dtu::SIZE, size);
        registers.set(dtu::OFFSET, offset);
        registers.start(CommandWord::new(command, self.memory));
    }
}
