//! Portals: a process consents to one write to a buffer of its own, and a sender's hart writes there by
//! its unit (`portal_write.rs`). The pages of the buffer stay as long as somebody may write to them.
use flick_abi::card::{Error, FOR_EVER, PAGE, PORTAL_BYTES, USER_END, rights};
use flick_abi::dtu::Error as UnitError;
use flick_kernel_core::threads::{Place, Wait};

use crate::consents::Allowed;
use crate::direct::Direct;
use crate::hart_unit::note;
use crate::kernel::{Answer, Caller, Done, Kernel, is_past, value};
use crate::port_table::PortEntry;
use crate::tiles::{Request, Status};

/// Ports of portals are below this number.
pub const PORTALS: u64 = 1024;

/// What a portal waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A consent.
    Idle,
    /// The sender's kernel has not taken the consent yet.
    Asked,
    /// A write.
    Allowed,
    /// A read of so many bytes.
    Written(u32),
    /// A read that says that the write has failed.
    Failed,
    /// The end of a write, or word that there will be none: then it is gone. The sender's kernel has to
    /// be asked still.
    Closing { asked: bool },
}

/// A portal.
#[derive(Clone, Copy, Debug)]
pub struct Portal {
    /// Whose it is; `None`: there is no portal.
    process: Option<u16>,
    state: State,
    /// The sender's tile.
    tile: u8,
    /// Tiles that know of it, as bits: they are told when it is gone.
    known: u16,
    /// The thread that waits for data.
    reader: Option<Place>,
    /// The page with the list of pieces, or 0, and how many there are.
    list: u64,
    pieces: u16,
    /// Where the buffer begins in its first page, and its bytes.
    offset: u16,
    size: u32,
}

impl PortEntry for Portal {
    const NONE: Self = Self {
        process: None,
        state: State::Idle,
        tile: 0,
        known: 0,
        reader: None,
        list: 0,
        pieces: 0,
        offset: 0,
        size: 0,
    };

    fn is_used(&self) -> bool {
        self.process.is_some()
    }
}

/// A piece of a buffer: its first page, and how many there are.
fn piece(list: u64, n: u16) -> (u64, u64) {
    // SAFETY: a word of the list's page, which the kernel hart alone writes.
    let word = unsafe { (list as *const u64).add(n.into()).read_volatile() };
    (word / PAGE * PAGE, word % PAGE + 1)
}

impl Kernel {
    /// A portal for the caller's process.
    pub fn create_portal(&mut self, caller: Caller, port: u64) -> Answer {
        if port >= PORTALS {
            return Err(Error::Invalid);
        }
        let place = self.tiles.portals.place(port, &mut self.frames);
        let portal = place.ok_or(Error::NoMemory)?;
        if portal.is_used() {
            return Err(Error::Exists);
        }
        *portal = Portal {
            process: Some(caller.process),
            ..Portal::NONE
        };
        value(0)
    }

    fn own_portal(&mut self, caller: Caller, port: u64) -> Result<&mut Portal, Error> {
        let portal = self.tiles.portals.get(port).ok_or(Error::NotFound)?;
        match (portal.process == Some(caller.process), portal.state) {
            (_, State::Closing { .. }) => Err(Error::NotFound),
            (true, _) => Ok(portal),
            (false, _) => Err(Error::NotPermitted),
        }
    }

    /// There is no portal of this port any more.
    pub fn close_portal(&mut self, caller: Caller, port: u64) -> Answer {
        self.own_portal(caller, port)?;
        self.remove_portal(port);
        value(0)
    }

    /// Has a process a portal?
    #[cfg(feature = "root")]
    pub fn has_portals(&mut self, process: u16) -> bool {
        let is_its = |portal: &Portal| portal.process == Some(process);
        self.tiles.portals.find(0, is_its).is_some()
    }

    /// A process has ended.
    pub fn close_portals(&mut self, process: u16) {
        let mut from = 0;
        let is_its = |portal: &Portal| {
            portal.process == Some(process) && !matches!(portal.state, State::Closing { .. })
        };
        while let Some(port) = self.tiles.portals.find(from, is_its) {
            self.remove_portal(port);
            from = port + 1;
        }
    }

    fn remove_portal(&mut self, port: u64) {
        let Some(portal) = self.tiles.portals.get(port) else {
            return;
        };
        let (state, tile, reader) = (portal.state, u64::from(portal.tile), portal.reader.take());
        portal.state = State::Closing { asked: true };
        let known = core::mem::take(&mut portal.known);
        if let Some(reader) = reader {
            self.end_wait(reader, Err(Error::NotFound));
        }
        let known = (0..16).filter(|tile| known >> tile & 1 != 0);
        known.for_each(|tile| self.tell_gone(tile));
        let own = self.map.tile.0;
        match state {
            // The answer will say whether the consent is there.
            State::Asked => {}
            State::Allowed if tile == own => {
                if self.tiles.consents.take_back(own, port) {
                    self.forget_portal(port);
                }
            }
            State::Allowed => self.ask_back(port),
            _ => self.forget_portal(port),
        }
    }

    /// A tile is told that a portal is gone.
    pub fn tell_gone(&mut self, tile: u64) {
        let label = Request::PortalGone.label(0, 0);
        let told = self
            .tiles
            .unit
            .map(|unit| unit.send(tile, label, &[], u64::MAX));
        let is_untold = matches!(told, Some(Err(UnitError::NoCredits | UnitError::NoSpace)));
        self.tiles.untold = self.tiles.untold & !(1 << tile) | u64::from(is_untold) << tile;
    }

    fn ask_back(&mut self, port: u64) {
        if let Some(&mut Portal { tile, .. }) = self.tiles.portals.get(port) {
            let asked = self.ask_to_take_back(tile.into(), port);
            self.tiles.unasked |= u64::from(!asked) << (tile % 64);
            if let Some(portal) = self.tiles.portals.get(port) {
                portal.state = State::Closing { asked };
            }
        }
    }

    /// A credit for a tile's kernel is back.
    pub fn take_back_again(&mut self, tile: u64) {
        let is_meant = |portal: &Portal| {
            portal.state == State::Closing { asked: false } && u64::from(portal.tile) == tile
        };
        if let Some(port) = self.tiles.portals.find(0, is_meant) {
            self.ask_back(port);
        }
    }

    /// The sender's kernel has said whether a consent that was taken back is unused.
    pub fn consent_is_back(&mut self, port: u64, is_unused: bool) {
        let portal = self.tiles.portals.get(port);
        if is_unused && portal.is_some_and(|portal| matches!(portal.state, State::Closing { .. })) {
            self.forget_portal(port);
        }
    }

    fn forget_portal(&mut self, port: u64) {
        self.release(port);
        if let Some(portal) = self.tiles.portals.get(port) {
            *portal = Portal::NONE;
        }
    }

    /// Whether there is a portal, for a tile that is told when it is gone.
    pub fn is_portal(&mut self, port: u64, tile: u64) -> bool {
        let portal = self.tiles.portals.get(port);
        let portal = portal.filter(|portal| !matches!(portal.state, State::Closing { .. }));
        portal.is_some_and(|portal| {
            portal.known |= 1 << (tile % 16);
            true
        })
    }

    /// Nobody writes to the buffer any more.
    fn release(&mut self, port: u64) {
        let Some(portal) = self.tiles.portals.get(port) else {
            return;
        };
        let (list, pieces) = (core::mem::take(&mut portal.list), portal.pieces);
        if list == 0 {
            return;
        }
        for n in 0..pieces {
            let (first, pages) = piece(list, n);
            (0..pages).for_each(|page| self.frames.free(first + page * PAGE));
        }
        self.frames.free(list);
    }

    /// The caller consents to a write to its buffer.
    pub fn allow_portal(&mut self, caller: Caller, arguments: [u64; 6]) -> Answer {
        let [port, sender, buffer, size, ..] = arguments;
        if self.own_portal(caller, port)?.state != State::Idle {
            return Err(Error::Busy);
        }
        let (tile, process) = (sender >> 32, sender & 0xffff_ffff);
        if size == 0 || size > PORTAL_BYTES || !self.is_tile(tile) {
            return Err(Error::Invalid);
        }
        if !self.map.can_drop_many() {
            return Err(Error::NoCall);
        }
        let list = self.frames.allocate().ok_or(Error::NoMemory)?;
        if let Some(portal) = self.tiles.portals.get(port) {
            (portal.list, portal.pieces, portal.tile) = (list, 0, tile as u8);
            (portal.offset, portal.size) = ((buffer % PAGE) as u16, size as u32);
        }
        let kept = self.keep_pages(caller, port, list, (buffer, size));
        let own = self.map.tile.0;
        let allowed = Allowed::new(list, buffer % PAGE, size);
        let answer = match kept {
            Err(error) => Err(error),
            Ok(()) if tile == own => match self.tiles.consents.add(own, port, process, allowed) {
                true => {
                    self.set_state(port, State::Allowed);
                    self.call_again(|wait| wait == Wait::Consent(own << 16 | port));
                    return value(0);
                }
                false => Err(Error::Again),
            },
            Ok(()) => {
                let label = Request::Consent.label(port, process);
                let message = [list, buffer % PAGE, size];
                crate::cache::clean();
                self.ask(
                    caller,
                    tile,
                    (label, &message),
                    Wait::Allowed(port),
                    FOR_EVER,
                )
            }
        };
        match answer {
            // Without a credit the call is made again.
            Ok(_) if self.waits_for_credit(caller.thread) => self.release(port),
            Ok(_) => self.set_state(port, State::Asked),
            Err(_) => self.release(port),
        }
        answer
    }

    fn waits_for_credit(&self, place: Place) -> bool {
        use flick_kernel_core::threads::State;
        matches!(
            self.dispatch.threads[place].state,
            State::Waits(Wait::Credit(_))
        )
    }

    fn set_state(&mut self, port: u64, state: State) {
        if let Some(portal) = self.tiles.portals.get(port) {
            portal.state = state;
        }
    }

    /// Pages of a buffer stay, and are listed.
    fn keep_pages(
        &mut self,
        caller: Caller,
        port: u64,
        list: u64,
        (buffer, size): (u64, u64),
    ) -> Result<(), Error> {
        let tables = self.processes[caller.process].tables;
        let tables = tables.ok_or(Error::BadAddress)?;
        let end = buffer.checked_add(size).filter(|&end| end <= USER_END);
        let end = end.ok_or(Error::BadAddress)?;
        let (mut at, mut count) = (buffer / PAGE * PAGE, 0);
        while at < end {
            let pages = (end - at).div_ceil(PAGE);
            let Some((first, pages)) = tables.reach_many(at, rights::WRITE, pages, &mut Direct)
            else {
                // Its memory is taken now, or copied.
                self.each_piece(caller, at, 1, rights::WRITE, |_, _, _, _| {})?;
                continue;
            };
            for page in 0..pages {
                if !self.frames.share(first + page * PAGE) {
                    (0..page).for_each(|page| self.frames.free(first + page * PAGE));
                    return Err(Error::NoMemory);
                }
            }
            // SAFETY: 1 MiB has at most 257 pages, and the list has room for 512 words.
            unsafe {
                let word = (list as *mut u64).add(usize::from(count));
                word.write_volatile(first | (pages - 1));
            }
            count += 1;
            at += pages * PAGE;
            if let Some(portal) = self.tiles.portals.get(port) {
                portal.pieces = count;
            }
        }
        Ok(())
    }

    /// The sender's kernel has taken a consent, or not.
    pub fn consent_is_known(&mut self, port: u64, status: Status) -> Result<(), Error> {
        let portal = self.tiles.portals.get(port).ok_or(Error::NotFound)?;
        match (portal.state, status) {
            (State::Asked, Status::Good) => {
                portal.state = State::Allowed;
                Ok(())
            }
            (State::Asked, status) => {
                portal.state = State::Idle;
                self.release(port);
                Err(status.error())
            }
            (State::Closing { .. }, Status::Good) => {
                self.ask_back(port);
                Err(Error::NotFound)
            }
            (State::Closing { .. }, _) => {
                self.forget_portal(port);
                Err(Error::NotFound)
            }
            // The data has come before the answer.
            _ => Ok(()),
        }
    }

    /// A sender has written so many bytes to a portal's buffer; 0: it has failed.
    pub fn portal_written(&mut self, tile: u64, port: u64, bytes: u64) {
        let Some(portal) = self.tiles.portals.get(port) else {
            return;
        };
        if u64::from(portal.tile) != tile {
            return;
        }
        match portal.state {
            State::Asked | State::Allowed => {
                portal.state = match bytes as u32 {
                    0 => State::Failed,
                    bytes => State::Written(bytes.min(portal.size)),
                };
                if let Some(reader) = portal.reader.take() {
                    let process = self.dispatch.threads[reader].process;
                    let answer = self.read_data(Caller::of_process(reader, process), port);
                    self.end_wait(reader, answer);
                }
            }
            State::Closing { .. } => self.forget_portal(port),
            _ => {}
        }
    }

    /// The caller reads the data of a portal that was written.
    fn read_data(&mut self, caller: Caller, port: u64) -> Result<(u64, u64), Error> {
        let portal = self.tiles.portals.get(port).ok_or(Error::NotFound)?;
        let (list, pieces, offset) = (portal.list, portal.pieces, u64::from(portal.offset));
        let state = core::mem::replace(&mut portal.state, State::Idle);
        let State::Written(bytes) = state else {
            self.release(port);
            return Err(Error::Dead);
        };
        let bytes = u64::from(bytes);
        let (first, pages) = piece(list, 0);
        let head = bytes.min(pages * PAGE - offset);
        // More than two pieces are more lines than the hart drops one by one.
        self.note_stored(
            caller,
            first + offset,
            if pieces > 2 { bytes } else { head },
        );
        if bytes > head && pieces == 2 {
            self.note_stored(caller, piece(list, 1).0, bytes - head);
        }
        self.release(port);
        Ok((0, bytes))
    }

    /// The caller waits for the data of a portal.
    pub fn read_portal(&mut self, caller: Caller, port: u64, until: u64) -> Answer {
        let portal = self.own_portal(caller, port)?;
        match portal.state {
            State::Idle => Err(Error::NoAccess),
            State::Written(_) | State::Failed => {
                let (a0, a1) = self.read_data(caller, port)?;
                Ok(Done::Values(a0, a1))
            }
            _ if portal.reader.is_some() => Err(Error::Busy),
            _ if is_past(until) => Err(Error::TimedOut),
            _ => {
                portal.reader = Some(caller.thread);
                self.wait(caller.thread, Wait::Portal(port), until)
            }
        }
    }

    /// A thread does not wait for data any more.
    pub fn forget_reader(&mut self, port: u64) {
        if let Some(portal) = self.tiles.portals.get(port) {
            portal.reader = None;
        }
    }

    /// A user hart has written to a portal of its tile, or has failed to, if the note says so.
    pub fn end_write(&mut self, [_, port, _, size, ..]: [u64; 6], why: u64) {
        let bytes = match why & 0xff {
            note::WRITTEN => size,
            note::FAILED => 0,
            _ => return,
        };
        self.portal_written(self.map.tile.0, port, bytes);
    }

    /// A user hart could not write to a portal by itself, or has written to one of its tile.
    pub fn write_portal(&mut self, caller: Caller, arguments: [u64; 6], why: u64) -> Answer {
        let [tile, port, data, size, until, _] = arguments;
        if port >= PORTALS || !self.is_tile(tile) || size == 0 || size > PORTAL_BYTES {
            return Err(Error::Invalid);
        }
        let own = self.map.tile.0;
        let place = tile << 16 | port;
        self.end_write(arguments, why);
        match why & 0xff {
            note::WRITTEN => return value(0),
            note::FAILED => return Err(Error::Dead),
            note::FAULT => self.each_piece(caller, data, size, rights::READ, |_, _, _, _| {})?,
            _ => {}
        }
        let process = self.processes.number(caller.process);
        let found = self.tiles.consents.find(tile, port, process);
        let found = found.and_then(|(place, _)| self.tiles.consents.allowed(place));
        match found {
            Some(allowed) if size > allowed.size => Err(Error::Invalid),
            Some(_) => Ok(Done::Again),
            None if tile == own => {
                self.tiles.portals.get(port).ok_or(Error::NotFound)?;
                self.wait_among_senders(caller, Wait::Consent(place), until)
            }
            None if self.tiles.routes.has_portal(tile, port) => {
                self.wait_among_senders(caller, Wait::Consent(place), until)
            }
            None => {
                let label = Request::IsPortal.label(port, process);
                self.ask(caller, tile, (label, &[]), Wait::Asked(place), until)
            }
        }
    }
}
