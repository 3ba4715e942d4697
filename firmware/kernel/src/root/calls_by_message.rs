//! Root calls of programs of a tile that the root governs. The tile's kernel does what its unit can do by itself, and
//! sends the other calls to the root (`docs/root.md`).
use flick_abi::card::remote_call::{
    self, ANSWER_WORDS, CALL_WORDS, FROM_ROOT, MOST_CARRIED, NOTICE, TO_ROOT, answer, carried,
    program,
};
use flick_abi::card::{Error, FOR_EVER, MAILBOX_BYTES, PAGE, RootCall, rights};
use flick_abi::dtu::Error as UnitError;
use flick_kernel_core::threads::{Place, State, Wait};

use super::hart_calls::{NO_SLOT, SenderEndpoint, reach_words};
use super::known_rights::{self, Kind};
use crate::csr;
use crate::dtu::{LONGEST, Message, Unit};
use crate::hart_unit::note;
use crate::kernel::{Answer, Caller, Done, Kernel};
use crate::processes::PROCESSES;

/// Calls that wait for the root.
const ASKED: usize = 16;
/// Of which so many leave room for others: those that may wait for long.
const LONG: usize = ASKED - 2;
/// A part of a second, after which the kernel asks whether the root is there.
const PAUSE: u64 = 10;
/// So many times that, the root is not there any more.
const SILENCE: u64 = 3;

/// A call that waits for the root.
#[derive(Clone, Copy, Debug)]
struct AskedCall {
    /// Its place (7:0), and how many were before.
    label: u64,
    thread: u64,
    process: u16,
    call: RootCall,
    /// Where the message goes that it gets.
    got: Option<u64>,
    /// The page of messages of a gate that it makes, or that is copied to or from.
    page: u64,
    /// Of a copy by the root: how much of it is under way.
    part: u64,
    arguments: [u64; 6],
}

/// The bit of a label of an answer to [`remote_call::SWITCH`]; the gate is below.
const SWITCHES: u64 = 1 << 61;
/// The label of answers that nobody waits for.
const NOBODY: u64 = 1 << 60;

/// What the kernel of such a tile knows.
#[derive(Debug)]
pub struct Asked {
    all: [Option<AskedCall>; ASKED],
    /// Places that are used, as bits.
    used: u32,
    before: u64,
    /// Numbers and statuses of processes that have ended, of which the root was not told; and their places, as bits.
    ended: [(u64, u64); PROCESSES],
    untold: u32,
    /// Gates for whose threads the root was asked for a hart, as bits.
    switches: u32,
    /// When the root has said something, and when it was first told something behind that.
    heard_at: u64,
    spoken_at: u64,
    check_at: u64,
    /// It has said something.
    has_begun: bool,
}

impl Asked {
    /// Nothing.
    pub const fn new() -> Self {
        Self {
            all: [None; ASKED],
            used: 0,
            before: 0,
            ended: [(0, 0); PROCESSES],
            untold: 0,
            switches: 0,
            heard_at: 0,
            spoken_at: 0,
            check_at: u64::MAX,
            has_begun: false,
        }
    }

    /// When the root is asked whether it is there.
    pub fn next_check(&self) -> u64 {
        self.check_at
    }

    /// How many gates the root makes for this tile.
    pub fn gates(&self) -> usize {
        let all = self.all.iter().flatten();
        all.filter(|asked| asked.call == RootCall::GateCreate)
            .count()
    }

    /// Was the root not yet told of the end of the process that had this place?
    pub fn is_untold(&self, process: u16) -> bool {
        self.untold >> process & 1 != 0
    }

    fn is_idle(&self) -> bool {
        self.used == 0 && self.untold == 0 && self.switches == 0
    }

    fn put(&mut self, place: usize, call: AskedCall) {
        self.used |= 1 << place;
        self.all[place] = Some(call);
    }

    /// Takes the call of a label.
    fn take(&mut self, label: u64) -> Option<AskedCall> {
        let place = (label & 0xff) as usize;
        let taken = self.all.get_mut(place)?;
        let taken = taken.take_if(|asked| asked.label == label)?;
        self.used &= !(1 << place);
        Some(taken)
    }

    /// The root has taken a message, which it will answer.
    fn note_spoken(&mut self, now: u64) {
        if self.spoken_at <= self.heard_at {
            self.spoken_at = now;
        }
    }

    /// It has not answered for so long.
    fn is_silent(&self, now: u64, limit: u64) -> bool {
        self.spoken_at > self.heard_at && now.saturating_sub(self.spoken_at) > limit
    }

    /// A place for a call.
    fn place(&self, call: RootCall) -> Option<usize> {
        let most = match call {
            RootCall::GateCall | RootCall::ActivityWait | RootCall::SessionOpen => LONG,
            _ => ASKED,
        };
        let is_room = (self.used.count_ones() as usize) < most;
        is_room.then_some(self.used.trailing_ones() as usize)
    }
}

impl Kernel {
    /// A root call of a program of a tile that the root governs, if its hart could not execute it.
    #[cold]
    #[inline(never)]
    pub fn governed_call(
        &mut self,
        caller: Caller,
        call: RootCall,
        arguments: [u64; 6],
        why: u64,
    ) -> Answer {
        let [a0, a1, a2, a3, ..] = arguments;
        let what = why & 0xff;
        match call {
            RootCall::GateReceive if self.own_gate(caller, a0).is_ok() => {
                return self.receive(caller, arguments, why);
            }
            RootCall::GateAnswer if what != note::GONE && self.own_gate(caller, a0).is_ok() => {
                return self.answer_message(caller, arguments, why);
            }
            RootCall::GateAnswerReceive => {
                let [_, slot, _, _, buffer, until] = arguments;
                let is_answered = slot == NO_SLOT;
                if self.own_gate(caller, a0).is_ok() && (is_answered || what != note::GONE) {
                    return self.answer_and_receive(caller, arguments, why);
                }
                // The root answers. The wait is the same call, made again.
                return match is_answered {
                    true => {
                        let wait = [a0, buffer, until, 0, 0, 0];
                        self.governed_call(caller, RootCall::GateReceive, wait, why)
                    }
                    false => {
                        let answer = [a0, slot, a2, a3, 0, 0];
                        self.governed_call(caller, RootCall::GateAnswer, answer, why)
                    }
                };
            }
            RootCall::GateSend if what == note::FAULT => {
                return self.load_again(caller, (a1, a2), why);
            }
            RootCall::TileLoad | RootCall::TileStore if !self.map.is_coherent => {
                return Err(Error::NoCall);
            }
            RootCall::TileLoad | RootCall::TileStore if what == note::FAULT => {
                let right = match call {
                    RootCall::TileLoad => rights::WRITE,
                    _ => rights::READ,
                };
                self.each_piece(caller, a2, a3, right, |_, _, _, _| {})?;
                return Ok(Done::Again);
            }
            _ => {}
        }
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        // There is room for its answer.
        self.attend_root(unit);
        self.ask_root(caller, call, arguments, what)
    }

    fn ask_root(
        &mut self,
        caller: Caller,
        call: RootCall,
        arguments: [u64; 6],
        what: u64,
    ) -> Answer {
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let root = self.map.root.ok_or(Error::Dead)?;
        let Some(place) = self.root.asked.place(call).filter(|_| self.tell_ends(unit)) else {
            return self.wait_among_senders(caller, Wait::Credit(root), FOR_EVER);
        };
        let carried = carried(call);
        let mut words = [0; LONGEST];
        let mut count = CALL_WORDS;
        if let Some((at, size)) = carried.given {
            let (at, size) = (arguments[at], arguments[size]);
            if size > MOST_CARRIED as u64 {
                return Err(Error::Invalid);
            }
            let is_text = matches!(
                call,
                RootCall::TileFind | RootCall::SessionOpen | RootCall::ServiceCreate
            );
            if !is_text && (!size.is_multiple_of(8) || !at.is_multiple_of(8)) {
                return Err(match size.is_multiple_of(8) {
                    true => Error::BadAddress,
                    false => Error::Invalid,
                });
            }
            count += size.div_ceil(8) as usize;
            let to = words[CALL_WORDS..].as_mut_ptr().cast::<u8>();
            self.each_piece(caller, at, size, rights::READ, |_, from, piece, before| {
                // SAFETY: bytes of the process's memory, which have just been resolved, and as many of the message.
                unsafe {
                    core::ptr::copy(from as *const u8, to.add(before as usize), piece as usize);
                }
            })?;
        }
        let got = carried.got.map(|at| arguments[at]);
        if let Some(at) = got {
            // It is refused before the call is made.
            self.store_words(caller, at, &[0; MAILBOX_BYTES / 8])?;
        }
        let (mut sent, mut page, mut part) = (arguments, 0, 0);
        match call {
            RootCall::GateCreate if !self.has_room_for_gate() => return Err(Error::NoMemory),
            RootCall::GateCreate => {
                page = self.frames.allocate().ok_or(Error::NoMemory)?;
                sent[0] = page;
            }
            RootCall::TileLoad | RootCall::TileStore if what == note::FAILED => {
                let right = match call {
                    RootCall::TileLoad => rights::WRITE,
                    _ => rights::READ,
                };
                part = (PAGE - arguments[2] % PAGE).min(arguments[3]);
                self.each_piece(caller, arguments[2], part, right, |kernel, at, _, _| {
                    // It stays as long as the root copies.
                    if kernel.frames.share(at / PAGE * PAGE) {
                        (sent[2], page) = (at, at / PAGE * PAGE);
                    }
                })?;
                if page == 0 {
                    return Err(Error::NoMemory);
                }
                sent[3] = part;
            }
            _ => {}
        }
        if call == RootCall::CapabilityGive {
            let to = self.relative(caller.process, arguments[1]);
            sent[1] = self.number_at_root(to.ok_or(Error::NotFound)?);
        }
        let process = self.number_at_root(caller.process);
        words[0] = call as u64 | what << 8 | process << 32;
        words[1..CALL_WORDS].copy_from_slice(&sent);
        let asked = &mut self.root.asked;
        asked.before += 1;
        let label = place as u64 | asked.before << 8;
        match unit.send_by(TO_ROOT, &words[..count], (FROM_ROOT, label)) {
            Ok(()) => {}
            Err(error) => {
                if page != 0 {
                    self.frames.free(page);
                }
                return self.not_asked(caller, root, error);
            }
        }
        let thread = self.dispatch.threads.number(caller.thread);
        let asked = &mut self.root.asked;
        asked.note_spoken(csr::time());
        let asked_call = AskedCall {
            label,
            thread,
            process: caller.process,
            call,
            got,
            page,
            part,
            arguments,
        };
        asked.put(place, asked_call);
        self.watch_root();
        self.wait(caller.thread, Wait::Root(place as u8), FOR_EVER)
    }

    /// The root has not taken a call.
    fn not_asked(&mut self, caller: Caller, root: u64, error: UnitError) -> Answer {
        let now = csr::time();
        let is_late = now > 4 * self.patience();
        match error {
            UnitError::NoCredits | UnitError::NoSpace
                if !self.root.asked.is_silent(now, self.silence()) => {}
            // It has not begun yet.
            UnitError::NoEndpoint if !self.root.asked.has_begun && !is_late => {}
            _ => return Err(Error::Dead),
        }
        self.wait_among_senders(caller, Wait::Credit(root), FOR_EVER)
    }

    /// Ticks behind which the root is not there any more.
    fn silence(&self) -> u64 {
        SILENCE * self.map.frequency / PAUSE
    }

    fn watch_root(&mut self) {
        let at = csr::time() + self.map.frequency / PAUSE;
        self.root.asked.check_at = self.root.asked.check_at.min(at);
    }

    /// Messages of the root have come.
    #[cold]
    #[inline(never)]
    pub fn attend_root(&mut self, unit: Unit) {
        let mut has_come = false;
        while unit.events() >> FROM_ROOT & 1 != 0
            && let Some(message) = unit.fetch_long::<LONGEST>(FROM_ROOT)
        {
            has_come = true;
            self.root_has_said(unit, &message);
        }
        if has_come {
            self.root.asked.heard_at = csr::time();
            self.root.asked.has_begun = true;
            self.tell_ends(unit);
            self.call_again(|wait| matches!(wait, Wait::Credit(_)));
        }
    }

    fn root_has_said(&mut self, unit: Unit, message: &Message<LONGEST>) {
        let label = message.header.label;
        if label & NOTICE != 0 && !message.header.is_answer() {
            let [gone, what, number, at, size, ..] = message.payload;
            self.endpoints_are_gone(gone);
            let done = self.do_as_root_says([what, number, at, size]);
            let words = match done {
                Ok(value) => [0, value],
                Err(error) => [error as u64, 0],
            };
            // The root has room for it soon. Behind an answer the slot may have the next message already.
            let answer = || unit.answer_at(FROM_ROOT, message.slot, &words);
            let mut answered = answer();
            while answered == Err(UnitError::NoSpace) {
                answered = answer();
            }
            if answered.is_err() {
                unit.acknowledge(FROM_ROOT, message.slot);
            }
            return;
        }
        unit.acknowledge(FROM_ROOT, message.slot);
        if label & SWITCHES != 0 {
            return self.switch(label as u8 % u32::BITS as u8);
        }
        if let Some(asked) = self.root.asked.take(label) {
            self.root_has_answered(&asked, &message.payload);
        }
    }

    /// What a notice says of a program.
    #[inline(never)]
    fn do_as_root_says(&mut self, [what, number, at, size]: [u64; 4]) -> Result<u64, Error> {
        match what {
            program::START | program::LAND => {
                self.start_chosen(number, (at, size), what == program::LAND)?;
            }
            program::END => self.end_chosen(number),
            program::HOLD => return self.hold_chosen(number),
            program::SAVE => self.save_chosen(number, at, size)?,
            program::GO_ON => self.release_chosen(number),
            _ => {}
        }
        Ok(0)
    }

    /// These endpoints are of nothing any more, as bits.
    fn endpoints_are_gone(&mut self, endpoints: u64) {
        if endpoints == 0 {
            return;
        }
        known_rights::forget_endpoints(endpoints);
        let mut rest = endpoints;
        while rest != 0 {
            if let Some(gate) = self.gate_at(rest.trailing_zeros() as u16) {
                self.remove_gate(gate);
            }
            rest &= rest - 1;
        }
    }

    fn root_has_answered(&mut self, asked: &AskedCall, words: &[u64; LONGEST]) {
        let [a0, a1, kind, ..] = *words;
        let is_gate = kind & 0xff == answer::GATE;
        if is_gate {
            let place = (a1 as u16 & 0xff, (a1 >> 16) as u16);
            self.note_gate((asked.process, a0), place, asked.page);
        } else if asked.page != 0 {
            self.frames.free(asked.page);
        }
        let is_over = a0 == 0 || a0 == Error::Dead.to_register();
        if asked.call == RootCall::GateAnswer && kind & 0xff == answer::VALUES && is_over {
            // The root has left the answer for who has asked, or nobody gets it.
            self.free_slot((asked.process, asked.arguments[0]), asked.arguments[1]);
        }
        let Some(thread) = self.asker(asked) else {
            return;
        };
        if asked.call == RootCall::GateAnswer && kind & 0xff == answer::VALUES && is_over {
            let x = &mut self.context(thread).x;
            if x[17] == RootCall::GateAnswerReceive as u64 {
                // The thread waits for the next message.
                x[11] = NO_SLOT;
                return self.restart(thread);
            }
        }
        let caller = Caller::of_process(thread, asked.process);
        let number = asked.arguments[0];
        let mut rest = asked.arguments;
        rest[1] = rest[1].wrapping_add(asked.part);
        rest[2] = rest[2].wrapping_add(asked.part);
        rest[3] -= asked.part.min(rest[3]);
        match kind & 0xff {
            answer::VALUES if asked.part != 0 && a0 == 0 && rest[3] != 0 => {
                match self.ask_root(caller, asked.call, rest, note::FAILED) {
                    Ok(Done::Waits) => {}
                    Ok(_) => self.restart(thread),
                    Err(error) => self.end_wait(thread, Err(error)),
                }
            }
            answer::VALUES | answer::GATE => {
                let second = if is_gate { 0 } else { a1 };
                let stored = match asked.got.filter(|_| (a0 as i64) >= 0) {
                    Some(at) => {
                        let got = &words[ANSWER_WORDS..][..MAILBOX_BYTES / 8];
                        self.store_words(caller, at, got)
                    }
                    None => Ok(()),
                };
                self.end_wait(thread, stored.map(|()| (a0, second)));
            }
            answer::ENDPOINT => {
                let (kind, right) = match asked.call {
                    RootCall::GateSend => {
                        let sender = SenderEndpoint {
                            endpoint: a0 as u8,
                            answers: (a0 >> 8) as u8,
                            activity: (a0 >> 16) as u16,
                            gate: a1,
                        };
                        (Kind::Sender, sender.words())
                    }
                    _ => (Kind::Endpoint, reach_words(a0 as u8, (a0 >> 16) as u16)),
                };
                known_rights::add(kind, asked.process, number, right);
                self.restart(thread);
            }
            _ => self.restart(thread),
        }
    }

    /// The thread that waits for this answer. Its process may have ended.
    fn asker(&self, asked: &AskedCall) -> Option<Place> {
        let thread = self.dispatch.threads.find(asked.thread, asked.process)?;
        let own = State::Waits(Wait::Root(asked.label as u8));
        (self.dispatch.threads[thread].state == own).then_some(thread)
    }

    /// A process of this tile is over: the root revokes its capabilities.
    #[cold]
    #[inline(never)]
    pub fn end_at_root(&mut self, process: u16) {
        // A process whose predecessor in its place is not yet told has not called the root.
        if !self.root.asked.is_untold(process) {
            let ended = (self.number_at_root(process), self.processes[process].status);
            self.root.asked.ended[usize::from(process)] = ended;
        }
        self.root.asked.untold |= 1 << process;
        // The next process in this place has none of its rights.
        known_rights::forget_all();
        self.root.leave_gates(process);
        if let Some(unit) = self.tiles.unit {
            self.tell_ends(unit);
        }
        self.watch_root();
    }

    /// The root is told of processes that have ended. False: some of it has to wait.
    fn tell_ends(&mut self, unit: Unit) -> bool {
        while self.root.asked.untold != 0 {
            let process = self.root.asked.untold.trailing_zeros() as usize;
            let (number, status) = self.root.asked.ended[process];
            let words = [remote_call::ENDED | number << 32, status, 0, 0, 0, 0, 0];
            match unit.send_by(TO_ROOT, &words, (FROM_ROOT, NOBODY)) {
                Err(UnitError::NoCredits | UnitError::NoSpace) => {
                    let now = csr::time();
                    // Nobody is there who would revoke anything.
                    if self.root.asked.is_silent(now, self.silence()) {
                        self.root.asked.untold = 0;
                    }
                    return false;
                }
                // It is not there, or has never heard of the process.
                _ => self.root.asked.untold &= !(1 << process),
            }
        }
        true
    }

    /// A message has come to a gate, whose thread does not run. Where the root decides on switches, it is asked. False:
    /// the kernel decides itself.
    #[inline(never)]
    pub fn asks_for_switch(&mut self, gate: u8) -> bool {
        if !self.map.asks_for_switches {
            return false;
        }
        let (Some(unit), Some(reader)) = (self.tiles.unit, self.first_at_gate(gate)) else {
            return false;
        };
        let process = self.number_at_root(self.dispatch.threads[reader].process);
        let words = [remote_call::SWITCH | process << 32, 0, 0, 0, 0, 0, 0];
        let label = SWITCHES | u64::from(gate);
        let sent = unit.send_by(TO_ROOT, &words, (FROM_ROOT, label));
        if sent.is_ok() {
            self.root.asked.note_spoken(csr::time());
            self.root.asked.switches |= 1 << gate;
            self.watch_root();
        }
        sent.is_ok()
    }

    /// The root has said that a gate's threads get a hart, or says nothing any more.
    fn switch(&mut self, gate: u8) {
        self.root.asked.switches &= !(1 << gate);
        self.wake_server(gate);
    }

    /// The root is asked whether it is there, as long as somebody waits for it.
    #[cold]
    #[inline(never)]
    pub fn check_root(&mut self, now: u64) {
        self.root.asked.check_at = u64::MAX;
        let Some(unit) = self.tiles.unit.filter(|_| !self.root.asked.is_idle()) else {
            return;
        };
        let words = [remote_call::IS_THERE, 0, 0, 0, 0, 0, 0];
        let sent = unit.send_by(TO_ROOT, &words, (FROM_ROOT, NOBODY));
        if sent.is_ok() {
            self.root.asked.note_spoken(now);
        }
        let is_silent = self.root.asked.is_silent(now, self.silence());
        let is_busy = matches!(
            sent,
            Ok(()) | Err(UnitError::NoCredits | UnitError::NoSpace)
        );
        if is_silent || !is_busy {
            while self.root.asked.switches != 0 {
                self.switch(self.root.asked.switches.trailing_zeros() as u8);
            }
            for place in 0..ASKED {
                let label = self.root.asked.all[place].map_or(0, |asked| asked.label);
                if let Some(asked) = self.root.asked.take(label)
                    && let Some(thread) = self.asker(&asked)
                {
                    self.end_wait(thread, Err(Error::Dead));
                }
            }
        }
        self.watch_root();
    }
}
