//! Where Spike does something else than this project's harts, and the ISA manual (chapter "V") leaves it open.
use flick_riscv_testing::vector_cases::{
    Case, FCSR, ILLEGAL, Kind, Layout, V, VCSR, VL, VSTART, VTYPE, decoded, get, reads_two_widths,
};

/// Are the differing results of a case allowed by the manual?
pub fn is_allowed(layout: &Layout, case: &Case, before: &[u8], ours: &[u8], theirs: &[u8]) -> bool {
    match (get(ours, ILLEGAL), get(theirs, ILLEGAL)) {
        (0, 1) => is_unexpected_start(case, before) && is_unchanged(before, theirs),
        (1, 0) => is_reserved(case, before) && is_unchanged(before, ours),
        (0, 0) if case.choice.kind == Kind::Config => {
            is_kept_length(case, before, ours) && is_made_illegal(ours, theirs)
        }
        (0, 0) => is_added_identity(layout, case, ours, theirs),
        _ => false,
    }
}

/// Section "Vector Start Index CSR vstart": an implementation may raise an illegal-instruction exception for
/// a vstart "that the implementation can never produce when executing that same instruction". Arithmetic is
/// not interrupted on Spike.
fn is_unexpected_start(case: &Case, before: &[u8]) -> bool {
    get(before, VSTART) != 0 && matches!(case.choice.kind, Kind::Arithmetic(_))
}

/// Reserved encodings, illegal on this project's harts, that Spike executes.
fn is_reserved(case: &Case, before: &[u8]) -> bool {
    decoded(get(before, VTYPE)).is_some_and(|(sew, lmul)| reads_two_widths(case, sew, lmul))
}

/// Section "AVL encoding": without registers vl is kept. Use of this "with a new SEW/LMUL ratio that would
/// result in a change of VLMAX is reserved. Use of the instruction is also reserved if vill was 1 beforehand.
/// Implementations may set vill in either case."
fn is_kept_length(case: &Case, before: &[u8], ours: &[u8]) -> bool {
    let is_immediate_length = case.word >> 30 == 3;
    let has_registers = case.word & (31 << 15 | 31 << 7) != 0;
    if is_immediate_length || has_registers {
        return false;
    }
    let ratio = |record| decoded(get(record, VTYPE)).map(|(sew, lmul)| sew - lmul);
    ratio(before).is_none() || ratio(before) != ratio(ours)
}

/// Section "Vector Unordered Single-Width Floating-Point Sum Reduction": where no element is active, a node of
/// the tree of additions may add the identity or copy its other input. An addition makes a NaN the canonical
/// one, and raises NV if it is a signaling one.
fn is_added_identity(layout: &Layout, case: &Case, ours: &[u8], theirs: &[u8]) -> bool {
    let Some((sew, _)) = decoded(get(ours, VTYPE)) else {
        return false;
    };
    let is_double = match case.choice.name().as_str() {
        "vfredusum.v" => sew == 6,
        "vfwredusum.v" => true,
        _ => return false,
    };
    let at = V + (case.word >> 7 & 31) as usize * layout.vlen as usize / 8;
    let (size, is_nan, canonical) = match is_double {
        true => {
            let is_nan = f64::from_bits(get(ours, at)).is_nan();
            (8, is_nan, 0x7ff8 << 48)
        }
        false => {
            let is_nan = f32::from_bits(get(ours, at) as u32).is_nan();
            (4, is_nan, 0x7fc0_0000)
        }
    };
    let mut expected = ours.to_vec();
    expected[at..at + size].copy_from_slice(&u64::to_le_bytes(canonical)[..size]);
    expected[FCSR] |= theirs[FCSR] & 0x10;
    is_nan && expected == theirs
}

/// The other side has set vill, and nothing else differs.
fn is_made_illegal(ours: &[u8], theirs: &[u8]) -> bool {
    let rest = |record: &[u8]| {
        let mut rest = record.to_vec();
        rest[VL..VSTART].fill(0);
        rest
    };
    get(theirs, VTYPE) == 1 << 63 && get(theirs, VL) == 0 && rest(ours) == rest(theirs)
}

/// Only the flag is set, and AVL has become vl.
fn is_unchanged(before: &[u8], after: &[u8]) -> bool {
    before[..VCSR + 8] == after[..VCSR + 8]
        && get(before, VSTART) == get(after, VSTART)
        && before[V..] == after[V..]
}
