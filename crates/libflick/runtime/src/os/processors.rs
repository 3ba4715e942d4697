//! The processors that threads may run on.
use std::ptr;

use super::system_call::system_call;

/// Processors that a set has room for.
const MOST: usize = 1024;

/// A set of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processors([u8; MOST / 8]);

impl Processors {
    pub const NONE: Self = Self([0; MOST / 8]);

    /// The one that the calling thread runs on. Async-signal-safe.
    pub fn current() -> Option<Self> {
        let mut number = 0_u32;
        let place = ptr::from_mut(&mut number) as usize;
        // SAFETY: a place for the number of the processor; nothing else is asked for.
        let result = unsafe { system_call(libc::SYS_getcpu, [place, 0, 0, 0]) };
        let mut one = Self::NONE;
        let byte = one.0.get_mut(number as usize / 8).filter(|_| result == 0)?;
        *byte = 1 << (number % 8);
        Some(one)
    }

    /// Are all of these in another set?
    pub fn are_in(&self, all: &Self) -> bool {
        self.0.iter().zip(&all.0).all(|(own, all)| own & !all == 0)
    }

    /// Those of a thread; 0: the calling one. Async-signal-safe.
    pub fn of_thread(tid: i32) -> Option<Self> {
        let mut set = Self::NONE;
        let place = set.0.as_mut_ptr() as usize;
        let arguments = [tid as usize, set.0.len(), place, 0];
        // SAFETY: a place for a set of processors, and its size.
        let result = unsafe { system_call(libc::SYS_sched_getaffinity, arguments) };
        (result >= 0).then_some(set)
    }

    /// Has a thread run on these from now on; 0: the calling one. False: it is forbidden. Async-signal-safe.
    pub fn hold_thread(&self, tid: i32) -> bool {
        let place = self.0.as_ptr() as usize;
        let arguments = [tid as usize, self.0.len(), place, 0];
        // SAFETY: a set of processors, and its size.
        let result = unsafe { system_call(libc::SYS_sched_setaffinity, arguments) };
        result == 0
    }
}
