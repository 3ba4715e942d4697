//! Where the calling thread's host stack is. Async-signal-safe, unlike `pthread_getattr_np`: a
//! thread's first crossing may be in a handler that interrupted `malloc`, on a small signal stack.
use std::sync::atomic::{AtomicUsize, Ordering};

use flick_translator::LEAST_STACK;

use crate::os::thread_pointer;

/// Which stack an address is on, as far as it can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The thread's own.
    Own,
    /// The signal stack that is set now (sigaltstack(2)).
    Signal,
    /// A coroutine's, or a signal stack that was replaced.
    Other,
}

/// A thread's own stack, `low..high`.
#[derive(Clone, Copy, Debug)]
pub struct HostStack {
    low: usize,
    pub high: usize,
    main: bool,
    /// Down to where calls of translated code may use it: handlers and libflick's own code need
    /// some.
    pub limit: usize,
}

/// Thread pointer of the main thread, or 0 while it is not known.
static MAIN: AtomicUsize = AtomicUsize::new(0);

/// Remembers the main thread, if it is the calling one: after a fork the process's first thread may
/// be another.
pub fn init() {
    if is_first_thread() {
        MAIN.store(thread_pointer::pointer(), Ordering::Relaxed);
    }
}

/// Whether the calling thread is the process's first.
pub fn is_first_thread() -> bool {
    // SAFETY: system calls without arguments.
    unsafe { libc::syscall(libc::SYS_gettid) == libc::c_long::from(libc::getpid()) }
}

impl HostStack {
    /// The calling thread's.
    pub fn current() -> Self {
        let pointer = thread_pointer::pointer();
        let main = match MAIN.load(Ordering::Relaxed) {
            // The first library with an image was opened by another thread.
            0 => is_first_thread(),
            known => pointer == known,
        };
        if main {
            let high = main_high().unwrap_or_else(|| {
                // SAFETY: asks only. The kernel put these bytes on the stack.
                let on_stack = unsafe { libc::getauxval(libc::AT_RANDOM) } as usize;
                mapping_of(on_stack).map_or(usize::MAX, |(_, high)| high)
            });
            return Self::new(main_low(high), high, true);
        }
        // The C library keeps a thread's block at the upper end of its stack.
        match mapping_of(pointer) {
            Some((low, _)) => Self::new(low, pointer, false),
            // No /proc: assume that there is no other stack.
            None => Self::new(0, usize::MAX, false),
        }
    }

    fn new(low: usize, high: usize, main: bool) -> Self {
        const RESERVE: usize = 32 << 10;
        let limit = low + RESERVE.min((high - low) / 4);
        Self {
            low,
            high,
            main,
            limit,
        }
    }

    /// Bytes, as far as the stack may grow now. `None`: unlimited.
    pub fn size(&self) -> Option<usize> {
        // What the C library keeps above the frames counts: programs ask for round sizes.
        const ROUND: usize = 64 << 10;
        if self.main {
            main_limit()
        } else {
            (self.high - self.low).checked_next_multiple_of(ROUND)
        }
    }

    /// Down to where calls of translated code may use the stack that has a frame at `here`. Of a
    /// stack that is not the thread's own nothing is known.
    pub fn limit_at(&self, here: usize) -> usize {
        const ELSEWHERE: usize = 3 << 10;
        if (self.low..self.high).contains(&here) {
            self.limit.min(here.saturating_sub(LEAST_STACK))
        } else {
            here - ELSEWHERE
        }
    }

    /// Whether a frame of the calling thread is on its signal stack; one that lies within the
    /// thread's own is taken for that.
    pub fn is_on_signal_stack(&self, frame: usize) -> bool {
        !(self.low..self.high).contains(&frame) && self.which(frame) == Which::Signal
    }

    /// The stack of a frame of the calling thread.
    pub fn which(&self, frame: usize) -> Which {
        // A signal stack may lie within a frame of the thread's own.
        // SAFETY: asks only.
        let signal = unsafe {
            let mut stack: libc::stack_t = std::mem::zeroed();
            libc::sigaltstack(std::ptr::null(), &mut stack);
            stack
        };
        let start = signal.ss_sp as usize;
        if signal.ss_flags & libc::SS_DISABLE == 0
            && (start..start + signal.ss_size).contains(&frame)
        {
            return Which::Signal;
        }
        // The limit may have been raised since.
        let low = if self.main {
            self.low.min(main_low(self.high))
        } else {
            self.low
        };
        if (low..self.high).contains(&frame) {
            Which::Own
        } else {
            Which::Other
        }
    }
}

/// The main thread's stack grows up to the soft limit, RLIMIT_STACK. `None`: unlimited.
fn main_limit() -> Option<usize> {
    // SAFETY: `limit` is valid for writing.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        let known = libc::getrlimit(libc::RLIMIT_STACK, &mut limit) == 0;
        (known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur as usize)
    }
}

fn main_low(high: usize) -> usize {
    const UNLIMITED: usize = 16 << 30;
    high.saturating_sub(main_limit().unwrap_or(UNLIMITED))
}

/// The end of the main thread's stack: the kernel puts the program's name there, and a word behind
/// it (`bprm_mm_init` and `copy_string_kernel` in Linux's fs/exec.c). `None`: it did not.
fn main_high() -> Option<usize> {
    const PAGE: usize = 4096;
    // Of the strings and tables that execve(2) copies: a quarter of the limit of the stack at most.
    const MOST: usize = 6 << 20;
    // SAFETY: asks only.
    let [name, random] =
        [libc::AT_EXECFN, libc::AT_RANDOM].map(|which| unsafe { libc::getauxval(which) } as usize);
    if name <= random || name - random > MOST {
        return None;
    }
    // SAFETY: the kernel's C string.
    let len = unsafe { libc::strlen(name as *const libc::c_char) };
    let high = name + len + 1 + size_of::<usize>();
    high.is_multiple_of(PAGE).then_some(high)
}

/// The mapping with `address`, from /proc/self/maps; reads it in small pieces, without allocation.
fn mapping_of(address: usize) -> Option<(usize, usize)> {
    // SAFETY: the path is a C string.
    let file = unsafe {
        libc::open(
            c"/proc/self/maps".as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        )
    };
    if file < 0 {
        return None;
    }
    let mut found = None;
    let mut bounds = [0_usize; 2];
    // Which number the next digit belongs to; behind the second, nothing up to the line's end.
    let mut field = 0;
    let mut buffer = [0_u8; 512];
    'read: loop {
        // SAFETY: the buffer is valid for its length.
        let count = unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) };
        let Ok(count @ 1..) = usize::try_from(count) else {
            break;
        };
        for &byte in &buffer[..count] {
            match byte {
                b'\n' => (bounds, field) = ([0; 2], 0),
                b'-' if field == 0 => field = 1,
                _ if field < 2 => match char::from(byte).to_digit(16) {
                    Some(digit) => bounds[field] = bounds[field] << 4 | digit as usize,
                    None => {
                        field = 2;
                        if (bounds[0]..bounds[1]).contains(&address) {
                            found = Some((bounds[0], bounds[1]));
                            break 'read;
                        }
                    }
                },
                _ => {}
            }
        }
    }
    // SAFETY: opened above.
    unsafe { libc::close(file) };
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threads_own_stack() {
        std::thread::Builder::new()
            .stack_size(1 << 20)
            .spawn(|| {
                let local = 0_u8;
                let stack = HostStack::current();
                assert_eq!(stack.which(&raw const local as usize), Which::Own);
                assert!(stack.size().unwrap() >= 1 << 20);
                assert!(stack.size().unwrap() < 4 << 20, "{stack:?}");
                let heap = Box::new(0_u8);
                assert_eq!(stack.which(&raw const *heap as usize), Which::Other);
            })
            .unwrap()
            .join()
            .unwrap();
    }

    #[test]
    fn the_main_stack_ends_where_its_mapping_does() {
        // SAFETY: asks only.
        let on_stack = unsafe { libc::getauxval(libc::AT_RANDOM) } as usize;
        let (_, high) = mapping_of(on_stack).unwrap();
        assert!(main_high().is_none_or(|known| known == high));
    }

    #[test]
    fn mappings() {
        let local = 0_u8;
        let address = &raw const local as usize;
        let (low, high) = mapping_of(address).unwrap();
        assert!((low..high).contains(&address));
        assert_eq!(mapping_of(0), None);
    }
}
