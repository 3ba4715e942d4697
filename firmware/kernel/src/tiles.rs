//! What the kernels of tiles tell each other, by the units of their tiles: requests, and their answers.
use flick_abi::card::Error;
use flick_abi::dtu::{Error as UnitError, RECEIVE_ENDPOINTS};
use flick_kernel_core::threads::{List, Place, State, Wait};

use crate::consents::{Allowed, Consents};
use crate::csr;
use crate::dtu::{ANSWERS, MOST_TILES, Message, NOTES, REQUESTS, Unit};
use crate::kernel::{Answer, Caller, Kernel, is_past};
use crate::mailboxes::Mailbox;
use crate::port_table::PortTable;
use crate::portals::Portal;
use crate::routes::{Route, Routes};

/// What a tile's kernel has for programs that talk.
#[derive(Debug)]
pub struct Tiles {
    /// The tile's unit.
    pub unit: Option<Unit>,
    /// Its mailboxes.
    pub mailboxes: PortTable<Mailbox>,
    /// Its portals.
    pub portals: PortTable<Portal>,
    /// Threads that wait for room, for a consent, or for a credit.
    pub senders: List,
    /// Where mailboxes are, for user harts.
    pub routes: Routes,
    /// Consents to writes, for user harts.
    pub consents: Consents,
    /// The ports of mailboxes by their endpoints; 0xffff: the endpoint is free.
    pub ports: [u16; RECEIVE_ENDPOINTS as usize],
    /// Activities that were in use.
    pub activities: u16,
    /// Tiles that are told of room when they have a credit again, as bits.
    pub owed: u64,
    /// Tiles that are asked then to forget consents.
    pub unasked: u64,
    /// Tiles that are told then that portals are gone.
    pub untold: u64,
    /// When their kernels were asked last.
    pub asked: [u64; MOST_TILES as usize],
}

impl Tiles {
    /// No unit, and nothing at any port.
    pub const fn new() -> Self {
        Self {
            unit: None,
            mailboxes: PortTable::new(),
            portals: PortTable::new(),
            senders: List::EMPTY,
            routes: Routes::none(),
            consents: Consents::none(),
            ports: [u16::MAX; RECEIVE_ENDPOINTS as usize],
            activities: 0,
            owed: 0,
            unasked: 0,
            untold: 0,
            asked: [0; MOST_TILES as usize],
        }
    }
}

/// What a kernel asks another one for, in bits 63:56 of a message's label. The port is in bits 55:40, and
/// the process of the caller in bits 31:0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// To take a message for a mailbox.
    Mail = 0,
    /// To try again: a mailbox has room.
    RoomAgain = 1,
    /// Where a mailbox is. In place of the process: an activity whose endpoint was full, or 0.
    WhereIsMailbox = 2,
    /// Whether there is a portal.
    IsPortal = 3,
    /// To take a consent: what it allows is the message. In place of the process: who may write.
    Consent = 4,
    /// To forget a consent.
    TakeBack = 5,
    /// To ask again for portals: one is gone.
    PortalGone = 6,
}

impl Request {
    const ALL: [Self; 7] = [
        Self::Mail,
        Self::RoomAgain,
        Self::WhereIsMailbox,
        Self::IsPortal,
        Self::Consent,
        Self::TakeBack,
        Self::PortalGone,
    ];

    /// The label of a message.
    pub const fn label(self, port: u64, process: u64) -> u64 {
        (self as u64) << 56 | port << 40 | process & 0xffff_ffff
    }
}

/// What a kernel answers: a number in bits 7:0 of a word, with a value above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is done.
    Good,
    /// Nothing is at the port.
    NoPort,
    /// There is no room. The kernel will tell when there is.
    Full,
    /// Its memory is used up.
    NoMemory,
    /// The caller shall try again, by this endpoint (15:0) of an activity (31:16); 0: by the kernel.
    Again(u64),
    /// It is in use.
    Busy,
}

impl Status {
    fn word(self) -> u64 {
        match self {
            Self::Good => 0,
            Self::NoPort => 1,
            Self::Full => 2,
            Self::NoMemory => 3,
            Self::Again(place) => 4 | place << 8,
            Self::Busy => 5,
        }
    }

    fn from_word(word: u64) -> Self {
        match word & 0xff {
            0 => Self::Good,
            2 => Self::Full,
            3 => Self::NoMemory,
            4 => Self::Again(word >> 8),
            5 => Self::Busy,
            _ => Self::NoPort,
        }
    }

    /// What a call returns that ends so.
    pub fn error(self) -> Error {
        match self {
            Self::NoMemory => Error::NoMemory,
            Self::Full | Self::Again(_) => Error::Again,
            _ => Error::NotFound,
        }
    }
}

/// A bit of a token: the answer is of a consent that a portal has taken back. Below is the port.
const TAKEN_BACK: u64 = 1 << 63;

impl Kernel {
    /// Is this the number of a tile?
    pub fn is_tile(&self, tile: u64) -> bool {
        match self.map.is_governed() {
            // Programs of a machine with a root send to other tiles by gates.
            true => tile == self.map.tile.0,
            false => tile < self.map.tile.1.min(MOST_TILES),
        }
    }

    /// Asks another kernel for the caller, which waits for the answer.
    pub fn ask(
        &mut self,
        caller: Caller,
        tile: u64,
        (label, payload): (u64, &[u64]),
        wait: Wait,
        until: u64,
    ) -> Answer {
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let token = self.dispatch.threads.number(caller.thread);
        let mut sent = unit.send(tile, label, payload, token);
        let (now, patience) = (csr::time(), self.patience());
        let asked = &mut self.tiles.asked[tile as usize];
        if sent == Err(UnitError::NoCredits) && *asked + patience < now {
            // The answer to the last question is lost, and the credit with it.
            unit.set_sender(tile);
            sent = unit.send(tile, label, payload, token);
        }
        match sent {
            Ok(()) => {
                *asked = now;
                self.wait_for_tile(caller.thread, wait, until)
            }
            Err(UnitError::NoCredits | UnitError::NoSpace) => {
                self.wait_among_senders(caller, Wait::Credit(tile), until)
            }
            Err(_) => Err(Error::Dead),
        }
    }

    /// The caller waits until its call is made again.
    pub fn wait_among_senders(&mut self, caller: Caller, wait: Wait, until: u64) -> Answer {
        if is_past(until) {
            return Err(Error::TimedOut);
        }
        let list = &mut self.tiles.senders;
        self.dispatch.threads.append(list, caller.thread);
        self.wait_for_tile(caller.thread, wait, until)
    }

    /// The caller waits for another tile, which may never answer.
    fn wait_for_tile(&mut self, place: Place, wait: Wait, until: u64) -> Answer {
        let limit = csr::time() + self.patience();
        let answer = self.wait(place, wait, until.min(limit));
        self.dispatch.threads[place].is_limited = limit < until;
        answer
    }

    /// A thread has waited for another tile for so long that something may be lost.
    #[inline(never)]
    pub fn end_limited(&mut self, place: Place) {
        match self.dispatch.threads[place].state {
            State::Waits(Wait::Room(_) | Wait::Consent(_) | Wait::Credit(_)) => self.restart(place),
            _ => self.end_wait(place, Err(Error::Dead)),
        }
    }

    /// The calls of all senders that wait for something are made again.
    pub fn call_again(&mut self, is_meant: impl Fn(Wait) -> bool) {
        loop {
            let list = self.tiles.senders;
            let found = self.dispatch.threads.find_in(
                &list,
                |thread| matches!(thread.state, State::Waits(wait) if is_meant(wait)),
            );
            let Some(thread) = found else { return };
            self.restart(thread);
        }
    }

    /// Takes back a consent in another tile. False: it could not be asked for now.
    pub fn ask_to_take_back(&mut self, tile: u64, port: u64) -> bool {
        let unit = self.tiles.unit;
        let label = Request::TakeBack.label(port, 0);
        unit.is_some_and(|unit| unit.send(tile, label, &[], TAKEN_BACK | port).is_ok())
    }

    /// The unit has interrupted.
    #[inline(never)]
    pub fn attend_unit(&mut self) {
        let Some(unit) = self.tiles.unit else {
            return;
        };
        // Most messages are the host's, and each look at an endpoint is a command.
        #[cfg(feature = "host")]
        if unit.has_messages_of_host_alone() {
            return self.attend_host(unit);
        }
        #[cfg(feature = "root")]
        if self.map.is_governed() {
            self.attend_root(unit);
            let waiting = unit.waiting();
            if waiting != 0 {
                self.attend_readers(unit, waiting);
            }
            return;
        }
        self.take_answers(unit);
        while let Some(message) = unit.fetch(NOTES) {
            unit.acknowledge(NOTES, message.slot);
            let (tile, port) = (message.header.tile.into(), message.header.label >> 48);
            self.portal_written(tile, port, message.payload[0]);
        }
        while let Some(message) = unit.fetch(REQUESTS) {
            self.requested(unit, &message);
        }
        #[cfg(feature = "host")]
        self.attend_host(unit);
        #[cfg(feature = "root")]
        {
            self.attend_activities(unit);
            self.attend_gates(unit);
            self.attend_core_tiles(unit);
        }
        let waiting = unit.waiting();
        if waiting != 0 {
            self.attend_readers(unit, waiting);
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
        let status = Status::from_word(message.payload[0]);
        if token & TAKEN_BACK != 0 && token != u64::MAX {
            self.consent_is_back(token & !TAKEN_BACK, status == Status::Good);
        } else {
            // The thread may have ended, or its time may be over.
            if let Some(thread) = self.dispatch.threads.find_any(token)
                && let State::Waits(wait) = self.dispatch.threads[thread].state
            {
                self.end_question(thread, wait, status);
            }
        }
        // A credit is back.
        let bit = 1 << (tile % 64);
        if self.tiles.owed & bit != 0 {
            self.tiles.owed &= !bit;
            self.tell_tile_of_room(tile);
        }
        if self.tiles.unasked & bit != 0 {
            self.tiles.unasked &= !bit;
            self.take_back_again(tile);
        }
        if self.tiles.untold & bit != 0 {
            self.tell_gone(tile);
        }
        self.call_again(|wait| wait == Wait::Credit(tile));
    }

    /// Another kernel has answered what a thread waits for.
    fn end_question(&mut self, thread: Place, wait: Wait, status: Status) {
        match wait {
            Wait::Sent(place) => {
                let (tile, port) = (place >> 16, place & 0xffff);
                match status {
                    Status::Good => self.end_wait(thread, Ok((0, 0))),
                    Status::Full => self.wait_longer(thread, Wait::Room(place)),
                    Status::Again(at) => {
                        let at = (at as u16, (at >> 16) as u16);
                        self.tiles.routes.add(Route::new(tile, port, at, 0));
                        self.restart(thread);
                    }
                    _ => {
                        self.tiles.routes.forget(tile, port);
                        self.end_wait(thread, Err(status.error()));
                    }
                }
            }
            Wait::Asked(place) if status == Status::Good => {
                let (tile, port) = (place >> 16, place & 0xffff);
                let process = self.processes.number(self.dispatch.threads[thread].process);
                self.tiles.routes.add(Route::portal(tile, port));
                match self.tiles.consents.find(tile, port, process) {
                    Some(_) => self.restart(thread),
                    None => self.wait_longer(thread, Wait::Consent(place)),
                }
            }
            Wait::Allowed(port) => {
                let answer = self.consent_is_known(port, status);
                self.end_wait(thread, answer.map(|()| (0, 0)));
            }
            Wait::Asked(_) => self.end_wait(thread, Err(status.error())),
            _ => {}
        }
    }

    fn wait_longer(&mut self, thread: Place, wait: Wait) {
        let list = &mut self.tiles.senders;
        self.dispatch.threads.append(list, thread);
        self.dispatch.threads[thread].state = State::Waits(wait);
    }

    fn requested(&mut self, unit: Unit, message: &Message) {
        let (label, tile) = (message.header.label, u64::from(message.header.tile));
        let (port, process) = (label >> 40 & 0xffff, label & 0xffff_ffff);
        let found = Request::ALL.get((label >> 56) as usize);
        let status = match found {
            None => Status::NoPort,
            Some(Request::Mail) => {
                let from = crate::mailboxes::label(tile, 0, process);
                self.deliver(port, tile, (from, &message.payload))
            }
            Some(Request::RoomAgain) => Status::Good,
            Some(Request::PortalGone) => {
                self.tiles.routes.forget_portals(tile);
                Status::Good
            }
            Some(Request::WhereIsMailbox) => self.where_is_mailbox(port, tile, process as u16),
            Some(Request::IsPortal) => match self.is_portal(port, tile) {
                true => Status::Good,
                false => Status::NoPort,
            },
            Some(Request::Consent) => {
                let [list, offset, size, ..] = message.payload;
                let allowed = Allowed::new(list, offset, size);
                match self.tiles.consents.add(tile, port, process, allowed) {
                    true => Status::Good,
                    false => Status::Full,
                }
            }
            Some(Request::TakeBack) => match self.tiles.consents.take_back(tile, port) {
                true => Status::Good,
                false => Status::Busy,
            },
        };
        unit.answer(message.slot, status.word());
        match found {
            Some(Request::RoomAgain) => {
                // The answer that the mailbox is full was sent before, and may not have been seen yet.
                self.take_answers(unit);
                self.call_again(|wait| wait == Wait::Room(tile << 16 | port));
            }
            Some(Request::Consent) => {
                self.take_answers(unit);
                self.call_again(|wait| wait == Wait::Consent(tile << 16 | port));
            }
            Some(Request::PortalGone) => {
                self.call_again(|wait| matches!(wait, Wait::Consent(place) if place >> 16 == tile));
            }
            _ => {}
        }
    }
}
