//! What instrumented host code records in a profile.
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use flick_abi::names::NXP_LIBRARY;
use flick_abi::timed::{CALLS, GROWS, LEAVES, TimedCallee};
use flick_timing::platform::Rule;

use super::super::library;
use super::super::setting::setting;
use super::super::state::State;
use super::super::sums::Charged;
use super::account::{Function, Profile, with};
use super::functions;
use super::shadow_stack::{Seen, What};
use crate::accounts::symbols;
use crate::thread::Current;

/// What the NxP has itself, beside its library.
const HEAP: [&str; 7] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "aligned_alloc",
    "reallocarray",
    "flick_alloc",
];

/// Where the call of the runtime returns that was made with this stack pointer.
///
/// # Safety
/// `above` is the stack pointer of instrumented code before its call.
unsafe fn back(above: usize) -> usize {
    // SAFETY: by contract, the return address is below.
    unsafe { ((above - 8) as *const usize).read() }
}

/// Instrumented code calls, or returns (`why`), and its clock is this.
///
/// # Safety
/// As [`back`].
pub unsafe fn tells(state: &mut State, clock: [i64; 2], why: u64, above: usize) {
    // SAFETY: by contract.
    let back = unsafe { back(above) };
    let depth = Current::depth();
    with(&mut state.profile, |profile| {
        let function = profile.at(back);
        let (host, nxp) = profile.spent(clock);
        let own = profile.own(function);
        own.host += host;
        own.nxp += nxp;
        let what = What {
            returns: why & u64::from(CALLS) == 0,
            grows: why & u64::from(GROWS) != 0,
            leaves: why & u64::from(LEAVES) != 0,
        };
        let caller = match profile.stack.tell((function, above), depth, what) {
            Seen::Known => return,
            Seen::Called(None) => {
                profile.own(function).calls += 1;
                return;
            }
            Seen::Followed(caller) => {
                profile.count(caller, function);
                return;
            }
            Seen::Called(Some(caller)) => caller,
        };
        let pair = (caller, function);
        let between = match profile.between.get(&pair) {
            Some(&between) => between,
            None => {
                let between = profile.between(caller, above);
                profile.between.insert(pair, between);
                between
            }
        };
        match between {
            None => profile.count(caller, function),
            Some(between) => {
                profile.count(caller, between);
                profile.count(between, function);
            }
        }
    });
    // Long before it is full.
    if clock[0] > i64::MAX / 2 {
        state.begin_profile();
    }
}

impl Profile {
    /// What has called the function that records, if it is not instrumented (`qsort`). `caller`:
    /// who is known to be above it.
    fn between(&mut self, caller: u32, above: usize) -> Option<u32> {
        let is_nxp = |(function, &number): (&Function, &u32)| {
            number == caller && matches!(function, Function::Nxp(_))
        };
        if self.numbers.iter().any(is_nxp) {
            return None;
        }
        let back = caller_of(above)?;
        match functions::containing(back - 1) {
            Some(_) => None,
            None => Some(self.number(Function::Library(symbols::caller(back).function))),
        }
    }
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        visit: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

/// Where the function returns to that has called the runtime with this stack pointer.
fn caller_of(above: usize) -> Option<usize> {
    struct Walk {
        above: usize,
        frames: usize,
        back: Option<usize>,
    }
    unsafe extern "C" fn visit(context: *mut c_void, walk: *mut c_void) -> c_int {
        const STOP: c_int = 5;
        // SAFETY: the unwinder's context, and the walk below.
        let (pc, frame, walk) = unsafe {
            let pc = _Unwind_GetIP(context);
            (pc, _Unwind_GetCFA(context), &mut *walk.cast::<Walk>())
        };
        // The unwinder's is where the frame below ends.
        if frame < walk.above {
            return 0;
        }
        walk.frames += 1;
        if walk.frames < 2 {
            return 0;
        }
        walk.back = Some(pc);
        STOP
    }
    let mut walk = Walk {
        above,
        frames: 0,
        back: None,
    };
    // SAFETY: `visit` has the callback's type and gets the walk.
    unsafe { _Unwind_Backtrace(visit, (&raw mut walk).cast()) };
    walk.back
}

/// Host code has accessed memory, which the NxP does in `parts`. `charged`: what that has cost;
/// nothing, in its own memory.
///
/// # Safety
/// As [`back`].
pub unsafe fn accessed(
    state: &mut State,
    (address, bytes, write): (u64, u64, bool),
    parts: u64,
    charged: Option<Charged>,
    above: usize,
) {
    // SAFETY: by contract.
    let back = unsafe { back(above) };
    with(&mut state.profile, |profile| {
        let each = (bytes / parts).max(1);
        let parts = (0..parts).map(|part| address + part * each);
        let there = parts
            .map(|part| profile.on_nxp(part, each, write, above))
            .sum::<u128>();
        let function = profile.at(back);
        let own = profile.own(function);
        own.nxp_memory += there;
        let charged = charged.unwrap_or_default();
        own.host_memory += u128::from(charged.time);
        own.spare += i128::from(charged.spare);
        own.marked += u64::from(charged.marked);
        match charged.local {
            true => own.local += 1,
            false => own.remote += 1,
        }
    });
}

/// Host code has waited for the host's own memory, in a way that the NxP would not: the block of a copy, whose
/// pieces [`accessed`] has, or its own local variables.
///
/// # Safety
/// As [`back`].
pub unsafe fn waited(state: &mut State, charged: Charged, above: usize) {
    if charged.time == 0 && charged.spare == 0 {
        return;
    }
    // SAFETY: by contract.
    let back = unsafe { back(above) };
    with(&mut state.profile, |profile| {
        let function = profile.at(back);
        let own = profile.own(function);
        own.host_memory += u128::from(charged.time);
        own.spare += i128::from(charged.spare);
    });
}

/// Host code has called a function that both sides have.
///
/// # Safety
/// As [`back`].
pub unsafe fn called_local(state: &mut State, (host, nxp): (u64, u64), above: usize) {
    // SAFETY: by contract.
    let back = unsafe { back(above) };
    with(&mut state.profile, |profile| {
        let function = profile.at(back);
        let own = profile.own(function);
        own.host_library += u128::from(host);
        own.nxp_library += u128::from(nxp);
    });
}

/// Host code has called a function that has recorded nothing, and is charged `time` for it.
///
/// # Safety
/// As [`back`]; `callee` is a record of the pass's.
pub unsafe fn called_library(
    state: &mut State,
    callee: &TimedCallee,
    (target, n): (u64, u64),
    time: u64,
    above: usize,
) {
    // SAFETY: by contract.
    let back = unsafe { back(above) };
    with(&mut state.profile, |profile| {
        let key = match callee.name.is_null() {
            true => target,
            false => ptr::from_ref(callee) as u64,
        };
        // SAFETY: the pass's C string, where there is one.
        let (number, rule) = profile.library(key, || unsafe {
            match callee.name.is_null() {
                true => symbols::name_of(target),
                false => CStr::from_ptr(callee.name).to_string_lossy().into_owned(),
            }
        });
        let caller = profile.at(back);
        if let (Some(rule), Some(setting)) = (rule, setting()) {
            let there = library::cost(rule, n, library::Side::Nxp, &setting.platform);
            let own = profile.own(caller);
            own.host_library += u128::from(time);
            own.nxp_library += there;
        } else {
            profile.count(caller, number);
            profile.own(number).host += u128::from(time);
        }
    });
}

impl Profile {
    /// Number of a function without instrumentation, and its rule if the NxP has it, too. `key`:
    /// its address, or of a record that names it; `name` is asked for once.
    pub(super) fn library(
        &mut self,
        key: u64,
        name: impl FnOnce() -> String,
    ) -> (u32, Option<&'static Rule>) {
        if let Some(&known) = self.libraries.get(&key) {
            return known;
        }
        let name = name();
        let on_both = HEAP.contains(&name.as_str()) || NXP_LIBRARY.contains(&name.as_str());
        let rule = setting().filter(|_| on_both);
        let rule = rule.map(|setting| setting.platform.library.rule(&name));
        let known = (self.number(Function::Library(name)), rule);
        self.libraries.insert(key, known);
        known
    }
}
