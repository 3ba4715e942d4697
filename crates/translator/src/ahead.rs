//! Translation of a module before it runs, for code that the loader places beside the guest's.
//!
//! The code refers to nothing by address: [`Ahead::fixups`] are displacements that a linker fills in.
mod function_code;
mod kept;
mod leaf;
mod stubs;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::counting::Counting;
use crate::emit::alignment;
use crate::emit::code_origin::Part;
use crate::emit::homes::Homed;
use crate::emit::{Finished, Fixup, Outside, Word};
use crate::liveness::Summary;
use crate::movable::Real;
use crate::program::Program;
use crate::translator::Summaries;
pub use kept::{Kept, Made};
pub use stubs::STUB_SIZE;

/// Bytes of a frame that can be entered behind a call, at most.
const MOST_FRAME: u32 = crate::LEAST_STACK as u32 / 2;
/// `int3`, between translations.
const PADDING: u8 = 0xcc;

/// What a displacement in the code leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A byte of the guest's module.
    Guest(u64),
    /// The word with this address of the engine's.
    Engine(Word),
    /// The cell with this number.
    Cell(u32),
}

/// The last four bytes before `end` are the distance from `end` to the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Displacement {
    /// From the start of the code.
    pub end: usize,
    /// Where it leads.
    pub place: Place,
}

/// One translation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where the guest enters it.
    pub guest: u64,
    /// Its code, from the start of all; instructions alone.
    pub code: Range<usize>,
    /// Its table of guest registers, from the start of all.
    pub states: Range<usize>,
    /// Bytes of its frame on the host's stack, without the return address.
    pub frame: u32,
    /// Offsets in the piece from which rsp is so many bytes below the return address, in ascending
    /// order.
    pub depths: Vec<(usize, u32)>,
    /// The host may call it as a function of its own.
    pub is_leaf: bool,
}

/// A place where the guest may go on without its caller being on the host's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The guest's address.
    pub guest: u64,
    /// From the start of the code.
    pub code: usize,
    /// It is behind a call, within the frame of its piece: see [`crate::go_on`].
    pub is_return: bool,
}

/// From which instruction of the guest a piece of code comes, up to the next origin or the end of the
/// instructions of its [`Piece`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// From the start of all code.
    pub code: u32,
    /// The guest's instruction.
    pub guest: u32,
    /// The guest's instruction that finds the guest's frame as this code does.
    pub frame: u32,
    /// The code is rarely executed, and is placed after the function's blocks.
    pub is_cold: bool,
}

/// The translations of a module.
#[derive(Clone, Debug, Default)]
pub struct Ahead {
    /// Position-independent, with constants and tables.
    pub code: Vec<u8>,
    /// Places outside of the code.
    pub fixups: Vec<Displacement>,
    /// In ascending order, by guest address and by place.
    pub pieces: Vec<Piece>,
    /// Those that are no start of a piece, in ascending order of guest addresses.
    pub entries: Vec<Entry>,
    /// See [`crate::StateTable`].
    pub states: Vec<u8>,
    /// By number: what is called through the stub and the cell with this number.
    pub outside: Vec<Outside>,
    /// The first of the stubs, from the start of the code.
    first_stub: usize,
    /// Where all code is that is no function's: stubs, binders, and code that looks for functions
    /// without a translation.
    pub stubs: Range<usize>,
    /// In ascending order of the code; empty unless they were asked for.
    pub origins: Vec<Origin>,
    /// Where guest registers are; the same.
    pub homes: Vec<Homed>,
}

impl Ahead {
    /// Translates the functions that start at `entries`, in ascending order. Functions that cannot
    /// be translated are left out. `with_origins`: for debug information. The result is the same
    /// whatever was `kept`.
    pub fn of<'a>(
        program: &(dyn Program + Sync),
        entries: &BTreeSet<u64>,
        with_origins: bool,
        counting: Counting,
        kept: &Kept<'a>,
    ) -> (Self, Made<'a>) {
        let summaries = Known {
            program,
            all: Mutex::default(),
        };
        let entries: Vec<u64> = entries.iter().copied().collect();
        let all = on_all_cores(entries.len(), &|n| {
            let real = Real {
                program,
                summary: &|target| summaries.of(target),
                with_names: with_origins,
            };
            function_code::of(real, entries[n], counting, kept)
        });
        let mut made = Made::default();
        let finished = all.into_iter().zip(entries).map(|(one, entry)| {
            made.add(one.records, one.origin);
            (entry, one.finished)
        });
        let ahead = Self::joined(finished.filter_map(|(entry, one)| Some((entry, one?))));
        (ahead, made)
    }

    /// Puts translations together, in ascending order of their entries.
    fn joined(all: impl Iterator<Item = (u64, Finished)>) -> Self {
        let mut ahead = Self::default();
        let mut starts = BTreeMap::new();
        let mut calls = vec![];
        let mut outside = BTreeMap::new();
        let mut calls_outside = vec![];
        for (entry, finished) in all {
            let start = ahead.align(alignment::of_function(finished.code_end));
            starts.insert(entry, start);
            for &(end, fixup) in &finished.fixups {
                let place = match fixup {
                    Fixup::Guest(at) => Place::Guest(at),
                    Fixup::Engine(word) => Place::Engine(word),
                    Fixup::Stub(callee) => {
                        let next = outside.len();
                        let number = *outside.entry(callee).or_insert(next);
                        calls_outside.push((start + end, number));
                        continue;
                    }
                    Fixup::Function(at) => {
                        calls.push((start + end, at));
                        continue;
                    }
                };
                ahead.fixups.push(Displacement {
                    end: start + end,
                    place,
                });
            }
            let states = ahead.states.len();
            ahead.states.extend(finished.states.bytes());
            ahead.pieces.push(Piece {
                guest: entry,
                code: start..start + finished.code_end,
                states: states..ahead.states.len(),
                frame: finished.frame,
                depths: finished.depths.clone(),
                is_leaf: leaf::is_callable_by_host(&finished),
            });
            ahead.add_entries(&finished, start);
            ahead.add_origins(&finished, start);
            ahead.homes.extend(finished.homes.iter().map(|homed| Homed {
                code: homed.code + start as u32,
                ..*homed
            }));
            ahead.code.extend(finished.bytes);
        }
        ahead.stubs.start = ahead.code.len();
        for (end, callee) in calls {
            let to = match starts.get(&callee) {
                Some(&start) => start,
                None => {
                    let start = ahead.leave_for(callee);
                    starts.insert(callee, start);
                    start
                }
            };
            ahead.lead(end, to);
        }
        let mut outside: Vec<(Outside, usize)> = outside.into_iter().collect();
        outside.sort_by_key(|&(_, number)| number);
        ahead.add_stubs(outside.into_iter().map(|(callee, _)| callee).collect());
        for (end, number) in calls_outside {
            ahead.lead(end, ahead.stub(number));
        }
        ahead.stubs.end = ahead.code.len();
        ahead.entries.sort_by_key(|entry| entry.guest);
        ahead.entries.dedup_by_key(|entry| entry.guest);
        ahead
    }

    fn add_entries(&mut self, finished: &Finished, start: usize) {
        let entry = |is_return| {
            move |&(guest, offset): &(u64, usize)| Entry {
                guest,
                code: start + offset,
                is_return,
            }
        };
        self.entries
            .extend(finished.entries.iter().map(entry(false)));
        // Entering needs some stack before anybody compares.
        if finished.frame <= MOST_FRAME {
            self.entries
                .extend(finished.returns.iter().map(entry(true)));
        }
    }

    fn add_origins(&mut self, finished: &Finished, start: usize) {
        let is_code = |part| matches!(part, Part::Body | Part::Cold);
        let spans = finished.spans.iter().filter(|span| is_code(span.part));
        self.origins.extend(spans.map(|span| Origin {
            code: (start + span.offset) as u32,
            guest: span.guest as u32,
            frame: span.frame as u32,
            is_cold: span.part == Part::Cold,
        }));
    }

    /// Where the stub with this number is, from the start of the code.
    pub fn stub(&self, number: usize) -> usize {
        self.first_stub + STUB_SIZE * number
    }

    /// Its binder, whose address the cell with this number has at first.
    pub fn binder(&self, number: usize) -> usize {
        self.stub(self.outside.len() + number)
    }

    /// Adds the stubs of `outside`.
    fn add_stubs(&mut self, outside: Vec<Outside>) {
        self.first_stub = self.align(stubs::STUB_SIZE);
        let (code, ends) = stubs::code(&outside);
        self.fixups
            .extend(ends.into_iter().map(|(end, to)| Displacement {
                end: self.first_stub + end,
                place: match to {
                    stubs::To::Slot(at) => Place::Guest(at),
                    stubs::To::Cell(n) => Place::Cell(n),
                    stubs::To::Call => Place::Engine(Word::Call),
                },
            }));
        self.code.extend(code);
        self.outside = outside;
    }

    /// The displacement that ends at `end` leads to the code at `to`.
    fn lead(&mut self, end: usize, to: usize) {
        let distance = to as i64 - end as i64;
        self.code[end - 4..end].copy_from_slice(&(distance as i32).to_le_bytes());
    }

    /// The place for the next translation.
    fn align(&mut self, alignment: usize) -> usize {
        let start = self.code.len().next_multiple_of(alignment);
        self.code.resize(start, PADDING);
        start
    }

    /// Code that calls lead to of which there is no translation: the engine looks for it.
    fn leave_for(&mut self, callee: u64) -> usize {
        let start = self.align(alignment::of_function(0));
        // lea rax, [rip + callee]; xor r10d, r10d; jmp [rip + word]
        self.code.extend([0x48, 0x8d, 0x05, 0, 0, 0, 0]);
        self.place_at_end(Place::Guest(callee));
        self.code.extend([0x45, 0x31, 0xd2, 0xff, 0x25, 0, 0, 0, 0]);
        self.place_at_end(Place::Engine(Word::Call));
        start
    }

    fn place_at_end(&mut self, place: Place) {
        let end = self.code.len();
        self.fixups.push(Displacement { end, place });
    }
}

/// What functions read and hand back. Each is looked at by itself, so that what is found does not
/// depend on who asks first.
struct Known<'a> {
    program: &'a (dyn Program + Sync),
    all: Mutex<BTreeMap<u64, Summary>>,
}

impl Known<'_> {
    fn of(&self, pc: u64) -> Summary {
        if let Some(declared) = self.program.summary(pc) {
            return declared;
        }
        let all = || self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = all().get(&pc) {
            return known;
        }
        let summaries = Summaries {
            program: self.program,
            known: RefCell::default(),
        };
        let found = summaries.of(pc);
        all().insert(pc, found);
        found
    }
}

/// The results of `work` for the numbers below `count`, in their order.
fn on_all_cores<T: Send>(count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    /// As the main thread's of most programs.
    const STACK: usize = 8 << 20;
    let next = AtomicUsize::new(0);
    let some = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let numbers = numbers.take_while(|&n| n < count);
        numbers.map(|n| (n, work(n))).collect::<Vec<_>>()
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut all = thread::scope(|scope| {
        let spawn = |_| {
            let thread = thread::Builder::new().stack_size(STACK);
            // Where there is no thread to be had, the others do the work.
            thread.spawn_scoped(scope, some).ok()
        };
        let others: Vec<_> = (1..cores.min(count)).filter_map(spawn).collect();
        let mut all = some();
        for other in others {
            match other.join() {
                Ok(results) => all.extend(results),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|&(n, _)| n);
    all.into_iter().map(|(_, result)| result).collect()
}
