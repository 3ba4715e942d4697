//! Calls of the engine's vector handlers from translated code.
//!
//! A vector instruction becomes a call of [`vector`], with the contents of its registers in rdi and
//! rsi, the instruction's bits in rcx and its address in r10. The call has a record in the table of
//! registers (`fault_state.rs`), as accesses of memory have. So an access that faults in the handler has
//! exact registers, and the interpreter can take over where an instruction is illegal.
use core::arch::naked_asm;
use core::mem::offset_of;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::code::Reason;
use crate::context::Context;
use crate::fault_state::HostRegisters;
use crate::glue::{from_hart, glue, leave};
use crate::registers::{HART_BIAS, RBP, RSP};
use crate::unwind;
use flick_engine::{Hart, Identity, vector as engine};
use flick_riscv::decode;

/// A call that is being made: what the code that made it has in its registers.
#[repr(C)]
pub struct VectorCall {
    /// rsp is that of the code.
    pub registers: HostRegisters,
    aligned: u64,
    /// Behind the call.
    pub back: u64,
}

impl VectorCall {
    /// Addresses of which one has the record, and no other instruction has one at the other: a call has
    /// 5 or 6 bytes, and `nop` in front of it has one.
    pub fn places(&self) -> [u64; 2] {
        [self.back - 6, self.back - 7]
    }
}

/// Gives the guest's registers at a call that is being made, by the table of the code that makes it.
pub type StateAt = fn(&VectorCall) -> Option<Hart>;

static STATE_AT: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Translated code with vector instructions runs from now on. The vector states are those of
/// [`flick_engine::vector::set_process_states`].
pub fn set_vector_calls(state_at: StateAt) {
    STATE_AT.store(state_at as *mut (), Ordering::Release);
}

/// The guest's registers at the call; `None`: there is no record of it.
pub fn state_at(call: &VectorCall) -> Option<Hart> {
    let state_at = STATE_AT.load(Ordering::Acquire);
    if state_at.is_null() {
        return None;
    }
    // SAFETY: `set_vector_calls` has stored a function of this type.
    let state_at = unsafe { core::mem::transmute::<*mut (), StateAt>(state_at) };
    state_at(call)
}

/// What a vector instruction has come to.
#[repr(C)]
struct Executed {
    /// Of rd.
    value: u64,
    /// 0: it is the interpreter's, and the hart has all registers.
    is_done: u64,
}

/// Executes the instruction with these bits for translated code. They are what memory has, and no word
/// of the decoder's: translations in files last longer than its numbers of operations.
///
/// # Safety
/// `call` is the calling translated code's.
unsafe extern "C" fn execute(a: u64, b: u64, call: &VectorCall, bits: u64) -> Executed {
    /// NxP code may access what the program may.
    const MEMORY: Identity = {
        // SAFETY: who has translated code run it answers for what it does.
        unsafe { Identity::new() }
    };
    let context = call.registers.int[RBP].wrapping_sub(HART_BIAS as u64) as *mut Context;
    // SAFETY: translated code has its hart there.
    let state = engine::process_state(unsafe { &(*context).hart });
    let insn = decode(bits as u32);
    let value = state
        .filter(|_| engine::is_executed_alone(insn))
        .and_then(|state| {
            // SAFETY: by contract; the state is this hart's alone.
            unsafe {
                let caller = ptr::from_ref(call).addr();
                engine::execute_alone(state.as_ptr(), &MEMORY, insn, [a, b], caller)
            }
        });
    if let Some(value) = value {
        return Executed { value, is_done: 1 };
    }
    let Some(hart) = state_at(call) else {
        // Each such call has a record.
        std::process::abort();
    };
    // SAFETY: as above.
    unsafe { (*context).hart = hart };
    Executed {
        value: 0,
        is_done: 0,
    }
}

const PC: i32 = offset_of!(Hart, pc) as i32 - HART_BIAS;
const SP: i32 = (offset_of!(Hart, x) + 8 * 2) as i32 - HART_BIAS;
const INT: usize = offset_of!(VectorCall, registers) + offset_of!(HostRegisters, int);
const FLOAT: usize = offset_of!(VectorCall, registers) + offset_of!(HostRegisters, float);
/// Without the return address, which the call has pushed.
const SIZE: usize = offset_of!(VectorCall, back);
const _: () = assert!(size_of::<VectorCall>() == SIZE + 8 && SIZE % 16 == 8);

glue!(
    /// A vector instruction. It changes what any function of the host may change.
    vector:
    "mov [rbp + {pc}], r10",
    "mov [rbp + {sp}], r15",
    "sub rsp, {size}",
    "mov [rsp + {int}], rax\n mov [rsp + {int} + 8], rcx\n mov [rsp + {int} + 16], rdx",
    "mov [rsp + {int} + 24], rbx\n mov [rsp + {int} + 40], rbp\n mov [rsp + {int} + 48], rsi",
    "mov [rsp + {int} + 56], rdi\n mov [rsp + {int} + 64], r8\n mov [rsp + {int} + 72], r9",
    "mov [rsp + {int} + 80], r10\n mov [rsp + {int} + 88], r11\n mov [rsp + {int} + 96], r12",
    "mov [rsp + {int} + 104], r13\n mov [rsp + {int} + 112], r14\n mov [rsp + {int} + 120], r15",
    "lea rax, [rsp + {size} + 8]",
    "mov [rsp + {int} + 8 * {number}], rax",
    "movsd [rsp + {float}], xmm0\n movsd [rsp + {float} + 8], xmm1",
    "movsd [rsp + {float} + 16], xmm2\n movsd [rsp + {float} + 24], xmm3",
    "movsd [rsp + {float} + 32], xmm4\n movsd [rsp + {float} + 40], xmm5",
    "movsd [rsp + {float} + 48], xmm6\n movsd [rsp + {float} + 56], xmm7",
    "movsd [rsp + {float} + 64], xmm8\n movsd [rsp + {float} + 72], xmm9",
    "movsd [rsp + {float} + 80], xmm10\n movsd [rsp + {float} + 88], xmm11",
    "movsd [rsp + {float} + 96], xmm12\n movsd [rsp + {float} + 104], xmm13",
    "movsd [rsp + {float} + 112], xmm14\n movsd [rsp + {float} + 120], xmm15",
    "mov rdx, rsp",
    "call {execute}",
    "add rsp, {size}",
    "test rdx, rdx",
    "je 2f",
    "ret",
    "2:",
    "mov eax, {interpret}",
    "jmp {leave}";
    pc = const PC,
    sp = const SP,
    size = const SIZE,
    int = const INT,
    float = const FLOAT,
    number = const RSP,
    execute = sym execute,
    interpret = const Reason::Interpret as u32,
    leave = sym leave,
);
