//! The backend `card`: harts of a simulated machine, under its own kernel (`docs/card.md`). A crossing
//! sends a descriptor; the owner executes its code when a hart is lent to it.
mod card_library;
mod ordered;
mod owner;
mod report;
mod token;

use std::ffi::c_int;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use flick_abi::card::ThreadState;
use flick_abi::card_interface::{Executed, NO_EXCEPTION, RanRow};
use flick_abi::descriptor::{
    DESCRIPTOR_CALL, DESCRIPTOR_CALL_IN_FULL, DESCRIPTOR_FAULT, DESCRIPTOR_RESUME,
    DESCRIPTOR_RETURN, Descriptor,
};
use flick_abi::layout::{GATE_VARIADIC, JumpTarget};
use flick_engine::{
    Cause, CodeRegion, CsrAccess, Exit, Hart, Identity, InstructionBudget, LimitedCore, NoObserver,
    ProcessCore, Trap, access_fcsr, csr_number,
};
use flick_riscv::Isa;

use super::backend::{Backend, Event};
use super::next_step::Next;
use super::{returns_twice, step, unwinding};
use crate::accounts::hook::{Accounts, Closed, Open};
use crate::accounts::timed::card_time::{self, Way};
use crate::accounts::{gate_counts, stats, timed};
use crate::config::Config;
use crate::modules::address_meaning::Target;
use crate::os::fatal;
use crate::os::signal_mask::{self, BlockedSignals};
use crate::thread::activation::Activation;
use crate::thread::crossing_code::{self, Crossing};
use crate::thread::entered::Entered;
use crate::thread::vector_states;
use card_library::Machine;
use ordered::Turn;
use owner::Owner;
use token::{Come, Loan};

const RA: usize = 1;
const SP: usize = 2;
const T2: usize = 7;
const A0: usize = 10;

// SAFETY: NxP code is the program's own code; it may touch whatever its host code may.
const MEMORY: Identity = unsafe { Identity::new() };

/// Makes the card, or ends the program. Call before gates get their targets.
pub fn init(config: &Config) {
    let opened = match config.check_device {
        true => Err("FLICK_CHECK=device has none".into()),
        false => card_library::open(&config.machine, &config.inject, config.platform.is_some()),
    };
    if let Err(why) = opened {
        fatal::exit(
            "FLK0408",
            &format!("FLICK_BACKEND=card, but there is no card: {why}"),
            "name another machine by FLICK_MACHINE (flick machine list), or run without FLICK_BACKEND",
        );
    }
    owner::init();
    ordered::init();
    stats::set_card(report::card);
    crossing_code::enter_card();
}

/// The signal mask of a thread that forks, while it has the token.
static MASK: AtomicU64 = AtomicU64::new(0);

/// In front of `fork`: nobody else uses the card. No handler runs until it is free again.
pub fn before_fork() {
    if crossing_code::on_card() {
        let mask = signal_mask::block_all();
        owner::hold();
        MASK.store(mask, Ordering::Relaxed);
    }
}

/// Behind `fork`.
pub fn after_fork_in_parent() {
    if crossing_code::on_card() {
        let mask = MASK.load(Ordering::Relaxed);
        token::release();
        signal_mask::change_mask(libc::SIG_SETMASK, mask);
    }
}

/// Behind `fork`, in the child, which has a card of its own from now on.
pub fn after_fork_in_child() {
    if crossing_code::on_card() {
        let mask = MASK.load(Ordering::Relaxed);
        owner::end_fork_in_child();
        signal_mask::change_mask(libc::SIG_SETMASK, mask);
    }
}

/// How an activation goes on at its next resumption ([`Activation::of_backend`]).
const BEGINS: u64 = 0;
/// A host function has returned to it.
const RETURNED: u64 = 1;
/// The kernel has other registers than the activation.
const RESTORED: u64 = 2;

/// The card, with these accounts.
pub struct Card<A>(PhantomData<A>);

impl<A: Accounts> Backend for Card<A> {
    const CROSSING: Crossing = if A::COUNT {
        Crossing::CardCounted
    } else {
        Crossing::Card
    };

    type Accounts = A;

    fn resume(act: &mut Entered, _interpret: bool) -> Event {
        // Behind a tail call of the host there is nothing for the card.
        match meaning(act) {
            Meaning::Code(_) => {}
            other => return other.event(),
        }
        let mut blocked = BlockedSignals::new();
        let owner = Owner::of_thread();
        let mut turn = ordered::turn::<A>();
        // A handler has interrupted code of this thread on a lent hart, or has left it for good.
        owner.leave_code();
        let mut is_first = true;
        // The instruction that the last hart lacks, and what the card had executed then.
        let mut lacking: Option<(u64, u64)> = None;
        let mut come = request::<A>(act, owner, &turn);
        loop {
            match come {
                // The card has not seen yet that the thread has left its code, or the thread leaves its hart.
                Come::Message { message, time } if is_busy(message) => {
                    token::leave(&turn);
                    goes_on_at::<A>(time, 0, Way::To);
                    // What was refused has not changed the card's registers.
                    owner.keep(0);
                    come = request::<A>(act, owner, &turn);
                }
                Come::Message { message, time } => {
                    token::leave(&turn);
                    goes_on_at::<A>(time, 0, Way::From);
                    act.of_backend = RESTORED;
                    return event(act, message);
                }
                Come::Run {
                    hart,
                    budget,
                    isa,
                    time,
                    waited,
                } => {
                    goes_on_at::<A>(time, waited, Way::To);
                    let registers = |machine: &mut Machine| {
                        machine.registers(hart, &mut act.context.hart);
                        lacking
                            .take()
                            .map(|(pc, then)| (pc, machine.own_instructions().saturating_sub(then)))
                    };
                    // SAFETY: the thread has the turn.
                    let moved = unsafe { ordered::use_machine(&turn, registers) };
                    if let Some((pc, cost)) = moved {
                        A::migrated(owner.slot(), pc, cost);
                    }
                    let loan = token::lend(owner.slot(), hart, &turn);
                    owner.set_loan(loan);
                    drop(turn);
                    drop(blocked);
                    let (end, spent) = run::<A>(act, budget, (loan, isa));
                    blocked = BlockedSignals::new();
                    turn = ordered::turn_again::<A>();
                    if owner.take_loan() == Some(loan) && token::take_back(loan) {
                        let executed = executed(act, (hart, end), spent);
                        let row = A::COUNT.then(|| RanRow {
                            function: std::ptr::from_ref(act.gate()) as u64,
                            calls: u64::from(act.of_backend == BEGINS && is_first),
                            instructions: spent.instructions,
                            moves: u64::from(executed.cause == ILLEGAL),
                            hart,
                        });
                        is_first = false;
                        let is_back = |machine: &mut Machine| {
                            row.iter().for_each(|row| machine.has_run(row));
                            machine.executed(&executed, &act.context.hart);
                            let is_lacking = A::COUNT && executed.cause == ILLEGAL;
                            is_lacking.then(|| (act.context.hart.pc, machine.own_instructions()))
                        };
                        // SAFETY: as above.
                        lacking = unsafe { ordered::use_machine(&turn, is_back) };
                        come = token::go_on(owner.slot(), &turn);
                    } else {
                        // Another thread, or a handler of this one, has given the hart back. The card has
                        // the registers of before.
                        act.of_backend = RESTORED;
                        owner.keep(0);
                        match (end, meaning(act)) {
                            (End::Fault(exit), _) => return Event::Fault(exit),
                            (_, Meaning::Code(_)) => {}
                            (_, other) => return other.event(),
                        }
                        come = request::<A>(act, owner, &turn);
                    }
                }
            }
        }
    }
}

/// The thread goes on at this time, if it has one, and has waited so long for a hart.
fn goes_on_at<A: Accounts>(time: u64, waited: u64, way: Way) {
    if A::COUNT {
        card_time::goes_on_at(time, waited, way);
    }
}

/// Is the request to be made again?
fn is_busy(message: &Descriptor) -> bool {
    message.kind == DESCRIPTOR_RETURN && message.error == flick_abi::card::Error::Busy as u32
}

/// An activation begins or goes on, at the thread's time.
fn request<A: Accounts>(act: &mut Entered, owner: Owner, turn: &Turn) -> Come {
    let is_kept = owner.kept() == act.address() as u64;
    owner.keep(act.address() as u64);
    let time = if A::COUNT { card_time::now() } else { 0 };
    token::cross(owner.slot(), time, turn, |to, registers| {
        write_request(act, (owner, is_kept), to, registers);
    })
}

/// Writes the descriptor, and the activation's registers, if the card needs them.
fn write_request(
    act: &mut Entered,
    (owner, is_kept): (Owner, bool),
    to: &mut Descriptor,
    registers: &mut ThreadState,
) {
    let fcsr = fcsr(&mut act.context.hart);
    let hart = &act.context.hart;
    *to = Descriptor {
        process: token::process(),
        owner: token::owner(owner.slot()),
        activation: act.address() as u64,
        pc: hart.pc,
        sp: hart.x[SP],
        fcsr: fcsr as u32,
        ..Descriptor::new(DESCRIPTOR_CALL)
    };
    to.ints.copy_from_slice(&hart.x[A0..A0 + 8]);
    to.floats.copy_from_slice(&hart.f[A0..A0 + 8]);
    let how = act.of_backend;
    match how {
        // A function with dots gets more than the registers of a descriptor.
        BEGINS if act.gate().flags & GATE_VARIADIC == 0 => to.address = hart.x[RA],
        RETURNED if is_kept => to.kind = DESCRIPTOR_RETURN,
        _ => {
            (registers.pc, registers.f, registers.fcsr) = (hart.pc, hart.f, fcsr);
            registers.x.copy_from_slice(&hart.x[1..]);
            to.kind = match how {
                BEGINS => DESCRIPTOR_CALL_IN_FULL,
                _ => DESCRIPTOR_RESUME,
            };
            to.address = std::ptr::from_ref(registers) as u64;
        }
    }
}

fn fcsr(hart: &mut Hart) -> u64 {
    let access = CsrAccess {
        number: csr_number::FCSR,
        reads: true,
        write: None,
    };
    access_fcsr(hart, access).unwrap_or(0)
}

/// How the code of an owner ends on a lent hart.
#[derive(Clone, Copy)]
enum End {
    /// The budget is over.
    Budget,
    /// A jump to this address, which is no code of an image.
    Leaves(u64),
    /// An instruction that cannot be executed.
    Fault(Exit),
}

/// What is at the pc of an activation.
enum Meaning {
    /// Code of this region. The pc is there, and no gate that leads there.
    Code(&'static CodeRegion),
    /// The end of its function.
    Returns,
    /// A host function, or what stands for a call of one.
    Calls { target: u64, pc: u64 },
}

impl Meaning {
    /// What is to be done without the card.
    fn event(self) -> Event {
        match self {
            Self::Returns | Self::Code(_) => Event::Return,
            Self::Calls { target, pc } => Event::HostCall { target, pc },
        }
    }
}

fn meaning(act: &mut Entered) -> Meaning {
    let thread = act.thread();
    let pc = act.context.hart.pc;
    let target = if pc == crossing_code::return_address() {
        return Meaning::Returns;
    } else if pc == crossing_code::xcall_address() {
        act.context.hart.x[T2]
    } else {
        pc
    };
    let Target::Nxp(address) = thread.resolve(target) else {
        return Meaning::Calls { target, pc };
    };
    if pc != target && step::plan_of_call(act).has_variadic_arguments {
        // Only the host has them where a function without dots looks for them.
        return Meaning::Calls { target, pc };
    }
    act.context.hart.pc = address;
    // SAFETY: null, or a region, which lives while its code runs.
    match unsafe { thread.region(address).as_ref() } {
        Some(region) => Meaning::Code(region),
        // Its library was closed under the running code.
        None => Meaning::Calls { target, pc },
    }
}

/// What the code of an owner has taken: instructions, and picoseconds in a timed run.
#[derive(Clone, Copy, Default)]
struct Spent {
    instructions: u64,
    time: u64,
}

/// Executes the code of `act` from `hart.pc` on, on a lent hart with this ISA, within this budget. Where threads
/// are ordered it goes on as long as the hart may.
fn run<A: Accounts>(act: &mut Entered, budget: u64, (loan, isa): (Loan, Isa)) -> (End, Spent) {
    // Registers of another size cannot hold the thread's.
    let isa = match isa.vlen() == Some(vector_states::vlen()) {
        true => isa,
        false => isa.without_vectors(),
    };
    let is_timed = A::COUNT && timed::enabled();
    let begin = if is_timed { card_time::now() } else { 0 };
    let (mut budget, mut until) = match is_timed {
        true => (u64::MAX, card_time::until(begin.saturating_add(budget))),
        false => (budget, u128::MAX),
    };
    let most = budget;
    let end = loop {
        let region = match meaning(act) {
            Meaning::Code(region) => region,
            Meaning::Returns | Meaning::Calls { .. } => break End::Leaves(act.context.hart.pc),
        };
        match execute::<A>(act, (region, isa), &mut budget, until) {
            Exit::Leave => {}
            Exit::Budget if !is_timed => break End::Budget,
            Exit::Budget => match ordered::may_go_on_until(loan) {
                Some(time) => until = card_time::until(time),
                None => break End::Budget,
            },
            exit => break End::Fault(exit),
        }
    };
    let spent = Spent {
        instructions: most - budget,
        time: if is_timed {
            card_time::now() - begin
        } else {
            0
        },
    };
    (end, spent)
}

/// `left`: of the budget. `until`: the time of the thread, if it is observed. A timed run has the instructions
/// of all harts on each.
fn execute<A: Accounts>(
    act: &mut Entered,
    (code, isa): (&CodeRegion, Isa),
    left: &mut u64,
    until: u128,
) -> Exit {
    let retired = act.context.retired;
    if let Some(exit) = A::observe(&mut act.context, &MEMORY, code, until) {
        *left -= act.context.retired - retired;
        return exit;
    }
    let mut budget = InstructionBudget { left: *left };
    let hart = &mut act.context.hart;
    let mut core = LimitedCore::new(ProcessCore::new(&MEMORY, code), isa);
    let exit = flick_engine::run(hart, &mut core, &mut NoObserver, &mut budget);
    if A::COUNT {
        act.context.retired += *left - budget.left;
    }
    *left = budget.left;
    exit
}

/// `mcause` of a fetch from what is no code of the hart's, and of an illegal instruction.
const INVERTED_NX: u64 = Cause::FetchPage as u64;
const ILLEGAL: u64 = 2;
const BREAKPOINT: u64 = 3;

/// How the hart comes back.
fn executed(act: &mut Entered, (hart, end): (u32, End), spent: Spent) -> Executed {
    let pc = act.context.hart.pc;
    let (cause, value) = match end {
        End::Budget => (NO_EXCEPTION, 0),
        End::Leaves(to) => (INVERTED_NX, to),
        End::Fault(Exit::Illegal { bits }) => (ILLEGAL, bits.into()),
        End::Fault(Exit::Ebreak) => (BREAKPOINT, pc),
        End::Fault(Exit::Trap(Trap { cause, addr })) => (cause as u64, addr),
        // A program of the host calls no kernel of the card.
        End::Fault(_) => (ILLEGAL, 0),
    };
    Executed {
        hart,
        instructions: spent.instructions,
        time: spent.time,
        fcsr: fcsr(&mut act.context.hart),
        cause,
        value,
    }
}

/// What a message from the card says of `act`.
fn event(act: &mut Entered, message: &Descriptor) -> Event {
    let hart = &mut act.context.hart;
    match message.kind {
        DESCRIPTOR_RETURN if message.error == 0 => {
            hart.x[A0..A0 + 8].copy_from_slice(&message.ints);
            hart.f[A0..A0 + 8].copy_from_slice(&message.floats);
            Event::Return
        }
        DESCRIPTOR_CALL => {
            hart.x[A0..A0 + 8].copy_from_slice(&message.ints);
            hart.f[A0..A0 + 8].copy_from_slice(&message.floats);
            hart.pc = message.pc;
            let target = match message.pc == crossing_code::xcall_address() {
                true => hart.x[T2],
                false => message.pc,
            };
            Event::HostCall {
                target,
                pc: message.pc,
            }
        }
        DESCRIPTOR_FAULT => {
            let cause = match u64::from(message.error) {
                ILLEGAL => {
                    let bits = message.address as u32;
                    return Event::Fault(Exit::Illegal { bits });
                }
                BREAKPOINT => return Event::Fault(Exit::Ebreak),
                cause if cause == Cause::LoadMisaligned as u64 => Cause::LoadMisaligned,
                _ => Cause::StoreMisaligned,
            };
            let addr = message.address;
            Event::Fault(Exit::Trap(Trap { cause, addr }))
        }
        _ => fatal::exit(
            "FLK0509",
            &format!(
                "the card has refused a call: error {} of kind {}",
                message.error, message.kind
            ),
            "look at what its kernel has printed; run with FLICK_BACKEND=inline",
        ),
    }
}

/// What a crossing's assembly calls, which passes its own frame.
macro_rules! entries {
    ($accounts:ty: $resume:ident, $left:ident, $land:ident, $again:ident) => {
        /// The host function that NxP code called has returned.
        pub(crate) unsafe extern "C" fn $resume(mut act: Entered) -> Next {
            act.of_backend = RETURNED;
            step::host_returned::<Card<$accounts>>(act)
        }

        /// Translated code has come back: there is none.
        pub(crate) unsafe extern "C" fn $left(mut act: Entered, _reason: u64) -> Next {
            act.of_backend = RESTORED;
            step::go::<Card<$accounts>>(act, false)
        }

        /// A landing pad of NxP code: `landing` is set, `results` has its values.
        pub(crate) unsafe extern "C" fn $land(mut act: Entered) -> Next {
            act.of_backend = RESTORED;
            // SAFETY: an unwinder has come to this frame.
            step::go_on::<Card<$accounts>>(act, |act| unsafe { unwinding::leave_frames(act) })
        }

        /// The second return of `setjmp`.
        pub(crate) unsafe extern "C" fn $again(
            mut act: Entered,
            to: &JumpTarget,
            value: c_int,
        ) -> Next {
            act.of_backend = RESTORED;
            step::go_on::<Card<$accounts>>(act, |act| returns_twice::restore(act, to, value))
        }
    };
}

entries!(Closed: resume, left, land, again);
entries!(Open: resume_counted, left_counted, land_counted, again_counted);

/// The gate's function is called.
pub(crate) unsafe extern "C" fn enter(act: *mut Activation) -> Next {
    // SAFETY: the crossing passes its own frame.
    unsafe {
        (*act).of_backend = BEGINS;
        step::start::<Card<Closed>>(act)
    }
}

/// The same, counting.
pub(crate) unsafe extern "C" fn enter_counted(act: *mut Activation) -> Next {
    // SAFETY: the crossing passes its own frame, its gate is alive.
    unsafe {
        gate_counts::count((*act).gate);
        (*act).of_backend = BEGINS;
        step::start::<Card<Open>>(act)
    }
}
