//! `setjmp` in NxP code.
//!
//! A `jmp_buf` has no room for the NxP's registers, and what it brings back is the host: the
//! crossing whose NxP code called `setjmp`. So the compiler gives the calling function a
//! [`JumpTarget`] in its own frame, which lives exactly as long as one may jump there, and the
//! host's `jmp_buf` carries the way to it in the place of rbx.
use std::arch::naked_asm;
use std::ffi::{c_int, c_void};
use std::mem::offset_of;

use flick_abi::layout::{JumpTarget, SAVED_NUMBERS};
use flick_riscv::register::{A0, RA, SP};

use crate::crossing::cleanup_push::RAISED;
use crate::os::jump_buffer;
use crate::thread::activation::{self, Activation};

unsafe extern "C" {
    fn __sigsetjmp(buffer: *mut c_void, save_mask: c_int) -> c_int;
}

/// `sigsetjmp(buffer, save_mask)` for NxP code, with what it keeps in `target`. Called by a
/// crossing, whose frame rbp points to.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn __flick_setjmp(
    buffer: *mut c_void,
    save_mask: c_int,
    target: *mut JumpTarget,
) -> c_int {
    naked_asm!(
        ".cfi_startproc",
        "endbr64",
        "push rbx",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbx, -16",
        "mov [rdx + {rbx}], rbx",
        "mov rbx, rdx",
        "push rsi",
        ".cfi_def_cfa_offset 24",
        "push rdi",
        ".cfi_def_cfa_offset 32",
        "lea rdi, [rbp - {size}]",
        "mov rsi, rbx",
        "call {keep}",
        "mov rdi, [rsp]",
        "mov rsi, [rsp + 8]",
        "call {sigsetjmp}",
        "test eax, eax",
        "jne 2f",
        ".cfi_remember_state",
        "mov rdi, [rsp]",
        "lea rsi, [rbp - {size} + {raised}]",
        "call {set_stack_pointer}",
        "xor eax, eax",
        "add rsp, 16",
        ".cfi_def_cfa_offset 16",
        "pop rbx",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_restore_state",
        // Again: this frame is long gone, and the stack pointer is in the activation, or on the
        // NxP's stack ([`crate::crossing::cleanup_push`]). No value of `longjmp` is zero.
        ".cfi_undefined rip",
        "2:",
        "mov rsi, rbx",
        "mov rbx, [rsi + {rbx}]",
        "mov edx, eax",
        "lea rsp, [rbp - {size}]",
        "mov rdi, rsp",
        "jmp [rsi + {resume}]",
        ".cfi_endproc",
        rbx = const offset_of!(JumpTarget, rbx),
        resume = const offset_of!(JumpTarget, resume),
        size = const activation::SIZE,
        keep = sym keep,
        raised = const RAISED,
        set_stack_pointer = sym set_stack_pointer,
        sigsetjmp = sym __sigsetjmp,
    )
}

/// All but `rbx`, of the crossing's activation, in the calling function's record.
extern "C" fn keep(act: &Activation, target: &mut JumpTarget) {
    let hart = &act.context.hart;
    target.resume = act.crossing().again();
    target.ra = hart.x[RA];
    target.sp = hart.x[SP];
    for (i, number) in SAVED_NUMBERS.into_iter().map(usize::from).enumerate() {
        target.s[i] = hart.x[number];
        target.fs[i] = hart.f[number];
    }
}

unsafe extern "C" fn set_stack_pointer(buffer: *mut c_void, value: usize) {
    // SAFETY: `__sigsetjmp` has filled the buffer.
    unsafe { jump_buffer::set_stack_pointer(buffer, value) }
}

/// Makes `act.context.hart` what it is when `setjmp` returns with `value`.
pub fn restore(act: &mut Activation, target: &JumpTarget, value: c_int) {
    let hart = &mut act.context.hart;
    hart.x[RA] = target.ra;
    hart.x[SP] = target.sp;
    for (i, number) in SAVED_NUMBERS.into_iter().map(usize::from).enumerate() {
        hart.x[number] = target.s[i];
        hart.f[number] = target.fs[i];
    }
    hart.x[A0] = i64::from(value) as u64;
    hart.pc = target.ra;
}
