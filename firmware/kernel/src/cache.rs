//! Caches that are not coherent. There a hart's loads see what its cache holds, until it drops the line.
//! An atomic operation acts on memory and drops the line (`docs/machine.md`), so that one of each line
//! is enough. All stores go through to memory.
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Bytes of a line.
pub const LINE: u64 = 64;

static IS_COHERENT: AtomicBool = AtomicBool::new(true);

/// Before other harts begin: the machine has no coherence.
pub fn begin(is_coherent: bool) {
    IS_COHERENT.store(is_coherent, Ordering::Relaxed);
}

/// Do harts see each other's stores?
pub fn is_coherent() -> bool {
    IS_COHERENT.load(Ordering::Relaxed)
}

/// The hart's loads of this memory see what others have stored.
pub fn refresh(address: u64, size: u64) {
    if is_coherent() {
        return;
    }
    let mut line = address / LINE * LINE;
    while line < address + size {
        // SAFETY: an aligned word of memory. The operation leaves its value.
        unsafe { AtomicU32::from_ptr(line as *mut u32) }.fetch_or(0, Ordering::AcqRel);
        line += LINE;
    }
}

/// The same of a value.
pub fn refresh_value<T>(value: *const T) {
    refresh(value.addr() as u64, size_of::<T>() as u64);
}
