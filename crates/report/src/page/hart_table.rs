//! The table of the harts of a card: which functions ran on which, how often and how long.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use flick_events::number::{counted, grouped};
use flick_events::trace::{IDLE, Process};
use flick_names::Demangle;

use super::page_figures::time;
use super::page_names::{escape, function};
use super::run_totals::RunTotals;
use crate::timeline;

/// Whether the hart executes no thread's code in the state of this name.
pub fn is_idle(process: &Process<'_>, id: u32) -> bool {
    process.name(id).is_some_and(|name| name.text == IDLE)
}

/// Calls that began on a hart, and the time of code there.
#[derive(Default)]
struct Row {
    calls: u64,
    time: u64,
    /// Numbers of the threads whose code it was.
    threads: BTreeSet<u32>,
}

/// By hart and by function.
type Rows = BTreeMap<(u32, u32), Row>;

fn rows(process: &Process<'_>, totals: &RunTotals) -> Rows {
    let mut rows = Rows::new();
    for (&(hart, function), &calls) in &totals.sums.begun {
        rows.entry((hart, function)).or_default().calls += calls;
    }
    for hart in &totals.harts {
        for (&(id, thread), &(_, time)) in &hart.sums.states {
            if is_idle(process, id) {
                continue;
            }
            let row = rows.entry((hart.number, id)).or_default();
            row.time = row.time.saturating_add(time);
            row.threads.extend((thread != 0).then_some(thread));
        }
    }
    rows
}

/// Threads that are named in a row.
const MOST_NAMED: usize = 3;

/// The threads of these numbers, or how many they are.
fn named(process: &Process<'_>, threads: &BTreeSet<u32>) -> String {
    if threads.len() > MOST_NAMED {
        return counted(threads.len() as u64, "thread");
    }
    let found = threads.iter().filter_map(|&id| {
        let mut all = process.threads.iter();
        all.find(|thread| thread.id == id)
    });
    found.map(timeline::name_of).collect::<Vec<_>>().join(", ")
}

/// Writes the section, if the process has run on a card.
pub fn write(page: &mut String, process: &Process<'_>, totals: &RunTotals, demangle: Demangle) {
    let harts = totals.harts.iter();
    let names: BTreeMap<u32, &str> = harts.map(|hart| (hart.number, &*hart.name)).collect();
    if names.is_empty() {
        return;
    }
    *page += "<section>\n<h2>Harts of the card</h2>\n<table class=\"harts\">\n\
        <tr><th scope=\"col\">hart</th><th scope=\"col\">function</th><th scope=\"col\">threads</th>\
        <th scope=\"col\" class=\"number\">calls</th><th scope=\"col\" class=\"number\">on the hart</th></tr>\n";
    for ((hart, id), row) in rows(process, totals) {
        let text = process.name(id).map_or("?", |name| &name.text);
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            escape(names.get(&hart).copied().unwrap_or("?")),
            escape(&function(text, demangle)),
            escape(&named(process, &row.threads)),
            grouped(row.calls),
            time(row.time)
        );
    }
    *page += "</table>\n</section>\n";
}
