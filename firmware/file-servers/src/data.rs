//! Memory of a tile: for data, and for the pages of sessions.
use flick_abi::card::rights;
use flick_abi::file_session::PAGE_SIZE;
use flick_files::{Failure, Memory};

use crate::calls::{self, Capability, failure_of};
use crate::service::SESSIONS;

/// Bytes of a path at most.
pub const PATH: u64 = 1024;

/// The memory for data.
#[derive(Debug)]
pub struct Data(pub Capability);

impl Memory for Data {
    fn clear(&mut self, offset: u64, size: u64) -> Result<(), Failure> {
        static ZEROS: [u8; 16 << 10] = [0; 16 << 10];
        let mut at = offset;
        let end = offset + size;
        while at < end {
            let part = (end - at).min(ZEROS.len() as u64);
            self.store(at, &ZEROS[..part as usize])?;
            at += part;
        }
        Ok(())
    }

    fn store(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Failure> {
        calls::store(self.0, offset, bytes).map_err(failure_of)
    }
}

/// The pages of sessions: what clients and the server write for each other.
#[derive(Debug)]
pub struct Pages {
    memory: Capability,
    /// The part of a session that has asked for it.
    parts: [Option<Capability>; SESSIONS],
}

impl Pages {
    /// None.
    pub const fn new() -> Self {
        Self {
            memory: 0,
            parts: [None; SESSIONS],
        }
    }

    /// Takes the memory.
    ///
    /// # Errors
    /// The kernel's.
    pub fn begin(&mut self) -> calls::Result<()> {
        self.memory = calls::tile_memory(SESSIONS as u64 * PAGE_SIZE)?;
        Ok(())
    }

    /// Gives the client of a session its page. Returns the number that it knows it by.
    ///
    /// # Errors
    /// There is no place for a capability.
    pub fn give(&mut self, session: u8, right: Capability) -> Result<u64, Failure> {
        let place = usize::from(session);
        let range = (u64::from(session) * PAGE_SIZE, PAGE_SIZE);
        let page = match self.parts[place] {
            Some(page) => page,
            None => calls::narrow(self.memory, range, rights::READ | rights::WRITE)
                .map_err(failure_of)?,
        };
        self.parts[place] = Some(page);
        calls::session_give(right, page).map_err(failure_of)
    }

    /// A session is over.
    pub fn end(&mut self, session: u8) {
        if let Some(page) = self.parts[usize::from(session)].take() {
            calls::revoke(page);
        }
    }

    /// A path of a session's page, and another one behind it.
    ///
    /// # Errors
    /// They are too long, or the session has no page.
    pub fn paths<'a>(
        &self,
        session: u8,
        bytes: &'a mut [u8; 2 * PATH as usize],
        (first, second): (u64, u64),
    ) -> Result<(&'a [u8], &'a [u8]), Failure> {
        if first > PATH || second > PATH {
            return Err(Failure::NameTooLong);
        }
        self.parts[usize::from(session)].ok_or(Failure::Invalid)?;
        let both = &mut bytes[..(first + second) as usize];
        let at = u64::from(session) * PAGE_SIZE;
        calls::load(self.memory, at, both).map_err(failure_of)?;
        Ok(both.split_at(first as usize))
    }

    /// Writes to a session's page.
    ///
    /// # Errors
    /// The memory does not answer.
    pub fn write(&self, session: u8, bytes: &[u8]) -> Result<(), Failure> {
        let at = u64::from(session) * PAGE_SIZE;
        calls::store(self.memory, at, bytes).map_err(failure_of)
    }
}

impl Default for Pages {
    fn default() -> Self {
        Self::new()
    }
}
