//! A function apart from where a link has placed it, so that its translation can be kept for the next
//! link.
//!
//! The translator sees the function at a fixed address, and each place that it refers to at an
//! address of its own in a fixed order ([`Windows`]). These are *stand-ins*. `auipc` and jumps lead to
//! stand-ins, so the instructions that the translator sees are the same wherever the link has put the
//! function and its variables. A finished translation gets the real addresses in its displacements
//! and records ([`Movable::place`]).
//!
//! All else that the translator asks of the program is a [`Fact`](facts::Query). The key of a
//! translation covers the function's instructions, and its record has the facts. A record serves
//! again if every fact is still the same. The translator has no other way to the program, so nothing
//! that it reads can be left out.
//!
//! A link without records translates the same stand-ins. So its bytes do not depend on what was kept.
mod auipc_pairs;
mod codec;
mod facts;
mod kept_record;
mod windows;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use xxhash_rust::xxh3::Xxh3;

use crate::counting::Counting;
use crate::emit::code_origin::Part;
use crate::emit::homes::Home;
use crate::emit::{Emitter, Finished, Fixup, Linkage, Outside};
use crate::liveness::Summary;
use crate::program::{NEAR, Program};
use crate::registers::SP;
use crate::thunk::Callee;
use crate::translator::Source;
use auipc_pairs::Pairs;
use facts::{Facts, Query};
use flick_riscv::{Class, Insn, Op};
pub(crate) use kept_record::{Outcome, Record};
use windows::Windows;

/// Changes with the meaning of keys and records.
const FORMAT: u64 = 2;
/// Of an instruction.
const MOST_OFFSET: u64 = 1 << 11;

/// What the program is, where it is.
#[derive(Clone, Copy)]
pub(crate) struct Real<'a> {
    pub program: &'a dyn Program,
    pub summary: &'a dyn Fn(u64) -> Summary,
    pub with_names: bool,
}

/// A function in stand-in addresses.
pub(crate) struct Movable<'a> {
    real: Real<'a>,
    range: Range<u64>,
    /// By half words from the start; `None`: inside of an instruction.
    insns: Vec<Option<Insn>>,
    /// Where the function is entered besides its start; stand-ins.
    entries: Vec<u64>,
    /// Windows of `auipc` whose low parts have no bits of a real address.
    paired: BTreeSet<usize>,
    windows: RefCell<Windows>,
    facts: RefCell<Facts>,
    /// How many windows the instructions have.
    own: usize,
    key: u128,
}

impl<'a> Movable<'a> {
    /// The function in `range`. The low parts of `auipc` at the offsets `whole` stay as they are.
    /// `None`: it refers to too much.
    pub fn of(real: Real<'a>, range: Range<u64>, whole: &BTreeSet<u64>) -> Option<Self> {
        let program = real.program;
        let entries = program.entries(&range);
        let insns = linear(program, &range);
        let pairs = Pairs::of(program, &range, &insns, &entries)?;
        let mut windows = Windows::new(range.clone());
        let mut this = vec![None; (range.end - range.start).div_ceil(2) as usize];
        let mut paired = BTreeSet::new();
        let mut reach = 0;
        for &(pc, insn) in &insns {
            let at = windows.stand_in(pc)?;
            let target = pc.wrapping_add(insn.imm());
            let distance = match insn.op() {
                Op::Auipc => {
                    let window = windows.add(target, Some(pc - range.start))?;
                    windows.center(window).wrapping_sub(at)
                }
                Op::Jal | Op::Beq | Op::Bne | Op::Blt | Op::Bge | Op::Bltu | Op::Bgeu => {
                    windows.stand_in(target)?.wrapping_sub(at)
                }
                _ => match pairs
                    .high(pc)
                    .filter(|high| !whole.contains(&(high - range.start)))
                {
                    Some(high) => {
                        let window = windows.of_high(high - range.start)?;
                        paired.insert(window);
                        let target = windows.real(windows.center(window))?;
                        let target = windows.stand_in(target.wrapping_add(insn.imm()))?;
                        target.wrapping_sub(windows.center(window))
                    }
                    None => {
                        if insn.op() == Op::Addi && !matches!(insn.rs1(), 0 | SP) {
                            reach += (insn.imm() as i64).unsigned_abs();
                        }
                        this[(pc - range.start) as usize / 2] = Some(insn);
                        continue;
                    }
                },
            };
            this[(pc - range.start) as usize / 2] = Some(with_imm(insn, distance)?);
        }
        // However offsets are added up, and one of an access or a jump comes to them, they stay in the
        // window.
        if reach + MOST_OFFSET >= windows::REACH {
            return None;
        }
        let entries = entries.iter().map(|&at| windows.stand_in(at));
        let mut movable = Self {
            real,
            entries: entries.collect::<Option<_>>()?,
            own: windows.len(),
            windows: RefCell::new(windows),
            range,
            insns: this,
            paired,
            facts: RefCell::default(),
            key: 0,
        };
        movable.key = movable.hash();
        Some(movable)
    }

    fn hash(&self) -> u128 {
        let mut hash = Xxh3::new();
        let mut put = |word: u64| hash.update(&word.to_le_bytes());
        put(FORMAT);
        put(self.range.end - self.range.start);
        put(self.real.with_names.into());
        put(self.entries.len() as u64);
        self.entries.iter().for_each(|&at| put(at));
        put(self.paired.len() as u64);
        self.paired.iter().for_each(|&window| put(window as u64));
        for insn in &self.insns {
            put(insn.map_or(u64::MAX, Insn::word));
        }
        hash.digest128()
    }

    /// Of the function as the translator sees it.
    pub fn key(&self) -> u128 {
        self.key
    }

    /// What came of an earlier translation, if all that the translator asked then is the same now.
    pub fn reuse(&self, record: &[u8]) -> Option<Outcome> {
        self.forget();
        Record::read(record, |query, answer| self.answer(query) == answer)
    }

    /// What was asked, and the places that answers named.
    fn forget(&self) {
        self.windows.borrow_mut().truncate(self.own);
        self.facts.take();
    }

    /// Translates it, and says what a later link may use again.
    pub fn translate(&self) -> (Outcome, Vec<u8>) {
        self.forget();
        let outcome = self.outcome();
        let facts = self.facts.borrow();
        let record = Record::write(facts.all(), &outcome);
        (outcome, record)
    }

    fn outcome(&self) -> Outcome {
        let summary = |target| self.summary_of(target);
        let source = Source {
            program: self,
            summary: &summary,
            with_names: self.real.with_names,
        };
        let start = windows::START;
        let range = start..start + (self.range.end - self.range.start);
        let Some((code, allocation)) = source.allocated(range, start, Counting::None) else {
            return Outcome::None;
        };
        let trace = self.real.with_names;
        let finished = Emitter::run(&code, &allocation, Linkage::Module, start, 0, trace);
        let Some(mut finished) = finished.ok().filter(|finished| finished.is_exact) else {
            return Outcome::None;
        };
        let is_code = |part| matches!(part, Part::Body | Part::Cold);
        finished.spans.retain(|span| is_code(span.part));
        // An address without its low part is in a register: what adds the low part has been
        // translated with a stand-in's.
        let windows = self.windows.borrow();
        let halves = finished
            .fixups
            .iter()
            .filter_map(|&(_, fixup)| match fixup {
                Fixup::Guest(at) => windows.offset_of_high(at, &self.paired),
                _ => None,
            });
        let halves: BTreeSet<u64> = halves.collect();
        if !halves.is_empty() {
            return Outcome::Again(halves);
        }
        drop(windows);
        // Whether it is near does not belong into a record: it is a matter of this link.
        let windows = self.windows.borrow();
        match placed(&finished, &|at| windows.real(at)) {
            Some(_) if !self.facts.borrow().is_lost => Outcome::Code(Box::new(finished)),
            _ => Outcome::AtItsPlace,
        }
    }

    /// A translation with the real addresses; `None`: one is out of reach.
    pub fn place(&self, finished: &Finished) -> Option<Finished> {
        let windows = self.windows.borrow();
        let near = |&at: &u64| (-NEAR..NEAR).contains(&(at as i64));
        placed(finished, &|at| windows.real(at).filter(near))
    }
}

/// A translation with other addresses.
fn placed(finished: &Finished, real: &dyn Fn(u64) -> Option<u64>) -> Option<Finished> {
    let fixups = finished.fixups.iter().map(|&(end, fixup)| {
        let fixup = match fixup {
            Fixup::Guest(at) => Fixup::Guest(real(at)?),
            Fixup::Function(at) => Fixup::Function(real(at)?),
            Fixup::Stub(Outside { slot, function }) => Fixup::Stub(Outside {
                slot: real(slot)?,
                function: real(function)?,
            }),
            Fixup::Engine(word) => Fixup::Engine(word),
        };
        Some((end, fixup))
    });
    let codes = |all: &[(u64, usize)]| -> Option<Vec<(u64, usize)>> {
        let all = all.iter();
        all.map(|&(guest, code)| Some((real(guest)?, code)))
            .collect()
    };
    let spans = finished.spans.iter().map(|span| {
        Some(crate::Span {
            guest: real(span.guest)?,
            frame: real(span.frame)?,
            ..*span
        })
    });
    let homes = finished.homes.iter().map(|homed| {
        let home = match homed.home {
            Home::Address(at) => Home::Address(real(at)?),
            home => home,
        };
        Some(crate::Homed { home, ..*homed })
    });
    Some(Finished {
        bytes: finished.bytes.clone(),
        cells: vec![],
        fixups: fixups.collect::<Option<_>>()?,
        entries: codes(&finished.entries)?,
        returns: codes(&finished.returns)?,
        frame: finished.frame,
        depths: finished.depths.clone(),
        states: finished.states.moved(real)?,
        code_end: finished.code_end,
        spans: spans.collect::<Option<_>>()?,
        homes: homes.collect::<Option<_>>()?,
        is_exact: true,
    })
}

/// The instructions from the start on, one after the other.
fn linear(program: &dyn Program, range: &Range<u64>) -> Vec<(u64, Insn)> {
    let mut all = vec![];
    let mut pc = range.start;
    while let Some(insn) = program.insn(pc).filter(|_| range.contains(&pc)) {
        all.push((pc, insn));
        pc += insn.len();
    }
    all
}

/// The same instruction with another immediate operand. What its bits are besides, where the
/// encoding has no register, goes.
fn with_imm(insn: Insn, imm: u64) -> Option<Insn> {
    let is_branch = insn.op().class() == Class::Branch;
    let is_store = insn.op().class() == Class::Store;
    let only = |is: bool, register: usize| if is { register as u32 } else { 0 };
    let has_base = !matches!(insn.op(), Op::Auipc | Op::Jal);
    Some(Insn::new(
        insn.op(),
        insn.len() as u32,
        only(!is_branch && !is_store, insn.rd()),
        only(has_base, insn.rs1()),
        only(is_branch || is_store, insn.rs2()),
        i32::try_from(imm as i64).ok()?,
    ))
}

impl Movable<'_> {
    fn summary_of(&self, target: u64) -> Summary {
        match self.ask(Query::Summary(target))[..] {
            [reads, results, calls, is_certain] => Summary {
                reads,
                results,
                calls,
                is_certain: is_certain != 0,
            },
            _ => Summary::MIDDLE,
        }
    }
}

impl Program for Movable<'_> {
    fn insn(&self, pc: u64) -> Option<Insn> {
        let offset = pc.checked_sub(windows::START)?;
        // In the middle of an instruction the bytes mean another.
        *self.insns.get(offset as usize / 2)?
    }

    fn function(&self, pc: u64) -> Option<Range<u64>> {
        let end = windows::START + (self.range.end - self.range.start);
        let range = windows::START..end;
        range.contains(&pc).then_some(range)
    }

    fn constant(&self, address: u64, len: u64) -> Option<u64> {
        match self.ask(Query::Constant(address, len))[..] {
            [_, value] => Some(value),
            _ => None,
        }
    }

    fn is_address(&self, address: u64) -> bool {
        self.ask(Query::Constant(address, 8)).first() == Some(&1)
    }

    fn is_placed(&self) -> bool {
        false
    }

    fn entries(&self, _: &Range<u64>) -> Vec<u64> {
        self.entries.clone()
    }

    fn jump(&self, pc: u64) -> Option<Vec<u64>> {
        let answer = self.ask(Query::Jump(pc));
        answer.split_first().map(|(_, targets)| targets.to_vec())
    }

    fn table_target(&self, entry: u64, base: Option<u64>) -> Option<u64> {
        self.ask(Query::Table(entry, base)).first().copied()
    }

    fn linkage_slot(&self, pc: u64) -> Option<u64> {
        self.ask(Query::Slot(pc)).first().copied()
    }

    fn call_stub(&self, pc: u64) -> Option<(u64, Callee)> {
        match self.ask(Query::Stub(pc))[..] {
            [address, slot] => Some((address, Callee::Slot(slot))),
            _ => None,
        }
    }

    fn resolve(&self, target: u64) -> Option<crate::Target> {
        let at = self.ask(Query::Resolve(target)).first().copied()?;
        Some(crate::Target::Guest(at))
    }
}
