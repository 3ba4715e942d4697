//! Configuration: `vsetvli`, `vsetivli`, `vsetvl`, and the vector CSRs (ISA manual, chapter "V",
//! sections "Configuration-Setting Instructions" and "Vector Extension Programmer's Model").

use super::vector_state::{BYTE, DOUBLE, VILL, VectorState};
use super::{Legal, Reserved, Word};
use crate::csr::CsrAccess;
use crate::hart_state::Hart;
use flick_riscv::{Extension, Insn, Op};

const VSTART: u32 = 0x008;
const VXSAT: u32 = 0x009;
const VXRM: u32 = 0x00a;
const VCSR: u32 = 0x00f;
const VL: u32 = 0xc20;
const VTYPE: u32 = 0xc21;
const VLENB: u32 = 0xc22;

/// What a legal `vtype` says, and how many elements there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Logarithm of SEW.
    pub sew: u32,
    /// Logarithm of LMUL, -3 to 3.
    pub lmul: i32,
    pub vl: u64,
    pub vstart: u64,
    pub vlmax: u64,
}

impl Shape {
    /// The current one, unless vill is set.
    pub fn of(state: &VectorState) -> Legal<Self> {
        let (sew, lmul) = decode(state.vtype).ok_or(Reserved)?;
        Ok(Self {
            sew,
            lmul,
            vl: state.vl,
            vstart: state.vstart,
            vlmax: vlmax(state.vlen(), sew, lmul),
        })
    }

    /// The elements that the instruction may change.
    pub fn body(self) -> core::ops::Range<u64> {
        self.vstart..self.vl
    }
}

/// Logarithms of SEW and LMUL; `None` if the type is reserved. LMUL below 1 is supported with
/// elements of at most LMUL × ELEN bits.
fn decode(vtype: u64) -> Option<(u32, i32)> {
    if vtype >> 8 != 0 {
        return None;
    }
    let (sew, lmul) = ((vtype >> 3 & 7) as u32 + BYTE, vtype & 7);
    let lmul = (lmul << 61) as i64 >> 61;
    let lmul = lmul as i32;
    let fits = sew <= DOUBLE && lmul != -4 && (lmul >= 0 || sew as i32 <= DOUBLE as i32 + lmul);
    fits.then_some((sew, lmul))
}

/// Elements of a register group.
fn vlmax(vlen: u32, sew: u32, lmul: i32) -> u64 {
    let vlen = u64::from(vlen);
    if lmul < 0 {
        vlen >> -lmul >> sew
    } else {
        vlen << lmul >> sew
    }
}

/// `vsetvli`, `vsetivli` and `vsetvl`.
pub(super) fn set(hart: &mut Hart, state: &mut VectorState, word: Word) -> Legal {
    let (rd, rs1) = (word.vd() as usize, word.vs1() as usize);
    let (vtype, immediate) = match word.0 >> 30 {
        0 | 1 => (u64::from(word.0 >> 20 & 0x7ff), false),
        3 => (u64::from(word.0 >> 20 & 0x3ff), true),
        _ if word.0 >> 25 == 0x40 => (hart.x[word.vs2() as usize], false),
        _ => return Err(Reserved),
    };
    let avl = match (immediate, rs1, rd) {
        (true, ..) => rs1 as u64,
        (_, 0, 0) => state.vl,
        (_, 0, _) => u64::MAX,
        _ => hart.x[rs1],
    };
    state.configure(vtype, avl);
    if rd != 0 {
        hart.x[rd] = state.vl;
    }
    Ok(())
}

impl VectorState {
    /// The type of elements, and how many there are, as `vsetvl` has them for `avl` elements. The next
    /// instruction begins with the first.
    pub fn configure(&mut self, vtype: u64, avl: u64) {
        match decode(vtype) {
            Some((sew, lmul)) => {
                self.vtype = vtype;
                self.vl = avl.min(vlmax(self.vlen(), sew, lmul));
            }
            None => {
                self.vtype = VILL;
                self.vl = 0;
            }
        }
        self.vstart = 0;
    }
}

/// Is it a vector CSR?
pub(super) fn is_register(number: u32) -> bool {
    Extension::of_register(number) == Some(Extension::V)
}

/// Does the instruction only read a vector CSR?
pub(super) fn is_read(insn: Insn) -> bool {
    insn.op() == Op::Csrrs && insn.rs1() == 0 && is_register(insn.imm() as u32 & 0xfff)
}

/// Accesses a vector CSR; `None` if it must not be written, or the register is another one.
pub(super) fn access(state: &mut VectorState, access: CsrAccess) -> Option<u64> {
    let old = match access.number {
        VSTART => state.vstart,
        VXSAT => u64::from(state.vxsat),
        VXRM => u64::from(state.vxrm),
        VCSR => u64::from(state.vxrm) << 1 | u64::from(state.vxsat),
        VL => state.vl,
        VTYPE => state.vtype,
        VLENB => u64::from(state.vlenb()),
        _ => return None,
    };
    if let Some(write) = access.write {
        let new = write.apply(old);
        match access.number {
            // As many bits as hold the greatest index.
            VSTART => state.vstart = new & u64::from(state.vlen() - 1),
            VXSAT => state.vxsat = new & 1 != 0,
            VXRM => state.vxrm = new as u8 & 3,
            VCSR => {
                state.vxrm = (new >> 1) as u8 & 3;
                state.vxsat = new & 1 != 0;
            }
            _ => return None,
        }
    }
    Some(old)
}
