//! Files of timers, as the kernel has them, and what is left of them through `exec`: the kernel's timer for
//! any program, and an entry of the environment for a timed one.
use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use flick_abi::settings::TIMER_FILES;

use super::keys::Key;
use super::lives::begin;
use super::ordered_threads::with;
use super::sent_signals;
use super::set_timers::{has_effect, has_expired};
use super::stated_points::{Call, Here, point};
use super::virtual_timers::{Effect, Record, Timer};
use crate::os::system_call::system_call;

const NANOSECOND: u64 = 1000;
const SECOND: u64 = 1_000_000_000;

/// `struct itimerspec`: the interval, and what is left.
type Setting = [[u64; 2]; 2];

/// Whether the file is a timer.
pub fn is_timer(file: c_int) -> bool {
    let path = format!("/proc/self/fd/{file}");
    let target = std::fs::read_link(path).unwrap_or_default();
    target.as_os_str() == "anon_inode:[timerfd]"
}

/// Whether `exec` closes it.
pub fn is_closed_by_exec(file: c_int) -> bool {
    // SAFETY: a system call for a number.
    let flags = unsafe { system_call(libc::SYS_fcntl, [file as usize, libc::F_GETFD as usize]) };
    flags < 0 || flags as c_int & libc::FD_CLOEXEC != 0
}

/// The kernel's timer, in picoseconds; 0: not armed.
fn set(file: c_int, left: u64, interval: u64) {
    let setting: Setting = [interval, left].map(|time| {
        let time = time.div_ceil(NANOSECOND);
        [time / SECOND, time % SECOND]
    });
    let place = ptr::from_ref(&setting) as usize;
    // SAFETY: a timer's file, and a setting.
    unsafe { system_call(libc::SYS_timerfd_settime, [file as usize, 0, place, 0]) };
}

/// What a file's timer has left, for the next program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    file: c_int,
    clock: c_int,
    /// Picoseconds; 0: it is not armed.
    left: u64,
    interval: u64,
    /// Expirations that nobody has read.
    count: u64,
}

impl Left {
    /// The kernel's timer goes on in any program, with so many picoseconds at least.
    fn let_go_on(&self, least: u64) {
        match (self.left, self.count) {
            (0, _) => {}
            (left, 0) => set(self.file, left.max(least), self.interval),
            (_, _) => set(self.file, 1, self.interval),
        }
    }

    /// There is no other program: the kernel's timer has no more than what can be read.
    fn take_back(&self) {
        set(self.file, 0, 0);
        if self.count > 0 {
            sent_signals::let_file_expire(self.file);
        }
    }

    fn text(&self) -> String {
        let Self {
            file,
            clock,
            left,
            interval,
            count,
        } = self;
        format!(" {file}:{clock}:{left}:{interval}:{count}")
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(':');
        let mut next = || words.next()?.parse::<u64>().ok();
        let [file, clock, left, interval, count] = [next()?, next()?, next()?, next()?, next()?];
        Some(Self {
            file: file.try_into().ok()?,
            clock: clock.try_into().ok()?,
            left,
            interval,
            count,
        })
    }
}

/// Files of timers that stay open.
#[derive(Default)]
pub struct KeptFiles(Vec<Left>);

impl KeptFiles {
    /// Those of the process.
    pub fn of(here: &Here) -> Self {
        let now = here.now();
        let all = with(Some(here.slot), |shared| {
            let timers = &shared.timers;
            let left = |(&timer, record): (&Timer, &Record)| {
                let Timer::File(file) = timer else {
                    return None;
                };
                let setting = timers.get(timer);
                Some(Left {
                    file,
                    clock: record.clock,
                    left: setting.map_or(0, |setting| setting.at.saturating_sub(now).max(1)),
                    interval: setting.map_or(0, |setting| setting.interval),
                    count: record.count,
                })
            };
            let mut all: Vec<_> = timers.records.iter().filter_map(left).collect();
            all.sort_by_key(|left| left.file);
            all
        });
        let stays = |left: &Left| {
            (left.left, left.count) != (0, 0)
                && is_timer(left.file)
                && !is_closed_by_exec(left.file)
        };
        Self(all.into_iter().filter(stays).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn let_go_on(&self, least: u64) {
        self.0.iter().for_each(|file| file.let_go_on(least));
    }

    pub fn take_back(&self) {
        self.0.iter().for_each(Left::take_back);
    }

    /// The value of the environment's entry: the process, and the files.
    pub fn text(&self) -> String {
        let files: String = self.0.iter().map(Left::text).collect();
        format!("{}{files}", std::process::id())
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let process: u32 = words.next()?.parse().ok()?;
        // A child of the program for which the entry is has it, too.
        (process == std::process::id()).then(|| Self(words.filter_map(Left::parse).collect()))
    }

    /// What the program before has left.
    pub fn of_environment() -> Self {
        // SAFETY: the variable's value is read at once, before `main`.
        let value: Option<*const c_char> = unsafe {
            let value = libc::getenv(TIMER_FILES.as_ptr());
            value.as_ref().map(ptr::from_ref)
        };
        // SAFETY: as above, a C string.
        let text = value.and_then(|value| unsafe { CStr::from_ptr(value) }.to_str().ok());
        let mut all = text.and_then(Self::parse).unwrap_or_default();
        all.0.retain(|left| is_timer(left.file));
        all
    }

    /// They expire in virtual time from now on.
    pub fn inherit(&self, call: Call) {
        begin();
        let Some(here) = point(call) else { return };
        for left in &self.0 {
            let (timer, Some(key)) = (Timer::File(left.file), Key::of_file(left.file)) else {
                continue;
            };
            set(left.file, 0, 0);
            has_effect(timer, Effect::File(key), left.clock);
            if left.left != 0 {
                here.set_timer(timer, Some(left.left), left.interval);
            }
            has_expired(timer, left.count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_for_its_process() {
        let all = KeptFiles(vec![
            Left {
                file: 3,
                clock: 1,
                left: 5_000,
                interval: 7,
                count: 0,
            },
            Left {
                file: 9,
                clock: 0,
                left: 0,
                interval: 0,
                count: 2,
            },
        ]);
        let text = all.text();
        assert_eq!(KeptFiles::parse(&text).unwrap().0, all.0);
        assert!(KeptFiles::parse(&format!("1{text}")).is_none());
        assert!(KeptFiles::parse("").is_none());
        let process = std::process::id();
        assert!(
            KeptFiles::parse(&format!("{process} 3:1:5 x:1:1:1:1"))
                .unwrap()
                .is_empty()
        );
    }
}
