//! A hart's architectural state, and how a run ends.

/// Architectural state. Any bit pattern is a valid value.
///
/// [`run()`](crate::run()) reads `pc`, `frm` and `reservation_len` and whatever registers the code
/// uses; those three must be initialised, the rest may hold garbage. `x[0]` is cleared by `run` and
/// reads as zero whenever it returns or a guest access faults.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hart {
    /// Integer registers.
    pub x: [u64; 32],
    /// Floating-point registers. Raw bits; a single-precision value is NaN-boxed (ISA manual, "NaN
    /// Boxing of Narrower Values").
    pub f: [u64; 32],
    /// Address of the instruction that is executed next.
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
    /// Of no meaning here: for the owner of the hart. It fills the word of `reservation_len` and
    /// `frm`, which libflick's fast path clears by one store.
    pub mark: u16,
}

const _: () = assert!(size_of::<Hart>() == 65 * 8 + 24);

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
    };
}

/// Why [`run()`](crate::run()) came back. Except after `Leave`, [`Hart::pc`] is the address of the
/// instruction named, which has had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Exit {
    /// The program counter left the region. `pc` is the target as computed, bit 0 included,
    /// although RV64's `jalr` clears it: host functions stand at odd addresses too. (Inside the
    /// region the cleared one is used.)
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
    /// [`Control::proceed`](crate::Control::proceed) said no.
    Budget,
    /// The hart waits for an interrupt (`wfi`), says its [`Core`](crate::Core). `pc` is behind it.
    Wait,
}

/// A refused fetch or memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trap {
    /// Why it was refused.
    pub cause: Cause,
    /// Guest address of the access.
    pub addr: u64,
}

impl Trap {
    /// There is no memory to fetch instructions from at `addr`.
    pub const fn fetch_access(addr: u64) -> Self {
        Self {
            cause: Cause::FetchAccess,
            addr,
        }
    }

    /// The page at `addr` has no instructions for the hart.
    pub const fn fetch_page(addr: u64) -> Self {
        Self {
            cause: Cause::FetchPage,
            addr,
        }
    }
}

/// Exception codes of the privileged manual's `mcause`, those that a fetch or a memory access can
/// have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Cause {
    /// A jump to an address where no instruction can be.
    FetchMisaligned = 0,
    /// No memory to fetch from.
    FetchAccess = 1,
    /// A load-reserved at an address that is not a multiple of its size.
    LoadMisaligned = 4,
    /// No memory to load from.
    LoadAccess = 5,
    /// Another atomic at an address that is not a multiple of its size.
    StoreMisaligned = 6,
    /// No memory to store to.
    StoreAccess = 7,
    /// A page that must not be fetched from.
    FetchPage = 12,
    /// A page that must not be loaded from.
    LoadPage = 13,
    /// A page that must not be stored to.
    StorePage = 15,
}

impl From<core::convert::Infallible> for Trap {
    fn from(never: core::convert::Infallible) -> Self {
        match never {}
    }
}
