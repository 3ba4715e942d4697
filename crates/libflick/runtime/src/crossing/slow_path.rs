//! The crossing itself: the paper's migration handler (section IV.B, listing 1) as the frame in
//! which an activation lives.
//!
//! It is assembly so that no Rust frame ever stands between the program's own: `longjmp` and
//! unwinders pass over it. The frame: return address, rbp,
//! [`Activation`](crate::thread::activation::Activation) below it.
//!
//! Unwind information tells the host's unwinder the truth ([`crate::crossing::unwinding`]): who
//! made the host call is the innermost NxP frame, by the registers in the activation; NxP frames
//! are described in the program's own `.eh_frame`; the outermost one returns to [`activation_end`],
//! whose caller is the gate's.
//!
//! On entry r11 is the gate's record and everything else is as at the call of an ordinary function.
use core::arch::naked_asm;

use flick_abi::layout::{GATE_PLAIN, Gate};

use super::frame::{
    called_by_nxp, crossing_asm, from_translated, load_saved, saved_here, store_saved,
};
use super::next_step::Next;
use super::{card, inline, marshal, unwinding};
use crate::accounts::gate_counts;
use crate::thread::activation;

/// One body, two entries: counting is chosen when a module is registered, so that calls that are
/// not counted do not ask.
macro_rules! crossing {
    (
        $(#[$doc:meta])* $name:ident, $symbol:literal, $enter:path, $resume:path, $left:path, $land:path,
        $again:path; $go_in:ident
    ) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name() {
            crossing_asm!(
                concat!(".globl ", $symbol),
                concat!(".hidden ", $symbol),
                concat!($symbol, ":"),
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
                store_saved!(),
                saved_here!(),
                concat!(".globl ", $symbol, "_framed"),
                concat!(".hidden ", $symbol, "_framed"),
                concat!($symbol, "_framed:"),
                // Each register is stored once: a crossing is as fast as its stores are. No load
                // reads wider than what was stored, which would wait until the store is done.
                "test byte ptr [r11 + {flags}], {plain}",
                "je 25f",
                "mov [rsp + {a0}], rdi",
                "mov [rsp + {a0} + 8], rsi",
                "mov [rsp + {a0} + 16], rdx",
                "mov [rsp + {a0} + 24], rcx",
                "mov [rsp + {a0} + 32], r8",
                "mov [rsp + {a0} + 40], r9",
                "movsd [rsp + {fa0}], xmm0",
                "movsd [rsp + {fa0} + 8], xmm1",
                "movsd [rsp + {fa0} + 16], xmm2",
                "movsd [rsp + {fa0} + 24], xmm3",
                "movsd [rsp + {fa0} + 32], xmm4",
                "movsd [rsp + {fa0} + 40], xmm5",
                "movsd [rsp + {fa0} + 48], xmm6",
                "movsd [rsp + {fa0} + 56], xmm7",
                "22:",
                "mov [rsp + {gate}], r11",
                "mov rdi, rsp",
                "call {enter}",
                "2:",
                "test eax, eax",
                "jne 3f",
                "mov rax, [rsp + {a0}]",
                "mov rdx, [rsp + {a0} + 8]",
                "movsd xmm0, [rsp + {fa0}]",
                "movsd xmm1, [rsp + {fa0} + 8]",
                load_saved!(),
                ".cfi_remember_state",
                "leave",
                ".cfi_def_cfa rsp, 8",
                "ret",
                ".cfi_restore_state",
                // A host call. From here on rsp may be lower than the activation, rbp - size.
                concat!(".globl ", $symbol, "_calls"),
                concat!(".hidden ", $symbol, "_calls"),
                concat!($symbol, "_calls:"),
                "3:",
                "cmp eax, {call_plain}",
                "jne 5f",
                "movsd xmm0, [rbp - {size} + {fa0}]",
                "movsd xmm1, [rbp - {size} + {fa0} + 8]",
                "movsd xmm2, [rbp - {size} + {fa0} + 16]",
                "movsd xmm3, [rbp - {size} + {fa0} + 24]",
                "movsd xmm4, [rbp - {size} + {fa0} + 32]",
                "movsd xmm5, [rbp - {size} + {fa0} + 40]",
                "movsd xmm6, [rbp - {size} + {fa0} + 48]",
                "movsd xmm7, [rbp - {size} + {fa0} + 56]",
                "mov rdi, [rbp - {size} + {a0}]",
                "mov rsi, [rbp - {size} + {a0} + 8]",
                "mov rdx, [rbp - {size} + {a0} + 16]",
                "mov rcx, [rbp - {size} + {a0} + 24]",
                "mov r8, [rbp - {size} + {a0} + 32]",
                "mov r9, [rbp - {size} + {a0} + 40]",
                "4:",
                "mov rax, [rbp - {size} + {vectors}]",
                ".cfi_remember_state",
                called_by_nxp!(),
                "call [rbp - {size} + {target}]",
                ".cfi_restore_state",
                concat!(".globl ", $symbol, "_called"),
                concat!(".hidden ", $symbol, "_called"),
                concat!($symbol, "_called:"),
                "lea rdi, [rbp - {size}]",
                "mov [rdi + {a0}], rax",
                "mov [rdi + {a0} + 8], rdx",
                "movsd [rdi + {fa0}], xmm0",
                "movsd [rdi + {fa0} + 8], xmm1",
                "cmp qword ptr [rdi + {signature}], 0",
                "jne 9f",
                "28:",
                "mov rsp, rdi",
                "call {resume}",
                "jmp 2b",
                "9:",
                "movups [rdi + {results} + 16], xmm0",
                "cmp qword ptr [rdi + {waits}], 0",
                "je 28b",
                // Translated code's frames stay: from the call on rsp is below them.
                "mov rsp, [rdi + {waits}]",
                "sub rsp, 8",
                "call {resume}",
                "cmp eax, {back}",
                "je 29f",
                "lea rsp, [rbp - {size}]",
                "jmp 2b",
                "29:",
                "add rsp, 8",
                "lea rbp, [rbp - {size} + {hart_bias}]",
                ".cfi_remember_state",
                from_translated!(),
                "mov rax, [rbp - {hart_bias} + {a0}]",
                "mov rdx, [rbp - {hart_bias} + {a0} + 8]",
                "movsd xmm0, [rbp - {hart_bias} + {fa0}]",
                "movsd xmm1, [rbp - {hart_bias} + {fa0} + 8]",
                "mov r11, [rbp - {hart_bias} + {ra}]",
                "mov rbx, [rbp - {hart_bias} + {s0}]",
                "mov r12, [rbp - {hart_bias} + {s1}]",
                "mov r13, [rbp - {hart_bias} + {s2}]",
                "mov r14, [rbp - {hart_bias} + {s3}]",
                "mov r15, [rbp - {hart_bias} + {sp}]",
                "ret",
                ".cfi_restore_state",
                // Arguments by signature.
                "25:",
                "mov [rsp + {ints}], rdi",
                "mov [rsp + {ints} + 8], rsi",
                "mov [rsp + {ints} + 16], rdx",
                "mov [rsp + {ints} + 24], rcx",
                "mov [rsp + {ints} + 32], r8",
                "mov [rsp + {ints} + 40], r9",
                "movups [rsp + {floats}], xmm0",
                "movups [rsp + {floats} + 16], xmm1",
                "movups [rsp + {floats} + 32], xmm2",
                "movups [rsp + {floats} + 48], xmm3",
                "movups [rsp + {floats} + 64], xmm4",
                "movups [rsp + {floats} + 80], xmm5",
                "movups [rsp + {floats} + 96], xmm6",
                "movups [rsp + {floats} + 112], xmm7",
                "jmp 22b",
                // From an unwinder; rsp is somewhere on the NxP stack.
                concat!(".globl ", $symbol, "_landing"),
                concat!(".hidden ", $symbol, "_landing"),
                concat!($symbol, "_landing:"),
                "endbr64",
                // To memcheck, the unwinder's `ret` has freed the word below it; to NxP code it is
                // free for use.
                "push rax",
                "lea rsp, [rbp - {size}]",
                "mov [rsp + {results}], rax",
                "mov [rsp + {results} + 8], rdx",
                "mov rdi, rsp",
                "call {land}",
                "jmp 2b",
                // From `__flick_setjmp`, when it returns again: rdi is rsp, the activation.
                concat!(".globl ", $symbol, "_again"),
                concat!(".hidden ", $symbol, "_again"),
                concat!($symbol, "_again:"),
                "call {again}",
                "jmp 2b",
                "5:",
                "cmp eax, {call_host}",
                "jne 6f",
                "movsd xmm0, [rbp - {size} + {floats}]",
                "movsd xmm1, [rbp - {size} + {floats} + 16]",
                "movsd xmm2, [rbp - {size} + {floats} + 32]",
                "movsd xmm3, [rbp - {size} + {floats} + 48]",
                "movsd xmm4, [rbp - {size} + {floats} + 64]",
                "movsd xmm5, [rbp - {size} + {floats} + 80]",
                "movsd xmm6, [rbp - {size} + {floats} + 96]",
                "movsd xmm7, [rbp - {size} + {floats} + 112]",
                "8:",
                "mov rdi, [rbp - {size} + {ints}]",
                "mov rsi, [rbp - {size} + {ints} + 8]",
                "mov rdx, [rbp - {size} + {ints} + 16]",
                "mov rcx, [rbp - {size} + {ints} + 24]",
                "mov r8, [rbp - {size} + {ints} + 32]",
                "mov r9, [rbp - {size} + {ints} + 40]",
                "jmp 4b",
                "6:",
                "cmp eax, {call_in_full}",
                "jne 7f",
                "mov rax, [rbp - {size} + {stack_mask}]",
                "sub rsp, [rbp - {size} + {stack_size}]",
                "and rsp, rax",
                "lea rdi, [rbp - {size}]",
                "mov rsi, rsp",
                "call {stack_args}",
                "movups xmm0, [rbp - {size} + {floats}]",
                "movups xmm1, [rbp - {size} + {floats} + 16]",
                "movups xmm2, [rbp - {size} + {floats} + 32]",
                "movups xmm3, [rbp - {size} + {floats} + 48]",
                "movups xmm4, [rbp - {size} + {floats} + 64]",
                "movups xmm5, [rbp - {size} + {floats} + 80]",
                "movups xmm6, [rbp - {size} + {floats} + 96]",
                "movups xmm7, [rbp - {size} + {floats} + 112]",
                "jmp 8b",
                "7:",
                "cmp eax, {call_translated}",
                "jne 10f",
                "mov r10, [rsp + {target}]",
                "lea rbp, [rsp + {hart_bias}]",
                ".cfi_remember_state",
                ".cfi_def_cfa rsp, {size} + {head}",
                "call {go_in}",
                "26:",
                "lea r10, [rip + {left_translated}]",
                "cmp r11, r10",
                "je 27f",
                "call {returned}",
                "27:",
                "lea rbp, [rsp + {size}]",
                ".cfi_restore_state",
                // From `fast_path`, where translated code has not returned to the activation's end.
                concat!(".globl ", $symbol, "_left"),
                concat!(".hidden ", $symbol, "_left"),
                concat!($symbol, "_left:"),
                "mov rdi, rsp",
                "mov esi, eax",
                "call {left}",
                "jmp 2b",
                "10:",
                "cmp eax, {call_above}",
                "jne 11f",
                "lea rdi, [rbp - {size}]",
                "call {room}",
                "sub rsp, rax",
                "lea rdi, [rbp - {size}]",
                "mov rsi, rax",
                "lea rdx, [rip + 26b]",
                "call {make_below}",
                "mov rbx, [rbp - {size} + {s0}]",
                "mov r12, [rbp - {size} + {s1}]",
                "mov r13, [rbp - {size} + {s2}]",
                "mov r14, [rbp - {size} + {s3}]",
                "mov r15, [rbp - {size} + {sp}]",
                "jmp 3b",
                "11:",
                "movups xmm0, [rsp + {a0}]",
                load_saved!(),
                "leave",
                ".cfi_def_cfa rsp, 8",
                "ret",
                ".cfi_endproc",
                concat!(".globl ", $symbol, "_end"),
                concat!(".hidden ", $symbol, "_end"),
                concat!($symbol, "_end:"),
                ints = const activation::INT_ARGS,
                floats = const activation::FLOAT_ARGS,
                gate = const activation::GATE,
                flags = const core::mem::offset_of!(Gate, flags),
                plain = const GATE_PLAIN,
                signature = const activation::CALL_SIGNATURE,
                results = const activation::RESULTS,
                a0 = const activation::A0,
                fa0 = const activation::FA0,
                call_plain = const Next::CallPlain as u64,
                call_host = const Next::CallHost as u64,
                call_in_full = const Next::CallHostInFull as u64,
                stack_size = const activation::CALL_STACK_SIZE,
                stack_mask = const activation::CALL_STACK_MASK,
                vectors = const activation::CALL_VECTORS,
                target = const activation::CALL_TARGET,
                enter = sym $enter,
                resume = sym $resume,
                land = sym $land,
                again = sym $again,
                stack_args = sym marshal::host_stack_args,
                waits = const activation::CALL_WAITS,
                back = const Next::Back as u64,
                ra = const activation::x(1),
                sp = const activation::x(2),
                s0 = const activation::x(8),
                s1 = const activation::x(9),
                s2 = const activation::x(18),
                s3 = const activation::x(19),
                call_translated = const Next::Translated as u64,
                call_above = const Next::CallAboveFrames as u64,
                room = sym card::shown_frames::room,
                make_below = sym card::shown_frames::make_below,
                hart_bias = const flick_translator::HART_BIAS,
                head = const activation::FRAME_HEAD,
                go_in = sym flick_translator::$go_in,
                left_translated = sym flick_translator::leave,
                returned = sym flick_translator::returned,
                left = sym $left,
            )
        }
    };
}

crossing!(
    /// Enters the NxP with the gate's record in r11; not callable from Rust.
    cross, "__flick_cross", inline::enter, inline::resume, inline::left, inline::land,
    inline::again; go_in
);
crossing!(
    /// The same, counting.
    cross_counted, "__flick_cross_counted", inline::enter_counted,
    inline::resume_counted, inline::left_counted, inline::land_counted, inline::again_counted;
    go_in
);

crossing!(
    /// Enters the card.
    cross_card, "__flick_cross_card", card::enter, card::resume, card::left, card::land,
    card::again; go_in_counted
);
crossing!(
    /// The same, counting.
    cross_card_counted, "__flick_cross_card_counted", card::enter_counted, card::resume_counted,
    card::left_counted, card::land_counted, card::again_counted; go_in_counted
);

/// Everything else refers to them by their labels (`thread/crossing_code.rs`).
#[used]
static CROSSINGS: [unsafe extern "C" fn(); 5] = [
    cross,
    cross_counted,
    cross_card,
    cross_card_counted,
    activation_end,
];

pub fn host_clone_counted_address() -> usize {
    host_clone_counted as *const () as usize
}

/// Where gates lead when placed functions run on the host and calls are counted.
#[unsafe(naked)]
unsafe extern "C" fn host_clone_counted() {
    naked_asm!(
        ".cfi_startproc",
        "endbr64",
        "push rax",
        "push r10",
        "push r11",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "sub rsp, 128",
        ".cfi_def_cfa_offset 208",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "mov rdi, r11",
        "call {count}",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "add rsp, 128",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "pop r11",
        "pop r10",
        "pop rax",
        ".cfi_def_cfa_offset 8",
        "jmp [r11 + {host_clone}]",
        ".cfi_endproc",
        count = sym gate_counts::count,
        host_clone = const core::mem::offset_of!(Gate, twin),
    )
}

/// Where a gate leads, by way of flickcrt.o's `__flick_lazy`, before its module is registered (a
/// constructor or resolver that runs before ours): to the host clone.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __flick_early() {
    naked_asm!(
        ".cfi_startproc", "endbr64", "lock inc dword ptr [r11 + {early}]",
        "jmp [r11 + {host_clone}]",
        ".cfi_endproc",
        early = const core::mem::offset_of!(Gate, early_calls),
        host_clone = const core::mem::offset_of!(Gate, twin),
    )
}

/// The address that NxP code returns to at the end of an activation. Only an address: a host thread
/// that runs it has jumped wildly. To an unwinder it is a frame between the outermost NxP frame and
/// the gate's caller; an unwinder looks one byte before a return address.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn activation_end() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}",
        ".cfi_def_cfa rbp, 16",
        ".cfi_offset rbp, -16",
        "nop",
        ".globl __flick_activation_end",
        ".hidden __flick_activation_end",
        "__flick_activation_end:",
        "ud2",
        ".cfi_endproc",
        personality = sym unwinding::at_end,
    )
}

/// The address that NxP code jumps to for a call that needs a signature. Only an address.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __flick_xcall() {
    naked_asm!(".cfi_startproc", "ud2", ".cfi_endproc")
}
