//! Places in small tables.

/// Spreads keys that differ in few bits, such as addresses, over 32 bits: Fibonacci hashing (Knuth,
/// The Art of Computer Programming, volume 3, section 6.4), of which the upper half is the mixed
/// one.
#[inline]
pub fn spread(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}
