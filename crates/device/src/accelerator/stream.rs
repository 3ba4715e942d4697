//! The state of a stream in an accelerator: where it is in its input and its output. A kernel can save it as words.
use flick_abi::accelerator::CONTEXT_WORDS;
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
}

const LAST: u64 = 1;
const PENDING: u64 = 2;
const ASKED: u64 = 4;

impl Stream {
    /// Bytes that can be read now, for a block of so many.
    pub fn readable(&self, block: u64) -> u64 {
        self.input.left.min(block.saturating_sub(self.filled))
    }

    /// Bytes of output that can be written now.
    pub fn writable(&self) -> u64 {
        self.output
            .left
            .min(self.computed.saturating_sub(self.written))
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
        [
            phase as u64,
            last | pending | asked | answer,
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
            0,
            0,
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
        };
        let mut again = Stream::default();
        for (word, value) in stream.words().into_iter().enumerate() {
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
