//! Timers in virtual time and `exec`, which keeps an alarm and open files of timers. The kernel's timers
//! have what is left, for any program; the environment has the same in virtual time, for a timed one.
use std::ffi::{CStr, CString, c_char};
use std::ptr;

use flick_abi::settings::{ALARM, PLATFORM, TIMER_FILES};

use super::linked_library::{clocks_are_virtual, is_linked, when_linked};
use super::lives::begin;
use super::notes;
use super::set_timers::{Left, has_effect};
use super::stated_points::{Call, Here, point};
use super::timer_files::KeptFiles;
use super::virtual_timers::{Effect, Timer};
use crate::os::system_call::system_call;

const MICROSECOND: u64 = 1_000_000;
/// The least that the kernel's timer has before a timed program that takes it over. Picoseconds.
const START: u64 = 10_000_000 * MICROSECOND;

/// `struct itimerval`: the interval, and what is left.
type Setting = [[u64; 2]; 2];

fn setting((left, interval): Left) -> Setting {
    [interval, left].map(|time| {
        let time = time.div_ceil(MICROSECOND);
        [time / 1_000_000, time % 1_000_000]
    })
}

fn set(setting: &Setting) {
    let place = ptr::from_ref(setting) as usize;
    // SAFETY: a setting.
    unsafe {
        system_call(
            libc::SYS_setitimer,
            [libc::ITIMER_REAL as usize, place, 0, 0],
        )
    };
}

/// Whether the kernel's timer is armed.
fn is_armed() -> bool {
    let mut setting = Setting::default();
    let place = ptr::from_mut(&mut setting) as usize;
    // SAFETY: a place for a setting.
    unsafe {
        system_call(
            libc::SYS_getitimer,
            [libc::ITIMER_REAL as usize, place, 0, 0],
        )
    };
    setting[1] != [0; 2]
}

/// The environment of a program that timers are kept for.
pub struct Kept {
    has_alarm: bool,
    files: KeptFiles,
    /// What `entries` points to.
    _own: Vec<CString>,
    entries: Vec<*const c_char>,
}

impl Kept {
    pub fn environment(&self) -> *const *const c_char {
        self.entries.as_ptr()
    }

    /// There is no new program.
    pub fn give_back(self) {
        if self.has_alarm {
            set(&Setting::default());
        }
        self.files.take_back();
    }
}

/// The value of an entry of an environment.
fn value_of<'a>(entry: &'a [u8], name: &CStr) -> Option<&'a [u8]> {
    entry.strip_prefix(name.to_bytes())?.strip_prefix(b"=")
}

fn entry(name: &CStr, value: &str) -> Option<CString> {
    CString::new([name.to_bytes(), b"=", value.as_bytes()].concat()).ok()
}

impl Here {
    /// Before the process gets another program with this environment: the kernel's timers and a new
    /// environment have those that go on. `None`: there are none, and the environment names none.
    ///
    /// # Safety
    /// `environment` is null, or C strings in an array that ends in null.
    pub unsafe fn keep_timers(&self, environment: *const *const c_char) -> Option<Kept> {
        let alarm = self.timer_left(Timer::Alarm);
        let files = KeptFiles::of(self);
        let mut entries = Vec::new();
        let mut is_timed = false;
        let mut is_stale = false;
        // SAFETY: by contract.
        unsafe {
            let mut next = environment;
            while !next.is_null() && !(*next).is_null() {
                let text = CStr::from_ptr(*next).to_bytes();
                is_timed |= value_of(text, PLATFORM).is_some_and(|name| !name.is_empty());
                let names = [ALARM, TIMER_FILES];
                match names.iter().any(|name| value_of(text, name).is_some()) {
                    true => is_stale = true,
                    false => entries.push(*next),
                }
                next = next.add(1);
            }
        }
        if alarm.is_none() && files.is_empty() && !is_stale {
            return None;
        }
        let mut own = Vec::new();
        if is_timed {
            let text = alarm.map(|(left, interval)| format!("{left} {interval}"));
            own.extend(text.and_then(|text| entry(ALARM, &text)));
            own.extend(
                (!files.is_empty())
                    .then(|| entry(TIMER_FILES, &files.text()))
                    .flatten(),
            );
        }
        entries.extend(own.iter().map(|entry| entry.as_ptr()));
        entries.push(ptr::null());
        let least = if is_timed { START } else { 0 };
        if let Some((left, interval)) = alarm {
            set(&setting((left.max(least), interval)));
        }
        files.let_go_on(least);
        Some(Kept {
            has_alarm: alarm.is_some(),
            files,
            _own: own,
            entries,
        })
    }
}

/// What the program before has left of an alarm.
fn left() -> Option<Left> {
    // SAFETY: the variable's value is copied at once, before `main`.
    let value = unsafe {
        let value = libc::getenv(ALARM.as_ptr());
        CStr::from_ptr(value.as_ref()?).to_str().ok()?.to_owned()
    };
    let (left, interval) = value.split_once(' ')?;
    Some((left.parse().ok()?, interval.parse().ok()?))
}

const ALARM_CALL: Call = Call::new("an alarm from before exec", 0);
const FILES_CALL: Call = Call::new("a timer's file from before exec", 0);

/// The runtime has started: the timers that the program before has left are this one's.
pub fn started() {
    match left().is_some() || !KeptFiles::of_environment().is_empty() || is_linked() {
        true => when_linked(inherit),
        false => inherit(),
    }
}

/// In a static program the constructor of `libflick-time` comes later.
fn inherit() {
    inherit_files();
    inherit_alarm();
}

fn inherit_files() {
    let files = KeptFiles::of_environment();
    if files.is_empty() {
        return;
    }
    match is_linked() && clocks_are_virtual() {
        true => files.inherit(FILES_CALL),
        // The machine's timers go on.
        false => notes::not_exact(FILES_CALL.name, FILES_CALL.place),
    }
}

fn inherit_alarm() {
    if !is_armed() {
        return;
    }
    let (true, true, Some((left, interval))) = (is_linked(), clocks_are_virtual(), left()) else {
        // The machine's timer goes on.
        return notes::not_exact(ALARM_CALL.name, ALARM_CALL.place);
    };
    set(&Setting::default());
    begin();
    if let Some(here) = point(ALARM_CALL) {
        has_effect(
            Timer::Alarm,
            Effect::of_interval(libc::SIGALRM),
            libc::CLOCK_REALTIME,
        );
        here.set_timer(Timer::Alarm, Some(left), interval);
    }
}
