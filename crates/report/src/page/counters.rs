//! Counters over time, below the threads.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use flick_events::number::grouped;
use flick_events::trace::{Process, Scope};

use super::overview::{COLUMNS, HEIGHT, area};
use super::page_names::escape;
use crate::timeline::{self, Span, Step};

/// Counters that have a picture.
const MOST: usize = 24;

/// Times and values.
type Values = Vec<(u64, u64)>;

pub struct Counter {
    name: String,
    largest: u64,
    /// The largest value in each column, as a part of the largest of all.
    heights: Vec<f64>,
}

/// The process's counters, then those of its threads.
pub fn of(process: &Process<'_>, whole: Span) -> Vec<Counter> {
    // By thread (0 for the process's) and number.
    let mut all: BTreeMap<(u32, u32), (String, Values)> = BTreeMap::new();
    for thread in &process.threads {
        timeline::walk(thread, |step| {
            let Step::Counter {
                time,
                scope,
                id,
                value,
            } = step
            else {
                return;
            };
            let own = process.name(id).map_or("?", |name| &name.text);
            let (whose, name) = match scope {
                Scope::Process => (0, own.to_owned()),
                Scope::Thread => (thread.id, format!("{}: {own}", timeline::name_of(thread))),
            };
            let (_, values) = all.entry((whose, id)).or_insert_with(|| (name, Vec::new()));
            values.push((time, value));
        });
    }
    let counters = all.into_values().take(MOST);
    counters
        .map(|(name, mut values)| {
            // Several threads may record one.
            values.sort_by_key(|&(time, _)| time);
            let largest = values.iter().map(|&(_, value)| value).max().unwrap_or(0);
            Counter {
                name,
                largest,
                heights: heights(&values, largest, whole),
            }
        })
        .collect()
}

fn heights(values: &[(u64, u64)], largest: u64, whole: Span) -> Vec<f64> {
    let scale = COLUMNS as f64 / whole.duration().max(1) as f64;
    let mut columns = vec![0_u64; COLUMNS];
    let mut filled = 0;
    let mut last = 0;
    for &(time, value) in values {
        let column = (time.saturating_sub(whole.begin) as f64 * scale) as usize;
        let column = column.min(COLUMNS - 1);
        // Until now it had the value before.
        for height in columns.iter_mut().take(column + 1).skip(filled) {
            *height = last;
        }
        filled = filled.max(column + 1);
        columns[column] = columns[column].max(value);
        last = value;
    }
    for height in columns.iter_mut().skip(filled) {
        *height = last;
    }
    let part = |value: u64| value as f64 / largest.max(1) as f64;
    columns.into_iter().map(part).collect()
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

    #[test]
    fn a_value_lasts_until_the_next() {
        let seen = heights(&[(102, 5), (102, 10), (102, 1), (104, 0)], 10, WHOLE);
        assert_eq!(seen[..6], [0.0, 0.0, 1.0, 0.1, 0.1, 0.0]);
        let late = heights(&[(u64::MAX, 3)], 3, WHOLE);
        assert_eq!(late[COLUMNS - 1], 1.0);
        assert_eq!(heights(&[], 0, WHOLE), vec![0.0; COLUMNS]);
    }

    #[test]
    fn the_processs_come_first() {
        let file = trace(&[&nested, &nested]);
        let trace = Trace::read(&file).unwrap();
        let counters = of(&trace.processes[0], WHOLE);
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
