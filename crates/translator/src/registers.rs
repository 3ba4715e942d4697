//! The host registers of translated code, and sets of guest registers.
//!
//! Everywhere in translated code `rbp` points into the hart ([`HART_BIAS`] after its start), and `r15`
//! is the guest's sp. `rsp` points to the host's stack, which has return addresses and spilled values.
//! At calls and entries, guest registers are where [`home`] says. At returns, the results are where
//! [`result_home`] says. Guest registers without a home are in the hart at calls, entries and
//! returns.
use regalloc2::{MachineEnv, PReg, PRegSet, RegClass};

/// A set of guest registers: x1 to x31 are bits 1 to 31, f0 to f31 bits 32 to 63. Bit 0 is never
/// set.
pub type Regs = u64;

pub const ALL: Regs = !1;

/// Number of a guest register: x0 to x31 are 0 to 31, f0 to f31 are 32 to 63.
pub type Reg = usize;

pub const RA: Reg = 1;
pub const SP: Reg = 2;
pub const GP: Reg = 3;
pub const TP: Reg = 4;
pub const T0: Reg = 5;
pub const T1: Reg = 6;
pub const T2: Reg = 7;
pub const S0: Reg = 8;
pub const A0: Reg = 10;
pub const A1: Reg = 11;
pub const FA0: Reg = 42;
pub const FA1: Reg = 43;

pub const fn bit(reg: Reg) -> Regs {
    if reg == 0 { 0 } else { 1 << reg }
}

pub const fn is_float(reg: Reg) -> bool {
    reg >= 32
}

/// The members of a set, lowest first.
pub fn members(mut set: Regs) -> impl Iterator<Item = Reg> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let reg = set.trailing_zeros() as Reg;
            set &= set - 1;
            reg
        })
    })
}

/// s0 to s11, of both files, by their numbers in the file.
const SAVED_NUMBERS: Regs = 0x0ffc_0300;
/// What a function keeps for its caller (RISC-V psABI, "Register Convention").
pub const SAVED: Regs = SAVED_NUMBERS | SAVED_NUMBERS << 32 | bit(SP) | bit(GP) | bit(TP);
/// a0 to a7, fa0 to fa7.
pub const ARGUMENTS: Regs = 0xff << A0 | 0xff << FA0;
/// What a function may find set besides: t1 and t2 of calls by signature, t2 of those with a static
/// chain.
pub const HIDDEN_ARGUMENTS: Regs = 0b11 << 6;
/// t0, t3 to t6, ft0 to ft11: nobody's at a call, but not where a jump leads into a function's
/// middle.
pub const TEMPORARIES: Regs = bit(T0) | 0xf << 28 | 0xff << 32 | 0xf << 60;
pub const RESULTS: Regs = bit(A0) | bit(A1) | bit(FA0) | bit(FA1);
/// Registers that are no values of the SSA form: sp is `r15`, gp and tp are always in the hart.
pub const FIXED: Regs = bit(SP) | bit(GP) | bit(TP);

pub const RAX: usize = 0;
pub const RCX: usize = 1;
pub const RDX: usize = 2;
pub const RBX: usize = 3;
pub const RSP: usize = 4;
pub const RBP: usize = 5;
pub const RSI: usize = 6;
pub const RDI: usize = 7;
pub const R8: usize = 8;
pub const R9: usize = 9;
pub const R10: usize = 10;
pub const R11: usize = 11;
pub const R12: usize = 12;
pub const R13: usize = 13;
pub const R14: usize = 14;

pub const fn host(number: usize) -> PReg {
    PReg::new(number, RegClass::Int)
}

pub const fn host_float(number: usize) -> PReg {
    PReg::new(number, RegClass::Float)
}

/// Registers that have a home.
pub const HOMES: Regs = bit(RA) | 0x3f << A0 | 0b11 << 8 | 0b11 << 18 | 0xff << FA0;

/// Those that functions keep for their callers: they may be pinned ([`crate::code::Code::pinned`]).
pub const PINNED: Regs = HOMES & SAVED;

/// Where a guest register is at calls and entries; `None`: in the hart.
pub fn home(reg: Reg) -> Option<PReg> {
    Some(match reg {
        RA => host(R11),
        8 => host(RBX),
        9 => host(R12),
        18 => host(R13),
        19 => host(R14),
        10 => host(RDI),
        11 => host(RSI),
        12 => host(RDX),
        13 => host(RCX),
        14 => host(R8),
        15 => host(R9),
        FA0..=49 => host_float(reg - FA0),
        _ => return None,
    })
}

/// Where a result is at a return.
pub fn result_home(reg: Reg) -> PReg {
    match reg {
        A0 => host(RAX),
        A1 => host(RDX),
        FA0 => host_float(0),
        _ => host_float(1),
    }
}

pub fn class(reg: Reg) -> RegClass {
    if is_float(reg) {
        RegClass::Float
    } else {
        RegClass::Int
    }
}

/// Never allocated: what moves between stack slots and within parallel moves go through.
pub const FLOAT_SCRATCH: usize = 15;

pub const fn scratch() -> PReg {
    host_float(FLOAT_SCRATCH)
}

const CALLER_SAVED: [usize; 9] = [RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11];
const CALLEE_SAVED: [usize; 4] = [RBX, R12, R13, R14];

/// Where code within a budget counts, if it is made at run time ([`Counting::is_in_register`]). It is
/// the only register that has no guest's at calls, entries and returns, but for rax, which has a result.
///
/// [`Counting::is_in_register`]: crate::Counting::is_in_register
pub const COUNT: usize = R10;

/// What the allocator has in a function that pins these guest registers. `counts`: it counts in
/// [`COUNT`].
pub fn environment(pinned: Regs, counts: bool) -> MachineEnv {
    let is_pinned = |&&n: &&usize| {
        counts && n == COUNT || members(pinned).any(|reg| home(reg) == Some(host(n)))
    };
    let ints = |numbers: &[usize]| {
        numbers
            .iter()
            .filter(|n| !is_pinned(n))
            .fold(PRegSet::empty(), |set, &n| set.with(host(n)))
    };
    let floats = (0..FLOAT_SCRATCH).fold(PRegSet::empty(), |set, n| set.with(host_float(n)));
    MachineEnv {
        preferred_regs_by_class: [ints(&CALLER_SAVED), floats, PRegSet::empty()],
        non_preferred_regs_by_class: [ints(&CALLEE_SAVED), PRegSet::empty(), PRegSet::empty()],
        scratch_by_class: [None, Some(scratch()), None],
        fixed_stack_slots: vec![],
    }
}

/// Whether functions keep a host register for their callers.
pub fn is_kept(place: PReg) -> bool {
    place.class() == RegClass::Int && CALLEE_SAVED.contains(&place.hw_enc())
}

/// What a call leaves nothing in. Guest functions keep `rbx` and `r12` to `r14` for their callers,
/// by the guest's own convention; functions of the host by theirs.
pub fn call_clobbers() -> PRegSet {
    let ints = CALLER_SAVED
        .iter()
        .fold(PRegSet::empty(), |set, &n| set.with(host(n)));
    (0..16).fold(ints, |set, n| set.with(host_float(n)))
}

/// `rbp` minus the hart's address: the integer registers are in reach of one byte of displacement.
pub const HART_BIAS: i32 = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes() {
        let with_home = (0..64).filter(|&reg| home(reg).is_some());
        assert_eq!(with_home.map(bit).fold(0, |all, reg| all | reg), HOMES);
    }
}
