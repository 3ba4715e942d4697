//! Mailboxes: queues of messages of 120 bytes, by the number of a tile and of a port there. User harts send
//! and receive by the unit of their tile (`hart_unit.rs`), and the kernel hart tells them where mailboxes
//! are, and deals with waits. A mailbox without an endpoint of the unit is a queue of the kernel hart.
use core::sync::atomic::{AtomicU64, Ordering};

use flick_abi::card::{Error, MAILBOX_BYTES, PAGE, rights};
use flick_kernel_core::threads::{List, Place, State, Wait};

use crate::csr;
use crate::dtu::{LOG2_REQUEST, Payload, Unit, next_activity};
use crate::hart_unit::note;
use crate::kernel::{Answer, Caller, Done, Kernel, is_past, value};
use crate::port_table::{PORTS, PortEntry};
use crate::routes::Route;
use crate::tiles::{Request, Status};

/// Messages of a mailbox that nobody has taken yet.
pub const ROOM: u64 = PAGE / SLOT;
/// Bytes of a message in a mailbox's page.
pub const SLOT: u64 = 1 << LOG2_REQUEST;

/// Where a mailbox's page says, in a line of its own, that somebody waits for room.
const WANTED: u64 = 192;

/// The label of a message for a port: its sender below, as a receiver gets it.
pub const fn label(tile: u64, port: u64, process: u64) -> u64 {
    port << 48 | (tile & 0xff) << 32 | process & 0xffff_ffff
}

/// A mailbox.
#[derive(Clone, Copy, Debug)]
pub struct Mailbox {
    /// The process that takes its messages; `None`: there is no mailbox.
    process: Option<u16>,
    /// Its endpoint and the activity there; 0: the kernel hart has the messages.
    endpoint: u16,
    activity: u16,
    /// A page of messages, or 0.
    frame: u64,
    first: u64,
    count: u64,
    /// Threads that wait for messages.
    pub readers: List,
    /// Tiles whose messages were refused, as bits: they are told when there is room.
    refused: u64,
}

/// Whether somebody waits for room in the mailbox of this page.
#[inline(always)]
pub fn wanted(frame: u64) -> &'static AtomicU64 {
    // SAFETY: an aligned word of the mailbox's page, which the unit does not write to.
    unsafe { AtomicU64::from_ptr((frame + WANTED) as *mut u64) }
}

impl PortEntry for Mailbox {
    const NONE: Self = Self {
        process: None,
        endpoint: 0,
        activity: 0,
        frame: 0,
        first: 0,
        count: 0,
        readers: List::EMPTY,
        refused: 0,
    };

    fn is_used(&self) -> bool {
        self.process.is_some()
    }
}

impl Mailbox {
    /// Where its messages go.
    fn place(&self) -> Status {
        Status::Again(u64::from(self.endpoint) | u64::from(self.activity) << 16)
    }

    fn is_full(&self, unit: Option<Unit>) -> bool {
        match unit.filter(|_| self.endpoint != 0) {
            Some(unit) => unit.occupied(self.endpoint) >= ROOM,
            None => self.count == ROOM,
        }
    }
}

impl Kernel {
    /// A mailbox for the caller's process.
    pub fn create_mailbox(&mut self, caller: Caller, port: u64) -> Answer {
        if port >= PORTS {
            return Err(Error::Invalid);
        }
        let process = Some(caller.process);
        let place = self.tiles.mailboxes.place(port, &mut self.frames);
        let mailbox = place.ok_or(Error::NoMemory)?;
        if mailbox.process.is_some() {
            return Err(Error::Exists);
        }
        *mailbox = Mailbox {
            process,
            ..Mailbox::NONE
        };
        if let Some(unit) = self.tiles.unit
            && let Some(endpoint) = unit
                .mailboxes()
                .find(|&n| self.tiles.ports[usize::from(n)] == u16::MAX)
        {
            // Without memory for slots there is no mailbox.
            let Some(frame) = self.frames.allocate() else {
                *mailbox = Mailbox::NONE;
                return Err(Error::NoMemory);
            };
            let activity = next_activity(&mut self.tiles.activities);
            (mailbox.endpoint, mailbox.activity, mailbox.frame) = (endpoint, activity, frame);
            self.tiles.ports[usize::from(endpoint)] = port as u16;
            wanted(frame).swap(0, Ordering::Relaxed);
            unit.set_receiver(endpoint, activity, frame, (LOG2_REQUEST, ROOM as u8));
        }
        self.add_own_route(port);
        value(0)
    }

    fn add_own_route(&mut self, port: u64) {
        if let Some(mailbox) = self.tiles.mailboxes.get(port)
            && let Some(owner) = mailbox.process
        {
            let place = (mailbox.endpoint, mailbox.activity);
            let route = Route::new(self.map.tile.0, port, place, owner);
            self.tiles.routes.add(route);
        }
    }

    /// The mailbox of a port, if it is the caller's.
    fn own_mailbox(&mut self, caller: Caller, port: u64) -> Result<&mut Mailbox, Error> {
        let mailbox = self.tiles.mailboxes.get(port).ok_or(Error::NotFound)?;
        match mailbox.process == Some(caller.process) {
            true => Ok(mailbox),
            false => Err(Error::NotPermitted),
        }
    }

    /// There is no mailbox of this port any more.
    pub fn close_mailbox(&mut self, caller: Caller, port: u64) -> Answer {
        self.own_mailbox(caller, port)?;
        while let Some(reader) = self.first_reader(port) {
            self.end_wait(reader, Err(Error::NotFound));
        }
        self.remove_mailbox(port);
        value(0)
    }

    fn first_reader(&mut self, port: u64) -> Option<Place> {
        let readers = self.tiles.mailboxes.get(port)?.readers;
        self.dispatch.threads.in_list(&readers).next()
    }

    /// Has a process a mailbox?
    #[cfg(feature = "root")]
    pub fn has_mailboxes(&mut self, process: u16) -> bool {
        let is_its = |mailbox: &Mailbox| mailbox.process == Some(process);
        self.tiles.mailboxes.find(0, is_its).is_some()
    }

    /// A process has ended.
    pub fn close_mailboxes(&mut self, process: u16) {
        let mut from = 0;
        let is_its = |mailbox: &Mailbox| mailbox.process == Some(process);
        while let Some(port) = self.tiles.mailboxes.find(from, is_its) {
            self.remove_mailbox(port);
            from = port + 1;
        }
    }

    fn remove_mailbox(&mut self, port: u64) {
        let Some(mailbox) = self.tiles.mailboxes.get(port) else {
            return;
        };
        let removed = core::mem::replace(mailbox, Mailbox::NONE);
        if let Some(unit) = self.tiles.unit
            && removed.endpoint != 0
        {
            unit.interrupt_for(removed.endpoint, false);
            unit.clear_endpoint(removed.endpoint);
            self.tiles.ports[usize::from(removed.endpoint)] = u16::MAX;
        }
        self.tiles.routes.forget(self.map.tile.0, port);
        // One of them may wait for its messages.
        self.dispatch.drive_out_parked(csr::time(), &mut self.harts);
        if removed.frame != 0 {
            self.frames.free(removed.frame);
        }
        // Those who wait for room are told that there is no mailbox.
        self.tell_of_room(port, removed.refused);
    }

    /// A message of a tile for a port of this one.
    pub fn deliver(&mut self, port: u64, tile: u64, message: (u64, &Payload)) -> Status {
        let status = match self.tiles.mailboxes.get(port) {
            None => Status::NoPort,
            Some(mailbox) if mailbox.endpoint != 0 => mailbox.place(),
            Some(_) => self.queue(port, message),
        };
        self.note_refused(port, tile, status);
        status
    }

    fn queue(&mut self, port: u64, (from, payload): (u64, &Payload)) -> Status {
        while let Some(reader) = self.first_reader(port) {
            let State::Waits(Wait::Mail(_, buffer)) = self.dispatch.threads[reader].state else {
                break;
            };
            let caller = Caller::of_process(reader, self.dispatch.threads[reader].process);
            let stored = self.store_words(caller, buffer, payload);
            self.end_wait(reader, stored.map(|()| (0, from)));
            if stored.is_ok() {
                return Status::Good;
            }
        }
        let Some(mailbox) = self.tiles.mailboxes.get(port) else {
            return Status::NoPort;
        };
        if mailbox.count == ROOM {
            return Status::Full;
        }
        if mailbox.frame == 0 {
            let Some(frame) = self.frames.allocate() else {
                return Status::NoMemory;
            };
            mailbox.frame = frame;
        }
        let at = mailbox.frame + (mailbox.first + mailbox.count) % ROOM * SLOT;
        mailbox.count += 1;
        // SAFETY: a free place in the mailbox's page, which the kernel hart alone uses.
        let message = unsafe { &mut *(at as *mut [u64; 1 + MAILBOX_BYTES / 8]) };
        message[0] = from;
        message[1..].copy_from_slice(payload);
        Status::Good
    }

    /// The caller takes a message of its port, or waits for one.
    pub fn receive_mail(&mut self, caller: Caller, arguments: [u64; 6], why: u64) -> Answer {
        let [port, buffer, until, ..] = arguments;
        let mailbox = *self.own_mailbox(caller, port)?;
        if why & 0xff == note::MADE_ROOM {
            self.tell_of_room(port, mailbox.refused);
            return Ok(Done::Values(0, buffer));
        }
        if mailbox.count == 0 {
            // A buffer that cannot be stored to is refused before a message is taken.
            if !buffer.is_multiple_of(8) {
                return Err(Error::BadAddress);
            }
            let size = MAILBOX_BYTES as u64;
            self.each_piece(caller, buffer, size, rights::WRITE, |_, _, _, _| {})?;
            if let Some(unit) = self.tiles.unit
                && mailbox.endpoint != 0
            {
                if why & 0xff == note::FAULT || unit.has_unread(mailbox.endpoint) {
                    self.add_own_route(port);
                    return Ok(Done::Again);
                }
                if why & 0xff == note::PARK && self.dispatch.park(caller.hart) {
                    return Ok(Done::Again);
                }
                unit.interrupt_for(mailbox.endpoint, true);
            }
            if is_past(until) {
                return Err(Error::TimedOut);
            }
            if let Some(mailbox) = self.tiles.mailboxes.get(port) {
                self.dispatch
                    .threads
                    .append(&mut mailbox.readers, caller.thread);
            }
            return self.wait(caller.thread, Wait::Mail(port, buffer), until);
        }
        let at = mailbox.frame + mailbox.first * SLOT;
        // SAFETY: the first message of the mailbox's page.
        let message = unsafe { (at as *const [u64; 1 + MAILBOX_BYTES / 8]).read() };
        self.store_words(caller, buffer, &message[1..])?;
        let mailbox = self.own_mailbox(caller, port)?;
        mailbox.first = (mailbox.first + 1) % ROOM;
        mailbox.count -= 1;
        let (refused, was_full) = (mailbox.refused, mailbox.count == ROOM - 1);
        if mailbox.count == 0 {
            let frame = core::mem::take(&mut mailbox.frame);
            self.frames.free(frame);
        }
        if refused != 0 || was_full {
            self.tell_of_room(port, refused);
        }
        Ok(Done::Values(0, message[0]))
    }

    /// Messages wait at endpoints for threads that wait: they call again.
    pub fn attend_readers(&mut self, unit: Unit, waiting: u64) {
        let mut waiting = waiting;
        while waiting != 0 {
            let endpoint = waiting.trailing_zeros();
            waiting &= waiting - 1;
            unit.interrupt_for(endpoint as u16, false);
            let port = self.tiles.ports[endpoint as usize].into();
            #[cfg(feature = "root")]
            if self.attend_gate(port) {
                continue;
            }
            self.add_own_route(port);
            while let Some(reader) = self.first_reader(port) {
                self.restart(reader);
            }
        }
    }

    /// The caller sends a message, and waits until it is in a mailbox.
    pub fn send_mail(&mut self, caller: Caller, arguments: [u64; 6], why: u64) -> Answer {
        let [tile, port, message, until, ..] = arguments;
        if port >= PORTS || !self.is_tile(tile) {
            return Err(Error::Invalid);
        }
        let mut payload = Payload::default();
        self.load_words(caller, message, &mut payload)?;
        let place = tile << 16 | port;
        let process = self.processes.number(caller.process);
        let activity = (why >> 8) as u16;
        let mut route = self.tiles.routes.find(tile, port);
        if route.is_some_and(|route| route.activity() == activity && why & 0xff == note::GONE) {
            self.tiles.routes.forget(tile, port);
            route = None;
        }
        if route.is_some_and(|route| route.endpoint() != 0) && why & 0xff != note::FULL {
            return Ok(Done::Again);
        }
        let full = if why & 0xff == note::FULL {
            activity
        } else {
            0
        };
        let is_queue = route.is_some_and(|route| route.endpoint() == 0);
        let status = match (tile == self.map.tile.0, is_queue) {
            (true, true) => {
                let from = label(tile, 0, process);
                self.deliver(port, tile, (from, &payload))
            }
            (true, false) => self.where_is_mailbox(port, tile, full),
            (false, true) => {
                let request = Request::Mail.label(port, process);
                return self.ask(caller, tile, (request, &payload), Wait::Sent(place), until);
            }
            (false, false) => {
                let request = Request::WhereIsMailbox.label(port, full.into());
                return self.ask(caller, tile, (request, &[]), Wait::Sent(place), until);
            }
        };
        match status {
            Status::Good => value(0),
            Status::Again(_) => {
                self.add_own_route(port);
                Ok(Done::Again)
            }
            Status::Full => self.wait_among_senders(caller, Wait::Room(place), until),
            status => Err(status.error()),
        }
    }

    /// Where messages of a tile for a port of this one go. `full`: the activity whose endpoint was full.
    pub fn where_is_mailbox(&mut self, port: u64, tile: u64, full: u16) -> Status {
        let unit = self.tiles.unit;
        let Some(mailbox) = self.tiles.mailboxes.get(port) else {
            return Status::NoPort;
        };
        let is_full = full != 0 && full == mailbox.activity && {
            // Whoever makes room from now on says so.
            wanted(mailbox.frame).swap(1, Ordering::SeqCst);
            mailbox.is_full(unit)
        };
        let status = match is_full {
            true => Status::Full,
            false => mailbox.place(),
        };
        self.note_refused(port, tile, status);
        status
    }

    /// A tile's message found no room: the tile is told of room.
    fn note_refused(&mut self, port: u64, tile: u64, status: Status) {
        if status == Status::Full
            && let Some(mailbox) = self.tiles.mailboxes.get(port)
        {
            mailbox.refused |= 1 << (tile % 64);
        }
    }

    /// A mailbox of this tile has room again, or is gone: those who were refused call again.
    pub fn tell_of_room(&mut self, port: u64, refused: u64) {
        let own = self.map.tile.0;
        if let Some(mailbox) = self.tiles.mailboxes.get(port) {
            mailbox.refused = 0;
        }
        let place = own << 16 | port;
        self.call_again(|wait| wait == Wait::Room(place));
        let Some(unit) = self.tiles.unit else {
            return;
        };
        let others = (0..unit.tiles).filter(|&tile| tile != own && refused >> tile & 1 != 0);
        for tile in others {
            let request = Request::RoomAgain.label(port, 0);
            // Without a credit it is told when one comes back.
            if unit.send(tile, request, &[], u64::MAX).is_err()
                && let Some(mailbox) = self.tiles.mailboxes.get(port)
            {
                mailbox.refused |= 1 << tile;
                self.tiles.owed |= 1 << tile;
            }
        }
    }

    /// A credit for a tile's kernel is back: it is told of room that it was not told of.
    pub fn tell_tile_of_room(&mut self, tile: u64) {
        let mut from = 0;
        let unit = self.tiles.unit;
        let is_owed =
            |mailbox: &Mailbox| mailbox.refused >> tile & 1 != 0 && !mailbox.is_full(unit);
        while let Some(port) = self.tiles.mailboxes.find(from, is_owed) {
            from = port + 1;
            self.tell_of_room(port, 1 << tile);
        }
    }
}
