//! `flick machine`: runs programs on a simulated machine.
use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use crate::machine_history::{History, diverged};
use clap::{Args, Subcommand};
use flick_device::virtio::{FileImage, Overlay};
use flick_diagnostics::Code;
use flick_driver::Error;
use flick_machine::virt::{BadVirt, BlockDisk, SERIAL, Virt};
use flick_machine::{BadBoot, Board, Console, End, Files, Machine, boot};

#[derive(Subcommand)]
pub enum MachineCommand {
    /// Run firmware, and a kernel if there is one, until the machine ends
    ///
    /// The exit status is the machine's, as the test finisher or `tohost` has it. The console is
    /// standard input and output.
    Run(Run),
}

#[derive(Args)]
pub struct Run {
    /// The machine; `virt` has the memory map of QEMU's machine of that name
    #[arg(long, default_value = "virt", value_parser = ["virt"])]
    machine: String,
    /// An RV64 ELF file, or an image for the start of memory
    #[arg(long, value_name = "FILE")]
    firmware: PathBuf,
    /// A kernel that the firmware starts in S mode: an image, or an RV64 ELF file
    #[arg(long, value_name = "FILE")]
    kernel: Option<PathBuf>,
    /// The kernel's initial RAM disk
    #[arg(long, value_name = "FILE", requires = "kernel")]
    initrd: Option<PathBuf>,
    /// The kernel's command line
    #[arg(long, value_name = "TEXT", requires = "kernel")]
    append: Option<String>,
    /// A disk image (repeatable, up to 8): a virtio block device. What the machine writes is kept in
    /// memory, and the file stays as it is
    #[arg(long = "disk", value_name = "FILE")]
    disks: Vec<PathBuf>,
    /// Change a key of the machine: harts=N, memory=BYTES (with K, M or G), isa=rv64...
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// End after so many instructions of all harts, or some more
    #[arg(long, value_name = "N")]
    max_instructions: Option<u64>,
    #[command(flatten)]
    history: Box<History>,
}

/// What a hart of `virt` has: all that this machine knows.
const ISA: &str =
    "rv64imafdc_zicbom_zicboz_zicntr_zicond_zicsr_zifencei_zihpm_zba_zbb_zbs_sstc_svadu_svinval";
const MEMORY: u64 = 256 << 20;
/// As many as QEMU's `virt` has at most.
const MOST_HARTS: usize = 512;
/// Picoseconds of a cycle: 1 GHz.
const PERIOD: u64 = 1000;

pub fn run(command: MachineCommand) -> Result<ExitCode, Error> {
    let MachineCommand::Run(run) = command;
    let mut virt = Virt {
        harts: 1,
        isa: ISA
            .parse()
            .map_err(|why| bad_setting("isa", &format!("{why}")))?,
        memory: MEMORY,
        chosen: Default::default(),
    };
    for setting in &run.settings {
        set(&mut virt, setting)?;
    }
    let files = Files {
        firmware: read(&run.firmware)?,
        kernel: run.kernel.as_deref().map(read).transpose()?,
        initrd: run.initrd.as_deref().map(read).transpose()?,
        append: run.append,
    };
    let bad = |error: BadBoot| {
        let place = match &error {
            BadBoot::Program {
                what: "firmware", ..
            } => run.firmware.display().to_string(),
            BadBoot::Program { .. } => run
                .kernel
                .as_deref()
                .unwrap_or(Path::new(""))
                .display()
                .to_string(),
            _ => String::new(),
        };
        let help = match error {
            BadBoot::Virt(BadVirt::Disks) => "give fewer --disk",
            BadBoot::Room { .. } => "give the machine more: --set memory=1G",
            _ => "name RV64 ELF files, or images for the start of memory",
        };
        let what = "the machine cannot start";
        Error::new(Code::MachineStart, what, place, error.to_string(), help)
    };
    let disks = run
        .disks
        .iter()
        .map(|path| disk(path))
        .collect::<Result<_, _>>()?;
    let board = virt.board(disks).map_err(|error| bad(error.into()))?;
    let booted = boot(&mut virt, &board, &files, PERIOD).map_err(bad)?;
    let mut machine = Machine::new(&board, &booted.harts, booted.firmware.htif);
    if let Some(most) = run.max_instructions {
        machine.limit(most);
    }
    let mut console = Terminal::new();
    let end = run
        .history
        .run(&mut machine, &run.disks, PERIOD, &mut console)?;
    match end {
        End::Diverged => Err(diverged()),
        End::Exit(status) => Ok(ExitCode::from(status.min(255) as u8)),
        // There is nothing outside that would start it again.
        End::Reset => Ok(ExitCode::SUCCESS),
        End::Instructions => Err(Error::new(
            Code::MachineEnd,
            "the machine has not ended",
            "",
            format!(
                "{} instructions have completed, and harts are at {}",
                total(&machine),
                places(&machine)
            ),
            "allow more with --max-instructions",
        )),
        End::Idle => Err(Error::new(
            Code::MachineEnd,
            "the machine has not ended",
            "",
            format!(
                "every hart waits for an interrupt, and no device will raise one (at {})",
                places(&machine)
            ),
            "end programs by the test finisher at 0x100000 or by tohost",
        )),
    }
}

/// Where the harts are, the first of them.
fn places(machine: &Machine) -> String {
    const MOST: usize = 8;
    let all = machine.program_counters();
    let mut text: Vec<_> = all.iter().take(MOST).map(|pc| format!("{pc:#x}")).collect();
    if all.len() > MOST {
        text.push("...".into());
    }
    text.join(", ")
}

fn total(machine: &Machine) -> u64 {
    machine.instructions().iter().sum()
}

pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| unreadable(path, &error))
}

pub fn unreadable(path: &Path, error: &io::Error) -> Error {
    let help = "check the path and its permissions";
    let what = "a file cannot be read";
    let place = path.display().to_string();
    Error::new(Code::FileAccess, what, place, error.to_string(), help)
}

fn disk(path: &Path) -> Result<BlockDisk, Error> {
    let image = fs::File::open(path).and_then(FileImage::new);
    let image = image.map_err(|error| unreadable(path, &error))?;
    Ok(BlockDisk {
        disk: Box::new(Overlay::new(image)),
        is_read_only: false,
    })
}

fn bad_setting(setting: &str, why: &str) -> Error {
    let help = "keys are harts, memory and isa";
    Error::new(
        Code::MachineSetting,
        "a setting of the machine is bad",
        setting,
        why,
        help,
    )
}

fn set(virt: &mut Virt, setting: &str) -> Result<(), Error> {
    let bad = |why: &str| bad_setting(setting, why);
    let (key, value) = setting.split_once('=').ok_or_else(|| bad("it has no ="))?;
    match key {
        "harts" => {
            let number = value.parse().ok().filter(|n| (1..=MOST_HARTS).contains(n));
            virt.harts = number.ok_or_else(|| bad("a machine has 1 to 512 harts"))?;
        }
        "memory" => virt.memory = bytes(value).ok_or_else(|| bad("it is no number of bytes"))?,
        "isa" => virt.isa = value.parse().map_err(|why| bad(&format!("{why}")))?,
        _ => return Err(bad("the machine has no such key")),
    }
    Ok(())
}

fn bytes(text: &str) -> Option<u64> {
    let (number, shift) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(number) => (number, 10 * (1 + "KMG".find(&text[number.len()..])?)),
        None => (text, 0),
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Standard input and output. A terminal gives each key at once, and shows what the machine prints
/// alone.
struct Terminal {
    input: Receiver<Vec<u8>>,
    /// What the machine has not taken yet.
    rest: Vec<u8>,
    before: Option<libc::termios>,
}

impl Terminal {
    fn new() -> Self {
        let (send, input) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(size @ 1..) = io::stdin().read(&mut bytes) {
                if send.send(bytes[..size].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            input,
            rest: vec![],
            before: io::stdin().is_terminal().then(without_lines).flatten(),
        }
    }

    /// Gives the machine what it has not taken yet, or else what `next` finds. Did it take something?
    fn give(
        &mut self,
        board: &Board,
        time: u64,
        next: impl FnOnce(&Receiver<Vec<u8>>) -> Option<Vec<u8>>,
    ) -> bool {
        if self.rest.is_empty() {
            self.rest = next(&self.input).unwrap_or_default();
        }
        if self.rest.is_empty() {
            return false;
        }
        let taken = board.input(SERIAL, &self.rest, time);
        self.rest.drain(..taken);
        taken != 0
    }
}

/// Lets the terminal give keys instead of lines; how it was before.
fn without_lines() -> Option<libc::termios> {
    let mut before = MaybeUninit::uninit();
    // SAFETY: tcgetattr fills the record, if it succeeds.
    let before = unsafe {
        if libc::tcgetattr(libc::STDIN_FILENO, before.as_mut_ptr()) != 0 {
            return None;
        }
        before.assume_init()
    };
    let mut now = before;
    now.c_lflag &= !(libc::ICANON | libc::ECHO);
    // SAFETY: a record that tcgetattr has filled.
    let is_set = unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &raw const now) };
    if is_set != 0 {
        return None;
    }
    // Ctrl-C ends the run, and the terminal has to be as before.
    let _ = BEFORE.set(before);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let handler = restore_and_end as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler calls async-signal-safe functions alone.
        unsafe { libc::signal(signal, handler) };
    }
    Some(before)
}

/// For the handler of signals.
static BEFORE: OnceLock<libc::termios> = OnceLock::new();

extern "C" fn restore_and_end(signal: libc::c_int) {
    // SAFETY: tcsetattr, signal and raise are async-signal-safe; reading the cell is an atomic load.
    unsafe {
        if let Some(before) = BEFORE.get() {
            libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, before);
        }
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: a record that tcgetattr has filled.
            unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, before) };
        }
    }
}

impl Console for Terminal {
    fn output(&mut self, bytes: &[u8]) {
        let mut out = io::stdout().lock();
        // Where nobody reads any more the machine runs on.
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    fn poll(&mut self, board: &Board, time: u64) -> bool {
        self.give(board, time, |input| input.try_recv().ok())
    }

    fn wait(&mut self, board: &Board, time: u64) -> bool {
        self.give(board, time, |input| input.recv().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings() {
        let mut virt = Virt {
            harts: 1,
            isa: ISA.parse().unwrap(),
            memory: 0,
            chosen: Default::default(),
        };
        for setting in ["harts=4", "memory=512M", "isa=rv64gc"] {
            set(&mut virt, setting).map_err(|_| setting).unwrap();
        }
        assert_eq!((virt.harts, virt.memory), (4, 512 << 20));
        for setting in [
            "harts",
            "harts=0",
            "harts=513",
            "memory=1T",
            "memory=",
            "memory=99999999999G",
            "isa=arm",
            "cores=2",
        ] {
            assert!(set(&mut virt, setting).is_err(), "{setting}");
        }
        assert_eq!(bytes("3K"), Some(3072));
    }
}
