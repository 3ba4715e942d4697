//! The process stays on one processor while its threads are ordered.
use std::ptr;
use std::sync::Mutex;

use crate::locks::bounded;
use crate::os::system_call::system_call;

/// Processors that a set has room for.
const PROCESSORS: usize = 1024;
/// Where the process ran before it had an order.
static BEFORE: Mutex<Option<[u8; PROCESSORS / 8]>> = Mutex::new(None);

fn run_on(set: &[u8; PROCESSORS / 8]) {
    // SAFETY: a set of processors, and its size.
    unsafe {
        let place = set.as_ptr() as usize;
        system_call(libc::SYS_sched_setaffinity, [0, set.len(), place, 0]);
    }
}

/// Only one thread runs at a time, and a hand-over between processors takes ten times as long. What
/// the thread makes inherits this.
pub fn stay() {
    let mut processor = 0_u32;
    let mut all = [0_u8; PROCESSORS / 8];
    // SAFETY: places for the number of the processor, and for a set of them.
    unsafe {
        let place = ptr::from_mut(&mut processor) as usize;
        let set = all.as_mut_ptr() as usize;
        if system_call(libc::SYS_getcpu, [place, 0, 0, 0]) != 0
            || system_call(libc::SYS_sched_getaffinity, [0, all.len(), set, 0]) < 0
        {
            return;
        }
    }
    let mut one = [0_u8; PROCESSORS / 8];
    if let Some(byte) = one.get_mut(processor as usize / 8) {
        *byte = 1 << (processor % 8);
        // Where it is forbidden hand-overs take longer, and nothing else.
        run_on(&one);
        if let Some(mut before) = bounded::lock(&BEFORE) {
            *before = Some(all);
        }
    }
}

/// Back to where it ran before.
pub fn leave() {
    if let Some(before) = bounded::lock(&BEFORE).and_then(|mut before| before.take()) {
        run_on(&before);
    }
}
