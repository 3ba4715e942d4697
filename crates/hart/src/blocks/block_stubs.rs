//! The code that all blocks share: entering and leaving them, and calls of functions of the host.
use super::hart_frame::{
    BASE, CHANGED_BY_CALLS, Frame, KEPT_BY_CALLS, KNOWN, LEFT, PC, Reason, at, x_in_hart,
};
use super::x86_code::{
    Alu, Cond, Gpr, Place, R12, R13, R14, R15, RAX, RBP, RBX, RCX, RDI, RDX, RSI, RSP, W32, W64,
    X86Code,
};

/// Addresses of the code that blocks share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stubs {
    /// `extern "C" fn(base, code) -> Reason`.
    pub enter: u64,
    /// Leaves blocks for a [`Reason`], with the program counter in rcx.
    pub unknown: u64,
    pub budget: u64,
    pub instruction: u64,
    /// Loads edx bytes at rax: the value in rax, and edx is not 0 if it is there.
    pub load: u64,
    /// Stores edx bytes of rcx at rax. eax is not 0 if they are stored.
    pub store: u64,
    /// Executes the instruction at rcx, behind which execution goes on at rdx: then it returns.
    pub step: u64,
}

const SAVED: [Gpr; 6] = [RBP, RBX, R12, R13, R14, R15];

fn homes() -> impl Iterator<Item = (usize, Gpr)> {
    CHANGED_BY_CALLS.into_iter().chain(KEPT_BY_CALLS)
}

fn save(code: &mut X86Code, homes: impl Iterator<Item = (usize, Gpr)>) {
    homes.for_each(|(number, home)| code.store(W64, x_in_hart(number), home));
}

fn restore(code: &mut X86Code, homes: impl Iterator<Item = (usize, Gpr)>) {
    homes.for_each(|(number, home)| code.mov(W64, home, x_in_hart(number)));
}

fn load_left(code: &mut X86Code, frame: &Frame) {
    code.mov(W64, LEFT, at(frame.left));
    code.mov(W64, LEFT, Place::At(LEFT, 0));
}

/// Changes rcx.
fn store_left(code: &mut X86Code, frame: &Frame) {
    code.mov(W64, RCX, at(frame.left));
    code.store(W64, Place::At(RCX, 0), LEFT);
}

/// Appends all of it.
pub fn emit(code: &mut X86Code, frame: &Frame) -> Stubs {
    let enter = code.here();
    SAVED.into_iter().for_each(|register| code.push(register));
    // Calls of functions need a stack that is aligned.
    code.alu_constant(W64, Alu::Sub, Place::Reg(RSP), 8);
    code.mov_reg(BASE, RDI);
    code.mov_reg(RAX, RSI);
    restore(code, homes());
    load_left(code, frame);
    code.jump_indirect(Place::Reg(RAX));

    let return_to_host = code.label();
    let leave = code.label();
    let mut leave_for = |reason: Reason| {
        let address = code.here();
        code.constant(RAX, reason as u64);
        code.jump(leave);
        address
    };
    let unknown = leave_for(Reason::Unknown);
    let budget = leave_for(Reason::Budget);
    let instruction = leave_for(Reason::Instruction);
    code.bind(leave);
    code.store(W64, PC, RCX);
    store_left(code, frame);
    save(code, homes());
    code.bind(return_to_host);
    code.alu_constant(W64, Alu::Add, Place::Reg(RSP), 8);
    let saved = SAVED.into_iter().rev();
    saved.for_each(|register| code.pop(register));
    code.ret();

    let load = code.here();
    save(code, CHANGED_BY_CALLS.into_iter());
    code.lea(W64, RDI, at(frame.view));
    code.mov_reg(RSI, RAX);
    call(code, frame.load);
    restore(code, CHANGED_BY_CALLS.into_iter());
    code.ret();

    let store = code.here();
    save(code, CHANGED_BY_CALLS.into_iter());
    code.lea(W64, RDI, at(frame.view));
    code.mov_reg(RSI, RAX);
    call(code, frame.store);
    restore(code, CHANGED_BY_CALLS.into_iter());
    code.ret();

    let step = code.here();
    save(code, homes());
    code.store(W64, PC, RCX);
    store_left(code, frame);
    code.lea(W64, RDI, at(frame.processor));
    code.mov_reg(RSI, RDX);
    call(code, frame.step);
    code.test(W32, RAX, RAX);
    let stops = code.label();
    code.jump_if(Cond::Equal, stops);
    restore(code, homes());
    load_left(code, frame);
    code.ret();
    code.bind(stops);
    // The hart has all registers, and execution does not return to the block.
    code.alu_constant(W64, Alu::Add, Place::Reg(RSP), 8);
    code.constant(RAX, Reason::Stepped as u64);
    code.jump(return_to_host);

    Stubs {
        enter,
        unknown,
        budget,
        instruction,
        load,
        store,
        step,
    }
}

/// Calls a function of the host from what a block has called. rdx and rcx are arguments already.
fn call(code: &mut X86Code, function: u64) {
    code.alu_constant(W64, Alu::Sub, Place::Reg(RSP), 8);
    code.constant(RAX, function);
    code.call_indirect(RAX);
    code.alu_constant(W64, Alu::Add, Place::Reg(RSP), 8);
}

/// Goes to the block for the address in rax, if the table knows it.
pub fn look_up(code: &mut X86Code, frame: &Frame, stubs: &Stubs) {
    let miss = code.label();
    let mask = 16 * (KNOWN as i32 - 1);
    code.lea(W32, RCX, Place::Scaled(RAX, RAX, 0, 0));
    code.shift_constant(W32, super::x86_code::Shift::Shl, RCX, 2);
    code.alu_constant(W32, Alu::And, Place::Reg(RCX), mask);
    code.alu(W64, Alu::Add, RCX, at(frame.table));
    code.alu(W64, Alu::Cmp, RAX, Place::At(RCX, 0));
    code.jump_if(Cond::NotEqual, miss);
    code.mov(W32, RDX, at(frame.code_generation));
    code.alu(W32, Alu::Cmp, RDX, Place::At(RCX, 8));
    code.jump_if(Cond::NotEqual, miss);
    code.mov(W32, RDX, Place::At(RCX, 12));
    code.alu(W64, Alu::Add, RDX, at(frame.code_base));
    code.jump_indirect(Place::Reg(RDX));
    code.bind(miss);
    code.mov_reg(RCX, RAX);
    code.jump_to(stubs.unknown);
}
