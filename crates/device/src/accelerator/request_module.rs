//! The steps of the module of requests: commands for the unit, and computations.
use flick_abi::accelerator::{
    LINE, LOG2_STEPS_SLOT, Notice, PAGES, REQUESTS, ROOT, STEPS_ANSWER, STEPS_BUFFER, Status,
};
use flick_abi::card;
use flick_abi::dtu::{self, Command, CommandWord, Endpoint, Error, HEADER_SIZE, Header};
use flick_abi::step_request::{STEP_REQUEST_SIZE, StepAnswer, StepRequest};
use serde::{Deserialize, Serialize};

use super::request::{Phase, Progress, RequestTile};
use super::request_cache::StepView;
use super::{AGAIN, COMPUTED, PAUSE, cycles, has_waited};
use crate::device::Surroundings;

/// What the module waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Doing {
    /// Nothing: something else begins, or there is no request.
    #[default]
    Begins,
    /// A request is fetched.
    Fetches,
    /// A line is read, or written.
    Fills,
    WritesBack,
    /// The logic computes.
    Computes,
    /// The answer is sent, or the request is acknowledged because it takes none.
    Replies,
    Acknowledges,
    /// The root is told that the module stops, or that the activity ends.
    Tells,
    /// Time passes before a command is made again.
    Pauses,
}

impl RequestTile {
    /// Goes on until the module waits for a command, a request or time.
    pub(super) fn go_on(&mut self, around: &mut dyn Surroundings) {
        self.take_steps(around);
        if self.has_waited(around) {
            self.module.state.stops = true;
            self.take_steps(around);
        }
        let shown = self.module.state.shown();
        if std::mem::replace(&mut self.module.state.told, shown) != shown {
            around.enter_state(shown.name());
        }
    }

    fn take_steps(&mut self, around: &mut dyn Surroundings) {
        while self.module.state.is_running() {
            let goes_on = match self.module.state.doing {
                Doing::Computes | Doing::Pauses => false,
                Doing::Begins => self.begin(around),
                _ => self.outcome(around),
            };
            if !goes_on {
                return;
            }
        }
    }

    /// The time of a step is over.
    pub(super) fn has_computed(&mut self, around: &mut dyn Surroundings) {
        if !self.module.state.is_running() || self.module.state.doing != Doing::Computes {
            return;
        }
        self.module.state.doing = Doing::Begins;
        let progress = &mut self.module.state.progress;
        progress.made = progress.made.wrapping_add(1);
        progress.all = progress.all.wrapping_add(1);
        progress.next = progress.next.saturating_add(1);
        self.go_on(around);
    }

    /// The time has come to make a command again.
    pub(super) fn tries_again(&mut self, around: &mut dyn Surroundings) {
        if self.module.state.is_running() && self.module.state.doing == Doing::Pauses {
            self.module.state.doing = Doing::Begins;
            self.go_on(around);
        }
    }

    /// Begins what is next. False: there is nothing to do.
    fn begin(&mut self, around: &mut dyn Surroundings) -> bool {
        let state = &mut self.module.state;
        if state.next_status != 0 {
            self.tell(around);
            return true;
        }
        if state.ends {
            state.seen.clear();
            state.written.clear();
            state.cache.clear();
            state.progress = Progress::default();
            return self.leave_with(Status::Ended, around);
        }
        if let Some(line) = state.written.front().cloned() {
            if let Some(to) = self.module.buffers.at(LINE, line.bytes.len()) {
                to.copy_from_slice(&line.bytes);
            }
            self.transfer_line(Command::Write, line.address, Doing::WritesBack, around);
            return true;
        }
        if state.stops {
            return self.stop(around);
        }
        if let Some(line) = state.fills {
            self.transfer_line(Command::Read, line, Doing::Fills, around);
            return true;
        }
        match state.progress.phase {
            Phase::Fetch => return self.fetch(around),
            Phase::Step => self.step(around),
            Phase::Reply => self.reply(around),
        }
        true
    }

    /// A kernel wants the module to stop: a step that waits for memory will be made again. False: it has stopped.
    fn stop(&mut self, around: &mut dyn Surroundings) -> bool {
        let state = &mut self.module.state;
        state.seen.clear();
        state.fills = None;
        state.written.extend(state.cache.take_dirty());
        state.cache.clear();
        match state.written.is_empty() {
            true => self.leave_with(Status::Stopped, around),
            false => true,
        }
    }

    /// The module does not run any more. A root that is told what happens learns of it first. False: there is none.
    fn leave_with(&mut self, status: Status, around: &mut dyn Surroundings) -> bool {
        let has_root = self.unit(around).get(dtu::endpoint_word(ROOT, 0)) != 0;
        let state = &mut self.module.state;
        match has_root {
            true => state.next_status = status as u8,
            false => state.status = status as u8,
        }
        has_root
    }

    /// Tells the root that the module stops, and which messages it waits for.
    fn tell(&mut self, around: &mut dyn Surroundings) {
        let pages = [0, 1, 2, 3].map(|word| {
            let at = dtu::endpoint_word(PAGES, word);
            self.unit(around).get(at)
        });
        let has_fault = match Endpoint::from_words(pages) {
            Some(Endpoint::Pages(pages)) => pages.pending.is_some(),
            _ => false,
        };
        let state = &self.module.state;
        let waits = match state.progress.phase {
            Phase::Fetch => 1 << REQUESTS,
            _ if has_fault => 1 << PAGES,
            _ => 0,
        };
        let status = Status::from_number(state.next_status.into()).unwrap_or(Status::Ended);
        let fault = state.fault.into();
        let notice = Notice::Status {
            status,
            fault,
            waits,
        };
        let words = notice.words().map(u64::to_le_bytes);
        let bytes = words.as_flattened();
        if let Some(to) = self.module.buffers.at(STEPS_ANSWER, bytes.len()) {
            to.copy_from_slice(bytes);
        }
        let word = CommandWord::new(Command::Send, ROOT);
        let size = bytes.len() as u64;
        self.command(word, (STEPS_ANSWER, size, 0), Doing::Tells, around);
    }

    /// Whether it has waited for a request so long that others may have the tile.
    fn has_waited(&mut self, around: &mut dyn Surroundings) -> bool {
        let state = &mut self.module.state;
        let waits = state.is_running()
            && state.doing == Doing::Begins
            && state.progress.phase == Phase::Fetch;
        let delay = cycles(state.yields, self.description.cycle);
        let yields = (state.yields != 0).then_some(delay);
        has_waited(waits, &mut state.waits_since, yields, around)
    }

    /// Fetches a request. False: there is none yet.
    fn fetch(&mut self, around: &mut dyn Surroundings) -> bool {
        let has_message = self.unit(around).get(dtu::EVENTS) >> REQUESTS & 1 != 0;
        if has_message {
            self.module.state.doing = Doing::Fetches;
            let word = CommandWord::new(Command::Fetch, REQUESTS);
            self.unit(around).command(word);
        }
        has_message
    }

    /// The request in the slot, the number behind its last step, and how often they are made; or the error.
    fn request(&mut self) -> Result<(StepRequest, u64, u64), card::Error> {
        const INVALID: card::Error = card::Error::Invalid;
        let at = STEPS_BUFFER + (u64::from(self.module.state.progress.slot) << LOG2_STEPS_SLOT);
        let message = self.module.buffers.at(at, HEADER_SIZE + STEP_REQUEST_SIZE);
        let message = message.filter(|_| at < STEPS_ANSWER).ok_or(INVALID)?;
        let (header, payload) = message.split_first_chunk().ok_or(INVALID)?;
        let size = usize::from(Header::from_bytes(header).size).min(STEP_REQUEST_SIZE);
        let mut bytes = [0; STEP_REQUEST_SIZE];
        bytes[..size].copy_from_slice(&payload[..size]);
        let request = StepRequest::from_bytes(&bytes).ok_or(INVALID)?;
        let sizes: Vec<u64> = request.arrays().iter().map(|array| array.size).collect();
        let all = self.logic.steps(&sizes).ok_or(INVALID)?;
        let end = match request.steps {
            0 => Some(all),
            steps => request.first.checked_add(steps),
        };
        let end = end.filter(|&end| end <= all && request.first <= end);
        Ok((request, end.ok_or(INVALID)?, request.repeats.max(1)))
    }

    /// A request has come.
    fn take_request(&mut self, at: u64) {
        let progress = &mut self.module.state.progress;
        *progress = Progress {
            phase: Phase::Step,
            slot: (at.wrapping_sub(STEPS_BUFFER) >> LOG2_STEPS_SLOT).min(255) as u8,
            all: progress.all,
            ..Progress::default()
        };
        self.module.state.fault = 0;
        match self.request() {
            Ok((request, ..)) => {
                self.module.state.progress.next = request.first;
                if !request.keeps_cache {
                    self.module.state.cache.clear();
                }
            }
            Err(error) => self.finish(Some(error)),
        }
    }

    /// Makes a step, or finds that there is none left, or that a line is missing.
    fn step(&mut self, around: &mut dyn Surroundings) {
        let (request, end, repeats) = match self.request() {
            Ok(request) => request,
            Err(error) => return self.finish(Some(error)),
        };
        let (shape, cycle) = (self.description.cache, self.description.cycle);
        let state = &mut self.module.state;
        let progress = &mut state.progress;
        if progress.next >= end {
            progress.repeated = progress.repeated.saturating_add(1);
            progress.next = request.first;
            if progress.repeated >= repeats || request.first >= end {
                self.finish(None);
            }
            return;
        }
        let mut view = StepView::new(shape, request.arrays(), &mut state.cache, &mut state.seen);
        let made = self.logic.step(progress.next, &mut view);
        let (missing, written) = (view.missing, view.written);
        let time = match (missing, made) {
            (Some(line), _) => return state.fills = Some(line),
            (None, Err(_)) => return self.finish(Some(card::Error::Invalid)),
            (None, Ok(Some(count))) => cycles(count, cycle),
            (None, Ok(None)) => self.description.time,
        };
        state.seen.clear();
        for (address, bytes) in written {
            let victim = state.cache.put(shape, address, bytes, true);
            state.written.extend(victim);
        }
        state.doing = Doing::Computes;
        around.schedule(COMPUTED, around.now().saturating_add(time));
    }

    /// The request ends: what was computed goes to memory, and then the answer is sent.
    fn finish(&mut self, error: Option<card::Error>) {
        let state = &mut self.module.state;
        state.seen.clear();
        state.fills = None;
        state.written.extend(state.cache.take_dirty());
        state.progress.phase = Phase::Reply;
        if let Some(error) = error {
            state.cache.clear();
            state.progress.error = error as u64;
            state.fault = error as u8;
        }
    }

    fn reply(&mut self, around: &mut dyn Surroundings) {
        let Progress {
            slot, error, made, ..
        } = self.module.state.progress;
        let answer = StepAnswer { error, steps: made }.bytes();
        if let Some(to) = self.module.buffers.at(STEPS_ANSWER, answer.len()) {
            to.copy_from_slice(&answer);
        }
        let word = CommandWord::new(Command::Reply, REQUESTS).with_slot(slot);
        let size = answer.len() as u64;
        self.command(word, (STEPS_ANSWER, size, 0), Doing::Replies, around);
    }

    fn transfer_line(
        &mut self,
        command: Command,
        address: u64,
        doing: Doing,
        around: &mut dyn Surroundings,
    ) {
        let word = CommandWord::new(command, PAGES);
        let size = self.description.cache.line;
        self.command(word, (LINE, size, address), doing, around);
    }

    /// Starts a command for an address, a size and an offset.
    fn command(
        &mut self,
        word: CommandWord,
        (address, size, offset): (u64, u64, u64),
        doing: Doing,
        around: &mut dyn Surroundings,
    ) {
        for (register, value) in [
            (dtu::ADDRESS, address),
            (dtu::SIZE, size),
            (dtu::OFFSET, offset),
        ] {
            self.unit(around).set(register, value);
        }
        self.module.state.doing = doing;
        self.unit(around).command(word);
    }

    /// What follows a command that has ended. False: it runs.
    fn outcome(&mut self, around: &mut dyn Surroundings) -> bool {
        let Some(result) = self.unit(around).outcome() else {
            return false;
        };
        let doing = std::mem::take(&mut self.module.state.doing);
        // The kernel does not want what the line is for.
        let leaves = self.module.state.ends || self.module.state.stops && doing == Doing::Fills;
        match (doing, result) {
            (_, Err(Error::Aborted)) if leaves && doing != Doing::Tells => {}
            // A kernel has aborted it, or something else is in the way of its packets.
            (_, Err(Error::Aborted | Error::NoCredits | Error::NoSpace))
            | (Doing::Replies, Err(Error::Gone)) => {
                self.module.state.doing = Doing::Pauses;
                let time = cycles(PAUSE, self.description.cycle);
                around.schedule(AGAIN, around.now().saturating_add(time));
            }
            // The root is told, or there is none that wants to be.
            (Doing::Tells, _) => {
                let state = &mut self.module.state;
                state.status = std::mem::take(&mut state.next_status);
            }
            (Doing::Fetches, Ok(at @ 1..)) => self.take_request(at),
            (Doing::Fills, Ok(_)) => self.take_line(),
            (Doing::Fills, Err(error)) => self.finish(Some(error_of(error))),
            (Doing::WritesBack, Ok(_)) => {
                self.module.state.written.pop_front();
            }
            (Doing::WritesBack, Err(error)) => self.lose_line(error_of(error)),
            (Doing::Replies, Err(_)) => {
                let slot = self.module.state.progress.slot;
                let word = CommandWord::new(Command::Acknowledge, REQUESTS).with_slot(slot);
                self.command(word, (0, 0, 0), Doing::Acknowledges, around);
            }
            (Doing::Replies | Doing::Acknowledges, _) => {
                self.module.state.progress.phase = Phase::Fetch;
            }
            _ => {}
        }
        true
    }

    /// A line has come from memory.
    fn take_line(&mut self) {
        let shape = self.description.cache;
        let Some(address) = self.module.state.fills.take() else {
            return;
        };
        if let Some(bytes) = self.module.buffers.at(LINE, shape.line as usize) {
            let victim = self
                .module
                .state
                .cache
                .put(shape, address, bytes.to_vec(), false);
            self.module.state.written.extend(victim);
        }
    }

    /// A line cannot be written.
    fn lose_line(&mut self, error: card::Error) {
        self.module.state.written.pop_front();
        match self.module.state.progress.phase {
            Phase::Step => self.finish(Some(error)),
            _ if self.module.state.progress.error == 0 => self.finish(Some(error)),
            _ => {}
        }
    }
}

/// What the answer says about an error of the unit.
fn error_of(error: Error) -> card::Error {
    match error {
        Error::NoPage | Error::OutOfBounds | Error::NoMemory | Error::NoEndpoint => {
            card::Error::BadAddress
        }
        Error::NoRight => card::Error::NoAccess,
        _ => card::Error::Failed,
    }
}
