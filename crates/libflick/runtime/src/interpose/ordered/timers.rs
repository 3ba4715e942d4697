//! Timers in virtual time. Those that make a thread when they expire are the machine's: a run that has
//! set one is not exact.
use std::ffi::{c_int, c_void};

use super::{Answer, asked, clocks, real};
use crate::accounts::timed::order::set_timers::{
    self, Effect, Left, Signal, Timer, point_of_timer,
};
use crate::accounts::timed::order::{Call, Here, Key, notes};
use crate::os::system_call::system_call;
use crate::os::thread_clock;

const SECOND: u64 = 1_000_000_000_000;
const MICROSECOND: u64 = 1_000_000;
const NANOSECOND: u64 = 1_000;

/// `siginfo_t.si_code` of a signal of `timer_create`.
const FROM_TIMER: c_int = -2;

/// A duration behind an interval: `struct itimerval`, `struct itimerspec`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Setting {
    interval: [u64; 2],
    value: [u64; 2],
}

impl Setting {
    /// The program's, at an address. `None`: there is none.
    fn at(address: usize) -> Option<Self> {
        // SAFETY: null, or the program's.
        unsafe { (address as *const Self).as_ref() }.copied()
    }

    /// Whether it arms the timer.
    fn is_set(&self) -> bool {
        self.value != [0; 2]
    }

    /// Whether the C library takes it.
    fn is_valid(&self, unit: u64) -> bool {
        let most = SECOND / unit;
        [self.interval, self.value]
            .iter()
            .all(|&[seconds, parts]| i64::try_from(seconds).is_ok() && parts < most)
    }

    /// What is left of a timer, with this unit of its second words.
    fn of(left: Option<Left>, unit: u64) -> Self {
        // An armed timer never has 0 left.
        let parts = |time: u64| [time / SECOND, time % SECOND / unit];
        let (value, interval) = left.unwrap_or((0, 0));
        let value = match left {
            Some(_) => value.max(unit),
            None => 0,
        };
        Self {
            interval: parts(interval),
            value: parts(value),
        }
    }

    fn write(&self, address: usize) {
        if address != 0 {
            // SAFETY: the program's place.
            unsafe { (address as *mut Self).write_unaligned(*self) };
        }
    }
}

/// Picoseconds of two words.
fn picoseconds([seconds, parts]: [u64; 2], unit: u64) -> u64 {
    seconds.saturating_mul(SECOND).saturating_add(parts * unit)
}

/// The machine's timer is set, or another one is asked for.
fn of_machine(name: &str, place: usize, is_set: bool, real: *const c_void) -> Answer {
    if is_set {
        notes::not_exact(name, place);
    }
    Answer::go_on(real)
}

/// The process's timer of a number (setitimer(2)), and its signal and clock.
fn interval_timer(which: c_int) -> Option<(Timer, c_int, c_int)> {
    let processor = libc::CLOCK_PROCESS_CPUTIME_ID;
    match which {
        libc::ITIMER_REAL => Some((Timer::Alarm, libc::SIGALRM, libc::CLOCK_REALTIME)),
        libc::ITIMER_VIRTUAL => Some((Timer::Virtual, libc::SIGVTALRM, processor)),
        libc::ITIMER_PROF => Some((Timer::Profile, libc::SIGPROF, processor)),
        _ => None,
    }
}

/// Sets a timer of the process; what was left of it. `None`: it is the machine's.
fn set_interval(call: Call, which: c_int, delay: u64, interval: u64) -> Option<Option<Left>> {
    let (timer, signal, clock) = interval_timer(which)?;
    if delay == 0 && !set_timers::is_known(timer) {
        return None;
    }
    let here = point_of_timer(call)?;
    if !set_timers::is_known(timer) {
        set_timers::has_effect(timer, Effect::of_interval(signal), clock);
    }
    Some(here.set_timer(timer, (delay != 0).then_some(delay), interval))
}

fn posix(timer: usize) -> Timer {
    Timer::Posix(timer)
}

/// `struct sigevent`, as far as it is looked at.
#[repr(C)]
#[derive(Clone, Copy)]
struct Event {
    value: usize,
    number: c_int,
    notify: c_int,
    thread: c_int,
}

/// What a timer of `timer_create` does; `None`: it is the machine's.
fn effect_of(clock: c_int, event: Option<Event>, timer: usize) -> Option<Effect> {
    const SIGEV_THREAD_ID: c_int = 4;
    clocks::now(clock)?;
    let event = event.unwrap_or(Event {
        value: timer,
        number: libc::SIGALRM,
        notify: libc::SIGEV_SIGNAL,
        thread: 0,
    });
    let signal = |thread| {
        Effect::Signal(Signal {
            number: event.number,
            code: FROM_TIMER,
            timer: timer as c_int,
            value: event.value,
            thread,
        })
    };
    match event.notify {
        libc::SIGEV_NONE => Some(Effect::Nothing),
        libc::SIGEV_SIGNAL => Some(signal(None)),
        SIGEV_THREAD_ID => Some(signal(Some(event.thread))),
        _ => None,
    }
}

fn create(call: Call, clock: c_int, event: usize, to: usize) -> Answer {
    type Create = unsafe extern "C" fn(c_int, *mut c_void, *mut usize) -> c_int;
    let create = real!(timer_create: Create);
    let here = point_of_timer(call);
    // SAFETY: the program's arguments.
    let result = unsafe { create(clock, event as *mut c_void, to as *mut usize) };
    if result == 0 && here.is_some() {
        // SAFETY: the C library has written the timer, and has read the event, if there is one.
        let (timer, event) = unsafe { (*(to as *const usize), (event as *const Event).as_ref()) };
        set_timers::forget(posix(timer));
        let clock = match clock {
            // Whichever thread sets it.
            libc::CLOCK_THREAD_CPUTIME_ID => thread_clock::of_thread(thread_clock::own_tid()),
            clock => clock,
        };
        if let Some(effect) = effect_of(clock, event.copied(), timer) {
            set_timers::has_effect(posix(timer), effect, clock);
        }
    }
    Answer::value(result)
}

/// The delay of a setting, on a clock that the timer keeps.
fn delay(new: &Setting, is_absolute: bool, clock: c_int) -> u64 {
    let time = libc::timespec {
        tv_sec: new.value[0] as i64,
        tv_nsec: new.value[1] as i64,
    };
    let left = is_absolute.then(|| clocks::left(clock, &time)).flatten();
    left.map_or(picoseconds(new.value, NANOSECOND), |left| left * NANOSECOND)
}

/// Sets a timer of nanoseconds. `flags`: whether the time is absolute, in bit 0.
fn set(here: &Here, timer: Timer, flags: usize, new: &Setting, old: usize) -> Answer {
    let is_absolute = flags & 1 != 0;
    let delay = delay(new, is_absolute, set_timers::clock_of(timer));
    let interval = picoseconds(new.interval, NANOSECOND);
    let left = here.set_timer(timer, new.is_set().then_some(delay), interval);
    Setting::of(left, NANOSECOND).write(old);
    Answer::value(0)
}

/// The clock of a timer's file, if it is one in virtual time.
fn clock_of_file(file: c_int) -> Option<c_int> {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{file}")).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("clockid:"))?;
    let clock = line.trim().parse().ok()?;
    clocks::is_of_time(clock).then_some(clock)
}

asked! {
    alarm(arguments, place) {
        let seconds = u64::from(arguments[0] as u32);
        match set_interval(Call::new("alarm", place), libc::ITIMER_REAL, seconds * SECOND, 0) {
            // Rounded, and never 0 for an armed one, as the kernel does.
            Some(left) => Answer::value(left.map_or(0, |(left, _)| {
                ((left + SECOND / 2) / SECOND).max(1) as c_int
            })),
            None => of_machine("alarm", place, seconds != 0, real!(alarm)),
        }
    }
    ualarm(arguments, place) {
        let [delay, interval] = [arguments[0], arguments[1]].map(|time| u64::from(time as u32) * MICROSECOND);
        match set_interval(Call::new("ualarm", place), libc::ITIMER_REAL, delay, interval) {
            Some(left) => Answer::value((left.unwrap_or_default().0 / MICROSECOND) as c_int),
            None => of_machine("ualarm", place, delay != 0, real!(ualarm)),
        }
    }
    setitimer(arguments, place) {
        let [which, new, old, ..] = *arguments;
        let real = real!(setitimer);
        let Some(new) = Setting::at(new).filter(|new| new.is_valid(MICROSECOND)) else {
            return Answer::go_on(real);
        };
        let [delay, interval] = [new.value, new.interval].map(|time| picoseconds(time, MICROSECOND));
        match set_interval(Call::new("setitimer", place), which as c_int, delay, interval) {
            Some(left) => {
                Setting::of(left, MICROSECOND).write(old);
                Answer::value(0)
            }
            None => of_machine("setitimer", place, new.is_set(), real),
        }
    }
    getitimer(arguments, place) {
        let [which, to, ..] = *arguments;
        let timer = interval_timer(which as c_int).map(|(timer, ..)| timer);
        let timer = timer.filter(|&timer| to != 0 && set_timers::is_known(timer));
        let here = timer.and_then(|_| point_of_timer(Call::new("getitimer", place)));
        match (timer, here) {
            (Some(timer), Some(here)) => {
                Setting::of(here.timer_left(timer), MICROSECOND).write(to);
                Answer::value(0)
            }
            _ => Answer::go_on(real!(getitimer)),
        }
    }
    timer_create(arguments, place) {
        let [clock, event, to, ..] = *arguments;
        create(Call::new("timer_create", place), clock as c_int, event, to)
    }
    timer_delete(arguments, _place) {
        set_timers::forget(posix(arguments[0]));
        Answer::go_on(real!(timer_delete))
    }
    timer_settime(arguments, place) {
        let [timer, flags, new, old, ..] = *arguments;
        let real = real!(timer_settime);
        let Some(new) = Setting::at(new).filter(|new| new.is_valid(NANOSECOND)) else {
            return Answer::go_on(real);
        };
        let is_known = set_timers::is_known(posix(timer));
        let here = is_known.then(|| point_of_timer(Call::new("timer_settime", place))).flatten();
        match here {
            Some(here) => set(&here, posix(timer), flags, &new, old),
            None => of_machine("timer_settime", place, new.is_set(), real),
        }
    }
    timer_gettime(arguments, place) {
        let [timer, to, ..] = *arguments;
        let is_known = to != 0 && set_timers::is_known(posix(timer));
        let here = is_known.then(|| point_of_timer(Call::new("timer_gettime", place))).flatten();
        match here {
            Some(here) => {
                Setting::of(here.timer_left(posix(timer)), NANOSECOND).write(to);
                Answer::value(0)
            }
            None => Answer::go_on(real!(timer_gettime)),
        }
    }
    timer_getoverrun(arguments, _place) {
        match set_timers::overrun(posix(arguments[0])) {
            Some(count) => Answer::value(count as c_int),
            None => Answer::go_on(real!(timer_getoverrun)),
        }
    }
    timerfd_settime(arguments, place) {
        let [file, flags, new, old, ..] = *arguments;
        let file = file as c_int;
        let real = real!(timerfd_settime);
        let Some(new) = Setting::at(new).filter(|new| new.is_valid(NANOSECOND)) else {
            return Answer::go_on(real);
        };
        // The file may be another one than the last time.
        let clock = (flags & !1 == 0).then(|| clock_of_file(file)).flatten();
        let here = clock.and_then(|_| point_of_timer(Call::new("timerfd_settime", place)));
        let (Some(here), Some(clock), Some(key)) = (here, clock, Key::of_file(file)) else {
            return of_machine("timerfd_settime", place, new.is_set(), real);
        };
        let left = here.timer_left(Timer::File(file));
        set_timers::has_effect(Timer::File(file), Effect::File(key), clock);
        // What nobody has read is gone, as it is in the kernel.
        let disarmed = [0_u64; 4];
        let place = std::ptr::from_ref(&disarmed) as usize;
        // SAFETY: a timer's file, and a setting.
        unsafe { system_call(libc::SYS_timerfd_settime, [file as usize, 0, place, 0]) };
        set(&here, Timer::File(file), flags, &new, 0);
        Setting::of(left, NANOSECOND).write(old);
        Answer::value(0)
    }
    timerfd_gettime(arguments, place) {
        let [file, to, ..] = *arguments;
        let timer = Timer::File(file as c_int);
        let is_known = to != 0 && clock_of_file(file as c_int).is_some() && set_timers::is_known(timer);
        let here = is_known.then(|| point_of_timer(Call::new("timerfd_gettime", place))).flatten();
        match here {
            Some(here) => {
                Setting::of(here.timer_left(timer), NANOSECOND).write(to);
                Answer::value(0)
            }
            None => Answer::go_on(real!(timerfd_gettime)),
        }
    }
}
