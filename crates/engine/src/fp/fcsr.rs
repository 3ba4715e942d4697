//! fcsr of a hart that has one of its own.
//!
//! Arithmetic runs under the thread's MXCSR, of which fcsr is a view. The hart of an ordinary
//! program has no fcsr but that view. A machine has several harts in a thread: each has an
//! [`Fcsr`], which the machine loads when it switches to the hart, and stores when it switches
//! away.

use super::env::{mxcsr, set_mxcsr};
use super::{read_fcsr, write_fcsr};
use crate::hart_state::Hart;

/// To nearest, no flags, nothing unmasked, FTZ and DAZ off (Intel SDM, volume 1, 11.6.4).
const DEFAULT_MXCSR: u32 = 0x1f80;

/// The fcsr of a hart that does not run: frm in bits 5 to 7, fflags in bits 0 to 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fcsr(u8);

/// What the thread had in MXCSR before a hart's fcsr was loaded.
#[derive(Debug)]
#[must_use = "the thread keeps the hart's floating-point environment until it is stored"]
pub struct ThreadEnvironment(u32);

impl Fcsr {
    /// With this value; bits above 7 are ignored.
    pub const fn new(value: u64) -> Self {
        Self(value as u8)
    }

    /// The value as the hart reads it.
    pub const fn value(self) -> u64 {
        self.0 as u64
    }

    /// Makes the thread's floating-point environment that of `hart`, whose fcsr this is. Until
    /// [`Fcsr::store`], `hart` may run, and CSR instructions access the live fcsr
    /// ([`access_fcsr`](crate::access_fcsr)).
    ///
    /// Rust assumes the default environment for its own floating-point operators: use none until
    /// then.
    pub fn load(self, hart: &mut Hart) -> ThreadEnvironment {
        let thread = ThreadEnvironment(mxcsr());
        // Setting it takes as long as some ten instructions.
        if thread.0 != DEFAULT_MXCSR {
            set_mxcsr(DEFAULT_MXCSR);
        }
        write_fcsr(hart, self.value());
        thread
    }

    /// The fcsr of `hart`, which was loaded; the thread has its environment again.
    pub fn store(hart: &Hart, thread: ThreadEnvironment) -> Self {
        let fcsr = Self::new(read_fcsr(hart));
        set_mxcsr(thread.0);
        fcsr
    }
}
