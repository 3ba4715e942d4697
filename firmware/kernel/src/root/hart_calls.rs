//! Calls of the root role that the caller's hart executes by its own bank of the unit: messages of gates, and copies
//! from and to memory of tiles. The kernel hart is asked for rights that are not known, and for waits.
use flick_abi::card::{Error, MAILBOX_BYTES, PAGE, RootCall, rights};
use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, Error as UnitError, HEADER_SIZE, Header, MemoryEndpoint,
    NO_HEADER_ENDPOINT, Outcome,
};
use flick_abi::step_request::STEP_REQUEST_SIZE;

use super::gates::SLOTS;
use super::known_rights::{Kind, Use};
use super::memory::MOST_COPIED;
use crate::cache;
use crate::dtu::{HARTS, LOG2_REQUEST, PAYLOAD, Registers};
use crate::hart_page::{HartLocal, OUTGOING, Sending};
use crate::hart_unit::{
    Attempt, Fresh, Waited, failed, finish, heed, is_over, note, process, reach, sleep, tables,
};
use crate::trace_points::point;

/// The slot of an answer, and of a message that takes none, as a receiver gets it: it is free.
pub const NO_SLOT: u64 = 255;
/// Bytes of the longest message of `gate_send`: a request for steps with all its arrays.
pub const LONGEST: u64 = STEP_REQUEST_SIZE as u64;
const _: () = assert!(STEP_REQUEST_SIZE / 8 <= OUTGOING);
/// Bytes of one command of a copy: the hart does as it is told between them.
const MOST: u64 = 8192;

/// Executes a call, if the hart can.
pub fn attempt(local: &mut HartLocal, call: RootCall, arguments: [u64; 6]) -> Attempt {
    let [a0, a1, a2, a3, a4, a5] = arguments;
    let Some(registers) = local.unit.registers else {
        return Attempt::Ask(note::NOTHING);
    };
    point!("local");
    let attempt = match call {
        RootCall::GateReceive => receive(local, &registers, a0, a1, a2),
        RootCall::GateAnswer => answer(local, &registers, a0, a1, (a2, a3)),
        RootCall::GateAnswerReceive => {
            answer_and_receive(local, &registers, (a0, a1), (a2, a3), (a4, a5))
        }
        RootCall::GateSend => send(local, &registers, a0, (a1, a2), (a3, a4)),
        RootCall::TileLoad => copy(local, &registers, a0, a1, (a2, a3), rights::READ),
        RootCall::TileStore => copy(local, &registers, a0, a1, (a2, a3), rights::WRITE),
        _ => Attempt::Ask(note::NOTHING),
    };
    point!("local_done");
    attempt
}

/// The place of the process in the kernel's table.
pub fn owner(local: &HartLocal) -> u16 {
    process(local) as u16 & 0x7fff
}

/// What a gate's right is.
#[derive(Clone, Copy)]
pub struct KnownGate {
    /// Its endpoint, and the activity there.
    pub endpoint: u16,
    pub activity: u16,
    /// The page of its slots.
    pub frame: u64,
}

impl KnownGate {
    /// As harts look it up.
    pub fn words(self) -> super::known_rights::Words {
        let small = u32::from(self.endpoint) | u32::from(self.activity) << 16;
        (small, self.frame, 0)
    }

    #[inline(always)]
    fn find(using: &Use, owner: u16, number: u64) -> Option<Self> {
        let (small, frame, _) = using.find(Kind::Gate, owner, number)?;
        Some(Self {
            endpoint: small as u16,
            activity: (small >> 16) as u16,
            frame,
        })
    }
}

/// What the right of a sender is: an endpoint of its own.
#[derive(Clone, Copy)]
pub struct SenderEndpoint {
    pub endpoint: u8,
    /// The endpoint of the gate that takes its answers, and the activity of both.
    pub answers: u8,
    pub activity: u16,
    /// The capability of this gate.
    pub gate: u64,
}

impl SenderEndpoint {
    /// As harts look it up.
    pub fn words(self) -> super::known_rights::Words {
        let small = u32::from(self.endpoint)
            | u32::from(self.answers) << 8
            | u32::from(self.activity) << 16;
        (small, self.gate, 0)
    }

    #[inline(always)]
    fn find(using: &Use, owner: u16, number: u64) -> Option<Self> {
        let (small, gate, _) = using.find(Kind::Sender, owner, number)?;
        Some(Self {
            endpoint: small as u8,
            answers: (small >> 8) as u8,
            activity: (small >> 16) as u16,
            gate,
        })
    }
}

/// What the right to an endpoint for memory is that the root has set up.
pub fn reach_words(endpoint: u8, activity: u16) -> super::known_rights::Words {
    (u32::from(endpoint) | u32::from(activity) << 16, 0, 0)
}

/// The hart's bank has an activity until this is gone.
struct Current<'a> {
    registers: &'a Registers,
    hart: usize,
}

impl<'a> Current<'a> {
    #[inline(always)]
    fn set(local: &HartLocal, registers: &'a Registers, activity: u16) -> Self {
        let hart = local.hart as usize;
        registers.set(dtu::current(hart), activity.into());
        Self { registers, hart }
    }
}

impl Drop for Current<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.registers.set(dtu::current(self.hart), HARTS.into());
    }
}

/// The bank is free for commands of other sizes than those of mailboxes.
#[inline(always)]
fn take_bank(local: &mut HartLocal, registers: &Registers) {
    finish(local, registers);
    local.sending.tile = Sending::NONE;
}

/// The physical address of words of the thread's, in one piece. `None`: some cannot be loaded.
#[inline(always)]
pub fn gather(local: &mut HartLocal, at: u64, size: u64) -> Option<u64> {
    if size != 0 && at % PAGE + size <= PAGE {
        return reach(local, at, rights::READ);
    }
    for n in 0..size / 8 {
        let place = reach(local, at.checked_add(8 * n)?, rights::READ)?;
        // SAFETY: memory of the thread, which stays as long as the hart does not answer the kernel hart.
        local.outgoing[n as usize] = unsafe { (place as *const u64).read_volatile() };
    }
    Some(local.outgoing.as_ptr().addr() as u64)
}

/// Messages of the thread's are whole words, so many bytes at most.
pub fn is_message(at: u64, size: u64, most: u64) -> Result<(), Error> {
    match (size <= most && size.is_multiple_of(8), at % 8) {
        (false, _) => Err(Error::Invalid),
        (_, 0) => Ok(()),
        _ => Err(Error::BadAddress),
    }
}

/// `gate_receive`.
fn receive(
    local: &mut HartLocal,
    registers: &Registers,
    number: u64,
    buffer: u64,
    until: u64,
) -> Attempt {
    if !buffer.is_multiple_of(8) {
        return failed(Error::BadAddress);
    }
    take_bank(local, registers);
    loop {
        // A buffer that cannot be stored to is found before a message is taken, and again behind a wait.
        let last = buffer.checked_add(MAILBOX_BYTES as u64 - 8);
        let last = last.and_then(|last| reach(local, last, rights::WRITE));
        if last.is_none() || reach(local, buffer, rights::WRITE).is_none() {
            return Attempt::Ask(note::FAULT);
        }
        let using = Use::begin(local.hart);
        let Some(gate) = KnownGate::find(&using, owner(local), number) else {
            return Attempt::Ask(note::NOTHING);
        };
        let _current = Current::set(local, registers, gate.activity);
        if let Some(values) = take(local, registers, gate, buffer) {
            return Attempt::Done(values);
        }
        drop(using);
        if is_over(until) {
            return failed(Error::TimedOut);
        }
        if !local.is_parked {
            return Attempt::Ask(note::PARK);
        }
        // If the gate goes, the kernel hart wakes the hart.
        match sleep(local, registers, gate.endpoint, until) {
            Waited::ForMessage => {}
            Waited::ForNothing => return failed(Error::TimedOut),
            Waited::ForThread => return Attempt::Preempted,
            Waited::Long(why) => return Attempt::Ask(why),
        }
    }
}

/// Takes the oldest message of a gate.
#[inline(always)]
fn take(
    local: &mut HartLocal,
    registers: &Registers,
    gate: KnownGate,
    buffer: u64,
) -> Option<[u64; 2]> {
    let fetched = registers.execute(CommandWord::new(Command::Fetch, gate.endpoint));
    let at = fetched.ok().filter(|&at| at != 0)?;
    cache::refresh(at, 1 << LOG2_REQUEST);
    // SAFETY: words of a slot of the gate, which the unit has written to, and keeps until it is free.
    let words = unsafe { (at as *const [u64; HEADER_SIZE / 8]).read_volatile() };
    let header = Header::from_words(words);
    let size = u64::from(header.size).min(MAILBOX_BYTES as u64);
    for n in 0..size.div_ceil(8) {
        // The buffer was found before.
        let to = reach(local, buffer + 8 * n, rights::WRITE)?;
        let from = at + HEADER_SIZE as u64 + 8 * n;
        // SAFETY: as before; and memory of the thread, which stays as long as the hart does not answer the kernel
        // hart.
        unsafe { (to as *mut u64).write_volatile((from as *const u64).read_volatile()) };
    }
    let slot = at.wrapping_sub(gate.frame) >> LOG2_REQUEST;
    if !header.is_answer() && header.answer_endpoint != NO_HEADER_ENDPOINT {
        return Some([slot | size << 8, header.label]);
    }
    acknowledge(registers, gate, slot);
    Some([NO_SLOT | size << 8, header.label])
}

fn acknowledge(registers: &Registers, gate: KnownGate, slot: u64) {
    let command = CommandWord::new(Command::Acknowledge, gate.endpoint).with_slot(slot as u8);
    let _: Result<u64, UnitError> = registers.execute(command);
}

/// `gate_answer`.
fn answer(
    local: &mut HartLocal,
    registers: &Registers,
    number: u64,
    slot: u64,
    (message, size): (u64, u64),
) -> Attempt {
    if slot >= SLOTS {
        // Of a call of this tile.
        return Attempt::Ask(note::GONE);
    }
    if let Err(error) = is_message(message, size, PAYLOAD as u64) {
        return failed(error);
    }
    let Some(from) = gather(local, message, size) else {
        return Attempt::Ask(note::FAULT);
    };
    take_bank(local, registers);
    let using = Use::begin(local.hart);
    let Some(gate) = KnownGate::find(&using, owner(local), number) else {
        return Attempt::Ask(note::NOTHING);
    };
    let _current = Current::set(local, registers, gate.activity);
    registers.set(dtu::ADDRESS, from);
    registers.set(dtu::SIZE, size);
    let command = CommandWord::new(Command::Reply, gate.endpoint).with_slot(slot as u8);
    match registers.execute(command) {
        Ok(_) => Attempt::Done([0, 0]),
        // The slot has no message.
        Err(UnitError::NoAnswer) => failed(Error::Invalid),
        Err(UnitError::NoSpace) => failed(Error::Again),
        // The root has taken it away, and the kernel hart will know of that.
        Err(UnitError::NoEndpoint | UnitError::Aborted) => Attempt::Ask(note::NOTHING),
        // An accelerator without a turn, perhaps.
        Err(UnitError::Gone) => Attempt::Ask(note::GONE),
        Err(_) => {
            acknowledge(registers, gate, slot);
            failed(Error::Dead)
        }
    }
}

/// `gate_answer_receive`.
fn answer_and_receive(
    local: &mut HartLocal,
    registers: &Registers,
    (number, slot): (u64, u64),
    message: (u64, u64),
    (buffer, until): (u64, u64),
) -> Attempt {
    if slot != NO_SLOT {
        match answer(local, registers, number, slot, message) {
            Attempt::Done([0, _]) => {}
            Attempt::Done([error, _]) if error == Error::Dead.to_register() => {}
            other => return other,
        }
        has_answered(local);
    }
    receive(local, registers, number, buffer, until)
}

/// If the call is made again, there is nothing more to answer.
pub fn has_answered(local: &mut HartLocal) {
    // SAFETY: the hart's own, while it runs the thread.
    unsafe { (*local.context).x[11] = NO_SLOT };
}

/// `gate_send`.
fn send(
    local: &mut HartLocal,
    registers: &Registers,
    number: u64,
    (message, size): (u64, u64),
    (gate, label): (u64, u64),
) -> Attempt {
    if let Err(error) = is_message(message, size, LONGEST) {
        return failed(error);
    }
    let Some(from) = gather(local, message, size) else {
        return Attempt::Ask(note::FAULT);
    };
    take_bank(local, registers);
    let using = Use::begin(local.hart);
    let sender = SenderEndpoint::find(&using, owner(local), number);
    let Some(sender) = sender.filter(|sender| sender.gate == gate) else {
        return Attempt::Ask(note::NOTHING);
    };
    let _current = Current::set(local, registers, sender.activity);
    registers.set(dtu::ADDRESS, from);
    registers.set(dtu::SIZE, size);
    registers.set(dtu::LABEL, label);
    let command = CommandWord::new(Command::Send, sender.endpoint.into());
    match registers.execute(command.with_answer(sender.answers.into())) {
        Ok(_) => Attempt::Done([0, 0]),
        Err(UnitError::NoCredits | UnitError::NoSpace) => failed(Error::Again),
        Err(UnitError::NoEndpoint | UnitError::Aborted) => Attempt::Ask(note::NOTHING),
        Err(UnitError::Gone) => Attempt::Ask(note::GONE),
        Err(_) => failed(Error::Dead),
    }
}

/// `tile_load` and `tile_store`, by the right that they need.
fn copy(
    local: &mut HartLocal,
    registers: &Registers,
    number: u64,
    offset: u64,
    (here, size): (u64, u64),
    right: u64,
) -> Attempt {
    // What the unit stores to is the caller's memory, and the other way round.
    let (command, of_caller) = match right {
        rights::READ => (Command::Read, rights::WRITE),
        _ => (Command::Write, rights::READ),
    };
    if size > MOST_COPIED {
        return failed(Error::Invalid);
    }
    take_bank(local, registers);
    let mut done = 0;
    while done < size {
        let Some(at) = here.checked_add(done) else {
            return failed(Error::BadAddress);
        };
        let most = (size - done).min(MOST);
        let pages = (at % PAGE + most).div_ceil(PAGE);
        let found = tables(local).reach_many(at, of_caller, pages, &mut Fresh);
        let Some((place, pages)) = found else {
            return Attempt::Ask(note::FAULT);
        };
        let part = most.min(pages * PAGE - at % PAGE);
        let using = Use::begin(local.hart);
        let found = using.find(Kind::Memory, owner(local), number);
        if found.is_none()
            && let Some((small, ..)) = using.find(Kind::Endpoint, owner(local), number)
        {
            let _current = Current::set(local, registers, (small >> 16) as u16);
            registers.set(dtu::ADDRESS, place);
            registers.set(dtu::SIZE, part);
            registers.set(dtu::OFFSET, offset.wrapping_add(done));
            match registers.execute(CommandWord::new(command, small as u16 & 0xff)) {
                Ok(_) => {}
                // The root says what is wrong, or what has changed.
                Err(
                    UnitError::NoEndpoint
                    | UnitError::Aborted
                    | UnitError::OutOfBounds
                    | UnitError::NoRight,
                ) => return Attempt::Ask(note::NOTHING),
                Err(_) => return Attempt::Ask(note::FAILED),
            }
            drop(using);
            done += part;
            if done < size && heed(local) {
                return Attempt::Preempted;
            }
            continue;
        }
        let Some((small, address, room)) = found else {
            return Attempt::Ask(note::NOTHING);
        };
        let end = offset.checked_add(size);
        if end.is_none_or(|end| end > room) {
            return failed(Error::Invalid);
        }
        if u64::from(small >> 8 & 0xff) & right == 0 {
            return failed(Error::NotPermitted);
        }
        let memory = MemoryEndpoint {
            activity: HARTS,
            can_read: true,
            can_write: true,
            tile: small as u16 & 0xff,
            address,
            size: room,
            // Local memory of an activity is there as long as that runs.
            receiver: (small >> 16) as u16,
        };
        registers.set_endpoint(local.unit.memory, Endpoint::Memory(memory));
        registers.set(dtu::ADDRESS, place);
        registers.set(dtu::SIZE, part);
        registers.set(dtu::OFFSET, offset + done);
        registers.start(CommandWord::new(command, local.unit.memory));
        registers.finish();
        let outcome = Outcome::from_bits(registers.get(dtu::RESULT));
        if outcome.result().is_err() {
            // The kernel hart copies, or says why not.
            return Attempt::Ask(note::FAILED);
        }
        drop(using);
        done += part;
        if done < size && heed(local) {
            return Attempt::Preempted;
        }
    }
    match size {
        // Nobody has looked at the right.
        0 => Attempt::Ask(note::NOTHING),
        _ => Attempt::Done([0, 0]),
    }
}
