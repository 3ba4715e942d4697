//! `flick bench crossing`: builds share/flick/bench/crossing.c with `flick cc`, runs it under each
//! trigger and prints the table.
use std::path::Path;
use std::process::Command;

use crate::crossing_table::{self, Run};
use clap::Args;
use flick_abi::settings::{BACKEND, ENGINE, TRIGGER};
use flick_driver::{Error, Root};

use crate::print;
use crate::{Engines, Peer, finish, flick, machine, measured, say, scratch, unreadable, variable};

#[derive(Args)]
pub struct Options {
    /// Calls in a round
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    calls: u64,
    /// Rounds; the table has their medians
    #[arg(long, default_value_t = 31, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    #[command(flatten)]
    engines: Engines,
    /// What calls RV64 code otherwise: COMMAND, words apart, is followed by CALLS and ROUNDS, and
    /// prints what share/flick/bench/crossing.c does (repeatable)
    #[arg(long, value_name = "NAME=COMMAND", value_parser = Peer::parse)]
    peer: Vec<Peer>,
    /// Measure FLICK_BACKEND=card, too, with a tenth of the calls
    #[arg(long)]
    card: bool,
    /// Print comma-separated values
    #[arg(long)]
    csv: bool,
}

pub fn run(options: &Options) -> Result<(), Error> {
    let source = Root::find()?.dir().join("share/flick/bench/crossing.c");
    let dir = scratch()?;
    let program = dir.path().join("crossing");

    let mut build = Command::new(flick()?);
    build
        .args(["cc", "-O2"])
        .arg(&source)
        .arg("-o")
        .arg(&program);
    finish(&mut build)?;

    let (calls, rounds) = (options.calls.to_string(), options.rounds.to_string());
    let mut runs = Vec::new();
    for trigger in TRIGGER.values {
        for engine in options.engines.names() {
            say(format_args!("FLICK_TRIGGER={trigger}, {engine}"));
            let mut run = measured(&program);
            run.args([&calls, &rounds, *trigger])
                .env(variable(TRIGGER.variable), trigger)
                .env(variable(ENGINE.variable), engine);
            let output = finish(&mut run)?;
            let run = Run::parse(trigger, engine, &String::from_utf8_lossy(&output.stdout))
                .map_err(|why| unreadable(&source, why))?;
            runs.push(run);
        }
    }
    let card = match options.card {
        true => Some(on_card(options, &program, &source)?),
        false => None,
    };
    let mut peers = Vec::new();
    for Peer { name, command } in &options.peer {
        let mut run = Command::new(&command[0]);
        let output = finish(run.args(&command[1..]).args([&calls, &rounds]))?;
        let run = Run::parse(
            TRIGGER.values[0],
            name,
            &String::from_utf8_lossy(&output.stdout),
        )
        .map_err(|why| unreadable(Path::new(&command[0]), why))?;
        peers.push(run);
    }
    if options.csv {
        print(&crossing_table::csv(
            options.calls,
            &runs,
            card.as_ref(),
            &peers,
        ))
    } else {
        let table = crossing_table::table(options.calls, &runs, card.as_ref(), &peers);
        print(&format!("{}\n\n{table}", machine()))
    }
}

/// The crossings of the card, which take a thousand times longer.
fn on_card(options: &Options, program: &Path, source: &Path) -> Result<Run, Error> {
    const NAME: &str = "card";
    say(format_args!("FLICK_BACKEND={NAME}"));
    let (calls, rounds) = (options.calls.div_ceil(10), options.rounds);
    let trigger = TRIGGER.values[0];
    let mut run = measured(program);
    run.args([&calls.to_string(), &rounds.to_string(), trigger])
        .env(variable(BACKEND.variable), NAME);
    let output = finish(&mut run)?;
    Run::parse(trigger, NAME, &String::from_utf8_lossy(&output.stdout))
        .map_err(|why| unreadable(source, why))
}
