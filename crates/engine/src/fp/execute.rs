//! One floating-point instruction for translated code, on the contents of its registers.
use super::{conversions, quiet, rounded, sse};
use flick_riscv::{Insn, Op};

/// The result of `insn` for operands rs1, rs2 and rs3; MXCSR holds the rounding mode (`hart.frm` is
/// 0).
///
/// An unmasked exception traps in here: the caller stands in [`SECTION`](crate::SECTION), too, and
/// has this function inlined.
#[unsafe(link_section = "flick_engine")]
#[inline(always)]
pub fn execute(insn: Insn, a: u64, b: u64, c: u64) -> u64 {
    use Op::*;
    match insn.op() {
        FsgnjS => quiet::sgnj_s(a, b),
        FsgnjD => quiet::sgnj_d(a, b),
        FsgnjnS => quiet::sgnjn_s(a, b),
        FsgnjnD => quiet::sgnjn_d(a, b),
        FsgnjxS => quiet::sgnjx_s(a, b),
        FsgnjxD => quiet::sgnjx_d(a, b),
        FminS => quiet::min_s(a, b),
        FminD => quiet::min64(a, b),
        FmaxS => quiet::max_s(a, b),
        FmaxD => quiet::max64(a, b),
        FeqS => sse::eq_s(a, b),
        FeqD => sse::eq_d(a, b),
        FltS => sse::lt_s(a, b),
        FltD => sse::lt_d(a, b),
        FleS => sse::le_s(a, b),
        FleD => sse::le_d(a, b),
        FclassS => quiet::class_s(a),
        FclassD => quiet::class64(a),
        FmvXW => a as i32 as u64,
        FmvXD | FmvDX => a,
        FmvWX => super::boxed(a as u32),
        FcvtWS if insn.rm() == super::RTZ => conversions::w_from_s_rtz(a),
        FcvtWuS if insn.rm() == super::RTZ => conversions::wu_from_s_rtz(a),
        FcvtLS if insn.rm() == super::RTZ => conversions::l_from_s_rtz(a),
        FcvtLuS if insn.rm() == super::RTZ => conversions::lu_from_s_rtz(a),
        FcvtWD if insn.rm() == super::RTZ => conversions::w_from_d_rtz(a),
        FcvtWuD if insn.rm() == super::RTZ => conversions::wu_from_d_rtz(a),
        FcvtLD if insn.rm() == super::RTZ => conversions::l_from_d_rtz(a),
        FcvtLuD if insn.rm() == super::RTZ => conversions::lu_from_d_rtz(a),
        // The decoder lets no reserved mode through.
        op => rounded(0, insn.rm(), op, a, b, c).unwrap_or(a),
    }
}
