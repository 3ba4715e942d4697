//! The process stays on one processor while its threads are ordered.
use std::sync::Mutex;

use crate::locks::bounded;
use crate::os::processors::Processors;

/// Where the process ran before it had an order.
static BEFORE: Mutex<Option<Processors>> = Mutex::new(None);

/// Only one thread runs at a time, and a hand-over between processors takes ten times as long. What
/// the thread makes inherits this.
pub fn stay() {
    let (Some(one), Some(all)) = (Processors::current(), Processors::of_thread(0)) else {
        return;
    };
    // Where it is forbidden hand-overs take longer, and nothing else.
    one.hold_thread(0);
    if let Some(mut before) = bounded::lock(&BEFORE) {
        *before = Some(all);
    }
}

/// Back to where it ran before.
pub fn leave() {
    if let Some(before) = bounded::lock(&BEFORE).and_then(|mut before| before.take()) {
        before.hold_thread(0);
    }
}
