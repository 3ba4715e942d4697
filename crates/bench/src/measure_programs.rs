//! `flick bench paper m3x --programs DIR`: runs what bench/paper/m3x/programs/build.sh has built in DIR, on the card
//! and under Linux (Figures 6 and 7).
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flick_driver::{Error, Root};

use crate::m3x::{RealPrograms, parse_programs};
use crate::paper_run::{Run, read};
use crate::{flick, unreadable};

/// A core of the tile of the kernel.
const CORE: &str = "{isa=\"rv64imafdc_zicntr_zicsr_zifencei_zihpm\",core=\"big\"}";
/// Clock and prefetcher of all runs. Programs read the clock, which is one of nanoseconds.
const CLOCK: &str = "timebase=1 GHz";
const PREFETCHER: [&str; 2] = [
    "core.big.prefetch.streams=16",
    "core.big.prefetch.degree=16",
];
const ROOT: [&str; 2] = ["tile.kernel.dtu.root=true", "tile.kernel.dtu.endpoints=64"];
const FEW_CORES: &str = "tile.cpu.count=1";
const LINUX_MEMORY: &str = "tile.kernel.memory.main.size=512 MiB";
/// Linux tests its ciphers else, while programs run.
const LINUX_COMMAND_LINE: &str = "console=ttyS0 panic=-1 quiet cryptomgr.notests";
const MOST_INSTRUCTIONS: &str = "20000000000";
/// Where programs have their files on the card.
const FOLDER: &str = "/srv/files";
/// Memory of the server of files, in MiB.
const MEMORY: &str = "48";

const LINUX: &str = "programs-linux.txt";
const PLAIN: &str = "programs-linux-plain.txt";

/// A line of the list: a program with its files and arguments, of which @ is the folder.
struct Line {
    name: String,
    archive: String,
    program: String,
    arguments: Vec<String>,
}

fn list(dir: &Path) -> Result<Vec<Line>, Error> {
    let path = dir.join("list");
    let text = fs::read_to_string(&path).map_err(|e| {
        let why = format!("{e}; bench/paper/m3x/programs/build.sh makes it");
        unreadable(&path, why)
    })?;
    let line = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some(Line {
            name: words.next()?,
            archive: words.next()?,
            program: words.next()?,
            arguments: words.map(|word| word.replace('@', FOLDER)).collect(),
        })
    };
    Ok(text.lines().filter_map(line).collect())
}

fn card_file(name: &str, is_shared: bool) -> String {
    let place = if is_shared { "shared" } else { "card" };
    format!("programs-{place}-{name}.txt")
}

/// The runs of all programs.
pub fn runs(dir: &Path) -> Result<Vec<Run>, Error> {
    let mut runs = vec![];
    for line in list(dir)? {
        for is_shared in [false, true] {
            let with = if is_shared {
                ", which shares a core with the server"
            } else {
                ""
            };
            runs.push(Run {
                what: format!("{} on the card{with}", line.name),
                command: on_card(dir, &line, is_shared)?,
                file: Some(card_file(&line.name, is_shared)),
            });
        }
    }
    for (file, prefetches) in [(LINUX, true), (PLAIN, false)] {
        let with = if prefetches {
            ""
        } else {
            " without a prefetcher"
        };
        runs.push(Run {
            what: format!("all programs under Linux{with}"),
            command: on_linux(dir, prefetches)?,
            file: Some(file.to_owned()),
        });
    }
    Ok(runs)
}

fn machine(harts: &str, settings: &[&str]) -> Result<Command, Error> {
    let mut command = Command::new(flick()?);
    command.args(["machine", "run", "--machine", "m3x-noc"]);
    command.args(["--max-instructions", MOST_INSTRUCTIONS]);
    let harts = format!("tile.kernel.hart=[{harts}]");
    for setting in [harts.as_str(), CLOCK, FEW_CORES].iter().chain(settings) {
        command.args(["--set", setting]);
    }
    Ok(command)
}

fn on_card(dir: &Path, line: &Line, is_shared: bool) -> Result<Command, Error> {
    let kernel = CORE.replace('{', "{kernel=true,");
    let cores = if is_shared { 1 } else { 2 };
    let harts = [vec![kernel.as_str()], vec![CORE; cores]]
        .concat()
        .join(",");
    let settings: Vec<&str> = ROOT.iter().chain(&PREFETCHER).copied().collect();
    let mut command = machine(&harts, &settings)?;
    let archive = format!("{}.tar", line.archive);
    let mut file: OsString = dir.join("input").join(&archive).into();
    file.push("=");
    file.push(&archive);
    command.arg("--timed");
    command
        .arg("--program")
        .arg(dir.join("card").join(&line.program));
    command.arg("--file").arg(file);
    command
        .args(["--", FOLDER, &line.name])
        .args(&line.arguments);
    let server = Root::find()?.card().join("file-server");
    command.arg("--program").arg(server);
    command.args(["--", "--size", MEMORY, "--sessions", "1", &archive]);
    Ok(command)
}

fn on_linux(dir: &Path, prefetches: bool) -> Result<Command, Error> {
    let mut settings = vec![LINUX_MEMORY];
    settings.extend(PREFETCHER.iter().filter(|_| prefetches));
    let mut command = machine(CORE, &settings)?;
    let boot = dir.join("boot");
    command.arg("--firmware").arg(boot.join("fw_dynamic.bin"));
    command.arg("--kernel").arg(boot.join("Image"));
    command.arg("--initrd").arg(boot.join("initrd.cpio"));
    command.args(["--append", LINUX_COMMAND_LINE, "--no-restart"]);
    Ok(command)
}

/// What was measured in this run or an earlier one; nothing, if programs were never run.
pub fn collect(raw: &Path) -> Result<RealPrograms, Error> {
    let linux = raw.join(LINUX);
    if !linux.exists() {
        return Ok(RealPrograms::default());
    }
    let linux = read(&linux, parse_programs)?;
    let card = |is_shared: bool| {
        let mut all = vec![];
        for times in &linux {
            let file: PathBuf = raw.join(card_file(&times.name, is_shared));
            all.extend(read(&file, parse_programs)?);
        }
        Ok::<_, Error>(all)
    };
    Ok(RealPrograms {
        alone: card(false)?,
        shared: card(true)?,
        plain: read(&raw.join(PLAIN), parse_programs)?,
        linux,
    })
}
