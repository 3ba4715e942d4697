//! `flick bench scale`: builds share/flick/bench/scale.c and a program with a large image, and
//! prints what two threads that cross give beside one, and what the image adds to the program's
//! start-up.
use std::num::NonZero;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::scale_table::{self, Start, Startup, Threads};
use clap::Args;
use flick_abi::settings::ENGINE;
use flick_driver::root::CLANG;
use flick_driver::{Error, Root};
use flick_events::number::counted;

use crate::print;
use crate::{
    Engines, file_error, finish, flick, large_image, machine, measured, say, scratch, unreadable,
    variable,
};

#[derive(Args)]
pub struct Options {
    /// For each figure of the threads; less than a slice of the scheduler's, so that the medians
    /// are of what other work has not interrupted
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    milliseconds: u32,
    /// Rounds; the tables have their medians
    #[arg(long, default_value_t = 101, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// RV64 code of the program whose start-up is measured, in KiB, at least
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    image: u32,
    #[command(flatten)]
    engines: Engines,
    /// Print comma-separated values
    #[arg(long)]
    csv: bool,
}

pub fn run(options: &Options) -> Result<(), Error> {
    let dir = scratch()?;
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = if processors > 1 {
        threads(dir.path(), options)?
    } else {
        Vec::new()
    };
    let startup = startup(dir.path(), options)?;
    if options.csv {
        return print(&scale_table::csv(&threads, &startup));
    }
    let mut text = format!("{}\n\n", machine());
    if threads.is_empty() {
        text += "Threads are not measured: this process may use one processor only.\n\n";
    }
    text += &scale_table::table(options.milliseconds, &threads, &startup);
    print(&text)
}

fn threads(dir: &Path, options: &Options) -> Result<Vec<Threads>, Error> {
    let source = Root::find()?.dir().join("share/flick/bench/scale.c");
    let program = dir.join("scale");
    let mut build = Command::new(flick()?);
    build.args(["cc", "-O2", "-pthread"]).arg(&source);
    finish(build.arg("-o").arg(&program))?;
    let mut runs = Vec::new();
    let engines = options.engines.names();
    for (number, engine) in engines.iter().enumerate() {
        say(format_args!(
            "[{}/{}] threads on {engine}, {}",
            number + 1,
            engines.len(),
            counted(options.rounds.into(), "round")
        ));
        let mut run = measured(&program);
        run.args([options.milliseconds, options.rounds].map(|n| n.to_string()))
            .env(variable(ENGINE.variable), engine);
        let output = finish(&mut run)?;
        let output = String::from_utf8_lossy(&output.stdout);
        runs.push(Threads::parse(engine, &output).map_err(|why| unreadable(&source, why))?);
    }
    Ok(runs)
}

/// The same source for the host alone and with all of it but `main` on the NxP; they take turns.
fn startup(dir: &Path, options: &Options) -> Result<Startup, Error> {
    let source = dir.join("large.c");
    let place = dir.join("large.nxp");
    let write = |path: &Path, text: &str| {
        std::fs::write(path, text).map_err(|e| file_error("a file cannot be written", path, &e))
    };
    write(
        &source,
        &large_image::source(u64::from(options.image) * 1024),
    )?;
    write(&place, large_image::PLACEMENT)?;

    let (plain, placed) = (dir.join("plain"), dir.join("placed"));
    let mut clang = Command::new(CLANG.name);
    clang
        .arg(large_image::LEVEL)
        .arg(&source)
        .arg("-o")
        .arg(&plain);
    let mut cc = Command::new(flick()?);
    cc.args(["cc", large_image::LEVEL]).arg(&source);
    cc.arg(format!("--flick-place={}", place.display()));
    cc.arg("-o").arg(&placed);
    say("building a program with a large image (some 30 s)");
    std::thread::scope(|scope| {
        let clang = scope.spawn(|| finish(&mut clang));
        finish(&mut cc).and(clang.join().expect("starting a program does not panic"))
    })?;

    let mut starts = vec![Start {
        name: "plain".into(),
        times: Vec::new(),
    }];
    let mut commands = vec![measured(&plain)];
    for engine in options.engines.names() {
        starts.push(Start {
            name: engine.into(),
            times: Vec::new(),
        });
        let mut command = measured(&placed);
        command.env(variable(ENGINE.variable), engine);
        commands.push(command);
    }
    let rounds = counted(options.rounds.into(), "round");
    say(format_args!("starting it, {rounds}"));
    let mut printed = None;
    for round in 0..=options.rounds {
        for (command, start) in commands.iter_mut().zip(&mut starts) {
            let begin = Instant::now();
            let output = finish(command)?;
            // The first round reads the files.
            if round > 0 {
                start.times.push(begin.elapsed().as_secs_f64() * 1e3);
            }
            if *printed.get_or_insert(output.stdout.clone()) != output.stdout {
                return Err(unreadable(
                    &source,
                    format!("{} prints another result", start.name),
                ));
            }
        }
    }
    Ok(Startup {
        code: scale_table::code_size(&placed)?,
        starts,
    })
}
