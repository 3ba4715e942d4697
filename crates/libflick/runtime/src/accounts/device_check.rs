//! `FLICK_CHECK=device`: reports what a program gets from the inline backend and from no real
//! device: caches that are coherent with the host's, the host's order of memory, atomics across the
//! link.
//!
//! A device's caches are made to agree with the host's at crossings. So what counts is a
//! *residency*: from the moment at which a thread enters NxP code, or comes back to it from a host
//! function, to the next one at which it leaves. Within a residency no line of memory that its NxP
//! code uses may be used by the host code of another thread, unless both only read. Locks of the C
//! library end residencies, since NxP code calls the host for them; data that they protect are not
//! reported.
//!
//! The engine reports NxP code's accesses ([`Watcher`]); host code records its own where it is
//! compiled with `--flick-check=device` ([`__flick_check`]). Each line has a record of the last
//! read and the last write of each side. Records share a table and may displace each other: an
//! access can be missed, and none is made up.
use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};

use flick_engine::Observer;
use flick_sync::{Tally, spread};

use crate::modules;
use crate::os::fatal;
use crate::thread::Current;

static ENABLED: AtomicBool = AtomicBool::new(false);

/// Whether the process checks. Then NxP code runs on the counted paths.
#[inline]
pub fn enabled() -> bool {
    ENABLED.load(Relaxed)
}

/// Starts to check. Call once, before gates get their targets.
pub fn init() {
    ENABLED.store(true, Relaxed);
    // SAFETY: a plain function that lives as long as the process.
    unsafe { libc::atexit(finish) };
}

/// Bytes of a cache line, of the host's and of what the paper's NxP has.
const LINE: u64 = 64;

/// Goes on at each beginning of a residency: its number, and the time of what the host does.
static CLOCK: AtomicU64 = AtomicU64::new(1);

/// A thread's place here is by its number. Where two threads share a place, residencies are lost.
const THREADS: usize = 1 << 12;
/// The residency in which the thread is, or 0.
static RESIDENCIES: [AtomicU64; THREADS] = [const { AtomicU64::new(0) }; THREADS];

/// Never 0.
fn this_thread() -> usize {
    // A thread that has not crossed has no residencies.
    Current::get().map_or(THREADS, |thread| {
        spread(thread.number() as u64) % (THREADS - 1) + 1
    })
}

/// The last access of its kind to a line.
#[derive(Clone, Copy)]
struct Access {
    /// A residency's number (NxP), or the clock (host).
    when: u64,
    thread: usize,
    /// One bit for each byte of the line.
    bytes: u64,
    atomic: bool,
    /// The NxP's pc, or the address of the host's text.
    place: usize,
}

impl Access {
    const NONE: Self = Self {
        when: 0,
        thread: 0,
        bytes: 0,
        atomic: false,
        place: 0,
    };

    fn put(&mut self, mut new: Access) {
        if self.when == new.when && self.thread == new.thread {
            new.bytes |= self.bytes;
            new.atomic |= self.atomic;
        }
        *self = new;
    }
}

/// Reads and writes: index 0 and 1.
type Side = [Access; 2];

struct Line {
    /// 1 while somebody looks at it. A signal handler that finds it so gives up.
    busy: AtomicU32,
    record: std::cell::UnsafeCell<Record>,
}

struct Record {
    number: u64,
    nxp: Side,
    host: Side,
}

// SAFETY: the record is touched only by who has made `busy` 1.
unsafe impl Sync for Line {}

const LINES: usize = 1 << 14;
static TABLE: [Line; LINES] = [const {
    Line {
        busy: AtomicU32::new(0),
        record: std::cell::UnsafeCell::new(Record {
            number: 0,
            nxp: [Access::NONE; 2],
            host: [Access::NONE; 2],
        }),
    }
}; LINES];

impl Line {
    /// Calls `f` with the record of line `number`, unless another is at it for long.
    fn with(number: u64, f: impl FnOnce(&mut Record)) {
        const ATTEMPTS: usize = 1 << 10;
        let line = &TABLE[spread(number) % LINES];
        for _ in 0..ATTEMPTS {
            if line.busy.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
                // SAFETY: `busy` keeps everybody else out.
                let record = unsafe { &mut *line.record.get() };
                if record.number != number {
                    *record = Record {
                        number,
                        nxp: [Access::NONE; 2],
                        host: [Access::NONE; 2],
                    };
                }
                f(record);
                line.busy.store(0, Release);
                return;
            }
            std::thread::yield_now();
        }
    }
}

/// The lines of `size` bytes at `address`, with the bytes of each that are meant.
fn lines(address: u64, size: u64) -> impl Iterator<Item = (u64, u64)> {
    // Of a large copy only the beginning counts.
    let end = address.saturating_add(size.min(64 * LINE));
    (address / LINE..end.div_ceil(LINE)).map(move |number| {
        let first = address.saturating_sub(number * LINE);
        let last = (end - number * LINE).min(LINE);
        (number, (u64::MAX >> (LINE - (last - first))) << first)
    })
}

/// Watches one residency.
pub struct Watcher {
    residency: u64,
    thread: usize,
    pc: u64,
    atomic: bool,
}

impl Watcher {
    pub fn begin() -> Self {
        let residency = CLOCK.fetch_add(1, SeqCst) + 1;
        let thread = this_thread();
        if thread < THREADS {
            RESIDENCIES[thread].store(residency, SeqCst);
        }
        Self {
            residency,
            thread,
            pc: 0,
            atomic: false,
        }
    }

    pub fn end(self) {
        if self.thread < THREADS {
            RESIDENCIES[self.thread].store(0, SeqCst);
        }
    }

    fn access(&self, address: u64, size: u64, write: bool) {
        for (number, bytes) in lines(address, size) {
            let mine = Access {
                when: self.residency,
                thread: self.thread,
                bytes,
                atomic: self.atomic,
                place: self.pc as usize,
            };
            let mut conflict = None;
            Line::with(number, |line| {
                line.nxp[usize::from(write)].put(mine);
                let others = &line.host[usize::from(!write)..];
                conflict = others
                    .iter()
                    .rev()
                    .find(|host| host.when >= self.residency && host.thread != self.thread)
                    .copied();
            });
            if let Some(host) = conflict {
                report(number, write, &mine, &host);
            }
        }
    }
}

impl Observer for Watcher {
    #[inline]
    fn at(&mut self, pc: u64) {
        self.pc = pc;
        self.atomic = false;
    }

    #[inline]
    fn atomic(&mut self) {
        self.atomic = true;
    }

    #[inline]
    fn load(&mut self, addr: u64, len: u64) {
        self.access(addr, len, false);
    }

    #[inline]
    fn store(&mut self, addr: u64, len: u64) {
        self.access(addr, len, true);
    }
}

const WRITE: u32 = 1;
const ATOMIC: u32 = 2;

/// What host code compiled with `--flick-check=device` calls before each access to memory: `kind`
/// is 1 for a write, plus 2 for an atomic access; `place` a text that lives as long as the process,
/// or as the library that it is in is needed.
///
/// # Safety
/// `place` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_check(address: u64, size: u64, kind: u32, place: *const c_char) {
    static KNOWN: AtomicBool = AtomicBool::new(false);
    if !enabled() || size == 0 {
        return;
    }
    if !KNOWN.load(Relaxed) {
        KNOWN.store(true, Relaxed);
        INSTRUMENTED.store(true, Relaxed);
    }
    let write = kind & WRITE != 0;
    for (number, bytes) in lines(address, size) {
        let mine = Access {
            when: CLOCK.load(SeqCst),
            thread: this_thread(),
            bytes,
            atomic: kind & ATOMIC != 0,
            place: place as usize,
        };
        let mut conflict = None;
        Line::with(number, |line| {
            line.host[usize::from(write)].put(mine);
            let is_in_residency = |nxp: &&Access| {
                nxp.when != 0
                    && nxp.thread != mine.thread
                    && nxp.thread < THREADS
                    && RESIDENCIES[nxp.thread].load(SeqCst) == nxp.when
            };
            let others = line.nxp.iter().enumerate().skip(usize::from(!write));
            conflict = others
                .rev()
                .find(|(_, nxp)| is_in_residency(nxp))
                .map(|(kind, nxp)| (kind == 1, *nxp));
        });
        if let Some((nxp_writes, nxp)) = conflict {
            report(number, nxp_writes, &nxp, &mine);
        }
    }
}

/// Whether any host code has recorded an access.
static INSTRUMENTED: AtomicBool = AtomicBool::new(false);

/// Pairs of places, by a hash of both, and how many have been reported.
static SEEN: Tally<1024> = Tally::new();
static REPORTED: AtomicUsize = AtomicUsize::new(0);
const MOST: usize = 20;

/// Whether this pair of places is new.
fn is_new(nxp: &Access, host: &Access) -> bool {
    let pair = spread(nxp.place as u64) << 32 | spread(host.place as u64) | 1;
    SEEN.add(pair) == Some(0)
}

#[cold]
fn report(line: u64, nxp_writes: bool, nxp: &Access, host: &Access) {
    if !is_new(nxp, host) || REPORTED.fetch_add(1, Relaxed) >= MOST {
        return;
    }
    let both = nxp.bytes & host.bytes;
    let bytes = if both == 0 { nxp.bytes } else { both };
    let address = line * LINE + u64::from(bytes.trailing_zeros());
    let (why, remedy) = if both == 0 {
        (
            "other bytes of one cache line, which needs coherent caches",
            "give what each side uses lines of its own (alignas(64), flick_alloc), or let them meet at crossings",
        )
    } else if nxp.atomic || host.atomic {
        (
            "an atomic access across the link",
            "let one side do it for both, or use locks of the C library, for which the thread crosses",
        )
    } else {
        (
            "the same bytes, which needs coherent caches and the host's order of memory",
            "use locks of the C library, for which the thread crosses, or let the call end first",
        )
    };
    // SAFETY: the text is the instrumented code's.
    let host_place = unsafe { CStr::from_ptr(host.place as *const c_char) }.to_string_lossy();
    fatal::warn(
        "FLK0508",
        &format!(
            "no device gives this: NxP code {} {address:#x} at {}, and host code of another thread at \
             {host_place} uses it without a crossing between: {why}",
            if nxp_writes { "writes" } else { "reads" },
            nxp_place(nxp.place as u64),
        ),
        remedy,
    );
}

fn nxp_place(pc: u64) -> String {
    let Some(place) = modules::innermost(pc) else {
        return format!("{pc:#x}");
    };
    // SAFETY: names are C strings of the module.
    let text = |name| unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let function = text(place.function);
    let function = flick_names::demangled(&function);
    if place.file.is_null() {
        format!("{function}+{:#x}", place.offset.unwrap_or(0))
    } else {
        format!("{function} ({}:{})", text(place.file), place.line)
    }
}

extern "C" fn finish() {
    let more = REPORTED.load(Relaxed).saturating_sub(MOST);
    if more > 0 {
        fatal::warn(
            "FLK0508",
            &format!("{more} more pairs of places do what no device gives"),
            "repair those above first",
        );
    }
    if !INSTRUMENTED.load(Relaxed) {
        fatal::warn(
            "FLK0508",
            "FLICK_CHECK=device: no host code has recorded its accesses, so nothing could be compared",
            "compile with --flick-check=device",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_cut_into_lines() {
        let of = |address, size| lines(address, size).collect::<Vec<_>>();
        assert_eq!(of(64, 8), [(1, 0xff)]);
        assert_eq!(of(127, 1), [(1, 1 << 63)]);
        assert_eq!(of(124, 8), [(1, 0xf << 60), (2, 0xf)]);
        assert_eq!(of(0, 64), [(0, u64::MAX)]);
        assert_eq!(of(64, 0), []);
    }

    #[test]
    fn records_join_within_a_stay_only() {
        let access = |when, bytes, atomic| Access {
            when,
            thread: 1,
            bytes,
            atomic,
            place: 0,
        };
        let mut known = access(5, 1, true);
        known.put(access(5, 2, false));
        assert_eq!((known.bytes, known.atomic), (3, true));
        known.put(access(6, 4, false));
        assert_eq!((known.bytes, known.atomic), (4, false));
    }
}
