//! Tables that a module's record leads to.

/// # Safety
/// `start` is the first of `count` records, or anything if `count` is 0.
pub(super) unsafe fn table<'a, T>(start: *const T, count: u64) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: by contract.
    unsafe { std::slice::from_raw_parts(start, count as usize) }
}
