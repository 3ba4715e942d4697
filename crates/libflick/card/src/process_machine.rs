//! The machine of the process, and what comes next in it.
use std::collections::HashMap;
use std::path::Path;

use flick_abi::card;
use flick_abi::card_interface::{Executed, HartRow, NO_EXCEPTION, Order, OrderKind, TileRow};
use flick_abi::descriptor::{
    DESCRIPTOR_END, DESCRIPTOR_RETURN, Descriptor, HOST_TILES, OWNER_BITS, OWNERS,
};
use flick_device::{Arrived, Time};
use flick_engine::Hart;
use flick_machine::{
    BadSystem, Board, Console, End, Files, Machine, System, TRANSLATE_AFTER, Turn, Unwatched,
    boards_of, boot_tiles, host_board,
};
use flick_riscv::Isa;
use flick_timing::faults::{self, Fault};
use flick_timing::machine;

use crate::machine_clock::MachineClock;
use crate::process_space::ProcessSpace;
use crate::ran::Ran;
use crate::servers;

/// Turns in which a kernel has booted, or never will.
const MOST_TURNS: u32 = 1_000_000;

/// Turns of the machine between two looks at how much it has executed for nobody.
const LOOKS_EVERY: u32 = 64;
/// Instructions, or exceptions, after which nothing is to come for an owner. A crossing takes some 2,000, and a
/// command of a unit whose packets are lost two million.
const MOST_STEPS: u64 = 1 << 26;

/// Picoseconds after which a request that was refused for now comes again: the hart of who was in the way has
/// to come to it meanwhile.
const PAUSE: u64 = 10_000_000;

/// The kernel of a tile whose one hart also runs the threads.
const ALONE: &str = "kernel-alone.elf";
/// That of a root.
const ROOT: &str = "kernel-host-root.elf";

/// The machine.
pub struct Driver {
    machine: Machine<'static>,
    /// The board of the host's tile.
    host: &'static Board,
    arrived: Arrived,
    /// How the machine has ended, if it has.
    end: Option<End>,
    /// The harts that threads get.
    for_threads: Vec<usize>,
    /// Owners whose last message has said that their requests are to come again.
    busy: Vec<u64>,
    /// By slot: when its owner's last message came.
    seen: Vec<Time>,
    /// Since when owners want a hart, in a timed run: their descriptors come then, or they have left a hart.
    asked: HashMap<u64, Time>,
    /// By hart: for whom it was lent the last time.
    lent_to: Vec<u64>,
    clock: MachineClock,
    /// Instructions of owners, by hart.
    owned: Vec<u64>,
    /// Instructions of each hart until the kernel waited for the program, or until the `fork` of this process.
    before: Vec<u64>,
    /// The virtual time of that `fork`.
    began: Time,
    /// What functions have executed.
    pub ran: Ran,
    sent: u64,
    received: u64,
    tiles: Vec<HostTile>,
}

/// A tile that takes programs of the host.
struct HostTile {
    number: u16,
    name: String,
    /// Those of its harts for threads, each once.
    isas: Vec<Isa>,
}

/// The tiles with a hart that has the host's space. `isas`: of all harts of the machine.
fn host_tiles(description: &machine::Machine, isas: impl Iterator<Item = Isa>) -> Vec<HostTile> {
    let isas: Vec<_> = isas.collect();
    let mut first = 0;
    let mut all = Vec::new();
    for (number, tile) in (0..).zip(&description.tiles) {
        let harts = first..first + tile.harts.len();
        first = harts.end;
        if tile.harts.iter().any(|hart| hart.has_host_space) {
            let own = harts
                .zip(&tile.harts)
                .filter(|(_, hart)| is_for_threads(tile, hart));
            let mut own: Vec<Isa> = own.filter_map(|(n, _)| isas.get(n).copied()).collect();
            own.sort_by_key(|isa| isa.bits());
            own.dedup();
            all.push(HostTile {
                number,
                name: tile.name.clone(),
                isas: own,
            });
        }
    }
    all
}

/// Do threads get this hart of a tile? A kernel hart is one if it is alone.
fn is_for_threads(tile: &machine::Tile, hart: &machine::Hart) -> bool {
    hart.has_host_space && (tile.harts.len() == 1 || !hart.is_kernel)
}

fn read_kernel(path: &Path) -> Result<Vec<u8>, String> {
    let why = |error| format!("the kernel {} cannot be read: {error}", path.display());
    std::fs::read(path).map_err(why)
}

/// The numbers of the harts that threads get.
fn for_threads(description: &machine::Machine) -> Vec<usize> {
    let tiles = description.tiles.iter();
    let harts = tiles.flat_map(|tile| {
        let harts = tile.harts.iter();
        harts.map(move |hart| is_for_threads(tile, hart))
    });
    let harts = harts.enumerate();
    harts
        .filter_map(|(n, is_one)| is_one.then_some(n))
        .collect()
}

/// Why the machine cannot start, and what to do about it.
fn with_help(error: BadSystem) -> String {
    match error.help() {
        Some(help) => format!("{error}; {help}"),
        None => error.to_string(),
    }
}

/// The kernel prints to standard error.
struct StandardError;

impl Console for StandardError {
    fn output(&mut self, bytes: &[u8]) {
        // SAFETY: the bytes are valid. A failed write has no remedy.
        unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
    }
}

fn faults_of(path: &str, description: &machine::Machine) -> Result<Vec<Fault>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let tiles = description.tiles.iter();
    let tiles: Vec<_> = tiles.map(|tile| (&*tile.name, tile.harts.len())).collect();
    faults::parse(path, &text, &tiles).map_err(|error| error.to_string())
}

impl Driver {
    /// Makes the machine of a name or file, with the kernel in a file and the faults in a file, and boots
    /// it. An error is for people.
    pub fn open(
        name: &str,
        kernel: &str,
        (inject, first_files): (&str, &str),
        is_timed: bool,
    ) -> Result<Self, String> {
        let description = machine::Machine::load(name, &[]).map_err(|error| error.to_string())?;
        let missing = description.missing();
        if let Some(first) = missing.first() {
            return Err(format!("the machine {name} cannot run yet: {first}"));
        }
        let host = host_board(&description, Box::new(ProcessSpace));
        let Some((host, arrived)) = host.map_err(with_help)? else {
            return Err(format!("the machine {name} has no tile of kind \"host\""));
        };
        let has_space = |tile: &machine::Tile| tile.harts.iter().any(|hart| hart.has_host_space);
        if !description.tiles.iter().any(has_space) {
            return Err(format!("no hart of the machine {name} has `host-space`"));
        }
        if description.tiles.len() > HOST_TILES {
            return Err(format!(
                "the machine {name} has more than {HOST_TILES} tiles, with that of the host"
            ));
        }
        let is_alone = |tile: &&machine::Tile| tile.harts.len() == 1;
        let alone = description.tiles.iter().filter(is_alone).count();
        let first = description.tiles.first();
        let is_root = first
            .and_then(|tile| tile.dtu.as_ref())
            .is_some_and(|dtu| dtu.is_root);
        let kernel = match is_root {
            true => &Path::new(kernel).with_file_name(ROOT),
            false => Path::new(kernel),
        };
        let firmware_alone = match alone {
            0 => None,
            _ => Some(read_kernel(&kernel.with_file_name(ALONE))?),
        };
        // All tiles but the host's.
        let firmware = match alone + 1 == description.tiles.len() {
            true => vec![],
            false => read_kernel(kernel)?,
        };
        let mut systems = System::all(&description).map_err(with_help)?;
        let boards = boards_of(&systems, &description, vec![], Some(host));
        // The machine lives as long as the process.
        let boards = Box::leak(Box::new(boards.map_err(with_help)?));
        let mut files = Files {
            firmware,
            firmware_alone,
            ..Files::default()
        };
        match (first_files, is_root) {
            ("", _) => {}
            (_, true) => servers::add_to(&mut files, kernel, first_files)?,
            (_, false) => {
                return Err(format!(
                    "the machine {name} has no root, and no servers of files (FLICK_CARD_FILES)"
                ));
            }
        }
        let booted = boot_tiles(&mut systems, boards, &files).map_err(|error| error.to_string())?;
        let host = boards.all().last().ok_or("the machine has no tiles")?;
        let mut machine = Machine::of_tiles(boards, &booted);
        machine.translate_after(Some(TRANSLATE_AFTER));
        let for_threads = for_threads(&description);
        machine.lend_harts(for_threads.iter().copied());
        if !inject.is_empty() {
            machine
                .inject(faults_of(inject, &description)?)
                .map_err(|error| format!("{inject}:{}: {}", error.line, error.what))?;
        }
        let harts = machine.instructions().len();
        let tiles = host_tiles(&description, machine.isas());
        let mut driver = Self {
            machine,
            host,
            arrived,
            end: None,
            for_threads,
            busy: vec![],
            seen: vec![0; OWNERS],
            asked: HashMap::new(),
            lent_to: vec![0; harts],
            clock: MachineClock::default(),
            owned: vec![0; harts],
            before: vec![0; harts],
            began: 0,
            ran: Ran::default(),
            sent: 0,
            received: 0,
            tiles,
        };
        driver.boot()?;
        driver.before = driver.machine.instructions();
        if is_timed {
            driver.clock = MachineClock::begin_timed(&mut driver.machine, &description);
        }
        Ok(driver)
    }

    /// Runs up to where the kernel waits for descriptors.
    fn boot(&mut self) -> Result<(), String> {
        for _ in 0..MOST_TURNS {
            match self.machine.turn(&mut StandardError, &mut Unwatched) {
                Turn::Ended(End::Idle) => {
                    self.machine.has_booted();
                    return Ok(());
                }
                Turn::Ended(end) => return Err(format!("the card's kernel has ended: {end:?}")),
                _ => {}
            }
        }
        Err("the card's kernel does not come to wait for programs".into())
    }

    /// Bits of a vector register of the harts; 0: no hart has vectors.
    pub fn vlen(&self) -> u32 {
        let harts = self.machine.isas().filter_map(Isa::vlen);
        harts.max().unwrap_or(0)
    }

    /// What all harts execute that threads get.
    pub fn common_isa(&self) -> Isa {
        let all = self.machine.isas().enumerate();
        let lent = all.filter(|(n, _)| self.for_threads.contains(n));
        let all = lent.map(|(_, isa)| isa.bits());
        Isa::from_bits(all.reduce(|one, other| one & other).unwrap_or(0))
    }

    /// A descriptor for the card, which comes at this time in a timed run. False: the ring is full.
    pub fn send(&mut self, descriptor: &Descriptor, time: u64) -> bool {
        let time = match self.clock.is_timed() {
            true => self.clock.of_owner(time),
            // What another hart does next may be earlier than what the owner has seen last.
            false => {
                let seen = self.seen.get(descriptor.slot()).copied();
                self.machine.now().max(seen.unwrap_or(0))
            }
        };
        let is_busy = self.busy.contains(&descriptor.owner);
        let time = time + if is_busy { PAUSE } else { 0 };
        let is_sent = self.machine.descriptor_at(self.host, descriptor, time);
        if is_sent && is_busy {
            self.busy.retain(|&owner| owner != descriptor.owner);
        }
        if is_sent && self.clock.is_timed() {
            let owner = descriptor.owner & OWNER_BITS;
            match descriptor.kind {
                DESCRIPTOR_END => self.asked.remove(&owner),
                _ => self.asked.insert(owner, time),
            };
        }
        self.sent += u64::from(is_sent);
        is_sent
    }

    /// When it goes on by itself, as its owners see it.
    pub fn next(&mut self) -> Option<Time> {
        let next = self.machine.next_time().filter(|_| self.end.is_none());
        next.map(|time| self.clock.of_machine(time))
    }

    /// Until when the owner of a lent hart may execute its code. `None`: the hart has to come back.
    pub fn until(&mut self, hart: u32, at: Time, others: Option<Time>) -> Option<Time> {
        let of_owner = |time| self.clock.of_owner(time);
        let (at, others) = (of_owner(at), others.map(of_owner));
        let until = self.machine.lent_until(hart as usize, at, others)?;
        Some(self.clock.of_machine(until))
    }

    /// Runs the machine up to what is not its own, or up to a time of its owners.
    pub fn advance(&mut self, order: &mut Order, until: Option<Time>) {
        let until = until.map(|until| self.clock.of_owner(until));
        self.machine.limit_time(until);
        let mut turns = 0_u32;
        let mut executed = None;
        loop {
            if let Some((message, time)) = self.arrived.borrow_mut().pop_front() {
                self.received += 1;
                if let Some(seen) = self.seen.get_mut(message.slot()) {
                    *seen = time;
                }
                let is_busy =
                    message.kind == DESCRIPTOR_RETURN && message.error == card::Error::Busy as u32;
                if is_busy && !self.busy.contains(&message.owner) {
                    self.busy.push(message.owner);
                }
                (order.kind, order.message) = (OrderKind::Message, message);
                order.time = self.clock.of_machine(time);
                return;
            }
            if let Some(end) = self.end {
                let (kind, status) = match end {
                    End::Reset => (OrderKind::Reset, 0),
                    End::Exit(status) => (OrderKind::Ended, status),
                    _ => (OrderKind::Ended, 0),
                };
                (order.kind, order.message.error) = (kind, status);
                // What was last is behind a fault that has ended it, perhaps.
                let time = self.machine.last_fault().unwrap_or(0);
                order.time = self.clock.of_machine(self.machine.now().max(time));
                return;
            }
            if let Some(until) = until
                && let Some(next) = self.machine.next_time()
                && next >= until
            {
                order.kind = OrderKind::Later;
                return;
            }
            match self.machine.turn(&mut StandardError, &mut Unwatched) {
                Turn::Ended(End::Idle) => {
                    order.kind = OrderKind::Idle;
                    return;
                }
                Turn::Ended(end) => self.end = Some(end),
                _ => {}
            }
            turns += 1;
            if turns.is_multiple_of(LOOKS_EVERY) {
                let all = self.machine.steps();
                if all - *executed.get_or_insert(all) > MOST_STEPS {
                    order.kind = OrderKind::Endless;
                    return;
                }
            }
            if let Some(lent) = self.machine.take_lent() {
                order.kind = OrderKind::Run;
                order.hart = lent.hart as u32;
                order.isa = lent.isa.bits();
                (order.owner, order.budget) = (lent.owner, lent.budget);
                order.time = self.clock.of_machine(lent.time);
                self.lent_to[lent.hart] = lent.owner;
                order.waited = 0;
                if self.clock.is_timed() {
                    let since = self.asked.remove(&lent.owner);
                    let waited = since.map(|since| self.machine.full_between(since, lent.time));
                    order.waited = waited.unwrap_or(0);
                    order.budget *= self.machine.period(lent.hart).unwrap_or(1);
                }
                return;
            }
        }
    }

    /// Loads what a lent hart has.
    pub fn registers(&self, hart: u32, to: &mut Hart) {
        if let Some(from) = self.machine.lent_registers(hart as usize) {
            (to.x, to.f, to.pc) = (from.x, from.f, from.pc);
        }
    }

    /// A lent hart is back.
    pub fn executed(&mut self, executed: &Executed, registers: &Hart) {
        let hart = executed.hart as usize;
        let state = (registers, executed.fcsr);
        let spent = (executed.instructions, executed.time);
        self.owned[hart] += executed.instructions;
        self.machine.lent_has_executed(hart, spent, state);
        let exception = (executed.cause, executed.value);
        let exception = (executed.cause != NO_EXCEPTION).then_some(exception);
        self.machine.end_lent(hart, exception);
        if let Some(time) = self.machine.time(hart).filter(|_| self.clock.is_timed()) {
            // The kernel may give the hart to another one.
            self.asked.insert(self.lent_to[hart], time);
        }
    }

    /// The process is a child of `fork`, which counts its own.
    pub fn forked(&mut self) {
        self.machine.renew_translations(Some(TRANSLATE_AFTER));
        self.ran = Ran::default();
        self.before = self.machine.instructions();
        self.owned.fill(0);
        (self.sent, self.received) = (0, 0);
        self.began = self.machine.now();
    }

    /// See [`flick_abi::card_interface::Functions::counts`].
    pub fn counts(&self) -> [u64; 5] {
        let all = self.machine.instructions().iter().sum();
        let now = self.machine.now() - self.began;
        let owned = self.owned.iter().sum();
        [all, owned, self.sent, self.received, now]
    }

    /// What a hart has executed. False: there is none of this number.
    pub fn hart(&self, hart: usize, row: &mut HartRow) -> bool {
        let Some(&owned) = self.owned.get(hart) else {
            return false;
        };
        let name = self.machine.hart_name(hart);
        let size = name.len().min(row.name.len());
        row.name[..size].copy_from_slice(&name.as_bytes()[..size]);
        row.name_size = size;
        let all = self.machine.instructions()[hart] - self.before[hart];
        (row.firmware, row.functions) = (all.saturating_sub(owned), owned);
        true
    }

    /// A tile that takes programs of the host. False: there are not so many.
    pub fn tile(&self, at: usize, row: &mut TileRow) -> bool {
        let Some(HostTile { number, name, isas }) = self.tiles.get(at) else {
            return false;
        };
        let size = name.len().min(row.name.len());
        row.name[..size].copy_from_slice(&name.as_bytes()[..size]);
        (row.name_size, row.number) = (size, *number);
        row.isa_count = isas.len().min(row.isas.len());
        for (place, isa) in row.isas.iter_mut().zip(isas) {
            *place = isa.bits();
        }
        true
    }
}
