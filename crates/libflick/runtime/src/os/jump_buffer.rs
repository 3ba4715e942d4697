//! What libflick reads and changes in a `jmp_buf` of the GNU C library for x86-64.
use std::arch::asm;
use std::ffi::c_void;

/// Words in it (the C library's `bits/setjmp.h` for x86-64).
const RBX: usize = 0;
const STACK_POINTER: usize = 6;

/// # Safety
/// `buffer` was filled by the C library's `setjmp`, as for the functions below.
pub unsafe fn rbx(buffer: *const c_void) -> usize {
    // SAFETY: by contract.
    unsafe { buffer.cast::<usize>().add(RBX).read() }
}

/// # Safety
/// As for [`rbx`].
pub unsafe fn stack_pointer(buffer: *const c_void) -> usize {
    // SAFETY: by contract. The C library stores the stack pointer mangled: xor with the guard at
    // fs:0x30, then rotated left by 17 (its sysdeps/x86_64, PTR_MANGLE).
    unsafe {
        let mut value = buffer.cast::<usize>().add(STACK_POINTER).read();
        asm!(
            "ror {value}, 17",
            "xor {value}, qword ptr fs:[0x30]",
            value = inout(reg) value,
            options(nostack, readonly),
        );
        value
    }
}

/// # Safety
/// As for [`rbx`].
pub unsafe fn set_stack_pointer(buffer: *mut c_void, mut value: usize) {
    // SAFETY: as in `stack_pointer`.
    unsafe {
        asm!(
            "xor {value}, qword ptr fs:[0x30]",
            "rol {value}, 17",
            value = inout(reg) value,
            options(nostack, readonly),
        );
        buffer.cast::<usize>().add(STACK_POINTER).write(value);
    }
}
