//! How a user hart calls the kernel hart: one cache line there, one back, and a bit that says who calls.
//! No lock is shared.
//!
//! 1. The user hart writes its call line, and sets its bit of the pending word.
//! 2. If the kernel hart slept, the user hart interrupts it.
//! 3. The kernel hart takes all bits at once, and serves the harts in turns.
//! 4. It writes the hart's command line, and sets flags there. If the hart slept, it interrupts it.
//!
//! Both sides look for some time before they sleep: an interrupt takes longer than a look.
//!
//! Each line has one writer at a time: the call line belongs to the kernel hart from the bit on, and to
//! the user hart from the flag on.
use core::sync::atomic::{AtomicU64, Ordering};

/// Harts of a tile that can call: bits of the pending word.
pub const MOST_HARTS: usize = 62;

/// What a user hart tells the kernel hart.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct CallLine {
    /// The call, or one of the numbers from [`PREEMPTED`] on.
    number: AtomicU64,
    /// a0 to a5.
    pub arguments: [AtomicU64; 6],
    /// How many invalidations the hart has made.
    pub invalidations: AtomicU64,
}

/// A number in a call line: the hart has saved its thread, as the kernel hart has asked.
pub const PREEMPTED: u64 = 1 << 32;
/// The thread has an exception: `mcause`, `mtval`.
pub const EXCEPTION: u64 = PREEMPTED + 1;
/// The thread has its first vector instruction: bytes of a register.
pub const VECTORS: u64 = PREEMPTED + 3;
/// The hart's thread has ended some time ago ([`crate::thread_lines`]): its number.
pub const HAS_ENDED: u64 = PREEMPTED + 4;
/// The thread waits for its owner, a thread of the host: the address of a descriptor that has come, or 0.
pub const AWAY: u64 = PREEMPTED + 5;
/// The kernel's own code on a user hart has failed: `mcause`, `mepc`, `mtval`.
pub const BROKEN: u64 = PREEMPTED + 2;

impl CallLine {
    /// The user hart writes the number and a0 to a5 of a call.
    #[inline(always)]
    pub fn write(&self, number: u64, arguments: [u64; 6]) {
        self.number.store(number, Ordering::Relaxed);
        for (word, value) in self.arguments.iter().zip(arguments) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// The kernel hart reads the number: by an atomic operation, which drops what its cache has of the line.
    pub fn number(&self) -> u64 {
        self.number.fetch_or(0, Ordering::AcqRel)
    }

    /// The kernel hart reads the arguments behind the number, before it answers.
    #[inline(always)]
    pub fn arguments(&self) -> [u64; 6] {
        core::array::from_fn(|n| self.arguments[n].load(Ordering::Relaxed))
    }
}

/// What the kernel hart tells a user hart.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct CommandLine {
    /// Bits of [`command`].
    flags: AtomicU64,
    /// a0 and a1 of the thread that has called.
    pub values: [AtomicU64; 2],
    /// The context of the thread that the hart shall run, and the thread's number.
    pub context: AtomicU64,
    /// See `context`.
    pub thread: AtomicU64,
    /// The first page that the hart shall forget, and how many.
    pub page: AtomicU64,
    /// See `page`.
    pub pages: AtomicU64,
    /// With `PREEMPT`: the number of the thread that the hart shall save.
    pub asked: AtomicU64,
}

/// Flags of a command line.
pub mod command {
    /// The call has been answered: the thread goes on with `values`.
    pub const REPLY: u64 = 1;
    /// The hart shall run the thread of `context`.
    pub const RUN: u64 = 2;
    /// The hart shall save its thread and say so.
    pub const PREEMPT: u64 = 4;
    /// The hart shall forget translations of `pages`, and say so.
    pub const INVALIDATE: u64 = 8;
    /// The thread that has called goes on with its registers as they are.
    pub const GO_ON: u64 = 32;
    /// With `GO_ON`: the call is made again.
    pub const AGAIN: u64 = 128;
    /// With `RUN`, `REPLY` or `GO_ON`: the context names memory that the kernel hart has stored to.
    pub const STORED: u64 = 64;
    /// With `RUN`, `REPLY` or `GO_ON`: the hart forgets all translations before.
    pub const FORGET: u64 = 16;
    /// With `RUN`: the thread begins. Its context has nothing but its entry, argument, sp, tp and `satp`.
    pub const FRESH: u64 = 256;
    /// With `RUN`: another user hart has claimed this one for its thread ([`crate::claims`]).
    pub const CLAIMED: u64 = 512;
    /// The hart sleeps: whoever gives a command interrupts it.
    pub const SLEEPS: u64 = 1 << 63;
}

impl CommandLine {
    /// The kernel hart gives a command, whose words it has written. True: it has to wake the hart.
    #[must_use]
    pub fn give(&self, flags: u64) -> bool {
        self.flags.fetch_or(flags, Ordering::AcqRel) & command::SLEEPS != 0
    }

    /// The flags of a state, for models.
    pub fn into_flags(self) -> u64 {
        self.flags.into_inner()
    }

    /// The user hart takes all commands, and is awake.
    pub fn take(&self) -> u64 {
        self.flags.swap(0, Ordering::AcqRel) & !command::SLEEPS
    }

    /// The user hart will wait for an interrupt. False: there is a command.
    #[must_use]
    pub fn sleep(&self) -> bool {
        let idle =
            self.flags
                .compare_exchange(0, command::SLEEPS, Ordering::AcqRel, Ordering::Acquire);
        idle.is_ok()
    }
}

/// Who calls, and whether the kernel hart sleeps.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Pending {
    word: AtomicU64,
    ended: AtomicU64,
}

const SLEEPS: u64 = 1 << 63;

impl Pending {
    /// No hart calls.
    pub const fn new() -> Self {
        Self::from_words([0; 2])
    }

    /// The words of a state, for models: callers, and ends of threads.
    pub const fn from_words([word, ended]: [u64; 2]) -> Self {
        Self {
            word: AtomicU64::new(word),
            ended: AtomicU64::new(ended),
        }
    }

    /// See [`Self::from_words`].
    pub fn into_words(self) -> [u64; 2] {
        [self.word.into_inner(), self.ended.into_inner()]
    }

    /// A user hart calls. True: it has to wake the kernel hart.
    #[must_use]
    pub fn call(&self, hart: usize) -> bool {
        self.word.fetch_or(1 << hart, Ordering::AcqRel) == SLEEPS
    }

    /// The kernel hart takes the callers, as bits, and is awake.
    pub fn take(&self) -> u64 {
        self.word.swap(0, Ordering::AcqRel) & !SLEEPS
    }

    /// The kernel hart will wait for an interrupt. False: somebody has called.
    #[must_use]
    pub fn sleep(&self) -> bool {
        let idle = self
            .word
            .compare_exchange(0, SLEEPS, Ordering::AcqRel, Ordering::Acquire);
        idle.is_ok()
    }

    /// The thread of a user hart has ended, and nobody waits for that. True: the kernel hart wants to
    /// know at once.
    #[must_use]
    pub fn end(&self, hart: usize) -> bool {
        self.ended.fetch_or(1 << hart, Ordering::AcqRel) & AT_ONCE != 0
    }

    /// Has any thread ended since the kernel hart has taken them? It sees those that ended before its
    /// last [`Self::take`].
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed) & !AT_ONCE != 0
    }

    /// The kernel hart takes the harts whose threads have ended without telling it. If `at_once`, all
    /// others tell it from now on.
    pub fn take_ended(&self, at_once: bool) -> u64 {
        let before = self
            .ended
            .swap(if at_once { AT_ONCE } else { 0 }, Ordering::AcqRel);
        // While it wants to know at once, each hart tells it.
        if before & AT_ONCE == 0 { before } else { 0 }
    }

    /// A hart has told of its thread's end all the same.
    pub fn has_told(&self, hart: u8) {
        self.ended.fetch_and(!(1 << hart), Ordering::AcqRel);
    }
}

/// In the word of ends: the kernel hart wants to know of each.
const AT_ONCE: u64 = 1 << 63;

const _: () = assert!(size_of::<CallLine>() == 64 && size_of::<CommandLine>() == 64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_calls_first_wakes() {
        let pending = Pending::new();
        assert!(!pending.call(3));
        assert!(!pending.sleep());
        assert_eq!(pending.take(), 8);
        assert!(pending.sleep());
        assert!(pending.call(0) && !pending.call(1));
        assert_eq!(pending.take(), 3);
    }
}
