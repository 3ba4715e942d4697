//! The predictor of a thread's branches in host code (`flick_abi::timed::BRANCHES`). Instrumented code asks and
//! teaches it itself, as long as a branch goes the way that it has long gone. Else it calls the functions of
//! `long_histories.rs`.
use std::ptr;
use std::sync::atomic::AtomicPtr;

use flick_abi::timed::{BRANCH_COUNT, BranchTable, Price};

use super::long_histories::{self, LongTables};
use crate::os::thread_pointer;

/// As of the clock, nothing in Rust uses this name: see [`begin`].
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".tbss.flick_timed")]
pub static __flick_timed_branches: AtomicPtr<BranchTable> = AtomicPtr::new(ptr::null_mut());

/// A counter that has seen nothing: not taken, and not sure of it.
const WEAK: u8 = 7;

/// A predictor that has seen no branch, and femtoseconds of a wrong prediction.
pub fn table(cost: u64) -> Box<LongTables> {
    let wrong = Price {
        host: i64::try_from(cost).unwrap_or(i64::MAX),
        nxp: 0,
    };
    let table = BranchTable {
        costs: [Price::default(), wrong],
        history: 0,
        far: long_histories::branch,
        far_target: long_histories::target,
        rest: long_histories::REST,
        counters: [WEAK; BRANCH_COUNT],
        targets: [0; BRANCH_COUNT],
    };
    Box::new(LongTables::new(table))
}

/// The calling thread's branches cost so much from now on where they are predicted wrongly.
pub fn begin(cost: u64) {
    if cost == 0 {
        return;
    }
    let own = thread_pointer::of_thread!("__flick_timed_branches") as *mut *mut LongTables;
    // It lives as long as the thread's account: until the process ends.
    let table = Box::into_raw(table(cost));
    // SAFETY: this thread's variable. The table that the code knows is the first part.
    unsafe { own.write(table) };
}
