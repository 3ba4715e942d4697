//! Locks of the symmetric kernel (`symmetric.rs`): whoever came first has a lock first.
//!
//! The lock of threads guards the kernel's state but for its parts, which have locks of their own. A hart
//! takes the lock of threads first, and any part behind it. Without the lock of threads it takes one part
//! at most. So a hart that waits for the lock of threads has nothing, and one that waits for a part waits
//! for a hart that waits for nobody: there is no deadlock.
use core::cell::{Cell, UnsafeCell};
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU64, Ordering};

use crate::kernel::Kernel;
use crate::{cache, kernel_hart, symmetric};

/// A ticket lock. Without coherence, a hart that has it drops its data cache, which may have old values.
#[repr(C, align(64))]
pub struct Lock {
    /// In bits 63:32 the next ticket, in bits 31:0 the one that has the lock.
    word: AtomicU64,
}

/// Rounds of a wait for each hart in front: looking more often keeps memory from the one that has the
/// lock.
const ROUNDS: u32 = 2;

impl Lock {
    const fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
        }
    }

    /// Waits for the lock, and forgets pages meanwhile if it has to.
    fn take(&self) -> u32 {
        cache::clean();
        let word = self.word.fetch_add(1 << 32, Ordering::Acquire);
        let (ticket, mut has) = ((word >> 32) as u32, word as u32);
        while has != ticket {
            for _ in 0..ROUNDS * ticket.wrapping_sub(has) {
                symmetric::obey();
            }
            has = cache::load_shared(&self.word) as u32;
        }
        cache::refresh_all();
        ticket
    }

    /// The next one has it.
    fn release(&self, ticket: u32) {
        cache::clean();
        // No carry into the tickets.
        match ticket {
            u32::MAX => self.word.fetch_sub(u32::MAX.into(), Ordering::Release),
            _ => self.word.fetch_add(1, Ordering::Release),
        };
    }
}

/// A part's value, and its lock.
#[repr(C)]
pub struct Shared<T> {
    lock: Lock,
    value: UnsafeCell<T>,
}

// SAFETY: whoever has the lock uses the value.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// A value that nobody uses yet.
    pub const fn new(value: T) -> Self {
        Self {
            lock: Lock::new(),
            value: UnsafeCell::new(value),
        }
    }
}

/// The use of a part: it takes the lock with the first access, and has it until the end of the call.
pub struct Part<T: 'static> {
    shared: &'static Shared<T>,
    ticket: Cell<Option<u32>>,
}

impl<T> Part<T> {
    /// It has not the lock.
    pub const fn new(shared: &'static Shared<T>) -> Self {
        Self {
            shared,
            ticket: Cell::new(None),
        }
    }

    /// Takes the lock, unless it has it.
    pub fn take(&self) {
        if self.ticket.get().is_none() {
            self.ticket.set(Some(self.shared.lock.take()));
        }
    }

    /// The end of a call.
    pub fn release(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.shared.lock.release(ticket);
        }
    }
}

impl<T> Deref for Part<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.take();
        // SAFETY: this part has the lock, which no other one of the value has, and gives it back with
        // `&mut`, when no reference of its own is left.
        unsafe { &*self.shared.value.get() }
    }
}

impl<T> DerefMut for Part<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.take();
        // SAFETY: as of `deref`.
        unsafe { &mut *self.shared.value.get() }
    }
}

impl<T> Drop for Part<T> {
    fn drop(&mut self) {
        self.release();
    }
}

static THREADS: Lock = Lock::new();

/// The kernel's state, for who has the lock of threads.
pub struct Held {
    kernel: &'static mut Kernel,
    ticket: u32,
}

impl Held {
    /// Waits for the lock of threads.
    pub fn take() -> Self {
        let ticket = THREADS.take();
        // SAFETY: the only reference, as long as this hart has the lock.
        let kernel = unsafe { &mut *kernel_hart::state() };
        Self { kernel, ticket }
    }
}

impl Deref for Held {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        self.kernel
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut Kernel {
        self.kernel
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.kernel.console.release();
        self.kernel.frames.release();
        THREADS.release(self.ticket);
    }
}
