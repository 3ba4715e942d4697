//! The table of the harts of a card: which functions ran on which, how often and how long.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use flick_events::number::{counted, grouped};
use flick_events::trace::{FIRST_HART, IDLE, Process, Side, Thread};
use flick_names::Demangle;

use super::page_figures::time;
use super::page_names::{escape, function};
use crate::hart_owners::HartOwners;
use crate::timeline::{self, Span, Step};

/// Calls `f` for each time in which a hart executes code of a thread: with the number of the function's name.
pub fn each(process: &Process<'_>, hart: &Thread<'_>, mut f: impl FnMut(u32, Span)) {
    timeline::walk(hart, |step| {
        if let Step::State { span, id } = step
            && process.name(id).is_none_or(|name| name.text != IDLE)
        {
            f(id, span);
        }
    });
}

/// Calls that began on a hart, and the time of code there.
#[derive(Default)]
struct Row {
    calls: u64,
    time: u64,
    /// Places of the threads whose code it was.
    threads: BTreeSet<usize>,
}

/// By hart and by function.
type Rows = BTreeMap<(u32, u32), Row>;

/// Counts the calls of a thread by the hart on which each began.
fn count(thread: &Thread<'_>, rows: &mut Rows) {
    let mut calls: Vec<Option<u32>> = Vec::new();
    timeline::walk(thread, |step| match step {
        Step::Call { callee, .. } => {
            calls.push((callee.side == Side::Nxp).then_some(callee.function));
        }
        Step::Back { .. } => {
            calls.pop();
        }
        Step::Way {
            hart: Some(hart), ..
        } => {
            if let Some(function) = calls.last_mut().and_then(Option::take) {
                rows.entry((hart, function)).or_default().calls += 1;
            }
        }
        _ => {}
    });
}

/// Threads that are named in a row.
const MOST_NAMED: usize = 3;

/// The threads at these places, or how many they are.
fn named(process: &Process<'_>, threads: &BTreeSet<usize>) -> String {
    if threads.len() > MOST_NAMED {
        return counted(threads.len() as u64, "thread");
    }
    let found = threads.iter().filter_map(|&at| process.threads.get(at));
    found.map(timeline::name_of).collect::<Vec<_>>().join(", ")
}

/// Writes the section, if the process has run on a card.
pub fn write(page: &mut String, process: &Process<'_>, demangle: Demangle) {
    let mut rows = Rows::new();
    let owners = HartOwners::of(process);
    let mut names = BTreeMap::new();
    for thread in &process.threads {
        if !timeline::is_hart(thread) {
            count(thread, &mut rows);
            continue;
        }
        let hart = thread.id.saturating_sub(FIRST_HART);
        names.insert(hart, timeline::name_of(thread));
        each(process, thread, |function, span| {
            let row = rows.entry((hart, function)).or_default();
            row.time = row.time.saturating_add(span.duration());
            row.threads.extend(owners.at(thread, span.begin));
        });
    }
    if names.is_empty() {
        return;
    }
    *page += "<section>\n<h2>Harts of the card</h2>\n<table class=\"harts\">\n\
        <tr><th scope=\"col\">hart</th><th scope=\"col\">function</th><th scope=\"col\">threads</th>\
        <th scope=\"col\" class=\"number\">calls</th><th scope=\"col\" class=\"number\">on the hart</th></tr>\n";
    for ((hart, id), row) in rows {
        let text = process.name(id).map_or("?", |name| &name.text);
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            escape(names.get(&hart).map_or("?", String::as_str)),
            escape(&function(text, demangle)),
            escape(&named(process, &row.threads)),
            grouped(row.calls),
            time(row.time)
        );
    }
    *page += "</table>\n</section>\n";
}
