//! `flick bench paper m3x`: builds the programs of share/flick/bench/paper/m3x for the card, runs them on the
//! machines `m3x-noc` and `m3x-pcie`, timed, and writes tables and plots with the figures of "M3x: Autonomous
//! Accelerators via Context-Enabled Fast-Path Communication" (ATC 2019) beside.
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use flick_driver::{Error, Root};

use crate::m3x::{
    self, ACCELERATORS, Batches, CHAIN_MODES, ChainMode, ChainTimes, Chains, CoreTrips, MACHINES,
    Program, Results, RoundTrips, Suspended, Switches,
};
use crate::nanvix::Samples;
use crate::paper_run::{Run, execute, publish, raw_folder, read};
use crate::{finish, flick, measure_programs, scratch};

/// The kernel's tile is the root, and has a core for programs beside that of the kernel.
const ROOT: [&str; 3] = [
    "tile.kernel.dtu.root=true",
    "tile.kernel.dtu.endpoints=64",
    "tile.kernel.hart=[{kernel=true,isa=\"rv64imafdc_zicntr_zicsr_zifencei_zihpm\",core=\"big\"},\
     {isa=\"rv64imafdc_zicntr_zicsr_zifencei_zihpm\",core=\"big\"}]",
];
/// One more core for programs.
const TWO_CORES: &str = "tile.kernel.hart=[\
     {kernel=true,isa=\"rv64imafdc_zicntr_zicsr_zifencei_zihpm\",core=\"big\"},\
     {count=2,isa=\"rv64imafdc_zicntr_zicsr_zifencei_zihpm\",core=\"big\"}]";
/// Those of tiles for applications would do nothing.
const FEW_CORES: &str = "tile.cpu.count=1";
/// Two tiles for programs, which have a core beside that of their kernel.
const TWO_TILES: [&str; 3] = [
    "tile.cpu.count=2",
    "tile.cpu.dtu.endpoints=64",
    "tile.cpu.hart=[{kernel=true,isa=\"rv64imafdc_zicntr_zicsr_zifencei_zihpm\",core=\"big\"},\
     {isa=\"rv64imafdc_zicntr_zicsr_zifencei_zihpm\",core=\"big\"}]",
];
/// The root decides on switches between their programs.
const BY_ROOT: &str = "tile.cpu.dtu.switches=root";
/// Accelerators of streams with two buffers.
const TWO_BUFFERS: [&str; 6] = [
    "tile.fft.accelerator.buffers=2",
    "tile.mul.accelerator.buffers=2",
    "tile.ifft.accelerator.buffers=2",
    "tile.fft.memory.spm.size=8 KiB",
    "tile.mul.memory.spm.size=8 KiB",
    "tile.ifft.memory.spm.size=8 KiB",
];
/// The first tiles of their kinds then, for programs that do not ask a kernel.
const TILES: [(&str, u32); 6] = [
    ("CORE_TILE", 1),
    ("FFT_TILE", 2),
    ("MUL_TILE", 6),
    ("IFFT_TILE", 10),
    ("MD_TILE", 15),
    ("DRAM_TILE", 18),
];
const MOST_INSTRUCTIONS: &str = "20000000000";

#[derive(Args)]
pub struct Options {
    /// Where tables, plots and what the programs print (raw/) go
    #[arg(
        short,
        long,
        value_name = "DIR",
        default_value = "bench/paper/results/m3x"
    )]
    output: PathBuf,
    /// Smaller images, and 1 and 4 chains alone
    #[arg(long)]
    quick: bool,
    /// Run the programs of Figures 6 and 7, too, which bench/paper/m3x/programs/build.sh has built there
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
    /// Run these programs alone; everything else is of an earlier run
    #[arg(long, requires = "programs")]
    only_programs: bool,
    /// Run nothing: make the tables of what is in raw/
    #[arg(long)]
    only_report: bool,
}

pub fn run(options: &Options) -> Result<(), Error> {
    let raw = raw_folder(&options.output)?;
    if !options.only_report {
        measure(options, &raw)?;
    }
    let results = collect(&raw)?;
    let written = m3x::write(&results, &options.output);
    publish(written, &m3x::page(&results), &options.output)
}

fn chain_file(machine: &str, mode: &ChainMode) -> String {
    format!("chains-{machine}-{}.csv", mode.file)
}

/// How much is measured.
struct Extent {
    /// Between numbers of chains: 3 leaves 1 and 4.
    step: &'static str,
    /// Of an image: 4 MiB are 2,048.
    blocks: &'static str,
    /// With a warm-up, if there are several.
    repetitions: &'static str,
    /// Steps with a request, beside all of them (0).
    batches: &'static [&'static str],
    /// Of turns, in milliseconds.
    slices: &'static [u32],
    /// Of how many accelerators of requests: the steps of the later ones take more of the host's time.
    accelerators: usize,
}

const WHOLE: Extent = Extent {
    step: "1",
    blocks: "2048",
    repetitions: "2",
    batches: &["1", "2", "4", "8", "16", "32", "64", "128", "256"],
    slices: &SLICES,
    accelerators: ACCELERATORS.len(),
};
const QUICK: Extent = Extent {
    step: "3",
    blocks: "256",
    repetitions: "1",
    batches: &["16"],
    slices: &[SLICES[0]],
    accelerators: 2,
};
/// The programs for receivers without a turn, and what their machines have.
const SUSPENDED: [(&str, &[&str]); 2] = [("suspended", &[]), ("suspended_core", &[TWO_CORES])];
const SLICES: [u32; 3] = [1, 2, 4];
/// Round trips.
const REPETITIONS: &str = "16";

fn trips_file(machine: &str, kind: &str) -> String {
    format!("round-trips-{machine}-{kind}.csv")
}

fn switches_file(machine: &str, slice: u32) -> String {
    format!("switches-{machine}-{slice}.csv")
}

fn batches_file(accelerator: &str) -> String {
    format!("batches-{accelerator}.csv")
}

fn measure(options: &Options, raw: &Path) -> Result<(), Error> {
    let programs = options.programs.as_deref();
    let mut of_programs = programs.map_or(Ok(vec![]), |dir| measure_programs::runs(dir, raw))?;
    if options.only_programs {
        return execute(&mut of_programs, raw);
    }
    let dir = scratch()?;
    let extent = if options.quick { QUICK } else { WHOLE };
    for program in m3x::PROGRAMS {
        compile(program, &dir.path().join(program), &[])?;
    }
    let mut runs = Vec::new();
    for machine in MACHINES {
        let bare = dir.path().join("round_trips_bare");
        let repetitions = define("REPETITIONS", &REPETITIONS);
        compile("round_trips_bare", &bare, &[repetitions])?;
        let mut command = on(machine, &[])?;
        command.arg("--firmware").arg(bare);
        runs.push(Run {
            what: format!("round trips of a core's own bank, on {machine}"),
            command,
            file: Some(trips_file(machine, "own")),
        });
        let mut command = on(machine, &[])?;
        command.arg("--program").arg(dir.path().join("round_trips"));
        command.args(["--", REPETITIONS]);
        runs.push(Run {
            what: format!("round trips by calls, on {machine}"),
            command,
            file: Some(trips_file(machine, "calls")),
        });
        for (program, more) in SUSPENDED {
            let mut command = on(machine, more)?;
            command.arg("--program").arg(dir.path().join(program));
            command.args(["--", REPETITIONS]);
            runs.push(Run {
                what: format!("round trips to receivers without a turn, {program}, on {machine}"),
                command,
                file: Some(trips_file(machine, program)),
            });
        }
        for (kind, more) in [("cores", None), ("cores-by-root", Some(&BY_ROOT))] {
            let settings: Vec<_> = TWO_TILES.iter().chain(more).copied().collect();
            let mut command = on(machine, &settings)?;
            for (tile, word) in [("cpu0", REPETITIONS), ("cpu1", "serve")] {
                let program = dir.path().join("core_trips");
                let program = format!("{tile}:{}", program.display());
                command.args(["--program", &program, "--", word]);
            }
            runs.push(Run {
                what: format!("round trips between core tiles ({kind}), on {machine}"),
                command,
                file: Some(trips_file(machine, kind)),
            });
        }
    }
    for (accelerator, _) in ACCELERATORS.iter().take(extent.accelerators) {
        let mut command = on(MACHINES[0], &[])?;
        command.arg("--program").arg(dir.path().join("batches"));
        // Its steps take 100 times as much of the host's time as others.
        let few = extent
            .batches
            .iter()
            .step_by(if accelerator == &"fft1d" { 4 } else { 1 });
        let all = std::iter::once(&"0");
        command.args(["--", accelerator]).args(few.chain(all));
        runs.push(Run {
            what: format!("requests for {accelerator}, on {}", MACHINES[0]),
            command,
            file: Some(batches_file(accelerator)),
        });
    }
    for mode in &CHAIN_MODES {
        let built = build(mode, &extent, dir.path())?;
        for machine in MACHINES {
            let two = if mode.buffers == 2 {
                &TWO_BUFFERS[..]
            } else {
                &[]
            };
            let mut command = on(machine, two)?;
            match mode.program {
                Program::OfKernel(_) => {
                    let buffers = mode.buffers.to_string();
                    command.arg("--program").arg(&built);
                    command.args(["--", extent.step, extent.blocks, &buffers]);
                    command.arg(extent.repetitions);
                }
                Program::Bare(_) => {
                    command.arg("--firmware").arg(&built);
                }
            }
            runs.push(Run {
                what: format!("image chains, {}, on {machine}", mode.name),
                command,
                file: Some(chain_file(machine, mode)),
            });
        }
    }
    for machine in MACHINES {
        for &slice in extent.slices {
            let setting = format!("tile.kernel.dtu.slice={slice} ms");
            let mut command = on(machine, &[&setting])?;
            command.arg("--program").arg(dir.path().join("autonomous"));
            command.args(["--", extent.step, extent.blocks, "1", extent.repetitions]);
            command.arg("shared");
            runs.push(Run {
                what: format!("image chains in slices of {slice} ms, on {machine}"),
                command,
                file: Some(switches_file(machine, slice)),
            });
        }
    }
    runs.extend(of_programs);
    execute(&mut runs, raw)
}

/// A run on the variant of a machine.
fn on(machine: &str, more: &[&str]) -> Result<Command, Error> {
    let mut command = Command::new(flick()?);
    command.args(["machine", "run", "--machine", machine, "--timed"]);
    command.args(["--max-instructions", MOST_INSTRUCTIONS]);
    for setting in ROOT.iter().chain([&FEW_CORES]).chain(more) {
        command.args(["--set", setting]);
    }
    Ok(command)
}

fn define(name: &str, value: &dyn std::fmt::Display) -> String {
    format!("-D{name}={value}")
}

/// The program of a mode. One without a kernel is compiled for its numbers.
fn build(mode: &ChainMode, extent: &Extent, dir: &Path) -> Result<PathBuf, Error> {
    let program = match mode.program {
        Program::OfKernel(program) => return Ok(dir.join(program)),
        Program::Bare(program) => program,
    };
    let built = dir.join(format!("bare-{}", mode.file));
    let options = [
        define("STEP", &extent.step),
        define("BLOCKS", &extent.blocks),
        define("REPETITIONS", &extent.repetitions),
        define("BUFFERS", &mode.buffers),
        define("FILES", &u8::from(mode.has_files)),
    ];
    compile(program, &built, &options)?;
    Ok(built)
}

/// Compiles a program. One without a kernel begins at the first address, and knows the tiles.
fn compile(program: &str, built: &Path, options: &[String]) -> Result<(), Error> {
    let root = Root::find()?;
    let sources = root.dir().join("share/flick/bench/paper/m3x");
    let mut cc = Command::new(flick()?);
    cc.args(["card", "cc", "-O2", "-pthread"])
        .arg(sources.join(program).with_extension("c"))
        .args(options);
    if program.ends_with("bare") {
        cc.arg("-I").arg(root.dir().join("include"));
        cc.args(["-Wl,--image-base=0x80000000", "-Wl,--entry=begin"]);
        cc.args(TILES.map(|(name, tile)| define(name, &tile)));
    }
    cc.arg("-o").arg(built);
    finish(&mut cc).map(drop)
}

/// What the programs have printed, in this run or an earlier one.
fn collect(raw: &Path) -> Result<Results, Error> {
    let chains = |machine: &'static str| {
        let modes: Result<_, Error> = CHAIN_MODES
            .iter()
            .map(|mode| read(&raw.join(chain_file(machine, mode)), ChainTimes::parse))
            .collect();
        Ok(Chains {
            machine,
            modes: modes?,
        })
    };
    let chains: Result<_, Error> = MACHINES.into_iter().map(chains).collect();
    let samples = |machine, kind| read(&raw.join(trips_file(machine, kind)), Samples::migration);
    let suspended = |machine: &'static str| {
        Ok(Suspended {
            machine,
            accelerators: samples(machine, SUSPENDED[0].0)?,
            core: samples(machine, SUSPENDED[1].0)?,
        })
    };
    let suspended: Result<_, Error> = MACHINES.into_iter().map(suspended).collect();
    let trips = |machine: &'static str| {
        Ok(RoundTrips {
            machine,
            own: samples(machine, "own")?,
            calls: samples(machine, "calls")?,
        })
    };
    let trips: Result<_, Error> = MACHINES.into_iter().map(trips).collect();
    let core_trips = |machine: &'static str| {
        let samples = |kind| read(&raw.join(trips_file(machine, kind)), Samples::migration);
        Ok(CoreTrips {
            machine,
            samples: samples("cores")?,
            by_root: samples("cores-by-root")?,
        })
    };
    let core_trips: Result<_, Error> = MACHINES.into_iter().map(core_trips).collect();
    // A quick run has fewer of them.
    let files = ACCELERATORS.map(|(file, name)| (raw.join(batches_file(file)), name));
    let files = files.into_iter().filter(|(path, _)| path.exists());
    let batches: Result<_, Error> = files
        .map(|(path, name)| {
            let all = read(&path, Batches::parse)?;
            Ok(Batches { name, all })
        })
        .collect();
    let switches = |machine: &'static str| {
        let files = SLICES.map(|slice| (slice, raw.join(switches_file(machine, slice))));
        let files = files.into_iter().filter(|(_, path)| path.exists());
        let slices: Result<_, Error> = files
            .map(|(slice, path)| Ok((slice, read(&path, ChainTimes::parse)?)))
            .collect();
        let slices = slices?;
        Ok(Switches { machine, slices })
    };
    let switches: Result<_, Error> = MACHINES.into_iter().map(switches).collect();
    Ok(Results {
        switches: switches?,
        programs: measure_programs::collect(raw)?,
        trips: trips?,
        suspended: suspended?,
        core_trips: core_trips?,
        batches: batches?,
        by: format!("flick {}, timed", env!("CARGO_PKG_VERSION")),
        chains: chains?,
    })
}
