//! Functions that only the C library can have, by the names that the C language keeps for it.
use std::arch::global_asm;

macro_rules! names {
    ($($name:literal = $kept:literal),* $(,)?) => { $(
        global_asm!(
            concat!(".pushsection .text.flick_named.", $name, ",\"ax\",@progbits"),
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            ".cfi_startproc",
            concat!("jmp ", $kept),
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
        );
    )* };
}

flick_own::for_each_of_libc!(names);

unsafe extern "C" {
    pub fn __vfork();
    pub fn __getcontext();
}
