//! The host's own memory, where the platform describes it: accesses of host code to all memory that is not
//! NxP-local (`docs/timing.md`, "The host's own memory").
//!
//! Instrumented code looks up each access in a table of the thread's (`near_lines.rs`) and calls only if the line is
//! not there.
use std::sync::OnceLock;

use flick_abi::timed::{EITHER_SHIFT, FROM_SHIFT, OWN_SHIFT};
use flick_events::timed::Timed;
use flick_timing::model::{Chain, TouchedPages};
use flick_timing::{Layout, Progress};

use super::near_lines::LINE;
use super::setting;
use super::state::State;
use super::sums::Charged;

/// Whether the code would not have called for this access, if it were not profiled: the models have not seen it
/// either.
pub fn is_seen(state: &mut State, address: u64, bytes: u64, spent: i64) -> bool {
    let at = state.host() as i128 + i128::from(spent);
    let table = &state.lines;
    state.worlds.own_shape().0 == LINE && state.seen.has(table, at, address, bytes)
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
    // Where the core waits for the line, the next access to it is to be seen, too.
    keep(state, (address, bytes, place), !waits.is_late);
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

/// Lines have left the nearest cache, and those of an access are in it.
fn keep(state: &mut State, (address, bytes, place): (u64, u64, u64), is_kept: bool) {
    drop_gone(state);
    if !is_kept || state.worlds.own_shape().0 != LINE {
        return;
    }
    let (first, last) = (address >> LINE, (address + bytes.max(1) - 1) >> LINE);
    for line in first..=last {
        state
            .lines
            .add(line << LINE, (place >> LINE) + (line - first));
    }
}

/// The code calls for lines again that have left the nearest cache.
pub fn drop_gone(state: &mut State) {
    let (worlds, lines) = (&mut state.worlds, &mut state.lines);
    if !worlds.own_gone(|place| lines.remove(place)) {
        lines.clear();
    }
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
        drop_gone(state);
        state.lines.clear();
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
