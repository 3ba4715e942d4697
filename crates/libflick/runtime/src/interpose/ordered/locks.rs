//! Mutexes, read-write locks and spin locks: tried, and waited for in virtual time.
use std::ffi::{c_int, c_void};

use flick_sim::thread_token::Turn;

use super::clocks::{self, REALTIME};
use super::{Answer, ordered, real};
use crate::accounts::timed::order::{Here, Key};
use crate::accounts::timed::sums::Wait;
use crate::os::system_call::system_call;

/// A function of the C library that has a lock for an argument.
pub type Function = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The fields of the C library's mutex that say what a lock of one's own would do (`struct
/// __pthread_mutex_s` of glibc for x86-64, which is part of its ABI).
#[repr(C)]
struct Mutex {
    _lock: c_int,
    _count: u32,
    owner: c_int,
    _users: u32,
    kind: c_int,
}

const KIND: c_int = 3;
const SHARED_BETWEEN_PROCESSES: c_int = 128;

/// Whether the calling thread's lock would be an error, since it has it.
fn is_own_and_checked(mutex: usize) -> bool {
    // SAFETY: the program's mutex, and a system call without arguments.
    unsafe {
        let mutex = &*(mutex as *const Mutex);
        mutex.kind & KIND == libc::PTHREAD_MUTEX_ERRORCHECK
            && mutex.owner as isize == system_call(libc::SYS_gettid, [0; 4])
    }
}

/// Whether other processes may have the mutex.
pub fn is_shared(mutex: usize) -> bool {
    // SAFETY: the program's mutex.
    unsafe { (*(mutex as *const Mutex)).kind & SHARED_BETWEEN_PROCESSES != 0 }
}

/// Takes what `attempt` takes, which says EBUSY where somebody has it.
fn take(here: &Here, key: Key, deadline: Option<u64>, mut attempt: impl FnMut() -> c_int) -> c_int {
    let mut result = attempt();
    while result == libc::EBUSY {
        let turn = here.wait_if(Wait::Lock, key, deadline, |_| {
            result = attempt();
            result == libc::EBUSY
        });
        if turn == Some(Turn::TimedOut) {
            return libc::ETIMEDOUT;
        }
        if turn.is_some() {
            result = attempt();
        }
    }
    if result == 0 || result == libc::EOWNERDEAD {
        here.took(Wait::Lock, key);
    }
    result
}

/// Takes the mutex, by who stands at a stated point.
pub fn take_mutex(here: &Here, mutex: usize, deadline: Option<u64>) -> c_int {
    let attempt = real!(pthread_mutex_trylock: Function);
    take(here, Key::Lock(mutex), deadline, || {
        // SAFETY: the program's mutex.
        unsafe { attempt(mutex as *mut c_void) }
    })
}

pub fn lock_mutex(here: &Here, mutex: usize, deadline: Option<u64>, real: *const c_void) -> Answer {
    if is_shared(mutex) {
        here.not_exact();
        return Answer::go_on(real);
    }
    // It knows the error.
    if is_own_and_checked(mutex) {
        return Answer::go_on(real);
    }
    Answer::value(take_mutex(here, mutex, deadline))
}

fn take_by(here: &Here, lock: usize, deadline: Option<u64>, attempt: Function) -> Answer {
    Answer::value(take(here, Key::Lock(lock), deadline, || {
        // SAFETY: the program's lock.
        unsafe { attempt(lock as *mut c_void) }
    }))
}

/// One attempt, which has waited for nobody.
pub fn try_by(here: &Here, lock: usize, attempt: Function) -> Answer {
    // SAFETY: the program's lock.
    let result = unsafe { attempt(lock as *mut c_void) };
    if result == 0 || result == libc::EOWNERDEAD {
        here.took(Wait::Lock, Key::Lock(lock));
    }
    Answer::value(result)
}

/// Opens the lock, and wakes who waits for it: one, or all, of whom readers may go on together.
pub fn open_by(here: &Here, lock: usize, all: bool, open: Function) -> Answer {
    // SAFETY: the program's lock.
    let result = unsafe { open(lock as *mut c_void) };
    if result == 0 {
        here.open(Key::Lock(lock), all);
    }
    Answer::value(result)
}

/// A deadline on a clock that the caller names.
pub fn on_clock(here: &Here, clock: usize, time: usize) -> Option<u64> {
    clocks::deadline(here, clock as c_int, time)
}

ordered! {
    pthread_mutex_lock(arguments, here) {
        lock_mutex(&here, arguments[0], None, real!(pthread_mutex_lock))
    }
    pthread_mutex_timedlock(arguments, here) {
        let deadline = on_clock(&here, REALTIME, arguments[1]);
        lock_mutex(&here, arguments[0], deadline, real!(pthread_mutex_timedlock))
    }
    pthread_mutex_clocklock(arguments, here) {
        let deadline = on_clock(&here, arguments[1], arguments[2]);
        lock_mutex(&here, arguments[0], deadline, real!(pthread_mutex_clocklock))
    }
    pthread_mutex_trylock(arguments, here) {
        try_by(&here, arguments[0], real!(pthread_mutex_trylock: Function))
    }
    pthread_mutex_unlock(arguments, here) {
        open_by(&here, arguments[0], false, real!(pthread_mutex_unlock: Function))
    }
    pthread_rwlock_rdlock(arguments, here) {
        take_by(&here, arguments[0], None, real!(pthread_rwlock_tryrdlock: Function))
    }
    pthread_rwlock_wrlock(arguments, here) {
        take_by(&here, arguments[0], None, real!(pthread_rwlock_trywrlock: Function))
    }
    pthread_rwlock_timedrdlock(arguments, here) {
        let deadline = on_clock(&here, REALTIME, arguments[1]);
        take_by(&here, arguments[0], deadline, real!(pthread_rwlock_tryrdlock: Function))
    }
    pthread_rwlock_timedwrlock(arguments, here) {
        let deadline = on_clock(&here, REALTIME, arguments[1]);
        take_by(&here, arguments[0], deadline, real!(pthread_rwlock_trywrlock: Function))
    }
    pthread_rwlock_clockrdlock(arguments, here) {
        let deadline = on_clock(&here, arguments[1], arguments[2]);
        take_by(&here, arguments[0], deadline, real!(pthread_rwlock_tryrdlock: Function))
    }
    pthread_rwlock_clockwrlock(arguments, here) {
        let deadline = on_clock(&here, arguments[1], arguments[2]);
        take_by(&here, arguments[0], deadline, real!(pthread_rwlock_trywrlock: Function))
    }
    pthread_rwlock_tryrdlock(arguments, here) {
        try_by(&here, arguments[0], real!(pthread_rwlock_tryrdlock: Function))
    }
    pthread_rwlock_trywrlock(arguments, here) {
        try_by(&here, arguments[0], real!(pthread_rwlock_trywrlock: Function))
    }
    pthread_rwlock_unlock(arguments, here) {
        open_by(&here, arguments[0], true, real!(pthread_rwlock_unlock: Function))
    }
    pthread_spin_lock(arguments, here) {
        take_by(&here, arguments[0], None, real!(pthread_spin_trylock: Function))
    }
    pthread_spin_trylock(arguments, here) {
        try_by(&here, arguments[0], real!(pthread_spin_trylock: Function))
    }
    pthread_spin_unlock(arguments, here) {
        open_by(&here, arguments[0], false, real!(pthread_spin_unlock: Function))
    }
}
