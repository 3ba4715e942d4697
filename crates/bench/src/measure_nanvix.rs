//! `flick bench paper nanvix`: builds the programs of share/flick/bench/paper/nanvix for the card, runs
//! them on the machine `mppa256`, timed, and writes tables and plots with the paper's figures beside.
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use flick_driver::{Error, Root};
use flick_image::output;

use crate::nanvix::{
    self, Breakdown, ForkJoin, Results, Samples, Service, Symmetric, Wish, boot_cycles,
};
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
/// Those of which both kernels are measured, by their parts of names of files.
const OF_BOTH: [&str; 3] = ["l1i8", "l1i32", "coherent"];
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
    let kernel = Root::find()?.symmetric_kernel();
    if !options.only_report {
        measure(options.quick, kernel.as_deref(), &raw)?;
    }
    let has_symmetric = match options.only_report {
        true => raw.join("symmetric-calls.csv").exists(),
        false => kernel.is_some(),
    };
    let results = collect(&raw, has_symmetric)?;
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

fn cluster(
    program: &'static str,
    arguments: &[&'static str],
    more: Option<&'static str>,
    file: &str,
) -> Step {
    Step {
        program,
        arguments: arguments.into(),
        settings: CLUSTER.into_iter().chain(more).collect(),
        file: file.into(),
    }
}

/// The runs. A step between numbers of threads of 13 leaves 1 and 14.
fn steps(quick: bool) -> Vec<Step> {
    let few = if quick { "13" } else { "1" };
    let mut steps = vec![
        cluster("calls", &[few], None, "calls.csv"),
        cluster("fork_join", &[few], None, "fork_join.csv"),
        cluster("noise", &[few], None, "noise.csv"),
        cluster("noise", &["13"], Some(ONE_BANK), "noise-one-bank.csv"),
        cluster(
            "service",
            &[if quick { "2" } else { "20" }],
            None,
            "service.csv",
        ),
        cluster("refill", &[], None, "refill.csv"),
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
        Step {
            program: "portal",
            arguments: vec![if quick { "14" } else { "1" }],
            settings: Vec::new(),
            file: "portal.csv".into(),
        },
    ];
    for (_, file, setting) in WISHES {
        for program in ["calls", "fork_join"] {
            let file = format!("{program}-{file}.csv");
            steps.push(cluster(program, &["13"], Some(setting), &file));
        }
    }
    steps
}

/// Those of the symmetric kernel.
fn symmetric_steps(quick: bool) -> Vec<Step> {
    let few = if quick { "13" } else { "1" };
    let kinds = [few, "alone", "calls", "changes"];
    let mut steps = vec![
        cluster("calls", &[few], None, "symmetric-calls.csv"),
        cluster("fork_join", &[few], None, "symmetric-fork_join.csv"),
        cluster("noise", &kinds, None, "symmetric-noise.csv"),
        cluster("refill", &[], None, "symmetric-refill.csv"),
    ];
    for (_, file, setting) in WISHES.iter().filter(|(_, file, _)| OF_BOTH.contains(file)) {
        for program in ["calls", "fork_join"] {
            let file = format!("symmetric-{program}-{file}.csv");
            steps.push(cluster(program, &["13"], Some(setting), &file));
        }
    }
    steps
}

/// Numbers of callers whose calls are broken down.
fn broken_down(quick: bool) -> Vec<u32> {
    if quick {
        vec![1, 14]
    } else {
        (1..=14).collect()
    }
}

fn breakdown_file(callers: u32) -> String {
    format!("breakdown-{callers}.csv")
}

/// Runs whose calls are broken down.
fn breakdowns(quick: bool, program: &Path, raw: &Path) -> Result<Vec<Run>, Error> {
    let run = |callers: u32| {
        let mut command = Command::new(flick()?);
        command.args([
            "machine",
            "stat",
            "--machine",
            MACHINE,
            "--timed",
            "--calls",
        ]);
        command.arg(raw.join(breakdown_file(callers)));
        command.args(CLUSTER.iter().flat_map(|setting| ["--set", setting]));
        command.arg("--program").arg(program);
        command.args(["--", "14", &callers.to_string()]);
        Ok(Run {
            what: format!("calls of {callers} callers, broken down"),
            command,
            file: None,
        })
    };
    broken_down(quick).into_iter().map(run).collect()
}

/// `symmetric`: the symmetric kernel, if it was built.
fn measure(quick: bool, symmetric: Option<&Path>, raw: &Path) -> Result<(), Error> {
    let dir = scratch()?;
    build(dir.path())?;
    let flick = flick()?;
    let run = |step: Step, kernel: Option<&Path>| {
        let mut command = Command::new(&flick);
        command.args(["machine", "run", "--machine", MACHINE, "--timed"]);
        command.args(["--max-instructions", MOST_INSTRUCTIONS]);
        if let Some(kernel) = kernel {
            command.arg("--firmware").arg(kernel);
        }
        for setting in &step.settings {
            command.args(["--set", setting]);
        }
        command.arg("--program").arg(dir.path().join(step.program));
        command.arg("--").args(&step.arguments);
        let settings = step.settings.iter().map(|set| format!(" {set}"));
        let settings: String = settings.collect();
        let kernel = kernel.map_or("", |_| ", symmetric kernel");
        Run {
            what: format!("{} of {MACHINE}{settings}{kernel}", step.program),
            command,
            file: Some(step.file),
        }
    };
    let own = steps(quick).into_iter().map(|step| run(step, None));
    let mut runs: Vec<Run> = own.collect();
    runs.extend(breakdowns(quick, &dir.path().join("calls"), raw)?);
    match symmetric {
        Some(_) => runs.extend(
            symmetric_steps(quick)
                .into_iter()
                .map(|step| run(step, symmetric)),
        ),
        None => output::message(format_args!(
            "the symmetric kernel is skipped: make has not built it"
        )),
    }
    execute(&mut runs, raw)
}

fn build(dir: &Path) -> Result<(), Error> {
    let sources = Root::find()?.dir().join("share/flick/bench/paper/nanvix");
    for program in [
        "calls",
        "fork_join",
        "noise",
        "service",
        "refill",
        "boot",
        "mailbox",
        "portal",
    ] {
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
fn collect(raw: &Path, has_symmetric: bool) -> Result<Results, Error> {
    let wish = |(name, file, _): &(&'static str, &str, &str), prefix: &str| {
        let path = |program: &str| raw.join(format!("{prefix}{program}-{file}.csv"));
        Ok(Wish {
            name,
            calls: read(&path("calls"), Samples::calls)?,
            fork_join: read(&path("fork_join"), ForkJoin::parse)?,
        })
    };
    let wishes: Result<_, Error> = WISHES.iter().map(|row| wish(row, "")).collect();
    let symmetric = || {
        let of_both = WISHES.iter().filter(|row| OF_BOTH.contains(&row.1));
        let wishes: Result<_, Error> = of_both.map(|row| wish(row, "symmetric-")).collect();
        Ok(Symmetric {
            calls: read(&raw.join("symmetric-calls.csv"), Samples::calls)?,
            fork_join: read(&raw.join("symmetric-fork_join.csv"), ForkJoin::parse)?,
            noise: read(&raw.join("symmetric-noise.csv"), Samples::noise)?,
            refill: read(&raw.join("symmetric-refill.csv"), Samples::refill)?,
            wishes: wishes?,
        })
    };
    // A quick run has fewer of them.
    let broken_down = broken_down(false).into_iter();
    let files = broken_down.map(|callers| (callers, raw.join(breakdown_file(callers))));
    let files = files.filter(|(_, path)| path.exists());
    let breakdown: Result<_, Error> = files
        .map(|(callers, path)| Ok((callers, read(&path, Breakdown::parse)?)))
        .collect();
    Ok(Results {
        by: format!(
            "flick {}, machine {MACHINE}, timed",
            env!("CARGO_PKG_VERSION")
        ),
        calls: read(&raw.join("calls.csv"), Samples::calls)?,
        breakdown: breakdown?,
        fork_join: read(&raw.join("fork_join.csv"), ForkJoin::parse)?,
        noise: read(&raw.join("noise.csv"), Samples::noise)?,
        noise_of_one_bank: read(&raw.join("noise-one-bank.csv"), Samples::noise)?,
        service: read(&raw.join("service.csv"), Service::parse)?,
        boot: read(&raw.join("boot.csv"), boot_cycles)?,
        mailbox: read(&raw.join("mailbox.csv"), Samples::mailbox)?,
        portal: read(&raw.join("portal.csv"), Samples::mailbox)?,
        refill: read(&raw.join("refill.csv"), Samples::refill)?,
        wishes: wishes?,
        symmetric: has_symmetric.then(symmetric).transpose()?,
    })
}
