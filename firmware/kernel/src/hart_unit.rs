//! The data transfer unit as a user hart uses it for its thread's calls, without the kernel hart. What it
//! cannot do, it asks the kernel hart for, with a note why.
use core::sync::atomic::Ordering;

use flick_abi::card::{Call, Error, FOR_EVER, MAILBOX_BYTES};
use flick_abi::dtu::{self, Command, CommandWord, Error as UnitError, HEADER_SIZE};
use flick_kernel_core::context::Context;
use flick_kernel_core::lines::command;

use crate::consents::Consents;
use crate::dtu::{HARTS, Unit};
use crate::hart_page::{HartLocal, HartPage};
use crate::mailboxes::{ROOM, SLOT, label};
use crate::routes::{Route, Routes};
use crate::user_memory::{self, WORDS};
use crate::{cache, csr, csr_read, portal_write};

/// Words of a message.
const MESSAGE: usize = MAILBOX_BYTES / 8;
/// Where the second half of a message begins: halves have `WORDS` words, and one in common.
const SECOND: usize = MESSAGE - WORDS;
/// Cycles that a hart looks for a message, before its thread leaves it.
const PATIENCE: u64 = 4096;

/// What a user hart needs for its unit.
#[derive(Clone, Copy, Debug)]
pub struct HartUnit {
    /// `None`: there is none, or it has not enough endpoints.
    pub unit: Option<Unit>,
    /// The hart's tile, and how many there are.
    pub tile: (u64, u64),
    /// Its endpoint for messages.
    pub message: u16,
    /// Its endpoint for memory.
    pub memory: u16,
    /// Where mailboxes are.
    pub routes: Routes,
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

    /// A note with an activity.
    pub const fn of(what: u64, activity: u16) -> u64 {
        what | (activity as u64) << 8
    }
}

/// A call returns an error.
pub fn failed(error: Error) -> Attempt {
    Attempt::Done([error.to_register(), 0])
}

/// Executes a call of [`flick_abi::card::CallPlace::Unit`].
#[unsafe(link_section = ".text.user_hart")]
pub fn execute(local: &mut HartLocal, context: &Context, call: Call) -> Attempt {
    let arguments = [10, 11, 12, 13, 14].map(|n| context.x[n]);
    match call {
        Call::PortalWrite => portal_write::portal_write(local, context, arguments),
        _ if local.unit.unit.is_none() => Attempt::Ask(note::NOTHING),
        Call::MailboxSend => send(local, context, arguments),
        _ => receive(local, context, arguments),
    }
}

impl HartUnit {
    /// Sends a message of words at an address, with a label, to an endpoint.
    #[inline(always)]
    pub fn send(
        &self,
        unit: &Unit,
        to: (u16, u16, u16),
        label: u64,
        (address, size): (u64, u64),
    ) -> Result<u64, UnitError> {
        unit.set_message_endpoint(self.message, HARTS, to, label);
        unit.set(dtu::ADDRESS, address);
        unit.set(dtu::SIZE, size);
        unit.execute(CommandWord::new(Command::Send, self.message))
    }
}

#[inline(always)]
fn send(local: &mut HartLocal, context: &Context, [tile, port, message, ..]: [u64; 5]) -> Attempt {
    let HartUnit { routes, unit, .. } = local.unit;
    let is_place = tile < local.unit.tile.1 && port < crate::port_table::PORTS;
    let (Some(unit), true, Some(route)) = (unit, is_place, routes.find(tile, port)) else {
        return Attempt::Ask(note::NOTHING);
    };
    if route.endpoint() == 0 {
        return Attempt::Ask(note::NOTHING);
    }
    let halves = match message % 8 {
        0 => user_memory::load(message).zip(user_memory::load(message + 8 * SECOND as u64)),
        _ => None,
    };
    let Some((first, second)) = halves else {
        return Attempt::Ask(note::FAULT);
    };
    local.outgoing[..WORDS].copy_from_slice(&first);
    local.outgoing[SECOND..MESSAGE].copy_from_slice(&second);
    let to = (tile as u16, route.endpoint(), route.activity());
    let from = (local.outgoing.as_ptr().addr() as u64, MAILBOX_BYTES as u64);
    let sent = local.unit.send(&unit, to, label(local.unit.tile.0, port, context.process), from);
    match sent {
        Ok(_) => Attempt::Done([0, 0]),
        Err(UnitError::NoSpace) => Attempt::Ask(note::of(note::FULL, route.activity())),
        // Whether it has arrived is not known.
        Err(UnitError::NoConfirmation | UnitError::Unreachable) => failed(Error::Dead),
        Err(_) => {
            routes.see(tile, port);
            Attempt::Ask(note::of(note::GONE, route.activity()))
        }
    }
}

fn receive(local: &mut HartLocal, context: &Context, [port, buffer, until, ..]: [u64; 5]) -> Attempt {
    let HartUnit { routes, unit, .. } = local.unit;
    let own = local.unit.tile.0;
    let route = routes.find(own, port).filter(|_| port < crate::port_table::PORTS);
    let (Some(unit), Some(route)) = (unit, route) else {
        return Attempt::Ask(note::NOTHING);
    };
    let is_own = u64::from(route.owner()) == context.process & 0x7fff;
    if !is_own || route.endpoint() == 0 {
        return Attempt::Ask(note::NOTHING);
    }
    // A buffer that cannot be stored to is found before a message is taken.
    let last = buffer.wrapping_add(8 * SECOND as u64);
    let end = buffer.wrapping_add(MAILBOX_BYTES as u64 - 8);
    let is_good = user_memory::is_writable;
    if !buffer.is_multiple_of(8) || !is_good(buffer) || !is_good(end) {
        return Attempt::Ask(note::FAULT);
    }
    let hart = local.hart as usize;
    unit.set(dtu::current(hart), route.activity().into());
    let attempt = take(local, &unit, route, (port, buffer, last), until);
    unit.set(dtu::current(hart), HARTS.into());
    attempt
}

#[inline(always)]
fn take(
    local: &mut HartLocal,
    unit: &Unit,
    route: Route,
    (port, buffer, last): (u64, u64, u64),
    until: u64,
) -> Attempt {
    let endpoint = route.endpoint();
    let begin = csr_read!(mcycle);
    loop {
        match unit.execute(CommandWord::new(Command::Fetch, endpoint)) {
            Ok(0) => {}
            Ok(at) => {
                let (sender, is_good) = copy_out(at, (port, buffer, last));
                let slot = (at % flick_abi::card::PAGE / SLOT) as u8;
                let free = CommandWord::new(Command::Acknowledge, endpoint).with_slot(slot);
                let _: Result<u64, UnitError> = unit.execute(free);
                // Looked at behind the acknowledgement: who was refused before it, the kernel hart knows.
                let was_full = unit.occupied(endpoint) >= ROOM - 1;
                match (sender, is_good) {
                    // It was for a mailbox that had the endpoint before.
                    (None, _) => continue,
                    (_, false) => return failed(Error::BadAddress),
                    (Some(sender), true) if was_full => {
                        // SAFETY: the thread is this hart's.
                        unsafe { (*local.context).x[11] = sender };
                        return Attempt::Ask(note::MADE_ROOM);
                    }
                    (Some(sender), true) => return Attempt::Done([0, sender]),
                }
            }
            Err(_) => {
                local.unit.routes.see(local.unit.tile.0, port);
                return Attempt::Ask(note::of(note::GONE, route.activity()));
            }
        }
        if until != FOR_EVER && until <= csr::time() {
            return failed(Error::TimedOut);
        }
        if heed(local) {
            return Attempt::Preempted;
        }
        if csr_read!(mcycle).wrapping_sub(begin) > PATIENCE {
            return Attempt::Ask(note::NOTHING);
        }
    }
}

/// Copies a message of a slot. Its sender, if it was for this port; and whether it could be stored.
#[inline(always)]
fn copy_out(at: u64, (port, buffer, last): (u64, u64, u64)) -> (Option<u64>, bool) {
    cache::refresh(at, (HEADER_SIZE + MAILBOX_BYTES) as u64);
    // SAFETY: a slot of a mailbox, which the unit has written to, and keeps until it is free.
    let (of, halves) = unsafe {
        let words = at as *const u64;
        let body = words.add(HEADER_SIZE / 8);
        let first = (body as *const [u64; WORDS]).read_volatile();
        let second = (body.add(SECOND) as *const [u64; WORDS]).read_volatile();
        (words.add(2).read_volatile(), (first, second))
    };
    if of >> 48 != port {
        return (None, true);
    }
    let is_good = user_memory::store(buffer, halves.0) && user_memory::store(last, halves.1);
    (Some(of & 0xffff_ffff_ffff), is_good)
}

/// The hart does what the kernel hart has told it meanwhile. True: it shall run another thread.
#[inline(always)]
pub fn heed(local: &mut HartLocal) -> bool {
    const SOFTWARE: u64 = 8;
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
