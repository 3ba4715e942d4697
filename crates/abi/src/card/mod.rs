//! What programs of the card and its kernel share: the kernel calls (`docs/kernel-calls.md` is made
//! from their table), errors, and what a program finds at its start.
mod c_header;
mod call_table;
mod command_line;
mod kernel_calls;
mod program_start;
pub mod remote_call;
mod root_calls;

pub use c_header::c_header;
pub use call_table::{CallPage, CallPlace};
pub use command_line::{argument_bytes, write_argument};
pub use kernel_calls::Call;
pub use program_start::{
    IMAGE_VERSION, MOST_IMAGE_PAGES, MOST_TEXTS, ProgramImage, ProgramStart, START_VERSION,
    START_WITH_ENVIRONMENT,
};
pub use root_calls::RootCall;

/// The pages of all calls, by number.
pub fn pages() -> impl Iterator<Item = &'static CallPage> {
    kernel_calls::PAGES.iter().chain(root_calls::PAGES)
}

/// Why a call has failed. In a0 the number is negative. Numbers are those of Linux.
#[repr(i64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The caller has not the right.
    NotPermitted = 1,
    /// There is none of this number or name.
    NotFound = 2,
    /// The device or link has failed.
    Failed = 5,
    /// It would have to wait.
    Again = 11,
    /// Memory, or places in a table, are used up.
    NoMemory = 12,
    /// The other side has not consented.
    NoAccess = 13,
    /// A pointer leads to nowhere, or to what the program may not access so.
    BadAddress = 14,
    /// It is in use.
    Busy = 16,
    /// It is there already.
    Exists = 17,
    /// An argument is none of those that are allowed.
    Invalid = 22,
    /// The call would wait for itself.
    Deadlock = 35,
    /// No call has this number.
    NoCall = 38,
    /// The address is in use.
    AddressInUse = 98,
    /// The time is over.
    TimedOut = 110,
    /// The hart or tile does not answer.
    Dead = 130,
}

impl Error {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::NotPermitted,
        Self::NotFound,
        Self::Failed,
        Self::Again,
        Self::NoMemory,
        Self::NoAccess,
        Self::BadAddress,
        Self::Busy,
        Self::Exists,
        Self::Invalid,
        Self::Deadlock,
        Self::NoCall,
        Self::AddressInUse,
        Self::TimedOut,
        Self::Dead,
    ];

    /// The name in C, as `errno.h` has it.
    pub fn c_name(self) -> &'static str {
        match self {
            Self::NotPermitted => "EPERM",
            Self::NotFound => "ENOENT",
            Self::Failed => "EIO",
            Self::Again => "EAGAIN",
            Self::NoMemory => "ENOMEM",
            Self::NoAccess => "EACCES",
            Self::BadAddress => "EFAULT",
            Self::Busy => "EBUSY",
            Self::Exists => "EEXIST",
            Self::Invalid => "EINVAL",
            Self::Deadlock => "EDEADLK",
            Self::NoCall => "ENOSYS",
            Self::AddressInUse => "EADDRINUSE",
            Self::TimedOut => "ETIMEDOUT",
            Self::Dead => "EOWNERDEAD",
        }
    }

    /// What a0 has after a call that has failed so.
    pub const fn to_register(self) -> u64 {
        (self as i64).wrapping_neg() as u64
    }

    /// The error in a0; `None`: the call has succeeded.
    pub fn from_register(a0: u64) -> Option<Self> {
        let number = (a0 as i64).checked_neg()?;
        Self::ALL.iter().copied().find(|&e| e as i64 == number)
    }
}

/// Rights of a page, as bits.
pub mod rights {
    /// Loads.
    pub const READ: u64 = 1;
    /// Stores.
    pub const WRITE: u64 = 2;
    /// Fetches.
    pub const EXECUTE: u64 = 4;
    /// Of `process_map`: both processes see each other's stores.
    pub const SHARED: u64 = 8;
}

/// Extensions that a thread's next instructions need.
pub mod hint {
    /// None that only some harts have.
    pub const GENERAL: u64 = 0;
    /// V.
    pub const VECTORS: u64 = 1;
    /// F and D.
    pub const FLOATS: u64 = 2;
    /// A vendor's, whose names begin with X.
    pub const CUSTOM: u64 = 4;
}

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// User addresses are below this one, in each mode of translation.
pub const USER_END: u64 = 1 << 38;
/// The end of the first thread's stack.
pub const STACK_END: u64 = 0x20_0000_0000;
/// Its bytes. A page of them is mapped at its first access.
pub const STACK_SIZE: u64 = 8 << 20;
/// The most pages that one call maps, unmaps or protects: 16 MiB.
pub const PAGES_AT_ONCE: u64 = 4096;
/// No time limit.
pub const FOR_EVER: u64 = u64::MAX;
/// Bytes of a mailbox's message.
pub const MAILBOX_BYTES: usize = 120;
/// The most bytes of one transfer of a portal.
pub const PORTAL_BYTES: u64 = 1 << 20;
/// Priorities are below this number; 0 is the most urgent.
pub const PRIORITIES: u64 = 8;
/// What a thread has unless it says otherwise.
pub const NORMAL_PRIORITY: u64 = 4;

/// What happened to a thread that waits for an exception handler.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExceptionRecord {
    /// The thread.
    pub thread: u64,
    /// `mcause`.
    pub cause: u64,
    /// The instruction.
    pub pc: u64,
    /// `mtval`: the address of the access, or the instruction's bits.
    pub value: u64,
}

/// The registers of a thread that does not run, as `thread_state` copies them.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadState {
    /// Where it goes on.
    pub pc: u64,
    /// x1 to x31.
    pub x: [u64; 31],
    /// f0 to f31.
    pub f: [u64; 32],
    /// fcsr.
    pub fcsr: u64,
}

const _: () = assert!(size_of::<ExceptionRecord>() == 32);
const _: () = assert!(size_of::<ThreadState>() == 520);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_by_number() {
        assert!(pages().is_sorted_by_key(|page| page.number));
        for page in pages() {
            assert!(page.arguments.len() <= 6 && page.text.ends_with('.'));
        }
    }

    #[test]
    fn errors_are_negative() {
        for &error in Error::ALL {
            assert_eq!(Error::from_register(error.to_register()), Some(error));
            assert!(error.c_name().starts_with('E'));
        }
        assert_eq!(Error::from_register(7), None);
        assert_eq!(Error::from_register(1 << 63), None);
    }
}
