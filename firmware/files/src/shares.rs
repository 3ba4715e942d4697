//! Shares of what a table has: a client that takes much leaves some to others.

/// Sessions at most.
pub const SESSIONS: usize = 64;
/// Whose things count for no session: those of archives, and of sessions that are over.
pub const NOBODY: u8 = u8::MAX;
/// A session has at most so many times what is free. So one alone has three quarters, and two have three sevenths
/// each, and there is always something left for another one.
const PARTS: u64 = 3;

/// How much of what is free a client may take that has some already.
pub fn allowed(used: u32, free: u32) -> u32 {
    let most = (PARTS * u64::from(free)).saturating_sub(used.into());
    most.div_ceil(PARTS + 1) as u32
}

/// What each session has taken.
#[derive(Debug)]
pub struct Shares([u32; SESSIONS]);

impl Shares {
    /// Nothing.
    pub const fn new() -> Self {
        Self([0; SESSIONS])
    }

    /// How much of what is free a session may take.
    pub fn allowed(&self, session: u8, free: u32) -> u32 {
        let used = self.0.get(usize::from(session));
        used.map_or(free, |&used| allowed(used, free))
    }

    /// A session has taken some.
    pub fn take(&mut self, session: u8, count: u32) {
        if let Some(used) = self.0.get_mut(usize::from(session)) {
            *used += count;
        }
    }

    /// Some that a session had are free again.
    pub fn give_back(&mut self, session: u8, count: u32) {
        if let Some(used) = self.0.get_mut(usize::from(session)) {
            *used -= count;
        }
    }

    /// A session is over: what it had is nobody's, as all its owners say from now on.
    pub fn end<'a>(&mut self, session: u8, owners: impl Iterator<Item = &'a mut u8>) {
        if let Some(used) = self.0.get_mut(usize::from(session)) {
            *used = 0;
        }
        owners
            .filter(|owner| **owner == session)
            .for_each(|owner| *owner = NOBODY);
    }

    /// What sessions have, for tests.
    #[cfg(test)]
    pub fn used(&self, session: u8) -> u32 {
        self.0[usize::from(session)]
    }
}
