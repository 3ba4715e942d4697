//! The page of a user hart: its lines, its own record, and its stack behind them.
use core::cell::UnsafeCell;

use flick_abi::card::PAGE;
use flick_kernel_core::context::Context;
use flick_kernel_core::lines::{CallLine, CommandLine, MOST_HARTS, Pending};
use flick_kernel_core::thread_lines::ThreadLine;

use crate::claim::Own;
use crate::devices::Clint;
use crate::hart_unit::HartUnit;

/// Words of the longest message that a hart sends.
pub const OUTGOING: usize = if cfg!(feature = "root") { 20 } else { 16 };

/// A page of the thread's memory that the hart has looked up.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Its address.
    pub page: u64,
    /// What is added for the physical address.
    pub offset: u64,
}

impl Seen {
    /// No page.
    pub const NONE: Self = Self {
        page: u64::MAX,
        offset: 0,
    };
}

/// What the hart's endpoint for messages is set up for. `trap_entry.S` knows the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// The tile of the mailbox, or none: the endpoint has to be set up.
    pub tile: u64,
    /// Its port.
    pub port: u64,
    /// The address of the unit's registers.
    pub base: u64,
    /// What starts the command.
    pub command: u64,
    /// A command may still run.
    pub is_busy: u64,
}

impl Sending {
    /// No mailbox.
    pub const NONE: u64 = u64::MAX;
}

/// What the hart takes messages with. `trap_entry.S` knows the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Taking {
    /// The port of the mailbox, or none.
    pub port: u64,
    /// Where the bank's current activity is.
    pub current: u64,
    /// The mailbox's activity.
    pub activity: u64,
    /// The bit of its endpoint.
    pub events: u64,
    /// What starts the commands.
    pub fetch: u64,
    /// See `fetch`.
    pub acknowledge: u64,
    /// The slot of the last message, whose lines the hart's cache has, or 0.
    pub slot: u64,
}

impl Taking {
    /// No mailbox.
    pub const NONE: Self = Self {
        port: u64::MAX,
        current: 0,
        activity: 0,
        events: 0,
        fetch: 0,
        acknowledge: 0,
        slot: 0,
    };
}

/// What only the hart itself uses. `trap_entry.S` knows the first fields.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct HartLocal {
    /// The thread's registers.
    pub context: *mut Context,
    /// Its number.
    pub thread: u64,
    /// The hart's number in the tile.
    pub hart: u64,
    /// The end of its stack.
    pub stack: u64,
    /// Used by `trap_entry.S`.
    pub saved: [u64; 3],
    /// What `cache_refresh` does ([`crate::cache::refresh_call`]).
    pub refresh: u64,
    /// [`crate::calls::LIGHT`].
    pub light: u64,
    /// The hart's bit of the pending word, and this word.
    pub bit: u64,
    /// See `bit`.
    pub pending: &'static Pending,
    /// The register that interrupts the kernel hart.
    pub wake: u64,
    /// The lines of all threads, and `satp` of the thread's process.
    pub lines: *const ThreadLine,
    /// See `lines`.
    pub owner: u64,
    /// How a call of the unit goes on that the hart has tried ([`crate::hart_unit::attempt`]).
    pub attempt: u64,
    /// For messages.
    pub sending: Sending,
    /// For loads and stores of the thread's memory by their physical addresses.
    pub seen: [Seen; 2],
    /// For messages of the mailbox that the thread took the last one from.
    pub taking: Taking,
    /// The sender of a message that was taken from a full mailbox.
    pub sender: u64,
    /// The kernel hart knows that the thread waits for a message here, and lets it as long as no other one
    /// needs the hart.
    pub is_parked: bool,
    /// The thread has ended, and the kernel hart has not been told of it.
    pub is_silent: bool,
    /// Used by `trap_entry.S`.
    pub kept: [u64; 10],
    /// How often the kernel hart has changed where the thread's memory is.
    pub changes: u64,
    /// The context whose floating-point registers the hart has.
    pub float_owner: *mut Context,
    /// The context whose vector registers the hart has.
    pub vector_owner: *mut Context,
    /// For claims.
    pub own: Own,
    /// The kernel hart's number.
    pub kernel_hart: u64,
    /// For interrupts.
    pub clint: Clint,
    /// `satp` has address spaces.
    pub has_spaces: bool,
    /// For its unit.
    pub unit: HartUnit,
    /// The route of the mailbox that the hart took its last message from.
    pub mailbox: u64,
    /// A message that the hart sends.
    pub outgoing: [u64; OUTGOING],
    /// Pieces of a portal's buffer.
    pub pieces: [u64; 8],
    /// Whose hart it is while a receiver runs on it.
    #[cfg(feature = "root")]
    pub lent: crate::root::Lent,
    /// For threads of the host.
    #[cfg(feature = "host")]
    pub host: crate::host_hart::HostHart,
}

// As `trap_entry.S` has them.
const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(HartLocal, refresh) == 56 && offset_of!(HartLocal, owner) == 104);
    assert!(offset_of!(HartLocal, attempt) == 112 && offset_of!(HartLocal, sending) == 120);
    assert!(offset_of!(HartLocal, seen) == 160 && offset_of!(HartLocal, taking) == 192);
    assert!(offset_of!(HartLocal, sender) == 248 && offset_of!(HartLocal, is_parked) == 256);
    assert!(offset_of!(HartLocal, kept) == 264 && offset_of!(Taking, slot) == 48);
    assert!(offset_of!(Sending, is_busy) == 32 && size_of::<Seen>() == 16);
};

/// A page of memory.
#[repr(C)]
#[derive(Debug)]
pub struct HartPage {
    /// To the kernel hart.
    pub call: CallLine,
    /// From the kernel hart.
    pub command: CommandLine,
    local: UnsafeCell<HartLocal>,
    /// What the hart tells itself, as bits of `command`.
    #[cfg(any(feature = "symmetric", feature = "alone"))]
    own: core::sync::atomic::AtomicU64,
}

const _: () = assert!(core::mem::offset_of!(HartPage, local) == 128);

impl HartPage {
    /// Makes the page of a hart in a frame.
    ///
    /// # Safety
    /// The frame is used for nothing else, and stays.
    pub unsafe fn create(frame: u64, local: HartLocal) -> &'static Self {
        let at = frame as *mut Self;
        let page = Self {
            call: CallLine::default(),
            command: CommandLine::default(),
            local: UnsafeCell::new(local),
            #[cfg(any(feature = "symmetric", feature = "alone"))]
            own: Default::default(),
        };
        // SAFETY: a frame has room for it, and nobody else uses it.
        unsafe {
            at.write(page);
            &*at
        }
    }

    /// The hart's own record.
    pub fn local(&self) -> *mut HartLocal {
        self.local.get()
    }

    /// The page of a record.
    pub fn of(local: &HartLocal) -> &'static Self {
        let at = core::ptr::from_ref(local).addr() - core::mem::offset_of!(HartPage, local);
        // SAFETY: records are in pages alone, which stay; lines are atomics.
        unsafe { &*(at as *const Self) }
    }
}

#[cfg(feature = "symmetric")]
impl HartPage {
    /// The page of the hart that executes; `None`: the kernel hart.
    pub fn own() -> Option<&'static Self> {
        // In the kernel `mscratch` has the record, as in programs.
        let local = crate::csr_read!(mscratch) as *const HartLocal;
        // SAFETY: the hart's own record, of which this takes the address.
        (!local.is_null()).then(|| Self::of(unsafe { &*local }))
    }

    /// Is it the page of the hart that executes?
    pub fn is_own(&self) -> bool {
        self.local().addr() as u64 == crate::csr_read!(mscratch)
    }
}

#[cfg(any(feature = "symmetric", feature = "alone"))]
impl HartPage {
    /// The hart will do so behind the call.
    pub fn tell_own(&self, flags: u64) {
        let before = self.own.load(core::sync::atomic::Ordering::Relaxed);
        let all = before | flags;
        self.own.store(all, core::sync::atomic::Ordering::Relaxed);
    }

    /// Has it told itself something?
    #[cfg(feature = "alone")]
    pub fn has_own(&self) -> bool {
        self.own.load(core::sync::atomic::Ordering::Relaxed) != 0
    }

    /// What it has told itself.
    pub fn take_own(&self) -> u64 {
        let flags = self.own.load(core::sync::atomic::Ordering::Relaxed);
        self.own.store(0, core::sync::atomic::Ordering::Relaxed);
        flags
    }
}

/// Pages by hart; `None`: it runs no programs.
pub type HartPages = [Option<&'static HartPage>; MOST_HARTS];

/// Who calls the kernel hart.
pub static PENDING: Pending = Pending::new();

unsafe extern "C" {
    /// In `start.S`: the address of the table, or 0.
    static released: core::sync::atomic::AtomicU64;
}

/// Lets harts begin, each with the page that a table has for its `mhartid`.
pub fn release(table: &'static [u64; PAGE as usize / 8]) {
    let table = table.as_ptr().addr() as u64;
    // SAFETY: an atomic in `start.S`.
    unsafe { released.store(table, core::sync::atomic::Ordering::Release) };
    crate::cache::clean();
}
