//! Descriptors: the messages of a crossing to and from a backend that is not in the calling thread
//! (`docs/decisions.md`, 11). The inline backend builds none.
//!
//! A descriptor goes one way. The side that gets it runs the function, or goes on behind the call
//! that it had made, and answers with another.
use core::mem::{offset_of, size_of};

/// Version of [`Descriptor`].
pub const DESCRIPTOR_VERSION: u32 = 1;

/// What has happened to an activation, and who is to go on. Little-endian; three cache lines, of
/// which the first says what the others are.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// [`DESCRIPTOR_VERSION`].
    pub version: u32,
    /// One of the `DESCRIPTOR_*` kinds.
    pub kind: u32,
    /// The process that the activation belongs to, as the kernel of its host numbers it.
    pub process: u32,
    /// The device that is meant.
    pub device: u16,
    /// The tile in `device` that is meant.
    pub tile: u16,
    /// The activation, as its owner numbers it; the answer has the same.
    pub owner: u64,
    /// A call: the function. A return: where the caller goes on. A fault: the instruction.
    pub pc: u64,
    /// Stack pointer of the NxP.
    pub sp: u64,
    /// A fault: the address of the access, or 0.
    pub address: u64,
    /// fcsr of the hart.
    pub fcsr: u32,
    /// A return: 0, or why the call could not be made (an errno). A fault: the signal.
    pub error: u32,
    /// Zero.
    pub reserved: u64,
    /// a0 to a7: arguments, or a0 and a1 as results.
    pub ints: [u64; 8],
    /// fa0 to fa7, the same.
    pub floats: [u64; 8],
}

/// Call the function at `pc`.
pub const DESCRIPTOR_CALL: u32 = 1;
/// The function has returned.
pub const DESCRIPTOR_RETURN: u32 = 2;
/// The activation cannot go on at `pc`.
pub const DESCRIPTOR_FAULT: u32 = 3;

const _: () = assert!(size_of::<Descriptor>() == 192);
const _: () = assert!(offset_of!(Descriptor, owner) == 16);
const _: () = assert!(offset_of!(Descriptor, ints) == 64);
const _: () = assert!(offset_of!(Descriptor, floats) == 128);
