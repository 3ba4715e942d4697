//! The trace of a timed run (`FLICK_TRACE`): crossings, waits and samples of each thread, in virtual time.
use std::ffi::{OsStr, c_int, c_void};
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};

use flick_abi::layout::Gate;
use flick_events::timed::Timed;
use flick_events::trace::{self, Encoder, How, Side};
use flick_timing::platform::{PARTS, Parts};
use flick_timing::{Calls, Sampler, Spent};

use super::state::State;
use super::things::{self, Thing, number};
use super::{picoseconds, profile};
use crate::memory::region::{last_errno, set_errno};
use crate::{fatal, modules, stats};

/// The file; -1: no trace is wanted.
static FILE: AtomicI32 = AtomicI32::new(-1);

pub fn enabled() -> bool {
    FILE.load(Relaxed) >= 0
}

/// Opens the trace. Call once, before threads have states.
pub fn init(path: &OsStr) {
    let mut name = path.as_bytes().to_vec();
    name.push(0);
    let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC;
    // SAFETY: a C string.
    let file: RawFd = unsafe { libc::open(name.as_ptr().cast(), flags, 0o666) };
    if file < 0 {
        fatal::warn(
            "FLK0105",
            &format!(
                "the trace cannot be written: {}: {}",
                Path::new(path).display(),
                std::io::Error::last_os_error()
            ),
            "name a file that can be written in FLICK_TRACE",
        );
        return;
    }
    FILE.store(file, Relaxed);
    begin();
}

fn begin() {
    if let Some(setting) = super::setting() {
        let platform = setting.platform.name.as_bytes();
        let program = stats::program();
        write(&trace::process_block(
            std::process::id(),
            program.as_bytes(),
            platform,
        ));
    }
}

/// errno of the write that failed; 0: none has.
static LOST: AtomicI32 = AtomicI32::new(0);

/// Why the trace is not whole, if it is not.
pub fn lost() -> Option<String> {
    let errno = LOST.load(Relaxed);
    (errno != 0).then(|| std::io::Error::from_raw_os_error(errno).to_string())
}

/// One block by one write, so that those of several threads do not mix. What follows one that had no room
/// is not written: nobody could read it.
fn write(block: &[u8]) {
    let file = FILE.load(Relaxed);
    if file < 0 || LOST.load(Relaxed) != 0 {
        return;
    }
    // The program may be between a failure and its look at it.
    let before = last_errno();
    if let Err(errno) = fatal::write_all(file, block)
        && LOST.swap(errno, Relaxed) == 0
    {
        let remedy = "make room, or name a file elsewhere (flick record -o, FLICK_TRACE)";
        fatal::cannot_write("the trace", errno, remedy);
    }
    set_errno(before);
}

/// Samples of one thread after which they become half as frequent.
const MANY: u64 = 1 << 12;
/// The first period in femtoseconds.
const PERIOD: u64 = 10_000_000_000;
const BUFFER: usize = 64 << 10;

/// A thread's part of the trace.
pub struct Tracer {
    encoder: Encoder<'static>,
    /// Its number in the trace.
    thread: u32,
    /// The NxP functions that the thread is in, and the host functions that have called them.
    pub calls: Calls,
    /// Femtoseconds between two samples of a side.
    pub period: u64,
    samples: u64,
    /// Host time that no sample stands for yet: of libraries and accesses, which the clock does not count.
    pending: u64,
    /// The clock, and NxP time of both worlds, at the last sample.
    host: u128,
    nxp: (u64, u64),
    busy: bool,
}

impl Tracer {
    /// Of the calling thread, whose time is `now`; `None` where no trace is wanted.
    pub fn new(now: u128) -> Option<Self> {
        if !enabled() || profile::enabled() {
            return None;
        }
        static THREADS: AtomicU32 = AtomicU32::new(1);
        let buffer = Box::leak(vec![0; BUFFER].into_boxed_slice());
        let thread = THREADS.fetch_add(1, Relaxed);
        let mut tracer = Self {
            encoder: Encoder::new(buffer, std::process::id(), thread),
            thread,
            calls: Calls::default(),
            period: PERIOD,
            samples: 0,
            pending: 0,
            host: 0,
            nxp: (0, 0),
            busy: false,
        };
        tracer.start(now);
        Some(tracer)
    }

    fn start(&mut self, now: u128) {
        let name = if self.thread == 1 {
            "main".to_owned()
        } else {
            format!("thread {}", self.thread)
        };
        self.put(|encoder| encoder.thread_start(picoseconds(now), name.as_bytes()));
    }

    fn put(&mut self, event: impl Fn(&mut Encoder<'static>) -> bool) {
        if !std::mem::replace(&mut self.busy, true) {
            self.encoder.with(write, event);
            self.busy = false;
        }
    }

    fn sample(&mut self, now: u128, side: Side, weight: u64, staying: u64, stack: &[u32]) {
        let time = picoseconds(now);
        self.put(|encoder| encoder.sample(time, side, weight, staying, stack));
        self.samples += 1;
        if self.samples.is_multiple_of(MANY) {
            self.period *= 2;
        }
    }

    fn flush(&mut self) {
        if !self.busy {
            self.encoder.flush(write);
        }
    }
}

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
    tracer.put(|encoder| encoder.enter(time, Side::Nxp, ids, depth, &named[..count]));
    tracer.calls.push(CALLER | back as u64, 0);
    // SAFETY: the record of the gate that was called.
    let image = unsafe { (*(gate as *const Gate)).image };
    tracer.calls.push(image as u64, 0);
}

/// Entries of [`Calls`] that are the host's: beyond the addresses of a process.
const CALLER: u64 = 1 << 63;

/// The thread calls the host from activation `depth`.
pub fn enter_host(state: &mut State, now: u128, target: u64, depth: usize, cost: &Parts) {
    let Some(tracer) = &mut state.tracer else {
        return;
    };
    let ids = (number(Thing::Host(target)), 0);
    let (named, count) = parts(cost);
    let depth = (2 * depth).saturating_sub(1) as u32;
    let time = picoseconds(now);
    tracer.put(|encoder| encoder.enter(time, Side::Host, ids, depth, &named[..count]));
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
    tracer.put(|encoder| encoder.leave(time, how, depth, &named[..count]));
}

pub fn wait(state: &mut State, now: u128, duration: u64, core: usize) {
    let Some(tracer) = &mut state.tracer else {
        return;
    };
    if duration > 0 {
        let time = picoseconds(now);
        tracer.put(|encoder| encoder.wait(time, duration / 1000, core as u32));
    }
}

/// Samples a stay on the NxP.
pub struct StaySampler {
    state: *mut State,
    /// Depth of calls below which the stay does not return.
    bottom: usize,
    /// Time that is still to be sampled before the stay began.
    next: u64,
    begin: u128,
}

impl StaySampler {
    /// # Safety
    /// `state` is the calling thread's.
    pub unsafe fn new(state: *mut State) -> Self {
        // SAFETY: by contract.
        unsafe {
            Self {
                state,
                bottom: 0,
                next: (*state)
                    .tracer
                    .as_ref()
                    .map_or(u64::MAX, |tracer| tracer.period),
                begin: (*state).now(),
            }
        }
    }

    /// The stay ends: what is left of it belongs to the function that it ends in.
    pub fn end(&mut self, spent: &Spent) {
        self.take(spent);
        // SAFETY: as in `new`.
        if let Some(tracer) = unsafe { &mut (*self.state).tracer } {
            tracer.nxp = (0, 0);
        }
    }

    fn take(&mut self, spent: &Spent) {
        // SAFETY: as in `new`.
        let Some(tracer) = (unsafe { &mut (*self.state).tracer }) else {
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
        for (id, entry) in stack.iter_mut().zip(tracer.calls.stack(self.bottom)) {
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

impl Sampler for StaySampler {
    const ON: bool = true;

    #[inline]
    fn jump(&mut self, pc: u64, target: u64, spent: &Spent) {
        if spent.migrating() >= self.next {
            self.take(spent);
        }
        // SAFETY: this thread's state, and an instruction that has just been executed.
        unsafe {
            if let Some(tracer) = &mut (*self.state).tracer {
                tracer.calls.jump(pc, target, self.bottom);
            }
        }
    }
}

/// Host time that the clock does not count has been charged. Samples where enough has come together.
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

/// Samples host code, with what it has spent since it was sampled last. `above`: the stack pointer with which it has
/// called the runtime.
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

/// The thread of `state` begins at its time now, which is its creator's and may be earlier than what it has told.
pub fn begins(state: &mut State) {
    let now = state.now();
    if let Some(tracer) = &mut state.tracer {
        tracer.encoder.restart(std::process::id(), tracer.thread);
        tracer.start(now);
    }
}

/// The thread of `state` ends at `now`.
pub fn thread_ends(state: &mut State, now: u128) {
    if let Some(tracer) = &mut state.tracer {
        tracer.put(|encoder| encoder.thread_end(picoseconds(now)));
        tracer.flush();
    }
}

/// The child of a fork is another process.
pub fn forked(state: &mut State) {
    if let Some(tracer) = &mut state.tracer {
        begin();
        tracer.thread = 1;
        tracer.encoder.restart(std::process::id(), 1);
        tracer.busy = false;
    }
}

/// Names what has a number and writes the totals, at the end of the process. `state`: of the thread that ends it.
pub fn finish(state: &mut State, total: &Timed) {
    let now = picoseconds(state.now());
    let Some(tracer) = &mut state.tracer else {
        return;
    };
    for (thing, id) in things::take() {
        let name = things::name(thing);
        tracer
            .put(|encoder| encoder.name(id, name.text.as_bytes(), name.file.as_bytes(), name.line));
    }
    tracer.put(|encoder| encoder.thread_end(now));
    tracer.flush();
    write(&trace::prediction_block(std::process::id(), total));
}
