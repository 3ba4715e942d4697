//! Debug information of translated code (DWARF 4): the units, functions and inlined calls of the
//! image, with the places of the translation. Valgrind 3.19 does not read DWARF 5.
use std::collections::HashMap;
use std::ops::Range;

use gimli::write::{
    Address, AttributeValue, Dwarf, FileId, LineProgram, LineString, RangeList, StringTable, Unit,
    UnitEntryId,
};
use gimli::{Encoding, Format, LineEncoding};

use super::debug_places::{Body, Homes};
use super::debug_rows::{self, Part};
use super::{debug_places, debug_types};
use crate::linked::Linked;
use crate::source_units::{InlinedCall, Position, Routine, SourceFunction, SourceUnit};
use crate::source_variables::Variable;
use crate::translation::Translated;

pub(super) const ENCODING: Encoding = Encoding {
    address_size: 8,
    format: Format::Dwarf32,
    version: 4,
};

/// The number by which [`gimli::write`] knows the start of the code.
pub(super) const CODE: usize = 0;

/// Debug information of `translated`, for the units with functions that are translated.
/// `hosts`: symbols of the host that the image names.
pub(super) fn dwarf(
    units: &[SourceUnit],
    parts: &[Vec<Part>],
    linked: &Linked,
    hosts: &[String],
) -> Dwarf {
    let mut dwarf = Dwarf::new();
    for (unit, parts) in units.iter().zip(parts) {
        if !parts.is_empty() {
            let unit = DebugUnit::new(unit, &mut dwarf.strings, hosts).finish(parts, linked);
            dwarf.units.add(unit);
        }
    }
    dwarf
}

/// The translations of each unit's functions.
pub(super) fn parts<'a>(units: &[SourceUnit], translated: &'a Translated) -> Vec<Vec<Part<'a>>> {
    let mut sequences: Vec<(u32, u32, usize)> = vec![];
    for (number, unit) in units.iter().enumerate() {
        let ranges = unit.sequences.iter();
        sequences.extend(ranges.map(|range| (range.start, range.end, number)));
    }
    sequences.sort_unstable();
    let mut all = vec![vec![]; units.len()];
    let pieces = &translated.pieces;
    let origins = &translated.origins;
    for (number, piece) in pieces.iter().enumerate() {
        let after = sequences.partition_point(|&(start, ..)| start <= piece.guest);
        let Some(&(_, end, unit)) = after.checked_sub(1).map(|at| &sequences[at]) else {
            continue;
        };
        if piece.guest >= end {
            continue;
        }
        let code = piece.code..piece.code + piece.size;
        let at = |code| origins.partition_point(|origin| origin.code < code);
        let homes = &translated.homes;
        let home = |code| homes.partition_point(|homed| homed.code < code);
        let next = pieces.get(number + 1).map_or(end, |next| next.guest);
        all[unit].push(Part {
            number,
            guest: piece.guest,
            guest_end: end.min(next),
            origins: &origins[at(code.start)..at(code.end)],
            homes: &homes[home(code.start)..home(code.end)],
            code,
        });
    }
    all
}

/// An address in the code.
pub(super) fn code_address(offset: u32) -> Address {
    Address::Symbol {
        symbol: CODE,
        addend: offset.into(),
    }
}

/// The writer of one unit.
pub(super) struct DebugUnit<'a> {
    pub(super) unit: &'a SourceUnit,
    pub(super) out: Unit,
    files: Vec<FileId>,
    strings: &'a mut StringTable,
    hosts: &'a [String],
    /// By the place in [`SourceUnit::inlined`].
    inlined: Vec<Option<UnitEntryId>>,
    /// By the place in [`SourceUnit::types`].
    pub(super) types: Vec<UnitEntryId>,
    /// By [`Variable::entry`].
    pub(super) variables: HashMap<usize, UnitEntryId>,
    /// Types and the variables that say how many elements they have.
    pub(super) counts: Vec<(UnitEntryId, usize)>,
}

impl<'a> DebugUnit<'a> {
    fn new(unit: &'a SourceUnit, strings: &'a mut StringTable, hosts: &'a [String]) -> Self {
        let text = |text: &str| LineString::String(text.as_bytes().to_vec());
        let mut lines = LineProgram::new(
            ENCODING,
            LineEncoding::default(),
            text(&unit.directory),
            None,
            text(&unit.name),
            None,
        );
        let mut files = Vec::with_capacity(unit.files.len());
        for file in &unit.files {
            let directory = match &file.directory {
                Some(directory) => lines.add_directory(text(directory)),
                None => lines.default_directory(),
            };
            files.push(lines.add_file(text(&file.name), directory, None));
        }
        Self {
            unit,
            out: Unit::new(ENCODING, lines),
            files,
            strings,
            hosts,
            inlined: vec![None; unit.inlined.len()],
            types: Vec::with_capacity(unit.types.len()),
            variables: HashMap::new(),
            counts: vec![],
        }
    }

    fn finish(mut self, parts: &[Part], linked: &Linked) -> Unit {
        let unit = self.unit;
        let root = self.out.root();
        // gdb trusts the line behind a prologue if the producer begins with this (gdb/producer.c).
        let clang = unit.producer.find("clang ").unwrap_or(0);
        self.text(root, gimli::DW_AT_producer, &unit.producer[clang..]);
        if let Some(language) = unit.language {
            let language = AttributeValue::Language(language);
            self.out.get_mut(root).set(gimli::DW_AT_language, language);
        }
        self.text(root, gimli::DW_AT_name, &unit.name);
        self.text(root, gimli::DW_AT_comp_dir, &unit.directory);
        self.add_types();
        for part in parts {
            self.lines(part);
            self.function(part, linked);
        }
        self.set_counts();
        // Neighbours are one range.
        let mut ranges: Vec<Range<u32>> = vec![];
        let mut last = None;
        for part in parts {
            match ranges.last_mut() {
                Some(range) if last == part.number.checked_sub(1) => range.end = part.code.end,
                _ => ranges.push(part.code.clone()),
            }
            last = Some(part.number);
        }
        if let [range] = &ranges[..] {
            self.range(root, range);
        } else {
            // All addresses of the unit count from this one.
            let low = AttributeValue::Address(Address::Constant(0));
            self.out.get_mut(root).set(gimli::DW_AT_low_pc, low);
            self.ranges(root, &ranges);
        }
        self.out
    }

    /// The rows of one function.
    fn lines(&mut self, part: &Part) {
        let rows = debug_rows::of(self.unit, part);
        let lines = &mut self.out.line_program;
        lines.begin_sequence(Some(code_address(part.code.start)));
        for row in rows {
            let out = lines.row();
            out.address_offset = u64::from(row.code - part.code.start);
            let position = row.position;
            out.line = position.map_or(0, |position| position.line.into());
            out.column = position.map_or(0, |position| position.column.into());
            if let Some(position) = position {
                out.file = self.files[position.file as usize];
            }
            out.is_statement = row.is_statement;
            out.prologue_end = row.ends_prologue;
            lines.generate_row();
        }
        lines.end_sequence(part.code.len() as u64);
    }

    fn function(&mut self, part: &Part, linked: &Linked) {
        let unit = self.unit;
        let known = &unit.functions;
        let known = known.binary_search_by_key(&part.guest, |function| function.start);
        let function = known.map_or_else(
            |_| SourceFunction {
                start: part.guest,
                ..SourceFunction::default()
            },
            |at| unit.functions[at].clone(),
        );
        let Some(routine) = self.complete(&function, linked) else {
            return;
        };
        let entry = self.out.add(self.out.root(), gimli::DW_TAG_subprogram);
        self.range(entry, &part.code);
        self.routine(entry, &routine);
        let mut by_guest: Vec<usize> = (0..part.origins.len()).collect();
        by_guest.sort_by_key(|&at| part.origins[at].guest);
        let homes = Homes::new(part.homes);
        let body = Body {
            part,
            by_guest: &by_guest,
            homes: &homes,
            hosts: self.hosts,
        };
        self.add_variables(entry, &function.variables, &body);
        self.scopes(entry, &function, &body);
    }

    /// Adds to what debug information says of a function what its symbol and its first row say.
    fn complete(&self, function: &SourceFunction, linked: &Linked) -> Option<Routine> {
        let mut routine = function.routine.clone();
        let offset = u64::from(function.start);
        let symbols = &linked.functions;
        let symbol = symbols.binary_search_by_key(&offset, |symbol| symbol.offset);
        if let Ok(at) = symbol {
            let name = &symbols[at].name;
            if routine.name.is_empty() {
                routine.name = flick_names::base_name(name);
            }
            if *name != routine.name && routine.linkage_name.is_none() {
                routine.linkage_name = Some(name.clone());
            }
            let gate = format!("{}{name}", flick_abi::names::NXP_PREFIX);
            routine.is_external |= linked.entries.get(&gate) == Some(&offset);
        }
        let row = self.unit.row_at(function.start);
        let first = row.and_then(|row| self.unit.rows[row].position);
        routine.declared = routine.declared.or(first);
        (!routine.name.is_empty()).then_some(routine)
    }

    fn routine(&mut self, entry: UnitEntryId, routine: &Routine) {
        if let Some(name) = &routine.linkage_name {
            self.text(entry, gimli::DW_AT_linkage_name, name);
        }
        self.text(entry, gimli::DW_AT_name, &routine.name);
        if let Some(declared) = routine.declared {
            let (file, line) = (gimli::DW_AT_decl_file, gimli::DW_AT_decl_line);
            self.place(entry, file, line, declared);
        }
        self.set_type(entry, routine.result);
        for (name, is) in [
            (gimli::DW_AT_external, routine.is_external),
            (gimli::DW_AT_prototyped, routine.is_prototyped),
        ] {
            if is {
                self.out
                    .get_mut(entry)
                    .set(name, AttributeValue::FlagPresent);
            }
        }
    }

    fn scopes(&mut self, function: UnitEntryId, of: &SourceFunction, body: &Body) {
        let mut entries: Vec<UnitEntryId> = Vec::with_capacity(of.scopes.len());
        for scope in &of.scopes {
            let parent = scope.parent.and_then(|parent| entries.get(parent));
            let parent = parent.copied().unwrap_or(function);
            let ranges = translated_ranges(&scope.ranges, body.part, body.by_guest);
            if ranges.is_empty() {
                // Scopes in it have no code, either.
                entries.push(parent);
                continue;
            }
            let entry = match scope.call {
                Some(call) => self.inlined_call(parent, call),
                None => self.out.add(parent, gimli::DW_TAG_lexical_block),
            };
            match &ranges[..] {
                [range] => self.range(entry, range),
                ranges => self.ranges(entry, ranges),
            }
            self.add_variables(entry, &scope.variables, body);
            entries.push(entry);
        }
    }

    fn inlined_call(&mut self, parent: UnitEntryId, call: InlinedCall) -> UnitEntryId {
        let origin = self.abstract_entry(call.routine);
        let entry = self.out.add(parent, gimli::DW_TAG_inlined_subroutine);
        let origin = AttributeValue::UnitRef(origin);
        let out = self.out.get_mut(entry);
        out.set(gimli::DW_AT_abstract_origin, origin);
        if let Some(called) = call.called {
            let (file, line) = (gimli::DW_AT_call_file, gimli::DW_AT_call_line);
            self.place(entry, file, line, called);
            if called.column != 0 {
                let column = AttributeValue::Udata(called.column.into());
                let out = self.out.get_mut(entry);
                out.set(gimli::DW_AT_call_column, column);
            }
        }
        entry
    }

    fn add_variables(&mut self, scope: UnitEntryId, variables: &[Variable], body: &Body) {
        for variable in variables {
            let tag = if variable.is_parameter {
                gimli::DW_TAG_formal_parameter
            } else {
                gimli::DW_TAG_variable
            };
            let entry = self.out.add(scope, tag);
            self.variables.insert(variable.entry, entry);
            self.text(entry, gimli::DW_AT_name, &variable.name);
            if let Some(declared) = variable.declared {
                let (file, line) = (gimli::DW_AT_decl_file, gimli::DW_AT_decl_line);
                self.place(entry, file, line, declared);
            }
            self.set_type(entry, variable.type_entry);
            if variable.is_artificial {
                let artificial = AttributeValue::FlagPresent;
                self.out
                    .get_mut(entry)
                    .set(gimli::DW_AT_artificial, artificial);
            }
            if let Some(constant) = &variable.constant {
                self.set_value(entry, gimli::DW_AT_const_value, constant);
                continue;
            }
            let size = variable.type_entry;
            let size = size.and_then(|at| debug_types::size_of(&self.unit.types, at));
            let places = debug_places::of(variable, size, body);
            if places.is_empty() {
                continue;
            }
            let list = self.out.locations.add(debug_places::list(places));
            let list = AttributeValue::LocationListRef(list);
            self.out.get_mut(entry).set(gimli::DW_AT_location, list);
        }
    }

    /// The entry of a function whose calls are inlined.
    fn abstract_entry(&mut self, routine: usize) -> UnitEntryId {
        if let Some(known) = self.inlined[routine] {
            return known;
        }
        let unit = self.unit;
        let entry = self.out.add(self.out.root(), gimli::DW_TAG_subprogram);
        self.routine(entry, &unit.inlined[routine]);
        let inlined = AttributeValue::Inline(gimli::DW_INL_inlined);
        self.out.get_mut(entry).set(gimli::DW_AT_inline, inlined);
        self.inlined[routine] = Some(entry);
        entry
    }

    pub(super) fn text(&mut self, entry: UnitEntryId, name: gimli::DwAt, text: &str) {
        if !text.is_empty() {
            let text = AttributeValue::StringRef(self.strings.add(text));
            self.out.get_mut(entry).set(name, text);
        }
    }

    pub(super) fn place(
        &mut self,
        entry: UnitEntryId,
        file: gimli::DwAt,
        line: gimli::DwAt,
        at: Position,
    ) {
        let number = self.files[at.file as usize];
        let entry = self.out.get_mut(entry);
        entry.set(file, AttributeValue::FileIndex(Some(number)));
        entry.set(line, AttributeValue::Udata(at.line.into()));
    }

    fn range(&mut self, entry: UnitEntryId, range: &Range<u32>) {
        let low = AttributeValue::Address(code_address(range.start));
        let size = AttributeValue::Data4(range.end - range.start);
        let entry = self.out.get_mut(entry);
        entry.set(gimli::DW_AT_low_pc, low);
        entry.set(gimli::DW_AT_high_pc, size);
    }

    /// `ranges` is not empty.
    fn ranges(&mut self, entry: UnitEntryId, ranges: &[Range<u32>]) {
        use gimli::write::Range::{BaseAddress, OffsetPair};
        let base = ranges[0].start;
        let address = code_address(base);
        let mut list = vec![BaseAddress { address }];
        list.extend(ranges.iter().map(|range| OffsetPair {
            begin: u64::from(range.start - base),
            end: u64::from(range.end - base),
        }));
        let list = self.out.ranges.add(RangeList(list));
        let list = AttributeValue::RangeListRef(list);
        self.out.get_mut(entry).set(gimli::DW_AT_ranges, list);
    }
}

/// The code that was made of instructions in `guest`. `by_guest`: places of the origins, sorted by
/// the guest's instructions.
pub(super) fn translated_ranges(
    guest: &[Range<u32>],
    part: &Part,
    by_guest: &[usize],
) -> Vec<Range<u32>> {
    let origins = part.origins;
    let mut places: Vec<usize> = vec![];
    for range in guest {
        let after = |guest| by_guest.partition_point(|&at| origins[at].guest < guest);
        let (start, end) = (after(range.start), after(range.end));
        places.extend_from_slice(by_guest.get(start..end).unwrap_or_default());
    }
    places.sort_unstable();
    places.dedup();
    let mut ranges: Vec<Range<u32>> = vec![];
    for at in places {
        let start = origins[at].code;
        let end = origins.get(at + 1).map_or(part.code.end, |next| next.code);
        match ranges.last_mut() {
            _ if start == end => {}
            Some(last) if last.end == start => last.end = end,
            _ => ranges.push(start..end),
        }
    }
    ranges
}
