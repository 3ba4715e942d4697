//! `poll`, `select` and their kin: tried without blocking. Who would block waits in the order, where a
//! thread that reads or writes the other end of one of the files wakes it.
use std::ffi::{c_int, c_short, c_void};

use flick_sim::thread_token::Turn;

use super::files_alone::{self, Has};
use super::{Answer, asked, cancelling, clocks, real};
use crate::accounts::timed::order::signal_waits::SignalWait;
use crate::accounts::timed::order::{self, ANY_DATA, Call, Here};
use crate::accounts::timed::sums::Wait;
use crate::os::system_call::system_call;
use crate::os::thread_clock;
use crate::os::thread_status::ThreadStatus;

/// Polls, as the kernel does: the number of files that are ready.
pub fn poll(files: usize, count: usize, milliseconds: c_int) -> isize {
    // SAFETY: the program's array, as for poll(2).
    unsafe {
        system_call(
            libc::SYS_poll,
            [files, count, milliseconds as isize as usize, 0],
        )
    }
}

/// How waiting for files has ended.
enum Waited {
    Ready,
    TimedOut,
    Interrupted,
    Cancelled,
}

/// Waits until `look`, which may wait so many milliseconds itself, finds files that are ready.
fn wait(here: &Here, deadline: Option<u64>, look: impl Fn(c_int) -> bool) -> Waited {
    while !look(0) {
        match here.wait_for_data(Wait::Data, ANY_DATA, deadline, &look) {
            Turn::TimedOut => return Waited::TimedOut,
            Turn::Ready if cancelling::is_enabled() => return Waited::Cancelled,
            Turn::Interrupted => return Waited::Interrupted,
            Turn::Ready | Turn::Woken => {}
        }
    }
    Waited::Ready
}

/// The same with another mask, if there is one: a signal that it lets through ends the waiting.
fn wait_with_mask(
    here: &Here,
    deadline: Option<u64>,
    mask: Option<u64>,
    look: impl Fn(c_int) -> bool,
) -> Waited {
    if mask.is_none() {
        return wait(here, deadline, look);
    }
    let signals = SignalWait::begin(here, 0, mask);
    let waited = loop {
        let look = |milliseconds| look(milliseconds) || signals.has_come();
        match wait(here, deadline, look) {
            // It may be blocked.
            Waited::Interrupted => {}
            waited => break waited,
        }
    };
    match (look(0), signals.end()) {
        (true, _) => Waited::Ready,
        (false, true) => Waited::Interrupted,
        (false, false) => waited,
    }
}

/// The program's mask at an address.
fn mask_at(address: usize) -> Option<u64> {
    // SAFETY: null, or the program's set, which begins with the kernel's signals.
    unsafe { (address as *const u64).as_ref() }.copied()
}

/// More is refused.
const MOST_FILES: usize = c_int::MAX as usize;

/// Of so many files `select` looks at these: the kernel leaves out those behind the process's table.
fn looked_at(count: usize) -> Option<usize> {
    if count > MOST_FILES {
        return None;
    }
    if count <= FEWEST_FILES {
        return Some(count);
    }
    let status = ThreadStatus::read(thread_clock::own_tid());
    let table = status.and_then(|status| status.value("FDSize")?.parse().ok());
    Some(count.min(table.unwrap_or(FEWEST_FILES)))
}

/// A table has room for so many at least.
const FEWEST_FILES: usize = 64;

/// The files of `select`'s sets.
struct Sets {
    places: [*mut u64; 3],
    words: usize,
    files: Vec<libc::pollfd>,
}

/// What the sets are for, as `poll` asks and answers (Linux's fs/select.c).
const ASKED: [c_short; 3] = [libc::POLLIN, libc::POLLOUT, libc::POLLPRI];
const ANSWERED: [c_short; 3] = [
    libc::POLLIN | libc::POLLHUP | libc::POLLERR,
    libc::POLLOUT | libc::POLLERR,
    libc::POLLPRI,
];

impl Sets {
    fn new(count: usize, places: [usize; 3]) -> Self {
        let words = count.div_ceil(64);
        let places = places.map(|place| place as *mut u64);
        let mut files = Vec::new();
        for file in 0..count {
            let is_in = |place: *mut u64| {
                // SAFETY: null, or the program's set of `count` bits.
                !place.is_null() && unsafe { place.add(file / 64).read() } >> (file % 64) & 1 != 0
            };
            let asked = places.iter().zip(ASKED).filter(|(place, _)| is_in(**place));
            let events = asked.fold(0, |all, (_, events)| all | events);
            if events != 0 {
                files.push(libc::pollfd {
                    fd: file as c_int,
                    events,
                    revents: 0,
                });
            }
        }
        Self {
            places,
            words,
            files,
        }
    }

    fn look(&self, milliseconds: c_int) -> Vec<libc::pollfd> {
        let mut files = self.files.clone();
        poll(files.as_mut_ptr() as usize, files.len(), milliseconds);
        files.retain(|file| file.revents != 0);
        files
    }

    /// Writes which files are ready: how many times, or that one is none.
    fn answer(&self) -> Answer {
        let found = self.look(0);
        if found.iter().any(|file| file.revents & libc::POLLNVAL != 0) {
            return Answer::error(libc::EBADF);
        }
        let mut count = 0;
        for ((&place, asked), answered) in self.places.iter().zip(ASKED).zip(ANSWERED) {
            if place.is_null() {
                continue;
            }
            // SAFETY: the program's set.
            let set = unsafe { std::slice::from_raw_parts_mut(place, self.words) };
            set.fill(0);
            for file in &found {
                if file.events & asked != 0 && file.revents & answered != 0 {
                    set[file.fd as usize / 64] |= 1 << (file.fd % 64);
                    count += 1;
                }
            }
        }
        Answer::value(count)
    }
}

/// `select` and `pselect`: the answer. `None`: the C library's function goes on.
fn select(
    here: &Here,
    [count, sets @ ..]: [usize; 4],
    deadline: Option<u64>,
    mask: Option<u64>,
) -> Option<Answer> {
    let sets = Sets::new(looked_at(count)?, sets);
    let look = |milliseconds| !sets.look(milliseconds).is_empty();
    match wait_with_mask(here, deadline, mask, look) {
        Waited::Ready | Waited::TimedOut => Some(sets.answer()),
        Waited::Interrupted => Some(Answer::error(libc::EINTR)),
        Waited::Cancelled => None,
    }
}

/// The same in a program with one thread, and what is left of its time.
fn select_alone(
    files: [usize; 4],
    limit: Option<libc::timespec>,
    mask: usize,
) -> Option<(Answer, u64)> {
    let limit = files_alone::limit(limit)?;
    let [count, sets @ ..] = files;
    let sets = Sets::new(looked_at(count)?, sets);
    let has_files = match sets.files.is_empty() {
        true => Has::None,
        false if sets.look(0).is_empty() => Has::Some,
        false => Has::Ready,
    };
    Some(files_alone::select(files, has_files, limit, mask))
}

/// Whether a time is one that the C library takes.
fn is_valid(seconds: i64, parts: i64, most: i64) -> bool {
    seconds >= 0 && (0..most).contains(&parts)
}

/// A call that waits: in the order, or alone (`None`: it does not sleep there), or in the kernel.
fn waits(
    call: Call,
    real: *const c_void,
    ordered: impl FnOnce(&Here) -> Option<Answer>,
    alone: impl FnOnce() -> Option<Answer>,
) -> Answer {
    let answer = match order::point(call) {
        Some(here) => ordered(&here),
        None => alone(),
    };
    answer.unwrap_or(Answer::go_on(real))
}

/// How the C library's function goes on behind waiting for files.
fn polled(waited: Waited) -> Option<Answer> {
    match waited {
        Waited::TimedOut => Some(Answer::value(0)),
        Waited::Interrupted => Some(Answer::error(libc::EINTR)),
        Waited::Ready | Waited::Cancelled => None,
    }
}

asked! {
    poll(arguments, place) {
        let [files, count, milliseconds, ..] = *arguments;
        let limit = u64::try_from(milliseconds as c_int).ok();
        let time = limit.map(|limit| clocks::timespec(limit * 1_000_000));
        let ordered = |here: &Here| {
            let deadline = limit.map(|limit| here.now().saturating_add(limit * 1_000_000_000));
            let look = |milliseconds| poll(files, count, milliseconds) != 0;
            match limit {
                Some(0) => None,
                _ => polled(wait(here, deadline, look)),
            }
        };
        let alone = || Some(files_alone::poll(files, count, files_alone::limit(time)?, 0));
        waits(Call::new("poll", place), real!(poll), ordered, alone)
    }
    ppoll(arguments, place) {
        let [files, count, time, mask, ..] = *arguments;
        let real = real!(ppoll);
        // SAFETY: null, or the program's time.
        let limit = unsafe { (time as *const libc::timespec).as_ref() }.copied();
        if !limit.is_none_or(|time| is_valid(time.tv_sec, time.tv_nsec, 1_000_000_000)) {
            return Answer::go_on(real);
        }
        let ordered = |here: &Here| {
            let deadline = clocks::timeout(here, time);
            let look = |milliseconds| poll(files, count, milliseconds) != 0;
            polled(wait_with_mask(here, deadline, mask_at(mask), look))
        };
        let alone = || Some(files_alone::poll(files, count, files_alone::limit(limit)?, mask));
        waits(Call::new("ppoll", place), real, ordered, alone)
    }
    select(arguments, place) {
        let [count, read, write, other, time, _] = *arguments;
        let files = [count, read, write, other];
        let time = time as *mut libc::timeval;
        let real = real!(select);
        // SAFETY: null, or the program's time.
        let limit = unsafe { time.as_ref() }.copied();
        if !limit.is_none_or(|limit| is_valid(limit.tv_sec, limit.tv_usec, 1_000_000)) {
            return Answer::go_on(real);
        }
        let limit = limit.map(|limit| libc::timespec {
            tv_sec: limit.tv_sec,
            tv_nsec: limit.tv_usec * 1000,
        });
        // What is left, as Linux says it. Nanoseconds.
        let leave = |left: u64| {
            // SAFETY: the program's time.
            unsafe { time.write(clocks::timeval(left)) };
        };
        let ordered = |here: &Here| {
            let deadline = limit.map(|limit| {
                here.now().saturating_add(clocks::length(&limit).saturating_mul(1000))
            });
            let answer = select(here, files, deadline, None)?;
            if let Some(deadline) = deadline {
                leave(deadline.saturating_sub(here.now()) / 1000);
            }
            Some(answer)
        };
        let alone = || {
            let (answer, left) = select_alone(files, limit, 0)?;
            leave(left);
            Some(answer)
        };
        waits(Call::new("select", place), real, ordered, alone)
    }
    pselect(arguments, place) {
        let [count, read, write, other, time, mask] = *arguments;
        let files = [count, read, write, other];
        let real = real!(pselect);
        // SAFETY: null, or the program's time.
        let limit = unsafe { (time as *const libc::timespec).as_ref() }.copied();
        if !limit.is_none_or(|time| is_valid(time.tv_sec, time.tv_nsec, 1_000_000_000)) {
            return Answer::go_on(real);
        }
        let ordered = |here: &Here| {
            select(here, files, clocks::timeout(here, time), mask_at(mask))
        };
        let alone = || Some(select_alone(files, limit, mask)?.0);
        waits(Call::new("pselect", place), real, ordered, alone)
    }
}

/// Whether one file is ready.
pub fn is_ready(file: c_int, events: c_short, milliseconds: c_int) -> bool {
    let mut look = libc::pollfd {
        fd: file,
        events,
        revents: 0,
    };
    poll(std::ptr::from_mut(&mut look) as usize, 1, milliseconds) != 0
}
