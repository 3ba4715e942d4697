//! The measurements of the Nanvix paper beside its figures and the bars (`flick bench paper nanvix`).
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use crate::paper::{Curves, Plot, check_table, plot_files, write_files};

pub use call_breakdown::Breakdown;
pub use card_output::{ForkJoin, Samples, Service, Spread, boot_cycles};

mod call_breakdown;
mod card_output;
mod nanvix_bars;
mod nanvix_cited;
mod nanvix_tables;
#[cfg(test)]
mod sample_run;
mod symmetric_tables;

/// Everything that was measured.
pub struct Results {
    /// What it was measured with, for the head of the page.
    pub by: String,
    pub calls: Samples,
    /// Their parts, by the number of callers.
    pub breakdown: Vec<(u32, Breakdown)>,
    pub fork_join: ForkJoin,
    pub noise: Samples,
    /// With one bank of memory: what the workers share shows.
    pub noise_of_one_bank: Samples,
    pub service: Service,
    /// Cycles to the first thread.
    pub boot: f64,
    pub mailbox: Samples,
    /// Data and signals between clusters.
    pub portal: Samples,
    /// What calls leave of a program's caches.
    pub refill: Samples,
    pub wishes: Vec<Wish>,
    /// `None`: it was not built.
    pub symmetric: Option<Symmetric>,
}

/// The same of the symmetric kernel.
pub struct Symmetric {
    pub calls: Samples,
    pub fork_join: ForkJoin,
    pub noise: Samples,
    pub refill: Samples,
    /// Some of the asymmetric kernel's.
    pub wishes: Vec<Wish>,
}

/// The same on other hardware, or as it is: by a run of the same numbers of threads, since where the
/// harts' loops meet depends on all that was before.
pub struct Wish {
    pub name: &'static str,
    pub calls: Samples,
    pub fork_join: ForkJoin,
}

/// Writes the page, the tables and the plots into `dir`. The error has the path in it.
pub fn write(results: &Results, dir: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut files: Vec<(String, Vec<u8>)> = nanvix_tables::csv(results)
        .into_iter()
        .map(|(name, text)| (format!("{name}.csv"), text.into_bytes()))
        .collect();
    for (name, plot) in plots(results) {
        files.extend(plot_files(name, &plot));
    }
    if let Some(symmetric) = &results.symmetric {
        let csv = symmetric_tables::csv(results, symmetric);
        files.push(("symmetric.csv".into(), csv.into_bytes()));
        for (name, plot) in symmetric_tables::plots(results, symmetric) {
            files.extend(plot_files(name, &plot));
        }
    }
    files.push(("paper-nanvix.md".into(), page(results).into_bytes()));
    write_files(files, dir)
}

fn curve(label: &str, samples: &Samples, name: &str) -> (String, Vec<(f64, f64)>) {
    let points = samples.named(name).into_iter();
    let points = points.map(|(count, spread)| (f64::from(count), spread.mean));
    (label.into(), points.collect())
}

fn plots(results: &Results) -> Vec<(&'static str, Plot)> {
    let both = &results.fork_join.both;
    let mut ideal = curve("ideal", both, "on");
    for (threads, cycles) in &mut ideal.1 {
        *cycles = nanvix_cited::fork_join_ideal(*threads as u32);
    }
    let loss = |label: &str, beside: &str| {
        let counts = results.noise.named(beside).into_iter();
        let points = counts.filter_map(|(workers, _)| {
            let lost = nanvix_bars::lost(&results.noise, beside, workers)?;
            Some((f64::from(workers), lost * 100.0))
        });
        (label.to_owned(), points.collect())
    };
    let bandwidth = |label: &str, name: &str| {
        let sizes = results.portal.named(name).into_iter();
        let points = sizes.map(|(size, spread)| {
            let share = nanvix_cited::link_cycles(size) / spread.mean;
            (f64::from(size) / 1024.0, share * 100.0)
        });
        (label.to_owned(), points.collect())
    };
    let plots = [
        (
            "portal",
            Curves::over_counts(
                "Data from a cluster to another one",
                "percent of the link's bandwidth",
                "KiB of a block",
                vec![
                    bandwidth("stream", "stream"),
                    bandwidth("one block", "single"),
                ],
            ),
        ),
        (
            "calls",
            Curves::over_counts(
                "Kernel calls by several callers at once",
                "cycles of a call",
                "callers",
                vec![
                    curve("remote", &results.calls, "remote"),
                    curve("local", &results.calls, "local"),
                ],
            ),
        ),
        (
            "fork-join",
            Curves::over_counts(
                "Fork-join of threads that do nothing",
                "cycles of all creates and joins",
                "threads",
                vec![
                    ideal,
                    curve("recycling on", both, "on"),
                    curve("recycling off", both, "off"),
                ],
            ),
        ),
        (
            "noise",
            Curves::over_counts(
                "Noise: n workers beside 14-n other threads",
                "percent that an event of a worker takes longer than alone; the paper: 0.5",
                "workers",
                vec![
                    loss("beside calls", "calls"),
                    loss("beside copies", "copies"),
                ],
            ),
        ),
    ];
    plots
        .map(|(name, curves)| (name, Plot::Curves(curves)))
        .into()
}

/// The page for people.
pub fn page(results: &Results) -> String {
    let mut text = String::from("# The measurements of the Nanvix paper, repeated\n\n");
    let _ = writeln!(
        text,
        "{}. docs/paper-nanvix.md says what is input, assumption and\n\
         prediction, and how it is measured. Times are cycles, the means of the repetitions. These vary\n\
         by {:.2} % at most (standard deviation; the paper: below {:.0} %).\n\n## Bars\n",
        results.by,
        nanvix_tables::variation(results) * 100.0,
        nanvix_cited::VARIATION * 100.0,
    );
    text.push_str(&check_table(&nanvix_bars::checks(results)));
    let _ = write!(
        text,
        "\n## Kernel calls by 1 to 14 callers at once\n\nThe paper's mode switch takes about {} cycles.\n\n",
        nanvix_cited::MODE_SWITCH
    );
    text.push_str(&nanvix_tables::calls(results));
    text.push('\n');
    text.push_str(&call_breakdown::section(results));
    let _ = write!(
        text,
        "\n![Kernel calls](calls.svg)\n\n## Fork-join\n\nThe paper's kernel takes {} times its ideal.\n\n",
        nanvix_cited::FORK_JOIN
    );
    text.push_str(&nanvix_tables::fork_join(results));
    let _ = write!(
        text,
        "\n![Fork-join](fork-join.svg)\n\n## Noise\n\nThe paper has {} % a computing thread.\n\n",
        nanvix_cited::NOISE * 100.0
    );
    text.push_str(&nanvix_tables::noise(results));
    text.push_str("\n![Noise](noise.svg)\n\n## Messages between clusters\n\n");
    text.push_str(&nanvix_tables::latencies(results));
    text.push('\n');
    text.push_str(&nanvix_tables::bandwidths(results));
    text.push_str("\n## Data through portals\n\n");
    text.push_str(&nanvix_tables::portal_sizes(results));
    text.push('\n');
    text.push_str(&nanvix_tables::portal_clusters(results));
    text.push_str("\n![Portals](portal.svg)\n\n## Syncs\n\n");
    text.push_str(&nanvix_tables::syncs(results));
    text.push_str("\n## What the paper wishes of the hardware, priced\n\n");
    text.push_str(&nanvix_tables::wishes(results));
    if let Some(symmetric) = &results.symmetric {
        text.push_str(&symmetric_tables::section(results, symmetric));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let files = write(&sample_run::results(1.0), dir.path()).unwrap();
        assert_eq!(files.len(), 8 + 4 * 2 + 1 + 1 + 2 * 2);
        for path in &files {
            assert!(std::fs::metadata(path).unwrap().len() > 100, "{path:?}");
        }
    }

    #[test]
    fn the_page_has_figures_and_bars() {
        let page = page(&sample_run::results(2.0));
        for text in [
            "| remote call, cycles ",
            "**missed**",
            "| coherence ",
            "![Fork-join](fork-join.svg)",
            "## The symmetric kernel",
            "| data behind change ",
        ] {
            assert!(page.contains(text), "{text:?} is not in\n{page}");
        }
    }
}
