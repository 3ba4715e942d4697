//! Files of timers in the child of a `fork`, which has no other timers: from then on each process has
//! its own.
use std::ffi::c_int;

use flick_sim::timer_queue::Setting;

use super::keys::Key;
use super::lives::begin;
use super::ordered_threads::Shared;
use super::set_timers::{has_effect, has_expired};
use super::stated_points::{Call, point};
use super::virtual_timers::{Effect, Timer};
use crate::os::system_call::system_call;

/// A timer's file, as it was at the `fork`.
pub struct InheritedFile {
    file: c_int,
    key: Key,
    clock: c_int,
    /// When it expires, from then on.
    setting: Option<Setting>,
    /// Expirations that nobody has read.
    count: u64,
}

/// Those of the process, at this time.
pub fn files(shared: &Shared, now: u64) -> Vec<InheritedFile> {
    let all = shared.timers.records.iter().filter_map(|(&timer, record)| {
        let (Timer::File(file), Effect::File(key)) = (timer, record.effect) else {
            return None;
        };
        Some(InheritedFile {
            file,
            key,
            clock: record.clock,
            setting: shared.timers.get(timer).map(|setting| Setting {
                at: setting.at.saturating_sub(now),
                ..setting
            }),
            count: record.count,
        })
    });
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|file| file.file);
    all
}

/// The child goes on with them, at its time 0.
pub fn inherit(files: Vec<InheritedFile>) {
    for file in files {
        if !is_made_anew(file.file, file.clock) || (file.setting, file.count) == (None, 0) {
            continue;
        }
        begin();
        let Some(here) = point(Call::new("fork", 0)) else {
            return;
        };
        let timer = Timer::File(file.file);
        has_effect(timer, Effect::File(file.key), file.clock);
        if let Some(setting) = file.setting {
            here.set_timer(timer, Some(setting.at), setting.interval);
        }
        has_expired(timer, file.count);
    }
}

/// The file is another timer from now on: the kernel's is the parent's, too. False: it is none.
fn is_made_anew(file: c_int, clock: c_int) -> bool {
    let path = format!("/proc/self/fd/{file}");
    let target = std::fs::read_link(path).unwrap_or_default();
    if target.as_os_str() != "anon_inode:[timerfd]" {
        return false;
    }
    // SAFETY: system calls for numbers of files.
    unsafe {
        let flags = |request| system_call(libc::SYS_fcntl, [file as usize, request as usize, 0, 0]);
        let status = flags(libc::F_GETFL) as c_int & libc::O_NONBLOCK;
        let closes = flags(libc::F_GETFD) as c_int & libc::FD_CLOEXEC != 0;
        let closes = if closes { libc::O_CLOEXEC } else { 0 };
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
