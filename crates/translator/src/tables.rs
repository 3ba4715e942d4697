//! Tables of offsets or addresses that a function has among its constants.
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::program::Program;
use flick_riscv::{Insn, Op};

/// The targets of a function's tables.
#[derive(Default)]
pub struct Tables {
    /// Of all of them.
    pub all: Vec<u64>,
    /// By the address of each table.
    pub by_base: BTreeMap<u64, Vec<u64>>,
}

impl Tables {
    /// Every table of offsets or addresses that a constant of the function leads to. What is no
    /// table of this function ends at its first entry, and a target too many does no harm: where
    /// `jr` goes is decided by the address that the guest computes. There may be other tables, and
    /// tables with more entries than are seen.
    pub fn of(program: &dyn Program, range: &Range<u64>) -> Self {
        let mut by_base = BTreeMap::new();
        let mut high: [Option<u64>; 32] = [None; 32];
        let starts = instructions(program, range);
        for (&pc, insn) in &starts {
            let base = match insn.op() {
                Op::Auipc => Some(pc.wrapping_add(insn.imm())),
                Op::Addi => high[insn.rs1()].map(|base| base.wrapping_add(insn.imm())),
                _ => None,
            };
            if let (Op::Addi, Some(base)) = (insn.op(), base)
                && !by_base.contains_key(&base)
            {
                let targets = table_at(program, base, &starts, range.end);
                if !targets.is_empty() {
                    by_base.insert(base, targets);
                }
            }
            if insn.rd() != 0 {
                high[insn.rd()] = base;
            }
        }
        let all: BTreeSet<u64> = by_base.values().flatten().copied().collect();
        Self {
            all: all.into_iter().collect(),
            by_base,
        }
    }
}

/// Targets of the table at `base`: it is one as long as its entries lead into the function, or
/// nowhere.
fn table_at(program: &dyn Program, base: u64, starts: &BTreeMap<u64, Insn>, end: u64) -> Vec<u64> {
    // What is never taken leads to where code that cannot be reached would stand, behind the
    // function.
    let is_entry = |&target: &u64| starts.contains_key(&target) || target == end;
    let offsets = (0..).map_while(|n| {
        let target = program.table_target(base.wrapping_add(4 * n), Some(base))?;
        Some(target).filter(is_entry)
    });
    // LLVM gives blocks that are gone the address 1.
    let addresses = (0..).map_while(|n| {
        let target = program.table_target(base.wrapping_add(8 * n), None)?;
        Some(target).filter(|target| is_entry(target) || *target == 1)
    });
    // The address may be that of an entry in the middle, for an index with a constant added.
    let before = (1..).map_while(|n| {
        let target = program.table_target(base.wrapping_sub(8 * n), None)?;
        Some(target).filter(|target| is_entry(target) || *target == 1)
    });
    let all: BTreeSet<u64> = offsets.chain(addresses).chain(before).collect();
    let leads = |target: &u64| starts.contains_key(target);
    all.into_iter().filter(leads).collect()
}

/// The instructions, if the function is one sequence of them.
pub fn instructions(program: &dyn Program, range: &Range<u64>) -> BTreeMap<u64, Insn> {
    let mut all = BTreeMap::new();
    let mut pc = range.start;
    while let Some(insn) = program.insn(pc).filter(|_| range.contains(&pc)) {
        all.insert(pc, insn);
        pc += insn.len();
    }
    all
}
