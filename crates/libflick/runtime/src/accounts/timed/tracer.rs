//! A thread's part of the trace (`FLICK_TRACE`), and the file.
use std::ffi::OsStr;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};

use flick_events::timed::Timed;
use flick_events::trace::{self, Encoder, Side};
use flick_timing::Calls;

use super::setting::{self, picoseconds};
use super::things;
use crate::os::errno::{last_errno, set_errno};
use crate::os::{fatal, process_facts};

/// The file; -1: no trace is wanted.
static FILE: AtomicI32 = AtomicI32::new(-1);

pub fn enabled() -> bool {
    FILE.load(Relaxed) >= 0
}

/// Opens the trace. Call once, before threads have states.
pub fn init(path: &OsStr) {
    let mut name = path.as_bytes().to_vec();
    name.push(0);
    let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC;
    // SAFETY: a C string.
    let file: RawFd = unsafe { libc::open(name.as_ptr().cast(), flags, 0o666) };
    if file < 0 {
        fatal::warn(
            "FLK0105",
            &format!(
                "the trace cannot be written: {}: {}",
                Path::new(path).display(),
                std::io::Error::last_os_error()
            ),
            "name a file that can be written in FLICK_TRACE",
        );
        return;
    }
    FILE.store(file, Relaxed);
    begin();
}

fn begin() {
    if let Some(setting) = setting::setting() {
        let platform = setting.platform.name.as_bytes();
        let program = process_facts::program();
        write(&trace::process_block(
            std::process::id(),
            program.as_bytes(),
            platform,
        ));
    }
}

/// errno of the write that failed; 0: none has.
static LOST: AtomicI32 = AtomicI32::new(0);

/// Why the trace is not whole, if it is not.
pub fn lost() -> Option<String> {
    let errno = LOST.load(Relaxed);
    (errno != 0).then(|| std::io::Error::from_raw_os_error(errno).to_string())
}

/// One block by one write, so that those of several threads do not mix. What follows one that had
/// no room is not written: nobody could read it.
pub(super) fn write(block: &[u8]) {
    let file = FILE.load(Relaxed);
    if file < 0 || LOST.load(Relaxed) != 0 {
        return;
    }
    // The program may be between a failure and its look at it.
    let before = last_errno();
    if let Err(errno) = fatal::write_all(file, block)
        && LOST.swap(errno, Relaxed) == 0
    {
        let remedy = "make room, or name a file elsewhere (flick record -o, FLICK_TRACE)";
        fatal::cannot_write("the trace", errno, remedy);
    }
    set_errno(before);
}

/// Samples of one thread after which they become half as frequent.
const MANY: u64 = 1 << 12;
/// The first period in femtoseconds.
const PERIOD: u64 = 10_000_000_000;
const BUFFER: usize = 64 << 10;

/// A thread's part of the trace.
pub struct Tracer {
    pub encoder: Encoder<'static>,
    /// Its number in the trace.
    pub thread: u32,
    /// The NxP functions that the thread is in, and the host functions that have called them.
    pub calls: Calls,
    /// Femtoseconds between two samples of a side.
    pub period: u64,
    samples: u64,
    /// Host time that no sample stands for yet: of libraries and accesses, which the clock does not
    /// count.
    pub pending: u64,
    /// The clock, and NxP time of both worlds, at the last sample.
    pub host: u128,
    pub nxp: (u64, u64),
    pub busy: bool,
}

impl Tracer {
    /// Of the calling thread, whose time is `now`; `None` where no trace is wanted.
    pub fn new(now: u128) -> Option<Self> {
        if !enabled() || setting::is_profiled() {
            return None;
        }
        static THREADS: AtomicU32 = AtomicU32::new(1);
        let buffer = Box::leak(vec![0; BUFFER].into_boxed_slice());
        let thread = THREADS.fetch_add(1, Relaxed);
        let mut tracer = Self {
            encoder: Encoder::new(buffer, std::process::id(), thread),
            thread,
            calls: Calls::default(),
            period: PERIOD,
            samples: 0,
            pending: 0,
            host: 0,
            nxp: (0, 0),
            busy: false,
        };
        tracer.start(now);
        Some(tracer)
    }

    pub fn start(&mut self, now: u128) {
        let name = if self.thread == 1 {
            "main".to_owned()
        } else {
            format!("thread {}", self.thread)
        };
        self.put(|encoder| encoder.thread_start(picoseconds(now), name.as_bytes()));
    }

    pub fn put(&mut self, event: impl Fn(&mut Encoder<'static>) -> bool) {
        if !std::mem::replace(&mut self.busy, true) {
            self.encoder.with(write, event);
            self.busy = false;
        }
    }

    pub fn sample(&mut self, now: u128, side: Side, weight: u64, staying: u64, stack: &[u32]) {
        let time = picoseconds(now);
        self.put(|encoder| encoder.sample(time, side, weight, staying, stack));
        self.samples += 1;
        if self.samples.is_multiple_of(MANY) {
            self.period *= 2;
        }
    }

    pub fn flush(&mut self) {
        if !self.busy {
            self.encoder.flush(write);
        }
    }

    /// The thread ends at `now`.
    pub fn thread_ends(&mut self, now: u128) {
        self.put(|encoder| encoder.thread_end(picoseconds(now)));
        self.flush();
    }

    /// The child of a fork is another process.
    pub fn forked(&mut self) {
        begin();
        self.thread = 1;
        self.encoder.restart(std::process::id(), 1);
        self.busy = false;
    }

    /// Names all that has a number and writes the totals, at the end of the process.
    pub fn finish(&mut self, now: u64, total: &Timed) {
        for (thing, id) in things::take() {
            let name = things::name(thing);
            self.put(|encoder| {
                encoder.name(id, name.text.as_bytes(), name.file.as_bytes(), name.line)
            });
        }
        self.put(|encoder| encoder.thread_end(now));
        self.flush();
        write(&trace::prediction_block(std::process::id(), total));
    }
}
