//! The data transfer unit as a user hart uses it for its thread's calls, without the kernel hart. What it
//! cannot do, it asks the kernel hart for, with a note why.
use core::sync::atomic::Ordering;

use flick_abi::card::{Error, FOR_EVER, MAILBOX_BYTES, PAGE};
use flick_abi::dtu::{self, Command, CommandWord, Error as UnitError, HEADER_SIZE};
use flick_kernel_core::lines::command;

use crate::consents::Consents;
use crate::dtu::{HARTS, Registers};
use crate::hart_page::{HartLocal, HartPage};
use crate::mailboxes::{ROOM, SLOT, label};
use crate::routes::{Route, Routes};
use crate::user_memory::{self, WORDS};
use crate::trace_points::point;
use crate::{cache, csr, csr_read, csr_write};

/// Words of a message.
const MESSAGE: usize = MAILBOX_BYTES / 8;
/// Where the second half of a message begins: halves have `WORDS` words, and one in common.
const SECOND: usize = MESSAGE - WORDS;
/// Cycles that a hart looks for a message, before it asks whether the thread may wait here.
const PATIENCE: u64 = 1024;
/// Software interrupts, in `mie` and `mip`.
const SOFTWARE: u64 = 8;

/// What a user hart needs for its unit.
#[derive(Clone, Copy, Debug)]
pub struct HartUnit {
    /// `None`: there is none, or it has not enough endpoints.
    pub registers: Option<Registers>,
    /// Where mailboxes are.
    pub routes: Routes,
    /// The route that the endpoint for messages is set up for, and the process that sends; 0: for none.
    pub route: u64,
    /// See `route`.
    pub process: u64,
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

#[inline(always)]
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
    let outgoing = &mut local.outgoing;
    let is_good = message.is_multiple_of(8)
        && user_memory::load(message).is_some_and(|words| {
            outgoing[..WORDS].copy_from_slice(&words);
            true
        })
        && user_memory::load(message + 8 * SECOND as u64).is_some_and(|words| {
            outgoing[SECOND..MESSAGE].copy_from_slice(&words);
            true
        });
    if !is_good {
        return Attempt::Ask(note::FAULT);
    }
    registers.finish();
    let process = process(local);
    if local.unit.route != route.0 || local.unit.process != process {
        set_route(local, &registers, route, (tile, port), process);
    }
    let sent = registers.execute(CommandWord::new(Command::Send, local.unit.message));
    match sent {
        Ok(_) => Attempt::Done([0, 0]),
        Err(error) => not_sent(local, error, route, (tile, port)),
    }
}

/// Messages go that way from now on.
#[inline(never)]
fn set_route(
    local: &mut HartLocal,
    registers: &Registers,
    route: Route,
    (tile, port): (u64, u64),
    process: u64,
) {
    let label = label(local.unit.tile, port, process);
    let to = (tile as u16, route.endpoint(), route.activity());
    // Credits come back when messages are taken: there is always one.
    registers.set_message_endpoint(local.unit.message, HARTS, to, (label, u16::MAX));
    registers.set(dtu::ADDRESS, local.outgoing.as_ptr().addr() as u64);
    registers.set(dtu::SIZE, MAILBOX_BYTES as u64);
    (local.unit.route, local.unit.process) = (route.0, process);
}

#[inline(never)]
fn not_sent(local: &mut HartLocal, error: UnitError, route: Route, place: (u64, u64)) -> Attempt {
    match error {
        UnitError::NoSpace => return Attempt::Ask(note::of(note::FULL, route.activity())),
        // Whether it has arrived is not known.
        UnitError::NoConfirmation | UnitError::Unreachable => return failed(Error::Dead),
        _ => {}
    }
    // Credits may be lost with the messages of a mailbox that is gone.
    local.unit.route = 0;
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
    let end = buffer.wrapping_add(MAILBOX_BYTES as u64 - 8);
    let is_good = user_memory::is_writable;
    if !buffer.is_multiple_of(8) || !is_good(buffer) || !is_good(end) {
        return Attempt::Ask(note::FAULT);
    }
    let hart = local.hart as usize;
    registers.finish();
    registers.set(dtu::current(hart), route.activity().into());
    // What the hart's cache has of the last message is of no use any more. Here it often waits anyway.
    if local.slot != 0 {
        cache::refresh(local.slot, (HEADER_SIZE + MAILBOX_BYTES) as u64);
        local.slot = 0;
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
    (port, buffer): (u64, u64),
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
            let (sender, is_good) = copy_out(at, (port, buffer));
            let slot = (at % PAGE / SLOT) as u8;
            registers.start(CommandWord::new(Command::Acknowledge, endpoint).with_slot(slot));
            // Who was refused before this look, the kernel hart knows.
            let was_full = registers.occupied(endpoint) >= ROOM - 1;
            local.is_parked = false;
            local.slot = at;
            match (sender, is_good) {
                (Some(sender), true) if !was_full => return Attempt::Done([0, sender]),
                (Some(sender), true) => {
                    local.sender = sender;
                    return Attempt::Ask(note::MADE_ROOM);
                }
                (_, false) => return failed(Error::BadAddress),
                // It was for a mailbox that had the endpoint before.
                (None, _) => registers.finish(),
            }
            continue;
        }
        let waited = match local.is_parked {
            true => sleep(local, registers, endpoint, until),
            false => look(local, registers, endpoint, until),
        };
        if let Some(attempt) = waited {
            return attempt;
        }
    }
}

/// Looks for a message for some time.
#[inline(always)]
fn look(local: &mut HartLocal, unit: &Registers, endpoint: u16, until: u64) -> Option<Attempt> {
    let begin = csr_read!(mcycle);
    while unit.get(dtu::EVENTS) >> endpoint & 1 == 0 {
        if is_over(until) {
            return Some(failed(Error::TimedOut));
        }
        if heed(local) {
            return Some(Attempt::Preempted);
        }
        if csr_read!(mcycle).wrapping_sub(begin) > PATIENCE {
            local.is_parked = true;
            return Some(Attempt::Ask(note::PARK));
        }
    }
    None
}

/// Waits for a message, or for what the kernel hart wants.
#[inline(never)]
fn sleep(local: &mut HartLocal, unit: &Registers, endpoint: u16, until: u64) -> Option<Attempt> {
    const TIMER: u64 = 1 << 7;
    const UNIT: u64 = 1 << dtu::INTERRUPT_BIT;
    let hart = local.hart as usize;
    let wakes = SOFTWARE | UNIT | if until == FOR_EVER { 0 } else { TIMER };
    local.clint.set_timer(hart, until);
    unit.set(dtu::INTERRUPT, 1 << endpoint);
    // SAFETY: interrupts end `wfi`, and are not taken in M mode.
    unsafe { csr_write!(mie, wakes) };
    let mut ended = None;
    while ended.is_none() && unit.get(dtu::EVENTS) >> endpoint & 1 == 0 {
        csr::wait();
        if is_over(until) {
            ended = Some(failed(Error::TimedOut));
        } else if heed(local) {
            // Another thread needs the hart.
            ended = Some(Attempt::Ask(note::NOTHING));
        }
    }
    // SAFETY: as before the thread waited.
    unsafe { csr_write!(mie, SOFTWARE) };
    local.is_parked = local.is_parked && ended.is_none();
    ended
}

fn is_over(until: u64) -> bool {
    until != FOR_EVER && until <= csr::time()
}

/// Copies a message of a slot. Its sender, if it was for this port; and whether it could be stored.
#[inline(always)]
fn copy_out(at: u64, (port, buffer): (u64, u64)) -> (Option<u64>, bool) {
    // SAFETY: a slot of a mailbox, which the unit has written to, and keeps until it is free.
    unsafe {
        let words = at as *const u64;
        let of = words.add(2).read_volatile();
        if of >> 48 != port {
            return (None, true);
        }
        let body = words.add(HEADER_SIZE / 8);
        let first = (body as *const [u64; WORDS]).read_volatile();
        let is_good = user_memory::store(buffer, first);
        let second = (body.add(SECOND) as *const [u64; WORDS]).read_volatile();
        let is_good = user_memory::store(buffer + 8 * SECOND as u64, second) && is_good;
        (Some(of & 0xffff_ffff_ffff), is_good)
    }
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
    core::sync::atomic::fence(Ordering::Acquire);
    flags & command::PREEMPT != 0
}
