//! From a region to code. Each block subtracts its instructions from the cycles that are left, and
//! leaves if they do not suffice: then the interpreter executes what is left of the slice. What leaves
//! a block in the middle adds what has not been executed, so that the count is always exact.
use flick_riscv::{Insn, Op};

use super::block_stubs::{Stubs, look_up};
use super::hart_frame::{Frame, HOMES, LEFT, x_in_hart};
use super::region::{Flow, Region, flow, target};
use super::x86_code::{Alu, Cond, Gpr, Label, Place, RAX, RCX, RDX, W64, X86Code};

/// Code of a region.
pub struct Emitted {
    pub bytes: Vec<u8>,
    /// The half-words where blocks begin, and the blocks.
    pub entries: Vec<(usize, u64)>,
}

/// The blocks of a page, as the emitter needs them.
pub trait Entries {
    /// The block for a half-word.
    fn block(&self, at: usize) -> Option<u64>;
    /// The address of the word that has the address of that block, or of [`Stubs::unknown`].
    fn cell(&self, at: usize) -> u64;
}

/// What is out of the way of the blocks.
pub(super) enum Cold {
    /// Leaves for the stub with the program counter and so many cycles more.
    Exit {
        label: Label,
        stub: u64,
        pc: u64,
        cycles: i32,
    },
    /// An access that is not in the TLB.
    Load {
        label: Label,
        back: Label,
        access: LoadAccess,
        exit: (u64, i32),
    },
    Store {
        label: Label,
        back: Label,
        size: u8,
        value: Place,
        exit: (u64, i32),
    },
    /// A branch to where no block of the region is.
    Go { label: Label, target: u64 },
}

/// A load, and where its value goes.
#[derive(Clone, Copy)]
pub(super) struct LoadAccess {
    pub size: u8,
    pub is_signed: bool,
    pub to: Gpr,
}

/// Emits a region.
pub struct Emitter<'a> {
    pub(super) code: X86Code,
    pub(super) frame: &'a Frame,
    stubs: &'a Stubs,
    region: &'a Region,
    entries: &'a dyn Entries,
    /// By half-word.
    labels: Vec<(usize, Label)>,
    pub(super) cold: Vec<Cold>,
    /// Instructions of the block that the one being emitted and those behind it are.
    pub(super) unexecuted: i32,
    pub(super) pc: u64,
}

impl<'a> Emitter<'a> {
    /// The code of a region that will be at `address`.
    pub fn emit(
        address: u64,
        frame: &'a Frame,
        stubs: &'a Stubs,
        region: &'a Region,
        entries: &'a dyn Entries,
    ) -> Emitted {
        let mut code = X86Code::new(address);
        let page = region.page;
        let address_of = |at: usize| page + 2 * at as u64;
        let starts = region
            .starts
            .iter()
            .filter(|&at| region.insn(address_of(at)).is_some());
        let labels: Vec<_> = starts.map(|at| (at, code.label())).collect();
        let mut emitter = Self {
            code,
            frame,
            stubs,
            region,
            entries,
            labels,
            cold: vec![],
            unexecuted: 0,
            pc: 0,
        };
        for n in 0..emitter.labels.len() {
            let (at, label) = emitter.labels[n];
            let next = emitter.labels.get(n + 1).map(|&(at, _)| address_of(at));
            emitter.code.bind(label);
            emitter.block(address_of(at), next);
        }
        for cold in std::mem::take(&mut emitter.cold) {
            emitter.emit_cold(cold);
        }
        let labels = emitter.labels.iter();
        let entries = labels.map(|&(at, label)| (at, emitter.code.address_of(label)));
        Emitted {
            entries: entries.collect(),
            bytes: emitter.code.finish(),
        }
    }

    /// A block. `behind`: where the block begins whose code follows.
    fn block(&mut self, start: u64, behind: Option<u64>) {
        let mut count = 0;
        let mut pc = start;
        // How many of its instructions blocks execute.
        while let Some(insn) = self.region.insn(pc) {
            let flow = flow(insn);
            if matches!(flow, Flow::Step | Flow::Leave) {
                break;
            }
            count += 1;
            pc = pc.wrapping_add(insn.len());
            if flow != Flow::Next || self.region.starts(pc) {
                break;
            }
        }
        if count != 0 {
            self.code
                .alu_constant(W64, Alu::Sub, Place::Reg(LEFT), count);
            let label = self.code.label();
            self.code.jump_if(Cond::Below, label);
            self.cold.push(Cold::Exit {
                label,
                stub: self.stubs.budget,
                pc: start,
                cycles: count,
            });
        }
        self.unexecuted = count;
        self.pc = start;
        loop {
            let pc = self.pc;
            let Some(insn) = self.region.insn(pc) else {
                return self.go(pc, behind);
            };
            let next = pc.wrapping_add(insn.len());
            match flow(insn) {
                Flow::Next => self.instruction(insn),
                Flow::Step => {
                    self.code.constant(RCX, pc);
                    self.code.constant(RDX, next);
                    self.code.call(self.stubs.step);
                    return self.go(next, behind);
                }
                Flow::Leave => {
                    self.code.constant(RCX, pc);
                    return self.code.jump_to(self.stubs.instruction);
                }
                Flow::Branch => {
                    self.branch(insn);
                    return self.go(next, behind);
                }
                Flow::Jump if self.region.is_misaligned(target(pc, insn)) => {
                    let label = self.interpret();
                    return self.code.jump(label);
                }
                Flow::Jump => {
                    self.set_constant(insn.rd(), next);
                    return self.go(target(pc, insn), behind);
                }
                Flow::JumpToRegister => {
                    self.address(RAX, insn);
                    if !self.region.is_compressed {
                        self.code.constant(RCX, 2);
                        self.code.test(W64, RAX, RCX);
                        let label = self.interpret();
                        self.code.jump_if(Cond::NotEqual, label);
                    }
                    self.code.alu_constant(W64, Alu::And, Place::Reg(RAX), -2);
                    self.set_constant(insn.rd(), next);
                    return look_up(&mut self.code, self.frame, self.stubs);
                }
            }
            self.unexecuted -= 1;
            self.pc = next;
            if self.region.starts(next) {
                return self.go(next, behind);
            }
        }
    }

    /// Goes to the block at `pc`.
    fn go(&mut self, pc: u64, behind: Option<u64>) {
        if behind == Some(pc) {
            return;
        }
        if let Some(label) = self.label_at(pc) {
            return self.code.jump(label);
        }
        let Some(at) = self.region.slot(pc) else {
            self.code.constant(RAX, pc);
            return look_up(&mut self.code, self.frame, self.stubs);
        };
        match self.entries.block(at) {
            Some(block) => self.code.jump_to(block),
            None => {
                self.code.constant(RAX, self.entries.cell(at));
                self.code.constant(RCX, pc);
                self.code.jump_indirect(Place::At(RAX, 0));
            }
        }
    }

    fn label_at(&self, pc: u64) -> Option<Label> {
        let at = self.region.slot(pc)?;
        let known = self.labels.binary_search_by_key(&at, |&(at, _)| at).ok()?;
        Some(self.labels[known].1)
    }

    fn branch(&mut self, insn: Insn) {
        let cond = match insn.op() {
            Op::Beq => Cond::Equal,
            Op::Bne => Cond::NotEqual,
            Op::Blt => Cond::Less,
            Op::Bge => Cond::GreaterEqual,
            Op::Bltu => Cond::Below,
            _ => Cond::AboveEqual,
        };
        self.compare(insn.rs1(), insn.rs2());
        let target = target(self.pc, insn);
        if self.region.is_misaligned(target) {
            let label = self.interpret();
            return self.code.jump_if(cond, label);
        }
        if let Some(label) = self.label_at(target) {
            return self.code.jump_if(cond, label);
        }
        let block = self
            .region
            .slot(target)
            .and_then(|at| self.entries.block(at));
        if let Some(block) = block {
            return self.code.jump_if_to(cond, block);
        }
        let label = self.code.label();
        self.code.jump_if(cond, label);
        self.cold.push(Cold::Go { label, target });
    }

    /// A jump to this label executes the current instruction by the interpreter.
    pub(super) fn interpret(&mut self) -> Label {
        let label = self.code.label();
        self.cold.push(Cold::Exit {
            label,
            stub: self.stubs.instruction,
            pc: self.pc,
            cycles: self.unexecuted,
        });
        label
    }

    fn emit_cold(&mut self, cold: Cold) {
        match cold {
            Cold::Exit {
                label,
                stub,
                pc,
                cycles,
            } => {
                self.code.bind(label);
                self.exit(stub, pc, cycles);
            }
            Cold::Load {
                label,
                back,
                access,
                exit,
            } => {
                self.code.bind(label);
                self.code.constant(RDX, access.size.into());
                self.code.call(self.stubs.load);
                self.code.test(super::x86_code::W32, RDX, RDX);
                let fails = self.code.label();
                self.code.jump_if(Cond::Equal, fails);
                let from = Place::Reg(RAX);
                self.code
                    .load_extended(access.size, access.is_signed, access.to, from);
                self.code.jump(back);
                self.code.bind(fails);
                self.exit(self.stubs.instruction, exit.0, exit.1);
            }
            Cold::Store {
                label,
                back,
                size,
                value,
                exit,
            } => {
                self.code.bind(label);
                self.code.mov(W64, RCX, value);
                self.code.constant(RDX, size.into());
                self.code.call(self.stubs.store);
                self.code.test(super::x86_code::W32, RAX, RAX);
                self.code.jump_if(Cond::NotEqual, back);
                self.exit(self.stubs.instruction, exit.0, exit.1);
            }
            Cold::Go { label, target } => {
                self.code.bind(label);
                self.go(target, None);
            }
        }
    }

    fn exit(&mut self, stub: u64, pc: u64, cycles: i32) {
        if cycles != 0 {
            self.code
                .alu_constant(W64, Alu::Add, Place::Reg(LEFT), cycles);
        }
        self.code.constant(RCX, pc);
        self.code.jump_to(stub);
    }

    /// Where an integer register is.
    pub(super) fn x(&self, number: usize) -> Place {
        match HOMES[number] {
            Some(home) => Place::Reg(home),
            None => x_in_hart(number),
        }
    }

    /// A host register that has the value of an integer register: its own, or `scratch`.
    pub(super) fn value(&mut self, number: usize, scratch: Gpr) -> Gpr {
        if let Some(home) = HOMES[number] {
            return home;
        }
        self.copy(scratch, number);
        scratch
    }

    /// Copies an integer register to a host register. Flags may change.
    pub(super) fn copy(&mut self, to: Gpr, number: usize) {
        match number {
            0 => self.code.constant(to, 0),
            _ => self.code.mov(W64, to, self.x(number)),
        }
    }

    /// The host register in which a result is made.
    pub(super) fn result(&self, rd: usize) -> Gpr {
        HOMES[rd].unwrap_or(RAX)
    }

    /// A result has been made in `from`.
    pub(super) fn set(&mut self, rd: usize, from: Gpr) {
        match HOMES[rd] {
            Some(home) => self.code.mov_reg(home, from),
            None if rd != 0 => self.code.store(W64, x_in_hart(rd), from),
            None => {}
        }
    }

    pub(super) fn set_constant(&mut self, rd: usize, value: u64) {
        match HOMES[rd] {
            Some(home) => self.code.constant(home, value),
            None if rd == 0 => {}
            None if value as i64 == i64::from(value as i32) => {
                self.code.store_constant(W64, x_in_hart(rd), value as i32);
            }
            None => {
                self.code.constant(RDX, value);
                self.code.store(W64, x_in_hart(rd), RDX);
            }
        }
    }

    /// The sum of the first operand and the immediate.
    pub(super) fn address(&mut self, to: Gpr, insn: Insn) {
        let imm = insn.imm() as i32;
        match HOMES[insn.rs1()] {
            Some(home) if imm != 0 => self.code.lea(W64, to, Place::At(home, imm)),
            _ => {
                self.copy(to, insn.rs1());
                if imm != 0 {
                    self.code.alu_constant(W64, Alu::Add, Place::Reg(to), imm);
                }
            }
        }
    }

    /// Flags of a comparison of two integer registers.
    pub(super) fn compare(&mut self, a: usize, b: usize) {
        match (HOMES[a], b) {
            (Some(home), 0) => self.code.test(W64, home, home),
            (None, 0) if a != 0 => {
                self.code.alu_constant(W64, Alu::Cmp, x_in_hart(a), 0);
            }
            (_, 0) => {
                self.code.constant(RCX, 0);
                self.code.test(W64, RCX, RCX);
            }
            _ => {
                let a = self.value(a, RAX);
                self.code.alu(W64, Alu::Cmp, a, self.x(b));
            }
        }
    }

    fn instruction(&mut self, insn: Insn) {
        match insn.op() {
            Op::Nop | Op::Fence | Op::FenceI | Op::Pause => {}
            op if op.class().computes() => self.integer(insn),
            op if op.may_fault() => self.access(insn),
            _ => self.float(insn),
        }
    }
}
