//! Unwind information (System V x86-64 psABI, "Exception Handling"; DWARF 5, 6.4) of translated code and of
//! the code around it: wherever control is, `rbp` leads to the hart, and the hart to the frame of
//! [`enter`](super::glue::enter).
use core::mem::offset_of;

use super::registers::HART_BIAS;
use crate::hart::Hart;

/// Distance of `hart.host_sp` from rbp, as a signed LEB128 number of two bytes.
pub const HOST_SP: [u8; 2] = {
    let distance = offset_of!(Hart, host_sp) as i32 - HART_BIAS;
    assert!(distance >= 0 && distance < 1 << 13);
    [(distance & 0x7f) as u8 | 0x80, (distance >> 7) as u8]
};

/// What `enter` has pushed, the return address included.
pub const FRAME: u8 = 64;

/// A section `.eh_frame` for code from `start` to `end`.
pub fn unwind_section(start: u64, end: u64) -> Vec<u8> {
    let mut cie = vec![0, 0, 0, 0, 1, 0];
    cie.extend([1, 0x78, 16]); // alignment of code 1, of data -8; the return address is column 16
    // DW_CFA_def_cfa_expression: breg6 (rbp) + distance, deref, plus_uconst.
    cie.extend([0x0f, 6, 0x76, HOST_SP[0], HOST_SP[1], 0x06, 0x23, FRAME]);
    // DW_CFA_offset: rip, rbp, rbx, r12 to r15, in eighths below the frame.
    cie.extend([0x80 | 16, 1, 0x80 | 6, 2, 0x80 | 3, 3]);
    cie.extend([0x80 | 12, 4, 0x80 | 13, 5, 0x80 | 14, 6, 0x80 | 15, 7]);
    let mut section = vec![];
    put(&mut section, cie);
    let mut fde = vec![];
    fde.extend((section.len() as u32 + 4).to_le_bytes());
    fde.extend(start.to_le_bytes());
    fde.extend((end - start).to_le_bytes());
    put(&mut section, fde);
    section.extend([0; 4]);
    section
}

fn put(section: &mut Vec<u8>, mut record: Vec<u8>) {
    // Padded with DW_CFA_nop.
    while !(record.len() + 4).is_multiple_of(8) {
        record.push(0);
    }
    section.extend((record.len() as u32).to_le_bytes());
    section.extend(record);
}
