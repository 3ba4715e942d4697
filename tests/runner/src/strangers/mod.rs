//! Programs that Flick's makers have not written: GCC's tests that run, and LLVM's test-suite
//! (`tests/other-programs.md`). Plain clang and Flick build each program at several levels and
//! placements, every engine runs it, and the results are compared.
//!
//! `gcc.rs` (with `dejagnu.rs`) and `llvm.rs` read the programs of a suite into `stranger.rs`'s
//! type. `cell.rs` takes a program at a level. It builds by `making.rs` and runs by `running.rs`,
//! and `trial.rs` does so for Flick's placements and engines. `outcome.rs` has the results,
//! `exceptions.rs` the differences that a rule allows, and `report.rs` and `figures.rs` the output.
mod cell;
mod dejagnu;
mod exceptions;
mod figures;
mod gcc;
mod llvm;
mod making;
mod outcome;
mod report;
mod running;
mod stranger;
mod trial;
mod words;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use self::cell::Bench;
use self::exceptions::Exceptions;
use self::figures::Figures;
use self::outcome::{Cell, Difference, Outcome};
use self::stranger::{Found, Level, Stranger};
use crate::filter::Filter;
use crate::pool::{self, Job, Verdict};
use crate::suite::Setup;

/// The part of the suites that runs.
pub struct Part<'a> {
    /// GCC's test suite (scripts/gcc-tests.sh).
    pub gcc: Option<&'a Path>,
    /// A checkout of LLVM's.
    pub suite: Option<&'a Path>,
    pub filter: &'a Filter,
    pub levels: &'a [String],
    /// So many of the programs and levels, drawn under a seed.
    pub sample: Option<usize>,
    pub seed: u64,
    pub threads: usize,
    /// Differences to print in full.
    pub show: usize,
    pub limits: &'a str,
}

pub fn run(setup: &Setup, part: &Part) -> Result<ExitCode, String> {
    let list = setup.tests.join("strangers/exceptions.txt");
    let text = fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
    let bench = Bench {
        setup,
        exceptions: &Exceptions::parse(&text, part.limits)?,
        codes: codes_of(part.limits),
    };
    let found = find(setup, part)?;
    for line in &found.not_understood {
        println!("not understood: {line}");
    }
    println!(
        "{} programs; {} more are for other machines or taken elsewhere, {} are not understood",
        found.programs.len(),
        found.elsewhere.len(),
        found.not_understood.len()
    );
    let chosen = choose(&found.programs, part)?;
    let cells: Mutex<Vec<Cell>> = Mutex::new(Vec::new());
    let jobs: Vec<Job> = chosen
        .iter()
        .map(|&(stranger, level)| -> Job {
            let (bench, cells) = (&bench, &cells);
            Box::new(move || {
                let cell = bench.measure(stranger, level);
                let verdicts = verdicts(&cell);
                if let Ok(mut cells) = cells.lock() {
                    // At once: a whole run takes long.
                    let shown = Figures::of(&cells).differences().count();
                    let more = part.show.saturating_sub(shown);
                    let differences = Figures::of(std::slice::from_ref(&cell));
                    for difference in differences.differences().take(more) {
                        println!("{}", difference.text());
                    }
                    cells.push(cell);
                }
                verdicts
            })
        })
        .collect();
    pool::run(&jobs, part.threads, false, "strangers");
    drop(jobs);
    let mut cells = cells.into_inner().map_err(|e| e.to_string())?;
    cells.sort_by(|a, b| (&a.program, a.level).cmp(&(&b.program, b.level)));
    close(setup, part, &bench, &cells)
}

/// Prints what was found; the lists are written to files beside the builds.
fn close(setup: &Setup, part: &Part, bench: &Bench, cells: &[Cell]) -> Result<ExitCode, String> {
    let figures = Figures::of(cells);
    let texts: Vec<String> = figures.differences().map(Difference::text).collect();
    if texts.len() > part.show {
        println!("and {} more: differences.txt", texts.len() - part.show);
    }
    for (name, text) in [
        ("differences.txt", &texts.join("\n")),
        ("excluded.txt", &figures.excluded()),
        ("excused.txt", &figures.excused()),
        ("figures.txt", &figures.text()),
    ] {
        let file = setup.work.join(name);
        fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    print!("{}", figures.text());
    println!("lists: {}/*.txt", setup.work.display());
    let stale = bench.exceptions.stale();
    for line in &stale {
        println!("exceptions, {line}");
    }
    let failed = figures.different_runs() + stale.len();
    println!(
        "{} passed, {failed} failed",
        figures.runs() - failed.min(figures.runs())
    );
    match failed {
        0 if figures.runs() > 0 => Ok(ExitCode::SUCCESS),
        _ => Ok(ExitCode::FAILURE),
    }
}

fn find(setup: &Setup, part: &Part) -> Result<Found, String> {
    fs::create_dir_all(&setup.work).map_err(|e| format!("{}: {e}", setup.work.display()))?;
    let mut found = Found::default();
    if let Some(gcc) = part.gcc {
        found.extend(gcc::find(gcc)?);
    }
    if let Some(suite) = part.suite {
        let build: PathBuf = setup.work.join("suite");
        found.extend(llvm::find(suite, &build)?);
    }
    Ok(found)
}

/// The programs and levels that are asked for, in a fixed order.
fn choose<'a>(all: &'a [Stranger], part: &Part) -> Result<Vec<(&'a Stranger, Level)>, String> {
    let known = |word: &String| Level::ALL.iter().any(|l| l.word() == word);
    if let Some(bad) = part.levels.iter().find(|word| !known(word)) {
        return Err(format!("there is no level '{bad}'"));
    }
    let wanted =
        |level: &Level| part.levels.is_empty() || part.levels.iter().any(|w| level.word() == w);
    let mut chosen: Vec<(&Stranger, Level)> = all
        .iter()
        .filter(|s| part.filter.takes(&s.name))
        .flat_map(|s| s.levels.iter().filter(|l| wanted(l)).map(move |l| (s, *l)))
        .collect();
    if let Some(number) = part.sample {
        // By name: a program more or less changes nothing about the others.
        chosen.sort_by_key(|(s, level)| {
            let text = format!("{}:{}:{}", s.name, level.word(), part.seed);
            xxhash_rust::xxh3::xxh3_64(text.as_bytes())
        });
        chosen.truncate(number);
    }
    Ok(chosen)
}

/// For the progress that is shown.
fn verdicts(cell: &Cell) -> Vec<Verdict> {
    let Outcome::Compared(compared) = &cell.outcome else {
        return Vec::new();
    };
    let differ = compared.differences.iter();
    differ
        .map(|d| Verdict::new(d.name.clone(), Err(String::new())))
        .collect()
}

/// All `FLKnnnn` of a text.
fn codes_of(text: &str) -> Vec<String> {
    let starts = text.match_indices("FLK").map(|(at, _)| at);
    starts
        .filter_map(|at| text.get(at..at + 7).map(String::from))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stranger(name: &str) -> Stranger {
        Stranger {
            name: name.into(),
            units: Vec::new(),
            language: crate::program::Language::C,
            libs: Vec::new(),
            args: Vec::new(),
            stdin: None,
            data: Vec::new(),
            succeeds: true,
            levels: Level::ALL.to_vec(),
        }
    }

    fn part<'a>(sample: Option<usize>, filter: &'a Filter) -> Part<'a> {
        Part {
            gcc: None,
            suite: None,
            filter,
            levels: &[],
            sample,
            seed: 1,
            threads: 1,
            show: 0,
            limits: "",
        }
    }

    #[test]
    fn a_sample_keeps_its_members() {
        let mut all: Vec<Stranger> = (0..50).map(|n| stranger(&format!("p{n}"))).collect();
        let names = |all: &[Stranger]| -> Vec<String> {
            let chosen = choose(all, &part(Some(40), &Filter::default())).unwrap();
            chosen
                .iter()
                .map(|(s, l)| format!("{} {l}", s.name))
                .collect()
        };
        let before = names(&all);
        assert_eq!(before.len(), 40);
        all.push(stranger("another"));
        let after = names(&all);
        let same = before.iter().filter(|n| after.contains(n)).count();
        assert!(same >= 37, "{same}");
    }

    #[test]
    fn filters_are_parts_of_names() {
        let all = [stranger("ab"), stranger("cd")];
        let filter = Filter {
            words: vec!["c".into()],
            exact: false,
        };
        let chosen = choose(&all, &part(None, &filter)).unwrap();
        assert_eq!(chosen.len(), 3);
        assert!(chosen.iter().all(|(s, _)| s.name == "cd"));
    }

    #[test]
    fn codes_stand_anywhere() {
        assert_eq!(codes_of("a (FLK0202), FLK0203;"), ["FLK0202", "FLK0203"]);
    }
}
