//! Functions that only the C library can have, found without the search for symbols that a program
//! or a preloaded library can come first in: in the C library's own table of symbols.
//!
//! The first call of any of them finds all: it may come before libflick's constructors, as the
//! loader and other libraries call `free` early, or in a signal handler. Threads that do so at once
//! find the same.
use std::arch::global_asm;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use flick_runtime::os::host_library::Loader;

use crate::objects::{Object, objects};

/// The C library's name in the loader's list (`DT_SONAME`).
const LIBC: &CStr = c"libc.so.6";

unsafe extern "C" {
    /// Where each function is: before the first call, the code that finds them.
    static __flick_found: [AtomicUsize; COUNT];
}

macro_rules! names {
    ($($name:literal = $kept:literal),* $(,)?) => {
        const NAMES: &[&str] = &[$($name),*];
        // The table's first entries lead to what `enter` defines beside each function.
        global_asm!(
            ".pushsection .data.flick_found,\"aw\",@progbits",
            ".globl __flick_found",
            ".hidden __flick_found",
            ".type __flick_found,@object",
            ".p2align 3",
            "__flick_found:",
            $(concat!(".quad __flick_find_", $name),)*
            ".size __flick_found, . - __flick_found",
            ".popsection",
        );
        $(
            global_asm!(
                concat!(".pushsection .text.flick_found.", $name, ",\"ax\",@progbits"),
                concat!(".globl ", $name),
                concat!(".hidden ", $name),
                concat!(".hidden __flick_find_", $name),
                concat!(".type ", $name, ",@function"),
                concat!($name, ":"),
                ".cfi_startproc",
                "jmp qword ptr [rip + __flick_found + {slot}]",
                concat!(".globl __flick_find_", $name),
                concat!("__flick_find_", $name, ":"),
                "lea r11, [rip + __flick_found + {slot}]",
                "jmp __flick_find",
                ".cfi_endproc",
                concat!(".size ", $name, ", . - ", $name),
                ".popsection",
                slot = const place($name),
            );
        )*
    };
}

macro_rules! with_dlsym {
    ($($name:literal = $kept:literal),* $(,)?) => {
        names! { $($name = $kept,)* "dlsym" = "" }
    };
}

flick_own::for_each_of_libc!(with_dlsym);

const COUNT: usize = NAMES.len();

/// Where the entry of `name` is in the table, in bytes.
const fn place(name: &str) -> usize {
    let mut at = 0;
    while at < COUNT {
        let (a, b) = (NAMES[at].as_bytes(), name.as_bytes());
        let mut same = a.len() == b.len();
        let mut i = 0;
        while same && i < a.len() {
            same = a[i] == b[i];
            i += 1;
        }
        if same {
            return at * 8;
        }
        at += 1;
    }
    panic!("no such name")
}

// Finds all, and goes on with the function whose entry r11 points to. None of them has more than
// five arguments, or floating-point ones.
global_asm!(
    ".pushsection .text.flick_found,\"ax\",@progbits",
    ".globl __flick_find",
    ".hidden __flick_find",
    ".type __flick_find,@function",
    "__flick_find:",
    ".cfi_startproc",
    "push rdi",
    ".cfi_adjust_cfa_offset 8",
    "push rsi",
    ".cfi_adjust_cfa_offset 8",
    "push rdx",
    ".cfi_adjust_cfa_offset 8",
    "push rcx",
    ".cfi_adjust_cfa_offset 8",
    "push r8",
    ".cfi_adjust_cfa_offset 8",
    "push r11",
    ".cfi_adjust_cfa_offset 8",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "call {find}",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "pop r11",
    ".cfi_adjust_cfa_offset -8",
    "pop r8",
    ".cfi_adjust_cfa_offset -8",
    "pop rcx",
    ".cfi_adjust_cfa_offset -8",
    "pop rdx",
    ".cfi_adjust_cfa_offset -8",
    "pop rsi",
    ".cfi_adjust_cfa_offset -8",
    "pop rdi",
    ".cfi_adjust_cfa_offset -8",
    "jmp qword ptr [r11]",
    ".cfi_endproc",
    ".size __flick_find, . - __flick_find",
    ".popsection",
    find = sym find,
);

/// Fills the table.
extern "C" fn find() {
    // SAFETY: the table above.
    let table = unsafe { &__flick_found };
    for (entry, name) in table.iter().zip(NAMES) {
        entry.store(in_libc(name), Ordering::Relaxed);
    }
}

fn libc() -> Option<Object> {
    objects().find(|object| object.soname() == Some(LIBC))
}

/// The C library's function `name`.
pub fn in_libc(name: &str) -> usize {
    match libc().and_then(|libc| libc.function(name)) {
        Some(address) => address,
        None => missing(name),
    }
}

/// How the C library loads libraries; before version 2.34 it does not itself.
pub fn loader() -> Option<Loader> {
    let libc = libc()?;
    let (dlopen, dlsym) = (libc.function("dlopen")?, libc.function("dlsym")?);
    // SAFETY: functions of these types have these names (dlopen(3)).
    unsafe {
        Some(Loader {
            dlopen: std::mem::transmute::<usize, DlOpen>(dlopen),
            dlsym: std::mem::transmute::<usize, DlSym>(dlsym),
        })
    }
}

type DlOpen = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;
type DlSym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// The name of the object that the process's `free` is in, if it is not libflick: the first one
/// that defines it.
pub fn owner_of_free() -> Option<&'static CStr> {
    let owner = objects().find(|object| object.function("free").is_some())?;
    let own = Object::with(owner_of_free as *const ());
    (Some(owner.base()) != own.map(|own| own.base())).then(|| owner.name())
}

/// Without anything that might need another function of the C library's.
#[cold]
fn missing(name: &str) -> ! {
    const STDERR: usize = 2;
    for text in ["flick: error: the C library has no function ", name, "\n"] {
        let arguments = [STDERR, text.as_ptr() as usize, text.len(), 0];
        // SAFETY: the text's bytes.
        unsafe { flick_own::system_call(libc::SYS_write, arguments) };
    }
    const STATUS: c_int = flick_runtime::os::fatal::STATUS;
    // SAFETY: ends the process.
    unsafe { libc::_exit(STATUS) }
}
