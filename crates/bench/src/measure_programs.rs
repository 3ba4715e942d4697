//! `flick bench paper m3x --programs DIR`: runs what bench/paper/m3x/programs/build.sh has built in DIR, on the card
//! and under Linux (Figures 6 and 7).
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flick_driver::{Error, Root};

use crate::m3x::{REPLAYED, RealPrograms, parse_programs, split_replayed};
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
/// Linux runs programs alone, and writes none of their calls down.
const NO_TRACES: &str = "no-traces";
/// The program that makes the calls of a trace, and the name of all traces on the card.
const REPLAY: &str = "replay";
const TRACES: &str = "traces";
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

/// How a program runs on the card.
#[derive(Clone, Copy)]
enum OnCard {
    Alone,
    /// It shares a core with the server.
    Shared,
    /// Its calls alone, as they were made under Linux.
    Replayed,
}

impl OnCard {
    /// Where its output goes.
    fn file(self, name: &str) -> String {
        let place = match self {
            Self::Alone => "card",
            Self::Shared => "shared",
            Self::Replayed => "replayed",
        };
        format!("programs-{place}-{name}.txt")
    }
}

/// The runs of all programs. Those of Linux come first, because they leave traces in `raw`.
pub fn runs(dir: &Path, raw: &Path) -> Result<Vec<Run>, Error> {
    let mut runs = vec![];
    for (file, is_plain) in [(LINUX, false), (PLAIN, true)] {
        let with = if is_plain {
            " without a prefetcher"
        } else {
            ", and their traces"
        };
        runs.push(Run {
            what: format!("all programs under Linux{with}"),
            command: on_linux(dir, is_plain)?,
            file: Some(file.to_owned()),
        });
    }
    for line in list(dir)? {
        for how in [OnCard::Alone, OnCard::Shared, OnCard::Replayed] {
            let with = match how {
                OnCard::Alone => "",
                OnCard::Shared => ", which shares a core with the server",
                OnCard::Replayed => ", replayed",
            };
            runs.push(Run {
                what: format!("{} on the card{with}", line.name),
                command: on_card(dir, &line, how, raw)?,
                file: Some(how.file(&line.name)),
            });
        }
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

fn on_card(dir: &Path, line: &Line, how: OnCard, raw: &Path) -> Result<Command, Error> {
    let kernel = CORE.replace('{', "{kernel=true,");
    let cores = match how {
        OnCard::Shared => 1,
        OnCard::Alone | OnCard::Replayed => 2,
    };
    let harts = [vec![kernel.as_str()], vec![CORE; cores]]
        .concat()
        .join(",");
    let settings: Vec<&str> = ROOT.iter().chain(&PREFETCHER).copied().collect();
    let mut command = machine(&harts, &settings)?;
    let archive = format!("{}.tar", line.archive);
    let named = |path: PathBuf, name: &str| {
        let mut file: OsString = path.into();
        file.push("=");
        file.push(name);
        file
    };
    command.arg("--timed");
    let program = match how {
        OnCard::Replayed => REPLAY,
        OnCard::Alone | OnCard::Shared => &line.program,
    };
    command.arg("--program").arg(dir.join("card").join(program));
    let files = dir.join("input").join(&archive);
    command.arg("--file").arg(named(files, &archive));
    match how {
        OnCard::Replayed => {
            command.arg("--file").arg(named(raw.join(LINUX), TRACES));
            let name = format!("{}{REPLAYED}", line.name);
            command.args(["--", FOLDER, &name, TRACES, &line.name]);
        }
        OnCard::Alone | OnCard::Shared => {
            command.args(["--", FOLDER, &line.name]);
            command.args(&line.arguments);
        }
    }
    let server = Root::find()?.card().join("file-server");
    command.arg("--program").arg(server);
    command.args(["--", "--size", MEMORY, "--sessions", "1", &archive]);
    Ok(command)
}

fn on_linux(dir: &Path, is_plain: bool) -> Result<Command, Error> {
    let mut settings = vec![LINUX_MEMORY];
    settings.extend(PREFETCHER.iter().filter(|_| !is_plain));
    let mut command = machine(CORE, &settings)?;
    let boot = dir.join("boot");
    command.arg("--firmware").arg(boot.join("fw_dynamic.bin"));
    command.arg("--kernel").arg(boot.join("Image"));
    command.arg("--initrd").arg(boot.join("initrd.cpio"));
    let words = match is_plain {
        true => format!("{LINUX_COMMAND_LINE} {NO_TRACES}"),
        false => LINUX_COMMAND_LINE.to_owned(),
    };
    command.args(["--append", &words, "--no-restart"]);
    Ok(command)
}

/// What was measured in this run or an earlier one; nothing, if programs were never run.
pub fn collect(raw: &Path) -> Result<RealPrograms, Error> {
    let linux = raw.join(LINUX);
    if !linux.exists() {
        return Ok(RealPrograms::default());
    }
    let all = read(&linux, parse_programs)?;
    let (linux_replayed, linux) = split_replayed(all);
    let card = |how: OnCard| {
        let mut all = vec![];
        for times in &linux {
            let file: PathBuf = raw.join(how.file(&times.name));
            all.extend(read(&file, parse_programs)?);
        }
        Ok::<_, Error>(all)
    };
    Ok(RealPrograms {
        alone: card(OnCard::Alone)?,
        shared: card(OnCard::Shared)?,
        replayed: split_replayed(card(OnCard::Replayed)?).0,
        linux_replayed,
        plain: read(&raw.join(PLAIN), parse_programs)?,
        linux,
    })
}
