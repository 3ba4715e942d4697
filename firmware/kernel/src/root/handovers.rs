//! Calls of gates that go from thread to thread without the kernel hart (`handovers.rs` of the core). A caller's hart
//! gives itself to the receiver, which gives it back with `gate_answer_receive`. If the receiver runs on another hart, it
//! answers the caller itself. `docs/root.md` has the rules.
use core::sync::atomic::{AtomicU64, Ordering};

use flick_abi::card::{FOR_EVER, MAILBOX_BYTES, PAGE, RootCall, rights};
use flick_kernel_core::context::Context;
use flick_kernel_core::handovers::{FIELDS, Field, HandoverWord, field, is_lent};
use flick_kernel_core::lines::command;

use super::gate_calls::field_of_slot;
use super::gates::SLOTS;
use super::hart_calls::{NO_SLOT, gather, has_answered, is_message, owner};
use super::known_rights::{Kind, Use, look_for};
use crate::claim::state;
use crate::dtu::PAYLOAD;
use crate::hart_page::{HartLocal, HartPage, Seen};
use crate::hart_unit::{note, reach};
use crate::trace_points::point;
use crate::user_hart::{ask_because, load, switch_to};
use crate::{float_state, vector_state};

/// Other kernels execute calls on the threads' harts, or have threads that the host may take away.
pub const HAS_HANDOVERS: bool = !cfg!(any(
    feature = "symmetric",
    feature = "alone",
    feature = "host"
));

/// Looks whether the word is open, before the kernel hart is asked. That takes longer.
const LOOKS: u32 = 64;

/// Who hands over what.
pub static WORD: HandoverWord = HandoverWord::new();

/// What harts know of a field. The kernel hart writes it while the word is closed, and a hart that has the receiver
/// writes where the next message goes.
#[repr(C, align(64))]
pub struct Entry {
    /// The receiver's number, its context, and its capability of the gate.
    pub receiver: AtomicU64,
    pub context: AtomicU64,
    pub right: AtomicU64,
    /// The slot of the call.
    pub slot: AtomicU64,
    /// The physical address of the receiver's buffer.
    pub buffer: AtomicU64,
    /// Harts that the receiver may run on now, as bits.
    pub harts: AtomicU64,
    /// Calls that the field has had.
    pub calls: AtomicU64,
    /// What a hart has looked up of the receiver's memory: pages, and what is added.
    pages: [AtomicU64; 4],
    /// Of a field that is asked: the caller and its context, the physical address of its buffer, and its hart with
    /// the page of that.
    pub caller: AtomicU64,
    pub caller_context: AtomicU64,
    pub answer: AtomicU64,
    pub caller_page: AtomicU64,
    pub caller_hart: AtomicU64,
}

pub static ENTRIES: [Entry; FIELDS] = [const { Entry::new() }; FIELDS];

pub fn set(word: &AtomicU64, value: u64) {
    word.store(value, Ordering::Relaxed);
}

impl Entry {
    const fn new() -> Self {
        Self {
            receiver: AtomicU64::new(0),
            context: AtomicU64::new(0),
            right: AtomicU64::new(0),
            slot: AtomicU64::new(0),
            buffer: AtomicU64::new(0),
            harts: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            pages: [const { AtomicU64::new(u64::MAX) }; 4],
            caller: AtomicU64::new(0),
            caller_context: AtomicU64::new(0),
            answer: AtomicU64::new(0),
            caller_page: AtomicU64::new(0),
            caller_hart: AtomicU64::new(0),
        }
    }

    #[inline(always)]
    fn seen(&self) -> [Seen; 2] {
        let [a, b, c, d] = self.pages.each_ref().map(load);
        [Seen { page: a, offset: b }, Seen { page: c, offset: d }]
    }

    #[inline(always)]
    pub fn set_seen(&self, [read, write]: [Seen; 2]) {
        let words = [read.page, read.offset, write.page, write.offset];
        for (word, value) in self.pages.iter().zip(words) {
            set(word, value);
        }
    }
}

/// Whose hart it is that a receiver has been lent.
#[derive(Clone, Copy, Debug)]
pub struct Lent {
    caller: u64,
    context: *mut Context,
    /// The physical address of the caller's buffer.
    answer: u64,
    /// What the hart has looked up of the caller's memory.
    seen: [Seen; 2],
}

impl Lent {
    /// Nobody's.
    pub const NONE: Self = Self {
        caller: 0,
        context: core::ptr::null_mut(),
        answer: 0,
        seen: [Seen::NONE; 2],
    };
}

/// How a call goes on that is not handed over.
enum Refused {
    /// As it always went.
    Usual,
    /// The kernel hart is asked for the right.
    Unknown,
}

/// Hands a call or an answer over. `Some`: what the hart runs from now on. `None`: the call goes its usual way.
#[inline(always)]
pub fn hand_over(
    local: &mut HartLocal,
    call: RootCall,
    arguments: [u64; 6],
) -> Option<*mut Context> {
    if !HAS_HANDOVERS {
        return None;
    }
    let [a0, a1, a2, a3, a4, a5] = arguments;
    match call {
        RootCall::GateCall => match begin_call(local, a0, (a1, a2), a3, a4) {
            Ok(next) => Some(next),
            Err(Refused::Usual) => None,
            Err(Refused::Unknown) => Some(ask_because(local, note::UNKNOWN)),
        },
        RootCall::GateAnswerReceive if (SLOTS..NO_SLOT).contains(&a1) => {
            if let Some(next) = give_back(local, (a0, a1), (a2, a3), (a4, a5)) {
                return Some(next);
            }
            if tell(local, (a0, a1), (a2, a3)) {
                has_answered(local);
            }
            None
        }
        RootCall::GateAnswer if a1 >= SLOTS && tell(local, (a0, a1), (a2, a3)) => {
            // SAFETY: the hart's own, while it runs the thread.
            unsafe { (*local.context).set_values([0; 2]) };
            Some(local.context)
        }
        _ => None,
    }
}

/// The physical address of a buffer for a message, if it is within a page.
#[inline(always)]
fn buffer_at(local: &mut HartLocal, buffer: u64) -> Option<u64> {
    is_in_page(buffer).then(|| reach(local, buffer, rights::WRITE))?
}

/// Is a message there within a page?
pub fn is_in_page(buffer: u64) -> bool {
    buffer.is_multiple_of(8) && buffer % PAGE <= PAGE - MAILBOX_BYTES as u64
}

/// Registers that are not in the thread's context yet.
#[inline(always)]
fn save_registers(local: &mut HartLocal) {
    // SAFETY: the hart's own, while it runs the thread.
    let context = unsafe { &*local.context };
    // A thread without these registers is most frequent.
    if context.status | context.vector != 0 {
        float_state::save(local);
        vector_state::save(local);
    }
}

/// Copies words of a message.
///
/// # Safety
/// Both are memory of threads, which stays as long as the hart uses the word of hand-overs ([`Use`]).
#[inline(always)]
unsafe fn copy(from: u64, to: u64, size: u64) {
    for n in 0..size / 8 {
        // SAFETY: as above; both are aligned.
        unsafe {
            ((to + 8 * n) as *mut u64)
                .write_volatile(((from + 8 * n) as *const u64).read_volatile());
        }
    }
}

/// The kernel hart opens the word when it has told this hart to run, or has answered its last call.
#[inline(always)]
fn await_opening() {
    let mut looks = 0;
    while !WORD.is_open() && looks < LOOKS {
        looks += 1;
    }
}

/// `gate_call`: the receiver runs on the caller's hart.
#[inline(never)]
fn begin_call(
    local: &mut HartLocal,
    number: u64,
    (message, size): (u64, u64),
    answer: u64,
    until: u64,
) -> Result<*mut Context, Refused> {
    // The kernel hart says what is wrong, and ends waits.
    if until != FOR_EVER || is_message(message, size, PAYLOAD as u64).is_err() {
        return Err(Refused::Usual);
    }
    let entry_of = |n: u32| &ENTRIES[n as usize % FIELDS];
    // Most calls that cannot be handed over end here, before the hart takes lines from others.
    let (n, ..) = look_for(Kind::Call, owner(local), number).ok_or(Refused::Unknown)?;
    if load(&entry_of(n).harts) >> local.hart & 1 == 0 {
        return Err(Refused::Usual);
    }
    await_opening();
    let using = Use::begin(local.hart);
    let (n, label, _) = using
        .find(Kind::Call, owner(local), number)
        .ok_or(Refused::Unknown)?;
    let entry = entry_of(n);
    let (n, hart) = (n as usize % FIELDS, local.hart as u8);
    let seen = WORD.look();
    if field(seen, n) != Field::Ready || is_lent(seen, hart) || load(&entry.harts) >> hart & 1 == 0
    {
        return Err(Refused::Usual);
    }
    let answer = buffer_at(local, answer).ok_or(Refused::Usual)?;
    let from = gather(local, message, size).ok_or(Refused::Usual)?;
    save_registers(local);
    point!("local");
    if !WORD.call(seen, n, hart) {
        return Err(Refused::Usual);
    }
    set(&entry.calls, load(&entry.calls) + 1);
    local.lent = Lent {
        caller: local.thread,
        context: local.context,
        answer,
        seen: local.seen,
    };
    let receiver = load(&entry.context) as *mut Context;
    // SAFETY: the receiver is this hart's now. It waits with a buffer that the kernel hart, or the receiver's last hart,
    // has looked up. The kernel hart changes neither thread's memory before the use has ended.
    unsafe {
        copy(from, load(&entry.buffer), size);
        (*receiver).set_values([load(&entry.slot) | size << 8, label]);
    }
    let pages = entry.seen();
    let thread = load(&entry.receiver);
    drop(using);
    let next = switch_to(local, receiver, thread);
    local.seen = pages;
    point!("local_done");
    Ok(next)
}

/// `gate_answer_receive`: the caller goes on on the hart that the receiver has from it.
#[inline(never)]
fn give_back(
    local: &mut HartLocal,
    (number, slot): (u64, u64),
    (message, size): (u64, u64),
    (buffer, until): (u64, u64),
) -> Option<*mut Context> {
    let n = field_of_slot(slot)?;
    if until != FOR_EVER || is_message(message, size, PAYLOAD as u64).is_err() {
        return None;
    }
    let using = Use::begin(local.hart);
    let seen = WORD.look();
    let (entry, hart) = (&ENTRIES[n], local.hart as u8);
    if field(seen, n) != Field::Lent(hart)
        || load(&entry.receiver) != local.thread
        || load(&entry.right) != number
    {
        return None;
    }
    let buffer = buffer_at(local, buffer)?;
    let from = gather(local, message, size)?;
    save_registers(local);
    set(&entry.buffer, buffer);
    entry.set_seen(local.seen);
    let lent = local.lent;
    // SAFETY: the caller waits for the answer in this buffer. The kernel hart changes nothing of its memory before the
    // use has ended. Behind the next step another hart may run this thread, and change the message.
    unsafe { copy(from, lent.answer, size) };
    // If the kernel hart lets the thread make its call again, there is nothing more to answer.
    has_answered(local);
    point!("local");
    if !WORD.give_back(seen, n, hart) {
        // SAFETY: the thread is this hart's still.
        unsafe { (*local.context).x[11] = slot };
        return None;
    }
    drop(using);
    // SAFETY: the caller is this hart's again.
    unsafe { (*lent.context).set_values([size, 0]) };
    let next = switch_to(local, lent.context, lent.caller);
    // If a page of the caller's had changed, the field were closed.
    local.seen = lent.seen;
    point!("local_done");
    Some(next)
}

/// An answer to a caller whose hart is idle. False: the kernel hart answers.
#[inline(never)]
fn tell(local: &mut HartLocal, (number, slot): (u64, u64), (message, size): (u64, u64)) -> bool {
    if is_message(message, size, PAYLOAD as u64).is_err() {
        return false;
    }
    await_opening();
    let using = Use::begin(local.hart);
    let seen = WORD.look();
    let is_it = |&n: &usize| {
        let entry = &ENTRIES[n];
        field(seen, n) == Field::Asked
            && load(&entry.receiver) == local.thread
            && load(&entry.right) == number
            && load(&entry.slot) == slot
    };
    let Some(n) = (0..FIELDS).find(is_it) else {
        return false;
    };
    let Some(from) = gather(local, message, size) else {
        return false;
    };
    let entry = &ENTRIES[n];
    if !WORD.tell(seen, n) {
        return false;
    }
    let context = load(&entry.caller_context) as *mut Context;
    // SAFETY: the caller waits for this answer, and its hart for this command. The kernel hart waits until the use has
    // ended.
    let line = unsafe {
        copy(from, load(&entry.answer), size);
        (*context).set_values([size, 0]);
        &(*(load(&entry.caller_page) as *const HartPage)).command
    };
    // SAFETY: as above.
    let owner = unsafe { (*context).satp };
    let (hart, caller) = (load(&entry.caller_hart), load(&entry.caller));
    set(&line.context, context.addr() as u64);
    set(&line.thread, caller);
    set(&line.values[0], owner);
    // All of its registers are to be looked at.
    set(&line.values[1], state::FLOATS);
    point!("run", hart, caller);
    let flags = command::RUN | command::CLAIMED;
    point!("tell", hart, flags);
    if line.give(flags) {
        local.clint.interrupt(hart as usize);
    }
    drop(using);
    true
}
