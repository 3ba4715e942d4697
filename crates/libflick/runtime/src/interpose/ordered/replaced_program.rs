//! `exec`: an alarm and files of timers in virtual time are the new program's.
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use super::{Answer, Arguments, asked, real};
use crate::accounts::timed::order::kept_timers::Kept;
use crate::accounts::timed::order::{Call, is_own, point};

type Strings = *const *const c_char;
type Exec = unsafe extern "C" fn(*const c_char, Strings, Strings) -> c_int;
type ExecFile = unsafe extern "C" fn(c_int, Strings, Strings) -> c_int;
type ExecAt = unsafe extern "C" fn(c_int, *const c_char, Strings, Strings, c_int) -> c_int;

unsafe extern "C" {
    /// The C library's own name of `environ`, which a program may define.
    static __environ: Strings;
}

fn own_environment() -> usize {
    // SAFETY: as the C library reads it for the same call.
    unsafe { __environ as usize }
}

/// What keeps timers behind `exec`, if there are some.
fn keep(name: &'static str, place: usize, environment: usize) -> Option<Kept> {
    if !is_own() {
        return None;
    }
    let here = point(Call::new(name, place))?;
    // SAFETY: the program's environment.
    unsafe { here.keep_timers(environment as Strings) }
}

/// Executes the program with the environment that has the timers. Who comes back has failed.
fn exec(
    (name, place): (&'static str, usize),
    environment: usize,
    real: *const c_void,
    execute: impl FnOnce(Strings) -> c_int,
) -> Answer {
    let Some(kept) = keep(name, place, environment) else {
        return Answer::go_on(real);
    };
    let result = execute(kept.environment());
    kept.give_back();
    Answer::value(result)
}

/// The arguments behind the first, of a function with dots, and where those behind them are.
fn listed(arguments: &Arguments) -> (Vec<*const c_char>, usize) {
    // Those of the stack are behind the place for registers, a word, and the return address.
    let stack = ptr::from_ref(arguments) as usize + size_of::<Arguments>() + 16;
    let word = |number: usize| match arguments.get(number) {
        Some(&register) => register,
        // SAFETY: the program's arguments, of which the last is null.
        None => unsafe { (stack as *const usize).add(number - arguments.len()).read() },
    };
    let mut all = Vec::new();
    loop {
        let argument = word(1 + all.len());
        all.push(argument as *const c_char);
        if argument == 0 {
            let next = word(1 + all.len());
            return (all, next);
        }
    }
}

/// One with dots.
fn exec_listed(
    call: (&'static str, usize),
    arguments: &Arguments,
    environment: Option<usize>,
    (real, execute): (*const c_void, Exec),
) -> Answer {
    let (words, _) = listed(arguments);
    let environment = environment.unwrap_or_else(own_environment);
    exec(call, environment, real, |environment| {
        // SAFETY: the program's arguments.
        unsafe { execute(arguments[0] as *const c_char, words.as_ptr(), environment) }
    })
}

/// One with an array of arguments.
fn exec_array(
    call: (&'static str, usize),
    [path, words]: [usize; 2],
    environment: usize,
    (real, execute): (*const c_void, Exec),
) -> Answer {
    exec(call, environment, real, |environment| {
        // SAFETY: the program's arguments.
        unsafe { execute(path as *const c_char, words as Strings, environment) }
    })
}

asked! {
    execve(arguments, place) {
        let [path, words, environment, ..] = *arguments;
        exec_array(("execve", place), [path, words], environment, (real!(execve), real!(execve: Exec)))
    }
    execv(arguments, place) {
        let [path, words, ..] = *arguments;
        exec_array(("execv", place), [path, words], own_environment(), (real!(execv), real!(execve: Exec)))
    }
    execvpe(arguments, place) {
        let [path, words, environment, ..] = *arguments;
        exec_array(("execvpe", place), [path, words], environment, (real!(execvpe), real!(execvpe: Exec)))
    }
    execvp(arguments, place) {
        let [path, words, ..] = *arguments;
        exec_array(("execvp", place), [path, words], own_environment(), (real!(execvp), real!(execvpe: Exec)))
    }
    execl(arguments, place) {
        exec_listed(("execl", place), arguments, None, (real!(execl), real!(execve: Exec)))
    }
    execlp(arguments, place) {
        exec_listed(("execlp", place), arguments, None, (real!(execlp), real!(execvpe: Exec)))
    }
    execle(arguments, place) {
        let (_, environment) = listed(arguments);
        exec_listed(("execle", place), arguments, Some(environment), (real!(execle), real!(execve: Exec)))
    }
    fexecve(arguments, place) {
        let [file, words, environment, ..] = *arguments;
        exec(("fexecve", place), environment, real!(fexecve), |environment| {
            let execute = real!(fexecve: ExecFile);
            // SAFETY: the program's arguments.
            unsafe { execute(file as c_int, words as Strings, environment) }
        })
    }
    execveat(arguments, place) {
        let [folder, path, words, environment, flags, _] = *arguments;
        exec(("execveat", place), environment, real!(execveat), |environment| {
            let execute = real!(execveat: ExecAt);
            // SAFETY: the program's arguments.
            unsafe {
                execute(folder as c_int, path as *const c_char, words as Strings, environment, flags as c_int)
            }
        })
    }
}
