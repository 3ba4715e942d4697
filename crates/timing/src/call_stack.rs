//! The calls that NxP code is in, for samples. They are followed by the code's jumps, because a
//! hart has no record of its calls.
use core::ptr::with_exposed_provenance;

use crate::timed_observer::Spent;

/// Looks at jumps, to take samples.
pub trait Sampler {
    /// Whether there is anything to do.
    const ON: bool;

    /// NxP code jumps from `pc` to `target`. The residency has `spent` this much so far.
    fn jump(&mut self, pc: u64, target: u64, spent: &Spent);
}

/// The sampler of a run without samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSampler;

impl Sampler for NoSampler {
    const ON: bool = false;

    fn jump(&mut self, _pc: u64, _target: u64, _spent: &Spent) {}
}

const DEEPEST: usize = 256;

/// Entries of the functions that NxP code is in, and their return addresses.
#[derive(Clone, Debug)]
pub struct Calls {
    frames: Box<[(u64, u64); DEEPEST]>,
    /// The depth may be beyond the frames that are kept.
    depth: usize,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            frames: Box::new([(0, 0); DEEPEST]),
            depth: 0,
        }
    }
}

impl Calls {
    /// A function is entered that returns to `back`.
    pub fn push(&mut self, entry: u64, back: u64) {
        if let Some(frame) = self.frames.get_mut(self.depth) {
            *frame = (entry, back);
        }
        self.depth += 1;
    }

    /// The innermost function's entry is this one, after all.
    pub fn set_top(&mut self, entry: u64) {
        let frame = self
            .depth
            .checked_sub(1)
            .and_then(|at| self.frames.get_mut(at));
        if let Some(frame) = frame {
            frame.0 = entry;
        }
    }

    /// Number of calls, also of those beyond the frames that are kept.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The innermost function's entry, as far as frames are kept.
    pub fn top(&self) -> Option<u64> {
        let kept = self.depth.min(DEEPEST);
        self.frames[..kept].last().map(|frame| frame.0)
    }

    /// Drops the calls above this depth.
    pub fn truncate(&mut self, depth: usize) {
        self.depth = self.depth.min(depth);
    }

    /// Entries from the innermost function on, down to those above `bottom`.
    pub fn stack(&self, bottom: usize) -> impl Iterator<Item = u64> {
        let kept = self.depth.min(DEEPEST);
        let frames = self.frames.get(bottom.min(kept)..kept).unwrap_or_default();
        frames.iter().rev().map(|frame| frame.0)
    }

    /// Follows a jump by the code at `pc`. Calls, returns and tail calls are recognised by the ISA
    /// manual's hints (chapter 2.5: `ra` is the link register). Jumps within a function change
    /// nothing. No frame below `bottom` is dropped.
    ///
    /// # Safety
    /// `pc` is the address of an instruction that can be read.
    pub unsafe fn jump(&mut self, pc: u64, target: u64, bottom: usize) {
        // SAFETY: by contract; the shortest instruction has 16 bits.
        let low = unsafe { with_exposed_provenance::<u16>(pc as usize).read_unaligned() };
        let (length, link) = match low & 3 {
            3 => {
                // rd is bits 7 to 11, of jal and jalr.
                (4, low >> 7 & 31 == 1)
            }
            // c.jalr (CR format, funct4 1001) links; c.j and c.jr do not.
            _ => (2, low & 0xf07f == 0x9002),
        };
        if link {
            self.push(target, pc + length);
            return;
        }
        self.returns(target, bottom);
    }

    /// Drops the frames that a return to `target` leaves; none, where no function returns there. A
    /// return may leave several frames at once, if some were not kept or were left by a tail call.
    pub fn returns(&mut self, target: u64, bottom: usize) {
        let kept = self.depth.min(DEEPEST);
        for depth in (bottom..kept).rev().take(8) {
            if self.frames[depth].1 == target {
                self.depth = depth;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_returns() {
        // jal ra, .; c.jr ra; c.jalr a0; jal x0, .
        let code: [u16; 6] = [0x00ef, 0x0000, 0x8082, 0x9502, 0x006f, 0x0000];
        let at = |index: usize| code.as_ptr().expose_provenance() as u64 + index as u64 * 2;
        let mut calls = Calls::default();
        calls.push(1000, 9);
        // SAFETY: the addresses are in `code`.
        unsafe {
            calls.jump(at(0), 2000, 0);
            assert_eq!(calls.stack(0).collect::<Vec<_>>(), [2000, 1000]);
            calls.jump(at(3), 3000, 0);
            calls.jump(at(4), 3100, 0);
            assert_eq!(calls.stack(0).collect::<Vec<_>>(), [3000, 2000, 1000]);
            calls.jump(at(2), at(0) + 4, 0);
            assert_eq!(calls.stack(0).collect::<Vec<_>>(), [1000]);
        }
        // The host returns, which is no jump: from a function that was called, and from one that was
        // called last of all.
        calls.push(4000, 77);
        calls.set_top(4100);
        assert_eq!(calls.stack(0).collect::<Vec<_>>(), [4100, 1000]);
        calls.returns(77, 0);
        assert_eq!(calls.stack(0).collect::<Vec<_>>(), [1000]);
        calls.returns(9, 1);
        assert_eq!(calls.depth(), 1);
        calls.returns(9, 0);
        assert_eq!(calls.depth(), 0);
    }
}
