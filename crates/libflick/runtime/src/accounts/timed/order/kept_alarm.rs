//! An alarm in virtual time and `exec`, which keeps it. The kernel's timer has what is left, for any
//! program; the environment has the same in virtual time, for a timed one.
use std::ffi::{CStr, CString, c_char};
use std::ptr;

use flick_abi::settings::{ALARM, PLATFORM};

use super::linked_library::{clocks_are_virtual, is_linked, when_linked};
use super::lives::begin;
use super::notes;
use super::set_timers::{Left, has_effect};
use super::stated_points::{Call, Here, point};
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

/// The environment of a program that an alarm is kept for.
pub struct Kept {
    _entry: CString,
    entries: Vec<*const c_char>,
}

impl Kept {
    pub fn environment(&self) -> *const *const c_char {
        self.entries.as_ptr()
    }

    /// There is no new program.
    pub fn give_back(self) {
        set(&Setting::default());
    }
}

/// The value of an entry of an environment.
fn value_of<'a>(entry: &'a [u8], name: &CStr) -> Option<&'a [u8]> {
    entry.strip_prefix(name.to_bytes())?.strip_prefix(b"=")
}

impl Here {
    /// Before the process gets another program with this environment: the kernel's timer and a new
    /// environment have the alarm. `None`: there is none.
    ///
    /// # Safety
    /// `environment` is null, or C strings in an array that ends in null.
    pub unsafe fn keep_alarm(&self, environment: *const *const c_char) -> Option<Kept> {
        let (left, interval) = self.timer_left(Timer::Alarm)?;
        let text = [ALARM.to_bytes(), format!("={left} {interval}").as_bytes()].concat();
        let entry = CString::new(text).ok()?;
        let mut entries = Vec::new();
        let mut is_timed = false;
        // SAFETY: by contract.
        unsafe {
            let mut next = environment;
            while !next.is_null() && !(*next).is_null() {
                let text = CStr::from_ptr(*next).to_bytes();
                is_timed |= value_of(text, PLATFORM).is_some_and(|name| !name.is_empty());
                if value_of(text, ALARM).is_none() {
                    entries.push(*next);
                }
                next = next.add(1);
            }
        }
        let least = if is_timed { START } else { 0 };
        if is_timed {
            entries.push(entry.as_ptr());
        }
        entries.push(ptr::null());
        set(&setting((left.max(least), interval)));
        Some(Kept {
            _entry: entry,
            entries,
        })
    }
}

/// What the program before has left.
fn left() -> Option<Left> {
    // SAFETY: the variable's value is copied at once, before `main`.
    let value = unsafe {
        let value = libc::getenv(ALARM.as_ptr());
        CStr::from_ptr(value.as_ref()?).to_str().ok()?.to_owned()
    };
    let (left, interval) = value.split_once(' ')?;
    Some((left.parse().ok()?, interval.parse().ok()?))
}

const CALL: Call = Call::new("an alarm from before exec", 0);

/// The runtime has started: the alarm that the program before has left is this one's.
pub fn started() {
    match left().is_some() || is_linked() {
        true => when_linked(inherit),
        false => inherit(),
    }
}

/// In a static program the constructor of `libflick-time` comes later.
fn inherit() {
    if !is_armed() {
        return;
    }
    let (true, true, Some((left, interval))) = (is_linked(), clocks_are_virtual(), left()) else {
        // The machine's timer goes on.
        return notes::not_exact(CALL.name, CALL.place);
    };
    set(&Setting::default());
    begin();
    if let Some(here) = point(CALL) {
        has_effect(
            Timer::Alarm,
            Effect::of_interval(libc::SIGALRM),
            libc::CLOCK_REALTIME,
        );
        here.set_timer(Timer::Alarm, Some(left), interval);
    }
}
