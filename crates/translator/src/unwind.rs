//! Unwind information (System V x86-64 psABI, "Exception Handling"; DWARF 5, 6.4) of translated
//! code and of the code around it.
//!
//! Wherever control is, `rbp` leads to the hart, and the hart to the frame that called translated
//! code and to the registers that it keeps for its caller. `rbp` stays as it is. Code that is made
//! at run time has one row for all, by this way. Code in a module has rows for each frame, so that
//! debuggers and profilers see each function. The outermost of these frames ends at the hart, too.
use std::ops::Range;

use crate::context;
use crate::registers::HART_BIAS;

/// Distance from rbp, as a signed LEB128 number of two bytes.
const fn from_rbp(offset: usize) -> [u8; 2] {
    let distance = offset as i32 - HART_BIAS;
    assert!(distance >= -(1 << 13) && distance < 1 << 13);
    [(distance & 0x7f) as u8 | 0x80, (distance >> 7 & 0x7f) as u8]
}

/// Of the frame's end of translated code: the hart.
pub const CFA: [u8; 2] = from_rbp(0);

/// Of the registers that the caller's frame has kept for the frame above.
pub const HOST_SAVED: [[u8; 2]; 5] = {
    const fn at(n: usize) -> [u8; 2] {
        from_rbp(context::HOST_SAVED + 8 * n)
    }
    [at(0), at(1), at(2), at(3), at(4)]
};

/// DWARF numbers of these registers (psABI, figure 3.36).
const SAVED: [u8; 5] = [3, 12, 13, 14, 15];

/// Signed distances of 4 bytes from where they stand.
const RELATIVE: u8 = 0x1b;

/// A section `.eh_frame` for `size` bytes of code, in a file where it stands at the next multiple of
/// 8 behind them. It has one row, by the hart.
pub fn unwind_section_behind(size: u32) -> Vec<u8> {
    let mut section = vec![];
    put(&mut section, cie(&by_hart()));
    let cie_end = section.len();
    let mut fde = vec![];
    fde.extend((cie_end as u32 + 4).to_le_bytes());
    let distance = size.next_multiple_of(8) + cie_end as u32 + 8;
    fde.extend((distance as i32).wrapping_neg().to_le_bytes());
    fde.extend(size.to_le_bytes());
    fde.push(0);
    put(&mut section, fde);
    section.extend([0; 4]);
    section
}

/// Records of `.eh_frame` for code in a module.
#[derive(Clone, Debug, Default)]
pub struct UnwindRecords {
    /// The records.
    pub bytes: Vec<u8>,
    /// Offsets of fields of four bytes in `bytes`. Each becomes the distance from itself to the
    /// code at the second offset.
    pub fields: Vec<(usize, usize)>,
}

impl UnwindRecords {
    /// `pieces`: ranges of code with the offsets in each from which rsp is so many bytes below the
    /// return address.
    pub fn of<'a>(pieces: impl Iterator<Item = (Range<usize>, &'a [(usize, u32)])>) -> Self {
        let mut records = Self::default();
        // DW_CFA_def_cfa rsp (7), 8; DW_CFA_offset: rip is one eighth below it.
        put(&mut records.bytes, cie(&[0x0c, 7, 8, 0x80 | 16, 1]));
        for (code, depths) in pieces.filter(|(code, _)| !code.is_empty()) {
            let start = records.bytes.len();
            let mut fde = vec![];
            fde.extend((start as u32 + 4).to_le_bytes());
            records.fields.push((start + 8, code.start));
            fde.extend([0; 4]);
            fde.extend((code.len() as u32).to_le_bytes());
            fde.push(0);
            let (mut at, mut depth) = (0, 0);
            for &(offset, to) in depths {
                if to != depth && offset < code.len() {
                    advance(&mut fde, offset - at);
                    fde.push(0x0e); // DW_CFA_def_cfa_offset
                    leb128(&mut fde, to + 8);
                    (at, depth) = (offset, to);
                }
            }
            put(&mut records.bytes, fde);
        }
        records
    }
}

/// `DW_CFA_advance_loc` and its longer forms.
fn advance(fde: &mut Vec<u8>, by: usize) {
    match by {
        0 => {}
        1..0x40 => fde.push(0x40 | by as u8),
        0x40..0x100 => fde.extend([0x02, by as u8]),
        0x100..0x1_0000 => {
            fde.push(0x03);
            fde.extend((by as u16).to_le_bytes());
        }
        _ => {
            fde.push(0x04);
            fde.extend((by as u32).to_le_bytes());
        }
    }
}

fn leb128(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Where the hart says that the caller's frame and registers are.
fn by_hart() -> Vec<u8> {
    // DW_CFA_def_cfa_expression: breg6 (rbp) - HART_BIAS.
    let mut rules = vec![0x0f, 3, 0x76, CFA[0], CFA[1]];
    // DW_CFA_offset: rip is one eighth below it.
    rules.extend([0x80 | 16, 1]);
    for (register, [low, high]) in SAVED.into_iter().zip(HOST_SAVED) {
        // DW_CFA_expression: breg6 (rbp) + distance.
        rules.extend([0x10, register, 3, 0x76, low, high]);
    }
    rules
}

fn cie(rules: &[u8]) -> Vec<u8> {
    let mut cie = vec![0, 0, 0, 0, 1];
    cie.extend(b"zR\0");
    cie.extend([1, 0x78, 16]); // alignment of code 1, of data -8; the return address is column 16
    cie.extend([1, RELATIVE]);
    cie.extend(rules);
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
