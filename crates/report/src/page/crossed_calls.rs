//! The table of all functions that threads have crossed to, both ways: as the trace has them, also
//! where it has sums in place of events.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use flick_events::number::{counted, grouped};
use flick_events::trace::{CallSum, Process, Side, Sums};
use flick_names::Demangle;

use super::flame::shown;
use super::folds::{self, SourceFiles};
use super::function_colours::square;
use super::page_figures::time;
use super::page_names::escape;

/// A function on a side.
struct Row<'p> {
    symbol: &'p str,
    file: &'p str,
    side: Side,
    sum: CallSum,
}

impl Row<'_> {
    fn time(&self) -> u64 {
        self.sum
            .times
            .iter()
            .fold(0, |sum, time| sum.saturating_add(*time))
    }
}

fn rows<'p>(process: &'p Process<'_>, sums: &Sums) -> Vec<Row<'p>> {
    let files = SourceFiles::of(process);
    // A function may have several numbers, and has several call sites.
    let mut all: BTreeMap<(&str, Side), CallSum> = BTreeMap::new();
    for (&(side, function, _), sum) in &sums.calls {
        let symbol = process.name(function).map_or("?", |name| &name.text);
        all.entry((symbol, side)).or_default().add(sum);
    }
    let rows = all.into_iter();
    rows.map(|((symbol, side), sum)| Row {
        symbol,
        file: files.file(symbol),
        side,
        sum,
    })
    .collect()
}

/// Writes the section, folded by source file, if there are calls.
pub fn write(page: &mut String, process: &Process<'_>, sums: &Sums, demangle: Demangle) {
    let rows = rows(process, sums);
    if rows.is_empty() {
        return;
    }
    *page += "<section>\n<h2>Calls that crossed</h2>\n\
        <p class=\"about\">Both ways, by function. A function's own time is without what it has crossed to.</p>\n\
        <div class=\"folds\">\n";
    let groups = folds::grouped_by(rows, |row| row.file, Row::time);
    folds::each(page, &groups, "more file", |page, _, (file, rows)| {
        let calls = rows
            .iter()
            .fold(0_u64, |sum, row| sum.saturating_add(row.sum.calls));
        let line = format!(
            "<b>{}</b><span>{}, {}</span>",
            escape(file),
            counted(rows.len() as u64, "function"),
            counted(calls, "call"),
        );
        folds::open(page, "file", false, &line);
        *page += "<table class=\"calls\">\n<tr><th scope=\"col\">function</th><th scope=\"col\">runs on</th>\
            <th scope=\"col\" class=\"number\">calls</th><th scope=\"col\" class=\"number\">left by a jump</th>\
            <th scope=\"col\" class=\"number\">own time</th><th scope=\"col\" class=\"number\">crossing</th>\
            <th scope=\"col\" class=\"number\">waiting</th></tr>\n";
        for row in rows {
            write_row(page, row, demangle);
        }
        *page += "</table>\n";
        folds::close(page);
    });
    *page += "</div>\n</section>\n";
}

fn write_row(page: &mut String, row: &Row<'_>, demangle: Demangle) {
    let name = shown(row.symbol, demangle);
    let [computes, waits, crosses] = row.sum.times;
    let (class, side) = match row.side {
        Side::Host => ("host", "host"),
        Side::Nxp => ("nxp", "NxP"),
    };
    let _ = writeln!(
        page,
        "<tr><th scope=\"row\">{}{}</th><td><i class=\"{class}\"></i>{side}</td><td class=\"number\">{}</td>\
         <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
        square(&name),
        escape(&name),
        grouped(row.sum.calls),
        grouped(row.sum.jumps),
        time(computes),
        time(crosses),
        time(waits),
    );
}
