//! Unwind information (System V x86-64 psABI, "Exception Handling"; DWARF 5, 6.4) of translated
//! code and of the code around it: wherever control is, `rbp` leads to the hart, and the hart to
//! the frame that called translated code and to the registers that it keeps for its caller. `rbp`
//! stays as it is.
use core::mem::offset_of;

use crate::context::Context;
use crate::registers::HART_BIAS;

/// Distance from rbp, as a signed LEB128 number of two bytes.
const fn from_rbp(offset: usize) -> [u8; 2] {
    let distance = offset as i32 - HART_BIAS;
    assert!(distance >= -(1 << 13) && distance < 1 << 13);
    [(distance & 0x7f) as u8 | 0x80, (distance >> 7 & 0x7f) as u8]
}

/// Of the frame's end of translated code: the hart.
pub const CFA: [u8; 2] = from_rbp(0);

/// Of `Context::host_saved`.
pub const HOST_SAVED: [[u8; 2]; 5] = {
    const fn at(n: usize) -> [u8; 2] {
        from_rbp(offset_of!(Context, host_saved) + 8 * n)
    }
    [at(0), at(1), at(2), at(3), at(4)]
};

/// DWARF numbers of the registers in `Context::host_saved` (psABI, figure 3.36).
const SAVED: [u8; 5] = [3, 12, 13, 14, 15];

/// Records of a section `.eh_frame` for `size` bytes of code, and the offset of the field of four
/// bytes that becomes the distance from itself to the code.
pub fn unwind_records(size: u32) -> (Vec<u8>, usize) {
    // Signed distances of 4 bytes from where they stand.
    const RELATIVE: u8 = 0x1b;
    let mut section = vec![];
    put(&mut section, cie(RELATIVE));
    let mut fde = vec![];
    fde.extend((section.len() as u32 + 4).to_le_bytes());
    let field = section.len() + 8;
    fde.extend([0; 4]);
    fde.extend(size.to_le_bytes());
    fde.push(0);
    put(&mut section, fde);
    (section, field)
}

/// A section `.eh_frame` for `size` bytes of code, in a file where it stands at the next multiple of
/// 8 behind them.
pub fn unwind_section_behind(size: u32) -> Vec<u8> {
    let (mut section, field) = unwind_records(size);
    let distance = size.next_multiple_of(8) + field as u32;
    section[field..field + 4].copy_from_slice(&(distance as i32).wrapping_neg().to_le_bytes());
    section.extend([0; 4]);
    section
}

fn cie(encoding: u8) -> Vec<u8> {
    let mut cie = vec![0, 0, 0, 0, 1];
    cie.extend(b"zR\0");
    cie.extend([1, 0x78, 16]); // alignment of code 1, of data -8; the return address is column 16
    cie.extend([1, encoding]);
    // DW_CFA_def_cfa_expression: breg6 (rbp) - HART_BIAS.
    cie.extend([0x0f, 3, 0x76, CFA[0], CFA[1]]);
    // DW_CFA_offset: rip is one eighth below it.
    cie.extend([0x80 | 16, 1]);
    for (register, [low, high]) in SAVED.into_iter().zip(HOST_SAVED) {
        // DW_CFA_expression: breg6 (rbp) + distance.
        cie.extend([0x10, register, 3, 0x76, low, high]);
    }
    cie
}

fn put(section: &mut Vec<u8>, mut record: Vec<u8>) {
    // Padded with DW_CFA_nop.
    while !(record.len() + 4).is_multiple_of(8) {
        record.push(0);
    }
    section.extend((record.len() as u32).to_le_bytes());
    section.extend(record);
}
