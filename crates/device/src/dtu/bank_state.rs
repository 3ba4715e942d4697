//! The bank of a hart at the unit: its registers, and the command that runs.
use flick_abi::dtu::{Command, CommandWord, NO_ACTIVITY};
use serde::{Deserialize, Serialize};

use super::confirmation::{MOST_SENT, Unconfirmed};
use super::data_transfer::DataTransfer;
use super::packet::CommandNumber;
use crate::device::Time;

/// A bank.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Bank {
    pub current: u16,
    pub window_base: u64,
    pub window_size: u64,
    pub address: u64,
    pub size: u64,
    pub offset: u64,
    pub label: u64,
    pub interrupt: u64,
    pub result: u64,
    /// The level of the hart's line.
    pub level: bool,
    /// The number of the last command.
    pub number: u64,
    pub running: Option<Running>,
}

/// A command that runs, with the registers as they were at its start. It is of the activity that
/// has started it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Running {
    /// The bits of its [`CommandWord`].
    pub word: u64,
    pub activity: u16,
    pub address: u64,
    pub size: u64,
    pub offset: u64,
    pub label: u64,
    /// Whether address and size are in the bank's window.
    pub in_window: bool,
    pub step: Step,
    /// How often what is under way was sent again without a confirmation.
    pub repeats: u8,
    /// A kernel has aborted it, and waits for its end. Whatever is written to `ENABLE` meanwhile changes nothing.
    pub is_aborted: bool,
}

/// How far a command is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Step {
    /// The unit's cycles for the command pass.
    Starts,
    /// The message of a `SEND` is under way.
    Sent(Unconfirmed),
    /// The answer of a `REPLY` is under way.
    Replied(Unconfirmed),
    /// The message of a `FORWARD` is under way.
    Forwarded(Unconfirmed),
    /// The message to a pager is under way.
    Asks(Unconfirmed),
    /// The pager has still to answer: this command's question, or another one.
    Faults { has_asked: bool },
    /// Packets of a `READ` or `WRITE` are under way.
    Transfers(DataTransfer),
    /// It sleeps until this time.
    Sleeps(Time),
}

impl Default for Bank {
    fn default() -> Self {
        Self {
            current: NO_ACTIVITY,
            window_base: 0,
            window_size: u64::MAX,
            address: 0,
            size: 0,
            offset: 0,
            label: 0,
            interrupt: 0,
            result: 0,
            level: false,
            number: 0,
            running: None,
        }
    }
}

impl Bank {
    /// Begins a command.
    pub fn start(&mut self, word: CommandWord) {
        self.number = self.number.wrapping_add(1);
        let start = self.address.checked_sub(self.window_base);
        let end = start.and_then(|start| start.checked_add(self.size));
        let wraps = self.address.checked_add(self.size).is_none();
        self.running = Some(Running {
            word: word.bits(),
            activity: self.current,
            address: self.address,
            size: self.size,
            offset: self.offset,
            label: self.label,
            in_window: !wraps && end.is_some_and(|end| end <= self.window_size),
            step: Step::Starts,
            repeats: 0,
            is_aborted: false,
        });
    }

    /// The command that runs, if it has this number and is at that step.
    pub fn running(&mut self, number: u64) -> Option<&mut Running> {
        let same = self.number == number;
        self.running.as_mut().filter(|_| same)
    }
}

impl Running {
    /// The command as written.
    pub fn word(&self) -> CommandWord {
        CommandWord::from_bits(self.word)
    }

    /// The command.
    pub fn command(&self) -> Option<Command> {
        Command::from_number(self.word().command)
    }

    /// Whether the state can be that of a command of a unit with packets of at most `packet` bytes.
    pub fn is_possible(&self, packet: u32) -> bool {
        let step = match (&self.step, self.command()) {
            (Step::Starts, command) => command.is_some(),
            (Step::Sent(sent), Some(Command::Send)) => {
                let cost = sent.message.cost;
                cost.is_some_and(|credit| credit.endpoint == self.word().endpoint)
            }
            (Step::Replied(sent), Some(Command::Reply)) => sent.message.cost.is_none(),
            (Step::Forwarded(_), Some(Command::Forward)) => true,
            (Step::Asks(sent), Some(Command::Read | Command::Write)) => sent.message.cost.is_some(),
            (Step::Faults { .. }, Some(Command::Read | Command::Write)) => true,
            (Step::Sleeps(_), Some(Command::Sleep)) => true,
            (Step::Transfers(transfer), Some(Command::Read | Command::Write)) => {
                transfer.is_possible(self.size, packet)
            }
            _ => false,
        };
        step && self.word().bits() == self.word && self.repeats < MOST_SENT
    }
}

/// The number by which other units know the command of a bank.
pub(super) fn command_number(bank: usize, number: u64) -> CommandNumber {
    CommandNumber {
        bank: bank as u8,
        number,
    }
}
