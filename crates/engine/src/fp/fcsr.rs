//! fcsr of a hart that has one of its own.
//!
//! Arithmetic runs under the thread's MXCSR, of which fcsr is a view. The hart of an ordinary
//! program has no fcsr but that view. A machine has several harts in a thread: each has an
//! [`Fcsr`], which the machine loads when it switches to the hart, and stores when it switches
//! away.

use super::env::{self, mxcsr, set_mxcsr};
use super::{RMM, fcsr_of};
use crate::hart_state::Hart;

/// To nearest, no flags, nothing unmasked, FTZ and DAZ off (Intel SDM, volume 1, 11.6.4).
const DEFAULT_MXCSR: u32 = 0x1f80;
/// The exception flags.
const FLAGS: u32 = 0x3f;

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
        let thread = mxcsr();
        let frm = u32::from(self.0 >> 5);
        hart.frm = if frm >= RMM { frm as u16 } else { 0 };
        let flags = env::with_fflags(DEFAULT_MXCSR, u32::from(self.0) & 31);
        set_if_other(thread, flags | env::frm_to_rc(frm));
        ThreadEnvironment(thread)
    }

    /// The fcsr of `hart`, which was loaded; the thread has its environment again.
    pub fn store(hart: &Hart, thread: ThreadEnvironment) -> Self {
        let live = mxcsr();
        set_if_other(live, thread.0);
        Self::new(fcsr_of(hart, live))
    }
}

/// Setting MXCSR takes as long as some ten instructions.
fn set_if_other(old: u32, new: u32) {
    if new != old {
        set_mxcsr(new);
    }
}

/// While it lives, the thread's MXCSR has no exception flags, which no Rust code looks at. So it equals
/// that of a hart that has not computed with floating point, and switching to such a hart is cheap.
#[derive(Debug)]
#[must_use = "the flags come back where it is dropped"]
pub struct NoFlags(u32);

impl NoFlags {
    /// The flags go until this object does.
    pub fn begin() -> Self {
        let before = mxcsr();
        set_if_other(before, before & !FLAGS);
        Self(before)
    }
}

impl Drop for NoFlags {
    fn drop(&mut self) {
        set_mxcsr(mxcsr() & !FLAGS | self.0 & FLAGS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_the_thread_are_away_for_a_time() {
        let before = mxcsr();
        env::raise_inexact();
        let with_flags = mxcsr();
        assert_ne!(with_flags & FLAGS, 0);
        {
            let _flags = NoFlags::begin();
            assert_eq!(mxcsr(), with_flags & !FLAGS);
            let mut hart = Hart::ZERO;
            let thread = Fcsr::new(3 << 5 | 1).load(&mut hart);
            assert_eq!(mxcsr() & FLAGS, 0x20);
            assert_eq!(Fcsr::store(&hart, thread), Fcsr::new(3 << 5 | 1));
            assert_eq!(mxcsr(), with_flags & !FLAGS);
        }
        assert_eq!(mxcsr(), with_flags);
        set_mxcsr(before);
    }
}
