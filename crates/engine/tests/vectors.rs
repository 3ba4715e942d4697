//! Instructions that qemu-riscv64 7.2 does not have, or gets wrong, against their definitions in
//! the ISA manual (chapters "Zicond" and "B").

use flick_engine::{CodeRegion, Exit, Hart, Identity, NoObserver, ProcessCore, Unlimited, run};
use flick_riscv::{Op, decode};

const RET: u32 = 0x0000_8067;

/// a0 to a2 after `insn`, a0 to a2 before.
fn execute(insn: u32, a: [u64; 3]) -> [u64; 3] {
    let words = [insn, RET];
    // SAFETY: the words outlive the region and do not change.
    let code = unsafe { CodeRegion::new(words.as_ptr() as u64, size_of_val(&words) as u64) };
    let mut hart = Hart::ZERO;
    hart.pc = code.base();
    hart.x[10..13].copy_from_slice(&a);
    // SAFETY: the code accesses no memory.
    let memory = unsafe { Identity::new() };
    assert_eq!(
        run(
            &mut hart,
            &mut ProcessCore::new(&memory, &code),
            &mut NoObserver,
            &mut Unlimited
        ),
        Exit::Leave
    );
    assert_eq!(hart.x[0], 0);
    [hart.x[10], hart.x[11], hart.x[12]]
}

#[test]
fn zicond() {
    const VALUE: u64 = 0x8000_0000_dead_beef;
    // The condition is all 64 bits of rs2.
    let conditions = [0, 1, 1 << 31, 1 << 32, 1 << 63, u64::MAX];
    for condition in conditions {
        let (kept_if_not_zero, kept_if_zero) = match condition {
            0 => (0, VALUE),
            _ => (VALUE, 0),
        };
        let before = [77, VALUE, condition];
        // czero.eqz a0, a1, a2; czero.nez a0, a1, a2
        assert_eq!(execute(0x0ec5_d533, before)[0], kept_if_not_zero);
        assert_eq!(execute(0x0ec5_f533, before)[0], kept_if_zero);
        // The destination is the condition, or the value: czero.eqz a2, a1, a2; czero.nez a1, a1,
        // a2
        assert_eq!(execute(0x0ec5_d633, before), [77, VALUE, kept_if_not_zero]);
        assert_eq!(execute(0x0ec5_f5b3, before), [77, kept_if_zero, condition]);
        // x0 as the condition: czero.eqz a0, a1, x0; czero.nez a0, a1, x0
        assert_eq!(execute(0x0e05_d533, before)[0], 0);
        assert_eq!(execute(0x0e05_f533, before)[0], VALUE);
        // x0 as the value: czero.nez a0, x0, a1
        assert_eq!(execute(0x0eb0_7533, before)[0], 0);
    }
    // Into x0.
    assert_eq!(decode(0x0ec5_d033).op(), Op::Nop);
    // The other functions of the major opcode's funct7 are reserved.
    for funct3 in [0, 1, 2, 3, 4, 6] {
        let bits = 0x0ec5_8533 | funct3 << 12;
        assert_eq!(decode(bits).op(), Op::Illegal, "{bits:#x}");
    }
}

#[test]
fn ctzw() {
    // ctzw a0, a1
    let count = |value| execute(0x6015_951b, [77, value, 0])[0];
    for bit in 0..32 {
        assert_eq!(count(0xffff_ffff_ffff_ffff << bit), bit);
        assert_eq!(count(1 << bit), bit);
    }
    // What lies above does not count.
    for high in [0, 1 << 32, 1 << 51, 1 << 63] {
        assert_eq!(count(high), 32);
    }
}
