//! What threads wait for.
use flick_sim::thread_token::Thread;

/// What a thread waits for, by address or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Lock(usize),
    Condition(usize),
    Semaphore(usize),
    Futex(usize),
    Barrier(usize),
    Once(usize),
    /// The end of a thread.
    End(Thread),
    /// Device and number of a pipe, a socket and the like.
    Data(u64, u64),
    /// Processor time, of the thread that sleeps.
    Sleep(Thread),
    Signals,
    /// What comes from the machine of a card for the thread of this slot.
    Owner(u32),
}

/// What a thread waits for that looks at several files.
pub const ANY_DATA: Key = Key::Data(0, 0);
