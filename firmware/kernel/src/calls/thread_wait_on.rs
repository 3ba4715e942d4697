//! `thread_wait_on` and `thread_wake_on`: waits at an address.
use core::sync::atomic::{AtomicU32, Ordering};

use flick_abi::card::{Error, rights};
use flick_kernel_core::threads::{State, Wait};

use crate::kernel::{Answer, Caller, Kernel, is_past, value};

/// Waits at an address, if it has a value.
#[inline(never)]
pub fn thread_wait_on(kernel: &mut Kernel, caller: Caller, arguments: [u64; 6]) -> Answer {
    let [address, expected, until, ..] = arguments;
    if !address.is_multiple_of(4) {
        return Err(Error::Invalid);
    }
    let place = kernel.resolve(caller.process, address, rights::READ, Some(caller.hart));
    let place = place.map_err(|_| Error::BadAddress)? as *mut u32;
    // SAFETY: an aligned word of the process's memory. An atomic operation sees what other harts have
    // stored, without coherence, too; it changes nothing.
    let found = unsafe { AtomicU32::from_ptr(place) }.fetch_or(0, Ordering::AcqRel);
    if u64::from(found) != expected & 0xffff_ffff {
        return Err(Error::Again);
    }
    if is_past(until) {
        return Err(Error::TimedOut);
    }
    let list = &mut kernel.processes[caller.process].waiters;
    kernel.dispatch.threads.append(list, caller.thread);
    kernel.wait(caller.thread, Wait::Address(address), until)
}

/// Wakes those who wait at an address.
#[inline(never)]
pub fn thread_wake_on(kernel: &mut Kernel, caller: Caller, address: u64, most: u64) -> Answer {
    if !address.is_multiple_of(4) {
        return Err(Error::Invalid);
    }
    let mut woken = 0;
    while woken < most {
        let list = kernel.processes[caller.process].waiters;
        let threads = &kernel.dispatch.threads;
        let waits = State::Waits(Wait::Address(address));
        let Some(place) = threads.find_in(&list, |thread| thread.state == waits) else {
            break;
        };
        kernel.end_wait(place, Ok((0, 0)));
        woken += 1;
    }
    value(woken)
}
