//! libflick's own definitions of functions of the C library.
//!
//! A program may define `read`, `close` or `memcpy`, and a preloaded library may define any name.
//! libflick must not call these definitions, and neither must Rust's library or mimalloc inside
//! libflick. So this crate defines the functions that they need, under the C library's names. The
//! linker binds every reference inside libflick to these definitions, and no other object sees
//! them. In `libflick.so` they are hidden symbols. `libflick.a` is linked to one object, in which
//! all symbols but its interface are local.
//!
//! | file | functions |
//! |---|---|
//! | `bytes.rs` | `memcpy` and other operations on bytes |
//! | `strings.rs` | the environment, numbers, messages |
//! | `calls.rs` | system calls |
//! | `signal_sets.rs` | signal sets |
//! | `process_environment.rs` | the process's environment, end and machine |
//!
//! System calls and a few instructions suffice for these functions. [`for_each_of_libc`] has the
//! names of the functions that only the C library can provide. `libflick.so` finds them in the C
//! library's own table of symbols. `libflick.a` refers to the names that the C language reserves
//! for the C library. `docs/design.md`, "The runtime beside the program", has the reasons.
//!
//! Every definition is assembly, for two reasons. Rust would export a function of its own from
//! `libflick.so`. And a compiler that recognises a `memcpy` replaces it by a call of `memcpy`.
#![warn(missing_docs)]
#![cfg_attr(not(test), no_std)]

/// Defines a function of assembly under the C library's names for it. The names are hidden, so the
/// linker binds libflick's references to it, and no others. The instructions are between brackets,
/// and the operands follow.
macro_rules! function {
    ($($name:literal)*, align $align:literal, [$($line:tt)*] $($operand:tt)*) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.flick_own.", $($name,)* ",\"ax\",@progbits"),
            concat!(".p2align ", $align),
            $(
                concat!(".globl ", $name),
                concat!(".hidden ", $name),
                concat!(".type ", $name, ",@function"),
                concat!($name, ":"),
            )*
            ".cfi_startproc",
            $($line)*
            ".cfi_endproc",
            $(concat!(".size ", $name, ", . - ", $name),)*
            ".popsection",
            $($operand)*
        );
    };
}

/// Defines functions under the C library's names, as jumps to Rust's functions.
macro_rules! define {
    ($($name:literal = $function:ident;)*) => { $(
        function!($name, align 4, ["jmp {function}",] function = sym $function);
    )* };
}

mod bytes;
mod calls;
mod process_environment;
mod signal_sets;
mod strings;

pub use calls::{error, system_call};

/// Calls a macro with the names of the C library's functions that libflick needs and cannot define.
/// Beside each is the name that the C library reserves for it in static programs.
#[macro_export]
macro_rules! for_each_of_libc {
    ($macro:path) => {
        $macro! {
            "clock_gettime" = "__clock_gettime",
            "dl_iterate_phdr" = "__dl_iterate_phdr",
            "dladdr" = "__dladdr",
            "getauxval" = "__getauxval",
            "gnu_get_libc_version" = "__gnu_get_libc_version",
            "pthread_getspecific" = "__pthread_getspecific",
            "pthread_key_create" = "__pthread_key_create",
            "pthread_key_delete" = "__pthread_key_delete",
            "pthread_mutex_destroy" = "__pthread_mutex_destroy",
            "pthread_mutex_lock" = "__pthread_mutex_lock",
            "pthread_mutex_unlock" = "__pthread_mutex_unlock",
            "pthread_setspecific" = "__pthread_setspecific",
        }
    };
}

/// Makes the linker take all definitions of this crate, because Rust's library is linked behind it.
pub fn anchor() -> [*const (); 5] {
    [
        bytes::memcpy as *const (),
        calls::getpid as *const (),
        process_environment::abort as *const (),
        signal_sets::sigemptyset as *const (),
        strings::getenv as *const (),
    ]
}
