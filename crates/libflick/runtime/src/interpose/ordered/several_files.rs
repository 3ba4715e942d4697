//! `poll`, `select` and their kin: tried without blocking. Who would block waits in the order, where a
//! thread that reads or writes the other end of one of the files wakes it.
use std::ffi::{c_int, c_short};

use flick_sim::thread_token::Turn;

use super::{Answer, cancelling, clocks, ordered, real};
use crate::accounts::timed::order::signal_waits::SignalWait;
use crate::accounts::timed::order::{ANY_DATA, Here};
use crate::accounts::timed::sums::Wait;
use crate::os::system_call::system_call;

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
    let most = c_int::MAX as usize;
    let sets = Sets::new(Some(count).filter(|&count| count <= most)?, sets);
    let look = |milliseconds| !sets.look(milliseconds).is_empty();
    match wait_with_mask(here, deadline, mask, look) {
        Waited::Ready | Waited::TimedOut => Some(sets.answer()),
        Waited::Interrupted => Some(Answer::error(libc::EINTR)),
        Waited::Cancelled => None,
    }
}

/// Whether a time is one that the C library takes.
fn is_valid(seconds: i64, parts: i64, most: i64) -> bool {
    seconds >= 0 && (0..most).contains(&parts)
}

ordered! {
    poll(arguments, here) {
        let [files, count, milliseconds, ..] = *arguments;
        let milliseconds = milliseconds as c_int;
        let limit = u64::try_from(milliseconds).ok();
        let deadline = limit.map(|limit| here.now().saturating_add(limit * 1_000_000_000));
        let look = |milliseconds| poll(files, count, milliseconds) != 0;
        if milliseconds != 0 {
            match wait(&here, deadline, look) {
                Waited::TimedOut => return Answer::value(0),
                Waited::Interrupted => return Answer::error(libc::EINTR),
                Waited::Ready | Waited::Cancelled => {}
            }
        }
        Answer::go_on(real!(poll))
    }
    ppoll(arguments, here) {
        let [files, count, time, mask, ..] = *arguments;
        let look = |milliseconds| poll(files, count, milliseconds) != 0;
        // SAFETY: null, or the program's time.
        let limit = unsafe { (time as *const libc::timespec).as_ref() };
        if limit.is_none_or(|time| is_valid(time.tv_sec, time.tv_nsec, 1_000_000_000)) {
            let deadline = clocks::timeout(&here, time);
            match wait_with_mask(&here, deadline, mask_at(mask), look) {
                Waited::TimedOut => return Answer::value(0),
                Waited::Interrupted => return Answer::error(libc::EINTR),
                Waited::Ready | Waited::Cancelled => {}
            }
        }
        Answer::go_on(real!(ppoll))
    }
    select(arguments, here) {
        let [count, read, write, other, time, _] = *arguments;
        let time = time as *mut libc::timeval;
        // SAFETY: null, or the program's time.
        let limit = unsafe { time.as_ref() }.copied();
        let real = real!(select);
        if !limit.is_none_or(|limit| is_valid(limit.tv_sec, limit.tv_usec, 1_000_000)) {
            return Answer::go_on(real);
        }
        let length = |limit: libc::timeval| {
            (limit.tv_sec as u64).saturating_mul(1_000_000).saturating_add(limit.tv_usec as u64)
        };
        let deadline = limit.map(|limit| {
            here.now().saturating_add(length(limit).saturating_mul(1_000_000))
        });
        let answer = select(&here, [count, read, write, other], deadline, None);
        if let (Some(deadline), Some(_)) = (deadline, &answer) {
            // What is left, as Linux says it.
            let left = deadline.saturating_sub(here.now()) / 1_000_000;
            let left = libc::timeval {
                tv_sec: (left / 1_000_000) as i64,
                tv_usec: (left % 1_000_000) as i64,
            };
            // SAFETY: the program's time.
            unsafe { time.write(left) };
        }
        answer.unwrap_or(Answer::go_on(real))
    }
    pselect(arguments, here) {
        let [count, read, write, other, time, mask] = *arguments;
        let real = real!(pselect);
        // SAFETY: null, or the program's time.
        let limit = unsafe { (time as *const libc::timespec).as_ref() };
        if !limit.is_none_or(|time| is_valid(time.tv_sec, time.tv_nsec, 1_000_000_000)) {
            return Answer::go_on(real);
        }
        let deadline = clocks::timeout(&here, time);
        let answer = select(&here, [count, read, write, other], deadline, mask_at(mask));
        answer.unwrap_or(Answer::go_on(real))
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
