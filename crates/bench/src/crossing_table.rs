//! The tables of `flick bench crossing`, from what bench/crossing.c prints.
use std::fmt::Write as _;

use flick_events::number::counted;

use crate::bar::{self, Bar};
use crate::markdown;
use crate::numbers;
use crate::quantile;

/// A column of the program's output, and its row in the table.
struct Kind {
    column: &'static str,
    name: &'static str,
}

const DIRECT: &str = "direct";
/// The null function that is no leaf for the host. The call needs a crossing.
const STACK: &str = "host_nxp_host_stack";
const KINDS: [Kind; 24] = [
    kind(DIRECT, "direct call"),
    kind("direct_pointer", "direct call, by pointer"),
    kind("host_nxp_host", "host-NxP-host"),
    kind("host_nxp_host_pointer", "host-NxP-host, by pointer"),
    kind(STACK, "host-NxP-host, no leaf"),
    kind("nxp_host_nxp", "NxP-host-NxP"),
    kind("nxp_host_nxp_pointer", "NxP-host-NxP, by pointer"),
    kind("reentry_first", "re-entry, first level"),
    kind("reentry_further", "re-entry, each further level"),
    kind("host_nxp_host_mixed", "host-NxP-host, mixed arguments"),
    kind("host_nxp_host_stacked", "host-NxP-host, ten arguments"),
    kind("host_nxp_host_struct", "host-NxP-host, a struct"),
    kind("nxp_host_nxp_mixed", "NxP-host-NxP, mixed arguments"),
    kind("nxp_host_nxp_stacked", "NxP-host-NxP, ten arguments"),
    kind("nxp_host_nxp_struct", "NxP-host-NxP, a struct"),
    kind("direct_load", "direct call of a leaf that loads"),
    kind("host_nxp_host_load", "host-NxP-host of such a leaf"),
    kind("nxp_host_nxp_load", "NxP-host-NxP of such a leaf"),
    kind("direct_frame", "direct call of a function with a callee"),
    kind("host_nxp_host_frame", "host-NxP-host of such a function"),
    kind("nxp_host_nxp_frame", "NxP-host-NxP of such a function"),
    kind("redirect", "signal that redirects"),
    kind("signal", "signal round trip"),
    kind("getpid", "getpid"),
];

const fn kind(column: &'static str, name: &'static str) -> Kind {
    Kind { column, name }
}

/// What the crossings are to stay under: trigger, figure, the sum that it is compared with.
const BARS: [(&str, &str, &[&str], Bar); 16] = [
    ("gate", "host_nxp_host", &[DIRECT], Bar::AtMost(2.5)),
    ("gate", "nxp_host_nxp", &[DIRECT], Bar::AtMost(2.5)),
    (
        "gate",
        "host_nxp_host_load",
        &["direct_load"],
        Bar::AtMost(2.5),
    ),
    (
        "gate",
        "nxp_host_nxp_load",
        &["direct_load"],
        Bar::AtMost(2.5),
    ),
    (
        "gate",
        "host_nxp_host_frame",
        &["direct_frame"],
        Bar::AtMost(2.5),
    ),
    (
        "gate",
        "nxp_host_nxp_frame",
        &["direct_frame"],
        Bar::AtMost(2.5),
    ),
    (
        "gate",
        "host_nxp_host_pointer",
        &["direct_pointer"],
        Bar::AtMost(2.5),
    ),
    (
        "gate",
        "nxp_host_nxp_pointer",
        &["nxp_host_nxp"],
        Bar::AtMost(1.5),
    ),
    (
        "gate",
        "reentry_further",
        &[STACK, "nxp_host_nxp"],
        Bar::AtMost(1.1),
    ),
    ("gate", "host_nxp_host_mixed", &[STACK], Bar::AtMost(1.5)),
    ("gate", "host_nxp_host_stacked", &[STACK], Bar::AtMost(1.5)),
    ("gate", "host_nxp_host_struct", &[STACK], Bar::AtMost(1.5)),
    (
        "gate",
        "nxp_host_nxp_mixed",
        &["nxp_host_nxp"],
        Bar::AtMost(1.5),
    ),
    (
        "gate",
        "nxp_host_nxp_stacked",
        &["nxp_host_nxp"],
        Bar::AtMost(1.5),
    ),
    (
        "gate",
        "nxp_host_nxp_struct",
        &["nxp_host_nxp"],
        Bar::AtMost(1.5),
    ),
    ("fault", "host_nxp_host", &["redirect"], Bar::AtMost(1.2)),
];

/// What is compared with others' engines.
const PEERS: (&str, Bar) = ("host_nxp_host", Bar::AtMost(1.0));

/// What a run under one trigger with one engine gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// `gate` or `fault`.
    pub trigger: String,
    pub engine: String,
    /// Nanoseconds per call of each round, by column of the program's output.
    columns: Vec<(String, Vec<f64>)>,
}

/// Nanoseconds per call, and the ratio to a direct call: medians over the rounds, with quartiles of
/// the first.
struct Figures {
    median: f64,
    lower: f64,
    upper: f64,
    ratio: f64,
}

impl Run {
    /// Reads the program's output. The error says what is wrong with it.
    pub fn parse(trigger: &str, engine: &str, output: &str) -> Result<Self, String> {
        let mut lines = output.lines();
        let header = lines.next().unwrap_or_default();
        let known = |name: &str| KINDS.iter().any(|kind| kind.column == name);
        let mut columns: Vec<(String, Vec<f64>)> = Vec::new();
        for name in header.split(',') {
            if !known(name) || columns.iter().any(|(before, _)| before == name) {
                return Err(format!("its first line has the column {name:?}"));
            }
            columns.push((name.to_owned(), Vec::new()));
        }
        for line in lines {
            let values = numbers::parse(line, columns.len())?;
            for ((_, column), value) in columns.iter_mut().zip(values) {
                column.push(value);
            }
        }
        let run = Self {
            trigger: trigger.to_owned(),
            engine: engine.to_owned(),
            columns,
        };
        match run.column(DIRECT) {
            Some([_, ..]) => Ok(run),
            Some([]) => Err("it has no rounds".into()),
            None => Err(format!("it has no column {DIRECT:?}")),
        }
    }

    fn column(&self, name: &str) -> Option<&[f64]> {
        let found = self.columns.iter().find(|(column, _)| column == name);
        found.map(|(_, values)| values.as_slice())
    }

    fn rounds(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }

    /// The median over the rounds of one kind's time over the sum of others' in the same round.
    fn ratio(&self, of: &str, to: &[&str]) -> Option<f64> {
        let to: Option<Vec<&[f64]>> = to.iter().map(|name| self.column(name)).collect();
        let to = to?;
        let sum = |round: usize| to.iter().map(|column| column[round]).sum::<f64>();
        let of = self.column(of)?.iter().enumerate();
        let ratios: Vec<f64> = of.map(|(round, time)| time / sum(round)).collect();
        Some(quantile::median(&ratios))
    }

    fn figures(&self, column: &str) -> Option<Figures> {
        let mut sorted = self.column(column)?.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Figures {
            median: quantile::of_sorted(&sorted, 0.5),
            lower: quantile::of_sorted(&sorted, 0.25),
            upper: quantile::of_sorted(&sorted, 0.75),
            ratio: self.ratio(column, &[DIRECT])?,
        })
    }
}

/// The tables for people; Markdown, so that they can be kept as they are: one for each trigger,
/// with the engines, the card if it was measured, and then peers beside each other, and one of what
/// the engines are to reach.
pub fn table(calls: u64, runs: &[Run], card: Option<&Run>, peers: &[Run]) -> String {
    let mut text = String::new();
    let mut triggers: Vec<&str> = runs.iter().map(|run| run.trigger.as_str()).collect();
    triggers.dedup();
    for trigger in triggers {
        let all = runs.iter().chain(card).chain(peers);
        let runs: Vec<&Run> = all.filter(|run| run.trigger == trigger).collect();
        let _ = writeln!(
            text,
            "FLICK_TRIGGER={trigger}: up to {} a round, medians of {}\n",
            counted(calls, "call"),
            counted(runs[0].rounds() as u64, "round")
        );
        let mut head = vec!["call".to_owned()];
        for run in &runs {
            let engine = &run.engine;
            head.extend([
                format!("{engine}, ns"),
                "quartiles".into(),
                "x direct".into(),
            ]);
        }
        let mut lines = vec![head];
        for kind in &KINDS {
            let figures: Vec<_> = runs.iter().map(|run| run.figures(kind.column)).collect();
            if figures.iter().all(Option::is_none) {
                continue;
            }
            let mut line = vec![kind.name.to_owned()];
            for figures in figures {
                line.extend(figures.map_or(["-"; 3].map(str::to_owned), |f| {
                    [
                        format!("{:.1}", f.median),
                        format!("{:.1} - {:.1}", f.lower, f.upper),
                        format!("{:.1}", f.ratio),
                    ]
                }));
            }
            lines.push(line);
        }
        text.push_str(&markdown::table(&lines));
        text.push('\n');
    }
    text.push_str(&bars(runs, peers));
    text
}

fn bars(runs: &[Run], peers: &[Run]) -> String {
    let name = |column: &str| {
        let kind = KINDS.iter().find(|kind| kind.column == column);
        kind.map_or("", |kind| kind.name)
    };
    let mut engines: Vec<&str> = Vec::new();
    for run in runs {
        if !engines.contains(&run.engine.as_str()) {
            engines.push(&run.engine);
        }
    }
    let rows = BARS.iter().filter_map(|(trigger, of, to, bar)| {
        let ratio = |engine: &&str| {
            let run = |run: &&Run| run.trigger == *trigger && run.engine == **engine;
            runs.iter().find(run)?.ratio(of, to)
        };
        let by_fault = if *trigger == "fault" { " by fault" } else { "" };
        let values: Vec<_> = engines.iter().map(ratio).collect();
        let to: Vec<&str> = to.iter().map(|column| name(column)).collect();
        values.iter().any(Option::is_some).then(|| bar::Row {
            name: format!("{}{by_fault} / {}", name(of), to.join(" + ")),
            values,
            bar: *bar,
        })
    });
    // In direct calls of its own process each, since processes differ.
    let call = |run: &Run| run.ratio(PEERS.0, &[DIRECT]);
    let fastest = peers.iter().filter_map(call).reduce(f64::min);
    let to_peers = fastest.map(|fastest| {
        let value = |engine: &&str| {
            let run = |run: &&Run| run.trigger == "gate" && run.engine == **engine;
            Some(call(runs.iter().find(run)?)? / fastest)
        };
        bar::Row {
            name: format!("{} / that of the fastest peer", name(PEERS.0)),
            values: engines.iter().map(value).collect(),
            bar: PEERS.1,
        }
    });
    bar::table(&engines, rows.chain(to_peers))
}

/// The same, a line for each row, for programs.
pub fn csv(calls: u64, runs: &[Run], card: Option<&Run>, peers: &[Run]) -> String {
    let mut text =
        String::from("trigger,engine,call,calls,rounds,median_ns,lower_ns,upper_ns,ratio\n");
    for run in runs.iter().chain(card).chain(peers) {
        for kind in &KINDS {
            if let Some(f) = run.figures(kind.column) {
                let _ = writeln!(
                    text,
                    "{},{},{},{calls},{},{:.3},{:.3},{:.3},{:.3}",
                    run.trigger,
                    run.engine,
                    kind.column,
                    run.rounds(),
                    f.median,
                    f.lower,
                    f.upper,
                    f.ratio
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "direct,host_nxp_host,host_nxp_host_stack,nxp_host_nxp,reentry_first,reentry_further\n\
                          2,20,20,30,100,150\n1,10,10,20,90,90\n3,36,36,70,60,120\n";

    fn run(engine: &str) -> Run {
        Run::parse("gate", engine, OUTPUT).unwrap()
    }

    #[test]
    fn medians_of_times_and_of_the_ratios_in_a_round() {
        let run = run("interp");
        let got = |column| run.figures(column).map(|f| (f.median, f.ratio));
        assert_eq!(got("direct"), Some((2.0, 1.0)));
        assert_eq!(got(STACK), Some((20.0, 10.0)));
        assert_eq!(got("nxp_host_nxp"), Some((30.0, 20.0)));
        assert_eq!(got("getpid"), None);
        let direct = run.figures("direct").unwrap();
        assert_eq!((direct.lower, direct.upper), (1.5, 2.5));
        assert_eq!(run.ratio("reentry_further", &["reentry_first"]), Some(1.5));
    }

    #[test]
    fn output_of_another_program_is_refused() {
        for bad in [
            "",
            "hello\n",
            "direct,getpid",
            "getpid\n1\n",
            "direct,direct\n1,1\n",
            "direct,getpid\n1,2,3\n",
            "direct,getpid\n1,x\n",
        ] {
            assert!(Run::parse("gate", "interp", bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn engines_stand_beside_each_other() {
        let runs = [run("interp"), run("other")];
        let text = table(10_000, &runs, Some(&run("card")), &[run("peer")]);
        for line in [
            "FLICK_TRIGGER=gate: up to 10,000 calls a round, medians of 3 rounds\n",
            "| call                         | interp, ns |     quartiles | x direct | other, ns |     quartiles | x direct | card, ns |     quartiles | x direct | peer, ns |",
            "| NxP-host-NxP                 |       30.0 |   25.0 - 50.0 |     20.0 |      30.0 |   25.0 - 50.0 |     20.0 |     30.0 |",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(!text.contains("getpid"), "{text}");
        assert!(
            text.contains("|    interp |     other |   bar |\n"),
            "no card and no peer: {text}"
        );
        let csv = csv(10_000, &runs, None, &[]);
        assert!(
            csv.contains("gate,other,host_nxp_host_stack,10000,3,20.000,15.000,28.000,10.000\n"),
            "{csv}"
        );
    }

    #[test]
    fn bars_are_held_or_missed() {
        let peer = Run::parse("gate", "peer", "direct,host_nxp_host\n2,10\n").unwrap();
        let text = bars(&[run("interp")], &[run("slow"), peer]);
        let missed = "| re-entry, each further level / host-NxP-host, no leaf + NxP-host-NxP |  **3.00** | ≤ 1.1 |\n";
        assert!(text.contains(missed), "{text}");
        let missed = "| host-NxP-host / that of the fastest peer                             |  **2.00** |   ≤ 1 |\n";
        assert!(text.contains(missed), "{text}");
        assert!(!text.contains("by fault"), "not measured: {text}");
    }
}
