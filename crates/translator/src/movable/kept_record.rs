//! The record of a translation, for later links.
use std::collections::BTreeSet;

use super::codec::{Reader, Writer};
use super::facts::{Answer, Query};
use crate::emit::code_origin::{Part, Span};
use crate::emit::homes::{self, Home, Homed};
use crate::emit::{Finished, Fixup, Outside, Word};
use crate::fault_state::States;

/// What came of a translation.
pub(crate) enum Outcome {
    /// The function cannot be translated.
    None,
    /// In stand-in addresses.
    Code(Box<Finished>),
    /// The low parts of these `auipc`s matter.
    Again(BTreeSet<u64>),
    /// It has to be translated for its place.
    AtItsPlace,
}

/// The questions and answers of a translation, and its outcome.
pub(crate) struct Record;

impl Record {
    pub fn write(facts: &[(Query, Answer)], outcome: &Outcome) -> Vec<u8> {
        let mut out = Writer::default();
        out.number(facts.len() as u64);
        for (query, answer) in facts {
            write_query(&mut out, *query);
            out.numbers(answer);
        }
        match outcome {
            Outcome::None => out.number(0),
            Outcome::Code(finished) => {
                out.number(1);
                write_code(&mut out, finished);
            }
            Outcome::Again(offsets) => {
                out.number(2);
                out.numbers(&offsets.iter().copied().collect::<Vec<_>>());
            }
            Outcome::AtItsPlace => out.number(3),
        }
        out.bytes
    }

    /// The outcome, if all answers are still `right`.
    pub fn read(record: &[u8], right: impl Fn(Query, Answer) -> bool) -> Option<Outcome> {
        let mut from = Reader { bytes: record };
        for _ in 0..from.count()? {
            let query = read_query(&mut from)?;
            let answer = from.numbers()?;
            if !right(query, answer) {
                return None;
            }
        }
        let outcome = match from.number()? {
            0 => Outcome::None,
            1 => Outcome::Code(Box::new(read_code(&mut from)?)),
            2 => Outcome::Again(from.numbers()?.into_iter().collect()),
            3 => Outcome::AtItsPlace,
            _ => return None,
        };
        from.bytes.is_empty().then_some(outcome)
    }
}

fn write_query(out: &mut Writer, query: Query) {
    let words = match query {
        Query::Constant(address, len) => [0, address, len],
        Query::Table(entry, Some(base)) => [1, entry, base],
        Query::Table(entry, None) => [2, entry, 0],
        Query::Jump(pc) => [3, pc, 0],
        Query::Slot(pc) => [4, pc, 0],
        Query::Resolve(target) => [5, target, 0],
        Query::Summary(pc) => [6, pc, 0],
        Query::Stub(pc) => [7, pc, 0],
    };
    words.iter().for_each(|&word| out.number(word));
}

fn read_query(from: &mut Reader) -> Option<Query> {
    let (kind, a, b) = (from.number()?, from.number()?, from.number()?);
    Some(match kind {
        0 => Query::Constant(a, b),
        1 => Query::Table(a, Some(b)),
        2 => Query::Table(a, None),
        3 => Query::Jump(a),
        4 => Query::Slot(a),
        5 => Query::Resolve(a),
        6 => Query::Summary(a),
        7 => Query::Stub(a),
        _ => return None,
    })
}

fn write_code(out: &mut Writer, finished: &Finished) {
    out.all(&finished.bytes);
    out.number(finished.code_end as u64);
    out.number(finished.frame.into());
    out.number(finished.fixups.len() as u64);
    for &(end, fixup) in &finished.fixups {
        let (kind, value, other) = match fixup {
            Fixup::Guest(at) => (0, at, None),
            Fixup::Function(at) => (1, at, None),
            Fixup::Engine(word) => (2, word as u64, None),
            Fixup::Stub(outside) => (3, outside.slot, Some(outside.function)),
        };
        for word in [end as u64, kind, value].into_iter().chain(other) {
            out.number(word);
        }
    }
    for all in [&finished.entries, &finished.returns] {
        out.number(all.len() as u64);
        for &(guest, code) in all {
            out.number(guest);
            out.number(code as u64);
        }
    }
    out.number(finished.depths.len() as u64);
    for &(offset, depth) in &finished.depths {
        out.number(offset as u64);
        out.number(depth.into());
    }
    out.all(finished.states.bytes());
    out.number(finished.spans.len() as u64);
    for span in &finished.spans {
        let is_cold = (span.part == Part::Cold).into();
        for word in [span.offset as u64, span.guest, span.frame, is_cold] {
            out.number(word);
        }
    }
    out.number(finished.homes.len() as u64);
    for homed in &finished.homes {
        out.number(homed.code.into());
        out.bytes
            .extend([homed.reg, homed.size, homed.is_extended.into()]);
        let (kind, value) = match homed.home {
            Home::Nowhere => (0, 0),
            Home::Register(n) => (1, n.into()),
            Home::Vector(n) => (2, n.into()),
            Home::Stack(offset) => (3, offset.into()),
            Home::Const(k) => (4, k),
            Home::Address(at) => (5, at as i64),
            Home::Sp(offset) => (6, offset.into()),
            Home::Hart(offset) => (7, offset.into()),
        };
        out.number(kind);
        out.signed(value);
    }
}

/// Every offset is checked against the code.
fn read_code(from: &mut Reader) -> Option<Finished> {
    let bytes = from.all()?.to_vec();
    let within = |offset: u64| {
        let offset = usize::try_from(offset).ok()?;
        (offset <= bytes.len()).then_some(offset)
    };
    let code_end = within(from.number()?)?;
    let frame = u32::try_from(from.number()?).ok()?;
    let mut fixups = vec![];
    for _ in 0..from.count()? {
        let end = within(from.number()?).filter(|&end| end >= 4)?;
        let (kind, value) = (from.number()?, from.number()?);
        let fixup = match kind {
            0 => Fixup::Guest(value),
            1 => Fixup::Function(value),
            2 => Fixup::Engine(*Word::ALL.get(usize::try_from(value).ok()?)?),
            3 => Fixup::Stub(Outside {
                slot: value,
                function: from.number()?,
            }),
            _ => return None,
        };
        fixups.push((end, fixup));
    }
    let pairs = |from: &mut Reader| -> Option<Vec<(u64, usize)>> {
        (0..from.count()?)
            .map(|_| Some((from.number()?, within(from.number()?)?)))
            .collect()
    };
    let (entries, returns) = (pairs(from)?, pairs(from)?);
    let mut depths = vec![];
    for _ in 0..from.count()? {
        let offset = within(from.number()?)?;
        depths.push((offset, u32::try_from(from.number()?).ok()?));
    }
    let states = States::from_bytes(from.all()?.to_vec());
    let mut spans = vec![];
    for _ in 0..from.count()? {
        spans.push(Span {
            offset: within(from.number()?)?,
            guest: from.number()?,
            frame: from.number()?,
            part: match from.number()? {
                0 => Part::Body,
                1 => Part::Cold,
                _ => return None,
            },
        });
    }
    let mut homes = vec![];
    for _ in 0..from.count()? {
        homes.push(read_home(from, bytes.len())?);
    }
    // Who reads these counts on their order.
    let in_order = depths.is_sorted_by_key(|&(offset, _): &(usize, u32)| offset)
        && spans.is_sorted_by_key(|span: &Span| span.offset)
        && homes.is_sorted_by_key(|homed: &Homed| homed.code);
    in_order.then_some(Finished {
        cells: vec![],
        fixups,
        entries,
        returns,
        frame,
        depths,
        states,
        code_end,
        spans,
        homes,
        is_exact: true,
        bytes,
    })
}

fn read_home(from: &mut Reader, size: usize) -> Option<Homed> {
    let code = u32::try_from(from.number()?).ok()?;
    let (&[reg, len, is_extended], rest) = from.bytes.split_first_chunk()?;
    from.bytes = rest;
    let (kind, value) = (from.number()?, from.signed()?);
    let home = match kind {
        0 => Home::Nowhere,
        1 => Home::Register(u8::try_from(value).ok()?),
        2 => Home::Vector(u8::try_from(value).ok()?),
        3 => Home::Stack(u32::try_from(value).ok()?),
        4 => Home::Const(value),
        5 => Home::Address(value as u64),
        6 => Home::Sp(i32::try_from(value).ok()?),
        7 => Home::Hart(i32::try_from(value).ok()?),
        _ => return None,
    };
    (code as usize <= size && usize::from(reg) < homes::COUNT).then_some(Homed {
        code,
        reg,
        home,
        size: len,
        is_extended: is_extended != 0,
    })
}
