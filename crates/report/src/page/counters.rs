//! Counters over time, below the threads.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use flick_events::number::grouped;
use flick_events::trace::{Process, Scope, Thread};

use super::overview::{COLUMNS, HEIGHT, area};
use super::page_names::escape;
use crate::timeline::{self, Span, Step};

/// Counters that have a picture.
const MOST: usize = 24;

/// A counter that has a picture.
pub struct Counter {
    name: String,
    largest: u64,
    /// The largest value in each column, as a part of the largest of all.
    heights: Vec<f64>,
}

/// What a column has of a counter.
#[derive(Clone, Copy, Default)]
struct Column {
    largest: u64,
    /// The last value, and when it was.
    last: Option<(u64, u64)>,
}

/// Gathers values, in any order of threads.
pub struct Counters {
    whole: Span,
    /// By thread (0 for the process's) and number.
    all: BTreeMap<(u32, u32), (String, Vec<Column>)>,
}

impl Counters {
    pub fn new(whole: Span) -> Self {
        Self {
            whole,
            all: BTreeMap::new(),
        }
    }

    pub fn take(&mut self, process: &Process<'_>, thread: &Thread<'_>, step: &Step<'_>) {
        let &Step::Counter {
            time,
            scope,
            id,
            value,
        } = step
        else {
            return;
        };
        let whose = match scope {
            Scope::Process => 0,
            Scope::Thread => thread.id,
        };
        let (_, columns) = self.all.entry((whose, id)).or_insert_with(|| {
            let own = process.name(id).map_or("?", |name| &name.text);
            let name = match scope {
                Scope::Process => own.to_owned(),
                Scope::Thread => format!("{}: {own}", timeline::name_of(thread)),
            };
            (name, vec![Column::default(); COLUMNS])
        });
        let column = &mut columns[column_of(time, self.whole)];
        column.largest = column.largest.max(value);
        // Several threads may record one.
        if column.last.is_none_or(|(last, _)| last <= time) {
            column.last = Some((time, value));
        }
    }

    /// The process's counters, then those of its threads.
    pub fn finish(self) -> Vec<Counter> {
        let counters = self.all.into_values().take(MOST);
        counters
            .map(|(name, columns)| Counter {
                name,
                largest: columns.iter().map(|of| of.largest).max().unwrap_or(0),
                heights: heights(&columns),
            })
            .collect()
    }
}

fn column_of(time: u64, whole: Span) -> usize {
    let scale = COLUMNS as f64 / whole.duration().max(1) as f64;
    let column = (time.saturating_sub(whole.begin) as f64 * scale) as usize;
    column.min(COLUMNS - 1)
}

fn heights(columns: &[Column]) -> Vec<f64> {
    let largest = columns.iter().map(|of| of.largest).max().unwrap_or(0);
    let mut before = 0;
    let part = |column: &Column| {
        // Until its first value here it had the one before.
        let height = column.largest.max(before);
        before = column.last.map_or(before, |(_, value)| value);
        height as f64 / largest.max(1) as f64
    };
    columns.iter().map(part).collect()
}

pub fn write(page: &mut String, counters: &[Counter]) {
    for counter in counters {
        let name = escape(&counter.name);
        let _ = writeln!(
            page,
            "<div class=\"thread counter\">{name}<span>at most {}</span></div>\n\
             <div class=\"lane\"><span></span><svg viewBox=\"0 0 {COLUMNS} {HEIGHT}\" preserveAspectRatio=\"none\" \
             role=\"img\" aria-label=\"{name}\"><path class=\"count\" d=\"{}\"/></svg></div>",
            grouped(counter.largest),
            area(std::slice::from_ref(&counter.heights)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_trace::{nested, trace};
    use flick_events::trace::Trace;

    const WHOLE: Span = Span {
        begin: 100,
        end: 100 + COLUMNS as u64,
    };

    fn heights_of(values: &[(u64, u64)]) -> Vec<f64> {
        let mut columns = vec![Column::default(); COLUMNS];
        for &(time, value) in values {
            let column = &mut columns[column_of(time, WHOLE)];
            column.largest = column.largest.max(value);
            column.last = Some((time, value));
        }
        heights(&columns)
    }

    #[test]
    fn a_value_lasts_until_the_next() {
        let seen = heights_of(&[(102, 5), (102, 10), (102, 1), (104, 0)]);
        assert_eq!(seen[..6], [0.0, 0.0, 1.0, 0.1, 0.1, 0.0]);
        let late = heights_of(&[(u64::MAX, 3)]);
        assert_eq!(late[COLUMNS - 1], 1.0);
        assert_eq!(heights_of(&[]), vec![0.0; COLUMNS]);
    }

    #[test]
    fn the_processs_come_first() {
        let file = trace(&[&nested, &nested]);
        let trace = Trace::read(&file).unwrap();
        let process = &trace.processes[0];
        let mut counters = Counters::new(WHOLE);
        for thread in &process.threads {
            timeline::walk(thread, |step| counters.take(process, thread, &step));
        }
        let counters = counters.finish();
        let names: Vec<_> = counters
            .iter()
            .map(|c| (c.name.as_str(), c.largest))
            .collect();
        assert_eq!(
            names,
            [
                ("NxP heap (bytes)", 4096),
                ("main: NxP instructions", 4321),
                ("main (2): NxP instructions", 4321),
            ]
        );
    }
}
