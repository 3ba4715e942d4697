//! The order of the threads of a timed run: by virtual time, at stated points
//! (`docs/virtual-threads.md`).
//!
//! One thread holds the token ([`flick_sim::token`]) and runs. The others sleep in their slots. The
//! order begins when the process makes its second thread, if the program was linked with the
//! functions that come by here (`libflick-time`).
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering::*};

use crate::locks::bounded;
use crate::os::system_call::system_call;
use flick_abi::order::{FUNCTIONS, ORDERED, TIMED, VIRTUAL};
use flick_sim::token::{Thread, Token, Turn};

use super::setting::picoseconds;
use super::state::{self, State};
use super::sums::{Times, Wait};

mod lock;
pub mod notes;
mod slot;
mod watchdog;

use lock::Lock;
use slot::Slot;

/// What the interposed functions look at first (`flick_abi::order::LEVEL`).
#[unsafe(no_mangle)]
pub static __flick_order_level: AtomicU8 = AtomicU8::new(0);

/// What a thread waits for, by address or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Lock(usize),
    Condition(usize),
    Semaphore(usize),
    Futex(usize),
    Barrier(usize),
    Once(usize),
    /// The end of a thread.
    End(Thread),
    /// Device and number of a pipe, a socket and the like.
    Data(u64, u64),
}

/// Who calls, for notes: the function's name, and where it returns to.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub name: &'static str,
    pub place: usize,
}

#[derive(Default)]
struct Shared {
    token: Token<Key>,
    slots: Vec<&'static Slot>,
    /// When locks were opened, semaphores posted and barriers passed the last time.
    moments: HashMap<Key, Times>,
    /// Threads that a barrier is for, and those that are there.
    barriers: HashMap<usize, (u32, u32)>,
    /// Threads that wait for data.
    for_data: Vec<&'static Slot>,
    /// Of threads that can be joined.
    numbers: HashMap<libc::pthread_t, Thread>,
}

static SHARED: Lock<Option<Shared>> = Lock::new(None);
/// The time of the thread that is next.
static NEXT: AtomicU64 = AtomicU64::new(u64::MAX);
/// Stated points that holders have come to.
static POINTS: AtomicU64 = AtomicU64::new(0);
/// The C library's own functions, in the order of [`FUNCTIONS`]; null where the program was not
/// linked with those that come by here.
static TABLE: AtomicPtr<Table> = AtomicPtr::new(ptr::null_mut());

type Table = [*const c_void; FUNCTIONS.len()];

/// Stated points that a thread may come to without its time moving, before it waits for the next
/// thread: it spins.
const STUCK: u32 = 10_000;

/// Milliseconds between two looks of a thread that waits for data, and the looks at data that has
/// come before it is taken while other threads are ready.
const LOOK_FOR_DATA: i32 = 100;
const LOOKS_FOR_DATA: i32 = 2;

/// Moments that are kept before those that are past for all threads go.
const MOMENTS: usize = 1 << 12;

/// `libflick-time` is in the process.
///
/// # Safety
/// `table` has an address for each function, for as long as the process lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_order_linked(table: *const Table) {
    TABLE.store(table.cast_mut(), Relaxed);
}

/// The C library's own function.
pub fn real(place: usize) -> *const c_void {
    // SAFETY: the table of `__flick_order_linked`: those who call come from its functions.
    unsafe { (*TABLE.load(Relaxed))[place] }
}

/// Whether threads run in the order of virtual time.
#[inline]
pub fn is_on() -> bool {
    __flick_order_level.load(Relaxed) & ORDERED != 0
}

/// The process is timed from now on. `clocks`: they are virtual, and sleeping is.
pub fn timed(clocks: bool) {
    let clocks = if clocks { VIRTUAL } else { 0 };
    __flick_order_level.fetch_or(TIMED | clocks, Relaxed);
}

/// Whether clocks and sleeping are virtual.
pub fn clocks_are_virtual() -> bool {
    __flick_order_level.load(Relaxed) & VIRTUAL != 0
}

/// What is done under the lock, and whoever has got the token by it is woken.
fn with<R>(own: Option<&Slot>, f: impl FnOnce(&mut Shared) -> R) -> R {
    let (result, next) = SHARED.with(|shared| {
        let shared = shared.get_or_insert_default();
        let result = f(shared);
        let next = shared.token.hand_over().map(|next| shared.slots[next]);
        if let Some(next) = next {
            next.grant();
        }
        NEXT.store(shared.token.next().unwrap_or(u64::MAX), Relaxed);
        if shared.is_idle() {
            // What they wait for comes from outside.
            shared.for_data.iter().for_each(|slot| slot.wake());
        }
        (result, next)
    });
    if let Some(next) = next
        && own.is_none_or(|own| own.thread != next.thread)
    {
        next.wake();
    }
    result
}

/// Sleeps until the token comes.
fn park(slot: &Slot) {
    while !slot.take() {
        if slot.sleep() {
            watchdog::look();
        }
    }
    slot.away.store(false, Relaxed);
}

impl Shared {
    /// Whether nobody runs, and nobody will without help from outside.
    fn is_idle(&self) -> bool {
        self.token.holder().is_none() && self.token.next().is_none()
    }

    fn enter(&mut self, time: u64) -> &'static Slot {
        let slot = Slot::new(self.token.enter(time));
        self.slots.push(slot);
        slot
    }

    fn wake(&mut self, key: Key, times: &Times) -> Option<Thread> {
        let thread = self.token.wake(key, picoseconds(times.migrating))?;
        self.slots[thread].woken.set(*times);
        Some(thread)
    }

    /// Keeps the moment of `key`, and forgets those that are past for everybody.
    fn keep(&mut self, key: Key, times: Times) {
        if self.moments.len() >= MOMENTS {
            let earliest = state::all()
                .filter(|state| !state.has_ended())
                .map(State::times)
                .reduce(|a, b| a.earliest(&b))
                .unwrap_or_default();
            self.moments.retain(|_, times| {
                let left = earliest.until(times);
                left.migrating + left.staying + left.before > 0
            });
        }
        self.moments.insert(key, times);
    }
}

/// The calling thread inside the order's code: it holds the token.
pub struct Here {
    slot: &'static Slot,
    pub call: Call,
}

impl Drop for Here {
    fn drop(&mut self) {
        self.slot.busy.store(false, Relaxed);
    }
}

/// A stated point: goes on when no other thread is earlier. `None` where the thread is not ordered,
/// or a handler has interrupted the order's own code: the function is the C library's then.
pub fn point(call: Call) -> Option<Here> {
    if !is_on() {
        return None;
    }
    let slot = match Slot::own() {
        Some(slot) => slot,
        None => come_from_outside(call)?,
    };
    if slot.busy.swap(true, Relaxed) {
        notes::not_exact(&format!("{} in a signal handler", call.name), call.place);
        return None;
    }
    let here = Here { slot, call };
    here.order();
    Some(here)
}

/// A crossing of the thread with this state is a stated point.
pub fn arrive(state: &mut State) {
    if !is_on() {
        return;
    }
    // The crossing has no return address that says more than its call site's account.
    let call = Call {
        name: "a crossing",
        place: 0,
    };
    if let Some(slot) = Slot::own()
        && !slot.busy.swap(true, Relaxed)
    {
        Here { slot, call }.order_with(state);
    } else if Slot::own().is_none() {
        notes::not_exact("a crossing of a thread that pthread_create has not made", 0);
    }
}

/// A thread that the C library has made for itself: it is ordered from now on.
#[cold]
fn come_from_outside(call: Call) -> Option<&'static Slot> {
    let state = state::current()?;
    notes::not_exact(
        &format!("{} in a thread that pthread_create has not made", call.name),
        call.place,
    );
    let time = picoseconds(state.now());
    let slot = with(None, |shared| shared.enter(time));
    slot.adopt();
    park(slot);
    Some(slot)
}

impl Here {
    fn state(&self) -> Option<state::Own> {
        state::current()
    }

    /// The thread's times.
    pub fn times(&self) -> Times {
        self.state().map(|state| state.times()).unwrap_or_default()
    }

    /// The thread's time.
    pub fn now(&self) -> u64 {
        picoseconds(self.times().migrating)
    }

    /// Until no other thread is earlier.
    fn order(&self) {
        if let Some(mut state) = self.state() {
            self.order_with(&mut state);
        }
    }

    fn order_with(&self, state: &mut State) {
        let slot = self.slot;
        state.settle();
        slot.place.store(self.call.place, Relaxed);
        slot.may_sleep.store(false, Relaxed);
        // One holder at a time counts.
        POINTS.store(POINTS.load(Relaxed).wrapping_add(1), Relaxed);
        let mut now = picoseconds(state.now());
        let (last, count) = slot.stuck.get();
        if last == now {
            slot.stuck.set((now, count + 1));
            let next = NEXT.load(Relaxed);
            if count >= STUCK && next != u64::MAX {
                let wait = next.saturating_sub(now);
                let until = state.times().after(1000 * u128::from(wait));
                state.catch_up(Wait::Signal, &until);
                now = next;
            }
        } else {
            slot.stuck.set((now, 0));
        }
        if now < NEXT.load(Relaxed) && !slot.away.load(Relaxed) {
            return;
        }
        with(Some(slot), |shared| shared.token.pass(slot.thread, now));
        park(slot);
    }

    /// Waits for `key`, until `deadline` at most, if `needed` says so, which is asked when nobody
    /// else can wake the thread before it waits. `None`: it was not needed.
    pub fn wait_if(
        &self,
        wait: Wait,
        key: Key,
        deadline: Option<u64>,
        needed: impl FnOnce(&mut Opening) -> bool,
    ) -> Option<Turn> {
        let slot = self.slot;
        let began = self.times();
        let now = picoseconds(began.migrating);
        let waits = with(Some(slot), |shared| {
            let waits = needed(&mut Opening {
                shared,
                times: began,
            });
            if waits {
                shared.token.wait(slot.thread, key, now, deadline);
            }
            waits
        });
        if !waits {
            return None;
        }
        park(slot);
        Some(self.after_waiting(wait, began, deadline))
    }

    /// Waits for `key` until data comes, which `ready` says, until `deadline` at most. Other threads
    /// that bring it wake this one. What comes from outside of the process is taken when no other
    /// thread is ready, or after a while.
    pub fn wait_for_data(
        &self,
        key: Key,
        deadline: Option<u64>,
        ready: impl Fn(i32) -> bool,
    ) -> Turn {
        let slot = self.slot;
        let began = self.times();
        let now = picoseconds(began.migrating);
        with(Some(slot), |shared| {
            shared.token.wait(slot.thread, key, now, deadline);
            shared.for_data.push(slot);
        });
        let mut looks = 0;
        while !slot.take() {
            let rouse = |shared: &mut Shared| shared.token.rouse(slot.thread, now);
            if with(Some(slot), |shared| shared.is_idle()) {
                // Nobody in the process can bring it.
                if ready(LOOK_FOR_DATA) {
                    with(Some(slot), |shared| shared.is_idle().then(|| rouse(shared)));
                }
            } else if slot.sleep() {
                watchdog::look();
                looks += i32::from(ready(0));
                if looks > LOOKS_FOR_DATA {
                    self.not_exact();
                    with(Some(slot), rouse);
                }
            }
        }
        with(Some(slot), |shared| {
            shared.for_data.retain(|other| other.thread != slot.thread);
        });
        slot.away.store(false, Relaxed);
        self.after_waiting(Wait::Data, began, deadline)
    }

    /// Charges the time that the thread has waited; why it goes on.
    fn after_waiting(&self, wait: Wait, began: Times, deadline: Option<u64>) -> Turn {
        let slot = self.slot;
        let turn = with(Some(slot), |shared| shared.token.turn(slot.thread));
        if let Some(mut state) = self.state() {
            let until = match turn {
                Turn::Woken => slot.woken.get(),
                Turn::TimedOut => {
                    let now = picoseconds(began.migrating);
                    let limit = deadline.unwrap_or(now).saturating_sub(now);
                    began.after(1000 * u128::from(limit))
                }
                Turn::Ready => began,
            };
            state.catch_up(wait, &until);
        }
        turn
    }

    /// Wakes up to `count` threads that wait for `key`: how many there were.
    pub fn wake(&self, key: Key, count: usize) -> usize {
        let times = self.times();
        with(Some(self.slot), |shared| {
            (0..count)
                .take_while(|_| shared.wake(key, &times).is_some())
                .count()
        })
    }

    /// Threads that wait for one wait for the other.
    pub fn requeue(&self, from: Key, to: Key, count: usize) -> usize {
        with(Some(self.slot), |shared| {
            shared.token.requeue(from, to, count)
        })
    }

    /// `key` was opened, or given, now: who takes it later goes on at this time, in each world. Wakes
    /// one thread that waits for it, or all.
    pub fn open(&self, key: Key, all: bool) {
        let times = self.times();
        with(Some(self.slot), |shared| {
            let last = shared.moments.get(&key).copied().unwrap_or_default();
            shared.keep(key, last.latest(&times));
            while shared.wake(key, &times).is_some() && all {}
        });
    }

    /// `key` has been taken: the thread has waited until it was opened.
    pub fn took(&self, wait: Wait, key: Key) {
        let moment = with(Some(self.slot), |shared| shared.moments.get(&key).copied());
        if let (Some(moment), Some(mut state)) = (moment, self.state()) {
            state.catch_up(wait, &moment);
        }
    }

    /// `key` is no more.
    pub fn forget(&self, key: Key) {
        with(Some(self.slot), |shared| shared.moments.remove(&key));
    }

    /// A barrier for `count` threads is at `address`; 0: no longer.
    pub fn is_barrier(address: usize, count: u32) {
        with(Slot::own(), |shared| match count {
            0 => drop(shared.barriers.remove(&address)),
            count => drop(shared.barriers.insert(address, (count, 0))),
        });
    }

    /// Waits at the barrier: whether the thread is the last one. `None`: it is not known.
    pub fn meet(&self, address: usize) -> Option<bool> {
        let key = Key::Barrier(address);
        let mut last = None;
        let times = self.times();
        let waited = self.wait_if(Wait::Barrier, key, None, |opening| {
            let shared = &mut *opening.shared;
            let Some((count, there)) = shared.barriers.get_mut(&address) else {
                return false;
            };
            *there += 1;
            let all = *there == *count;
            let latest = shared.moments.get(&key).copied().unwrap_or_default();
            let latest = latest.latest(&times);
            if all {
                *there = 0;
                shared.moments.remove(&key);
                while shared.wake(key, &latest).is_some() {}
                last = Some(latest);
            } else {
                shared.keep(key, latest);
            }
            !all
        });
        if let (Some(latest), Some(mut state)) = (last, self.state()) {
            state.catch_up(Wait::Barrier, &latest);
        }
        (waited.is_some() || last.is_some()).then_some(last.is_some())
    }

    /// `other` is about to be cancelled: it goes on, if it waits where that ends it.
    pub fn rouse(&self, other: libc::pthread_t) {
        let now = self.now();
        with(Some(self.slot), |shared| {
            let Some(&other) = shared.numbers.get(&other) else {
                return;
            };
            if let Some(Key::Condition(_) | Key::Semaphore(_) | Key::End(_) | Key::Data(..)) =
                shared.token.awaited_by(other)
            {
                shared.token.rouse(other, now);
            }
        });
    }

    /// The call is not ordered.
    pub fn not_exact(&self) {
        notes::not_exact(self.call.name, self.call.place);
    }

    /// The call that follows may sleep in the kernel, and ends without other threads.
    pub fn may_sleep(&self) {
        self.slot.may_sleep.store(true, Relaxed);
    }
}

/// What a thread that is about to wait may do, while nobody else changes the order.
pub struct Opening<'a> {
    shared: &'a mut Shared,
    times: Times,
}

impl Opening<'_> {
    /// As [`Here::open`], for one thread.
    pub fn open(&mut self, key: Key) {
        let last = self.shared.moments.get(&key).copied().unwrap_or_default();
        self.shared.keep(key, last.latest(&self.times));
        self.shared.wake(key, &self.times);
    }
}

/// A new thread, which its creator has announced.
#[derive(Clone, Copy)]
pub struct Child(&'static Slot);

/// The calling thread is about to make a thread, at these times: `None` where that is not ordered.
pub fn announce(call: Call) -> Option<Child> {
    if !is_on() {
        if TABLE.load(Relaxed).is_null() {
            notes::not_exact(
                "pthread_create in a program that was linked without --flick-timed",
                call.place,
            );
            return None;
        }
        begin();
    }
    let here = point(call)?;
    let now = here.now();
    Some(Child(with(Some(here.slot), |shared| shared.enter(now))))
}

/// The process gets its second thread: the calling one holds the token.
#[cold]
fn begin() {
    let slot = with(None, |shared| shared.enter(0));
    slot.adopt();
    park(slot);
    stay_on_one_processor();
    __flick_order_level.fetch_or(ORDERED, Relaxed);
}

/// Only one thread runs at a time, and a hand-over between processors takes ten times as long. What
/// the thread makes inherits this.
fn stay_on_one_processor() {
    let mut processor = 0_u32;
    let mut all = [0_u8; PROCESSORS / 8];
    // SAFETY: places for the number of the processor, and for a set of them.
    unsafe {
        let place = ptr::from_mut(&mut processor) as usize;
        let set = all.as_mut_ptr() as usize;
        if system_call(libc::SYS_getcpu, [place, 0, 0, 0]) != 0
            || system_call(libc::SYS_sched_getaffinity, [0, all.len(), set, 0]) < 0
        {
            return;
        }
    }
    let mut one = [0_u8; PROCESSORS / 8];
    if let Some(byte) = one.get_mut(processor as usize / 8) {
        *byte = 1 << (processor % 8);
        // Where it is forbidden hand-overs take longer, and nothing else.
        run_on(&one);
        if let Some(mut before) = bounded::lock(&BEFORE) {
            *before = Some(all);
        }
    }
}

/// Processors that a set has room for.
const PROCESSORS: usize = 1024;
/// Where the process ran before it had an order.
static BEFORE: Mutex<Option<[u8; PROCESSORS / 8]>> = Mutex::new(None);

fn run_on(set: &[u8; PROCESSORS / 8]) {
    // SAFETY: a set of processors, and its size.
    unsafe {
        let place = set.as_ptr() as usize;
        system_call(libc::SYS_sched_setaffinity, [0, set.len(), place, 0]);
    }
}

impl Child {
    /// It was not made.
    pub fn drop_out(self) {
        with(Slot::own(), |shared| shared.token.end(self.0.thread));
    }

    /// It was made.
    pub fn known_as(self, thread: libc::pthread_t) {
        with(Slot::own(), |shared| {
            shared.numbers.insert(thread, self.0.thread);
        });
    }

    /// The calling thread is it, and waits for its turn. It runs the function at `start`.
    pub fn arrive(self, start: usize) {
        self.0.adopt();
        // As a return address: behind its first byte.
        self.0.place.store(start + 1, Relaxed);
        self.0.busy.store(true, Relaxed);
        park(self.0);
        self.0.busy.store(false, Relaxed);
    }
}

/// The calling thread ends, at `times`.
pub fn end(times: impl FnOnce() -> Times) {
    let here = point(Call {
        name: "the end of a thread",
        place: 0,
    });
    let times = times();
    let Some(here) = here else { return };
    let slot = here.slot;
    drop(here);
    with(None, |shared| {
        shared.token.end(slot.thread);
        let key = Key::End(slot.thread);
        while shared.wake(key, &times).is_some() {}
    });
    Slot::drop_own();
}

/// The calling thread is about to join `thread`, and waits until that has ended.
pub fn join(call: Call, thread: libc::pthread_t) {
    let Some(here) = point(call) else { return };
    let other = with(Some(here.slot), |shared| {
        let other = shared.numbers.remove(&thread)?;
        (!shared.token.has_ended(other)).then_some(other)
    });
    if let Some(other) = other {
        let slot = here.slot;
        let now = here.now();
        // That time passes is said by who learns when the thread has ended.
        with(Some(slot), |shared| {
            shared.token.wait(slot.thread, Key::End(other), now, None);
        });
        park(slot);
    }
    here.slot.may_sleep.store(true, Relaxed);
}

/// The calling thread has joined.
pub fn joined() {
    if let Some(slot) = Slot::own() {
        slot.may_sleep.store(false, Relaxed);
    }
}

/// Around `fork`.
pub extern "C" fn before_fork() {
    SHARED.close();
}

/// Around `fork`, in the parent.
pub extern "C" fn after_fork() {
    SHARED.open();
}

/// The child of a fork has one thread, and no order.
pub fn forked() {
    __flick_order_level.fetch_and(!ORDERED, Relaxed);
    Slot::drop_own();
    SHARED.open();
    // What another thread has been changing is left as it is.
    SHARED.with(|shared| std::mem::forget(shared.take()));
    NEXT.store(u64::MAX, Relaxed);
    if let Some(before) = bounded::lock(&BEFORE).and_then(|mut before| before.take()) {
        run_on(&before);
    }
    notes::forget();
}
