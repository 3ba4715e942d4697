//! `poll`, `read` and `write`: tried without blocking first. Who would block waits in the order,
//! where a thread that reads or writes the other end wakes it.
use std::ffi::{c_int, c_short};
use std::mem::MaybeUninit;

use flick_sim::thread_token::Turn;

use super::cancelling;
use super::{Answer, asked, ordered, real};
use crate::accounts::timed::order::{self, Call, Here, Key};
use crate::os::system_call::system_call;

/// What a thread waits for that looks at several files.
const ANY: Key = Key::Data(0, 0);

/// Polls, as the kernel does: the number of files that are ready.
fn poll(files: usize, count: usize, milliseconds: c_int) -> isize {
    // SAFETY: the program's array, as for poll(2).
    unsafe {
        system_call(
            libc::SYS_poll,
            [files, count, milliseconds as isize as usize, 0],
        )
    }
}

fn is_ready(file: c_int, events: c_short, milliseconds: c_int) -> bool {
    let mut look = libc::pollfd {
        fd: file,
        events,
        revents: 0,
    };
    poll(std::ptr::from_mut(&mut look) as usize, 1, milliseconds) != 0
}

/// What who waits for the file waits for: both ends of a pipe have one number, and those of a
/// socket do not. `None`: a file that nobody waits for.
fn key(file: c_int) -> Option<Key> {
    let mut found = MaybeUninit::<libc::stat>::zeroed();
    let place = found.as_mut_ptr() as usize;
    // SAFETY: a place for the record, which the kernel fills.
    let found = unsafe {
        if system_call(libc::SYS_fstat, [file as usize, place, 0, 0]) != 0 {
            return None;
        }
        found.assume_init()
    };
    match found.st_mode & libc::S_IFMT {
        libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK => None,
        libc::S_IFSOCK => Some(Key::Data(0, 1)),
        _ => Some(Key::Data(found.st_dev, found.st_ino)),
    }
}

/// Whether calls for the file fail rather than block.
fn never_blocks(file: c_int) -> bool {
    // SAFETY: a system call for a number.
    let flags = unsafe {
        system_call(
            libc::SYS_fcntl,
            [file as usize, libc::F_GETFL as usize, 0, 0],
        )
    };
    flags < 0 || flags as c_int & libc::O_NONBLOCK != 0
}

/// Until the file is ready. Then those are woken who wait for what the call does.
fn transfer(here: &Here, file: c_int, events: c_short) {
    let Some(key) = key(file) else { return };
    let may_block = !never_blocks(file);
    match events {
        libc::POLLOUT => order::writes(key),
        _ if is_ready(file, events, 0) && here.may_come_later(key) => here.not_exact(),
        _ => {}
    }
    while may_block && !is_ready(file, events, 0) {
        let look = |milliseconds| is_ready(file, events, milliseconds);
        let turn = here.wait_for_data(key, None, look);
        if turn == Turn::Ready && cancelling::is_enabled() {
            break;
        }
    }
    for key in [key, ANY] {
        here.wake(key, usize::MAX);
    }
}

asked! {
    write(arguments, place) {
        let file = arguments[0] as c_int;
        match order::point(Call::new("write", place)) {
            Some(here) => transfer(&here, file, libc::POLLOUT),
            // A thread may read it later.
            None => key(file).into_iter().for_each(order::writes),
        }
        Answer::go_on(real!(write))
    }
}

ordered! {
    read(arguments, here) {
        transfer(&here, arguments[0] as c_int, libc::POLLIN);
        Answer::go_on(real!(read))
    }
    poll(arguments, here) {
        let [files, count, milliseconds, ..] = *arguments;
        let real = real!(poll);
        let milliseconds = milliseconds as c_int;
        let limit = u64::try_from(milliseconds).ok();
        let deadline = limit.map(|limit| here.now().saturating_add(limit * 1_000_000_000));
        while milliseconds != 0 && poll(files, count, 0) == 0 {
            let look = |milliseconds| poll(files, count, milliseconds) != 0;
            match here.wait_for_data(ANY, deadline, look) {
                Turn::TimedOut => return Answer::value(0),
                Turn::Ready if cancelling::is_enabled() => break,
                Turn::Ready | Turn::Woken => {}
            }
        }
        Answer::go_on(real)
    }
}
