//! The state of a stream in an accelerator: where it is in its input and its output. A kernel can save it as words.
use flick_abi::accelerator::{ANSWERS, CONTEXT_WORDS, REQUESTS};
use serde::{Deserialize, Serialize};

use super::work::ModuleState;

/// What the module does next, or waits for (M3x, figure 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub(super) enum Phase {
    /// Looks for input of the next block.
    #[default]
    Input,
    /// Asks for a piece of input.
    AskInput,
    /// Waits for its answer.
    InputAnswer,
    /// Reads input.
    Read,
    /// Waits for a request of who writes into the local memory.
    Request,
    /// Answers it.
    Grant,
    /// The logic computes.
    Compute,
    /// Looks for room for output.
    Output,
    /// Asks for it.
    AskOutput,
    /// Waits for its answer.
    OutputAnswer,
    /// Writes output.
    Write,
    /// Says how much of the last piece was used.
    Commit,
    /// Waits for its answer.
    CommitAnswer,
    /// Says that no more output comes.
    End,
    /// Waits for its answer.
    EndAnswer,
}

impl Phase {
    const ALL: [Self; 15] = [
        Self::Input,
        Self::AskInput,
        Self::InputAnswer,
        Self::Read,
        Self::Request,
        Self::Grant,
        Self::Compute,
        Self::Output,
        Self::AskOutput,
        Self::OutputAnswer,
        Self::Write,
        Self::Commit,
        Self::CommitAnswer,
        Self::End,
        Self::EndAnswer,
    ];

    /// Whether the module may stop here, without a command that runs: what is to be done can be done later.
    pub fn is_stable(self) -> bool {
        !matches!(self, Self::Grant | Self::Compute)
    }

    /// What the module does in the phase, with a command or without.
    pub fn state(self, runs: bool) -> ModuleState {
        match self {
            Self::Read => ModuleState::Reads,
            Self::Write => ModuleState::Writes,
            Self::Input | Self::Compute | Self::Output => ModuleState::Rests,
            Self::AskInput | Self::Grant | Self::AskOutput | Self::Commit | Self::End => {
                ModuleState::Asks
            }
            _ if runs => ModuleState::Asks,
            _ => self.waits(),
        }
    }

    /// For what it waits in the phase.
    pub fn waits(self) -> ModuleState {
        match self {
            Self::Input
            | Self::AskInput
            | Self::InputAnswer
            | Self::Read
            | Self::Request
            | Self::Grant => ModuleState::WaitsForInput,
            _ => ModuleState::WaitsForOutput,
        }
    }
}

/// A piece of a file that the module has access to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Piece {
    /// The offset of its next byte in the memory endpoint.
    pub offset: u64,
    /// Bytes that are left.
    pub left: u64,
    /// Bytes that it had.
    pub size: u64,
}

impl Piece {
    /// A piece that a server has granted.
    pub fn new(offset: u64, size: u64) -> Self {
        Self {
            offset,
            left: size,
            size,
        }
    }

    /// So many bytes were used.
    pub fn advance(&mut self, bytes: u64) {
        self.offset = self.offset.wrapping_add(bytes);
        self.left = self.left.saturating_sub(bytes);
    }
}

/// What the module answers to who writes into its memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum PendingAnswer {
    /// What is free of the block.
    #[default]
    Grant,
    /// That it has taken note.
    Done,
    /// That it does not know the request.
    Invalid,
}

impl PendingAnswer {
    fn from_number(number: u64) -> Self {
        match number {
            0 => Self::Grant,
            1 => Self::Done,
            _ => Self::Invalid,
        }
    }
}

/// The state of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Stream {
    pub phase: Phase,
    pub input: Piece,
    pub output: Piece,
    /// Bytes of the block that are in the local memory.
    pub filled: u64,
    /// Bytes of the output there, and how many were written.
    pub computed: u64,
    pub written: u64,
    /// Bytes of the local memory that another accelerator may write now.
    pub granted: u64,
    /// A piece for output was asked for, and the answer has not come.
    pub has_asked: bool,
    /// The slot of its request, which has no answer yet.
    pub pending: Option<u8>,
    /// What that answer is.
    pub answer: PendingAnswer,
    /// No input follows.
    pub is_last: bool,
    pub blocks: u64,
    /// Of two buffers: the module works on the second one.
    pub is_second: bool,
    /// Of two buffers: the logic has got the block of the other one, or has made output of it, of so many bytes.
    pub has_other: bool,
    pub other: u64,
    /// Of two buffers: so many bytes of that output were written, since no input came.
    pub other_written: u64,
    /// Of two buffers: that output is looked after, and input of this buffer afterwards.
    pub is_early: bool,
    /// Of two buffers: a piece of input was asked for, and the answer has not come.
    pub awaits_input: bool,
    /// Of two buffers: the logic has got the last block.
    pub drains: bool,
}

const LAST: u64 = 1;
const PENDING: u64 = 2;
const ASKED: u64 = 4;
const SECOND: u64 = 8;
const OTHER: u64 = 16;
const DRAINS: u64 = 32;
const AWAITS: u64 = 64;
const EARLY: u64 = 128;

impl Stream {
    /// Bytes that can be read now, for a block of so many.
    pub fn readable(&self, block: u64) -> u64 {
        self.input.left.min(block.saturating_sub(self.filled))
    }

    /// Bytes of output that can be written now.
    pub fn writable(&self) -> u64 {
        let (computed, written) = match self.is_early {
            true => (self.other, self.other_written),
            false => (self.computed, self.written),
        };
        self.output.left.min(computed.saturating_sub(written))
    }

    /// Of two buffers: the module goes on with the other one, and its output. The logic gets the block of this one,
    /// which becomes so many bytes.
    pub fn change_buffers(&mut self, output: Option<u64>) {
        self.computed = if self.has_other { self.other } else { 0 };
        self.written = std::mem::take(&mut self.other_written);
        self.is_second = !self.is_second;
        self.has_other = output.is_some();
        self.other = output.unwrap_or(0);
    }

    /// The receive endpoints without whose messages the module cannot go on, a bit each.
    pub fn waits_for(&self, has_two_buffers: bool) -> u64 {
        let own = match self.phase {
            Phase::Request => 1 << REQUESTS,
            Phase::InputAnswer => 1 << ANSWERS,
            Phase::OutputAnswer | Phase::CommitAnswer | Phase::EndAnswer => return 1 << ANSWERS,
            _ => return 0,
        };
        // Output of the other buffer may be written meanwhile.
        match has_two_buffers && self.has_other && self.other_written < self.other {
            true if self.output.left > 0 || !self.has_asked => 0,
            true => own | 1 << ANSWERS,
            false => own,
        }
    }

    /// What comes behind a step for output: more output, or input again if the step was early.
    pub fn behind_output(&mut self) -> Phase {
        match std::mem::take(&mut self.is_early) {
            true => Phase::Input,
            false => Phase::Output,
        }
    }

    /// As a kernel saves it.
    pub fn words(&self) -> [u64; CONTEXT_WORDS] {
        let Self {
            phase,
            input,
            output,
            ..
        } = *self;
        let pending = self
            .pending
            .map_or(0, |slot| PENDING | u64::from(slot) << 8);
        let answer = (self.answer as u64) << 16;
        let asked = if self.has_asked { ASKED } else { 0 };
        let last = if self.is_last { LAST } else { 0 };
        let second = if self.is_second { SECOND } else { 0 };
        let other = if self.has_other { OTHER } else { 0 };
        let drains = if self.drains { DRAINS } else { 0 };
        let early = if self.is_early { EARLY } else { 0 };
        let awaits = if self.awaits_input { AWAITS } else { 0 };
        [
            phase as u64,
            last | pending | asked | second | other | drains | early | awaits | answer,
            input.offset,
            input.left,
            input.size,
            output.offset,
            output.left,
            output.size,
            self.filled,
            self.computed,
            self.written,
            self.granted,
            self.blocks,
            self.other,
            self.other_written,
            0,
        ]
    }

    /// A kernel restores a word. Those that cannot be have no effect.
    pub fn set_word(&mut self, word: usize, value: u64) {
        let field = match word {
            0 => {
                let phase = Phase::ALL.get(value.min(255) as usize);
                return self.phase = phase.filter(|p| p.is_stable()).copied().unwrap_or_default();
            }
            1 => {
                self.is_last = value & LAST != 0;
                self.has_asked = value & ASKED != 0;
                self.is_second = value & SECOND != 0;
                self.has_other = value & OTHER != 0;
                self.drains = value & DRAINS != 0;
                self.is_early = value & EARLY != 0;
                self.awaits_input = value & AWAITS != 0;
                self.answer = PendingAnswer::from_number(value >> 16 & 0xff);
                return self.pending = (value & PENDING != 0).then_some((value >> 8) as u8);
            }
            2 => &mut self.input.offset,
            3 => &mut self.input.left,
            4 => &mut self.input.size,
            5 => &mut self.output.offset,
            6 => &mut self.output.left,
            7 => &mut self.output.size,
            8 => &mut self.filled,
            9 => &mut self.computed,
            10 => &mut self.written,
            11 => &mut self.granted,
            12 => &mut self.blocks,
            13 => &mut self.other,
            14 => &mut self.other_written,
            _ => return,
        };
        *field = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let stream = Stream {
            phase: Phase::OutputAnswer,
            input: Piece::new(1, 2),
            output: Piece::new(3, 4),
            filled: 5,
            computed: 6,
            written: 7,
            granted: 8,
            has_asked: true,
            pending: Some(1),
            answer: PendingAnswer::Invalid,
            is_last: true,
            blocks: 9,
            is_second: true,
            has_other: true,
            other: 10,
            other_written: 11,
            is_early: true,
            awaits_input: true,
            drains: true,
        };
        let mut again = Stream::default();
        // The root's requests write the last word first.
        for (word, value) in stream.words().into_iter().enumerate().rev() {
            again.set_word(word, value);
        }
        assert_eq!(again, stream);
        // A module never stops while its logic computes.
        again.set_word(0, Phase::Compute as u64);
        assert_eq!(again.phase, Phase::Input);
        again.set_word(0, u64::MAX);
        assert_eq!(again.phase, Phase::Input);
        for (number, phase) in (0..).zip(Phase::ALL) {
            assert_eq!(phase as u64, number);
        }
    }
}
