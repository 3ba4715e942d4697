//! Activities of accelerators, as programs make them, connect them and wait for them.
use core::ops::{Index, IndexMut};

use flick_abi::accelerator::{self, LOG2_SLOT, REQUESTS};
use flick_abi::card::Error;
use flick_abi::dtu::{ACCELERATOR_REGISTERS, Endpoint, SendEndpoint};
use flick_kernel_core::capabilities;
use flick_kernel_core::threads::{List, Place, Wait};

use super::activity_image::{ENDPOINTS, Image, wants_memory};
use super::core_programs::is_of_program;
use super::lost_tiles::Range;
use super::remote::NoAnswer;
use super::tile_table::TileFacts;
use super::turn_order::NOBODY;
use super::{Memory, Object, Root};
use crate::kernel::{Answer, Caller, Done, Kernel, is_past, value};

/// The number of the first activity in the units: those of mailboxes are below.
const FIRST: u16 = 0xe000;
/// Activities of all accelerators, at most.
pub const MOST: usize = 0x1000;
/// The number in a unit whose activity was revoked, until its module has stopped.
pub const DRAINS: u16 = FIRST - 1;

/// The register with the blocks that an accelerator has computed.
const BLOCKS: u64 = ACCELERATOR_REGISTERS + accelerator::BLOCKS;

/// What an activity does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Free,
    New,
    /// It waits for its turn.
    Ready,
    /// It has its tile.
    Runs,
    /// It waits for a message of one of these endpoints.
    Waits(u64),
    /// It has ended with this status and error.
    Over(u64, u64),
}

/// An activity of an accelerator.
#[derive(Clone, Copy, Debug)]
pub struct Activity {
    pub phase: Phase,
    /// The place of its tile in the table of tiles.
    pub place: u8,
    /// It has had a turn.
    pub has_begun: bool,
    /// The activity that sends to it has no turn.
    pub is_starved: bool,
    /// It waits for the answer of one without a turn that is on the same tile.
    pub lets_answer: bool,
    /// The group that it belongs to.
    pub group: Option<u8>,
    /// When it had nothing to do for long, as a member.
    pub idle_at: u64,
    /// It may have its turn on another tile of the same kind.
    pub may_move: bool,
    /// Of those that wait for their turn: the next one.
    pub next: u16,
    pub image: Image,
    /// The capabilities by which endpoints are set up.
    endpoints: [Option<capabilities::Place>; ENDPOINTS],
    /// Threads that wait for its end.
    waiters: List,
}

impl Activity {
    /// None.
    pub const FREE: Self = Self {
        phase: Phase::Free,
        place: 0,
        has_begun: false,
        is_starved: false,
        lets_answer: false,
        group: None,
        idle_at: 0,
        may_move: false,
        next: NOBODY,
        image: Image::NONE,
        endpoints: [None; ENDPOINTS],
        waiters: List::EMPTY,
    };
}

/// All of them.
#[derive(Debug)]
pub struct Activities(pub &'static mut [Activity]);

impl Activities {
    /// None.
    pub const fn new() -> Self {
        Self(&mut [])
    }

    /// Whether there is one of this number.
    pub fn is_used(&self, activity: u16) -> bool {
        let of = self.0.get(usize::from(activity));
        of.is_some_and(|of| of.phase != Phase::Free)
    }
}

impl Index<u16> for Activities {
    type Output = Activity;

    fn index(&self, activity: u16) -> &Activity {
        &self.0[usize::from(activity)]
    }
}

impl IndexMut<u16> for Activities {
    fn index_mut(&mut self, activity: u16) -> &mut Activity {
        &mut self.0[usize::from(activity)]
    }
}

/// The number of an activity in the units.
pub const fn in_units(activity: u16) -> u16 {
    FIRST + activity
}

/// The activity with this number in the units.
pub fn of_units(number: u16) -> Option<u16> {
    let activity = number.checked_sub(FIRST)?;
    (usize::from(activity) < MOST).then_some(activity)
}

impl Root {
    /// The list of threads that wait for the end of an activity.
    pub fn waiters(&mut self, activity: u16) -> &mut List {
        if is_of_program(activity) {
            return self.program_waiters(activity);
        }
        &mut self.activities[activity].waiters
    }
}

impl Kernel {
    /// The tile of an activity.
    pub fn facts_of(&self, activity: u16) -> TileFacts {
        *self.root.tiles.at(self.root.activities[activity].place)
    }

    /// Its number.
    pub fn tile_of(&self, activity: u16) -> u16 {
        self.facts_of(activity).tile
    }

    /// An activity of an accelerator.
    pub fn create_activity(&mut self, caller: Caller, tile: u64) -> Answer {
        if !self.map.is_coherent {
            return Err(Error::NoCall);
        }
        if let Some(core) = u16::try_from(tile)
            .ok()
            .and_then(|n| self.root.cores.place(n))
        {
            return self.create_program(caller, core);
        }
        let place = self.root.tiles.place(tile).ok_or(Error::NotFound)?;
        let facts = *self.root.tiles.at(place);
        if facts.is_memory() {
            return Err(Error::NotFound);
        }
        let all = &self.root.activities.0;
        let number = all.iter().position(|other| other.phase == Phase::Free);
        let number = number.ok_or(Error::NoMemory)? as u16;
        let mut image = Image::create(&facts, &mut self.frames).ok_or(Error::NoMemory)?;
        image.begin(self.map.tile.0 as u16, number, in_units(number));
        let granted = self.grant(caller.process, Object::Activity(number), None);
        if granted.is_err() {
            image.free(&mut self.frames);
            return granted;
        }
        self.root.activities[number] = Activity {
            phase: Phase::New,
            place,
            image,
            ..Activity::FREE
        };
        granted
    }

    pub fn activity(&self, caller: Caller, number: u64) -> Result<(u16, u16), Error> {
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
        let is_memory = wants_memory(&self.facts_of(activity), endpoint).ok_or(Error::Invalid)?;
        let (source, object) = self.capability(caller, by)?;
        let owner = in_units(activity);
        let words = match self.root.views.seen(object) {
            Object::Memory(memory) if is_memory => self.memory_now(memory).endpoint(owner),
            Object::Sender(sender) if !is_memory => Endpoint::Send(SendEndpoint {
                activity: owner,
                tile: self.tile_now(sender.receiver, sender.tile),
                endpoint: sender.endpoint,
                receiver: sender.receiver,
                label: sender.label,
                credits: sender.credits,
                most_credits: sender.credits,
                log2_message: LOG2_SLOT,
            }),
            _ => return Err(Error::Invalid),
        };
        let n = endpoint as usize;
        if let Some(before) = self.root.activities[activity].endpoints[n] {
            self.revoke(before);
        }
        let shown = object;
        let object = Object::Endpoint(activity, endpoint as u8);
        let set_up = self
            .root
            .capabilities
            .add(caller.process, object, Some(source));
        let set_up = set_up.ok_or(Error::NoMemory)?;
        self.root.activities[activity].endpoints[n] = Some(set_up);
        if let Err(error) = self.root.views.note(shown, (activity, endpoint as u8)) {
            self.revoke(set_up);
            return Err(error);
        }
        if self
            .put_endpoint(activity, endpoint as u16, Some(words))
            .is_err()
        {
            self.revoke(set_up);
            return Err(Error::Failed);
        }
        value(0)
    }

    /// An endpoint that was set up by memory reaches other memory from now on.
    pub fn renew_endpoint(
        &mut self,
        (activity, endpoint): (u16, u8),
        memory: &Memory,
    ) -> Result<(), NoAnswer> {
        let words = self.memory_now(*memory).endpoint(in_units(activity));
        self.put_endpoint(activity, endpoint.into(), Some(words))?;
        // What is under way to the other memory comes to its end, and the module makes its command again.
        match (self.tiles.unit, self.is_current(activity)) {
            (Some(unit), true) => unit.finish_commands(self.tile_of(activity)),
            _ => Ok(()),
        }
    }

    /// An endpoint is another one, in the image, and in the tile if the activity runs.
    pub fn put_endpoint(
        &mut self,
        activity: u16,
        number: u16,
        endpoint: Option<Endpoint>,
    ) -> Result<(), NoAnswer> {
        self.root.activities[activity]
            .image
            .set_endpoint(number, endpoint);
        match (self.tiles.unit, self.is_current(activity)) {
            (Some(unit), true) => unit.set_remote(self.tile_of(activity), number, endpoint),
            _ => Ok(()),
        }
    }

    /// What an endpoint was set up by was revoked. A command that has begun by it ends.
    pub fn clear_endpoint(&mut self, activity: u16, endpoint: u8) {
        let of = &mut self.root.activities[activity];
        of.endpoints[usize::from(endpoint)] = None;
        let reaches = match of.image.endpoint(endpoint.into()) {
            Some(Endpoint::Memory(memory)) if memory.receiver == 0 => Some(Range::of(&memory)),
            _ => None,
        };
        of.image.set_endpoint(endpoint.into(), None);
        let tile = self.tile_of(activity);
        let unit = self.tiles.unit.filter(|_| self.is_current(activity));
        if let Some(unit) = unit
            && (self.root.lost.has(tile) || unit.clear_remote(tile, endpoint.into()).is_err())
        {
            self.lose_tile(tile, reaches);
        }
    }

    /// A capability for the accelerator's gate.
    pub fn derive_gate(&mut self, caller: Caller, number: u64) -> Answer {
        let (place, activity) = self.activity(caller, number)?;
        self.grant(caller.process, Object::ActivityGate(activity), Some(place))
    }

    /// Where messages for an accelerator go.
    pub fn gate_of(&self, activity: u16) -> (u16, u16, u16) {
        (self.tile_of(activity), REQUESTS, in_units(activity))
    }

    /// A capability for its local memory.
    pub fn derive_local_memory(&mut self, caller: Caller, number: u64) -> Answer {
        let (place, activity) = self.activity(caller, number)?;
        let facts = self.facts_of(activity);
        let memory = Memory::local(&facts, in_units(activity));
        self.grant(caller.process, Object::Memory(memory), Some(place))
    }

    /// An accelerator begins.
    pub fn start_activity(&mut self, caller: Caller, number: u64, input: u64) -> Answer {
        let (_, activity) = self.activity(caller, number)?;
        if input > u64::from(!self.facts_of(activity).is_request) {
            return Err(Error::Invalid);
        }
        let of = &mut self.root.activities[activity];
        if of.phase != Phase::New {
            return Err(Error::Busy);
        }
        of.image.set_input(input);
        match of.group {
            None => self.make_ready(activity),
            Some(group) => {
                // It can go on when the group has its turn.
                of.phase = Phase::Waits(0);
                self.consider_group(group);
            }
        }
        value(0)
    }

    /// The caller waits for the end of an activity.
    pub fn wait_for_activity(&mut self, caller: Caller, number: u64, until: u64) -> Answer {
        let (_, activity) = self.activity(caller, number)?;
        let of = &mut self.root.activities[activity];
        if let Phase::Over(status, fault) = of.phase {
            return Ok(Done::Values(status, fault));
        }
        if is_past(until) {
            return Err(Error::TimedOut);
        }
        self.dispatch.threads.append(&mut of.waiters, caller.thread);
        self.wait(caller.thread, Wait::Activity(activity), until)
    }

    /// What an activity does, and its blocks.
    pub fn state_of_activity(&mut self, caller: Caller, number: u64) -> Answer {
        let (_, activity) = self.activity(caller, number)?;
        let state = match self.root.activities[activity].phase {
            Phase::Free | Phase::New => 0,
            Phase::Ready => 1,
            Phase::Runs => 2,
            Phase::Waits(_) => 3,
            Phase::Over(..) => 4,
        };
        let blocks = match (self.tiles.unit, self.is_current(activity)) {
            (Some(unit), true) => unit.read_register(self.tile_of(activity), BLOCKS)?,
            _ => self.root.activities[activity].image.blocks(),
        };
        Ok(Done::Values(state, blocks))
    }

    fn first_waiter(&mut self, activity: u16) -> Option<Place> {
        let waiters = self.root.activities[activity].waiters;
        self.dispatch.threads.in_list(&waiters).next()
    }

    /// An activity is over.
    pub fn end(&mut self, activity: u16, status: u64, fault: u64) {
        self.root.activities[activity].phase = Phase::Over(status, fault);
        while let Some(waiter) = self.first_waiter(activity) {
            self.end_wait(waiter, Ok((status, fault)));
        }
        self.leave_group(activity);
    }

    /// An activity was revoked. What was derived from it is gone.
    pub fn end_activity(&mut self, activity: u16) {
        while let Some(waiter) = self.first_waiter(activity) {
            self.end_wait(waiter, Err(Error::NotFound));
        }
        for endpoint in self.root.activities[activity]
            .endpoints
            .into_iter()
            .flatten()
        {
            self.revoke(endpoint);
        }
        match self.is_current(activity) {
            true => self.drain(activity),
            false => self.leave_turns(activity),
        }
        self.leave_group(activity);
        self.forget_mover(activity);
        let of = core::mem::replace(&mut self.root.activities[activity], Activity::FREE);
        of.image.free(&mut self.frames);
    }
}
