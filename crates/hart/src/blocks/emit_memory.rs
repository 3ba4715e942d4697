//! Loads and stores: the TLB's entry is compared inline.
use flick_engine::Hart;
use flick_riscv::{Access, Insn, Op};

use super::emitter::{Cold, Emitter, LoadAccess};
use super::hart_frame::{at, f, f_upper};
use super::x86_code::{Alu, Cond, Gpr, Label, Place, RAX, RCX, RDX, Shift, W32, W64};
use crate::memory_view::{ENTRIES, Entry};

const _: () = assert!(size_of::<Entry>() == 16 && size_of::<Hart>() > 0);

impl Emitter<'_> {
    /// The host's address of an access in rax. It goes to the label that it returns, with the
    /// virtual address in rax, if no entry is known, or if the access is in two pages.
    fn translate(&mut self, insn: Insn, size: u8, first: usize) -> Label {
        let miss = self.code.label();
        self.address(RAX, insn);
        let mask = 16 * (ENTRIES as i32 - 1);
        self.code.mov(W32, RCX, Place::Reg(RAX));
        self.code.shift_constant(W32, Shift::Shr, RCX, 8);
        self.code.alu_constant(W32, Alu::And, Place::Reg(RCX), mask);
        self.code.alu(W64, Alu::Add, RCX, at(self.frame.tlb));
        // The page of the last byte: an entry has the page of the first one.
        match size {
            1 => self.code.mov_reg(RDX, RAX),
            _ => self.code.lea(W64, RDX, Place::At(RAX, i32::from(size) - 1)),
        }
        self.code
            .alu_constant(W64, Alu::And, Place::Reg(RDX), -4096);
        self.code.alu(W64, Alu::Or, RDX, at(self.frame.generation));
        let entry = 16 * first as i32;
        self.code.alu(W64, Alu::Cmp, RDX, Place::At(RCX, entry));
        self.code.jump_if(Cond::NotEqual, miss);
        self.code.alu(W64, Alu::Add, RAX, Place::At(RCX, entry + 8));
        miss
    }

    pub(super) fn access(&mut self, insn: Insn) {
        match insn.op().access() {
            Access::Load(size) => {
                let is_float = matches!(insn.op(), Op::Flw | Op::Fld);
                let is_signed = matches!(insn.op(), Op::Lb | Op::Lh | Op::Lw);
                let to = match is_float {
                    true => RAX,
                    false => self.result(insn.rd()),
                };
                let label = self.translate(insn, size, 0);
                self.code
                    .load_extended(size, is_signed, to, Place::At(RAX, 0));
                let back = self.code.label();
                self.code.bind(back);
                let access = LoadAccess {
                    size,
                    is_signed,
                    to,
                };
                let exit = (self.pc, self.unexecuted);
                self.cold.push(Cold::Load {
                    label,
                    back,
                    access,
                    exit,
                });
                if !is_float {
                    self.set(insn.rd(), to);
                } else if size == 8 {
                    self.code.store(W64, f(insn.rd()), RAX);
                } else {
                    self.set_single(insn.rd(), RAX);
                }
            }
            Access::Store(size) => {
                let value = match insn.op() {
                    Op::Fsw | Op::Fsd => f(insn.rs2()),
                    // Always 0.
                    _ => self.x(insn.rs2()),
                };
                let label = self.translate(insn, size, ENTRIES);
                let from = match value {
                    Place::Reg(home) => home,
                    _ => {
                        self.code.mov(W64, RCX, value);
                        RCX
                    }
                };
                self.code.store_sized(size, Place::At(RAX, 0), from);
                let back = self.code.label();
                self.code.bind(back);
                let exit = (self.pc, self.unexecuted);
                self.cold.push(Cold::Store {
                    label,
                    back,
                    size,
                    value,
                    exit,
                });
            }
            _ => {}
        }
    }

    /// The low half of `from` becomes a single, which is boxed.
    pub(super) fn set_single(&mut self, rd: usize, from: Gpr) {
        self.code.store(W32, f(rd), from);
        self.code.store_constant(W32, f_upper(rd), -1);
    }
}
