//! Activities of accelerators.
use flick_abi::accelerator::{
    self, ANSWERS, ANSWERS_BUFFER, ANSWERS_SLOTS, Control, INPUT_DATA, INPUT_REQUESTS, LOG2_SLOT,
    OUTPUT_DATA, OUTPUT_REQUESTS, REQUESTS, REQUESTS_BUFFER, REQUESTS_SLOTS, Status,
};
use flick_abi::card::Error;
use flick_abi::dtu::{
    self, ACCELERATOR_REGISTERS, Endpoint, NO_ACTIVITY, ReceiveEndpoint, SendEndpoint,
};
use flick_kernel_core::capabilities;
use flick_kernel_core::threads::{List, Place, Wait};

use super::lost_tiles::Range;
use super::remote::NoAnswer;
use super::{Memory, Object, Root};
use crate::dtu::{CALLS, KERNEL, Message, Unit};
use crate::kernel::{Answer, Caller, Done, Kernel, is_past, value};

/// Activities of all accelerators.
const ACTIVITIES: usize = 64;
/// Endpoints of an accelerator that the module uses.
const ENDPOINTS: usize = 9;
/// The number of the first activity in the units: those of mailboxes are below.
const FIRST: u16 = 0xf100;

/// What an activity does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Free,
    New,
    Runs,
    /// It has ended with this status and error.
    Over(u64, u64),
}

/// An activity of an accelerator.
#[derive(Clone, Copy, Debug)]
struct Activity {
    phase: Phase,
    tile: u16,
    /// The capabilities by which endpoints are set up.
    endpoints: [Option<capabilities::Place>; ENDPOINTS],
    /// What they reach.
    reaches: [Option<Range>; ENDPOINTS],
    /// Threads that wait for its end.
    waiters: List,
}

/// All of them.
#[derive(Debug)]
pub struct Activities([Activity; ACTIVITIES]);

impl Activities {
    /// None.
    pub const fn new() -> Self {
        const NONE: Activity = Activity {
            phase: Phase::Free,
            tile: 0,
            endpoints: [None; ENDPOINTS],
            reaches: [None; ENDPOINTS],
            waiters: List::EMPTY,
        };
        Self([NONE; ACTIVITIES])
    }
}

/// The number of an activity in the units.
const fn in_units(activity: u8) -> u16 {
    FIRST + activity as u16
}

/// Endpoints that programs may set up, and whether they are for memory.
fn wants_memory(endpoint: u64) -> Option<bool> {
    const REQUESTS: [u64; 2] = [INPUT_REQUESTS as u64, OUTPUT_REQUESTS as u64];
    const DATA: [u64; 2] = [INPUT_DATA as u64, OUTPUT_DATA as u64];
    match (REQUESTS.contains(&endpoint), DATA.contains(&endpoint)) {
        (true, _) => Some(false),
        (_, true) => Some(true),
        _ => None,
    }
}

impl Unit {
    fn set_accelerator(&self, tile: u16, register: u64, value: u64) -> Result<(), NoAnswer> {
        self.write_registers(tile, ACCELERATOR_REGISTERS + register, &[value])
    }
}

impl Unit {
    /// From now on no command of the module has an endpoint.
    fn end_module(&self, tile: u16) -> Result<(), NoAnswer> {
        self.write_registers(tile, dtu::current(0), &[NO_ACTIVITY.into()])?;
        self.set_accelerator(tile, accelerator::CONTROL, Control::Stop as u64)?;
        let mut endpoints = [accelerator::ROOT, ANSWERS, REQUESTS].into_iter();
        endpoints.try_for_each(|endpoint| self.set_remote(tile, endpoint, None))
    }
}

impl Root {
    /// The list of threads that wait for the end of an activity.
    pub fn waiters(&mut self, activity: u8) -> &mut List {
        &mut self.activities.0[usize::from(activity)].waiters
    }
}

impl Kernel {
    /// An activity of an accelerator that has none.
    pub fn create_activity(&mut self, caller: Caller, tile: u64) -> Answer {
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let facts = self.root.tiles.get(tile).filter(|facts| !facts.is_memory());
        let facts = *facts.ok_or(Error::NotFound)?;
        let tile = facts.tile;
        let all = &self.root.activities.0;
        if all
            .iter()
            .any(|other| other.phase != Phase::Free && other.tile == tile)
        {
            return Err(Error::Busy);
        }
        let place = all.iter().position(|other| other.phase == Phase::Free);
        let place = place.ok_or(Error::NoMemory)?;
        self.ask_lost_tile(tile)?;
        // The module of an activity that was revoked may go on up to its next step.
        let status = unit.read_register(tile, ACCELERATOR_REGISTERS + accelerator::STATUS)?;
        if status == Status::Runs as u64 {
            return Err(Error::Busy);
        }
        self.clear_memory(&Memory::of(tile, facts.base, facts.size))?;
        let activity = in_units(place as u8);
        let receiver = |buffer, slots| {
            Some(Endpoint::Receive(ReceiveEndpoint::new(
                activity, buffer, LOG2_SLOT, slots,
            )))
        };
        unit.set_remote(tile, ANSWERS, receiver(ANSWERS_BUFFER, ANSWERS_SLOTS))?;
        unit.set_remote(tile, REQUESTS, receiver(REQUESTS_BUFFER, REQUESTS_SLOTS))?;
        let root = SendEndpoint {
            activity,
            tile: self.map.tile.0 as u16,
            endpoint: CALLS,
            receiver: KERNEL,
            label: place as u64,
            credits: 1,
            most_credits: 1,
            log2_message: LOG2_SLOT,
        };
        unit.set_remote(tile, accelerator::ROOT, Some(Endpoint::Send(root)))?;
        let granted = self.grant(caller.process, Object::Activity(place as u8), None)?;
        self.root.activities.0[place] = Activity {
            phase: Phase::New,
            tile,
            endpoints: [None; ENDPOINTS],
            reaches: [None; ENDPOINTS],
            waiters: List::EMPTY,
        };
        Ok(granted)
    }

    fn activity(&self, caller: Caller, number: u64) -> Result<(u16, u8), Error> {
        match self.capability(caller, number)? {
            (place, Object::Activity(activity) | Object::SharedActivity(activity)) => {
                Ok((place, activity))
            }
            _ => Err(Error::Invalid),
        }
    }

    /// An endpoint of an activity sends to a gate, or reaches memory.
    pub fn set_activity_endpoint(
        &mut self,
        caller: Caller,
        number: u64,
        endpoint: u64,
        by: u64,
    ) -> Answer {
        let (_, activity) = self.activity(caller, number)?;
        let is_memory = wants_memory(endpoint).ok_or(Error::Invalid)?;
        let (source, object) = self.capability(caller, by)?;
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let owner = in_units(activity);
        let (words, reaches) = match object {
            Object::Memory(memory) if is_memory => (memory.endpoint(owner), Some(memory.range())),
            Object::Sender(sender) if !is_memory => {
                let send = SendEndpoint {
                    activity: owner,
                    tile: sender.tile,
                    endpoint: sender.endpoint,
                    receiver: sender.receiver,
                    label: sender.label,
                    credits: sender.credits,
                    most_credits: sender.credits,
                    log2_message: LOG2_SLOT,
                };
                (Endpoint::Send(send), None)
            }
            _ => return Err(Error::Invalid),
        };
        let (place, n) = (usize::from(activity), endpoint as usize);
        if let Some(before) = self.root.activities.0[place].endpoints[n] {
            self.revoke(before);
        }
        let object = Object::Endpoint(activity, endpoint as u8);
        let set_up = self
            .root
            .capabilities
            .add(caller.process, object, Some(source));
        let set_up = set_up.ok_or(Error::NoMemory)?;
        self.root.activities.0[place].endpoints[n] = Some(set_up);
        self.root.activities.0[place].reaches[n] = reaches;
        let tile = self.root.activities.0[place].tile;
        if unit.set_remote(tile, endpoint as u16, Some(words)).is_err() {
            self.revoke(set_up);
            return Err(Error::Failed);
        }
        value(0)
    }

    /// What an endpoint was set up by was revoked.
    pub fn clear_endpoint(&mut self, activity: u8, endpoint: u8) {
        let of = &mut self.root.activities.0[usize::from(activity)];
        of.endpoints[usize::from(endpoint)] = None;
        let (tile, reaches) = (of.tile, of.reaches[usize::from(endpoint)].take());
        let is_lost = self.root.lost.has(tile);
        let unit = self.tiles.unit.filter(|_| !is_lost);
        if unit.is_none_or(|unit| unit.clear_remote(tile, endpoint.into()).is_err()) {
            self.lose_tile(tile, reaches);
        }
    }

    /// A capability for the accelerator's gate.
    pub fn derive_gate(&mut self, caller: Caller, number: u64) -> Answer {
        let (place, activity) = self.activity(caller, number)?;
        self.grant(caller.process, Object::ActivityGate(activity), Some(place))
    }

    /// Where messages for an accelerator go.
    pub fn gate_of(&self, activity: u8) -> (u16, u16, u16) {
        let tile = self.root.activities.0[usize::from(activity)].tile;
        (tile, REQUESTS, in_units(activity))
    }

    /// A capability for its local memory.
    pub fn derive_local_memory(&mut self, caller: Caller, number: u64) -> Answer {
        let (place, activity) = self.activity(caller, number)?;
        let tile = self.root.activities.0[usize::from(activity)].tile;
        let facts = self.root.tiles.get(tile.into()).ok_or(Error::NotFound)?;
        let memory = Memory::of(tile, facts.base, facts.size);
        self.grant(caller.process, Object::Memory(memory), Some(place))
    }

    /// An accelerator begins.
    pub fn start_activity(&mut self, caller: Caller, number: u64, input: u64) -> Answer {
        let (_, activity) = self.activity(caller, number)?;
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        if input > 1 {
            return Err(Error::Invalid);
        }
        let of = &mut self.root.activities.0[usize::from(activity)];
        if of.phase != Phase::New {
            return Err(Error::Busy);
        }
        unit.write_registers(of.tile, dtu::current(0), &[in_units(activity).into()])?;
        unit.set_accelerator(of.tile, accelerator::INPUT, input)?;
        unit.set_accelerator(of.tile, accelerator::CONTROL, Control::Start as u64)?;
        of.phase = Phase::Runs;
        value(0)
    }

    /// The caller waits for the end of an activity.
    pub fn wait_for_activity(&mut self, caller: Caller, number: u64, until: u64) -> Answer {
        let (_, activity) = self.activity(caller, number)?;
        let of = &mut self.root.activities.0[usize::from(activity)];
        if let Phase::Over(status, fault) = of.phase {
            return Ok(Done::Values(status, fault));
        }
        if is_past(until) {
            return Err(Error::TimedOut);
        }
        self.dispatch.threads.append(&mut of.waiters, caller.thread);
        self.wait(caller.thread, Wait::Activity(activity), until)
    }

    fn first_waiter(&mut self, activity: u8) -> Option<Place> {
        let waiters = self.root.activities.0[usize::from(activity)].waiters;
        self.dispatch.threads.in_list(&waiters).next()
    }

    /// Accelerators tell of their ends.
    pub fn attend_activities(&mut self, unit: Unit) {
        while let Some(message) = unit.fetch(CALLS) {
            unit.acknowledge(CALLS, message.slot);
            self.activity_tells(&message);
        }
    }

    fn activity_tells(&mut self, message: &Message) {
        let activity = message.header.label as usize;
        let Some(of) = self.root.activities.0.get_mut(activity) else {
            return;
        };
        let [status, fault, ..] = message.payload;
        let is_end = [Status::Ended as u64, Status::Failed as u64].contains(&status);
        // A message of an earlier activity may have been on its way.
        let is_its = message.header.activity == in_units(activity as u8);
        if of.phase != Phase::Runs
            || of.tile != u16::from(message.header.tile)
            || !is_its
            || !is_end
        {
            return;
        }
        of.phase = Phase::Over(status, fault);
        while let Some(waiter) = self.first_waiter(activity as u8) {
            self.end_wait(waiter, Ok((status, fault)));
        }
    }

    /// An activity was revoked. What was derived from it is gone.
    pub fn end_activity(&mut self, activity: u8) {
        let place = usize::from(activity);
        while let Some(waiter) = self.first_waiter(activity) {
            self.end_wait(waiter, Err(Error::NotFound));
        }
        let of = self.root.activities.0[place];
        let is_lost = self.root.lost.has(of.tile);
        let unit = self.tiles.unit.filter(|_| !is_lost);
        if unit.is_none_or(|unit| unit.end_module(of.tile).is_err()) {
            self.lose_tile(of.tile, None);
        }
        for endpoint in of.endpoints.into_iter().flatten() {
            self.revoke(endpoint);
        }
        self.root.activities.0[place].phase = Phase::Free;
    }
}
