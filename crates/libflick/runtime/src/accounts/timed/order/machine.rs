//! The machine of a card in the order: it is like a thread that is ready at the time of what comes next in
//! it (`docs/card.md`, "Threads and machine in one order"). The thread that finds it next runs it, in its
//! name.
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use super::super::setting::picoseconds;
use super::super::state;
use super::linked_library::is_on;
use super::ordered_threads::{Key, Next, Shared, locked, next, with};
use super::slot::Slot;
use super::stated_points::{Call, Here, come_from_outside};
use super::{notes, watchdog};
use crate::os::signal_mask::BlockedSignals;

/// What the order does with the machine. Each is called with the token of the order, or while nobody has it.
pub struct Machine {
    /// When it goes on by itself.
    pub next: fn() -> Option<u64>,
    /// Runs it until something comes for an owner, or until this time.
    pub advance: fn(Option<u64>) -> Advanced,
    /// The thread of an owner executes its code on a hart, and has lost the token of the order: the hart goes
    /// on without it.
    pub lost: fn(u32),
    /// The calling thread ends, at its time. Does that concern the machine?
    pub ends: fn() -> bool,
    /// Owners wait for the machine, which does nothing, and nobody else in the order does. Ends the process, if
    /// that stays so.
    pub stuck: fn(),
}

/// What has happened in the machine.
pub struct Advanced {
    /// Something has come for an owner at a time.
    pub to: Option<(u32, u64)>,
    /// When it goes on by itself.
    pub next: Option<u64>,
}

static MACHINE: OnceLock<Machine> = OnceLock::new();

/// There is one. It comes from above: its driver uses the accounts of threads.
pub fn set_machine(machine: Machine) {
    // A second call would have the same functions.
    let _ = MACHINE.set(machine);
}

/// Is there one?
pub fn is_there() -> bool {
    MACHINE.get().is_some()
}

/// The order begins: the machine is in it, if there is one.
pub fn enter_machine() {
    let Some(machine) = MACHINE.get() else { return };
    let _blocked = BlockedSignals::new();
    let next = (machine.next)();
    with(Slot::own(), |shared| {
        let slot = shared.enter(next.unwrap_or(0));
        shared.machine = Some(slot.thread);
        shared.token.set_ready(slot.thread, next);
    });
}

/// Runs the machine, which has got the token, until a thread gets it.
pub fn drive(own: Option<&Slot>) {
    let Some(machine) = MACHINE.get() else { return };
    let _blocked = BlockedSignals::new();
    loop {
        let advanced = (machine.advance)(next());
        let (next, is_stuck) = locked(|shared| {
            if let Some((owner, time)) = advanced.to {
                shared.token.wake(Key::Owner(owner), time);
            }
            shared.set_machine(advanced.next);
            (shared.hand_over(), shared.is_stuck())
        });
        if is_stuck {
            (machine.stuck)()
        }
        match next {
            Next::Machine => {}
            next => return next.go_on(own),
        }
    }
}

/// The thread in this slot has lost the token.
pub fn has_lost(shared: &mut Shared, slot: &Slot) {
    if let (Some(machine), Some(owner)) = (MACHINE.get(), slot.take_lent()) {
        let _blocked = BlockedSignals::new();
        (machine.lost)(owner);
        shared.set_machine((machine.next)());
    }
}

/// The calling thread ends.
pub fn thread_ends() {
    let Some(machine) = MACHINE.get() else { return };
    let _blocked = BlockedSignals::new();
    if (machine.ends)() {
        let next = (machine.next)();
        with(Slot::own(), |shared| shared.set_machine(next));
    }
}

impl Shared {
    /// When the machine, which does not run now, goes on.
    fn set_machine(&mut self, next: Option<u64>) {
        if let Some(machine) = self.machine {
            self.token.set_ready(machine, next);
        }
    }

    /// Does nobody do anything, while owners wait for the machine? Data may come from outside, and threads
    /// beside the order come back.
    fn is_stuck(&self) -> bool {
        let mut threads = 0..self.slots.len();
        self.is_idle()
            && self.for_data.is_empty()
            && self.token.awaited().any(|key| matches!(key, Key::Owner(_)))
            && threads.all(|thread| Some(thread) == self.machine || !self.token.is_away(thread))
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
        if !is_on() {
            return None;
        }
        let slot = match Slot::own() {
            Some(slot) => slot,
            None => come_from_outside(call)?,
        };
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
            shared.token.wait(slot.thread, Key::Owner(owner), now, None);
        });
        self.park();
    }

    /// The machine has been changed, and goes on at `next`.
    pub fn changed(&self, next: Option<u64>) {
        with(Some(self.here.slot), |shared| shared.set_machine(next));
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
