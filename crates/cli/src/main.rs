//! The `flick` command. Under the names `flick-cc` and `flick-c++` it is `flick cc` and
//! `flick c++`, for build systems that want a compiler of one word.
//!
//! This file has the command line, and hands each command to its crate: compiles and views to
//! `flick-driver`, runs to `flick-report`, benchmarks to `flick-bench`, and random programs to
//! `flick-torture` (`torture.rs` has the options), sweeps to `flick-sweep` (`sweep_command.rs`), machines to `flick-machine` (`machine_command.rs` and `machine_history.rs`), platforms to
//! `flick-timing` (`platform_command.rs`). Commands of one file are `config_command.rs`,
//! `explain_code.rs` and `doctor/`. `man_pages.rs` makes the manual pages from the same definition.
mod accelerator_report;
mod build_words;
mod card_copy;
mod card_files;
mod card_program;
mod card_shell;
mod config_command;
mod console_place;
mod doctor;
mod explain_code;
mod extensions_command;
mod kernel_call_report;
mod kernel_lines;
mod machine_command;
mod machine_description;
mod machine_history;
mod machine_stat;
mod machine_views;
mod man_pages;
mod migration_report;
mod platform_command;
mod sent_files;
mod size_limit;
mod sweep_command;
mod torture;
mod unit_check;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
use flick_bench::Bench;
use flick_diagnostics::Code;
use flick_driver::{Error, FrontEnd, Objdump, Root};
use flick_image::output;
use flick_names::Demangle;
use flick_report::{advise, record_command};
use serde_json::json;

#[derive(Parser)]
#[command(
    name = "flick",
    version,
    about = "One program, one address space, two kinds of core"
)]
struct Flick {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile and link C: clang's options, and `--flick-place=FILE`
    ///
    /// Also `flick-cc`, for build systems that want a compiler of one word.
    #[command(disable_help_flag = true)]
    Cc {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Compile and link C++: clang++'s options, and `--flick-place=FILE`
    ///
    /// Also `flick-c++`.
    #[command(name = "c++", disable_help_flag = true)]
    Cxx {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Say where each function of a program went and why
    Place(Place),
    /// Disassemble the RV64 code of a program, library or object, by function
    Objdump(ObjdumpArgs),
    /// Check that the translation in a program or library is that of its image
    Verify(Verify),
    /// Run a program, then print its crossings and where each function ran
    Stat(Stat),
    /// Run a program on a platform and keep the trace of its virtual time
    Record(Record),
    /// Make a page of a trace of `flick record`
    Report(Report),
    /// Run a program on a platform and propose a placement: functions to move to the NxP, or back
    Advise(Advise),
    /// Run a program whose threads move to harts that have the instructions they execute, on a host
    /// of RISC-V (docs/migration.md)
    ///
    /// This command is for other hosts. It says which file of Flick's a host of RISC-V needs.
    Run(extensions_command::Run),
    /// Measure the cost of crossings on this machine
    Bench {
        #[command(subcommand)]
        what: Bench,
    },
    /// Run firmware and kernels on a simulated machine (docs/machine.md)
    Machine {
        #[command(subcommand)]
        what: machine_command::MachineCommand,
    },
    /// Show the platforms of timed runs, and make one of this machine (docs/timing.md)
    Platform {
        #[command(subcommand)]
        what: platform_command::PlatformCommand,
    },
    /// Compile programs for the harts of a card (docs/card-programs.md), or start its shell
    Card {
        #[command(subcommand)]
        what: card_program::CardCommand,
    },
    /// Build random programs, or yours with random placements, both ways and compare their
    /// behaviour
    Torture(Box<torture::Torture>),
    /// Run a program on platforms, with placements and inputs, and compare the predictions
    /// (docs/sweep.md)
    Sweep(sweep_command::Sweep),
    /// Start gdb with Flick's script, which shows NxP code (docs/debugging.md)
    Gdb {
        #[command(flatten)]
        on: OnMachine,
        /// gdb's own options and arguments, as in `--args ./prog input`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Check that this machine can build and run Flick programs
    Doctor {
        /// Jump to memory without execute permission and die of it.
        #[arg(long, hide = true)]
        probe_nx: bool,
        /// For programs (docs/json.md)
        #[arg(long)]
        json: bool,
    },
    /// Show every setting and where it comes from
    Config(Config),
    /// Explain an error code; without one, list them all
    Explain {
        /// For example FLK0103
        code: Option<String>,
        /// For programs (docs/json.md)
        #[arg(long)]
        json: bool,
    },
    /// Write man pages and shell completions
    #[command(hide = true)]
    Generate {
        /// The tree's `share`
        dir: PathBuf,
    },
}

#[derive(Args)]
struct Place {
    /// A table of functions, placements and reasons
    #[arg(long, required_unless_present = "check")]
    explain: bool,
    /// Check that every entry of this placement file names something in one of the files
    #[arg(long, value_name = "PLACEMENT", conflicts_with = "explain")]
    check: Option<PathBuf>,
    #[command(flatten)]
    names: Names,
    /// Programs, libraries or objects that `flick cc` made
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// As binutils' tools have it.
#[derive(Args)]
struct Names {
    /// Show C++ names as the linker has them
    #[arg(long)]
    no_demangle: bool,
}

impl Names {
    fn demangle(&self) -> Demangle {
        if self.no_demangle {
            Demangle::No
        } else {
            Demangle::Yes
        }
    }
}

/// Where the NxP functions of a program run that a command starts.
#[derive(Args)]
struct OnMachine {
    /// Run NxP functions on the harts of this machine: a shipped machine's name or a TOML file
    /// (docs/card.md)
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<String>,
    /// Let that machine have the faults of the file (docs/faults.md)
    #[arg(long, value_name = "FILE", requires = "machine")]
    inject: Option<PathBuf>,
}

impl OnMachine {
    /// Passes the machine to the programs that are started from here on. Before they start: what is
    /// wrong with the machine is not theirs.
    fn choose(&self) -> Result<(), Error> {
        let Some(name) = &self.machine else {
            return Ok(());
        };
        machine_description::load(name, &[])?;
        // SAFETY: no other thread runs yet.
        unsafe {
            std::env::set_var("FLICK_BACKEND", "card");
            std::env::set_var("FLICK_MACHINE", name);
            std::env::set_var("FLICK_INJECT", self.inject.clone().unwrap_or_default());
        }
        Ok(())
    }
}

#[derive(Args)]
struct ObjdumpArgs {
    /// Disassemble; with a name only this function
    #[arg(
        short,
        long,
        value_name = "FUNCTION",
        num_args = 0..=1,
        require_equals = true,
        required_unless_present_any = ["source", "translated"]
    )]
    disassemble: Option<Option<String>>,
    /// With source lines between the instructions
    #[arg(short = 'S', long)]
    source: bool,
    /// Show the x86-64 code too
    #[arg(long, conflicts_with = "host")]
    both: bool,
    /// Show only the x86-64 code
    #[arg(long)]
    host: bool,
    /// Under each RV64 instruction the x86-64 code that the translator makes of it (docs/engine.md)
    #[arg(long, conflicts_with = "host")]
    translated: bool,
    #[command(flatten)]
    names: Names,
    /// A program, library or object that `flick cc` made
    file: PathBuf,
}

#[derive(Args)]
struct Verify {
    /// For programs (docs/json.md)
    #[arg(long)]
    json: bool,
    /// Programs or libraries that `flick cc` linked
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

#[derive(Args)]
struct Config {
    /// Check this option of `flick cc` too
    #[arg(long = "flick-place", value_name = "FILE")]
    place: Vec<String>,
    /// For programs
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Stat {
    /// Write the report there instead of to stderr
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// For programs (docs/json.md)
    #[arg(long, conflicts_with_all = ["verify_baseline", "repeat"])]
    json: bool,
    #[command(flatten)]
    names: Names,
    #[command(flatten)]
    on: OnMachine,
    /// Predict the run on this hardware: a shipped platform's name or a TOML file (docs/timing.md)
    #[arg(long, value_name = "NAME|FILE")]
    platform: Option<OsString>,
    /// Run the program a second time, with everything on the host, and compare its time with the
    /// predicted one
    #[arg(long, requires = "platform")]
    verify_baseline: bool,
    /// Clocks and sleeping of the program are the machine's (docs/virtual-threads.md)
    #[arg(long, requires = "platform")]
    real_time: bool,
    /// Run the program N times (2 to 100) and print the spread of the predicted times
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100))]
    repeat: Option<u32>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

#[derive(Args)]
struct Advise {
    /// The placement file; an earlier one becomes FILE.old
    #[arg(short, long, value_name = "FILE", default_value = advise::PLACEMENT)]
    output: PathBuf,
    /// The platform: a name or a file (default: FLICK_PLATFORM)
    #[arg(long, value_name = "NAME|FILE")]
    platform: Option<OsString>,
    /// For programs (docs/json.md)
    #[arg(long)]
    json: bool,
    /// Build by the advice with the command behind `--`, run the program again, and keep what has
    /// made it faster
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    names: Names,
    /// The program and its arguments; with --verify, `--` and the command that builds it
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

#[derive(Args)]
struct Record {
    /// The trace; an earlier one becomes FILE.old
    #[arg(short, long, value_name = "FILE", default_value = record_command::DATA)]
    output: PathBuf,
    /// The platform: a name or a file (default: FLICK_PLATFORM)
    #[arg(long, value_name = "NAME|FILE")]
    platform: Option<OsString>,
    /// Write a trace for Perfetto (ui.perfetto.dev), too
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// The largest trace, in bytes or as 64K, 256M, 2G, or `none`: behind half of it sums of
    /// intervals stand in place of events
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size_limit::parse)]
    max_size: size_limit::SizeLimit,
    #[command(flatten)]
    names: Names,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

#[derive(Args)]
struct Report {
    /// The trace of `flick record`
    #[arg(short, long, value_name = "FILE", default_value = record_command::DATA)]
    input: PathBuf,
    /// The page, one HTML file; `-` is stdout
    #[arg(short, long, value_name = "FILE", default_value = record_command::PAGE)]
    output: PathBuf,
    /// Write a trace for Perfetto (ui.perfetto.dev), too
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    #[command(flatten)]
    names: Names,
}

/// A write beyond the limit on the size of files (`ulimit -f`) fails, as on a full disk, and does not
/// end this process. The signal has a handler and is not ignored, because programs that are started
/// then have the default action again.
fn refuse_large_files() {
    extern "C" fn nothing(_signal: libc::c_int) {}
    // SAFETY: no other thread runs yet, and the handler touches nothing.
    unsafe {
        let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
        if libc::signal(libc::SIGXFSZ, handler) == libc::SIG_IGN {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        }
    }
}

fn main() -> ExitCode {
    // A reader that has seen enough (`flick objdump -d prog | head`) ends us as it ends any filter.
    // SAFETY: no other thread runs yet, and the default disposition has no handler to be wrong.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    refuse_large_files();

    let mut args = std::env::args_os();
    let name = args.next().unwrap_or_default();
    let name = Path::new(&name).file_name().unwrap_or_default();
    if let Some("ld" | "ld.lld") = name.to_str() {
        return flick_driver::ld(args);
    }
    let short = name.as_bytes().strip_prefix(b"flick-");
    if let Some(front) = short.map(OsStr::from_bytes).and_then(FrontEnd::of_name) {
        return flick_driver::cc(front, args);
    }
    // Before clap: every argument of `cc` is clang's, `--help` and `--version` too.
    let first = std::env::args_os().nth(1).unwrap_or_default();
    if let Some(front) = FrontEnd::of_name(&first) {
        return flick_driver::cc(front, args.skip(1));
    }
    let done = match Flick::try_parse() {
        Ok(flick) => run(flick.command),
        // `--help` and `--version`.
        Err(text) if !text.use_stderr() => shown(&text).map(|()| ExitCode::SUCCESS),
        Err(wrong) => wrong.exit(),
    };
    done.unwrap_or_else(|error| {
        output::message(error);
        ExitCode::FAILURE
    })
}

/// On standard output; FLK0105.
fn print(text: &str) -> Result<(), Error> {
    output::stdout(text.as_bytes())
}

/// What clap has to say on standard output, with its colours where that is a terminal.
fn shown(text: &clap::Error) -> Result<(), Error> {
    let printed = text.print().and_then(|()| io::stdout().flush());
    printed.map_err(|error| output::stdout_error(&error))
}

fn run(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Cc { args } => return Ok(flick_driver::cc(FrontEnd::C, args)),
        Command::Cxx { args } => return Ok(flick_driver::cc(FrontEnd::Cxx, args)),
        Command::Place(Place {
            check: Some(file),
            files,
            ..
        }) => {
            flick_driver::place_check(&file, &files)?;
        }
        Command::Place(place) => {
            for file in &place.files {
                print(&flick_driver::place_explain(file, place.names.demangle())?)?;
            }
        }
        Command::Objdump(args) => flick_driver::objdump(&Objdump {
            file: args.file,
            source: args.source,
            host: args.host || args.both,
            nxp: !args.host,
            translated: args.translated,
            function: args.disassemble.flatten(),
            demangle: args.names.demangle(),
        })?,
        Command::Verify(args) => return verify(&args.files, args.json),
        Command::Card { what } => return what.run(),
        Command::Machine { what } => return machine_command::run(what),
        Command::Platform { what } => platform_command::run(what)?,
        Command::Stat(stat) => {
            stat.on.choose()?;
            if let Some(platform) = &stat.platform {
                check_platform(platform)?;
            }
            let options = flick_report::stat::Options {
                demangle: stat.names.demangle(),
                output: stat.output,
                json: stat.json,
                platform: stat.platform,
                verify_baseline: stat.verify_baseline,
                real_time: stat.real_time,
                repeat: stat.repeat,
            };
            return flick_report::stat::run(&stat.command, &options);
        }
        Command::Record(record) => {
            let options = record_command::Options {
                demangle: record.names.demangle(),
                output: record.output,
                platform: record.platform,
                perfetto: record.perfetto,
                max_size: record.max_size.0,
            };
            return record_command::run(&record.command, &options);
        }
        Command::Advise(advice) => {
            if let Some(platform) = &advice.platform {
                check_platform(platform)?;
            }
            let (command, verify) = match advice.verify {
                true => build_words::with_build(advice.command)?,
                false => (advice.command, None),
            };
            let options = advise::Options {
                output: advice.output,
                platform: advice.platform,
                demangle: advice.names.demangle(),
                json: advice.json,
                verify,
            };
            return advise::run(&command, &options);
        }
        Command::Report(report) => {
            let perfetto = report.perfetto.as_deref();
            let demangle = report.names.demangle();
            record_command::report(&report.input, &report.output, perfetto, demangle)?;
        }
        Command::Run(run) => return Err(run.refuse()),
        Command::Bench { what } => flick_bench::run(&what)?,
        Command::Sweep(sweep) => return sweep.run(),
        Command::Torture(options) => return torture::run(&options),
        Command::Doctor { probe_nx: true, .. } => return Ok(doctor::probe_nx()),
        Command::Doctor { json, .. } => return doctor::run(json),
        Command::Config(config) => return config_command::run(&config.place, config.json),
        Command::Generate { dir } => {
            man_pages::write(Flick::command(), &dir).map_err(|error| {
                Error::new(
                    Code::FileAccess,
                    "a file cannot be written",
                    dir.display().to_string(),
                    error.to_string(),
                    "check that the place exists, is writable and not full",
                )
            })?;
        }
        Command::Gdb { on, args } => {
            on.choose()?;
            return Err(gdb(&args));
        }
        Command::Explain { code, json } => print(&explain_code::explain(code.as_deref(), json)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A line on standard output for each file that is right, and messages for the others; or both for
/// programs.
fn verify(files: &[PathBuf], as_json: bool) -> Result<ExitCode, Error> {
    let mut code = ExitCode::SUCCESS;
    let mut results = Vec::new();
    for file in files {
        let wrong = match flick_driver::verify(file) {
            Ok(verified) if verified.differences.is_empty() && as_json => {
                results.push(json!({
                    "file": file.display().to_string(),
                    "summary": verified.summary,
                    "errors": [],
                }));
                continue;
            }
            Ok(verified) if verified.differences.is_empty() => {
                print(&format!("{}: {}\n", file.display(), verified.summary))?;
                continue;
            }
            Ok(verified) => verified.differences,
            Err(error) => vec![error],
        };
        if as_json {
            let errors: Vec<_> = wrong.iter().map(json_of_error).collect();
            let file = file.display().to_string();
            results.push(json!({ "file": file, "summary": null, "errors": errors }));
        } else {
            wrong.into_iter().for_each(output::message);
        }
        code = ExitCode::FAILURE;
    }
    if as_json {
        print(&flick_report::json::document(
            "verify",
            json!({ "files": results }),
        ))?;
    }
    Ok(code)
}

/// An error for programs.
fn json_of_error(error: &Error) -> serde_json::Value {
    json!({
        "code": error.code.text(),
        "what": error.what,
        "place": error.place,
        "why": error.why,
        "help": error.help,
    })
}

/// Before the program starts: what is wrong with it is not the program's.
fn check_platform(name: &OsStr) -> Result<(), Error> {
    platform_command::load(&name.to_string_lossy()).map(|_| ())
}

/// Becomes gdb with Flick's script; comes back only with an error.
fn gdb(args: &[OsString]) -> Error {
    let root = match Root::find() {
        Ok(root) => root,
        Err(error) => return error,
    };
    let script = root.dir().join("share/flick/gdb/flick.py");
    // Or gdb says of the copy beside the library, in eight lines, that it does not trust it.
    let mut trusted = OsString::from("add-auto-load-safe-path ");
    trusted.push(root.dir().join("lib/flick"));
    let error = std::process::Command::new("gdb")
        .arg("-iex")
        .arg(trusted)
        .arg("-x")
        .arg(&script)
        .args(args)
        .exec();
    Error::new(
        Code::MissingTool,
        "a required tool is missing",
        "gdb",
        format!("it cannot be started: {error}"),
        "sudo apt-get install gdb",
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        super::Flick::command().debug_assert();
    }
}
