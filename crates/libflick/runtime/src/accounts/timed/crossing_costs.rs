//! Charges crossings, and keeps the accounts of call sites.
use std::ptr;

use flick_engine::{
    CodeRegion, Control, Core, Exit, Hart, InstructionBudget, LimitedCore, Memory, ProcessCore,
    Unlimited,
};
use flick_events::trace::{How, Side};
use flick_riscv::Insn;
use flick_riscv::register::RA;
use flick_timing::platform::Parts;
use flick_timing::{NoSampler, Sampler, Spent, Timed, Worlds};

use super::clock::clock;
use super::nxp_layout::layout;
use super::own_memory;
use super::profile::crossings;
use super::profile::residency::ResidencyProfiler;
use super::setting::{is_profiled, setting};
use super::state::{self, Frame, State};
use super::tile_cores::{self, HartOfTile};
use super::trace::{self, ResidencySampler};
use super::{library, order, queue, ways_out};
use crate::thread::Current;
use crate::thread::crossing_code;
use crate::thread::entered::Entered;

/// Charges a crossing; the time before it.
fn pay(state: &mut State, parts: &Parts) -> u128 {
    let now = state.now();
    for (sum, part) in state.sums.parts.iter_mut().zip(parts) {
        *sum += u128::from(*part);
    }
    state.sums.crossings += 1;
    now
}

/// The thread comes to an NxP core: in the order of virtual time, so that who comes first is first.
fn take_core(state: &mut State) {
    // The crossing has no return address that says more than its call site's account.
    order::arrive(state, order::Call::new("a crossing", 0));
    state.came = state.now();
}

/// The thread leaves it, and learns how long it had to wait for it, if there are others.
fn leave_core(state: &mut State) {
    // On a card the kernel has let it wait.
    if state::are_several() && !crossing_code::on_card() {
        let femtoseconds = |time: u128| u64::try_from(time).unwrap_or(u64::MAX);
        let residency = state.now().saturating_sub(state.came);
        let (core, wait) = queue::occupy(femtoseconds(state.came), femtoseconds(residency));
        trace::wait(state, state.now(), wait, core);
        state.sums.waiting += u128::from(wait);
    }
    state.publish();
}

/// The frame of the innermost activation.
fn frame(state: &mut State) -> Option<&mut Frame> {
    state.frames.get_mut(Current::depth())
}

/// Where the call returns to that the innermost activation `act` is: to host code, or to NxP code of another
/// tile, for which the owner has called the gate.
fn call_site(state: &State, act: &Entered) -> usize {
    let outer = act.thread().activations().nth(1);
    let calls = outer.and_then(|_| state.frames.get(Current::depth() - 1));
    let is_gate = calls.is_some_and(|frame| frame.target == act.gate().entry as u64);
    // SAFETY: an activation of this thread, which waits for the call.
    let outer = outer.map(|outer| unsafe { &*outer });
    match outer.filter(|outer| is_gate && outer.in_host()) {
        Some(outer) => outer.context.hart.x[RA] as usize,
        None => act.call_site(),
    }
}

/// The host has called the NxP: `act` is the innermost activation.
pub fn called(act: &Entered) {
    let (Some(mut state), Some(setting)) = (state::current(), setting()) else {
        return;
    };
    let state = &mut *state;
    let site = (call_site(state, act), ptr::from_ref(act.gate()) as usize);
    let before = crossings::enter_nxp(state, act.call_site(), act.gate(), Current::depth());
    let new = Frame {
        site,
        times: state.times(),
        crossing: state.sums.crossing(),
        accesses: state.sums.accesses,
        instructions: state.sums.instructions,
        calls: state
            .tracer
            .as_ref()
            .map_or(before, |tracer| tracer.calls.depth()),
        ..Frame::default()
    };
    if let Some(frame) = frame(state) {
        *frame = new;
    }
    let parts = &setting.crossing.host_calls_nxp;
    let now = pay(state, parts);
    trace::enter_nxp(state, now, site, Current::depth(), parts);
    take_core(state);
}

/// The innermost activation's function returns to the host.
pub fn returned() {
    let (Some(mut state), Some(setting)) = (state::current(), setting()) else {
        return;
    };
    let state = &mut *state;
    leave_core(state);
    let parts = &setting.crossing.nxp_returns;
    let now = pay(state, parts);
    trace::leave(state, now, Side::Host, How::Return, Current::depth(), parts);
    state.stir();
    let Some(frame) = frame(state).copied() else {
        return;
    };
    if let Some(tracer) = &mut state.tracer {
        tracer.calls.truncate(frame.calls);
    }
    crossings::leave_nxp(state, frame.calls);
    // A signal handler that comes while the table grows leaves its calls out.
    if state.worlds.busy {
        return;
    }
    state.worlds.busy = true;
    let now = state.times();
    let site = state.sites.entry(frame.site).or_default();
    site.calls += 1;
    site.migrating += now.migrating.saturating_sub(frame.times.migrating);
    site.staying += now.staying.saturating_sub(frame.times.staying);
    site.before += now.before.saturating_sub(frame.times.before);
    site.crossing += state.sums.crossing().saturating_sub(frame.crossing);
    site.accesses += state.sums.accesses.saturating_sub(frame.accesses);
    site.instructions += state.sums.instructions.saturating_sub(frame.instructions);
    state.worlds.busy = false;
}

/// NxP code calls the host function at `target`.
pub fn calls_host(target: u64) {
    let (Some(mut state), Some(setting)) = (state::current(), setting()) else {
        return;
    };
    let state = &mut *state;
    // SAFETY: this thread's clock.
    let clock = unsafe { clock().read() };
    let inside = state.with_calls(ways_out::calls_host).unwrap_or_default();
    // On a card, host functions are the host's.
    let local = !crossing_code::on_card() && library::local(target).is_some();
    if !local {
        leave_core(state);
        let parts = &setting.crossing.nxp_calls_host;
        let now = pay(state, parts);
        trace::enter_host(state, now, target, Current::depth(), parts);
        crossings::enter_host(state, Current::depth());
    }
    if let Some(frame) = frame(state) {
        (frame.target, frame.clock, frame.is_local) = (target, clock, local);
        frame.inside = inside;
    }
}

/// That function has returned to `back`. `registers`: the arguments that it had.
pub fn host_returns(registers: &[u64], back: u64) {
    let Some(mut state) = state::current() else {
        return;
    };
    let state = &mut *state;
    // SAFETY: this thread's clock.
    let clock = unsafe { clock().read() };
    let frame = frame(state).copied().unwrap_or_default();
    let left = |state: &mut State| {
        state.with_calls(|calls| ways_out::host_returns(calls, frame.inside, back));
    };
    if let Some(name) = library::local(frame.target).filter(|_| frame.is_local) {
        library::charge_local(state, name);
        left(state);
        return;
    }
    let quiet = (clock == frame.clock).then(|| {
        let time = library::charge_host_call(state, frame.target, registers);
        (frame.target, time)
    });
    crossings::leave_host(state, Current::depth(), quiet);
    left(state);
    back_to_nxp(state, How::Return);
}

/// An unwinder or `longjmp` has come back to NxP code from the host. `frames`: of the innermost
/// activation now.
pub fn came_back(frames: Option<usize>) {
    if let Some(mut state) = state::current() {
        let state = &mut *state;
        crossings::leave_host(state, Current::depth(), None);
        if let Some(Frame { calls, inside, .. }) = frame(state).copied() {
            // The tracer has the call by the host, too.
            let above = calls + usize::from(state.tracer.is_some());
            let left = frames.map(|frames| above + frames);
            state.with_calls(|calls| ways_out::came_back(calls, inside, left));
        }
        back_to_nxp(state, How::Jump);
    }
}

fn back_to_nxp(state: &mut State, how: How) {
    let Some(setting) = setting() else { return };
    let parts = &setting.crossing.host_returns;
    let now = pay(state, parts);
    trace::leave(state, now, Side::Nxp, how, Current::depth(), parts);
    take_core(state);
}

/// Instructions that are executed, at least, before the time is looked at.
const FEWEST: u64 = 16;

/// Ends a run after some instructions, and in front of atomic accesses and fences where threads are ordered.
struct Pace {
    budget: InstructionBudget,
    stops: bool,
    /// The next one may be executed.
    is_let: bool,
    /// The run has ended in front of one.
    has_come: bool,
}

impl Control for Pace {
    #[inline(always)]
    fn proceed(&mut self, pc: u64) -> bool {
        self.budget.proceed(pc)
    }

    #[inline(always)]
    fn retired(&mut self, pc: u64, insn: Insn) {
        self.budget.retired(pc, insn);
    }

    fn synchronises(&mut self) -> bool {
        self.has_come = self.stops && !std::mem::take(&mut self.is_let);
        !self.has_come
    }
}

/// Code, and the hart of a card that executes it.
type Code<'a> = (&'a CodeRegion, Option<HartOfTile>);

/// Runs `hart` under an observer until it leaves the code, or until the thread's time is `until`, and charges
/// what that has counted: the exit, and how many instructions. Atomic accesses and fences are stated
/// points.
pub fn observe<M: Memory>(
    hart: &mut Hart,
    memory: &M,
    code: Code,
    until: u128,
) -> Option<(Exit, u64)> {
    let mut state = state::current()?;
    let stops = order::is_on();
    if !stops && until == u128::MAX {
        return residency(&mut state, (hart, memory, code), &mut Unlimited, |_, _| {
            true
        });
    }
    let (mut is_let, mut all) = (false, 0);
    let (core, _) = tile_cores::of(tile_of(code))?;
    let cycle = core.cycle;
    loop {
        let within = (until != u128::MAX).then(|| {
            let within = until.saturating_sub(state.now());
            u64::try_from(within).unwrap_or(u64::MAX)
        });
        let mut pace = Pace {
            budget: InstructionBudget { left: 0 },
            stops,
            is_let,
            has_come: false,
        };
        let what = (&mut *hart, memory, code);
        let (exit, instructions) = residency(&mut state, what, &mut pace, |pace, spent| {
            goes_on(pace, within, (cycle, spent))
        })?;
        all += instructions;
        if exit != Exit::Budget || !pace.has_come {
            return Some((exit, all));
        }
        order::arrive(
            &mut state,
            order::Call::new("an atomic access of NxP code", 0),
        );
        is_let = true;
    }
}

fn tile_of((_, hart): Code) -> u16 {
    hart.map_or(0, |hart| hart.tile)
}

/// Whether the run goes on, which has spent so much of what it may on a core with this cycle.
fn goes_on(pace: &mut Pace, within: Option<u64>, (cycle, spent): (f64, &Spent)) -> bool {
    let left = within.map_or(u64::MAX, |within| within.saturating_sub(spent.migrating()));
    // What instructions take is known behind them.
    let instructions = (left as f64 / cycle) as u64 / FEWEST;
    pace.budget.left = instructions.max(FEWEST);
    left > 0 && !pace.has_come
}

/// Runs `hart` as long as `goes_on` says before each part.
fn residency<M: Memory, K: Control>(
    state: &mut State,
    what: (&mut Hart, &M, Code),
    control: &mut K,
    goes_on: impl FnMut(&mut K, &Spent) -> bool,
) -> Option<(Exit, u64)> {
    let (pc, now) = (what.0.pc, state.now());
    let tile = tile_of(what.2);
    tile_cores::teach(&mut state.worlds);
    own_memory::nxp_begins(state);
    let State {
        worlds,
        tracer,
        profile,
        ..
    } = state;
    let control = (control, goes_on);
    let (exit, spent) = if is_profiled() {
        let sampler = ResidencyProfiler::new(profile, pc);
        sampled(what, worlds, control, sampler, ResidencyProfiler::end)
    } else if trace::enabled() {
        let sampler = ResidencySampler::new(tracer, now, pc);
        sampled(what, worlds, control, sampler, ResidencySampler::end)
    } else {
        sampled(what, worlds, control, NoSampler, |_, _| {})
    }?;
    state.sums.spend(&spent, tile);
    own_memory::nxp_ends(state);
    Some((exit, spent.instructions))
}

/// The same, under a sampler, and what that does at the end.
fn sampled<M: Memory, K: Control, S: Sampler>(
    (hart, memory, (code, on)): (&mut Hart, &M, Code),
    worlds: &mut Worlds,
    how: (&mut K, impl FnMut(&mut K, &Spent) -> bool),
    sampler: S,
    end: impl FnOnce(&mut S, &Spent),
) -> Option<(Exit, Spent)> {
    let tile = tile_of((code, on));
    let (core, costs) = tile_cores::of(tile)?;
    // SAFETY: they are borrowed for as long as the observer lives.
    let mut observer = unsafe { Timed::new((tile, costs), worlds, layout(Some(code)), sampler) };
    let process = ProcessCore::counting(memory, code);
    let exit = match on {
        None => run_on(process, hart, &mut observer, how),
        Some(on) => {
            let limited = LimitedCore::new(process, core.with_emulation(on.isa));
            run_on(limited, hart, &mut observer, how)
        }
    };
    let spent = observer.spent;
    end(observer.sampler(), &spent);
    Some((exit, spent))
}

/// Runs on a core as long as the run goes on.
fn run_on<K: Control, S: Sampler>(
    mut core: impl Core,
    hart: &mut Hart,
    observer: &mut Timed<'_, S>,
    (control, mut goes_on): (&mut K, impl FnMut(&mut K, &Spent) -> bool),
) -> Exit {
    let mut exit = Exit::Budget;
    while exit == Exit::Budget && goes_on(control, &observer.spent) {
        exit = flick_engine::run(hart, &mut core, observer, control);
    }
    exit
}
