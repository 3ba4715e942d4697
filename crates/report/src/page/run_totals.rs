//! What the threads of a run have done in all: one way through its events.
use flick_events::trace::{Accounts, FIRST_HART, Process, Span, Sums, Walk};

use super::flame::Stacks;
use crate::timeline;

/// A hart of a card.
pub struct HartTotals {
    pub number: u32,
    pub name: String,
    pub sums: Sums,
}

/// All threads of a process.
pub struct RunTotals {
    /// From the first to the last that is recorded.
    pub span: Span,
    /// Of the threads that are no harts.
    pub sums: Sums,
    pub harts: Vec<HartTotals>,
    pub stacks: Stacks,
    /// Where the first sum stands in place of events, if one does.
    pub coarse_from: Option<u64>,
}

impl RunTotals {
    pub fn of(process: &Process<'_>) -> Self {
        let mut whole: Option<Span> = None;
        let mut sums = Sums::default();
        let mut harts = Vec::new();
        let mut stacks = Stacks::default();
        for thread in &process.threads {
            let mut own = Sums::default();
            let mut accounts = Accounts::new(thread.id);
            let mut walk = Walk::default();
            let of_thread = if thread.is_tile { &mut own } else { &mut sums };
            let mut take = |step: timeline::Step<'_>| {
                if !thread.is_tile {
                    let part = step.span();
                    let span = whole.get_or_insert(part);
                    span.begin = span.begin.min(part.begin);
                    span.end = span.end.max(part.end);
                }
                of_thread.step(&mut accounts, &step);
            };
            thread.each(|event| {
                stacks.take(&event.what);
                walk.event(event, &mut take);
            });
            walk.finish(&mut take);
            if thread.is_tile {
                harts.push(HartTotals {
                    number: thread.id.saturating_sub(FIRST_HART),
                    name: timeline::name_of(thread),
                    sums: own,
                });
            }
        }
        let coarse = process
            .threads
            .iter()
            .filter_map(|thread| thread.coarse_from);
        Self {
            span: whole.unwrap_or_default(),
            sums,
            harts,
            stacks,
            coarse_from: coarse.min(),
        }
    }
}
