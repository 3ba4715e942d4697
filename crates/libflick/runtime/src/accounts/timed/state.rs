//! The accounts of a thread.
use std::arch::asm;
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering::*};

use flick_timing::platform::PARTS;
use flick_timing::{Spent, Worlds};

use super::profile::{self, Profile};
use super::setting;
use super::sites::Sites;
use super::threads;
use super::trace::{self, Tracer};
use crate::sync::BlockedSignals;

/// The clock that instrumented code adds to (`flick_abi::timed::CLOCK`). The host's part begins so far below 0 that
/// nothing is asked for before the thread has a state.
///
/// Its section makes it thread-local, of the initial-exec model; Rust has no stable way to say that. So this name
/// stands for the variable's place in the threads' blocks and nothing in Rust uses it: see [`clock`].
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".tdata.flick_timed")]
pub static __flick_timed_clock: Clock = Clock([AtomicI64::new(START), AtomicI64::new(0)]);

/// Of a [`flick_abi::timed::Price`].
#[repr(C, align(16))]
pub struct Clock([AtomicI64; 2]);

const START: i64 = i64::MIN / 2;

/// Address of the calling thread's clock: its host's part, and the NxP's behind it.
#[inline]
pub fn clock() -> *mut i64 {
    let address: *mut i64;
    // SAFETY: computes the address of this thread's variable; fs:0 holds the thread pointer (x86-64 ELF TLS ABI,
    // variant II).
    unsafe {
        asm!(
            "mov {address}, qword ptr [rip + __flick_timed_clock@GOTTPOFF]",
            "add {address}, qword ptr fs:[0]",
            address = out(reg) address,
            options(nostack, pure, readonly),
        );
    }
    address
}

/// What the thread's time went to, migrating; in femtoseconds. Host code's own is the clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub nxp_compute: u128,
    pub nxp_memory: u128,
    pub nxp_fetch: u128,
    pub nxp_tlb: u128,
    /// NxP code's calls of the heap.
    pub nxp_library: u128,
    pub host_memory: u128,
    pub host_tlb: u128,
    pub host_library: u128,
    pub parts: [u128; PARTS.len()],
    pub waiting: u128,
    /// For other threads to end.
    pub joining: u128,
    pub staying_joining: u128,
    /// Staying: what NxP code's instructions and accesses take there, and the host's own accesses.
    pub staying_compute: u128,
    pub staying_memory: u128,
    pub staying_tlb: u128,
    pub staying_library: u128,
    /// Of `staying`: what there is not if the host's memory had what NxP code has allocated; and accesses to that.
    pub spare: i128,
    pub marked: u64,
    /// Before: for other threads to end.
    pub before_joining: u128,
    pub instructions: u64,
    pub accesses: u64,
    pub host_accesses: u64,
    /// Of `host_accesses`: those that no block of code has counted as a load or store, for it was a copy.
    pub host_copies: u64,
    /// Pieces of copies from and to other memory.
    pub other_copies: u64,
    pub crossings: u64,
}

impl Sums {
    pub fn add(&mut self, other: &Sums) {
        let Sums {
            nxp_compute,
            nxp_memory,
            nxp_fetch,
            nxp_tlb,
            nxp_library,
            host_memory,
            host_tlb,
            host_library,
            parts,
            waiting,
            joining,
            staying_joining,
            staying_compute,
            staying_memory,
            staying_tlb,
            staying_library,
            spare,
            marked,
            before_joining,
            instructions,
            accesses,
            host_accesses,
            host_copies,
            other_copies,
            crossings,
        } = other;
        self.nxp_compute += nxp_compute;
        self.nxp_memory += nxp_memory;
        self.nxp_fetch += nxp_fetch;
        self.nxp_tlb += nxp_tlb;
        self.nxp_library += nxp_library;
        self.host_memory += host_memory;
        self.host_tlb += host_tlb;
        self.host_library += host_library;
        for (sum, part) in self.parts.iter_mut().zip(parts) {
            *sum += part;
        }
        self.waiting += waiting;
        self.joining += joining;
        self.staying_joining += staying_joining;
        self.staying_compute += staying_compute;
        self.staying_memory += staying_memory;
        self.staying_tlb += staying_tlb;
        self.staying_library += staying_library;
        self.spare += spare;
        self.marked += marked;
        self.before_joining += before_joining;
        self.instructions += instructions;
        self.accesses += accesses;
        self.host_accesses += host_accesses;
        self.host_copies += host_copies;
        self.other_copies += other_copies;
        self.crossings += crossings;
    }

    pub fn crossing(&self) -> u128 {
        self.parts.iter().sum::<u128>() + self.waiting
    }

    /// Without host code's own time.
    pub fn migrating(&self) -> u128 {
        self.nxp_compute
            + self.nxp_memory
            + self.nxp_fetch
            + self.nxp_tlb
            + self.nxp_library
            + self.host_memory
            + self.host_tlb
            + self.host_library
            + self.crossing()
            + self.joining
    }

    /// Without host code's own time.
    pub fn staying(&self) -> u128 {
        self.staying_compute
            + self.staying_memory
            + self.staying_tlb
            + self.staying_library
            + self.staying_joining
    }

    /// Without host code's own time.
    pub fn before(&self) -> u128 {
        let alone = (self.staying() - self.staying_joining) as i128 - self.spare;
        u128::try_from(alone).unwrap_or(0) + self.before_joining
    }

    pub fn spend(&mut self, spent: &Spent) {
        self.spare += i128::from(spent.spare);
        self.marked += spent.marked;
        self.instructions += spent.instructions;
        self.accesses += spent.accesses;
        self.nxp_compute += u128::from(spent.compute);
        self.nxp_memory += u128::from(spent.memory);
        self.nxp_fetch += u128::from(spent.fetch);
        self.nxp_tlb += u128::from(spent.tlb);
        self.staying_compute += u128::from(spent.staying_compute);
        self.staying_memory += u128::from(spent.staying_memory);
        self.staying_tlb += u128::from(spent.staying_tlb);
    }
}

/// An activation, as its call site's account needs it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    pub site: super::sites::Key,
    pub times: Times,
    pub crossing: u128,
    pub accesses: u64,
    pub instructions: u64,
    /// Of the tracer or the profile, before.
    pub calls: usize,
    /// The host call that is due: its target and the clock at its beginning.
    pub target: u64,
    pub clock: i64,
    /// The NxP's own: no crossing is charged.
    pub is_local: bool,
}

/// A moment in each world, since the program began. Femtoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub migrating: u128,
    pub staying: u128,
    /// As staying, with what NxP code has allocated in the host's memory: nothing is placed.
    pub before: u128,
}

pub struct State {
    pub worlds: Worlds,
    pub sums: Sums,
    /// Host code's time is this and the clock.
    pub host_base: i128,
    /// Its loads and stores are this and the clock's other part, where that is not the NxP's time (in profiles).
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
    /// The thread's clock; null when the thread has ended.
    clock: Cell<*mut i64>,
    next: *mut State,
}

/// Deeper calls are charged, and missing in the table of call sites.
pub const DEEPEST: usize = 1 << 12;

/// All states, newest first; none is ever freed.
static STATES: AtomicPtr<State> = AtomicPtr::new(ptr::null_mut());

/// The latest time that any thread has told of: where new threads begin. Femtoseconds, as far as they fit.
static LATEST: AtomicU64 = AtomicU64::new(0);

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
        self.start.migrating + self.host() + self.sums.migrating()
    }

    /// The thread's times.
    pub fn times(&self) -> Times {
        Times {
            migrating: self.now(),
            staying: self.start.staying + self.host() + self.sums.staying(),
            before: self.start.before + self.host() + self.sums.before(),
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

    /// Changes the clock and no time: the code that reads it learns that it has called code that counts.
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

    /// Tells other threads of this one's time.
    pub fn publish(&self) {
        LATEST.fetch_max(u64::try_from(self.now()).unwrap_or(u64::MAX), Relaxed);
    }
}

/// The calling thread's state, made if it has none. Null where the process is not timed.
pub fn current() -> *mut State {
    let state = STATE.get();
    if state.is_null() { create() } else { state }
}

#[cold]
fn create() -> *mut State {
    let Some(setting) = setting() else {
        return ptr::null_mut();
    };
    let _blocked = BlockedSignals::new();
    let clock = clock();
    let latest = u128::from(LATEST.load(Relaxed));
    let state = Box::into_raw(Box::new(State {
        worlds: Worlds::new(&setting.platform),
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
        clock: Cell::new(clock),
        next: ptr::null_mut(),
    }));
    let mut first = STATES.load(Acquire);
    loop {
        // SAFETY: nobody else knows of it yet.
        unsafe { (*state).next = first };
        match STATES.compare_exchange(first, state, Release, Acquire) {
            Ok(_) => break,
            Err(newer) => first = newer,
        }
    }
    STATE.set(state);
    // SAFETY: this thread's own.
    unsafe {
        profile::begin(&mut *state);
        (*state).tracer = Tracer::new((*state).now());
        let period = (*state).tracer.as_ref().map(|tracer| tracer.period);
        if let Some(period) = period {
            (*state).wind(period);
        }
    }
    super::library::at_thread_exit(state);
    state
}

/// The thread of `state` ends: its clock goes.
///
/// # Safety
/// `state` is the calling thread's.
pub unsafe fn ended(state: *mut State) {
    // SAFETY: by contract; states are never freed.
    unsafe {
        let host = (*state).host();
        trace::thread_ends(&mut *state, (*state).now());
        (*state).host_base = host as i128;
        (*state).operations_base = (*state).operations() as i64;
        (*state).clock.set(ptr::null_mut());
        threads::ended((*state).times());
        (*state).publish();
    }
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
    let state = STATE.get();
    if state.is_null() {
        return;
    }
    // SAFETY: this thread's, and no other thread lives.
    unsafe {
        (*state).next = ptr::null_mut();
        (*state).sums = Sums::default();
        (*state).sites.clear();
        (*state).host_base = -i128::from(clock().read_volatile());
        (*state).operations_base = -clock().add(1).read_volatile();
        (*state).start = Times::default();
        trace::forked(&mut *state);
        profile::forked(&mut *state);
    }
    STATES.store(state, Release);
    LATEST.store(0, Relaxed);
}
