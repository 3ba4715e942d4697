//! The translation of one function for a module.
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use super::kept::{Kept, Origin};
use crate::counting::Counting;
use crate::emit::{Emitter, Finished, Linkage};
use crate::movable::{Movable, Outcome, Real};
use crate::translator::{Source, translated_range};

/// The translation of one function, and how it was made.
pub struct Translation<'a> {
    /// `None`: the function cannot be translated.
    pub finished: Option<Finished>,
    /// What the next link may use.
    pub records: Vec<(u128, Cow<'a, [u8]>)>,
    pub origin: Origin,
}

/// Of the function that starts at `entry`. What counts instructions is not kept.
pub fn of<'a>(real: Real, entry: u64, counting: Counting, kept: &Kept<'a>) -> Translation<'a> {
    let mut made = Translation {
        finished: None,
        records: vec![],
        origin: Origin::Kept,
    };
    let Some(range) = translated_range(real.program, entry).filter(|range| range.start == entry)
    else {
        return made;
    };
    if counting != Counting::None {
        made.finished = at_its_place(real, range, counting);
        return made;
    }
    let mut whole = BTreeSet::new();
    // Each round has fewer addresses in two parts.
    while let Some(movable) = Movable::of(real, range.clone(), &whole) {
        match outcome(&movable, kept, &mut made) {
            Placed::Done(finished) => {
                made.finished = finished.map(|finished| *finished);
                return made;
            }
            Placed::Again(more) if !more.is_subset(&whole) => whole.extend(more),
            _ => break,
        }
    }
    made.origin = Origin::AtItsPlace;
    made.finished = at_its_place(real, range, counting);
    made
}

enum Placed {
    Done(Option<Box<Finished>>),
    Again(BTreeSet<u64>),
    AtItsPlace,
}

fn outcome<'a>(movable: &Movable, kept: &Kept<'a>, made: &mut Translation<'a>) -> Placed {
    let placed = |outcome| {
        Some(match outcome {
            Outcome::None => Placed::Done(None),
            Outcome::Code(finished) => Placed::Done(Some(Box::new(movable.place(&finished)?))),
            Outcome::Again(more) => Placed::Again(more),
            Outcome::AtItsPlace => Placed::AtItsPlace,
        })
    };
    let key = movable.key();
    for &record in kept.of(key) {
        if let Some(placed) = movable.reuse(record).and_then(placed) {
            made.records.push((key, Cow::Borrowed(record)));
            return placed;
        }
    }
    made.origin = Origin::New;
    let (outcome, record) = movable.translate();
    made.records.push((key, Cow::Owned(record)));
    placed(outcome).unwrap_or(Placed::AtItsPlace)
}

/// At the addresses that it has in this link.
fn at_its_place(real: Real, range: Range<u64>, counting: Counting) -> Option<Finished> {
    let source = Source {
        program: real.program,
        summary: real.summary,
        with_names: real.with_names,
    };
    let entry = range.start;
    let (code, allocation) = source.allocated(range, entry, counting)?;
    let trace = real.with_names;
    let finished = Emitter::run(&code, &allocation, Linkage::Module, entry, 0, trace).ok()?;
    finished.is_exact.then_some(finished)
}
