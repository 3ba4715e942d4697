//! Memory of contexts: pages that are cut into six each.
use flick_abi::card::PAGE;
use flick_kernel_core::context::Context;
use flick_kernel_core::frames::Frames;

use crate::kernel::Part;

/// Free contexts, each of which has the address of the next one.
#[derive(Debug)]
pub struct Contexts {
    free: u64,
}

impl Contexts {
    /// None.
    pub const fn new() -> Self {
        Self { free: 0 }
    }

    /// The address of a context, which has what the thread before has left there.
    #[inline(always)]
    pub fn take(&mut self, frames: &mut Part<Frames>) -> Option<u64> {
        if self.free == 0 {
            self.add(frames)?;
        }
        let at = self.free;
        // SAFETY: a free context is nobody's, and has the next one's address.
        self.free = unsafe { (at as *const u64).read() };
        Some(at)
    }

    #[inline(never)]
    fn add(&mut self, frames: &mut Part<Frames>) -> Option<()> {
        let frame = frames.allocate()?;
        let size = size_of::<Context>() as u64;
        (0..PAGE / size).for_each(|n| self.free(frame + n * size));
        Some(())
    }

    /// Nobody uses a context any more.
    pub fn free(&mut self, at: u64) {
        // SAFETY: its memory is of this table, and nobody uses it.
        unsafe { (at as *mut u64).write(self.free) };
        self.free = at;
    }
}
