//! Where jumps through registers lead: tables of offsets or addresses that a function has among its constants.
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::function::{Flow, flow};
use super::liveness::{may_fault, reads_writes};
use super::program::Program;
use super::registers::{Reg, Regs, SAVED, SP, bit};
use crate::op::{Insn, Op};

/// A jump by a table that never changes: the address follows from the index alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indexed {
    /// The instruction of the block that makes the address of the entry, and the register with the index.
    pub address: usize,
    pub index: Reg,
    /// The instruction that loads the entry, and the registers of which only it and the jump have a use.
    pub load: usize,
    pub scratch: Regs,
    /// Where each index leads; 0: nowhere.
    pub targets: Vec<u64>,
}

/// Where a jump leads.
pub struct Jump<'a> {
    pub targets: &'a [u64],
    /// Whether these are all: they are those of its own table.
    pub is_complete: bool,
    pub indexed: Option<Indexed>,
}

/// The targets of a function's tables.
#[derive(Default)]
pub struct Tables {
    /// Of all of them.
    pub all: Vec<u64>,
    /// By the address of each table.
    by_base: BTreeMap<u64, Vec<u64>>,
    /// Addresses that registers which callees keep have in the whole function once they have been set.
    kept: BTreeMap<Reg, u64>,
    /// Of entries that are never taken.
    end: u64,
}

fn fetch(program: &dyn Program, range: &Range<u64>, pc: u64) -> Option<Insn> {
    range.contains(&pc).then(|| program.insn(pc)).flatten()
}

impl Tables {
    /// Every table of offsets or addresses that a constant of the function leads to. What is no table of this
    /// function ends at its first entry, and a target too many does no harm: where `jr` goes is decided by the
    /// address that the guest computes.
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
            kept: if program.is_compiled() {
                kept(&starts)
            } else {
                BTreeMap::new()
            },
            end: range.end,
        }
    }

    /// The jump through `reg` at the end of `insns`, if it looks like one by table: its address was added up or
    /// loaded there by an index, where a tail call loads it from a constant's place or an object.
    pub fn of_jump(
        &self,
        program: &dyn Program,
        insns: &[(u64, Insn)],
        reg: Reg,
    ) -> Option<Jump<'_>> {
        if self.all.is_empty() {
            return None;
        }
        let unknown = Jump {
            targets: &self.all,
            is_complete: false,
            indexed: None,
        };
        let before = &insns[..insns.len() - 1];
        let Some(at) = writer(before, reg) else {
            return Some(unknown);
        };
        let insn = before[at].1;
        let bases = match insn.op() {
            Op::Add | Op::Sh1add | Op::Sh2add => [insn.rs1(), insn.rs2()],
            Op::Ld => {
                let index = before[writer(&before[..at], insn.rs1())?].1;
                if !matches!(index.op(), Op::Add | Op::Sh3add) {
                    return None;
                }
                [index.rs1(), index.rs2()]
            }
            _ => return None,
        };
        let own = |reg| self.by_base.get(&self.base(&before[..at], reg)?);
        let Some(targets) = bases.into_iter().find_map(own) else {
            return Some(unknown);
        };
        Some(Jump {
            targets,
            is_complete: true,
            indexed: self.indexed(program, insns, at),
        })
    }

    /// The address that a register has behind `before`.
    fn base(&self, before: &[(u64, Insn)], reg: Reg) -> Option<u64> {
        match writer(before, reg) {
            Some(_) => constant(before, reg),
            None => self.kept.get(&reg).copied(),
        }
    }

    /// `at` makes the address of the jump at the end of `insns`: it adds a loaded offset to a base, or loads the
    /// address; `sh2add` or `sh3add` makes the place of what is loaded.
    fn indexed(&self, program: &dyn Program, insns: &[(u64, Insn)], at: usize) -> Option<Indexed> {
        /// Indices that are tried.
        const MOST: u64 = 4096;
        let before = |n: usize| &insns[..n];
        let sum = insns[at].1;
        let (load, added) = if sum.op() == Op::Ld {
            (at, None)
        } else if sum.op() == Op::Add {
            let is_load = |&&reg: &&Reg| {
                let load = writer(before(at), reg);
                load.is_some_and(|load| insns[load].1.op() == Op::Lw)
            };
            let both = [sum.rs1(), sum.rs2()];
            let offset = *both.iter().find(is_load)?;
            let base = if both[0] == offset { both[1] } else { both[0] };
            (
                writer(before(at), offset)?,
                Some(self.base(before(at), base)?),
            )
        } else {
            return None;
        };
        let entry = insns[load].1;
        let address = writer(before(load), entry.rs1())?;
        let place = insns[address].1;
        let (size, op) = match added {
            Some(_) => (4, Op::Sh2add),
            None => (8, Op::Sh3add),
        };
        if place.op() != op {
            return None;
        }
        let first = self
            .base(before(address), place.rs2())?
            .wrapping_add(entry.imm());
        let target = |n: u64| {
            let word = program.constant(first.wrapping_add(size * n), size)?;
            let target = match added {
                Some(base) => base.wrapping_add(word as i32 as u64),
                None => word,
            };
            if self.all.binary_search(&target).is_ok() {
                Some(target)
            } else {
                (target == self.end || target == 1).then_some(0)
            }
        };
        let targets: Vec<u64> = (0..MOST).map_while(target).collect();
        // What is between may be executed again where an index is none of the table.
        let scratch = bit(entry.rd()) | bit(insns[at].1.rd());
        let end = insns.len() - 1;
        let between = (address + 1..end).filter(|&n| n != load && n != at);
        let is_free = |n: usize| {
            let insn = insns[n].1;
            let (reads, writes) = reads_writes(insn);
            !changes_memory(insn.op()) && (n < load || (reads | writes) & scratch == 0)
        };
        let is_alone = between.into_iter().all(is_free);
        let is_jump = insns[end].1.imm() == 0;
        (is_jump && is_alone && !targets.is_empty()).then_some(Indexed {
            address,
            index: place.rs1(),
            load,
            scratch,
            targets,
        })
    }
}

/// Whether an instruction may change memory, or order others' changes.
fn changes_memory(op: Op) -> bool {
    use Op::*;
    let is_load = matches!(op, Lb | Lh | Lw | Ld | Lbu | Lhu | Lwu | Flw | Fld);
    matches!(op, Fence | Jal | Jalr) || may_fault(op) && !is_load
}

fn writer(insns: &[(u64, Insn)], reg: Reg) -> Option<usize> {
    let writes = |(_, insn): &(u64, Insn)| reads_writes(*insn).1 & bit(reg) != 0;
    insns.iter().rposition(writes)
}

/// The address that `auipc` and `addi` leave in a register.
fn constant(insns: &[(u64, Insn)], reg: Reg) -> Option<u64> {
    let low = writer(insns, reg)?;
    let insn = insns[low].1;
    let (pc, high) = insns[writer(&insns[..low], insn.rs1())?];
    let is_address = insn.op() == Op::Addi && high.op() == Op::Auipc;
    is_address.then(|| pc.wrapping_add(high.imm()).wrapping_add(insn.imm()))
}

/// The registers that callees keep which are set to one address by `auipc` and `addi`, and otherwise only
/// restored from where the function has saved them.
fn kept(starts: &BTreeMap<u64, Insn>) -> BTreeMap<Reg, u64> {
    let mut saved: BTreeMap<Reg, u64> = BTreeMap::new();
    let mut set: BTreeMap<Reg, Vec<Option<u64>>> = BTreeMap::new();
    let mut last: Option<(u64, Insn)> = None;
    for (&pc, &insn) in starts {
        let rd = insn.rd();
        if insn.op() == Op::Sd && insn.rs1() == SP && !set.contains_key(&insn.rs2()) {
            saved.entry(insn.rs2()).or_insert(insn.imm());
        } else if rd != 0 && SAVED & reads_writes(insn).1 & bit(rd) != 0 {
            let all = set.entry(rd).or_default();
            match (insn.op(), last) {
                (Op::Ld, _) if insn.rs1() == SP && saved.get(&rd) == Some(&insn.imm()) => {}
                (Op::Addi, Some((at, high)))
                    if high.op() == Op::Auipc && high.rd() == insn.rs1() =>
                {
                    if high.rd() == rd {
                        all.pop();
                    }
                    all.push(Some(at.wrapping_add(high.imm()).wrapping_add(insn.imm())));
                }
                _ => all.push(None),
            }
        }
        last = Some((pc, insn));
    }
    let one = |(reg, all): (Reg, Vec<Option<u64>>)| match all[..] {
        [Some(address)] => Some((reg, address)),
        _ => None,
    };
    set.into_iter().filter_map(one).collect()
}

/// Targets of the table at `base`: it is one as long as its entries lead into the function, or nowhere.
fn table_at(program: &dyn Program, base: u64, starts: &BTreeMap<u64, Insn>, end: u64) -> Vec<u64> {
    // What is never taken leads to where code that cannot be reached would stand, behind the function.
    let is_entry = |&target: &u64| starts.contains_key(&target) || target == end;
    let offsets = (0..).map_while(|n| {
        let offset = program.constant(base.wrapping_add(4 * n), 4)?;
        Some(base.wrapping_add(offset as i32 as u64)).filter(is_entry)
    });
    // LLVM gives blocks that are gone the address 1.
    let addresses = (0..).map_while(|n| {
        let target = program.constant(base.wrapping_add(8 * n), 8)?;
        Some(target).filter(|target| is_entry(target) || *target == 1)
    });
    // The address may be that of an entry in the middle, for an index with a constant added.
    let before = (1..).map_while(|n| {
        let target = program.constant(base.wrapping_sub(8 * n), 8)?;
        Some(target).filter(|target| is_entry(target) || *target == 1)
    });
    let all: BTreeSet<u64> = offsets.chain(addresses).chain(before).collect();
    let leads = |target: &u64| starts.contains_key(target);
    all.into_iter().filter(leads).collect()
}

/// The instructions, if the function is one sequence of them.
fn instructions(program: &dyn Program, range: &Range<u64>) -> BTreeMap<u64, Insn> {
    let mut all = BTreeMap::new();
    let mut pc = range.start;
    while let Some(insn) = fetch(program, range, pc) {
        all.insert(pc, insn);
        pc += insn.len();
    }
    all
}

/// The jumps through registers that are no tail calls, since the function has its frame there: sp is known
/// to be lower than at its start (RISC-V psABI: sp is preserved across calls).
pub fn within_frame(program: &dyn Program, range: &Range<u64>, tables: &Tables) -> BTreeSet<u64> {
    /// Bytes that sp is above what it was at the start; `None`: not always the same.
    type Above = Option<i64>;
    let mut known: BTreeMap<u64, Above> = BTreeMap::new();
    let mut jumps = BTreeMap::new();
    let mut todo: Vec<(u64, Above)> = vec![(range.start, Some(0))];
    while let Some((mut pc, mut above)) = todo.pop() {
        loop {
            match known.get(&pc) {
                Some(&before) if before == above || before.is_none() => break,
                Some(_) => above = None,
                None => {}
            }
            known.insert(pc, above);
            let Some(insn) = fetch(program, range, pc) else {
                break;
            };
            let next = pc + insn.len();
            if reads_writes(insn).1 & bit(SP) != 0 {
                above = match (insn.op(), insn.rs1()) {
                    (Op::Addi, SP) => above.map(|above| above.wrapping_add(insn.imm() as i64)),
                    _ => None,
                };
            }
            match flow(pc, insn, range) {
                Flow::Next | Flow::Call(_) | Flow::CallIndirect => {}
                Flow::Branch(target) => todo.push((target, above)),
                Flow::Jump(target) => {
                    pc = target;
                    continue;
                }
                Flow::JumpIndirect => {
                    jumps.insert(pc, above);
                    todo.extend(tables.all.iter().map(|&target| (target, above)));
                    break;
                }
                // What the interpreter executes goes on behind it.
                Flow::Interpret => {}
                Flow::TailCall(_) | Flow::Return => break,
            }
            pc = next;
        }
    }
    let lower = |(pc, above): (u64, Above)| above.is_some_and(|above| above < 0).then_some(pc);
    jumps.into_iter().filter_map(lower).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;

    const START: u64 = 0x1000;
    const TABLE: u64 = 0x2000;

    struct Code(Vec<u32>);

    impl Program for Code {
        fn insn(&self, pc: u64) -> Option<Insn> {
            let n = pc.checked_sub(START)? / 4;
            self.0.get(n as usize).map(|&word| decode(word))
        }
        fn function(&self, _: u64) -> Option<Range<u64>> {
            Some(self.range())
        }
        fn constant(&self, address: u64, len: u64) -> Option<u64> {
            // Two targets: the third and the last instruction; between them what is never taken.
            let end = self.range().end;
            let targets = [START + 8, end, end - 4];
            let n = address.checked_sub(TABLE)? / 4;
            let target = targets.get(n as usize).filter(|_| len == 4)?;
            Some(u64::from(target.wrapping_sub(TABLE) as u32))
        }
        fn resolve(&self, _: u64) -> Option<super::super::Target> {
            None
        }
    }

    impl Code {
        fn range(&self) -> Range<u64> {
            START..START + 4 * self.0.len() as u64
        }
        fn within_frame(&self) -> Vec<u64> {
            let tables = Tables::of(self, &self.range());
            assert_eq!(tables.all.len(), 2);
            within_frame(self, &self.range(), &tables)
                .into_iter()
                .collect()
        }
    }

    const AUIPC_A1_1: u32 = 0x0000_1597;
    /// addi a1, a1, -4
    const ADDI_A1: u32 = 0xffc5_8593;
    /// addi sp, sp, -16
    const DOWN: u32 = 0xff01_0113;
    /// addi sp, sp, 16
    const UP: u32 = 0x0101_0113;
    const NOP: u32 = 0x0000_0013;
    const LW_A0: u32 = 0x0005_2503;
    /// sh2add a0, a0, a1
    const INDEX: u32 = 0x20b5_4533;
    /// add a0, a0, a1
    const ADD: u32 = 0x00b5_0533;
    /// sd a0, 0(a2)
    const STORE: u32 = 0x00a6_3023;
    const JR_A0: u32 = 0x0005_0067;
    const RET: u32 = 0x0000_8067;

    #[test]
    fn a_jump_with_a_frame_is_no_tail_call() {
        let jump = |first: u32, before: u32| {
            Code(vec![
                first, AUIPC_A1_1, ADDI_A1, INDEX, LW_A0, ADD, before, JR_A0, UP, RET,
            ])
        };
        let at = START + 4 * 7;
        assert_eq!(jump(DOWN, NOP).within_frame(), [at]);
        assert!(jump(DOWN, UP).within_frame().is_empty());
        assert!(jump(NOP, NOP).within_frame().is_empty());
        // A loop in which sp sinks.
        let sinks = Code(vec![
            NOP, AUIPC_A1_1, DOWN, ADDI_A1, INDEX, LW_A0, ADD, JR_A0, RET,
        ]);
        assert!(sinks.within_frame().is_empty());
    }

    #[test]
    fn each_jump_has_its_own_table() {
        let code = Code(vec![
            NOP, AUIPC_A1_1, ADDI_A1, INDEX, LW_A0, ADD, JR_A0, RET,
        ]);
        let tables = Tables::of(&code, &code.range());
        let insns: Vec<(u64, Insn)> = instructions(&code, &code.range()).into_iter().collect();
        assert_eq!(tables.by_base.keys().copied().collect::<Vec<_>>(), [TABLE]);
        assert_eq!(constant(&insns[..5], 11), Some(TABLE));
        let jump = |insns| tables.of_jump(&code, insns, 10);
        let own = jump(&insns[..7]).unwrap();
        assert_eq!((own.targets, own.is_complete), (&tables.all[..], true));
        let indexed = own.indexed.unwrap();
        // What is never taken has an index, too.
        assert_eq!(indexed.targets, [START + 8, 0, START + 4 * 7]);
        assert_eq!((indexed.address, indexed.index, indexed.load), (3, 10, 4));
        // A tail call through what an object holds.
        let object = [(START, decode(0x0085_3503)), (START + 4, decode(JR_A0))];
        assert!(jump(&object).is_none());
    }

    #[test]
    fn what_would_be_executed_twice_is_not_jumped_over() {
        let with = |at: usize, word| {
            let mut words = vec![AUIPC_A1_1, ADDI_A1, INDEX, LW_A0, ADD, JR_A0, RET];
            words.insert(at, word);
            words.insert(0, NOP);
            let code = Code(words);
            let insns: Vec<_> = instructions(&code, &code.range()).into_iter().collect();
            let tables = Tables::of(&code, &code.range());
            tables
                .of_jump(&code, &insns[..8], 10)
                .map(|jump| jump.indexed.is_some())
        };
        assert_eq!(with(2, STORE), Some(true), "before the address");
        assert_eq!(with(3, STORE), Some(false), "behind it");
        assert_eq!(with(3, NOP), Some(true));
        // addi a1, a0, 0: another reads what was loaded.
        assert_eq!(with(4, 0x0005_0593), Some(false));
    }
}
