//! Where NxP code runs: what the crossing asks of a backend.
//!
//! A backend has a file of its own. There it has the five functions that a crossing's assembly
//! calls (`slow_path.rs`), made of the steps in `step.rs`. The gate chooses it
//! (`gate_target.rs`), so that the others cost nothing. `docs/runtime.md`, "Backends", lists all
//! places that name a backend. There are the engine in the calling thread ([`super::inline`]), and
//! harts of a simulated machine ([`super::card`]).
use flick_engine::Exit;
use flick_translator::Reason;

use crate::accounts::hook::Accounts;
use crate::thread::crossing_code::Crossing;
use crate::thread::entered::Entered;

/// What has happened to an activation that was resumed.
pub enum Event {
    /// Its function has returned.
    Return,
    /// It calls the host function at `target`, or means it by a jump to `pc`.
    HostCall { target: u64, pc: u64 },
    /// It cannot go on at `hart.pc`.
    Fault(Exit),
    /// It goes on when the crossing calls the translated code at this address.
    Enter(u64),
}

pub trait Backend {
    /// The code through which a thread enters it.
    const CROSSING: Crossing;

    /// The accounts that record the NxP code which runs there.
    type Accounts: Accounts;

    /// Goes on with NxP code at `hart.pc` until something happens that the crossing must see.
    /// `act` is the thread's innermost activation. `reason`: why translated code has come back, if it has.
    fn resume(act: &mut Entered, reason: Reason) -> Event;
}
