//! The crossing itself: the paper's migration handler (section IV.B, listing 1) as the frame in which
//! an activation lives.
//!
//! It is assembly so that only frames with plain unwind information stand between host frames:
//! `longjmp` and `pthread_exit`'s unwinding pass over it, Rust code is never in between; exceptions
//! end there ([`crate::unwinding`]).
//! The frame: return address, rbp, [`Activation`](crate::activation::Activation) below it.
//!
//! On entry r11 is the gate's record and everything else is as at the call of an ordinary function.
use core::arch::naked_asm;

use crate::{activation, marshal, step, unwinding};

/// `step`'s answer to the crossing.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The NxP function has returned; results are in the activation.
    Return = 0,
    /// Call `activation.call`, then resume.
    CallHost = 1,
}

pub fn cross_address(counted: bool) -> usize {
    if counted {
        cross_counted as *const () as usize
    } else {
        cross as *const () as usize
    }
}

/// Start and end of each crossing.
pub fn code() -> [u64; 4] {
    unsafe extern "C" {
        static __flick_cross_end: u8;
        static __flick_cross_counted_end: u8;
    }
    [
        cross as *const () as u64,
        &raw const __flick_cross_end as u64,
        cross_counted as *const () as u64,
        &raw const __flick_cross_counted_end as u64,
    ]
}

pub fn return_address() -> u64 {
    activation_end as *const () as u64
}

pub fn xcall_address() -> u64 {
    __flick_xcall as *const () as u64
}

/// One body, two entries: counting is chosen when a module is registered, so that calls that are not
/// counted do not ask.
macro_rules! crossing {
    ($(#[$doc:meta])* $name:ident, $end:literal, $enter:path, $resume:path) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                ".cfi_startproc",
                // DW_EH_PE_pcrel | DW_EH_PE_sdata4
                ".cfi_personality 0x1b, {personality}",
                "endbr64",
                "push rbp",
                ".cfi_def_cfa_offset 16",
                ".cfi_offset rbp, -16",
                "mov rbp, rsp",
                ".cfi_def_cfa_register rbp",
                "sub rsp, {size}",
                "mov [rsp + {ints}], rdi",
                "mov [rsp + {ints} + 8], rsi",
                "mov [rsp + {ints} + 16], rdx",
                "mov [rsp + {ints} + 24], rcx",
                "mov [rsp + {ints} + 32], r8",
                "mov [rsp + {ints} + 40], r9",
                "movsd [rsp + {floats}], xmm0",
                "movsd [rsp + {floats} + 8], xmm1",
                "movsd [rsp + {floats} + 16], xmm2",
                "movsd [rsp + {floats} + 24], xmm3",
                "movsd [rsp + {floats} + 32], xmm4",
                "movsd [rsp + {floats} + 40], xmm5",
                "movsd [rsp + {floats} + 48], xmm6",
                "movsd [rsp + {floats} + 56], xmm7",
                "mov [rsp + {gate}], r11",
                "mov rdi, rsp",
                "call {enter}",
                "2:",
                "test eax, eax",
                "jne 3f",
                "mov rax, [rsp + {results}]",
                "mov rdx, [rsp + {results} + 8]",
                "movsd xmm0, [rsp + {results} + 16]",
                "movsd xmm1, [rsp + {results} + 24]",
                ".cfi_remember_state",
                "leave",
                ".cfi_def_cfa rsp, 8",
                "ret",
                ".cfi_restore_state",
                // A host call. From here on rsp may be lower than the activation, rbp - size.
                "3:",
                "mov rcx, [rsp + {stack_size}]",
                "test rcx, rcx",
                "je 4f",
                "sub rsp, rcx",
                "and rsp, -64",
                "lea rdi, [rbp - {size}]",
                "mov rsi, rsp",
                "call {stack_args}",
                "4:",
                "mov rdi, [rbp - {size} + {ints}]",
                "mov rsi, [rbp - {size} + {ints} + 8]",
                "mov rdx, [rbp - {size} + {ints} + 16]",
                "mov rcx, [rbp - {size} + {ints} + 24]",
                "mov r8, [rbp - {size} + {ints} + 32]",
                "mov r9, [rbp - {size} + {ints} + 40]",
                "movsd xmm0, [rbp - {size} + {floats}]",
                "movsd xmm1, [rbp - {size} + {floats} + 8]",
                "movsd xmm2, [rbp - {size} + {floats} + 16]",
                "movsd xmm3, [rbp - {size} + {floats} + 24]",
                "movsd xmm4, [rbp - {size} + {floats} + 32]",
                "movsd xmm5, [rbp - {size} + {floats} + 40]",
                "movsd xmm6, [rbp - {size} + {floats} + 48]",
                "movsd xmm7, [rbp - {size} + {floats} + 56]",
                "mov rax, [rbp - {size} + {vectors}]",
                "call [rbp - {size} + {target}]",
                "lea rsp, [rbp - {size}]",
                "mov [rsp + {results}], rax",
                "mov [rsp + {results} + 8], rdx",
                "movsd [rsp + {results} + 16], xmm0",
                "movsd [rsp + {results} + 24], xmm1",
                "mov rdi, rsp",
                "call {resume}",
                "jmp 2b",
                ".cfi_endproc",
                concat!(".globl ", $end),
                concat!(".hidden ", $end),
                concat!($end, ":"),
                size = const activation::SIZE,
                ints = const activation::INT_ARGS,
                floats = const activation::FLOAT_ARGS,
                gate = const activation::GATE,
                results = const activation::RESULTS,
                stack_size = const activation::CALL_STACK_SIZE,
                vectors = const activation::CALL_VECTORS,
                target = const activation::CALL_TARGET,
                enter = sym $enter,
                resume = sym $resume,
                stack_args = sym marshal::host_stack_args,
                personality = sym unwinding::personality,
            )
        }
    };
}

crossing!(
    /// Enters the NxP with the gate's record in r11; not callable from Rust.
    cross, "__flick_cross_end", step::enter, step::resume
);
crossing!(
    /// The same, counting.
    cross_counted, "__flick_cross_counted_end", step::enter_counted, step::resume_counted
);

pub fn twin_counted_address() -> usize {
    twin_counted as *const () as usize
}

/// Where gates lead when placed functions run on the host and calls are counted.
#[unsafe(naked)]
unsafe extern "C" fn twin_counted() {
    naked_asm!(
        ".cfi_startproc", "endbr64", "lock inc qword ptr [r11 + {calls}]", "jmp [r11 + {twin}]",
        ".cfi_endproc",
        calls = const core::mem::offset_of!(flick_abi::layout::Gate, calls),
        twin = const core::mem::offset_of!(flick_abi::layout::Gate, twin),
    )
}

/// Where a gate leads, by way of flickcrt.o's `__flick_lazy`, before its module is registered (a
/// constructor or resolver that runs before ours): to the twin, on the host.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __flick_early() {
    naked_asm!(
        ".cfi_startproc", "endbr64", "lock inc dword ptr [r11 + {early}]", "jmp [r11 + {twin}]",
        ".cfi_endproc",
        early = const core::mem::offset_of!(flick_abi::layout::Gate, early_calls),
        twin = const core::mem::offset_of!(flick_abi::layout::Gate, twin),
    )
}

/// The address that NxP code returns to at the end of an activation. Only an address: a host thread
/// that runs it has jumped wildly.
#[unsafe(naked)]
unsafe extern "C" fn activation_end() {
    naked_asm!(".cfi_startproc", "ud2", ".cfi_endproc")
}

/// The address that NxP code jumps to for a call that needs a signature. Only an address.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __flick_xcall() {
    naked_asm!(".cfi_startproc", "ud2", ".cfi_endproc")
}
