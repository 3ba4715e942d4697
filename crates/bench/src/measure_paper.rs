//! `flick bench paper`: builds the programs of share/flick/bench/paper for timed runs, runs them on
//! platforms like the paper's and writes its tables and figures with what is predicted beside them.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::paper::{self, Chase, DATASETS, Dataset, Graph, Line, Null, PAUSE, Results, Search};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use flick_abi::settings::PLATFORM as VARIABLE;
use flick_diagnostics::Code;
use flick_driver::{Error, Root};

use crate::paper_run::{Run, execute, publish, raw_folder, read};
use crate::{finish, flick, measured, scratch, variable};
use crate::{measure_firmware, measure_m3x, measure_migration, measure_nanvix};

/// The paper's machine; with what else is known of it where a constant was fitted; and with slower
/// migration.
pub const PAPER: &str = "flick-isca20";
const PLATFORM: &str = PAPER;
pub const FITTED: &str = "flick-isca20-fitted";
const LINES: [(&str, &str); 3] = [
    ("Flick", PLATFORM),
    ("500 µs", "flick-isca20-500us"),
    ("1 ms", "flick-isca20-1ms"),
];

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Options {
    #[command(subcommand)]
    other: Option<Other>,
    /// Where tables, figures and what the programs print (raw/) go
    #[arg(short, long, value_name = "DIR", default_value = "bench/paper/results")]
    output: PathBuf,
    #[command(flatten)]
    graphs: Graphs,
    /// Read SNAP's files, plain or .gz, of this directory; those that are not there are made up
    /// with as many vertices and edges
    #[arg(long, value_name = "DIR")]
    snap: Option<PathBuf>,
    /// Iterations of a search; the table has the mean
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    /// Fewer calls, lengths and iterations, and the smallest graph only
    #[arg(long, conflicts_with_all = ["graphs", "iterations"])]
    quick: bool,
    /// Run nothing: make the tables of what is in raw/
    #[arg(long)]
    only_report: bool,
}

/// Which graphs are searched.
#[derive(Args)]
pub struct Graphs {
    /// Only these graphs of Table IV; the largest takes some 2.5 GiB of memory
    #[arg(long, value_name = "GRAPH", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(DATASETS.map(|data| data.name)),
          default_values = DATASETS.map(|data| data.name))]
    graphs: Vec<String>,
}

impl Graphs {
    /// Those that were named; the smallest alone for a quick run.
    pub fn chosen(&self, is_quick: bool) -> Vec<&'static Dataset> {
        let named = |data: &&Dataset| self.graphs.iter().any(|name| name == data.name);
        match is_quick {
            true => DATASETS.iter().take(1).collect(),
            false => DATASETS.iter().filter(named).collect(),
        }
    }
}

/// Other papers than Flick's, and other worlds.
#[derive(Subcommand)]
enum Other {
    /// The paper's tables and figures again, with the card's kernel in the path of each call
    Firmware(measure_firmware::Options),
    /// The measurements of the Nanvix paper (SBESC 2019), on the kernel of the card and the machine
    /// mppa256
    Nanvix(measure_nanvix::Options),
    /// The measurements of fast thread migration (Berkeley, 2021), on the kernel of the card and the
    /// machines rocket-rvv and spike-rvv
    Migration(measure_migration::Options),
    /// The measurements of M3x (ATC 2019): accelerators with and without a core in between, on the
    /// machines m3x-noc and m3x-pcie
    M3x(measure_m3x::Options),
}

/// How much is measured.
struct Extent {
    calls: &'static str,
    chase_calls: &'static str,
    step: &'static str,
    iterations: String,
    datasets: Vec<&'static Dataset>,
}

impl Options {
    fn extent(&self) -> Extent {
        if self.quick {
            return Extent {
                calls: "500",
                chase_calls: "4",
                step: "16",
                iterations: "2".into(),
                datasets: self.graphs.chosen(true),
            };
        }
        Extent {
            calls: "10000",
            chase_calls: "32",
            step: "4",
            iterations: self.iterations.to_string(),
            datasets: self.graphs.chosen(false),
        }
    }
}

pub fn run(options: &Options) -> Result<(), Error> {
    match &options.other {
        Some(Other::Firmware(options)) => return measure_firmware::run(options),
        Some(Other::Nanvix(options)) => return measure_nanvix::run(options),
        Some(Other::Migration(options)) => return measure_migration::run(options),
        Some(Other::M3x(options)) => return measure_m3x::run(options),
        None => {}
    }
    let raw = raw_folder(&options.output)?;
    let extent = options.extent();
    if !options.only_report {
        enough_memory(&extent)?;
        measure(options, &extent, &raw)?;
    }
    let results = collect(&extent, &raw)?;
    let written = paper::write(&results, &options.output);
    publish(written, &paper::page(&results), &options.output)
}

/// A program, what it gets and where its output goes.
struct Step {
    program: &'static str,
    arguments: Vec<String>,
    platform: &'static str,
    file: String,
}

fn null_file() -> String {
    format!("null-{PLATFORM}.csv")
}

fn chase_file(platform: &str, pause: f64) -> String {
    format!("chase-{platform}-{pause:.0}us.csv")
}

fn search_file(platform: &str, data: &Dataset) -> String {
    format!("bfs-{platform}-{}.csv", data.name)
}

fn steps(options: &Options, extent: &Extent) -> Vec<Step> {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let mut steps = vec![Step {
        program: "null",
        arguments: words(&[extent.calls]),
        platform: PLATFORM,
        file: null_file(),
    }];
    for (_, platform) in LINES {
        for pause in [0.0, PAUSE] {
            let (calls, step) = (extent.chase_calls, extent.step);
            let pause_text = format!("{pause:.0}");
            steps.push(Step {
                program: "chase",
                arguments: words(&["-c", calls, "-s", step, "-i", &pause_text]),
                platform,
                file: chase_file(platform, pause),
            });
        }
    }
    for data in &extent.datasets {
        let file = options.snap.as_ref().and_then(|dir| snap_file(dir, data));
        for platform in [PLATFORM, FITTED] {
            let mut arguments: Vec<String> = words(&["-n", &extent.iterations]);
            arguments.extend(match &file {
                Some(file) => ["-f".into(), file.display().to_string()],
                None => ["-g".into(), data.name.to_owned()],
            });
            steps.push(Step {
                program: "bfs",
                arguments,
                platform,
                file: search_file(platform, data),
            });
        }
    }
    steps
}

fn snap_file(dir: &Path, data: &Dataset) -> Option<PathBuf> {
    let names = [data.file.to_owned(), format!("{}.gz", data.file)];
    names
        .iter()
        .map(|name| dir.join(name))
        .find(|path| path.is_file())
}

fn measure(options: &Options, extent: &Extent, raw: &Path) -> Result<(), Error> {
    let dir = scratch()?;
    build(dir.path())?;
    let run = |step: Step| {
        let mut command = measured(&dir.path().join(step.program));
        command
            .args(&step.arguments)
            .env(variable(VARIABLE), step.platform);
        let words = step.arguments.join(" ");
        Run {
            what: format!("{} {words} on {}", step.program, step.platform),
            command,
            file: Some(step.file),
        }
    };
    let mut runs: Vec<Run> = steps(options, extent).into_iter().map(run).collect();
    execute(&mut runs, raw)
}

pub fn build(dir: &Path) -> Result<(), Error> {
    build_program(dir, "null", &["null.c"])?;
    build_program(dir, "chase", &["chase.c"])?;
    build_program(dir, "bfs", &["bfs.c", "graph.c"])
}

/// Builds a program of share/flick/bench/paper into `dir`.
pub fn build_program(dir: &Path, program: &str, files: &[&str]) -> Result<(), Error> {
    let sources = Root::find()?.dir().join("share/flick/bench/paper");
    let mut cc = Command::new(flick()?);
    cc.args(["cc", "--flick-timed", "-O2", "-pthread"])
        .args(files.iter().map(|name| sources.join(name)))
        .arg("-o")
        .arg(dir.join(program));
    finish(&mut cc).map(drop)
}

/// What the programs have printed, in this run or an earlier one.
fn collect(extent: &Extent, raw: &Path) -> Result<Results, Error> {
    let chase = |platform, pause| read(&raw.join(chase_file(platform, pause)), Chase::parse);
    let search = |platform, data: &&'static Dataset| {
        read(&raw.join(search_file(platform, data)), Search::parse)
    };
    let mut lines = Vec::new();
    for (label, platform) in LINES {
        lines.push(Line {
            label: label.into(),
            chases: [chase(platform, 0.0)?, chase(platform, PAUSE)?],
        });
    }
    let mut graphs = Vec::new();
    for data in &extent.datasets {
        graphs.push(Graph {
            dataset: data,
            uncalibrated: search(PLATFORM, data)?,
            fitted: Some(search(FITTED, data)?),
        });
    }
    Ok(Results {
        by: format!("flick {}, platform {PLATFORM}", env!("CARGO_PKG_VERSION")),
        null: read(&raw.join(null_file()), Null::parse)?,
        lines,
        graphs,
    })
}

/// Rather than that the system ends the program half an hour later.
fn enough_memory(extent: &Extent) -> Result<(), Error> {
    let information = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = information.lines().find_map(|line| {
        let text = line.strip_prefix("MemAvailable:")?;
        text.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    let needed = extent.datasets.iter().map(|data| data.memory).max();
    match (available.map(|kib| kib * 1024), needed) {
        (Some(available), Some(needed)) if available < needed => Err(Error::new(
            Code::FileAccess,
            "not enough memory",
            format!("{} MiB are available", available >> 20),
            format!("the largest graph takes {} MiB", needed >> 20),
            "choose smaller ones: --graphs epinions,pokec",
        )),
        _ => Ok(()),
    }
}
