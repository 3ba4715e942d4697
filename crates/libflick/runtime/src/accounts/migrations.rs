//! Migrations of threads between harts of the card: for which instructions, and what they took.
use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use flick_events::Migrations;
use flick_sync::Tally;

use crate::modules;

const PLACES: usize = 1 << 10;
/// By the address of the instruction.
static MOVES: Tally<PLACES> = Tally::new();
/// The same, with the slot of the thread above: each is counted once.
static THREADS: Tally<{ 4 * PLACES }> = Tally::new();
const SLOT_SHIFT: u32 = 48;
/// The least instructions of the card that one has taken. Others have waited for a hart, and the card has
/// worked for other threads meanwhile.
static LEAST: AtomicU64 = AtomicU64::new(u64::MAX);

/// A thread, which has this slot of the card, has moved for the instruction at `pc`. Async-signal-safe.
pub fn add(slot: u32, pc: u64, cost: u64) {
    MOVES.add(pc as usize);
    THREADS.add(pc as usize | (slot as usize + 1) << SLOT_SHIFT);
    LEAST.fetch_min(cost, Relaxed);
}

/// The child of a fork counts its own.
pub fn reset() {
    MOVES.reset();
    THREADS.reset();
    LEAST.store(u64::MAX, Relaxed);
}

/// All of them.
pub fn all() -> Vec<Migrations> {
    let least = LEAST.load(Relaxed);
    let rows = MOVES.counts().filter(|(_, count)| *count != 0);
    rows.map(|(pc, count)| {
        let is_here = |key: usize| key & ((1 << SLOT_SHIFT) - 1) == pc;
        let threads = THREADS
            .counts()
            .filter(|(key, count)| is_here(*key) && *count != 0);
        Migrations {
            count,
            threads: threads.count() as u64,
            cost: least.saturating_mul(count),
            instruction: instruction(pc as u64),
            place: place(pc as u64),
        }
    })
    .collect()
}

/// The instruction, if its library is still there.
fn instruction(pc: u64) -> String {
    match modules::instruction_at(pc) {
        Some(bits) => flick_riscv::instruction_name(bits),
        None => "of a library that was closed".into(),
    }
}

/// `file.c:12`, or the function.
fn place(pc: u64) -> String {
    let Some(place) = modules::innermost(pc) else {
        return format!("{pc:#x}");
    };
    // SAFETY: strings of a module's tables.
    let text = |at: *const c_char| unsafe { CStr::from_ptr(at) }.to_string_lossy();
    if place.file.is_null() {
        return flick_names::plain(&text(place.function)).to_owned();
    }
    let file = text(place.file);
    format!(
        "{}:{}",
        file.rsplit('/').next().unwrap_or(&file),
        place.line
    )
}
