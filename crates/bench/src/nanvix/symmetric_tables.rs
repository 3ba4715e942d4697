//! The symmetric kernel beside the asymmetric one: tables and plots.
use std::fmt::Write as _;

use super::nanvix_bars::lost;
use super::nanvix_cited::THREADS;
use super::{Results, Samples, Symmetric, curve};
use crate::markdown;
use crate::paper::{Curves, Plot};

/// A figure of both kernels, the asymmetric one first.
struct Pair {
    what: String,
    count: u32,
    cycles: [Option<f64>; 2],
}

impl Pair {
    fn ratio(&self) -> Option<f64> {
        let [asymmetric, symmetric] = self.cycles;
        Some(symmetric? / asymmetric?)
    }
}

/// A column: its title, the samples of both kernels, and their name.
type Column<'a> = (&'a str, [&'a Samples; 2], &'a str);

fn mean(samples: &Samples, name: &str, count: u32) -> Option<f64> {
    samples.get(name, count).map(|spread| spread.mean)
}

fn pair((title, samples, name): &Column, count: u32) -> Pair {
    Pair {
        what: (*title).into(),
        count,
        cycles: samples.map(|samples| mean(samples, name, count)),
    }
}

fn of_calls<'a>(results: &'a Results, symmetric: &'a Symmetric) -> [Column<'a>; 2] {
    let calls = [&results.calls, &symmetric.calls];
    [("nothing", calls, "remote"), ("change", calls, "change")]
}

fn of_fork_join<'a>(results: &'a Results, symmetric: &'a Symmetric) -> [Column<'a>; 2] {
    let both = [&results.fork_join.both, &symmetric.fork_join.both];
    [("recycling on", both, "on"), ("recycling off", both, "off")]
}

/// A line for each count of the first column, and three cells for each column.
fn table(counted: &str, columns: &[Column]) -> String {
    let mut head = vec![counted.to_owned()];
    for (title, ..) in columns {
        head.extend([
            format!("{title}: asymmetric"),
            "symmetric".into(),
            "ratio".into(),
        ]);
    }
    let mut lines = vec![head];
    let (_, [first, _], name) = columns[0];
    for (count, _) in first.named(name) {
        let mut line = vec![count.to_string()];
        for pair in columns.iter().map(|column| pair(column, count)) {
            line.extend(pair.cycles.map(|cycles| markdown::figure(cycles, 0)));
            line.push(markdown::figure(pair.ratio(), 2));
        }
        lines.push(line);
    }
    markdown::table(&lines)
}

fn noise(results: &Results, symmetric: &Symmetric) -> String {
    let mut lines = vec![vec!["workers".to_owned()]];
    for beside in ["calls", "changes"] {
        lines[0].extend([format!("{beside}, %: asymmetric"), "symmetric".into()]);
    }
    for (workers, _) in symmetric.noise.named("alone") {
        let mut line = vec![workers.to_string()];
        for beside in ["calls", "changes"] {
            for samples in [&results.noise, &symmetric.noise] {
                let percent = lost(samples, beside, workers).map(|lost| lost * 100.0);
                line.push(markdown::figure(percent, 3));
            }
        }
        lines.push(line);
    }
    markdown::table(&lines)
}

/// Cycles that data and code take longer behind a call.
fn refills(results: &Results, symmetric: &Symmetric) -> Vec<Pair> {
    let mut all = Vec::new();
    for part in ["data", "code"] {
        for call in ["local", "remote", "change"] {
            let more = |samples: &Samples| {
                let of = |call: &str| mean(samples, &format!("{part}, {call}"), 1);
                Some(of(call)? - of("none")?)
            };
            all.push(Pair {
                what: format!("{part} behind {call}"),
                count: 1,
                cycles: [&results.refill, &symmetric.refill].map(more),
            });
        }
    }
    all
}

/// Figures of both kernels on other hardware.
fn hardware(results: &Results, symmetric: &Symmetric) -> Vec<Pair> {
    let mut all = Vec::new();
    for wish in &symmetric.wishes {
        let Some(same) = results.wishes.iter().find(|other| other.name == wish.name) else {
            continue;
        };
        let calls = [&same.calls, &wish.calls];
        let both = [&same.fork_join.both, &wish.fork_join.both];
        for (title, samples, name, count) in [
            ("a change", calls, "change", 1),
            ("a change of 14 callers", calls, "change", THREADS),
            ("fork-join of 1", both, "on", 1),
            ("fork-join of 14", both, "on", THREADS),
            ("the same without recycling", both, "off", THREADS),
        ] {
            let what = format!("{}: {title}", wish.name);
            all.push(pair(&(&what, samples, name), count));
        }
    }
    all
}

fn pairs(first: &str, pairs: &[Pair]) -> String {
    let head = [first, "asymmetric", "symmetric"].map(str::to_owned);
    let mut lines = vec![head.to_vec()];
    for pair in pairs {
        let mut line = vec![pair.what.clone()];
        line.extend(pair.cycles.map(|cycles| markdown::figure(cycles, 0)));
        lines.push(line);
    }
    markdown::table(&lines)
}

/// The section of the page for people.
pub fn section(results: &Results, symmetric: &Symmetric) -> String {
    let mut text = String::from(
        "\n## The symmetric kernel\n\nEach hart executes the calls of its threads itself, with locks.\n\
         `nothing` is the remote call above, and `change` stores to the table of threads. Cycles:\n\n",
    );
    text.push_str(&table("callers", &of_calls(results, symmetric)));
    text.push_str("\n![Calls by both kernels](symmetric-calls.svg)\n\nFork-join:\n\n");
    text.push_str(&table("threads", &of_fork_join(results, symmetric)));
    text.push_str(
        "\n![Fork-join by both kernels](symmetric.svg)\n\nNoise beside threads whose calls do nothing, \
         and beside those whose calls change the table:\n\n",
    );
    text.push_str(&noise(results, symmetric));
    text.push_str(
        "\nCycles that 4 KiB of data and of code of a program take longer right behind a call:\n\n",
    );
    text.push_str(&pairs("what", &refills(results, symmetric)));
    text.push_str("\nOther hardware:\n\n");
    text.push_str(&pairs("hardware", &hardware(results, symmetric)));
    text
}

/// All figures, for programs.
pub fn csv(results: &Results, symmetric: &Symmetric) -> String {
    let mut all = Vec::new();
    for (kind, columns) in [
        ("call", of_calls(results, symmetric)),
        ("fork-join", of_fork_join(results, symmetric)),
    ] {
        for (title, samples, name) in columns {
            let title = format!("{kind}, {title}");
            let counts = samples[0].named(name).into_iter();
            all.extend(counts.map(|(count, _)| pair(&(&title, samples, name), count)));
        }
    }
    for name in ["alone", "calls", "changes"] {
        let title = format!("noise, {name}");
        let samples = [&results.noise, &symmetric.noise];
        let counts = symmetric.noise.named(name).into_iter();
        all.extend(counts.map(|(count, _)| pair(&(&title, samples, name), count)));
    }
    all.extend(refills(results, symmetric));
    all.extend(hardware(results, symmetric));
    let mut text = String::from("what,count,asymmetric,symmetric\n");
    for pair in all {
        let [asymmetric, symmetric] = pair.cycles.map(|cycles| markdown::figure(cycles, 3));
        let _ = writeln!(
            text,
            "\"{}\",{},{asymmetric},{symmetric}",
            pair.what, pair.count
        );
    }
    text
}

pub fn plots(results: &Results, symmetric: &Symmetric) -> [(&'static str, Plot); 2] {
    let curves = |columns: [Column; 2]| {
        let mut all = Vec::new();
        for (title, [asymmetric, symmetric], name) in columns {
            all.push(curve(&format!("{title}, asymmetric"), asymmetric, name));
            all.push(curve(&format!("{title}, symmetric"), symmetric, name));
        }
        all
    };
    [
        (
            "symmetric-calls",
            Plot::Curves(Curves::over_counts(
                "Calls by both kernels",
                "cycles of a call",
                "callers",
                curves(of_calls(results, symmetric)),
            )),
        ),
        (
            "symmetric",
            Plot::Curves(Curves::over_counts(
                "Fork-join by both kernels",
                "cycles of all creates and joins",
                "threads",
                curves(of_fork_join(results, symmetric)),
            )),
        ),
    ]
}
