//! The table of `flick bench crossing`, from what bench/crossing.c prints.
use std::fmt::Write as _;

use crate::quantile;

/// One kind of call, in nanoseconds: the median over the rounds and the quartiles around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub kind: &'static str,
    pub median: f64,
    pub lower: f64,
    pub upper: f64,
    /// Median over that of a direct call in the same run.
    pub ratio: f64,
}

/// What a run under one trigger gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// `gate` or `fault`.
    pub trigger: String,
    pub rounds: usize,
    pub rows: Vec<Row>,
}

const COLUMNS: &str = "direct,host_nxp_host,nxp_host_nxp,signal,getpid";

impl Run {
    /// Reads the program's output. The error says what is wrong with it.
    pub fn parse(trigger: &str, output: &str) -> Result<Self, String> {
        let mut lines = output.lines();
        if lines.next() != Some(COLUMNS) {
            return Err(format!("its first line is not {COLUMNS:?}"));
        }
        let mut columns: [Vec<f64>; 5] = Default::default();
        for line in lines {
            let values: Vec<f64> = line
                .split(',')
                .map(str::parse)
                .collect::<Result<_, _>>()
                .map_err(|_| format!("{line:?} is not a line of numbers"))?;
            if values.len() != columns.len() {
                return Err(format!("{line:?} has not {} columns", columns.len()));
            }
            for (column, value) in columns.iter_mut().zip(values) {
                column.push(value);
            }
        }
        let rounds = columns[0].len();
        if rounds == 0 {
            return Err("it has no rounds".into());
        }
        let kinds = [
            "direct call",
            "host-NxP-host",
            "NxP-host-NxP",
            "signal round trip",
            "getpid",
        ];
        let mut rows: Vec<Row> = kinds
            .into_iter()
            .zip(&mut columns)
            .map(|(kind, values)| {
                values.sort_by(f64::total_cmp);
                let at = |share: f64| quantile::of_sorted(values, share);
                Row {
                    kind,
                    median: at(0.5),
                    lower: at(0.25),
                    upper: at(0.75),
                    ratio: 0.0,
                }
            })
            .collect();
        let direct = rows[0].median;
        for row in &mut rows {
            row.ratio = row.median / direct;
        }
        Ok(Self {
            trigger: trigger.to_owned(),
            rounds,
            rows,
        })
    }
}

/// The table for people; Markdown, so that it can be kept as it is.
pub fn table(calls: u64, runs: &[Run]) -> String {
    let mut text = String::new();
    for run in runs {
        let _ = writeln!(
            text,
            "FLICK_TRIGGER={}: {calls} calls a round, median of {} rounds\n",
            run.trigger, run.rounds
        );
        text.push_str("| call              | ns per call | quartiles ns        | x direct |\n");
        text.push_str("|-------------------|------------:|--------------------:|---------:|\n");
        for row in &run.rows {
            let quartiles = format!("{:.1} - {:.1}", row.lower, row.upper);
            let _ = writeln!(
                text,
                "| {:<17} | {:>11.1} | {quartiles:>19} | {:>8.1} |",
                row.kind, row.median, row.ratio
            );
        }
        text.push('\n');
    }
    text
}

/// The same, a line for each row, for programs.
pub fn csv(calls: u64, runs: &[Run]) -> String {
    let mut text = String::from("trigger,call,calls,rounds,median_ns,lower_ns,upper_ns,ratio\n");
    for run in runs {
        for row in &run.rows {
            let _ = writeln!(
                text,
                "{},{},{calls},{},{:.3},{:.3},{:.3},{:.3}",
                run.trigger, row.kind, run.rounds, row.median, row.lower, row.upper, row.ratio
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "direct,host_nxp_host,nxp_host_nxp,signal,getpid\n\
                          2,20,30,1000,100\n1,10,20,900,90\n3,30,70,5000,110\n";

    #[test]
    fn medians_and_ratios() {
        let run = Run::parse("gate", OUTPUT).unwrap();
        assert_eq!(run.rounds, 3);
        let got: Vec<(f64, f64)> = run.rows.iter().map(|r| (r.median, r.ratio)).collect();
        assert_eq!(
            got,
            [
                (2.0, 1.0),
                (20.0, 10.0),
                (30.0, 15.0),
                (1000.0, 500.0),
                (100.0, 50.0)
            ]
        );
        assert_eq!((run.rows[0].lower, run.rows[0].upper), (1.5, 2.5));
    }

    #[test]
    fn output_of_another_program_is_refused() {
        for bad in [
            "",
            "hello\n",
            COLUMNS,
            &format!("{COLUMNS}\n1,2,3\n"),
            &format!("{COLUMNS}\n1,2,3,4,x\n"),
        ] {
            assert!(Run::parse("gate", bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn table_and_csv_name_every_row() {
        let runs = [Run::parse("fault", OUTPUT).unwrap()];
        let (table, csv) = (table(10_000, &runs), csv(10_000, &runs));
        assert!(table.contains("FLICK_TRIGGER=fault: 10000 calls a round, median of 3 rounds"));
        assert!(
            table.contains("| NxP-host-NxP      |        30.0 |         25.0 - 50.0 |     15.0 |")
        );
        assert!(csv.contains("fault,host-NxP-host,10000,3,20.000,15.000,25.000,10.000\n"));
    }
}
