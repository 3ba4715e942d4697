//! The registers of a thread while it does not run.

/// Assembly in `trap_entry.S` knows the places of its fields.
#[repr(C, align(64))]
#[derive(Clone, Debug)]
pub struct Context {
    /// x1 to x31 by their numbers; x0's place has the program counter.
    pub x: [u64; 32],
    /// `satp` of its process.
    pub satp: u64,
    /// FS and VS of `mstatus`: which registers below are the thread's.
    pub status: u64,
    /// fcsr.
    pub fcsr: u64,
    /// The hart whose floating-point registers are still those below, or [`NO_HART`].
    pub float_hart: u64,
    /// The physical address of its vector registers, or 0: it has none yet.
    pub vector: u64,
    /// The hart whose vector registers are still those there, or [`NO_HART`].
    pub vector_hart: u64,
    /// Memory that the kernel hart has stored to for the thread: physical addresses and bytes. A hart
    /// without coherence drops its lines before the thread goes on.
    pub stored: [Stored; 2],
    /// f0 to f31.
    pub f: [u64; 32],
    /// The number of its process.
    pub process: u64,
}

/// A piece of memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Physical.
    pub address: u64,
    /// Bytes; 0: there is none.
    pub size: u64,
}

/// The number of no hart.
pub const NO_HART: u64 = u64::MAX;

impl Context {
    /// A thread that begins.
    pub fn new([entry, argument, stack, tls]: [u64; 4], satp: u64, process: u64) -> Self {
        let mut x = [0; 32];
        (x[0], x[2], x[4], x[10]) = (entry, stack, tls, argument);
        Self {
            x,
            satp,
            status: 0,
            fcsr: 0,
            float_hart: NO_HART,
            vector: 0,
            vector_hart: NO_HART,
            stored: [Stored::default(); 2],
            f: [0; 32],
            process,
        }
    }

    /// Where it goes on.
    pub fn pc(&self) -> u64 {
        self.x[0]
    }

    /// The call that it has made is made again.
    pub fn make_again(&mut self) {
        self.x[0] = self.x[0].wrapping_sub(4);
    }

    /// What a call returns.
    pub fn set_values(&mut self, values: [u64; 2]) {
        self.x[10..12].copy_from_slice(&values);
    }
}

const _: () = assert!(size_of::<Context>() == 640);
const _: () = assert!(core::mem::offset_of!(Context, f) == 336);
