//! How a thread moves to a hart that has its instruction, and back, without the kernel hart.
//!
//! The *word of claims* has a field for each of the first special harts. While the word is open, the
//! kernel hart touches neither harts nor threads:
//!
//! 1. A general hart whose thread needs a special one finds its field free, and makes it its own number:
//!    it has claimed the hart. It gives it the thread, and is idle.
//! 2. A special hart whose field has the number of a general one may make it free: the thread goes there,
//!    and the special hart is idle.
//! 3. The kernel hart closes the word before it uses what it knows of harts and threads. The fields say
//!    which threads have moved meanwhile.
//!
//! All of it is one atomic operation on one word. So the kernel hart never waits for a claim, and sees
//! each of them as a whole or not at all. What a hart looks at for a claim, as the harts that a thread
//! may run on, the kernel hart changes while the word is closed. The word counts how often it was opened,
//! so that no claim succeeds which has begun before.
use core::sync::atomic::{AtomicU64, Ordering};

use crate::dispatch::Dispatch;
use crate::threads::Place;

/// Special harts that can be claimed.
pub const FIELDS: usize = 4;

/// A field of a hart that cannot be claimed, and whose thread cannot leave it by itself.
const CLOSED: u8 = 0;
/// The hart is idle.
const FREE: u8 = 0xff;
/// It is, and forgets all translations before it runs a thread.
const FORGETS: u8 = 0xfe;

/// The thread of this general hart is there, or may go there.
const fn of_hart(hart: u8) -> u8 {
    hart + 1
}

const fn field(word: u64, n: usize) -> u8 {
    (word >> (8 * n)) as u8
}

const fn with_field(word: u64, n: usize, value: u8) -> u64 {
    word & !(0xff << (8 * n)) | (value as u64) << (8 * n)
}

/// Where the fields end, and the count of openings begins.
pub const COUNT: u32 = 8 * FIELDS as u32;

/// What a claim finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The field.
    pub field: usize,
    /// The hart forgets all translations before it runs the thread.
    pub forgets: bool,
}

/// The word of claims.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct ClaimWord(AtomicU64);

impl ClaimWord {
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

    /// What a hart sees before it looks whether its thread may move. It will store to the word, so that
    /// its cache gets the line for that at once.
    #[inline(always)]
    pub fn look(&self) -> u64 {
        self.0.fetch_or(0, Ordering::Acquire)
    }

    /// A general hart claims one that is idle, and for which `fits` holds. It has seen the word before it
    /// looked at anything else.
    #[inline(always)]
    pub fn claim(&self, seen: u64, hart: u8, fits: impl Fn(usize) -> bool) -> Option<Claimed> {
        let mut n = 0;
        while field(seen, n) < FORGETS || !fits(n) {
            n += 1;
            if n == FIELDS {
                return None;
            }
        }
        let claimed = Claimed {
            field: n,
            forgets: field(seen, n) == FORGETS,
        };
        self.change(seen, with_field(seen, n, of_hart(hart)))
            .then_some(claimed)
    }

    /// The hart of a field is idle again: its thread goes to the general hart of this number.
    #[inline(always)]
    pub fn give_back(&self, seen: u64, n: usize) -> Option<u8> {
        let home = match field(seen, n) {
            CLOSED | FORGETS.. => return None,
            home => home - of_hart(0),
        };
        self.change(seen, with_field(seen, n, FREE)).then_some(home)
    }

    #[inline(always)]
    fn change(&self, seen: u64, word: u64) -> bool {
        self.0
            .compare_exchange(seen, word, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
}

/// What the kernel hart knows of the word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Claims {
    is_open: bool,
    /// Fields that are used, from the first one on.
    count: u8,
    /// Their harts.
    harts: [u8; FIELDS],
    /// The word, as it was opened.
    opened: u64,
}

/// The thread of a hart goes on on another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Where it was, as the kernel hart knew.
    pub from: u8,
    /// Where it is.
    pub to: u8,
    /// It has claimed this hart; else it has gone back from one.
    pub is_claim: bool,
}

impl Claims {
    /// No hart.
    pub const fn new() -> Self {
        Self {
            is_open: false,
            count: 0,
            harts: [0; FIELDS],
            opened: 0,
        }
    }

    /// These harts, as bits, can be claimed: the first of them. Returns the field of each.
    pub fn begin(&mut self, harts: u64) -> impl Iterator<Item = (usize, u8)> + use<> {
        let all = (0..64).filter(move |&hart| harts >> hart & 1 != 0);
        for (place, hart) in self.harts.iter_mut().zip(all.clone()) {
            *place = hart;
            self.count += 1;
        }
        all.take(FIELDS).enumerate()
    }

    /// Sets how often the word was opened, so that states of models repeat.
    pub fn set_count(&mut self, count: u64) {
        self.opened = self.opened & ((1 << COUNT) - 1) | count << COUNT;
    }

    /// May harts move their threads by themselves?
    #[inline(always)]
    pub fn are_open(&self) -> bool {
        self.is_open
    }

    /// From now on harts move threads by themselves, if there is nothing that only the kernel hart can
    /// know: no thread waits for a hart, and no hart was asked to save its own. `forget`: harts that
    /// forget translations before they run a thread. `allowed`: the harts that a thread may run on.
    #[inline(never)]
    pub fn open<const THREADS: usize, const HARTS: usize>(
        &mut self,
        word: &ClaimWord,
        dispatch: &Dispatch<THREADS, HARTS>,
        forget: u64,
        allowed: impl Fn(Place) -> u64,
    ) {
        if self.count == 0 || dispatch.threads.has_ready() || dispatch.is_any_asked() {
            return;
        }
        let idle = dispatch.idle();
        // General harts to which a thread may go back. Each is that of one thread.
        let mut homes = idle & !dispatch.threads.special & !forget;
        let before = self.opened;
        self.opened = (before >> COUNT).wrapping_add(1) << COUNT;
        for (n, &hart) in self.harts[..usize::from(self.count)].iter().enumerate() {
            let value = if idle >> hart & 1 != 0 {
                if forget >> hart & 1 != 0 {
                    FORGETS
                } else {
                    FREE
                }
            } else if let Some(place) = dispatch.running(hart) {
                let fit = homes & allowed(place);
                // Its registers are still where it was, perhaps.
                let last = field(before, n).wrapping_sub(of_hart(0));
                let is_last = last < 64 && fit >> last & 1 != 0;
                let home = if is_last {
                    last
                } else {
                    fit.trailing_zeros() as u8
                };
                match fit {
                    0 => CLOSED,
                    _ => {
                        homes &= !(1 << home);
                        of_hart(home)
                    }
                }
            } else {
                CLOSED
            };
            self.opened = with_field(self.opened, n, value);
        }
        self.is_open = true;
        word.0.store(self.opened, Ordering::Release);
    }

    /// No hart moves its thread by itself any more. `moved` gets those that have moved, in an order in
    /// which each hart has one thread. Returns the harts that have forgotten translations.
    #[inline(always)]
    pub fn close(&mut self, word: &ClaimWord, moved: impl FnMut(Moved)) -> u64 {
        self.is_open = false;
        let now = word.0.swap(0, Ordering::AcqRel);
        match now == self.opened {
            true => 0,
            false => self.settle(now, moved),
        }
    }

    #[inline(never)]
    fn settle(&mut self, now: u64, mut moved: impl FnMut(Moved)) -> u64 {
        let mut forgotten = 0;
        let fields = 0..usize::from(self.count);
        // Threads that have gone back, perhaps before they or others have claimed the hart.
        for n in fields.clone() {
            let (before, now) = (field(self.opened, n), field(now, n));
            match before {
                _ if before == now => {}
                CLOSED | FREE => {}
                FORGETS => forgotten |= 1 << self.harts[n],
                home => moved(Moved {
                    from: self.harts[n],
                    to: home - of_hart(0),
                    is_claim: false,
                }),
            }
        }
        for n in fields {
            let (before, now) = (field(self.opened, n), field(now, n));
            if before != now && now < FORGETS {
                moved(Moved {
                    from: now - of_hart(0),
                    to: self.harts[n],
                    is_claim: true,
                });
            }
        }
        self.opened = now;
        forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_succeeds_once() {
        let word = ClaimWord::from_word(1 << COUNT | 0xfe00);
        let seen = word.look();
        assert_eq!(word.claim(seen, 3, |n| n == 0), None);
        let claimed = word.claim(seen, 3, |_| true);
        assert_eq!(
            claimed,
            Some(Claimed {
                field: 1,
                forgets: true
            })
        );
        assert_eq!(word.claim(seen, 2, |_| true), None);
        assert_eq!(word.give_back(seen, 1), None);
        let seen = word.look();
        assert_eq!(word.claim(seen, 2, |_| true), None);
        assert_eq!(word.give_back(seen, 0), None);
        assert_eq!(word.give_back(seen, 1), Some(3));
        assert_eq!(word.into_word(), 1 << COUNT | 0xff00);
    }
}
