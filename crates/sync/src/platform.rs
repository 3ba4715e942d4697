//! The standard library's atomics, threads and cells, or loom's.
#[cfg(loom)]
pub use loom::{cell::UnsafeCell, sync::atomic, thread::yield_now};
#[cfg(not(loom))]
pub use std::{sync::atomic, thread::yield_now};

/// Between a `SeqCst` access and the next of the same thread. The memory model has one order of all
/// such accesses, so nothing is needed; loom takes them for `AcqRel`, and knows fences only.
#[inline]
pub fn between_seq_cst() {
    #[cfg(loom)]
    loom::sync::atomic::fence(atomic::Ordering::SeqCst);
}

/// With loom's interface.
#[cfg(not(loom))]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    #[inline]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// A constructor: `const`, but loom's atomics are made at run time.
macro_rules! constructor {
    ($(#[$docs:meta])* $name:ident $($item:tt)*) => {
        #[cfg(not(loom))]
        $(#[$docs])*
        pub const fn $name $($item)*
        #[cfg(loom)]
        $(#[$docs])*
        pub fn $name $($item)*
    };
}
pub(crate) use constructor;
