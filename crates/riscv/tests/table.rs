//! The table of instructions: its rows can be told apart, each is decoded, and what is decoded is
//! pinned.

use flick_riscv::{Op, Registers, decode, illegal};
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

/// FNV-1a with 64 bits.
fn fnv(hash: u64, text: &str) -> u64 {
    text.bytes().fold(hash, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// The hash of all fields and effects of the decoded words, as text.
fn decoded(words: impl Iterator<Item = u32>) -> u64 {
    words.fold(FNV_BASIS, |hash, word| {
        let insn = decode(word);
        let (op, rd, rs1, rs2, rs3) = (insn.op(), insn.rd(), insn.rs1(), insn.rs2(), insn.rs3());
        let (imm, len) = (insn.imm(), insn.len());
        let (reads, writes) = (insn.reads(), insn.writes());
        let text = format!(
            "{word:08x} {} {rd} {rs1} {rs2} {rs3} {imm:x} {len} {reads:x} {writes:x} {}\n",
            op.name(),
            op.may_fault(),
        );
        fnv(hash, &text)
    })
}

/// `decoded.txt` has a hash for all half-words, and one for 1,000 words of each row. Its hashes of
/// the unprivileged rows are also those of the decoder and effects that were written by hand, and
/// that the table has replaced (`crates/riscv/tests/oracle` of commit 9ecb55e). All 2^32 words were
/// compared once, when the hashes were made.
///
/// A new instruction adds a line, which the failure shows.
#[test]
fn decoded_words_are_pinned() {
    let mut lines = vec![format!("half-words {:016x}", decoded(0..0x1_0000))];
    for op in instructions() {
        let (mask, bits) = op.encoding();
        // The seed is the name's, so that the order of the rows does not matter.
        let mut rng = Rng::new(fnv(FNV_BASIS, op.name()).into());
        let words = (0..1000).map(|_| rng.next_u32() & !mask | bits);
        lines.push(format!("{} {:016x}", op.name(), decoded(words)));
    }
    let pinned: Vec<&str> = include_str!("decoded.txt").lines().collect();
    let changed: Vec<_> = lines.iter().filter(|l| !pinned.contains(&&***l)).collect();
    assert!(changed.is_empty(), "not in decoded.txt: {changed:#?}");
    assert_eq!(lines.len(), pinned.len(), "decoded.txt has old lines");
}

/// Operands and effects of a row for each group of formats, by the ISA manual, and not by the
/// table. Registers of the sets: `x(n)` and `f(n)`.
#[test]
fn effects_are_those_of_the_manual() {
    let x = |n: u32| -> Registers { 1 << n };
    let f = |n: u32| -> Registers { 1 << (32 + n) };
    for (word, name, reads, writes, may_fault) in [
        // RV64I: "Integer Computational Instructions", "Control Transfer Instructions", "Load and
        // Store Instructions".
        (0x0055_8513, "addi", x(11), x(10), false), // addi a0, a1, 5
        (0x0000_0517, "auipc", 0, x(10), false),    // auipc a0, 0
        (0x0000_80e7, "jalr", x(1), x(1), false),   // jalr ra, 0(ra)
        (0x0000_8067, "jalr", x(1), 0, false),      // ret: x0 is no register of a set
        (0x00b5_0063, "beq", x(10) | x(11), 0, false), // beq a0, a1, 0
        (0x0085_b503, "ld", x(11), x(10), true),    // ld a0, 8(a1)
        (0x00a5_b423, "sd", x(10) | x(11), 0, true), // sd a0, 8(a1)
        // "Memory Ordering Instructions": no register, no access of its own.
        (0x0330_000f, "fence", 0, 0, false),
        // Zicsr: the immediate forms read no register, whatever stands in the place of rs1.
        (0x3410_5073, "csrrwi", 0, 0, false), // csrrwi x0, mepc, 0
        (0x3412_d573, "csrrwi", 0, x(10), false), // csrrwi a0, mepc, 5
        (0x3412_9573, "csrrw", x(5), x(10), false), // csrrw a0, mepc, t0
        // A: an AMO reads address and operand, and writes the old value.
        (0x00b6_352f, "amoadd.d", x(11) | x(12), x(10), true), // amoadd.d a0, a1, (a2)
        (0x1006_352f, "lr.d", x(12), x(10), true),             // lr.d a0, (a2)
        (0x18b6_352f, "sc.d", x(11) | x(12), x(10), true),     // sc.d a0, a1, (a2)
        // F and D: integer base and result, floating-point data.
        (0x0085_b507, "fld", x(11), f(10), true), // fld fa0, 8(a1)
        (0x00a5_b427, "fsd", x(11) | f(10), 0, true), // fsd fa0, 8(a1)
        (0x68c5_f543, "fmadd.s", f(11) | f(12) | f(13), f(10), false), // fmadd.s fa0, fa1, fa2, fa3
        (0xa2c5_a553, "feq.d", f(11) | f(12), x(10), false), // feq.d a0, fa1, fa2
        (0xd225_f553, "fcvt.d.l", x(11), f(10), false), // fcvt.d.l fa0, a1
        (0xe205_8553, "fmv.x.d", f(11), x(10), false), // fmv.x.d a0, fa1
        (0x0205_8553, "fadd.d", f(11) | f(0), f(10), false), // f0 is a register
        // C: c.ldsp ra, 8(sp), and c.sdsp ra, 8(sp).
        (0x60a2, "ld", x(2), x(1), true),
        (0xe406, "sd", x(1) | x(2), 0, true),
        // Privileged: sfence.vma a0, a1 changes no register and accesses no memory of the program.
        (0x12b5_0073, "sfence.vma", x(10) | x(11), 0, false),
        (0x3020_0073, "mret", 0, 0, false),
        // V: registers of x and f only.
        (0x0d05_f557, "v-config", x(11), x(10), false), // vsetvli a0, a1, e32, m1, ta, ma
        (0x80c5_f557, "v-config", x(11) | x(12), x(10), false), // vsetvl a0, a1, a2
        (0xcd02_7557, "v-config", 0, x(10), false),     // vsetivli a0, 4, e32, m1, ta, ma
        (0x0285_0457, "v-arith", 0, 0, false),          // vadd.vv v8, v8, v10
        (0x0285_4457, "v-arith", x(10), 0, false),      // vadd.vx v8, v8, a0
        (0x0285_5457, "v-arith", f(10), 0, false),      // vfadd.vf v8, v8, fa0
        (0x4280_2557, "v-arith", 0, x(10), false),      // vmv.x.s a0, v8
        (0x4280_1557, "v-arith", 0, f(10), false),      // vfmv.f.s fa0, v8
        (0x0205_6407, "v-load", x(10), 0, true),        // vle32.v v8, (a0)
        (0x0ab5_6427, "v-store", x(10) | x(11), 0, true), // vsse32.v v8, (a0), a1
    ] {
        let insn = decode(word);
        assert_eq!(insn.op().name(), name, "{word:#010x}");
        assert_eq!(insn.reads(), reads, "{word:#010x}: reads");
        assert_eq!(insn.writes(), writes, "{word:#010x}: writes");
        assert_eq!(insn.op().may_fault(), may_fault, "{word:#010x}: may fault");
    }
}
