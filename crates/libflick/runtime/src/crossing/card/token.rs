//! The token: the right to use the machine, which one thread has (`docs/card.md`, "The token").
//!
//! All of it runs with all signals blocked in the calling thread. How the token goes from thread to thread is in
//! [`Token`], which loom checks. An owner is *inside* from its descriptor on until its message has come.
//!
//! Where threads run in the order of virtual time, that decides who uses the machine ([`super::ordered`]). The
//! token is taken for each use of the machine then, and a thread that executes its code has none.
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use flick_abi::card::ThreadState;
use flick_abi::card_interface::{Executed, Order, OrderKind};
use flick_abi::descriptor::{
    DESCRIPTOR_END, Descriptor, HOST_TILES, OWNER_BITS, OWNER_LEFT, OWNERS,
};
use flick_engine::Hart;
use flick_riscv::Isa;
use flick_sync::{Found, Token, Waited};

use super::card_failure;
use super::card_library::Machine;
use super::wake_up::Sleeper;
use crate::accounts::timed::order::{self, MachineTurn};
use crate::os::thread_clock;
use crate::thread::activation::Activation;
use crate::translation::shown_code;

/// A lent owner that does not come back in this time has gone to sleep, or has left its code. If it has used
/// the processor meanwhile, it may be in its code.
const PATIENCE: Duration = Duration::from_millis(20);
/// For one that uses the processor, so many times that.
const MOST_PATIENCE: u32 = 10;
/// The same where a debugger may stop it, or let it alone go on.
const PATIENCE_IN_DEBUGGER: u32 = 500;

/// Between two looks of a thread that forks at the token.
const PAUSE: Duration = Duration::from_micros(50);
static NOBODY_WAKES: AtomicU32 = AtomicU32::new(0);

/// An owner.
struct Slot {
    /// Bit 0: a thread has it. Above: how often it was used.
    uses: AtomicU64,
    /// Its thread, as it is woken.
    sleeper: Sleeper,
    /// By tile: the endpoint that it wants its next request at.
    endpoints: [AtomicU8; HOST_TILES],
    /// The tiles that know the owner, as bits.
    tiles: AtomicU16,
    /// By who has the token, until it gives the token to the thread. Here, and not on stacks: that of a
    /// handler may be small.
    order: UnsafeCell<Order>,
    /// By its thread, until the slot is in the list; then by who has the token.
    request: UnsafeCell<Descriptor>,
    /// The registers that a request names. By its thread.
    registers: UnsafeCell<ThreadState>,
    /// As `request`: the virtual time at which that is sent.
    time: AtomicU64,
    /// Where threads are ordered: the [`Loan`] of its thread; 0: none.
    lent: AtomicU64,
}

// SAFETY: one side at a time uses the cells, as their comments say.
unsafe impl Sync for Slot {}

impl Slot {
    /// Tells each tile that knows the owner of its end. False: the ring is full, and the others are to be
    /// told later.
    fn send_ends(&self, machine: &mut Machine, end: &mut Descriptor, time: u64) -> bool {
        for tile in 0..HOST_TILES {
            let bit = 1 << tile;
            if self.tiles.load(SeqCst) & bit == 0 {
                continue;
            }
            end.tile = tile as u16;
            end.endpoint = self.endpoints[tile].load(SeqCst);
            if !machine.send(end, time) {
                return false;
            }
            self.tiles.fetch_and(!bit, SeqCst);
            self.endpoints[tile].store(0, SeqCst);
        }
        true
    }
}

// All of it is 0, so that the library's file has none of it.
static SLOTS: [Slot; OWNERS] = [const {
    Slot {
        uses: AtomicU64::new(0),
        sleeper: Sleeper::new(),
        endpoints: [const { AtomicU8::new(0) }; HOST_TILES],
        tiles: AtomicU16::new(0),
        order: UnsafeCell::new(NO_ORDER),
        request: UnsafeCell::new(NO_DESCRIPTOR),
        registers: UnsafeCell::new(ThreadState {
            pc: 0,
            x: [0; 31],
            f: [0; 32],
            fcsr: 0,
        }),
        time: AtomicU64::new(0),
        lent: AtomicU64::new(0),
    }
}; OWNERS];

const NO_DESCRIPTOR: Descriptor = Descriptor {
    version: 0,
    ..Descriptor::new(0)
};
const NO_ORDER: Order = Order {
    kind: OrderKind::Run,
    hart: 0,
    owner: 0,
    budget: 0,
    time: 0,
    waited: 0,
    isa: 0,
    message: NO_DESCRIPTOR,
};

/// What comes next in the machine.
struct Next(UnsafeCell<Order>);

// SAFETY: who has the token uses it.
unsafe impl Sync for Next {}

static NEXT: Next = Next(UnsafeCell::new(NO_ORDER));

/// Its loans are of harts: who has the token executes its code on one.
static TOKEN: Token<OWNERS> = Token::new();
/// Loans so far.
static LOANS: AtomicU64 = AtomicU64::new(0);
/// See [`process`]; 0: nobody has asked yet.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// How many owners are inside. Who has the token changes it.
static INSIDE: AtomicU32 = AtomicU32::new(0);

/// How many threads make calls of the root role.
static CALLERS: AtomicU32 = AtomicU32::new(0);

/// The calling thread makes a call of the root role, as long as this lives.
pub struct RootCaller(());

impl RootCaller {
    pub fn begin() -> Self {
        CALLERS.fetch_add(1, SeqCst);
        Self(())
    }
}

impl Drop for RootCaller {
    fn drop(&mut self) {
        CALLERS.fetch_sub(1, SeqCst);
    }
}

/// A loan of a hart to the calling thread: the slot in bits 14:0, in bit 15 whether threads are ordered, the
/// hart in bits 31:16, and above a number that is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loan(u64);

impl Loan {
    /// Nanoseconds of the processor that its thread has used; `None`: it is gone.
    fn used_processor(self) -> Option<u64> {
        let slot = SLOTS.get(self.slot())?;
        thread_clock::read(slot.sleeper.clock())
    }

    fn new(slot: u32, hart: u32, is_ordered: bool) -> Self {
        let number = LOANS.fetch_add(1, SeqCst) + 1;
        let ordered = if is_ordered { Self::ORDERED } else { 0 };
        let slot = u64::from(slot) & (Self::ORDERED - 1);
        Self(number << 32 | u64::from(hart & 0xffff) << 16 | ordered | slot)
    }

    const ORDERED: u64 = 1 << 15;

    fn slot(self) -> usize {
        (self.0 & (Self::ORDERED - 1)) as usize
    }

    /// Has its thread the token, too?
    fn has_token(self) -> bool {
        self.0 & Self::ORDERED == 0
    }

    /// Begins it.
    fn begin(self) {
        match self.has_token() {
            true => TOKEN.lend(self.0),
            false => SLOTS[self.slot()].lent.store(self.0, SeqCst),
        }
    }

    /// Ends it. The token is the calling thread's then, if its thread had that. False: another one has ended it.
    fn end(self) -> bool {
        if self.has_token() {
            return TOKEN.take_back(self.0);
        }
        let place = &SLOTS[self.slot()].lent;
        place.compare_exchange(self.0, 0, SeqCst, SeqCst).is_ok()
    }

    /// The hart.
    pub fn hart(self) -> u32 {
        (self.0 >> 16) as u32 & 0xffff
    }

    /// Tells it from others of the same thread. Not 0.
    pub fn mark(self) -> u32 {
        (self.0 >> 32) as u32 | 1 << 31
    }

    /// From a word that is 0 without a loan.
    pub fn from_word(word: u64) -> Option<Self> {
        (word != 0).then_some(Self(word))
    }

    pub fn word(self) -> u64 {
        self.0
    }
}

/// A slot for the calling thread; its number. `None`: all are in use.
pub fn take_slot() -> Option<u32> {
    let free = SLOTS.iter().position(|slot| {
        let uses = slot.uses.load(SeqCst);
        let next = uses + 3;
        uses & 1 == 0
            && slot
                .uses
                .compare_exchange(uses, next, SeqCst, SeqCst)
                .is_ok()
    });
    let at = free?;
    SLOTS[at].sleeper.becomes_own();
    Some(at as u32)
}

/// The owner's number in descriptors.
pub fn owner(slot: u32) -> u64 {
    let uses = SLOTS[slot as usize].uses.load(SeqCst) >> 1;
    u64::from(slot) | uses << 16
}

/// Has a thread this slot, whose number is so in `satp`?
fn is_owner(slot: usize, number: u64) -> bool {
    let is_used = SLOTS
        .get(slot)
        .is_some_and(|slot| slot.uses.load(SeqCst) & 1 != 0);
    is_used && owner(slot as u32) & OWNER_BITS == number
}

/// Does a hart of a tile wait for the slot's next request, which is the calling thread's? It may be asked to
/// leave meanwhile.
pub fn waits_on_hart(slot: u32, tile: u16) -> bool {
    SLOTS[slot as usize].endpoints[usize::from(tile)].load(SeqCst) != 0
}

/// What has come for the calling thread, and when in virtual time. It has the token.
pub enum Come {
    /// It executes its code on a hart of this ISA, within this budget.
    Run {
        hart: u32,
        budget: u64,
        isa: Isa,
        time: u64,
        waited: u64,
    },
    /// It stays up to the thread's next request.
    Message {
        message: &'static Descriptor,
        time: u64,
    },
}

/// The calling thread may use the machine, by its turn in the order. `None`: there is no order, and it has the
/// token.
pub type Turn = Option<MachineTurn>;

/// Puts the descriptor that `write` makes, with the registers that it names, at a virtual time, among those that
/// are to be sent. The slot is the calling thread's.
pub fn request(slot: u32, time: u64, write: impl FnOnce(&mut Descriptor, &mut ThreadState)) {
    let own = &SLOTS[slot as usize];
    // SAFETY: the calling thread's, until the slot is in the list; nobody has references.
    unsafe { write(&mut *own.request.get(), &mut *own.registers.get()) };
    want_in(slot, time);
}

/// Behind [`request`], where threads are not ordered: waits for what comes. The thread has the token then.
pub fn cross(slot: u32) -> Come {
    SLOTS[slot as usize].sleeper.comes();
    match TOKEN.take() {
        true => drive_to(slot),
        false => wait(slot),
    }
}

/// Behind [`want_to_end`], where threads are not ordered.
pub fn end() {
    if TOKEN.take() {
        drive(None, false);
    }
}

/// The number of the process, which a child of `fork` learns.
pub fn process() -> u32 {
    match PROCESS.load(SeqCst) {
        0 => {
            let process = std::process::id();
            PROCESS.store(process, SeqCst);
            process
        }
        process => process,
    }
}

/// The calling thread has the token, and has executed its code on the hart of its last order: the same as
/// [`cross`] from here on.
pub fn go_on(slot: u32) -> Come {
    drive_to(slot)
}

/// The calling thread has the token and its message, and leaves the machine.
pub fn leave(slot: u32, turn: &Turn) {
    if turn.is_none() {
        let sleeper = &SLOTS[slot as usize].sleeper;
        drive(None, sleeper.sleeps_soon());
        sleeper.has_left();
    }
}

/// The calling thread, which has the token, has left its code on a hart, and comes with another request.
pub fn has_left(slot: u32, turn: &Turn) {
    INSIDE.fetch_sub(1, SeqCst);
    leave(slot, turn);
}

/// The hart is the calling thread's, which has the token, until [`take_back`].
pub fn lend(slot: u32, hart: u32, turn: &Turn) -> Loan {
    let loan = Loan::new(slot, hart, turn.is_some());
    loan.begin();
    if let Some(turn) = turn {
        turn.set_lent(Some(slot));
    }
    loan
}

/// The calling thread comes back to the machine, and has the token. False: another one has taken it away.
#[must_use]
pub fn take_back(loan: Loan) -> bool {
    let is_back = loan.end();
    if is_back && order::is_on() && loan.has_token() {
        // The order has begun in a handler, which has interrupted the code.
        put_down();
    }
    is_back
}

/// Whether the loan is as it was.
pub fn is_lent(loan: Loan) -> bool {
    let word = match loan.has_token() {
        true => TOKEN.lent(),
        false => SLOTS[loan.slot()].lent.load(SeqCst),
    };
    word == loan.0
}

/// The loan of a slot's thread, where threads are ordered.
pub fn loan_of(slot: u32) -> Option<Loan> {
    Loan::from_word(SLOTS[slot as usize].lent.load(SeqCst))
}

/// Has any thread a hart, where threads are ordered?
pub fn has_loans() -> bool {
    SLOTS.iter().any(|slot| slot.lent.load(SeqCst) != 0)
}

/// The owner of a loan has left its code.
pub fn give_up(machine: &mut Machine, loan: Loan) {
    leave_code(machine, loan.hart());
    INSIDE.fetch_sub(1, SeqCst);
}

/// Nobody executes the code of a lent hart any more. The registers are here, and in no frame of a crossing: a
/// handler's stack may be small.
#[cold]
#[inline(never)]
fn leave_code(machine: &mut Machine, hart: u32) {
    let mut registers = Hart::ZERO;
    machine.registers(hart, &mut registers);
    let left = Executed {
        hart,
        instructions: 0,
        time: 0,
        fcsr: 0,
        cause: OWNER_LEFT,
        value: 0,
    };
    machine.executed(&left, &registers);
}

/// Takes the token for a thread that keeps the others out (as around `fork`). It has none.
pub fn hold() {
    let (mut seen, mut since) = (0, Instant::now());
    let ended = TOKEN.take_alone(|| {
        let lent = TOKEN.lent();
        if lent != seen {
            (seen, since) = (lent, Instant::now());
        }
        futex(&NOBODY_WAKES, libc::FUTEX_WAIT, 0, Some(PAUSE));
        since.elapsed() <= PATIENCE
    });
    if let Some(lent) = ended {
        // SAFETY: the thread has the token.
        give_up(&mut unsafe { Machine::get() }, Loan(lent));
    }
}

/// Nobody has the token any more, which the calling thread has.
pub(super) fn put_down() {
    TOKEN.put_down();
}

/// Behind [`hold`]: the others go on.
pub fn release() {
    match order::is_on() {
        true => put_down(),
        false => drop(drive(None, false)),
    }
}

/// The child, which has this slot, or none, ends all other owners.
pub fn end_fork_in_child(own: Option<u32>) {
    // SAFETY: the thread has the token.
    let mut machine = unsafe { Machine::get() };
    machine.forked();
    for slot in &SLOTS {
        if let Some(loan) = Loan::from_word(slot.lent.swap(0, SeqCst)) {
            leave_code(&mut machine, loan.hart());
        }
    }
    PROCESS.store(0, SeqCst);
    INSIDE.store(0, SeqCst);
    CALLERS.store(0, SeqCst);
    if let Some(own) = own {
        SLOTS[own as usize].sleeper.becomes_own();
    }
    TOKEN.forget_others();
    for (number, slot) in (0..).zip(&SLOTS) {
        if own == Some(number) || slot.uses.load(SeqCst) & 1 == 0 {
            continue;
        }
        want_to_end(number, 0);
    }
    drive(None, false);
}

/// The slot's thread ends at a virtual time, or a child of `fork` lacks it.
pub fn want_to_end(slot: u32, time: u64) {
    // SAFETY: as in `want_in`.
    unsafe {
        *SLOTS[slot as usize].request.get() = Descriptor {
            process: process(),
            owner: owner(slot),
            ..Descriptor::new(DESCRIPTOR_END)
        };
    }
    want_in(slot, time);
}

/// The slot has a request of this time.
fn want_in(slot: u32, time: u64) {
    let own = &SLOTS[slot as usize];
    own.time.store(time, SeqCst);
    // SAFETY: the calling thread's, until the slot is in the list.
    let request = unsafe { &mut *own.request.get() };
    let tile = usize::from(request.tile);
    if request.kind != DESCRIPTOR_END {
        if own.tiles.load(SeqCst) & 1 << tile == 0 {
            own.tiles.fetch_or(1 << tile, SeqCst);
        }
        request.endpoint = own.endpoints[tile].load(SeqCst);
    }
    TOKEN.want(slot);
}

fn drive_to(slot: u32) -> Come {
    match drive(Some(slot), true) {
        true => come(slot),
        false => wait(slot),
    }
}

/// The ISA of the hart that was lent last to the slot's thread, which is the calling one.
pub fn lent_isa(slot: u32) -> Isa {
    // SAFETY: as in `come`.
    Isa::from_bits(unsafe { (*SLOTS[slot as usize].order.get()).isa })
}

/// The slot, which is the calling thread's, has an order.
pub(super) fn come(slot: u32) -> Come {
    // SAFETY: this thread's, and nobody writes it before the thread's next request.
    let order: &'static Order = unsafe { &*SLOTS[slot as usize].order.get() };
    match order.kind {
        OrderKind::Run => Come::Run {
            hart: order.hart,
            budget: order.budget,
            isa: Isa::from_bits(order.isa),
            time: order.time,
            waited: order.waited,
        },
        _ => Come::Message {
            message: &order.message,
            time: order.time,
        },
    }
}

/// With the token: runs the machine until something is for an owner, who gets it with the token. True: it
/// is for `me`, whose slot has the order. Otherwise the token is somebody else's, or free. `sleeps`: the calling
/// thread goes to sleep soon, then.
fn drive(me: Option<u32>, sleeps: bool) -> bool {
    // SAFETY: the calling thread has the token, and this does not outlive it.
    let mut machine = unsafe { Machine::get() };
    let find = || {
        let found = find_turn(&mut machine, me);
        // Before its thread may see that it has the token.
        if let Found::Turn(slot) = found
            && sleeps
            && me != Some(slot)
        {
            SLOTS[slot as usize].sleeper.hold();
        }
        found
    };
    TOKEN.drive(me, find, |word| {
        _ = futex(word, libc::FUTEX_WAKE, 1, None);
    })
}

/// With the token: whose turn it is, whose slot has the order.
fn find_turn(machine: &mut Machine, me: Option<u32>) -> Found {
    let is_full = !send_all(machine);
    if INSIDE.load(SeqCst) == 0 && !is_full {
        return Found::Nothing;
    }
    // SAFETY: the token is the calling thread's up to the end of the turn.
    let order = unsafe { &mut *NEXT.0.get() };
    machine.advance(order, None);
    match order.kind {
        OrderKind::Run | OrderKind::Message => match give(machine, order) {
            Some(slot) => Found::Turn(slot),
            None => Found::Again,
        },
        OrderKind::Idle if TOKEN.is_wanted() => Found::Again,
        // They wait for what another thread of the program does next, perhaps: for its bytes in a pipe.
        OrderKind::Idle if CALLERS.load(SeqCst) >= INSIDE.load(SeqCst) => Found::Nothing,
        _ => ended(me),
    }
}

/// Gives what has come to the slot of its owner: which that is, if there is one.
fn give(machine: &mut Machine, order: &Order) -> Option<u32> {
    let slot = match order.kind {
        OrderKind::Run => {
            let slot = (order.owner & 0xffff) as usize;
            if !is_owner(slot, order.owner) {
                // A child of `fork` lacks its thread.
                leave_code(machine, order.hart);
                return None;
            }
            slot
        }
        OrderKind::Message => {
            let slot = order.message.slot();
            if slot >= OWNERS || owner(slot as u32) != order.message.owner {
                // It has ended meanwhile.
                return None;
            }
            INSIDE.fetch_sub(1, SeqCst);
            let tile = usize::from(order.message.tile);
            if let Some(endpoint) = SLOTS[slot].endpoints.get(tile) {
                endpoint.store(order.message.endpoint, SeqCst);
            }
            slot
        }
        _ => return None,
    };
    // SAFETY: its thread waits, and looks at it when it is woken; or it is the calling thread.
    unsafe { *SLOTS.get(slot)?.order.get() = *order };
    Some(slot as u32)
}

/// As [`drive`], up to a time: what has come, and for whom.
pub(super) fn advance(
    machine: &mut Machine,
    until: Option<u64>,
) -> (Option<(u32, u64)>, OrderKind) {
    // SAFETY: the token is the calling thread's.
    let order = unsafe { &mut *NEXT.0.get() };
    machine.advance(order, until);
    let slot = give(machine, order);
    (slot.map(|slot| (slot, order.time)), order.kind)
}

/// The machine has ended, or nothing comes of it any more. `me`: the slot of the calling thread, if that waits
/// for its request's answer.
pub(super) fn ended(me: Option<u32>) -> ! {
    // SAFETY: the token is the calling thread's.
    let order = unsafe { &*NEXT.0.get() };
    // SAFETY: the calling thread's request, and its activation, which waits for the answer.
    let waits = me.and_then(|me| unsafe {
        let asked = &*SLOTS[me as usize].request.get();
        let waits = (asked.activation as *const Activation).as_ref();
        waits.map(|waits| &*waits.gate)
    });
    let others = INSIDE.load(SeqCst).saturating_sub(waits.is_some().into());
    card_failure::ended(order, waits, others)
}

/// Sends what owners want, those first who came first. False: the ring is full, and they stay in the
/// list.
pub(super) fn send_all(machine: &mut Machine) -> bool {
    TOKEN.enter_all(|slot| {
        let slot = &SLOTS[slot as usize];
        // SAFETY: the slot is out of the list, so that it is this thread's.
        let asked = unsafe { &mut *slot.request.get() };
        let time = slot.time.load(SeqCst);
        let is_end = asked.kind == DESCRIPTOR_END;
        let is_sent = match is_end {
            true => slot.send_ends(machine, asked, time),
            false => machine.send(asked, time),
        };
        if !is_sent {
            return false;
        }
        if is_end {
            slot.uses.fetch_sub(1, SeqCst);
        } else {
            INSIDE.fetch_add(1, SeqCst);
        }
        true
    })
}

/// Of a thread that waits, with the owner of a loan.
#[derive(Default)]
struct Patience {
    /// The loan, the processor time of its thread, and how often it was waited for.
    seen: (u64, Option<u64>, u32),
}

impl Patience {
    /// Behind a time in which nothing came: is the owner in its code, perhaps?
    fn lasts(&mut self) -> bool {
        let lent = TOKEN.lent();
        if lent == 0 {
            self.seen.0 = 0;
            return false;
        }
        let used = Loan(lent).used_processor();
        let (seen, before, times) = self.seen;
        let is_same = lent == seen;
        let times = if is_same { times + 1 } else { 0 };
        self.seen = (lent, used, times);
        if shown_code::is_on() {
            return times < PATIENCE_IN_DEBUGGER;
        }
        is_same && used != before && times < MOST_PATIENCE
    }
}

/// Waits for an order.
fn wait(slot: u32) -> Come {
    loop {
        let mut patience = Patience::default();
        let waited = TOKEN.wait(slot, |word| {
            let is_woken = futex(word, libc::FUTEX_WAIT, 0, Some(PATIENCE));
            is_woken || patience.lasts()
        });
        match waited {
            Waited::Turn => {
                SLOTS[slot as usize].sleeper.runs();
                return come(slot);
            }
            Waited::TookBack(lent) => {
                // SAFETY: the thread has the token.
                give_up(&mut unsafe { Machine::get() }, Loan(lent));
                if drive(Some(slot), true) {
                    return come(slot);
                }
            }
        }
    }
}

/// False: the time is over.
fn futex(word: &AtomicU32, operation: i32, value: u32, time: Option<Duration>) -> bool {
    let time = time.map(|time| libc::timespec {
        tv_sec: time.as_secs() as _,
        tv_nsec: time.subsec_nanos().into(),
    });
    let time = time.as_ref().map_or(ptr::null(), ptr::from_ref);
    let operation = operation | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: futex(2) on a word that lives for ever.
    let done = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, time) };
    done != -1 || crate::os::errno::last_errno() != libc::ETIMEDOUT
}
