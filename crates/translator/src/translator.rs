//! All translations of a process.
//!
//! Maps are trees: the standard hash maps ask the kernel for random numbers in each thread, and
//! translations are made in threads that may have forbidden themselves that.
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::{Deref, Range};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::code::Code;
use crate::code_cache::CodeCache;
use crate::counting::{Counting, Points};
use crate::emit::code_origin::Span;
use crate::emit::{Emitter, Finished, Linkage, Surroundings};
use crate::fault_state::StateTable;
use crate::features;
use crate::function::Function;
use crate::glue::{self, Lookup};
use crate::guest_frame;
use crate::liveness::{Liveness, Summary, has_frame_pointer};
use crate::lower::Lower;
use crate::moves;
use crate::program::Program;
use crate::registers::{self, ARGUMENTS, HIDDEN_ARGUMENTS, TEMPORARIES};
use crate::simplify::simplify;
use crate::targets::Targets;
use crate::thunk::{Callee, callee};
use flick_engine::fp::env::{mxcsr, set_mxcsr};

/// To nearest, nothing unmasked (Intel SDM, volume 1, 11.6.4).
const DEFAULT_MXCSR: u32 = 0x1f80;

/// Levels of callees that the translator examines for the arguments that they read.
const DEPTH: usize = 3;
/// Values that the register allocator can number.
const MOST_VALUES: usize = 1 << 20;
/// Bytes of the largest function that is translated.
const LARGEST: u64 = 1 << 18;

/// See [`Translator::trace`].
pub const TRACE_ROOM: usize = 128;

/// Bytes that were made, including those that were invalidated since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of RV64 functions that were translated, each once.
    pub guest: u64,
    /// Of x86-64 code and its constants.
    pub host: u64,
    /// Of tables of guest registers.
    pub tables: u64,
    /// How many translations there are; no bytes.
    pub translations: u64,
}

/// The table of targets.
enum TargetsPlace {
    Own(Box<Targets>),
    Process(&'static Targets),
}

impl Deref for TargetsPlace {
    type Target = Targets;

    fn deref(&self) -> &Targets {
        match self {
            TargetsPlace::Own(targets) => targets,
            TargetsPlace::Process(targets) => targets,
        }
    }
}

/// Translations that call each other, and no others.
struct Set {
    targets: TargetsPlace,
    lookup: Lookup,
    /// Host addresses by guest address; `None`: not to be translated.
    entries: BTreeMap<u64, Option<u64>>,
    /// Cells of direct calls. A call goes through a cell until its function is translated, and
    /// always if the function is the host's. Cells of host functions stay, because code that calls
    /// through one may outlive the function at its address.
    cells: BTreeMap<Callee, u64>,
    summaries: BTreeMap<u64, Summary>,
}

impl Set {
    fn new(targets: TargetsPlace, lookup: Lookup) -> Self {
        Self {
            targets,
            lookup,
            entries: BTreeMap::new(),
            cells: BTreeMap::new(),
            summaries: BTreeMap::new(),
        }
    }
}

/// Makes translations, and has all of a process.
pub struct Translator {
    cache: CodeCache,
    counting: Counting,
    /// The first is that of the functions without a set's number.
    sets: Vec<Set>,
    usage: Usage,
    /// Starts of functions that were translated.
    translated: BTreeSet<u64>,
    trace: bool,
    /// Of the last translation, if it was asked for.
    spans: Vec<Span>,
}

impl Translator {
    /// A translator with room for `code_size` bytes of code, and a table of targets of its own. The
    /// code asks `lookup` for targets that it does not know.
    pub fn new(code_size: usize, counting: Counting, lookup: Lookup) -> io::Result<Self> {
        features::check()?;
        let targets = TargetsPlace::Own(Targets::boxed());
        let cache = CodeCache::new(code_size)?;
        Ok(Self::with(cache, counting, Set::new(targets, lookup)))
    }

    /// The same with code in given pages, [`pages_for`](crate::pages_for) it, and this table of
    /// targets, which was initialised.
    ///
    /// # Safety
    /// The pages are mapped, and nobody else's as long as the process lives.
    pub unsafe fn within(
        pages: Range<usize>,
        targets: &'static Targets,
        counting: Counting,
        lookup: Lookup,
    ) -> io::Result<Self> {
        features::check()?;
        // SAFETY: by contract.
        let cache = unsafe { CodeCache::within(pages) }?;
        let targets = TargetsPlace::Process(targets);
        Ok(Self::with(cache, counting, Set::new(targets, lookup)))
    }

    fn with(cache: CodeCache, counting: Counting, set: Set) -> Self {
        Self {
            cache,
            counting,
            sets: vec![set],
            usage: Usage::default(),
            translated: BTreeSet::new(),
            trace: false,
            spans: vec![],
        }
    }

    /// Makes a further set of translations, which call each other and no others, with a table of
    /// targets of its own. Its number.
    pub fn add_set(&mut self, lookup: Lookup) -> usize {
        let targets = TargetsPlace::Own(Targets::boxed());
        self.sets.push(Set::new(targets, lookup));
        self.sets.len() - 1
    }

    /// Where translated code can be: start and end.
    pub fn range(&self) -> (u64, u64) {
        self.cache.range()
    }

    /// What has been made.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// From now on [`Translator::spans`] are recorded, and [`TRACE_ROOM`] bytes behind each
    /// translation's instructions are no other's.
    pub fn trace(&mut self) {
        self.trace = true;
    }

    /// Which guest instructions the code of the last translation was made for; empty without
    /// [`Translator::trace`].
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The host address for a call of `target`, which is guest code of `program` or an address to
    /// which it jumps. `None`: there is no translation, and [`run()`](crate::run()) interprets or
    /// leaves.
    pub fn entry(&mut self, program: &dyn Program, target: u64) -> Option<u64> {
        self.entry_in(0, program, target)
    }

    /// The same in a set of [`Translator::add_set`], which has one program.
    pub fn entry_in(&mut self, set: usize, program: &dyn Program, target: u64) -> Option<u64> {
        // `jalr` clears bit 0.
        let pc = target & !1;
        let entry = match self.sets[set].entries.get(&pc) {
            Some(&known) => known?,
            None => {
                // The register allocator computes weights in floating point. The guest's flags and
                // modes must not change.
                let guest = mxcsr();
                set_mxcsr(DEFAULT_MXCSR);
                let entry = self.translate(set, program, pc);
                set_mxcsr(guest);
                self.sets[set].entries.insert(pc, entry);
                entry?
            }
        };
        let starts = program.function(pc).is_some_and(|range| range.start == pc);
        let key = if starts {
            target
        } else {
            Targets::middle(target)
        };
        self.sets[set].targets.insert(key, entry);
        Some(entry)
    }

    /// From here on calls of `target`, which is not guest code, go to `entry`.
    pub fn remember(&mut self, target: u64, entry: u64) {
        self.remember_in(0, target, entry);
    }

    /// The same in a set of [`Translator::add_set`].
    pub fn remember_in(&mut self, set: usize, target: u64, entry: u64) {
        let set = &mut self.sets[set];
        set.targets.insert(target, entry);
        // Calls through other cells do not pass on the target.
        if let Some(&cell) = set.cells.get(&Callee::Elsewhere(target)) {
            cell_at(cell).store(entry, Ordering::Release);
        }
    }

    /// Calls of this address leave translated code.
    pub fn remember_elsewhere(&mut self, target: u64) {
        self.remember(target, glue::leaves_at_call(self.counting) as u64);
    }

    /// Where guest registers are at faults. It stays where it is.
    pub fn states(&self) -> &StateTable {
        self.cache.states()
    }

    /// Where calls through registers lead. It stays where it is.
    pub fn targets(&self) -> &Targets {
        self.targets_of(0)
    }

    /// The same of a set of [`Translator::add_set`].
    pub fn targets_of(&self, set: usize) -> &Targets {
        &self.sets[set].targets
    }

    fn translate(&mut self, set: usize, program: &dyn Program, pc: u64) -> Option<u64> {
        let range = translated_range(program, pc)?;
        let summaries = Summaries {
            program,
            known: RefCell::new(std::mem::take(&mut self.sets[set].summaries)),
        };
        let made = Source {
            program,
            summary: &|target| summaries.of(target),
            with_names: false,
        }
        .allocated(range.clone(), pc, self.counting);
        self.sets[set].summaries = summaries.known.into_inner();
        let (code, allocation) = made?;
        self.cache.leave_shared().ok()?;
        let at = self.cache.next();
        let mut finished = self.emit(set, program, (&code, &allocation), pc, at)?;
        if self.trace {
            let size = finished.bytes.len().max(finished.code_end + TRACE_ROOM);
            finished.bytes.resize(size, 0);
        }
        if !self.cache.append(&finished.bytes) {
            return None;
        }
        self.spans = finished.spans;
        let (tables, bytes) = (finished.states.len(), finished.bytes.len());
        let end = at + finished.code_end as u64;
        if !self.cache.states().push(at..end, pc, finished.states) {
            return None;
        }
        for &(cell, offset) in &finished.cells {
            // Another translation may have led it somewhere by now.
            let code = at + offset as u64;
            let _ = cell_at(cell).compare_exchange(0, code, Ordering::Release, Ordering::Relaxed);
        }
        if let Some(&cell) = self.sets[set].cells.get(&Callee::Guest(pc)) {
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
        set: usize,
        program: &dyn Program,
        (code, allocation): (&Code, &regalloc2::Output),
        pc: u64,
        at: u64,
    ) -> Option<Finished> {
        let set = &mut self.sets[set];
        let targets = ptr::from_ref::<Targets>(&set.targets) as u64;
        let cells = RefCell::new((&mut set.cells, &mut self.cache));
        // 0: there is no more room.
        let full = Cell::new(false);
        let cell = |callee: Callee| {
            let (cells, cache) = &mut *cells.borrow_mut();
            if let Some(&known) = cells.get(&callee) {
                return known;
            }
            let Some(new) = cache.cell() else {
                full.set(true);
                return targets;
            };
            cells.insert(callee, new);
            if let Callee::Guest(at) = callee
                && let Some(code) = program.translated(at)
            {
                cell_at(new).store(code, Ordering::Release);
            }
            new
        };
        let entries = &set.entries;
        let surroundings = Surroundings {
            targets,
            lookup: set.lookup as usize as u64,
            cell: &cell,
            entry: &|target| entries.get(&target).copied().flatten(),
        };
        let linkage = Linkage::Process(surroundings);
        let finished = Emitter::run(code, allocation, linkage, pc, at, self.trace).ok()?;
        (finished.is_exact && !full.get()).then_some(finished)
    }

    /// Invalidates all translations and facts of addresses in these ranges: guest code that goes,
    /// and places to which other code will come.
    pub fn invalidate(&mut self, ranges: &[Range<u64>]) {
        let named = |at: u64| ranges.iter().any(|range| range.contains(&at));
        let cache = &mut self.cache;
        for set in &mut self.sets {
            set.entries.retain(|&guest, _| !named(guest));
            set.summaries.retain(|&guest, _| !named(guest));
            set.cells.retain(|callee, cell| {
                let gone = matches!(*callee, Callee::Guest(at) if named(at));
                if gone {
                    cache.free_cell(*cell);
                }
                !gone
            });
        }
        self.translated.retain(|&guest| !named(guest));
        // A cell that other code calls through may still lead to the code that was to translate its
        // function.
        let sets = &self.sets;
        let gone = self.cache.invalidate(named, |gone| {
            sets.iter().flat_map(|set| set.cells.values()).any(|&cell| {
                let code = cell_at(cell).load(Ordering::Relaxed);
                gone.iter().any(|gone| gone.contains(&code))
            })
        });
        // Targets outside of guest code stay: the dispatch loop looks them up again.
        let within = |at: u64| named(at) || gone.iter().any(|gone| gone.contains(&at));
        for set in &self.sets {
            set.targets.invalidate(within);
        }
    }

    /// Call before a fork.
    pub fn forking(&mut self) {
        self.cache.forking();
    }

    /// Call in the child of a fork.
    pub fn forked(&mut self) {
        self.cache.is_shared();
    }
}

fn cell_at(address: u64) -> &'static AtomicU64 {
    // SAFETY: a cell of the code cache, which lives as long as the translator.
    unsafe { &*(address as *const AtomicU64) }
}

/// The function with the instruction at `pc`, if it is one that is translated.
pub(crate) fn translated_range(program: &dyn Program, pc: u64) -> Option<Range<u64>> {
    let range = program.function(pc)?;
    (range.end - range.start <= LARGEST && program.insn(pc).is_some()).then_some(range)
}

/// What translations are made from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub program: &'a dyn Program,
    /// Of the function at an address.
    pub summary: &'a dyn Fn(u64) -> Summary,
    /// For debug information.
    pub with_names: bool,
}

impl Source<'_> {
    /// Machine instructions for the function in `range`, entered at `pc`, and their registers;
    /// `None`: there are too many.
    pub(crate) fn allocated(
        self,
        range: Range<u64>,
        pc: u64,
        counting: Counting,
    ) -> Option<(Code, regalloc2::Output)> {
        let code = self.lowered(range, pc, counting);
        if code.vregs >= MOST_VALUES {
            return None;
        }
        let options = regalloc2::RegallocOptions::default();
        let environment = registers::environment(code.pinned, code.counts_in_register);
        let mut allocation = regalloc2::run(&code, &environment, &options).ok()?;
        moves::drop_redundant(&code, &mut allocation);
        Some((code, allocation))
    }

    fn lowered(self, range: Range<u64>, pc: u64, counting: Counting) -> Code {
        let own = (self.summary)(range.start);
        let program = self.program;
        let more = (!program.is_placed()).then(|| program.entries(&range));
        let decoded = |more| {
            let mut function = Function::new(program, range.clone(), pc, more);
            if counting != Counting::None {
                function.find_passing(program);
            }
            function
        };
        let mut function = decoded(more.clone());
        if counting == Counting::PastBudget {
            let more = more.into_iter().flatten().chain(Points::entries(&function));
            function = decoded(Some(more.collect()));
        }
        let liveness = Liveness {
            range: &range,
            own,
            given: own.reads,
            frame_pointer: has_frame_pointer(program, &range),
            summary: self.summary,
        };
        liveness.compute(&mut function);
        let mut code = Lower::run(program, &function, &liveness, counting, self.with_names);
        code.has_returns = !function.has_hidden_ways(program);
        if self.with_names {
            code.frames = guest_frame::frames(&function);
        }
        simplify(&mut code);
        code.is_back_at_calls = counting == Counting::PastBudget;
        code.counts_in_register = counting.is_in_register();
        code
    }
}

/// The arguments that functions read. Each function is examined once, so that all its callers agree
/// with it.
pub(crate) struct Summaries<'a> {
    pub program: &'a dyn Program,
    pub known: RefCell<BTreeMap<u64, Summary>>,
}

impl Summaries<'_> {
    /// Of the function at `pc`.
    pub fn of(&self, pc: u64) -> Summary {
        self.to_depth(pc, DEPTH)
    }

    fn to_depth(&self, pc: u64, depth: usize) -> Summary {
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
            // This is no function's start: more registers may be live than at a call.
            match callee(self.program, pc) {
                Callee::Guest(at) if at != pc => return self.to_depth(at, depth),
                Callee::Elsewhere(_) | Callee::Slot(_) | Callee::BySignature { .. } => {
                    return Summary::UNKNOWN;
                }
                Callee::Guest(_) => {}
            }
            return Summary::MIDDLE;
        };
        // Recursion by way of another function is not followed.
        self.known.borrow_mut().insert(pc, Summary::UNKNOWN);
        let mut function = Function::new(self.program, range.clone(), pc, None);
        let frame_pointer = has_frame_pointer(self.program, &range);
        let mut own = Summary {
            reads: 0,
            ..Summary::UNKNOWN
        };
        loop {
            let callee = |target| {
                if target == pc {
                    own
                } else {
                    self.to_depth(target, depth - 1)
                }
            };
            let liveness = Liveness {
                range: &range,
                own,
                given: Summary::UNKNOWN.reads,
                frame_pointer,
                summary: &callee,
            };
            liveness.compute(&mut function);
            let handed = ARGUMENTS | HIDDEN_ARGUMENTS | TEMPORARIES;
            let reads = function.blocks[0].live_in & handed;
            if reads & !own.reads == 0 {
                return Summary {
                    is_certain: true,
                    ..own
                };
            }
            own.reads |= reads;
        }
    }
}
