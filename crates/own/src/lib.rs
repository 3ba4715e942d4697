//! What libflick has of its own in place of the C library's functions that a program may define.
//!
//! A program is free to define `read`, `close` or `memcpy`, and a preloaded library may define anything: libflick must
//! not reach that, also by way of Rust's library or mimalloc. So libflick defines what they need itself, under the same
//! names and hidden: the linker binds every reference inside libflick to it, and nobody outside sees it (`libflick.so`:
//! hidden symbols; `libflick.a`: linked to one object, whose symbols are local but for those that it offers).
//!
//! Here is what system calls and a few instructions do. What only the C library can do has its names in
//! [`for_each_of_libc`]: `libflick.so` looks the functions up in the C library's own table of symbols, `libflick.a` refers to
//! the names that the C language keeps for the C library. `docs/design.md`, "The runtime beside the program".
//!
//! Every definition is assembly, for two reasons: Rust would export it from `libflick.so`, and a compiler would see in a
//! `memcpy` a reason to call `memcpy`.
#![cfg_attr(not(test), no_std)]

/// Defines a function of assembly under the C library's names for it: hidden, so that the linker binds libflick's
/// references to it and nobody else's. Between brackets, the instructions; behind them, operands.
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

/// Defines functions under the C library's names: jumps to Rust's.
macro_rules! define {
    ($($name:literal = $function:ident;)*) => { $(
        function!($name, align 4, ["jmp {function}",] function = sym $function);
    )* };
}

mod bytes;
mod calls;
mod process;
mod signal_sets;
mod text;

pub use calls::{error, system_call};

/// Calls a macro with the names of the C library's functions that libflick needs and cannot have itself, each with the name
/// that the C library keeps for it in static programs.
#[macro_export]
macro_rules! for_each_of_libc {
    ($macro:path) => {
        $macro! {
            "clock_gettime" = "__clock_gettime",
            "dl_iterate_phdr" = "__dl_iterate_phdr",
            "dladdr" = "__dladdr",
            "getauxval" = "__getauxval",
            "gnu_get_libc_version" = "__gnu_get_libc_version",
            "pthread_key_create" = "__pthread_key_create",
            "pthread_key_delete" = "__pthread_key_delete",
            "pthread_mutex_destroy" = "__pthread_mutex_destroy",
            "pthread_mutex_lock" = "__pthread_mutex_lock",
            "pthread_mutex_unlock" = "__pthread_mutex_unlock",
            "pthread_setspecific" = "__pthread_setspecific",
        }
    };
}

/// Makes the linker take all definitions of this crate: Rust's library is linked behind it.
pub fn anchor() -> [*const (); 5] {
    [
        bytes::memcpy as *const (),
        calls::getpid as *const (),
        process::abort as *const (),
        signal_sets::sigemptyset as *const (),
        text::getenv as *const (),
    ]
}
