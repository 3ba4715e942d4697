//! The host's own memory, where the platform describes it: accesses of host code to all memory that is not
//! NxP-local (`docs/timing.md`, "The host's own memory").
//!
//! Instrumented code looks up each access in a table of the thread's ([`LINES`]) and calls only if the line is
//! not there. The table has a line only while it is the most recently used one of its set in the nearest cache,
//! in all worlds. Another access to it would change nothing there.
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use flick_abi::timed::{EITHER_SHIFT, FROM_SHIFT, LINE_COUNT, OWN_SHIFT};
use flick_events::timed::Timed;
use flick_timing::model::{Chain, TouchedPages};
use flick_timing::{Layout, Progress};

use crate::os::thread_pointer;

use super::seen_lines::LINE;
use super::setting;
use super::state::State;
use super::sums::Charged;

/// `flick_abi::timed::LINES`. As of the clock, nothing in Rust uses this name: see [`lines`].
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".tbss.flick_timed")]
pub static __flick_timed_lines: Lines = Lines([const { AtomicU64::new(0) }; LINE_COUNT]);

/// Addresses of lines; 0: none.
#[repr(C, align(64))]
pub struct Lines([AtomicU64; LINE_COUNT]);

/// The calling thread's table. In a profile the code's own is empty, because a profile wants to see each access;
/// then this is the one that the code would have.
#[inline]
fn lines(state: &mut State) -> *mut u64 {
    match setting::is_profiled() {
        true => state.seen.lines.as_mut_ptr(),
        false => thread_pointer::of_thread!("__flick_timed_lines") as *mut u64,
    }
}

/// Whether the code would not have called for this access, if it were not profiled: the models have not seen it
/// either.
pub fn is_seen(state: &mut State, address: u64, bytes: u64, spent: i64) -> bool {
    let at = state.host() as i128 + i128::from(spent);
    state.worlds.own_shape().0 == LINE && state.seen.has(at, address, bytes)
}

/// What an access says of where its address comes from (`flick_abi::timed::ACCESS`).
#[inline]
pub fn chain(what: u64) -> Chain {
    let place = |shift: u32| (what >> shift & 63) as u8;
    Chain {
        own: place(OWN_SHIFT),
        from: [place(FROM_SHIFT), place(FROM_SHIFT + 6)],
        either: what >> EITHER_SHIFT & 1 != 0,
    }
}

/// What the host has computed, `spent` included.
#[inline]
pub fn progress(state: &State, spent: i64) -> Progress {
    let host = (state.host() as u64).wrapping_add_signed(spent);
    let staying = host + (state.sums.staying_library + state.sums.staying_compute) as u64;
    Progress {
        migrating: host + state.sums.host_library as u64,
        staying,
        before: staying,
    }
}

/// What no thread of the process has touched before.
static TOUCHED: OnceLock<TouchedPages> = OnceLock::new();

/// The kernel's time for the first access to a page.
fn fault() -> u64 {
    let window = setting::setting().and_then(|setting| setting.platform.host.window.as_ref());
    window.map_or(0, |window| window.fault)
}

/// Makes the table of touched pages, outside of any signal handler, if the platform wants it.
pub fn enable() {
    if fault() > 0 {
        TOUCHED.get_or_init(TouchedPages::default);
    }
}

/// Charges the kernel's work for the first access to a page: its time.
fn first_touch(state: &mut State, address: u64, place: u64) -> u64 {
    let fault = fault();
    if fault == 0 || !TOUCHED.get().is_some_and(|pages| pages.is_first(address)) {
        return 0;
    }
    state.worlds.own_fill(place);
    state.sums.page_faults += u128::from(fault);
    state.sums.faults += 1;
    fault
}

/// Charges an access of host code to the host's own memory; `None` if the platform does not describe it.
pub fn charge(
    state: &mut State,
    (address, bytes, write): (u64, u64, bool),
    chain: Chain,
    spent: i64,
) -> Option<Charged> {
    if state.worlds.busy || !state.worlds.has_own() {
        return None;
    }
    state.worlds.busy = true;
    let place = Layout::own_place(address, &mut state.worlds.pages);
    let fault = first_touch(state, address, place);
    let progress = progress(state, spent);
    let waits = state
        .worlds
        .own_access((place, bytes, write), chain, &progress);
    match waits.is_late {
        // The next access to the line is to be seen, too.
        true => forget(state, address, bytes),
        false => keep(state, address, bytes),
    }
    state.sums.own_memory += u128::from(waits.migrating);
    state.sums.staying_own += u128::from(waits.staying);
    let spare = waits.staying as i64 - waits.before as i64;
    state.sums.spare += i128::from(spare);
    state.worlds.busy = false;
    Some(Charged {
        local: false,
        time: waits.migrating + fault,
        spare,
        marked: false,
    })
}

/// A function of the C library reads or writes a block of the host's own memory: the waiting for all of it.
pub fn charge_block(state: &mut State, address: u64, n: u64, write: bool) -> Charged {
    let mut all = Charged::default();
    if !state.worlds.has_own() || n == 0 {
        return all;
    }
    let mut at = address;
    while at < address + n {
        let end = ((at >> LINE) + 1) << LINE;
        let bytes = end.min(address + n) - at;
        let line = charge(state, (at, bytes, write), Chain::default(), 0).unwrap_or_default();
        all.time += line.time;
        all.spare += line.spare;
        at += bytes;
    }
    all
}

/// For each line of an access: its element of the table, after those of other lines of its set have gone.
fn each(state: &mut State, address: u64, bytes: u64, value: impl Fn(u64) -> u64) {
    let (shift, sets) = state.worlds.own_shape();
    if shift != LINE {
        return;
    }
    let step = (sets as usize).clamp(1, LINE_COUNT);
    let table = lines(state);
    for line in address >> LINE..=(address + bytes.max(1) - 1) >> LINE {
        let index = line as usize % LINE_COUNT;
        for other in (index % step..LINE_COUNT).step_by(step) {
            let new = if other == index {
                value(line << LINE)
            } else {
                0
            };
            // SAFETY: an index of this thread's table.
            unsafe { table.add(other).write(new) };
        }
    }
}

/// The lines of an access are the most recently used ones of their sets.
fn keep(state: &mut State, address: u64, bytes: u64) {
    each(state, address, bytes, |line| line);
}

/// The sets of an access that is not to the host's own memory have other lines now.
pub fn forget(state: &mut State, address: u64, bytes: u64) {
    each(state, address, bytes, |_| 0);
}

/// NxP code begins to run: what the host has computed until then.
pub fn nxp_begins(state: &mut State) {
    if state.worlds.has_own() {
        state.worlds.base = progress(state, 0);
    }
}

/// NxP code has run. With it the host would have used other lines.
pub fn nxp_ends(state: &mut State) {
    if state.worlds.has_own() {
        // SAFETY: this thread's table.
        unsafe { lines(state).write_bytes(0, LINE_COUNT) };
    }
}

/// Adds what the host has found in its own memory to the record.
pub fn count(timed: &mut Timed, state: &State) {
    let Some(setting) = setting::setting().filter(|_| state.worlds.has_own()) else {
        return;
    };
    let levels = state.worlds.own_levels();
    let caches = setting.platform.host.caches.len();
    timed.own_levels.resize(caches + 1, 0);
    for (sum, found) in timed.own_levels.iter_mut().zip(levels.found) {
        *sum += found;
    }
    timed.own_ahead += levels.ahead;
    timed.own_walks += levels.walks;
}
