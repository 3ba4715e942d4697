//! What is worth a translation: what runs seldom is sooner interpreted than translated.
use std::sync::atomic::{AtomicU8, Ordering};

use crate::config::{self, Engine};
use crate::modules;

/// How often execution arrives at an address before what begins there is translated: to translate
/// takes about as long as to interpret the same a hundred times.
const WARM: u8 = 50;

const COUNT: usize = 1 << 14;

/// By address; what shares a place is translated sooner. Threads may lose each other's steps.
static ARRIVALS: [AtomicU8; COUNT] = [const { AtomicU8::new(0) }; COUNT];

fn arrivals(pc: u64) -> &'static AtomicU8 {
    &ARRIVALS[pc as usize / 2 % COUNT]
}

/// Whether the interpreter, which has arrived at `pc`, is to have a translation from there.
pub fn is_hot(pc: u64) -> bool {
    if config::get().engine == Engine::Translate {
        return true;
    }
    let count = arrivals(pc);
    let before = count.load(Ordering::Relaxed);
    if before < WARM {
        count.store(before + 1, Ordering::Relaxed);
        return false;
    }
    // A loop is hot: its function's next call begins in a translation.
    if let Some(function) = modules::function_range(pc) {
        arrivals(function.start).store(WARM, Ordering::Relaxed);
    }
    true
}
