//! The code of the fast path ([`super::fast_path`]), of which there are two copies: libflick's, and
//! one in each program (`flickcrt.o`), near the program's gates and translated code. Branches over
//! more than 2 GiB take processors some cycles more, and a crossing has four of them.
//!
//! The code reaches everything else through a table of words, which the runtime fills.

/// A line for each of the strings.
macro_rules! lines {
    ($($line:expr),* $(,)?) => { concat!($($line, "\n"),*) };
}

/// The start of code that calls, and goes on behind the call. Its symbol has a name at which gdb's
/// `step` and `next` go on until they are out of it, as they do in the thunks that compilers make
/// (`x86_in_indirect_branch_thunk` of gdb 8.1 and later). The name must be one that gdb knows. The call
/// and what follows are within one symbol that has a size, because gdb's `finish` tells a frame by its
/// function, too.
macro_rules! stepped_through {
    ($name:literal) => {
        concat!(".type ", $name, ", @function\n", $name, ":")
    };
}

/// The end of this code.
macro_rules! stepped_through_end {
    ($name:literal) => {
        concat!(".size ", $name, ", . - ", $name)
    };
}

/// The number of each word of the table.
pub mod word {
    /// Where a thread has the address of its state, from the thread pointer.
    pub const THREAD: usize = 0;
    /// The return address of an activation.
    pub const END: usize = 1;
    /// The slow path, in a frame of this one.
    pub const FRAMED: usize = 2;
    /// Translated code has not returned to the activation's end.
    pub const LEFT: usize = 3;
    /// It has, and the activation is not the thread's newest.
    pub const NEWER: usize = 4;
    /// See [`flick_translator::leave_at_call`].
    pub const LEAVE_AT_CALL: usize = 5;
    /// After a host call, where another activation is the newest or the rounding mode has changed.
    pub const BACK: usize = 6;
    /// The crossing without fast paths, as gates enter it.
    pub const CROSS: usize = 7;
    /// The tables of signatures, of calls by them, and of targets (`modules/signature_table.rs`).
    pub const SIGNATURES: usize = 8;
    pub const CALLS: usize = 9;
    pub const TARGETS: usize = 10;
    /// A call by a signature that these tables do not have.
    pub const UNKNOWN_CALL: usize = 11;
    /// Where translated code calls the host, in both copies.
    pub const HOST_CALL: usize = 12;
    pub const NEAR_HOST_CALL: usize = 13;
    /// See [`crate::crossing::unwinding::at_crossing`].
    pub const PERSONALITY: usize = 14;
    pub const COUNT: usize = 15;
}

/// The entry of gates with these names of its own and of the table of words. `$check` is executed
/// before the record of the gate is used, and `$cold` is placed behind the entry. The others are what
/// calls by signature ([`super::signature_path`]) do otherwise: `$plan` before anything is checked,
/// `$room` to the stack pointer in r15, `$call`, and `$result` behind it; within NxP code that waits for
/// the host, `$sp_within` to the stack pointers in r15 and the hart, with what `$call_within` needs in
/// r10, `$call_within`, and `$entry_within`, which loads the older activation's entry to xmm8. The calls
/// are at the start of the symbols `$thunk` and `$thunk_within` ([`stepped_through`]).
macro_rules! entry_code {
    (
        $name:literal, $words:literal, $personality:literal,
        check: $check:expr, cold: $cold:expr, plan: $plan:expr, room: $room:expr, call: $call:expr,
        thunk: $thunk:literal, result: $result:expr, sp_within: $sp_within:expr,
        call_within: $call_within:expr, thunk_within: $thunk_within:literal,
        entry_within: $entry_within:expr
    ) => {
        lines!(
            ".p2align 6",
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!($name, ":"),
            ".cfi_startproc",
            $personality,
            "endbr64",
            // Pushes are shorter than stores, and faster.
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "push r15",
            ".cfi_def_cfa_offset 24",
            ".cfi_offset r15, {r15}",
            "push r14",
            ".cfi_def_cfa_offset 32",
            ".cfi_offset r14, {r14}",
            "push r13",
            ".cfi_def_cfa_offset 40",
            ".cfi_offset r13, {r13}",
            "push r12",
            ".cfi_def_cfa_offset 48",
            ".cfi_offset r12, {r12}",
            "push rbx",
            ".cfi_def_cfa_offset 56",
            ".cfi_offset rbx, {rbx}",
            "sub rsp, {size} - 40",
            ".cfi_def_cfa_offset {size} + {head}",
            // rax: the thread's state.
            concat!("mov rax, [rip + ", $words, " + {thread}]"),
            "mov rax, fs:[rax]",
            "test rax, rax",
            "je 9f",
            $check,
            "31:",
            $plan,
            // On the thread's own stack, with room; and the rounding mode is one that MXCSR has.
            "mov r10, rsp",
            "sub r10, [rax + {least}]",
            "cmp r10, [rax + {span}]",
            "jae 9f",
            // r15: the NxP stack's pointer. From here on handlers that cross stay below it.
            "cmp qword ptr [rax + {newest}], 0",
            "jne 7f",
            "mov r15, [rax + {stack_top}]",
            $room,
            "mov [rsp + {sp}], r15",
            "mov [rsp + {gate}], r11",
            "mov qword ptr [rsp + {reservation_and_more}], 0",
            // `ActivationStack::push`. The first entry's `entry_sp` never changes.
            "mov [rax + {newest}], rsp",
            "mov rax, [rax + {limit}]",
            "mov [rsp + {host_limit}], rax",
            $call,
            concat!("cmp r11, [rip + ", $words, " + {end}]"),
            "jne 8f",
            // rax, rdx, xmm0 and xmm1 are results. rbx and r12 to r14 are the host's again: the
            // callee has kept them, its s0 to s3, as any function does.
            $result,
            concat!("mov rcx, [rip + ", $words, " + {thread}]"),
            "mov rcx, fs:[rcx]",
            "cmp [rcx + {newest}], rsp",
            "jne 6f",
            "mov qword ptr [rcx + {newest}], 0",
            "5:",
            "add rsp, {size} - 8",
            ".cfi_remember_state",
            ".cfi_def_cfa_offset 24",
            "pop r15",
            ".cfi_def_cfa_offset 16",
            "pop rbp",
            ".cfi_def_cfa_offset 8",
            "ret",
            stepped_through_end!($thunk),
            ".cfi_restore_state",
            // Within NxP code that waits for the host, on the same stack
            // (`leaving::stack_pointer_for`).
            "7:",
            "mov r10, [rax + {newest}]",
            "cmp r10, rsp",
            "jbe 9f",
            "mov r15, [r10 + {sp}]",
            "cmp r15, [rax + {newest_sp}]",
            "ja 9f",
            "cmp r15, [rax + {half}]",
            "jbe 9f",
            "and r15, -16",
            "sub r15, {gap}",
            "mov [rsp + {gate}], r11",
            $sp_within,
            "mov qword ptr [rsp + {reservation_and_more}], 0",
            // `ActivationStack::push`. These vector registers have no arguments.
            "movaps xmm8, [rax + {newest}]",
            "movaps [r15], xmm8",
            "movq xmm8, rsp",
            "movq xmm9, r15",
            "punpcklqdq xmm8, xmm9",
            "movaps [rax + {newest}], xmm8",
            "mov rax, [rax + {limit}]",
            "mov [rsp + {host_limit}], rax",
            $call_within,
            concat!("cmp r11, [rip + ", $words, " + {end}]"),
            "jne 8f",
            $result,
            concat!("mov rcx, [rip + ", $words, " + {thread}]"),
            "mov rcx, fs:[rcx]",
            "cmp [rcx + {newest}], rsp",
            "jne 6f",
            // `ActivationStack::pop`.
            $entry_within,
            "movaps [rcx + {newest}], xmm8",
            "jmp 5b",
            stepped_through_end!($thunk_within),
            $cold,
            "6:",
            concat!("jmp [rip + ", $words, " + {newer}]"),
            "8:",
            concat!("jmp [rip + ", $words, " + {left}]"),
            "9:",
            "mov r15, [rsp + {saved} + 32]",
            "lea rbp, [rsp + {size}]",
            concat!("jmp [rip + ", $words, " + {framed}]"),
            ".cfi_endproc",
        )
    };
}

/// The entry for functions whose arguments are in the same places on both sides.
macro_rules! plain_entry {
    ($name:literal, $words:literal, $personality:literal, $check:expr, $cold:expr) => {
        entry_code!(
            $name, $words, $personality,
            check: $check,
            cold: $cold,
            plan: "",
            room: "",
            call: plain_call!($words, "__x86_indirect_thunk"),
            thunk: "__x86_indirect_thunk",
            result: "",
            sp_within: "mov [rsp + {sp}], r15",
            call_within: plain_call!($words, "__x86_indirect_thunk_rax"),
            thunk_within: "__x86_indirect_thunk_rax",
            // The NxP's stack pointer is what it was. To load it instead would let each return wait
            // for the one before.
            entry_within: lines!(
                "cmp [rcx + {newest_sp}], r15",
                "jne 6f",
                "movaps xmm8, [r15]"
            )
        )
    };
}

macro_rules! plain_call {
    ($words:literal, $thunk:literal) => {
        lines!(
            "mov r10, [r11 + {code}]",
            concat!("mov r11, [rip + ", $words, " + {end}]"),
            "lea rbp, [rsp + {bias}]",
            stepped_through!($thunk),
            "call r10",
        )
    };
}

/// Where the NxP has been left: `$call` calls a host function, and the NxP goes on behind it. `$thunk`
/// begins there ([`stepped_through`]). `$frame` is what a debugger needs to find the frame below.
macro_rules! host_called {
    (
        $name:literal, $personality:literal, thunk: $thunk:literal, call: $call:literal,
        frame: $frame:expr
    ) => {
        lines!(
            ".cfi_endproc",
            ".cfi_startproc",
            $personality,
            called_by_nxp!(),
            concat!(".globl ", $name, "_calls"),
            concat!(".hidden ", $name, "_calls"),
            concat!($name, "_calls:"),
            stepped_through!($thunk),
            $call,
            concat!(".globl ", $name, "_called"),
            concat!(".hidden ", $name, "_called"),
            concat!($name, "_called:"),
            "lea rbp, [rbp - {size} + {bias}]",
            "78:",
            ".cfi_endproc",
            // Exceptions go through the frames of the guest. A debugger reads `.debug_frame` first,
            // and goes through those of translated code, which are on this stack.
            ".pushsection .debug_frame, \"\", @progbits",
            "70:",
            ".long 75f - 71f",
            "71:",
            // Of a CIE; version 1, no augmentation; alignment of code 1, of data -8; rip is column
            // 16.
            ".long 0xffffffff",
            ".byte 1, 0, 1, 0x78, 16",
            $frame,
            // DW_CFA_val_expression: rbp is the hart's there.
            ".byte 0x16, 6, 3, 0x76, {hart0}, {hart1}",
            ".balign 8, 0",
            "75:",
            ".long 74f - 73f",
            "73:",
            ".long 70b",
            concat!(".quad ", $name, "_calls, 78b - ", $name, "_calls"),
            ".balign 8, 0",
            "74:",
            ".popsection",
            ".cfi_startproc",
            from_translated!(),
            "mov byte ptr [rbp - {bias} + {mark}], 0",
        )
    };
}

/// What translated code calls to call the host.
macro_rules! host_call_code {
    ($name:literal, $words:literal, $personality:literal) => {
        lines!(
            // NxP code calls the host. Entered as translated functions are, by `call` or by `jmp`
            // in the place of a tail call.
            ".p2align 6",
            concat!(".globl ", $name, "_host_call"),
            concat!(".hidden ", $name, "_host_call"),
            concat!($name, "_host_call:"),
            ".cfi_startproc",
            from_translated!(),
            "lea r10, [rsp + {most_stack}]",
            "cmp r10, rbp",
            "jb 9f",
            "mov r10, rax",
            // An upper bound of the vector registers in use, for `al`.
            "mov eax, 8",
            // For unwinders, and whoever lets the NxP go on elsewhere.
            "mov [rbp - {bias} + {ra}], r11",
            "mov [rbp - {bias} + {sp}], r15",
            "mov [rbp - {bias} + {s0}], rbx",
            "mov [rbp - {bias} + {s1}], r12",
            "mov [rbp - {bias} + {s2}], r13",
            "mov [rbp - {bias} + {s3}], r14",
            "sub rsp, 8",
            "mov byte ptr [rbp - {bias} + {mark}], {in_host}",
            "lea rbp, [rbp + {size} - {bias}]",
            host_called!(
                $name, $personality,
                thunk: "__x86_return_thunk",
                call: "call r10",
                // DW_CFA_def_cfa: rsp + 16. DW_CFA_offset: rip is one eighth below it.
                frame: ".byte 0x0c, 7, 16, 0x80 | 16, 1"
            ),
            concat!("mov r11, [rip + ", $words, " + {thread}]"),
            "mov r11, fs:[r11]",
            "lea r10, [rbp - {bias}]",
            "cmp [r11 + {newest}], r10",
            "jne 5f",
            "cmp word ptr [r11 + {frm}], 0",
            "jne 5f",
            "mov r11, [rbp - {bias} + {ra}]",
            "add rsp, 8",
            "ret",
            stepped_through_end!("__x86_return_thunk"),
            "5:",
            concat!("jmp [rip + ", $words, " + {back}]"),
            "9:",
            concat!("jmp [rip + ", $words, " + {leave_at_call}]"),
            ".cfi_endproc",
        )
    };
}

/// Stack that calls in translated code may use before the host is called on it. What is above that
/// is cut off first, so that host functions find as much as they would without these frames.
pub const MOST_STACK: usize = 64 << 10;

/// Calls the macro `$callback` with its tokens, a semicolon, and the operands of all this code:
/// constants by name. The signs and widths are those of assembler text.
macro_rules! with_fast_path_operands {
    ($callback:ident, $($tokens:tt)*) => {
        $callback! {
            $($tokens)*;
            size = activation::SIZE,
            head = activation::FRAME_HEAD,
            saved = activation::SAVED,
            rbx = activation::saved_from_end(0),
            r12 = activation::saved_from_end(1),
            r13 = activation::saved_from_end(2),
            r14 = activation::saved_from_end(3),
            r15 = activation::saved_from_end(4),
            sp0 = activation::NXP_SP[0],
            sp1 = activation::NXP_SP[1],
            ra0 = activation::NXP_RA[0],
            ra1 = activation::NXP_RA[1],
            fp0 = activation::NXP_FP[0],
            fp1 = activation::NXP_FP[1],
            rbx0 = activation::saved_from_frame_pointer(0)[0],
            rbx1 = activation::saved_from_frame_pointer(0)[1],
            r12_0 = activation::saved_from_frame_pointer(1)[0],
            r12_1 = activation::saved_from_frame_pointer(1)[1],
            r13_0 = activation::saved_from_frame_pointer(2)[0],
            r13_1 = activation::saved_from_frame_pointer(2)[1],
            r14_0 = activation::saved_from_frame_pointer(3)[0],
            r14_1 = activation::saved_from_frame_pointer(3)[1],
            r15_0 = activation::saved_from_frame_pointer(4)[0],
            r15_1 = activation::saved_from_frame_pointer(4)[1],
            t_cfa0 = flick_translator::CFA_FROM_RBP[0],
            t_cfa1 = flick_translator::CFA_FROM_RBP[1],
            t_rbx0 = flick_translator::HOST_SAVED_FROM_RBP[0][0],
            t_rbx1 = flick_translator::HOST_SAVED_FROM_RBP[0][1],
            t_r12_0 = flick_translator::HOST_SAVED_FROM_RBP[1][0],
            t_r12_1 = flick_translator::HOST_SAVED_FROM_RBP[1][1],
            t_r13_0 = flick_translator::HOST_SAVED_FROM_RBP[2][0],
            t_r13_1 = flick_translator::HOST_SAVED_FROM_RBP[2][1],
            t_r14_0 = flick_translator::HOST_SAVED_FROM_RBP[3][0],
            t_r14_1 = flick_translator::HOST_SAVED_FROM_RBP[3][1],
            t_r15_0 = flick_translator::HOST_SAVED_FROM_RBP[4][0],
            t_r15_1 = flick_translator::HOST_SAVED_FROM_RBP[4][1],
            hart0 = activation::HART[0],
            hart1 = activation::HART[1],
            thread = 8 * word::THREAD,
            end = 8 * word::END,
            framed = 8 * word::FRAMED,
            cross = 8 * word::CROSS,
            signatures = 8 * word::SIGNATURES,
            calls = 8 * word::CALLS,
            targets_word = 8 * word::TARGETS,
            unknown_call = 8 * word::UNKNOWN_CALL,
            host_call = 8 * word::HOST_CALL,
            near_host_call = 8 * word::NEAR_HOST_CALL,
            left = 8 * word::LEFT,
            newer = 8 * word::NEWER,
            leave_at_call = 8 * word::LEAVE_AT_CALL,
            back = 8 * word::BACK,
            code = offset_of!(Gate, code),
            frm = Thread::FRM,
            least = offset_of!(Thread, least),
            span = offset_of!(Thread, span),
            limit = offset_of!(Thread, host_stack) + offset_of!(HostStack, limit),
            newest = offset_of!(Thread, active) + offset_of!(ActivationStack, newest),
            newest_sp = offset_of!(Thread, active) + offset_of!(ActivationStack, newest_sp),
            gap = GAP,
            stack_top = offset_of!(Thread, stack_top),
            half = offset_of!(Thread, half),
            gate = activation::GATE,
            signature = activation::CALL_SIGNATURE,
            waits = activation::CALL_WAITS,
            waits0 = activation::WAITS[0],
            waits1 = activation::WAITS[1],
            result = activation::RESULT,
            gate_signature = offset_of!(Gate, signature),
            plan_size = size_of::<Plan>(),
            signatures_mask = signature_table::TEXT_MASK,
            plans = signature_table::PLANS,
            function_mask = signature_table::FUNCTION_MASK,
            call_function = offset_of!(Call, function),
            call_text = offset_of!(Call, text),
            call_plan = offset_of!(Call, plan),
            call_size = size_of::<Call>(),
            nxp_room = offset_of!(Plan, to_nxp) + offset_of!(Moves, room),
            to_nxp = offset_of!(Plan, to_nxp) + offset_of!(Moves, first),
            host_room = offset_of!(Plan, to_host) + offset_of!(Moves, room),
            to_host = offset_of!(Plan, to_host) + offset_of!(Moves, first),
            boxes = offset_of!(Plan, boxes),
            move_size = size_of::<Move>(),
            from = Move::FROM,
            to = Move::TO,
            targets_mask = flick_translator::TARGETS_MASK,
            scale = flick_translator::TARGETS_SCALE,
            in_host = activation::IN_HOST,
            mark = offset_of!(Activation, context) + offset_of!(Hart, mark),
            host_limit = offset_of!(Activation, context) + offset_of!(Context, host_limit),
            reservation_and_more =
                offset_of!(Activation, context) + offset_of!(Hart, reservation_len),
            ra = activation::x(1),
            sp = activation::x(2),
            t1 = activation::x(6),
            t2 = activation::x(7),
            a6 = activation::x(16),
            s0 = activation::x(8),
            s1 = activation::x(9),
            s2 = activation::x(18),
            s3 = activation::x(19),
            bias = flick_translator::HART_BIAS,
            most_stack = MOST_STACK,
        }
    };
}

pub(super) use {
    entry_code, host_call_code, host_called, lines, plain_call, plain_entry, stepped_through,
    stepped_through_end, with_fast_path_operands,
};
