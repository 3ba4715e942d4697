//! `flick machine`: runs programs on a simulated machine.
use std::fs;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use clap::{Args, Subcommand, ValueEnum};
use flick_device::NoSpace;
use flick_device::virtio::{FileImage, Overlay};
use flick_diagnostics::Code;
use flick_driver::{Error, Root};
use flick_machine::{
    BadBoot, BlockDisk, Board, BootedTiles, Console, End, Files, FunctionNames, Machine, PointLog,
    SERIAL, Semihosting, SemihostingSetup, System, TRANSLATE_AFTER, Tracer, boards_of, boot_tiles,
    host_board, points_of, timing_of_tiles,
};
use flick_timing::faults;
use flick_timing::machine::Machine as Description;

use crate::card_program::CardProgram;
use crate::console_place::{self, ConsolePlace};
use crate::kernel_call_report;
use crate::kernel_lines::KernelLines;
use crate::machine_description::{load, systems};
use crate::machine_history::{History, diverged};
use crate::machine_stat;
use crate::machine_views::{self, Show};
use crate::unit_check;

#[derive(Subcommand)]
pub enum MachineCommand {
    /// Run firmware, and a kernel if there is one, until the machine ends
    ///
    /// The exit status is the machine's, as the test finisher or `tohost` has it. The console is
    /// standard input and output.
    Run(Box<Run>),
    /// Run as `run` does, and then print what the harts have executed, missed and waited for
    ///
    /// The report is written to standard error.
    Stat(Box<Stat>),
    /// Draw a machine: tiles, harts, caches, memories, links, devices, and what cannot run yet
    Show(Show),
    /// List the shipped machines
    List,
}

#[derive(Args)]
pub struct Stat {
    /// Write times of the card kernel's calls to the file, as CSV
    #[arg(long, value_name = "FILE")]
    calls: Option<PathBuf>,
    #[command(flatten)]
    run: Run,
}

/// Takes a console's output, and gives one.
pub type AroundOutput = Box<dyn FnOnce(Box<dyn Write>) -> Box<dyn Write>>;

#[derive(Args)]
pub struct Run {
    /// What is around the console's output.
    #[arg(skip)]
    pub around_output: Option<AroundOutput>,
    /// A shipped machine (`flick machine list`) or a machine file (docs/machine-files.md); `virt` has
    /// the memory map of QEMU's machine of that name
    #[arg(long, value_name = "NAME|FILE", default_value = "virt")]
    machine: String,
    /// An RV64 ELF file, or an image for the start of memory
    #[arg(long, value_name = "FILE", required_unless_present = "programs")]
    firmware: Option<PathBuf>,
    /// The firmware of a tile, in place of that of all (repeatable)
    #[arg(long, value_name = "TILE=FILE")]
    firmware_of: Vec<String>,
    /// A kernel that the firmware starts in S mode: an image, or an RV64 ELF file
    #[arg(long, value_name = "FILE")]
    kernel: Option<PathBuf>,
    /// The kernel's initial RAM disk; without a kernel, the firmware's
    #[arg(long, value_name = "FILE")]
    initrd: Option<PathBuf>,
    /// The kernel's command line
    #[arg(long, value_name = "TEXT")]
    append: Option<String>,
    /// A disk image (repeatable, up to 8): a virtio block device. What the machine writes is kept in
    /// memory, and the file stays as it is
    #[arg(long = "disk", value_name = "FILE")]
    disks: Vec<PathBuf>,
    /// Change a key of the machine (repeatable): harts=N, memory=SIZE, isa=rv64..., or any key of its
    /// file by its path, as in tile.board.clock="2 GHz"
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Where the console is: - for standard input and output, a file for what the machine prints, or
    /// a socket that it listens at, unix:PATH or tcp:PORT
    #[arg(long, value_name = "PLACE", default_value = "-")]
    console: String,
    /// Write a trace to the file: which state each hart and accelerator is in, for flick report
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write each point of the card's kernel that a hart comes to to the file, one a line
    #[arg(long, value_name = "FILE")]
    points: Option<PathBuf>,
    /// When time is that of the machine's models of cores, caches and memories: a program says where
    /// by `slti x0, x0, 1`, and `slti x0, x0, 2` goes back to functional mode; or always; or never
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, require_equals = true,
          default_value = "marker", default_missing_value = "always")]
    timed: Timed,
    /// In timed mode, how many cycles a hart may be ahead of another between accesses that others see
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    slice: Option<u64>,
    /// How instructions are executed; the run is the same, but for its speed
    #[arg(long, value_enum, default_value_t = Engine::Translate)]
    engine: Engine,
    /// Translate code that a hart has executed so often
    #[arg(long, value_name = "N", default_value_t = TRANSLATE_AFTER, hide = true)]
    translate_after: u8,
    /// Answer the semihosting calls of bare programs: console, time, exit
    #[arg(long)]
    semihosting: bool,
    /// A folder with files that semihosting calls may read and write
    #[arg(long, value_name = "DIR", requires = "semihosting")]
    semihosting_files: Option<PathBuf>,
    /// What semihosting gives a program as its command line
    #[arg(long, value_name = "TEXT", requires = "semihosting")]
    semihosting_args: Option<String>,
    /// Let the machine have the faults of the file (docs/faults.md)
    #[arg(long, value_name = "FILE")]
    inject: Option<PathBuf>,
    /// Look at what the units of tiles promise: that messages are delivered once, and so on
    /// (docs/dtu.md); FLICK_CHECK=units does the same
    #[arg(long)]
    check_units: bool,
    /// End after so many instructions of all harts, or some more
    #[arg(long, value_name = "N")]
    max_instructions: Option<u64>,
    /// End where the machine resets, instead of starting it again
    #[arg(long)]
    no_restart: bool,
    #[command(flatten)]
    history: History,
    #[command(flatten)]
    card: CardProgram,
}

/// When a run is timed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Timed {
    /// From the reset on.
    Always,
    /// Where the program says so.
    Marker,
    /// Nowhere.
    Never,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// One after the other
    Interp,
    /// What is executed often is translated
    Translate,
}

pub fn run(command: MachineCommand) -> Result<ExitCode, Error> {
    match command {
        MachineCommand::Run(run) => run_machine(*run, None),
        MachineCommand::Stat(stat) => {
            let Stat { calls, run } = *stat;
            run_machine(run, Some(calls))
        }
        MachineCommand::Show(show) => machine_views::show(&show),
        MachineCommand::List => machine_views::print_list(),
    }
}

/// `report`: a report is printed, and perhaps written to a file.
pub fn run_machine(mut run: Run, report: Option<Option<PathBuf>>) -> Result<ExitCode, Error> {
    let has_report = report.is_some();
    let description = load(&run.machine, &run.settings)?;
    let mut systems = systems(&run.machine, &description)?;
    let firmware = match &run.firmware {
        Some(firmware) => firmware.clone(),
        None if systems.iter().any(|system| system.is_root()) => Root::find()?.root_kernel()?,
        None => Root::find()?.card_kernel()?,
    };
    let mut files = Files {
        firmware: read(&firmware)?,
        firmware_alone: None,
        firmware_of: firmware_of(&run.firmware_of, &systems)?,
        kernel: run.kernel.as_deref().map(read).transpose()?,
        initrd: run.initrd.as_deref().map(read).transpose()?,
        append: run.append.clone(),
        append_by_tile: None,
    };
    run.card.add_to(&mut files, &systems)?;
    let bad = |error: BadBoot| {
        let place = match &error {
            BadBoot::Program {
                what: "firmware", ..
            } => firmware.display().to_string(),
            BadBoot::Program { .. } => run
                .kernel
                .as_deref()
                .unwrap_or(Path::new(""))
                .display()
                .to_string(),
            BadBoot::System(_) => run.machine.clone(),
            BadBoot::Room { .. } => String::new(),
        };
        let help = match &error {
            BadBoot::System(error) => error.help(),
            BadBoot::Room { .. } => Some("give the machine more: --set memory=1G"),
            _ => None,
        };
        let help = help.unwrap_or("name RV64 ELF files, or images for the start of memory");
        let what = "the machine cannot start";
        Error::new(Code::MachineStart, what, place, error.to_string(), help)
    };
    let disks = run
        .disks
        .iter()
        .map(|path| disk(path))
        .collect::<Result<_, _>>()?;
    // Here no program of the host uses the card.
    let host = host_board(&description, Box::new(NoSpace)).map_err(|error| bad(error.into()))?;
    let host = host.map(|(board, _)| board);
    let boards = boards_of(&systems, &description, disks, host);
    let boards = boards.map_err(|error| bad(error.into()))?;
    let booted = boot_tiles(&mut systems, &boards, &files).map_err(&bad)?;
    let mut machine = Machine::of_tiles(&boards, &booted);
    if let Some(most) = run.max_instructions {
        machine.limit(most);
    }
    let translates = run.engine == Engine::Translate;
    machine.translate_after(translates.then_some(run.translate_after));
    if run.timed != Timed::Never {
        let tiles = systems.iter().map(|system| &system.tile);
        let mut timing = timing_of_tiles(&description, tiles);
        if let (Some(cycles), Some(hart)) = (run.slice, timing.harts.first()) {
            timing.slice = cycles * hart.costs.period;
        }
        machine.set_timing(timing);
        machine.set_mode(run.timed == Timed::Always);
    }
    if has_report {
        machine.count_classes();
    }
    if let Some(path) = &run.inject {
        inject(&mut machine, &description, path)?;
    }
    if run.semihosting {
        machine.answer_calls(Semihosting::new(semihosting(&run, &firmware, &booted)?));
    }
    if let Some(path) = &run.trace {
        let file = fs::File::create(path).map_err(|error| unwritable(path, &error))?;
        let program = run.card.name().unwrap_or(&firmware).display().to_string();
        let names = booted.names.clone();
        let file = Box::new(io::BufWriter::new(file));
        let tracer = Tracer::new(file, &program, &description.name, names);
        let tiles = description.tiles.iter().map(|tile| tile.name.clone());
        machine.trace(tracer.with_tiles(tiles.collect()));
    }
    let points = points_of(&files.firmware);
    let is_card_kernel = !points.is_empty();
    if has_report || run.trace.is_some() || run.points.is_some() {
        machine.watch_kernel(points);
    }
    if let Some(path) = &run.points {
        let file = fs::File::create(path).map_err(|error| unwritable(path, &error))?;
        machine.log_points(PointLog::new(Box::new(io::BufWriter::new(file))));
    }
    if run.check_units || unit_check::is_wanted() {
        machine.watch_promises();
    }
    if !run.no_restart {
        machine.restart_at_reset();
    }
    let mut place = console_place::open(&run.console)?;
    if is_card_kernel {
        let functions = FunctionNames::of(&files.firmware);
        place.output = Box::new(KernelLines::new(place.output, functions));
    }
    if let Some(around) = run.around_output.take() {
        place.output = around(place.output);
    }
    let mut console = Terminal::new(run.card.console(place));
    let start = Instant::now();
    let period = booted.harts.first().map_or(1, |hart| hart.period);
    let end = run
        .history
        .run(&mut machine, &run.disks, period, &mut console)?;
    let promises = machine.end_promises();
    if let Some(path) = &run.trace {
        let written = machine.end_trace();
        written.map_err(|error| unwritable(path, &error))?;
    }
    if let Some(path) = &run.points {
        let written = machine.end_points();
        written.map_err(|error| unwritable(path, &error))?;
    }
    if let Some(calls) = report {
        if let Some(path) = calls {
            let written = fs::write(&path, kernel_call_report::csv(&machine));
            written.map_err(|error| unwritable(&path, &error))?;
        }
        let text = machine_stat::report(&machine, &description, start.elapsed(), run.card.name());
        let seen = promises
            .as_ref()
            .map(|&(counts, _)| unit_check::line(counts));
        let text = text + &seen.unwrap_or_default();
        // Where nobody reads, the run has ended all the same.
        let _ = io::stderr().write_all(text.as_bytes());
    }
    if let Some((counts, broken)) = promises {
        unit_check::verdict(counts, &broken)?;
    }
    match end {
        End::Diverged => Err(diverged()),
        End::Exit(status) => Ok(ExitCode::from(status.min(255) as u8)),
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

/// The firmware of single tiles, by their numbers.
fn firmware_of(words: &[String], systems: &[System]) -> Result<Vec<(usize, Vec<u8>)>, Error> {
    let one = |word: &String| {
        let found = word.split_once('=').and_then(|(name, file)| {
            let tile = systems.iter().position(|system| system.tile.name == name)?;
            Some((tile, file))
        });
        let (tile, file) = found.ok_or_else(|| {
            let names: Vec<_> = systems.iter().map(|system| &*system.tile.name).collect();
            Error::new(
                Code::BadOption,
                "firmware is of no tile",
                "--firmware-of",
                format!("{word:?} is no TILE=FILE with one of {}", names.join(", ")),
                "name a tile with harts (flick machine show)",
            )
        })?;
        Ok((tile, read(Path::new(file))?))
    };
    words.iter().map(one).collect()
}

/// Gives the machine the faults of a file.
fn inject(machine: &mut Machine, description: &Description, path: &Path) -> Result<(), Error> {
    let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    let name = path.display().to_string();
    let bad = |place, why: String, help: &str| {
        let what = "a file of faults cannot be used";
        Error::new(Code::MachineFaults, what, place, why, help)
    };
    let tiles = description.tiles.iter();
    let tiles: Vec<_> = tiles.map(|tile| (&*tile.name, tile.harts.len())).collect();
    let all = faults::parse(&name, &text, &tiles);
    let all = all.map_err(|error| bad(error.place(), error.what, &error.help))?;
    machine.inject(all).map_err(|error| {
        let place = format!("{name}:{}", error.line);
        bad(
            place,
            error.what,
            "name what the machine has, or give it more by --set and --disk",
        )
    })
}

/// What programs see of the host.
fn semihosting(
    run: &Run,
    firmware: &Path,
    booted: &BootedTiles,
) -> Result<SemihostingSetup, Error> {
    if let Some(folder) = &run.semihosting_files {
        // A name that is no folder is a mistake now, and not at the first call.
        fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    }
    let name = firmware.display();
    Ok(SemihostingSetup {
        folder: run.semihosting_files.clone(),
        command_line: match &run.semihosting_args {
            Some(arguments) => format!("{name} {arguments}"),
            None => name.to_string(),
        },
        free: booted.free.clone(),
    })
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

pub fn unwritable(path: &Path, error: &io::Error) -> Error {
    let help = "name a place that can be written";
    let what = "a file cannot be written";
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

/// The console. A terminal gives each key at once, and shows what the machine prints
/// alone.
struct Terminal {
    input: Receiver<Vec<u8>>,
    /// What the machine has not taken yet.
    rest: Vec<u8>,
    /// The virtual time at which it has looked for keys.
    polled: u64,
    output: Box<dyn Write>,
    before: Option<libc::termios>,
}

impl Terminal {
    fn new(place: ConsolePlace) -> Self {
        let (send, input) = channel();
        let mut from = place.input;
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(size @ 1..) = from.read(&mut bytes) {
                if send.send(bytes[..size].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            input,
            rest: vec![],
            polled: 0_u64.wrapping_sub(POLL_EVERY),
            output: place.output,
            before: place.is_terminal.then(without_lines).flatten(),
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

/// Picoseconds of virtual time. Harts take many turns in them, and nobody types so fast.
const POLL_EVERY: u64 = 10_000_000;

impl Console for Terminal {
    fn output(&mut self, bytes: &[u8]) {
        let out = &mut self.output;
        // Where nobody reads any more the machine runs on.
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    fn poll(&mut self, board: &Board, time: u64) -> bool {
        // Time goes back, too, when a debugger does.
        if time.wrapping_sub(self.polled) < POLL_EVERY && self.rest.is_empty() {
            return false;
        }
        self.polled = time;
        self.give(board, time, |input| input.try_recv().ok())
    }

    fn read(&mut self, most: usize) -> Vec<u8> {
        if self.rest.is_empty() {
            self.rest = self.input.recv().unwrap_or_default();
        }
        self.rest.drain(..most.min(self.rest.len())).collect()
    }

    fn wait(&mut self, board: &Board, time: u64) -> bool {
        self.give(board, time, |input| input.recv().ok())
    }
}
