//! What blocks reach: the state of the hart that runs, relative to a base register, and the functions
//! that do what blocks do not.
use flick_engine::Hart;
use std::mem::offset_of;

use super::x86_code::{Gpr, Place, R8, R9, R10, R11, R12, R13, R14, R15, RBP, RBX, RDI, RSI};

/// The base register has this distance from the start of [`Hart`], so that all of `x` is within a byte's
/// displacement.
pub const BIAS: usize = 128;

/// Holds the base.
pub const BASE: Gpr = RBP;
/// Holds the cycles that are left of the slice.
pub const LEFT: Gpr = R15;

/// Guest registers that are in host registers while blocks run: those that compilers use most. A call
/// of a function of the host keeps those of the second list.
pub const CHANGED_BY_CALLS: [(usize, Gpr); 6] = [
    (12, RSI),
    (13, RDI),
    (10, R8),
    (11, R9),
    (14, R10),
    (15, R11),
];
pub const KEPT_BY_CALLS: [(usize, Gpr); 4] = [(2, RBX), (8, R12), (9, R13), (16, R14)];

/// Where each guest register is, if it is in a host register.
pub const HOMES: [Option<Gpr>; 32] = {
    let mut homes = [None; 32];
    let mut n = 0;
    while n < CHANGED_BY_CALLS.len() {
        homes[CHANGED_BY_CALLS[n].0] = Some(CHANGED_BY_CALLS[n].1);
        n += 1;
    }
    n = 0;
    while n < KEPT_BY_CALLS.len() {
        homes[KEPT_BY_CALLS[n].0] = Some(KEPT_BY_CALLS[n].1);
        n += 1;
    }
    homes
};

const fn of_hart(offset: usize) -> Place {
    Place::At(BASE, offset as i32 - BIAS as i32)
}

/// The place of an integer register in the hart.
pub fn x_in_hart(number: usize) -> Place {
    of_hart(offset_of!(Hart, x) + 8 * number)
}

/// The place of a floating-point register.
pub fn f(number: usize) -> Place {
    of_hart(offset_of!(Hart, f) + 8 * number)
}

/// The upper half of a floating-point register.
pub fn f_upper(number: usize) -> Place {
    of_hart(offset_of!(Hart, f) + 8 * number + 4)
}

/// The hart's program counter, which blocks write when they end.
pub const PC: Place = of_hart(offset_of!(Hart, pc));
/// See [`Hart::frm`].
pub const FRM: Place = of_hart(offset_of!(Hart, frm));

/// Distances from the base, and functions, which depend on the kind of hart.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The kind of hart.
    pub kind: &'static str,
    /// The address of the cycles that are left: [`crate::slice::Slice::left`].
    pub left: i32,
    /// The first entry of the TLB's context, and its generation: [`crate::memory_view::View`].
    pub tlb: i32,
    pub generation: i32,
    /// The table of blocks by virtual addresses, and its generation.
    pub table: i32,
    pub code_generation: i32,
    /// The address of the first block.
    pub code_base: i32,
    /// The arguments of the functions.
    pub view: i32,
    pub processor: i32,
    /// `fn(view, address, size) -> Loaded`.
    pub load: u64,
    /// `fn(view, address, size, value) -> 1 if stored`.
    pub store: u64,
    /// `fn(processor, next pc) -> 1 if the blocks may go on behind the instruction`.
    pub step: u64,
}

/// A place at a distance from the base.
pub fn at(distance: i32) -> Place {
    Place::At(BASE, distance)
}

/// Why blocks end. The hart's program counter says where execution goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Reason {
    /// There is no block that is known for this address.
    Unknown = 0,
    /// The block does not fit into what is left of the slice.
    Budget = 1,
    /// The instruction is none that blocks execute, or it traps, or it accesses a device.
    Instruction = 2,
    /// The function `step` has said so.
    Stepped = 3,
}

/// What the function `load` answers.
#[repr(C)]
pub struct Loaded {
    pub value: u64,
    /// 0: the access traps, or is one of a device.
    pub is_done: u64,
}

/// An entry of the table of blocks by virtual addresses.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Known {
    pub pc: u64,
    pub generation: u32,
    /// The block's distance from the first one.
    pub code: u32,
}

/// Entries of that table.
pub const KNOWN: usize = 1 << 12;
