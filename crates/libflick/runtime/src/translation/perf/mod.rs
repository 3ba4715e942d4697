//! Records of translated code for perf(1): its names ([`map`]), or its bytes and source lines too
//! ([`jitdump`]), in a file of the process.
//!
//! The file is opened for each translation: descriptors are the program's to close, and a child of
//! `fork` has a file of its own. Once something cannot be written, nothing is written any more, and
//! a warning says so. Async-signal-safe.
mod file;
mod jitdump;
mod map;

use std::ops::Range;

use flick_translator::Translator;

use crate::config::{self, Perf};
use crate::os::errno::{last_errno, set_errno};

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

/// Records the translation that was made last: where it is, and the guest address where it is
/// entered.
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
