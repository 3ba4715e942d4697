//! Threads of host programs, which run on harts of the tile (`docs/card.md`). A descriptor from the tile of
//! the host makes a thread, or lets it go on. When the thread leaves its code, its owner gets one.
use core::sync::atomic::Ordering::Relaxed;

use flick_abi::card::hint::GENERAL;
use flick_abi::card::{Error, FOR_EVER, NORMAL_PRIORITY};
use flick_abi::descriptor::{
    DESCRIPTOR_CALL, DESCRIPTOR_FAULT, DESCRIPTOR_RETURN, DESCRIPTOR_SLOTS, DESCRIPTOR_WORDS,
    DESCRIPTOR_YIELD, Descriptor, HOST_ACTIVITY, HOST_ENDPOINT, HOST_MODE, LOG2_DESCRIPTOR_SLOT,
    OWNER_BITS, OWNER_HINTS, OWNER_LEFT, Request,
};
use flick_abi::dtu::{self, Command, CommandWord, Error as UnitError};
use flick_kernel_core::context::Context;
use flick_kernel_core::page_tables::PageTables;
use flick_kernel_core::thread_lines::WATCHED;
use flick_kernel_core::threads::{Place, State, Wait};

use crate::calls::ILLEGAL;
use crate::direct::Direct;
use crate::dtu::{HOST, KERNEL, Unit};
use crate::host_hart::{INVERTED_NX, Owner, REGISTERS, want_harts};
use crate::kernel::{Answer, Caller, Done, Kernel};
use crate::{csr, csr_read, csr_write, float_state};

/// What the kernel hart knows of them besides their records.
#[derive(Debug)]
pub struct Host {
    /// The process of their threads here, which has no memory of its own.
    pub process: u16,
    /// Harts know that threads wait for harts.
    wants_harts: bool,
    /// A page for copies of their memory.
    pub page: u64,
}

impl Host {
    /// None.
    pub const fn new() -> Self {
        Self {
            process: u16::MAX,
            wants_harts: false,
            page: 0,
        }
    }
}

impl Kernel {
    /// The tile serves the host, if it has one, and no program of its own or a root's. False: it does not.
    pub fn begin_host(&mut self, arguments: &str) -> bool {
        let has_program = !cfg!(feature = "root") && !arguments.trim().is_empty();
        if self.map.host.is_none() || has_program {
            return false;
        }
        if !has_host_space() {
            crate::report!(self.console, "kernel: harts have no space of the host\n");
            return false;
        }
        let tables = PageTables::new(self.map.mode, &mut self.frames, &mut Direct).ok();
        let process = tables.and_then(|tables| self.processes.create(None, tables));
        let (Some(process), Some(page)) = (process, self.frames.allocate()) else {
            return false;
        };
        (self.host.process, self.host.page) = (process, page);
        // It never ends.
        self.processes[process].threads = 1;
        true
    }

    /// Takes what the host asks for.
    pub fn attend_host(&mut self, unit: Unit) {
        while unit.has_unread(HOST)
            && let Some(message) = unit.fetch_long(HOST)
        {
            let request = Descriptor::from_words(&message.payload);
            unit.acknowledge(HOST, message.slot);
            self.host_has_asked(unit, &request);
        }
        self.share_harts();
    }

    /// Does what a descriptor asks for, or answers why not.
    fn host_has_asked(&mut self, unit: Unit, request: &Descriptor) {
        if let Err((error, has_owner)) = self.host_asks(unit, request)
            && has_owner
        {
            let answer = Descriptor {
                kind: DESCRIPTOR_RETURN,
                endpoint: 0,
                error: error as u32,
                ..*request
            };
            unit.send_to_host(&answer);
        }
    }

    /// Threads of the host that wait on harts for their owners leave them, if others wait for harts.
    pub fn share_harts(&mut self) {
        let are_wanted = self.dispatch.threads.has_ready();
        if are_wanted == self.host.wants_harts {
            return;
        }
        self.host.wants_harts = are_wanted;
        let waiting = want_harts(are_wanted);
        let all = (0..self.map.harts as u8).filter(|hart| are_wanted && waiting >> hart & 1 != 0);
        let now = csr::time();
        all.for_each(|hart| self.dispatch.drive_out(hart, now, &mut self.harts));
    }

    /// Does what a descriptor asks for. An error: why not, and whether its owner can be told.
    fn host_asks(&mut self, unit: Unit, asked: &Descriptor) -> Result<(), (Error, bool)> {
        let request = asked.request(self.map.tile.0 as u16);
        let request = request.map_err(|bad| (bad.error, bad.has_owner))?;
        let refused = |error| (error, true);
        let owner = Owner::of(asked.owner);
        let is_known = owner.number.load(Relaxed) == asked.owner;
        let place = owner.place.load(Relaxed);
        let state = self.dispatch.threads[place].state;
        if is_known && state != State::Waits(Wait::Owner) {
            // It waits on its hart, perhaps. A child of `fork` ends owners whose code it does not execute.
            let ends = request == Request::End;
            if ends {
                owner.ends.store(true, Relaxed);
            }
            // It waits in a call, as that of a thread that a child of `fork` lacks.
            if ends && matches!(state, State::Waits(_)) {
                self.leave_wait(place);
                self.end_owner(owner);
            }
            if let State::Running(hart) = state {
                let now = csr::time();
                self.dispatch.drive_out(hart, now, &mut self.harts);
            }
            return if ends {
                Ok(())
            } else {
                Err(refused(Error::Busy))
            };
        }
        match request {
            Request::Call {
                returns_to,
                has_floats,
            } => {
                if !is_known {
                    self.new_owner(asked).map_err(refused)?;
                }
                owner.activation.store(asked.activation, Relaxed);
                owner.returns_to.store(returns_to, Relaxed);
                owner.process.store(asked.process, Relaxed);
                let place = owner.place.load(Relaxed);
                let context = self.context(place);
                context.x[..3].copy_from_slice(&[asked.pc, returns_to, asked.sp]);
                context.x[10..18].copy_from_slice(&asked.ints);
                let floats = if has_floats { &asked.floats[..] } else { &[] };
                set_floats(context, floats, asked.fcsr);
                self.wake(place);
            }
            // It has left its hart, and there is none: it goes on on its own tile.
            Request::Return if is_known && owner.is_guest() && !self.has_idle_hart(place) => {
                return Err(refused(Error::Again));
            }
            Request::Resume { is_guest: true, .. }
                if is_known && owner.hint.load(Relaxed) == 0 && !self.has_idle_hart(place) =>
            {
                return Err(refused(Error::Again));
            }
            Request::Return if is_known && owner.activation.load(Relaxed) == asked.activation => {
                let context = self.context(place);
                context.x[0] = asked.pc;
                context.x[10..12].copy_from_slice(&asked.ints[..2]);
                set_floats(context, &asked.floats[..2], asked.fcsr);
                self.wake(place);
            }
            Request::CallInFull {
                registers,
                returns_to,
                is_guest,
                hint,
            } => {
                if !is_known {
                    self.new_owner(asked).map_err(refused)?;
                }
                self.go_on_in_full(unit, asked, (registers, is_guest))
                    .map_err(refused)?;
                let place = owner.place.load(Relaxed);
                owner.returns_to.store(returns_to, Relaxed);
                owner.hint.store(GENERAL, Relaxed);
                if hint != GENERAL {
                    owner.hint.store(self.hint_holds(place, hint), Relaxed);
                }
                self.wake(place);
            }
            Request::Resume {
                registers,
                is_guest,
            } if is_known => {
                self.go_on_in_full(unit, asked, (registers, is_guest))
                    .map_err(refused)?;
                self.wake(place);
            }
            Request::End if is_known => {
                self.end_owner(owner);
            }
            Request::End => {}
            Request::Return | Request::Resume { .. } => return Err(refused(Error::NotFound)),
        }
        Ok(())
    }

    /// An activation goes on with all registers, which are in the memory of its process.
    fn go_on_in_full(
        &mut self,
        unit: Unit,
        asked: &Descriptor,
        (registers, is_guest): (u64, bool),
    ) -> Result<(), Error> {
        let mut words = [0; REGISTERS];
        let copied = unit.copy_from_host(registers, &mut words);
        copied.map_err(|_| Error::BadAddress)?;
        let owner = Owner::of(asked.owner);
        owner.activation.store(asked.activation, Relaxed);
        let guest = if is_guest { asked.activation } else { 0 };
        owner.guest.store(guest, Relaxed);
        owner.process.store(asked.process, Relaxed);
        let place = owner.place.load(Relaxed);
        let context = self.context(place);
        context.set_all(&words);
        Ok(())
    }

    fn new_owner(&mut self, asked: &Descriptor) -> Result<(), Error> {
        if self.host.process == u16::MAX {
            return Err(Error::NotPermitted);
        }
        // Who had the slot before has gone, or will.
        let owner = Owner::of(asked.owner);
        if owner.number.load(Relaxed) != 0 {
            let state = self.dispatch.threads[owner.place.load(Relaxed)].state;
            if let State::Running(hart) = state {
                let now = csr::time();
                self.dispatch.drive_out(hart, now, &mut self.harts);
            }
            if state != State::Waits(Wait::Owner) {
                return Err(Error::Busy);
            }
            self.end_owner(owner);
        }
        let process = self.host.process;
        let place = self.new_thread(process, NORMAL_PRIORITY);
        let place = place.ok_or(Error::NoMemory)?;
        let satp = HOST_MODE << 60 | asked.owner & OWNER_BITS;
        let number = self.dispatch.threads.number(place);
        self.lines[usize::from(place)].begin(number, satp, WATCHED, self.dispatch.harts());
        self.processes[process].threads += 1;
        let thread = &mut self.dispatch.threads[place];
        (thread.is_fresh, thread.is_detached) = (false, true);
        thread.state = State::Waits(Wait::Owner);
        let number = self.processes.number(process);
        let context = self.context(place);
        context.begin();
        context.set_start([0; 4], satp, number);
        (context.f, context.fcsr) = ([0; 32], 0);
        context.status = float_state::CLEAN;
        owner.process.store(asked.process, Relaxed);
        owner.place.store(place, Relaxed);
        owner.number.store(asked.owner, Relaxed);
        Ok(())
    }

    /// The thread of an owner ends, which no hart runs.
    fn end_owner(&mut self, owner: &Owner) {
        owner.number.store(0, Relaxed);
        owner.ends.store(false, Relaxed);
        owner.activation.store(0, Relaxed);
        owner.guest.store(0, Relaxed);
        owner.hint.store(0, Relaxed);
        owner.returns_to.store(0, Relaxed);
        let _: Answer = self.end_thread(owner.place.load(Relaxed), Some(0));
    }

    /// Is it the thread of an owner?
    pub fn is_foreign(&self, place: Place) -> bool {
        self.dispatch.threads[place].process == self.host.process
    }

    fn owner_of(&mut self, place: Place) -> &'static Owner {
        Owner::of(self.context(place).satp)
    }

    /// The thread of an owner has waited for it on its hart, and does not any more. `message`: a descriptor
    /// for another owner has come there, or one that the hart does not understand.
    pub fn foreign_away(&mut self, place: Place, message: u64) -> Answer {
        let owner = self.owner_of(place);
        let mut answer = self.wait(place, Wait::Owner, FOR_EVER);
        if owner.ends.load(Relaxed) {
            self.end_owner(owner);
            answer = Ok(Done::Ended);
        }
        if message != 0
            && let Some(unit) = self.tiles.unit
        {
            // SAFETY: the unit has written a descriptor there, and the hart waits for the answer.
            let words = unsafe { (message as *const [u64; DESCRIPTOR_WORDS]).read_volatile() };
            self.host_has_asked(unit, &Descriptor::from_words(&words));
            // Its owner has ended, perhaps, or runs elsewhere.
            if self.dispatch.threads[place].state != State::Waits(Wait::Owner) {
                answer = Ok(Done::Ended);
            }
        }
        answer
    }

    /// The thread of an owner leaves its code.
    pub fn foreign_exception(&mut self, caller: Caller, cause: u64, value: u64) -> Answer {
        let place = caller.thread;
        let owner = self.owner_of(place);
        if owner.ends.load(Relaxed) {
            self.end_owner(owner);
            return Ok(Done::Ended);
        }
        if cause == OWNER_HINTS {
            owner.hint.store(self.hint_holds(place, value), Relaxed);
            return Ok(Done::GoesOn);
        }
        if cause == ILLEGAL {
            let pc = self.context(place).pc();
            if self.moves_for(caller, pc, value) {
                return Ok(Done::GoesOn);
            }
        }
        let mut left = self.has_left(place);
        match cause {
            INVERTED_NX if value == owner.returns_to.load(Relaxed) => left.kind = DESCRIPTOR_RETURN,
            INVERTED_NX => left.pc = value,
            _ => {
                left.kind = DESCRIPTOR_FAULT;
                (left.error, left.address) = (cause as u32, value);
            }
        }
        // It is away before its owner can answer.
        let answer = self.wait(place, Wait::Owner, FOR_EVER);
        if cause != OWNER_LEFT {
            self.tell_owner(left);
        }
        answer
    }

    /// What says where the thread of an owner has left its code: at its pc.
    fn has_left(&mut self, place: Place) -> Descriptor {
        let owner = self.owner_of(place);
        let context = self.context(place);
        let mut left = Descriptor {
            process: owner.process.load(Relaxed),
            owner: owner.number.load(Relaxed),
            activation: owner.activation.load(Relaxed),
            pc: context.pc(),
            sp: context.x[2],
            fcsr: context.fcsr as u32,
            ..Descriptor::new(DESCRIPTOR_CALL)
        };
        left.ints.copy_from_slice(&context.x[10..18]);
        left.floats.copy_from_slice(&context.f[10..18]);
        left
    }

    /// The hint that keeps a thread on harts, which run it alone from now on.
    pub fn hint_of(&mut self, place: Place) -> Option<u64> {
        let is_foreign = self.is_foreign(place);
        let hint = is_foreign.then(|| self.owner_of(place).hint.load(Relaxed));
        hint.filter(|&hint| hint != 0)
    }

    /// May the thread of an owner run on any hart that is idle?
    fn has_idle_hart(&mut self, place: Place) -> bool {
        let harts = self.allowed(place);
        self.dispatch.idle() & harts != 0
    }

    /// A hart saves its thread for others. If that has another tile of its own, its owner goes on there, and
    /// the thread waits for it. False: the thread stays.
    pub fn yields_to_own_tile(&mut self, hart: u8, place: Place) -> bool {
        if !self.is_foreign(place) || self.dispatch.threads.first_ready(hart).is_none() {
            return false;
        }
        let owner = self.owner_of(place);
        if !owner.is_guest() || owner.ends.load(Relaxed) {
            return false;
        }
        let left = Descriptor {
            kind: DESCRIPTOR_YIELD,
            ..self.has_left(place)
        };
        // As where it leaves its code.
        let _: Answer = self.wait(place, Wait::Owner, FOR_EVER);
        self.tell_owner(left);
        true
    }

    fn tell_owner(&mut self, mut left: Descriptor) {
        left.tile = self.map.tile.0 as u16;
        if let Some(unit) = self.tiles.unit {
            unit.send_to_host(&left);
        }
    }

    /// The hart of a thread is lost. False: the thread is no owner's.
    pub fn owner_lost(&mut self, place: Place) -> bool {
        if !self.is_foreign(place) {
            return false;
        }
        let owner = self.owner_of(place);
        let last = Descriptor {
            process: owner.process.load(Relaxed),
            owner: owner.number.load(Relaxed),
            activation: owner.activation.load(Relaxed),
            error: Error::Dead as u32,
            ..Descriptor::new(DESCRIPTOR_RETURN)
        };
        self.end_owner(owner);
        self.tell_owner(last);
        true
    }
}

/// fa0 and those behind it, and fcsr. The hart loads all, whatever the values are: what that takes does not depend
/// on what is left in registers.
fn set_floats(context: &mut Context, values: &[u64], fcsr: u32) {
    for (place, value) in context.f[10..].iter_mut().zip(values) {
        *place = *value;
    }
    if !values.is_empty() || context.fcsr != u64::from(fcsr) {
        context.fcsr = fcsr.into();
        context.float_harts = 0;
    }
}

/// Does mode 14 stick?
fn has_host_space() -> bool {
    let before = csr_read!(satp);
    // SAFETY: the kernel runs in M mode, which `satp` does not concern.
    unsafe { csr_write!(satp, HOST_MODE << 60) };
    let has = csr_read!(satp) >> 60 == HOST_MODE;
    // SAFETY: as above.
    unsafe { csr_write!(satp, before) };
    has
}

impl Unit {
    /// Endpoints to the tile of the host: for messages, and for the memory of its process.
    pub fn begin_host(&self, tile: u16) {
        let [messages, memory] = self.host_endpoints();
        let to = (tile, HOST_ENDPOINT, HOST_ACTIVITY);
        let credits = (0, DESCRIPTOR_SLOTS.into());
        self.set_long_endpoint(messages, KERNEL, to, credits, LOG2_DESCRIPTOR_SLOT);
        self.set_memory(memory, KERNEL, tile.into());
    }

    /// Sends a descriptor. The host's tile frees its slots by itself, so that a credit comes soon, and
    /// with a credit there is a slot; a card whose host is gone does not wait for it for ever.
    fn send_to_host(&self, descriptor: &Descriptor) {
        let [messages, _] = self.host_endpoints();
        let begin = csr::time();
        while self.credits(messages) == 0 {
            if csr::time() - begin > HOST_PATIENCE {
                return;
            }
        }
        self.start_to_send(messages, &descriptor.words());
    }

    /// Copies words of the host's process: the copy unit, whose faults are errors.
    fn copy_from_host(&self, address: u64, words: &mut [u64; REGISTERS]) -> Result<(), UnitError> {
        let (here, size) = (words.as_mut_ptr().addr() as u64, size_of_val(words) as u64);
        let copied = self.copy_host_memory(Command::Read, address, here, size);
        // The unit has written the words.
        core::hint::black_box(words);
        copied
    }

    /// Copies bytes of the host's process to the kernel's memory, or the other way.
    pub fn copy_host_memory(
        &self,
        command: Command,
        address: u64,
        here: u64,
        size: u64,
    ) -> Result<(), UnitError> {
        let [_, memory] = self.host_endpoints();
        self.finish();
        self.set(dtu::ADDRESS, here);
        self.set(dtu::SIZE, size);
        self.set(dtu::OFFSET, address);
        let copied = self.execute(CommandWord::new(command, memory));
        copied.map(|_| ())
    }
}

/// Ticks after which a message to the host is given up.
const HOST_PATIENCE: u64 = 10_000_000;
