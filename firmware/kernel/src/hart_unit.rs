//! The data transfer unit as a user hart uses it for its thread's calls, without the kernel hart. What it
//! cannot do, it asks the kernel hart for, with a note why.
use core::sync::atomic::{AtomicU64, Ordering};

use flick_abi::card::{Error, FOR_EVER, MAILBOX_BYTES, PAGE, rights};
use flick_abi::dtu::{self, Command, CommandWord, Error as UnitError, HEADER_SIZE};
use flick_kernel_core::lines::command;
use flick_kernel_core::page_tables::{PageTables, Physical};

use crate::consents::Consents;
use crate::dtu::{HARTS, Registers};
use crate::hart_page::{HartLocal, HartPage, Seen, Sending, Taking};
use crate::mailboxes::{SLOT, label, wanted};
use crate::routes::{Route, Routes};
use crate::trace_points::point;
use crate::{cache, csr, csr_read, csr_write};

/// Words of a message.
const MESSAGE: usize = MAILBOX_BYTES / 8;
/// Cycles that a hart looks for a message, before it asks whether the thread may wait here.
const PATIENCE: u64 = 2048;
/// Cycles between two tries to send a message that finds no room, and the most of them.
const FIRST_PAUSE: u64 = 128;
const LAST_PAUSE: u64 = 1024;
/// Cycles of pauses behind which a sender waits for the word that there is room.
const SENDERS_PATIENCE: u64 = 32768;
/// Software interrupts, in `mie` and `mip`.
const SOFTWARE: u64 = 8;

/// What a user hart needs for its unit.
#[derive(Clone, Copy, Debug)]
pub struct HartUnit {
    /// `None`: there is none, or it has not enough endpoints.
    pub registers: Option<Registers>,
    /// Where mailboxes are.
    pub routes: Routes,
    /// The hart's tile.
    pub tile: u64,
    /// How many tiles there are.
    pub tiles: u64,
    /// Its endpoint for messages.
    pub message: u16,
    /// Its endpoint for memory.
    pub memory: u16,
    /// What may be written where.
    pub consents: Consents,
}

/// How a call goes on.
pub enum Attempt {
    /// It returns.
    Done([u64; 2]),
    /// The kernel hart has to see to it: one of [`note`].
    Ask(u64),
    /// The hart shall run another thread, and the call is made again.
    Preempted,
}

/// The same for `trap_entry.S`.
pub mod attempt {
    /// The call returns.
    pub const DONE: u64 = 0;
    /// The kernel hart is asked, with a note in the bits from 8 on.
    pub const ASK: u64 = 1;
    /// The hart shall run another thread.
    pub const PREEMPTED: u64 = 2;
}

/// Why the kernel hart is asked, in bits 7:0; an activity in bits 23:8.
pub mod note {
    /// The call needs it.
    pub const NOTHING: u64 = 0;
    /// The endpoint is not the activity's any more.
    pub const GONE: u64 = 1;
    /// The mailbox is full.
    pub const FULL: u64 = 2;
    /// Memory of the program cannot be accessed.
    pub const FAULT: u64 = 3;
    /// A message was taken from a full mailbox; its sender is in a1.
    pub const MADE_ROOM: u64 = 4;
    /// The data is in a portal's buffer.
    pub const WRITTEN: u64 = 5;
    /// A write to a portal has failed.
    pub const FAILED: u64 = 6;
    /// The hart could wait for a message.
    pub const PARK: u64 = 7;
    /// The hart does not know where the call of a gate goes.
    #[cfg(feature = "root")]
    pub const UNKNOWN: u64 = 8;

    /// A note with an activity.
    pub const fn of(what: u64, activity: u16) -> u64 {
        what | (activity as u64) << 8
    }
}

/// A call returns an error.
pub fn failed(error: Error) -> Attempt {
    Attempt::Done([error.to_register(), 0])
}

/// What a call returns, for `trap_entry.S`.
#[repr(C)]
pub struct Values {
    a0: u64,
    a1: u64,
}

/// Ends an attempt.
#[inline(always)]
pub fn end(local: &mut HartLocal, attempt: Attempt) -> Values {
    point!("local_done");
    let (attempt, [a0, a1]) = match attempt {
        Attempt::Done(values) => (attempt::DONE, values),
        Attempt::Ask(why) => (attempt::ASK | why << 8, [0; 2]),
        Attempt::Preempted => (attempt::PREEMPTED, [0; 2]),
    };
    local.attempt = attempt;
    Values { a0, a1 }
}

/// From `trap_entry.S`: `mailbox_send`.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".text.user_hart")]
extern "C" fn try_send(
    tile: u64,
    port: u64,
    message: u64,
    _: u64,
    _: u64,
    local: &mut HartLocal,
) -> Values {
    point!("local");
    let attempt = send(local, tile, port, message);
    end(local, attempt)
}

/// From `trap_entry.S`: `mailbox_receive`.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".text.user_hart")]
extern "C" fn try_receive(
    port: u64,
    buffer: u64,
    until: u64,
    _: u64,
    _: u64,
    local: &mut HartLocal,
) -> Values {
    point!("local");
    let attempt = receive(local, port, buffer, until);
    end(local, attempt)
}

/// The number of the process whose thread the hart runs.
pub fn process(local: &HartLocal) -> u64 {
    // SAFETY: the hart's own, while it runs the thread.
    unsafe { (*local.context).process }
}

/// The physical address of memory of the thread's. `None`: it cannot be accessed without the kernel.
#[inline(always)]
pub fn reach(local: &mut HartLocal, address: u64, right: u64) -> Option<u64> {
    let seen = &local.seen[usize::from(right == rights::WRITE)];
    match seen.page == address / PAGE * PAGE {
        true => Some(address.wrapping_add(seen.offset)),
        false => look_up(local, address, right),
    }
}

#[inline(never)]
fn look_up(local: &mut HartLocal, address: u64, right: u64) -> Option<u64> {
    let physical = tables(local).reach(address, right, &mut Fresh)?;
    local.seen[usize::from(right == rights::WRITE)] = Seen {
        page: address / PAGE * PAGE,
        offset: physical.wrapping_sub(address),
    };
    Some(physical)
}

/// What the hart has looked up may be different now.
pub fn forget(local: &mut HartLocal) {
    local.changes = local.changes.wrapping_add(1);
    local.seen = [Seen::NONE; 2];
}

fn send(local: &mut HartLocal, tile: u64, port: u64, message: u64) -> Attempt {
    let unit = &local.unit;
    let is_place = tile < unit.tiles && port < crate::port_table::PORTS;
    let (Some(registers), true) = (unit.registers, is_place) else {
        return Attempt::Ask(note::NOTHING);
    };
    let Some(route) = unit.routes.find(tile, port) else {
        return Attempt::Ask(note::NOTHING);
    };
    if route.endpoint() == 0 {
        return Attempt::Ask(note::NOTHING);
    }
    if !message.is_multiple_of(8) {
        return failed(Error::BadAddress);
    }
    let Some(place) = MessagePlace::find(local, message, rights::READ) else {
        return Attempt::Ask(note::FAULT);
    };
    let from = match place.is_whole() {
        true => place.first,
        false => gather(local, &place),
    };
    finish(local, &registers);
    if (local.sending.tile, local.sending.port) != (tile, port) {
        set_up(local, &registers, route, (tile, port));
    }
    registers.set(dtu::ADDRESS, from);
    match registers.execute(CommandWord::from_bits(local.sending.command)) {
        Ok(_) => Attempt::Done([0, 0]),
        Err(error) => not_sent(local, &registers, error, route, (tile, port)),
    }
}

/// A message in two pages, in one piece.
#[inline(never)]
fn gather(local: &mut HartLocal, place: &MessagePlace) -> u64 {
    for (n, word) in local.outgoing[..MESSAGE].iter_mut().enumerate() {
        // SAFETY: memory of the thread, which stays as long as the hart does not answer the kernel hart.
        *word = unsafe { (place.word(n) as *const u64).read_volatile() };
    }
    local.outgoing.as_ptr().addr() as u64
}

/// Waits for a command that was started, and not waited for.
#[inline(always)]
pub fn finish(local: &mut HartLocal, registers: &Registers) {
    if core::mem::take(&mut local.sending.is_busy) != 0 {
        registers.finish();
    }
}

/// Messages go to this mailbox from now on.
#[inline(never)]
fn set_up(local: &mut HartLocal, registers: &Registers, route: Route, (tile, port): (u64, u64)) {
    let label = label(local.unit.tile, port, process(local));
    let to = (tile as u16, route.endpoint(), route.activity());
    // Credits come back when messages are taken: there is always one.
    let message = local.unit.message;
    registers.set_message_endpoint(message, HARTS, to, (label, u16::MAX));
    registers.set(dtu::SIZE, MAILBOX_BYTES as u64);
    local.sending.command = CommandWord::new(Command::Send, message).bits();
    (local.sending.tile, local.sending.port) = (tile, port);
}

#[inline(never)]
fn not_sent(
    local: &mut HartLocal,
    registers: &Registers,
    mut error: UnitError,
    route: Route,
    place: (u64, u64),
) -> Attempt {
    // There is room soon, most often.
    let (mut pause, mut paused) = (FIRST_PAUSE, 0);
    while error == UnitError::NoSpace {
        if paused > SENDERS_PATIENCE {
            return Attempt::Ask(note::of(note::FULL, route.activity()));
        }
        let begin = csr_read!(mcycle);
        while csr_read!(mcycle).wrapping_sub(begin) < pause {
            if heed(local) {
                return Attempt::Preempted;
            }
        }
        paused += pause;
        pause = (2 * pause).min(LAST_PAUSE);
        match registers.execute(CommandWord::from_bits(local.sending.command)) {
            Ok(_) => return Attempt::Done([0, 0]),
            Err(again) => error = again,
        }
    }
    // Whether it has arrived is not known.
    if let UnitError::NoConfirmation | UnitError::Unreachable = error {
        return failed(Error::Dead);
    }
    // Credits may be lost with the messages of a mailbox that is gone.
    local.sending.tile = Sending::NONE;
    local.unit.routes.see(place.0, place.1);
    Attempt::Ask(note::of(note::GONE, route.activity()))
}

#[inline(always)]
fn receive(local: &mut HartLocal, port: u64, buffer: u64, until: u64) -> Attempt {
    let unit = &local.unit;
    let (Some(registers), true) = (unit.registers, port < crate::port_table::PORTS) else {
        return Attempt::Ask(note::NOTHING);
    };
    let Some(route) = unit.routes.find(unit.tile, port) else {
        return Attempt::Ask(note::NOTHING);
    };
    let is_own = u64::from(route.owner()) == process(local) & 0x7fff;
    if !is_own || route.endpoint() == 0 {
        return Attempt::Ask(note::NOTHING);
    }
    // A buffer that cannot be stored to is found before a message is taken.
    if !buffer.is_multiple_of(8) {
        return failed(Error::BadAddress);
    }
    let Some(buffer) = MessagePlace::find(local, buffer, rights::WRITE) else {
        return Attempt::Ask(note::FAULT);
    };
    let hart = local.hart as usize;
    finish(local, &registers);
    registers.set(dtu::current(hart), route.activity().into());
    // What the hart's cache has of the last message is of no use any more. Here it often waits anyway.
    if local.taking.slot != 0 {
        cache::refresh(local.taking.slot, (HEADER_SIZE + MAILBOX_BYTES) as u64);
        local.taking.slot = 0;
    }
    let attempt = take(local, &registers, route, (port, buffer), until);
    registers.set(dtu::current(hart), HARTS.into());
    attempt
}

#[inline(always)]
fn take(
    local: &mut HartLocal,
    registers: &Registers,
    route: Route,
    (port, buffer): (u64, MessagePlace),
    until: u64,
) -> Attempt {
    let endpoint = route.endpoint();
    loop {
        let at = match registers.execute(CommandWord::new(Command::Fetch, endpoint)) {
            Ok(at) => at,
            Err(_) => {
                local.unit.routes.see(local.unit.tile, port);
                return Attempt::Ask(note::of(note::GONE, route.activity()));
            }
        };
        if at != 0 {
            if local.mailbox != route.0 {
                // The hart's cache may have anything of the memory that the mailbox was made of.
                local.mailbox = route.0;
                cache::refresh(at / PAGE * PAGE, PAGE);
            }
            let sender = copy_out(at, port, &buffer);
            let slot = (at % PAGE / SLOT) as u8;
            registers.start(CommandWord::new(Command::Acknowledge, endpoint).with_slot(slot));
            registers.finish();
            // The kernel hart sets it before it looks for room.
            let is_wanted = wanted(at / PAGE * PAGE).swap(0, Ordering::SeqCst) != 0;
            local.taking = Taking {
                port,
                current: registers.address(dtu::current(local.hart as usize)),
                activity: route.activity().into(),
                events: 1 << endpoint,
                fetch: CommandWord::new(Command::Fetch, endpoint).bits(),
                acknowledge: CommandWord::new(Command::Acknowledge, endpoint).bits(),
                slot: at,
            };
            match sender {
                Some(sender) if !is_wanted => return Attempt::Done([0, sender]),
                Some(sender) => {
                    local.sender = sender;
                    return Attempt::Ask(note::MADE_ROOM);
                }
                // It was for a mailbox that had the endpoint before.
                None => {}
            }
            continue;
        }
        let waited = match local.is_parked {
            true => sleep(local, registers, endpoint, until),
            false => look(local, registers, endpoint, until),
        };
        match waited {
            Waited::ForMessage => {}
            Waited::ForNothing => return failed(Error::TimedOut),
            Waited::ForThread => return Attempt::Preempted,
            Waited::Long(why) => return Attempt::Ask(why),
        }
    }
}

/// How a wait ends.
pub enum Waited {
    /// There is a message.
    ForMessage,
    /// The time is over.
    ForNothing,
    /// Another thread needs the hart.
    ForThread,
    /// The kernel hart is asked with a note.
    Long(u64),
}

/// Looks for a message for some time.
#[inline(never)]
fn look(local: &mut HartLocal, unit: &Registers, endpoint: u16, until: u64) -> Waited {
    let begin = csr_read!(mcycle);
    while unit.get(dtu::EVENTS) >> endpoint & 1 == 0 {
        if is_over(until) {
            return Waited::ForNothing;
        }
        if heed(local) {
            return Waited::ForThread;
        }
        if csr_read!(mcycle).wrapping_sub(begin) > PATIENCE {
            return Waited::Long(note::PARK);
        }
    }
    Waited::ForMessage
}

/// Waits for a message, or for what the kernel hart wants.
#[inline(never)]
pub fn sleep(local: &mut HartLocal, unit: &Registers, endpoint: u16, until: u64) -> Waited {
    const TIMER: u64 = 1 << 7;
    const UNIT: u64 = 1 << dtu::INTERRUPT_BIT;
    let hart = local.hart as usize;
    let wakes = SOFTWARE | UNIT | if until == FOR_EVER { 0 } else { TIMER };
    local.clint.set_timer(hart, until);
    unit.set(dtu::INTERRUPT, 1 << endpoint);
    // SAFETY: interrupts end `wfi`, and are not taken in M mode.
    unsafe { csr_write!(mie, wakes) };
    let mut ended = Waited::ForMessage;
    while unit.get(dtu::EVENTS) >> endpoint & 1 == 0 {
        csr::wait();
        if is_over(until) {
            ended = Waited::ForNothing;
            break;
        }
        if heed(local) {
            local.is_parked = false;
            ended = Waited::Long(note::NOTHING);
            break;
        }
    }
    // SAFETY: as before the thread waited.
    unsafe { csr_write!(mie, SOFTWARE) };
    ended
}

#[inline(always)]
pub fn is_over(until: u64) -> bool {
    until != FOR_EVER && until <= csr::time()
}

/// Where a message is in the thread's memory: physical addresses of its first and last word, and how many
/// words are in the page of the first one.
struct MessagePlace {
    first: u64,
    last: u64,
    head: usize,
}

impl MessagePlace {
    /// The place of an address, which is a multiple of 8. `None`: the kernel hart has to see to it.
    #[inline(always)]
    fn find(local: &mut HartLocal, address: u64, right: u64) -> Option<Self> {
        let last = address.wrapping_add(MAILBOX_BYTES as u64 - 8);
        Some(Self {
            last: reach(local, last, right)?,
            first: reach(local, address, right)?,
            head: ((PAGE - address % PAGE) / 8) as usize,
        })
    }

    /// The words are behind each other.
    #[inline(always)]
    fn is_whole(&self) -> bool {
        self.last.wrapping_sub(self.first) == MAILBOX_BYTES as u64 - 8
    }

    /// The physical address of a word.
    fn word(&self, n: usize) -> u64 {
        match n < self.head {
            true => self.first + 8 * n as u64,
            false => self.last - 8 * (MESSAGE - 1 - n) as u64,
        }
    }
}

/// Copies a message of a slot. Its sender, if it was for this port.
#[inline(always)]
fn copy_out(at: u64, port: u64, buffer: &MessagePlace) -> Option<u64> {
    // SAFETY: a slot of a mailbox, which the unit has written to, and keeps until it is free; and memory of
    // the thread, which stays as long as the hart does not answer the kernel hart.
    unsafe {
        let words = at as *const u64;
        let of = words.add(2).read_volatile();
        if of >> 48 != port {
            return None;
        }
        let body = words.add(HEADER_SIZE / 8);
        if buffer.is_whole() {
            let to = buffer.first as *mut u64;
            // Straight: a call of `memcpy` takes three times as long.
            let words: [u64; MESSAGE] = core::array::from_fn(|n| body.add(n).read_volatile());
            for (n, word) in words.into_iter().enumerate() {
                to.add(n).write_volatile(word);
            }
        } else {
            copy_split(body, buffer);
        }
        Some(of & 0xffff_ffff_ffff)
    }
}

/// The buffer is in two pages.
///
/// # Safety
/// As of [`copy_out`].
#[inline(never)]
unsafe fn copy_split(body: *const u64, buffer: &MessagePlace) {
    for n in 0..MESSAGE {
        // SAFETY: as of `copy_out`.
        unsafe { (buffer.word(n) as *mut u64).write_volatile(body.add(n).read_volatile()) };
    }
}

/// The tables of the process whose thread the hart runs.
pub fn tables(local: &HartLocal) -> PageTables {
    // SAFETY: the hart's own, while it runs the thread.
    PageTables::of(unsafe { (*local.context).satp })
}

/// Page tables as another hart has written them.
pub struct Fresh;

impl Physical for Fresh {
    fn load(&self, address: u64) -> u64 {
        // SAFETY: a word of a page table. An atomic operation sees what the kernel hart has stored, without
        // coherence, too; it changes nothing.
        unsafe { AtomicU64::from_ptr(address as *mut u64) }.fetch_or(0, Ordering::Relaxed)
    }

    fn store(&mut self, _: u64, _: u64) {}

    fn clear(&mut self, _: u64) {}

    fn copy(&mut self, _: u64, _: u64) {}
}

/// The hart does what the kernel hart has told it meanwhile. True: it shall run another thread.
#[inline(always)]
pub fn heed(local: &mut HartLocal) -> bool {
    csr_read!(mip) & SOFTWARE != 0 && heed_command(local)
}

#[inline(never)]
fn heed_command(local: &mut HartLocal) -> bool {
    local.clint.clear(local.hart as usize);
    let flags = HartPage::of(local).command.take();
    crate::user_hart::invalidate(local, flags);
    flags & command::PREEMPT != 0
}
