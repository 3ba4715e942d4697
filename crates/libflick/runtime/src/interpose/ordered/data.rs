//! `read` and `write`: tried without blocking first. Who would block waits in the order,
//! where a thread that reads or writes the other end wakes it.
use std::ffi::{c_int, c_short};

use flick_sim::thread_token::Turn;

use super::several_files::is_ready;
use super::{Answer, asked, cancelling, ordered, real};
use crate::accounts::timed::order::set_timers::{self, Timer};
use crate::accounts::timed::order::{self, ANY_DATA, Call, Here, Key};
use crate::accounts::timed::sums::Wait;
use crate::os::system_call::system_call;

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

/// Until the file is ready. Then those are woken who wait for what the call does. False: a signal
/// has come.
fn transfer(here: &Here, file: c_int, events: c_short) -> bool {
    let Some(key) = Key::of_file(file) else {
        return true;
    };
    let may_block = !never_blocks(file);
    match events {
        libc::POLLOUT => order::writes(key),
        _ if is_ready(file, events, 0) && here.may_come_later(key) => here.not_exact(),
        _ => {}
    }
    while may_block && !is_ready(file, events, 0) {
        let look = |milliseconds| is_ready(file, events, milliseconds);
        let turn = here.wait_for_data(Wait::Data, key, None, look);
        if here.interrupted.get() {
            return false;
        }
        if turn == Turn::Ready && cancelling::is_enabled() {
            break;
        }
    }
    for key in [key, ANY_DATA] {
        here.wake(key, usize::MAX);
    }
    true
}

/// Bytes of a timer's count.
const COUNT: usize = size_of::<u64>();

/// Bytes that a read has to have room for.
fn least(file: c_int) -> usize {
    match set_timers::is_known(Timer::File(file)) {
        true => COUNT,
        false => 1,
    }
}

/// Reads a timer in virtual time, whose file is ready: how often it has expired. `None`: the file is
/// another one, or the call fails.
fn read_timer(here: &Here, file: c_int, to: usize) -> Option<Answer> {
    let count = here.read_timer(file).filter(|&count| count > 0)?;
    // SAFETY: the program's buffer, as for read(2): the kernel checks it.
    let read = unsafe { system_call(libc::SYS_read, [file as usize, to, COUNT, 0]) };
    if read != COUNT as isize {
        return None;
    }
    // SAFETY: the kernel has written as many bytes there.
    unsafe { (to as *mut u64).write_unaligned(count) };
    Some(Answer::value(COUNT as c_int))
}

asked! {
    write(arguments, place) {
        let file = arguments[0] as c_int;
        match order::point(Call::new("write", place)) {
            Some(here) => {
                if !transfer(&here, file, libc::POLLOUT) {
                    return Answer::error(libc::EINTR);
                }
            }
            // A thread may read it later.
            None => Key::of_file(file).into_iter().for_each(order::writes),
        }
        Answer::go_on(real!(write))
    }
}

ordered! {
    read(arguments, here) {
        let [file, to, size, ..] = *arguments;
        let file = file as c_int;
        // What is refused, or over at once, waits for nothing.
        if size < least(file) {
            return Answer::go_on(real!(read));
        }
        if !transfer(&here, file, libc::POLLIN) {
            return Answer::error(libc::EINTR);
        }
        let timer = read_timer(&here, file, to);
        timer.unwrap_or(Answer::go_on(real!(read)))
    }
}
