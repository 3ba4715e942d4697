//! Where qemu-riscv64 7.2 does something else than the ISA manual (chapter "V") says, or something
//! that is reserved.

use crate::instructions::{ARITHMETIC, Kind, is_narrow};
use crate::program::{FCSR, ILLEGAL, Layout, VL, VSTART, VTYPE, get};
use crate::records::Case;

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

/// Logarithms of SEW and LMUL.
fn decoded(vtype: u64) -> Option<(i32, i32)> {
    let (sew, lmul) = ((vtype >> 3 & 7) as i32, (vtype & 7) as i32);
    let lmul = if lmul > 4 { lmul - 8 } else { lmul };
    let is_legal = vtype >> 8 == 0 && sew <= 3 && lmul != 4 && sew + 3 <= 6 + lmul.min(0);
    is_legal.then_some((sew + 3, lmul))
}

/// Section "Vector Operands": "the same vector register being read with two or more different EEWs
/// [...] is reserved", and a mask has EEW 1.
fn reads_two_widths(case: &Case, sew: i32, lmul: i32) -> bool {
    let word = case.word;
    let [vd, vs1, vs2] = [7, 15, 20].map(|at| (word >> at & 31) as i32);
    let group = |register: i32, width: i32| {
        let emul = lmul + width - sew;
        (register, 1 << emul.max(0), width)
    };
    let scalar = |register: i32, width: i32| (register, 1, width);
    // First register, number, width; 0 for masks.
    let mut read: Vec<(i32, i32, i32)> = vec![];
    match case.choice.kind {
        Kind::Arithmetic(n) => {
            let name = ARITHMETIC[n].name;
            let is_vector = case.choice.form == 'v';
            let is_wide = name.ends_with(".w") || is_narrow(name);
            let is_mask = name.starts_with("vm") && (0x18..=0x1f).contains(&(word >> 26));
            let is_mask = is_mask && ARITHMETIC[n].group == 'm';
            match name {
                "vcpop" | "vfirst" | "vmsbf" | "vmsof" | "vmsif" | "viota" => {
                    read.push(scalar(vs2, 0));
                }
                "vmv.x.s" | "vmv.s.x" | "vfmv.f.s" | "vfmv.s.f" | "vid" => {
                    return false;
                }
                "vmv.v" if word >> 25 & 1 != 0 => return false,
                "vfmv.v.f" if word >> 25 & 1 != 0 => return false,
                "vzext.vf2" | "vsext.vf2" => read.push(group(vs2, sew - 1)),
                "vzext.vf4" | "vsext.vf4" => read.push(group(vs2, sew - 2)),
                "vzext.vf8" | "vsext.vf8" => read.push(group(vs2, sew - 3)),
                "vcompress" => read.extend([group(vs2, sew), scalar(vs1, 0)]),
                "vrgatherei16" => read.extend([group(vs2, sew), group(vs1, 4)]),
                _ if name.contains("wred") => {
                    read.extend([group(vs2, sew), scalar(vs1, sew + 1)]);
                }
                _ if name.contains("red") => read.extend([group(vs2, sew), scalar(vs1, sew)]),
                _ if is_mask => read.extend([scalar(vs2, 0), scalar(vs1, 0)]),
                _ => {
                    read.push(group(vs2, if is_wide { sew + 1 } else { sew }));
                    if is_vector {
                        read.push(group(vs1, sew));
                    }
                }
            }
        }
        Kind::Memory(_) => {
            let is_store = word & 0x7f == 0x27;
            let width = match word >> 12 & 7 {
                0 => 3,
                width => width as i32 - 1,
            };
            let is_indexed = word >> 26 & 1 != 0;
            let data = if is_indexed { sew } else { width };
            if is_indexed {
                read.push(group(vs2, width));
            }
            if is_store {
                let (_, len, _) = group(vd, data);
                for field in 0..=(word >> 29) as i32 {
                    read.push(group(vd + field * len, data));
                }
            }
        }
        // No instruction of the list.
        Kind::Config | Kind::Random => return false,
    }
    if word >> 25 & 1 == 0 {
        read.push(scalar(0, 0));
    }
    let overlap = |a: &(i32, i32, i32), b: &(i32, i32, i32)| a.0 < b.0 + b.1 && b.0 < a.0 + a.1;
    read.iter()
        .any(|a| read.iter().any(|b| a.2 != b.2 && overlap(a, b)))
}
