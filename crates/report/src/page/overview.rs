//! The picture of the whole run: for each thread what its two sides do over time.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use flick_events::number::counted;
use flick_events::timed::Share;
use flick_events::trace::{Accounts, DOING, Doing, Fact, Lanes, Process, Span, Thread, states};

use super::counters::{self, Counter, Counters};
use super::hart_table;
use super::page_figures::time;
use super::page_names::escape;
use super::run_totals::RunTotals;
use crate::timeline::{self, Step};

/// Columns of the picture.
pub const COLUMNS: usize = 400;
/// Units of the picture in which a side is as high as it can be.
pub const HEIGHT: f64 = 20.0;
/// Threads that have a picture; more would be a page of their own.
const MOST_THREADS: usize = 64;

/// All threads of a process.
pub struct Overview {
    span: Span,
    rows: Vec<Row>,
    /// Threads beyond [`MOST_THREADS`].
    more: usize,
    /// Picoseconds, of all threads.
    totals: Lanes,
    /// Where the first sum stands in place of events, if one does.
    coarse_from: Option<u64>,
    counters: Vec<Counter>,
    /// Of a card.
    harts: Vec<HartLane>,
}

/// What a hart of a card does over time.
struct HartLane {
    name: String,
    /// By thread, in the order of the process: its name, and which part of each column's time the hart
    /// executes its code. Threads beyond the shades that there are share the last one.
    threads: Vec<(String, Vec<f64>)>,
}

/// Classes of areas, by thread.
const SHADES: [&str; 5] = ["nxp", "n2", "n3", "n4", "n5"];

struct Row {
    name: String,
    /// For each side, [`Doing`] and column: which part of the column's time.
    lanes: [[Vec<f64>; DOING.len()]; 2],
}

impl Row {
    /// Adds what a step says, to the columns of `whole`.
    fn take(&mut self, accounts: &mut Accounts, whole: Span, step: &Step<'_>) {
        accounts.step(step, &mut |fact| {
            if let Fact::Time {
                side, doing, span, ..
            } = fact
            {
                add(&mut self.lanes[side as usize][doing as usize], whole, span);
            }
        });
        if let Step::Sum { span, lanes, .. } = step {
            for (columns, times) in self.lanes.iter_mut().zip(lanes) {
                for (columns, &time) in columns.iter_mut().zip(times) {
                    let share = time as f64 / span.duration().max(1) as f64;
                    add_share(columns, whole, *span, share);
                }
            }
        }
    }
}

impl Overview {
    pub fn of(process: &Process<'_>, totals: &RunTotals) -> Self {
        let span = totals.span;
        let mut counters = Counters::new(span);
        let (harts, threads): (Vec<_>, Vec<_>) =
            process.threads.iter().partition(|thread| thread.is_tile);
        let more = threads.len().saturating_sub(MOST_THREADS);
        let mut rows = Vec::new();
        for (index, thread) in threads.into_iter().enumerate() {
            let mut row = Row {
                name: timeline::name_of(thread),
                lanes: std::array::from_fn(|_| std::array::from_fn(|_| vec![0.0; COLUMNS])),
            };
            let has_row = index < MOST_THREADS;
            let mut accounts = Accounts::new(thread.id);
            timeline::walk(thread, |step| {
                counters.take(process, thread, &step);
                if has_row {
                    row.take(&mut accounts, span, &step);
                }
            });
            if has_row {
                rows.push(row);
            }
        }
        Self {
            span,
            rows,
            more,
            totals: totals.sums.lanes,
            coarse_from: totals.coarse_from,
            counters: counters.finish(),
            harts: lanes(process, &harts, span),
        }
    }

    fn write_harts(&self, page: &mut String) {
        if !self.harts.is_empty() {
            *page += "<div class=\"thread\">harts of the card</div>\n";
        }
        for lane in &self.harts {
            let name = escape(&lane.name);
            let _ = write!(
                page,
                "<div class=\"lane\"><span>{name}</span><svg viewBox=\"0 0 {COLUMNS} {HEIGHT}\" \
                 preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{name}\">"
            );
            let (names, columns): (Vec<_>, Vec<_>) = lane.threads.iter().cloned().unzip();
            // As above: the whole of a later one is behind the earlier ones.
            for (top, name) in names.iter().enumerate().rev() {
                let _ = write!(
                    page,
                    "<path class=\"{}\" d=\"{}\"><title>{}</title></path>",
                    SHADES[top.min(SHADES.len() - 1)],
                    area(&columns[..=top]),
                    escape(name)
                );
            }
            *page += "</svg></div>\n";
        }
    }

    pub fn duration(&self) -> u64 {
        self.span.duration()
    }

    /// Where the threads' time goes, as far as their traces show.
    pub fn shares(&self) -> Vec<Share> {
        let [host, nxp] = &self.totals;
        let of = |doing: Doing| host[doing as usize].saturating_add(nxp[doing as usize]);
        [
            ("host code", host[Doing::Computes as usize]),
            ("NxP code", nxp[Doing::Computes as usize]),
            ("crossings", of(Doing::Crosses)),
            ("waiting", of(Doing::Waits)),
        ]
        .map(|(name, time)| Share {
            name: name.into(),
            time,
        })
        .into()
    }

    pub fn write(&self, page: &mut String) {
        *page += "<section>\n<h2>Over time</h2>\n";
        if self.duration() == 0 {
            *page += "<p>The trace has no events that take time.</p>\n</section>\n";
            return;
        }
        *page += "<p class=\"keys\"><span><i class=\"host\"></i>host computes</span>\
            <span><i class=\"nxp\"></i>NxP computes</span><span><i class=\"wait\"></i>waits</span>\
            <span><i class=\"x\"></i>crosses</span></p>\n<div class=\"timeline\">\n";
        if let Some(from) = self.coarse_from {
            let _ = writeln!(
                page,
                "</div>\n<p class=\"about coarse\">From {} on the trace has sums of intervals in place of single events, \
                 for it was near its limit of size (<code>--max-size</code>): the picture is coarser there. \
                 Calls, times and counts are exact.</p>\n<div class=\"timeline\">",
                time(from)
            );
        }
        for row in &self.rows {
            let _ = writeln!(page, "<div class=\"thread\">{}</div>", escape(&row.name));
            for (side, lanes) in ["host", "nxp"].into_iter().zip(&row.lanes) {
                let label = if side == "host" { "host" } else { "NxP" };
                let _ = write!(
                    page,
                    "<div class=\"lane\"><span>{label}</span><svg viewBox=\"0 0 {COLUMNS} {HEIGHT}\" \
                     preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{} on the {label}\">",
                    escape(&row.name)
                );
                // The highest first: what is in front hides all but its top.
                for (top, class) in [(2, "x"), (1, "wait"), (0, side)] {
                    let path = area(&lanes[..=top]);
                    if !path.is_empty() {
                        let _ = write!(page, "<path class=\"{class}\" d=\"{path}\"/>");
                    }
                }
                *page += "</svg></div>\n";
            }
        }
        self.write_harts(page);
        counters::write(page, &self.counters);
        *page += "<div class=\"lane axis\"><span></span><div>";
        for tick in 0..=4 {
            let at = self.span.begin as f64 + self.duration() as f64 * f64::from(tick) / 4.0;
            let _ = write!(page, "<span>{}</span>", time(at as u64));
        }
        *page += "</div></div>\n</div>\n";
        if self.more > 0 {
            let more = counted(self.more as u64, "more thread");
            let _ = writeln!(page, "<p>And {more}.</p>");
        }
        *page += "</section>\n";
    }
}

/// When the harts of a card execute code of which threads.
fn lanes(process: &Process<'_>, harts: &[&Thread<'_>], whole: Span) -> Vec<HartLane> {
    let lane = |hart: &&Thread<'_>| {
        let mut threads: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        let mut add = |thread, span: Span, share: f64| {
            let columns = threads.entry(thread).or_insert_with(|| vec![0.0; COLUMNS]);
            add_share(columns, whole, span, share);
        };
        timeline::walk(hart, |step| match step {
            Step::State { span, id, thread } if !hart_table::is_idle(process, id) => {
                add(thread.unwrap_or(0), span, 1.0);
            }
            Step::Sum { span, rows, .. } => {
                for (id, thread, time) in states(rows) {
                    if !hart_table::is_idle(process, id) {
                        add(thread, span, time as f64 / span.duration().max(1) as f64);
                    }
                }
            }
            _ => {}
        });
        let named = |(id, columns): (u32, Vec<f64>)| {
            let thread = process.threads.iter().find(|thread| thread.id == id);
            (thread.map_or("?".into(), timeline::name_of), columns)
        };
        HartLane {
            name: timeline::name_of(hart),
            threads: threads.into_iter().map(named).collect(),
        }
    };
    harts.iter().map(lane).collect()
}

/// Adds `part` to the columns of `whole` that it touches.
pub fn add(columns: &mut [f64], whole: Span, part: Span) {
    add_share(columns, whole, part, 1.0);
}

/// Adds `share` of `part` to the columns of `whole` that it touches.
fn add_share(columns: &mut [f64], whole: Span, part: Span, share: f64) {
    let scale = columns.len() as f64 / whole.duration().max(1) as f64;
    let at = |time: u64| time.saturating_sub(whole.begin) as f64 * scale;
    let (begin, end) = (at(part.begin), at(part.end));
    let first = begin as usize;
    for (index, column) in columns.iter_mut().enumerate().skip(first) {
        let left = index as f64;
        if left >= end {
            break;
        }
        *column += share * (end.min(left + 1.0) - begin.max(left));
    }
}

/// The path around the sums of `lanes`.
pub fn area(lanes: &[Vec<f64>]) -> String {
    let heights: Vec<i64> = (0..COLUMNS)
        .map(|column| {
            let sum: f64 = lanes.iter().map(|lane| lane[column]).sum();
            // Tenths of a unit; what is there at all is seen.
            let tenths = (10.0 * HEIGHT * sum.min(1.0)).round() as i64;
            if sum > 0.0 { tenths.max(8) } else { 0 }
        })
        .collect();
    let mut path = String::new();
    let mut last = 0;
    for (column, &height) in heights.iter().enumerate() {
        if height == last {
            continue;
        }
        let y = HEIGHT - height as f64 / 10.0;
        let _ = match path.is_empty() {
            true => write!(path, "M{column} {HEIGHT}V{y}"),
            false => write!(path, "H{column}V{y}"),
        };
        last = height;
    }
    if last != 0 {
        let _ = write!(path, "H{COLUMNS}V{HEIGHT}");
    }
    if !path.is_empty() {
        path.push('Z');
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_trace::{jumping, nested, trace};
    use flick_events::trace::Trace;

    #[test]
    fn all_time_is_told_once() {
        let file = trace(&[&nested, &jumping]);
        let trace = Trace::read(&file).unwrap();
        let process = &trace.processes[0];
        let overview = Overview::of(process, &RunTotals::of(process));
        let micro = 1_000_000;
        assert_eq!(
            overview.span,
            Span {
                begin: 0,
                end: 100 * micro
            }
        );
        // main for 100, the other from 20 to 95.
        let sum: u64 = overview.shares().iter().map(|share| share.time).sum();
        assert_eq!(sum, 175 * micro);
        // main: 8 + 6 + 8 + 6 + 6 + 6, the other: 8 + 6 + 1 + 8 + 6 + 8.
        let crossings = overview.shares()[2].clone();
        assert_eq!(
            (crossings.name.as_str(), crossings.time),
            ("crossings", 77 * micro)
        );
        assert_eq!(overview.shares()[3].time, 2 * micro);
        // No column of a thread has more than its time.
        for row in &overview.rows {
            for column in 0..COLUMNS {
                let sum: f64 = row.lanes.iter().flatten().map(|lane| lane[column]).sum();
                assert!(sum < 1.0 + 1e-9, "{sum}");
            }
        }
    }

    #[test]
    fn paths() {
        let mut lane = vec![0.0; COLUMNS];
        assert_eq!(area(&[lane.clone()]), "");
        lane[3] = 1.0;
        lane[4] = 0.5;
        assert_eq!(area(&[lane.clone()]), "M3 20V0H4V10H5V20Z");
        lane[COLUMNS - 1] = 1e-9;
        assert_eq!(area(&[lane]), "M3 20V0H4V10H5V20H399V19.2H400V20Z");
    }

    #[test]
    fn no_events() {
        let mut page = String::new();
        let file = trace(&[]);
        let trace = Trace::read(&file).unwrap();
        let process = &trace.processes[0];
        Overview::of(process, &RunTotals::of(process)).write(&mut page);
        assert!(page.contains("no events"));
    }
}
