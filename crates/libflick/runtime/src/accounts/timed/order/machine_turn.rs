//! The machine of a card in the order: it is like a thread that is ready at the time of what comes next in
//! it (`docs/card.md`, "Threads and machine in one order"). The thread that finds it next runs it, in its
//! name.
use std::sync::atomic::Ordering::Relaxed;

use super::super::setting::picoseconds;
use super::super::state;
use super::keys::Key;
use super::ordered_threads::{next, with};
use super::slot::Slot;
use super::stated_points::{Call, Here, own_slot};
use super::{driven_machine, notes, watchdog};
use crate::os::signal_mask::BlockedSignals;

/// The order begins: the machine is in it, if there is one.
pub fn enter_machine() {
    let Some(machine) = driven_machine::get() else {
        return;
    };
    let _blocked = BlockedSignals::new();
    let next = (machine.next)();
    with(Slot::own(), |shared| {
        let slot = shared.enter(next.unwrap_or(0));
        shared.machine = Some(slot.thread);
        shared.token.set_ready(slot.thread, next);
    });
}

/// The calling thread ends.
pub fn thread_ends() {
    let Some(machine) = driven_machine::get() else {
        return;
    };
    let _blocked = BlockedSignals::new();
    if (machine.ends)() {
        let next = (machine.next)();
        with(Slot::own(), |shared| shared.set_machine(next));
    }
}

/// The calling thread may use the machine, and has signals blocked, as long as this lives.
pub struct MachineTurn {
    here: Here,
    /// A handler has interrupted the order's own code, for the thread of this slot.
    outer: Option<&'static Slot>,
}

impl MachineTurn {
    /// When it is the calling thread's turn: a stated point. `None`: there is no order.
    pub fn take(call: Call) -> Option<Self> {
        let turn = Self::enter(call)?;
        if turn.outer.is_none() {
            turn.here.order();
            // The handler runs when signals are not blocked any more.
            turn.here.deliver();
        }
        Some(turn)
    }

    /// The same for a thread whose turn it has been, if it has not lost the token since.
    pub fn take_again(call: Call) -> Option<Self> {
        let turn = Self::enter(call)?;
        if turn.outer.is_none() && turn.here.slot.away.load(Relaxed) {
            turn.here.order();
        }
        Some(turn)
    }

    fn enter(call: Call) -> Option<Self> {
        let slot = own_slot(call)?;
        if slot.busy.swap(true, Relaxed) {
            return Some(Self::nested(slot, call));
        }
        let here = Here::new(slot, call);
        Some(Self { here, outer: None })
    }

    /// The handler is in the order as another thread.
    #[cold]
    fn nested(outer: &'static Slot, call: Call) -> Self {
        notes::not_exact(&format!("{} in a signal handler", call.name), call.place);
        let now = now();
        let slot = with(Some(outer), |shared| shared.enter(now));
        slot.adopt();
        let turn = Self {
            here: Here::new(slot, call),
            outer: Some(outer),
        };
        turn.park();
        turn
    }

    /// Sleeps until the token comes.
    fn park(&self) {
        let slot = self.here.slot;
        let Some(outer) = self.outer else {
            return watchdog::park(slot);
        };
        loop {
            // The token that comes to the interrupted code meanwhile goes on, until the handler is done with it.
            with(Some(slot), |shared| {
                if shared.token.holder() == Some(outer.thread) {
                    shared.token.lose();
                    outer.take();
                }
            });
            if slot.take() {
                return;
            }
            if slot.sleep() {
                watchdog::look();
            }
        }
    }

    /// Waits until something has come from the machine for an owner, which is the calling thread. The machine
    /// goes on at `next`.
    pub fn wait(&self, owner: u32, next: Option<u64>) {
        let (slot, now) = (self.here.slot, now());
        with(Some(slot), |shared| {
            shared.set_machine(next);
            match shared.early.remove(&owner) {
                Some(time) => shared.token.pass(slot.thread, now.max(time)),
                None => shared.token.wait(slot.thread, Key::Owner(owner), now, None),
            }
        });
        self.park();
    }

    /// The calling thread executes code on a hart as this owner, or does so no longer.
    pub fn set_lent(&self, owner: Option<u32>) {
        self.here.slot.set_lent(owner);
    }

    /// When another thread, or the machine, may do something.
    pub fn others(&self) -> Option<u64> {
        next()
    }
}

impl Drop for MachineTurn {
    fn drop(&mut self) {
        if let Some(outer) = self.outer {
            outer.adopt();
            let thread = self.here.slot.thread;
            let now = now();
            with(None, |shared| {
                shared.token.end(thread);
                if shared.token.is_away(outer.thread) {
                    outer.take();
                    shared.token.pass(outer.thread, now);
                }
            });
        }
    }
}

fn now() -> u64 {
    state::current().map_or(0, |state| picoseconds(state.now()))
}
