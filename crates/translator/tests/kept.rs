//! Translations that are kept: they serve wherever a link puts the function, and not if anything
//! that they were made from has changed.
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use flick_riscv::{Insn, decode};
use flick_riscv_testing::asm;
use flick_translator::{Ahead, Counting, Kept, Made, Program, Summary, Target};

/// A module. `F` calls `G`, reads a variable and jumps by a table.
#[derive(Clone)]
struct Module {
    f: u64,
    g: u64,
    variable: u64,
    /// Whose first word is in the table of addresses.
    slot: u64,
    named: u64,
    table: u64,
    entries: Vec<i32>,
    said: Option<Vec<u64>>,
    pads: Vec<u64>,
    reads: u16,
    constant: i32,
    /// `G` is an entry of the procedure linkage table.
    is_linkage: bool,
    with_origins: bool,
}

const INSNS: u64 = 25;
const BLOCKS: [u64; 2] = [18, 21];

impl Module {
    fn new() -> Self {
        Self {
            f: 0x1000,
            g: 0x3000,
            variable: 0x9_0008,
            slot: 0x8_0ff8,
            named: 0x9_1230,
            table: 0x7_0020,
            entries: BLOCKS.map(|n| 4 * n as i32).to_vec(),
            said: Some(BLOCKS.map(|n| 4 * n).to_vec()),
            pads: vec![],
            reads: 1,
            constant: 77,
            is_linkage: false,
            with_origins: false,
        }
    }

    /// The same with everything elsewhere.
    fn moved(&self) -> Self {
        Self {
            f: self.f + 0x1_0ffe,
            g: self.g + 0x2_1ffc,
            ..self.clone()
        }
        .with_data(0x5_1008)
    }

    fn with_data(mut self, by: u64) -> Self {
        self.variable = 0x9_0008 + 3 * by;
        self.slot += by;
        self.named += 2 * by;
        self.table += 7 * by;
        self
    }

    /// `auipc` and what adds the low part.
    fn far(&self, n: u64, rd: u32, target: u64, low: impl Fn(i32) -> u32) -> [u32; 2] {
        let distance = target.wrapping_sub(self.f + 4 * n) as i32;
        let high = distance.wrapping_add(0x800) & !0xfff;
        [(high as u32) | rd << 7 | 0x17, low(distance - high)]
    }

    fn words(&self) -> Vec<u32> {
        let [ra, sp, t0, t1, s1, a0, a1] = [1, 2, 5, 6, 9, 10, 11];
        let lw = |rd, rs1, imm| asm::i(0x2003, rd, rs1, imm);
        let mut words = vec![
            asm::addi(sp, sp, -16),
            asm::sd(ra, sp, 8),
            asm::sd(s1, sp, 0),
        ];
        // The variable, its low part in the load.
        words.extend(self.far(3, t0, self.variable, |low| lw(s1, t0, low)));
        // What the word in the table of addresses names.
        words.extend(self.far(5, t1, self.slot, |low| asm::ld(t1, t1, low)));
        words.push(asm::sd(a0, t1, 0));
        words.push(asm::jal(ra, self.g.wrapping_sub(self.f + 4 * 8) as i32));
        words.push(asm::r(0x33, a0, a0, s1));
        words.push(asm::addi(a0, a0, self.constant));
        // By table.
        words.extend(self.far(11, a1, self.table, |low| asm::addi(a1, a1, low)));
        words.extend([
            asm::r(0x2000_4033, a0, a0, a1),
            lw(a0, a0, 0),
            asm::r(0x33, a0, a0, a1),
            asm::jr(a0),
            asm::addi(0, 0, 0),
        ]);
        assert_eq!(words.len() as u64, BLOCKS[0]);
        for k in [1, 2] {
            words.extend([
                asm::addi(a0, 0, k),
                asm::jal(0, 4 * if k == 1 { 5 } else { 2 }),
            ]);
            words.push(asm::addi(0, 0, 0));
        }
        words.pop();
        words.push(asm::ld(s1, sp, 0));
        words.push(asm::jr(ra));
        assert_eq!(words.len() as u64, INSNS);
        words
    }

    fn linked(&self) -> Linked {
        let mut insns = BTreeMap::new();
        for (n, word) in self.words().into_iter().enumerate() {
            insns.insert(self.f + 4 * n as u64, decode(word));
        }
        if self.is_linkage {
            // auipc t3, 1; ld t3, 0(t3); jalr t1, t3
            let words = [0x0000_1e17, 0x000e_3e03, 0x000e_0367];
            for (n, word) in words.into_iter().enumerate() {
                insns.insert(self.g + 4 * n as u64, decode(word));
            }
        } else {
            insns.insert(self.g, decode(asm::jr(1)));
        }
        Linked {
            module: self.clone(),
            insns,
        }
    }

    fn link<'a>(&self, kept: &Kept<'a>) -> (Ahead, Made<'a>) {
        let entries = BTreeSet::from([self.f]);
        Ahead::of(
            &self.linked(),
            &entries,
            self.with_origins,
            Counting::None,
            kept,
        )
    }
}

struct Linked {
    module: Module,
    insns: BTreeMap<u64, Insn>,
}

impl Program for Linked {
    fn insn(&self, pc: u64) -> Option<Insn> {
        self.insns.get(&pc).copied()
    }

    fn function(&self, pc: u64) -> Option<Range<u64>> {
        let m = &self.module;
        let f = m.f..m.f + 4 * INSNS;
        let g = m.g..m.g + 4;
        let all = [Some(f), (!m.is_linkage).then_some(g)];
        all.into_iter().flatten().find(|range| range.contains(&pc))
    }

    fn constant(&self, address: u64, len: u64) -> Option<u64> {
        let m = &self.module;
        if address == m.slot && len == 8 {
            return Some(m.named);
        }
        let n = address.checked_sub(m.table).filter(|_| len == 4)? / 4;
        let to = *m.entries.get(usize::try_from(n).ok()?)?;
        let target = m.f.wrapping_add_signed(to.into());
        Some(u64::from(target.wrapping_sub(m.table) as u32))
    }

    fn jump(&self, _: u64) -> Option<Vec<u64>> {
        let said = self.module.said.as_ref()?;
        Some(said.iter().map(|at| self.module.f + at).collect())
    }

    fn entries(&self, _: &Range<u64>) -> Vec<u64> {
        self.module
            .pads
            .iter()
            .map(|at| self.module.f + at)
            .collect()
    }

    fn summary(&self, pc: u64) -> Option<Summary> {
        let reads = if pc == self.module.g {
            self.module.reads
        } else {
            0xff
        };
        Some(Summary::declared([reads, 3, 0xff], [false, false]))
    }

    fn is_placed(&self) -> bool {
        false
    }

    fn is_address(&self, address: u64) -> bool {
        address == self.module.slot
    }

    fn resolve(&self, target: u64) -> Option<Target> {
        (target < 0x7_0000).then_some(Target::Guest(target))
    }
}

/// What makes up the translation.
fn contents(ahead: &Ahead) -> String {
    format!("{ahead:?}")
}

/// A link with what another has kept, which must be as one without.
fn relink(before: &Module, after: &Module) -> usize {
    let (_, made) = before.link(&Kept::default());
    let mut kept = Kept::default();
    for (key, record) in &made.records {
        kept.add(*key, record);
    }
    let (clean, new) = after.link(&Kept::default());
    let (ahead, again) = after.link(&kept);
    assert_eq!(contents(&ahead), contents(&clean));
    // What the next link has is the same, too.
    assert_eq!(again.records, new.records);
    assert_eq!((again.functions, again.at_their_place), (1, 0));
    again.reused
}

#[test]
fn the_same_function_elsewhere() {
    let module = Module::new();
    for with_origins in [false, true] {
        let module = Module {
            with_origins,
            ..module.clone()
        };
        assert_eq!(relink(&module, &module), 1);
        let moved = module.moved();
        assert_eq!(relink(&module, &moved), 1);
        assert_eq!(relink(&moved, &module), 1);
        // The translation is not the same: it has the addresses.
        let fixups = |module: &Module| module.link(&Kept::default()).0.fixups;
        assert_ne!(fixups(&module), fixups(&moved));
    }
}

type Change<'a> = &'a dyn Fn(&mut Module);

#[test]
fn anything_that_was_asked_has_changed() {
    let old = Module::new();
    let changes: [(&str, Change); 11] = [
        ("an instruction", &|m| m.constant += 1),
        ("what the callee reads", &|m| m.reads = 3),
        ("the table's length", &|m| m.entries.truncate(1)),
        ("the table's targets", &|m| m.entries.reverse()),
        ("where the jump leads", &|m| {
            m.said = Some(vec![4 * BLOCKS[0]])
        }),
        ("that this is known", &|m| m.said = None),
        ("a landing pad", &|m| m.pads = vec![4 * 9]),
        ("the callee's kind", &|m| m.is_linkage = true),
        ("debug information", &|m| m.with_origins = true),
        ("the variable is the one that is named", &|m| {
            m.variable = m.named
        }),
        ("the callee is the function", &|m| m.g = m.f),
    ];
    for (what, change) in changes {
        let mut new = old.clone();
        change(&mut new);
        assert_eq!(relink(&old, &new), 0, "{what}");
        assert_eq!(relink(&new, &old), 0, "{what}");
        assert_eq!(relink(&new, &new), 1, "{what}");
    }
}

#[test]
fn what_a_record_names_may_move_apart() {
    // Two places that were one's neighbours.
    let old = Module::new();
    let new = Module {
        named: old.variable + 8,
        ..old.clone()
    };
    assert_eq!(relink(&old, &new), 1);
}

#[test]
fn records_are_read_with_care() {
    let module = Module::new();
    let (clean, made) = module.link(&Kept::default());
    let [(key, record)] = &made.records[..] else {
        panic!("{} records", made.records.len());
    };
    for at in 0..record.len() {
        let mut damaged = record.to_vec();
        damaged.truncate(at);
        let mut kept = Kept::default();
        kept.add(*key, &damaged);
        // A record that ends early is none.
        let (ahead, again) = module.link(&kept);
        assert_eq!(again.reused, 0, "{at}");
        assert_eq!(contents(&ahead), contents(&clean));
        // Of others nothing but an end is expected.
        for bit in 0..8 {
            let mut damaged = record.to_vec();
            damaged[at] ^= 1 << bit;
            let mut kept = Kept::default();
            kept.add(*key, &damaged);
            let _ = module.link(&kept);
        }
    }
}

/// Behind a call the code has what is known of the caller's registers by the ways to the call. A
/// jump that may lead anywhere is a way that nobody sees.
#[test]
fn code_behind_calls_is_entered_if_all_ways_are_known() {
    let returns = |said: Option<Vec<u64>>| {
        let module = Module {
            said,
            ..Module::new()
        };
        let (ahead, _) = module.link(&Kept::default());
        ahead.entries.iter().filter(|entry| entry.is_return).count()
    };
    assert_eq!(returns(Module::new().said), 1);
    assert_eq!(returns(None), 0);
}
