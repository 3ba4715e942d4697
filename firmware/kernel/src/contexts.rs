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

    /// The address of a context that is so.
    pub fn create(&mut self, context: Context, frames: &mut Part<Frames>) -> Option<u64> {
        if self.free == 0 {
            let frame = frames.allocate()?;
            let size = size_of::<Context>() as u64;
            for n in 0..PAGE / size {
                self.free(frame + n * size);
            }
        }
        let at = self.free;
        // SAFETY: a free context is nobody's, and has the next one's address.
        unsafe {
            self.free = (at as *const u64).read();
            (at as *mut Context).write(context);
        }
        Some(at)
    }

    /// Nobody uses a context any more.
    pub fn free(&mut self, at: u64) {
        // SAFETY: its memory is of this table, and nobody uses it.
        unsafe { (at as *mut u64).write(self.free) };
        self.free = at;
    }
}
