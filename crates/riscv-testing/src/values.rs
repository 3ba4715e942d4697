//! Seeded random numbers with a taste for edges.

/// SplitMix64.
pub struct Rng(pub u64);

impl Rng {
    #[expect(clippy::should_implement_trait, reason = "a stream without an end")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// True with `percent` in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Signed, `bits` wide, at the limits more often than elsewhere.
    pub fn signed(&mut self, bits: u32) -> i32 {
        let (least, most) = (-1_i32 << (bits - 1), (1_i32 << (bits - 1)) - 1);
        match self.below(8) {
            0 => least,
            1 => most,
            2 => self.pick(&[0, 1, -1]),
            _ => ((self.next() as i32) << (32 - bits)) >> (32 - bits),
        }
    }
}

pub fn integer(rng: &mut Rng) -> u64 {
    const EDGES: [u64; 28] = [
        0,
        1,
        u64::MAX,
        1 << 63,
        (1 << 63) - 1,
        1 << 31,
        (1 << 31) - 1,
        !((1 << 31) - 1),
        (1 << 32) - 1,
        1 << 32,
        (1 << 63) + 1,
        u64::MAX - 1,
        2,
        64,
        0x8000_0000_8000_0000,
        0x5555_5555_5555_5555,
        // Around what doubles and singles hold exactly.
        1 << 53,
        (1 << 53) - 1,
        (1 << 53) + 1,
        !(1 << 53),
        !((1 << 53) - 1),
        !((1 << 53) + 1),
        1 << 24,
        (1 << 24) + 1,
        !((1 << 24) - 1),
        !((1 << 24) + 1),
        u64::MAX - 0x3ff, // half-way between 2^64 and the double below it
        u64::MAX - 0x400,
    ];
    match rng.below(12) {
        0..=3 => rng.pick(&EDGES),
        // Half-way between two doubles, and two singles.
        10 => (rng.next() >> 10 | 1) << rng.below(11),
        11 => (rng.next() >> 39 | 1) << rng.below(40),
        4 => 1 << rng.below(64),
        5 => (1_u64 << rng.below(64)).wrapping_sub(1),
        6 => rng.next() as i32 as u64,
        7 => rng.next() >> rng.below(64),
        8 => !(rng.next() >> rng.below(64)),
        _ => rng.next(),
    }
}

pub fn single(rng: &mut Rng) -> u32 {
    const EDGES: [u32; 34] = [
        0,
        1,           // least subnormal
        0x007f_ffff, // greatest subnormal
        0x0080_0000, // least normal
        0x0080_0001,
        0x7f7f_ffff, // greatest
        0x7f80_0000, // infinity
        0x7fc0_0000, // canonical NaN
        0x7fff_ffff, // quiet NaN
        0x7f80_0001, // signalling NaN
        0x7fa0_0000, // signalling NaN
        0x3f80_0000, // 1
        0x3f80_0001,
        0x3f7f_ffff,
        0x3f00_0000, // 0.5
        0x3effffff,
        0x3fc0_0000, // 1.5
        0x4020_0000, // 2.5
        0x4b00_0000, // 2^23
        0x4b80_0001,
        0x4f00_0000, // 2^31
        0x4eff_ffff,
        0x4f80_0000, // 2^32
        0x4f7f_ffff,
        0x5f00_0000, // 2^63
        0x5eff_ffff,
        0x5f80_0000, // 2^64
        0x0c80_0000, // 2^-102: products are subnormal
        0x3f40_0000, // 0.75
        0x3f00_0001, // just above 0.5
        0x4aff_ffff, // 2^23 - 0.5
        0x4aff_fffe, // 2^23 - 1
        0x4a80_0001, // 2^22 + 0.5
        0x5f7f_ffff, // just below 2^64
    ];
    let sign = (rng.next() as u32) << 31;
    sign ^ match rng.below(10) {
        0..=4 => rng.pick(&EDGES),
        // Few significant bits: exact results and ties.
        5 => (rng.next() as u32 & 0x7f80_0000) | (rng.below(8) as u32) << 20,
        // Near one another.
        6 => 0x3f00_0000 + (rng.next() as u32 & 0x01ff_ffff),
        // Integers and halves.
        7 => (rng.below(1 << 24) as f32 / 2.0).to_bits(),
        8 => rng.next() as u32 & 0x00ff_ffff,
        _ => rng.next() as u32,
    }
}

pub fn double(rng: &mut Rng) -> u64 {
    const EDGES: [u64; 49] = [
        0,
        1,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x0010_0000_0000_0001,
        0x7fef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0x7fff_ffff_ffff_ffff,
        0x7ff0_0000_0000_0001,
        0x7ff4_0000_0000_0000,
        0x3ff0_0000_0000_0000, // 1
        0x3ff0_0000_0000_0001,
        0x3fef_ffff_ffff_ffff,
        0x3fe0_0000_0000_0000, // 0.5
        0x3fdf_ffff_ffff_ffff,
        0x3ff8_0000_0000_0000, // 1.5
        0x4004_0000_0000_0000, // 2.5
        0x41e0_0000_0000_0000, // 2^31
        0x41df_ffff_ffc0_0000, // 2^31 - 1
        0x41df_ffff_ffe0_0000, // 2^31 - 0.5
        0x41e0_0000_0010_0000, // 2^31 + 0.5
        0x41f0_0000_0000_0000, // 2^32
        0x41ef_ffff_ffe0_0000, // 2^32 - 1
        0x41ef_ffff_fff0_0000, // 2^32 - 0.5
        0x43e0_0000_0000_0000, // 2^63
        0x43df_ffff_ffff_ffff,
        0x43f0_0000_0000_0000, // 2^64
        0x43ef_ffff_ffff_ffff,
        0x47ef_ffff_f000_0000, // rounds to infinity as a single
        0x36a0_0000_0000_0000, // least subnormal single
        0x3690_0000_0000_0000, // half of it
        0x380f_ffff_f000_0000, // at the least normal single
        0x1e60_0000_0000_0000, // 2^-537: products are subnormal
        0x3fe0_0000_0000_0001, // just above 0.5
        0x3fe8_0000_0000_0000, // 0.75
        0x41df_ffff_ffe0_0000, // 2^31 - 0.5
        0x41df_ffff_fff0_0000, // 2^31 - 0.25
        0x41df_ffff_ffdf_ffff, // just below 2^31 - 0.5
        0x41df_ffff_ffff_ffff, // just below 2^31
        0x41e0_0000_0008_0000, // 2^31 + 0.25
        0x41e0_0000_001f_ffff, // just below 2^31 + 1
        0x41ef_ffff_fff8_0000, // 2^32 - 0.25
        0x41ef_ffff_ffef_ffff, // just below 2^32 - 0.5
        0x4330_0000_0000_0000, // 2^52
        0x432f_ffff_ffff_ffff, // 2^52 - 0.5
        0x4320_0000_0000_0001, // 2^51 + 0.5
        0x4340_0000_0000_0000, // 2^53
        0x433f_ffff_ffff_ffff, // 2^53 - 1
    ];
    let sign = rng.next() << 63;
    sign ^ match rng.below(12) {
        0..=4 => rng.pick(&EDGES),
        5 => (rng.next() & 0x7ff0_0000_0000_0000) | rng.below(8) << 49,
        6 => 0x3fe0_0000_0000_0000 + (rng.next() & 0x003f_ffff_ffff_ffff),
        7 => (rng.below(1 << 34) as f64 / 2.0).to_bits(),
        8 => rng.next() & 0x001f_ffff_ffff_ffff,
        // In the range of singles, with rounding bits on or next to a tie.
        9 => {
            let tail = rng.pick(&[0, 1, 0x0fff_ffff, 0x1000_0000, 0x1000_0001, 0x1fff_ffff]);
            (0x3680 + rng.below(0x1180)) << 48 | rng.next() & 0xf_ffff_e000_0000 | tail
        }
        10 => f64::from(f32::from_bits(single(rng) & 0x7f7f_ffff)).to_bits(),
        _ => rng.next(),
    }
}

/// Contents of a floating-point register for single-precision operands: now and then not boxed.
pub fn boxed(rng: &mut Rng) -> u64 {
    match rng.below(16) {
        0 => double(rng),
        1 => u64::from(single(rng)),
        2 => u64::from(single(rng)) | 0xffff_fffe_0000_0000,
        _ => u64::from(single(rng)) | 0xffff_ffff_0000_0000,
    }
}

/// Doubles that make ties when two or three of them are added, multiplied or fused: significands of
/// one bit, of half the precision, or odd; exponents that differ by nothing or by the precision.
pub fn tying_double(rng: &mut Rng) -> u64 {
    let significand = match rng.below(6) {
        0 | 1 => 0,
        2 => 1,
        3 => (rng.below(1 << 26) | 1) << 26,
        4 => rng.next() & 0xf_ffff_ffff_ffff | 1,
        _ => 0xf_ffff_ffff_ffff,
    };
    let base = if rng.chance(85) { 1023 } else { 486 };
    let exponent = base + rng.pick(&[0_i64, 0, 0, 1, -1, -52, -53, -54, 52, 53]);
    rng.next() << 63 | (exponent as u64) << 52 | significand
}

/// As [`tying_double`].
pub fn tying_single(rng: &mut Rng) -> u32 {
    let significand = match rng.below(6) {
        0 | 1 => 0,
        2 => 1,
        3 => (rng.below(1 << 11) as u32 | 1) << 12,
        4 => rng.next() as u32 & 0x7f_ffff | 1,
        _ => 0x7f_ffff,
    };
    let base = if rng.chance(85) { 127 } else { 52 };
    let exponent = base + rng.pick(&[0_i32, 0, 0, 1, -1, -23, -24, -25, 23, 24]);
    (rng.next() as u32) << 31 | (exponent as u32) << 23 | significand
}

/// Zeros, infinities, NaNs, one: what meets in invalid operations.
pub fn special_double(rng: &mut Rng) -> u64 {
    let top = rng.pick(&[0, 0, 0x7ff0, 0x7ff0, 0x7ff8, 0x7ff4, 0x3ff0]);
    rng.next() << 63 | top << 48
}

/// As [`special_double`].
pub fn special_single(rng: &mut Rng) -> u32 {
    let top = rng.pick(&[0, 0, 0x7f80, 0x7f80, 0x7fc0, 0x7fa0, 0x3f80]);
    (rng.next() as u32) << 31 | top << 16
}
