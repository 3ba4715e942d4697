//! The measurements of "Fast thread migration in a heterogeneous ISA system" (Berkeley, 2021) beside its
//! figures and the bars (`flick bench paper migration`).
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use crate::markdown;
use crate::nanvix::Samples;
use crate::paper::{Check, Curves, Plot, check_csv, check_table, plot_files, write_files};

/// Bytes of a thread's registers: those of Table 1 of the paper, and those of floating point, which it omits.
const STATE: f64 = 33.0 * 8.0 + 33.0 * 8.0 + 32.0 * 16.0 + 4.0 * 8.0;
/// Bytes that a bus of `rocket-rvv` carries at once: Rocket's system bus.
const BUS: f64 = 8.0;
/// Cycles from a command to the hart that slept, with the interrupt that wakes it (points `tell` and `told`).
const INTERRUPT: f64 = 88.0;
/// The project's bars: cycles of a migration there and back beyond transfers, interrupts and traps; shares.
const BEYOND: f64 = 500.0;
const SAME: f64 = 0.01;
const SERVED: f64 = 0.02;
/// The paper: `sched_setaffinity` over a migration.
const AFFINITY: f64 = 2.1;

const THERE_AND_BACK: &str = "there and back: migration";

/// What is measured, its name for people, and the paper's figure.
const ROWS: [(&str, &str, Option<f64>); 13] = [
    (
        "there and back: affinity",
        "there and back by `thread_place`",
        None,
    ),
    (THERE_AND_BACK, "there and back by migration", None),
    ("there and back: hints", "there and back by hints", None),
    (
        "call: general hart",
        "`process_self` on a general hart",
        Some(988.0),
    ),
    (
        "call: vector hart",
        "on the vector hart, served there",
        None,
    ),
    (
        "call: back",
        "on a general hart, and back to the vector hart",
        Some(4524.0),
    ),
    ("dgemm: pinned", "dgemm 43x43x43, pinned", Some(74_100.0)),
    ("dgemm: migrates", "it migrates", Some(54_100.0)),
    (
        "dgemm with calls: pinned",
        "with 14 calls, pinned",
        Some(87_900.0),
    ),
    (
        "dgemm with calls: migrates",
        "it migrates, calls are served there",
        None,
    ),
    (
        "dgemm with calls: back",
        "it goes back for each call",
        Some(117_400.0),
    ),
    ("dgemm many times: pinned", "many times, pinned", None),
    ("dgemm many times: migrates", "it migrates", None),
];

/// Everything that was measured.
pub struct Results {
    /// What it was measured with.
    pub by: String,
    /// On `rocket-rvv`: cycles.
    pub timed: Samples,
    /// On `spike-rvv`: instructions.
    pub functional: Samples,
    /// By threads that want one vector hart.
    pub contention: Samples,
}

fn mean(samples: &Samples, name: &str) -> Option<f64> {
    samples.get(name, 1).map(|spread| spread.mean)
}

/// Writes the page, the tables and the plot into `dir`. The error has the path in it.
pub fn write(results: &Results, dir: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let counts = results.contention.named("contention").into_iter();
    let points = counts.map(|(threads, spread)| (f64::from(threads), spread.mean));
    let plot = Curves::over_counts(
        "Threads that want one vector hart",
        "cycles until all have ended",
        "threads, each with a general hart",
        vec![("measured".into(), points.collect())],
    );
    let mut files = vec![
        ("bars.csv".into(), check_csv(&checks(results)).into_bytes()),
        ("paper-migration.md".into(), page(results).into_bytes()),
    ];
    files.extend(plot_files("contention", &Plot::Curves(plot)));
    write_files(files, dir)
}

/// The bars.
pub fn checks(results: &Results) -> Vec<Check> {
    let timed = |name: &str| mean(&results.timed, name);
    let mut all = Vec::new();
    if let (Some(moved), Some(trap), Some(affinity)) = (
        timed(THERE_AND_BACK),
        timed("trap"),
        timed("there and back: affinity"),
    ) {
        let most = 4.0 * STATE / BUS + 2.0 * INTERRUPT + 2.0 * trap + BEYOND;
        all.push(at_most("there and back, cycles", moved, most));
        all.push(at_most("there and back, and by affinity", moved, affinity));
    }
    let once = timed(THERE_AND_BACK).unwrap_or_default();
    for (name, row, share, more) in [
        (
            "dgemm many times beside pinned",
            "dgemm many times",
            SAME,
            0.0,
        ),
        (
            "dgemm with calls beside pinned, and one migration",
            "dgemm with calls",
            SERVED,
            once,
        ),
    ] {
        let of = |kind: &str| timed(&format!("{row}: {kind}"));
        if let (Some(moved), Some(pinned)) = (of("migrates"), of("pinned")) {
            all.push(share_of(name, moved, pinned + more, share));
        }
    }
    let contention = results.contention.named("contention");
    if let (Some((_, one)), Some((threads, last))) = (contention.first(), contention.last()) {
        let linear = one.mean * f64::from(*threads);
        let name = format!("{threads} threads beside {threads} times one, cycles");
        all.push(at_most(&name, last.mean, linear));
    }
    if let (Some(alone), Some(beside)) = (timed("other: alone"), timed("other: beside")) {
        let name = "another thread on the hart that was left, beside alone";
        all.push(share_of(name, beside, alone, SAME));
    }
    all
}

fn at_most(name: &str, value: f64, most: f64) -> Check {
    Check {
        name: name.into(),
        got: format!("{value:.0}"),
        wanted: format!("≤ {most:.0}"),
        held: value <= most,
    }
}

fn share_of(name: &str, value: f64, of: f64, most: f64) -> Check {
    let more = value / of - 1.0;
    Check {
        name: name.into(),
        got: format!("{:+.2} %", more * 100.0),
        wanted: format!("≤ {:.0} %", most * 100.0),
        held: more <= most,
    }
}

/// The page for people.
pub fn page(results: &Results) -> String {
    let mut text = String::from("# The measurements of fast thread migration, repeated\n\n");
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{}. `rocket-rvv` is timed, and its figures are cycles. `spike-rvv` is functional as the\n\
         paper's Spike, and its figures are instructions. docs/migration.md says how it is measured.\n\n## Bars\n",
        results.by
    );
    text.push_str(&check_table(&checks(results)));
    text.push_str("\n## Migrations, calls and products\n\n");
    let head = ["", "rocket-rvv", "spike-rvv", "paper"].map(str::to_owned);
    let rows = ROWS.iter().map(|&(name, text, paper)| {
        let figures = [
            mean(&results.timed, name),
            mean(&results.functional, name),
            paper,
        ];
        let figures = figures.map(|value| markdown::figure(value, 0));
        std::iter::once(text.to_owned()).chain(figures).collect()
    });
    text.push_str(&markdown::table(
        &std::iter::once(head.to_vec())
            .chain(rows)
            .collect::<Vec<_>>(),
    ));
    let ratio = |samples: &Samples| {
        let affinity = mean(samples, "there and back: affinity");
        affinity
            .zip(mean(samples, THERE_AND_BACK))
            .map(|(a, b)| a / b)
    };
    let _ = writeln!(
        text,
        "\nBy affinity over by migration: {} on `rocket-rvv`, {} on `spike-rvv`, {AFFINITY} in the paper.\n\n\
         ## Threads that want one vector hart\n",
        markdown::figure(ratio(&results.timed), 2),
        markdown::figure(ratio(&results.functional), 2),
    );
    let mut lines = vec![
        ["threads", "cycles", "a thread over one"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let contention = results.contention.named("contention");
    let one = contention.first().map_or(1.0, |(_, spread)| spread.mean);
    for (threads, spread) in contention {
        let of_one = spread.mean / f64::from(threads) / one;
        lines.push(vec![
            threads.to_string(),
            markdown::figure(Some(spread.mean), 0),
            markdown::figure(Some(of_one), 3),
        ]);
    }
    text.push_str(&markdown::table(&lines));
    text.push_str("\n![Contention](contention.svg)\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run in which a migration takes so many times 1,000 cycles.
    fn results(slow: f64) -> Results {
        let mut text = String::from("measure,threads,repetition,cycles\n");
        for (name, ..) in ROWS {
            let cycles = if name == THERE_AND_BACK {
                1000.0 * slow
            } else {
                100_000.0
            };
            let _ = writeln!(text, "{name},1,0,{cycles}");
        }
        text.push_str("trap,1,0,50\nother: alone,1,0,1000\nother: beside,1,0,1005\n");
        let contention = |threads: f64| {
            format!(
                "contention,{threads},0,{}\n",
                900.0 * slow.powf(threads) * threads
            )
        };
        let all =
            "measure,threads,repetition,cycles\n".to_owned() + &contention(1.0) + &contention(8.0);
        Results {
            by: "a test".into(),
            timed: Samples::migration(&text).unwrap(),
            functional: Samples::migration(&text).unwrap(),
            contention: Samples::migration(&all).unwrap(),
        }
    }

    #[test]
    fn a_quick_migration_holds_the_bars() {
        let all = checks(&results(1.0));
        assert_eq!(all.len(), 6);
        assert!(all.iter().all(|check| check.held), "{}", check_table(&all));
    }

    #[test]
    fn a_slow_one_misses_them() {
        let all = checks(&results(200.0));
        let missed: Vec<_> = all
            .iter()
            .filter(|check| !check.held)
            .map(|check| &*check.name)
            .collect();
        let wanted = [
            "there and back, cycles",
            "there and back, and by affinity",
            "8 threads beside 8 times one, cycles",
        ];
        assert_eq!(missed, wanted);
    }

    #[test]
    fn all_files_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let files = write(&results(1.0), dir.path()).unwrap();
        assert_eq!(files.len(), 4);
        let page = std::fs::read_to_string(dir.path().join("paper-migration.md")).unwrap();
        assert!(
            page.contains("| there and back by migration")
                && page.contains("100.0 on `rocket-rvv`") | page.contains("100.00 on `rocket-rvv`"),
            "{page}"
        );
    }
}
