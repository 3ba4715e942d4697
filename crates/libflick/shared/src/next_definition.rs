//! What libflick stands in front of.
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// libc's definition of a function.
pub struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    pub const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            found: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    pub fn find(&self) -> *mut c_void {
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            // Behind libflick; where another compiler's program uses a Flick library, libc is in
            // front. SAFETY: looks a symbol up.
            found = unsafe {
                let next = libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr());
                if next.is_null() {
                    libc::dlsym(libc::RTLD_DEFAULT, self.name.as_ptr())
                } else {
                    next
                }
            };
            assert!(!found.is_null(), "libc has no {:?}", self.name);
            self.found.store(found, Ordering::Relaxed);
        }
        found
    }

    /// As a function of type `F`.
    ///
    /// # Safety
    /// `F` is the type of the libc function.
    pub unsafe fn function<F: Copy>(&self) -> F {
        let found = self.find();
        // SAFETY: by contract; function pointers are pointers here.
        unsafe { std::mem::transmute_copy(&found) }
    }
}
