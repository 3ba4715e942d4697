//! The process's environment, its end, and its machine.
use core::ffi::{c_char, c_int, c_long, c_uint};
use core::ptr;

use crate::calls::{error, system_call};

unsafe extern "C" {
    pub fn abort() -> !;
    /// The C library's own name of `environ`, which a program may define.
    static mut __environ: *const *const c_char;
}

/// The entries of the environment, C strings.
///
/// # Safety
/// No thread may change the environment meanwhile.
pub unsafe fn environment() -> impl Iterator<Item = *const c_char> {
    // SAFETY: `environ` is null or a null-terminated array.
    unsafe {
        let mut next = __environ;
        core::iter::from_fn(move || {
            if next.is_null() || (*next).is_null() {
                return None;
            }
            next = next.add(1);
            Some(*next.sub(1))
        })
    }
}

/// abort(3): the program's handler gets the signal first.
extern "C" fn end() -> ! {
    for _ in 0..2 {
        // SAFETY: the calls change signals of the calling thread only.
        unsafe {
            let only = 1_u64 << (libc::SIGABRT - 1);
            let unblock = [libc::SIG_UNBLOCK as usize, &raw const only as usize, 0, 8];
            system_call(libc::SYS_rt_sigprocmask, unblock);
            let process = system_call(libc::SYS_getpid, [0; 4]) as usize;
            let thread = system_call(libc::SYS_gettid, [0; 4]) as usize;
            system_call(
                libc::SYS_tgkill,
                [process, thread, libc::SIGABRT as usize, 0],
            );
            // A handler has returned, or the signal is ignored. Then the default action follows.
            const ACTION: [usize; 4] = [libc::SIG_DFL, 0, 0, 0];
            let action = [libc::SIGABRT as usize, ACTION.as_ptr() as usize, 0, 8];
            system_call(libc::SYS_rt_sigaction, action);
        }
    }
    // SAFETY: the call ends the process in any case.
    unsafe { core::arch::asm!("2: ud2", "jmp 2b", options(noreturn)) }
}

/// sleep(3).
extern "C" fn sleep(seconds: c_uint) -> c_uint {
    let request = libc::timespec {
        tv_sec: seconds.into(),
        tv_nsec: 0,
    };
    let mut left = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let arguments = [&raw const request as usize, &raw mut left as usize, 0, 0];
    // SAFETY: both pointers are valid.
    match unsafe { system_call(libc::SYS_nanosleep, arguments) } {
        0 => 0,
        _ => left.tv_sec as c_uint + c_uint::from(left.tv_nsec != 0),
    }
}

/// sysconf(3), as far as libflick needs it: the size of a page, and the number of processors that
/// the process may use.
extern "C" fn setting(name: c_int) -> c_long {
    match name {
        libc::_SC_PAGESIZE => 4096,
        libc::_SC_NPROCESSORS_ONLN | libc::_SC_NPROCESSORS_CONF => {
            let mut set = [0_u64; 128];
            let arguments = [0, size_of_val(&set), set.as_mut_ptr() as usize, 0];
            // SAFETY: the set is as large as the call says.
            unsafe { system_call(libc::SYS_sched_getaffinity, arguments) };
            let count: u32 = set.iter().map(|word| word.count_ones()).sum();
            count.max(1).into()
        }
        _ => error(libc::EINVAL) as c_long,
    }
}

type Handler = Option<unsafe extern "C" fn()>;

unsafe extern "C" {
    fn __cxa_atexit(
        function: unsafe extern "C" fn(),
        argument: *const c_char,
        module: *const c_char,
    ) -> c_int;
    fn __register_atfork(
        prepare: Handler,
        parent: Handler,
        child: Handler,
        module: *const c_char,
    ) -> c_int;
}

/// atexit(3). The handler belongs to no library, because libflick is never unloaded.
unsafe extern "C" fn at_exit(function: unsafe extern "C" fn()) -> c_int {
    // SAFETY: the caller keeps the contract of atexit(3).
    unsafe { __cxa_atexit(function, ptr::null(), ptr::null()) }
}

/// pthread_atfork(3).
unsafe extern "C" fn at_fork(prepare: Handler, parent: Handler, child: Handler) -> c_int {
    // SAFETY: by contract of pthread_atfork(3).
    unsafe { __register_atfork(prepare, parent, child, ptr::null()) }
}

define! {
    "abort" = end;
    "sleep" = sleep;
    "sysconf" = setting;
    "atexit" = at_exit;
    "pthread_atfork" = at_fork;
}
