//! The code of moves ([`crate::modules::argument_moves`]), a part of [`super::signature_path`].
//!
//! Each piece ends with a jump to the next move's, or with the call: a jump through a register costs
//! more than the moves. Macros make them, because most exist for each register.
//!
//! `$entry` of these macros is what puts the distance of the next label 71 into the table.

/// The rest of a move at a label of its own, which goes to the next place of the table.
macro_rules! code_of_move {
    ($entry:literal, $($line:expr),* $(,)?) => {
        concat!($entry, "71:\n", $($line, "\n",)*)
    };
}

/// The same for a move that makes the call: where such code lies decides a tenth of a crossing's time.
macro_rules! call_by_move {
    ($entry:literal, $($line:expr),* $(,)?) => {
        concat!($entry, ".p2align 5\n71:\n", $($line, "\n",)*)
    };
}

/// A move that others follow.
macro_rules! a_move {
    ($entry:literal, $($line:expr),* $(,)?) => {
        code_of_move!($entry, $($line,)* "add r10, {move_size}", "jmp [r10]")
    };
}

/// The end of the last move to the NxP.
macro_rules! calls_nxp {
    ($words:literal) => {
        lines!(
            "mov rax, [rbp - {bias} + {gate}]",
            concat!("mov r11, [rip + ", $words, " + {end}]"),
            "jmp [rax + {code}]",
        )
    };
}

/// A move for each register that moves name, with the offset in rax.
macro_rules! for_registers {
    ($entry:literal, $operand:literal, $line:literal) => {
        concat!(
            ".irp register, rdi, rsi, rdx, rcx, r8, r9, rbx\n",
            a_move!(
                $entry,
                concat!("movsxd rax, dword ptr [r10 + ", $operand, "]"),
                $line
            ),
            ".endr\n",
        )
    };
}

/// Arguments from the seventh on: a6, a7 and these of the NxP's stack, from the host's or to it. And
/// the same at the call.
macro_rules! words_to_nxp {
    ($($at:literal)*) => {
        lines!(
            "mov eax, [r10 + {from}]",
            "mov r11, [rsp + rax]",
            "mov [rbp - {bias} + {a6}], r11",
            "mov r11, [rsp + rax + 8]",
            "mov [rbp - {bias} + {a6} + 8], r11",
            $(concat!("mov r11, [rsp + rax + 16 + ", $at, "]\n mov [r15 + ", $at, "], r11"),)*
        )
    };
}

macro_rules! words_to_host {
    ($($at:literal)*) => {
        lines!(
            "mov eax, [r10 + {to}]",
            "mov r11, [rbp - {bias} + {a6}]",
            "mov [rsp + rax], r11",
            "mov r11, [rbp - {bias} + {a6} + 8]",
            "mov [rsp + rax + 8], r11",
            $(concat!("mov r11, [r15 + ", $at, "]\n mov [rsp + rax + 16 + ", $at, "], r11"),)*
        )
    };
}

/// `$macro` for 2 to 10 words, each with `$end` in a piece of `$kind`.
macro_rules! words {
    ($entry:literal, $words:ident, $kind:ident, $($end:expr)?) => {
        concat!(
            $kind!($entry, $words!(), $($end)?),
            $kind!($entry, $words!(0), $($end)?),
            $kind!($entry, $words!(0 8), $($end)?),
            $kind!($entry, $words!(0 8 16), $($end)?),
            $kind!($entry, $words!(0 8 16 24), $($end)?),
            $kind!($entry, $words!(0 8 16 24 32), $($end)?),
            $kind!($entry, $words!(0 8 16 24 32 40), $($end)?),
            $kind!($entry, $words!(0 8 16 24 32 40 48), $($end)?),
            $kind!($entry, $words!(0 8 16 24 32 40 48 56), $($end)?),
        )
    };
}

/// Structs of 1 to 4 words with this address, in a piece of `$kind` that ends with `$end`.
macro_rules! objects {
    ($entry:literal, $address:literal, $kind:ident, $($end:expr)?) => {
        concat!(
            $kind!($entry, object!($address 0), $($end)?),
            $kind!($entry, object!($address 0 8), $($end)?),
            $kind!($entry, object!($address 0 8 16), $($end)?),
            $kind!($entry, object!($address 0 8 16 24), $($end)?),
        )
    };
}

macro_rules! object {
    ($address:literal $($at:literal)*) => {
        lines!(
            "mov r11d, [r10 + {to}]",
            $(concat!("mov rax, [", $address, " + ", $at, "]\n mov [rsp + r11 + ", $at, "], rax"),)*
        )
    };
}

/// A word between two kinds of memory.
macro_rules! word {
    ($entry:literal, $load:expr, $store:expr) => {
        a_move!(
            $entry,
            "movsxd rax, dword ptr [r10 + {from}]",
            "movsxd r11, dword ptr [r10 + {to}]",
            $load,
            $store
        )
    };
}

/// Moves of one register to all.
macro_rules! from_register {
    ($entry:literal, $from:literal) => {
        concat!(
            ".irp register, rdi, rsi, rdx, rcx, r8, r9, rbx\n",
            a_move!($entry, concat!("mov \\register, ", $from)),
            ".endr\n",
        )
    };
}

/// All moves, in the order of [`crate::modules::argument_moves::number`]; the last move to the host
/// follows. `$table` begins their table, and `$box` is the label of what a `float` has in a register
/// of the NxP (unprivileged ISA manual, "NaN Boxing").
macro_rules! moves {
    ($table:literal, $entry:literal, $words:literal, $box:literal) => {
        lines!(
            $table,
            call_by_move!($entry, calls_nxp!($words)),
            word!($entry, "mov rax, [rsp + rax]", "mov [rbp + r11], rax"),
            word!($entry, "mov rax, [rsp + rax]", "mov [r15 + r11], rax"),
            word!($entry, "mov rax, [rbp + rax]", "mov [rsp + r11], rax"),
            word!($entry, "mov rax, [r15 + rax]", "mov [rsp + r11], rax"),
            word!($entry, "lea rax, [rsp + rax]", "mov [rbp + r11], rax"),
            word!($entry, "lea rax, [rsp + rax]", "mov [r15 + r11], rax"),
            // Words of a struct. rbx leads behind them afterwards.
            a_move!(
                $entry,
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
                $entry,
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
            a_move!(
                $entry,
                "mov rbx, [rbp - {bias} + {s0}]",
                "mov r12, [rbp - {bias} + {s1}]"
            ),
            ".irp register, 0, 1, 2, 3, 4, 5, 6, 7",
            a_move!($entry, concat!("orps xmm\\register, [rip + ", $box, "]")),
            ".endr",
            words!($entry, words_to_nxp, a_move,),
            words!($entry, words_to_host, a_move,),
            objects!($entry, "rdi", a_move,),
            objects!($entry, "rsi", a_move,),
            objects!($entry, "rdx", a_move,),
            objects!($entry, "rcx", a_move,),
            objects!($entry, "r8", a_move,),
            objects!($entry, "r9", a_move,),
            objects!($entry, "rbx", a_move,),
            from_register!($entry, "rdi"),
            from_register!($entry, "rsi"),
            from_register!($entry, "rdx"),
            from_register!($entry, "rcx"),
            from_register!($entry, "r8"),
            from_register!($entry, "r9"),
            from_register!($entry, "rbx"),
            for_registers!($entry, "{from}", "mov \\register, [rsp + rax]"),
            for_registers!($entry, "{from}", "mov \\register, [rbp + rax]"),
            for_registers!($entry, "{from}", "mov \\register, [r15 + rax]"),
            for_registers!($entry, "{to}", "mov [rsp + rax], \\register"),
            for_registers!($entry, "{to}", "mov [rbp + rax], \\register"),
            for_registers!($entry, "{to}", "mov [r15 + rax], \\register"),
            for_registers!($entry, "{from}", "lea \\register, [rsp + rax]"),
            // Boxes of the first registers, by their bits.
            ".irp set, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            call_by_move!(
                $entry,
                concat!(".if \\set & 1\n orps xmm0, [rip + ", $box, "]\n .endif"),
                concat!(".if \\set & 2\n orps xmm1, [rip + ", $box, "]\n .endif"),
                concat!(".if \\set & 4\n orps xmm2, [rip + ", $box, "]\n .endif"),
                concat!(".if \\set & 8\n orps xmm3, [rip + ", $box, "]\n .endif"),
                calls_nxp!($words)
            ),
            ".endr",
            words!($entry, words_to_nxp, call_by_move, calls_nxp!($words)),
            ".irp register, rdi, rsi, rdx, rcx, r8, r9",
            call_by_move!(
                $entry,
                "movsxd rax, dword ptr [r10 + {from}]",
                "lea \\register, [rsp + rax]",
                calls_nxp!($words)
            ),
            ".endr",
            words!($entry, words_to_host, code_of_move, "jmp 72f"),
            objects!($entry, "rdi", code_of_move, "jmp 72f"),
            objects!($entry, "rsi", code_of_move, "jmp 72f"),
            objects!($entry, "rdx", code_of_move, "jmp 72f"),
            objects!($entry, "rcx", code_of_move, "jmp 72f"),
            objects!($entry, "r8", code_of_move, "jmp 72f"),
            objects!($entry, "r9", code_of_move, "jmp 72f"),
            call_by_move!($entry,),
        )
    };
}

pub(super) use {
    a_move, call_by_move, calls_nxp, code_of_move, for_registers, from_register, moves, object,
    objects, word, words, words_to_host, words_to_nxp,
};
