//! Calls, returns and jumps.
use super::*;
use crate::code::{Cc, Node, Reason, Table as CodeTable};
use crate::context::Context;
use crate::registers::{COUNT, R10, R11, RAX};
use crate::targets;
use crate::thunk::Callee;
use flick_engine::Hart;
use std::mem::offset_of;

impl Emitter<'_> {
    pub fn prologue(&mut self, at: u64) -> Emitted {
        self.depth(0);
        if self.calls {
            let limit = qword_ptr(rbp + Self::hart(offset_of!(Context, host_limit)));
            let cold = self.cold(Cold::StackLimit(at));
            self.a.cmp(rsp, limit)?;
            self.a.jb(cold)?;
        }
        if self.frame != 0 {
            self.a.sub(rsp, self.frame)?;
        }
        self.depth(self.frame);
        self.a.zero_bytes()
    }

    /// An entry besides the function's start.
    pub fn further_entry(&mut self, n: usize) -> Emitted {
        let (at, block) = self.code.entries[n];
        let mut label = self.a.create_label();
        bind(&mut self.a, &mut label)?;
        self.entries.push((at, label));
        self.trace(at, at);
        self.prologue(at)?;
        self.a.jmp(self.labels[block])
    }

    fn epilogue(&mut self) -> Emitted {
        if self.frame != 0 {
            self.a.add(rsp, self.frame)?;
        }
        self.depth(0);
        Ok(())
    }

    fn jump_if(&mut self, cc: Cc, to: CodeLabel) -> Emitted {
        let a = &mut self.a;
        match cc {
            Cc::E => a.je(to),
            Cc::Ne => a.jne(to),
            Cc::L => a.jl(to),
            Cc::Ge => a.jge(to),
            Cc::B => a.jb(to),
            Cc::Ae => a.jae(to),
        }
    }

    /// Where control arrives by the `n`th way out of a block.
    fn succ(&self, block: usize, n: usize) -> usize {
        self.layout.leads_to(self.code.succs[block][n].index())
    }

    /// To the first successor of a block, if that holds, or else to the second.
    fn branch(&mut self, cc: Cc, block: usize, next: Option<usize>) -> Emitted {
        let (taken, other) = (self.succ(block, 0), self.succ(block, 1));
        if Some(taken) == next {
            return self.jump_if(cc.negated(), self.labels[other]);
        }
        self.jump_if(cc, self.labels[taken])?;
        if Some(other) != next {
            self.a.jmp(self.labels[other])?;
        }
        Ok(())
    }

    /// The end of a block.
    pub fn end(
        &mut self,
        node: &Node,
        operands: &[Allocation],
        block: usize,
        next: Option<usize>,
    ) -> Emitted {
        match node.op {
            Op::Jump => {
                // Of the function's entry, the others are entries, too.
                let to = self.succ(block, self.code.succs[block].len() - 1);
                if Some(to) == next {
                    self.a.zero_bytes()
                } else {
                    self.a.jmp(self.labels[to])
                }
            }
            Op::Branch(cc, k, word) => {
                let y = k.is_none().then(|| number(operands[1]));
                self.compare(cc, k, number(operands[0]), y, word)?;
                self.branch(cc, block, next)
            }
            Op::BranchBits(cc, mask, word) => {
                let x = number(operands[0]);
                match (word, mask) {
                    (_, 0..0x80) => self.a.test(R8[x], mask)?,
                    (true, _) => self.a.test(R32[x], mask)?,
                    (false, _) => self.a.test(R64[x], mask)?,
                }
                self.branch(cc, block, next)
            }
            Op::Return => {
                self.epilogue()?;
                self.a.ret()
            }
            Op::TailCall(callee) => {
                self.epilogue()?;
                let Linkage::Process(surroundings) = self.linkage else {
                    return self.leave_for(callee, false);
                };
                match surroundings.entry_of(callee) {
                    Some(entry) => self.a.jmp(entry),
                    None => self.through_cell(surroundings, Encoding::Jmp_rm64, callee),
                }
            }
            Op::TailCallIndirect => {
                let mut unknown = self.a.create_label();
                let counts = self.code.counts_in_register;
                if counts {
                    self.a.mov(self.counter(), R64[COUNT])?;
                }
                self.look_up(unknown)?;
                self.epilogue()?;
                if counts {
                    self.a.mov(R64[R10], qword_ptr(R64[R10] + 8))?;
                    self.a.mov(qword_ptr(rsp - 8), R64[R10])?;
                    self.a.mov(R64[COUNT], self.counter())?;
                    self.a.jmp(qword_ptr(rsp - 8))?;
                } else {
                    self.a.jmp(qword_ptr(R64[R10] + 8))?;
                }
                bind(&mut self.a, &mut unknown)?;
                self.depth(self.frame);
                // It may lead anywhere.
                let places = self.places(node);
                self.store_places(&places)?;
                self.epilogue()?;
                self.no_cell()?;
                if counts {
                    self.a.mov(R64[COUNT], self.counter())?;
                }
                self.engine_function(Word::Call, false)
            }
            Op::Table(which) => self.table(which, node, operands, block),
            Op::Exit(reason, pc) => {
                let places = self.places(node);
                self.exit(reason, pc, &places)
            }
            _ => self.a.ud2(),
        }
    }

    /// A call from a module, or a jump in the place of a tail call.
    fn leave_for(&mut self, callee: Callee, call: bool) -> Emitted {
        self.fixup(match callee {
            Callee::Guest(at) => Fixup::Function(at),
            Callee::Slot(slot) => Fixup::Stub(Outside {
                slot,
                function: slot,
            }),
            Callee::BySignature { slot, function } => Fixup::Stub(Outside { slot, function }),
            // In a module nobody knows such an address.
            Callee::Elsewhere(_) => return self.a.ud2(),
        });
        match call {
            true => self.a.call(FAR),
            false => self.a.jmp(FAR),
        }
    }

    /// The engine's function for calls has no cell to fill.
    pub fn no_cell(&mut self) -> Emitted {
        match self.linkage {
            Linkage::Module => self.a.xor(r10d, r10d),
            Linkage::Process(_) => Ok(()),
        }
    }

    fn through_cell(
        &mut self,
        surroundings: Surroundings,
        encoding: Encoding,
        callee: Callee,
    ) -> Emitted {
        if let Callee::Elsewhere(target) = callee {
            // What calls all of them looks here.
            self.a.mov(rax, target)?;
        }
        let cell = self.cell(surroundings, callee);
        self.a.add_instruction(Self::near(encoding, cell)?)
    }

    fn cell(&mut self, surroundings: Surroundings, callee: Callee) -> u64 {
        let cell = (surroundings.cell)(callee);
        let target = callee.address();
        let made = |(_, cold): &(CodeLabel, Cold)| matches!(cold, Cold::Lazy { cell: known, .. } if *known == cell);
        if !self.colds.iter().any(made) {
            self.cold(Cold::Lazy { target, cell });
        }
        cell
    }

    /// `r10` is the slot of the target in rax, or control goes to `unknown`.
    fn look_up(&mut self, unknown: CodeLabel) -> Emitted {
        // No other register is free at a tail call.
        // An odd address is in no slot: it meets the second word of one, which is even.
        const { assert!(targets::MASK | 1 == u16::MAX as u32) };
        self.a.movzx(R32[R10], ax)?;
        self.a.shl(R64[R10], targets::SCALE.ilog2())?;
        match self.linkage {
            Linkage::Process(surroundings) => {
                let table = self.constant(surroundings.targets);
                self.a.add(R64[R10], table)?;
            }
            Linkage::Module => {
                self.with_place(Encoding::Add_r64_rm64, R10, Fixup::Engine(Word::Targets))?;
            }
        }
        let a = &mut self.a;
        a.cmp(qword_ptr(R64[R10]), rax)?;
        a.jne(unknown)
    }

    /// The same at a call: the host address of the target is in `r10`. `r11` is free until the return
    /// address is put there, so that the call waits for fewer instructions.
    fn look_up_for_call(&mut self, unknown: CodeLabel) -> Emitted {
        self.a.movzx(R32[R11], ax)?;
        if let (Linkage::Process(surroundings), true) = (self.linkage, self.code.counts_in_register)
        {
            let table = self.constant(surroundings.targets);
            self.a.shl(R64[R11], targets::SCALE.ilog2())?;
            self.a.add(R64[R11], table)?;
            self.a.cmp(qword_ptr(R64[R11]), rax)?;
            self.a.jne(unknown)?;
            return self.a.mov(R64[R11], qword_ptr(R64[R11] + 8));
        }
        match self.linkage {
            Linkage::Process(surroundings) => {
                let table = self.constant(surroundings.targets);
                self.a.mov(R64[R10], table)?;
            }
            Linkage::Module => {
                self.with_place(Encoding::Mov_r64_rm64, R10, Fixup::Engine(Word::Targets))?;
            }
        }
        const SCALE: i32 = targets::SCALE as i32;
        let a = &mut self.a;
        a.cmp(qword_ptr(R64[R10] + R64[R11] * SCALE), rax)?;
        a.jne(unknown)?;
        a.mov(R64[R10], qword_ptr(R64[R10] + R64[R11] * SCALE + 8))
    }

    /// A budget point.
    pub fn count_within(&mut self, count: u32, needed: u32, node: &Node) -> Emitted {
        let places = self.places(node);
        let counted = if count == needed { count } else { 0 };
        let cold = self.cold(Cold::Budget {
            counted,
            pc: node.pc,
            places,
        });
        if counted != 0 {
            self.add_to_count(count as i32)?;
            return self.a.jg(cold);
        }
        match self.code.counts_in_register {
            true => self.a.cmp(R64[COUNT], -(needed as i32))?,
            false => self.a.cmp(self.counter(), -(needed as i32))?,
        }
        self.a.jg(cold)?;
        match count {
            0 => Ok(()),
            _ => self.add_to_count(count as i32),
        }
    }

    pub fn call(&mut self, node: &Node) -> Emitted {
        match node.op {
            Op::Call {
                callee,
                back,
                results,
            } => {
                self.load_guest_address(R11, back, true)?;
                self.homes_in_call();
                match self.linkage {
                    Linkage::Process(surroundings) => match surroundings.entry_of(callee) {
                        Some(entry) => self.a.call(entry)?,
                        None if callee == Callee::Guest(self.start) => self.a.call(self.entry)?,
                        None => self.through_cell(surroundings, Encoding::Call_rm64, callee)?,
                    },
                    Linkage::Module => self.leave_for(callee, true)?,
                }
                self.check_return(back, results)
            }
            Op::CallIndirect { back, results } => {
                self.homes_in_call();
                let mut came_back = self.a.create_label();
                let unknown = self.cold(Cold::Unknown {
                    back_address: back,
                    back: came_back,
                });
                self.look_up_for_call(unknown)?;
                if self.code.counts_in_register {
                    self.a.mov(qword_ptr(rsp - 8), R64[R11])?;
                    self.load_guest_address(R11, back, true)?;
                    self.a.call(qword_ptr(rsp - 8))?;
                } else {
                    self.load_guest_address(R11, back, true)?;
                    self.a.call(R64[R10])?;
                }
                bind(&mut self.a, &mut came_back)?;
                self.check_return(back, results)
            }
            Op::Helper(insn) => {
                let word = self.constant(insn);
                self.a.mov(rcx, word)?;
                // The instruction, should it raise a signal.
                self.load_guest_address(RAX, node.pc, true)?;
                self.a
                    .mov(qword_ptr(rbp + Self::hart(offset_of!(Hart, pc))), rax)?;
                self.engine_function(Word::Helper, true)
            }
            Op::Vector => {
                if self.code.counts_in_register {
                    self.a.mov(self.counter(), R64[COUNT])?;
                    self.a.mov(r10, rdx)?;
                }
                // The record is that of an instruction in front of the call, of which the assembler
                // makes another one if the target is far away. Then it does not say where it is.
                self.record(node);
                self.a.nop()?;
                self.engine_function(Word::Vector, true)
            }
            _ => self.a.ud2(),
        }
    }

    /// The guest's return address is in r11.
    fn check_return(&mut self, back: u64, results: u64) -> Emitted {
        if self.code.is_back_at_calls {
            self.note_return(back)?;
        }
        let elsewhere = match self.linkage {
            Linkage::Process(_) => {
                let expected = self.constant(back);
                let elsewhere = self.cold(Cold::Elsewhere { results });
                self.a.cmp(r11, expected)?;
                elsewhere
            }
            Linkage::Module => {
                self.load_guest_address(R10, back, false)?;
                self.a.cmp(r11, r10)?;
                self.cold(Cold::Elsewhere { results })
            }
        };
        self.a.jne(elsewhere)?;
        if self.code.is_back_at_calls {
            return Ok(());
        }
        self.note_return(back)
    }

    /// The guest's function may be entered here, behind a call.
    fn note_return(&mut self, back: u64) -> Emitted {
        if let Linkage::Module = self.linkage
            && self.code.has_returns
        {
            let mut label = self.a.create_label();
            bind(&mut self.a, &mut label)?;
            self.returns.push((back, label));
        }
        Ok(())
    }

    /// Where `jr` goes is decided by the address that the guest has computed, or the index it
    /// computes it from.
    fn table(&mut self, which: u32, node: &Node, operands: &[Allocation], block: usize) -> Emitted {
        let (value, scratch, entry) = (
            R64[number(operands[0])],
            R64[number(operands[1])],
            R64[number(operands[2])],
        );
        let mut leave = self.a.create_label();
        let code = self.code;
        let (entries, index) = match &code.tables[which as usize] {
            CodeTable::Address { to: targets, .. } => {
                let (Some(&first), Some(&last)) = (targets.iter().min(), targets.iter().max())
                else {
                    return self.a.ud2();
                };
                self.a.mov(scratch, value)?;
                if let Linkage::Process(_) = self.linkage {
                    let base = self.constant(first);
                    self.a.sub(scratch, base)?;
                } else {
                    self.load_guest_address(number(operands[2]), first, false)?;
                    self.a.sub(scratch, entry)?;
                }
                // Rotated by one, odd distances are large.
                self.a.ror(scratch, 1u32)?;
                let mut entries = vec![None; ((last - first) / 2 + 1) as usize];
                for (n, &at) in targets.iter().enumerate() {
                    entries[((at - first) / 2) as usize] = Some(self.succ(block, n));
                }
                (entries, scratch)
            }
            CodeTable::Index { to, .. } => {
                let block_of = |n: &Option<u32>| n.map(|n| self.succ(block, n as usize));
                (to.iter().map(block_of).collect(), value)
            }
        };
        let places = self.places(node);
        self.a.cmp(index, entries.len() as i32)?;
        self.a.jae(leave)?;
        let table = self.a.create_label();
        self.a.lea(entry, qword_ptr(table))?;
        self.a.movsxd(scratch, dword_ptr(entry + index * 4))?;
        self.a.add(entry, scratch)?;
        self.a.jmp(entry)?;
        bind(&mut self.a, &mut leave)?;
        self.tables.push(Table {
            table,
            leave,
            entries,
        });
        if let CodeTable::Index { from, counted, .. } = code.tables[which as usize] {
            self.take_back(counted)?;
            return self.exit(Reason::Interpret, from, &places);
        }
        if let CodeTable::Address { counted, .. } = code.tables[which as usize] {
            self.take_back(counted)?;
        }
        self.store_places(&places)?;
        self.a
            .mov(qword_ptr(rbp + Self::hart(offset_of!(Hart, pc))), value)?;
        self.a.mov(eax, Reason::Continue as u32)?;
        self.engine_function(Word::Leave, false)
    }
}
