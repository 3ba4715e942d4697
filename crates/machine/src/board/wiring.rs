//! What the boards of a machine have in common: one clock, one order of events, and what devices have
//! asked for. Events of the same time come in the order of their tiles, and those of one tile in the
//! order in which they were scheduled.
use std::cell::{Cell, RefCell};

use flick_device::dtu::{Packet, PacketKind};
use flick_device::{Finish, Time};
use flick_sim::EventQueue;
use flick_timing::memory_system::END_OF_TIME;
use flick_timing::network::LinkCounts;

use super::Target;
use super::tile_log::TileLog;
use super::unit_promises::Witness;
use crate::injection::faulty_packets::TileFault;
use crate::network::Packets;

/// The tile, the device, and its token.
pub type EventKey = (usize, Target, u32);

/// What connects the boards.
#[derive(Default)]
pub struct Wiring {
    /// When the slice of the hart that runs began, and what a cycle of it takes.
    pub(super) slice: Cell<(Time, Time)>,
    /// The number in its tile of the hart that runs.
    pub(super) hart: Cell<usize>,
    pub(super) now: Cell<Time>,
    /// A device has been asked for something: it may have events, lines and output.
    pub(super) has_news: Cell<bool>,
    /// The `mtime` of a tile was set.
    pub(super) is_retimed: Cell<bool>,
    pub(super) state: RefCell<State>,
    pub(super) packets: RefCell<Packets>,
    /// Some tiles have stopped.
    has_stopped_tiles: Cell<bool>,
    /// `None`: nobody traces.
    pub(super) log: RefCell<Option<TileLog>>,
    /// `None`: nobody looks at what units promise.
    pub(super) witness: RefCell<Option<Witness>>,
}

/// What devices have asked for.
#[derive(Default)]
pub(super) struct State {
    pub events: EventQueue<EventKey>,
    /// Harts by their numbers in the machine.
    pub lines: Vec<(usize, u32, bool)>,
    pub output: Vec<u8>,
    /// Bytes from outside that devices have taken, and the devices' numbers.
    pub inputs: Vec<(usize, Vec<u8>)>,
    pub finish: Option<Finish>,
}

impl Wiring {
    /// The slice of a hart begins, which has this number in its tile.
    pub(crate) fn begin(&self, hart: usize, time: Time, period: Time) {
        self.slice.set((time, period));
        self.hart.set(hart);
        self.now.set(time);
    }

    /// No hart runs, and it is this time.
    pub(crate) fn go_to(&self, time: Time) {
        self.slice.set((time, 0));
        self.now.set(time);
    }

    /// Has a device done something since [`Self::forget_news`]?
    pub(crate) fn has_news(&self) -> bool {
        self.has_news.get()
    }

    /// What devices have done is looked at.
    pub(crate) fn forget_news(&self) {
        self.has_news.set(false);
        self.is_retimed.set(false);
    }

    /// Have devices done nothing that the outside sees, and that changes no timer? Events may be
    /// scheduled, and lines set.
    pub(crate) fn is_quiet(&self) -> bool {
        let state = self.state.borrow();
        let is_silent = state.output.is_empty() && state.finish.is_none();
        is_silent && !self.is_retimed.get()
    }

    /// The time of the last access or event.
    pub(crate) fn now(&self) -> Time {
        self.now.get()
    }

    /// The time of the next event.
    pub(crate) fn next_event(&self) -> Option<Time> {
        self.state.borrow().events.next()
    }

    /// Takes the next event up to `time`, at whose time it is then.
    pub(super) fn take_event(&self, time: Time) -> Option<EventKey> {
        let (at, key) = self.state.borrow_mut().events.pop(time)?;
        self.now.set(at);
        Some(key)
    }

    /// [`flick_device::Surroundings::schedule`].
    pub(super) fn schedule(&self, key: EventKey, at: Time) {
        let events = &mut self.state.borrow_mut().events;
        match at {
            // No machine runs until then.
            END_OF_TIME.. => events.cancel(key),
            at => events.schedule_in(key.0 as u32, key, at.max(self.now.get())),
        }
    }

    /// A packet leaves a tile. False: no link leads to its receiver.
    pub(super) fn send(&self, from: usize, packet: Packet) -> bool {
        let is_message = matches!(packet.kind, PacketKind::Message(..));
        let Some(tokens) = self.packets.borrow_mut().send(from, packet) else {
            return false;
        };
        for (token, later) in tokens.into_iter().flatten() {
            if is_message {
                self.message_leaves(token);
            }
            // The sender's router, or its own unit.
            let at = self.now.get().saturating_add(later);
            self.schedule((from, Target::Packet, token), at);
        }
        true
    }

    /// A tile stops, or packets fail.
    pub(crate) fn tile_fault_happens(&self, what: TileFault) {
        self.packets.borrow_mut().faults.happens(what);
        self.look_for_stopped_tiles();
    }

    /// The same when a tile has come to a state so many times.
    pub(crate) fn add_fault_at_state(&self, at: (usize, usize, u64), what: TileFault) {
        self.packets.borrow_mut().faults.add_at_state(at, what);
    }

    /// A tile comes to a state.
    pub(super) fn faults_at_state(&self, tile: usize, name: &str) {
        let faults = &mut self.packets.borrow_mut().faults;
        if faults.waits_for_states() {
            faults.comes_to(tile, name);
            self.has_stopped_tiles.set(faults.has_stopped_tiles());
        }
    }

    /// Has a tile stopped?
    pub(super) fn has_stopped(&self, tile: usize) -> bool {
        self.has_stopped_tiles.get() && self.packets.borrow().faults.has_stopped(tile)
    }

    /// The list of them may have changed.
    pub(super) fn look_for_stopped_tiles(&self) {
        let has_some = self.packets.borrow().faults.has_stopped_tiles();
        self.has_stopped_tiles.set(has_some);
    }

    /// The head of a packet has come to the next router. The packet, if it is at its receiver.
    pub(super) fn go_on(&self, token: u32) -> Option<Packet> {
        let now = self.now.get();
        let mut packets = self.packets.borrow_mut();
        match packets.go_on(token, now)? {
            Ok((tile, at)) => {
                drop(packets);
                self.schedule((tile, Target::Packet, token), at);
                None
            }
            Err(packet) => Some(packet),
        }
    }

    /// Levels of harts' lines that have been set since the last call.
    pub(crate) fn take_lines(&self) -> Vec<(usize, u32, bool)> {
        std::mem::take(&mut self.state.borrow_mut().lines)
    }

    /// Bytes for the console.
    pub(crate) fn take_output(&self) -> Vec<u8> {
        std::mem::take(&mut self.state.borrow_mut().output)
    }

    /// Names of links, and what they have carried.
    pub(crate) fn link_counts(&self) -> Vec<(String, LinkCounts)> {
        self.packets.borrow().counts()
    }

    /// How many packets have been sent and have not arrived.
    pub(crate) fn packets_under_way(&self) -> usize {
        self.packets.borrow().under_way()
    }

    /// All that decides when packets arrive, as a text.
    pub(crate) fn description(&self) -> String {
        self.packets.borrow().description()
    }

    /// The machine ends or resets.
    pub(crate) fn finish(&self, how: Finish) {
        self.state.borrow_mut().finish.get_or_insert(how);
        self.has_news.set(true);
    }

    pub(crate) fn finished(&self) -> Option<Finish> {
        self.state.borrow().finish
    }

    /// Nothing that devices have asked for is left, and no packet is under way.
    pub(super) fn reset(&self, now: Time) {
        self.state.replace(State::default());
        self.packets.borrow_mut().reset();
        self.look_for_stopped_tiles();
        self.has_news.set(true);
        self.is_retimed.set(true);
        self.now.set(now);
    }
}
