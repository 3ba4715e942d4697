//! A holder of the token that sleeps in the kernel, or comes to no stated point for long, loses it:
//! others may be what it waits for. The run is not exact then.
//!
//! Threads that wait for the token look, now and then. The load of the machine does not show: a
//! thread that waits for a processor neither sleeps nor spends time.
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering::*};

use super::notes;
use super::ordered_threads::{holder, with};
use super::slot::Slot;
use crate::accounts::symbols;
use crate::locks::bounded;
use crate::os::thread_clock;
use crate::os::thread_status::ThreadStatus;
use std::sync::Mutex;

/// Nanoseconds between two looks.
const BETWEEN: u64 = 80_000_000;
/// Nanoseconds of its own processor time that a holder may run without a stated point.
const LONGEST: u64 = 5_000_000_000;

/// The last look, on the machine's clock.
static LAST: AtomicU64 = AtomicU64::new(0);

/// What was seen of the holder.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    thread: usize,
    points: u64,
    /// Times that it went to sleep, and whether it sleeps.
    sleeps: u64,
    asleep: bool,
    /// Its processor time when this began.
    spent: u64,
}

static SEEN: Mutex<Option<Seen>> = Mutex::new(None);

/// Whether the thread sleeps, and how often it went to sleep.
fn sleeps(tid: i32) -> Option<(bool, u64)> {
    let status = ThreadStatus::read(tid)?;
    let asleep = status.value("State")?.starts_with('S');
    let sleeps = status.value("voluntary_ctxt_switches")?.parse().ok()?;
    Some((asleep, sleeps))
}

/// The function that a sleeping thread is in.
fn where_asleep(tid: i32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/self/task/{tid}/syscall")).ok()?;
    let pc = text.split_whitespace().last()?.strip_prefix("0x")?;
    let pc = usize::from_str_radix(pc, 16).ok()?;
    Some(symbols::caller(pc).function)
}

/// Sleeps until the token comes, and looks at its holder meanwhile.
pub fn park(slot: &Slot) {
    while !slot.take() {
        if slot.sleep() {
            look();
        }
    }
    slot.away.store(false, Relaxed);
}

/// Looks at the holder, if it is time.
pub fn look() {
    let now = thread_clock::read(libc::CLOCK_MONOTONIC).unwrap_or(0);
    let last = LAST.load(Relaxed);
    if now.saturating_sub(last) < BETWEEN
        || LAST.compare_exchange(last, now, Relaxed, Relaxed).is_err()
    {
        return;
    }
    let (Some(holder), Some(mut seen)) = (holder(), bounded::lock(&SEEN)) else {
        return;
    };
    let tid = holder.tid.load(Relaxed);
    // It has not begun, or its call ends by itself.
    if tid == 0 || holder.may_sleep.load(Relaxed) {
        *seen = None;
        return;
    }
    let Some((asleep, sleeps)) = sleeps(tid) else {
        return;
    };
    let current = Seen {
        thread: holder.thread,
        points: holder.points(),
        sleeps,
        asleep,
        spent: thread_clock::read(thread_clock::of_thread(tid)).unwrap_or(0),
    };
    let Some(before) =
        seen.filter(|seen| (seen.thread, seen.points) == (current.thread, current.points))
    else {
        *seen = Some(current);
        return;
    };
    let slept = asleep && before.asleep && before.sleeps == sleeps;
    if slept {
        take_away(
            holder,
            &where_asleep(tid).unwrap_or_else(|| "a call that sleeps".into()),
        );
    } else if current.spent.saturating_sub(before.spent) > LONGEST {
        take_away(holder, "code without a stated point for 5 s");
    } else {
        *seen = Some(Seen {
            spent: before.spent,
            ..current
        });
    }
}

fn take_away(holder: &'static Slot, call: &str) {
    let lost = with(None, |shared| {
        let same = shared.token.holder() == Some(holder.thread);
        if same {
            holder.away.store(true, Relaxed);
            shared.token.lose();
            shared.free_hart(holder);
        }
        same
    });
    if lost {
        notes::not_exact(call, holder.place.load(Relaxed));
    }
}
