//! The emitter: from machine instructions with allocated registers to bytes.
pub mod alignment;
mod arithmetic;
mod block_order;
pub mod code_origin;
mod cold;
mod convert;
mod float;
mod flow;
pub mod homes;
mod memory;
pub mod places;

use std::collections::BTreeMap;
use std::ops::Range;

use iced_x86::code_asm::*;
use iced_x86::{
    BlockEncoderOptions, Code as Encoding, IcedError, Instruction, MemoryOperand, Register,
};
use regalloc2::{
    Allocation, Block, Edit, Inst, InstOrEdit, Output, ProgPoint, RegClass, SpillSlot,
};

use super::code::{Code, Op};
use super::fault_state::Recorder;
use super::glue;
use super::registers::{COUNT, HART_BIAS};
use super::thunk::Callee;
use super::vector_call;
use alignment::Loop;
use block_order::Layout;
use code_origin::{Part, Span, Trace};
use cold::Cold;
use homes::{Homed, Homes};
use places::Locations;

pub type Emitted<T = ()> = Result<T, IcedError>;

const R64: [AsmRegister64; 16] = [
    rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15,
];
const R32: [AsmRegister32; 16] = [
    eax, ecx, edx, ebx, esp, ebp, esi, edi, r8d, r9d, r10d, r11d, r12d, r13d, r14d, r15d,
];
const R16: [AsmRegister16; 16] = [
    ax, cx, dx, bx, sp, bp, si, di, r8w, r9w, r10w, r11w, r12w, r13w, r14w, r15w,
];
const R8: [AsmRegister8; 16] = [
    al, cl, dl, bl, spl, bpl, sil, dil, r8b, r9b, r10b, r11b, r12b, r13b, r14b, r15b,
];
const XMM: [AsmRegisterXmm; 16] = [
    xmm0, xmm1, xmm2, xmm3, xmm4, xmm5, xmm6, xmm7, xmm8, xmm9, xmm10, xmm11, xmm12, xmm13, xmm14,
    xmm15,
];

/// Where the code is to stand, and thereby what it refers to.
#[derive(Clone, Copy)]
pub enum Linkage<'a> {
    /// In this process, at a known address.
    Process(Surroundings<'a>),
    /// In a module that is not placed: everything outside is a [`Fixup`].
    Module,
}

/// A displacement from the instruction pointer that is filled in when the place is known: the last
/// four bytes of an instruction, counted from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixup {
    /// A byte of the guest's module.
    Guest(u64),
    /// The translation of the guest's function.
    Function(u64),
    /// The word with the address of one of the engine's functions or tables.
    Engine(Word),
    /// The stub by which the module calls what is outside of it.
    Stub(Outside),
}

/// What code in a module calls that is not in the module, by words of the guest's module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outside {
    /// The word with the address of what is called.
    pub slot: u64,
    /// The word with the address of the function that is meant. It is another one if `slot` names
    /// what makes calls by signature.
    pub function: u64,
}

/// What translated code in a module reaches through a word of the module's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// [`crate::Targets`].
    Targets,
    /// A call of the guest address or host address in rax. r10: the cell to fill, or 0.
    Call,
    /// [`crate::leave`].
    Leave,
    /// [`crate::leave_at_call`].
    LeaveAtCall,
    /// [`crate::elsewhere`].
    Elsewhere,
    /// [`crate::helper`].
    Helper,
    /// [`crate::convert`].
    Convert,
    /// [`crate::vector`].
    Vector,
}

impl Word {
    /// In the order of the module's words.
    pub const ALL: [Self; 8] = [
        Self::Targets,
        Self::Call,
        Self::Leave,
        Self::LeaveAtCall,
        Self::Elsewhere,
        Self::Helper,
        Self::Convert,
        Self::Vector,
    ];
}

/// Stands for a place that is not known: far enough for a displacement of four bytes.
const FAR: u64 = 1 << 30;

/// Addresses that translated code refers to.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// See [`super::targets::Targets`].
    pub targets: u64,
    /// The [`super::glue::Lookup`].
    pub lookup: u64,
    /// The cell with the host address of a guest function.
    pub cell: &'a dyn Fn(Callee) -> u64,
    /// The host address of a guest function that is translated.
    pub entry: &'a dyn Fn(u64) -> Option<u64>,
}

impl Surroundings<'_> {
    fn entry_of(self, callee: Callee) -> Option<u64> {
        match callee {
            Callee::Guest(at) => (self.entry)(at),
            Callee::Elsewhere(_) | Callee::Slot(_) | Callee::BySignature { .. } => None,
        }
    }
}

/// One function's translation, not yet at its place.
pub struct Finished {
    pub bytes: Vec<u8>,
    /// Cells that lead to this code until their function is translated, and where.
    pub cells: Vec<(u64, usize)>,
    /// Of code in a module, by the end of the instruction.
    pub fixups: Vec<(usize, Fixup)>,
    /// Further entries of code in a module: the guest address, and where the code is.
    pub entries: Vec<(u64, usize)>,
    /// Where calls of code in a module come back: the same.
    pub returns: Vec<(u64, usize)>,
    /// Bytes of a frame, without the return address.
    pub frame: u32,
    /// Offsets from which rsp is so many bytes below the return address, in ascending order.
    pub depths: Vec<(usize, u32)>,
    pub states: super::fault_state::States,
    /// Offset of the first byte behind instructions.
    pub code_end: usize,
    /// In ascending order; empty if they were not asked for.
    pub spans: Vec<Span>,
    /// In ascending order; empty without [`Code::names`].
    pub homes: Vec<Homed>,
    /// Whether all of the state is known.
    pub is_exact: bool,
}

/// A jump table behind the code: distances from its start.
struct Table {
    table: CodeLabel,
    /// Where what is no target of the function leads to.
    leave: CodeLabel,
    /// Blocks.
    entries: Vec<Option<usize>>,
}

pub struct Emitter<'a> {
    a: CodeAssembler,
    code: &'a Code,
    allocation: &'a Output,
    layout: Layout,
    locations: Locations<'a>,
    /// The instruction that is being emitted.
    inst: Inst,
    linkage: Linkage<'a>,
    /// By the number of the machine instruction, with the bytes behind the displacement.
    fixups: Vec<(usize, usize, Fixup)>,
    entries: Vec<(u64, CodeLabel)>,
    returns: Vec<(u64, CodeLabel)>,
    /// The guest's address where this code is entered.
    start: u64,
    /// Bytes of spilled values and padding.
    frame: i32,
    calls: bool,
    /// As in [`Finished::depths`], by the number of the machine instruction.
    depths: Vec<(usize, i32)>,
    labels: Vec<CodeLabel>,
    /// For blocks that begin innermost loops, the loop's last block.
    loop_ends: Vec<Option<usize>>,
    /// These loops, by the numbers of their machine instructions, and the bytes in front of each.
    loops: Vec<Range<usize>>,
    padding: Vec<usize>,
    colds: Vec<(CodeLabel, Cold)>,
    /// Constants of 8 bytes behind the code.
    pool: BTreeMap<u64, CodeLabel>,
    cells: Vec<(u64, CodeLabel)>,
    tables: Vec<Table>,
    entry: CodeLabel,
    recorder: Recorder,
    trace: Option<Trace>,
    homes: Option<Homes>,
    /// A value of the state is nowhere.
    lost: bool,
}

impl<'a> Emitter<'a> {
    /// Translates `code` for address `at`.
    pub fn run(
        code: &'a Code,
        allocation: &'a Output,
        linkage: Linkage<'a>,
        start: u64,
        at: u64,
        trace: bool,
    ) -> Emitted<Finished> {
        let emitted = |padding| {
            let emitter = Self::new(code, allocation, linkage, start, trace)?;
            Emitter { padding, ..emitter }.function(at)
        };
        let (finished, loops) = emitted(vec![])?;
        let is_aligned = matches!(linkage, Linkage::Module)
            && alignment::of_function(finished.code_end) == alignment::LINE;
        let padding = alignment::padding(&loops);
        if is_aligned && padding.iter().any(|&bytes| bytes != 0) {
            return Ok(emitted(padding)?.0);
        }
        Ok(finished)
    }

    fn new(
        code: &'a Code,
        allocation: &'a Output,
        linkage: Linkage<'a>,
        start: u64,
        trace: bool,
    ) -> Emitted<Self> {
        let calls = code.nodes.iter().any(|node| {
            matches!(
                node.op,
                Op::Call { .. } | Op::CallIndirect { .. } | Op::Helper(_) | Op::Vector
            )
        });
        let mut frame = allocation.num_spillslots as i32 * 8;
        // At an entry rsp is 8 below a multiple of 16.
        if calls && frame % 16 == 0 {
            frame += 8;
        }
        let mut a = CodeAssembler::new(64)?;
        let entry = a.create_label();
        let labels = (0..code.ranges.len()).map(|_| a.create_label()).collect();
        let layout = Layout::new(code, allocation);
        Ok(Emitter {
            a,
            code,
            allocation,
            loop_ends: alignment::heads(code, &layout),
            loops: vec![],
            padding: vec![],
            layout,
            locations: Locations::new(&allocation.debug_locations, code.vregs),
            inst: Inst::new(0),
            linkage,
            fixups: vec![],
            entries: vec![],
            returns: vec![],
            start,
            frame,
            calls,
            depths: vec![],
            labels,
            colds: vec![],
            pool: BTreeMap::new(),
            cells: vec![],
            tables: vec![],
            entry,
            recorder: Recorder::default(),
            trace: trace.then(Trace::default),
            homes: (!code.names.is_empty()).then(Homes::default),
            lost: false,
        })
    }

    /// The translation, and its innermost loops.
    fn function(mut self, at: u64) -> Emitted<(Finished, Vec<Loop>)> {
        let mut entry = self.entry;
        self.trace(self.start, self.start);
        bind(&mut self.a, &mut entry)?;
        self.prologue(self.start)?;
        let mut loop_end = None;
        for n in 0..self.layout.order.len() {
            let block = self.layout.order[n];
            let next = self.layout.order.get(n + 1).copied();
            if self.loop_ends[block].is_some() {
                if let Some(&bytes) = self.padding.get(self.loops.len()) {
                    self.a.nops_with_size(bytes)?;
                }
                let begin = self.a.instructions().len();
                self.loops.push(begin..begin);
                loop_end = self.loop_ends[block];
            }
            let mut label = self.labels[block];
            bind(&mut self.a, &mut label)?;
            self.labels[block] = label;
            self.depth(self.frame);
            self.block(block, next)?;
            if let (true, Some(inner)) = (loop_end == Some(block), self.loops.last_mut()) {
                inner.end = self.a.instructions().len();
            }
        }
        self.no_homes();
        for n in 0..self.code.entries.len() {
            self.further_entry(n)?;
        }
        self.emit_colds()?;
        let mut end = self.a.create_label();
        bind(&mut self.a, &mut end)?;
        self.data()?;
        let options = BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS;
        let result = self.a.assemble_options(at, options)?;
        let offset =
            |label: &CodeLabel| -> Emitted<usize> { Ok((result.label_ip(label)? - at) as usize) };
        let mut bytes = result.inner.code_buffer.clone();
        for Table {
            table,
            leave,
            entries,
        } in &self.tables
        {
            let (table, leave) = (offset(table)?, offset(leave)?);
            for (n, entry) in entries.iter().enumerate() {
                let to = match entry {
                    Some(block) => offset(&self.labels[*block])?,
                    None => leave,
                };
                let distance = to as i32 - table as i32;
                let place = table + 4 * n;
                bytes[place..place + 4].copy_from_slice(&distance.to_le_bytes());
            }
        }
        let cells = self
            .cells
            .iter()
            .map(|(cell, label)| Ok((*cell, offset(label)?)))
            .collect::<Emitted<_>>()?;
        let offsets = &result.inner.new_instruction_offsets;
        let placed = |labels: &[(u64, CodeLabel)]| -> Emitted<Vec<(u64, usize)>> {
            let labels = labels.iter();
            labels
                .map(|(at, label)| Ok((*at, offset(label)?)))
                .collect()
        };
        let (entries, returns) = (placed(&self.entries)?, placed(&self.returns)?);
        let end_of = |n: usize| offsets.get(n + 1).map_or(bytes.len(), |&end| end as usize);
        let start_of = |n: usize| {
            // `u32::MAX`: the instruction became several others.
            let known = offsets.iter().skip(n).find(|&&offset| offset != u32::MAX);
            known.map_or(bytes.len(), |&offset| offset as usize)
        };
        let depths = self.depths.iter();
        let fixups = self.fixups.iter();
        let instructions = self.a.instructions();
        let is_branch = |&n: &usize| instructions[n].is_jcc_short_or_near();
        let loops = self.loops.iter().map(|inner| Loop {
            begin: start_of(inner.start),
            end: start_of(inner.end),
            branches: inner
                .clone()
                .filter(is_branch)
                .map(|n| end_of(n) - 1)
                .collect(),
        });
        let loops = loops.collect();
        let finished = Finished {
            cells,
            fixups: fixups
                .map(|&(n, behind, fixup)| (end_of(n) - behind, fixup))
                .collect(),
            entries,
            returns,
            frame: self.frame as u32,
            depths: depths
                .map(|&(n, depth)| (start_of(n), depth as u32))
                .collect(),
            states: self.recorder.finish(|n| offsets[n]),
            code_end: offset(&end)?,
            spans: self
                .trace
                .map_or_else(Vec::new, |trace| trace.finish(offsets, bytes.len())),
            homes: self
                .homes
                .map_or_else(Vec::new, |homes| homes.finish(start_of)),
            is_exact: !self.lost,
            bytes,
        };
        Ok((finished, loops))
    }

    /// In the code that follows, rsp is so many bytes below the return address.
    fn depth(&mut self, bytes: i32) {
        if self.depths.last().is_none_or(|&(_, last)| last != bytes) {
            self.depths.push((self.a.instructions().len(), bytes));
        }
    }

    /// What follows is made for the guest instruction at `pc`; 0: for none of its own. The guest's frame
    /// is that of `frame_pc`.
    fn trace(&mut self, pc: u64, frame_pc: u64) {
        if let Some(trace) = &mut self.trace
            && pc != 0
        {
            trace.begin(self.a.instructions().len(), pc, frame_pc, Part::Body);
        }
    }

    /// Moves in front of a block's first instruction are that one's; those on an edge are of the
    /// jump that leads there.
    fn trace_block(&mut self, block: usize) {
        if self.trace.is_none() {
            return;
        }
        let code = self.code;
        let (first, _) = code.ranges[block];
        let jump = code.preds[block]
            .first()
            .map(|from| code.ranges[from.index()].1 - 1);
        let node = match (code.nodes[first].pc, jump) {
            (0, Some(jump)) => &code.nodes[jump],
            _ => &code.nodes[first],
        };
        self.trace(node.line_pc, node.frame_pc);
    }

    fn block(&mut self, block: usize, next: Option<usize>) -> Emitted {
        let (code, allocation) = (self.code, self.allocation);
        self.trace_block(block);
        self.homes_of_block(block);
        let (first, end) = code.ranges[block];
        self.homes(ProgPoint::before(Inst::new(first)), &code.nodes[first]);
        for item in allocation.block_insts_and_edits(code, Block::new(block)) {
            match item {
                InstOrEdit::Edit(Edit::Move { from, to }) => self.copy(*from, *to)?,
                InstOrEdit::Inst(inst) => {
                    self.inst = inst;
                    let node = &code.nodes[inst.index()];
                    let operands = allocation.inst_allocs(inst);
                    self.trace(node.line_pc, node.frame_pc);
                    self.homes(ProgPoint::before(inst), node);
                    match node.op {
                        Op::Jump
                        | Op::Branch(..)
                        | Op::BranchBits(..)
                        | Op::Return
                        | Op::TailCall(_)
                        | Op::TailCallIndirect
                        | Op::Table(_)
                        | Op::Exit(..) => self.end(node, operands, block, next)?,
                        Op::Call { .. } | Op::CallIndirect { .. } | Op::Helper(_) | Op::Vector => {
                            self.call(node)?;
                        }
                        Op::Load(..)
                        | Op::Store(..)
                        | Op::StoreConst(..)
                        | Op::LoadFloat(..)
                        | Op::StoreFloat(..)
                        | Op::LoadHart(_)
                        | Op::StoreHart(_)
                        | Op::LoadHartFloat(_)
                        | Op::StoreHartFloat(_)
                        | Op::Atomic(..)
                        | Op::LoadReserved(_)
                        | Op::StoreConditional(_) => self.memory(node, operands)?,
                        Op::Arith(..)
                        | Op::Sqrt(_)
                        | Op::Canonical(_)
                        | Op::CanonicalPair(_)
                        | Op::Unbox
                        | Op::Box
                        | Op::Sign(..)
                        | Op::CopySign(..)
                        | Op::FloatCompare(..)
                        | Op::Widen
                        | Op::FloatConst(_)
                        | Op::BitsToFloat(_)
                        | Op::BitsToInt(_) => self.float(node, operands)?,
                        Op::FromInt(conversion, insn) => {
                            self.int_to_float(conversion, insn, node, operands)?;
                        }
                        Op::ToInt(conversion) => self.float_to_int(conversion, node, operands)?,
                        Op::CountWithin { count, needed } => {
                            self.count_within(count, needed, node)?;
                        }
                        Op::Narrow(rounding) => self.narrow(rounding, node, operands)?,
                        _ => self.arithmetic(&node.op, operands)?,
                    }
                    if inst.index() + 1 < end {
                        let next = &code.nodes[inst.index() + 1];
                        self.homes(ProgPoint::after(inst), next);
                    }
                }
            }
        }
        Ok(())
    }

    fn spilled(&self, slot: SpillSlot) -> AsmMemoryOperand {
        qword_ptr(rsp + 8 * slot.index() as i32)
    }

    fn copy(&mut self, from: Allocation, to: Allocation) -> Emitted {
        if from == to {
            return Ok(());
        }
        match (from.as_reg(), to.as_reg(), from.as_stack(), to.as_stack()) {
            (Some(from), Some(to), ..) if from.class() == RegClass::Int => {
                self.a.mov(R64[to.hw_enc()], R64[from.hw_enc()])
            }
            (Some(from), Some(to), ..) => self.a.movaps(XMM[to.hw_enc()], XMM[from.hw_enc()]),
            (Some(from), _, _, Some(slot)) => {
                let slot = self.spilled(slot);
                match from.class() {
                    RegClass::Int => self.a.mov(slot, R64[from.hw_enc()]),
                    _ => self.a.movsd_2(slot, XMM[from.hw_enc()]),
                }
            }
            (_, Some(to), Some(slot), _) => {
                let slot = self.spilled(slot);
                match to.class() {
                    RegClass::Int => self.a.mov(R64[to.hw_enc()], slot),
                    _ => self.a.movsd_2(XMM[to.hw_enc()], slot),
                }
            }
            // The allocator breaks up moves between slots.
            _ => self.a.ud2(),
        }
    }

    /// A place in the hart.
    fn hart(offset: usize) -> i32 {
        offset as i32 - HART_BIAS
    }

    /// The count of instructions in memory.
    fn counter(&self) -> AsmMemoryOperand {
        qword_ptr(rbp + Self::hart(std::mem::offset_of!(crate::Context, retired)))
    }

    /// Adds to the count of instructions.
    fn add_to_count(&mut self, count: i32) -> Emitted {
        match self.code.counts_in_register {
            true => self.a.add(R64[COUNT], count),
            false => self.a.add(self.counter(), count),
        }
    }

    /// A constant behind the code.
    fn constant(&mut self, value: u64) -> AsmMemoryOperand {
        let a = &mut self.a;
        let label = *self.pool.entry(value).or_insert_with(|| a.create_label());
        qword_ptr(label)
    }

    fn cold(&mut self, cold: Cold) -> CodeLabel {
        let label = self.a.create_label();
        self.colds.push((label, cold));
        if let Some(trace) = &mut self.trace {
            trace.put_off();
        }
        if let Some(homes) = &mut self.homes {
            homes.put_off();
        }
        label
    }

    /// The next instruction's last four bytes are for this.
    fn fixup(&mut self, fixup: Fixup) {
        self.fixups.push((self.a.instructions().len(), 0, fixup));
    }

    /// An instruction with a register and a place of the module as operands.
    fn with_place(&mut self, encoding: Encoding, register: usize, fixup: Fixup) -> Emitted {
        self.fixup(fixup);
        let place = MemoryOperand::with_base_displ_size(Register::RIP, FAR as i64, 8);
        let register: Register = R64[register].into();
        self.a
            .add_instruction(Instruction::with2(encoding, register, place)?)
    }

    /// The guest address `at` to a register. `pooled`: by way of the constants, unless the code is in
    /// a module.
    fn load_guest_address(&mut self, register: usize, at: u64, pooled: bool) -> Emitted {
        match self.linkage {
            Linkage::Module => self.with_place(Encoding::Lea_r64_m, register, Fixup::Guest(at)),
            Linkage::Process(_) if pooled => {
                let address = self.constant(at);
                self.a.mov(R64[register], address)
            }
            Linkage::Process(_) => self.a.mov(R64[register], at),
        }
    }

    /// Jumps to a function of the engine, or calls it.
    fn engine_function(&mut self, word: Word, call: bool) -> Emitted {
        if let Linkage::Process(surroundings) = self.linkage {
            let counts = self.code.counts_in_register;
            if counts && !matches!(word, Word::Convert | Word::Vector) {
                self.a.mov(self.counter(), R64[COUNT])?;
            }
            let address = match word {
                Word::Call => {
                    self.a.mov(r10, surroundings.lookup)?;
                    match counts {
                        true => glue::slow_call_counted as *const (),
                        false => glue::slow_call as *const (),
                    }
                }
                Word::Leave => glue::leave as *const (),
                Word::LeaveAtCall => glue::leave_at_call as *const (),
                Word::Elsewhere => glue::elsewhere as *const (),
                Word::Helper => glue::helper as *const (),
                Word::Convert => glue::convert as *const (),
                Word::Vector => vector_call::vector as *const (),
                Word::Targets => return self.a.ud2(),
            } as u64;
            if !call {
                return self.a.jmp(address);
            }
            self.a.call(address)?;
            if counts && matches!(word, Word::Helper | Word::Vector) {
                self.a.mov(R64[COUNT], self.counter())?;
            }
            return Ok(());
        }
        let encoding = if call {
            Encoding::Call_rm64
        } else {
            Encoding::Jmp_rm64
        };
        self.fixup(Fixup::Engine(word));
        self.a.add_instruction(Self::near(encoding, FAR)?)
    }

    /// An instruction with an operand in memory at an address that is near.
    fn near(encoding: Encoding, address: u64) -> Emitted<Instruction> {
        let operand = MemoryOperand::with_base_displ_size(Register::RIP, address as i64, 8);
        Instruction::with1(encoding, operand)
    }

    /// Constants and tables.
    fn data(&mut self) -> Emitted {
        let begin = |a: &CodeAssembler, trace: &mut Option<Trace>, part| {
            if let Some(trace) = trace {
                trace.begin(a.instructions().len(), self.start, self.start, part);
            }
        };
        begin(&self.a, &mut self.trace, Part::Constants);
        for (value, mut label) in std::mem::take(&mut self.pool) {
            bind(&mut self.a, &mut label)?;
            self.a.dq(&[value])?;
        }
        for table in &mut self.tables {
            begin(&self.a, &mut self.trace, Part::Table);
            bind(&mut self.a, &mut table.table)?;
            self.a.db(&vec![0; 4 * table.entries.len()])?;
        }
        Ok(())
    }
}

/// Hardware number of the register that the allocator chose.
fn number(allocation: Allocation) -> usize {
    match allocation.as_reg() {
        Some(register) => register.hw_enc(),
        // Only places of guest registers may be on the stack.
        None => unreachable!("an operand of an instruction is in a register"),
    }
}

/// The next instruction's place has this label. Several labels may have one place.
fn bind(a: &mut CodeAssembler, label: &mut CodeLabel) -> Emitted {
    a.set_label(label)?;
    a.zero_bytes()
}
