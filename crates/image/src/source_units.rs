//! The compilation units of an image, from the debug information of the linked RV64 ELF (DWARF 5,
//! 3.1, 3.3 and 6.2): lines, functions and inlined calls, as debug information of the translated
//! code needs them.
use std::collections::HashMap;
use std::ops::Range;

use gimli::{
    AttributeValue, DebuggingInformationEntry, DwLang, Dwarf, EndianSlice, LineProgramHeader,
    SectionId, UnitOffset, UnitSectionOffset,
};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};

use crate::line_table::Reader;
use crate::linked::Linked;
use crate::source_types::{TypeEntry, Types};
use crate::source_variables::Variable;

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// As the compiler had it, relative to the unit's directory; `None`: the unit's directory.
    pub directory: Option<String>,
    /// Relative to `directory`; never empty.
    pub name: String,
}

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Index in [`SourceUnit::files`].
    pub file: u32,
    /// 0: unknown.
    pub line: u32,
    /// 0: unknown.
    pub column: u32,
}

/// Holds from `offset` up to the next row's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Offset of the row's first instruction in the image, in bytes.
    pub offset: u32,
    /// `None`: the compiler says that the code has no line.
    pub position: Option<Position>,
    /// The row begins a statement.
    pub is_statement: bool,
    /// The function's prologue ends here.
    pub ends_prologue: bool,
    /// The unit has no code here.
    pub is_end: bool,
}

/// Names of a function, and where it is declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routine {
    /// As in the source.
    pub name: String,
    /// The linker's, if it is another.
    pub linkage_name: Option<String>,
    /// The line of its name.
    pub declared: Option<Position>,
    /// Other units can call it.
    pub is_external: bool,
    /// Index in [`SourceUnit::types`]; `None`: it returns nothing.
    pub result: Option<usize>,
    /// It has a prototype.
    pub is_prototyped: bool,
}

/// A call that the compiler replaced by the function's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlinedCall {
    /// Index in [`SourceUnit::inlined`].
    pub routine: usize,
    /// Where it was called.
    pub called: Option<Position>,
}

/// A part of a function with variables of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// `None`: a block of the source.
    pub call: Option<InlinedCall>,
    /// The scope around this one: its index in the same list, which is lower.
    pub parent: Option<usize>,
    /// The code, as offsets in the image.
    pub ranges: Vec<Range<u32>>,
    /// Its own.
    pub variables: Vec<Variable>,
    /// The entry that it adds to, by its offset in the unit.
    pub(crate) origin: Option<usize>,
}

/// A function with code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFunction {
    /// Offset of its first instruction in the image.
    pub start: u32,
    /// What it is called.
    pub routine: Routine,
    /// Blocks with variables, and calls that were inlined.
    pub scopes: Vec<Scope>,
    /// Parameters, and variables of the outermost block.
    pub variables: Vec<Variable>,
    /// The entry that it adds to, by its offset in the unit.
    pub(crate) origin: Option<usize>,
}

/// A compilation unit with code in the image.
#[derive(Clone, Debug, Default)]
pub struct SourceUnit {
    /// Its source file, as the compiler had it.
    pub name: String,
    /// Where the compiler ran.
    pub directory: String,
    /// The compiler.
    pub producer: String,
    /// The source's language.
    pub language: Option<DwLang>,
    /// All that rows and calls name.
    pub files: Vec<SourceFile>,
    /// In ascending order; of several rows with one offset the last counts.
    pub rows: Vec<Row>,
    /// The pieces of code that the rows describe.
    pub sequences: Vec<Range<u32>>,
    /// In ascending order. Some compilers leave out functions without inlined calls.
    pub functions: Vec<SourceFunction>,
    /// The functions whose calls were inlined.
    pub inlined: Vec<Routine>,
    /// The types of variables and of results.
    pub types: Vec<TypeEntry>,
}

impl SourceUnit {
    /// The number of the row that holds at an offset in the image.
    pub fn row_at(&self, offset: u32) -> Option<usize> {
        let after = self.rows.partition_point(|row| row.offset <= offset);
        after.checked_sub(1).filter(|&at| !self.rows[at].is_end)
    }
}

/// The units that have lines. Debug information that cannot be read is left out: it is a help, and
/// not a condition.
pub fn read(linked: &Linked, file: &[u8]) -> Vec<SourceUnit> {
    let Ok(elf) = ElfFile64::<object::LittleEndian>::parse(file) else {
        return vec![];
    };
    let section = |id: SectionId| -> Result<Reader<'_>, gimli::Error> {
        let data = elf.section_by_name(id.name()).and_then(|s| s.data().ok());
        let endian = gimli::LittleEndian;
        Ok(EndianSlice::new(data.unwrap_or_default(), endian))
    };
    let Ok(dwarf) = Dwarf::load(section) else {
        return vec![];
    };
    let mut units = vec![];
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        let Ok(unit) = dwarf.unit(header) else {
            continue;
        };
        let mut source = Source {
            dwarf: &dwarf,
            unit: &unit,
            linked,
            out: SourceUnit::default(),
            files: HashMap::new(),
            routines: HashMap::new(),
            types: Types::default(),
        };
        // What was read before an error counts.
        let _ = source.root();
        let _ = source.rows();
        if source.out.rows.is_empty() {
            continue;
        }
        let _ = source.entries();
        let _ = source.inherit();
        let known = source.read_types().unwrap_or_default();
        source.settle_types(&known);
        source.out.functions.sort_by_key(|function| function.start);
        units.push(source.out);
    }
    units
}

/// The reader of one unit.
pub(crate) struct Source<'a> {
    pub(crate) dwarf: &'a Dwarf<Reader<'a>>,
    pub(crate) unit: &'a gimli::Unit<Reader<'a>>,
    pub(crate) linked: &'a Linked,
    pub(crate) out: SourceUnit,
    /// By the unit's own number; `None`: a file without a name.
    files: HashMap<u64, Option<u32>>,
    /// Indices in `out.inlined`.
    pub(crate) routines: HashMap<UnitOffset, usize>,
    pub(crate) types: Types,
}

pub(crate) type Entry<'b, 'a> = DebuggingInformationEntry<'b, 'b, Reader<'a>>;

impl<'a> Source<'a> {
    pub(crate) fn text(&self, value: AttributeValue<Reader<'a>>) -> Result<String, gimli::Error> {
        let text = self.dwarf.attr_string(self.unit, value)?;
        Ok(text.to_string_lossy().into_owned())
    }

    fn root(&mut self) -> Result<(), gimli::Error> {
        let mut entries = self.unit.entries();
        let Some((_, root)) = entries.next_dfs()? else {
            return Ok(());
        };
        for (name, to) in [
            (gimli::DW_AT_name, 0),
            (gimli::DW_AT_comp_dir, 1),
            (gimli::DW_AT_producer, 2),
        ] {
            let Some(value) = root.attr_value(name)? else {
                continue;
            };
            let text = self.text(value)?;
            *[
                &mut self.out.name,
                &mut self.out.directory,
                &mut self.out.producer,
            ][to] = text;
        }
        if let Some(AttributeValue::Language(language)) = root.attr_value(gimli::DW_AT_language)? {
            self.out.language = Some(language);
        }
        Ok(())
    }

    /// The offset in the image of code that the linker has kept.
    pub(crate) fn offset(&self, address: u64) -> Option<u32> {
        let offset = address.wrapping_sub(self.linked.base);
        let is_code = address != 0 && self.linked.text.contains(&offset);
        u32::try_from(offset).ok().filter(|_| is_code)
    }

    /// The file with the number that the line table gives to it.
    fn file(
        &mut self,
        header: &LineProgramHeader<Reader<'a>>,
        number: u64,
    ) -> Result<Option<u32>, gimli::Error> {
        if let Some(&known) = self.files.get(&number) {
            return Ok(known);
        }
        let mut index = None;
        if let Some(file) = header.file(number) {
            let name = self.text(file.path_name())?;
            let directory = match file.directory(header) {
                Some(directory) if file.directory_index() != 0 => Some(self.text(directory)?),
                _ => None,
            };
            if !name.is_empty() {
                index = Some(self.out.files.len() as u32);
                self.out.files.push(SourceFile {
                    directory: directory.filter(|directory| !directory.is_empty()),
                    name,
                });
            }
        }
        self.files.insert(number, index);
        Ok(index)
    }

    fn position(
        &mut self,
        header: &LineProgramHeader<Reader<'a>>,
        file: u64,
        line: u64,
        column: u64,
    ) -> Result<Option<Position>, gimli::Error> {
        let small = |number| u32::try_from(number).unwrap_or(0);
        let (line, column) = (small(line), small(column));
        if line == 0 {
            return Ok(None);
        }
        let file = self.file(header, file)?;
        Ok(file.map(|file| Position { file, line, column }))
    }

    fn rows(&mut self) -> Result<(), gimli::Error> {
        let Some(program) = self.unit.line_program.clone() else {
            return Ok(());
        };
        let mut rows = program.rows();
        // Of the present sequence.
        let mut sequence: Vec<Row> = vec![];
        let mut is_kept = true;
        while let Some((header, row)) = rows.next_row()? {
            let offset = if row.end_sequence() {
                u32::try_from(row.address().wrapping_sub(self.linked.base)).ok()
            } else {
                self.offset(row.address())
            };
            is_kept &= offset.is_some();
            let column = match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(column) => column.get(),
            };
            let (file, line) = (row.file_index(), row.line().map_or(0, |line| line.get()));
            let (is_statement, ends_prologue) = (row.is_stmt(), row.prologue_end());
            let is_end = row.end_sequence();
            let position = if is_end {
                None
            } else {
                self.position(header, file, line, column)?
            };
            sequence.push(Row {
                offset: offset.unwrap_or(0),
                position,
                is_statement,
                ends_prologue,
                is_end,
            });
            if is_end {
                let all = sequence.first().zip(sequence.last());
                let all = all.map(|(first, last)| first.offset..last.offset);
                if let Some(all) = all.filter(|all| is_kept && !all.is_empty()) {
                    self.out.sequences.push(all);
                    self.out.rows.append(&mut sequence);
                }
                sequence.clear();
                is_kept = true;
            }
        }
        // Where one sequence ends and the next begins at the same offset, the beginning counts.
        self.out.rows.sort_by_key(|row| (row.offset, !row.is_end));
        Ok(())
    }

    pub(crate) fn ranges(&self, entry: &Entry<'_, 'a>) -> Result<Vec<Range<u32>>, gimli::Error> {
        let mut all = vec![];
        let mut ranges = self.dwarf.die_ranges(self.unit, entry)?;
        while let Some(range) = ranges.next()? {
            if let Some(start) = self.offset(range.begin)
                && let Ok(size) = u32::try_from(range.end.saturating_sub(range.begin))
                && size > 0
            {
                all.push(start..start.saturating_add(size));
            }
        }
        Ok(all)
    }

    /// The entry in this unit that this one adds to.
    pub(crate) fn reference(&self, entry: &Entry<'_, 'a>) -> Option<UnitOffset> {
        let names = [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification];
        names
            .into_iter()
            .find_map(|name| self.unit_offset(&entry.attr_value(name).ok()??))
    }

    /// An entry and those that it adds to, along abstract origins and specifications.
    pub(crate) fn chain(&self, from: UnitOffset) -> Result<Vec<Entry<'a, 'a>>, gimli::Error> {
        const LONGEST_CHAIN: usize = 8;
        let mut chain = vec![];
        let mut next = Some(from);
        while let Some(offset) = next.filter(|_| chain.len() < LONGEST_CHAIN) {
            let entry = self.unit.entry(offset)?;
            next = self.reference(&entry);
            chain.push(entry);
        }
        Ok(chain)
    }

    /// The type of an entry, which is to be read, by the offset of its own entry.
    pub(crate) fn type_of(&mut self, entry: &Entry<'_, 'a>) -> Result<Option<usize>, gimli::Error> {
        let value = entry.attr_value(gimli::DW_AT_type)?;
        let offset = value.and_then(|value| self.unit_offset(&value));
        if let Some(offset) = offset {
            self.want_type(offset);
        }
        Ok(offset.map(|UnitOffset(offset)| offset))
    }

    /// The entry in this unit that an attribute names.
    pub(crate) fn unit_offset(&self, value: &AttributeValue<Reader<'a>>) -> Option<UnitOffset> {
        match *value {
            AttributeValue::UnitRef(offset) => Some(offset),
            // From one unit to another: of code that was linked as bitcode.
            AttributeValue::DebugInfoRef(offset) => {
                UnitSectionOffset::DebugInfoOffset(offset).to_unit_offset(self.unit)
            }
            _ => None,
        }
    }

    pub(crate) fn declared(
        &mut self,
        entry: &Entry<'_, 'a>,
    ) -> Result<Option<Position>, gimli::Error> {
        self.place(entry, DECLARED)
    }

    pub(crate) fn place(
        &mut self,
        entry: &Entry<'_, 'a>,
        [file, line, column]: [gimli::DwAt; 3],
    ) -> Result<Option<Position>, gimli::Error> {
        let unit = self.unit;
        let Some(program) = &unit.line_program else {
            return Ok(None);
        };
        let Some(AttributeValue::FileIndex(file)) = entry.attr_value(file)? else {
            return Ok(None);
        };
        let number = |name| -> Result<u64, gimli::Error> {
            let value = entry.attr_value(name)?;
            Ok(value.and_then(|value| value.udata_value()).unwrap_or(0))
        };
        let (line, column) = (number(line)?, number(column)?);
        self.position(program.header(), file, line, column)
    }
}

const DECLARED: [gimli::DwAt; 3] = [
    gimli::DW_AT_decl_file,
    gimli::DW_AT_decl_line,
    gimli::DW_AT_decl_column,
];
