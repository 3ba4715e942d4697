//! Loads, stores and atomics.
use regalloc2::{Operand, RegClass, VReg};

use super::*;
use flick_engine::fp;

impl Lower<'_> {
    /// The address of an access: its operands, its form and its offset.
    fn address(&mut self, reg: Reg, offset: i64, pc: u64) -> (Vec<VReg>, i32, Form) {
        if reg == SP {
            return (vec![], offset as i32, Form::Sp);
        }
        let mut base = self.get(reg, pc);
        let mut offset = offset;
        // The low part of an address that `auipc` begins.
        if let Some(&Node {
            op: Op::Address(at),
            ..
        }) = self.definition(base)
        {
            let at = at.wrapping_add_signed(offset);
            if is_near(at) {
                return (vec![], 0, Form::Image(at));
            }
            let address = self.guest_address(at, pc);
            return (vec![address], 0, Form::Base);
        }
        if let Some(node) = self.definition(base)
            && let Op::AluImm(Alu::Add, k, false) = node.op
            && i32::try_from(i64::from(k) + offset).is_ok()
        {
            offset += i64::from(k);
            base = node.value(0);
        }
        // Offsets of instructions have 12 bits, and the sum was checked.
        let small = offset as i32;
        if let Some(node) = self.definition(base) {
            match node.op {
                Op::Alu(Alu::Add, false) => {
                    return (vec![node.value(0), node.value(1)], small, Form::Index(0));
                }
                Op::Lea(k, more) => {
                    if let Ok(sum) = i32::try_from(i64::from(more) + offset) {
                        return (vec![node.value(0), node.value(1)], sum, Form::Index(k));
                    }
                }
                _ => {}
            }
        }
        (vec![base], small, Form::Base)
    }

    pub(super) fn access(&mut self, at: At) {
        use Guest::*;
        let (pc, insn) = (at.pc, at.insn);
        let width = match insn.op() {
            Lb => Width::B { signed: true },
            Lbu | Sb => Width::B { signed: false },
            Lh => Width::H { signed: true },
            Lhu | Sh => Width::H { signed: false },
            Lw => Width::W { signed: true },
            Lwu | Sw => Width::W { signed: false },
            // Floating accesses have widths of their own.
            Ld | Sd | Flw | Fsw | Fld | Fsd => Width::D,
            op => unreachable!("{op:?} has no width"),
        };
        if let (Lw | Ld, Some(value)) = (insn.op(), self.loaded_constant(at)) {
            return self.set(insn.rd(), value, pc);
        }
        if let (Flw | Fld, Some(bits)) = (insn.op(), self.loaded_float(at)) {
            let value = self.float_constant(bits, pc);
            return self.set_float(insn.rd(), value, at.pc);
        }
        let (mut uses, offset, form) = self.address(insn.rs1(), insn.imm() as i64, pc);
        match insn.op() {
            Flw | Fld => {
                let single = insn.op() == Flw;
                let value = self.fresh(RegClass::Float);
                let mut operands: Vec<Operand> =
                    uses.iter().map(|&v| Operand::reg_use(v)).collect();
                operands.push(Operand::reg_def(value));
                self.defining(Op::LoadFloat(offset, form, single), pc, operands, value);
                self.name_state(at.before, at.after);
                let value = if single {
                    self.in_box(value, pc)
                } else {
                    value
                };
                self.set_float(insn.rd(), value, at.pc);
            }
            Fsw | Fsd => {
                uses.push(self.get_float(insn.rs2(), pc));
                self.push_uses(Op::StoreFloat(offset, form, insn.op() == Fsw), pc, &uses);
                self.name_state(at.before, at.after);
            }
            Sb | Sh | Sw | Sd => {
                let data = self.get(insn.rs2(), pc);
                match self.small(data) {
                    Some(k) => self.push_uses(Op::StoreConst(width, offset, form, k), pc, &uses),
                    None => {
                        uses.push(data);
                        self.push_uses(Op::Store(width, offset, form), pc, &uses);
                    }
                }
                self.name_state(at.before, at.after);
            }
            _ => {
                let value = self.int(Op::Load(width, offset, form), pc, &uses);
                self.name_state(at.before, at.after);
                self.set(insn.rd(), value, pc);
            }
        }
    }

    /// What a load reads, if its address is known and its contents never change: entries of the
    /// image's table of addresses.
    fn loaded_constant(&mut self, at: At) -> Option<VReg> {
        let address = self.address_of_load(at)?;
        if at.insn.op() == Guest::Ld {
            let value = self.program.constant(address, 8)?;
            if self.is_moved(address) {
                return Some(self.guest_address(value, at.pc));
            }
            return Some(self.constant(value as i64, at.pc));
        }
        let value = self.program.constant(address, 4)? as i32;
        Some(self.constant(value.into(), at.pc))
    }

    /// The same of a load to a floating-point register: its bits.
    fn loaded_float(&mut self, at: At) -> Option<u64> {
        let address = self.address_of_load(at)?;
        if at.insn.op() == Guest::Flw {
            return Some(fp::boxed(self.program.constant(address, 4)? as u32));
        }
        let bits = self.program.constant(address, 8)?;
        (!self.is_moved(address)).then_some(bits)
    }

    /// The address from which a load reads, if it is known.
    fn address_of_load(&mut self, at: At) -> Option<u64> {
        let base = match at.insn.rs1() {
            SP | 0 => return None,
            reg => self.get(reg, at.pc),
        };
        Some(self.known_address(base)?.wrapping_add(at.insn.imm()))
    }

    /// Whether the loader changes the constant at `address`: it is an address in a module.
    fn is_moved(&self, address: u64) -> bool {
        !self.program.is_placed() && self.program.is_address(address)
    }

    pub(super) fn atomic(&mut self, at: At) {
        use Guest::*;
        let (pc, insn) = (at.pc, at.insn);
        let double = matches!(
            insn.op(),
            LrD | ScD
                | AmoswapD
                | AmoaddD
                | AmoxorD
                | AmoandD
                | AmoorD
                | AmominD
                | AmomaxD
                | AmominuD
                | AmomaxuD
        );
        let operation = match insn.op() {
            AmoswapW | AmoswapD => Atomic::Swap,
            AmoaddW | AmoaddD => Atomic::Add,
            AmoxorW | AmoxorD => Atomic::Xor,
            AmoandW | AmoandD => Atomic::And,
            AmoorW | AmoorD => Atomic::Or,
            AmominW | AmominD => Atomic::Min,
            AmomaxW | AmomaxD => Atomic::Max,
            AmominuW | AmominuD => Atomic::MinU,
            AmomaxuW | AmomaxuD => Atomic::MaxU,
            LrW | LrD => return self.load_reserved(at, double),
            ScW | ScD => return self.store_conditional(at, double),
            op => unreachable!("{op:?} is translated elsewhere"),
        };
        let address = self.get(insn.rs1(), pc);
        let operand = self.get(insn.rs2(), pc);
        let value = self.fresh(RegClass::Int);
        // The instruction stays in one piece until the access is done, so nothing of it may stand
        // in a register that something else has at its start.
        let operands = if matches!(operation, Atomic::Swap | Atomic::Add) {
            vec![
                Operand::reg_use(operand),
                Operand::reg_use_at_end(address),
                Operand::reg_reuse_def(value, 0),
            ]
        } else {
            let new = self.fresh(RegClass::Int);
            vec![
                Operand::reg_use_at_end(operand),
                Operand::reg_use_at_end(address),
                Operand::reg_temp(new),
                Operand::reg_fixed_def_at_start(value, host(RAX)),
            ]
        };
        self.defining(Op::Atomic(operation, double), pc, operands, value);
        self.name_state(at.before, at.before);
        let value = if double {
            value
        } else {
            self.sext32(value, pc)
        };
        self.set(insn.rd(), value, pc);
    }

    fn load_reserved(&mut self, at: At, double: bool) {
        let address = self.get(at.insn.rs1(), at.pc);
        let value = self.fresh(RegClass::Int);
        let operands = vec![Operand::reg_use_at_end(address), Operand::reg_def(value)];
        self.defining(Op::LoadReserved(double), at.pc, operands, value);
        self.name_state(at.before, at.before);
        self.set(at.insn.rd(), value, at.pc);
    }

    fn store_conditional(&mut self, at: At, double: bool) {
        let address = self.get(at.insn.rs1(), at.pc);
        let data = self.get(at.insn.rs2(), at.pc);
        let (value, old) = (self.fresh(RegClass::Int), self.fresh(RegClass::Int));
        let operands = vec![
            Operand::reg_use_at_end(address),
            Operand::reg_use_at_end(data),
            Operand::reg_fixed_def_at_start(old, host(RAX)),
            Operand::reg_def(value),
        ];
        self.defining(Op::StoreConditional(double), at.pc, operands, value);
        self.name_state(at.before, at.before);
        self.set(at.insn.rd(), value, at.pc);
    }
}
