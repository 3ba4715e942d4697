//! `flick bench process`: whole processes with NxP code beside the same built by clang: time from
//! start to end, with the files in the page cache and without, and memory.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use flick_diagnostics::Code;
use flick_driver::Error;
use flick_driver::root::CLANG;
use flick_events::number::counted;

use crate::process_table::{self, Memory, Process, Runs};
use crate::{Peer, file_error, finish, flick, large_image, machine, measured, print, say, scratch};

#[derive(Args)]
pub struct Options {
    /// Rounds; the table has their medians
    #[arg(long, default_value_t = 51, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Rounds in which neither program is in the page cache; 0: none
    #[arg(long, default_value_t = 5)]
    cold: u32,
    /// RV64 code of the program with a large image, in KiB, at least
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    image: u32,
    /// A program that clang built, in place of Flick's own: COMMAND is the program and its
    /// arguments (repeatable)
    #[arg(long, value_name = "NAME=COMMAND", value_parser = Peer::parse, requires = "placed")]
    plain: Vec<Peer>,
    /// The same program with NxP code, by the NAME that --plain has (repeatable)
    #[arg(long, value_name = "NAME=COMMAND", value_parser = Peer::parse, requires = "plain")]
    placed: Vec<Peer>,
    /// Print comma-separated values
    #[arg(long)]
    csv: bool,
}

/// A program in its two builds.
struct Pair {
    name: String,
    /// Of Flick's own: milliseconds over the plain build.
    bar: Option<f64>,
    plain: Vec<String>,
    placed: Vec<String>,
}

pub fn run(options: &Options) -> Result<(), Error> {
    let dir = scratch()?;
    let pairs = if options.plain.is_empty() {
        own(dir.path(), options)?
    } else {
        named(options)?
    };
    let mut processes = vec![];
    for (number, pair) in pairs.iter().enumerate() {
        let rounds = counted(options.rounds.into(), "round");
        say(format_args!(
            "[{}/{}] {}, {rounds}",
            number + 1,
            pairs.len(),
            pair.name
        ));
        processes.push(measure(pair, options)?);
    }
    if options.csv {
        return print(&process_table::csv(&processes));
    }
    print(&format!(
        "{}\n\n{}",
        machine(),
        process_table::table(&processes)
    ))
}

/// The commands that the user has named.
fn named(options: &Options) -> Result<Vec<Pair>, Error> {
    let pair = |plain: &Peer| {
        let placed = options.placed.iter().find(|peer| peer.name == plain.name);
        let placed = placed.ok_or_else(|| {
            Error::new(
                Code::BadOption,
                "a program has one build only",
                &plain.name,
                "--plain names it, and no --placed does",
                format!("add --placed={}=COMMAND", plain.name),
            )
        })?;
        Ok(Pair {
            name: plain.name.clone(),
            bar: None,
            plain: plain.command.clone(),
            placed: placed.command.clone(),
        })
    };
    options.plain.iter().map(pair).collect()
}

const SMALL: &str = "int twice(int x) { return 2 * x; }\n\
                     int main(int argc, char **argv) { (void)argv; return twice(argc) != 2; }\n";
/// Milliseconds over clang's build.
const START_UP: f64 = 0.5;

/// Flick's own programs: with one function on the NxP, and with a large image.
fn own(dir: &Path, options: &Options) -> Result<Vec<Pair>, Error> {
    say("building programs (some 30 s)");
    let large = large_image::source(u64::from(options.image) * 1024);
    let small = ("small.c", SMALL, "nxp twice\n");
    let programs = [
        ("small program", small, vec!["-O2"]),
        ("small program, -static", small, vec!["-O2", "-static"]),
        (
            "large image",
            ("large.c", &large[..], large_image::PLACEMENT),
            vec![large_image::LEVEL],
        ),
    ];
    let write = |path: &Path, text: &str| {
        fs::write(path, text).map_err(|e| file_error("a file cannot be written", path, &e))
    };
    let mut pairs = vec![];
    for (number, (name, (file, source, placement), words)) in programs.into_iter().enumerate() {
        let (source_file, place) = (dir.join(file), dir.join("place"));
        write(&source_file, source)?;
        write(&place, placement)?;
        let at = |kind: &str| dir.join(format!("{kind}-{number}"));
        let (plain, placed) = (at("plain"), at("placed"));
        let mut clang = Command::new(CLANG.name);
        finish(clang.args(&words).arg(&source_file).arg("-o").arg(&plain))?;
        let mut cc = Command::new(flick()?);
        cc.arg("cc").args(&words).arg(&source_file);
        cc.arg(format!("--flick-place={}", place.display()));
        finish(cc.arg("-o").arg(&placed))?;
        let command = |path: PathBuf| vec![path.display().to_string()];
        pairs.push(Pair {
            name: name.into(),
            bar: Some(START_UP),
            plain: command(plain),
            placed: command(placed),
        });
    }
    Ok(pairs)
}

fn measure(pair: &Pair, options: &Options) -> Result<Process, Error> {
    let builds = [&pair.plain, &pair.placed];
    let mut runs = [Runs::default(), Runs::default()];
    for round in 0..=options.rounds {
        for (build, runs) in builds.into_iter().zip(&mut runs) {
            let (time, processor) = time(&mut command(build))?;
            // The first round reads the files.
            if round > 0 {
                runs.warm.push(time);
                runs.processor.push(processor);
            }
        }
    }
    for _ in 0..options.cold {
        for (build, runs) in builds.into_iter().zip(&mut runs) {
            leave_page_cache(Path::new(&build[0]))?;
            runs.cold.push(time(&mut command(build))?.0);
        }
    }
    for (build, runs) in builds.into_iter().zip(&mut runs) {
        runs.memory = memory(build)?;
    }
    let [plain, placed] = runs;
    Ok(Process {
        name: pair.name.clone(),
        bar: pair.bar,
        plain,
        placed,
    })
}

fn command(words: &[String]) -> Command {
    let mut command = measured(Path::new(&words[0]));
    command.args(&words[1..]);
    command
}

/// Milliseconds from the start of a process to its end, and milliseconds of its processor time.
pub fn time(command: &mut Command) -> Result<(f64, f64), Error> {
    let processor = || {
        let (user, system) = flick_exec::processor_time();
        user + system
    };
    let (begin, before) = (Instant::now(), processor());
    finish(command)?;
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    Ok((
        milliseconds(begin.elapsed()),
        milliseconds(processor() - before),
    ))
}

/// Drops a file from the page cache: coreutils' `dd` asks for that, and copies nothing.
fn leave_page_cache(file: &Path) -> Result<(), Error> {
    let mut of = std::ffi::OsString::from("of=");
    of.push(file);
    let mut dd = Command::new("dd");
    dd.arg(of).args([
        "oflag=nocache",
        "conv=notrunc,fdatasync",
        "count=0",
        "status=none",
    ]);
    finish(&mut dd).map(drop)
}

/// The most memory that a process was seen to have. It is looked at all the time, in some runs,
/// because a short process may end between two looks.
fn memory(words: &[String]) -> Result<Memory, Error> {
    const RUNS: usize = 10;
    let mut most = Memory::default();
    // Pages of a file that was just made count as the process's own until they are on the disk.
    let program = Path::new(&words[0]);
    let synced = fs::File::open(program).and_then(|file| file.sync_all());
    synced.map_err(|e| file_error("a program cannot be read", program, &e))?;
    for _ in 0..RUNS {
        let mut command = command(words);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command
            .spawn()
            .map_err(|e| file_error("a program cannot be started", program, &e))?;
        while !has_ended(&mut child, program)? {
            let path = format!("/proc/{}/smaps_rollup", child.id());
            let text = fs::read_to_string(path).unwrap_or_default();
            most = most.or(Memory::parse(&text));
        }
    }
    Ok(most)
}

fn has_ended(child: &mut Child, program: &Path) -> Result<bool, Error> {
    let status = child.try_wait();
    let status = status.map_err(|e| file_error("a program cannot be waited for", program, &e))?;
    Ok(status.is_some())
}
