//! What a user hart does itself for a thread of the host (`docs/card.md`, "A hart that waits for its
//! owner"). When the thread leaves its code, the hart sends the descriptor, and waits for the owner's next
//! one at an endpoint of its own. The kernel hart has no part in that, as long as no other thread needs
//! the hart.
//!
//! The endpoint has one slot. It is *open* (free) while the hart waits, and otherwise occupied. So a
//! descriptor that comes too late is refused, and the host sends it to the kernel's endpoint.
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering::*};

use flick_abi::card::ThreadState;
use flick_abi::descriptor::{
    DESCRIPTOR_CALL, DESCRIPTOR_CALL_OF_INTEGERS, DESCRIPTOR_RESUME, DESCRIPTOR_RETURN,
    DESCRIPTOR_SIZE, DESCRIPTOR_VERSION, DESCRIPTOR_WORDS, HOST_END, HOST_MODE, OWNERS,
};
use flick_abi::dtu::{self, Command, CommandWord, HEADER_SIZE, INTERRUPT_BIT};
use flick_kernel_core::context::Context;
use flick_kernel_core::lines::{AWAY, command};

use crate::dtu::Registers;
use crate::hart_page::{HartLocal, HartPage};
use crate::kernel_hart::INTERRUPTS;
use crate::{csr, csr_read, csr_write, dtu as units, float_state, user_hart};

/// A thread of the host. While a hart has the thread, it has the record, too.
#[derive(Debug)]
pub struct Owner {
    /// Its number; 0: the slot is free. The kernel hart alone writes it.
    pub number: AtomicU64,
    /// The activation whose registers the thread has.
    pub activation: AtomicU64,
    /// Where the function of that returns to.
    pub returns_to: AtomicU64,
    /// The activation that has another tile of its own, if one has. The kernel hart's.
    pub guest: AtomicU64,
    /// The last hint of its code; 0: none that holds.
    pub hint: AtomicU64,
    /// Its process, as its host numbers it.
    pub process: AtomicU32,
    /// Its thread here. The kernel hart's.
    pub place: AtomicU16,
    /// It ends when its thread leaves its code. The kernel hart writes it.
    pub ends: AtomicBool,
}

impl Owner {
    /// Nobody's slot.
    const fn nobody() -> Self {
        Self {
            number: AtomicU64::new(0),
            activation: AtomicU64::new(0),
            returns_to: AtomicU64::new(0),
            guest: AtomicU64::new(0),
            hint: AtomicU64::new(0),
            process: AtomicU32::new(0),
            place: AtomicU16::new(0),
            ends: AtomicBool::new(false),
        }
    }

    /// Its code on the tile is of an activation that has another tile of its own, and no hint keeps it.
    pub fn is_guest(&self) -> bool {
        let guest = self.guest.load(Relaxed);
        let is_one = guest != 0 && guest == self.activation.load(Relaxed);
        is_one && self.hint.load(Relaxed) == 0
    }

    /// The slot of a number, or of what `satp` has of it.
    pub fn of(number: u64) -> &'static Self {
        &OWNERS_BY_SLOT[(number & 0xffff) as usize % OWNERS]
    }
}

static OWNERS_BY_SLOT: [Owner; OWNERS] = [const { Owner::nobody() }; OWNERS];

/// Harts whose threads wait for their owners there, as bits, and [`WANTED`].
#[repr(align(64))]
struct Waiting(AtomicU64);

static WAITING: Waiting = Waiting(AtomicU64::new(0));

/// Threads wait for harts.
const WANTED: u64 = 1 << 63;

/// Threads wait for harts from now on, or do not any more. Harts whose threads wait for their owners, as
/// bits.
pub fn want_harts(are_wanted: bool) -> u64 {
    match are_wanted {
        true => WAITING.0.fetch_or(WANTED, AcqRel) & !WANTED,
        false => WAITING.0.fetch_and(!WANTED, AcqRel) & !WANTED,
    }
}

/// What a hart needs for that.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct HostHart {
    /// The descriptor that it sends. The unit finds it here.
    outgoing: [u64; DESCRIPTOR_WORDS],
    /// Its endpoint, its unit, and the slot; `None`: the kernel hart does all of it.
    direct: Option<Direct>,
    /// The owner of its thread; `None`: it is none of the host's.
    owner: Option<&'static Owner>,
    /// The slot has a message that has been read and can be answered.
    holds: bool,
}

/// See [`HostHart`].
#[derive(Clone, Copy, Debug)]
pub struct Direct {
    /// Its unit.
    pub unit: Registers,
    /// The register with the activity of its bank.
    pub current: u64,
    /// Its endpoint.
    pub endpoint: u16,
    /// That which sends to the host.
    pub sender: u16,
    /// That which reaches the process's memory.
    pub memory: u16,
    /// The slot of its endpoint.
    pub slot: u64,
    /// Word 1 of its descriptors, without the process.
    pub word1: u64,
}

impl HostHart {
    /// Of a hart with this endpoint.
    pub fn new(direct: Option<Direct>) -> Self {
        Self {
            outgoing: [0; DESCRIPTOR_WORDS],
            direct,
            owner: None,
            holds: false,
        }
    }

    /// The hart begins. Its unit's registers stay as they are now, unless they are the kernel's, too.
    pub fn begin(&mut self) {
        // It loads registers of floating point without a look whether there are any.
        if !float_state::is_there() {
            self.direct = None;
        }
        self.set_bank();
    }

    /// The hart's bank of the unit is as its messages to the host need it.
    fn set_bank(&self) {
        if let Some(direct) = self.direct.filter(|_| !IS_ALONE) {
            direct.set_outgoing(&self.outgoing);
            direct.unit.set(dtu::INTERRUPT, 1 << direct.endpoint);
        }
    }

    /// Is its thread one of the host's?
    pub fn has_owner(&self) -> bool {
        self.owner.is_some()
    }

    /// The hart runs the thread of this `satp`.
    #[inline(always)]
    pub fn switch(&mut self, satp: u64) {
        self.owner = (satp >> 60 == HOST_MODE).then(|| Owner::of(satp));
        // A hart that is alone is interrupted for the kernel at any time.
        if self.owner.is_some() && !IS_ALONE {
            // While the thread runs its endpoint is not open, so that nothing of the unit interrupts it.
            // SAFETY: interrupts end `wfi`, and are not taken in M mode.
            unsafe { csr_write!(mie, user_hart::SOFTWARE | UNIT) };
            // Programs of the tile use the bank, too, and wait for messages of others.
            if cfg!(feature = "root") {
                if let Some(direct) = &self.direct {
                    direct.unit.finish();
                }
                self.set_bank();
            }
        }
    }
}

/// `mcause` of a fetch from a page without code for the hart.
pub const INVERTED_NX: u64 = 12;
/// Interrupts of the unit, in `mip`.
pub const UNIT: u64 = 1 << INTERRUPT_BIT;
/// The hart's bank and its interrupts are the kernel's, except while its thread waits for its owner.
const IS_ALONE: bool = cfg!(feature = "alone");
/// Interrupts that end a wait. All but those of software are for the kernel, where the hart has it.
const ENDS: u64 = if IS_ALONE {
    INTERRUPTS & !user_hart::SOFTWARE
} else {
    UNIT
};
/// A slot with a message that was read.
const OCCUPIED: u64 = 1;
/// What must be equal in word 1 of descriptors: device and tile.
const ADDRESSEE: u64 = 0xffff_00ff << 32;

const fn first_word(kind: u32) -> u64 {
    DESCRIPTOR_VERSION as u64 | (kind as u64) << 32
}

/// The thread of the hart leaves its code by a jump. `None`: the kernel hart has to deal with it. The kernel
/// itself has no such exception: it executes without translation.
#[inline(never)]
pub fn leave(local: &mut HartLocal) -> Option<*mut Context> {
    let (owner, direct) = (local.host.owner?, local.host.direct?);
    if owner.ends.load(Relaxed) {
        return None;
    }
    let bit = 1 << local.hart;
    let others = WAITING.0.fetch_or(bit, AcqRel);
    // A hart that holds no message needs a credit.
    if others & WANTED != 0 || !local.host.holds && direct.credits() == 0 {
        WAITING.0.fetch_and(!bit, AcqRel);
        return None;
    }
    direct.take_bank(&local.host.outgoing);
    float_state::save(local);
    // SAFETY: the hart's own, while it runs the thread.
    let context = unsafe { &mut *local.context };
    local.host.send(owner, &direct, context, csr_read!(mtval));
    loop {
        csr::wait();
        let pending = csr_read!(mip);
        if pending & ENDS != 0 {
            break;
        }
        if pending & user_hart::SOFTWARE != 0 {
            local.clint.clear(local.hart as usize);
            let flags = HartPage::of(local).command.take();
            user_hart::invalidate(local, flags);
            if flags & command::PREEMPT != 0 {
                return Some(give_up(local, &direct, None));
            }
        }
    }
    WAITING.0.fetch_and(!bit, AcqRel);
    let message = direct.close();
    local.host.holds = message.is_some();
    let taken = message.and_then(|message| {
        take(owner, &direct, context, message).or_else(|| {
            let at = local.host.outgoing.as_ptr().addr() as u64;
            resume(owner, &direct, (context, at), message)
        })
    });
    let Some(others) = taken else {
        return Some(give_up(local, &direct, message));
    };
    direct.give_bank_back();
    match others {
        Others::No => {}
        Others::Results => load_arguments(local, context, true),
        Others::Arguments => load_arguments(local, context, false),
        Others::All => {
            float_state::load(local, context);
            // Bit 0: `trap_entry.S` loads all of them.
            return Some(local.context.map_addr(|at| at | 1));
        }
    }
    Some(local.context)
}

/// The hart may not wait here any more, or has got something else. The kernel hart is told, and gets what
/// has come.
#[cold]
#[inline(never)]
fn give_up(
    local: &mut HartLocal,
    direct: &Direct,
    mut message: Option<*const u64>,
) -> *mut Context {
    WAITING.0.fetch_and(!(1 << local.hart), AcqRel);
    // The next descriptor may be sent soon, and a command that runs would swallow its own. An answer that
    // is on its way opens the slot when it arrives.
    direct.unit.finish();
    if message.is_none() {
        message = direct.close();
        local.host.holds = message.is_some();
    }
    direct.give_bank_back();
    let message = message.map_or(0, |at| at.addr() as u64);
    user_hart::remote(local, AWAY, [message, 0, 0, 0, 0, 0])
}

/// Which registers are others than before?
enum Others {
    No,
    /// Those that a return changes.
    Results,
    /// Those that a call changes.
    Arguments,
    All,
}

/// Loads fa0 and those behind it of the thread whose registers the hart has.
macro_rules! load_floats {
    ($registers:literal, $context:expr) => {
        // SAFETY: the registers are this thread's, which has floating point. The kernel is compiled without
        // floating point of its own.
        unsafe {
            core::arch::asm!(
                ".option push",
                ".option arch, +d",
                concat!(".irp n, ", $registers),
                "fld fa\\n, 8*(10+\\n)({at})",
                ".endr",
                ".option pop",
                at = in(reg) $context.f.as_ptr(),
            );
        }
    };
}

/// The same, whose values are in the context.
#[inline(always)]
fn load_arguments(local: &mut HartLocal, context: &mut Context, are_results: bool) {
    match are_results {
        true => load_floats!("0,1", context),
        false => load_floats!("0,1,2,3,4,5,6,7", context),
    }
    // They are dirty now, and saved.
    csr::clear_status(float_state::STATUS & !float_state::CLEAN);
    // Those that other harts have are older.
    context.float_harts = 1 << local.hart;
}

/// The thread goes on as its owner says. `None`: the kernel hart has to look at it.
#[inline(always)]
fn take(
    owner: &Owner,
    direct: &Direct,
    context: &mut Context,
    message: *const u64,
) -> Option<Others> {
    const CALL: u64 = first_word(DESCRIPTOR_CALL);
    const CALL_OF_INTEGERS: u64 = first_word(DESCRIPTOR_CALL_OF_INTEGERS);
    const RETURN: u64 = first_word(DESCRIPTOR_RETURN);
    // SAFETY: the unit has written a descriptor there, and nothing more before the slot is open.
    let word = |n: usize| unsafe { message.add(n).read_volatile() };
    let (kind, one, pc, fcsr) = (word(0), word(1), word(4), word(7) as u32);
    let is_ours = word(2) == owner.number.load(Relaxed) && (one ^ direct.word1) & ADDRESSEE == 0;
    let is_code = pc.wrapping_sub(1) < HOST_END - 1;
    if !is_ours || !is_code || fcsr >= 0x100 {
        return None;
    }
    let others = match kind {
        CALL | CALL_OF_INTEGERS => {
            let (sp, returns_to) = (word(5), word(6));
            let is_stack = sp.wrapping_sub(1) < HOST_END - 1 && sp.is_multiple_of(16);
            if !is_stack || returns_to >= HOST_END {
                return None;
            }
            owner.activation.store(word(3), Relaxed);
            owner.returns_to.store(returns_to, Relaxed);
            owner.process.store(one as u32, Relaxed);
            (context.x[1], context.x[2]) = (returns_to, sp);
            for n in 0..8 {
                context.x[10 + n] = word(8 + n);
            }
            match kind {
                CALL => Others::Arguments,
                _ => Others::No,
            }
        }
        RETURN if word(3) == owner.activation.load(Relaxed) => {
            (context.x[10], context.x[11]) = (word(8), word(9));
            Others::Results
        }
        _ => return None,
    };
    context.x[0] = pc;
    // Without a look at the values: in registers that no argument uses they are left-overs, and the time is not
    // to depend on them.
    let floats = match others {
        Others::Results => 2,
        Others::Arguments => 8,
        _ => 0,
    };
    for n in 0..floats {
        context.f[10 + n] = word(16 + n);
    }
    // Flags and rounding mode are the thread's own state. What the hart has is what was saved.
    if context.fcsr != u64::from(fcsr) {
        context.fcsr = fcsr.into();
        // SAFETY: the register is this thread's, which has floating point.
        unsafe { csr_write!(fcsr, context.fcsr) };
    }
    Some(others)
}

/// The thread goes on with all registers, which are in its process's memory. `None`: it does not.
/// `outgoing`: what the unit's address is otherwise.
#[inline(never)]
fn resume(
    owner: &Owner,
    direct: &Direct,
    (context, outgoing): (&mut Context, u64),
    message: *const u64,
) -> Option<Others> {
    // SAFETY: as in `take`.
    let word = |n: usize| unsafe { message.add(n).read_volatile() };
    let (one, registers) = (word(1), word(6));
    let is_resume = word(0) == first_word(DESCRIPTOR_RESUME);
    let is_ours = word(2) == owner.number.load(Relaxed) && (one ^ direct.word1) & ADDRESSEE == 0;
    let is_place = registers < HOST_END && registers.is_multiple_of(8);
    if !(is_resume && is_ours && is_place) {
        return None;
    }
    let mut words = [0; REGISTERS];
    let unit = direct.unit;
    unit.set(dtu::ADDRESS, words.as_mut_ptr().addr() as u64);
    unit.set(dtu::SIZE, size_of_val(&words) as u64);
    unit.set(dtu::OFFSET, registers);
    let copied = unit.execute(CommandWord::new(Command::Read, direct.memory));
    unit.set(dtu::ADDRESS, outgoing);
    unit.set(dtu::SIZE, DESCRIPTOR_SIZE as u64);
    // The unit has written them.
    core::hint::black_box(&mut words);
    copied.ok()?;
    owner.activation.store(word(3), Relaxed);
    owner.process.store(one as u32, Relaxed);
    context.set_all(&words);
    Some(Others::All)
}

/// Words of the registers in the process's memory.
pub const REGISTERS: usize = size_of::<ThreadState>() / 8;

impl HostHart {
    /// Sends where the thread has gone to, and opens the slot.
    #[inline(always)]
    fn send(&mut self, owner: &Owner, direct: &Direct, context: &Context, to: u64) {
        let is_return = to == owner.returns_to.load(Relaxed);
        let (kind, pc) = match is_return {
            true => (DESCRIPTOR_RETURN, context.pc()),
            false => (DESCRIPTOR_CALL, to),
        };
        let words = &mut self.outgoing;
        words[0] = first_word(kind);
        words[1] = direct.word1 | u64::from(owner.process.load(Relaxed));
        words[2] = owner.number.load(Relaxed);
        words[3] = owner.activation.load(Relaxed);
        (words[4], words[5]) = (pc, context.x[2]);
        words[7] = context.fcsr;
        words[8..16].copy_from_slice(&context.x[10..18]);
        words[16..].copy_from_slice(&context.f[10..18]);
        // The unit reads them.
        core::hint::black_box(&*words);
        if core::mem::take(&mut self.holds) {
            let word = CommandWord::new(Command::Reply, direct.endpoint);
            return direct.unit.start(word);
        }
        direct.unit.finish();
        let open = CommandWord::new(Command::Acknowledge, direct.endpoint);
        let _: Result<u64, _> = direct.unit.execute(open);
        // The slot is open before the message is confirmed, unlike behind an answer. The answer to what comes
        // meanwhile would be lost.
        let send = CommandWord::new(Command::Send, direct.sender);
        let _: Result<u64, _> = direct.unit.execute(send);
    }
}

impl Direct {
    /// A hart that is alone uses the kernel's bank, in which a message of the kernel's may be on its way
    /// still.
    #[inline(always)]
    fn take_bank(&self, outgoing: &[u64; DESCRIPTOR_WORDS]) {
        if IS_ALONE {
            self.unit.finish();
            self.unit.set(self.current, units::HARTS.into());
            self.set_outgoing(outgoing);
        }
    }

    /// See [`Self::take_bank`].
    #[inline(always)]
    fn give_bank_back(&self) {
        if IS_ALONE {
            self.unit.set(self.current, units::KERNEL.into());
        }
    }

    #[inline(always)]
    fn set_outgoing(&self, outgoing: &[u64; DESCRIPTOR_WORDS]) {
        self.unit.set(dtu::ADDRESS, outgoing.as_ptr().addr() as u64);
        self.unit.set(dtu::SIZE, DESCRIPTOR_SIZE as u64);
    }

    fn credits(&self) -> u16 {
        self.unit.get(dtu::endpoint_word(self.sender, 3)) as u16
    }

    /// Closes the slot. The descriptor that has come before, if there is one.
    #[inline(always)]
    fn close(&self) -> Option<*const u64> {
        self.unit
            .set(dtu::endpoint_word(self.endpoint, 3), OCCUPIED);
        let header = self.slot as *mut u64;
        // SAFETY: the slot is memory of this hart's, and the unit writes nothing there any more. The first
        // word of a message's header is never 0: it has the size.
        unsafe {
            let first = header.read_volatile();
            header.write_volatile(0);
            (first != 0).then(|| header.add(HEADER_SIZE / 8).cast_const())
        }
    }
}
