//! Files of timers in the child of a `fork`, which has no other timers: from then on each process has
//! its own.
use std::ffi::c_int;

use super::lives::{Before, begin};
use super::set_timers::{has_effect, has_expired};
use super::stated_points::{Call, point};
use super::timer_files::{is_closed_by_exec, is_timer};
use super::virtual_timers::{Effect, Timer};
use crate::os::system_call::system_call;

/// The child goes on with the files that it had, at its time 0.
pub fn inherit(before: Before) {
    let Before { timers, now } = before;
    let mut all: Vec<_> = timers.records.iter().collect();
    all.sort_by_key(|&(&timer, _)| timer);
    for (&timer, record) in all {
        let (Timer::File(file), Effect::File(key)) = (timer, record.effect) else {
            continue;
        };
        let setting = timers.get(timer);
        let is_idle = setting.is_none() && record.count == 0;
        if !is_made_anew(file, record.clock) || is_idle {
            continue;
        }
        begin();
        let Some(here) = point(Call::new("fork", 0)) else {
            return;
        };
        has_effect(timer, Effect::File(key), record.clock);
        if let Some(setting) = setting {
            here.set_timer(
                timer,
                Some(setting.at.saturating_sub(now)),
                setting.interval,
            );
        }
        has_expired(timer, record.count);
    }
}

/// The file is another timer from now on: the kernel's is the parent's, too. False: it is none.
fn is_made_anew(file: c_int, clock: c_int) -> bool {
    if !is_timer(file) {
        return false;
    }
    let closes = match is_closed_by_exec(file) {
        true => libc::O_CLOEXEC,
        false => 0,
    };
    // SAFETY: system calls for numbers of files.
    unsafe {
        let status = system_call(libc::SYS_fcntl, [file as usize, libc::F_GETFL as usize]);
        let status = status as c_int & libc::O_NONBLOCK;
        let new = system_call(
            libc::SYS_timerfd_create,
            [clock as usize, status as usize, 0, 0],
        );
        let Ok(new) = usize::try_from(new) else {
            return false;
        };
        system_call(libc::SYS_dup3, [new, file as usize, closes as usize, 0]);
        system_call(libc::SYS_close, [new, 0, 0, 0]);
    }
    true
}
