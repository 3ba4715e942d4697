//! The table of instructions in itself: its rows can be told apart, and each is decoded.

use flick_riscv::{Op, illegal};
use rand_pcg::Pcg64Mcg as Rng;
use rand_pcg::rand_core::RngCore;

/// Words of `op` with random operands.
fn words(op: Op, rng: &mut Rng) -> impl Iterator<Item = u32> {
    let (mask, bits) = op.encoding();
    (0..4000).map(move |_| rng.next_u32() & !mask | bits)
}

fn instructions() -> impl Iterator<Item = Op> {
    Op::all().filter(|op| op.encoding().0 != 0)
}

#[test]
fn no_instruction_has_no_operands() {
    for op in [Op::Undecoded, Op::End, Op::Illegal, Op::Nop] {
        let insn = flick_riscv::Insn::new(op, 4, 0, 0, 0, -1);
        assert_eq!((insn.reads(), insn.writes(), op.may_fault()), (0, 0, false));
    }
    assert_eq!((illegal(0).reads(), illegal(0).writes()), (0, 0));
}

#[test]
fn every_row_can_be_decoded_and_none_hides_another() {
    let rng = &mut Rng::new(3);
    for op in instructions() {
        let (mask, bits) = op.encoding();
        assert_eq!(bits & !mask, 0, "{op:?}: bits outside of the mask");
        assert_eq!(mask & 3, 3, "{op:?}: a row is of 32 bits");
        let own = words(op, rng).filter(|&word| flick_riscv::decode(word).op() == op);
        assert!(own.count() > 0, "{op:?} is never decoded");
        for other in instructions().take_while(|&other| other != op) {
            let (mask_b, bits_b) = other.encoding();
            let both = mask & mask_b;
            let apart = bits & both != bits_b & both;
            // Where two rows match, the first is meant: it must be a special case of the other.
            let special = both == mask && mask != mask_b;
            assert!(apart || special, "{op:?} and {other:?} overlap");
        }
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = Op::all().map(Op::name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Op::COUNT);
}
