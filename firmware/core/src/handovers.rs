//! How a call to a gate goes from its caller to the receiver, and the answer back, without the kernel hart.
//!
//! The *word of hand-overs* has a field for each of some gates. While the word is open, the kernel hart touches
//! neither harts nor threads:
//!
//! 1. A field is *ready* if a thread waits for messages of the gate. The hart of a caller makes it its own
//!    number: the caller waits, and the receiver runs on that hart.
//! 2. The receiver answers, and waits for the next message. Its hart makes the field ready again, and the
//!    caller goes on there.
//! 3. A field is *asked* if the receiver runs on another hart, and that of the caller is idle. The receiver's
//!    hart makes it *told*: the caller has its answer, and runs on its hart.
//! 4. The kernel hart closes the word before it uses what it knows of harts and threads. The fields say what
//!    has happened.
//!
//! Each of these is one atomic operation on one word, as in [`crate::claims`]. The word counts how often it was
//! opened, so that no step succeeds which has begun before. Between two openings a field can become ready and a
//! hart's own again. So each field counts its calls, and the kernel hart sees a new call by that.
use core::sync::atomic::{AtomicU64, Ordering};

/// Gates that have a field.
pub const FIELDS: usize = 4;

const CLOSED: u8 = 0;
const READY: u8 = 0xff;
const ASKED: u8 = 0xfe;
const TOLD: u8 = 0xfd;
/// Fields below are closed, or of a hart.
const FIRST_STATE: u8 = TOLD;

const fn of_hart(hart: u8) -> u8 {
    hart + 1
}

const fn value(word: u64, n: usize) -> u8 {
    (word >> (8 * n)) as u8
}

const fn with(word: u64, n: usize, value: u8) -> u64 {
    word & !(0xff << (8 * n)) | (value as u64) << (8 * n)
}

/// Where the fields end, and the count of openings begins.
pub const COUNT: u32 = 8 * FIELDS as u32;

/// What a field says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Field {
    /// All calls and answers go by the kernel hart.
    #[default]
    Closed,
    /// The receiver waits.
    Ready,
    /// The receiver runs on this hart, which is that of its caller.
    Lent(u8),
    /// The receiver runs, and its caller waits; the hart of the caller is idle.
    Asked,
    /// The caller has its answer, and runs again.
    Told,
}

/// The field of this place in a word.
#[inline(always)]
pub fn field(word: u64, n: usize) -> Field {
    match value(word, n) {
        CLOSED => Field::Closed,
        READY => Field::Ready,
        ASKED => Field::Asked,
        TOLD => Field::Told,
        hart => Field::Lent(hart - of_hart(0)),
    }
}

/// Is a receiver on this hart that has been lent it?
#[inline(always)]
pub fn is_lent(word: u64, hart: u8) -> bool {
    (0..FIELDS).any(|n| value(word, n) == of_hart(hart))
}

/// The word of hand-overs.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct HandoverWord(AtomicU64);

impl HandoverWord {
    /// A word that is closed.
    pub const fn new() -> Self {
        Self::from_word(0)
    }

    /// See [`Self::into_word`].
    pub const fn from_word(word: u64) -> Self {
        Self(AtomicU64::new(word))
    }

    /// For models.
    pub fn into_word(self) -> u64 {
        self.0.into_inner()
    }

    /// What a hart sees before it looks at anything else. It will store to the word, so that its cache gets the
    /// line for that at once.
    #[inline(always)]
    pub fn look(&self) -> u64 {
        self.0.fetch_or(0, Ordering::Acquire)
    }

    /// Is it open? The hart gets no line for itself.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// The thread of a hart calls a receiver, which has the hart from then on. No hart is lent twice: the order
    /// would be lost.
    #[inline(always)]
    #[must_use]
    pub fn call(&self, seen: u64, n: usize, hart: u8) -> bool {
        let may = value(seen, n) == READY && !is_lent(seen, hart);
        may && self.change(seen, with(seen, n, of_hart(hart)))
    }

    /// The receiver that has a hart has answered, and waits for the next call.
    #[inline(always)]
    #[must_use]
    pub fn give_back(&self, seen: u64, n: usize, hart: u8) -> bool {
        value(seen, n) == of_hart(hart) && self.change(seen, with(seen, n, READY))
    }

    /// The receiver has answered a caller whose hart is idle.
    #[inline(always)]
    #[must_use]
    pub fn tell(&self, seen: u64, n: usize) -> bool {
        value(seen, n) == ASKED && self.change(seen, with(seen, n, TOLD))
    }

    #[inline(always)]
    fn change(&self, seen: u64, word: u64) -> bool {
        self.0
            .compare_exchange(seen, word, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
}

/// What has happened to a field, in an order in which each hart has one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The receiver of the field has answered its caller, which has this hart again.
    Answered(usize, u8),
    /// The caller has its answer, and runs on its own hart.
    Told(usize),
    /// The thread of this hart has called the receiver, which runs there.
    Called(usize, u8),
}

/// What the kernel hart knows of the word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Handovers {
    is_open: bool,
    /// The word, as it was opened.
    opened: u64,
    /// Calls of each field that are known.
    calls: [u64; FIELDS],
}

impl Handovers {
    /// A word that is closed.
    pub const fn new() -> Self {
        Self {
            is_open: false,
            opened: 0,
            calls: [0; FIELDS],
        }
    }

    /// Sets how often the word was opened, so that states of models repeat.
    pub fn set_count(&mut self, count: u64) {
        self.opened = self.opened & ((1 << COUNT) - 1) | count << COUNT;
    }

    /// Sets how many calls of a field are known, in the same way.
    pub fn set_calls(&mut self, n: usize, calls: u64) {
        self.calls[n] = calls;
    }

    /// Do harts hand over by themselves?
    #[inline(always)]
    pub fn are_open(&self) -> bool {
        self.is_open
    }

    /// Harts hand over by themselves from now on, if there is a field for that. `idle` has the hart of the caller of
    /// each asked field. Of two fields with one hart the first is opened, since their receivers would both give the
    /// hart a thread.
    pub fn open(&mut self, word: &HandoverWord, fields: [Field; FIELDS], idle: [u8; FIELDS]) {
        let mut told = 0_u64;
        let mut opened = (self.opened >> COUNT).wrapping_add(1) << COUNT;
        for (n, field) in fields.into_iter().enumerate() {
            let of = match field {
                Field::Closed | Field::Told => CLOSED,
                Field::Ready => READY,
                Field::Asked => match 1_u64 << (idle[n] % 64) {
                    hart if told & hart != 0 => CLOSED,
                    hart => {
                        told |= hart;
                        ASKED
                    }
                },
                Field::Lent(hart) => of_hart(hart),
            };
            opened = with(opened, n, of);
        }
        if opened << (64 - COUNT) == 0 {
            return;
        }
        (self.opened, self.is_open) = (opened, true);
        word.0.store(opened, Ordering::Release);
    }

    /// No hart hands over by itself any more. Returns the word, if [`Self::settle`] is to be told of it.
    #[inline(always)]
    #[must_use]
    pub fn close(&mut self, word: &HandoverWord) -> Option<u64> {
        self.is_open = false;
        let now = word.0.swap(0, Ordering::AcqRel);
        let is_lent = |n: usize| (CLOSED + 1..FIRST_STATE).contains(&value(now, n));
        (now != self.opened || (0..FIELDS).any(is_lent)).then_some(now)
    }

    /// What has happened. `calls` waits until a hart does nothing by what it has seen of the word, and then has the
    /// calls of a field. It is asked for each field that is a hart's now.
    pub fn settle(
        &mut self,
        now: u64,
        mut calls: impl FnMut(usize, u8) -> u64,
        mut changed: impl FnMut(Change),
    ) {
        let mut is_new = [false; FIELDS];
        for (n, is_new) in is_new.iter_mut().enumerate() {
            let (before, now) = (field(self.opened, n), field(now, n));
            if let Field::Lent(hart) = now {
                let count = calls(n, hart);
                let has_called = core::mem::replace(&mut self.calls[n], count) != count;
                *is_new = before != now || has_called;
            }
            match before {
                Field::Lent(hart) if before != now || *is_new => {
                    changed(Change::Answered(n, hart));
                }
                Field::Asked if before != now => changed(Change::Told(n)),
                _ => {}
            }
        }
        for (n, is_new) in is_new.into_iter().enumerate() {
            if let Field::Lent(hart) = field(now, n)
                && is_new
            {
                changed(Change::Called(n, hart));
            }
        }
        self.opened = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hart_is_lent_once() {
        let word = HandoverWord::new();
        let mut all = Handovers::new();
        all.open(
            &word,
            [Field::Ready, Field::Ready, Field::Asked, Field::Closed],
            [0, 0, 7, 0],
        );
        let seen = word.look();
        assert!(word.call(seen, 0, 3));
        assert!(!word.call(seen, 1, 2));
        let seen = word.look();
        assert!(!word.call(seen, 1, 3) && !word.call(seen, 0, 4) && !word.give_back(seen, 0, 4));
        assert!(word.call(seen, 1, 4));
        assert!(word.tell(word.look(), 2) && !word.tell(word.look(), 2));
        assert!(word.give_back(word.look(), 1, 4));
        let mut seen = vec![];
        let now = all.close(&word).unwrap();
        all.settle(now, |_, _| 1, |change| seen.push(change));
        assert_eq!(seen, [Change::Told(2), Change::Called(0, 3)]);
        assert_eq!(word.look(), 0);
    }

    #[test]
    fn a_hart_is_told_once() {
        let word = HandoverWord::new();
        let mut all = Handovers::new();
        all.open(&word, [Field::Asked; FIELDS], [5, 2, 5, 2]);
        let seen = word.look();
        let fields: [Field; FIELDS] = core::array::from_fn(|n| field(seen, n));
        assert_eq!(
            fields,
            [Field::Asked, Field::Asked, Field::Closed, Field::Closed]
        );
        assert!(word.tell(seen, 0) && !word.tell(word.look(), 2) && word.tell(word.look(), 1));
        let mut seen = vec![];
        let now = all.close(&word).unwrap();
        all.settle(now, |_, _| 1, |change| seen.push(change));
        assert_eq!(seen, [Change::Told(0), Change::Told(1)]);
    }

    #[test]
    fn a_second_call_is_seen() {
        let word = HandoverWord::new();
        let mut all = Handovers::new();
        all.open(
            &word,
            [Field::Lent(1), Field::Closed, Field::Closed, Field::Closed],
            [0; FIELDS],
        );
        assert!(word.give_back(word.look(), 0, 1) && word.call(word.look(), 0, 1));
        let mut seen = vec![];
        let now = all.close(&word).unwrap();
        all.settle(now, |_, _| 1, |change| seen.push(change));
        assert_eq!(seen, [Change::Answered(0, 1), Change::Called(0, 1)]);
        all.open(
            &word,
            [Field::Lent(1), Field::Closed, Field::Closed, Field::Closed],
            [0; FIELDS],
        );
        let now = all.close(&word).unwrap();
        all.settle(now, |_, _| 1, |change| panic!("{change:?}"));
    }
}
