//! `flick bench engine`: builds the kernels of share/flick/bench/engine for the host, for the NxP and as
//! a program of RV64 Linux without a C library, which other engines run, and compares their times.
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use flick_abi::settings::ENGINE;
use flick_build::root::CLANG;
use flick_build::{Error, Root, Tool};
use flick_report::engine::{self, Cell, Row};

use super::{
    Engines, Peer, file_error, finish, flick, machine, measured, say, scratch, unreadable, variable,
};

#[derive(Args)]
pub struct Options {
    /// Processes of each kernel and engine, in turns; the table has medians over the runs of all
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Measured runs in a process, after one that is not
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Another engine of RV64 Linux programs: COMMAND, words apart, is followed by the program and its
    /// arguments (repeatable). qemu-riscv64 is taken where it is installed
    #[arg(long, value_name = "NAME=COMMAND", value_parser = Peer::parse)]
    peer: Vec<Peer>,
    #[command(flatten)]
    engines: Engines,
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

/// For every compiler. Contraction is the compiler's choice where it is not forbidden, and differs by
/// machine; so does what a call of `sqrt` does to errno.
const EVERYWHERE: [&str; 5] = [
    "-O2",
    "-std=c11",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-Wno-c23-extensions",
];
const SCALAR: [&str; 2] = ["-fno-vectorize", "-fno-slp-vectorize"];
const RV64: [&str; 8] = [
    "--target=riscv64-unknown-elf",
    "-march=rv64gc",
    "-mabi=lp64d",
    "-ffreestanding",
    "-fno-builtin",
    "-nostdlib",
    "-static",
    "-fuse-ld=lld",
];

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

struct Sources {
    dir: PathBuf,
    graph: PathBuf,
}

impl Sources {
    fn find() -> Result<Self, Error> {
        let share = Root::find()?.dir().join("share/flick");
        Ok(Self {
            dir: share.join("bench/engine"),
            graph: share.join("examples/data"),
        })
    }

    /// The files of the kernels of these names; no names: of all.
    fn kernels(&self, names: &[String]) -> Result<Vec<PathBuf>, Error> {
        let failed = |e| file_error("a directory cannot be read", &self.dir, &e);
        let mut files = Vec::new();
        for entry in self.dir.read_dir().map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let drivers = ["main", "hosted", "bare"].map(OsStr::new);
            if path.extension() == Some(OsStr::new("c"))
                && !path.file_stem().is_some_and(|stem| drivers.contains(&stem))
            {
                files.push(path);
            }
        }
        files.sort();
        let stem = |file: &PathBuf| {
            let stem = file.file_stem().unwrap_or_default();
            stem.to_string_lossy().into_owned()
        };
        if let Some(name) = names.iter().find(|n| !files.iter().any(|f| stem(f) == **n)) {
            let known: Vec<String> = files.iter().map(stem).collect();
            return Err(Error::new(
                104,
                "there is no such kernel",
                name.clone(),
                format!("the kernels are {}", known.join(", ")),
                "flick bench engine, without a name, for all",
            ));
        }
        files.retain(|f| names.is_empty() || names.iter().any(|n| stem(f) == **n));
        Ok(files)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn compile(&self, mut compiler: Command, options: &[&str]) -> Command {
        compiler
            .args(EVERYWHERE)
            .args(options)
            .arg(format!("--embed-dir={}", self.graph.display()));
        compiler
    }

    /// Links `kernels`, sources or objects, with their driver and `system`, `hosted.c` or `bare.c`.
    fn link(
        &self,
        compiler: Command,
        options: &[&str],
        kernels: &[PathBuf],
        system: &str,
        program: &Path,
    ) -> Result<(), Error> {
        finish(
            self.compile(compiler, options)
                .args(kernels)
                .args(["main.c", system].map(|name| self.file(name)))
                .arg("-o")
                .arg(program),
        )?;
        Ok(())
    }
}

/// Builds everything in `dir`.
fn build(sources: &Sources, dir: &Path, options: &Options) -> Result<Vec<Engine>, Error> {
    let kernels = sources.kernels(&options.kernels)?;
    let clang = || Command::new(CLANG.name);
    let mut engines = Vec::new();

    let hosts: [(&str, &[&str]); 3] = [
        ("native", &SCALAR),
        ("vectorised", &[]),
        ("x86-64-v3", &["-march=x86-64-v3"]),
    ];
    let v3 = std::arch::is_x86_feature_detected!("avx2");
    for (name, options) in hosts {
        let program = dir.join(name);
        if name == "x86-64-v3" && !v3 {
            continue;
        }
        sources.link(clang(), options, &kernels, "hosted.c", &program)?;
        engines.push(Engine {
            name: name.into(),
            command: vec![program],
            kind: Kind::Host,
        });
    }

    // The driver stays on the host; each call of a kernel crosses once.
    let place = dir.join("all.nxp");
    std::fs::write(&place, "nxp *\n")
        .map_err(|e| file_error("a file cannot be written", &place, &e))?;
    let mut objects = Vec::new();
    let flick = flick()?;
    let cc = || {
        let mut cc = Command::new(&flick);
        cc.arg("cc");
        cc
    };
    for (number, kernel) in kernels.iter().enumerate() {
        let object = dir.join(format!("{number}.o"));
        finish(
            sources
                .compile(cc(), &SCALAR)
                .arg(format!("--flick-place={}", place.display()))
                .arg("-c")
                .arg(kernel)
                .arg("-o")
                .arg(&object),
        )?;
        objects.push(object);
    }
    let program = dir.join("nxp");
    sources.link(cc(), &SCALAR, &objects, "hosted.c", &program)?;
    for name in options.engines.names() {
        engines.push(Engine {
            name: name.into(),
            command: vec![program.clone()],
            kind: Kind::Nxp(name.into()),
        });
    }

    let mut all = Vec::new();
    all.extend(QEMU.locate().map(|path| Peer {
        name: "qemu-user".into(),
        command: vec![path.display().to_string()],
    }));
    all.extend(options.peer.iter().cloned());
    if !all.is_empty() {
        let program = dir.join("rv64");
        sources.link(clang(), &RV64, &kernels, "bare.c", &program)?;
        for peer in all {
            let mut command: Vec<PathBuf> = peer.command.iter().map(Into::into).collect();
            command.push(program.clone());
            engines.push(Engine {
                name: peer.name,
                command,
                kind: Kind::Peer,
            });
        }
    }
    Ok(engines)
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

pub fn run(options: &Options) -> Result<(), Error> {
    let sources = Sources::find()?;
    let dir = scratch()?;
    say("building the kernels");
    let engines = build(&sources, dir.path(), options)?;

    let known = engines[0].output(&[])?;
    let mut rows = Vec::new();
    for kernel in known.lines() {
        say(kernel);
        let row = measure(kernel, &engines, options)?;
        let own = |&wrong: &usize| engines[wrong].kind != Kind::Peer;
        if let Some(wrong) = row.wrong().find(own) {
            let (wrong, right) = (&engines[wrong].name, &engines[0].name);
            return Err(unreadable(
                &sources.file(&format!("{kernel}.c")),
                format!("{wrong} computes another checksum than {right}"),
            ));
        }
        rows.push(row);
    }
    let names: Vec<String> = engines.into_iter().map(|engine| engine.name).collect();
    if options.csv {
        print!("{}", engine::csv(&names, &rows));
    } else {
        println!("{}\n", machine());
        println!(
            "{} processes of {} runs each, medians; `x`: time over that of {}\n",
            options.rounds, options.runs, names[0]
        );
        print!("{}", engine::table(&names, &rows));
    }
    Ok(())
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
                    eprintln!(
                        "{}",
                        error.at(format!("{}, {kernel}", engine.name)).as_warning()
                    );
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
