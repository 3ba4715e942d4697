//! What perf(1) is told of translated code: its names ([`map`]), or its bytes and source lines too
//! ([`jitdump`]), in a file of the process.
//!
//! The file is opened for each translation: descriptors are the program's to close, and a child of `fork` has
//! a file of its own. Once something cannot be written, nothing is written any more, and a
//! warning says so. Async-signal-safe.
mod jitdump;
mod map;

use std::ffi::{CStr, c_char, c_int};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use flick_translator::Translator;

use crate::config::{self, Perf};
use crate::memory::region::{last_errno, set_errno};
use crate::report::Text;
use crate::{fatal, modules};

/// Call once in a process, before it translates anything.
pub fn init(translator: &mut Translator) {
    match config::get().perf {
        Perf::Off => {}
        Perf::Map => map::init(),
        Perf::Jitdump => {
            translator.trace();
            jitdump::init();
        }
    }
}

/// Tells of the translation that was made last: where it is, and the guest address where it is entered.
pub fn add(translator: &Translator, host: Range<u64>, guest: u64) {
    // The program may be between a failure and its look at it.
    let errno = last_errno();
    match config::get().perf {
        Perf::Off => {}
        Perf::Map => map::add(host, guest),
        Perf::Jitdump => jitdump::add(host, guest, translator.spans()),
    }
    set_errno(errno);
}

/// Puts the name of the function, with the offset where it is entered, if that is not 0.
fn put_name(text: &mut Text, guest: u64) {
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
fn append_or_warn(path: &CStr, bytes: &[u8]) {
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
fn append(path: &CStr, bytes: &[u8]) -> Result<(), c_int> {
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
fn remove(path: &CStr) {
    // SAFETY: a C string.
    unsafe { libc::unlink(path.as_ptr()) };
}

/// Calls `f` with a path that has the process's number between its parts.
fn with_path<R>(before: &str, after: &str, f: impl FnOnce(&CStr) -> R) -> R {
    // SAFETY: a plain system call.
    let number = unsafe { libc::getpid() }.unsigned_abs();
    let mut path = Text::new();
    path.str(before).decimal(number).str(after).put(b"\0");
    // SAFETY: it ends in a null.
    f(unsafe { CStr::from_ptr(path.bytes().as_ptr().cast::<c_char>()) })
}
