//! `flick bench paper migration`: builds the program of share/flick/bench/paper/migration for the card, runs
//! it on machines whose harts have unequal extensions, and writes tables and a plot with the figures of
//! "Fast thread migration" (Berkeley, 2021) beside.
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use flick_driver::{Error, Root};

use crate::migration::{self, Results};
use crate::nanvix::Samples;
use crate::paper_run::{Run, execute, publish, raw_folder, read};
use crate::{finish, flick, scratch};

/// A hart for the kernel, and as many general ones as threads.
const EIGHT: &str = "tile.hart.general.count=9";
const MOST_INSTRUCTIONS: &str = "20000000000";

#[derive(Args)]
pub struct Options {
    /// Where tables, the plot and what the program prints (raw/) go
    #[arg(
        short,
        long,
        value_name = "DIR",
        default_value = "bench/paper/results/migration"
    )]
    output: PathBuf,
    /// Fewer products one behind the other
    #[arg(long)]
    quick: bool,
    /// Run nothing: make the tables of what is in raw/
    #[arg(long)]
    only_report: bool,
}

pub fn run(options: &Options) -> Result<(), Error> {
    let raw = raw_folder(&options.output)?;
    if !options.only_report {
        measure(options.quick, &raw)?;
    }
    let samples = |file: &str| read(&raw.join(file), Samples::migration);
    let results = Results {
        by: format!("flick {}", env!("CARGO_PKG_VERSION")),
        timed: samples("rocket-rvv.csv")?,
        functional: samples("spike-rvv.csv")?,
        contention: samples("contention.csv")?,
    };
    let written = migration::write(&results, &options.output);
    publish(written, &migration::page(&results), &options.output)
}

fn measure(quick: bool, raw: &Path) -> Result<(), Error> {
    let dir = scratch()?;
    let program = dir.path().join("migration");
    let source = Root::find()?
        .dir()
        .join("share/flick/bench/paper/migration/migration.c");
    let mut cc = Command::new(flick()?);
    cc.args(["card", "cc", "-O2"])
        .arg(source)
        .arg("-o")
        .arg(&program);
    finish(&mut cc)?;
    let flick = flick()?;
    let times = if quick { "20" } else { "1000" };
    let run = |machine: &str, options: &[&str], threads: &str, file: &str| {
        let mut command = Command::new(&flick);
        command.args(["machine", "run", "--machine", machine]);
        command.args(["--max-instructions", MOST_INSTRUCTIONS]);
        command.args(options).arg("--program").arg(&program);
        command.args(["--", threads, "1", times]);
        Run {
            what: format!("{threads} threads at once at most, on {machine}"),
            command,
            file: Some(file.into()),
        }
    };
    let mut runs = [
        run("rocket-rvv", &["--timed"], "1", "rocket-rvv.csv"),
        run("spike-rvv", &[], "1", "spike-rvv.csv"),
        run(
            "rocket-rvv",
            &["--timed", "--set", EIGHT],
            "8",
            "contention.csv",
        ),
    ];
    execute(&mut runs, raw)
}
