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
    /// Harts whose floating-point registers are still those below, as bits, if no thread has used them since.
    pub float_harts: u64,
    /// The physical address of its vector registers, or 0: it has none yet.
    pub vector: u64,
    /// Harts whose vector registers are still those there, in the same way.
    pub vector_harts: u64,
    /// Memory that the kernel hart has stored to for the thread: physical addresses and bytes. A hart
    /// without coherence drops its lines before the thread goes on.
    pub stored: [Stored; 2],
    /// f0 to f31.
    pub f: [u64; 32],
    /// The number of its process.
    pub process: u64,
    /// `mcause` and `mtval` of its exception. While it moves: the instruction that harts lack, and these
    /// harts, as bits.
    pub exception: [u64; 2],
    /// Bytes of a vector register there.
    pub vector_bytes: u64,
    spare: u64,
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

impl Context {
    /// Of a thread that will begin: its entry, its argument, the end of its stack, its tp; `satp` and
    /// the number of its process. What else is there is not its own.
    pub fn set_start(&mut self, start: [u64; 4], satp: u64, process: u64) {
        (self.x[0], self.x[10], self.x[2], self.x[4]) = start.into();
        (self.satp, self.process) = (satp, process);
    }

    /// The thread begins: the rest of what is not its own yet. Its other registers are 0, as the hart knows,
    /// and those of floating point are not read before the thread has some.
    pub fn begin(&mut self) {
        (self.status, self.vector, self.exception) = (0, 0, [0; 2]);
        (self.float_harts, self.vector_harts) = (0, 0);
        self.stored = [Stored::default(); 2];
    }

    /// All its registers, as `ThreadState` has them: pc, x1 to x31, f0 to f31, fcsr. A hart loads those of
    /// floating point.
    pub fn set_all(&mut self, words: &[u64; 65]) {
        self.x.copy_from_slice(&words[..32]);
        self.f.copy_from_slice(&words[32..64]);
        // Bits beyond those of the manual would trap when they are loaded.
        self.fcsr = words[64] & 0xff;
        self.float_harts = 0;
    }

    /// The same words. A thread that has used no registers of floating point has none yet.
    pub fn all(&self) -> [u64; 65] {
        let mut words = [0; 65];
        words[..32].copy_from_slice(&self.x);
        if self.status != 0 {
            words[32..64].copy_from_slice(&self.f);
            words[64] = self.fcsr;
        }
        words
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
