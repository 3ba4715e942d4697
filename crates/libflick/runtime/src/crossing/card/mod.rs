//! The backend `card`: harts of a simulated machine, under its own kernel (`docs/card.md`). A crossing
//! sends a descriptor; the owner executes its code when a hart is lent to it.
mod card_failure;
mod card_library;
mod hints;
mod lent_code;
mod messages;
mod ordered;
mod owner;
pub mod program_calls;
mod report;
pub(super) mod shown_frames;
mod tile_place;
pub(crate) mod tiles;
mod token;
mod wake_up;

use std::ffi::c_int;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use flick_abi::card_interface::RanRow;
use flick_abi::layout::JumpTarget;
use flick_engine::Exit;
use flick_translator::Reason;

use super::backend::{Backend, Event};
use super::next_step::Next;
use super::{returns_twice, step, unwinding};
use crate::accounts::hook::{Accounts, Closed, Open};
use crate::accounts::timed::card_time::{self, Way};
use crate::accounts::{gate_counts, stats};
use crate::config::Config;
use crate::os::fatal;
use crate::os::signal_mask::{self, BlockedSignals};
use crate::reports::fault_report;
use crate::thread::activation::Activation;
use crate::thread::crossing_code::{self, Crossing};
use crate::thread::entered::Entered;
use card_library::Machine;
use hints::Taken;
use lent_code::{End, ILLEGAL, Lent, Meaning, Spent, meaning};
use messages::{event, goes_to, is_busy, write_request};
use owner::Owner;
use shown_frames::above_frames;
use tile_place::{BEGINS, Place, RESTORED, RETURNED, how, set_how};
use token::{Come, Loan, Turn};

/// Makes the card, or ends the program. Call before gates get their targets.
pub fn init(config: &Config) {
    let opened = match config.check_device {
        true => Err("FLICK_CHECK=device has none".into()),
        false => card_library::open(
            &config.machine,
            (&config.inject, &config.card_files),
            config.platform.is_some(),
        ),
    };
    if let Err(why) = opened {
        fatal::exit(
            "FLK0408",
            &format!("FLICK_BACKEND=card, but there is no card: {why}"),
            "name another machine by FLICK_MACHINE (flick machine list), or run without FLICK_BACKEND",
        );
    }
    owner::init();
    // SAFETY: the process has one thread that starts the runtime; nobody else uses the machine.
    tiles::init(&mut unsafe { Machine::get() });
    ordered::init(|| Owner::if_any().is_some_and(Owner::end));
    stats::set_card(report::card);
    hints::init();
    fault_report::set_card(tiles::have_instruction);
    crossing_code::enter_card();
}

/// What a debugger's script reads of it: see [`tiles::names`] and [`owner::records`].
pub fn shown() -> [u64; 6] {
    let [tiles, tile_count, harts, hart_count] = tiles::names();
    let [owners, size] = owner::records();
    [owners, size, tiles, tile_count, harts, hart_count]
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

/// The card, with these accounts.
pub struct Card<A>(PhantomData<A>);

impl<A: Accounts> Backend for Card<A> {
    const CROSSING: Crossing = if A::COUNT {
        Crossing::CardCounted
    } else {
        Crossing::Card
    };

    type Accounts = A;

    fn resume(act: &mut Entered, mut reason: Reason) -> Event {
        let mut place = Place::of(act);
        let mut lent = Lent::of(act);
        let mut has_come_back = lent.is_some();
        if !has_come_back {
            // Behind a tail call of the host there is nothing for the card.
            match meaning(act, place.tile) {
                Meaning::Code(_) => {}
                other => return other.event(),
            }
        }
        let mut behind = Behind::default();
        loop {
            let (blocked, turn, owner, come) = match lent {
                Some(lent) => {
                    let ran = match has_come_back && !lent.is_held() {
                        true => Err((End::Budget, lent.spent::<A>(act))),
                        false => lent.run::<A>(act, place.tile, std::mem::take(&mut reason)),
                    };
                    has_come_back = false;
                    let (end, spent) = match ran {
                        Ok(translated) => return go_into(act, translated),
                        Err(ended) => ended,
                    };
                    let blocked = BlockedSignals::new();
                    let owner = Owner::of_thread();
                    let turn = ordered::turn_again::<A>();
                    match owner.take_loan().filter(|&loan| lent.is(loan)) {
                        Some(loan) if token::take_back(loan) => {
                            let way = (owner, &mut place, &turn);
                            let come;
                            (come, behind) = come_back::<A>(act, way, (loan, end, spent));
                            (blocked, turn, owner, come)
                        }
                        // Another thread, or a handler of this one, has given the hart back. The card has
                        // the registers of before.
                        _ => {
                            set_how(act, RESTORED);
                            owner.keep(place.tile, 0);
                            match (end, meaning(act, place.tile)) {
                                // Another hart may have the instruction.
                                (End::Fault(Exit::Illegal { bits }), Meaning::Code(_))
                                    if tiles::have_instruction(bits) => {}
                                (End::Fault(exit), _) => return Event::Fault(exit),
                                (_, Meaning::Code(_)) => {}
                                (_, other) => return other.event(),
                            }
                            let come = request::<A>(act, owner, place, &turn);
                            (blocked, turn, owner, come)
                        }
                    }
                }
                None => {
                    let blocked = BlockedSignals::new();
                    let owner = Owner::of_thread();
                    // A handler has interrupted code of this thread on a lent hart, or has left it for good.
                    // What the budget of such code had left is no count.
                    if act.context.retired.cast_signed() < 0 {
                        act.context.retired = 0;
                    }
                    let turn = ordered::turn::<A>();
                    owner.leave_code();
                    let stays = owner.hint() != 0 || token::waits_on_hart(owner.slot(), place.tile);
                    if place.is_guest() && !stays {
                        place.go_to(act, place.own);
                    }
                    let come = request::<A>(act, owner, place, &turn);
                    (blocked, turn, owner, come)
                }
            };
            match answer::<A>(
                act,
                (owner, &mut place, &turn),
                come,
                std::mem::take(&mut behind),
            ) {
                Ok(hart) => lent = Some(hart),
                Err(event) => return event,
            }
            drop(turn);
            drop(blocked);
        }
    }
}

/// What the owner knows of a hart that it has given back.
#[derive(Clone, Copy, Default)]
struct Behind {
    /// The instruction that the hart lacks, and what the card had executed then.
    lacking: Option<(u64, u64)>,
    /// Where the code goes on that has given a hint. That may be an odd address of the host, and harts have
    /// none.
    pc: Option<u64>,
}

/// The thread, which has the turn, gives a hart back that was lent to it, and waits for what comes.
fn come_back<A: Accounts>(
    act: &mut Entered,
    (owner, place, turn): (Owner, &mut Place, &Turn),
    (loan, end, spent): (Loan, End, Spent),
) -> (Come, Behind) {
    let mut behind = Behind::default();
    let (mut end, mut tile) = (end, None);
    if matches!(end, End::Hints) {
        (end, tile) = match hints::take(act, owner, *place) {
            Taken::Refused => (End::Budget, None),
            Taken::Here(what) => (End::Hint(what), None),
            Taken::On(tile) => (End::Moves, Some(tile)),
        };
        behind.pc = Some(act.context.hart.pc);
    }
    behind.lacking = give_back::<A>(act, *place, (loan, end, spent), turn);
    let Some(tile) = tile else {
        return (ordered::go_on(owner.slot(), turn), behind);
    };
    token::has_left(owner.slot(), turn);
    owner.keep(place.tile, 0);
    place.go_to(act, tile);
    (request::<A>(act, owner, *place, turn), behind)
}

/// What comes for an activation, whose thread has the token: a hart that is lent, or what has happened.
fn answer<A: Accounts>(
    act: &mut Entered,
    (owner, place, turn): (Owner, &mut Place, &Turn),
    mut come: Come,
    behind: Behind,
) -> Result<Lent, Event> {
    loop {
        match come {
            // The card has not seen yet that the thread has left its code, or the thread leaves its hart.
            Come::Message { message, time } if is_busy(message) => {
                token::leave(owner.slot(), turn);
                goes_on_at::<A>(time, 0, Way::To, None);
                // What was refused has not changed the card's registers.
                owner.keep(place.tile, 0);
                come = request::<A>(act, owner, *place, turn);
            }
            Come::Message { message, time } => {
                token::leave(owner.slot(), turn);
                goes_on_at::<A>(time, 0, Way::From, None);
                let Some(tile) = goes_to(message, *place) else {
                    set_how(act, RESTORED);
                    return Err(event(act, message));
                };
                owner.keep(place.tile, 0);
                place.go_to(act, tile);
                come = request::<A>(act, owner, *place, turn);
            }
            Come::Run {
                hart,
                budget,
                isa,
                time,
                waited,
            } => {
                goes_on_at::<A>(time, waited, Way::To, Some(hart));
                if A::COUNT {
                    let gate = std::ptr::from_ref(act.gate()) as usize;
                    card_time::begins_on(hart, tiles::hart_name(hart).to_bytes(), gate);
                }
                let begins = (A::COUNT && how(act) == BEGINS).then(|| RanRow {
                    calls: 1,
                    ..ran(act, *place, hart)
                });
                let registers = |machine: &mut Machine| {
                    machine.registers(hart, &mut act.context.hart);
                    begins.iter().for_each(|row| machine.has_run(row));
                    let lacking = behind.lacking;
                    lacking.map(|(pc, then)| (pc, machine.own_instructions().saturating_sub(then)))
                };
                // SAFETY: the thread has the turn.
                let moved = unsafe { ordered::use_machine(turn, registers) };
                if let Some(pc) = behind.pc {
                    act.context.hart.pc = pc;
                }
                if let Some((pc, cost)) = moved {
                    A::migrated(owner.slot(), pc, cost);
                }
                let loan = token::lend(owner.slot(), hart, turn);
                owner.set_loan(loan);
                return Ok(Lent::begin::<A>(act, loan, budget, isa));
            }
        }
    }
}

/// What the function of `act` has executed on a hart: nothing.
fn ran(act: &Entered, place: Place, hart: u32) -> RanRow {
    RanRow {
        function: std::ptr::from_ref(act.gate()) as u64,
        calls: 0,
        instructions: 0,
        moves: 0,
        hart,
        why: place.why(),
    }
}

/// The thread has the turn, and gives a hart back that was lent to it. An instruction that the hart lacks, and
/// what the card has executed.
fn give_back<A: Accounts>(
    act: &mut Entered,
    place: Place,
    (loan, end, spent): (Loan, End, Spent),
    turn: &Turn,
) -> Option<(u64, u64)> {
    let executed = lent_code::executed(act, (loan.hart(), end), spent);
    if A::COUNT {
        card_time::ends_on(loan.hart());
    }
    let is_lacking = A::COUNT && executed.cause == ILLEGAL;
    let row = A::COUNT.then(|| RanRow {
        instructions: spent.instructions,
        moves: u64::from(is_lacking),
        ..ran(act, place, loan.hart())
    });
    let is_back = |machine: &mut Machine| {
        row.iter().for_each(|row| machine.has_run(row));
        machine.executed(&executed, &act.context.hart);
        is_lacking.then(|| (act.context.hart.pc, machine.own_instructions()))
    };
    // SAFETY: by contract.
    unsafe { ordered::use_machine(turn, is_back) }
}

/// The activation goes on in translated code.
fn go_into(act: &mut Entered, translated: u64) -> Event {
    let thread = act.thread();
    // No other mode is in translated code.
    thread.set_frm(0);
    let limit = thread.host_stack.limit_at(act.address() as usize);
    act.context.host_limit = limit as u64;
    Event::Enter(shown_frames::enter_by(act, translated))
}

/// The thread goes on at this time, if it has one, and has waited so long for a hart.
fn goes_on_at<A: Accounts>(time: u64, waited: u64, way: Way, hart: Option<u32>) {
    if A::COUNT {
        card_time::goes_on_at(time, waited, way, hart);
    }
}

/// An activation begins or goes on, at the thread's time.
fn request<A: Accounts>(act: &mut Entered, owner: Owner, place: Place, turn: &Turn) -> Come {
    let tile = place.tile;
    let is_kept = owner.kept(tile) == act.address() as u64;
    owner.keep(tile, act.address() as u64);
    let time = if A::COUNT { card_time::now() } else { 0 };
    ordered::cross(owner.slot(), time, turn, |to, registers| {
        write_request(act, (owner, place, is_kept), to, registers);
    })
}

/// What a crossing's assembly calls, which passes its own frame.
macro_rules! entries {
    ($accounts:ty: $resume:ident, $left:ident, $land:ident, $again:ident) => {
        /// The host function that NxP code called has returned.
        pub(crate) unsafe extern "C" fn $resume(mut act: Entered) -> Next {
            set_how(&mut act, RETURNED);
            // What has waited is entered anew.
            act.call.waits = 0;
            let at = act.address();
            above_frames(at, step::host_returned::<Card<$accounts>>(act))
        }

        /// Translated code has come back, with all registers in the hart.
        pub(crate) unsafe extern "C" fn $left(act: Entered, reason: u64) -> Next {
            let at = act.address();
            above_frames(at, step::go::<Card<$accounts>>(act, Reason::from(reason)))
        }

        /// A landing pad of NxP code: `landing` is set, `results` has its values.
        pub(crate) unsafe extern "C" fn $land(mut act: Entered) -> Next {
            set_how(&mut act, RESTORED);
            let at = act.address();
            // SAFETY: an unwinder has come to this frame.
            let restore = |act: &mut Activation| unsafe { unwinding::leave_frames(act) };
            above_frames(at, step::go_on::<Card<$accounts>>(act, restore))
        }

        /// The second return of `setjmp`.
        pub(crate) unsafe extern "C" fn $again(
            mut act: Entered,
            to: &JumpTarget,
            value: c_int,
        ) -> Next {
            set_how(&mut act, RESTORED);
            let at = act.address();
            let restore = |act: &mut Activation| returns_twice::restore(act, to, value);
            above_frames(at, step::go_on::<Card<$accounts>>(act, restore))
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
        above_frames(act, step::start::<Card<Closed>>(act))
    }
}

/// The same, counting.
pub(crate) unsafe extern "C" fn enter_counted(act: *mut Activation) -> Next {
    // SAFETY: the crossing passes its own frame, its gate is alive.
    unsafe {
        gate_counts::count((*act).gate);
        (*act).of_backend = BEGINS;
        above_frames(act, step::start::<Card<Open>>(act))
    }
}
