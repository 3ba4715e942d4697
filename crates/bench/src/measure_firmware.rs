//! `flick bench paper firmware`: the programs of share/flick/bench/paper again, on a machine that executes
//! the NxP's half of a crossing: the card's kernel (`docs/card.md`). The tables have the predictions of
//! `flick bench paper` beside.
use std::path::{Path, PathBuf};

use clap::Args;
use flick_abi::settings::{BACKEND, MACHINE, PLATFORM};
use flick_driver::Error;

use crate::firmware::{
    self, Both, COUNTS, EvenRow, FEW_COUNTS, Results, SWEEPS, Searched, Setting, Threaded, WITHOUT,
};
use crate::measure_paper::{FITTED, Graphs, PAPER as ON, build, build_program};
use crate::paper::{Chase, Null, PAUSE, Search};
use crate::paper_run::{Run, execute, publish, raw_folder, read};
use crate::{measured, scratch, variable};

#[derive(Args)]
pub struct Options {
    /// Where tables and what the programs print (raw/) go
    #[arg(
        short,
        long,
        value_name = "DIR",
        default_value = "bench/paper/results/firmware"
    )]
    output: PathBuf,
    #[command(flatten)]
    graphs: Graphs,
    /// Fewer calls and lengths, and the smallest graph only
    #[arg(long, conflicts_with = "graphs")]
    quick: bool,
    /// Run nothing: make the tables of what is in raw/
    #[arg(long)]
    only_report: bool,
}

/// Where the NxP's half is the platform's, and where it is executed.
const WORLDS: [&str; 2] = ["platform", "firmware"];
/// The same machine with a hart of the kernel's own.
const HARTS: &str = "flick-isca20-harts";

/// A program, what it gets, what it runs on, and where its output goes.
struct Step {
    program: &'static str,
    arguments: Vec<String>,
    platform: String,
    /// `None`: the NxP's half is the platform's.
    machine: Option<String>,
    file: String,
}

fn file(what: &str, world: usize) -> String {
    format!("{what}-{}.csv", WORLDS[world])
}

/// The programs with several threads.
const CHASE: &str = "chase-threads";
const SEARCH: &str = "bfs-threads";

fn threaded_file(program: &str, threads: usize, harts: usize) -> String {
    format!("{program}-{threads}-on-{harts}.csv")
}

/// A step in each world, by what is set of platform and machine.
fn both(
    program: &'static str,
    arguments: &[&str],
    platform: &str,
    set: &Setting,
    what: &str,
) -> [Step; 2] {
    [0, 1].map(|world| Step {
        program,
        arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
        platform: format!("{platform}{}", set.platform),
        machine: (world == 1).then(|| format!("{ON}{}", set.machine)),
        file: file(what, world),
    })
}

impl Options {
    fn threads_and_harts(&self) -> impl Iterator<Item = (usize, usize)> {
        let counts: &[usize] = match self.quick {
            true => &FEW_COUNTS,
            false => &COUNTS,
        };
        let pairs = |&threads| counts.iter().map(move |&harts| (threads, harts));
        counts.iter().flat_map(pairs)
    }
}

fn steps(options: &Options) -> Vec<Step> {
    let as_it_is = Setting::default();
    let (calls, each, step) = match options.quick {
        true => ("200", "2", "16"),
        false => ("2000", "32", "4"),
    };
    let null = |machine: String, file: String| Step {
        program: "null",
        arguments: vec![calls.into()],
        platform: ON.into(),
        machine: Some(machine),
        file,
    };
    let mut steps: Vec<Step> = both("null", &[calls], ON, &as_it_is, "null").into();
    steps.push(null(HARTS.into(), "null-harts.csv".into()));
    for (what, setting) in WITHOUT {
        let name = format!("null-without-{what}.csv");
        steps.push(null(format!("{ON}{setting}"), name));
    }
    for pause in [0.0, PAUSE] {
        let arguments = ["-c", each, "-s", step, "-i", &format!("{pause:.0}")];
        let what = format!("chase-{pause:.0}us");
        steps.extend(both("chase", &arguments, ON, &as_it_is, &what));
    }
    for data in options.graphs.chosen(options.quick) {
        for platform in [ON, FITTED] {
            let arguments = ["-n", "1", "-g", data.name];
            let what = format!("bfs-{platform}-{}", data.name);
            steps.extend(both("bfs", &arguments, platform, &as_it_is, &what));
        }
    }
    for (threads, harts) in options.threads_and_harts() {
        let (calls, longest, graph) = match options.quick {
            true => ("2", "256", "2000,10000"),
            false => ("8", "1024", "epinions"),
        };
        let words = threads.to_string();
        let mut on_harts = |program: &'static str, arguments: &[&str]| {
            let own = ["-t", &words].into_iter();
            steps.push(Step {
                program,
                arguments: own
                    .chain(arguments.iter().copied())
                    .map(str::to_owned)
                    .collect(),
                platform: ON.into(),
                machine: Some(format!("{HARTS},tile.nxp.hart.core.count={harts}")),
                file: threaded_file(program, threads, harts),
            });
        };
        on_harts(CHASE, &["-c", calls, "-l", longest]);
        on_harts(SEARCH, &["-g", graph]);
    }
    for sweep in SWEEPS {
        for value in sweep.values {
            let arguments = ["-c", "4", "-s", "4", "-l", "256"];
            let what = sweep.file(value.name);
            let set = sweep.setting(value);
            steps.extend(both("chase", &arguments, ON, &set, &what));
        }
    }
    steps
}

pub fn run(options: &Options) -> Result<(), Error> {
    let raw = raw_folder(&options.output)?;
    if !options.only_report {
        measure(options, &raw)?;
    }
    let results = collect(options, &raw)?;
    let written = firmware::write(&results, &options.output);
    publish(written, &firmware::page(&results), &options.output)
}

fn measure(options: &Options, raw: &Path) -> Result<(), Error> {
    let dir = scratch()?;
    build(dir.path())?;
    build_program(dir.path(), CHASE, &["chase-threads.c"])?;
    build_program(dir.path(), SEARCH, &["bfs-threads.c", "graph.c"])?;
    let run = |step: Step| {
        let mut command = measured(&dir.path().join(step.program));
        command
            .args(&step.arguments)
            .env_remove(variable(MACHINE))
            .env(variable(PLATFORM), &step.platform);
        if let Some(machine) = &step.machine {
            command
                .env(variable(BACKEND.variable), "card")
                .env(variable(MACHINE), machine);
        }
        let words = step.arguments.join(" ");
        let on = step.machine.as_ref().unwrap_or(&step.platform);
        Run {
            what: format!("{} {words} on {on}", step.program),
            command,
            file: Some(step.file),
        }
    };
    let mut runs: Vec<Run> = steps(options).into_iter().map(run).collect();
    execute(&mut runs, raw)
}

/// What a program has printed in both worlds.
fn read_both<T>(
    raw: &Path,
    what: &str,
    parse: fn(&str) -> Result<T, String>,
) -> Result<Both<T>, Error> {
    Ok(Both {
        platform: read(&raw.join(file(what, 0)), parse)?,
        firmware: read(&raw.join(file(what, 1)), parse)?,
    })
}

fn collect(options: &Options, raw: &Path) -> Result<Results, Error> {
    let null = |what: &str| read(&raw.join(format!("null-{what}.csv")), Null::parse);
    let chase = |pause: f64| read_both(raw, &format!("chase-{pause:.0}us"), Chase::parse);
    let without: Result<Vec<Null>, Error> = WITHOUT
        .iter()
        .map(|(what, _)| null(&format!("without-{what}")))
        .collect();
    let mut graphs = vec![];
    for dataset in options.graphs.chosen(options.quick) {
        let search = |platform: &str| {
            let what = format!("bfs-{platform}-{}", dataset.name);
            read_both(raw, &what, Search::parse)
        };
        graphs.push(Searched {
            dataset,
            uncalibrated: search(ON)?,
            fitted: search(FITTED)?,
        });
    }
    let mut evens = vec![];
    for sweep in SWEEPS {
        for value in sweep.values {
            let chases = read_both(raw, &sweep.file(value.name), Chase::parse)?;
            evens.push(EvenRow {
                what: sweep.what,
                value: value.name,
                chases,
            });
        }
    }
    let mut threaded = vec![];
    for (threads, harts) in options.threads_and_harts() {
        let path = |program| raw.join(threaded_file(program, threads, harts));
        threaded.push(Threaded {
            threads,
            harts,
            chase: read(&path(CHASE), Chase::parse)?,
            search: read(&path(SEARCH), Search::parse)?,
        });
    }
    Ok(Results {
        threaded,
        by: format!(
            "flick {}, platform {ON}, machine {ON}",
            env!("CARGO_PKG_VERSION")
        ),
        parts: firmware::host_and_link(ON).map_err(|error| {
            Error::new(
                flick_diagnostics::Code::FileAccess,
                "the platform cannot be used",
                ON,
                error,
                "install Flick again",
            )
        })?,
        null: read_both(raw, "null", Null::parse)?,
        harts: null("harts")?,
        without: without?,
        chases: [chase(0.0)?, chase(PAUSE)?],
        graphs,
        evens,
    })
}
