//! The functions of the unwinder (Itanium C++ ABI, "Exception Handling", level I), bound at their
//! first call.
//!
//! A program in C without them does not load `libgcc_s.so.1`. If libflick needed it, each start would
//! load it, and its constructor asks the processor for all of its features, which takes long under
//! a hypervisor. Frames are unwound by whoever has found them, and then the unwinder is loaded
//! already.
use std::ffi::{CStr, c_char, c_int, c_void};

use crate::found::loader;

/// What the linker would bind to the library.
macro_rules! unwinder {
    ($($name:literal)+) => {
        std::arch::global_asm!(
            $(
                concat!(
                    ".pushsection .rodata.", $name, ", \"a\", @progbits\n",
                    "2: .asciz \"", $name, "\"\n",
                    ".popsection\n",
                    ".pushsection .bss.", $name, ", \"aw\", @nobits\n",
                    ".p2align 3\n",
                    "3: .skip 8\n",
                    ".popsection\n",
                    ".pushsection .text.", $name, ", \"ax\", @progbits\n",
                    ".globl ", $name, "\n.hidden ", $name, "\n.type ", $name, ", @function\n",
                    $name, ":\n",
                    ".cfi_startproc\n",
                    "endbr64\n",
                    "mov r11, [rip + 3b]\n",
                    "test r11, r11\n",
                    "je 4f\n",
                    "jmp r11\n",
                    // At most three arguments; and the stack is aligned again.
                    "4: push rdi\n.cfi_adjust_cfa_offset 8\n",
                    "push rsi\n.cfi_adjust_cfa_offset 8\n",
                    "push rdx\n.cfi_adjust_cfa_offset 8\n",
                    "lea rdi, [rip + 2b]\n",
                    "call {find}\n",
                    "pop rdx\n.cfi_adjust_cfa_offset -8\n",
                    "pop rsi\n.cfi_adjust_cfa_offset -8\n",
                    "pop rdi\n.cfi_adjust_cfa_offset -8\n",
                    "mov [rip + 3b], rax\n",
                    "jmp rax\n",
                    ".cfi_endproc\n",
                    ".size ", $name, ", . - ", $name, "\n",
                    ".popsection",
                ),
            )+
            find = sym find,
        );
    };
}

unwinder!(
    "_Unwind_Backtrace"
    "_Unwind_GetCFA"
    "_Unwind_GetDataRelBase"
    "_Unwind_GetGR"
    "_Unwind_GetIP"
    "_Unwind_GetIPInfo"
    "_Unwind_GetLanguageSpecificData"
    "_Unwind_GetRegionStart"
    "_Unwind_GetTextRelBase"
    "_Unwind_Resume"
    "_Unwind_SetGR"
    "_Unwind_SetIP"
);

/// # Safety
/// `name` is a string of [`unwinder`]'s.
unsafe extern "C" fn find(name: *const c_char) -> *mut c_void {
    const LIBRARY: &CStr = c"libgcc_s.so.1";
    let mut found = std::ptr::null_mut();
    if let Some(loader) = loader() {
        // SAFETY: looks a symbol up. The program's own unwinder comes first, as for the linker.
        found = unsafe { (loader.dlsym)(libc::RTLD_DEFAULT, name) };
        if found.is_null() {
            // SAFETY: a library whose constructors may run at any time.
            let library = unsafe { (loader.dlopen)(LIBRARY.as_ptr(), libc::RTLD_NOW) };
            if !library.is_null() {
                // SAFETY: looks a symbol up.
                found = unsafe { (loader.dlsym)(library, name) };
            }
        }
    }
    if found.is_null() {
        // Only a backtrace begins where no unwinder is loaded.
        found = no_frames as *mut c_void;
    }
    found
}

/// `_URC_END_OF_STACK`.
extern "C" fn no_frames() -> c_int {
    5
}
