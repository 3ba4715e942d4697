//! Code without instrumentation, charged by name and length (`platforms/library.toml`).
use std::collections::HashMap;
use std::ffi::CStr;
use std::ptr;
use std::sync::{Mutex, OnceLock};

use flick_abi::timed::TimedCallee;
use flick_timing::Platform;
use flick_timing::platform::Rule;

use super::profile::crossings;
use super::setting::{Setting, setting};
use super::state::State;
use crate::accounts::symbols;
use crate::heap::exports;
use crate::locks::bounded;

/// Who runs the code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Host,
    Nxp,
}

/// Femtoseconds on a core of that side.
pub fn cost(rule: &Rule, n: u64, side: Side, platform: &Platform) -> u128 {
    let time = match side {
        Side::Host => rule.host_cycles(n as f64) * platform.host.cycle,
        Side::Nxp => rule.nxp_cycles(n as f64) * platform.nxp.cycle,
    };
    time.round() as u128 + u128::from(rule.time) * u128::from(n)
}

/// The length that a rule counts: `n`, or what it points to.
fn length(rule: &Rule, n: u64) -> u64 {
    if !rule.timespec {
        return n;
    }
    let request = n as *const libc::timespec;
    if request.is_null() {
        return 0;
    }
    // SAFETY: the program has just passed it to the function, which reads it.
    let request = unsafe { request.read_unaligned() };
    (request.tv_sec as u64)
        .saturating_mul(1_000_000_000)
        .saturating_add(request.tv_nsec as u64)
}

/// What it costs on that side.
fn charge(state: &mut State, rule: &Rule, n: u64, side: Side) -> u64 {
    let Some(setting) = setting() else { return 0 };
    let n = match rule.time {
        0 => length(rule, n),
        _ => match state.forgive() {
            // Its sleep is charged already: signals could end it.
            Some(0) => 0,
            // Not until a moment, which the argument may be.
            Some(slept) if rule.timespec => u64::try_from(slept / 1_000_000).unwrap_or(u64::MAX),
            _ => length(rule, n),
        },
    };
    let host = cost(rule, n, Side::Host, &setting.platform);
    state.sums.staying_library += host;
    state.asleep += u128::from(rule.time) * u128::from(n);
    let (sum, time) = match side {
        Side::Host => (&mut state.sums.host_library, host),
        Side::Nxp => {
            let time = cost(rule, n, side, &setting.platform);
            (&mut state.sums.nxp_library, time)
        }
    };
    *sum += time;
    u64::try_from(time).unwrap_or(u64::MAX)
}

/// On the host; what it costs there, and what it would on the NxP.
pub fn charge_by_name(state: &mut State, name: &str, n: u64) -> (u64, u64) {
    let Some(setting) = setting() else {
        return (0, 0);
    };
    let rule = setting.platform.library.rule(name);
    let there = cost(rule, length(rule, n), Side::Nxp, &setting.platform);
    let time = charge(state, rule, n, Side::Host);
    (time, u64::try_from(there).unwrap_or(u64::MAX))
}

/// Host code has called `target`, which has recorded nothing. A rule found once is kept in the
/// callee's record.
pub fn charge_call(state: &mut State, callee: &mut TimedCallee, n: u64, target: u64) -> u64 {
    let Some(setting) = setting() else { return 0 };
    if callee.name.is_null() {
        return charge(state, by_address(setting, target), n, Side::Host);
    }
    if callee.state == 0 {
        // SAFETY: the pass's C string.
        let name = unsafe { CStr::from_ptr(callee.name) }.to_string_lossy();
        callee.state = ptr::from_ref(setting.platform.library.rule(&name)) as u64;
    }
    // SAFETY: a rule of the setting's, which lives as long as the process.
    let rule = unsafe { &*(callee.state as *const Rule) };
    charge(state, rule, n, Side::Host)
}

/// NxP code has called the host function at `target`, which has recorded nothing.
pub fn charge_host_call(state: &mut State, target: u64, registers: &[u64]) -> u64 {
    let Some(setting) = setting() else { return 0 };
    let rule = by_address(setting, target);
    let n = rule.argument.and_then(|argument| registers.get(argument));
    charge(state, rule, n.copied().unwrap_or(0), Side::Host)
}

/// The rule for the function at `target`.
fn by_address(setting: &'static Setting, target: u64) -> &'static Rule {
    static KNOWN: Mutex<Option<HashMap<u64, &'static Rule>>> = Mutex::new(None);
    // A signal handler that interrupts this takes the rule for others.
    let Some(mut known) = bounded::lock(&KNOWN) else {
        return &setting.platform.library.other;
    };
    known
        .get_or_insert_default()
        .entry(target)
        .or_insert_with(|| setting.platform.library.rule(&symbols::name_of(target)))
}

/// What NxP code calls without leaving the NxP: the heap, which a device has there. Its name for
/// the rules.
pub fn local(target: u64) -> Option<&'static str> {
    static HEAP: OnceLock<[(u64, &str); 7]> = OnceLock::new();
    let heap = HEAP.get_or_init(|| {
        [
            (exports::__flick_heap_malloc as *const () as u64, "malloc"),
            (exports::__flick_heap_calloc as *const () as u64, "calloc"),
            (exports::__flick_heap_realloc as *const () as u64, "realloc"),
            (
                exports::__flick_heap_reallocarray as *const () as u64,
                "realloc",
            ),
            (exports::__flick_heap_free as *const () as u64, "free"),
            (
                exports::__flick_heap_memalign as *const () as u64,
                "aligned_alloc",
            ),
            (exports::flick_alloc as *const () as u64, "malloc"),
        ]
    });
    heap.iter()
        .find(|(address, _)| *address == target)
        .map(|(_, name)| *name)
}

/// NxP code has called what `local` has named.
pub fn charge_local(state: &mut State, name: &str) {
    if let Some(setting) = setting() {
        let rule = setting.platform.library.rule(name);
        let time = charge(state, rule, 0, Side::Nxp);
        let there = cost(rule, 0, Side::Host, &setting.platform);
        let there = u64::try_from(there).unwrap_or(u64::MAX);
        crossings::called_heap(state, name != "free", there, time);
    }
}
