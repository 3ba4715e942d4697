//! Options of `flick machine run` about the past of a run: snapshots, recordings and replays.
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;
use flick_diagnostics::Code;
use flick_driver::Error;
use flick_machine::recording::{read_recording, write_header, write_input};
use flick_machine::snapshot::{
    RunIdentity, Snapshot, digest_of_image, read_snapshot, write_snapshot,
};
use flick_machine::{Console, End, Machine};
use flick_machine_debugger::{Address, serve};

use crate::machine_command::{read, unreadable, unwritable};

#[derive(Args)]
pub struct History {
    /// Write a snapshot at this cycle of the first hart, or at a virtual time (with ns, us, ms or s),
    /// and go on
    #[arg(long, value_name = "CYCLE|TIME")]
    snapshot_at: Option<String>,
    /// The snapshot's file
    #[arg(
        long,
        value_name = "FILE",
        requires = "snapshot_at",
        default_value = "machine.snapshot"
    )]
    snapshot: PathBuf,
    /// Go on from a snapshot. Give the options of the run that has written it
    #[arg(long, value_name = "FILE")]
    restore: Option<PathBuf>,
    /// Write all input from outside to a file, with its time
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Repeat a run by its recorded input. Give the options of that run
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    replay: Option<PathBuf>,
    /// Wait for gdb at a TCP port of this host, or at a socket in the file system, and let it debug the
    /// machine
    #[arg(
        long,
        value_name = "PORT|unix:PATH",
        conflicts_with_all = ["record", "snapshot_at", "max_instructions", "trace", "points"]
    )]
    gdb: Option<Address>,
}

impl History {
    /// Runs a machine that is at its reset, until it ends.
    pub fn run(
        &self,
        machine: &mut Machine,
        disks: &[PathBuf],
        period: u64,
        console: &mut dyn Console,
    ) -> Result<End, Error> {
        let files = [&self.restore, &self.record, &self.replay];
        let needs_identity = self.snapshot_at.is_some() || files.iter().any(|f| f.is_some());
        if !needs_identity {
            return self.go(machine, console);
        }
        let time = self.snapshot_at.as_deref();
        let time = time.map(|text| virtual_time(text, period)).transpose()?;
        let digest = |path: &PathBuf| {
            let digest = File::open(path).and_then(digest_of_image);
            digest.map_err(|error| unreadable(path, &error))
        };
        let disks = disks.iter().map(digest).collect::<Result<Vec<_>, _>>()?;
        let identity = RunIdentity::of(machine, &disks);
        if let Some(path) = &self.restore {
            restore(machine, &identity, path)?;
        }
        if let Some(path) = &self.replay {
            replay(machine, &identity, path)?;
        }
        if let (Some(path), None) = (&self.restore, &self.replay) {
            let help = "give --semihosting-files with the files of the run that has written it";
            let opened = machine.open_files();
            opened.map_err(|error| bad_snapshot(path, &error.to_string(), help))?;
        }
        let record = self.record.as_deref();
        let failure = record.map(|path| record_to(machine, &identity, path));
        let failure = failure.transpose()?;
        let end = match time {
            Some(time) => {
                let place = &self.snapshot;
                if machine.run_until(time, console).is_some() {
                    let help = "give an earlier --snapshot-at";
                    return Err(bad_snapshot(place, "the machine has ended before", help));
                }
                let snapshot = Snapshot::take(machine, None);
                let written = File::create(place).and_then(|file| {
                    let mut file = BufWriter::new(file);
                    write_snapshot(&mut file, &identity, &snapshot)?;
                    file.flush()
                });
                written.map_err(|error| unwritable(place, &error))?;
                machine.run(console)
            }
            None => self.go(machine, console)?,
        };
        let failed = failure.and_then(|failure| failure.take());
        match (failed, record) {
            (Some(error), Some(path)) => Err(unwritable(path, &error)),
            _ => Ok(end),
        }
    }
}

impl History {
    /// To the machine's end, with a debugger if one is wanted.
    fn go(&self, machine: &mut Machine, console: &mut dyn Console) -> Result<End, Error> {
        let Some(address) = &self.gdb else {
            return Ok(machine.run(console));
        };
        let served = serve(machine, console, address, &mut |text| {
            eprintln!("flick: {text}")
        });
        // The debugger may have killed the machine.
        let end = served.map(|end| end.unwrap_or(End::Exit(0)));
        end.map_err(|error| {
            let help = "give a free port, or unix:PATH of a socket that does not exist";
            let what = "no debugger can connect";
            Error::new(
                Code::MachineDebugger,
                what,
                "--gdb",
                error.to_string(),
                help,
            )
        })
    }
}

/// Picoseconds: cycles, or a time with its unit.
fn virtual_time(text: &str, period: u64) -> Result<u64, Error> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let unit = match &text[digits.len()..] {
        "" => Some(period),
        "ns" => Some(1_000),
        "us" => Some(1_000_000),
        "ms" => Some(1_000_000_000),
        "s" => Some(1_000_000_000_000),
        _ => None,
    };
    let number = digits.parse::<u64>().ok();
    let time = unit
        .zip(number)
        .and_then(|(unit, number)| unit.checked_mul(number));
    time.ok_or_else(|| {
        Error::new(
            Code::MachineSetting,
            "a setting of the machine is bad",
            format!("--snapshot-at {text}"),
            "it is no cycle and no virtual time",
            "give a number of cycles, or a time: 1000000, 250us, 3s",
        )
    })
}

fn restore(machine: &mut Machine, identity: &RunIdentity, path: &Path) -> Result<(), Error> {
    const HELP: &str = "give the options and files of the run that has written the snapshot";
    let bad = |why: String| bad_snapshot(path, &why, HELP);
    let file = read(path)?;
    let saved = read_snapshot(&file).map_err(|error| bad(error.to_string()))?;
    if let Some(difference) = saved.identity.difference(identity) {
        return Err(bad(format!("it is of {difference}")));
    }
    let snapshot = saved.unpack(machine.memories());
    let snapshot = snapshot.map_err(|error| bad(error.to_string()))?;
    let is_timed = machine.is_timed();
    let put = snapshot.put(machine);
    put.map_err(|error| bad(error.to_string()))?;
    // `--timed=always`: what was run so far without time goes on with it.
    if is_timed {
        machine.set_mode(true);
    }
    Ok(())
}

fn replay(machine: &mut Machine, identity: &RunIdentity, path: &Path) -> Result<(), Error> {
    let bad = |why: String| bad_recording(path, &why);
    let recording = read_recording(&read(path)?).map_err(|error| bad(error.to_string()))?;
    if let Some(difference) = recording.identity.difference(identity) {
        return Err(bad(format!("it is of {difference}")));
    }
    if recording.start != machine.outside.moments() {
        return Err(bad("it begins at another time".into()));
    }
    machine.outside.replay(recording.inputs);
    Ok(())
}

/// What went wrong with the file, in the end.
type Failure = Rc<RefCell<Option<io::Error>>>;

fn record_to(machine: &mut Machine, identity: &RunIdentity, path: &Path) -> Result<Failure, Error> {
    let failure = Failure::default();
    let start = machine.outside.moments();
    let mut file = File::create(path)
        .and_then(|mut file| write_header(&mut file, identity, start).map(|()| file))
        .map_err(|error| unwritable(path, &error))?;
    let noted = failure.clone();
    machine.outside.record(move |input| {
        let mut noted = noted.borrow_mut();
        if noted.is_none() {
            *noted = write_input(&mut file, input).err();
        }
    });
    Ok(failure)
}

/// The run is no run of which the input was recorded.
pub fn diverged() -> Error {
    bad_recording(Path::new(""), "the run is another one than was recorded")
}

fn bad_snapshot(path: &Path, why: &str, help: &str) -> Error {
    let place = path.display().to_string();
    Error::new(
        Code::MachineSnapshot,
        "a snapshot is unusable",
        place,
        why,
        help,
    )
}

fn bad_recording(path: &Path, why: &str) -> Error {
    let help = "give the options and files of the recorded run";
    let place = path.display().to_string();
    Error::new(
        Code::MachineRecording,
        "a recording is unusable",
        place,
        why,
        help,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_cycles_or_have_units() {
        let time = |text| virtual_time(text, 500).ok();
        assert_eq!(time("3"), Some(1_500));
        assert_eq!(time("7ns"), Some(7_000));
        assert_eq!(time("2s"), Some(2_000_000_000_000));
        for text in ["", "s", "-1", "1h", "99999999999999s", "1.5s"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
