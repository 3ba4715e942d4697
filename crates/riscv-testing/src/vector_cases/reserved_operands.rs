//! Operands that the ISA manual (chapter "V") reserves, and that executors may execute.

use super::case_records::Case;
use super::vector_listing::{ARITHMETIC, Kind, is_narrow};

/// Logarithms of SEW and LMUL, if the type is legal.
pub fn decoded(vtype: u64) -> Option<(i32, i32)> {
    let (sew, lmul) = ((vtype >> 3 & 7) as i32, (vtype & 7) as i32);
    let lmul = if lmul > 4 { lmul - 8 } else { lmul };
    let is_legal = vtype >> 8 == 0 && sew <= 3 && lmul != 4 && sew + 3 <= 6 + lmul.min(0);
    is_legal.then_some((sew + 3, lmul))
}

/// Does it read a register with two widths? Section "Vector Operands": "the same vector register being read with two or more different EEWs
/// [...] is reserved", and a mask has EEW 1.
pub fn reads_two_widths(case: &Case, sew: i32, lmul: i32) -> bool {
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
