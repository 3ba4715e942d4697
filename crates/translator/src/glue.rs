//! Code between Rust, translated code and the interpreter's functions.
//!
//! [`super::registers`] has the places of guest registers at calls and returns.
use core::arch::naked_asm;
use core::mem::offset_of;

use crate::Counting;
use crate::context::{self, CALLER_FRAME, Context};
use crate::dispatch::LEAST_STACK;
use crate::registers::HART_BIAS;
use crate::unwind;
use flick_engine::Hart;
use flick_engine::fp;
use flick_riscv::Insn;

/// Finds the host address for a guest or host address that is about to be called. The hart has the
/// argument registers. 0: the caller of translated code makes the call.
pub type Lookup = unsafe extern "C" fn(context: *mut Context, target: u64) -> u64;

const fn x(number: usize) -> i32 {
    (offset_of!(Hart, x) + 8 * number) as i32 - HART_BIAS
}
const fn f(number: usize) -> i32 {
    (offset_of!(Hart, f) + 8 * number) as i32 - HART_BIAS
}
const PC: i32 = offset_of!(Hart, pc) as i32 - HART_BIAS;
const RETIRED: i32 = offset_of!(Context, retired) as i32 - HART_BIAS;
const HOST_LIMIT: i32 = offset_of!(Context, host_limit) as i32 - HART_BIAS;
const HOST_SAVED: i32 = context::HOST_SAVED as i32 - HART_BIAS;

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

/// Unwind information: the frame that called translated code, found through the context (see
/// [`unwind`]).
macro_rules! from_hart {
    () => {
        concat!(
            ".cfi_escape 0x0f, 3, 0x76, {cfa0}, {cfa1}\n .cfi_offset rip, -8\n",
            ".cfi_escape 0x10, 3, 3, 0x76, {rbx0}, {rbx1}\n",
            ".cfi_escape 0x10, 12, 3, 0x76, {r12_0}, {r12_1}\n",
            ".cfi_escape 0x10, 13, 3, 0x76, {r13_0}, {r13_1}\n",
            ".cfi_escape 0x10, 14, 3, 0x76, {r14_0}, {r14_1}\n",
            ".cfi_escape 0x10, 15, 3, 0x76, {r15_0}, {r15_1}\n",
        )
    };
}

/// A function without a frame, between translated code and other code.
///
/// rsp may change in it: unwind information goes by rbp.
macro_rules! glue {
    ($(#[$doc:meta])* $name:ident: $($line:expr),+ ; $($operand:tt)*) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Not callable from Rust: registers are translated code's.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                ".cfi_startproc",
                from_hart!(),
                $($line,)+
                ".cfi_endproc",
                cfa0 = const unwind::CFA[0],
                cfa1 = const unwind::CFA[1],
                rbx0 = const unwind::HOST_SAVED[0][0],
                rbx1 = const unwind::HOST_SAVED[0][1],
                r12_0 = const unwind::HOST_SAVED[1][0],
                r12_1 = const unwind::HOST_SAVED[1][1],
                r13_0 = const unwind::HOST_SAVED[2][0],
                r13_1 = const unwind::HOST_SAVED[2][1],
                r14_0 = const unwind::HOST_SAVED[3][0],
                r14_1 = const unwind::HOST_SAVED[3][1],
                r15_0 = const unwind::HOST_SAVED[4][0],
                r15_1 = const unwind::HOST_SAVED[4][1],
                $($operand)*
            )
        }
    };
}

pub(crate) use {from_hart, glue};

const WORDS: usize = size_of::<Context>() / 8;
/// Where the frame of `enter` has the address of the context that it copied.
const ORIGINAL: usize = size_of::<Context>();
const _: () = assert!(ORIGINAL + 8 <= context::HOST_SAVED);

macro_rules! enter {
    ($(#[$doc:meta])* $name:ident: $go_in:ident) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(context: *mut Context, entry: u64) -> u64 {
            naked_asm!(
                ".cfi_startproc",
                "push rbp",
                ".cfi_def_cfa_offset 16",
                ".cfi_offset rbp, -16",
                "sub rsp, {frame}",
                ".cfi_def_cfa_offset {frame} + 16",
                "mov [rsp + {original}], rdi",
                "mov r10, rsi",
                "mov rsi, rdi",
                "mov rdi, rsp",
                "mov ecx, {words}",
                "rep movsq",
                "lea rbp, [rsp + {bias}]",
                "mov [rbp + {saved}], rbx",
                "mov [rbp + {saved} + 8], r12",
                "mov [rbp + {saved} + 16], r13",
                "mov [rbp + {saved} + 24], r14",
                "mov [rbp + {saved} + 32], r15",
                "lea rax, [rsp - {least}]",
                "cmp [rbp + {limit}], rax",
                "jbe 3f",
                "mov [rbp + {limit}], rax",
                "3:",
                "call {go_in}",
                "lea r10, [rip + {leave}]",
                "cmp r11, r10",
                "je 2f",
                "call {returned}",
                "2:",
                "mov rbx, [rbp + {saved}]",
                "mov r12, [rbp + {saved} + 8]",
                "mov r13, [rbp + {saved} + 16]",
                "mov r14, [rbp + {saved} + 24]",
                "mov r15, [rbp + {saved} + 32]",
                "mov rdi, [rsp + {original}]",
                "mov rsi, rsp",
                "mov ecx, {words}",
                "rep movsq",
                "add rsp, {frame}",
                ".cfi_def_cfa_offset 16",
                "pop rbp",
                ".cfi_def_cfa_offset 8",
                "ret",
                ".cfi_endproc",
                bias = const HART_BIAS,
                words = const WORDS,
                frame = const CALLER_FRAME,
                original = const ORIGINAL,
                saved = const HOST_SAVED,
                limit = const HOST_LIMIT,
                least = const LEAST_STACK,
                go_in = sym $go_in,
                leave = sym leave,
                returned = sym returned,
            )
        }
    };
}

enter!(
    /// Calls translated code at `entry` with the registers of the hart, and returns a
    /// [`Reason`](super::code::Reason). Translated code works on a copy of the context. At the return
    /// all registers are in the hart again. `Context::host_limit` does not stop a function without
    /// calls.
    enter: go_in
);

enter!(
    /// The same for code that counts in a register.
    enter_counted: go_in_counted
);

// How translated code is called: the context is at rsp, a multiple of 16. `rbp` is its address plus
// [`HART_BIAS`]. The caller's frame has [`CALLER_FRAME`] bytes, and at their end are rbx and r12 to
// r15 of its own caller. Control comes back after that call, with rbp and rsp as they were. r11 tells two cases apart:
//
// - r11 is the address of [`leave`]: all registers are in the hart, and eax is the reason.
//
// - r11 is the guest address to which the guest has returned: results and saved registers are where
//   they are at a guest's return. A caller that did not expect this address calls [`returned`],
//   which leads to the first case.

glue!(
    /// Enters translated code at the address in r10 with the registers of the hart.
    go_in:
    "mov rax, [rbp + {pc}]",
    load_arguments!(),
    "mov r11, [rbp + {ra}]",
    "mov r15, [rbp + {sp}]",
    "mov rbx, [rbp + {s0}]",
    "mov r12, [rbp + {s1}]",
    "mov r13, [rbp + {s2}]",
    "mov r14, [rbp + {s3}]",
    "jmp r10";
    a0 = const x(10),
    fa0 = const f(10),
    ra = const x(1),
    sp = const x(2),
    s0 = const x(8),
    s1 = const x(9),
    s2 = const x(18),
    s3 = const x(19),
    pc = const PC,
);

glue!(
    /// [`go_in`] for code that counts in a register.
    go_in_counted:
    // It also aligns the stack for the call.
    "push r10",
    "lea r10, [rip + 2f]",
    "jmp {go_in}",
    "2:",
    "mov r10, [rbp + {retired}]",
    "call [rsp]",
    // All code that does not return has stored it.
    "mov [rbp + {retired}], r10",
    "lea rsp, [rsp + 8]",
    "ret";
    retired = const RETIRED,
    go_in = sym go_in,
);

glue!(
    /// Goes on with the registers of the hart behind a call of translated code, at the address in
    /// r10, in a frame of as many bytes as rdx has.
    go_on:
    "sub rsp, rdx",
    "mov r15, [rbp + {sp}]",
    "mov rbx, [rbp + {s0}]",
    "mov r12, [rbp + {s1}]",
    "mov r13, [rbp + {s2}]",
    "mov r14, [rbp + {s3}]",
    "mov rax, [rbp + {a0}]",
    "mov rdx, [rbp + {a0} + 8]",
    "movsd xmm0, [rbp + {fa0}]",
    "movsd xmm1, [rbp + {fa0} + 8]",
    "jmp r10";
    a0 = const x(10),
    fa0 = const f(10),
    sp = const x(2),
    s0 = const x(8),
    s1 = const x(9),
    s2 = const x(18),
    s3 = const x(19),
);

glue!(
    /// A function has returned to the guest address in r11, and no translated caller expects that.
    /// Its results are in registers.
    returned:
    "mov [rbp + {a0}], rax",
    "mov [rbp + {a0} + 8], rdx",
    "movsd [rbp + {fa0}], xmm0",
    "movsd [rbp + {fa0} + 8], xmm1",
    "jmp {elsewhere}";
    a0 = const x(10),
    fa0 = const f(10),
    elsewhere = sym elsewhere,
);

glue!(
    /// The same, with the results in the hart.
    elsewhere:
    "mov [rbp + {ra}], r11",
    "mov [rbp + {pc}], r11",
    "jmp {leave_with_saved}";
    ra = const x(1),
    pc = const PC,
    leave_with_saved = sym leave_with_saved,
);

glue!(
    /// Stores the registers that callees save to the hart. Execution goes on at `hart.pc`.
    leave_with_saved:
    "mov [rbp + {s0}], rbx",
    "mov [rbp + {s1}], r12",
    "mov [rbp + {s2}], r13",
    "mov [rbp + {s3}], r14",
    "xor eax, eax",
    "jmp {leave}";
    s0 = const x(8),
    s1 = const x(9),
    s2 = const x(18),
    s3 = const x(19),
    leave = sym leave,
);

glue!(
    /// Returns to the caller of translated code with the reason in eax. The hart has all registers
    /// but sp.
    leave:
    "mov [rbp + {sp}], r15",
    "lea rsp, [rbp - {bias}]",
    // The return address is still in its place, even if a function has returned to it.
    "lea r11, [rip + {leave}]",
    "jmp [rsp - 8]";
    sp = const x(2),
    bias = const HART_BIAS,
    leave = sym leave,
);

glue!(
    /// At a call or a function's entry, with the target in rax: cuts off the host's frames, and
    /// lets the caller of translated code go on at the target.
    leave_at_call:
    store_arguments!(),
    "mov [rbp + {ra}], r11",
    "mov [rbp + {pc}], rax",
    "jmp {leave_with_saved}";
    a0 = const x(10),
    fa0 = const f(10),
    ra = const x(1),
    pc = const PC,
    leave_with_saved = sym leave_with_saved,
);

/// `$room` aligns the stack for the call, or uses the word that has aligned it. `$keep` puts the code's
/// address in r10 elsewhere, if need be, and `$go` jumps to it.
macro_rules! slow_call {
    ($(#[$docs:meta])* $name:ident: $room:literal, $keep:literal, $go:literal; $($operand:tt)*) => {
        glue!(
            $(#[$docs])*
            $name:
            store_arguments!(),
            "mov [rbp + {ra}], r11",
            "mov [rbp + {sp}], r15",
            "mov [rbp + {pc}], rax",
            "lea rdi, [rbp - {bias}]",
            "mov rsi, rax",
            $room,
            "call r10",
            "add rsp, 8",
            "test rax, rax",
            "je {leave_with_saved}",
            "mov r10, rax",
            $keep,
            "mov rax, [rbp + {pc}]",
            "mov r11, [rbp + {ra}]",
            load_arguments!(),
            $go;
            bias = const HART_BIAS,
            a0 = const x(10),
            fa0 = const f(10),
            ra = const x(1),
            sp = const x(2),
            pc = const PC,
            leave_with_saved = sym leave_with_saved,
            $($operand)*
        );
    };
}

slow_call!(
    /// A call of the address in rax, for which translated code knows no host address; the
    /// [`Lookup`] is in r10. Entered by `call`, or by `jmp` in the place of a tail call.
    slow_call: "sub rsp, 8", "", "jmp r10";
);

slow_call!(
    /// The same with a word on the stack, which the function in r10 gets as its third argument.
    slow_call_with: "mov rdx, [rsp]", "", "jmp r10";
);

slow_call!(
    /// [`slow_call`] for code that counts in a register. It has stored the count.
    slow_call_counted: "sub rsp, 8", "mov [rsp - 8], r10",
    "mov r10, [rbp + {retired}]\n jmp [rsp - 8]";
    retired = const RETIRED,
);

glue!(
    /// [`leave_at_call`] from code that counts in a register.
    leave_at_call_counted:
    "mov [rbp + {retired}], r10",
    "jmp {leave_at_call}";
    retired = const RETIRED,
    leave_at_call = sym leave_at_call,
);

/// Where such code has calls lead that leave it.
pub fn leaves_at_call(counting: Counting) -> *const () {
    match counting.is_in_register() {
        true => leave_at_call_counted as *const (),
        false => leave_at_call as *const (),
    }
}

/// A floating-point instruction by its word, with the contents of its registers. In the engine's
/// section, since an unmasked exception traps in here.
///
/// # Safety
/// `word` is that of an instruction that the decoder has made.
#[unsafe(link_section = "flick_engine")]
#[inline(never)]
pub unsafe extern "C" fn helper(a: u64, b: u64, c: u64, word: u64) -> u64 {
    // SAFETY: translated code passes the words of instructions that the decoder made.
    fp::execute(unsafe { Insn::from_word(word) }, a, b, c)
}

glue!(
    /// [`helper`] for the value at `rsp + 8` and the instruction at `rsp + 16`; the result takes
    /// the value's place, and all registers stay as they are.
    convert:
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
    "ret";
    helper = sym helper,
);

#[cfg(test)]
mod tests {
    use super::helper;

    unsafe extern "C" {
        static __start_flick_engine: u8;
        static __stop_flick_engine: u8;
    }

    /// Where a debugger or a handler of SIGFPE looks for guest code.
    #[test]
    fn the_helper_is_in_the_engines_section() {
        assert_eq!(flick_engine::SECTION, "flick_engine");
        let section = &raw const __start_flick_engine as u64..&raw const __stop_flick_engine as u64;
        assert!(section.contains(&(helper as *const () as u64)));
    }
}
