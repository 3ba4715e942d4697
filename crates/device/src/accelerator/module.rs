//! The steps of the module: commands for the unit, and messages.
use flick_abi::accelerator::{
    ANSWERS, ANSWERS_BUFFER, INPUT_DATA, INPUT_REQUESTS, LOG2_SLOT, Notice, OUTGOING, OUTPUT_DATA,
    OUTPUT_REQUESTS, REQUESTS, REQUESTS_BUFFER, ROOT, Status,
};
use flick_abi::card;
use flick_abi::dtu::{self, Command, CommandWord, Error, HEADER_SIZE, Header};
use flick_abi::file_protocol::{ANSWER_SIZE, Answer, Operation, REQUEST_SIZE, Request};
use serde::{Deserialize, Serialize};

use super::stream::{PendingAnswer, Phase, Piece};
use super::{AGAIN, AcceleratorTile, Forward, PAUSE, Said, cycles, has_waited};
use crate::device::Surroundings;

/// The label and the words of an answer, and its slot.
type Fetched = (u64, [u64; 3], u8);

/// What runs in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Step {
    /// Nothing: the phase begins, or waits for a message.
    #[default]
    Begins,
    /// The phase's command.
    Runs,
    /// A message is fetched.
    Fetches,
    /// An answer is acknowledged.
    Acknowledges(Fetched),
    /// Time passes before that command is made again.
    Keeps(Fetched),
    /// Time passes before a command is made again.
    Pauses,
}

impl AcceleratorTile {
    /// Goes on until the module waits for a command, a message or time.
    pub(super) fn go_on(&mut self, around: &mut dyn Surroundings) {
        self.take_steps(around);
        if self.has_waited(around) {
            self.module.state.stops = true;
            self.take_steps(around);
        }
        let doing = self.module.state.doing();
        if self.module.state.work.does(doing, around.now()) {
            around.enter_state(doing.name());
        }
    }

    fn take_steps(&mut self, around: &mut dyn Surroundings) {
        while self.is_running() {
            let goes_on = match self.module.state.step {
                Step::Pauses | Step::Keeps(..) => false,
                Step::Begins if self.module.state.ends != 0 => {
                    self.tell_status(around);
                    true
                }
                Step::Begins if self.module.state.forwards == Forward::Tells => {
                    self.ask_root(around);
                    true
                }
                Step::Begins if self.module.state.forwards == Forward::Waits => {
                    self.root_has_done_it(around)
                }
                Step::Begins if self.module.state.stops && self.can_stop() => {
                    let can_stop = !self.module.state.computes;
                    if can_stop {
                        self.end_with(Status::Stopped);
                    }
                    can_stop
                }
                Step::Begins => self.begin(around),
                Step::Runs | Step::Fetches | Step::Acknowledges(..) => self.outcome(around),
            };
            if !goes_on {
                return;
            }
        }
    }

    /// The time has come to make a command again.
    pub(super) fn tries_again(&mut self, around: &mut dyn Surroundings) {
        match self.module.state.step {
            _ if !self.is_running() => return,
            Step::Pauses => self.module.state.step = Step::Begins,
            Step::Keeps(fetched) => self.acknowledge(fetched, around),
            _ => return,
        }
        self.go_on(around);
    }

    pub(super) fn go_to(&mut self, phase: Phase) {
        self.module.state.stream.phase = phase;
        self.module.state.step = Step::Begins;
    }

    fn end_with(&mut self, status: Status) {
        self.module.state.computes = false;
        // The root learns of it first.
        self.module.state.ends = status as u8;
        self.module.state.step = Step::Begins;
    }

    fn tell(&mut self, notice: Notice, around: &mut dyn Surroundings) {
        let words = notice.words().map(u64::to_le_bytes);
        self.send(
            CommandWord::new(Command::Send, ROOT),
            words.as_flattened(),
            around,
        );
    }

    /// Tells the root that the module is stopped, or that the activity ends.
    fn tell_status(&mut self, around: &mut dyn Surroundings) {
        let state = &self.module.state;
        let status = Status::from_number(state.ends.into()).unwrap_or(Status::Failed);
        let fault = state.fault.into();
        let waits = state.stream.waits_for(self.description.has_two_buffers);
        self.tell(
            Notice::Status {
                status,
                fault,
                waits,
            },
            around,
        );
    }

    /// Whether there is a root that the module tells what happens.
    fn has_root(&mut self, around: &mut dyn Surroundings) -> bool {
        self.unit(around).get(dtu::endpoint_word(ROOT, 0)) != 0
    }

    /// The command of the phase is for an activity that is suspended: the root makes it.
    fn ask_root(&mut self, around: &mut dyn Surroundings) {
        let (buffer, output) = (self.buffer(), self.output());
        let stream = self.module.state.stream;
        let asks = |endpoint, operation| {
            let request = match operation {
                Operation::Commit => Request {
                    first: stream.output.size.saturating_sub(stream.output.left),
                    ..Request::new(operation)
                },
                _ => Request::new(operation),
            };
            Some(Notice::Message {
                endpoint,
                label: operation as u64,
                words: request.words(),
            })
        };
        let notice = match stream.phase {
            Phase::AskInput => asks(INPUT_REQUESTS, Operation::NextIn),
            Phase::AskOutput => asks(OUTPUT_REQUESTS, Operation::NextOut),
            Phase::Commit => asks(OUTPUT_REQUESTS, Operation::Commit),
            Phase::End => asks(OUTPUT_REQUESTS, Operation::End),
            Phase::Read => Some(Notice::Data {
                endpoint: INPUT_DATA,
                is_write: false,
                offset: stream.input.offset,
                address: buffer.wrapping_add(stream.filled),
                size: stream.readable(self.description.block),
            }),
            Phase::Write => Some(Notice::Data {
                endpoint: OUTPUT_DATA,
                is_write: true,
                offset: stream.output.offset,
                address: output,
                size: stream.writable(),
            }),
            Phase::Grant => self.granted().map(|(slot, answer)| Notice::Answer {
                slot,
                words: [answer.error, answer.offset, answer.length],
            }),
            _ => None,
        };
        match notice {
            Some(notice) => self.tell(notice, around),
            None => self.fail(Error::Gone as u64),
        }
    }

    /// Goes on when the root has taken note: the credit of what it was told is back then. False: it has not.
    fn root_has_done_it(&mut self, around: &mut dyn Surroundings) -> bool {
        if self.unit(around).get(dtu::endpoint_word(ROOT, 3)) & 0xffff == 0 {
            return false;
        }
        let state = &mut self.module.state;
        state.forwards = Forward::None;
        match (
            std::mem::take(&mut state.said),
            state.stream.phase,
            state.stream.pending,
        ) {
            (Said::Again, ..) => {}
            (Said::Refused, ..) => self.fail(Error::Gone as u64),
            // The root has answered the message, and its slot is free now.
            (Said::Done, Phase::Grant, Some(slot)) => {
                state.step = Step::Runs;
                let word = CommandWord::new(Command::Acknowledge, REQUESTS).with_slot(slot);
                self.unit(around).command(word);
            }
            _ => self.has_run(around),
        }
        true
    }

    /// Whether it has waited for a message so long that others may have the tile.
    fn has_waited(&mut self, around: &mut dyn Surroundings) -> bool {
        let two = self.description.has_two_buffers;
        let state = &mut self.module.state;
        let waits = state.status == Status::Runs as u8
            && state.step == Step::Begins
            && !state.computes
            && (state.ends, state.forwards) == (0, Forward::None)
            && state.stream.waits_for(two) != 0;
        let delay = cycles(state.yields, self.description.cycle);
        let yields = (state.yields != 0).then_some(delay);
        has_waited(waits, &mut state.waits_since, yields, around)
    }

    pub(super) fn fail(&mut self, error: u64) {
        self.module.state.fault = error.clamp(1, 255) as u8;
        self.end_with(Status::Failed);
    }

    /// Whether the module may stop here, as soon as the logic does not compute. With two buffers the next block may
    /// wait for the logic; a restored module finds it again.
    fn can_stop(&self) -> bool {
        let phase = self.module.state.stream.phase;
        phase.is_stable() || self.description.has_two_buffers && phase == Phase::Compute
    }

    /// Begins a phase. False: it waits.
    fn begin(&mut self, around: &mut dyn Surroundings) -> bool {
        let block = self.description.block;
        let is_pushed = self.module.state.is_pushed;
        let (buffer, output) = (self.buffer(), self.output());
        let stream = &mut self.module.state.stream;
        match stream.phase {
            Phase::Input if stream.awaits_input => self.go_to(Phase::InputAnswer),
            Phase::Input if stream.is_last || stream.filled >= block => self.go_to(Phase::Compute),
            Phase::Input if is_pushed => self.go_to(Phase::Request),
            Phase::Input if stream.input.left > 0 => self.go_to(Phase::Read),
            Phase::Input => self.go_to(Phase::AskInput),
            Phase::AskInput => self.ask(INPUT_REQUESTS, Operation::NextIn, 0, around),
            Phase::Read => {
                let size = stream.readable(block);
                let (offset, address) = (stream.input.offset, buffer.wrapping_add(stream.filled));
                let word = CommandWord::new(Command::Read, INPUT_DATA);
                self.transfer(word, offset, address, size, around);
            }
            Phase::Request => return self.fetch(REQUESTS, around) || self.begin_early(around),
            Phase::InputAnswer => return self.fetch(ANSWERS, around) || self.begin_early(around),
            Phase::Grant => self.grant(around),
            Phase::Compute if self.module.state.computes => return false,
            Phase::Compute => self.compute(around),
            Phase::Output if stream.written < stream.computed && stream.output.left > 0 => {
                self.go_to(Phase::Write);
            }
            Phase::Output if stream.written < stream.computed => match stream.has_asked {
                true => self.go_to(Phase::OutputAnswer),
                false => self.go_to(Phase::AskOutput),
            },
            Phase::Output => self.next_block(),
            Phase::AskOutput => self.ask(OUTPUT_REQUESTS, Operation::NextOut, 0, around),
            Phase::Write => {
                let size = stream.writable();
                let offset = stream.output.offset;
                let word = CommandWord::new(Command::Write, OUTPUT_DATA);
                self.transfer(word, offset, output, size, around);
            }
            Phase::Commit => {
                let used = stream.output.size.saturating_sub(stream.output.left);
                self.ask(OUTPUT_REQUESTS, Operation::Commit, used, around);
            }
            Phase::End => self.ask(OUTPUT_REQUESTS, Operation::End, 0, around),
            Phase::OutputAnswer | Phase::CommitAnswer | Phase::EndAnswer => {
                return self.fetch(ANSWERS, around);
            }
        }
        true
    }

    /// The output of a block has been written. Who gets it learns that by the request for the next piece, which is
    /// sent at once: so the next accelerator of a chain computes while this one does.
    fn next_block(&mut self) {
        let stream = &mut self.module.state.stream;
        let is_used_up = stream.output.size > 0 && stream.output.left == 0;
        let is_other_to_come = self.description.has_two_buffers && stream.has_other;
        let next = match (stream.is_last, stream.pending) {
            (true, _) if is_other_to_come && (!is_used_up || stream.has_asked) => Phase::Compute,
            (true, _) if is_other_to_come => Phase::AskOutput,
            (true, _) if stream.has_asked => Phase::OutputAnswer,
            (true, _) if stream.output.size > 0 => Phase::Commit,
            (true, _) => Phase::End,
            (false, _) if is_used_up && !stream.has_asked => Phase::AskOutput,
            (false, Some(_)) => Phase::Grant,
            (false, None) => Phase::Input,
        };
        if matches!(next, Phase::Grant | Phase::Input) {
            (stream.filled, stream.computed, stream.written) = (0, 0, 0);
        }
        self.go_to(next);
    }

    /// Answers who writes into the local memory.
    fn grant(&mut self, around: &mut dyn Surroundings) {
        let Some((slot, answer)) = self.granted() else {
            return self.go_to(Phase::Request);
        };
        self.module.state.stream.granted = answer.length;
        let word = CommandWord::new(Command::Reply, REQUESTS).with_slot(slot);
        self.send(word, &answer.bytes(), around);
    }

    /// The answer to who writes into the local memory, and the slot of its request.
    fn granted(&self) -> Option<(u8, Answer)> {
        let stream = &self.module.state.stream;
        let free = self.description.block.saturating_sub(stream.filled);
        let answer = match stream.answer {
            PendingAnswer::Grant => Answer {
                error: 0,
                offset: self.buffer().wrapping_add(stream.filled),
                length: free,
            },
            PendingAnswer::Done => Answer::default(),
            PendingAnswer::Invalid => Answer {
                error: card::Error::Invalid as u64,
                ..Answer::default()
            },
        };
        Some((stream.pending?, answer))
    }

    /// Sends a request to a server.
    fn ask(
        &mut self,
        endpoint: u16,
        operation: Operation,
        first: u64,
        around: &mut dyn Surroundings,
    ) {
        let request = Request {
            first,
            ..Request::new(operation)
        };
        let word = CommandWord::new(Command::Send, endpoint).with_answer(ANSWERS);
        self.unit(around).set(dtu::LABEL, operation as u64);
        self.send(word, &request.bytes(), around);
    }

    fn send(&mut self, word: CommandWord, bytes: &[u8], around: &mut dyn Surroundings) {
        if let Some(to) = self.module.buffers.at(OUTGOING, bytes.len()) {
            to.copy_from_slice(bytes);
        }
        self.transfer(word, 0, OUTGOING, bytes.len() as u64, around);
    }

    fn transfer(
        &mut self,
        word: CommandWord,
        offset: u64,
        address: u64,
        size: u64,
        around: &mut dyn Surroundings,
    ) {
        for (register, value) in [
            (dtu::ADDRESS, address),
            (dtu::SIZE, size),
            (dtu::OFFSET, offset),
        ] {
            self.unit(around).set(register, value);
        }
        self.module.state.step = Step::Runs;
        self.unit(around).command(word);
    }

    /// Whether an endpoint has a message that was not fetched.
    pub(super) fn has_message(&mut self, endpoint: u16, around: &mut dyn Surroundings) -> bool {
        self.unit(around).get(dtu::EVENTS) >> endpoint & 1 != 0
    }

    /// Fetches a message. False: there is none yet.
    fn fetch(&mut self, endpoint: u16, around: &mut dyn Surroundings) -> bool {
        let has_message = self.has_message(endpoint, around);
        if has_message {
            self.module.state.step = Step::Fetches;
            let word = CommandWord::new(Command::Fetch, endpoint);
            self.unit(around).command(word);
        }
        has_message
    }

    /// What follows a command that has ended. False: it runs.
    fn outcome(&mut self, around: &mut dyn Surroundings) -> bool {
        let Some(result) = self.unit(around).outcome() else {
            return false;
        };
        self.module.state.waits_since = None;
        match (self.module.state.step, result) {
            // The answer was fetched: it does not come again.
            (Step::Acknowledges(fetched), Err(Error::Aborted)) => {
                self.pause(around);
                self.module.state.step = Step::Keeps(fetched);
            }
            // A kernel has aborted it, or something else is in the way of its packets.
            (_, Err(Error::Aborted)) | (Step::Runs, Err(Error::NoCredits | Error::NoSpace)) => {
                self.pause(around);
            }
            // The root is told, or there is none that wants to be.
            (Step::Runs, told) if self.module.state.ends != 0 => {
                let sent = &mut self.module.state.work.sent;
                *sent = sent.saturating_add(told.is_ok().into());
                self.module.state.status = core::mem::take(&mut self.module.state.ends);
            }
            (Step::Runs, Ok(_)) if self.module.state.forwards == Forward::Tells => {
                let state = &mut self.module.state;
                state.work.sent = state.work.sent.saturating_add(1);
                (state.forwards, state.step) = (Forward::Waits, Step::Begins);
            }
            (Step::Runs, Err(Error::Gone)) if self.has_root(around) => {
                let state = &mut self.module.state;
                (state.forwards, state.step) = (Forward::Tells, Step::Begins);
            }
            (Step::Runs, Err(Error::Gone)) if self.module.state.stream.phase == Phase::Grant => {
                self.pause(around);
            }
            (_, Err(error)) => self.fail(error as u64),
            (Step::Fetches, Ok(0)) => self.module.state.step = Step::Begins,
            (Step::Fetches, Ok(at)) => {
                self.module.state.work.received = self.module.state.work.received.saturating_add(1);
                match self.module.state.stream.phase {
                    Phase::Request => self.take_request(at),
                    _ => self.take_answer(at, around),
                }
            }
            (Step::Acknowledges((label, [error, offset, length], _)), Ok(_)) => {
                let answer = Answer {
                    error,
                    offset,
                    length,
                };
                self.follow_answer(Operation::from_number(label), answer);
            }
            (_, Ok(_)) => self.has_run(around),
        }
        true
    }

    /// The phase begins again a little later.
    fn pause(&mut self, around: &mut dyn Surroundings) {
        self.module.state.step = Step::Pauses;
        let time = cycles(PAUSE, self.description.cycle);
        around.schedule(AGAIN, around.now().saturating_add(time));
    }

    /// The command of the phase has ended without an error.
    fn has_run(&mut self, around: &mut dyn Surroundings) {
        let block = self.description.block;
        match self.module.state.stream.phase {
            Phase::Read => {}
            Phase::Write => {
                let written = &mut self.module.state.work.written;
                *written = written.saturating_add(self.module.state.stream.writable());
            }
            _ => self.module.state.work.sent = self.module.state.work.sent.saturating_add(1),
        }
        if self.module.state.stream.phase == Phase::AskOutput {
            let to = self
                .unit(around)
                .get(dtu::endpoint_word(OUTPUT_REQUESTS, 1));
            self.module.state.work.next = Some(to as u16);
        }
        let stream = &mut self.module.state.stream;
        let next = match stream.phase {
            Phase::AskInput => {
                stream.awaits_input = self.description.has_two_buffers;
                Phase::InputAnswer
            }
            Phase::Read => {
                let size = stream.readable(block);
                stream.input.advance(size);
                stream.filled += size;
                Phase::Input
            }
            Phase::Grant => {
                stream.pending = None;
                Phase::Input
            }
            Phase::AskOutput => {
                stream.has_asked = true;
                stream.behind_output()
            }
            Phase::Write => {
                let size = stream.writable();
                stream.output.advance(size);
                let written = match stream.is_early {
                    true => &mut stream.other_written,
                    false => &mut stream.written,
                };
                *written = written.saturating_add(size);
                match stream.is_early && stream.output.left == 0 && !stream.has_asked {
                    true => Phase::AskOutput,
                    false => stream.behind_output(),
                }
            }
            Phase::Commit => Phase::CommitAnswer,
            Phase::End => Phase::EndAnswer,
            other => other,
        };
        self.go_to(next);
    }

    /// The label and the payload of the message at an address of a buffer, and its slot. What a short message lacks
    /// is 0.
    fn payload<const N: usize>(&mut self, at: u64, buffer: u64) -> Option<(u64, [u8; N], u8)> {
        let message = self.module.buffers.at(at, HEADER_SIZE + N)?;
        let (header, payload) = message.split_first_chunk::<HEADER_SIZE>()?;
        let header = Header::from_bytes(header);
        let size = usize::from(header.size).min(N);
        let mut bytes = [0; N];
        bytes[..size].copy_from_slice(&payload[..size]);
        let slot = (at.checked_sub(buffer)? >> LOG2_SLOT) as u8;
        Some((header.label, bytes, slot))
    }

    fn take_answer(&mut self, at: u64, around: &mut dyn Surroundings) {
        let Some((label, bytes, slot)) = self.payload::<ANSWER_SIZE>(at, ANSWERS_BUFFER) else {
            return self.fail(card::Error::Invalid as u64);
        };
        let Answer {
            error,
            offset,
            length,
        } = Answer::from_bytes(&bytes);
        self.acknowledge((label, [error, offset, length], slot), around);
    }

    fn acknowledge(&mut self, fetched: Fetched, around: &mut dyn Surroundings) {
        self.module.state.step = Step::Acknowledges(fetched);
        let word = CommandWord::new(Command::Acknowledge, ANSWERS).with_slot(fetched.2);
        self.unit(around).command(word);
    }

    /// An answer has come. The one for output may come while the module waits for that for input.
    fn follow_answer(&mut self, asked: Option<Operation>, answer: Answer) {
        if answer.error != 0 {
            return self.fail(answer.error);
        }
        let stream = &mut self.module.state.stream;
        let (phase, next) = match asked {
            Some(Operation::NextIn) => {
                stream.input = Piece::new(answer.offset, answer.length);
                stream.is_last = answer.length == 0;
                stream.awaits_input = false;
                (Phase::InputAnswer, Phase::Input)
            }
            // A server that has no room says so by an error.
            Some(Operation::NextOut) if answer.length == 0 => {
                return self.fail(card::Error::NoMemory as u64);
            }
            Some(Operation::NextOut) => {
                stream.output = Piece::new(answer.offset, answer.length);
                stream.has_asked = false;
                match stream.phase {
                    Phase::OutputAnswer => (Phase::OutputAnswer, stream.behind_output()),
                    phase => (phase, phase),
                }
            }
            Some(Operation::Commit) => (Phase::CommitAnswer, Phase::End),
            Some(Operation::End) => return self.end_with(Status::Ended),
            _ => return self.fail(card::Error::Invalid as u64),
        };
        let next = if stream.phase == phase {
            next
        } else {
            stream.phase
        };
        self.go_to(next);
    }

    /// A request of who writes into the local memory.
    fn take_request(&mut self, at: u64) {
        let Some((_, bytes, slot)) = self.payload::<REQUEST_SIZE>(at, REQUESTS_BUFFER) else {
            return self.fail(card::Error::Invalid as u64);
        };
        let block = self.description.block;
        let stream = &mut self.module.state.stream;
        stream.pending = Some(slot);
        let request = Request::from_bytes(&bytes);
        let operation = request.map(|request| request.operation);
        // Each request is about the piece that was granted before.
        let granted = std::mem::take(&mut stream.granted);
        stream.answer = match (operation, request) {
            (Some(Operation::NextOut), _) => {
                stream.filled = stream.filled.saturating_add(granted);
                PendingAnswer::Grant
            }
            (Some(Operation::Commit), Some(request)) => {
                stream.filled = stream.filled.saturating_add(request.first.min(granted));
                PendingAnswer::Done
            }
            (Some(Operation::End), _) => {
                stream.is_last = true;
                PendingAnswer::Done
            }
            _ => {
                stream.granted = granted;
                PendingAnswer::Invalid
            }
        };
        // A full block is computed before another one is granted.
        let waits = stream.answer == PendingAnswer::Grant && stream.filled >= block;
        self.go_to(if waits { Phase::Compute } else { Phase::Grant });
    }
}
