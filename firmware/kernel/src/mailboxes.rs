//! Mailboxes: queues of messages of 120 bytes, by the number of a tile and of a port there. A message
//! for another tile goes to the kernel of that tile. Its answer says what has become of it.
use flick_abi::card::{Error, MAILBOX_BYTES, PAGE};
use flick_abi::dtu::Error as UnitError;
use flick_kernel_core::threads::{List, Place, State, Wait};

use crate::dtu::{ANSWERS, MOST_TILES, Message, Payload, REQUESTS, Unit};
use crate::kernel::{Answer, Caller, Done, Kernel, is_past, value};

/// Mailboxes of a tile.
pub const MAILBOXES: usize = 64;
/// Ports are below this number.
pub const PORTS: u64 = 1024;
/// Messages of a mailbox that nobody has taken yet.
const ROOM: u64 = PAGE / SLOT;
/// A message in a mailbox's page: the sender in front, in a cache line's multiple.
const SLOT: u64 = 128;

const _: () = assert!(MAILBOX_BYTES + 8 == SLOT as usize);

/// A mailbox.
#[derive(Debug)]
pub struct Mailbox {
    port: u64,
    /// The process that takes its messages; `None`: there is no mailbox.
    process: Option<u16>,
    /// A page of messages.
    frame: u64,
    first: u64,
    count: u64,
    /// Threads that wait for messages.
    pub readers: List,
    /// Tiles whose messages were refused, as bits: they are told when there is room.
    refused: u64,
}

const NONE: Mailbox = Mailbox {
    port: 0,
    process: None,
    frame: 0,
    first: 0,
    count: 0,
    readers: List::EMPTY,
    refused: 0,
};

/// All mailboxes of a tile.
#[derive(Debug)]
pub struct Mailboxes {
    all: [Mailbox; MAILBOXES],
    /// Threads whose messages found no room, or no credit.
    pub senders: List,
    /// The tile's unit.
    pub unit: Option<Unit>,
}

impl Mailboxes {
    /// None.
    pub const fn new() -> Self {
        Self {
            all: [NONE; MAILBOXES],
            senders: List::EMPTY,
            unit: None,
        }
    }

    fn find(&self, port: u64) -> Option<usize> {
        let is_it = |mailbox: &Mailbox| mailbox.process.is_some() && mailbox.port == port;
        self.all.iter().position(is_it)
    }

    /// The mailbox of this number.
    pub fn mailbox(&mut self, number: u16) -> &mut Mailbox {
        &mut self.all[usize::from(number)]
    }
}

/// What has become of a message, as an answer says it.
const TAKEN: u64 = 0;
const NO_MAILBOX: u64 = 1;
const FULL: u64 = 2;

/// What a message between kernels is, in bits 63:56 of its label; the port is in bits 15:0, and the
/// sender's process in bits 47:16.
const MAIL: u64 = 0;
/// A mailbox has room again.
const ROOM_AGAIN: u64 = 1;

/// The sender of a message, as a receiver gets it.
fn sender(tile: u64, process: u64) -> u64 {
    tile << 32 | process & 0xffff_ffff
}

impl Kernel {
    /// A mailbox for the caller's process.
    pub fn create_mailbox(&mut self, caller: Caller, port: u64) -> Answer {
        if port >= PORTS {
            return Err(Error::Invalid);
        }
        if self.mailboxes.find(port).is_some() {
            return Err(Error::Exists);
        }
        let free = self
            .mailboxes
            .all
            .iter()
            .position(|mailbox| mailbox.process.is_none());
        let free = free.ok_or(Error::NoMemory)?;
        let frame = self.frames.allocate().ok_or(Error::NoMemory)?;
        self.mailboxes.all[free] = Mailbox {
            port,
            process: Some(caller.process),
            frame,
            ..NONE
        };
        value(0)
    }

    /// The mailbox of a port, if it is the caller's.
    fn own_mailbox(&self, caller: Caller, port: u64) -> Result<usize, Error> {
        let number = self.mailboxes.find(port).ok_or(Error::NotFound)?;
        match self.mailboxes.all[number].process == Some(caller.process) {
            true => Ok(number),
            false => Err(Error::NotPermitted),
        }
    }

    /// There is no mailbox of this port any more.
    pub fn close_mailbox(&mut self, caller: Caller, port: u64) -> Answer {
        let number = self.own_mailbox(caller, port)?;
        while let Some(reader) = self.first_reader(number) {
            self.end_wait(reader, Err(Error::NotFound));
        }
        self.remove_mailbox(number);
        value(0)
    }

    /// A process has ended.
    pub fn close_mailboxes(&mut self, process: u16) {
        for number in 0..MAILBOXES {
            if self.mailboxes.all[number].process == Some(process) {
                self.remove_mailbox(number);
            }
        }
    }

    fn remove_mailbox(&mut self, number: usize) {
        let removed = core::mem::replace(&mut self.mailboxes.all[number], NONE);
        self.frames.free(removed.frame);
        // Those who wait for room are told that there is no mailbox.
        self.tell_of_room(removed.port, removed.refused);
    }

    fn first_reader(&self, number: usize) -> Option<Place> {
        let list = self.mailboxes.all[number].readers;
        self.dispatch.threads.in_list(&list).next()
    }

    fn message_at(&self, number: usize, n: u64) -> *mut [u64; SLOT as usize / 8] {
        let Mailbox { frame, first, .. } = self.mailboxes.all[number];
        (frame + (first + n) % ROOM * SLOT) as *mut _
    }

    /// A message for a port of this tile.
    fn deliver(&mut self, port: u64, from: u64, payload: &Payload) -> u64 {
        let Some(number) = self.mailboxes.find(port) else {
            return NO_MAILBOX;
        };
        while let Some(reader) = self.first_reader(number) {
            let State::Waits(Wait::Mail(_, buffer)) = self.dispatch.threads[reader].state else {
                break;
            };
            let caller = Caller::of_process(reader, self.dispatch.threads[reader].process);
            let stored = self.store_words(caller, buffer, payload);
            self.end_wait(reader, stored.map(|()| (0, from)));
            if stored.is_ok() {
                return TAKEN;
            }
        }
        if self.mailboxes.all[number].count == ROOM {
            return FULL;
        }
        let at = self.message_at(number, self.mailboxes.all[number].count);
        // SAFETY: a free place in the mailbox's page, which the kernel hart alone uses.
        let message = unsafe { &mut *at };
        message[0] = from;
        message[1..].copy_from_slice(payload);
        self.mailboxes.all[number].count += 1;
        TAKEN
    }

    /// The caller takes a message of its port, or waits for one.
    pub fn receive_mail(&mut self, caller: Caller, arguments: [u64; 6]) -> Answer {
        let [port, buffer, until, ..] = arguments;
        let number = self.own_mailbox(caller, port)?;
        if self.mailboxes.all[number].count == 0 {
            // A buffer that cannot be stored to is refused before a message is taken.
            self.store_words(caller, buffer, &[0; MAILBOX_BYTES / 8])?;
            if is_past(until) {
                return Err(Error::TimedOut);
            }
            let list = &mut self.mailboxes.all[number].readers;
            self.dispatch.threads.append(list, caller.thread);
            return self.wait(caller.thread, Wait::Mail(number as u16, buffer), until);
        }
        // SAFETY: the first message of the mailbox's page.
        let message = unsafe { self.message_at(number, 0).read() };
        self.store_words(caller, buffer, &message[1..])?;
        let mailbox = &mut self.mailboxes.all[number];
        mailbox.first = (mailbox.first + 1) % ROOM;
        mailbox.count -= 1;
        let refused = core::mem::take(&mut mailbox.refused);
        if refused != 0 || mailbox.count == ROOM - 1 {
            self.tell_of_room(port, refused);
        }
        Ok(Done::Values(0, message[0]))
    }

    /// The caller sends a message, and waits until it is in a mailbox.
    pub fn send_mail(&mut self, caller: Caller, arguments: [u64; 6]) -> Answer {
        let [tile, port, message, until, ..] = arguments;
        if port >= PORTS || tile >= self.map.tile.1.min(MOST_TILES) {
            return Err(Error::Invalid);
        }
        let wait = self.try_send(caller, tile, port, message)?;
        match wait {
            None => value(0),
            Some(Wait::Room(..)) if is_past(until) => Err(Error::TimedOut),
            Some(wait) => {
                if let Wait::Room(..) = wait {
                    let list = &mut self.mailboxes.senders;
                    self.dispatch.threads.append(list, caller.thread);
                }
                self.wait(caller.thread, wait, until)
            }
        }
    }

    /// Sends a message. What its thread waits for, if it is not in the mailbox yet.
    fn try_send(
        &mut self,
        caller: Caller,
        tile: u64,
        port: u64,
        message: u64,
    ) -> Result<Option<Wait>, Error> {
        let mut payload = Payload::default();
        self.load_words(caller, message, &mut payload)?;
        let place = tile << 16 | port;
        let process = self.processes.number(caller.process);
        if tile == self.map.tile.0 {
            return match self.deliver(port, sender(tile, process), &payload) {
                TAKEN => Ok(None),
                NO_MAILBOX => Err(Error::NotFound),
                _ => Ok(Some(Wait::Room(place, message))),
            };
        }
        let unit = self.mailboxes.unit.ok_or(Error::Dead)?;
        let label = MAIL << 56 | process << 16 | port;
        let token = self.dispatch.threads.number(caller.thread);
        match unit.send(tile, label, &payload, token) {
            Ok(()) => Ok(Some(Wait::Sent(place, message))),
            Err(UnitError::NoCredits | UnitError::NoSpace) => Ok(Some(Wait::Room(place, message))),
            Err(_) => Err(Error::Dead),
        }
    }

    /// Sends again what found no room, or no credit: to a port, or to all of a tile.
    fn send_again(&mut self, tile: u64, port: Option<u64>) {
        let is_meant = |place: u64| place >> 16 == tile && port.is_none_or(|p| place & 0xffff == p);
        // Each thread once: those who find no room again are behind the others.
        let list = self.mailboxes.senders;
        for _ in 0..self.dispatch.threads.in_list(&list).count() {
            let list = self.mailboxes.senders;
            let found = self.dispatch.threads.find_in(&list, |thread| {
                matches!(thread.state, State::Waits(Wait::Room(place, _)) if is_meant(place))
            });
            let Some(thread) = found else { return };
            let State::Waits(Wait::Room(place, message)) = self.dispatch.threads[thread].state
            else {
                return;
            };
            let caller = Caller::of_process(thread, self.dispatch.threads[thread].process);
            match self.try_send(caller, place >> 16, place & 0xffff, message) {
                Ok(None) => self.end_wait(thread, Ok((0, 0))),
                Err(error) => self.end_wait(thread, Err(error)),
                Ok(Some(Wait::Room(..))) => return,
                Ok(Some(wait)) => {
                    let list = &mut self.mailboxes.senders;
                    self.dispatch.threads.take_out(list, thread);
                    self.dispatch.threads[thread].state = State::Waits(wait);
                }
            }
        }
    }

    /// A mailbox of this tile has room again.
    fn tell_of_room(&mut self, port: u64, refused: u64) {
        self.send_again(self.map.tile.0, Some(port));
        let Some(unit) = self.mailboxes.unit else {
            return;
        };
        let number = self.mailboxes.find(port);
        for tile in (0..MOST_TILES).filter(|tile| refused >> tile & 1 != 0) {
            let label = ROOM_AGAIN << 56 | port;
            let sent = unit.send(tile, label, &[], u64::MAX);
            // Without a credit it is told when one comes back.
            if sent.is_err()
                && let Some(number) = number
            {
                self.mailboxes.all[number].refused |= 1 << tile;
            }
        }
    }

    /// The unit has interrupted.
    #[inline(never)]
    pub fn attend_unit(&mut self) {
        let Some(unit) = self.mailboxes.unit else {
            return;
        };
        self.take_answers(unit);
        while let Some(message) = unit.fetch(REQUESTS) {
            self.requested(unit, &message);
        }
    }

    fn take_answers(&mut self, unit: Unit) {
        while let Some(message) = unit.fetch(ANSWERS) {
            unit.acknowledge(ANSWERS, message.slot);
            self.answered(&message);
        }
    }

    fn answered(&mut self, message: &Message) {
        let (tile, token) = (u64::from(message.header.tile), message.header.label);
        let process = self.dispatch.threads[(token & 0xff) as Place].process;
        // The thread may have ended, or its time may be over.
        if let Some(thread) = self.dispatch.threads.find(token, process)
            && let State::Waits(Wait::Sent(place, buffer)) = self.dispatch.threads[thread].state
        {
            match message.payload[0] {
                TAKEN => self.end_wait(thread, Ok((0, 0))),
                FULL => {
                    let list = &mut self.mailboxes.senders;
                    self.dispatch.threads.append(list, thread);
                    self.dispatch.threads[thread].state = State::Waits(Wait::Room(place, buffer));
                }
                _ => self.end_wait(thread, Err(Error::NotFound)),
            }
        }
        // A credit is back.
        for number in 0..MAILBOXES {
            let mailbox = &mut self.mailboxes.all[number];
            if mailbox.refused >> tile & 1 != 0 && mailbox.count != ROOM {
                mailbox.refused &= !(1 << tile);
                let port = mailbox.port;
                self.tell_of_room(port, 1 << tile);
            }
        }
        // Threads that wait for room in a full mailbox are told of it.
        if message.payload[0] != FULL {
            self.send_again(tile, None);
        }
    }

    fn requested(&mut self, unit: Unit, message: &Message) {
        let (label, tile) = (message.header.label, u64::from(message.header.tile));
        let (kind, port) = (label >> 56, label & 0xffff);
        if kind == ROOM_AGAIN {
            unit.answer(message.slot, TAKEN);
            // The answer that the mailbox is full was sent before, and may not have been seen yet.
            self.take_answers(unit);
            return self.send_again(tile, Some(port));
        }
        let from = sender(tile, label >> 16);
        let status = self.deliver(port, from, &message.payload);
        unit.answer(message.slot, status);
        if status == FULL
            && let Some(number) = self.mailboxes.find(port)
        {
            self.mailboxes.all[number].refused |= 1 << (tile % MOST_TILES);
        }
    }
}
