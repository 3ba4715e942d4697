//! The code of moves ([`crate::modules::argument_moves`]), a part of [`super::signature_path`].
//!
//! Each piece ends with a jump to the next move's. Macros make them, because most exist for each
//! register.

macro_rules! lines {
    ($($line:expr),* $(,)?) => {
        concat!($($line, "\n",)*)
    };
}

/// The rest of a move at a label of its own, which goes to the next place of the table.
macro_rules! code_of_move {
    ($($line:expr),* $(,)?) => {
        concat!(
            ".pushsection .data.rel.ro.flick_moves, \"aw\", @progbits\n .quad 71f\n .popsection\n",
            "71:\n", $($line, "\n",)*
        )
    };
}

/// A move that others follow.
macro_rules! a_move {
    ($($line:expr),* $(,)?) => {
        code_of_move!($($line,)* "add r10, {move_size}", "jmp [r10]")
    };
}

/// A move for each register that moves name, with the offset in rax.
macro_rules! for_registers {
    ($operand:literal, $line:literal) => {
        concat!(
            ".irp register, rdi, rsi, rdx, rcx, r8, r9, rbx\n",
            a_move!(
                concat!("movsxd rax, dword ptr [r10 + ", $operand, "]"),
                $line
            ),
            ".endr\n",
        )
    };
}

/// Arguments from the seventh on: a6, a7 and these of the NxP's stack, from the host's or to it.
macro_rules! words_to_nxp {
    ($($at:literal)*) => {
        a_move!(
            "movsxd rax, dword ptr [r10 + {from}]",
            "add rax, rsp",
            "mov r11, [rax]",
            "mov [rbp - {bias} + {a6}], r11",
            "mov r11, [rax + 8]",
            "mov [rbp - {bias} + {a6} + 8], r11",
            $(concat!("mov r11, [rax + 16 + ", $at, "]\n mov [r15 + ", $at, "], r11"),)*
        )
    };
}

macro_rules! words_to_host {
    ($($at:literal)*) => {
        a_move!(
            "movsxd rax, dword ptr [r10 + {to}]",
            "add rax, rsp",
            "mov r11, [rbp - {bias} + {a6}]",
            "mov [rax], r11",
            "mov r11, [rbp - {bias} + {a6} + 8]",
            "mov [rax + 8], r11",
            $(concat!("mov r11, [r15 + ", $at, "]\n mov [rax + 16 + ", $at, "], r11"),)*
        )
    };
}

/// Structs of 1 to 4 words with this address.
macro_rules! objects {
    ($address:literal) => {
        concat!(
            object!($address 0),
            object!($address 0 8),
            object!($address 0 8 16),
            object!($address 0 8 16 24),
        )
    };
}

macro_rules! object {
    ($address:literal $($at:literal)*) => {
        a_move!(
            "movsxd r11, dword ptr [r10 + {to}]",
            "add r11, rsp",
            $(concat!("mov rax, [", $address, " + ", $at, "]\n mov [r11 + ", $at, "], rax"),)*
        )
    };
}

/// A word between two kinds of memory.
macro_rules! word {
    ($load:expr, $store:expr) => {
        a_move!(
            "movsxd rax, dword ptr [r10 + {from}]",
            "movsxd r11, dword ptr [r10 + {to}]",
            $load,
            $store
        )
    };
}

/// Moves of one register to all.
macro_rules! from_register {
    ($from:literal) => {
        concat!(
            ".irp register, rdi, rsi, rdx, rcx, r8, r9, rbx\n",
            a_move!(concat!("mov \\register, ", $from)),
            ".endr\n",
        )
    };
}

/// All moves, in the order of [`crate::modules::argument_moves::number`], and their table. The last move to
/// the host is at the label 72.
macro_rules! moves {
    () => {
        lines!(
            ".pushsection .data.rel.ro.flick_moves, \"aw\", @progbits",
            ".p2align 3",
            ".globl __flick_moves",
            ".hidden __flick_moves",
            "__flick_moves:",
            ".popsection",
            code_of_move!("lea r11, [rip + __flick_activation_end]", "jmp r12"),
            ".pushsection .data.rel.ro.flick_moves, \"aw\", @progbits",
            ".quad 72f",
            ".popsection",
            word!("mov rax, [rsp + rax]", "mov [rbp + r11], rax"),
            word!("mov rax, [rsp + rax]", "mov [r15 + r11], rax"),
            word!("mov rax, [rbp + rax]", "mov [rsp + r11], rax"),
            word!("mov rax, [r15 + rax]", "mov [rsp + r11], rax"),
            word!("lea rax, [rsp + rax]", "mov [rbp + r11], rax"),
            word!("lea rax, [rsp + rax]", "mov [r15 + r11], rax"),
            // Words of a struct. rbx leads behind them afterwards.
            a_move!(
                "movsxd rax, dword ptr [r10 + {from}]",
                "movsxd r11, dword ptr [r10 + {to}]",
                "lea r12, [rsp + rax]",
                "add r12, r11",
                "add rbx, r11",
                "neg r11",
                "3:",
                "mov rax, [rbx + r11]",
                "mov [r12 + r11], rax",
                "add r11, 8",
                "jne 3b",
            ),
            // Its last bytes.
            a_move!(
                "movsxd rax, dword ptr [r10 + {from}]",
                "movsxd r11, dword ptr [r10 + {to}]",
                "lea r12, [rsp + rax]",
                "add r12, r11",
                "add rbx, r11",
                "neg r11",
                "3:",
                "movzx eax, byte ptr [rbx + r11]",
                "mov [r12 + r11], al",
                "inc r11",
                "jne 3b",
            ),
            a_move!("mov rbx, [rbp - {bias} + {s0}]", "mov r12, [rbp - {bias} + {s1}]"),
            // A `float` in a register of the NxP (unprivileged ISA manual, "NaN Boxing").
            ".irp register, 0, 1, 2, 3, 4, 5, 6, 7",
            a_move!("orps xmm\\register, [rip + {box_bits}]"),
            ".endr",
            words_to_nxp!(),
            words_to_nxp!(0),
            words_to_nxp!(0 8),
            words_to_nxp!(0 8 16),
            words_to_nxp!(0 8 16 24),
            words_to_nxp!(0 8 16 24 32),
            words_to_nxp!(0 8 16 24 32 40),
            words_to_nxp!(0 8 16 24 32 40 48),
            words_to_nxp!(0 8 16 24 32 40 48 56),
            words_to_host!(),
            words_to_host!(0),
            words_to_host!(0 8),
            words_to_host!(0 8 16),
            words_to_host!(0 8 16 24),
            words_to_host!(0 8 16 24 32),
            words_to_host!(0 8 16 24 32 40),
            words_to_host!(0 8 16 24 32 40 48),
            words_to_host!(0 8 16 24 32 40 48 56),
            objects!("rdi"),
            objects!("rsi"),
            objects!("rdx"),
            objects!("rcx"),
            objects!("r8"),
            objects!("r9"),
            objects!("rbx"),
            from_register!("rdi"),
            from_register!("rsi"),
            from_register!("rdx"),
            from_register!("rcx"),
            from_register!("r8"),
            from_register!("r9"),
            from_register!("rbx"),
            for_registers!("{from}", "mov \\register, [rsp + rax]"),
            for_registers!("{from}", "mov \\register, [rbp + rax]"),
            for_registers!("{from}", "mov \\register, [r15 + rax]"),
            for_registers!("{to}", "mov [rsp + rax], \\register"),
            for_registers!("{to}", "mov [rbp + rax], \\register"),
            for_registers!("{to}", "mov [r15 + rax], \\register"),
            for_registers!("{from}", "lea \\register, [rsp + rax]"),
            ".pushsection .data.rel.ro.flick_moves, \"aw\", @progbits",
            ".globl __flick_moves_end",
            ".hidden __flick_moves_end",
            "__flick_moves_end:",
            ".popsection",
        )
    };
}

pub(super) use {
    a_move, code_of_move, for_registers, from_register, lines, moves, object, objects, word,
    words_to_host, words_to_nxp,
};
