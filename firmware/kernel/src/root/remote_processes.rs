//! Processes of other tiles, which have capabilities as those of the root's tile. Their kernels send their calls by
//! messages, and the kernel hart acts for them. A call that waits is a thread that no hart runs.
use flick_abi::card::remote_call::{
    self, ANSWER_WORDS, CALL_WORDS, CHOSEN, MOST_CARRIED, answer, carried,
};
use flick_abi::card::{Error, MAILBOX_BYTES, NORMAL_PRIORITY, PAGE, RootCall, rights};
use flick_abi::dtu::{Command, Endpoint, SendEndpoint, SlotRecord, slot_record};
use flick_kernel_core::capabilities::OWNERS;
use flick_kernel_core::threads::Place;

use super::activities::of_units;
use super::core_programs::{LOST, ended};
use super::core_tiles::{EndpointUse, PROCESSES};
use super::forwarding::{Outcome, Requester};
use super::gates::SLOTS;
use super::{Memory, Object};
use crate::dtu::{
    KERNEL, LOG2_REQUEST, LONGEST, MOST_TILES, Message, Payload, REMOTE, Unit, next_activity,
};
use crate::hart_unit::note;
use crate::kernel::{Answer, Caller, Done, Kernel, value};
use flick_abi::card::remote_call::FROM_ROOT;

/// What the program counter of a thread is that stands for a call: [`Kernel::restart`] changes it.
const CALLED: u64 = 4;
/// Bytes of a window for what a call carries.
const WINDOW: u64 = 256;
const _: () = assert!(MOST_CARRIED <= WINDOW as usize);
const _: () = assert!(MAILBOX_BYTES <= MOST_CARRIED);
/// The account of the first tile's processes: those of processes are below.
const LAST_ACCOUNT: u16 = OWNERS as u16 - 1;
const _: () = assert!(crate::processes::PROCESSES + MOST_TILES as usize <= OWNERS);
/// Calls that are served one after the other, before calls of this tile's harts.
const AT_ONCE: usize = 8;
/// Words of the longest answer.
const ANSWER: usize = ANSWER_WORDS + MAILBOX_BYTES / 8;

/// A process of another tile.
#[derive(Clone, Copy, Debug)]
pub struct RemoteProcess {
    /// Its number there.
    number: u64,
    /// Its place in the table of processes.
    owner: u16,
    /// That of its endpoints for memory.
    activity: u16,
}

/// A call of such a process that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    thread: Place,
    owner: u16,
    /// What its answer carries.
    label: u64,
    has_got: bool,
}

/// A call that has come.
struct Called {
    core: u8,
    /// The slot of its message.
    slot: u8,
    label: u64,
    /// Whose it is: the process's number there.
    process: u64,
    number: u64,
    why: u64,
    arguments: [u64; 6],
}

/// How a call ends: a kind of [`answer`], and two values.
struct Ended(u64, [u64; 2]);

impl From<Answer> for Ended {
    fn from(done: Answer) -> Self {
        match done {
            Ok(Done::Values(a0, a1)) => Self(answer::VALUES, [a0, a1]),
            Ok(_) | Err(Error::Again) => Self(answer::AGAIN, [0; 2]),
            Err(error) => Self(answer::VALUES, [error.to_register(), 0]),
        }
    }
}

impl Kernel {
    /// Calls of programs of other tiles have come.
    #[cold]
    #[inline(never)]
    pub fn attend_core_tiles(&mut self, unit: Unit) {
        // Programs of this tile call, too, however many there come.
        for _ in 0..AT_ONCE {
            if unit.events() >> REMOTE & 1 == 0 {
                break;
            }
            if let Some(message) = unit.fetch_long::<LONGEST>(REMOTE) {
                self.serve_remote(unit, &message);
            }
        }
    }

    fn serve_remote(&mut self, unit: Unit, message: &Message<LONGEST>) {
        // The root has given the tile this label, so that a tile cannot call for another one.
        let core = message.header.label as u8;
        let [first, a0, a1, a2, a3, a4, a5, ..] = message.payload;
        let called = Called {
            core,
            slot: message.slot,
            label: message.header.answer_label,
            process: first >> 32,
            number: first & 0xff,
            why: first >> 8 & 0xff,
            arguments: [a0, a1, a2, a3, a4, a5],
        };
        let is_known = self.root.cores.is_good(core);
        let ended = match (is_known, RootCall::from_number(called.number)) {
            (false, _) => Some(Err(Error::Dead).into()),
            (_, Some(call)) => self.execute_remote(call, &called, &message.payload[CALL_WORDS..]),
            (_, None) => {
                if called.number == remote_call::ENDED {
                    self.end_remote(core, called.process, ended(called.arguments[0]));
                }
                let is_good = called.number >= remote_call::SWITCH;
                Some(Ended::from(if is_good {
                    value(0)
                } else {
                    Err(Error::NoCall)
                }))
            }
        };
        match ended {
            None => unit.acknowledge(REMOTE, called.slot),
            Some(Ended(kind, [a0, a1])) => {
                let words = [a0, a1, kind];
                self.answer_now(unit, called.slot, &words);
            }
        }
        self.tell_core_tiles();
    }

    fn answer_now(&self, unit: Unit, slot: u8, words: &[u64]) {
        if unit.answer_at(REMOTE, slot, words).is_err() {
            // Its kernel has no room, or does not answer: it gets no answer.
            unit.acknowledge(REMOTE, slot);
        }
    }

    /// The process of another tile, which is made with its first call.
    fn remote_process(&mut self, core: u8, number: u64) -> Result<RemoteProcess, Error> {
        match self.known_process(core, number) {
            Some(known) => Ok(known),
            // The root has ended it, and it does not know that yet.
            None if number & CHOSEN != 0 => Err(Error::Dead),
            None => self.new_remote_process(core, number),
        }
    }

    fn known_process(&self, core: u8, number: u64) -> Option<RemoteProcess> {
        let mut all = self.root.cores.get(core)?.processes.iter().flatten();
        all.find(|process| process.number == number).copied()
    }

    /// The place of a process of another tile in the table of processes.
    pub fn remote_owner(&self, core: u8, number: u64) -> Option<u16> {
        self.known_process(core, number).map(|known| known.owner)
    }

    /// A process that has not begun is of another tile from now on. False: that has no room.
    pub fn move_remote_process(&mut self, (from, to): (u8, u8), number: u64) -> bool {
        let Some(moved) = self.known_process(from, number) else {
            return false;
        };
        let account = LAST_ACCOUNT - u16::from(to);
        let Some(of) = self.root.cores.get_mut(to) else {
            return false;
        };
        let window = of.window;
        let Some(place) = of.processes.iter_mut().find(|place| place.is_none()) else {
            return false;
        };
        if !self.root.capabilities.move_account(moved.owner, account) {
            return false;
        }
        *place = Some(moved);
        self.processes.set_window(moved.owner, window);
        if let Some(of) = self.root.cores.get_mut(from) {
            let mut all = of.processes.iter_mut();
            let place = all.find(|place| place.is_some_and(|of| of.number == number));
            place.map(Option::take);
        }
        true
    }

    /// A process of another tile that has no capabilities yet.
    pub fn new_remote_process(&mut self, core: u8, number: u64) -> Result<RemoteProcess, Error> {
        let of = self.root.cores.get(core).ok_or(Error::Dead)?;
        let window = of.window;
        let place = of.processes.iter().position(Option::is_none);
        let place = place.ok_or(Error::NoMemory)?;
        let owner = self.processes.create_remote(window);
        let owner = owner.ok_or(Error::NoMemory)?;
        // All of a tile have as many capabilities as one process, since their kernel can make any number of them.
        self.root
            .capabilities
            .set_account(owner, LAST_ACCOUNT - u16::from(core));
        let made = RemoteProcess {
            number,
            owner,
            activity: next_activity(&mut self.tiles.activities),
        };
        if let Some(of) = self.root.cores.get_mut(core) {
            of.processes[place] = Some(made);
        }
        Ok(made)
    }

    /// Executes a call. `None`: it waits.
    fn execute_remote(&mut self, call: RootCall, called: &Called, given: &[u64]) -> Option<Ended> {
        match self.try_remote(call, called, given) {
            Ok(ended) => ended,
            // A call that has room later says so itself: the program gets this one.
            Err(Error::Again) => Some(Ended(answer::VALUES, [Error::Again.to_register(), 0])),
            Err(error) => Some(Err(error).into()),
        }
    }

    fn try_remote(
        &mut self,
        call: RootCall,
        called: &Called,
        given: &[u64],
    ) -> Result<Option<Ended>, Error> {
        let process = self.remote_process(called.core, called.process)?;
        let of = self.root.cores.get(called.core).ok_or(Error::Dead)?;
        let window = of.window;
        let place = of.waiting.iter().position(Option::is_none);
        let place = place.ok_or(Error::Again)?;
        let offset = place as u64 * WINDOW;
        let mut arguments = called.arguments;
        let carried = carried(call);
        if let Some((at, size)) = carried.given {
            let size = arguments[size];
            if size > MOST_CARRIED as u64 {
                return Err(Error::Invalid);
            }
            arguments[at] = offset;
            let to = of.window + offset;
            for (n, word) in given.iter().take(size.div_ceil(8) as usize).enumerate() {
                // SAFETY: the window is the kernel hart's alone, and has room for that.
                unsafe { ((to + 8 * n as u64) as *mut u64).write(*word) };
            }
        }
        if let Some(at) = carried.got {
            arguments[at] = offset;
            // What calls of other processes have left there is not answered.
            let first = carried
                .given
                .map_or(0, |(_, size)| arguments[size].div_ceil(8));
            for n in first..MAILBOX_BYTES as u64 / 8 {
                // SAFETY: as above.
                unsafe { ((window + offset + 8 * n) as *mut u64).write(0) };
            }
        }
        let thread = self.stand_in(process.owner)?;
        let caller = Caller::of_process(thread, process.owner);
        let ended = self.call_for(caller, call, called, (process, arguments));
        let Some(ended) = ended else {
            let waiting = Waiting {
                thread,
                owner: process.owner,
                label: called.label,
                has_got: carried.got.is_some(),
            };
            if let Some(of) = self.root.cores.get_mut(called.core) {
                of.waiting[place] = Some(waiting);
            }
            return Ok(None);
        };
        self.end_stand_in(thread);
        Ok(Some(ended))
    }

    /// A thread that stands for a call, and that no hart may run.
    fn stand_in(&mut self, owner: u16) -> Result<Place, Error> {
        let thread = self
            .new_thread(owner, NORMAL_PRIORITY)
            .ok_or(Error::NoMemory)?;
        self.dispatch.threads[thread].harts = 0;
        let context = self.context(thread);
        context.begin();
        context.x[0] = CALLED;
        Ok(thread)
    }

    fn end_stand_in(&mut self, thread: Place) {
        let context = self.dispatch.threads[thread].context;
        self.contexts.free(context);
        self.dispatch.threads.remove(thread);
    }

    fn call_for(
        &mut self,
        caller: Caller,
        call: RootCall,
        called: &Called,
        (process, arguments): (RemoteProcess, [u64; 6]),
    ) -> Option<Ended> {
        let own = (called.core, process);
        if call == RootCall::GateCall {
            self.part_neighbours(caller, called.core, (called.process, arguments[0]));
        }
        let done = match call {
            RootCall::GateCreate => self.create_remote_gate(own, arguments[0]),
            RootCall::GateSend => self.send_for(caller, own, arguments, called.why),
            RootCall::GateAnswer => self.answer_for(caller, called, arguments),
            RootCall::GateReceive => Err(self.no_gate(caller, arguments[0])),
            RootCall::TileLoad => self.copy_for(caller, own, arguments, rights::READ, called.why),
            RootCall::TileStore => self.copy_for(caller, own, arguments, rights::WRITE, called.why),
            RootCall::CapabilityGive => self.give_in_tile(caller, called.core, arguments),
            _ => match self.root_call(caller, call, arguments, note::NOTHING) {
                Ok(Done::Waits) => return None,
                // Other errors of this number are the program's.
                Err(Error::Again) => Ok(Ended(answer::VALUES, [Error::Again.to_register(), 0])),
                done => Ok(done.into()),
            },
        };
        Some(done.unwrap_or_else(|error| Err(error).into()))
    }

    fn create_remote_gate(
        &mut self,
        (core, process): (u8, RemoteProcess),
        page: u64,
    ) -> Result<Ended, Error> {
        let slots = (LOG2_REQUEST, SLOTS as u8);
        let (number, endpoint, activity) =
            self.add_core_gate((core, process.owner), page, slots)?;
        let place = u64::from(endpoint) | u64::from(activity) << 16;
        Ok(Ended(answer::GATE, [number, place]))
    }

    /// What is wrong with a gate that the tile's kernel does not know.
    fn no_gate(&self, caller: Caller, number: u64) -> Error {
        match self.capability(caller, number) {
            Ok((_, Object::CoreGate(..))) | Err(_) => Error::NotFound,
            Ok(_) => Error::Invalid,
        }
    }

    /// The endpoint and activity of a gate of the caller.
    fn gate_for(&self, caller: Caller, core: u8, number: u64) -> Result<(u8, u16), Error> {
        match self.capability(caller, number)?.1 {
            Object::CoreGate(at, endpoint) if at == core => {
                let gate = self.root.cores.gate(core, endpoint);
                Ok((endpoint, gate.ok_or(Error::NotFound)?.2))
            }
            _ => Err(Error::Invalid),
        }
    }

    /// `gate_send`: the tile gets an endpoint by which its harts send.
    fn send_for(
        &mut self,
        caller: Caller,
        (core, process): (u8, RemoteProcess),
        arguments: [u64; 6],
        why: u64,
    ) -> Result<Ended, Error> {
        let [number, message, size, answers, label, _] = arguments;
        let (place, object) = self.capability(caller, number)?;
        let Object::Sender(sender) = object else {
            return Err(Error::Invalid);
        };
        let sender = self.sender_now(sender);
        let (answered, activity) = self.gate_for(caller, core, answers)?;
        let of = self.root.cores.get(core).ok_or(Error::Dead)?;
        let endpoint = Endpoint::Send(SendEndpoint {
            activity,
            tile: sender.tile,
            endpoint: sender.endpoint,
            receiver: sender.receiver,
            label: sender.label,
            credits: sender.credits,
            most_credits: sender.credits,
            log2_message: LOG2_REQUEST,
        });
        let own = match of.endpoint_of(place) {
            Some((own, EndpointUse::Sender { activity: of, .. })) if of == activity => own,
            Some((
                _,
                EndpointUse::Sender {
                    gate,
                    activity: of,
                    own,
                    ..
                },
            )) => {
                let before = self.root.cores.gate(core, gate);
                if before.is_some_and(|(_, _, activity)| activity == of) {
                    return Err(Error::Busy);
                }
                self.revoke(own);
                return Ok(Ended(answer::AGAIN, [0; 2]));
            }
            _ => {
                let of = |own| EndpointUse::Sender {
                    source: place,
                    own,
                    gate: answered,
                    activity,
                };
                let owner = (core, process.owner);
                match self.add_core_endpoint(owner, place, endpoint, &of) {
                    Ok(own) => own,
                    Err(error) => return Ok(Err(error).into()),
                }
            }
        };
        if why == note::GONE {
            let activity_there = of_units(sender.receiver).ok_or(Error::Dead)?;
            let mut words = [0; MOST_CARRIED / 8];
            if !size.is_multiple_of(8) {
                return Err(Error::Invalid);
            }
            let words = words.get_mut(..size as usize / 8).ok_or(Error::Invalid)?;
            self.load_words(caller, message, words)?;
            let from = Requester {
                tile: self.root.cores.get(core).ok_or(Error::Dead)?.tile,
                endpoint: own.into(),
                activity,
                answer: answered.into(),
                answer_label: label,
                label: sender.label,
            };
            let left = self.leave_request((activity_there, sender.endpoint), &from, words);
            let moved = left == Outcome::Again && self.is_current(activity_there);
            // A message that was refused has taken a credit, which is back. Messages to gates of programs are never
            // refused so, whatever the tile says.
            self.renew_core_endpoint(core, own, endpoint)?;
            if moved {
                return Ok(Ended(answer::AGAIN, [0; 2]));
            }
            return left.for_caller().map(|()| Ended(answer::VALUES, [0; 2]));
        }
        let small = u64::from(own) | u64::from(answered) << 8 | u64::from(activity) << 16;
        Ok(Ended(answer::ENDPOINT, [small, answers]))
    }

    /// `gate_answer` to an activity without a turn: the answer is left for it.
    fn answer_for(
        &mut self,
        caller: Caller,
        called: &Called,
        [number, slot, message, size, ..]: [u64; 6],
    ) -> Result<Ended, Error> {
        let (endpoint, activity) = self
            .gate_for(caller, called.core, number)
            .map_err(|_| self.no_gate(caller, number))?;
        if called.why != note::GONE || slot >= SLOTS {
            return Err(Error::Invalid);
        }
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let tile = self.root.cores.get(called.core).ok_or(Error::Dead)?.tile;
        let mut payload = Payload::default();
        let words = self.load_message(caller, (message, size), &mut payload)?;
        // The unit knows who has asked. Its kernel could say anything.
        let mut record = [0; 4];
        unit.read_registers(tile, slot_record(endpoint.into(), slot as u8), &mut record)?;
        let asked = SlotRecord::from_words(record).ok_or(Error::Invalid)?;
        let by = flick_abi::dtu::Header {
            tile: tile as u8,
            endpoint,
            activity,
            ..flick_abi::dtu::Header::from_bytes(&[0; flick_abi::dtu::HEADER_SIZE])
        };
        match self.leave_answer(&asked, by, &payload[..words]) {
            Outcome::Done => Ok(Ended(answer::VALUES, [0; 2])),
            Outcome::Gone | Outcome::TooLong => Err(Error::Dead),
            Outcome::Again => {
                // Who has asked may be on another tile now.
                let at = slot_record(endpoint.into(), slot as u8);
                self.mend_record(unit, (tile, at), &asked)?;
                Ok(Ended(answer::AGAIN, [0; 2]))
            }
        }
    }

    /// `tile_load` and `tile_store`: the tile gets an endpoint by which its harts copy.
    fn copy_for(
        &mut self,
        caller: Caller,
        (core, process): (u8, RemoteProcess),
        [number, offset, there, size, ..]: [u64; 6],
        right: u64,
        why: u64,
    ) -> Result<Ended, Error> {
        let (place, object) = self.capability(caller, number)?;
        let Object::Memory(memory) = self.root.views.seen(object) else {
            return Err(Error::Invalid);
        };
        // An activity may have moved since the endpoint was set up.
        let memory = self.memory_now(memory);
        memory.check(offset, size)?;
        if !memory.has(right) {
            return Err(Error::NotPermitted);
        }
        if size == 0 {
            return Ok(Ended(answer::VALUES, [0; 2]));
        }
        let of = self.root.cores.get(core).ok_or(Error::Dead)?;
        let found = of.endpoint_of(place);
        if why == note::FAILED {
            if let Some((own, EndpointUse::Memory { activity, .. })) = found
                && memory.owner() != 0
            {
                self.renew_core_endpoint(core, own, memory.endpoint(activity))?;
            }
            self.copy_through((core, there), (&memory, offset), size, right)?;
            return Ok(Ended(answer::VALUES, [0; 2]));
        }
        let activity = process.activity;
        let view = match object {
            Object::View(view, _) => Some(view),
            _ => None,
        };
        let own = match found {
            Some((own, _)) => own,
            None => {
                let of = |own| EndpointUse::Memory {
                    source: place,
                    own,
                    view,
                    activity,
                };
                let owner = (core, process.owner);
                match self.add_core_endpoint(owner, place, memory.endpoint(activity), &of) {
                    Ok(own) => own,
                    Err(error) => return Ok(Err(error).into()),
                }
            }
        };
        let small = u64::from(own) | u64::from(activity) << 16;
        Ok(Ended(answer::ENDPOINT, [small, 0]))
    }

    /// The tile's unit cannot copy, as between its memory and that of an activity without a turn.
    fn copy_through(
        &mut self,
        (core, there): (u8, u64),
        (memory, offset): (&Memory, u64),
        size: u64,
        right: u64,
    ) -> Result<(), Error> {
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let of = self.root.cores.get(core).ok_or(Error::Dead)?;
        if !of.has_memory(there, size) || size > PAGE {
            return Err(Error::Invalid);
        }
        let tile = of.tile;
        let page = self.frames.allocate().ok_or(Error::NoMemory)?;
        let at = (memory.tile, memory.address + offset);
        let image = self.image_of(memory).map(|image| image + offset);
        let here = image.unwrap_or(page);
        let copied = match (right, image) {
            (rights::READ, None) => unit.move_memory(Command::Read, at, here, size),
            (rights::READ, Some(_)) => Ok(()),
            _ => unit.move_memory(Command::Read, (tile, there), here, size),
        };
        let copied = copied.and_then(|()| match (right, image) {
            (rights::READ, _) => unit.move_memory(Command::Write, (tile, there), here, size),
            (_, None) => unit.move_memory(Command::Write, at, here, size),
            (_, Some(_)) => Ok(()),
        });
        self.frames.free(page);
        Ok(copied?)
    }

    /// `capability_give`. That both are parent and child is known to their kernel, which both have to trust.
    fn give_in_tile(
        &mut self,
        caller: Caller,
        core: u8,
        [number, process, ..]: [u64; 6],
    ) -> Result<Ended, Error> {
        let (place, object) = self.capability(caller, number)?;
        let to = self.remote_process(core, process)?;
        Ok(self.give_to(to.owner, place, object).into())
    }

    /// A call waits no longer: its process gets the values, or makes it again.
    #[cold]
    #[inline(never)]
    pub fn answer_remote(&mut self, thread: Place) {
        let mut found = None;
        for (core, of) in self.root.cores.all.iter_mut().enumerate() {
            let is_it = |waiting: &Option<Waiting>| waiting.is_some_and(|of| of.thread == thread);
            if let Some(place) = of.waiting.iter().position(is_it) {
                found = of.waiting[place]
                    .take()
                    .map(|waiting| (core, place, waiting));
                break;
            }
        }
        let context = self.context(thread);
        let is_again = context.x[0] != CALLED;
        let [a0, a1] = [context.x[10], context.x[11]];
        self.end_stand_in(thread);
        let Some((core, place, waiting)) = found else {
            return;
        };
        let of = &self.root.cores.all[core];
        let mut words = [0; ANSWER];
        words[..ANSWER_WORDS].copy_from_slice(&match is_again {
            true => [0, 0, answer::AGAIN],
            false => [a0, a1, answer::VALUES],
        });
        let has_got = waiting.has_got && !is_again && (a0 as i64) >= 0;
        let count = ANSWER_WORDS + if has_got { MAILBOX_BYTES / 8 } else { 0 };
        let from = of.window + place as u64 * WINDOW;
        for (n, word) in words[ANSWER_WORDS..count].iter_mut().enumerate() {
            // SAFETY: the window is the kernel hart's alone.
            *word = unsafe { ((from + 8 * n as u64) as *const u64).read() };
        }
        if !of.is_good() {
            return;
        }
        let to = (of.tile, FROM_ROOT, KERNEL);
        // A kernel without room for its answers does not get them.
        let _: Result<(), _> = self.send_to_gate(to, waiting.label, &words[..count]);
    }

    /// A process of another tile has ended so: so does all that it has.
    pub fn end_remote(&mut self, core: u8, number: u64, how: (u64, u64)) {
        let Some(of) = self.root.cores.get_mut(core) else {
            return;
        };
        let is_it = |process: &Option<RemoteProcess>| process.is_some_and(|p| p.number == number);
        let Some(place) = of.processes.iter().position(is_it) else {
            return;
        };
        let Some(RemoteProcess { owner, .. }) = of.processes[place].take() else {
            return;
        };
        while let Some(thread) = self.waiting_of(core, owner) {
            self.end_wait(thread, Err(Error::Dead));
        }
        self.revoke_all(owner);
        self.root.capabilities.set_account(owner, owner);
        self.processes.remove(owner);
        self.program_has_ended(core, number, how);
        self.steal_for(core);
    }

    fn waiting_of(&self, core: u8, owner: u16) -> Option<Place> {
        let mut all = self.root.cores.get(core)?.waiting.iter().flatten();
        let waiting = all.find(|waiting| waiting.owner == owner)?;
        Some(waiting.thread)
    }

    /// All processes of a tile end.
    pub fn end_core_tile(&mut self, core: u8) {
        for place in 0..PROCESSES {
            let of = self.root.cores.get(core);
            let process = of.and_then(|of| of.processes[place]);
            if let Some(process) = process {
                self.end_remote(core, process.number, LOST);
            }
        }
        self.forget_programs(core);
    }
}
