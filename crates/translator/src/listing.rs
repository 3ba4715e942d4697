//! A function's translation as text, without a run.
//!
//! The code is made for a place that reaches the engine's own functions, as in a process. Its addresses
//! are shown from the start of the translation, and guest addresses as they are.
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use iced_x86::{
    Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, SymbolResolver, SymbolResult,
};

use crate::counting::Counting;
use crate::disassembly::{formatter, in_hart, text};
use crate::emit::code_origin::{Part, Span};
use crate::emit::{Emitter, Linkage, Surroundings};
use crate::fault_state::States;
use crate::glue;
use crate::program::Program;
use crate::thunk::Callee;
use crate::translator::{Source, Summaries, translated_range};
use crate::vector_call;

/// From the nearest function of the engine to the code, and down to what stands in front of it.
const DISTANCE: u64 = 64 << 20;
const TARGETS: u64 = 32 << 20;
const CELLS: u64 = 16 << 20;

/// One function's translation.
pub struct Listing {
    /// Where the code was made for.
    at: u64,
    bytes: Vec<u8>,
    code_end: usize,
    spans: Vec<Span>,
    states: States,
    /// Functions by the cells through which they are called.
    cells: BTreeMap<u64, u64>,
}

/// A line of host code or constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// From the start of the translation.
    pub offset: usize,
    /// Bytes of it.
    pub len: usize,
    /// The guest instruction that it was made for.
    pub guest: u64,
    /// The part of the translation that has it.
    pub part: Part,
    /// In AT&T's syntax.
    pub text: String,
}

/// To stand under the line of the instruction that it was made for.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let part = match self.part {
            Part::Cold => "cold",
            Part::Body | Part::Constants | Part::Table => "",
        };
        writeln!(f, "{part:>16} {:>5x}:\t{}", self.offset, self.text)
    }
}

impl Listing {
    /// For a call of `pc`; `None`: it is left to the interpreter.
    pub fn of(program: &dyn Program, pc: u64) -> Option<Self> {
        let range = translated_range(program, pc)?;
        let summaries = Summaries {
            program,
            known: RefCell::default(),
        };
        let source = Source {
            program,
            summary: &|target| summaries.of(target),
            with_names: false,
        };
        let (code, allocation) = source.allocated(range, pc, Counting::None)?;
        let near = glue::leave as *const () as u64;
        let at = near.next_multiple_of(DISTANCE) + DISTANCE;
        let cells = RefCell::new(BTreeMap::new());
        let cell = |callee: Callee| {
            let mut cells = cells.borrow_mut();
            let next = at - CELLS + 8 * cells.len() as u64;
            *cells.entry(callee).or_insert(next)
        };
        let surroundings = Surroundings {
            targets: at - TARGETS,
            lookup: 0,
            cell: &cell,
            entry: &|_| None,
        };
        let linkage = Linkage::Process(surroundings);
        let finished = Emitter::run(&code, &allocation, linkage, pc, at, true).ok()?;
        if !finished.is_exact {
            return None;
        }
        Some(Self {
            at,
            bytes: finished.bytes,
            code_end: finished.code_end,
            spans: finished.spans,
            states: finished.states,
            cells: cells
                .into_inner()
                .into_iter()
                .map(|(callee, cell)| {
                    let at = callee.address();
                    (cell, at)
                })
                .collect(),
        })
    }

    /// Bytes of instructions, and of all.
    pub fn size(&self) -> (usize, usize) {
        (self.code_end, self.bytes.len())
    }

    /// In the order of the host's addresses. `name` tells what a guest or host address is called.
    pub fn lines(&self, name: &dyn Fn(u64) -> Option<String>) -> Vec<Line> {
        let mut lines = self.instructions(name);
        lines.extend(self.data(name));
        lines
    }

    /// Where the guest's registers are at each instruction that may fault, by its offset.
    pub fn states(&self) -> BTreeMap<usize, String> {
        self.states.texts().into_iter().collect()
    }

    fn span(&self, offset: usize) -> Option<&Span> {
        let after = self.spans.partition_point(|span| span.offset <= offset);
        self.spans.get(after.checked_sub(1)?)
    }

    fn instructions(&self, name: &dyn Fn(u64) -> Option<String>) -> Vec<Line> {
        let code = &self.bytes[..self.code_end];
        let decoder = Decoder::with_ip(64, code, self.at, DecoderOptions::NONE);
        let mut formatter = formatter(Names::of(self));
        let mut lines = vec![];
        for instruction in decoder {
            let mut text = text(&mut formatter, &instruction);
            if let Some(comment) = self.comment(&instruction, name) {
                text.push_str(" # ");
                text.push_str(&comment);
            }
            let offset = (instruction.ip() - self.at) as usize;
            let (guest, part) = self
                .span(offset)
                .map_or((0, Part::Body), |span| (span.guest, span.part));
            lines.push(Line {
                offset,
                len: instruction.len(),
                guest,
                part,
                text,
            });
        }
        lines
    }

    /// What an operand in memory is, or an address among the immediates.
    fn comment(
        &self,
        instruction: &Instruction,
        name: &dyn Fn(u64) -> Option<String>,
    ) -> Option<String> {
        if instruction.is_ip_rel_memory_operand() {
            let address = instruction.ip_rel_memory_address();
            if let Some(&guest) = self.cells.get(&address) {
                return Some(value(guest, name));
            }
            let place = address.wrapping_sub(self.at) as usize;
            let is_constant = self
                .span(place)
                .is_some_and(|span| span.part == Part::Constants);
            let bytes = self.bytes.get(place..place.checked_add(8)?)?;
            return is_constant.then(|| {
                let constant = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
                if constant == self.at - TARGETS {
                    "targets".to_owned()
                } else {
                    value(constant, name)
                }
            });
        }
        if let Some(field) = in_hart(instruction) {
            return Some(field);
        }
        // Addresses are moved; other immediates are numbers.
        if instruction.mnemonic() != Mnemonic::Mov {
            return None;
        }
        name(instruction.try_immediate(1).ok()?).map(|name| format!("<{name}>"))
    }

    fn data(&self, name: &dyn Fn(u64) -> Option<String>) -> Vec<Line> {
        let mut lines = vec![];
        for (n, span) in self.spans.iter().enumerate() {
            let end = self
                .spans
                .get(n + 1)
                .map_or(self.bytes.len(), |next| next.offset);
            let bytes = &self.bytes[span.offset..end];
            let mut line = |offset, len, text| {
                lines.push(Line {
                    offset,
                    len,
                    guest: span.guest,
                    part: span.part,
                    text,
                });
            };
            match span.part {
                Part::Body | Part::Cold => {}
                Part::Constants => {
                    for (n, bytes) in bytes.chunks_exact(8).enumerate() {
                        let constant = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
                        let text = if constant == self.at - TARGETS {
                            ".quad targets".to_owned()
                        } else {
                            format!(".quad {}", value(constant, name))
                        };
                        line(span.offset + 8 * n, 8, text);
                    }
                }
                Part::Table => {
                    for (n, bytes) in bytes.chunks_exact(4).enumerate() {
                        let distance = i32::from_le_bytes(bytes.try_into().unwrap_or_default());
                        let to = span.offset as i64 + i64::from(distance);
                        let text = format!(".long {to:#x} - {:#x}", span.offset);
                        line(span.offset + 4 * n, 4, text);
                    }
                }
            }
        }
        lines
    }
}

fn value(value: u64, name: &dyn Fn(u64) -> Option<String>) -> String {
    match name(value) {
        Some(name) => format!("{value:#x} <{name}>"),
        None => format!("{value:#x}"),
    }
}

/// What addresses that instructions refer to are shown as.
struct Names {
    at: u64,
    len: u64,
    engine: BTreeMap<u64, &'static str>,
    cells: (u64, u64),
}

impl Names {
    fn of(listing: &Listing) -> Self {
        let engine = [
            (glue::convert as *const (), "convert"),
            (glue::elsewhere as *const (), "elsewhere"),
            (glue::helper as *const (), "helper"),
            (glue::leave as *const (), "leave"),
            (glue::leave_at_call as *const (), "leave_at_call"),
            (glue::slow_call as *const (), "slow_call"),
            (vector_call::vector as *const (), "vector"),
        ];
        Self {
            at: listing.at,
            len: listing.bytes.len() as u64,
            engine: engine.map(|(place, name)| (place as u64, name)).into(),
            cells: (
                listing.at - CELLS,
                listing.at - CELLS + 8 * listing.cells.len() as u64,
            ),
        }
    }
}

impl SymbolResolver for Names {
    fn symbol(
        &mut self,
        instruction: &Instruction,
        _operand: u32,
        _instruction_operand: Option<u32>,
        address: u64,
        _address_size: u32,
    ) -> Option<SymbolResult<'_>> {
        let is_branch = instruction.op0_kind() == OpKind::NearBranch64;
        if !is_branch && !instruction.is_ip_rel_memory_operand() {
            return None;
        }
        let offset = address.wrapping_sub(self.at);
        let name = if offset < self.len {
            format!("{offset:#x}")
        } else if (self.cells.0..self.cells.1).contains(&address) {
            "cell".to_owned()
        } else if address == self.at - TARGETS {
            "targets".to_owned()
        } else if let Some(name) = self.engine.get(&address) {
            format!("<{name}>")
        } else {
            "<engine>".to_owned()
        };
        Some(SymbolResult::with_string(address, name))
    }
}
