//! The interface between libflick and `libflick-time`, which brings the functions of the C library
//! that order threads by virtual time, or read clocks (`docs/virtual-threads.md`).

/// A bit of [`LEVEL`]: the run is timed.
pub const TIMED: u8 = 1;
/// A bit of [`LEVEL`]: threads run in the order of virtual time.
pub const ORDERED: u8 = 2;
/// A bit of [`LEVEL`]: clocks and sleeping are virtual.
pub const VIRTUAL: u8 = 4;

/// A byte: which of these bits hold.
pub const LEVEL: &str = "__flick_order_level";
/// `void (void *const *table)`: `libflick-time` tells of itself. The table has the C library's own
/// functions, in the order of [`FUNCTIONS`].
pub const LINKED: &str = "__flick_order_linked";
/// `void *(const char *name)`: the next definition of a function.
pub const NEXT: &str = "__flick_order_next";
/// `void (void)`, preserve_most: an atomic access of instrumented code follows.
pub const ATOMIC: &str = "__flick_order_atomic";
/// Stands before the name of a function: libflick's part of it.
pub const PREFIX: &str = "__flick_ordered_";

/// The functions, each with the bits of [`LEVEL`] at which it asks libflick.
pub const FUNCTIONS: &[(&str, u8)] = &[
    ("pthread_mutex_lock", ORDERED),
    ("pthread_mutex_trylock", ORDERED),
    ("pthread_mutex_timedlock", ORDERED),
    ("pthread_mutex_clocklock", ORDERED),
    ("pthread_mutex_unlock", ORDERED),
    ("pthread_cond_wait", ORDERED),
    ("pthread_cond_timedwait", ORDERED),
    ("pthread_cond_clockwait", ORDERED),
    ("pthread_cond_signal", ORDERED),
    ("pthread_cond_broadcast", ORDERED),
    ("pthread_barrier_init", TIMED),
    ("pthread_barrier_destroy", TIMED),
    ("pthread_barrier_wait", ORDERED),
    ("pthread_rwlock_rdlock", ORDERED),
    ("pthread_rwlock_wrlock", ORDERED),
    ("pthread_rwlock_tryrdlock", ORDERED),
    ("pthread_rwlock_trywrlock", ORDERED),
    ("pthread_rwlock_timedrdlock", ORDERED),
    ("pthread_rwlock_timedwrlock", ORDERED),
    ("pthread_rwlock_clockrdlock", ORDERED),
    ("pthread_rwlock_clockwrlock", ORDERED),
    ("pthread_rwlock_unlock", ORDERED),
    ("pthread_spin_lock", ORDERED),
    ("pthread_spin_trylock", ORDERED),
    ("pthread_spin_unlock", ORDERED),
    ("pthread_once", ORDERED),
    ("pthread_cancel", ORDERED),
    ("pthread_setcancelstate", ORDERED),
    ("sem_wait", ORDERED),
    ("sem_trywait", ORDERED),
    ("sem_timedwait", ORDERED),
    ("sem_clockwait", ORDERED),
    ("sem_post", ORDERED),
    ("sched_yield", ORDERED),
    ("syscall", ORDERED),
    ("poll", ORDERED | VIRTUAL),
    ("read", ORDERED),
    ("write", TIMED),
    ("usleep", ORDERED | VIRTUAL),
    ("sleep", ORDERED | VIRTUAL),
    ("nanosleep", ORDERED | VIRTUAL),
    ("clock_nanosleep", ORDERED | VIRTUAL),
    ("clock_gettime", VIRTUAL),
    ("gettimeofday", VIRTUAL),
    ("time", VIRTUAL),
    ("thrd_create", TIMED),
    ("thrd_join", TIMED),
    ("thrd_sleep", ORDERED | VIRTUAL),
    ("thrd_yield", ORDERED),
    ("call_once", ORDERED),
    ("mtx_lock", ORDERED),
    ("mtx_timedlock", ORDERED),
    ("mtx_trylock", ORDERED),
    ("mtx_unlock", ORDERED),
    ("cnd_wait", ORDERED),
    ("cnd_timedwait", ORDERED),
    ("cnd_signal", ORDERED),
    ("cnd_broadcast", ORDERED),
    ("alarm", TIMED),
    ("ualarm", TIMED),
    ("setitimer", TIMED),
    ("getitimer", TIMED),
    ("timer_create", TIMED),
    ("timer_delete", TIMED),
    ("timer_settime", TIMED),
    ("timer_gettime", TIMED),
    ("timer_getoverrun", TIMED),
    ("timerfd_settime", TIMED),
    ("timerfd_gettime", TIMED),
    ("pause", ORDERED),
    ("sigwait", ORDERED),
    ("sigwaitinfo", ORDERED),
    ("sigtimedwait", ORDERED),
    ("kill", ORDERED),
    ("pthread_kill", ORDERED),
    ("pthread_sigqueue", ORDERED),
    ("sigqueue", ORDERED),
    ("tgkill", ORDERED),
    ("ppoll", ORDERED | VIRTUAL),
    ("select", ORDERED | VIRTUAL),
    ("pselect", ORDERED | VIRTUAL),
    ("clock", VIRTUAL),
    ("getrusage", VIRTUAL),
    ("times", VIRTUAL),
    ("execve", ORDERED),
    ("execv", ORDERED),
    ("execvpe", ORDERED),
    ("execvp", ORDERED),
    ("execl", ORDERED),
    ("execlp", ORDERED),
    ("execle", ORDERED),
    ("fexecve", ORDERED),
    ("execveat", ORDERED),
];

/// The place of a function in [`FUNCTIONS`].
///
/// ```
/// use flick_abi::thread_order::{FUNCTIONS, place};
///
/// assert_eq!(FUNCTIONS[place("sem_post")].0, "sem_post");
/// ```
///
/// # Panics
/// If it is none of them.
pub const fn place(name: &str) -> usize {
    let mut i = 0;
    while i < FUNCTIONS.len() {
        if same(FUNCTIONS[i].0.as_bytes(), name.as_bytes()) {
            return i;
        }
        i += 1;
    }
    panic!("libflick-time does not have this function")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
