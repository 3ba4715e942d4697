//! `flick bench card`: builds share/flick/bench/card_threads.c, and runs it inline and on the card.
use std::path::Path;
use std::process::Command;

use clap::Args;
use flick_abi::settings::BACKEND;
use flick_driver::{Error, Root};

use crate::card_table::{self, Run};
use crate::{finish, flick, machine, measured, print, say, scratch, unreadable, variable};

#[derive(Args)]
pub struct Options {
    /// Rounds, in which each configuration has its turn; the table has their medians
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Measure the processor time of all threads in place of the time that passes
    #[arg(long)]
    cpu: bool,
    /// Print comma-separated values
    #[arg(long)]
    csv: bool,
}

pub fn run(options: &Options) -> Result<(), Error> {
    let source = Root::find()?.dir().join("share/flick/bench/card_threads.c");
    let dir = scratch()?;
    let program = dir.path().join("card_threads");
    let mut build = Command::new(flick()?);
    build.args(["cc", "-O2"]).arg(&source);
    finish(build.arg("-o").arg(&program).arg("-lpthread"))?;

    let mut runs: Vec<Run> = card_table::CONFIGURATIONS.map(Run::new).into();
    for round in 1..=options.rounds {
        say(format_args!("round {round} of {}", options.rounds));
        for run in &mut runs {
            measure(&program, &source, options, run)?;
        }
    }
    match options.csv {
        true => print(&card_table::csv(&runs)),
        false => print(&format!("{}\n\n{}", machine(), card_table::table(&runs))),
    }
}

fn measure(program: &Path, source: &Path, options: &Options, run: &mut Run) -> Result<(), Error> {
    let mut command = measured(program);
    command.args([&run.threads.to_string(), "1"]);
    if options.cpu {
        command.arg("cpu");
    }
    command.env(variable(BACKEND.variable), run.backend);
    let output = finish(&mut command)?;
    run.add(&String::from_utf8_lossy(&output.stdout))
        .map_err(|why| unreadable(source, why))
}
