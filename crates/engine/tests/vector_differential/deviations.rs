//! Where qemu-riscv64 7.2 does something else than the ISA manual (chapter "V") says, or something
//! that is reserved.

use flick_riscv_testing::vector_cases::{
    Case, FCSR, ILLEGAL, Layout, VL, VSTART, VTYPE, decoded, get, reads_two_widths,
};

/// Are the differing results of a case allowed by the manual?
pub fn is_allowed(layout: &Layout, case: &Case, before: &[u8], ours: &[u8], theirs: &[u8]) -> bool {
    let differences: Vec<usize> = (0..layout.record())
        .step_by(8)
        .filter(|&at| get(ours, at) != get(theirs, at))
        .collect();
    // Section "Vector Start Index CSR vstart": all vector instructions reset vstart to zero at the
    // end. qemu leaves it if there is no element to execute.
    let word = case.word;
    let is_whole = word >> 20 & 31 == 8 && word >> 26 & 3 == 0;
    let end = match (word & 0x7f, word >> 12 & 7, word >> 26) {
        (0x07 | 0x27, width, _) if is_whole => {
            let width = [3, 0, 0, 0, 0, 4, 5, 6][width as usize];
            (u64::from(layout.vlen) * (u64::from(word >> 29) + 1)) >> width
        }
        // qemu never resets it: vslideup, vmv.x.s, vmv.s.x and theirs of floating point.
        (0x57, 3 | 4, 0x0e) | (0x57, 1 | 2 | 5 | 6, 0x10) => 0,
        _ => get(ours, VL),
    };
    let none_executed = get(before, VSTART) >= end;
    if differences == [VSTART] && none_executed && get(ours, VSTART) == 0 {
        return true;
    }
    // What follows are reserved encodings, illegal here, that qemu executes.
    let only_qemu_executes = get(ours, ILLEGAL) == 1 && get(theirs, ILLEGAL) == 0;
    only_qemu_executes && is_reserved(case, before)
}

/// Encodings that the manual reserves and qemu executes.
fn is_reserved(case: &Case, before: &[u8]) -> bool {
    let vtype = decoded(get(before, VTYPE));
    // Section "Vector Type Illegal (vill)": what depends on vtype is illegal, and "Whole Vector
    // Register Move" has EEW = SEW.
    let Some((sew, lmul)) = vtype else {
        return case.word & 0xfc00_707f == 0x9c00_3057;
    };
    // Sections "Vector Mask Logical Instructions" and "Vector Compress Instruction": vm = 0 is
    // reserved.
    let word = case.word;
    let is_masked = word >> 25 & 1 == 0;
    let funct6 = word >> 26;
    if is_masked && word & 0x707f == 0x2057 && (0x17..=0x1f).contains(&funct6) {
        return true;
    }
    // Section "Vector Floating-Point Instructions": a reserved frm makes all of them illegal, those
    // that do not depend on it, too.
    let is_float = matches!(word & 0x707f, 0x1057 | 0x5057);
    if is_float && get(before, FCSR) >> 5 > 4 {
        return true;
    }
    // The same section: widths that the scalar extensions do not have are reserved. qemu has half
    // precision with F alone.
    if is_float && sew < 5 {
        return true;
    }
    reads_two_widths(case, sew, lmul)
}
