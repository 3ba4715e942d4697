//! Root calls of host programs (`docs/host-files.md`). Their threads make them as programs of the tile do, and the
//! kernel hart executes all of them. It reaches the memory of their process by the copy unit.
use flick_abi::card::{Error, FOR_EVER, PAGE, RootCall, rights};
use flick_abi::descriptor::HOST_END;
use flick_abi::dtu::{Command, Error as UnitError};
use flick_abi::step_request::STEP_REQUEST_SIZE;

use super::gates::Gate;
use super::{Memory, Object, Sender};
use crate::csr;
use crate::kernel::{Answer, Caller, Kernel, value};

/// Words of the longest message of `gate_send`.
const LONGEST: usize = STEP_REQUEST_SIZE / 8;

impl Kernel {
    /// Is the caller a host program? Its hart does none of its calls.
    pub fn is_of_host(&self, caller: Caller) -> bool {
        caller.process == self.host.process
    }

    /// A host program has no clock of the card. It says how many microseconds a call waits at most.
    pub fn with_time_of_host(
        &self,
        caller: Caller,
        call: RootCall,
        mut arguments: [u64; 6],
    ) -> [u64; 6] {
        let place = match call {
            RootCall::ActivityWait => 1,
            RootCall::GateReceive => 2,
            RootCall::SessionOpen => 3,
            RootCall::GateCall => 4,
            RootCall::GateAnswerReceive => 5,
            _ => return arguments,
        };
        if self.is_of_host(caller) && arguments[place] != FOR_EVER {
            let ticks = u128::from(arguments[place]) * u128::from(self.map.frequency) / 1_000_000;
            let ticks = u64::try_from(ticks).unwrap_or(FOR_EVER);
            arguments[place] = csr::time().saturating_add(ticks);
        }
        arguments
    }

    /// As [`Kernel::each_piece`], of memory of the host's process: `f` gets a copy of each piece, which goes back there
    /// if it is for writing.
    pub fn each_host_piece(
        &mut self,
        address: u64,
        size: u64,
        right: u64,
        mut f: impl FnMut(&mut Self, u64, u64, u64),
    ) -> Result<(), Error> {
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let end = address.checked_add(size).filter(|&end| end <= HOST_END);
        end.ok_or(Error::BadAddress)?;
        let mut done = 0;
        while done < size {
            let at = address + done;
            let piece = (PAGE - at % PAGE).min(size - done);
            let here = self.host.page + at % PAGE;
            let copy = |command| {
                let copied = unit.copy_host_memory(command, at, here, piece);
                copied.map_err(|_| Error::BadAddress)
            };
            if right != rights::WRITE {
                copy(Command::Read)?;
            }
            f(self, here, piece, done);
            if right == rights::WRITE {
                copy(Command::Write)?;
            }
            done += piece;
        }
        Ok(())
    }

    /// Memory of the caller's process, as that of a tile.
    pub fn share_host_memory(&mut self, caller: Caller, range: (u64, u64), wanted: u64) -> Answer {
        let tile = self.map.host.filter(|_| self.is_of_host(caller));
        let tile = tile.ok_or(Error::NoCall)? as u16;
        if range.1 == 0 || wanted == 0 {
            return Err(Error::Invalid);
        }
        let memory = Memory::of(tile, 0, HOST_END).narrow(range, wanted)?;
        self.grant(caller.process, Object::Memory(memory), None)
    }

    /// Sends a message of the caller by the endpoint of a sender.
    pub fn send_for_host(
        &mut self,
        caller: Caller,
        (sender, gate): (&Sender, &Gate),
        (message, size): (u64, u64),
        label: u64,
    ) -> Answer {
        let mut words = [0; LONGEST];
        if size > STEP_REQUEST_SIZE as u64 || !size.is_multiple_of(8) {
            return Err(Error::Invalid);
        }
        let words = &mut words[..size as usize / 8];
        self.load_words(caller, message, words)?;
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let sent = self.with_gate(unit, gate, |unit| {
            unit.send_words(sender.own, (words, label), gate.endpoint)
        });
        match sent {
            Ok(()) => value(0),
            Err(UnitError::NoCredits | UnitError::NoSpace) => Err(Error::Again),
            Err(UnitError::Gone) => {
                // The message was refused, so that its credit is not back.
                sender.set_up(unit, gate);
                self.leave_sent(caller, (sender, gate), (message, size), label)
            }
            Err(_) => Err(Error::Dead),
        }
    }
}
