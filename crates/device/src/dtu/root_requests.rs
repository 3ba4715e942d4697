//! What only the root of the machine does: it reaches registers of the unit from its own tile, and forwards messages.
use flick_abi::dtu::{
    self, Endpoint, Error, FORWARDED_HEADER_SIZE, ForwardedHeader, HEADER_SIZE, Header, INVALIDATE,
    Invalidation, MOST_ENDPOINTS, MOST_SLOTS, PAGE_ENTRIES, RECEIVE_ENDPOINTS, ROOT_REGISTERS,
    RegisterEndpoint, SlotRecord,
};
use serde::{Deserialize, Serialize};

use super::Dtu;
use super::bank_state::{Running, Step, command_number};
use super::command_execution::{Execution, Next, read_local};
use super::data_transfer::DataTransfer;
use super::endpoint_table::Held;
use super::packet::{Credit, Message};
use crate::device::Surroundings;

/// Bytes of a register.
const WORD: usize = 8;

/// Words 1 to 3 of a slot's record, which word 0 makes valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct RecordWords([u64; 3]);

/// A register that only the root reaches.
enum RootRegister {
    Gone(u16),
    Record(u16, u8, usize),
    Invalidate,
    /// A word of an entry of pages.
    PageEntry(usize, usize),
    /// One of the accelerator, from its first on.
    OfAccelerator(u64),
}

impl RootRegister {
    fn at(offset: u64) -> Option<Self> {
        let word = (offset / WORD as u64 % 4) as usize;
        Some(match offset {
            dtu::ACCELERATOR_REGISTERS.. => {
                Self::OfAccelerator(offset - dtu::ACCELERATOR_REGISTERS)
            }
            _ if offset >= dtu::slot_record(0, 0) => {
                let record = offset - dtu::slot_record(0, 0);
                let endpoint = (record / 0x400) as u16;
                Self::Record(endpoint, (record % 0x400 / 32) as u8, word)
            }
            INVALIDATE => Self::Invalidate,
            _ if offset >= dtu::page_entry(0, 0) => {
                let entry = (offset - dtu::page_entry(0, 0)) / 32;
                return (entry < PAGE_ENTRIES as u64)
                    .then_some(Self::PageEntry(entry as usize, word));
            }
            _ => {
                let endpoint = (offset.checked_sub(dtu::gone(0))? / WORD as u64) as u16;
                return (endpoint < MOST_ENDPOINTS).then_some(Self::Gone(endpoint));
            }
        })
    }
}

const _: () = assert!(dtu::slot_record(RECEIVE_ENDPOINTS - 1, MOST_SLOTS - 1).is_multiple_of(32));

impl Dtu {
    /// The root reads registers from an offset on.
    pub(super) fn read_registers(
        &self,
        offset: u64,
        bytes: &mut [u8],
        around: &mut dyn Surroundings,
    ) -> Result<(), Error> {
        check_range(offset, bytes.len())?;
        for (offset, word) in (offset..).step_by(WORD).zip(bytes.chunks_exact_mut(WORD)) {
            let value = match offset >= ROOT_REGISTERS {
                true => self.read_for_root(offset, around)?,
                false => {
                    let register = self.kernel_register(offset);
                    register.map_or(0, |register| self.read_kernel_page(register))
                }
            };
            word.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    }

    /// The root writes registers from an offset on: the last one first, so that word 0 of an endpoint or of a
    /// record comes behind the others.
    pub(super) fn write_registers(
        &mut self,
        offset: u64,
        bytes: &[u8],
        around: &mut dyn Surroundings,
    ) -> Result<(), Error> {
        check_range(offset, bytes.len())?;
        for (n, word) in bytes.chunks_exact(WORD).enumerate().rev() {
            let offset = offset + (WORD * n) as u64;
            let value = u64::from_le_bytes(word.try_into().unwrap_or_default());
            match offset >= ROOT_REGISTERS {
                true => self.write_for_root(offset, value, around)?,
                false => {
                    if let Some(register) = self.kernel_register(offset) {
                        self.write_kernel_page(register, value, around);
                    }
                }
            }
        }
        Ok(())
    }

    fn read_for_root(&self, offset: u64, around: &mut dyn Surroundings) -> Result<u64, Error> {
        match RootRegister::at(offset) {
            Some(RootRegister::Gone(endpoint)) => {
                let table = self.state.endpoints.get(usize::from(endpoint));
                Ok(table.map_or(0, |table| table.gone_word()))
            }
            Some(RootRegister::Record(endpoint, slot, word)) => {
                let table = self.state.endpoints.get(usize::from(endpoint));
                let held = table.and_then(|table| table.known(slot));
                Ok(held.map_or(SlotRecord::NONE, |held| held.record().words())[word])
            }
            Some(RootRegister::Invalidate) => Ok(self.has_stale_transfers().into()),
            Some(RootRegister::PageEntry(entry, word)) => Ok(self.state.pages.word(entry, word)),
            Some(RootRegister::OfAccelerator(offset)) => {
                let value = around.read_register(offset);
                value.map_err(|_| Error::OutOfBounds)
            }
            None => Ok(0),
        }
    }

    fn write_for_root(
        &mut self,
        offset: u64,
        value: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), Error> {
        match RootRegister::at(offset) {
            Some(RootRegister::Gone(endpoint)) => {
                let table = self.state.endpoints.get_mut(usize::from(endpoint));
                let took = table.is_some_and(|table| table.take_gone());
                if took { Ok(()) } else { Err(Error::NoCredits) }
            }
            Some(RootRegister::Record(endpoint, slot, 0)) => {
                let RecordWords([label, credit, rest]) = self.state.record;
                let record = SlotRecord::from_words([value, label, credit, rest]);
                let table = self.state.endpoints.get_mut(usize::from(endpoint));
                let is_set = table.is_some_and(|table| table.set_known(slot, record));
                if is_set { Ok(()) } else { Err(Error::NoAnswer) }
            }
            Some(RootRegister::Record(_, _, word)) => {
                self.state.record.0[word - 1] = value;
                Ok(())
            }
            Some(RootRegister::Invalidate) => {
                self.invalidate(Invalidation::from_bits(value));
                Ok(())
            }
            Some(RootRegister::PageEntry(entry, word)) => {
                self.state.pages.set_word(entry, word, value);
                Ok(())
            }
            Some(RootRegister::OfAccelerator(offset)) => {
                let written = around.write_register(offset, value);
                written.map_err(|_| Error::OutOfBounds)
            }
            None => Ok(()),
        }
    }

    /// Sends a message in the name of another sender, for the root. The header in front of the payload says
    /// whose message it is. It costs no credit of the endpoint: its sender has paid.
    pub(super) fn execute_forward(
        &mut self,
        index: usize,
        running: &Running,
        around: &mut dyn Surroundings,
    ) -> Execution {
        let endpoint = self.endpoint_of(running.word().endpoint, running.activity);
        let Some(Endpoint::Send(send)) = endpoint else {
            return Err(Error::NoEndpoint);
        };
        if !self.description.is_root {
            return Err(Error::NoRight);
        }
        let payload = running.size.checked_sub(FORWARDED_HEADER_SIZE as u64);
        let payload = payload.ok_or(Error::OutOfBounds)?;
        if payload + HEADER_SIZE as u64 > send.message_size().min(self.description.message.into()) {
            return Err(Error::OutOfBounds);
        }
        let mut bytes = [0; FORWARDED_HEADER_SIZE];
        read_local(running, 0, &mut bytes, around)?;
        let forwarded = ForwardedHeader::from_bytes(&bytes);
        let mut bytes = vec![0; payload as usize];
        read_local(running, FORWARDED_HEADER_SIZE as u64, &mut bytes, around)?;
        let credit = forwarded.has_credit.then_some(Credit {
            endpoint: forwarded.credit_endpoint,
            setup: forwarded.credit_setup,
        });
        let header = Header {
            size: payload as u16,
            ..forwarded.header
        };
        let (cost, refund) = match header.is_answer() {
            true => (None, credit),
            false => (credit, None),
        };
        let message = Message {
            endpoint: send.endpoint,
            receiver: send.receiver,
            header: header.bytes(),
            payload: bytes,
            cost,
            refund,
        };
        let number = command_number(index, self.state.banks[index].number);
        let sent = self.send_message(send.tile, number, message, around)?;
        Ok(Next::Waits(Step::Forwarded(sent)))
    }

    /// A `READ` or `WRITE` of the registers of a tile, for the root.
    pub(super) fn registers_transfer(
        &self,
        running: &Running,
        endpoint: RegisterEndpoint,
    ) -> Execution {
        let is_of_words = (running.offset | running.size).is_multiple_of(8);
        match running.offset.checked_add(running.size) {
            _ if !self.description.is_root => Err(Error::NoRight),
            Some(_) if running.size == 0 => Ok(Next::Ends(0)),
            Some(_) if !running.in_window => Err(Error::NoMemory),
            Some(_) if is_of_words => {
                let transfer = DataTransfer::of_registers(endpoint.tile, running.offset);
                Ok(Next::Waits(Step::Transfers(transfer)))
            }
            _ => Err(Error::OutOfBounds),
        }
    }

    /// The receiver's activity of a send endpoint's message was suspended.
    pub(super) fn note_gone(&mut self, credit: Credit) {
        if let Some(table) = self.state.endpoints.get_mut(usize::from(credit.endpoint))
            && matches!(table.endpoint(), Some(Endpoint::Send(_)))
        {
            table.note_gone(credit);
        }
    }
}

/// Whole registers, of the pages of the kernel or behind them.
fn check_range(offset: u64, size: usize) -> Result<(), Error> {
    let is_of_words = offset.is_multiple_of(WORD as u64) && size.is_multiple_of(WORD);
    let ends = offset.checked_add(size as u64).is_some();
    match is_of_words && ends && offset >= dtu::PAGE {
        true => Ok(()),
        false => Err(Error::OutOfBounds),
    }
}

impl Held {
    fn record(&self) -> SlotRecord {
        SlotRecord {
            tile: self.tile,
            activity: self.activity,
            answer: self.answer,
            label: self.label,
            credit: self.cost.map(|cost| (cost.endpoint, cost.setup)),
        }
    }

    /// From a record that the root has written.
    pub(super) fn of_record(record: SlotRecord) -> Self {
        Self {
            tile: record.tile,
            activity: record.activity,
            answer: record.answer,
            label: record.label,
            cost: record
                .credit
                .map(|(endpoint, setup)| Credit { endpoint, setup }),
            replying: None,
        }
    }
}
