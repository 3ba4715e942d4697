//! The card where threads run in the order of virtual time (`docs/card.md`, "Threads and machine in one
//! order"): that decides who uses the machine, and when. Each thread may have a hart that is lent to it.
use flick_abi::card::ThreadState;
use flick_abi::card_interface::OrderKind;
use flick_abi::descriptor::Descriptor;

use super::card_library::Machine;
use super::token::{self, Come, Loan, Turn};
use crate::accounts::hook::Accounts;
use crate::accounts::timed::card_time;
use crate::accounts::timed::order::{self, Advanced, Call, MachineTurn};
use crate::os::signal_mask::BlockedSignals;

const CROSSING: Call = Call::new("a crossing", 0);
const CODE: Call = Call::new("code on a hart of the card", 0);

/// A stated point of a thread that crosses. All signals are blocked.
pub fn turn<A: Accounts>() -> Turn {
    A::COUNT.then(|| MachineTurn::take(CROSSING)).flatten()
}

/// The calling thread has executed its code, and goes back to the machine. All signals are blocked.
pub fn turn_again<A: Accounts>() -> Turn {
    A::COUNT
        .then(|| MachineTurn::take_again(CROSSING))
        .flatten()
}

/// The machine is in the order, as soon as there is one. `ends`: the calling thread ends, at its time; whether it
/// is an owner.
pub fn init(ends: fn() -> bool) {
    order::set_machine(order::Machine {
        next: || with(Machine::next),
        advance,
        lost,
        ends,
        stuck,
    });
}

/// Calls `f` with the machine.
///
/// # Safety
/// The calling thread has this turn, or the token if there is no order, and blocks all signals.
pub unsafe fn use_machine<R>(turn: &Turn, f: impl FnOnce(&mut Machine) -> R) -> R {
    match turn {
        Some(_) => with(f),
        // SAFETY: by contract.
        None => f(&mut unsafe { Machine::get() }),
    }
}

/// Calls `f` with the machine. The calling thread has the token of the order, or nobody has it.
fn with<R>(f: impl FnOnce(&mut Machine) -> R) -> R {
    // Who is beside the order may have it.
    token::hold();
    // SAFETY: the thread has the token, and blocks all signals.
    let result = f(&mut unsafe { Machine::get() });
    token::put_down();
    result
}

fn advance(until: Option<u64>) -> Advanced {
    with(|machine| {
        // What has found the ring full.
        token::send_all(machine);
        let (to, kind) = token::advance(machine, until);
        match kind {
            OrderKind::Ended | OrderKind::Reset | OrderKind::Endless => token::ended(None),
            _ => {}
        }
        Advanced {
            to,
            next: machine.next(),
        }
    })
}

/// The owner of a loan has left its code. The calling thread has the token of the order.
pub fn give_up(loan: Loan) {
    with(|machine| token::give_up(machine, loan));
}

/// Another thread has lost its turn while its hart was lent.
fn lost(slot: u32) {
    if let Some(loan) = token::loan_of(slot)
        && token::take_back(loan)
    {
        give_up(loan);
    }
}

/// Nothing will happen, but for what threads do beside the order that have harts.
fn stuck() {
    if !token::has_loans() {
        token::ended(None);
    }
}

/// Sends what the calling thread wants. That comes at its time.
fn send() {
    with(token::send_all);
}

/// Sends the descriptor that `write` makes, with the registers that it names, at a virtual time, and waits
/// for what comes. The slot is the calling thread's, which has the token or the turn then.
pub fn cross(
    slot: u32,
    time: u64,
    turn: &Turn,
    write: impl FnOnce(&mut Descriptor, &mut ThreadState),
) -> Come {
    token::request(slot, time, write);
    match turn {
        Some(turn) => {
            send();
            wait(slot, turn)
        }
        None => token::cross(slot),
    }
}

/// The calling thread has executed its code on the hart of its last order: the same as [`cross`] from here on.
pub fn go_on(slot: u32, turn: &Turn) -> Come {
    match turn {
        Some(turn) => wait(slot, turn),
        None => token::go_on(slot),
    }
}

/// The slot's thread ends, at a virtual time.
pub fn end(slot: u32, time: u64) {
    token::want_to_end(slot, time);
    match order::is_on() {
        true => send(),
        false => token::end(),
    }
}

/// Waits for what comes.
fn wait(slot: u32, turn: &MachineTurn) -> Come {
    turn.wait(slot, with(Machine::next));
    token::come(slot)
}

/// The owner of a loan has come to the time at which it looks around: until when it may execute its code.
/// `None`: the hart has to come back, or is lent no longer.
pub fn may_go_on_until(loan: Loan) -> Option<u64> {
    let _blocked = BlockedSignals::new();
    let turn = MachineTurn::take(CODE)?;
    if !token::is_lent(loan) {
        return None;
    }
    let now = card_time::now();
    let until = with(|machine| machine.until(loan.hart(), now, turn.others()));
    (until > now).then_some(until)
}
