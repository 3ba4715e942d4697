//! Names of translated code for perf(1): `/tmp/perf-PID.map` (Linux, tools/perf/Documentation,
//! jit-interface.txt), a line for each translation.
//!
//! The file is opened for each line: descriptors are the program's to close, and a child of `fork` has a
//! file of its own. A line that cannot be written is missing. Async-signal-safe.
use std::ffi::{CStr, c_char, c_int};
use std::ops::Range;

use crate::config;
use crate::memory::region::{last_errno, set_errno};
use crate::modules;
use crate::report::Text;

/// Drops what an earlier process with this number has left. Call once in each process.
pub fn init() {
    if config::get().perf_map {
        with_path(|path| {
            // SAFETY: a C string.
            unsafe { libc::unlink(path.as_ptr()) };
        });
    }
}

/// Tells of a new translation: where it is, and the guest address where it is entered.
pub fn add(host: Range<u64>, guest: u64) {
    if !config::get().perf_map {
        return;
    }
    let mut line = Text::new();
    line.hex(host.start, 0).str(" ");
    line.hex(host.end - host.start, 0).str(" ");
    // The last one is the function that all the code is of.
    let mut function = None;
    modules::describe(guest, |place| function = Some(place));
    match function {
        // SAFETY: names are C strings of the module.
        Some(place) => unsafe {
            line.c_str(place.function);
            if let Some(offset) = place.offset.filter(|&offset| offset != 0) {
                line.str("+0x").hex(offset, 0);
            }
        },
        None => {
            line.str("0x").hex(guest, 0);
        }
    }
    line.str(" [NxP]\n");
    with_path(|path| {
        // The program may be between a failure and its look at it.
        let errno = last_errno();
        let flags =
            libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC | libc::O_NOFOLLOW;
        // SAFETY: a C string, and a buffer with its length.
        unsafe {
            let file = libc::open(path.as_ptr(), flags, 0o600 as c_int);
            if file >= 0 {
                libc::write(file, line.bytes().as_ptr().cast(), line.bytes().len());
                libc::close(file);
            }
        }
        set_errno(errno);
    });
}

fn with_path(f: impl FnOnce(&CStr)) {
    // SAFETY: a plain system call.
    let mut number = unsafe { libc::getpid() }.unsigned_abs();
    let mut path = *b"/tmp/perf-0000000000.map\0";
    let digits = 10..20;
    let mut first = digits.end;
    while first > digits.start && (number != 0 || first == digits.end) {
        first -= 1;
        path[first] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    path.copy_within(first.., digits.start);
    // SAFETY: moved down with its end.
    f(unsafe { CStr::from_ptr(path.as_ptr().cast::<c_char>()) });
}
