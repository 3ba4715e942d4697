//! `poll`, `select` and their kin in a program with one thread, before its order begins. Without files
//! they sleep in virtual time. With files they wait on the machine's clock, for another process may
//! write; a time that is over without that is charged.
use std::ptr;

use super::{Answer, clocks};
use crate::accounts::timed::order::{clocks_are_virtual, is_on, notes};
use crate::accounts::timed::state;
use crate::os::system_call::system_call;

/// Bytes of a signal set, for the kernel.
const SET: usize = 8;

const NO_TIME: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// How long a call may wait, if it would sleep here.
pub fn limit(time: Option<libc::timespec>) -> Option<libc::timespec> {
    time.filter(|time| !is_on() && clocks_are_virtual() && clocks::length(time) != 0)
}

/// What the kernel says.
fn answer(result: isize) -> Answer {
    match i32::try_from(result) {
        Ok(count @ 0..) => Answer::value(count),
        _ => Answer::error(-result as i32),
    }
}

/// The time is over.
fn slept(time: &libc::timespec) -> Answer {
    if let Some(mut state) = state::current() {
        state.slept(u128::from(clocks::length(time)) * 1_000_000);
        state.settle();
    }
    Answer::value(0)
}

/// The files of `select`.
pub enum Has {
    None,
    Some,
    /// One is ready.
    Ready,
}

/// 0: the time is over. Data that comes meanwhile might have come behind it.
fn wait_for_files(limit: libc::timespec, call: impl Fn(libc::timespec) -> isize) -> isize {
    let found = call(limit);
    if found > 0 {
        notes::not_exact("poll or select with a time limit, alone", 0);
    }
    found
}

/// How the call ends.
fn over(found: isize, limit: &libc::timespec) -> Answer {
    match found {
        0 => slept(limit),
        found => answer(found),
    }
}

/// `ppoll` with this limit, and `poll`.
pub fn poll(files: usize, count: usize, limit: libc::timespec, mask: usize) -> Answer {
    let has_files = || {
        let files = ptr::slice_from_raw_parts(files as *const libc::pollfd, count);
        // SAFETY: the program's array, which the kernel has just read. It may be null if it is empty.
        count != 0 && unsafe { &*files }.iter().any(|file| file.fd >= 0)
    };
    let call = |mut time: libc::timespec| {
        let time = ptr::from_mut(&mut time) as usize;
        // SAFETY: the program's arguments, as for ppoll(2), and a time.
        unsafe { system_call(libc::SYS_ppoll, [files, count, time, mask, SET]) }
    };
    // What ends a call without files does so at once; otherwise it sleeps.
    let found = match call(NO_TIME) {
        0 if has_files() => wait_for_files(limit, call),
        found => found,
    };
    over(found, &limit)
}

/// `pselect` with this limit, and `select`; what is left of the time, in nanoseconds. The kernel clears
/// sets of which no file is ready: the caller knows whether they have files.
pub fn select(
    [count, read, write, other]: [usize; 4],
    has_files: Has,
    limit: libc::timespec,
    mask: usize,
) -> (Answer, u64) {
    let call = |mut time: libc::timespec| {
        let place = ptr::from_mut(&mut time) as usize;
        let mask = [mask, SET];
        let mask = ptr::from_ref(&mask) as usize;
        // SAFETY: the program's arguments, as for pselect(2), a time, and where the mask is.
        unsafe { system_call(libc::SYS_pselect6, [count, read, write, other, place, mask]) }
    };
    let found = match has_files {
        Has::None => call(NO_TIME),
        Has::Some => wait_for_files(limit, call),
        Has::Ready => call(limit),
    };
    // Data takes no time.
    let left = if found == 0 {
        0
    } else {
        clocks::length(&limit)
    };
    (over(found, &limit), left)
}
