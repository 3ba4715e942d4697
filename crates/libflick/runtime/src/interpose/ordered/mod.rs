//! The functions of the C library that are stated points of threads in virtual time
//! (`docs/virtual-threads.md`). `libflick-time` has their names, and asks here.
//!
//! Each has the first six arguments of the call. It answers with a result, or with a function to go
//! on to with the same arguments: no frame of Rust's is below that, so cancellation may unwind it.
use std::ffi::{c_int, c_long, c_void};
use std::ptr;

mod awaited_signals;
mod c11;
mod cancelling;
mod clocks;
mod conditions;
mod data;
mod files_alone;
mod futexes;
mod locks;
mod meetings;
mod replaced_program;
mod several_files;
mod sleeping;
mod timers;

/// The first six arguments of a call.
pub type Arguments = [usize; 6];

/// In rax and rdx.
#[repr(C)]
pub struct Answer {
    value: c_long,
    /// Where to go on; null: with the value.
    next: *const c_void,
}

impl Answer {
    fn value(value: c_int) -> Self {
        Self {
            value: value.into(),
            next: ptr::null(),
        }
    }

    fn go_on(function: *const c_void) -> Self {
        Self {
            value: 0,
            next: function,
        }
    }

    /// As functions say it that set errno.
    fn error(errno: c_int) -> Self {
        crate::os::errno::set_errno(errno);
        Self::value(-1)
    }

    /// 0 or an error's number as functions say it that set errno.
    fn posix(result: c_int) -> Self {
        match result {
            0 => Self::value(0),
            errno => Self::error(errno),
        }
    }
}

/// The C library's function of a name, as a function of the given type.
macro_rules! real {
    ($name:ident: $type:ty) => {{
        const PLACE: usize = flick_abi::thread_order::place(stringify!($name));
        // SAFETY: the C library's function has this type.
        unsafe {
            std::mem::transmute::<*const std::ffi::c_void, $type>(
                crate::accounts::timed::order::real(PLACE),
            )
        }
    }};
    ($name:ident) => {
        crate::accounts::timed::order::real(
            const { flick_abi::thread_order::place(stringify!($name)) },
        )
    };
}

/// Defines libflick's part of functions. Its code has the arguments, and stands at a stated point
/// (`here`); where the thread is not ordered, the C library's function is called.
macro_rules! ordered {
    ($($name:ident($arguments:ident, $here:ident) $body:block)*) => { $(
        const _: () = {
            #[unsafe(export_name = concat!("__flick_ordered_", stringify!($name)))]
            extern "C" fn ordered(
                $arguments: &super::Arguments,
                place: usize,
            ) -> super::Answer {
                let call = crate::accounts::timed::order::Call::new(stringify!($name), place);
                match crate::accounts::timed::order::point(call) {
                    Some(here) => {
                        let $here = here;
                        $body
                    }
                    None => super::Answer::go_on(real!($name)),
                }
            }
        };
    )* };
}

/// The same for functions that need no stated point.
macro_rules! asked {
    ($($name:ident($arguments:ident, $place:ident) $body:block)*) => { $(
        const _: () = {
            #[unsafe(export_name = concat!("__flick_ordered_", stringify!($name)))]
            extern "C" fn asked($arguments: &super::Arguments, $place: usize) -> super::Answer $body
        };
    )* };
}

use {asked, ordered, real};
