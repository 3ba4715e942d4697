//! Integer operations that Rust does not define as the ISA does (manual, chapters "M", "B" and
//! "Zicond").

/// Quotient; -1 for a zero divisor, the dividend on overflow.
#[inline(always)]
pub fn div(a: i64, b: i64) -> i64 {
    if b == 0 { -1 } else { a.wrapping_div(b) }
}

/// Quotient; all ones for a zero divisor.
#[inline(always)]
pub fn divu(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(u64::MAX)
}

/// Remainder; the dividend for a zero divisor, 0 on overflow.
#[inline(always)]
pub fn rem(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}

/// Remainder; the dividend for a zero divisor.
#[inline(always)]
pub fn remu(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(a)
}

/// As [`div`].
#[inline(always)]
pub fn divw(a: i32, b: i32) -> i32 {
    if b == 0 { -1 } else { a.wrapping_div(b) }
}

/// As [`divu`].
#[inline(always)]
pub fn divuw(a: u32, b: u32) -> u32 {
    a.checked_div(b).unwrap_or(u32::MAX)
}

/// As [`rem`].
#[inline(always)]
pub fn remw(a: i32, b: i32) -> i32 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}

/// As [`remu`].
#[inline(always)]
pub fn remuw(a: u32, b: u32) -> u32 {
    a.checked_rem(b).unwrap_or(a)
}

/// High half of the signed product.
#[inline(always)]
pub fn mulh(a: u64, b: u64) -> u64 {
    ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
}

/// High half of the product of a signed and an unsigned number.
#[inline(always)]
pub fn mulhsu(a: u64, b: u64) -> u64 {
    (i128::from(a as i64).wrapping_mul(i128::from(b)) >> 64) as u64
}

/// High half of the unsigned product.
#[inline(always)]
pub fn mulhu(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// All ones in each byte that is not zero.
#[inline(always)]
pub fn orc_b(a: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let tops = ((a & LOW).wrapping_add(LOW) | a) & !LOW;
    // From bit 7 of a byte to all of it; no borrow leaves the byte.
    tops | (tops - (tops >> 7))
}

/// `a`, or 0 if the condition is 0.
#[inline(always)]
pub fn czero_eqz(a: u64, condition: u64) -> u64 {
    a & u64::from(condition == 0).wrapping_sub(1)
}

/// `a`, or 0 if the condition is not 0.
#[inline(always)]
pub fn czero_nez(a: u64, condition: u64) -> u64 {
    a & u64::from(condition != 0).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orc_b_looks_at_every_bit_of_every_byte() {
        assert_eq!(orc_b(0), 0);
        for bit in 0..64 {
            assert_eq!(orc_b(1 << bit), 0xff << (bit & !7), "{bit}");
            let all_others = !(0xff << (bit & !7));
            assert_eq!(orc_b(all_others), all_others, "{bit}");
        }
        assert_eq!(orc_b(0x8001_0080_7fff_0100), 0xffff_00ff_ffff_ff00);
    }
}
