//! Root calls of the program (`docs/host-files.md`): the calling thread goes to a hart of the root's tile, and makes a
//! call of the kernel there, as if it executed `ecall`. No code of the NxP is needed for that: the thread gives its
//! hart back with the exception, and again with a return.
use flick_abi::card::RootCall;
use flick_abi::card_interface::Executed;
use flick_abi::descriptor::{DESCRIPTOR_CALL, Descriptor};
use flick_engine::{Cause, Hart};

use super::card_library::Machine;
use super::messages::is_busy;
use super::owner::Owner;
use super::token::{self, Come, RootCaller, Turn};
use super::{goes_on_at, ordered, tiles};
use crate::accounts::hook::{Accounts, Closed, Open};
use crate::accounts::timed::card_time::{self, Way};
use crate::os::signal_mask::BlockedSignals;
use crate::thread::crossing_code;

/// `mcause` of `ecall` in U mode, and of a fetch from what is no code of the hart's.
const CALL: u64 = 8;
const LEAVES: u64 = Cause::FetchPage as u64;
/// Where the thread is on its hart: nobody executes or reads what is there.
const CODE: u64 = 0x1000;
const STACK: u64 = 0x1000;

/// Makes a call of the root role. The kernel's results are in a0 and a1; `None`: there is no card.
pub fn make(number: RootCall, arguments: [u64; 6]) -> Option<[u64; 2]> {
    let number = number as u64;
    crossing_code::on_card().then(|| match crossing_code::counted() {
        true => call::<Open>(number, arguments),
        false => call::<Closed>(number, arguments),
    })
}

fn call<A: Accounts>(number: u64, arguments: [u64; 6]) -> [u64; 2] {
    let _blocked = BlockedSignals::new();
    let owner = Owner::of_thread();
    let _caller = RootCaller::begin();
    let turn = ordered::turn::<A>();
    owner.leave_code();
    let tile = tiles::first();
    // The kernel has no registers of an activation any more.
    owner.keep(tile, 0);
    let ask = || {
        let time = if A::COUNT { card_time::now() } else { 0 };
        ordered::cross(owner.slot(), time, &turn, |to, _| {
            *to = Descriptor {
                process: token::process(),
                tile,
                owner: token::owner(owner.slot()),
                pc: CODE,
                sp: STACK,
                address: crossing_code::return_address(),
                ..Descriptor::new(DESCRIPTOR_CALL)
            };
            to.ints[..6].copy_from_slice(&arguments);
            // a7 is that of a kernel call, too.
            to.ints[7] = number;
        })
    };
    let mut come = ask();
    loop {
        match come {
            Come::Run {
                hart, time, waited, ..
            } => {
                goes_on_at::<A>(time, waited, Way::To, Some(hart));
                leave(hart, &turn);
                come = ordered::go_on(owner.slot(), &turn);
            }
            // The card has not seen yet that the thread has left its hart.
            Come::Message { message, time } if is_busy(message) => {
                token::leave(owner.slot(), &turn);
                goes_on_at::<A>(time, 0, Way::To, None);
                come = ask();
            }
            Come::Message { message, time } => {
                token::leave(owner.slot(), &turn);
                goes_on_at::<A>(time, 0, Way::From, None);
                return match message.error {
                    0 => [message.ints[0], message.ints[1]],
                    // Its hart has failed, for example.
                    error => [i64::from(error).wrapping_neg() as u64, 0],
                };
            }
        }
    }
}

/// The thread, which has the turn, gives its hart back: with the call, or behind it with the return.
fn leave(hart: u32, turn: &Turn) {
    let mut registers = Hart::ZERO;
    let back = |machine: &mut Machine| {
        machine.registers(hart, &mut registers);
        let (cause, value) = match registers.pc == CODE {
            true => (CALL, 0),
            false => (LEAVES, crossing_code::return_address()),
        };
        let executed = Executed {
            hart,
            instructions: 1,
            time: 0,
            fcsr: 0,
            cause,
            value,
        };
        machine.executed(&executed, &registers);
    };
    // SAFETY: the thread has the turn, and blocks all signals.
    unsafe { ordered::use_machine(turn, back) };
}
