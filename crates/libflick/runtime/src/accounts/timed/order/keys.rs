//! What threads wait for.
use std::ffi::c_int;
use std::mem::MaybeUninit;

use flick_sim::thread_token::Thread;

use crate::os::system_call::system_call;

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

impl Key {
    /// What who waits for the file waits for: both ends of a pipe have one number, and those of a
    /// socket do not. `None`: a file that nobody waits for.
    pub fn of_file(file: c_int) -> Option<Self> {
        let mut found = MaybeUninit::<libc::stat>::zeroed();
        let place = found.as_mut_ptr() as usize;
        // SAFETY: a place for the record, which the kernel fills.
        let found = unsafe {
            if system_call(libc::SYS_fstat, [file as usize, place]) != 0 {
                return None;
            }
            found.assume_init()
        };
        match found.st_mode & libc::S_IFMT {
            libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK => None,
            libc::S_IFSOCK => Some(Self::Data(0, 1)),
            _ => Some(Self::Data(found.st_dev, found.st_ino)),
        }
    }
}
