//! The predictor of a thread's branches in host code (`flick_abi::timed::BRANCHES`). Instrumented code asks and
//! teaches it itself.
use std::ptr;
use std::sync::atomic::AtomicPtr;

use flick_abi::timed::{BRANCH_COUNT, BranchTable, Price};

use crate::os::thread_pointer;

/// As of the clock, nothing in Rust uses this name: see [`begin`].
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".tbss.flick_timed")]
pub static __flick_timed_branches: AtomicPtr<BranchTable> = AtomicPtr::new(ptr::null_mut());

/// The number of a counter that has seen nothing: not taken, and not sure of it.
const WEAK: u8 = 4;

/// A predictor that has seen no branch, and femtoseconds of a wrong prediction.
fn table(cost: u64) -> BranchTable {
    let wrong = Price {
        host: i64::try_from(cost).unwrap_or(i64::MAX),
        nxp: 0,
    };
    let mut table = BranchTable {
        costs: [Price::default(); 8],
        next: [0; 16],
        history: 0,
        unused: [0; 5],
        counters: [WEAK; BRANCH_COUNT],
        targets: [0; BRANCH_COUNT],
    };
    for state in 0..4 {
        for taken in [false, true] {
            let case = 2 * state + usize::from(taken);
            if (state >= 2) != taken {
                table.costs[case] = wrong;
            }
            let next = match taken {
                true => (state + 1).min(3),
                false => state.saturating_sub(1),
            };
            table.next[2 * case] = 4 * next as u8;
        }
    }
    table
}

/// The calling thread's branches cost so much from now on where they are predicted wrongly.
pub fn begin(cost: u64) {
    if cost == 0 {
        return;
    }
    let own = thread_pointer::of_thread!("__flick_timed_branches") as *mut *mut BranchTable;
    // It lives as long as the thread's account: until the process ends.
    let table = Box::into_raw(Box::new(table(cost)));
    // SAFETY: this thread's variable.
    unsafe { own.write(table) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the code of a branch does.
    fn go(table: &mut BranchTable, place: usize, taken: bool) -> i64 {
        let case = table.counters[place] + 2 * u8::from(taken);
        table.counters[place] = table.next[usize::from(case)];
        table.costs[usize::from(case) / 2].host
    }

    #[test]
    fn branches_that_go_one_way_are_learned() {
        let mut table = table(7);
        let mut costs = |all: &[bool]| -> Vec<i64> {
            let each = all.iter().map(|&taken| go(&mut table, 5, taken));
            each.collect()
        };
        assert_eq!(costs(&[false; 3]), [0, 0, 0]);
        assert_eq!(costs(&[true; 4]), [7, 7, 0, 0]);
        // One exception is no reason to change.
        assert_eq!(
            costs(&[false, true, true, false, false, false]),
            [7, 0, 0, 7, 7, 0]
        );
        assert_eq!((table.costs[0].host, table.costs[1].host), (0, 7));
    }
}
