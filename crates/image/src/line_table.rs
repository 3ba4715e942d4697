//! Source lines of an image, from the DWARF line tables of the linked RV64 ELF (DWARF 5, 6.2).
use std::sync::Arc;

use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};

use crate::inlined::{Calls, Inlined};

/// From `offset` up to the next row's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Offset of the row's first instruction in the image, in bytes.
    pub offset: u32,
    /// Path of the source file, as the compiler had it.
    pub file: Arc<str>,
    /// 0: unknown.
    pub line: u32,
    /// Index plus 1 in [`Table::inlined`]; 0: none.
    pub inlined: u32,
}

/// What debug information says about the code.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Sorted.
    pub rows: Vec<Line>,
    /// The inlined calls that rows lead to.
    pub inlined: Vec<Inlined>,
}

pub(crate) type Reader<'a> = EndianSlice<'a, LittleEndian>;

/// All rows, sorted, equal neighbours merged. Debug information that cannot be read gives no rows:
/// it is a help in reports, not a condition.
pub fn read(elf: &ElfFile64<object::LittleEndian>, base: u64, size: u64) -> Table {
    let section = |id: SectionId| -> Result<Reader<'_>, gimli::Error> {
        let data = elf.section_by_name(id.name()).and_then(|s| s.data().ok());
        Ok(EndianSlice::new(data.unwrap_or_default(), LittleEndian))
    };
    let Ok(dwarf) = Dwarf::load(section) else {
        return Table::default();
    };
    let mut calls = Calls::default();
    let mut rows = Vec::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else {
            continue;
        };
        // A row list that breaks off keeps what was read.
        let _ = unit_rows(&dwarf, &unit, base, size, &mut rows);
        let _ = calls.add(&dwarf, &unit, base, size);
    }
    // Where a sequence ends and the next begins at the same offset, the beginning counts.
    rows.sort_by_key(|row| (row.offset, row.line != 0));
    rows.reverse();
    rows.dedup_by_key(|row| row.offset);
    rows.reverse();
    if rows.iter().all(|row| row.line == 0) {
        return Table::default();
    }
    let mut rows = with_calls(rows, &calls.changes());
    rows.dedup_by(|next, row| {
        (&next.file, next.line, next.inlined) == (&row.file, row.line, row.inlined)
    });
    Table {
        rows,
        inlined: calls.calls,
    }
}

/// The rows, divided where the innermost inlined call changes.
fn with_calls(rows: Vec<Line>, changes: &[(u64, u32)]) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::with_capacity(rows.len() + changes.len());
    let mut changes = changes.iter().copied().peekable();
    let mut inlined = 0;
    for row in rows {
        while let Some((at, call)) = changes.next_if(|(at, _)| *at <= u64::from(row.offset)) {
            inlined = call;
            if at < u64::from(row.offset)
                && let Some(before) = all.last().cloned()
            {
                all.push(Line {
                    offset: at as u32,
                    inlined,
                    ..before
                });
            }
        }
        all.push(Line { inlined, ..row });
    }
    all
}

fn unit_rows(
    dwarf: &Dwarf<Reader<'_>>,
    unit: &gimli::Unit<Reader<'_>>,
    base: u64,
    size: u64,
    out: &mut Vec<Line>,
) -> Result<(), gimli::Error> {
    let Some(program) = unit.line_program.clone() else {
        return Ok(());
    };
    let mut rows = program.rows();
    let mut files: Vec<(u64, Arc<str>)> = Vec::new();
    while let Some((header, row)) = rows.next_row()? {
        let offset = row.address().wrapping_sub(base);
        // Code that the linker has dropped is left at address 0 or below.
        if offset > size || row.address() == 0 {
            continue;
        }
        let index = row.file_index();
        let file = match files.iter().find(|(known, _)| *known == index) {
            Some((_, file)) => file.clone(),
            None => {
                let file: Arc<str> = file_name(dwarf, unit, header, index)?.into();
                files.push((index, file.clone()));
                file
            }
        };
        let line = if row.end_sequence() {
            0
        } else {
            row.line().map_or(0, |line| line.get())
        };
        out.push(Line {
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
            file,
            line: u32::try_from(line).unwrap_or(0),
            inlined: 0,
        });
    }
    Ok(())
}

pub(crate) fn file_name(
    dwarf: &Dwarf<Reader<'_>>,
    unit: &gimli::Unit<Reader<'_>>,
    header: &gimli::LineProgramHeader<Reader<'_>>,
    index: u64,
) -> Result<String, gimli::Error> {
    let Some(file) = header.file(index) else {
        return Ok(String::new());
    };
    let text = |value| {
        dwarf
            .attr_string(unit, value)
            .map(|s| s.to_string_lossy().into_owned())
    };
    let name = text(file.path_name())?;
    match file.directory(header) {
        // Directory 0 is the compilation's: names are shown as they were given to the compiler.
        Some(directory) if file.directory_index() != 0 && !name.starts_with('/') => {
            Ok(format!("{}/{name}", text(directory)?))
        }
        _ => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_divided_where_calls_change() {
        let row = |offset, line, inlined| Line {
            offset,
            file: "a.c".into(),
            line,
            inlined,
        };
        let rows = vec![row(0, 1, 0), row(8, 2, 0), row(20, 0, 0)];
        let changes = [(4, 1), (8, 2), (12, 0), (30, 1)];
        assert_eq!(
            with_calls(rows, &changes),
            [
                row(0, 1, 0),
                row(4, 1, 1),
                row(8, 2, 2),
                row(12, 2, 0),
                row(20, 0, 0)
            ]
        );
    }
}
