//! `flick bench`: builds the programs of share/flick/bench, runs them and prints their tables.
//!
//! The data flows in this order:
//! 1. `kernels.rs` has the kernels of `flick bench engine`, and `large_image.rs` makes a C program
//!    of any size. The other programs are in share/flick/bench.
//! 2. `measure_*.rs` build the programs with this `flick`, run them, and read what they print.
//!    There is one file for each benchmark. `paper_run.rs` is for those of papers.
//! 3. `*_table.rs` make tables, `paper/` the paper's tables and figures, `firmware/` those with the
//!    card's kernel in the path, and `nanvix/`, `migration/` and `m3x/` those of other papers. `numbers.rs` and `quantile.rs` read and summarise, `bar.rs` compares a figure with its bar, and `markdown.rs`
//!    aligns columns.
//!
//! `calibration_plots.rs` draws what `flick platform calibrate` has measured.
//!
//! The tables go to standard output, or to a directory (`flick bench paper`).
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod bar;
mod calibration_plots;
mod card_table;
mod crossing_table;
mod engine_table;
mod firmware;
mod kernels;
mod large_image;
mod m3x;
mod markdown;
mod measure_card;
mod measure_crossing;
mod measure_engine;
mod measure_firmware;
mod measure_m3x;
mod measure_migration;
mod measure_nanvix;
mod measure_paper;
mod measure_process;
mod measure_programs;
mod measure_scale;
mod measure_truth;
mod migration;
mod nanvix;
mod numbers;
mod paper;
mod paper_run;
mod process_table;
mod quantile;
mod scale_table;
mod truth;

pub use calibration_plots::files as calibration_plots;

use std::ffi::{CStr, OsStr};
use std::fmt::Display;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use flick_abi::settings::{CHOICES, ENGINE, OFFLOAD, STATISTICS};
use flick_diagnostics::Code;
use flick_driver::Error;
use flick_events::number::counted;
use flick_image::output;
use tempfile::TempDir;

#[derive(Subcommand)]
#[expect(
    missing_docs,
    reason = "clap would show the text as the help of `flick bench`"
)]
pub enum Bench {
    /// Threads that compute on harts of the card, beside one thread inline
    ///
    /// It takes some minutes, and says on stderr where it is. The last table compares with bars: what
    /// Flick asks of itself on a quiet machine.
    Card(measure_card::Options),
    /// Null calls host-NxP-host and NxP-host-NxP, by name, by pointer and nested, beside a call and
    /// a signal
    Crossing(measure_crossing::Options),
    /// Kernels on the NxP beside the same as host code and under other engines of RV64 code
    ///
    /// It takes about a minute and a half, and says on stderr where it is. The last table compares
    /// with bars: what Flick asks of itself on a quiet machine.
    Engine(measure_engine::Options),
    /// The paper's tables and figures, predicted on a platform like its machine
    Paper(measure_paper::Options),
    /// Whole processes with NxP code beside the same that clang built: time and memory
    ///
    /// Without programs of yours it measures the start-up of Flick's own, in about a minute. It
    /// says on stderr where it is.
    Process(measure_process::Options),
    /// Two threads that cross beside one, and start-up with a large image
    ///
    /// It takes about a minute and a half, and says on stderr where it is. The last table compares
    /// with bars: what Flick asks of itself on a quiet machine.
    Scale(measure_scale::Options),
    /// Predicted times of programs beside their real times, on the machine that the platform is of
    ///
    /// `flick platform calibrate` makes the platform, and bench/truth/build.sh the programs. It says
    /// on stderr where it is. The machine should do nothing else meanwhile.
    Truth(measure_truth::Options),
}

/// Measures, and prints the tables. The errors are those of the builds and runs, and FLK0105.
pub fn run(what: &Bench) -> Result<(), Error> {
    match what {
        Bench::Card(options) => measure_card::run(options),
        Bench::Crossing(options) => measure_crossing::run(options),
        Bench::Engine(options) => measure_engine::run(options),
        Bench::Paper(options) => measure_paper::run(options),
        Bench::Process(options) => measure_process::run(options),
        Bench::Scale(options) => measure_scale::run(options),
        Bench::Truth(options) => measure_truth::run(options),
    }
}

/// On standard output; FLK0105.
fn print(text: &str) -> Result<(), Error> {
    output::stdout(text.as_bytes())
}

/// What goes on, on stderr, for somebody who waits.
fn say(text: impl Display) {
    output::message(format_args!("flick bench: {text}"));
}

/// Where programs are built; removed at the end.
fn scratch() -> Result<TempDir, Error> {
    tempfile::Builder::new()
        .prefix("flick-bench")
        .tempdir()
        .map_err(|e| file_error("a directory cannot be made", &std::env::temp_dir(), &e))
}

/// This program.
fn flick() -> Result<PathBuf, Error> {
    std::env::current_exe()
        .map_err(|e| file_error("a file cannot be read", Path::new("/proc/self/exe"), &e))
}

fn unreadable(source: &Path, why: String) -> Error {
    Error::new(
        Code::FileAccess,
        "the benchmark's output cannot be read",
        source.display().to_string(),
        why,
        "reinstall Flick: `make` in its source tree",
    )
}

/// What executes NxP code: every engine that there is, unless some are named.
#[derive(Args)]
struct Engines {
    /// Only these engines of NxP code (FLICK_ENGINE); all of them otherwise
    #[arg(long = "engine", value_name = "ENGINE", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(ENGINE.values))]
    chosen: Vec<String>,
}

impl Engines {
    fn names(&self) -> Vec<&str> {
        let chosen = |name: &&str| self.chosen.is_empty() || self.chosen.iter().any(|c| c == name);
        ENGINE.values.iter().copied().filter(chosen).collect()
    }
}

/// An engine that is none of Flick's, and the words of its command.
#[derive(Clone)]
struct Peer {
    name: String,
    command: Vec<String>,
}

impl Peer {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, command) = text.split_once('=').ok_or("NAME=COMMAND is wanted")?;
        let command: Vec<String> = command.split_whitespace().map(Into::into).collect();
        if name.is_empty() || command.is_empty() {
            return Err("NAME=COMMAND is wanted".into());
        }
        Ok(Self {
            name: name.into(),
            command,
        })
    }
}

/// A program that is measured: nothing may be counted meanwhile, and NxP code runs on the NxP.
fn measured(program: &Path) -> Command {
    let mut command = Command::new(program);
    for set in CHOICES {
        command.env_remove(variable(set.variable));
    }
    command
        .env_remove(variable(STATISTICS))
        .env(variable(OFFLOAD.variable), "require");
    command
}

fn variable(name: &CStr) -> &OsStr {
    OsStr::from_bytes(name.to_bytes())
}

/// What a figure needs beside it to be of use later.
fn machine() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "flick {}, {model}, {}, Linux {}",
        env!("CARGO_PKG_VERSION"),
        counted(cores as u64, "core"),
        read("/proc/sys/kernel/osrelease").trim(),
    )
}

/// Runs a command to its end; what it says goes with the error.
fn finish(command: &mut Command) -> Result<Output, Error> {
    let name = Path::new(command.get_program()).to_path_buf();
    let output = command
        .output()
        .map_err(|e| file_error("a program cannot be started", &name, &e))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::new(
        Code::FailedTool,
        "a program that Flick calls failed",
        name.display().to_string(),
        format!("{}\n{}", output.status, said.trim()),
        "flick doctor",
    ))
}

fn file_error(what: &str, place: &Path, error: &io::Error) -> Error {
    Error::new(
        Code::FileAccess,
        what,
        place.display().to_string(),
        error.to_string(),
        "set TMPDIR to a directory that is writable and not mounted noexec",
    )
}
