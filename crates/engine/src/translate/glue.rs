//! The ways between Rust, translated code and the interpreter's functions.
//!
//! See [`super::registers`] for what is where at calls and returns.
use core::arch::naked_asm;
use core::mem::offset_of;

use super::registers::HART_BIAS;
use super::unwind;
use crate::fp;
use crate::hart::Hart;
use crate::op::Insn;

/// Finds the host address for a guest or host address that is about to be called, with the hart's
/// argument registers as they are; 0: [`super::run()`] has to see to it.
pub type Lookup = unsafe extern "C" fn(hart: *mut Hart, target: u64) -> u64;

const fn x(number: usize) -> i32 {
    (offset_of!(Hart, x) + 8 * number) as i32 - HART_BIAS
}
const fn f(number: usize) -> i32 {
    (offset_of!(Hart, f) + 8 * number) as i32 - HART_BIAS
}
const PC: i32 = offset_of!(Hart, pc) as i32 - HART_BIAS;
const HOST_SP: i32 = offset_of!(Hart, host_sp) as i32 - HART_BIAS;

/// a0 to a5 and fa0 to fa7 to the hart.
macro_rules! store_arguments {
    () => {
        concat!(
            "mov [rbp + {a0}], rdi\n mov [rbp + {a0} + 8], rsi\n mov [rbp + {a0} + 16], rdx\n",
            "mov [rbp + {a0} + 24], rcx\n mov [rbp + {a0} + 32], r8\n mov [rbp + {a0} + 40], r9\n",
            "movsd [rbp + {fa0}], xmm0\n movsd [rbp + {fa0} + 8], xmm1\n",
            "movsd [rbp + {fa0} + 16], xmm2\n movsd [rbp + {fa0} + 24], xmm3\n",
            "movsd [rbp + {fa0} + 32], xmm4\n movsd [rbp + {fa0} + 40], xmm5\n",
            "movsd [rbp + {fa0} + 48], xmm6\n movsd [rbp + {fa0} + 56], xmm7\n",
        )
    };
}

macro_rules! load_arguments {
    () => {
        concat!(
            "mov rdi, [rbp + {a0}]\n mov rsi, [rbp + {a0} + 8]\n mov rdx, [rbp + {a0} + 16]\n",
            "mov rcx, [rbp + {a0} + 24]\n mov r8, [rbp + {a0} + 32]\n mov r9, [rbp + {a0} + 40]\n",
            "movsd xmm0, [rbp + {fa0}]\n movsd xmm1, [rbp + {fa0} + 8]\n",
            "movsd xmm2, [rbp + {fa0} + 16]\n movsd xmm3, [rbp + {fa0} + 24]\n",
            "movsd xmm4, [rbp + {fa0} + 32]\n movsd xmm5, [rbp + {fa0} + 40]\n",
            "movsd xmm6, [rbp + {fa0} + 48]\n movsd xmm7, [rbp + {fa0} + 56]\n",
        )
    };
}

/// Unwind information: the frame of `enter` by way of the hart (see [`unwind`]).
macro_rules! from_hart {
    () => {
        concat!(
            ".cfi_escape 0x0f, 6, 0x76, {h0}, {h1}, 0x06, 0x23, {frame}\n",
            ".cfi_offset rip, -8\n .cfi_offset rbp, -16\n .cfi_offset rbx, -24\n",
            ".cfi_offset r12, -32\n .cfi_offset r13, -40\n .cfi_offset r14, -48\n",
            ".cfi_offset r15, -56\n",
        )
    };
}

/// Enters translated code at `entry` with the registers of the hart. Returns a
/// [`Reason`](super::code::Reason); all registers are in the hart then.
#[unsafe(naked)]
pub unsafe extern "C" fn enter(hart: *mut Hart, entry: u64, lookup: Lookup) -> u64 {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "push rbx",
        ".cfi_def_cfa_offset 24",
        ".cfi_offset rbx, -24",
        "push r12",
        ".cfi_def_cfa_offset 32",
        ".cfi_offset r12, -32",
        "push r13",
        ".cfi_def_cfa_offset 40",
        ".cfi_offset r13, -40",
        "push r14",
        ".cfi_def_cfa_offset 48",
        ".cfi_offset r14, -48",
        "push r15",
        ".cfi_def_cfa_offset 56",
        ".cfi_offset r15, -56",
        "push rdx",
        ".cfi_def_cfa_offset 64",
        "lea rbp, [rdi + {bias}]",
        "mov [rbp + {host_sp}], rsp",
        "mov r10, rsi",
        "mov rax, [rbp + {pc}]",
        load_arguments!(),
        "mov r11, [rbp + {ra}]",
        "mov r15, [rbp + {sp}]",
        "mov rbx, [rbp + {s0}]",
        "mov r12, [rbp + {s1}]",
        "mov r13, [rbp + {s2}]",
        "mov r14, [rbp + {s3}]",
        "call r10",
        "mov [rbp + {a0}], rax",
        "mov [rbp + {a0} + 8], rdx",
        "movsd [rbp + {fa0}], xmm0",
        "movsd [rbp + {fa0} + 8], xmm1",
        "jmp {elsewhere}",
        ".cfi_endproc",
        bias = const HART_BIAS,
        host_sp = const HOST_SP,
        a0 = const x(10),
        fa0 = const f(10),
        ra = const x(1),
        sp = const x(2),
        s0 = const x(8),
        s1 = const x(9),
        s2 = const x(18),
        s3 = const x(19),
        pc = const PC,
        elsewhere = sym elsewhere,
    )
}

/// A function has returned to the guest address in r11, where nobody waits; its results are in the hart.
#[unsafe(naked)]
pub unsafe extern "C" fn elsewhere() {
    naked_asm!(
        ".cfi_startproc",
        from_hart!(),
        "mov [rbp + {ra}], r11",
        "mov [rbp + {pc}], r11",
        "jmp {leave_with_saved}",
        ".cfi_endproc",
        h0 = const unwind::HOST_SP[0],
        h1 = const unwind::HOST_SP[1],
        frame = const unwind::FRAME,
        ra = const x(1),
        pc = const PC,
        leave_with_saved = sym leave_with_saved,
    )
}

/// What callees keep goes to the hart, and execution goes on at `hart.pc`.
#[unsafe(naked)]
unsafe extern "C" fn leave_with_saved() {
    naked_asm!(
        ".cfi_startproc",
        from_hart!(),
        "mov [rbp + {s0}], rbx",
        "mov [rbp + {s1}], r12",
        "mov [rbp + {s2}], r13",
        "mov [rbp + {s3}], r14",
        "xor eax, eax",
        "jmp {leave}",
        ".cfi_endproc",
        h0 = const unwind::HOST_SP[0],
        h1 = const unwind::HOST_SP[1],
        frame = const unwind::FRAME,
        s0 = const x(8),
        s1 = const x(9),
        s2 = const x(18),
        s3 = const x(19),
        leave = sym leave,
    )
}

/// Back to the caller of [`enter`] with the reason in eax; the hart has all registers but sp.
#[unsafe(naked)]
pub unsafe extern "C" fn leave() {
    naked_asm!(
        ".cfi_startproc",
        from_hart!(),
        "mov [rbp + {sp}], r15",
        "mov rsp, [rbp + {host_sp}]",
        "pop rdx",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        h0 = const unwind::HOST_SP[0],
        h1 = const unwind::HOST_SP[1],
        frame = const unwind::FRAME,
        sp = const x(2),
        host_sp = const HOST_SP,
    )
}

/// At a call, or a function's entry, of the address in rax: goes on there by way of [`super::run()`],
/// with the frames of the host cut off.
#[unsafe(naked)]
pub unsafe extern "C" fn leave_at_call() {
    naked_asm!(
        ".cfi_startproc",
        from_hart!(),
        store_arguments!(),
        "mov [rbp + {ra}], r11",
        "mov [rbp + {pc}], rax",
        "jmp {leave_with_saved}",
        ".cfi_endproc",
        h0 = const unwind::HOST_SP[0],
        h1 = const unwind::HOST_SP[1],
        frame = const unwind::FRAME,
        a0 = const x(10),
        fa0 = const f(10),
        ra = const x(1),
        pc = const PC,
        leave_with_saved = sym leave_with_saved,
    )
}

/// A call of the address in rax, for which translated code knows no host address. Entered by `call`, or
/// by `jmp` in the place of a tail call.
#[unsafe(naked)]
pub unsafe extern "C" fn slow_call() {
    naked_asm!(
        ".cfi_startproc",
        from_hart!(),
        store_arguments!(),
        "mov [rbp + {ra}], r11",
        "mov [rbp + {sp}], r15",
        "mov [rbp + {pc}], rax",
        "lea rdi, [rbp - {bias}]",
        "mov rsi, rax",
        "mov rdx, [rbp + {host_sp}]",
        "sub rsp, 8",
        "call [rdx]",
        "add rsp, 8",
        "test rax, rax",
        "je {leave_with_saved}",
        "mov r10, rax",
        "mov rax, [rbp + {pc}]",
        "mov r11, [rbp + {ra}]",
        load_arguments!(),
        "jmp r10",
        ".cfi_endproc",
        h0 = const unwind::HOST_SP[0],
        h1 = const unwind::HOST_SP[1],
        frame = const unwind::FRAME,
        bias = const HART_BIAS,
        host_sp = const HOST_SP,
        a0 = const x(10),
        fa0 = const f(10),
        ra = const x(1),
        sp = const x(2),
        pc = const PC,
        leave_with_saved = sym leave_with_saved,
    )
}

/// A floating-point instruction by its word, with the contents of its registers.
pub unsafe extern "C" fn helper(a: u64, b: u64, c: u64, word: u64) -> u64 {
    // SAFETY: translated code passes the words of instructions that the decoder made.
    fp::execute(unsafe { Insn::from_word(word) }, a, b, c)
}

/// [`helper`] for the value at `rsp + 8` and the instruction at `rsp + 16`; the result takes the value's
/// place, and all registers stay as they are.
#[unsafe(naked)]
pub unsafe extern "C" fn convert() {
    naked_asm!(
        ".cfi_startproc",
        from_hart!(),
        "push rbx",
        "mov rbx, rsp",
        "push rax",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "push r8",
        "push r9",
        "push r10",
        "push r11",
        "sub rsp, 264",
        "and rsp, -16",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "movups [rsp + 128], xmm8",
        "movups [rsp + 144], xmm9",
        "movups [rsp + 160], xmm10",
        "movups [rsp + 176], xmm11",
        "movups [rsp + 192], xmm12",
        "movups [rsp + 208], xmm13",
        "movups [rsp + 224], xmm14",
        "movups [rsp + 240], xmm15",
        "mov rdi, [rbx + 16]",
        "xor esi, esi",
        "xor edx, edx",
        "mov rcx, [rbx + 24]",
        "call {helper}",
        "mov [rbx + 16], rax",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "movups xmm8, [rsp + 128]",
        "movups xmm9, [rsp + 144]",
        "movups xmm10, [rsp + 160]",
        "movups xmm11, [rsp + 176]",
        "movups xmm12, [rsp + 192]",
        "movups xmm13, [rsp + 208]",
        "movups xmm14, [rsp + 224]",
        "movups xmm15, [rsp + 240]",
        "lea rsp, [rbx - 72]",
        "pop r11",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rdi",
        "pop rsi",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "pop rbx",
        "ret",
        ".cfi_endproc",
        h0 = const unwind::HOST_SP[0],
        h1 = const unwind::HOST_SP[1],
        frame = const unwind::FRAME,
        helper = sym helper,
    )
}
