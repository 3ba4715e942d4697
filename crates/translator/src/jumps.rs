//! The targets of jumps through registers.
//!
//! The compiler has recorded the targets, or else they may be anywhere. A jump by a table that never
//! changes is decided by the table's index.
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::program::Program;
use crate::registers::{Reg, Regs, SAVED, SP, bit};
use crate::tables::{Tables, instructions};
use flick_riscv::{Class, Insn, Op};

/// A jump by a table that never changes: the address follows from the index alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indexed {
    /// The instruction of the block that makes the address of the entry, and the register with the
    /// index.
    pub address: usize,
    pub index: Reg,
    /// The instruction that loads the entry, and the registers of which only it and the jump have a
    /// use.
    pub load: usize,
    pub scratch: Regs,
    /// Where each index leads; 0: nowhere.
    pub targets: Vec<u64>,
}

/// Where a jump leads.
#[derive(Debug, PartialEq, Eq)]
pub enum Leads {
    /// Out of the function: a tail call.
    Out,
    /// The same, of the function at this address.
    OutTo(u64),
    /// Nothing is known.
    Anywhere,
    /// To one of these, in ascending order.
    To {
        targets: Vec<u64>,
        /// These are all.
        only: bool,
        indexed: Option<Indexed>,
    },
}

/// The jumps through registers of a function.
pub struct Jumps<'a> {
    program: &'a dyn Program,
    range: Range<u64>,
    tables: OnceCell<Tables>,
    /// Addresses that registers which callees keep have in the whole function once they have been
    /// set.
    kept: OnceCell<BTreeMap<Reg, u64>>,
}

/// What is known of one jump.
struct Known<'a> {
    insns: &'a [(u64, Insn)],
    /// Registers that have one address wherever they are read.
    kept: Option<&'a BTreeMap<Reg, u64>>,
    /// Where the table leads, in ascending order.
    targets: &'a [u64],
}

impl<'a> Jumps<'a> {
    pub fn new(program: &'a dyn Program, range: Range<u64>) -> Self {
        Self {
            program,
            range,
            tables: OnceCell::new(),
            kept: OnceCell::new(),
        }
    }

    /// What the function's makers have said, in ascending order.
    fn recorded(&self, pc: u64) -> Option<Vec<u64>> {
        let mut targets = self.program.jump(pc)?;
        let said = targets.len();
        targets.retain(|target| self.range.contains(target) && target % 2 == 0);
        targets.sort_unstable();
        targets.dedup();
        // What leads into another function is no record of this one.
        (said == 0 || !targets.is_empty()).then_some(targets)
    }

    fn tables(&self) -> &Tables {
        self.tables
            .get_or_init(|| Tables::of(self.program, &self.range))
    }

    /// Where control is seen to go by the jump at `pc`, and by others.
    pub fn targets(&self, pc: u64) -> Cow<'_, [u64]> {
        match self.recorded(pc) {
            Some(targets) => Cow::Owned(targets),
            None => Cow::Borrowed(&self.tables().all),
        }
    }

    /// The jump at the end of `insns`, which are of one block.
    pub fn of(&self, insns: &[(u64, Insn)]) -> Leads {
        let Some(&(pc, jump)) = insns.last() else {
            return Leads::Anywhere;
        };
        if let Some(target) = far(insns)
            && !self.range.contains(&target)
        {
            return Leads::OutTo(target);
        }
        let Some(targets) = self.recorded(pc) else {
            return self
                .by_own_table(insns, jump.rs1())
                .unwrap_or(Leads::Anywhere);
        };
        if targets.is_empty() {
            return Leads::Out;
        }
        let kept = self
            .kept
            .get_or_init(|| kept(&instructions(self.program, &self.range)));
        let known = Known {
            insns,
            kept: Some(kept),
            targets: &targets,
        };
        let before = &insns[..insns.len() - 1];
        let at = writer(before, jump.rs1());
        let indexed = at.and_then(|at| self.indexed(&known, at));
        Leads::To {
            targets,
            only: true,
            indexed,
        }
    }

    /// A jump of which nobody has said anything, if it looks like one by table: its address was
    /// added up or loaded there by an index, where a tail call loads it from a constant's place or
    /// an object.
    fn by_own_table(&self, insns: &[(u64, Insn)], reg: Reg) -> Option<Leads> {
        let tables = self.tables();
        if tables.all.is_empty() {
            return None;
        }
        let to = |targets: &[u64], indexed| Leads::To {
            targets: targets.to_vec(),
            only: false,
            indexed,
        };
        let before = &insns[..insns.len() - 1];
        let Some(at) = writer(before, reg) else {
            return Some(to(&tables.all, None));
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
        let own = |reg| tables.by_base.get(&constant(&before[..at], reg)?);
        let Some(targets) = bases.into_iter().find_map(own) else {
            return Some(to(&tables.all, None));
        };
        let known = Known {
            insns,
            kept: None,
            targets,
        };
        Some(to(targets, self.indexed(&known, at)))
    }

    /// `at` makes the address of the jump at the end of `insns`: it adds a loaded offset to a base,
    /// or loads the address; `sh2add` or `sh3add` makes the place of what is loaded.
    fn indexed(&self, known: &Known, at: usize) -> Option<Indexed> {
        /// Indices that are tried.
        const MOST: u64 = 4096;
        let insns = known.insns;
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
                Some(known.base(before(at), base)?),
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
        let first = known
            .base(before(address), place.rs2())?
            .wrapping_add(entry.imm());
        let target = |n: u64| {
            let entry = first.wrapping_add(size * n);
            let target = self.program.table_target(entry, added)?;
            if known.targets.binary_search(&target).is_ok() {
                Some(target)
            } else {
                // Nothing, a block that is gone, what is behind the function.
                let is_hole = target <= 1 || target == self.range.end;
                is_hole.then_some(0)
            }
        };
        let mut targets: Vec<u64> = (0..MOST).map_while(target).collect();
        while targets.last() == Some(&0) {
            targets.pop();
        }
        // What is between may be executed again where an index is none of the table.
        let scratch = bit(entry.rd()) | bit(insns[at].1.rd());
        let end = insns.len() - 1;
        let between = (address + 1..end).filter(|&n| n != load && n != at);
        let is_free = |n: usize| {
            let insn = insns[n].1;
            !changes_more_than_registers(insn.op())
                && (n < load || (insn.reads() | insn.writes()) & scratch == 0)
        };
        let is_alone = between.into_iter().all(is_free);
        let is_jump = insns[end].1.imm() == 0;
        // Of a larger table the address decides.
        let is_whole = !targets.is_empty() && targets.len() < MOST as usize;
        (is_jump && is_alone && is_whole).then_some(Indexed {
            address,
            index: place.rs1(),
            load,
            scratch,
            targets,
        })
    }
}

impl Known<'_> {
    /// The address that a register has behind `before`.
    fn base(&self, before: &[(u64, Insn)], reg: Reg) -> Option<u64> {
        match writer(before, reg) {
            Some(_) => constant(before, reg),
            None => self.kept?.get(&reg).copied(),
        }
    }
}

/// Whether an instruction may change memory or the vector state, or order others' changes.
fn changes_more_than_registers(op: Op) -> bool {
    let is_load = op.class() == Class::Load;
    matches!(op, Op::Fence | Op::Jal | Op::Jalr)
        || op.class() == Class::Vector
        || op.may_fault() && !is_load
}

fn writer(insns: &[(u64, Insn)], reg: Reg) -> Option<usize> {
    let writes = |(_, insn): &(u64, Insn)| insn.writes() & bit(reg) != 0;
    insns.iter().rposition(writes)
}

/// Where the jump at the end of `insns` leads in any case, as `auipc` before it says.
fn far(insns: &[(u64, Insn)]) -> Option<u64> {
    let (&(_, jump), before) = insns.split_last()?;
    let (pc, high) = before[writer(before, jump.rs1())?];
    let target = pc.wrapping_add(high.imm()).wrapping_add(jump.imm());
    (high.op() == Op::Auipc).then_some(target & !1)
}

/// The address that `auipc` and `addi` leave in a register.
fn constant(insns: &[(u64, Insn)], reg: Reg) -> Option<u64> {
    let low = writer(insns, reg)?;
    let insn = insns[low].1;
    let (pc, high) = insns[writer(&insns[..low], insn.rs1())?];
    let is_address = insn.op() == Op::Addi && high.op() == Op::Auipc;
    is_address.then(|| pc.wrapping_add(high.imm()).wrapping_add(insn.imm()))
}

/// The registers that callees keep which are set to one address by `auipc` and `addi`, and
/// otherwise only restored from where the function has saved them.
fn kept(starts: &BTreeMap<u64, Insn>) -> BTreeMap<Reg, u64> {
    let mut saved: BTreeMap<Reg, u64> = BTreeMap::new();
    let mut set: BTreeMap<Reg, Vec<Option<u64>>> = BTreeMap::new();
    let mut last: Option<(u64, Insn)> = None;
    for (&pc, &insn) in starts {
        let rd = insn.rd();
        if insn.op() == Op::Sd && insn.rs1() == SP && !set.contains_key(&insn.rs2()) {
            saved.entry(insn.rs2()).or_insert(insn.imm());
        } else if rd != 0 && SAVED & insn.writes() & bit(rd) != 0 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use flick_riscv::decode;

    const START: u64 = 0x1000;
    const TABLE: u64 = 0x2000;

    /// Two words of a table: the third and the last instruction; between them what is never taken.
    struct Code {
        words: Vec<u32>,
        said: Option<Vec<u64>>,
    }

    impl Program for Code {
        fn insn(&self, pc: u64) -> Option<Insn> {
            let n = pc.checked_sub(START)? / 4;
            self.words.get(n as usize).map(|&word| decode(word))
        }
        fn function(&self, _: u64) -> Option<Range<u64>> {
            Some(self.range())
        }
        fn constant(&self, address: u64, len: u64) -> Option<u64> {
            let end = self.range().end;
            let targets = [START + 8, end, end - 4];
            let n = address.checked_sub(TABLE)? / 4;
            let target = targets.get(n as usize).filter(|_| len == 4)?;
            Some(u64::from(target.wrapping_sub(TABLE) as u32))
        }
        fn jump(&self, _: u64) -> Option<Vec<u64>> {
            self.said.clone()
        }
        fn resolve(&self, _: u64) -> Option<super::super::Target> {
            None
        }
    }

    impl Code {
        fn range(&self) -> Range<u64> {
            START..START + 4 * self.words.len() as u64
        }
        /// The jump at the end of the first `len` instructions.
        fn jump(&self, len: usize) -> Leads {
            let all: Vec<_> = instructions(self, &self.range()).into_iter().collect();
            Jumps::new(self, self.range()).of(&all[..len])
        }
    }

    const AUIPC_A1_1: u32 = 0x0000_1597;
    /// addi a1, a1, -4
    const ADDI_A1: u32 = 0xffc5_8593;
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
    const BY_TABLE: [u32; 8] = [NOP, AUIPC_A1_1, ADDI_A1, INDEX, LW_A0, ADD, JR_A0, RET];

    fn code(words: &[u32], said: Option<&[u64]>) -> Code {
        Code {
            words: words.to_vec(),
            said: said.map(<[u64]>::to_vec),
        }
    }

    #[test]
    fn only_what_is_said_is_all() {
        let (first, last) = (START + 8, START + 4 * 7);
        // The makers name a target that the table lacks, and one that is no instruction of the
        // function.
        let more = [last, START, first, START + 0x1000];
        for (said, want, all) in [
            (None, vec![first, last], false),
            (Some(&more[..]), vec![START, first, last], true),
        ] {
            let Leads::To {
                targets,
                only,
                indexed,
            } = code(&BY_TABLE, said).jump(7)
            else {
                panic!("it is a jump by table");
            };
            assert_eq!((targets, only), (want, all));
            let indexed = indexed.unwrap();
            // What is never taken has an index, too.
            assert_eq!(indexed.targets, [first, 0, last]);
            assert_eq!((indexed.address, indexed.index, indexed.load), (3, 10, 4));
        }
    }

    #[test]
    fn without_a_word_it_may_lead_anywhere() {
        // ld a0, 8(a0); jr a0
        let object = [0x0085_3503, JR_A0];
        assert_eq!(code(&object, None).jump(2), Leads::Anywhere);
        assert_eq!(code(&object, Some(&[])).jump(2), Leads::Out);
        // What leads into another function only is nobody's record.
        assert_eq!(code(&object, Some(&[TABLE])).jump(2), Leads::Anywhere);
        // auipc t1, 1; jr -4(t1): out of it, or to the function's own start.
        let far = [0x0000_1317, 0xffc3_0067];
        assert_eq!(code(&far, None).jump(2), Leads::OutTo(START + 0xffc));
        let near = [0x0000_0317, 0x0003_0067];
        assert_eq!(code(&near, None).jump(2), Leads::Anywhere);
        // A table that is read is none where it says nothing of the jump.
        let other = [AUIPC_A1_1, ADDI_A1, NOP, JR_A0];
        assert_eq!(code(&other, Some(&[])).jump(4), Leads::Out);
    }

    #[test]
    fn what_would_be_executed_twice_is_not_jumped_over() {
        let with = |at: usize, word| {
            let mut words = BY_TABLE.to_vec();
            words.insert(at, word);
            match code(&words, None).jump(8) {
                Leads::To { indexed, .. } => Some(indexed.is_some()),
                _ => None,
            }
        };
        assert_eq!(with(3, STORE), Some(true), "before the address");
        assert_eq!(with(4, STORE), Some(false), "behind it");
        assert_eq!(with(4, NOP), Some(true));
        // vadd.vv v1, v1, v1; vsetvli zero, a2, e8, m1; vle8.v v1, (a2)
        for word in [0x0210_80d7, 0x0006_7057, 0x0206_0087] {
            assert_eq!(with(3, word), Some(true), "{word:#x} before the address");
            assert_eq!(with(4, word), Some(false), "{word:#x} behind it");
        }
        // addi a1, a0, 0: another reads what was loaded.
        assert_eq!(with(5, 0x0005_0593), Some(false));
    }
}
