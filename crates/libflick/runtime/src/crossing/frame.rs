//! The frame of a crossing, as its assembly stores it and as unwinders read it: macros for both
//! paths.

/// In a frame whose caller's rbx and r12 to r15 are in the activation.
macro_rules! saved_here {
    () => {
        concat!(
            ".cfi_offset rbx, {rbx}\n .cfi_offset r12, {r12}\n .cfi_offset r13, {r13}\n",
            ".cfi_offset r14, {r14}\n .cfi_offset r15, {r15}\n",
        )
    };
}

/// At a call of the host, where rbp is that of a crossing's frame: the caller's frame is the
/// innermost NxP frame. `DW_CFA_def_cfa_expression`: its sp, `DW_OP_breg6` (rbp), `DW_OP_deref`;
/// `DW_CFA_expression`: where rip (16) and what stands for s0, rcx (2), are, and what the
/// crossing's caller has in the registers that it wants back.
macro_rules! called_by_nxp {
    () => {
        concat!(
            ".cfi_escape 0x0f, 4, 0x76, {sp0}, {sp1}, 0x06\n",
            ".cfi_escape 0x10, 16, 3, 0x76, {ra0}, {ra1}\n",
            ".cfi_escape 0x10, 2, 3, 0x76, {fp0}, {fp1}\n",
            ".cfi_same_value rbp\n",
            ".cfi_escape 0x10, 3, 3, 0x76, {rbx0}, {rbx1}\n",
            ".cfi_escape 0x10, 12, 3, 0x76, {r12_0}, {r12_1}\n",
            ".cfi_escape 0x10, 13, 3, 0x76, {r13_0}, {r13_1}\n",
            ".cfi_escape 0x10, 14, 3, 0x76, {r14_0}, {r14_1}\n",
            ".cfi_escape 0x10, 15, 3, 0x76, {r15_0}, {r15_1}\n",
        )
    };
}

/// As in translated code: rbp is the hart's, and the frame that called translated code is next.
macro_rules! from_translated {
    () => {
        concat!(
            ".cfi_escape 0x0f, 3, 0x76, {t_cfa0}, {t_cfa1}\n .cfi_offset rip, -8\n",
            ".cfi_escape 0x10, 3, 3, 0x76, {t_rbx0}, {t_rbx1}\n",
            ".cfi_escape 0x10, 12, 3, 0x76, {t_r12_0}, {t_r12_1}\n",
            ".cfi_escape 0x10, 13, 3, 0x76, {t_r13_0}, {t_r13_1}\n",
            ".cfi_escape 0x10, 14, 3, 0x76, {t_r14_0}, {t_r14_1}\n",
            ".cfi_escape 0x10, 15, 3, 0x76, {t_r15_0}, {t_r15_1}\n",
        )
    };
}

/// From the activation at rsp.
macro_rules! load_saved {
    () => {
        concat!(
            "mov rbx, [rsp + {saved}]\n mov r12, [rsp + {saved} + 8]\n",
            "mov r13, [rsp + {saved} + 16]\n mov r14, [rsp + {saved} + 24]\n",
            "mov r15, [rsp + {saved} + 32]\n",
        )
    };
}

macro_rules! store_saved {
    () => {
        concat!(
            "mov [rsp + {saved}], rbx\n mov [rsp + {saved} + 8], r12\n",
            "mov [rsp + {saved} + 16], r13\n mov [rsp + {saved} + 24], r14\n",
            "mov [rsp + {saved} + 32], r15\n",
        )
    };
}

pub(super) use {called_by_nxp, from_translated, load_saved, saved_here, store_saved};

/// `naked_asm!` with the operands of these macros.
macro_rules! crossing_asm {
    ($($all:tt)*) => {
        core::arch::naked_asm!(
            $($all)*
            size = const activation::SIZE,
            saved = const activation::SAVED,
            rbx = const activation::saved_from_end(0),
            r12 = const activation::saved_from_end(1),
            r13 = const activation::saved_from_end(2),
            r14 = const activation::saved_from_end(3),
            r15 = const activation::saved_from_end(4),
            sp0 = const activation::NXP_SP[0],
            sp1 = const activation::NXP_SP[1],
            ra0 = const activation::NXP_RA[0],
            ra1 = const activation::NXP_RA[1],
            fp0 = const activation::NXP_FP[0],
            fp1 = const activation::NXP_FP[1],
            rbx0 = const activation::saved_from_frame_pointer(0)[0],
            rbx1 = const activation::saved_from_frame_pointer(0)[1],
            r12_0 = const activation::saved_from_frame_pointer(1)[0],
            r12_1 = const activation::saved_from_frame_pointer(1)[1],
            r13_0 = const activation::saved_from_frame_pointer(2)[0],
            r13_1 = const activation::saved_from_frame_pointer(2)[1],
            r14_0 = const activation::saved_from_frame_pointer(3)[0],
            r14_1 = const activation::saved_from_frame_pointer(3)[1],
            r15_0 = const activation::saved_from_frame_pointer(4)[0],
            r15_1 = const activation::saved_from_frame_pointer(4)[1],
            personality = sym unwinding::at_crossing,
            t_cfa0 = const flick_translator::CFA_FROM_RBP[0],
            t_cfa1 = const flick_translator::CFA_FROM_RBP[1],
            t_rbx0 = const flick_translator::HOST_SAVED_FROM_RBP[0][0],
            t_rbx1 = const flick_translator::HOST_SAVED_FROM_RBP[0][1],
            t_r12_0 = const flick_translator::HOST_SAVED_FROM_RBP[1][0],
            t_r12_1 = const flick_translator::HOST_SAVED_FROM_RBP[1][1],
            t_r13_0 = const flick_translator::HOST_SAVED_FROM_RBP[2][0],
            t_r13_1 = const flick_translator::HOST_SAVED_FROM_RBP[2][1],
            t_r14_0 = const flick_translator::HOST_SAVED_FROM_RBP[3][0],
            t_r14_1 = const flick_translator::HOST_SAVED_FROM_RBP[3][1],
            t_r15_0 = const flick_translator::HOST_SAVED_FROM_RBP[4][0],
            t_r15_1 = const flick_translator::HOST_SAVED_FROM_RBP[4][1],
        )
    };
}

pub(super) use crossing_asm;
