//! What units promise is looked at while the machine runs ([`flick_device::dtu::Promises`]).
use std::cell::Ref;
use std::collections::HashMap;

use flick_device::Device;
use flick_device::dtu::{Before, Packet, PromiseCounts, Promises};

use super::{Board, Wiring};

/// Events between two looks at all units.
const EVENTS: u32 = 4096;

/// The account, and the events until the next look at all units.
#[derive(Default)]
pub(super) struct Witness {
    promises: Promises,
    /// Messages that were put into slots since the last look.
    stored: u32,
    events: u32,
}

impl Wiring {
    /// Looks at what units promise from now on.
    pub(crate) fn watch_promises(&self) {
        self.witness.replace(Some(Witness::default()));
    }

    /// [`flick_device::Surroundings::message_stored`].
    pub(super) fn message_stored(&self) {
        if let Some(witness) = self.witness.borrow_mut().as_mut() {
            witness.stored += 1;
        }
    }

    /// The machine resets, or goes on from a snapshot with messages under way (`is_late`).
    pub(crate) fn restart_promises(&self, is_late: bool) {
        if let Some(witness) = self.witness.borrow_mut().as_mut() {
            witness.promises.restart(is_late);
        }
    }

    /// Whether units have all credits that were spent: no packet is under way, and none was lost.
    fn credits_are_known(&self) -> bool {
        let packets = self.packets.borrow();
        packets.under_way() == 0 && !packets.had_faults()
    }

    /// What was looked at, and the first promises that were broken. `None`: nobody looks.
    pub(crate) fn promises(&self) -> Option<(PromiseCounts, Vec<String>)> {
        let witness = self.witness.borrow();
        let promises = &witness.as_ref()?.promises;
        Some((promises.counts(), promises.broken().to_vec()))
    }
}

/// A board's unit.
fn unit_of(board: &Board) -> Option<Ref<'_, Box<dyn Device>>> {
    let is_there = board
        .unit
        .filter(|_| !board.wiring.has_stopped(board.tile))?;
    Some(board.devices[is_there].borrow())
}

/// A packet is about to arrive.
pub(super) fn before(board: &Board, packet: &Packet) -> Option<Before> {
    let mut witness = board.wiring.witness.borrow_mut();
    let witness = witness.as_mut()?;
    // Harts of the same tile may have sent messages to each other since.
    witness.stored = 0;
    let promises = &witness.promises;
    promises.before(packet, unit_of(board)?.unit()?)
}

/// A unit has had an event, or a packet.
pub(super) fn after(board: &Board, before: Option<Before>, boards: &[Board]) {
    let mut witness = board.wiring.witness.borrow_mut();
    let Some(witness) = witness.as_mut() else {
        return;
    };
    let now = board.wiring.now.get();
    let stored = std::mem::take(&mut witness.stored);
    if let Some(device) = unit_of(board)
        && let Some(unit) = device.unit()
    {
        if let Some(before) = before {
            witness.promises.after(&before, stored, unit, now);
        }
        witness.promises.has_acted(unit, now);
    }
    witness.events += 1;
    if witness.events >= EVENTS && board.wiring.credits_are_known() {
        witness.events = 0;
        look_at_all(&mut witness.promises, boards, now);
    }
}

/// No packet is under way.
fn look_at_all(promises: &mut Promises, boards: &[Board], now: flick_device::Time) {
    let devices: Vec<_> = boards.iter().filter_map(unit_of).collect();
    let units = devices.iter().filter_map(|device| device.unit());
    let units: HashMap<_, _> = units.map(|unit| (unit.tile(), unit)).collect();
    promises.rests(&units, now);
}

/// The machine ends.
pub(crate) fn end(boards: &[Board]) {
    let Some(wiring) = boards.first().map(Board::wiring) else {
        return;
    };
    if let Some(witness) = wiring.witness.borrow_mut().as_mut()
        && wiring.credits_are_known()
    {
        look_at_all(&mut witness.promises, boards, wiring.now.get());
    }
}
