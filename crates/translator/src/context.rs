//! A hart, and the fields that translated code needs beside it.

use flick_engine::Hart;

/// What translated code finds at rbp (plus [`HART_BIAS`](crate::HART_BIAS)): the hart and, behind
/// it, fields of the host's. Any bit pattern is a valid value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// The guest's registers.
    pub hart: Hart,
    /// Instructions that translated code has retired, if it counts.
    pub retired: u64,
    /// The address on the host's stack below which calls of translated code do not go.
    pub host_limit: u64,
    /// The registers rbx and r12 to r15 of the frame that called the caller of translated code.
    pub host_saved: [u64; 5],
}

const _: () = assert!(size_of::<Context>() == size_of::<Hart>() + 7 * 8);

impl Context {
    /// All registers zero.
    pub const ZERO: Self = Self {
        hart: Hart::ZERO,
        retired: 0,
        host_limit: 0,
        host_saved: [0; 5],
    };
}
