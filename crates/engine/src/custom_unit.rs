//! What a hart's unit for custom opcodes computes (docs/machine-files.md): from two registers into one,
//! without state of its own.
use flick_riscv::{Insn, Op};

use crate::hart_state::Hart;

/// Is this an instruction of a unit?
pub fn is_instruction(op: Op) -> bool {
    use Op::{FlickCrc, FlickDot, FlickGather, FlickSad};
    matches!(op, FlickDot | FlickSad | FlickCrc | FlickGather)
}

/// Executes an instruction of a unit. Its operands are those of `add`.
pub fn execute(hart: &mut Hart, insn: Insn) {
    let result = result(insn.op(), hart.x[insn.rs1()], hart.x[insn.rs2()]);
    if insn.rd() != 0 {
        hart.x[insn.rd()] = result;
    }
}

fn result(op: Op, a: u64, b: u64) -> u64 {
    let bytes = || a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    match op {
        Op::FlickDot => {
            let products = bytes().map(|(a, b)| i64::from(a as i8) * i64::from(b as i8));
            products.sum::<i64>() as u64
        }
        Op::FlickSad => bytes().map(|(a, b)| u64::from(a.abs_diff(b))).sum(),
        Op::FlickCrc => crc(a as u32, b).into(),
        _ => gather(a, b),
    }
}

/// CRC-32C (RFC 3720) goes on from `begun` over eight bytes, the lowest first. Inversions at the start and
/// the end are the program's.
fn crc(begun: u32, bytes: u64) -> u32 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let start = u64::from(begun) ^ bytes;
    let steps = (0..64).fold((start as u32, (start >> 32) as u32), |(low, high), _| {
        let folded = if low & 1 != 0 { POLYNOMIAL } else { 0 };
        // Bits of the bytes that come later move up to the remainder.
        let shifted = (low >> 1) | (high << 31);
        (shifted ^ folded, high >> 1)
    });
    steps.0
}

/// The bits of `value` where `mask` has ones, side by side from bit 0 on.
fn gather(value: u64, mask: u64) -> u64 {
    let (mut all, mut rest, mut to) = (0, mask, 0);
    while rest != 0 {
        all |= (value >> rest.trailing_zeros() & 1) << to;
        (rest, to) = (rest & (rest - 1), to + 1);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_compute() {
        let ones = u64::from_le_bytes([1; 8]);
        assert_eq!(
            result(
                Op::FlickDot,
                u64::from_le_bytes([1, 2, 3, 4, 5, 6, 7, 8]),
                ones
            ),
            36
        );
        assert_eq!(result(Op::FlickDot, u64::MAX, ones) as i64, -8);
        assert_eq!(result(Op::FlickSad, u64::MAX, 0), 8 * 255);
        assert_eq!(result(Op::FlickSad, 0x0105, 0x0302), 5);
        assert_eq!(result(Op::FlickGather, 0xabcd_ef01, 0xff00_00f0), 0xab0);
        assert_eq!(result(Op::FlickGather, 5, 0), 0);
    }

    /// The check value of CRC-32C is that of "123456789". Of eight bytes it is this.
    #[test]
    fn the_checksum_is_that_of_the_standard() {
        let by_bits = |begun: u32, bytes: &[u8]| {
            bytes.iter().fold(begun, |crc, byte| {
                (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                    crc >> 1 ^ if crc & 1 != 0 { 0x82f6_3b78 } else { 0 }
                })
            })
        };
        assert_eq!(!by_bits(!0, b"123456789"), 0xe306_9283);
        let words = [0x3837_3635_3433_3231, 0x0123_4567_89ab_cdef, 0, u64::MAX];
        for (begun, word) in words.into_iter().flat_map(|word| [(!0, word), (7, word)]) {
            let wanted = by_bits(begun, &word.to_le_bytes());
            assert_eq!(result(Op::FlickCrc, begun.into(), word) as u32, wanted);
        }
    }
}
