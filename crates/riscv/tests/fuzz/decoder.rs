//! Any bytes to the decoder.
use flick_riscv::{Insn, Op, decode};

/// Decodes at each even distance, as the code of a jump into an instruction is.
pub fn decode_all(data: &[u8]) {
    for at in (0..data.len().saturating_sub(3)).step_by(2) {
        let bits = u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
        check(bits, decode(bits));
    }
}

fn check(bits: u32, insn: Insn) {
    let len = if bits & 3 == 3 { 4 } else { 2 };
    assert_eq!(insn.len(), len, "{bits:#x}: {insn:?}");
    assert!(insn.op() != Op::Undecoded && insn.op() != Op::End);
    if len == 2 {
        // What stands behind it is another instruction.
        assert_eq!(insn, decode(bits ^ 0xffff_0000), "{bits:#x}");
    }
    if insn.op() == Op::Illegal {
        let own = if len == 2 { bits & 0xffff } else { bits };
        assert_eq!(insn.imm() as u32, own, "{bits:#x}");
    }
    if matches!(
        insn.op(),
        Op::Jal | Op::Beq | Op::Bne | Op::Blt | Op::Bge | Op::Bltu | Op::Bgeu
    ) {
        assert_eq!(insn.imm() & 1, 0, "{bits:#x} leads to an odd address");
    }
}
