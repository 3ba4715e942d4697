//! Which functions the compiler put into which, from the debug information of the linked RV64 ELF
//! (DWARF 5, 3.3.8): so that a report names the function that the author wrote.
use std::sync::Arc;

use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, Unit, UnitOffset};

use crate::line_table::{Reader, file_name};

/// One call that was replaced by the body of its function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlined {
    /// The function whose body is here, as in the source.
    pub name: Arc<str>,
    /// Where it was called.
    pub file: Arc<str>,
    /// 0: unknown.
    pub line: u32,
    /// The inlined call around this one: its index plus 1; 0: this one stands in a real function.
    pub parent: u32,
}

/// All inlined calls of an image and which of them the code belongs to.
#[derive(Debug, Default)]
pub struct Calls {
    /// A call stands behind the calls around it.
    pub calls: Vec<Inlined>,
    ranges: Vec<Range>,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    start: u64,
    end: u64,
    /// Index plus 1.
    call: u32,
    depth: usize,
}

impl Calls {
    /// Adds those of one unit; what cannot be read is left out. `base` is the image's address.
    pub fn add(
        &mut self,
        dwarf: &Dwarf<Reader<'_>>,
        unit: &Unit<Reader<'_>>,
        base: u64,
        size: u64,
    ) -> Result<(), gimli::Error> {
        let mut entries = unit.entries();
        let mut depth = 0_isize;
        // The inlined calls around the current entry, with their depths.
        let mut around: Vec<(isize, u32)> = Vec::new();
        while let Some((step, entry)) = entries.next_dfs()? {
            depth += step;
            while around.last().is_some_and(|(known, _)| *known >= depth) {
                around.pop();
            }
            if entry.tag() != gimli::DW_TAG_inlined_subroutine {
                continue;
            }
            let parent = around.last().map_or(0, |(_, call)| *call);
            self.calls.push(Inlined {
                name: origin_name(dwarf, unit, entry)?.into(),
                file: call_file(dwarf, unit, entry)?.into(),
                line: number(entry, gimli::DW_AT_call_line)
                    .and_then(|line| u32::try_from(line).ok())
                    .unwrap_or(0),
                parent,
            });
            let call = self.calls.len() as u32;
            let mut ranges = dwarf.die_ranges(unit, entry)?;
            while let Some(range) = ranges.next()? {
                let (start, end) = (range.begin.wrapping_sub(base), range.end.wrapping_sub(base));
                // Code that the linker has dropped is left at address 0 or below.
                if range.begin != 0 && start < end && end <= size {
                    let depth = around.len();
                    self.ranges.push(Range {
                        start,
                        end,
                        call,
                        depth,
                    });
                }
            }
            around.push((depth, call));
        }
        Ok(())
    }

    /// Offsets from which the innermost call is another, sorted; 0: no inlined call.
    pub fn changes(&mut self) -> Vec<(u64, u32)> {
        let ranges = &mut self.ranges;
        ranges.sort_by_key(|r| (r.start, std::cmp::Reverse(r.end), r.depth));
        let mut changes = Vec::new();
        let mut open: Vec<Range> = Vec::new();
        let close = |open: &mut Vec<Range>, until: u64, changes: &mut Vec<(u64, u32)>| {
            while let Some(top) = open.last().filter(|top| top.end <= until).copied() {
                open.pop();
                changes.push((top.end, open.last().map_or(0, |range| range.call)));
            }
        };
        for range in ranges.iter() {
            close(&mut open, range.start, &mut changes);
            changes.push((range.start, range.call));
            open.push(*range);
        }
        close(&mut open, u64::MAX, &mut changes);
        // Of several at one offset the last is what holds.
        changes.reverse();
        changes.dedup_by_key(|(at, _)| *at);
        changes.reverse();
        changes
    }
}

fn number(entry: &DebuggingInformationEntry<Reader<'_>>, name: gimli::DwAt) -> Option<u64> {
    entry.attr_value(name).ok()??.udata_value()
}

fn call_file(
    dwarf: &Dwarf<Reader<'_>>,
    unit: &Unit<Reader<'_>>,
    entry: &DebuggingInformationEntry<Reader<'_>>,
) -> Result<String, gimli::Error> {
    let index = match entry.attr_value(gimli::DW_AT_call_file)? {
        Some(AttributeValue::FileIndex(index)) => index,
        _ => return Ok(String::new()),
    };
    match &unit.line_program {
        Some(program) => file_name(dwarf, unit, program.header(), index),
        None => Ok(String::new()),
    }
}

/// The name of what was inlined: its linker name made readable, else the source's; through abstract
/// origin and specification.
fn origin_name(
    dwarf: &Dwarf<Reader<'_>>,
    unit: &Unit<Reader<'_>>,
    entry: &DebuggingInformationEntry<Reader<'_>>,
) -> Result<String, gimli::Error> {
    const LONGEST_CHAIN: usize = 8;
    let mut next = reference(entry);
    let mut plain = None;
    for _ in 0..LONGEST_CHAIN {
        let Some(offset) = next else { break };
        let entry = unit.entry(offset)?;
        let text = |name| -> Result<Option<String>, gimli::Error> {
            match entry.attr_value(name)? {
                Some(value) => Ok(Some(
                    dwarf
                        .attr_string(unit, value)?
                        .to_string_lossy()
                        .into_owned(),
                )),
                None => Ok(None),
            }
        };
        if let Some(symbol) = text(gimli::DW_AT_linkage_name)? {
            return Ok(flick_names::demangled(flick_names::plain(&symbol)).into_owned());
        }
        plain = match plain {
            None => text(gimli::DW_AT_name)?,
            known => known,
        };
        next = reference(&entry);
    }
    Ok(plain.unwrap_or_else(|| "?".into()))
}

fn reference(entry: &DebuggingInformationEntry<Reader<'_>>) -> Option<UnitOffset> {
    [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification]
        .into_iter()
        .find_map(|name| match entry.attr_value(name) {
            Ok(Some(AttributeValue::UnitRef(offset))) => Some(offset),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64, call: u32, depth: usize) -> Range {
        Range {
            start,
            end,
            call,
            depth,
        }
    }

    #[test]
    fn the_innermost_call_holds() {
        let mut calls = Calls {
            calls: Vec::new(),
            // 1 holds 2 twice, the second time up to its own end; 3 begins where 1 ends; 4 has the
            // same range as 3 and is inside it.
            ranges: vec![
                range(10, 50, 1, 0),
                range(20, 30, 2, 1),
                range(40, 50, 2, 1),
                range(50, 60, 4, 1),
                range(50, 60, 3, 0),
            ],
        };
        assert_eq!(
            calls.changes(),
            [(10, 1), (20, 2), (30, 1), (40, 2), (50, 4), (60, 0)]
        );
        assert!(Calls::default().changes().is_empty());
    }
}
