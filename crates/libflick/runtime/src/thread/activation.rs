//! An activation: one host→NxP call of a thread, in the crossing's frame on the host stack.
//!
//! State per activation and not per thread is what lets calls nest in both directions, signal
//! handlers cross while NxP code runs, and `longjmp` pass over NxP frames.
use core::mem::{offset_of, size_of};

use flick_abi::layout::Gate;
use flick_engine::Hart;
use flick_translator::Context;

use crate::modules::signatures::Plan;
use crate::thread::crossing_code::Crossing;

/// Written by assembly (arguments and results) and by [`crate::crossing::step`]; never zeroed as a
/// whole.
#[repr(C, align(16))]
pub struct Activation {
    /// Registers of the NxP, and what translated code has beside them.
    pub context: Context,
    /// The gate that was called.
    pub gate: *const Gate,
    /// Host registers, in the order of the System V calling convention: the arguments of the call
    /// that made this activation, later those of the host call that is due, if it has a signature.
    pub int_args: [u64; 6],
    /// Both halves of each vector register.
    pub float_args: [[u64; 2]; 8],
    /// What is more than the NxP's registers hold.
    pub results: Results,
    /// The host call that is due.
    pub call: HostCall,
    /// Of a call by signature: what a result is that is not in the registers as they stand:
    /// [`VECTOR_RESULT`], or the address of its memory (`sret`), which the host's first result
    /// register then holds. Else 0.
    pub result: u64,
    /// Set when an unwinder is about to go on in NxP code.
    pub landing: Landing,
    /// For the backend whose crossing it is.
    pub of_backend: u64,
    /// What the caller of the crossing has in rbx, r12, r13, r14 and r15.
    pub host_saved: [u64; 5],
}

const _: () = assert!(size_of::<Activation>() == flick_translator::CALLER_FRAME);
const _: () = assert!(offset_of!(Activation, host_saved) == flick_translator::HOST_SAVED);

/// Where NxP code goes on after unwinding: a landing pad, and the stack pointer of its frame.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Landing {
    pub pc: u64,
    pub sp: u64,
}

/// The result's halves in a0 and a1 go to xmm0.
pub const VECTOR_RESULT: u64 = 1;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Results {
    /// rax and rdx, where an unwinder goes on.
    pub int: [u64; 2],
    /// xmm0, of a host call with a signature.
    pub vector: [u64; 2],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostCall {
    pub target: u64,
    /// Bytes of stack arguments, a multiple of 16, and what the stack pointer is aligned with. As
    /// [`Next::CallHostInFull`](crate::crossing::next_step::Next) wants them.
    pub stack_size: u64,
    pub stack_mask: u64,
    /// For `al`: an upper bound of the vector registers used, 0 to 8.
    pub vector_registers: u64,
    /// The plan of the call's signature, or null.
    pub signature: *const Plan,
    /// The stack pointer of the translated code that calls and waits for the return; 0: the NxP
    /// goes on by way of [`crate::crossing::step`].
    pub waits: u64,
}

impl Activation {
    /// The crossing that has made it, which is in NxP code. The fast path's is 0.
    pub fn set_crossing(&mut self, crossing: Crossing) {
        self.context.hart.mark = u16::from_le_bytes([0, crossing as u8]);
    }

    pub fn crossing(&self) -> Crossing {
        let [_, number] = self.context.hart.mark.to_le_bytes();
        Crossing::ALL[usize::from(number)]
    }

    /// Whether the thread is in host code called by this activation, or in NxP code.
    pub fn in_host(&self) -> bool {
        self.context.hart.mark.to_le_bytes()[0] == IN_HOST
    }

    pub fn set_in_host(&mut self, is: bool) {
        let [_, number] = self.context.hart.mark.to_le_bytes();
        self.context.hart.mark = u16::from_le_bytes([if is { IN_HOST } else { 0 }, number]);
    }

    /// Distance from the activation to the first stack argument of the call that made it.
    const STACK_ARGS: usize = size_of::<Activation>() + FRAME_HEAD;

    /// The host's stack arguments of the call that made this activation.
    pub fn host_stack_args(&self) -> *const u64 {
        (self as *const Self)
            .wrapping_byte_add(Self::STACK_ARGS)
            .cast()
    }
}

/// Of [`Activation::in_host`], in the lower byte of `hart.mark`. The upper byte is the number of the
/// [`Crossing`].
pub const IN_HOST: u8 = 1;

pub const SIZE: usize = size_of::<Activation>();
pub const GATE: usize = offset_of!(Activation, gate);
pub const INT_ARGS: usize = offset_of!(Activation, int_args);
pub const FLOAT_ARGS: usize = offset_of!(Activation, float_args);
/// The NxP's first argument and result registers.
pub const A0: usize = offset_of!(Activation, context) + offset_of!(Hart, x) + 8 * 10;
pub const FA0: usize = offset_of!(Activation, context) + offset_of!(Hart, f) + 8 * 10;
/// [`Activation::host_saved`].
pub const SAVED: usize = offset_of!(Activation, host_saved);
pub const RESULTS: usize = offset_of!(Activation, results);
pub const CALL_TARGET: usize = offset_of!(Activation, call) + offset_of!(HostCall, target);
pub const CALL_STACK_SIZE: usize = offset_of!(Activation, call) + offset_of!(HostCall, stack_size);
/// Where the unwinder finds the innermost NxP frame, from the frame pointer of the crossing.
pub const NXP_RA: [u8; 2] = from_frame_pointer(x(1));
pub const NXP_SP: [u8; 2] = from_frame_pointer(x(2));
pub const NXP_FP: [u8; 2] = from_frame_pointer(x(8));

/// What rbp is in translated code, likewise.
pub const HART: [u8; 2] = from_frame_pointer(flick_translator::HART_BIAS as usize);

/// Where the `n`th register of [`SAVED`] is, from the frame pointer of the crossing.
pub const fn saved_from_frame_pointer(n: usize) -> [u8; 2] {
    from_frame_pointer(SAVED + 8 * n)
}

/// Where the `n`th register of [`SAVED`] is, from the end of the crossing's frame (its caller's
/// rsp).
pub const fn saved_from_end(n: usize) -> i32 {
    (SAVED + 8 * n) as i32 - (SIZE + FRAME_HEAD) as i32
}

/// The saved frame pointer and the return address.
pub const FRAME_HEAD: usize = 16;
pub const CALL_STACK_MASK: usize = offset_of!(Activation, call) + offset_of!(HostCall, stack_mask);
pub const CALL_SIGNATURE: usize = offset_of!(Activation, call) + offset_of!(HostCall, signature);
pub const CALL_WAITS: usize = offset_of!(Activation, call) + offset_of!(HostCall, waits);
/// The same from the frame pointer of the crossing.
pub const WAITS: [u8; 2] = from_frame_pointer(CALL_WAITS);
pub const RESULT: usize = offset_of!(Activation, result);
pub const CALL_VECTORS: usize =
    offset_of!(Activation, call) + offset_of!(HostCall, vector_registers);

/// Register `x[number]`.
pub const fn x(number: usize) -> usize {
    offset_of!(Activation, context) + offset_of!(Hart, x) + 8 * number
}

/// Distance of what is at `offset` from the crossing's rbp, as a signed LEB128 number (DWARF 5,
/// 7.6) of two bytes.
const fn from_frame_pointer(offset: usize) -> [u8; 2] {
    let distance = offset as i32 - SIZE as i32;
    assert!(distance >= -(1 << 13) && distance < 1 << 13);
    [(distance & 0x7f) as u8 | 0x80, (distance >> 7 & 0x7f) as u8]
}
