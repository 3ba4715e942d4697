//! Calls with a signature between the host and translated code, both ways: the fast path
//! ([`super::fast_path`]) with moves of arguments ([`crate::modules::argument_moves`]) between its
//! frame and the call. There are two copies of this code, too.
//!
//! A move is code that ends with a jump to the next one, by a table in memory. The last one makes
//! the call. r10 is the address of the move; rax and r11 are free. In both directions rbp is the
//! hart's and r15 the NxP's stack pointer, as in translated code. What is not as usual goes the slow
//! path before anything has moved.

/// The entry of gates whose signature has moves. The end of its plan is in rbp until the moves begin.
macro_rules! signature_entry {
    ($name:literal, $words:literal, $personality:literal, $check:expr, $cold:expr) => {
        lines!(
            entry_code!(
                $name, $words, $personality,
                check: $check,
                cold: $cold,
                // Behind the plan is the text to which the gate leads.
                plan: lines!(
                    "mov rbp, [r11 + {gate_signature}]",
                    "mov qword ptr [rsp + {result}], 0",
                ),
                // Handlers that cross stay below the arguments.
                room: "sub r15, [rbp + {nxp_room} - {plan_size}]",
                call: lines!(
                    "mov r10, [rbp + {to_nxp} - {plan_size}]",
                    "lea rbp, [rsp + {bias}]",
                    stepped_through!("__x86_indirect_thunk_rbx"),
                    "call [r10]",
                ),
                thunk: "__x86_indirect_thunk_rbx",
                // Or the result is in memory, and rax is its address.
                result: lines!(
                    "mov rcx, [rsp + {result}]",
                    "test rcx, rcx",
                    "cmovne rax, rcx",
                ),
                sp_within: lines!(
                    "mov r10, r15",
                    "sub r10, [rbp + {nxp_room} - {plan_size}]",
                    "mov [rsp + {sp}], r10",
                ),
                call_within: lines!(
                    "mov r15, r10",
                    "mov r10, [rbp + {to_nxp} - {plan_size}]",
                    "lea rbp, [rsp + {bias}]",
                    stepped_through!("__x86_indirect_thunk_rdx"),
                    "call [r10]",
                ),
                thunk_within: "__x86_indirect_thunk_rdx",
                entry_within: lines!("mov r10, [rcx + {newest_sp}]", "movaps xmm8, [r10]")
            ),
            // The same for a function that gets the address of an object aligned to 16. A caller may
            // have aligned its stack less (clang in a function with `alloca`).
            ".p2align 4",
            concat!(".globl ", $name, "_aligned"),
            concat!(".hidden ", $name, "_aligned"),
            concat!($name, "_aligned:"),
            ".cfi_startproc",
            "endbr64",
            "test spl, 8",
            concat!("jne ", $name),
            concat!("jmp [rip + ", $words, " + {cross}]"),
            ".cfi_endproc",
        )
    };
}

/// NxP code calls by a signature: t1 is its text, t2 the function. Entered as translated functions
/// are. `$moves` is the code of the moves.
macro_rules! signature_call_code {
    ($name:literal, $words:literal, $personality:literal, $moves:expr) => {
        lines!(
            ".p2align 5",
            concat!(".globl ", $name, "_call"),
            concat!(".hidden ", $name, "_call"),
            concat!($name, "_call:"),
            ".cfi_startproc",
            from_translated!(),
            "lea r10, [rsp + {most_stack}]",
            "cmp r10, rbp",
            "jb 8f",
            "mov [rbp - {bias} + {ra}], r11",
            // r10: the plan, if it is known that this function is the host's.
            "mov rax, [rbp - {bias} + {t2}]",
            "mov r11d, eax",
            "and r11d, {function_mask}",
            "add r11, r11",
            concat!("add r11, [rip + ", $words, " + {calls}]"),
            "mov r10, [rbp - {bias} + {t1}]",
            "cmp [r11 + {call_function}], rax",
            "jne 2f",
            "cmp [r11 + {call_text}], r10",
            "jne 2f",
            "1:",
            "mov r10, [r11 + {call_plan}]",
            "mov [rbp - {bias} + {signature}], r10",
            // For unwinders, and whoever lets the NxP go on elsewhere.
            "mov [rbp - {bias} + {sp}], r15",
            "mov [rbp - {bias} + {s0}], rbx",
            "mov [rbp - {bias} + {s1}], r12",
            "mov [rbp - {bias} + {s2}], r13",
            "mov [rbp - {bias} + {s3}], r14",
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
            // A function of the NxP, if the call has no arguments behind dots, finds its arguments
            // where they are.
            "3:",
            "mov eax, r10d",
            "and eax, {signatures_mask}",
            concat!("mov r11, [rip + ", $words, " + {signatures}]"),
            "lea r11, [r11 + 8 * rax]",
            "cmp [r11], r10",
            "jne 9f",
            "mov r10, [r11 + {plans}]",
            "cmp qword ptr [r10 + {to_host}], 0",
            "je 9f",
            "mov rax, [rbp - {bias} + {t2}]",
            "mov r11d, eax",
            "and r11d, {targets_mask}",
            concat!("mov r10, [rip + ", $words, " + {targets_word}]"),
            "lea r11, [r10 + {scale} * r11]",
            "cmp [r11], rax",
            "jne 9f",
            "mov r10, [r11 + 8]",
            concat!("cmp r10, [rip + ", $words, " + {host_call}]"),
            "je 9f",
            concat!("cmp r10, [rip + ", $words, " + {near_host_call}]"),
            "je 9f",
            "mov r11, [rbp - {bias} + {ra}]",
            "jmp r10",
            "8:",
            concat!("jmp [rip + ", $words, " + {leave_at_call}]"),
            // Not known, or without moves.
            "9:",
            "mov r11, [rbp - {bias} + {ra}]",
            concat!("jmp [rip + ", $words, " + {unknown_call}]"),
            //
            $moves,
            // The last move to the host.
            "72:",
            // An upper bound of the vector registers in use, for `al`.
            "mov eax, 8",
            "mov byte ptr [rbp - {bias} + {mark}], {in_host}",
            "lea rbp, [rbp + {size} - {bias}]",
            host_called!(
                $name, $personality,
                thunk: "__x86_indirect_thunk_rcx",
                call: "call [rbp - {size} + {t2}]",
                frame: lines!(
                    // DW_CFA_def_cfa_expression: behind the return address of the code that waits.
                    // DW_OP_breg6 (rbp), DW_OP_deref, DW_OP_plus_uconst 8.
                    ".byte 0x0f, 6, 0x76, {waits0}, {waits1}, 0x06, 0x23, 8",
                    // DW_CFA_offset: rip is one eighth below it.
                    ".byte 0x80 | 16, 1",
                )
            ),
            "mov r11, [rbp - {bias} + {signature}]",
            // As in `waits`.
            "add rsp, [r11 + {host_room}]",
            // A `float` among the results.
            "orps xmm0, [r11 + {boxes}]",
            "orps xmm1, [r11 + {boxes} + 16]",
            concat!("mov r11, [rip + ", $words, " + {thread}]"),
            "mov r11, fs:[r11]",
            "lea r10, [rbp - {bias}]",
            "cmp [r11 + {newest}], r10",
            "jne 5f",
            "cmp word ptr [r11 + {frm}], 0",
            "jne 5f",
            "mov r11, [rbp - {bias} + {ra}]",
            "ret",
            stepped_through_end!("__x86_indirect_thunk_rcx"),
            // Not as usual.
            "5:",
            "sub rsp, 8",
            concat!("jmp [rip + ", $words, " + {back}]"),
            ".cfi_endproc",
            concat!(".globl ", $name, "_end"),
            concat!(".hidden ", $name, "_end"),
            concat!($name, "_end:"),
        )
    };
}

pub(super) use {signature_call_code, signature_entry};
