//! All translations of a process.
//!
//! Maps are trees: the standard hash maps ask the kernel for random numbers in each thread, and translations are
//! made in threads that may have forbidden themselves that.
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use super::area::Area;
use super::code::Code;
use super::emit::{Emitter, Finished, Surroundings};
use super::features;
use super::function::Function;
use super::glue;
use super::liveness::{Liveness, Summary};
use super::lower::Lower;
use super::program::Program;
use super::registers::{self, ARGUMENTS, HIDDEN_ARGUMENTS, RESULTS, TEMPORARIES};
use super::simplify::simplify;
use super::state::StateTable;
use super::targets::Targets;
use crate::fp::env::{mxcsr, set_mxcsr};

/// To nearest, nothing unmasked (Intel SDM, volume 1, 11.6.4).
const DEFAULT_MXCSR: u32 = 0x1f80;

/// How far functions that are called by a function are looked into for what they read.
const DEPTH: usize = 3;
/// What the register allocator can number.
const MOST_VALUES: usize = 1 << 20;
/// Bytes of the largest function that is translated.
const LARGEST: u64 = 1 << 18;

/// Bytes in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of RV64 functions that were translated, each once.
    pub guest: u64,
    pub host: u64,
    /// Of tables of guest registers.
    pub tables: u64,
    pub translations: u64,
}

pub struct Translator {
    area: Area,
    count: bool,
    environment: regalloc2::MachineEnv,
    /// Host addresses by guest address; `None`: not to be translated.
    entries: BTreeMap<u64, Option<u64>>,
    /// Cells by guest address: what direct calls go through until their function is translated.
    cells: BTreeMap<u64, u64>,
    summaries: BTreeMap<u64, Summary>,
    usage: Usage,
    /// Starts of functions that were translated.
    translated: BTreeSet<u64>,
}

impl Translator {
    /// With room for `code_size` bytes of code. `count`: code counts instructions in `hart.retired`.
    pub fn new(code_size: usize, count: bool) -> io::Result<Self> {
        features::check()?;
        Ok(Self {
            area: Area::new(code_size)?,
            count,
            environment: registers::environment(),
            entries: BTreeMap::new(),
            cells: BTreeMap::new(),
            summaries: BTreeMap::new(),
            usage: Usage::default(),
            translated: BTreeSet::new(),
        })
    }

    /// Where translated code can be: start and end.
    pub fn range(&self) -> (u64, u64) {
        self.area.range()
    }

    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The host address for a call of `target`, guest code of `program` or an address that it jumps to;
    /// `None`: [`run()`](super::run()) has to see to it.
    pub fn entry(&mut self, program: &dyn Program, target: u64) -> Option<u64> {
        // `jalr` clears bit 0.
        let pc = target & !1;
        let entry = match self.entries.get(&pc) {
            Some(&known) => known?,
            None => {
                // The allocator of registers weighs in floating point; the guest's flags and modes are its own.
                let guest = mxcsr();
                set_mxcsr(DEFAULT_MXCSR);
                let entry = self.translate(program, pc);
                set_mxcsr(guest);
                self.entries.insert(pc, entry);
                entry?
            }
        };
        let starts = program.function(pc).is_some_and(|range| range.start == pc);
        let key = if starts {
            target
        } else {
            Targets::middle(target)
        };
        self.area.targets().insert(key, entry);
        Some(entry)
    }

    /// From here on calls of `target` through registers go to `entry`.
    pub fn remember(&mut self, target: u64, entry: u64) {
        self.area.targets().insert(target, entry);
    }

    /// Calls of this address leave translated code: host functions.
    pub fn remember_elsewhere(&mut self, target: u64) {
        let leave = glue::leave_at_call as *const () as u64;
        self.area.targets().insert(target, leave);
    }

    /// Where guest registers are at faults. It stays where it is.
    pub fn states(&self) -> &StateTable {
        self.area.states()
    }

    /// Where calls through registers lead. It stays where it is.
    pub fn targets(&self) -> &Targets {
        self.area.targets()
    }

    fn translate(&mut self, program: &dyn Program, pc: u64) -> Option<u64> {
        let range = program.function(pc)?;
        if range.end - range.start > LARGEST || program.insn(pc).is_none() {
            return None;
        }
        let summaries = Summaries {
            program,
            known: RefCell::new(std::mem::take(&mut self.summaries)),
        };
        let code = lowered(&summaries, range.clone(), pc, self.count);
        self.summaries = summaries.known.into_inner();
        if code.vregs >= MOST_VALUES {
            return None;
        }
        let options = regalloc2::RegallocOptions::default();
        let allocation = regalloc2::run(&code, &self.environment, &options).ok()?;
        self.area.leave_shared().ok()?;
        let at = self.area.next();
        let finished = self.emit(&code, &allocation, pc, at)?;
        if !self.area.append(&finished.bytes) {
            return None;
        }
        let (tables, bytes) = (finished.states.len(), finished.bytes.len());
        let end = at + finished.code_end as u64;
        if !self.area.states().push(at..end, pc, finished.states) {
            return None;
        }
        for &(cell, offset) in &finished.cells {
            // Another translation may have led it somewhere by now.
            let code = at + offset as u64;
            let _ = cell_at(cell).compare_exchange(0, code, Ordering::Release, Ordering::Relaxed);
        }
        if let Some(&cell) = self.cells.get(&pc) {
            cell_at(cell).store(at, Ordering::Release);
        }
        if self.translated.insert(range.start) {
            self.usage.guest += range.end - range.start;
        }
        self.usage.host += bytes as u64;
        self.usage.tables += tables as u64;
        self.usage.translations += 1;
        Some(at)
    }

    fn emit(
        &mut self,
        code: &Code,
        allocation: &regalloc2::Output,
        pc: u64,
        at: u64,
    ) -> Option<Finished> {
        let targets = ptr::from_ref(self.area.targets()) as u64;
        let cells = RefCell::new((&mut self.cells, &mut self.area));
        // 0: there is no more room.
        let full = Cell::new(false);
        let cell = |target: u64| {
            let (cells, area) = &mut *cells.borrow_mut();
            if let Some(&known) = cells.get(&target) {
                return known;
            }
            let Some(new) = area.cell() else {
                full.set(true);
                return targets;
            };
            cells.insert(target, new);
            new
        };
        let entries = &self.entries;
        let surroundings = Surroundings {
            targets,
            cell: &cell,
            entry: &|target| entries.get(&target).copied().flatten(),
        };
        let finished = Emitter::run(code, allocation, surroundings, pc, at).ok()?;
        (!full.get()).then_some(finished)
    }

    /// Forgets everything of guest addresses in a range.
    pub fn forget(&mut self, range: Range<u64>) {
        self.entries.retain(|guest, _| !range.contains(guest));
        self.summaries.retain(|guest, _| !range.contains(guest));
        let area = &mut self.area;
        self.cells.retain(|guest, cell| {
            let gone = range.contains(guest);
            if gone {
                area.free_cell(*cell);
            }
            !gone
        });
        self.translated.retain(|guest| !range.contains(guest));
        // A cell that others call through may still lead to what was to translate its function.
        let cells = &self.cells;
        let gone = self.area.forget(&range, |gone| {
            cells.values().any(|&cell| {
                let code = cell_at(cell).load(Ordering::Relaxed);
                gone.iter().any(|gone| gone.contains(&code))
            })
        });
        // What leads out of guest code stays: the loop looks again at where it leads.
        let within = |at: u64| range.contains(&at) || gone.iter().any(|gone| gone.contains(&at));
        self.area.targets().forget(within);
    }

    /// Call before a fork.
    pub fn forking(&mut self) {
        self.area.keep();
    }

    /// Call in the child of a fork.
    pub fn forked(&mut self) {
        self.area.is_shared();
    }
}

fn cell_at(address: u64) -> &'static AtomicU64 {
    // SAFETY: a cell of the area, which lives as long as the translator.
    unsafe { &*(address as *const AtomicU64) }
}

fn lowered(summaries: &Summaries, range: Range<u64>, pc: u64, count: bool) -> Code {
    let own = summaries.of(range.start, DEPTH);
    let summary = |target| summaries.of(target, DEPTH);
    let liveness = Liveness {
        range: &range,
        own,
        summary: &summary,
    };
    let mut function = Function::new(summaries.program, range.clone(), pc);
    liveness.compute(&mut function);
    let mut code = Lower::run(summaries.program, &function, &liveness, count);
    simplify(&mut code);
    code
}

/// What functions read. Each is looked into once, so that all its callers agree with it.
struct Summaries<'a> {
    program: &'a dyn Program,
    known: RefCell<BTreeMap<u64, Summary>>,
}

impl Summaries<'_> {
    fn of(&self, pc: u64, depth: usize) -> Summary {
        if let Some(&known) = self.known.borrow().get(&pc) {
            return known;
        }
        if depth == 0 {
            return Summary::UNKNOWN;
        }
        let found = self
            .program
            .summary(pc)
            .unwrap_or_else(|| self.look(pc, depth));
        self.known.borrow_mut().insert(pc, found);
        found
    }

    fn look(&self, pc: u64, depth: usize) -> Summary {
        let range = self.program.function(pc).filter(|range| range.start == pc);
        let Some(range) = range.filter(|range| range.end - pc <= LARGEST) else {
            // No function's start: more may be handed over than at a call.
            return Summary {
                reads: Summary::UNKNOWN.reads | TEMPORARIES,
                ..Summary::UNKNOWN
            };
        };
        // Recursion by way of another function is not followed.
        self.known.borrow_mut().insert(pc, Summary::UNKNOWN);
        let mut function = Function::new(self.program, range.clone(), pc);
        let mut own = Summary {
            reads: 0,
            results: RESULTS,
        };
        loop {
            let callee = |target| {
                if target == pc {
                    own
                } else {
                    self.of(target, depth - 1)
                }
            };
            let liveness = Liveness {
                range: &range,
                own,
                summary: &callee,
            };
            liveness.compute(&mut function);
            let handed = ARGUMENTS | HIDDEN_ARGUMENTS | TEMPORARIES;
            let reads = function.blocks[0].live_in & handed;
            if reads & !own.reads == 0 {
                return own;
            }
            own.reads |= reads;
        }
    }
}
