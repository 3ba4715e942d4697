//! Several threads on several harts, and as many threads of the host that reach the memory over PCIe.
use crate::markdown;
use crate::paper::{Chase, Search};

/// Numbers of threads and of harts that are tried.
pub const COUNTS: [usize; 4] = [1, 2, 4, 8];
/// Of a run of `--quick`.
pub const FEW_COUNTS: [usize; 2] = [1, 4];

/// What so many threads on so many harts have taken, with firmware. The time without migration is that of as
/// many threads on the host.
pub struct Threaded {
    pub threads: usize,
    pub harts: usize,
    pub chase: Chase,
    pub search: Search,
}

/// Numbers of harts in the rows, in order, each once.
fn harts(rows: &[Threaded]) -> Vec<usize> {
    let mut all: Vec<usize> = rows.iter().map(|row| row.harts).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn threads(rows: &[Threaded]) -> Vec<usize> {
    let mut all: Vec<usize> = rows.iter().map(|row| row.threads).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A line for each number of threads, with a figure for each number of harts.
fn lines(
    rows: &[Threaded],
    what: &str,
    name: &str,
    figure: impl Fn(&Threaded) -> String,
) -> Vec<Vec<String>> {
    let lines = threads(rows).into_iter().map(|threads| {
        let cells = harts(rows).into_iter().map(|harts| {
            let is_it = |row: &&Threaded| (row.threads, row.harts) == (threads, harts);
            rows.iter().find(is_it).map_or("-".into(), &figure)
        });
        let own = [what.to_owned(), name.to_owned(), threads.to_string()];
        own.into_iter().chain(cells).collect()
    });
    lines.collect()
}

/// Lengths of lists that are shown.
const SHOWN: [u64; 3] = [64, 256, 1024];

/// The host's time by the card's.
pub fn speedups(rows: &[Threaded]) -> Vec<Vec<String>> {
    let head = ["host time / Flick's, with firmware", "", "threads"].map(str::to_owned);
    let harts = harts(rows).into_iter().map(|harts| match harts {
        1 => "1 hart".into(),
        _ => format!("{harts} harts"),
    });
    let mut table = vec![head.into_iter().chain(harts).collect()];
    for nodes in SHOWN {
        let speedup = |row: &Threaded| {
            let times = row.chase.at(nodes);
            markdown::figure(times.map(|times| times.speedup()), 2)
        };
        table.extend(lines(rows, "Figure 5a", &format!("{nodes} nodes"), speedup));
    }
    table.extend(lines(rows, "Figure 5a", "break-even, nodes", |row| {
        markdown::figure(row.chase.break_even(), 1)
    }));
    table.extend(lines(rows, "Table IV", "search", |row| {
        format!("{:.2}", row.search.mean.speedup())
    }));
    table
}

/// How many harts it takes until the card wins.
pub fn harts_to_win(rows: &[Threaded]) -> Vec<Vec<String>> {
    let threads = threads(rows);
    let mut head = vec!["fewest harts with which the card wins".to_owned()];
    head.extend(threads.iter().map(|threads| match threads {
        1 => "1 thread".into(),
        _ => format!("{threads} threads"),
    }));
    let line = |name: String, wins: &dyn Fn(&Threaded) -> bool| {
        let cells = threads.iter().map(|&threads| {
            let won = rows
                .iter()
                .filter(|row| row.threads == threads && wins(row));
            let fewest = won.map(|row| row.harts).min();
            fewest.map_or("-".into(), |harts| harts.to_string())
        });
        std::iter::once(name).chain(cells).collect()
    };
    let mut table = vec![head];
    let points = rows.first().map_or(&[][..], |row| &row.chase.points);
    for point in points {
        let nodes = point.nodes;
        let wins = |row: &Threaded| {
            row.chase
                .at(nodes)
                .is_some_and(|times| times.speedup() > 1.0)
        };
        table.push(line(format!("Figure 5a, {nodes} nodes"), &wins));
    }
    let wins = |row: &Threaded| row.search.mean.speedup() > 1.0;
    table.push(line("Table IV, search".into(), &wins));
    table
}
