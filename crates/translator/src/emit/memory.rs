//! Accesses to memory and to the hart.
use super::*;
use crate::code::{Atomic, Form, Node, Reason, Width};
use flick_engine::Hart;
use std::mem::offset_of;

impl Emitter<'_> {
    fn address(form: Form, offset: i32, operands: &[Allocation]) -> AsmMemoryOperand {
        let r = |k: usize| R64[number(operands[k])];
        match form {
            Form::Sp => r15 + offset,
            Form::Base => r(0) + offset,
            Form::Index(k) => r(0) + r(1) * (1i32 << k) + offset,
            // Any address: `access_image` replaces it.
            Form::Image(_) => r15 + 0,
        }
    }

    pub fn memory(&mut self, node: &Node, operands: &[Allocation]) -> Emitted {
        let r = |k: usize| number(operands[k]);
        match node.op {
            Op::LoadHart(offset) => self.a.mov(R64[r(0)], qword_ptr(rbp + (offset - HART_BIAS))),
            Op::StoreHart(offset) => self.a.mov(qword_ptr(rbp + (offset - HART_BIAS)), R64[r(0)]),
            Op::LoadHartFloat(offset) => self
                .a
                .movsd_2(XMM[r(0)], qword_ptr(rbp + (offset - HART_BIAS))),
            Op::StoreHartFloat(offset) => self
                .a
                .movsd_2(qword_ptr(rbp + (offset - HART_BIAS)), XMM[r(0)]),
            Op::Atomic(..) | Op::LoadReserved(_) | Op::StoreConditional(_) => {
                self.atomic(node, operands)
            }
            _ => {
                self.record(node);
                match node.op.form() {
                    Some(Form::Image(at)) => self.access_image(at, node, operands),
                    _ => self.access(node, operands),
                }
            }
        }
    }

    /// An access of a byte of the guest's module. The displacement counts from the end of the
    /// instruction, which may have a constant behind it, and a [`Fixup`] from its own end.
    fn access_image(&mut self, at: u64, node: &Node, operands: &[Allocation]) -> Emitted {
        let behind = match node.op {
            Op::StoreConst(Width::B { .. }, ..) => 1,
            Op::StoreConst(Width::H { .. }, ..) => 2,
            Op::StoreConst(..) => 4,
            _ => 0,
        };
        let code = std::mem::replace(&mut self.a, CodeAssembler::new(64)?);
        let made = self.access(node, operands);
        let access = std::mem::replace(&mut self.a, code).take_instructions();
        made?;
        for mut instruction in access {
            instruction.set_memory_base(Register::RIP);
            instruction.set_memory_displ_size(8);
            instruction.set_memory_displacement64(FAR);
            let fixup = Fixup::Guest(at.wrapping_sub(behind as u64));
            let next = self.a.instructions().len();
            self.fixups.push((next, behind, fixup));
            self.a.add_instruction(instruction)?;
        }
        Ok(())
    }

    fn access(&mut self, node: &Node, operands: &[Allocation]) -> Emitted {
        let r = |k: usize| number(operands[k]);
        match node.op {
            Op::Load(width, offset, form) => {
                let m = Self::address(form, offset, operands);
                let d = r(form.operands());
                let a = &mut self.a;
                match width {
                    Width::B { signed: true } => a.movsx(R64[d], byte_ptr(m)),
                    Width::B { signed: false } => a.movzx(R32[d], byte_ptr(m)),
                    Width::H { signed: true } => a.movsx(R64[d], word_ptr(m)),
                    Width::H { signed: false } => a.movzx(R32[d], word_ptr(m)),
                    Width::W { signed: true } => a.movsxd(R64[d], dword_ptr(m)),
                    Width::W { signed: false } => a.mov(R32[d], dword_ptr(m)),
                    Width::D => a.mov(R64[d], qword_ptr(m)),
                }
            }
            Op::Store(width, offset, form) => {
                let m = Self::address(form, offset, operands);
                let s = r(form.operands());
                let a = &mut self.a;
                match width {
                    Width::B { .. } => a.mov(byte_ptr(m), R8[s]),
                    Width::H { .. } => a.mov(word_ptr(m), R16[s]),
                    Width::W { .. } => a.mov(dword_ptr(m), R32[s]),
                    Width::D => a.mov(qword_ptr(m), R64[s]),
                }
            }
            Op::StoreConst(width, offset, form, k) => {
                let m = Self::address(form, offset, operands);
                let a = &mut self.a;
                match width {
                    Width::B { .. } => a.mov(byte_ptr(m), k & 0xff),
                    Width::H { .. } => a.mov(word_ptr(m), k & 0xffff),
                    Width::W { .. } => a.mov(dword_ptr(m), k),
                    Width::D => a.mov(qword_ptr(m), k),
                }
            }
            Op::LoadFloat(offset, form, single) => {
                let m = Self::address(form, offset, operands);
                let d = XMM[r(form.operands())];
                if single {
                    self.a.movss(d, dword_ptr(m))
                } else {
                    self.a.movsd_2(d, qword_ptr(m))
                }
            }
            Op::StoreFloat(offset, form, single) => {
                let m = Self::address(form, offset, operands);
                let s = XMM[r(form.operands())];
                if single {
                    self.a.movss(dword_ptr(m), s)
                } else {
                    self.a.movsd_2(qword_ptr(m), s)
                }
            }
            _ => self.a.ud2(),
        }
    }

    /// A misaligned atomic is the interpreter's: it is a trap.
    fn check_alignment(&mut self, node: &Node, at: usize, double: bool) -> Emitted {
        let cold = self.cold_exit(Reason::Interpret, node);
        self.a.test(R8[at], if double { 7 } else { 3 })?;
        self.a.jne(cold)
    }

    fn atomic(&mut self, node: &Node, operands: &[Allocation]) -> Emitted {
        let r = |k: usize| number(operands[k]);
        let reservation = qword_ptr(rbp + Self::hart(offset_of!(Hart, reservation)));
        let reserved = Self::hart(offset_of!(Hart, reserved_value));
        let len = dword_ptr(rbp + Self::hart(offset_of!(Hart, reservation_len)));
        match node.op {
            Op::Atomic(operation @ (Atomic::Swap | Atomic::Add), double) => {
                let (at, d) = (r(1), r(2));
                self.check_alignment(node, at, double)?;
                self.record(node);
                let a = &mut self.a;
                match (operation, double) {
                    (Atomic::Swap, true) => a.xchg(qword_ptr(R64[at]), R64[d]),
                    (Atomic::Swap, false) => a.xchg(dword_ptr(R64[at]), R32[d]),
                    (_, true) => a.lock().xadd(qword_ptr(R64[at]), R64[d]),
                    (_, false) => a.lock().xadd(dword_ptr(R64[at]), R32[d]),
                }
            }
            Op::Atomic(operation, double) => {
                let (operand, at, new) = (r(0), r(1), r(2));
                self.check_alignment(node, at, double)?;
                self.record(node);
                if double {
                    self.a.mov(rax, qword_ptr(R64[at]))?;
                } else {
                    self.a.mov(eax, dword_ptr(R64[at]))?;
                }
                let mut again = self.a.create_label();
                bind(&mut self.a, &mut again)?;
                self.combine(operation, double, operand, new)?;
                self.record(node);
                if double {
                    self.a.lock().cmpxchg(qword_ptr(R64[at]), R64[new])?;
                } else {
                    self.a.lock().cmpxchg(dword_ptr(R64[at]), R32[new])?;
                }
                self.a.jne(again)
            }
            Op::LoadReserved(double) => {
                let (at, d) = (r(0), r(1));
                self.check_alignment(node, at, double)?;
                self.record(node);
                if double {
                    self.a.mov(R64[d], qword_ptr(R64[at]))?;
                    self.a.mov(qword_ptr(rbp + reserved), R64[d])?;
                } else {
                    self.a.movsxd(R64[d], dword_ptr(R64[at]))?;
                    // What the interpreter keeps: the bits that were loaded.
                    self.a.mov(dword_ptr(rbp + reserved), R32[d])?;
                    self.a.mov(dword_ptr(rbp + reserved + 4), 0)?;
                }
                self.a.mov(reservation, R64[at])?;
                self.a.mov(len, if double { 8 } else { 4 })
            }
            Op::StoreConditional(double) => {
                let (at, data, d) = (r(0), r(1), r(3));
                self.check_alignment(node, at, double)?;
                let (mut fail, mut done) = (self.a.create_label(), self.a.create_label());
                self.a.cmp(len, if double { 8 } else { 4 })?;
                self.a.jne(fail)?;
                self.a.cmp(reservation, R64[at])?;
                self.a.jne(fail)?;
                self.a.mov(rax, qword_ptr(rbp + reserved))?;
                self.record(node);
                if double {
                    self.a.lock().cmpxchg(qword_ptr(R64[at]), R64[data])?;
                } else {
                    self.a.lock().cmpxchg(dword_ptr(R64[at]), R32[data])?;
                }
                self.a.setne(R8[d])?;
                self.a.movzx(R32[d], R8[d])?;
                self.a.jmp(done)?;
                bind(&mut self.a, &mut fail)?;
                self.a.mov(R32[d], 1)?;
                bind(&mut self.a, &mut done)?;
                self.a.mov(len, 0)
            }
            _ => self.a.ud2(),
        }
    }

    /// What is to be stored for the old contents in rax.
    fn combine(&mut self, operation: Atomic, double: bool, operand: usize, new: usize) -> Emitted {
        let a = &mut self.a;
        a.mov(R64[new], R64[operand])?;
        match (operation, double) {
            (Atomic::And, _) => return a.and(R64[new], rax),
            (Atomic::Or, _) => return a.or(R64[new], rax),
            (Atomic::Xor, _) => return a.xor(R64[new], rax),
            (_, true) => a.cmp(rax, R64[new])?,
            (_, false) => a.cmp(eax, R32[new])?,
        }
        match operation {
            Atomic::Min => a.cmovl(R64[new], rax),
            Atomic::Max => a.cmovg(R64[new], rax),
            Atomic::MinU => a.cmovb(R64[new], rax),
            _ => a.cmova(R64[new], rax),
        }
    }
}
