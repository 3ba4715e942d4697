//! The decoder and the effects that come from the table, held against those written by hand.
//!
//! `cargo test --release -p flick-riscv --test oracle -- --ignored --nocapture` compares all words.

#[path = "../../src/compressed.rs"]
mod compressed;
mod decode;
mod effects;

use std::ops::Range;
use std::thread;

use flick_riscv::{Op, illegal};
use rand_pcg::Pcg64Mcg as Rng;
use rand_pcg::rand_core::RngCore;

/// Compares the decoders on words.
fn compare(words: impl Iterator<Item = u32>) -> u64 {
    let mut count = 0;
    for word in words {
        let (table, hand) = (flick_riscv::decode(word), decode::decode(word));
        assert!(table == hand, "{word:#010x}: {table:?}, by hand {hand:?}");
        count += 1;
    }
    count
}

/// Words of `op` with random operands.
fn words(op: Op, rng: &mut Rng) -> impl Iterator<Item = u32> {
    let (mask, bits) = op.encoding();
    (0..4000).map(move |_| rng.next_u32() & !mask | bits)
}

fn instructions() -> impl Iterator<Item = Op> {
    Op::all().filter(|op| op.encoding().0 != 0)
}

#[test]
fn every_half_word_decodes_alike() {
    assert_eq!(compare(0..0x1_0000), 0x1_0000);
}

#[test]
fn words_of_every_instruction_decode_alike() {
    let rng = &mut Rng::new(1);
    for op in instructions() {
        assert_eq!(compare(words(op, rng)), 4000);
        // With a bit changed, the words next to it.
        let changed = words(op, rng)
            .enumerate()
            .map(|(n, word)| word ^ 1 << (n % 32));
        compare(changed.collect::<Vec<_>>().into_iter());
    }
    compare((0..1 << 20).map(|_| rng.next_u32()));
}

#[test]
#[ignore = "a minute of two processors in release mode"]
fn every_word_decodes_alike() {
    let part = |part: Range<u64>| move || compare(part.map(|word| word as u32));
    let halves = [0..1 << 31, 1 << 31..1 << 32].map(|half| thread::spawn(part(half)));
    let counts = halves.map(|half| half.join().expect("a difference"));
    println!("{} words decode alike", counts.iter().sum::<u64>());
    assert_eq!(counts.iter().sum::<u64>(), 1 << 32);
}

#[test]
fn effects_are_alike() {
    let rng = &mut Rng::new(2);
    let mut compared = 0;
    for op in instructions() {
        assert_eq!(op.may_fault(), effects::may_fault(op), "{op:?}");
        for word in words(op, rng) {
            let insn = flick_riscv::decode(word);
            if insn.op() != op {
                // A hint, a reserved rounding mode, a more special row.
                continue;
            }
            let (reads, writes) = effects::reads_writes(insn);
            // By hand the immediate of these was taken for the number of a register.
            if !matches!(op, Op::Csrrwi | Op::Csrrsi | Op::Csrrci) {
                assert_eq!(insn.reads(), reads, "{insn:?}");
            }
            assert_eq!(insn.writes(), writes, "{insn:?}");
            compared += 1;
        }
    }
    // Of no operands.
    for op in [Op::Undecoded, Op::End, Op::Illegal, Op::Nop] {
        let insn = flick_riscv::Insn::new(op, 4, 0, 0, 0, -1);
        assert_eq!((insn.reads(), insn.writes()), effects::reads_writes(insn));
        assert_eq!(op.may_fault(), effects::may_fault(op));
    }
    assert!(compared > 190 * 3000, "{compared}");
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
