//! Calls with a signature between the host and translated code, both ways: the fast path
//! ([`super::fast_path`]) with moves of arguments ([`crate::modules::argument_moves`]) between its frame and
//! the call.
//!
//! A move is code that ends with a jump to the next one, by a table in memory. The last one makes
//! the call. r10 is the address of the move; rax and r11 are free. In both directions rbp is the
//! hart's and r15 the NxP's stack pointer, as in translated code. What is not as usual goes the slow
//! path before anything has moved.
use core::mem::offset_of;

use flick_abi::layout::Gate;
use flick_engine::Hart;
use flick_translator::Context;

use super::fast_path_code::{MOST_STACK, stepped_through, stepped_through_end};
use super::frame::{
    called_by_nxp, crossing_asm, from_translated, load_saved, saved_here, store_saved,
};
use super::move_code::{
    a_move, code_of_move, for_registers, from_register, lines, moves, object, objects, word,
    words_to_host, words_to_nxp,
};
use super::unwinding;
use crate::modules::argument_moves::{self, Move, Moves};
use crate::modules::signature_table::{self, Call};
use crate::modules::signatures::Plan;
use crate::os::host_stack::HostStack;
use crate::thread::activation::{self, Activation, x};
use crate::thread::activations::{ActivationStack, Entry};
use crate::thread::{Thread, crossing_code};
use crate::translation;

/// Assembly refers to it by its labels.
#[used]
static SIGNATURE_PATH: unsafe extern "C" fn() = signature_path;

const fn hart(offset: usize) -> usize {
    offset_of!(Activation, context) + offset
}

const fn active(offset: usize) -> usize {
    offset_of!(Thread, active) + offset
}

const fn to_nxp(offset: usize) -> usize {
    offset_of!(Plan, to_nxp) + offset
}

const fn to_host(offset: usize) -> usize {
    offset_of!(Plan, to_host) + offset
}

/// Enters the NxP with the record of a gate in r11, whose signature has moves.
#[unsafe(naked)]
unsafe extern "C" fn signature_path() {
    crossing_asm!(
        ".p2align 6",
        ".globl __flick_signature",
        ".hidden __flick_signature",
        "__flick_signature:",
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
        "je 9f",
        // r14: the plan.
        "mov rax, [r11 + {gate_signature}]",
        "mov r10d, eax",
        "and r10d, {signatures_mask}",
        "lea r14, [rip + {signatures}]",
        "lea r14, [r14 + 8 * r10]",
        "cmp [r14], rax",
        "jne 10f",
        "11:",
        "mov r14, [r14 + {plans}]",
        // On the thread's own stack, with room; and the rounding mode is one that MXCSR has.
        "mov r10, rsp",
        "sub r10, [rbx + {least}]",
        "cmp r10, [rbx + {span}]",
        "jae 9f",
        "mov [rsp + {gate}], r11",
        "mov rax, [rbx + {limit}]",
        "mov [rsp + {host_limit}], rax",
        "mov qword ptr [rsp + {reservation_and_more}], 0",
        "mov qword ptr [rsp + {result}], 0",
        // r15: the NxP stack's pointer. From here on handlers that cross stay below the arguments.
        "cmp qword ptr [rbx + {newest}], 0",
        "jne 7f",
        "mov r15, [rbx + {stack_top}]",
        "sub r15, [r14 + {nxp_room}]",
        "mov [rsp + {sp}], r15",
        // `ActivationStack::push`. The first entry's `entry_sp` never changes.
        "mov [rbx + {newest}], rsp",
        "3:",
        "mov r10, [r14 + {to_nxp}]",
        "lea rbp, [rsp + {bias}]",
        stepped_through!("__x86_indirect_thunk_rbx"),
        "call [r10]",
        "lea r10, [rip + __flick_activation_end]",
        "cmp r11, r10",
        "jne 8f",
        // rax, rdx, xmm0 and xmm1 are results; or the result is in memory, and rax is its address.
        // The rest is as in `fast_path`.
        "mov rcx, [rsp + {result}]",
        "test rcx, rcx",
        "cmovne rax, rcx",
        "mov rcx, [rip + __flick_thread@GOTTPOFF]",
        "cmp rbx, fs:[rcx]",
        "jne 32f",
        "33:",
        "cmp [rbx + {newest}], rsp",
        "jne 6f",
        // `ActivationStack::pop`.
        "mov r10, [rbx + {top}]",
        "cmp r10, [rbx + {base}]",
        "jne 12f",
        "mov qword ptr [rbx + {newest}], 0",
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
        "jmp __flick_fast_newer",
        "12:",
        "mov rsi, [r10 + {entry_sp}]",
        "mov rdi, [r10 + {entry_act}]",
        "mov [rbx + {newest_sp}], rsi",
        "mov [rbx + {newest}], rdi",
        "sub r10, {entry_size}",
        "mov [rbx + {top}], r10",
        "jmp 5b",
        "32:",
        "mov rbx, fs:[rcx]",
        "jmp 33b",
        stepped_through_end!("__x86_indirect_thunk_rbx"),
        // It may be in the next place.
        "10:",
        "add r14, 8",
        "cmp [r14], rax",
        "je 11b",
        "jmp 9f",
        // Within NxP code that waits for the host, on the same stack (`leaving::stack_pointer_for`).
        "7:",
        "mov r10, [rbx + {newest}]",
        "cmp r10, rsp",
        "jbe 9f",
        "mov r15, [r10 + {sp}]",
        "cmp r15, [rbx + {newest_sp}]",
        "ja 9f",
        "cmp r15, [rbx + {stack_low}]",
        "jbe 9f",
        "mov r13, [rbx + {top}]",
        "cmp r13, [rbx + {table_last}]",
        "jae 9f",
        "and r15, -16",
        "sub r15, 16",
        "mov rax, r15",
        "sub r15, [r14 + {nxp_room}]",
        "mov [rsp + {sp}], r15",
        "mov [r13 + {entry_size} + {entry_act}], r10",
        "mov r10, [rbx + {newest_sp}]",
        "mov [r13 + {entry_size} + {entry_sp}], r10",
        "add r13, {entry_size}",
        "mov [rbx + {top}], r13",
        "mov [rbx + {newest}], rsp",
        "mov [rbx + {newest_sp}], rax",
        "jmp 3b",
        // Not returned to the activation's end.
        "8:",
        "jmp __flick_fast_left",
        "9:",
        load_saved!(),
        "jmp __flick_cross_framed",
        ".cfi_endproc",
        // The same for a function that gets the address of an object aligned to 16. A caller may
        // have aligned its stack less (clang in a function with `alloca`).
        ".p2align 4",
        ".globl __flick_signature_aligned",
        ".hidden __flick_signature_aligned",
        "__flick_signature_aligned:",
        ".cfi_startproc",
        "endbr64",
        "test spl, 8",
        "jne __flick_signature",
        "jmp __flick_cross",
        ".cfi_endproc",
        //
        // NxP code calls by a signature: t1 is its text, t2 the function. Entered as translated
        // functions are.
        ".p2align 5",
        ".globl __flick_signature_call",
        ".hidden __flick_signature_call",
        "__flick_signature_call:",
        ".cfi_startproc",
        from_translated!(),
        "lea r10, [rsp + {most_stack}]",
        "cmp r10, rbp",
        "jb {leave_at_call}",
        "mov [rbp - {bias} + {ra}], r11",
        // r10: the plan, if it is known that this function is the host's.
        "mov rax, [rbp - {bias} + {t2}]",
        "mov r11d, eax",
        "and r11d, {function_mask}",
        "lea r10, [rip + {calls}]",
        "lea r11, [r10 + 2 * r11]",
        "mov r10, [rbp - {bias} + {t1}]",
        "cmp [r11 + {call_function}], rax",
        "jne 2f",
        "cmp [r11 + {call_text}], r10",
        "jne 2f",
        "1:",
        "mov r10, [r11 + {call_plan}]",
        "mov [rbp - {bias} + {signature}], r10",
        // For unwinders, and whoever lets the NxP go on elsewhere.
        "mov [rbp - {bias} + {s0}], rbx",
        "mov [rbp - {bias} + {s1}], r12",
        "mov [rbp - {bias} + {s2}], r13",
        "mov [rbp - {bias} + {s3}], r14",
        "mov [rbp - {bias} + {target}], rax",
        "mov [rbp - {bias} + {waits}], rsp",
        "sub rsp, [r10 + {host_room}]",
        "mov r10, [r10 + {to_host}]",
        "jmp [r10]",
        // It may be in the next place.
        "2:",
        "cmp [r11 + {call_size} + {call_function}], rax",
        "jne 3f",
        "add r11, {call_size}",
        "cmp [r11 + {call_text}], r10",
        "je 1b",
        // A function of the NxP, if the call has no arguments behind dots, finds its arguments where
        // they are.
        "3:",
        "mov eax, r10d",
        "and eax, {signatures_mask}",
        "lea r11, [rip + {signatures}]",
        "lea r11, [r11 + 8 * rax]",
        "cmp [r11], r10",
        "jne 9f",
        "mov r10, [r11 + {plans}]",
        "cmp qword ptr [r10 + {to_host}], 0",
        "je 9f",
        "mov rax, [rbp - {bias} + {t2}]",
        "mov r11d, eax",
        "and r11d, {targets_mask}",
        "mov r10, [rip + {targets}@GOTPCREL]",
        "lea r11, [r10 + {scale} * r11]",
        "cmp [r11], rax",
        "jne 9f",
        "mov r10, [r11 + 8]",
        "lea r11, [rip + __flick_fast_host_call]",
        "cmp r10, r11",
        "je 9f",
        "cmp r10, [rip + {near} + {near_host_call}]",
        "je 9f",
        "mov r11, [rbp - {bias} + {ra}]",
        "jmp r10",
        // Not known, or without moves.
        "9:",
        "mov r11, [rbp - {bias} + {ra}]",
        "mov rax, [rip + __flick_xcall@GOTPCREL]",
        "push rax",
        "lea r10, [rip + {by_signature}]",
        "jmp {slow_call_with}",
        //
        moves!(),
        // The last move to the host.
        "72:",
        // An upper bound of the vector registers in use, for `al`.
        "mov eax, 8",
        "mov byte ptr [rbp - {bias} + {mark}], {in_host}",
        "lea rbp, [rbp + {size} - {bias}]",
        ".cfi_endproc",
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}",
        called_by_nxp!(),
        ".globl __flick_signature_calls",
        ".hidden __flick_signature_calls",
        "__flick_signature_calls:",
        stepped_through!("__x86_indirect_thunk_rcx"),
        "call [rbp - {size} + {target}]",
        ".globl __flick_signature_called",
        ".hidden __flick_signature_called",
        "__flick_signature_called:",
        "lea rbp, [rbp - {size} + {bias}]",
        "78:",
        ".cfi_endproc",
        // Exceptions go through the frames of the guest. A debugger reads `.debug_frame` first,
        // and goes through those of translated code, which are on this stack.
        ".pushsection .debug_frame, \"\", @progbits",
        "70:",
        ".long 75f - 71f",
        "71:",
        // Of a CIE; version 1, no augmentation; alignment of code 1, of data -8; rip is column 16.
        ".long 0xffffffff",
        ".byte 1, 0, 1, 0x78, 16",
        // DW_CFA_def_cfa_expression: behind the return address of the code that waits.
        // DW_OP_breg6 (rbp), DW_OP_deref, DW_OP_plus_uconst 8.
        ".byte 0x0f, 6, 0x76, {waits0}, {waits1}, 0x06, 0x23, 8",
        // DW_CFA_offset: rip is one eighth below it.
        ".byte 0x80 | 16, 1",
        // DW_CFA_val_expression: rbp is the hart's there.
        ".byte 0x16, 6, 3, 0x76, {hart0}, {hart1}",
        ".balign 8, 0",
        "75:",
        ".long 74f - 73f",
        "73:",
        ".long 70b",
        ".quad __flick_signature_calls, 78b - __flick_signature_calls",
        ".balign 8, 0",
        "74:",
        ".popsection",
        ".cfi_startproc",
        from_translated!(),
        "mov rsp, [rbp - {bias} + {waits}]",
        "mov byte ptr [rbp - {bias} + {mark}], 0",
        "mov r11, [rbp - {bias} + {signature}]",
        "test byte ptr [r11 + {boxes}], 3",
        "jne 7f",
        "6:",
        "mov r11, [rip + __flick_thread@GOTTPOFF]",
        "mov r11, fs:[r11]",
        "lea r10, [rbp - {bias}]",
        "cmp [r11 + {newest}], r10",
        "jne 5f",
        "cmp word ptr [r11 + {frm}], 0",
        "jne 5f",
        "mov r11, [rbp - {bias} + {ra}]",
        "ret",
        // A `float` among the results.
        "7:",
        "test byte ptr [r11 + {boxes}], 1",
        "je 3f",
        "orps xmm0, [rip + {box_bits}]",
        "3:",
        "test byte ptr [r11 + {boxes}], 2",
        "je 6b",
        "orps xmm1, [rip + {box_bits}]",
        "jmp 6b",
        stepped_through_end!("__x86_indirect_thunk_rcx"),
        // Not as usual.
        "5:",
        "sub rsp, 8",
        "jmp __flick_fast_back",
        ".cfi_endproc",
        ".globl __flick_signature_end",
        ".hidden __flick_signature_end",
        "__flick_signature_end:",
        head = const activation::FRAME_HEAD,
        code = const offset_of!(Gate, code),
        gate_signature = const offset_of!(Gate, signature),
        signatures = sym signature_table::SIGNATURES,
        signatures_mask = const signature_table::TEXT_MASK,
        plans = const signature_table::PLANS,
        calls = sym signature_table::CALLS,
        function_mask = const signature_table::FUNCTION_MASK,
        call_function = const offset_of!(Call, function),
        call_text = const offset_of!(Call, text),
        call_plan = const offset_of!(Call, plan),
        call_size = const size_of::<Call>(),
        nxp_room = const to_nxp(offset_of!(Moves, room)),
        to_nxp = const to_nxp(offset_of!(Moves, first)),
        host_room = const to_host(offset_of!(Moves, room)),
        to_host = const to_host(offset_of!(Moves, first)),
        boxes = const offset_of!(Plan, boxes),
        move_size = const size_of::<Move>(),
        from = const Move::FROM,
        to = const Move::TO,
        box_bits = sym BOX,
        result = const activation::RESULT,
        targets = sym translation::target_table::__flick_1_targets,
        targets_mask = const flick_translator::TARGETS_MASK,
        scale = const flick_translator::TARGETS_SCALE,
        frm = const Thread::FRM,
        least = const offset_of!(Thread, least),
        span = const offset_of!(Thread, span),
        limit = const offset_of!(Thread, host_stack) + offset_of!(HostStack, limit),
        base = const active(offset_of!(ActivationStack, base)),
        top = const active(offset_of!(ActivationStack, top)),
        newest = const active(offset_of!(ActivationStack, newest)),
        newest_sp = const active(offset_of!(ActivationStack, newest_sp)),
        table_last = const active(offset_of!(ActivationStack, last)),
        entry_act = const offset_of!(Entry, act),
        entry_sp = const offset_of!(Entry, entry_sp),
        entry_size = const size_of::<Entry>(),
        stack_top = const offset_of!(Thread, stack_top),
        stack_low = const Thread::STACK_LOW,
        gate = const activation::GATE,
        signature = const activation::CALL_SIGNATURE,
        target = const activation::CALL_TARGET,
        waits = const activation::CALL_WAITS,
        waits0 = const activation::WAITS[0],
        waits1 = const activation::WAITS[1],
        in_host = const activation::IN_HOST,
        mark = const hart(offset_of!(Hart, mark)),
        host_limit = const hart(offset_of!(Context, host_limit)),
        reservation_and_more = const hart(offset_of!(Hart, reservation_len)),
        ra = const x(1),
        sp = const x(2),
        t1 = const x(6),
        t2 = const x(7),
        s0 = const x(8),
        a6 = const x(16),
        s1 = const x(9),
        s2 = const x(18),
        s3 = const x(19),
        bias = const flick_translator::HART_BIAS,
        hart0 = const activation::HART[0],
        hart1 = const activation::HART[1],
        most_stack = const MOST_STACK,
        leave_at_call = sym flick_translator::leave_at_call,
        near = sym crossing_code::NEAR,
        near_host_call = const crossing_code::NEAR_HOST_CALL,
        slow_call_with = sym flick_translator::slow_call_with,
        by_signature = sym translation::by_signature,
    )
}

/// For `orps`, which reads 16 bytes: what a register of the NxP has besides a `float`.
#[repr(align(16))]
struct BoxBits {
    _bits: [u64; 2],
}

static BOX: BoxBits = BoxBits {
    _bits: [0xffff_ffff_0000_0000, 0],
};

const _: () = assert!(offset_of!(Activation, context) == 0);
// A function's address has 16 for each of them.
const _: () = assert!(size_of::<Call>() == 32);

const _: [(); argument_moves::FRAME] = [(); activation::SIZE + activation::FRAME_HEAD];
const _: [(); argument_moves::RESULT] = [(); activation::RESULT];
