//! The machine of the process, and what comes next in it.
use flick_abi::card_interface::{NO_EXCEPTION, Order, OrderKind};
use flick_abi::descriptor::Descriptor;
use flick_device::Arrived;
use flick_engine::Hart;
use flick_machine::{
    Board, Console, End, Files, Machine, System, TRANSLATE_AFTER, Turn, Unwatched, boards_of,
    boot_tiles, host_board,
};
use flick_timing::machine;

use crate::process_space::ProcessSpace;

/// Turns in which a kernel has booted, or never will.
const MOST_TURNS: u32 = 1_000_000;

/// The machine.
pub struct Driver {
    machine: Machine<'static>,
    /// The board of the host's tile.
    host: &'static Board,
    arrived: Arrived,
    has_ended: bool,
    /// Instructions of owners.
    owned: u64,
    sent: u64,
    received: u64,
}

/// The kernel prints to standard error.
struct StandardError;

impl Console for StandardError {
    fn output(&mut self, bytes: &[u8]) {
        // SAFETY: the bytes are valid. A failed write has no remedy.
        unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
    }
}

impl Driver {
    /// Makes the machine of a name or file, with the kernel in a file, and boots it. An error is for
    /// people.
    pub fn open(name: &str, kernel: &str) -> Result<Self, String> {
        let description = machine::Machine::load(name, &[]).map_err(|error| error.to_string())?;
        let missing = description.missing();
        if let Some(first) = missing.first() {
            return Err(format!("the machine {name} cannot run yet: {first}"));
        }
        let host = host_board(&description, Box::new(ProcessSpace));
        let Some((host, arrived)) = host.map_err(|error| error.to_string())? else {
            return Err(format!("the machine {name} has no tile of kind \"host\""));
        };
        let has_space = |tile: &machine::Tile| tile.harts.iter().any(|hart| hart.has_host_space);
        if !description.tiles.iter().any(has_space) {
            return Err(format!("no hart of the machine {name} has `host-space`"));
        }
        let firmware = std::fs::read(kernel)
            .map_err(|error| format!("the kernel {kernel} cannot be read: {error}"))?;
        let mut systems = System::all(&description).map_err(|error| error.to_string())?;
        let boards = boards_of(&systems, &description.links, vec![], Some(host));
        // The machine lives as long as the process.
        let boards = Box::leak(Box::new(boards.map_err(|error| error.to_string())?));
        let files = Files {
            firmware,
            ..Files::default()
        };
        let booted = boot_tiles(&mut systems, boards, &files).map_err(|error| error.to_string())?;
        let host = boards.all().last().ok_or("the machine has no tiles")?;
        let mut machine = Machine::of_tiles(boards, &booted);
        machine.translate_after(Some(TRANSLATE_AFTER));
        machine.lend_harts();
        let mut driver = Self {
            machine,
            host,
            arrived,
            has_ended: false,
            owned: 0,
            sent: 0,
            received: 0,
        };
        driver.boot()?;
        Ok(driver)
    }

    /// Runs up to where the kernel waits for descriptors.
    fn boot(&mut self) -> Result<(), String> {
        for _ in 0..MOST_TURNS {
            match self.machine.turn(&mut StandardError, &mut Unwatched) {
                Turn::Ended(End::Idle) => return Ok(()),
                Turn::Ended(end) => return Err(format!("the card's kernel has ended: {end:?}")),
                _ => {}
            }
        }
        Err("the card's kernel does not come to wait for programs".into())
    }

    /// A descriptor for the card. False: the ring is full.
    pub fn send(&mut self, descriptor: &Descriptor) -> bool {
        let bytes = descriptor.bytes();
        let is_sent = self.machine.descriptor_from_outside(self.host, &bytes);
        self.sent += u64::from(is_sent);
        is_sent
    }

    /// Runs the machine up to what is not its own.
    pub fn advance(&mut self, order: &mut Order) {
        loop {
            if let Some(message) = self.arrived.borrow_mut().pop_front() {
                self.received += 1;
                (order.kind, order.message) = (OrderKind::Message, message);
                return;
            }
            if self.has_ended {
                order.kind = OrderKind::Ended;
                return;
            }
            match self.machine.turn(&mut StandardError, &mut Unwatched) {
                Turn::Ended(End::Idle) => {
                    order.kind = OrderKind::Idle;
                    return;
                }
                Turn::Ended(_) => self.has_ended = true,
                _ => {}
            }
            if let Some(lent) = self.machine.take_lent() {
                order.kind = OrderKind::Run;
                (order.hart, order.extensions) = (lent.hart as u32, lent.isa.bits());
                (order.owner, order.budget) = (lent.owner, lent.budget);
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
    pub fn executed(
        &mut self,
        hart: u32,
        instructions: u64,
        state: (&Hart, u64),
        (cause, value): (u64, u64),
    ) {
        let hart = hart as usize;
        self.owned += instructions;
        self.machine.lent_has_executed(hart, instructions, state);
        let exception = (cause != NO_EXCEPTION).then_some((cause, value));
        self.machine.end_lent(hart, exception);
    }

    /// The process is a child of `fork`.
    pub fn forked(&mut self) {
        self.machine.renew_translations(Some(TRANSLATE_AFTER));
    }

    /// See [`flick_abi::card_interface::Functions::counts`].
    pub fn counts(&self) -> [u64; 5] {
        let all = self.machine.instructions().iter().sum();
        let now = self.machine.now();
        [all, self.owned, self.sent, self.received, now]
    }
}
