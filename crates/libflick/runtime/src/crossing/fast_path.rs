//! Calls between the host and translated code, both ways, that need nothing else: the two entries
//! of [`crate::crossing::slow_path`] that hold in registers what it keeps in the activation.
//!
//! Both calling conventions have such a call's arguments and results in the same places
//! ([`flick_translator`]'s registers), so that none is moved. What is not as usual goes the way of
//! `cross`, whose frame this one is.
use core::mem::offset_of;

use flick_abi::layout::Gate;
use flick_engine::Hart;
use flick_translator::Context;

use super::frame::{
    called_by_nxp, crossing_asm, from_translated, load_saved, saved_here, store_saved,
};
use super::slow_path::activation_end;
use super::{inline, unwinding};
use crate::os::host_stack::HostStack;
use crate::thread::activation::{self, Activation, x};
use crate::thread::activations::{ActivationStack, Entry};
use crate::thread::{Thread, crossing_code};
use crate::translation;

/// Stack that calls in translated code may use before the host is called on it. What is above that
/// is cut off first, so that host functions find as much as they would without these frames.
pub(super) const MOST_STACK: usize = 64 << 10;

pub(super) const fn hart(offset: usize) -> usize {
    offset_of!(Activation, context) + offset
}

pub(super) const fn active(offset: usize) -> usize {
    offset_of!(Thread, active) + offset
}

pub(super) const fn host_stack(offset: usize) -> usize {
    offset_of!(Thread, host_stack) + offset
}

// One store makes all of these 0.
const _: () = assert!(offset_of!(Hart, reservation_len).is_multiple_of(8));
const _: () = assert!(offset_of!(Hart, frm) == offset_of!(Hart, reservation_len) + 4);
const _: () = assert!(offset_of!(Hart, mark) == offset_of!(Hart, reservation_len) + 6);

/// Enters the NxP with the record of a plain function's gate in r11; not callable from Rust. It
/// begins at a label in it, since a function's own alignment cannot be asked for.
#[used]
static FAST_PATH: unsafe extern "C" fn() = fast_path;

#[unsafe(naked)]
unsafe extern "C" fn fast_path() {
    crossing_asm!(
        ".p2align 6",
        ".globl __flick_fast",
        ".hidden __flick_fast",
        "__flick_fast:",
        ".cfi_startproc",
        // DW_EH_PE_pcrel | DW_EH_PE_sdata4
        ".cfi_personality 0x1b, {personality}",
        "endbr64",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        "sub rsp, {size}",
        ".cfi_def_cfa rsp, {size} + {head}",
        store_saved!(),
        saved_here!(),
        // rbx: the thread's state.
        "mov rax, [rip + __flick_thread@GOTTPOFF]",
        "mov rbx, fs:[rax]",
        "test rbx, rbx",
        "je 9f",
        // r12: the function's translation.
        "mov r12, [r11 + {code}]",
        "test r12, r12",
        "je 30f",
        "31:",
        // On the thread's own stack, with room; and the rounding mode is one that MXCSR has.
        "cmp rsp, [rbx + {least}]",
        "jb 9f",
        "cmp rsp, [rbx + {high}]",
        "ja 9f",
        // r13: our entry among the activations; r15: the NxP stack's pointer.
        "mov r13, [rbx + {base}]",
        "cmp r13, [rbx + {top}]",
        "jne 7f",
        "add r13, {entry_size}",
        "mov r15, [rbx + {stack_top}]",
        // From here on handlers that cross stay below the new stack pointer.
        "mov [rsp + {sp}], r15",
        // `ActivationStack::push`. The first entry's `entry_sp` never changes.
        "2:",
        "mov [r13 + {entry_act}], rsp",
        "mov [rbx + {top}], r13",
        "cmp [r13 + {entry_act}], rsp",
        "jne 2b",
        "3:",
        "mov rax, [rbx + {limit}]",
        "mov [rsp + {host_limit}], rax",
        "mov [rsp + {gate}], r11",
        "mov qword ptr [rsp + {reservation_and_more}], 0",
        "lea r11, [rip + {end} + {end_head}]",
        "lea rbp, [rsp + {bias}]",
        "call r12",
        "lea r10, [rip + {end} + {end_head}]",
        "cmp r11, r10",
        "jne 8f",
        // rax, rdx, xmm0 and xmm1 are results. The callee has kept rbx and r13, its s0 and s2, if
        // it keeps to its convention: what depends on them, up to the next call, is not to wait for
        // the loads that tell.
        "mov rcx, [rip + __flick_thread@GOTTPOFF]",
        "cmp rbx, fs:[rcx]",
        "jne 32f",
        "33:",
        "cmp [rbx + {top}], r13",
        "jne 6f",
        "sub r13, {entry_size}",
        "mov [rbx + {top}], r13",
        "5:",
        load_saved!(),
        "add rsp, {size}",
        ".cfi_remember_state",
        ".cfi_def_cfa rsp, {head}",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_restore_state",
        "6:",
        "sub qword ptr [rbx + {top}], {entry_size}",
        "jmp 5b",
        "32:",
        "mov rbx, fs:[rcx]",
        "jmp 33b",
        // Within NxP code that waits for the host, on the same stack (`leaving::stack_pointer_for`).
        "7:",
        "mov r13, [rbx + {top}]",
        "mov r14, [r13 + {entry_act}]",
        "cmp r14, rsp",
        "jbe 9f",
        "mov r15, [r14 + {sp}]",
        "cmp r15, [r13 + {entry_sp}]",
        "ja 9f",
        "cmp r15, [rbx + {stack_low}]",
        "jbe 9f",
        "and r15, -16",
        "sub r15, 16",
        "add r13, {entry_size}",
        "cmp r13, [rbx + {table_end}]",
        "jae 9f",
        "mov [rsp + {sp}], r15",
        "4:",
        "mov [r13 + {entry_act}], rsp",
        "mov [r13 + {entry_sp}], r15",
        "mov [rbx + {top}], r13",
        "cmp [r13 + {entry_act}], rsp",
        "jne 4b",
        "jmp 3b",
        // The table knows the function by another gate.
        "30:",
        "mov r10, [r11 + {image}]",
        "mov r12, [rip + {targets}@GOTPCREL]",
        "mov eax, r10d",
        "and eax, {mask}",
        "lea r12, [r12 + {scale} * rax]",
        "cmp [r12], r10",
        "mov r12, [r12 + 8]",
        "je 31b",
        "jmp 9f",
        // Not returned to the activation's end.
        "8:",
        "lea r10, [rip + {leave}]",
        "cmp r11, r10",
        "je 23f",
        "call {returned}",
        "23:",
        "lea rbp, [rsp + {size}]",
        "jmp __flick_cross_left",
        "9:",
        load_saved!(),
        "jmp __flick_cross_framed",
        ".cfi_endproc",
        //
        // NxP code calls the host. Entered as translated functions are, by `call` or by `jmp` in
        // the place of a tail call.
        ".globl __flick_fast_host_call",
        ".hidden __flick_fast_host_call",
        "__flick_fast_host_call:",
        ".cfi_startproc",
        from_translated!(),
        "lea r10, [rsp + {most_stack}]",
        "cmp r10, rbp",
        "jb {leave_at_call}",
        "mov r10, rax",
        // An upper bound of the vector registers in use, for `al`.
        "mov eax, 8",
        // For unwinders, and whoever lets the NxP go on elsewhere.
        "mov [rbp - {bias} + {ra}], r11",
        "mov [rbp - {bias} + {s0}], rbx",
        "mov [rbp - {bias} + {s1}], r12",
        "mov [rbp - {bias} + {s2}], r13",
        "mov [rbp - {bias} + {s3}], r14",
        "sub rsp, 8",
        "mov byte ptr [rbp - {bias} + {mark}], {in_host}",
        "lea rbp, [rbp + {size} - {bias}]",
        ".cfi_endproc",
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}",
        called_by_nxp!(),
        ".globl __flick_fast_calls",
        ".hidden __flick_fast_calls",
        "__flick_fast_calls:",
        "call r10",
        ".globl __flick_fast_called",
        ".hidden __flick_fast_called",
        "__flick_fast_called:",
        "lea rbp, [rbp - {size} + {bias}]",
        "78:",
        ".cfi_endproc",
        // Exceptions go through the frames of the guest. A debugger reads `.debug_frame` first,
        // and goes through those of translated code, which are on this stack.
        ".pushsection .debug_frame, \"\", @progbits",
        "70:",
        ".long 72f - 71f",
        "71:",
        // Of a CIE; version 1, no augmentation; alignment of code 1, of data -8; rip is column 16.
        ".long 0xffffffff",
        ".byte 1, 0, 1, 0x78, 16",
        // DW_CFA_def_cfa: rsp + 16. DW_CFA_offset: rip is one eighth below it.
        ".byte 0x0c, 7, 16, 0x80 | 16, 1",
        // DW_CFA_val_expression: rbp is the hart's there.
        ".byte 0x16, 6, 3, 0x76, {hart0}, {hart1}",
        ".balign 8, 0",
        "72:",
        ".long 74f - 73f",
        "73:",
        ".long 70b",
        ".quad __flick_fast_calls, 78b - __flick_fast_calls",
        ".balign 8, 0",
        "74:",
        ".popsection",
        ".cfi_startproc",
        from_translated!(),
        "mov byte ptr [rbp - {bias} + {mark}], 0",
        "mov r11, [rip + __flick_thread@GOTTPOFF]",
        "mov r11, fs:[r11]",
        "mov rcx, [r11 + {top}]",
        "lea r10, [rbp - {bias}]",
        "cmp [rcx + {entry_act}], r10",
        "jne 5f",
        "cmp word ptr [r11 + {frm}], 0",
        "jne 5f",
        "4:",
        "mov r11, [rbp - {bias} + {ra}]",
        "add rsp, 8",
        "ret",
        "5:",
        "mov [rbp - {bias} + {a0}], rax",
        "mov [rbp - {bias} + {a0} + 8], rdx",
        "movsd [rbp - {bias} + {fa0}], xmm0",
        "movsd [rbp - {bias} + {fa0} + 8], xmm1",
        "mov rdi, r10",
        "call {back}",
        "test al, al",
        "jne 6f",
        "mov rax, [rbp - {bias} + {a0}]",
        "mov rdx, [rbp - {bias} + {a0} + 8]",
        "movsd xmm0, [rbp - {bias} + {fa0}]",
        "movsd xmm1, [rbp - {bias} + {fa0} + 8]",
        "jmp 4b",
        // The interpreter goes on.
        "6:",
        "mov r11, [rbp - {bias} + {ra}]",
        "mov [rbp - {bias} + {pc}], r11",
        "xor eax, eax",
        "jmp {leave}",
        ".cfi_endproc",
        // The same where calls and instructions are counted.
        ".globl __flick_fast_host_call_counted",
        ".hidden __flick_fast_host_call_counted",
        "__flick_fast_host_call_counted:",
        ".cfi_startproc",
        from_translated!(),
        "push rax",
        "push r11",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "sub rsp, 72",
        "movsd [rsp], xmm0",
        "movsd [rsp + 8], xmm1",
        "movsd [rsp + 16], xmm2",
        "movsd [rsp + 24], xmm3",
        "movsd [rsp + 32], xmm4",
        "movsd [rsp + 40], xmm5",
        "movsd [rsp + 48], xmm6",
        "movsd [rsp + 56], xmm7",
        "lea rdi, [rbp - {bias}]",
        "mov rsi, rax",
        "call {count}",
        "movsd xmm0, [rsp]",
        "movsd xmm1, [rsp + 8]",
        "movsd xmm2, [rsp + 16]",
        "movsd xmm3, [rsp + 24]",
        "movsd xmm4, [rsp + 32]",
        "movsd xmm5, [rsp + 40]",
        "movsd xmm6, [rsp + 48]",
        "movsd xmm7, [rsp + 56]",
        "add rsp, 72",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "pop r11",
        "pop rax",
        "jmp __flick_fast_host_call",
        ".cfi_endproc",
        // NxP code calls the host by a signature; the arguments are in the hart, too. The crossing
        // makes the call, below these frames.
        ".globl __flick_fast_call_by_signature",
        ".hidden __flick_fast_call_by_signature",
        "__flick_fast_call_by_signature:",
        ".cfi_startproc",
        from_translated!(),
        "lea r10, [rsp + {most_stack}]",
        "cmp r10, rbp",
        "jb {leave_at_call}",
        "mov [rbp - {bias} + {s0}], rbx",
        "mov [rbp - {bias} + {s1}], r12",
        "mov [rbp - {bias} + {s2}], r13",
        "mov [rbp - {bias} + {s3}], r14",
        "lea rdi, [rbp - {bias}]",
        "mov rsi, rsp",
        "sub rsp, 8",
        "call {by_signature}",
        "lea rbp, [rbp + {size} - {bias}]",
        ".cfi_endproc",
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}",
        ".cfi_def_cfa rbp, {head}",
        ".cfi_offset rbp, -16",
        saved_here!(),
        "jmp rdx",
        ".cfi_endproc",
        ".globl __flick_fast_end",
        ".hidden __flick_fast_end",
        "__flick_fast_end:",
        head = const activation::FRAME_HEAD,
        code = const offset_of!(Gate, code),
        image = const offset_of!(Gate, image),
        targets = sym translation::target_table::__flick_1_targets,
        mask = const flick_translator::TARGETS_MASK,
        scale = const flick_translator::TARGETS_SCALE,
        frm = const Thread::FRM,
        least = const offset_of!(Thread, least),
        high = const host_stack(offset_of!(HostStack, high)),
        limit = const host_stack(offset_of!(HostStack, limit)),
        base = const active(offset_of!(ActivationStack, base)),
        top = const active(offset_of!(ActivationStack, top)),
        table_end = const active(offset_of!(ActivationStack, end)),
        entry_act = const offset_of!(Entry, act),
        entry_sp = const offset_of!(Entry, entry_sp),
        entry_size = const size_of::<Entry>(),
        stack_top = const offset_of!(Thread, stack_top),
        stack_low = const Thread::STACK_LOW,
        gate = const activation::GATE,
        in_host = const activation::IN_HOST,
        mark = const hart(offset_of!(Hart, mark)),
        host_limit = const hart(offset_of!(Context, host_limit)),
        reservation_and_more = const hart(offset_of!(Hart, reservation_len)),
        pc = const hart(offset_of!(Hart, pc)),
        ra = const x(1),
        sp = const x(2),
        s0 = const x(8),
        s1 = const x(9),
        s2 = const x(18),
        s3 = const x(19),
        a0 = const activation::A0,
        fa0 = const activation::FA0,
        end = sym activation_end,
        end_head = const crossing_code::END_HEAD,
        bias = const flick_translator::HART_BIAS,
        hart0 = const activation::HART[0],
        hart1 = const activation::HART[1],
        most_stack = const MOST_STACK,
        leave = sym flick_translator::leave,
        leave_at_call = sym flick_translator::leave_at_call,
        returned = sym flick_translator::returned,
        back = sym inline::back_in_translated,
        count = sym inline::count_host_call,
        by_signature = sym inline::call_by_signature,
    )
}
