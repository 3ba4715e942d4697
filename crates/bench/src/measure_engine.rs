//! `flick bench engine`: kernels on the NxP, as host code and under other engines of RV64 code.
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::engine_table::{self, Cell, Row, Set};
use clap::Args;
use flick_abi::settings::{ENGINE, STATISTICS};
use flick_diagnostics::Code;
use flick_driver::{Error, Tool};
use flick_events::number::counted;
use flick_image::output;

use crate::kernels::{self, NATIVE, NXP, RV64, V3, VECTORISED};
use crate::print;
use crate::{
    Engines, Peer, file_error, finish, machine, measured, say, scratch, unreadable, variable,
};

#[derive(Args)]
pub struct Options {
    /// Processes of each kernel and engine, in turns; the table has medians over the runs of all
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Measured runs in a process, after one that is not
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Another engine of RV64 Linux programs: COMMAND, words apart, is followed by the program and
    /// its arguments (repeatable). qemu-riscv64 is taken where it is installed
    #[arg(long, value_name = "NAME=COMMAND", value_parser = Peer::parse)]
    peer: Vec<Peer>,
    #[command(flatten)]
    engines: Engines,
    /// Measure the programs of this directory instead of Flick's own kernels: `native`,
    /// `vectorised`, `x86-64-v3`, `nxp`, `rv64`, as far as they are there. Without arguments each
    /// prints the names of its kernels; with a name and N, N lines `NANOSECONDS CHECKSUM`
    #[arg(long, value_name = "DIRECTORY")]
    programs: Option<PathBuf>,
    /// Print comma-separated values
    #[arg(long)]
    csv: bool,
    /// Only these kernels
    #[arg(value_name = "KERNEL")]
    kernels: Vec<String>,
}

const QEMU: Tool = Tool {
    name: "qemu-riscv64",
    package: "qemu-user",
    purpose: "an engine to compare with",
};

#[derive(PartialEq)]
enum Kind {
    /// The kernels are host code.
    Host,
    /// They are on the NxP; `FLICK_ENGINE`.
    Nxp(String),
    /// Another engine of RV64 code. It need not run every kernel.
    Peer,
}

/// An engine, and how it is started; a kernel's name and the number of runs follow.
struct Engine {
    name: String,
    command: Vec<PathBuf>,
    kind: Kind,
}

impl Engine {
    fn command(&self) -> Command {
        let mut command = measured(&self.command[0]);
        command.args(&self.command[1..]);
        if let Kind::Nxp(engine) = &self.kind {
            command.env(variable(ENGINE.variable), engine);
        }
        command
    }

    fn output(&self, arguments: &[&str]) -> Result<String, Error> {
        let output = finish(self.command().args(arguments))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Bytes of RV64 code and of its translation, of one run of a kernel. The run counts
    /// instructions, so that its code is somewhat larger.
    fn translated(&self, kernel: &str) -> Result<[u64; 2], Error> {
        let dir = scratch()?;
        let record = dir.path().join("record");
        let mut command = self.command();
        finish(
            command
                .env(variable(STATISTICS), &record)
                .args([kernel, "1"]),
        )?;
        // A program that ends by `_exit` leaves none.
        let text = match std::fs::read_to_string(&record) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.map_err(|e| file_error("a file cannot be read", &record, &e))?,
        };
        engine_table::translated(&text).map_err(|why| unreadable(&self.command[0], why))
    }

    /// One more process of a kernel.
    fn run(&self, kernel: &str, runs: &str, before: Option<Cell>) -> Result<Cell, Error> {
        let output = self.output(&[kernel, runs])?;
        let wrong = |why| unreadable(&self.command[0], why);
        let new = Cell::parse(&output).map_err(wrong)?;
        match before {
            Some(mut cell) => cell.join(new).map(|()| cell).map_err(wrong),
            None => Ok(new),
        }
    }
}

/// FLK0104 if one of `names` is no kernel.
pub fn unknown(names: &[String], known: &[String]) -> Result<(), Error> {
    match names.iter().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Error::new(
            Code::BadOption,
            "there is no such kernel",
            name.clone(),
            format!("the kernels are {}", known.join(", ")),
            "flick bench engine, without a name, for all",
        )),
    }
}

/// Those that run programs of `dir`, which [`NATIVE`] is one of.
fn engines(dir: &Path, peers: Vec<Peer>, options: &Options) -> Vec<Engine> {
    let program = |name: &str| Some(dir.join(name)).filter(|path| path.exists());
    let mut engines = vec![Engine {
        name: NATIVE.into(),
        command: vec![dir.join(NATIVE)],
        kind: Kind::Host,
    }];
    let mut add = |name: &str, command, kind| {
        engines.push(Engine {
            name: name.into(),
            command,
            kind,
        });
    };
    for name in [VECTORISED, V3] {
        let runs = name != V3 || std::arch::is_x86_feature_detected!("avx2");
        if let Some(path) = program(name).filter(|_| runs) {
            add(name, vec![path], Kind::Host);
        }
    }
    if let Some(path) = program(NXP) {
        for name in options.engines.names() {
            add(name, vec![path.clone()], Kind::Nxp(name.into()));
        }
    }
    if let Some(path) = program(RV64) {
        for peer in peers {
            let mut command: Vec<PathBuf> = peer.command.iter().map(Into::into).collect();
            command.push(path.clone());
            add(&peer.name, command, Kind::Peer);
        }
    }
    engines
}

pub fn run(options: &Options) -> Result<(), Error> {
    let mut peers: Vec<Peer> = Vec::new();
    peers.extend(QEMU.locate().map(|path| Peer {
        name: "qemu-user".into(),
        command: vec![path.display().to_string()],
    }));
    peers.extend(options.peer.iter().cloned());
    let built;
    let dir = match &options.programs {
        Some(dir) => dir,
        None => {
            built = scratch()?;
            say("building the kernels (some 20 s)");
            kernels::build(built.path(), &options.kernels, !peers.is_empty())?;
            built.path()
        }
    };
    let engines = engines(dir, peers, options);

    let known = engines[0].output(&[])?;
    let mut kernels: Vec<String> = known.lines().map(Into::into).collect();
    unknown(&options.kernels, &kernels)?;
    kernels.retain(|kernel| options.kernels.is_empty() || options.kernels.contains(kernel));
    let mut rows = Vec::new();
    for (number, kernel) in kernels.iter().enumerate() {
        say(format_args!("[{}/{}] {kernel}", number + 1, kernels.len()));
        let row = measure(kernel, &engines, options)?;
        let own = |&wrong: &usize| engines[wrong].kind != Kind::Peer;
        if let Some(wrong) = row.wrong().find(own) {
            let (wrong, right) = (&engines[wrong], &engines[0].name);
            return Err(unreadable(
                &wrong.command[0],
                format!(
                    "{kernel}: {} computes another checksum than {right}",
                    wrong.name
                ),
            ));
        }
        rows.push(row);
    }
    let all = |kind: &dyn Fn(&Kind) -> bool| -> Vec<usize> {
        let all = engines.iter().enumerate();
        all.filter(|(_, engine)| kind(&engine.kind))
            .map(|(i, _)| i)
            .collect()
    };
    let own = all(&|kind| matches!(kind, Kind::Nxp(_)));
    let peers = all(&|kind| *kind == Kind::Peer);
    if !options.csv {
        say("once more with a count of the code that was translated");
    }
    let mut code = vec![[0; 2]; own.len()];
    for (sums, &number) in code.iter_mut().zip(&own) {
        for kernel in kernels.iter().filter(|_| !options.csv) {
            let bytes = engines[number].translated(kernel)?;
            sums.iter_mut().zip(bytes).for_each(|(sum, n)| *sum += n);
        }
    }
    let set = match options.programs {
        Some(_) => Set::Programs,
        None => Set::Kernels,
    };
    let names: Vec<String> = engines.into_iter().map(|engine| engine.name).collect();
    if options.csv {
        return print(&engine_table::csv(&names, &rows));
    }
    print(&format!(
        "{}\n\n{} of {}, medians of processor time; `x`: over that of {}\n\n{}\n{}",
        machine(),
        counted(options.rounds.into(), "process"),
        counted(options.runs.into(), "run"),
        names[0],
        engine_table::table(&names, &rows),
        engine_table::bars(&names, &own, &code, &peers, &rows, set)
    ))
}

/// Engines take turns, so that other work on the machine meets all alike.
fn measure(kernel: &str, engines: &[Engine], options: &Options) -> Result<Row, Error> {
    let mut cells: Vec<Option<Cell>> = vec![None; engines.len()];
    let mut failed = vec![false; engines.len()];
    let runs = options.runs.to_string();
    for _ in 0..options.rounds {
        for (number, engine) in engines.iter().enumerate() {
            if failed[number] {
                continue;
            }
            match engine.run(kernel, &runs, cells[number].take()) {
                Ok(cell) => cells[number] = Some(cell),
                Err(error) if engine.kind == Kind::Peer => {
                    output::message(error.at(format!("{}, {kernel}", engine.name)).as_warning());
                    failed[number] = true;
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(Row {
        kernel: kernel.into(),
        cells,
    })
}
