//! The accounts of a thread.
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::*};

use flick_timing::{Calls, Worlds};

use super::branch_table;
use super::clock::{START, clock};
use super::near_lines::NearLines;
use super::profile::account::{self, Profile};
use super::seen_lines::Seen;
use super::setting::{Setting, is_profiled, setting};
use super::sites::{Key, Sites};
use super::sums::{Sums, Times, Wait};
use super::tile_cores;
use super::tracer::Tracer;
use super::ways_out::Inside;
use crate::os::signal_mask::BlockedSignals;
use crate::os::thread_clock::own_tid;

/// An activation, as its call site's account needs it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    pub site: Key,
    pub times: Times,
    pub crossing: u128,
    pub accesses: u64,
    pub instructions: u64,
    /// Of the tracer or the profile, before.
    pub calls: usize,
    /// Of the tracer or the profile, when the host was called.
    pub inside: Inside,
    /// The host call that is due: its target and the clock at its beginning.
    pub target: u64,
    pub clock: i64,
    /// The NxP's own: no crossing is charged.
    pub is_local: bool,
}

pub struct State {
    pub worlds: Worlds,
    /// Of a profile, where the platform describes the host's own memory.
    pub seen: Seen,
    /// The lines that its code need not tell of.
    pub lines: &'static mut NearLines,
    pub sums: Sums,
    /// Host code's time is this and the clock.
    pub host_base: i128,
    /// Its loads and stores are this and the clock's other part, where that is not the NxP's time
    /// (in profiles).
    operations_base: i64,
    /// The program's times when the thread began.
    start: Times,
    /// By depth of activations.
    pub frames: Box<[Frame]>,
    pub sites: Sites,
    /// Where a trace is written.
    pub tracer: Option<Tracer>,
    pub profile: Option<Box<Profile>>,
    /// When the thread has come to the NxP core that it is on.
    pub came: u128,
    /// Sleep that no rule has charged yet: the caller's charge replaces it.
    owed: Option<u128>,
    /// The thread's clock; null when the thread has ended.
    clock: Cell<*mut i64>,
    /// What rules have charged for sleeping. Femtoseconds.
    pub asleep: u128,
    /// The kernel's number of the thread.
    tid: c_int,
    next: *mut State,
}

/// Deeper calls are charged, and missing in the table of call sites.
pub const DEEPEST: usize = 1 << 12;

/// All states, newest first; none is ever freed.
static STATES: AtomicPtr<State> = AtomicPtr::new(ptr::null_mut());

/// The latest time that any thread has recorded: where new threads begin. Femtoseconds, as far as
/// they fit.
static LATEST: AtomicU64 = AtomicU64::new(0);

/// What is done when a thread ends, before its account is closed. It comes from above: the order of
/// threads uses their accounts.
static BEFORE_END: OnceLock<fn(&Own)> = OnceLock::new();

/// Before the first thread has an account.
pub fn before_end(what: fn(&Own)) {
    // A second call would have the same function.
    let _ = BEFORE_END.set(what);
}

thread_local! {
    static STATE: Cell<*mut State> = const { Cell::new(ptr::null_mut()) };
}

impl State {
    /// Host code's own time. Femtoseconds.
    pub fn host(&self) -> u128 {
        let clock = self.clock.get();
        let clock = if clock.is_null() {
            0
        } else {
            // SAFETY: the clock of a thread that lives.
            unsafe { clock.read_volatile() }
        };
        u128::try_from(self.host_base + i128::from(clock)).unwrap_or(0)
    }

    /// Whether the thread has ended.
    pub fn has_ended(&self) -> bool {
        self.clock.get().is_null()
    }

    /// The kernel's number of the thread.
    pub fn tid(&self) -> c_int {
        self.tid
    }

    /// What the thread has spent on processors: without what it has waited and slept. Femtoseconds.
    pub fn processor(&self) -> u128 {
        (self.host() + self.sums.spent()).saturating_sub(self.asleep)
    }

    /// Loads and stores of host code; not in a profile.
    pub fn operations(&self) -> u64 {
        let clock = self.clock.get();
        let counted = match clock.is_null() || self.profile.is_some() {
            true => 0,
            // SAFETY: the clock of a thread that lives.
            false => unsafe { clock.add(1).read_volatile() },
        };
        u64::try_from(self.operations_base + counted).unwrap_or(0)
    }

    /// The thread's time, migrating, since the program began.
    pub fn now(&self) -> u128 {
        self.start.migrating + self.host() + self.sums.migrating() + self.owed()
    }

    /// The thread's times.
    pub fn times(&self) -> Times {
        Times {
            migrating: self.now(),
            staying: self.start.staying + self.host() + self.sums.staying() + self.owed(),
            before: self.start.before + self.host() + self.sums.before() + self.owed(),
        }
    }

    /// The thread has begun at these times, whatever it has spent until now.
    pub fn begin_at(&mut self, times: Times) {
        self.start = Times::default();
        let own = self.times();
        self.start = Times {
            migrating: times.migrating.saturating_sub(own.migrating),
            staying: times.staying.saturating_sub(own.staying),
            before: times.before.saturating_sub(own.before),
        };
    }

    /// The thread has slept so long. Who has called it charges that by rule, if he counts.
    pub fn slept(&mut self, time: u128) {
        self.settle();
        self.owed = Some(time);
    }

    fn owed(&self) -> u128 {
        self.owed.unwrap_or(0)
    }

    /// A rule charges the sleep: how long it was, if it was virtual.
    pub fn forgive(&mut self) -> Option<u128> {
        self.owed.take()
    }

    /// Nobody has charged the sleep: it is.
    pub fn settle(&mut self) {
        let owed = Times::of(self.owed.take().unwrap_or(0));
        self.sums.waits[Wait::Sleep as usize].add(&owed);
    }

    /// The thread has waited until `times`, in each world.
    pub fn catch_up(&mut self, wait: Wait, times: &Times) {
        let left = self.times().until(times);
        self.sums.waits[wait as usize].add(&left);
    }

    /// Changes the clock and no time: the code that reads it learns that it has called code that
    /// counts.
    pub fn stir(&mut self) {
        // SAFETY: this thread's clock.
        unsafe { *clock() += 1 };
        self.host_base -= 1;
    }

    /// The clock becomes positive after `period` femtoseconds more.
    pub fn wind(&mut self, period: u64) {
        let period = i64::try_from(period).unwrap_or(i64::MAX / 2);
        // SAFETY: this thread's clock.
        unsafe {
            let clock = clock();
            let step = clock.read().saturating_add(period);
            clock.write(-period);
            self.host_base += i128::from(step);
        }
    }

    /// Changes the NxP's calls in the trace or the profile, if there is one.
    pub fn with_calls<R>(&mut self, change: impl FnOnce(&mut Calls) -> R) -> Option<R> {
        match &mut self.tracer {
            Some(tracer) => Some(change(&mut tracer.calls)),
            None => account::with(&mut self.profile, |profile| change(&mut profile.calls)),
        }
    }

    /// Makes the thread's clock one at which a profile records all.
    pub fn begin_profile(&mut self) {
        let host = self.host() as i128;
        if let Some(profile) = &mut self.profile {
            profile.last = [0; 2];
            // SAFETY: this thread's clock.
            unsafe {
                clock().write(0);
                clock().add(1).write(0);
            }
            self.host_base = host;
        }
    }

    /// Records this thread's time for other threads.
    pub fn publish(&self) {
        LATEST.fetch_max(u64::try_from(self.now()).unwrap_or(u64::MAX), Relaxed);
    }
}

/// The calling thread's state. A hook takes it once, and passes references on to the functions that
/// it calls, which take none themselves.
pub struct Own(NonNull<State>);

impl Own {
    pub fn as_ptr(&self) -> *mut State {
        self.0.as_ptr()
    }
}

impl Deref for Own {
    type Target = State;

    #[inline]
    fn deref(&self) -> &State {
        // SAFETY: states are never freed. Other threads only read this one.
        unsafe { self.0.as_ref() }
    }
}

impl DerefMut for Own {
    #[inline]
    fn deref_mut(&mut self) -> &mut State {
        // SAFETY: as above; this thread has no other reference, as the type says.
        unsafe { self.0.as_mut() }
    }
}

/// The calling thread's state, made if it has none. `None` where the process is not timed.
#[inline]
pub fn current() -> Option<Own> {
    NonNull::new(STATE.get()).map(Own).or_else(create)
}

/// The calling thread's state, if it has one: a thread that ends gets none any more.
pub fn if_any() -> Option<Own> {
    NonNull::new(STATE.get()).map(Own)
}

#[cold]
fn create() -> Option<Own> {
    setting().map(create_with)
}

/// Its frame is large, and runs without accounts cross in handlers on small stacks.
#[inline(never)]
fn create_with(setting: &'static Setting) -> Own {
    let _blocked = BlockedSignals::new();
    let clock = clock();
    let latest = u128::from(LATEST.load(Relaxed));
    let mut worlds = Worlds::new(&setting.platform);
    tile_cores::teach(&mut worlds);
    let lines = NearLines::of_thread(worlds.has_own() && !is_profiled());
    let state = Box::leak(Box::new(State {
        worlds,
        seen: Seen::default(),
        lines,
        sums: Sums::default(),
        host_base: -i128::from(START),
        operations_base: 0,
        start: Times {
            migrating: latest,
            staying: latest,
            before: latest,
        },
        frames: vec![Frame::default(); DEEPEST].into_boxed_slice(),
        sites: Sites::new(),
        tracer: None,
        profile: Profile::new(),
        came: 0,
        owed: None,
        clock: Cell::new(clock),
        asleep: 0,
        tid: own_tid(),
        next: ptr::null_mut(),
    }));
    branch_table::begin(setting.platform.host.mispredict);
    state.next = STATES.load(Acquire);
    while let Err(newer) = STATES.compare_exchange(state.next, state, Release, Acquire) {
        state.next = newer;
    }
    let mut state = Own(NonNull::from(state));
    STATE.set(state.as_ptr());
    state.begin_profile();
    state.tracer = Tracer::new(state.now());
    let period = state.tracer.as_ref().map(|tracer| tracer.period);
    if let Some(period) = period {
        state.wind(period);
    }
    at_thread_exit(&state);
    state
}

/// The calling thread ends, which has this state: its clock goes.
fn ended(mut state: Own) {
    if let Some(before) = BEFORE_END.get() {
        before(&state);
    }
    state.settle();
    let host = state.host();
    let now = state.now();
    if let Some(tracer) = &mut state.tracer {
        tracer.thread_ends(now);
    }
    state.host_base = host as i128;
    state.operations_base = state.operations() as i64;
    state.clock.set(ptr::null_mut());
    state.publish();
    STATE.set(ptr::null_mut());
}

/// Whether more than one thread has, or had, a state.
pub fn are_several() -> bool {
    // SAFETY: states are never freed.
    let newest = unsafe { STATES.load(Acquire).as_ref() };
    newest.is_some_and(|state| !state.next.is_null())
}

/// Every thread's state, the newest first.
pub fn all() -> impl Iterator<Item = &'static State> {
    let mut next = STATES.load(Acquire);
    std::iter::from_fn(move || {
        // SAFETY: states are never freed. Those of threads that still run are read as they are.
        let state = unsafe { next.as_ref() }?;
        next = state.next;
        Some(state)
    })
}

/// The child of a fork begins anew: its only thread's state is all there is.
pub fn forked() {
    let Some(mut state) = NonNull::new(STATE.get()).map(Own) else {
        return;
    };
    // SAFETY: this thread's clock.
    let [host, operations] = unsafe { [clock().read_volatile(), clock().add(1).read_volatile()] };
    state.next = ptr::null_mut();
    state.sums = Sums::default();
    state.asleep = 0;
    state.tid = own_tid();
    state.sites.clear();
    state.host_base = -i128::from(host);
    state.operations_base = -operations;
    state.start = Times::default();
    if let Some(tracer) = &mut state.tracer {
        tracer.forked();
    }
    account::forked(&mut state.profile);
    STATES.store(state.as_ptr(), Release);
    LATEST.store(0, Relaxed);
}

/// Has [`ended`] called when the calling thread ends, which has this state.
fn at_thread_exit(state: &Own) {
    unsafe extern "C" fn end(state: *mut c_void) {
        // The key's value, which the thread that ends has set.
        if let Some(state) = NonNull::new(state.cast()) {
            ended(Own(state));
        }
    }
    static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
    let key = KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: `end` matches the pointers that are set below.
        (unsafe { libc::pthread_key_create(&mut key, Some(end)) } == 0).then_some(key)
    });
    if let Some(key) = key {
        // SAFETY: a key of ours.
        unsafe { libc::pthread_setspecific(*key, state.as_ptr().cast()) };
    }
}
