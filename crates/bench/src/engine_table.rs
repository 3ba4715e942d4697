//! The table of `flick bench engine`, from what bench/engine/main.c prints.
use std::fmt::Write as _;

use crate::bar::{self, Bar};
use crate::markdown::{self, figure};
use crate::quantile;

/// What all runs of one kernel under one engine gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Nanoseconds of each run.
    pub times: Vec<f64>,
    pub checksum: u64,
}

impl Cell {
    /// Reads lines `NANOSECONDS CHECKSUM`. The error says what is wrong with them.
    pub fn parse(output: &str) -> Result<Self, String> {
        let mut cell: Option<Self> = None;
        for line in output.lines() {
            let read = line
                .split_once(' ')
                .and_then(|(time, sum)| Some((time.parse().ok()?, sum.parse().ok()?)));
            let (time, checksum): (f64, u64) =
                read.ok_or_else(|| format!("{line:?} is not a time and a checksum"))?;
            let known = cell.get_or_insert(Self {
                times: Vec::new(),
                checksum,
            });
            if known.checksum != checksum {
                return Err("its runs have different checksums".into());
            }
            known.times.push(time);
        }
        cell.ok_or_else(|| "it has no runs".into())
    }

    /// One more process's runs of the same kernel.
    pub fn join(&mut self, more: Self) -> Result<(), String> {
        if self.checksum != more.checksum {
            return Err("its runs have different checksums".into());
        }
        self.times.extend(more.times);
        Ok(())
    }

    pub fn median(&self) -> f64 {
        quantile::median(&self.times)
    }
}

/// One kernel under every engine, in the table's order; the first engine is what the others are
/// compared with. `None`: that engine does not run it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub kernel: String,
    pub cells: Vec<Option<Cell>>,
}

impl Row {
    /// The engines that have not computed what the first one has.
    pub fn wrong(&self) -> impl Iterator<Item = usize> {
        let sum = |cell: &Option<Cell>| cell.as_ref().map(|c| c.checksum);
        let right = self.cells.first().and_then(sum);
        let others = self.cells.iter().enumerate();
        others.filter_map(move |(i, cell)| sum(cell).is_some_and(|s| Some(s) != right).then_some(i))
    }

    /// Time of an engine over that of the first, for the same result.
    fn ratio(&self, engine: usize) -> Option<f64> {
        let first = self.cells.first()?.as_ref()?;
        let cell = self.cells[engine].as_ref()?;
        (cell.checksum == first.checksum).then(|| cell.median() / first.median())
    }
}

/// The mean of the logarithms of what there is, as a ratio.
fn geometric_mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = ratios.fold((0.0, 0), |(sum, count), ratio| {
        (sum + ratio.ln(), count + 1)
    });
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

/// The table for people; Markdown, so that it can be kept as it is. Times are milliseconds of the
/// first engine; the other columns are times over that. `wrong`: another checksum; `-`: not run.
pub fn table(engines: &[String], rows: &[Row]) -> String {
    let ratio = |value| figure(value, 2);
    let mut lines = vec![vec!["kernel".to_owned(), format!("{} ms", engines[0])]];
    lines[0].extend(engines[1..].iter().map(|name| format!("{name} x")));
    for row in rows {
        let time = row.cells[0].as_ref().map(|cell| cell.median() / 1e6);
        let mut line = vec![row.kernel.clone(), figure(time, 2)];
        let wrong: Vec<usize> = row.wrong().collect();
        line.extend((1..engines.len()).map(|engine| {
            if wrong.contains(&engine) {
                "wrong".into()
            } else {
                ratio(row.ratio(engine))
            }
        }));
        lines.push(line);
    }
    let mut mean = vec!["geometric mean".to_owned(), String::new()];
    mean.extend((1..engines.len()).map(|engine| {
        ratio(geometric_mean(
            rows.iter().filter_map(|row| row.ratio(engine)),
        ))
    }));
    lines.push(mean);

    markdown::table(&lines)
}

/// Bytes of RV64 code that a process has translated, and of the host code made of it, from its
/// record (`FLICK_STATS`); both 0 where it translates nothing.
pub fn translated(record: &str) -> Result<[u64; 2], String> {
    let records = flick_events::record::parse(record).map_err(|e| e.to_string())?;
    let sum = |of: fn(&flick_events::Summary) -> u64| records.iter().map(of).sum();
    Ok([sum(|s| s.translated), sum(|s| s.translation)])
}

/// What the rows are of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Set {
    /// Kernels of bench/engine.
    Kernels,
    /// Of whole programs: names are `PROGRAM_WORK`.
    Programs,
}

/// The figures that are to be reached, of the engines `own` of NxP code, `code` of theirs (bytes as
/// [`translated`] has them); `peers` are others' engines. Empty where nothing was measured that has
/// a bar.
pub fn bars(
    engines: &[String],
    own: &[usize],
    code: &[[u64; 2]],
    peers: &[usize],
    rows: &[Row],
    set: Set,
) -> String {
    let figure = |name: &str, bar, value: &dyn Fn(usize) -> Option<f64>| bar::Row {
        name: name.into(),
        values: own.iter().map(|&engine| value(engine)).collect(),
        bar,
    };
    let mean = |rows: &mut dyn Iterator<Item = &Row>, engine: usize| {
        geometric_mean(rows.filter_map(|row| row.ratio(engine)))
    };
    let mut figures = match set {
        Set::Kernels => {
            let to_peers = |row: &Row, engine: usize| {
                let peers = peers.iter().filter_map(|&peer| row.ratio(peer));
                Some(row.ratio(engine)? / peers.reduce(f64::min)?)
            };
            let worst =
                |of: &dyn Fn(&Row) -> Option<f64>| rows.iter().filter_map(of).reduce(f64::max);
            vec![
                figure("geometric mean", Bar::AtMost(1.3), &|engine| {
                    mean(&mut rows.iter(), engine)
                }),
                figure("worst kernel", Bar::AtMost(2.0), &|engine| {
                    worst(&|row| row.ratio(engine))
                }),
                figure(
                    "worst kernel / its fastest peer",
                    Bar::AtMost(1.05),
                    &|engine| worst(&|row| to_peers(row, engine)),
                ),
                figure("mix", Bar::AtMost(1.6), &|engine| {
                    mean(&mut rows.iter().filter(|row| row.kernel == "mix"), engine)
                }),
            ]
        }
        Set::Programs => {
            let program = |row: &Row| row.kernel.split('_').next().unwrap_or_default().to_owned();
            let mut programs: Vec<String> = rows.iter().map(program).collect();
            programs.dedup();
            let of = |name: &String| {
                figure(name, Bar::AtMost(1.6), &|engine| {
                    mean(&mut rows.iter().filter(|row| program(row) == *name), engine)
                })
            };
            programs.iter().map(of).collect()
        }
    };
    let of_code = code
        .iter()
        .map(|&[guest, host]| (guest > 0).then(|| host as f64 / guest as f64));
    figures.push(bar::Row {
        name: "translated code / RV64 code".into(),
        values: of_code.collect(),
        bar: Bar::AtMost(6.0),
    });
    let measured = |row: &bar::Row| row.values.iter().any(Option::is_some);
    let figures: Vec<bar::Row> = figures.into_iter().filter(measured).collect();
    if figures.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = own.iter().map(|&engine| engines[engine].as_str()).collect();
    bar::table(&names, figures.into_iter())
}

/// The same, a line for each kernel and engine, for programs.
pub fn csv(engines: &[String], rows: &[Row]) -> String {
    let mut text = String::from("kernel,engine,runs,median_ns,ratio,checksum\n");
    for row in rows {
        for (number, (engine, cell)) in engines.iter().zip(&row.cells).enumerate() {
            if let Some(cell) = cell {
                let _ = writeln!(
                    text,
                    "{},{engine},{},{:.0},{:.3},{}",
                    row.kernel,
                    cell.times.len(),
                    cell.median(),
                    row.ratio(number).unwrap_or(f64::NAN),
                    cell.checksum
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kernel: &str, outputs: [&str; 2]) -> Row {
        Row {
            kernel: kernel.into(),
            cells: outputs.map(|output| Cell::parse(output).ok()).into(),
        }
    }

    #[test]
    fn medians_ratios_and_their_mean() {
        let rows = [
            row("sort", ["1000000 7\n3000000 7\n2000000 7\n", "4000000 7\n"]),
            row("bfs", ["1000000 8\n", "8000000 8\n"]),
            row("mix", ["1000000 8\n", ""]),
            row("crc32", ["1000000 8\n", "1000000 9\n"]),
        ];
        let engines = ["native".to_owned(), "NxP".to_owned()];
        assert_eq!(
            table(&engines, &rows),
            "| kernel         | native ms | NxP x |\n\
             |----------------|----------:|------:|\n\
             | sort           |      2.00 |  2.00 |\n\
             | bfs            |      1.00 |  8.00 |\n\
             | mix            |      1.00 |     - |\n\
             | crc32          |      1.00 | wrong |\n\
             | geometric mean |           |  4.00 |\n"
        );
        assert!(csv(&engines, &rows).contains("bfs,NxP,1,8000000,8.000,8\n"));
    }

    #[test]
    fn figures_with_bars() {
        let of = |kernel: &str, times: [u32; 4]| Row {
            kernel: kernel.into(),
            cells: times
                .map(|time| Cell::parse(&format!("{time} 7")).ok())
                .into(),
        };
        let engines = ["native", "interp", "qemu", "other"].map(String::from);
        let rows = [of("mix", [10, 20, 30, 60]), of("sort", [10, 80, 90, 40])];
        assert_eq!(
            bars(&engines, &[1], &[[100, 350]], &[2, 3], &rows, Set::Kernels),
            "| figure                          |   interp |    bar |\n\
             |---------------------------------|---------:|-------:|\n\
             | geometric mean                  | **4.00** |  ≤ 1.3 |\n\
             | worst kernel                    | **8.00** |    ≤ 2 |\n\
             | worst kernel / its fastest peer | **2.00** | ≤ 1.05 |\n\
             | mix                             | **2.00** |  ≤ 1.6 |\n\
             | translated code / RV64 code     |     3.50 |    ≤ 6 |\n\
             \n`bar`: what Flick asks of itself on a quiet machine; what misses it is in bold.\n"
        );
        let rows = [
            of("lua_a", [10, 10, 1, 1]),
            of("lua_b", [10, 40, 1, 1]),
            of("zstd_1", [10, 15, 1, 1]),
        ];
        assert_eq!(
            bars(&engines, &[1], &[[0, 0]], &[2, 3], &rows, Set::Programs),
            "| figure |   interp |   bar |\n\
             |--------|---------:|------:|\n\
             | lua    | **2.00** | ≤ 1.6 |\n\
             | zstd   |     1.50 | ≤ 1.6 |\n\
             \n`bar`: what Flick asks of itself on a quiet machine; what misses it is in bold.\n"
        );
        assert_eq!(bars(&engines, &[], &[], &[2], &rows, Set::Programs), "");
    }

    #[test]
    fn other_checksums_are_noticed() {
        assert_eq!(row("sort", ["1 7\n", "1 7\n"]).wrong().count(), 0);
        assert_eq!(
            row("sort", ["1 7\n", "1 8\n"]).wrong().collect::<Vec<_>>(),
            [1]
        );
        let mut cell = Cell::parse("1 7\n").unwrap();
        assert!(cell.join(Cell::parse("1 8\n").unwrap()).is_err());
    }

    #[test]
    fn output_of_another_program_is_refused() {
        for bad in ["", "hello\n", "1\n", "1 x\n", "1 2\n1 3\n"] {
            assert!(Cell::parse(bad).is_err(), "{bad:?}");
        }
    }
}
