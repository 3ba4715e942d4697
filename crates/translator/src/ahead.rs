//! Translation of a module before it runs, for code that the loader places beside the guest's.
//!
//! The code refers to nothing by address: [`Ahead::fixups`] are displacements that a linker fills in.
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::emit::code_origin::Part;
use crate::emit::homes::Homed;
use crate::emit::{Emitter, Finished, Fixup, Linkage, Word};
use crate::program::Program;
use crate::registers;
use crate::translator::{Summaries, allocated, translated_range};

/// Translations begin at multiples of this.
const ALIGNMENT: usize = 16;
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
    /// By number: the word of the guest's module that names the callee.
    pub cells: Vec<u64>,
    /// Where code is that looks for functions without a translation: from the start of the code.
    pub stubs: Range<usize>,
    /// In ascending order of the code; empty unless they were asked for.
    pub origins: Vec<Origin>,
    /// Where guest registers are; the same.
    pub homes: Vec<Homed>,
}

impl Ahead {
    /// Translates the functions that start at `entries`, in ascending order. Functions that cannot
    /// be translated are left out. `with_origins`: for debug information.
    pub fn of(program: &dyn Program, entries: &BTreeSet<u64>, with_origins: bool) -> Self {
        let mut ahead = Self::default();
        let mut starts = BTreeMap::new();
        let mut calls = vec![];
        let mut cells = BTreeMap::new();
        let summaries = Summaries {
            program,
            known: RefCell::default(),
        };
        for &entry in entries {
            let Some(finished) = translate(&summaries, entry, with_origins) else {
                continue;
            };
            let start = ahead.align();
            starts.insert(entry, start);
            for &(end, fixup) in &finished.fixups {
                let place = match fixup {
                    Fixup::Guest(at) => Place::Guest(at),
                    Fixup::Engine(word) => Place::Engine(word),
                    Fixup::Cell(slot) => {
                        let next = cells.len() as u32;
                        Place::Cell(*cells.entry(slot).or_insert(next))
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
            let distance = to as i64 - end as i64;
            ahead.code[end - 4..end].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        ahead.stubs.end = ahead.code.len();
        ahead.entries.sort_by_key(|entry| entry.guest);
        ahead.entries.dedup_by_key(|entry| entry.guest);
        let mut slots: Vec<(u64, u32)> = cells.into_iter().collect();
        slots.sort_by_key(|&(_, number)| number);
        ahead.cells = slots.into_iter().map(|(slot, _)| slot).collect();
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
            is_cold: span.part == Part::Cold,
        }));
    }

    /// The place for the next translation.
    fn align(&mut self) -> usize {
        let start = self.code.len().next_multiple_of(ALIGNMENT);
        self.code.resize(start, PADDING);
        start
    }

    /// Code that calls lead to of which there is no translation: the engine looks for it.
    fn leave_for(&mut self, callee: u64) -> usize {
        let start = self.align();
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

fn translate(summaries: &Summaries, entry: u64, trace: bool) -> Option<Finished> {
    let range = translated_range(summaries.program, entry)?;
    let environment = registers::environment();
    let (code, allocation) = allocated(summaries, range, entry, false, trace, &environment)?;
    let finished = Emitter::run(&code, &allocation, Linkage::Module, entry, 0, trace).ok()?;
    finished.is_exact.then_some(finished)
}
