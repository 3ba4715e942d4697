//! A thread's part of the trace (`FLICK_TRACE`), and the file.
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use flick_events::timed::Timed;
use flick_events::trace::{self, Detail, Event, Ids, Interval, MIN_BUFFER, Recorder, Side, What};
use flick_timing::Calls;

use super::setting::{self, picoseconds};
use super::things;
use crate::locks::bounded::{self, held};
use crate::os::errno::{last_errno, set_errno};
use crate::os::system_call::system_call;
use crate::os::{fatal, process_facts};

/// The file; -1: no trace is wanted.
static FILE: AtomicI32 = AtomicI32::new(-1);

pub fn enabled() -> bool {
    FILE.load(Relaxed) >= 0
}

/// Bytes that the file may have, of all processes.
static MOST: AtomicU64 = AtomicU64::new(u64::MAX);
/// The [`Detail`] that there is room for.
static DETAIL: AtomicU8 = AtomicU8::new(Detail::Events as u8);
/// What threads have done that have ended without a block of their own.
static REST: Mutex<Option<Interval>> = Mutex::new(None);

/// What there is room for.
pub fn detail() -> Detail {
    Detail::numbered(DETAIL.load(Relaxed))
}

/// Opens the trace. Call once, before threads have states. The file may have `most` bytes.
pub fn init(path: &OsStr, most: Option<u64>) {
    // An eighth is for what each process writes at its end: names and the prediction.
    MOST.store(most.map_or(u64::MAX, |most| most - most / 8), Relaxed);
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
    look_for_room(file);
    set_errno(before);
}

/// Chooses the detail by the size of the file, to which other processes append, too.
fn look_for_room(file: RawFd) {
    let most = MOST.load(Relaxed);
    if most == u64::MAX {
        return;
    }
    let mut about = MaybeUninit::<libc::stat>::zeroed();
    let place = about.as_mut_ptr() as usize;
    // SAFETY: a place for the record, which the kernel fills; until then it has zeroes.
    let size = unsafe {
        if system_call(libc::SYS_fstat, [file as usize, place]) != 0 {
            return;
        }
        about.assume_init().st_size
    };
    let detail = Detail::of(u64::try_from(size).unwrap_or(0), most);
    // It never becomes finer: a thread has sums to its end.
    DETAIL.fetch_max(detail as u8, Relaxed);
}

/// As many threads as have ended without a block.
static MERGED: AtomicU32 = AtomicU32::new(0);

/// A signal handler that interrupts this is left out.
fn merge(more: Interval) {
    MERGED.fetch_add(1, Relaxed);
    if let Some(mut rest) = bounded::lock(&REST) {
        rest.get_or_insert_default().merge(more);
    }
}

static THREADS: AtomicU32 = AtomicU32::new(1);

fn write_rest() {
    let Some(mut rest) = held(&REST).take() else {
        return;
    };
    let mut buffer = vec![0; MIN_BUFFER];
    let thread = THREADS.fetch_add(1, Relaxed);
    let mut recorder = Recorder::new(&mut buffer, std::process::id(), thread);
    let count = MERGED.load(Relaxed);
    let name = format!("{count} threads in one sum");
    recorder.put_all(name.as_bytes(), &mut rest, write);
}

/// Samples of one thread after which they become half as frequent.
const MANY: u64 = 1 << 12;
/// The first period in femtoseconds.
const PERIOD: u64 = 10_000_000_000;
const BUFFER: usize = 64 << 10;

/// A thread's part of the trace.
pub struct Tracer {
    pub recorder: Recorder<'static>,
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
        let buffer = Box::leak(vec![0; BUFFER].into_boxed_slice());
        let thread = THREADS.fetch_add(1, Relaxed);
        let mut tracer = Self {
            recorder: Recorder::new(buffer, std::process::id(), thread),
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
        let name = name.as_bytes();
        self.put(picoseconds(now), What::ThreadStart { name });
    }

    pub fn put(&mut self, time: u64, what: What<'_>) {
        if !std::mem::replace(&mut self.busy, true) {
            self.recorder.put(detail(), write, Event { time, what });
            self.busy = false;
        }
    }

    pub fn sample(&mut self, now: u128, side: Side, weight: u64, staying: u64, stack: &[u32]) {
        let what = What::Sample {
            side,
            weight,
            staying,
            stack: Ids::new(stack),
        };
        self.put(picoseconds(now), what);
        self.samples += 1;
        if self.samples.is_multiple_of(MANY) {
            self.period *= 2;
        }
    }

    /// The thread ends at `now`.
    pub fn thread_ends(&mut self, now: u128) {
        self.end(picoseconds(now), detail());
    }

    fn end(&mut self, now: u64, detail: Detail) {
        if !std::mem::replace(&mut self.busy, true) {
            if let Some(rest) = self.recorder.end(detail, now, write) {
                merge(rest);
            }
            self.recorder.flush(write);
            self.busy = false;
        }
    }

    /// The child of a fork is another process.
    pub fn forked(&mut self) {
        begin();
        self.thread = 1;
        self.recorder.restart(std::process::id(), 1);
        *held(&REST) = None;
        self.busy = false;
    }

    /// Names all that has a number and writes the totals, at the end of the process.
    pub fn finish(&mut self, now: u64, total: &Timed) {
        for (thing, id) in things::take() {
            let name = things::name(thing);
            let (text, file, line) = (name.text.as_bytes(), name.file.as_bytes(), name.line);
            let what = What::Name {
                id,
                text,
                file,
                line,
            };
            self.put(now, what);
        }
        // Whatever there is room for: a process has one such thread.
        self.end(now, detail().min(Detail::Long));
        write_rest();
        write(&trace::prediction_block(std::process::id(), total));
    }
}
