//! The right to use something that one thread has at a time, and which finds out by that use whose turn comes
//! next: the machine of `docs/card.md`, "The token".
//!
//! Threads have slots. Who wants in puts its slot into a list. Who has the token takes all of the list, and gives
//! the token with what it has found out to the thread of a slot, which sleeps on a word of that slot. A thread may
//! keep the token for a *loan*, which another one takes away from it if it does not come back.
use crate::platform::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use crate::platform::{between_seq_cst, constructor};

struct Slot {
    /// What its thread waits for: 1 if it has the token.
    wake: AtomicU32,
    /// The next slot in the list, and 1; 0: none.
    next: AtomicU32,
}

/// The token, and who wants it. All of it is 0 at first.
pub struct Token<const SLOTS: usize> {
    taken: AtomicU32,
    /// The newest in the list of those who want in, and 1; 0: nobody wants in.
    wanting: AtomicU32,
    /// A loan that lasts; 0: none.
    lent: AtomicU64,
    /// Threads that wait for the token for themselves alone.
    alone: AtomicU32,
    slots: [Slot; SLOTS],
    /// The rule that a test leaves out.
    #[cfg(loom)]
    without: Option<Rule>,
}

/// Rules of the protocol, each of which a test leaves out to see that it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Who frees the token looks at the list once more.
    LooksAgain,
    /// One thread alone ends a loan.
    EndsOnce,
    /// The child of a `fork` has none of the threads that waited.
    Forgets,
}

/// What the use of the thing has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The thread of this slot goes on, with the token.
    Turn(u32),
    /// It has to be looked at the list again.
    Again,
    /// There is nothing to do until somebody wants in.
    Nothing,
}

/// How a thread that has waited has got the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// It is the thread's turn.
    Turn,
    /// The thread has ended this loan.
    TookBack(u64),
}

impl<const SLOTS: usize> Token<SLOTS> {
    constructor! {
        /// Nobody has it, and nobody wants it.
        new() -> Self {
            Self {
                taken: AtomicU32::new(0),
                wanting: AtomicU32::new(0),
                lent: AtomicU64::new(0),
                alone: AtomicU32::new(0),
                #[cfg(not(loom))]
                slots: [const { Slot::new() }; SLOTS],
                #[cfg(loom)]
                slots: std::array::from_fn(|_| Slot::new()),
                #[cfg(loom)]
                without: None,
            }
        }
    }

    /// The same without a rule.
    #[cfg(loom)]
    pub fn without(rule: Rule) -> Self {
        Self {
            without: Some(rule),
            ..Self::new()
        }
    }

    #[cfg(loom)]
    fn keeps(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    #[cfg(not(loom))]
    const fn keeps(&self, _: Rule) -> bool {
        true
    }

    /// Takes the token, if nobody has it.
    pub fn take(&self) -> bool {
        self.taken.compare_exchange(0, 1, SeqCst, SeqCst).is_ok()
    }

    /// The slot's thread wants in. What it wants is written before.
    pub fn want(&self, slot: u32) {
        let own = &self.slots[slot as usize];
        let mut first = self.wanting.load(SeqCst);
        loop {
            own.next.store(first, SeqCst);
            let added = self
                .wanting
                .compare_exchange(first, slot + 1, SeqCst, SeqCst);
            match added {
                Ok(_) => break,
                Err(now) => first = now,
            }
        }
        // The caller tries to take the token next.
        between_seq_cst();
    }

    /// Does anybody want in?
    pub fn is_wanted(&self) -> bool {
        self.wanting.load(SeqCst) != 0
    }

    /// Who has the token: calls `enter` with those who want in, those first who came first, until it refuses
    /// one. That one and those behind it stay in the list; false then.
    pub fn enter_all(&self, mut enter: impl FnMut(u32) -> bool) -> bool {
        let mut newest = self.wanting.swap(0, SeqCst);
        // Turned round: the oldest is first.
        let mut oldest = 0;
        while let Some(slot) = newest.checked_sub(1) {
            let next = self.slots[slot as usize].next.swap(oldest, SeqCst);
            (oldest, newest) = (newest, next);
        }
        while let Some(slot) = oldest.checked_sub(1) {
            // Its thread may want in again as soon as it has entered.
            let next = self.slots[slot as usize].next.load(SeqCst);
            if !enter(slot) {
                // Those behind it keep their order only among themselves.
                self.put_back(oldest);
                return false;
            }
            oldest = next;
        }
        true
    }

    fn put_back(&self, mut oldest: u32) {
        while let Some(slot) = oldest.checked_sub(1) {
            oldest = self.slots[slot as usize].next.load(SeqCst);
            self.want(slot);
        }
    }

    /// Who has the token: calls `find` until it is somebody's turn, who gets the token. `wake` wakes who sleeps
    /// on a word. True: it is the turn of `me`. Otherwise the token is somebody else's, or free.
    pub fn drive(
        &self,
        me: Option<u32>,
        mut find: impl FnMut() -> Found,
        wake: impl FnOnce(&AtomicU32),
    ) -> bool {
        loop {
            // Who wants it alone drives later.
            if self.alone.load(SeqCst) != 0 {
                self.taken.store(0, SeqCst);
                return false;
            }
            match find() {
                Found::Again => {}
                Found::Nothing => {
                    self.taken.store(0, SeqCst);
                    between_seq_cst();
                    // Who has come since has found the token taken.
                    let looks = self.keeps(Rule::LooksAgain);
                    if !(looks && self.is_wanted() && self.take()) {
                        return false;
                    }
                }
                Found::Turn(slot) if me == Some(slot) => return true,
                Found::Turn(slot) => {
                    let word = &self.slots[slot as usize].wake;
                    // A swap, since loom orders a mere store in front of the owner's earlier ones, perhaps.
                    word.swap(1, SeqCst);
                    wake(word);
                    return false;
                }
            }
        }
    }

    /// Who has the token frees it without a look at the list.
    pub fn put_down(&self) {
        self.taken.store(0, SeqCst);
    }

    /// Waits for the turn of a slot. `sleep` waits while the word is 0, and may return at any time; false: it
    /// took so long that a loan that has lasted all that time is to be ended.
    pub fn wait(&self, slot: u32, mut sleep: impl FnMut(&AtomicU32) -> bool) -> Waited {
        let word = &self.slots[slot as usize].wake;
        let mut seen = 0;
        loop {
            if word.swap(0, SeqCst) == 1 {
                return Waited::Turn;
            }
            let is_late = !sleep(word);
            let lent = self.lent();
            if is_late && lent != 0 && lent == seen && self.take_back(lent) {
                return Waited::TookBack(lent);
            }
            seen = lent;
        }
    }

    /// Who has the token keeps it for a loan, whose number is not 0 and is never used again.
    pub fn lend(&self, loan: u64) {
        self.lent.store(loan, SeqCst);
    }

    /// The loan that lasts, or 0.
    pub fn lent(&self) -> u64 {
        self.lent.load(SeqCst)
    }

    /// The calling thread ends a loan, and has the token. False: another one has ended it.
    #[must_use]
    pub fn take_back(&self, loan: u64) -> bool {
        if !self.keeps(Rule::EndsOnce) {
            self.lent.store(0, SeqCst);
            return true;
        }
        self.lent.compare_exchange(loan, 0, SeqCst, SeqCst).is_ok()
    }

    /// Takes the token for the calling thread alone. `pause` waits a moment; false: as for [`Self::wait`]. A
    /// loan that this has ended.
    pub fn take_alone(&self, mut pause: impl FnMut() -> bool) -> Option<u64> {
        self.alone.fetch_add(1, SeqCst);
        between_seq_cst();
        let mut seen = 0;
        let ended = loop {
            if self.take() {
                break None;
            }
            let is_late = !pause();
            let lent = self.lent();
            if is_late && lent != 0 && lent == seen && self.take_back(lent) {
                break Some(lent);
            }
            seen = lent;
        };
        self.alone.fetch_sub(1, SeqCst);
        ended
    }

    /// In a child of `fork`, whose one thread has the token: nobody else wants anything.
    pub fn forget_others(&self) {
        self.lent.store(0, SeqCst);
        self.wanting.store(0, SeqCst);
        if self.keeps(Rule::Forgets) {
            self.alone.store(0, SeqCst);
        }
        for slot in &self.slots {
            slot.wake.store(0, SeqCst);
        }
    }
}

impl Slot {
    constructor! {
        /// Nobody waits there.
        new() -> Self {
            Self {
                wake: AtomicU32::new(0),
                next: AtomicU32::new(0),
            }
        }
    }
}

impl<const SLOTS: usize> Default for Token<SLOTS> {
    fn default() -> Self {
        Self::new()
    }
}
