//! `flick bench paper nanvix`: builds the programs of share/flick/bench/paper/nanvix for the card, runs
//! them on the machine `mppa256`, timed, and writes tables and plots with the paper's figures beside.
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use flick_driver::{Error, Root};

use crate::nanvix::{self, ForkJoin, Results, Samples, Service, Wish, boot_cycles};
use crate::paper_run::{Run, execute, publish, raw_folder, read};
use crate::{finish, flick, scratch};

const MACHINE: &str = "mppa256";
/// One of its clusters: the others would do nothing.
const CLUSTER: [&str; 2] = ["tile.cluster.count=1", "link.noc.columns=1"];
/// A cluster with one bank of memory in place of 16.
const ONE_BANK: &str = "tile.cluster.memory.smem.banks=1";
/// What the paper wishes of the hardware: a name, a part of names of files, and a setting.
const WISHES: [(&str, &str, &str); 6] = [
    (
        "as it is: instruction cache of 8 KiB",
        "l1i8",
        "core.k1.l1i.size=8 KiB",
    ),
    (
        "instruction cache of 16 KiB",
        "l1i16",
        "core.k1.l1i.size=16 KiB",
    ),
    (
        "instruction cache of 32 KiB",
        "l1i32",
        "core.k1.l1i.size=32 KiB",
    ),
    (
        "no operations on caches",
        "plain",
        "isa=rv64imafdc_zicntr_zicsr_zifencei_zihpm",
    ),
    (
        "line invalidation (Zicbom)",
        "zicbom",
        "isa=rv64imafdc_zicbom_zicntr_zicsr_zifencei_zihpm",
    ),
    (
        "coherence, messages of 10 cycles",
        "coherent",
        "tile.cluster.coherence={kind=\"directory\",latency=\"25 ns\"}",
    ),
];
/// A program that waits for ever would never end.
const MOST_INSTRUCTIONS: &str = "20000000000";

#[derive(Args)]
pub struct Options {
    /// Where tables, plots and what the programs print (raw/) go
    #[arg(
        short,
        long,
        value_name = "DIR",
        default_value = "bench/paper/results/nanvix"
    )]
    output: PathBuf,
    /// Fewer numbers of threads and clusters
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
    let results = collect(&raw)?;
    let written = nanvix::write(&results, &options.output);
    publish(written, &nanvix::page(&results), &options.output)
}

/// A program, its arguments, what is set of the machine, and where its output goes.
struct Step {
    program: &'static str,
    arguments: Vec<&'static str>,
    settings: Vec<&'static str>,
    file: String,
}

/// The runs. A step between numbers of threads of 13 leaves 1 and 14.
fn steps(quick: bool) -> Vec<Step> {
    let few = if quick { "13" } else { "1" };
    let cluster = |program, argument, more: Option<&'static str>, file: &str| Step {
        program,
        arguments: vec![argument],
        settings: CLUSTER.into_iter().chain(more).collect(),
        file: file.into(),
    };
    let mut steps = vec![
        cluster("calls", few, None, "calls.csv"),
        cluster("fork_join", few, None, "fork_join.csv"),
        cluster("noise", few, None, "noise.csv"),
        cluster("noise", "13", Some(ONE_BANK), "noise-one-bank.csv"),
        cluster(
            "service",
            if quick { "2" } else { "20" },
            None,
            "service.csv",
        ),
        Step {
            program: "boot",
            arguments: Vec::new(),
            settings: Vec::new(),
            file: "boot.csv".into(),
        },
        Step {
            program: "mailbox",
            arguments: if quick { vec!["14", "20"] } else { vec!["1"] },
            settings: Vec::new(),
            file: "mailbox.csv".into(),
        },
    ];
    for (_, file, setting) in WISHES {
        for program in ["calls", "fork_join"] {
            let file = format!("{program}-{file}.csv");
            steps.push(cluster(program, "13", Some(setting), &file));
        }
    }
    steps
}

fn measure(quick: bool, raw: &Path) -> Result<(), Error> {
    let dir = scratch()?;
    build(dir.path())?;
    let flick = flick()?;
    let run = |step: Step| {
        let mut command = Command::new(&flick);
        command.args(["machine", "run", "--machine", MACHINE, "--timed"]);
        command.args(["--max-instructions", MOST_INSTRUCTIONS]);
        for setting in &step.settings {
            command.args(["--set", setting]);
        }
        command.arg("--program").arg(dir.path().join(step.program));
        command.arg("--").args(&step.arguments);
        let settings = step.settings.iter().map(|set| format!(" {set}"));
        let settings: String = settings.collect();
        Run {
            what: format!("{} of {MACHINE}{settings}", step.program),
            command,
            file: step.file,
        }
    };
    let mut runs: Vec<Run> = steps(quick).into_iter().map(run).collect();
    execute(&mut runs, raw)
}

fn build(dir: &Path) -> Result<(), Error> {
    let sources = Root::find()?.dir().join("share/flick/bench/paper/nanvix");
    for program in ["calls", "fork_join", "noise", "service", "boot", "mailbox"] {
        let mut cc = Command::new(flick()?);
        cc.args(["card", "cc", "-O2"])
            .arg(sources.join(program).with_extension("c"))
            .arg("-o")
            .arg(dir.join(program));
        if program == "boot" {
            // Of its own start alone, as the program says.
            cc.args(["-s", "-Wl,--entry=begin"]);
        }
        finish(&mut cc)?;
    }
    Ok(())
}

/// What the programs have printed, in this run or an earlier one.
fn collect(raw: &Path) -> Result<Results, Error> {
    let mut wishes = Vec::new();
    for (name, file, _) in WISHES {
        wishes.push(Wish {
            name,
            calls: read(&raw.join(format!("calls-{file}.csv")), Samples::calls)?,
            fork_join: read(&raw.join(format!("fork_join-{file}.csv")), ForkJoin::parse)?,
        });
    }
    Ok(Results {
        by: format!(
            "flick {}, machine {MACHINE}, timed",
            env!("CARGO_PKG_VERSION")
        ),
        calls: read(&raw.join("calls.csv"), Samples::calls)?,
        fork_join: read(&raw.join("fork_join.csv"), ForkJoin::parse)?,
        noise: read(&raw.join("noise.csv"), Samples::noise)?,
        noise_of_one_bank: read(&raw.join("noise-one-bank.csv"), Samples::noise)?,
        service: read(&raw.join("service.csv"), Service::parse)?,
        boot: read(&raw.join("boot.csv"), boot_cycles)?,
        mailbox: read(&raw.join("mailbox.csv"), Samples::mailbox)?,
        wishes,
    })
}
