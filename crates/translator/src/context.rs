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
}

const _: () = assert!(size_of::<Context>() == size_of::<Hart>() + 2 * 8);

/// Bytes of the frame that calls translated code: from the context, at rsp, up to the saved rbp.
pub const CALLER_FRAME: usize = 896;

/// Where in that frame are the registers rbx and r12 to r15 of the frame above: at its end, as
/// pushes in the other order leave them.
pub const HOST_SAVED: usize = CALLER_FRAME - 5 * 8;

const _: () = assert!(CALLER_FRAME.is_multiple_of(16));
const _: () = assert!(size_of::<Context>() <= HOST_SAVED);

impl Context {
    /// All registers zero.
    pub const ZERO: Self = Self {
        hart: Hart::ZERO,
        retired: 0,
        host_limit: 0,
    };
}
