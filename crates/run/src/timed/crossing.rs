//! Charges crossings, and keeps the accounts of call sites.
use flick_timing::platform::Parts;
use flick_timing::{Layout, Timed};

use super::state::{self, DEEPEST, Frame, State};
use super::{layout, library, queue, setting};
use crate::activation::{self, Activation};
use crate::thread::Thread;

fn pay(state: &mut State, parts: &Parts) {
    for (sum, part) in state.sums.parts.iter_mut().zip(parts) {
        *sum += u128::from(*part);
    }
    state.sums.crossings += 1;
}

/// The thread takes an NxP core, and waits for it.
fn take_core(state: &mut State) {
    let now = u64::try_from(state.now()).unwrap_or(u64::MAX);
    let (core, wait) = queue::take(now);
    state.core = core;
    state.sums.waiting += u128::from(wait);
    queue::leave(core, now + wait);
}

fn leave_core(state: &mut State) {
    queue::leave(state.core, u64::try_from(state.now()).unwrap_or(u64::MAX));
    state.publish();
}

/// The frame of the thread's innermost activation.
fn frame(state: &mut State) -> Option<&mut Frame> {
    // SAFETY: this thread has crossed.
    let depth = unsafe { (*Thread::current_or_null()).active.depth() };
    state
        .frames
        .get_mut(depth % DEEPEST)
        .filter(|_| depth < DEEPEST)
}

/// The host has called the NxP: `act` is the innermost activation.
///
/// # Safety
/// `act` is the frame of a crossing.
pub unsafe fn called(act: *const Activation) {
    let (state, Some(setting)) = (state::current(), setting()) else {
        return;
    };
    // SAFETY: this thread's state; the crossing's frame: rbp and the return address are above the activation.
    let (state, site) = unsafe {
        let back = act
            .cast::<u8>()
            .add(activation::SIZE + 8)
            .cast::<usize>()
            .read();
        (&mut *state, (back, (*act).gate as usize))
    };
    let new = Frame {
        site,
        migrating: state.now(),
        staying: state.now_staying(),
        crossing: state.sums.crossing(),
        accesses: state.sums.accesses,
        instructions: state.sums.instructions,
        ..Frame::default()
    };
    if let Some(frame) = frame(state) {
        *frame = new;
    }
    pay(state, &setting.platform.crossing.host_calls_nxp);
    take_core(state);
}

/// The innermost activation's function returns to the host.
pub fn returned() {
    let (state, Some(setting)) = (state::current(), setting()) else {
        return;
    };
    // SAFETY: this thread's.
    let state = unsafe { &mut *state };
    leave_core(state);
    pay(state, &setting.platform.crossing.nxp_returns);
    state.stir();
    let Some(frame) = frame(state).copied() else {
        return;
    };
    // A signal handler that comes while the table grows leaves its calls out.
    if state.worlds.busy {
        return;
    }
    state.worlds.busy = true;
    let (migrating, staying) = (state.now(), state.now_staying());
    let site = state.sites.entry(frame.site).or_default();
    site.calls += 1;
    site.migrating += migrating.saturating_sub(frame.migrating);
    site.staying += staying.saturating_sub(frame.staying);
    site.crossing += state.sums.crossing().saturating_sub(frame.crossing);
    site.accesses += state.sums.accesses.saturating_sub(frame.accesses);
    site.instructions += state.sums.instructions.saturating_sub(frame.instructions);
    state.worlds.busy = false;
}

/// NxP code calls the host function at `target`.
pub fn calls_host(target: u64) {
    let (state, Some(setting)) = (state::current(), setting()) else {
        return;
    };
    // SAFETY: this thread's state and clock.
    let (state, clock) = unsafe { (&mut *state, state::clock().read()) };
    let local = library::local(target).is_some();
    if !local {
        leave_core(state);
        pay(state, &setting.platform.crossing.nxp_calls_host);
    }
    if let Some(frame) = frame(state) {
        (frame.target, frame.clock, frame.is_local) = (target, clock, local);
    }
}

/// That function has returned. `registers`: the arguments that it had.
pub fn host_returns(registers: &[u64]) {
    let (state, Some(setting)) = (state::current(), setting()) else {
        return;
    };
    // SAFETY: this thread's state and clock.
    let (state, clock) = unsafe { (&mut *state, state::clock().read()) };
    let Some(frame) = frame(state).copied() else {
        pay(state, &setting.platform.crossing.host_returns);
        return;
    };
    if let Some(name) = library::local(frame.target).filter(|_| frame.is_local) {
        library::charge_local(state, name);
        return;
    }
    if clock == frame.clock {
        library::charge_host_call(state, frame.target, registers);
    }
    pay(state, &setting.platform.crossing.host_returns);
    take_core(state);
}

/// An unwinder or `longjmp` has come back to NxP code from the host.
pub fn came_back() {
    let (state, Some(setting)) = (state::current(), setting()) else {
        return;
    };
    // SAFETY: this thread's.
    let state = unsafe { &mut *state };
    pay(state, &setting.platform.crossing.host_returns);
    take_core(state);
}

/// Runs `stay` under an observer, and charges what that has counted.
pub fn observe<R>(stay: impl FnOnce(&mut Timed<'_>) -> R) -> Option<(R, u64)> {
    let setting = setting()?;
    let state = state::current();
    let layout: Layout = layout();
    // SAFETY: this thread's state; it lives as long as the process.
    let mut observer = unsafe { Timed::new(&setting.costs, &raw mut (*state).worlds, layout) };
    let result = stay(&mut observer);
    // SAFETY: as above.
    unsafe { (*state).sums.spend(&observer.spent) };
    Some((result, observer.spent.instructions))
}
