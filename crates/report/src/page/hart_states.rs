//! The picture of a machine's run: which privilege each hart has over time, what each accelerator does, and how
//! often they are in which state.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use flick_events::number::grouped;
use flick_events::trace::{FIRST_HART, Process, Thread};

use super::overview::{COLUMNS, HEIGHT, add, area};
use super::page_figures::time;
use super::page_names::escape;
use crate::timeline::{self, Span, Step};

/// Kinds of states by how their names begin, those of harts, of the kernel's threads and of accelerators; the
/// classes of their colours, from the bottom up.
const KINDS: [(&[&str], &str, &str); 4] = [
    (&["U", "runs", "computes"], "nxp", "user, or computes"),
    (
        &["S", "reads", "writes"],
        "host",
        "supervisor, or moves data",
    ),
    (
        &["M", "calls", "has an", "is interrupted", "asks"],
        "x",
        "machine, or asks",
    ),
    (&["waits", "ready", "has ended"], "wait", "waits"),
];
/// Rows of the table of states.
const MOST_STATES: usize = 40;

fn kind_of(name: &str) -> usize {
    let is_of = |begins: &[&str]| begins.iter().any(|begin| name.starts_with(begin));
    let kind = KINDS.iter().position(|(begins, ..)| is_of(begins));
    kind.unwrap_or(KINDS.len() - 1)
}

/// Is the process a machine?
pub fn is_machine(process: &Process<'_>) -> bool {
    let own = |thread: &&Thread<'_>| thread.id < FIRST_HART;
    process
        .threads
        .iter()
        .filter(own)
        .any(|thread| thread.is_tile)
}

fn states<'p>(process: &'p Process<'_>, mut each: impl FnMut(usize, &'p str, Span)) {
    for (hart, thread) in process.threads.iter().enumerate() {
        timeline::walk(thread, |step| {
            if let Step::State { span, id, .. } = step {
                let name = process.name(id).map_or("?", |name| &name.text);
                each(hart, name, span);
            }
        });
    }
}

/// Writes the section of a machine.
pub fn write(page: &mut String, process: &Process<'_>) {
    let mut end = 0;
    let mut totals: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    states(process, |_, name, span| {
        end = end.max(span.end);
        let total = totals.entry(name).or_default();
        *total = (total.0 + 1, total.1.saturating_add(span.duration()));
    });
    let whole = Span { begin: 0, end };
    let mut lanes = vec![KINDS.map(|_| vec![0.0; COLUMNS]); process.threads.len()];
    states(process, |hart, name, span| {
        add(&mut lanes[hart][kind_of(name)], whole, span);
    });
    *page += "<section>\n<h2>Over time</h2>\n<p class=\"keys\">";
    for (_, class, title) in KINDS {
        let _ = write!(page, "<span><i class=\"{class}\"></i>{title}</span>");
    }
    *page += "</p>\n<div class=\"timeline\">\n";
    for (thread, lanes) in process.threads.iter().zip(&lanes) {
        // The unit of a tile has messages alone.
        if lanes.iter().flatten().all(|&share| share == 0.0) {
            continue;
        }
        let name = timeline::name_of(thread);
        let _ = write!(
            page,
            "<div class=\"lane\"><span>{0}</span><svg viewBox=\"0 0 {COLUMNS} {HEIGHT}\" \
             preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{0}\">",
            escape(&name)
        );
        // The highest first: what is in front hides all but its top.
        for top in (0..KINDS.len()).rev() {
            let path = area(&lanes[..=top]);
            if !path.is_empty() {
                let _ = write!(page, "<path class=\"{}\" d=\"{path}\"/>", KINDS[top].1);
            }
        }
        *page += "</svg></div>\n";
    }
    *page += "<div class=\"lane axis\"><span></span><div>";
    for tick in 0..=4 {
        let at = end as f64 * f64::from(tick) / 4.0;
        let _ = write!(page, "<span>{}</span>", time(at as u64));
    }
    *page += "</div></div>\n</div>\n</section>\n<section>\n<h2>States</h2>\n<table>\n\
        <tr><th scope=\"col\">state</th><th scope=\"col\" class=\"number\">times</th>\
        <th scope=\"col\" class=\"number\">in all</th></tr>\n";
    let mut rows: Vec<_> = totals.into_iter().collect();
    rows.sort_by_key(|&(_, (_, duration))| std::cmp::Reverse(duration));
    for (name, (count, duration)) in rows.iter().take(MOST_STATES) {
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            escape(name),
            grouped(*count),
            time(*duration)
        );
    }
    *page += "</table>\n</section>\n";
}
