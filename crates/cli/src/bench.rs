//! `flick bench crossing`: builds share/flick/bench/crossing.c with `flick cc`, runs it under each
//! trigger and prints the table.
use std::io;
use std::path::Path;
use std::process::{Command, Output};

use clap::Args;
use flick_build::{Error, Root};
use flick_report::crossing::{self, Run};

#[derive(Args)]
pub struct Crossing {
    /// Calls in a round
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    calls: u64,
    /// Rounds; the table has their medians
    #[arg(long, default_value_t = 31, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// Print comma-separated values
    #[arg(long)]
    csv: bool,
}

pub fn crossing(options: &Crossing) -> Result<(), Error> {
    let source = Root::find()?.dir().join("share/flick/bench/crossing.c");
    let dir = tempfile::Builder::new()
        .prefix("flick-bench")
        .tempdir()
        .map_err(|e| file_error("a directory cannot be made", &std::env::temp_dir(), &e))?;
    let program = dir.path().join("crossing");

    let flick = std::env::current_exe()
        .map_err(|e| file_error("a file cannot be read", Path::new("/proc/self/exe"), &e))?;
    let mut build = Command::new(flick);
    build
        .args(["cc", "-O2"])
        .arg(&source)
        .arg("-o")
        .arg(&program);
    finish(&mut build)?;

    let mut runs = Vec::new();
    for trigger in ["gate", "fault"] {
        let mut run = Command::new(&program);
        run.args([options.calls.to_string(), options.rounds.to_string()])
            .env("FLICK_TRIGGER", trigger)
            // Nothing but crossings may be measured, and nothing may be counted meanwhile.
            .env("FLICK_OFFLOAD", "require")
            .env_remove("FLICK_STATS");
        let output = finish(&mut run)?;
        let run = Run::parse(trigger, &String::from_utf8_lossy(&output.stdout)).map_err(|why| {
            Error::new(
                105,
                "the benchmark's output cannot be read",
                source.display().to_string(),
                why,
                "reinstall Flick: `make` in its source tree",
            )
        })?;
        runs.push(run);
    }
    if options.csv {
        print!("{}", crossing::csv(options.calls, &runs));
    } else {
        println!("{}\n", machine());
        print!("{}", crossing::table(options.calls, &runs));
    }
    Ok(())
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
        "flick {}, {model}, {cores} cores, Linux {}",
        env!("CARGO_PKG_VERSION"),
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
        103,
        "a program that Flick calls failed",
        name.display().to_string(),
        format!("{}\n{}", output.status, said.trim()),
        "flick doctor",
    ))
}

fn file_error(what: &str, place: &Path, error: &io::Error) -> Error {
    Error::new(
        105,
        what,
        place.display().to_string(),
        error.to_string(),
        "set TMPDIR to a directory that is writable and not mounted noexec",
    )
}
