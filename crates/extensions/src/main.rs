//! `flick` on hosts of RISC-V: one command, `flick run --extensions`.
//!
//! There is no `main` of Rust: it would change what the program inherits, as the action of SIGPIPE.
#![no_main]

use std::ffi::{OsString, c_char, c_int};
use std::path::PathBuf;
use std::process::exit;

use clap::{Args, Parser, Subcommand};
use flick_diagnostics::Code;
use flick_extensions::cpus::{Cpu, Cpus};
use flick_extensions::{Options, launch};
use flick_image::Error;

#[derive(Parser)]
#[command(
    name = "flick",
    version,
    about = "Flick on a host of RISC-V",
    disable_help_subcommand = true
)]
struct Flick {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program whose threads move to CPUs that have the instructions they execute
    Run(Run),
}

#[derive(Args)]
struct Run {
    /// Threads move to CPUs that have an instruction
    #[arg(long, required = true)]
    extensions: bool,
    /// A description of what CPUs have beside what Linux says (TOML)
    #[arg(long, value_name = "FILE")]
    cpus: Option<PathBuf>,
    /// For how long a thread stays at first: a number with ns, us, ms or s
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = time)]
    hold: u64,
    /// Write the instructions that threads moved for to standard error at the end
    #[arg(long)]
    stat: bool,
    /// Show the CPUs and what they have, and run nothing
    #[arg(long, conflicts_with = "command")]
    list: bool,
    /// Watch programs on hosts of another kind, too: tests of the watcher run there
    #[arg(long, hide = true)]
    any_host: bool,
    /// The program and its arguments
    #[arg(
        required_unless_present = "list",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

/// Nanoseconds.
fn time(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return Err("a time has the unit ns, us, ms or s".into()),
    };
    let number: u64 = digits
        .trim()
        .parse()
        .map_err(|_| "it is no whole number with a unit")?;
    let time = number
        .checked_mul(unit)
        .filter(|time| (1_000..=3_600_000_000_000).contains(time));
    time.ok_or_else(|| "a time is from 1us to 3600s".into())
}

/// A line for each kind of CPU, with the extensions that not all have.
fn list(cpus: Vec<Cpu>) {
    let all = Cpus::new(cpus);
    let is_common = |name: &String| all.iter().all(|cpu| cpu.extensions.contains(name));
    for kind in all.kinds() {
        let own = kind
            .example
            .extensions
            .iter()
            .filter(|name| !is_common(name));
        let mut own: Vec<String> = own.cloned().collect();
        let opcodes = (0..4).filter(|number| kind.example.opcodes >> number & 1 != 0);
        own.extend(opcodes.map(|number| format!("custom-{number}")));
        let own = if own.is_empty() {
            "nothing of its own".into()
        } else {
            own.join(" ")
        };
        println!("CPUs {}: {own}", kind.cpus);
    }
    let first = all.iter().next();
    let common: Vec<&String> = first
        .iter()
        .flat_map(|cpu| &cpu.extensions)
        .filter(|n| is_common(n))
        .collect();
    let common: Vec<&str> = common.into_iter().map(String::as_str).collect();
    println!("all CPUs: {}", common.join(" "));
}

fn run(run: Run) -> Result<(), Error> {
    if run.list {
        list(launch::cpus(run.cpus.as_deref())?);
        return Ok(());
    }
    if cfg!(not(target_arch = "riscv64")) && !run.any_host {
        return Err(Error::new(
            Code::NoExtensions,
            "the CPUs of this host are not RISC-V",
            "flick run --extensions",
            "threads move to harts that have an extension of RISC-V",
            "run it on a board with Linux for riscv64 (docs/migration.md)",
        ));
    }
    let options = Options {
        cpus: run.cpus,
        hold: run.hold,
        has_report: run.stat,
    };
    match flick_extensions::run(&run.command, &options)? {}
}

/// The C library calls it. Rust's own start is left out, see above.
#[unsafe(no_mangle)]
extern "C" fn main(_count: c_int, _words: *const *const c_char) -> c_int {
    let Command::Run(what) = Flick::parse().command;
    match run(what) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error}");
            exit(1);
        }
    }
}
