//! Architectural state of one hart and the ways execution ends.

/// Architectural state. Any bit pattern is a valid value.
///
/// [`run()`](crate::run()) reads `pc`, `frm` and `reservation_len` and whatever registers the code uses;
/// those three must be initialised, the rest may hold garbage. `x[0]` is cleared by `run` and reads
/// as zero whenever it returns or a guest access faults.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hart {
    pub x: [u64; 32],
    /// Raw bits; a single-precision value is NaN-boxed (ISA manual, "NaN Boxing of Narrower Values").
    pub f: [u64; 32],
    pub pc: u64,
    /// Address of the last load-reserved; see `reservation_len`.
    pub reservation: u64,
    /// What it loaded. A store-conditional is a compare-and-swap with this value.
    pub reserved_value: u64,
    /// Bytes of the reservation, 4 or 8; 0: none.
    pub reservation_len: u32,
    /// Rounding modes that MXCSR cannot hold: 4 (to nearest, ties to max magnitude) or the reserved
    /// 5 to 7, valid while MXCSR rounds to nearest; 0: frm is what MXCSR says.
    pub frm: u16,
    /// Of no meaning here: for whoever runs the hart.
    pub mark: u16,
    /// Instructions that translated code has retired, if it counts.
    pub retired: u64,
    /// The translator's own: the address on the host's stack below which calls of translated code do not go,
    /// and what its caller's caller has in rbx and r12 to r15.
    pub host_limit: u64,
    pub host_saved: [u64; 5],
}

const _: () = assert!(size_of::<Hart>() == 65 * 8 + 40 + 40);

impl Hart {
    /// All registers zero.
    pub const ZERO: Self = Self {
        x: [0; 32],
        f: [0; 32],
        pc: 0,
        reservation: 0,
        reserved_value: 0,
        reservation_len: 0,
        frm: 0,
        mark: 0,
        retired: 0,
        host_limit: 0,
        host_saved: [0; 5],
    };
}

/// Why [`run()`](crate::run()) came back. Except after `Leave`, [`Hart::pc`] is the address of the
/// instruction named, which has had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Exit {
    /// The program counter left the region. `pc` is the target as computed, bit 0 included, although
    /// RV64's `jalr` clears it: host functions stand at odd addresses too. (Inside the region the
    /// cleared one is used.)
    Leave,
    /// `ecall`; continue at `pc + 4`.
    Ecall,
    /// `ebreak` or `c.ebreak`; the next instruction is at `pc + 4` or `pc + 2`.
    Ebreak,
    /// Not an instruction of the engine's, an unknown CSR, or a reserved rounding mode.
    Illegal {
        /// The 16 or 32 bits of it.
        bits: u32,
    },
    /// A memory access was refused by the [`Memory`](crate::Memory) or is a misaligned atomic.
    Trap(Trap),
    /// [`Observer::proceed`](crate::Observer::proceed) said no.
    Budget,
}

/// A refused memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trap {
    pub cause: Cause,
    /// Guest address of the access.
    pub addr: u64,
}

/// Exception codes of the privileged manual's `mcause`, those that a memory access can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Cause {
    LoadMisaligned = 4,
    LoadAccess = 5,
    StoreMisaligned = 6,
    StoreAccess = 7,
    LoadPage = 13,
    StorePage = 15,
}

impl From<core::convert::Infallible> for Trap {
    fn from(never: core::convert::Infallible) -> Self {
        match never {}
    }
}
