//! The tables of `flick bench scale`: threads from what bench/scale.c prints, and start-up.
use std::fmt::Write as _;
use std::path::Path;

use flick_events::number::counted;
use flick_image::elf_kind::read_file;
use flick_image::{Error, FinalFile};

use crate::bar::{self, Bar};
use crate::markdown;
use crate::numbers;
use crate::quantile;

const PLAIN: &str = "plain";
/// Columns of the program's output are these with `_1` and `_2` behind them.
const KINDS: [(&str, &str); 3] = [
    (PLAIN, "plain call"),
    ("host_nxp_host", "host-NxP-host"),
    ("nxp_host_nxp", "NxP-host-NxP"),
];

const THREADS: Bar = Bar::AtLeast(0.95);
/// Milliseconds.
const STARTUP: Bar = Bar::AtMost(10.0);

/// What one engine's run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Threads {
    pub engine: String,
    /// Calls per microsecond of one thread and of two, by kind and round.
    rates: [Vec<[f64; 2]>; KINDS.len()],
}

impl Threads {
    /// Reads the program's output. The error says what is wrong with it.
    pub fn parse(engine: &str, output: &str) -> Result<Self, String> {
        let mut lines = output.lines();
        let columns = KINDS
            .map(|(name, _)| format!("{name}_1,{name}_2"))
            .join(",");
        if lines.next() != Some(&columns) {
            return Err(format!("its first line is not {columns:?}"));
        }
        let mut rates: [Vec<[f64; 2]>; KINDS.len()] = Default::default();
        for line in lines {
            let values = numbers::parse(line, 2 * KINDS.len())?;
            for (kind, pair) in rates.iter_mut().zip(values.chunks_exact(2)) {
                kind.push([pair[0], pair[1]]);
            }
        }
        if rates[0].is_empty() {
            return Err("it has no rounds".into());
        }
        Ok(Self {
            engine: engine.to_owned(),
            rates,
        })
    }

    fn median(&self, kind: usize, of: impl Fn([f64; 2]) -> f64) -> f64 {
        let values: Vec<f64> = self.rates[kind].iter().map(|&pair| of(pair)).collect();
        quantile::median(&values)
    }

    /// How many times the calls of one thread two threads make.
    fn scale(&self, kind: usize) -> f64 {
        self.median(kind, |[one, two]| two / one)
    }

    /// The same over what plain calls scale in the same round.
    fn of_plain(&self, kind: usize) -> f64 {
        let rounds = self.rates[kind].iter().zip(&self.rates[0]);
        let ratios: Vec<f64> = rounds
            .map(|([one, two], [plain, plain_two])| (two / one) / (plain_two / plain))
            .collect();
        quantile::median(&ratios)
    }
}

/// The processes of one program.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// An engine; the first is the program without Flick.
    pub name: String,
    /// Milliseconds from its start to its end, by round.
    pub times: Vec<f64>,
}

/// Start-up with an image, beside the same program on the host alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Startup {
    /// Bytes of RV64 code.
    pub code: u64,
    /// All of the same number of rounds.
    pub starts: Vec<Start>,
}

impl Startup {
    /// The median over the rounds of what a program takes longer than the first.
    fn over(&self, start: &Start) -> f64 {
        let rounds = start.times.iter().zip(&self.starts[0].times);
        quantile::median(&rounds.map(|(time, plain)| time - plain).collect::<Vec<_>>())
    }
}

/// Bytes of RV64 code in a linked program.
pub fn code_size(program: &Path) -> Result<u64, Error> {
    FinalFile::parse(&read_file(program)?)?
        .code_size()
        .map_err(|error| error.at(program.display()))
}

/// The tables for people; Markdown, so that they can be kept as they are.
pub fn table(milliseconds: u32, threads: &[Threads], startup: &Startup) -> String {
    let mut text = String::new();
    if let Some(first) = threads.first() {
        let _ = writeln!(
            text,
            "Null calls of one thread and of two, {milliseconds} ms each, medians of {}\n",
            counted(first.rates[0].len() as u64, "round")
        );
        let mut head = vec!["call".to_owned()];
        for run in threads {
            let one = format!("{}, calls/µs", run.engine);
            head.extend([one, "two threads".into(), "x one".into(), "x plain".into()]);
        }
        let mut lines = vec![head];
        for (kind, (_, name)) in KINDS.iter().enumerate() {
            let mut line = vec![(*name).to_owned()];
            for run in threads {
                line.extend([
                    format!("{:.1}", run.median(kind, |[one, _]| one)),
                    format!("{:.1}", run.median(kind, |[_, two]| two)),
                    format!("{:.2}", run.scale(kind)),
                    format!("{:.2}", run.of_plain(kind)),
                ]);
            }
            lines.push(line);
        }
        text.push_str(&markdown::table(&lines));
        text.push('\n');
    }

    let _ = writeln!(
        text,
        "From start to end of a program with {} KiB of RV64 code, medians of {}\n",
        startup.code / 1024,
        counted(startup.starts[0].times.len() as u64, "round")
    );
    let mut lines = vec![
        ["program", "ms", "quartiles", "over the first"]
            .map(String::from)
            .to_vec(),
    ];
    for start in &startup.starts {
        let mut sorted = start.times.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |share| quantile::of_sorted(&sorted, share);
        lines.push(vec![
            start.name.clone(),
            format!("{:.2}", at(0.5)),
            format!("{:.2} - {:.2}", at(0.25), at(0.75)),
            format!("{:.2}", startup.over(start)),
        ]);
    }
    text.push_str(&markdown::table(&lines));
    text.push('\n');
    text.push_str(&bars(threads, startup));
    text
}

fn bars(threads: &[Threads], startup: &Startup) -> String {
    let engines: Vec<&str> = startup.starts[1..]
        .iter()
        .map(|s| s.name.as_str())
        .collect();
    let of_plain = |kind: usize| {
        let value = |engine: &&str| {
            let run = threads.iter().find(|run| run.engine == **engine);
            run.map(|run| run.of_plain(kind))
        };
        engines.iter().map(value).collect()
    };
    let kinds = if threads.is_empty() {
        1..1
    } else {
        1..KINDS.len()
    };
    let mut rows: Vec<bar::Row> = kinds
        .map(|kind| bar::Row {
            name: format!("two threads, {} / plain calls", KINDS[kind].1),
            values: of_plain(kind),
            bar: THREADS,
        })
        .collect();
    rows.push(bar::Row {
        name: "start-up, ms over the plain program".into(),
        values: startup.starts[1..]
            .iter()
            .map(|s| Some(startup.over(s)))
            .collect(),
        bar: STARTUP,
    });
    bar::table(&engines, rows.into_iter())
}

/// The same, a line for each figure, for programs.
pub fn csv(threads: &[Threads], startup: &Startup) -> String {
    let mut text = String::from("engine,figure,rounds,one,two,ratio,of_plain\n");
    for run in threads {
        for (kind, (column, _)) in KINDS.iter().enumerate() {
            let _ = writeln!(
                text,
                "{},{column},{},{:.3},{:.3},{:.3},{:.3}",
                run.engine,
                run.rates[kind].len(),
                run.median(kind, |[one, _]| one),
                run.median(kind, |[_, two]| two),
                run.scale(kind),
                run.of_plain(kind)
            );
        }
    }
    text.push_str("engine,figure,rounds,code_bytes,median_ms,over_plain_ms\n");
    for start in &startup.starts {
        let _ = writeln!(
            text,
            "{},startup,{},{},{:.3},{:.3}",
            start.name,
            start.times.len(),
            startup.code,
            quantile::median(&start.times),
            startup.over(start)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "plain_1,plain_2,host_nxp_host_1,host_nxp_host_2,nxp_host_nxp_1,nxp_host_nxp_2\n\
                          100,200,10,20,10,10\n100,100,10,10,10,5\n100,150,10,12,10,9\n";

    fn startup() -> Startup {
        let start = |name: &str, times: [f64; 3]| Start {
            name: name.into(),
            times: times.into(),
        };
        Startup {
            code: 1 << 20,
            starts: vec![
                start("plain", [1.0, 5.0, 2.0]),
                start("interp", [12.5, 12.0, 13.0]),
            ],
        }
    }

    #[test]
    fn scaling_is_compared_within_a_round() {
        let threads = Threads::parse("interp", OUTPUT).unwrap();
        assert_eq!((threads.scale(0), threads.scale(1)), (1.5, 1.2));
        let near = |value: f64, wanted: f64| (value - wanted).abs() < 1e-9;
        assert!(near(threads.of_plain(1), 1.0) && near(threads.of_plain(2), 0.5));
        let text = table(10, &[threads], &startup());
        for line in [
            "| NxP-host-NxP  |             10.0 |         9.0 |  0.90 |    0.50 |\n",
            "| interp  | 12.50 | 12.25 - 12.75 |          11.00 |\n",
            "| two threads, host-NxP-host / plain calls |      1.00 | ≥ 0.95 |\n",
            "| two threads, NxP-host-NxP / plain calls  |  **0.50** | ≥ 0.95 |\n",
            "| start-up, ms over the plain program      | **11.00** |   ≤ 10 |\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }

    #[test]
    fn one_processor_leaves_the_start_up() {
        let text = table(10, &[], &startup());
        assert!(
            text.contains("1024 KiB of RV64 code") && !text.contains("two threads"),
            "{text}"
        );
    }

    #[test]
    fn output_of_another_program_is_refused() {
        let header = OUTPUT.lines().next().unwrap();
        for bad in [
            "",
            "hello\n",
            header,
            &format!("{header}\n1,2\n"),
            &format!("{header}\n1,2,3,4,5,x\n"),
        ] {
            assert!(Threads::parse("interp", bad).is_err(), "{bad:?}");
        }
    }
}
