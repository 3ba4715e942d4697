//! The trace of a timed run (`FLICK_TRACE`): crossings, waits and samples of each thread, in
//! virtual time.
use std::ffi::{c_int, c_void};

use flick_abi::layout::Gate;
use flick_events::timed::Timed;
use flick_events::trace::{How, Parts as TraceParts, Side, What};
use flick_timing::platform::{PARTS, Parts};
use flick_timing::{Sampler, Spent};

use super::hart_lanes;
use super::setting::picoseconds;
use super::state::State;
use super::things::{Thing, number};
use super::tracer::Tracer;
use super::ways_out::{self, CALLER};
use crate::modules;

pub use super::tracer::{enabled, lost};

fn parts(all: &Parts) -> ([(u32, u64); PARTS.len()], usize) {
    let mut named = [(0, 0); PARTS.len()];
    let mut count = 0;
    for (part, time) in all.iter().enumerate().filter(|(_, time)| **time > 0) {
        named[count] = (number(Thing::Part(part)), time / 1000);
        count += 1;
    }
    (named, count)
}

/// The thread goes to the NxP, at `now`, in activation `depth` (from 1).
pub fn enter_nxp(
    state: &mut State,
    now: u128,
    (back, gate): (usize, usize),
    depth: usize,
    cost: &Parts,
) {
    let Some(tracer) = &mut state.tracer else {
        return;
    };
    let ids = (
        number(Thing::Gate(gate)),
        number(Thing::Caller(back as u64)),
    );
    let (named, count) = parts(cost);
    let depth = (2 * depth).saturating_sub(2) as u32;
    let time = picoseconds(now);
    let what = What::Enter {
        side: Side::Nxp,
        function: ids.0,
        site: ids.1,
        depth,
        parts: TraceParts::new(&named[..count]),
    };
    tracer.put(time, what);
    tracer.calls.push(CALLER | back as u64, 0);
    // SAFETY: the record of the gate that was called.
    let image = unsafe { (*(gate as *const Gate)).image };
    tracer.calls.push(image as u64, 0);
}

/// The thread calls the host from activation `depth`.
pub fn enter_host(state: &mut State, now: u128, target: u64, depth: usize, cost: &Parts) {
    let Some(tracer) = &mut state.tracer else {
        return;
    };
    let function = number(Thing::Host(target));
    let (named, count) = parts(cost);
    let depth = (2 * depth).saturating_sub(1) as u32;
    let time = picoseconds(now);
    let what = What::Enter {
        side: Side::Host,
        function,
        site: 0,
        depth,
        parts: TraceParts::new(&named[..count]),
    };
    tracer.put(time, what);
}

/// The thread goes back: to the host from activation `depth`, or to the NxP there.
pub fn leave(state: &mut State, now: u128, to: Side, how: How, depth: usize, cost: &Parts) {
    let Some(tracer) = &mut state.tracer else {
        return;
    };
    let (named, count) = parts(cost);
    let back = if to == Side::Host { 2 } else { 1 };
    let depth = (2 * depth).saturating_sub(back) as u32;
    let time = picoseconds(now);
    let parts = TraceParts::new(&named[..count]);
    tracer.put(time, What::Leave { how, depth, parts });
}

pub fn wait(state: &mut State, now: u128, duration: u64, core: usize) {
    let Some(tracer) = &mut state.tracer else {
        return;
    };
    if duration > 0 {
        let time = picoseconds(now);
        let (duration, core) = (duration / 1000, core as u32);
        tracer.put(time, What::Wait { duration, core });
    }
}

/// What the thread wants has been under way from `now` on, to a hart or to the host; then it has waited for the
/// hart. Femtoseconds.
pub fn way(state: &mut State, now: u128, (way, waited): (u128, u128), hart: Option<u32>) {
    let Some(tracer) = &mut state.tracer else {
        return;
    };
    let time = picoseconds(now);
    let duration = picoseconds(way);
    tracer.put(time, What::Way { duration, hart });
    if let Some(hart) = hart.filter(|_| waited > 0) {
        let time = picoseconds(now + way);
        let (duration, core) = (picoseconds(waited), hart);
        tracer.put(time, What::Wait { duration, core });
    }
}

/// Samples a residency on the NxP.
pub struct ResidencySampler<'a> {
    tracer: &'a mut Option<Tracer>,
    /// Depth of calls below which the residency does not return.
    bottom: usize,
    /// Time that is still to be sampled before the residency began.
    next: u64,
    begin: u128,
}

impl<'a> ResidencySampler<'a> {
    /// The residency begins at `pc`, at the time `begin`.
    pub fn new(tracer: &'a mut Option<Tracer>, begin: u128, pc: u64) -> Self {
        if let Some(tracer) = tracer {
            ways_out::resumes(&mut tracer.calls, pc);
        }
        Self {
            bottom: 0,
            next: tracer.as_ref().map_or(u64::MAX, |tracer| tracer.period),
            begin,
            tracer,
        }
    }

    /// The residency ends: what is left of it belongs to the function that it ends in.
    pub fn end(&mut self, spent: &Spent) {
        let tracer = self.tracer.as_ref();
        let out = tracer.is_some_and(|tracer| ways_out::is_last(&tracer.calls));
        self.take(spent, usize::from(out));
        if let Some(tracer) = &mut *self.tracer {
            tracer.nxp = (0, 0);
        }
    }

    /// Samples without the innermost calls, as many as `without`.
    fn take(&mut self, spent: &Spent, without: usize) {
        let Some(tracer) = &mut *self.tracer else {
            return;
        };
        if tracer.busy {
            return;
        }
        let (migrating, staying) = (spent.migrating(), spent.staying());
        let weight = (migrating - tracer.nxp.0, staying - tracer.nxp.1);
        tracer.nxp = (migrating, staying);
        self.next = migrating + tracer.period;
        if weight.0 == 0 {
            return;
        }
        let mut stack = [0; 64];
        let mut count = 0;
        let calls = tracer.calls.stack(self.bottom).skip(without);
        for (id, entry) in stack.iter_mut().zip(calls) {
            *id = number(match entry & CALLER {
                0 => Thing::Nxp(entry),
                _ => Thing::Caller(entry & !CALLER),
            });
            count += 1;
        }
        let now = self.begin + u128::from(migrating);
        tracer.sample(now, Side::Nxp, weight.0, weight.1, &stack[..count]);
    }
}

impl Sampler for ResidencySampler<'_> {
    const ON: bool = true;

    #[inline]
    fn jump(&mut self, pc: u64, target: u64, spent: &Spent) {
        if spent.migrating() >= self.next {
            self.take(spent, 0);
        }
        if let Some(tracer) = &mut *self.tracer {
            // SAFETY: an instruction that has just been executed.
            unsafe { tracer.calls.jump(pc, target, self.bottom) };
        }
    }
}

/// Host time that the clock does not count has been charged. Samples where enough has come
/// together.
pub fn charged(state: &mut State, time: u64, above: usize) {
    let Some(tracer) = &mut state.tracer else {
        return;
    };
    tracer.pending += time;
    if tracer.pending >= tracer.period {
        sample_host(state, above);
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

struct Walk {
    /// Frames below are the runtime's own.
    above: usize,
    stack: [u32; 64],
    count: usize,
}

/// Samples host code, with what it has spent since it was sampled last. `above`: the stack pointer
/// with which it has called the runtime.
pub fn sample_host(state: &mut State, above: usize) {
    unsafe extern "C" fn visit(context: *mut c_void, walk: *mut c_void) -> c_int {
        const STOP: c_int = 5;
        // SAFETY: the unwinder's context, and the walk below.
        let (pc, frame, walk) = unsafe {
            let pc = _Unwind_GetIP(context);
            (pc, _Unwind_GetCFA(context), &mut *walk.cast::<Walk>())
        };
        // Below `_start` there is nothing.
        if walk.count == walk.stack.len() || pc == 0 {
            return STOP;
        }
        // The unwinder's is where the frame below ends.
        if frame >= walk.above {
            walk.stack[walk.count] = number(if modules::in_image(pc as u64) {
                Thing::Nxp(pc as u64)
            } else {
                Thing::Caller(pc as u64)
            });
            walk.count += 1;
        }
        0
    }
    let (host, now) = (state.host(), state.now());
    let Some(tracer) = &mut state.tracer else {
        return;
    };
    if tracer.busy {
        return;
    }
    let own = u64::try_from(host.saturating_sub(tracer.host)).unwrap_or(u64::MAX);
    let weight = own.saturating_add(std::mem::take(&mut tracer.pending));
    tracer.host = host;
    let mut walk = Walk {
        above,
        stack: [0; 64],
        count: 0,
    };
    // SAFETY: `visit` has the callback's type and gets the walk.
    unsafe { _Unwind_Backtrace(visit, (&raw mut walk).cast()) };
    tracer.sample(now, Side::Host, weight, weight, &walk.stack[..walk.count]);
}

/// The thread of `state` begins at its time now, which is its creator's and may be earlier than
/// what it has recorded.
pub fn begins(state: &mut State) {
    let now = state.now();
    if let Some(tracer) = &mut state.tracer {
        tracer.recorder.restart(std::process::id(), tracer.thread);
        tracer.start(now);
    }
}

/// Names what has a number and writes the totals, at the end of the process. `state`: of the thread
/// that ends it.
pub fn finish(state: &mut State, total: &Timed) {
    let now = picoseconds(state.now());
    hart_lanes::finish(now);
    if let Some(tracer) = &mut state.tracer {
        tracer.finish(now, total);
    }
}
