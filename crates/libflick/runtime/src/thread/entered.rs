//! The handle of an activation in a step of its crossing.
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use flick_abi::layout::Gate;

use super::Current;
use super::activation::{self, Activation};

/// An activation that the calling thread has entered, while its crossing takes a step in Rust: its
/// frame is alive, its gate is stored, and the thread has its state. There is one handle in a
/// step. The assembly of a crossing passes it as a pointer.
///
/// Handlers of the thread may read the activation at any instruction, so this is no `&mut`, of
/// which the compiler would believe that nobody reads it.
#[repr(transparent)]
pub struct Entered(NonNull<Activation>);

impl Entered {
    /// # Safety
    /// As the type says.
    #[inline]
    pub unsafe fn new(act: *mut Activation) -> Self {
        // SAFETY: the address of a frame.
        Self(unsafe { NonNull::new_unchecked(act) })
    }

    /// Tells the activation from others of the thread.
    #[inline]
    pub fn address(&self) -> *mut Activation {
        self.0.as_ptr()
    }

    #[inline]
    pub fn thread(&self) -> Current {
        // SAFETY: the thread has entered an activation.
        unsafe { Current::crossed() }
    }

    /// The gate that was called.
    #[inline]
    pub fn gate(&self) -> &Gate {
        // SAFETY: the crossing has stored it, and its module is loaded as long as its code runs.
        unsafe { &*self.gate }
    }

    /// Where the call of the gate returns to.
    pub fn call_site(&self) -> usize {
        let above = self.0.as_ptr().wrapping_byte_add(activation::SIZE);
        // SAFETY: above an activation are the saved frame pointer and the return address.
        unsafe { above.cast::<usize>().add(1).read() }
    }
}

impl Deref for Entered {
    type Target = Activation;

    #[inline]
    fn deref(&self) -> &Activation {
        // SAFETY: the frame is alive, and any bits are an activation.
        unsafe { self.0.as_ref() }
    }
}

impl DerefMut for Entered {
    #[inline]
    fn deref_mut(&mut self) -> &mut Activation {
        // SAFETY: as above; there is one handle in a step.
        unsafe { self.0.as_mut() }
    }
}
