//! What is said when the card has failed (FLK0509), and the end of the program: a thread may have its registers
//! there, so that nothing else is right.
use std::ffi::CStr;

use flick_abi::card::Error;
use flick_abi::card_interface::{Order, OrderKind};
use flick_abi::descriptor::Descriptor;
use flick_abi::layout::Gate;

use crate::os::fatal;

/// The machine does nothing more for the owners. `waits`: the function of a call without an answer. `others`:
/// how many calls have none, besides.
pub fn ended(order: &Order, waits: Option<&Gate>, others: u32) -> ! {
    let what = match order.kind {
        OrderKind::Reset => format!("the card was reset at {}", time(order.time)),
        OrderKind::Endless => "the card executes without end, and does not answer".into(),
        OrderKind::Ended => {
            let status = order.message.error;
            let time = time(order.time);
            format!("the card's machine has ended at {time} with status {status}")
        }
        _ => "the card does not answer".into(),
    };
    let whose = match (waits.map(name), others) {
        (Some(name), 0) => format!("a call of {name} waits for it"),
        (Some(name), others) => format!("a call of {name} waits for it, and {others} more"),
        (None, 0 | 1) => "a call waits for it".into(),
        (None, calls) => format!("{calls} calls wait for it"),
    };
    exit(&format!("{what}; {whose}"))
}

/// The card has refused a request of a call of this function.
pub fn refused(answer: &Descriptor, gate: &Gate) -> ! {
    let why = match answer.error {
        error if error == Error::Dead as u32 => "its hart has failed".into(),
        error if error == Error::TimedOut as u32 => "its kernel takes no descriptors".into(),
        error => format!("error {error} of kind {}", answer.kind),
    };
    exit(&format!(
        "the card has refused a call of {}: {why}",
        name(gate)
    ))
}

fn exit(what: &str) -> ! {
    let help = "look at what its kernel has printed; run with FLICK_BACKEND=inline";
    fatal::exit("FLK0509", what, help)
}

/// Picoseconds, for people.
fn time(time: u64) -> String {
    format!("{}.{:03} us", time / 1_000_000, time / 1000 % 1000)
}

/// The function's name, for people.
fn name(gate: &Gate) -> String {
    // SAFETY: the record of a module whose function is called.
    let name = unsafe { CStr::from_ptr(gate.name) }.to_string_lossy();
    flick_names::plain(&name).to_owned()
}
