//! Calls, returns, jumps and branches.
use regalloc2::{Operand, VReg};

use super::*;
use crate::function::{Flow, flow};
use crate::liveness::Summary;
use crate::program::Target;
use crate::thunk::{Callee, callee};

impl Lower<'_> {
    /// The node that ends a block by an instruction.
    pub(super) fn end(&mut self, block: &function::Block, at: At) {
        let pc = at.pc;
        match &block.end {
            End::Branch { .. } => self.branch(at),
            End::Jump(_) => self.push(Op::Jump, pc, vec![]),
            End::Return => {
                let mut operands = vec![];
                let results = self.liveness.own.results & at.defined;
                self.fixed(results, |reg| Some(result_home(reg)), pc, &mut operands);
                self.leave(pc, &mut operands);
                self.push(Op::Return, pc, operands);
            }
            End::TailCall(target) => self.tail_call(callee(self.program, *target), at),
            End::TailCallIndirect => self.jump_out(Summary::UNKNOWN, at),
            End::Anywhere => self.jump_out(Summary::MIDDLE, at),
            End::Table { to, .. } => {
                let start = |&block: &usize| self.function.blocks[block].start;
                let starts: Vec<u64> = to.iter().map(start).collect();
                if let Some(by_index) = self.by_index.take() {
                    return self.jump_by_index(by_index, &starts, pc);
                }
                let target = self.jump_target(at);
                let counted = self.counted_behind(block);
                self.jump_by_table(
                    Table::Address {
                        to: starts,
                        counted,
                    },
                    target,
                    pc,
                );
                self.name_state(at.before, at.before);
            }
            End::Next(_) | End::Interpret(_) | End::Outside(_) => {}
        }
    }

    /// A jump through a register that may lead out of the function. `callee` is what is known of
    /// where it leads.
    fn jump_out(&mut self, callee: Summary, at: At) {
        let pc = at.pc;
        let target = self.jump_target(at);
        if let Some(callee) = self.resolved(target) {
            return self.tail_call(callee, at);
        }
        let all = self.liveness.handed_over(callee) & at.defined;
        // They are where only a look-up that fails needs them.
        let temporaries = TEMPORARIES & all;
        let mut operands = vec![];
        self.arguments(all & !temporaries, pc, &mut operands);
        operands.push(Operand::reg_fixed_use(target, host(RAX)));
        self.leave(pc, &mut operands);
        if !self.counting.is_in_register() {
            // The look-up's own.
            let scratch = self.fresh(RegClass::Int);
            operands.push(Operand::reg_fixed_def_at_start(scratch, host(R10)));
        }
        self.push(Op::TailCallIndirect, pc, operands);
        self.name_state(temporaries, temporaries);
    }

    fn jump_by_table(&mut self, table: Table, value: VReg, pc: u64) {
        self.code.tables.push(table);
        let table = self.code.tables.len() as u32 - 1;
        let (scratch, entry) = (self.fresh(RegClass::Int), self.fresh(RegClass::Int));
        let operands = vec![
            Operand::reg_use_at_end(value),
            Operand::reg_temp(scratch),
            Operand::reg_temp(entry),
        ];
        self.push(Op::Table(table), pc, operands);
    }

    fn jump_by_index(&mut self, by_index: ByIndex, starts: &[u64], pc: u64) {
        let ByIndex {
            targets,
            from,
            counted,
            index,
            now,
            live,
        } = by_index;
        let successor = |target: &u64| {
            let at = starts.iter().position(|start| start == target);
            at.map(|at| at as u32)
        };
        let to = targets.iter().map(successor).collect();
        self.jump_by_table(Table::Index { to, from, counted }, index, pc);
        let then = std::mem::replace(&mut self.now, now);
        self.name_state(live, live);
        self.now = then;
    }

    fn tail_call(&mut self, callee: Callee, at: At) {
        let mut operands = vec![];
        let reads = self.liveness.handed_over(self.summary(callee)) & at.defined;
        let callee = self.through_stub(callee, at.pc);
        self.arguments(reads, at.pc, &mut operands);
        self.leave(at.pc, &mut operands);
        self.push(Op::TailCall(callee), at.pc, operands);
    }

    fn jump_target(&mut self, at: At) -> VReg {
        let base = self.get(at.insn.rs1(), at.pc);
        self.alu_imm(Alu::Add, base, at.insn.imm() as i32, false, at.pc)
    }

    fn resolved(&self, target: VReg) -> Option<Callee> {
        let target = self.known_address(target)?;
        Some(match self.program.resolve(target)? {
            // What a register leads to is not known where instructions are counted (`counting.rs`): an entry of the
            // linkage table is executed there as it is.
            Target::Guest(at) if self.counting != Counting::None && self.program.is_placed() => {
                Callee::Guest(at)
            }
            Target::Guest(at) => callee(self.program, at),
            Target::Elsewhere => Callee::Elsewhere(target),
        })
    }

    fn summary(&self, callee: Callee) -> Summary {
        match callee {
            Callee::Guest(at) => (self.liveness.summary)(at),
            Callee::Elsewhere(_) | Callee::Slot(_) | Callee::BySignature { .. } => Summary::UNKNOWN,
        }
    }

    /// `jal` and `jalr` with the return address in ra.
    pub(super) fn call(&mut self, at: At) {
        let (pc, insn) = (at.pc, at.insn);
        let back = pc + insn.len();
        match flow(pc, insn, &self.function.range) {
            Flow::Call(target) => self.call_direct(callee(self.program, target), back, at),
            _ => {
                let target = self.jump_target(at);
                if let Some(callee) = self.resolved(target) {
                    return self.call_direct(callee, back, at);
                }
                let mut operands = vec![];
                self.arguments(
                    self.liveness.handed_over(Summary::UNKNOWN) & at.defined,
                    pc,
                    &mut operands,
                );
                operands.push(Operand::reg_fixed_use(target, host(RAX)));
                let results = RESULTS;
                self.call_with(Op::CallIndirect { back, results }, at, operands, results);
            }
        }
    }

    fn call_direct(&mut self, callee: Callee, back: u64, at: At) {
        let summary = self.summary(callee);
        let mut operands = vec![];
        let reads = self.liveness.handed_over(summary) & at.defined;
        let callee = self.through_stub(callee, at.pc);
        self.arguments(reads, at.pc, &mut operands);
        let results = summary.results;
        let op = Op::Call {
            callee,
            back,
            results,
        };
        self.call_with(op, at, operands, results);
    }

    /// Where the callee leads, if it is a stub, what it would do being done. Its instructions count.
    fn through_stub(&mut self, callee: Callee, pc: u64) -> Callee {
        let Callee::Guest(at) = callee else {
            return callee;
        };
        match self.program.call_stub(at) {
            Some((address, to)) if self.counting == Counting::None => {
                let address = self.guest_address(address, pc);
                self.store_in_hart(T1, address, pc);
                match (to, self.named_by_t2()) {
                    (Callee::Slot(slot), Some(function)) => Callee::BySignature { slot, function },
                    _ => to,
                }
            }
            _ => callee,
        }
    }

    /// The word of the module from which t2 was loaded, if its address is known.
    fn named_by_t2(&self) -> Option<u64> {
        match self.definition(self.now[T2]?)?.op {
            Op::Load(Width::D, 0, Form::Image(at)) => Some(at),
            _ => None,
        }
    }

    fn call_with(&mut self, op: Op, at: At, mut operands: Vec<Operand>, results: Regs) {
        self.saved(at.pc, &mut operands);
        let mut clobbers = call_clobbers();
        let mut new = vec![];
        // Behind the call the host's frame has no value: it may be entered there by itself.
        let constants: Vec<(Reg, Op)> = members(SAVED & !self.absent)
            .filter_map(|reg| Some((reg, self.constant_op(self.now[reg]?)?)))
            .collect();
        for reg in members(PINNED & !self.absent) {
            if let Some(place) = home(reg) {
                let value = self.fresh(class(reg));
                operands.push(Operand::reg_fixed_def(value, place));
                new.push((reg, value));
            }
        }
        for reg in members(results) {
            let value = self.fresh(class(reg));
            operands.push(Operand::reg_fixed_def(value, result_home(reg)));
            clobbers.remove(result_home(reg));
            new.push((reg, value));
        }
        let mut node = Node::new(op, at.pc, operands);
        node.clobbers = clobbers;
        self.code.nodes.push(node);
        for reg in members(!SAVED & ALL | self.code.in_hart) {
            self.now[reg] = None;
        }
        for (reg, value) in new {
            self.now[reg] = Some(value);
        }
        let back = self.guest_address(at.pc + at.insn.len(), at.pc);
        self.now[RA] = Some(back);
        // What callees keep in the hart is there, whoever has put it there.
        for reg in members(SAVED & !HOMES & !self.absent) {
            self.load_from_hart(reg, at.pc);
        }
        for (reg, op) in constants {
            self.now[reg] = Some(self.int(op, at.pc, &[]));
        }
    }

    /// Guest registers where a function finds them.
    fn arguments(&mut self, set: Regs, pc: u64, operands: &mut Vec<Operand>) {
        self.fixed(set, home, pc, operands);
    }

    fn fixed(
        &mut self,
        set: Regs,
        place: impl Fn(Reg) -> Option<regalloc2::PReg>,
        pc: u64,
        operands: &mut Vec<Operand>,
    ) {
        for reg in members(set & !self.absent) {
            let value = self.get(reg, pc);
            match place(reg) {
                Some(place) => operands.push(Operand::reg_fixed_use(value, place)),
                None => self.store_in_hart(reg, value, pc),
            }
        }
    }

    pub(super) fn store_in_hart(&mut self, reg: Reg, value: VReg, pc: u64) {
        let op = if is_float(reg) {
            Op::StoreHartFloat(slot(reg))
        } else {
            Op::StoreHart(slot(reg))
        };
        self.push_uses(op, pc, &[value]);
    }

    /// What callees keep, where they keep it.
    fn saved(&mut self, pc: u64, operands: &mut Vec<Operand>) {
        self.fixed(SAVED, home, pc, operands);
    }

    /// What a function gives back, or on: the return address and what it keeps.
    fn leave(&mut self, pc: u64, operands: &mut Vec<Operand>) {
        let ra = self.get(RA, pc);
        operands.push(Operand::reg_fixed_use(ra, host(R11)));
        self.saved(pc, operands);
    }

    fn branch(&mut self, at: At) {
        use Guest::*;
        let (pc, insn) = (at.pc, at.insn);
        let cc = match insn.op() {
            Beq => Cc::E,
            Bne => Cc::Ne,
            Blt => Cc::L,
            Bge => Cc::Ge,
            Bltu => Cc::B,
            _ => Cc::Ae,
        };
        let (a, b) = (self.get(insn.rs1(), pc), self.get(insn.rs2(), pc));
        match (self.small(a), self.small(b)) {
            (_, Some(k)) => self.push_uses(Op::Branch(cc, Some(k), false), pc, &[a]),
            // Zero against a register: the other way round.
            (Some(k), None) if matches!(cc, Cc::E | Cc::Ne) => {
                self.push_uses(Op::Branch(cc, Some(k), false), pc, &[b]);
            }
            _ => self.push_uses(Op::Branch(cc, None, false), pc, &[a, b]),
        }
    }
}
