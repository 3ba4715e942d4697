//! Rows of the line table of a translated function.
use std::collections::HashSet;
use std::ops::Range;

use crate::source_units::{Position, SourceUnit};
use crate::translation::{Homed, Origin};

/// One function's translation.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    /// Its place among all.
    pub(super) number: usize,
    /// Offset in the image where it is entered.
    pub(super) guest: u32,
    /// Where the image has the next function, or the unit ends.
    pub(super) guest_end: u32,
    /// Its instructions, from the start of the code.
    pub(super) code: Range<u32>,
    pub(super) origins: &'a [Origin],
    pub(super) homes: &'a [Homed],
}

/// Holds from `code` up to the next row's, or the end of the function's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeRow {
    /// From the start of all code.
    pub(super) code: u32,
    /// `None`: no line.
    pub(super) position: Option<Position>,
    /// A place for breakpoints.
    pub(super) is_statement: bool,
    /// The first row behind the prologue.
    pub(super) ends_prologue: bool,
}

/// In ascending order. The first row is the line of the function. The second may be at the same
/// place, where the prologue has no code.
///
/// A statement's first instruction may have become no code. Then the next code of its line begins
/// the statement. A breakpoint in cold code would seldom stop, so no statement begins there.
pub(super) fn of(unit: &SourceUnit, part: &Part) -> Vec<CodeRow> {
    let body = unit.rows.partition_point(|row| row.offset < part.guest);
    let body = unit.rows[body..]
        .iter()
        .take_while(|row| row.offset < part.guest_end)
        .find(|row| row.ends_prologue)
        .map(|row| row.offset);
    let first = unit.row_at(part.guest);
    let mut rows = vec![CodeRow {
        code: part.code.start,
        position: first.and_then(|row| unit.rows[row].position),
        is_statement: true,
        ends_prologue: false,
    }];
    let mut in_prologue = body.is_some();
    let mut known: HashSet<(u32, u32)> = HashSet::new();
    let mut last = (first, false);
    for (n, origin) in part.origins.iter().enumerate() {
        let end = part.origins.get(n + 1).map(|next| next.code);
        if end.unwrap_or(part.code.end) == origin.code {
            continue;
        }
        let number = unit.row_at(origin.guest);
        let is_body = body.is_some_and(|body| !(part.guest..body).contains(&origin.guest));
        let ends_prologue = in_prologue && is_body && !origin.is_cold;
        if (number, origin.is_cold) == last && !ends_prologue {
            continue;
        }
        last = (number, origin.is_cold);
        in_prologue &= !ends_prologue;
        let row = number.map(|number| unit.rows[number]);
        let position = row.and_then(|row| row.position);
        let begins = row.is_some_and(|row| row.is_statement) && position.is_some();
        let is_first = |at: Position| known.insert((at.file, at.line));
        let is_first = !origin.is_cold && position.is_some_and(is_first);
        rows.push(CodeRow {
            code: origin.code,
            position,
            is_statement: !origin.is_cold && (begins || is_first),
            ends_prologue,
        });
    }
    rows
}
