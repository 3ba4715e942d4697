//! A file that perf(1) reads: its path, its names, and what happens where it cannot be written.
use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::modules;
use crate::os::errno::last_errno;
use crate::os::fatal;
use crate::os::text::Text;

/// Puts the name of the function, with the offset where it is entered, if that is not 0.
pub fn put_name(text: &mut Text, guest: u64) {
    // The last one is the function that all the code is of.
    let mut function = None;
    modules::describe(guest, |place| function = Some(place));
    match function {
        // SAFETY: names are C strings of the module.
        Some(place) => unsafe {
            text.c_str(place.function);
            if let Some(offset) = place.offset.filter(|&offset| offset != 0) {
                text.str("+0x").hex(offset, 0);
            }
        },
        None => {
            text.str("0x").hex(guest, 0);
        }
    }
    text.str(" [NxP]");
}

/// Whether something could not be written.
static BROKEN: AtomicBool = AtomicBool::new(false);

/// Appends to a file, or says once that nothing more will be in it.
pub fn append_or_warn(path: &CStr, bytes: &[u8]) {
    if BROKEN.load(Relaxed) {
        return;
    }
    if let Err(errno) = append(path, bytes)
        && !BROKEN.swap(true, Relaxed)
    {
        let remedy = "make room in /tmp, or set FLICK_PERF=off";
        fatal::cannot_write("what perf is to read (/tmp, FLICK_PERF)", errno, remedy);
    }
}

/// Appends to a file; errno where not all was written.
pub fn append(path: &CStr, bytes: &[u8]) -> Result<(), c_int> {
    let flags =
        libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: a C string.
    let file = unsafe { libc::open(path.as_ptr(), flags, 0o600 as c_int) };
    if file < 0 {
        return Err(last_errno());
    }
    let written = fatal::write_all(file, bytes);
    // SAFETY: opened above.
    unsafe { libc::close(file) };
    written
}

/// Drops what an earlier process with this number has left.
pub fn remove(path: &CStr) {
    // SAFETY: a C string.
    unsafe { libc::unlink(path.as_ptr()) };
}

/// Calls `f` with a path that has the process's number between its parts.
pub fn with_path<R>(before: &str, after: &str, f: impl FnOnce(&CStr) -> R) -> R {
    // SAFETY: a plain system call.
    let number = unsafe { libc::getpid() }.unsigned_abs();
    let mut path = Text::new();
    path.str(before).decimal(number).str(after).put(b"\0");
    // SAFETY: it ends in a null.
    f(unsafe { CStr::from_ptr(path.bytes().as_ptr().cast::<c_char>()) })
}
