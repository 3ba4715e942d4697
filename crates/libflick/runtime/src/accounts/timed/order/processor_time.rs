//! Virtual processor time, of the process and of its threads: waiting and sleeping take none. It is
//! that of the threads' last stated points, and of the calling thread's now.
use std::ffi::c_int;

use super::super::setting::picoseconds;
use super::super::state::{self, State};

/// Whose processor time is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Meter {
    Process,
    /// Of a thread, by the kernel's number.
    Thread(c_int),
}

/// The bits of a clock's number behind the inverted number of a process or a thread (Linux): a thread's,
/// and which of its counts, of which the last is a file's.
const OF_THREAD: c_int = 4;
const COUNT: c_int = 3;

impl Meter {
    /// What a clock counts, for the calling thread; `None`: something else. A thread's number may be that
    /// of none.
    pub fn of_clock(clock: c_int) -> Option<Self> {
        let own = || Some(Self::Thread(state::current()?.tid()));
        match clock {
            libc::CLOCK_PROCESS_CPUTIME_ID => return Some(Self::Process),
            libc::CLOCK_THREAD_CPUTIME_ID => return own(),
            _ if clock >= 0 || clock & COUNT == COUNT => return None,
            _ => {}
        }
        match (!(clock >> 3), clock & OF_THREAD) {
            (0, OF_THREAD) => own(),
            (0, _) => Some(Self::Process),
            (number, OF_THREAD) => Some(Self::Thread(number)),
            (number, _) => (number as u32 == std::process::id()).then_some(Self::Process),
        }
    }

    /// The same, if it is the process's, or a thread's that lives.
    pub fn of_live_clock(clock: c_int) -> Option<Self> {
        Self::of_clock(clock).filter(|meter| match meter {
            Self::Process => true,
            Self::Thread(tid) => thread(*tid).is_some(),
        })
    }

    /// Picoseconds.
    pub fn read(self) -> u64 {
        picoseconds(match self {
            Self::Process => state::all().map(State::processor).sum(),
            Self::Thread(tid) => thread(tid).map_or(0, State::processor),
        })
    }
}

fn thread(tid: c_int) -> Option<&'static State> {
    state::all().find(|state| state.tid() == tid && !state.has_ended())
}
