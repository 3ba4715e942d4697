//! Calls between the host and translated code, both ways, that need nothing else: the two entries
//! of [`crate::crossing::slow_path`] that hold in registers what it keeps in the activation.
//!
//! Both calling conventions have such a call's arguments and results in the same places
//! ([`flick_translator`]'s registers), so that none is moved. What is not as usual goes the way of
//! `cross`, whose frame this one is. [`super::fast_path_code`] has the code; here are libflick's
//! copy of it, what both copies share, and the words through which they reach it.
use core::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering};

use flick_abi::layout::Gate;
use flick_engine::Hart;
use flick_translator::Context;

use super::fast_path_code::{
    MOST_STACK, entry_code, host_call_code, host_called, lines, plain_call, plain_entry,
    stepped_through, stepped_through_end, with_fast_path_operands, word,
};
use super::frame::{called_by_nxp, from_translated, load_saved, saved_here};
use super::move_code::{
    a_move, call_by_move, calls_nxp, code_of_move, for_registers, from_register, moves, object,
    objects, word, words, words_to_host, words_to_nxp,
};
use super::signature_path::{signature_call_code, signature_entry};
use super::{inline, unwinding};
use crate::modules::argument_moves::{self, Move, Moves};
use crate::modules::signature_table::{self, Call};
use crate::modules::signatures::{BoxBits, Plan};
use crate::os::host_stack::HostStack;
use crate::thread::activation::{self, Activation};
use crate::thread::activations::{ActivationStack, GAP};
use crate::thread::{self, Thread, crossing_code};
use crate::translation;

const _: () = assert!(offset_of!(Activation, context) == 0);
// A function's address has 16 for each of them.
const _: () = assert!(size_of::<Call>() == 32);
const _: [(); argument_moves::FRAME] = [(); activation::SIZE + activation::FRAME_HEAD];
const _: [(); argument_moves::RESULT] = [(); activation::RESULT];
// One store makes all of these 0.
const _: () = assert!(offset_of!(Hart, reservation_len).is_multiple_of(8));
const _: () = assert!(offset_of!(Hart, frm) == offset_of!(Hart, reservation_len) + 4);
const _: () = assert!(offset_of!(Hart, mark) == offset_of!(Hart, reservation_len) + 6);

/// What libflick's copy reaches.
static WORDS: [AtomicU64; word::COUNT] = [const { AtomicU64::new(0) }; word::COUNT];

/// Call before gates lead to the fast path, and once a program's copy is known.
pub fn init() {
    for (word, value) in WORDS.iter().zip(words()) {
        word.store(value, Ordering::Relaxed);
    }
}

unsafe extern "C" {
    static __flick_cross_framed: u8;
    static __flick_fast_left: u8;
    static __flick_fast_newer: u8;
    static __flick_fast_back: u8;
    static __flick_fast_host_call: u8;
    static __flick_signature_unknown: u8;
    static __flick_cross: u8;
}

/// What a copy of the code reaches, by [`word`].
pub fn words() -> [u64; word::COUNT] {
    let mut words = [0; word::COUNT];
    words[word::THREAD] = thread::offset_of_pointer() as u64;
    words[word::END] = crossing_code::return_address();
    words[word::FRAMED] = &raw const __flick_cross_framed as u64;
    words[word::LEFT] = &raw const __flick_fast_left as u64;
    words[word::NEWER] = &raw const __flick_fast_newer as u64;
    words[word::LEAVE_AT_CALL] = flick_translator::leave_at_call as *const () as u64;
    words[word::BACK] = &raw const __flick_fast_back as u64;
    words[word::CROSS] = &raw const __flick_cross as u64;
    words[word::SIGNATURES] = &raw const signature_table::SIGNATURES as u64;
    words[word::CALLS] = &raw const signature_table::CALLS as u64;
    words[word::TARGETS] = &raw const translation::target_table::__flick_1_targets as u64;
    words[word::UNKNOWN_CALL] = &raw const __flick_signature_unknown as u64;
    words[word::HOST_CALL] = &raw const __flick_fast_host_call as u64;
    words[word::NEAR_HOST_CALL] = crossing_code::host_call();
    words[word::PERSONALITY] = unwinding::at_crossing as *const () as u64;
    words
}

/// Everything else refers to it by labels (`thread/crossing_code.rs`): a function's own alignment
/// cannot be asked for.
#[used]
static FAST_PATH: unsafe extern "C" fn() = fast_path;

macro_rules! naked {
    ($code:expr, $signatures:expr; $($name:ident = $value:expr),* $(,)?) => {
        core::arch::naked_asm!(
            $code,
            // Where both copies go on if something is not as usual.
            ".cfi_startproc",
            ".cfi_personality 0x1b, {personality}",
            ".cfi_def_cfa rsp, {size} + {head}",
            ".cfi_offset rbp, -16",
            saved_here!(),
            ".globl __flick_fast_left",
            ".hidden __flick_fast_left",
            "__flick_fast_left:",
            "lea r10, [rip + {leave}]",
            "cmp r11, r10",
            "je 23f",
            "call {returned}",
            "23:",
            "lea rbp, [rsp + {size}]",
            "jmp __flick_cross_left",
            ".globl __flick_fast_newer",
            ".hidden __flick_fast_newer",
            "__flick_fast_newer:",
            "mov [rsp + {a0}], rax",
            "mov [rsp + {a0} + 8], rdx",
            "movsd [rsp + {fa0}], xmm0",
            "movsd [rsp + {fa0} + 8], xmm1",
            "call {pop}",
            "mov rax, [rsp + {a0}]",
            "mov rdx, [rsp + {a0} + 8]",
            "movsd xmm0, [rsp + {fa0}]",
            "movsd xmm1, [rsp + {fa0} + 8]",
            load_saved!(),
            "add rsp, {size}",
            ".cfi_def_cfa rsp, {head}",
            "pop rbp",
            ".cfi_def_cfa rsp, 8",
            "ret",
            ".cfi_endproc",
            ".cfi_startproc",
            from_translated!(),
            ".globl __flick_fast_back",
            ".hidden __flick_fast_back",
            "__flick_fast_back:",
            "mov [rbp - {bias} + {a0}], rax",
            "mov [rbp - {bias} + {a0} + 8], rdx",
            "movsd [rbp - {bias} + {fa0}], xmm0",
            "movsd [rbp - {bias} + {fa0} + 8], xmm1",
            "lea rdi, [rbp - {bias}]",
            "call {backs}",
            "mov r11, [rbp - {bias} + {ra}]",
            "test al, al",
            "jne 6f",
            "mov rax, [rbp - {bias} + {a0}]",
            "mov rdx, [rbp - {bias} + {a0} + 8]",
            "movsd xmm0, [rbp - {bias} + {fa0}]",
            "movsd xmm1, [rbp - {bias} + {fa0} + 8]",
            "add rsp, 8",
            "ret",
            // The interpreter goes on.
            "6:",
            "mov [rbp - {bias} + {pc}], r11",
            "xor eax, eax",
            "jmp {leave}",
            ".cfi_endproc",
            // Calls of the host where calls and instructions are counted.
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
            "jb {leaves_at_call}",
            "mov [rbp - {bias} + {sp}], r15",
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
            $signatures,
            // Calls by a signature that the fast path does not know.
            ".cfi_startproc",
            from_translated!(),
            ".globl __flick_signature_unknown",
            ".hidden __flick_signature_unknown",
            "__flick_signature_unknown:",
            "mov rax, [rip + __flick_xcall@GOTPCREL]",
            "push rax",
            "lea r10, [rip + {unknown}]",
            "jmp {slow_call_with}",
            ".cfi_endproc",
            $($name = const $value,)*
            a0 = const activation::A0,
            fa0 = const activation::FA0,
            pc = const offset_of!(Activation, context) + offset_of!(Hart, pc),
            image = const offset_of!(Gate, image),
            box_bits = sym BOX,
            unknown = sym translation::by_signature,
            slow_call_with = sym flick_translator::slow_call_with,
            words = sym WORDS,
            targets = sym translation::target_table::__flick_1_targets,
            personality = sym unwinding::at_crossing,
            leave = sym flick_translator::leave,
            leaves_at_call = sym flick_translator::leave_at_call,
            returned = sym flick_translator::returned,
            pop = sym pop,
            backs = sym inline::back_in_translated,
            count = sym inline::count_host_call,
            by_signature = sym inline::call_by_signature,
        )
    };
}

/// If the gate's record has no translation, the table may know the function by another gate.
macro_rules! without_code {
    () => {
        lines!(
            "30:",
            "mov r10, [r11 + {image}]",
            "mov rbp, [rip + {targets}@GOTPCREL]",
            "mov r15d, r10d",
            "and r15d, {targets_mask}",
            "lea rbp, [rbp + {scale} * r15]",
            "cmp [rbp], r10",
            "mov r10, [rbp + 8]",
            "jne 9f",
            "mov [r11 + {code}], r10",
            "jmp 31b",
        )
    };
}

/// Enters the NxP with the record of a plain function's gate in r11; not callable from Rust.
#[unsafe(naked)]
unsafe extern "C" fn fast_path() {
    // DW_EH_PE_pcrel | DW_EH_PE_sdata4
    with_fast_path_operands!(
        naked,
        concat!(
            plain_entry!(
                "__flick_fast",
                "{words}",
                ".cfi_personality 0x1b, {personality}",
                "cmp qword ptr [r11 + {code}], 0\n je 30f",
                without_code!()
            ),
            host_call_code!(
                "__flick_fast",
                "{words}",
                ".cfi_personality 0x1b, {personality}"
            ),
        ),
        concat!(
            signature_entry!(
                "__flick_signature",
                "{words}",
                ".cfi_personality 0x1b, {personality}",
                "cmp qword ptr [r11 + {code}], 0\n je 30f",
                without_code!()
            ),
            signature_call_code!(
                "__flick_signature",
                "{words}",
                ".cfi_personality 0x1b, {personality}",
                moves!(
                    ".pushsection .rodata.flick_moves, \"a\", @progbits\n .p2align 2\n .globl __flick_moves\n .hidden __flick_moves\n __flick_moves:\n .popsection",
                    ".pushsection .rodata.flick_moves, \"a\", @progbits\n .long 71f - __flick_moves\n .popsection\n",
                    "{words}",
                    "{box_bits}"
                )
            ),
            ".pushsection .rodata.flick_moves, \"a\", @progbits\n",
            ".globl __flick_moves_end\n .hidden __flick_moves_end\n __flick_moves_end:\n",
            ".popsection\n",
        )
    )
}

static BOX: BoxBits = BoxBits::FLOAT;

/// The activation of a call of translated code that has returned, though it is not the newest.
extern "C" fn pop() {
    if let Some(thread) = thread::Current::get()
        && !thread.active.top().is_null()
    {
        thread.pop();
    }
}
