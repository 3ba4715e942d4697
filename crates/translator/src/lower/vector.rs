//! Vector instructions, and reads of vector CSRs: calls of the engine's handlers.
use regalloc2::Operand;

use super::*;

impl Lower<'_> {
    /// Operands in rdi and rsi, the bits in rcx, the address in r10, and the result in rax
    /// ([`crate::vector`]).
    pub(super) fn vector(&mut self, at: At) {
        let (pc, insn) = (at.pc, at.insn);
        let (reads, writes) = (insn.reads(), insn.writes());
        let mut operands = vec![];
        for (number, place) in [(insn.rs1(), RDI), (insn.rs2(), RSI)] {
            let value = if reads & bit(number) != 0 {
                self.get(number, pc)
            } else if reads & bit(number + 32) != 0 {
                let value = self.get_float(number, pc);
                self.int(Op::BitsToInt(false), pc, &[value])
            } else {
                continue;
            };
            operands.push(Operand::reg_fixed_use(value, host(place)));
        }
        let bits = match insn.op().class() {
            Class::Vector => insn.imm() as u32,
            // A read of a CSR.
            _ => insn.op().encoding().1 | (insn.rd() as u32) << 7 | (insn.imm() as u32) << 20,
        };
        let bits = self.constant(bits.into(), pc);
        operands.push(Operand::reg_fixed_use(bits, host(RCX)));
        let address = self.guest_address(pc, pc);
        // The emitter moves it.
        let place = if self.counting.is_in_register() {
            RDX
        } else {
            R10
        };
        operands.push(Operand::reg_fixed_use(address, host(place)));
        let value = self.fresh(RegClass::Int);
        operands.push(Operand::reg_fixed_def(value, host(RAX)));
        let mut clobbers = call_clobbers();
        clobbers.remove(host(RAX));
        self.defining(Op::Vector, pc, operands, value);
        if let Some(node) = self.code.nodes.last_mut() {
            node.clobbers = clobbers;
        }
        self.name_state(at.before, at.after);
        if writes == 0 {
            return;
        }
        if writes >> 32 == 0 {
            return self.set(insn.rd(), value, pc);
        }
        let raw = self.value(Op::BitsToFloat(false), pc, &[value], RegClass::Float);
        self.set_float(insn.rd(), raw, pc);
    }
}
