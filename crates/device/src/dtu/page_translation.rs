//! `READ` and `WRITE` through pages: the entries of the unit, and what it does about a page that is missing.
use flick_abi::dtu::{
    Command, Endpoint, Error, HEADER_SIZE, Header, Invalidation, NO_ANSWER_ENDPOINT,
    PAGE_ANSWER_SIZE, PAGE_ENTRIES, PAGE_FAULT_SIZE, PAGE_SIZE, PageAnswer, PageEntry, PageFault,
    PagesEndpoint, page_of,
};
use serde::{Deserialize, Serialize};

use super::Dtu;
use super::bank_state::{Running, Step, command_number};
use super::command_execution::{Execution, Next};
use super::data_transfer::DataTransfer;
use super::packet::Message;
use crate::device::{Surroundings, Time};

/// The entries of a unit, for all its endpoints of pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct PageTable {
    /// Their words; those behind are 0.
    entries: Vec<[u64; 3]>,
    /// The entry that the next page takes when all are used.
    next: u16,
}

impl PageTable {
    /// A word as the root reads it.
    pub fn word(&self, entry: usize, word: usize) -> u64 {
        let words = self.entries.get(entry);
        words
            .and_then(|words| words.get(word))
            .map_or(0, |&word| word)
    }

    /// The root writes a word.
    pub fn set_word(&mut self, entry: usize, word: usize, value: u64) {
        if entry < PAGE_ENTRIES && word < 3 {
            if self.entries.len() <= entry {
                self.entries.resize(entry + 1, [0; 3]);
            }
            self.entries[entry][word] = value;
        }
    }

    fn position(&self, endpoint: u16, page: u64) -> Option<usize> {
        self.entries.iter().position(|&words| {
            let entry = PageEntry::from_words(words);
            entry.is_some_and(|entry| (entry.endpoint, entry.page) == (endpoint, page))
        })
    }

    fn find(&self, endpoint: u16, page: u64) -> Option<PageEntry> {
        let position = self.position(endpoint, page)?;
        PageEntry::from_words(self.entries[position])
    }

    fn insert(&mut self, entry: PageEntry) {
        let is_free = |words: &[u64; 3]| PageEntry::from_words(*words).is_none();
        let at = self.position(entry.endpoint, entry.page);
        let at = at.or_else(|| self.entries.iter().position(is_free));
        match at {
            Some(at) => self.entries[at] = entry.words(),
            None if self.entries.len() < PAGE_ENTRIES => self.entries.push(entry.words()),
            None => {
                let at = usize::from(self.next) % PAGE_ENTRIES;
                self.entries[at] = entry.words();
                self.next = (at + 1) as u16;
            }
        }
    }

    /// Takes pages away.
    pub fn remove(&mut self, invalidation: Invalidation) {
        for words in &mut self.entries {
            let entry = PageEntry::from_words(*words);
            if entry.is_some_and(|entry| invalidation.takes(entry.endpoint, entry.page)) {
                *words = [0; 3];
            }
        }
    }

    /// Whether a unit can have these.
    pub fn is_possible(&self) -> bool {
        self.entries.len() <= PAGE_ENTRIES
    }
}

/// What a `READ` or `WRITE` of pages needs.
fn fault_of(running: &Running) -> PageFault {
    PageFault {
        page: page_of(running.offset),
        is_write: running.command() == Some(Command::Write),
    }
}

impl Dtu {
    /// The endpoint of pages that a command uses.
    fn pages_of(&self, running: &Running) -> Option<PagesEndpoint> {
        match self.endpoint_of(running.word().endpoint, running.activity) {
            Some(Endpoint::Pages(pages)) => Some(pages),
            _ => None,
        }
    }

    /// A `READ` or `WRITE` of a page. It asks the pager for a page that is missing.
    pub(super) fn execute_by_pages(
        &mut self,
        index: usize,
        running: &Running,
        around: &mut dyn Surroundings,
    ) -> Execution {
        let pages = self.pages_of(running).ok_or(Error::NoEndpoint)?;
        let end = (running.offset % PAGE_SIZE).checked_add(running.size);
        if end.is_none_or(|end| end > PAGE_SIZE) {
            return Err(Error::OutOfBounds);
        }
        if running.size == 0 {
            return Ok(Next::Ends(0));
        }
        if !running.in_window {
            return Err(Error::NoMemory);
        }
        let fault = fault_of(running);
        match (self.transfer_of_page(running), pages.pending) {
            (Some(transfer), _) => Ok(Next::Waits(Step::Transfers(transfer?))),
            (None, Some(pending)) => {
                let has_asked = pending == fault;
                Ok(Next::Waits(Step::Faults { has_asked }))
            }
            (None, None) => self.ask_pager(index, running, pages, fault, around),
        }
    }

    /// The transfer to where the command's page is. `None`: no entry has the page with this right.
    fn transfer_of_page(&self, running: &Running) -> Option<Result<DataTransfer, Error>> {
        self.pages_of(running)?;
        let fault = fault_of(running);
        let entry = self.state.pages.find(running.word().endpoint, fault.page)?;
        let allows = |can_read, can_write| if fault.is_write { can_write } else { can_read };
        if !allows(entry.can_read, entry.can_write) {
            return None;
        }
        let Some(Endpoint::Memory(memory)) = self.endpoint_of(entry.memory, running.activity)
        else {
            return Some(Err(Error::NoEndpoint));
        };
        if !allows(memory.can_read, memory.can_write) {
            return Some(Err(Error::NoRight));
        }
        let offset = entry.offset.checked_add(running.offset % PAGE_SIZE);
        let end = offset.and_then(|offset| offset.checked_add(running.size));
        let (Some(offset), true) = (offset, end.is_some_and(|end| end <= memory.size)) else {
            return Some(Err(Error::OutOfBounds));
        };
        let remote = memory.address.checked_add(offset);
        let remote = remote.filter(|remote| remote.checked_add(running.size - 1).is_some());
        Some(match remote {
            Some(remote) => Ok(DataTransfer::of_page(memory.tile, remote, memory.receiver)),
            None => Err(Error::NoMemory),
        })
    }

    /// Sends a message to the pager, which the endpoint of pages takes the answer to.
    fn ask_pager(
        &mut self,
        index: usize,
        running: &Running,
        mut pages: PagesEndpoint,
        fault: PageFault,
        around: &mut dyn Surroundings,
    ) -> Execution {
        let number = running.word().endpoint;
        let send = match pages.pager {
            NO_ANSWER_ENDPOINT => None,
            pager => self.endpoint_of(pager, running.activity),
        };
        let Some(Endpoint::Send(send)) = send else {
            return Err(Error::NoPage);
        };
        if send.credits == 0 {
            return Err(Error::NoCredits);
        }
        let most = send.message_size().min(self.description.message.into());
        if (HEADER_SIZE + PAGE_FAULT_SIZE) as u64 > most {
            return Err(Error::OutOfBounds);
        }
        pages.faults = pages.faults.wrapping_add(1);
        pages.pending = Some(fault);
        let header = Header {
            tile: self.description.tile as u8,
            endpoint: pages.pager as u8,
            answer_endpoint: number as u8,
            size: PAGE_FAULT_SIZE as u16,
            activity: running.activity,
            answer_label: pages.faults,
            label: send.label,
            ..Header::default()
        };
        let command = command_number(index, self.state.banks[index].number);
        let credit = self.state.endpoints[usize::from(pages.pager)].spend(send, pages.pager);
        let message = Message {
            endpoint: send.endpoint,
            receiver: send.receiver,
            header: header.bytes(),
            payload: fault.bytes().into(),
            cost: Some(credit),
            refund: None,
        };
        match self.send_message(send.tile, command, message, around) {
            Ok(sent) => {
                self.state.endpoints[usize::from(number)].set(Endpoint::Pages(pages));
                Ok(Next::Waits(Step::Asks(sent)))
            }
            Err(error) => {
                self.refund(credit);
                Err(error)
            }
        }
    }

    /// Whether the pager has still to answer what a bank has asked.
    fn awaits_answer(&self, running: &Running) -> bool {
        let Step::Asks(sent) = &running.step else {
            return false;
        };
        let label = Header::from_bytes(&sent.message.header).answer_label;
        let pages = self.pages_of(running);
        pages.is_some_and(|pages| pages.pending.is_some() && pages.faults == label)
    }

    /// A message to the pager has arrived, or could not be delivered.
    pub(super) fn has_asked(&mut self, index: usize, error: Error, around: &mut dyn Surroundings) {
        let Some(running) = self.state.banks[index].running.clone() else {
            return;
        };
        let number = running.word().endpoint;
        let awaits = self.awaits_answer(&running);
        match error {
            Error::None if awaits && !running.is_aborted => {
                if let Some(running) = &mut self.state.banks[index].running {
                    running.step = Step::Faults { has_asked: true };
                    running.repeats = 0;
                }
                around.schedule(index as u32, Time::MAX);
            }
            Error::None => self.finish(index, Error::Aborted, 0, around),
            _ => {
                if awaits {
                    self.forget_fault(number);
                }
                self.finish(index, error, 0, around);
            }
        }
    }

    /// An answer to the fault of an endpoint will not count.
    fn forget_fault(&mut self, number: u16) {
        if let Some(table) = self.state.endpoints.get_mut(usize::from(number))
            && let Some(Endpoint::Pages(pages)) = table.endpoint()
        {
            table.set(Endpoint::Pages(PagesEndpoint {
                pending: None,
                ..pages
            }));
        }
    }

    /// The pager answers. It may answer a fault that nobody waits for any more.
    pub(super) fn take_page_answer(
        &mut self,
        number: u16,
        pages: PagesEndpoint,
        message: &Message,
        around: &mut dyn Surroundings,
    ) {
        let label = Header::from_bytes(&message.header).label;
        let Some(fault) = pages.pending.filter(|_| label == pages.faults) else {
            return;
        };
        self.forget_fault(number);
        // What a short answer lacks is 0, so it has no rights.
        let mut bytes = [0; PAGE_ANSWER_SIZE];
        let size = message.payload.len().min(PAGE_ANSWER_SIZE);
        bytes[..size].copy_from_slice(&message.payload[..size]);
        let answer = PageAnswer::from_bytes(&bytes);
        let has_page = answer.error == 0 && (answer.can_read || answer.can_write);
        if has_page {
            self.state.pages.insert(PageEntry {
                endpoint: number,
                page: fault.page,
                memory: answer.memory,
                can_read: answer.can_read,
                can_write: answer.can_write,
                offset: answer.offset,
            });
        }
        for index in 0..self.state.banks.len() {
            let Some(running) = self.state.banks[index].running.clone() else {
                continue;
            };
            let asks = matches!(
                running.step,
                Step::Asks(_) | Step::Faults { has_asked: true }
            );
            let is_its = running.word().endpoint == number && running.activity == pages.activity;
            if !asks || !is_its || fault_of(&running) != fault {
                continue;
            }
            match (has_page, self.transfer_of_page(&running)) {
                (false, _) => self.finish(index, Error::NoPage, 0, around),
                (true, None) => self.finish(index, Error::NoRight, 0, around),
                (true, Some(_)) => self.execute_again(index, running, around),
            }
        }
    }

    /// A command that has waited for a page is executed.
    fn execute_again(&mut self, index: usize, running: Running, around: &mut dyn Surroundings) {
        if running.is_aborted {
            return self.finish(index, Error::Aborted, 0, around);
        }
        // The packets of the transfer are of another command than the message, which may have gone to the same tile.
        let bank = &mut self.state.banks[index];
        bank.number = bank.number.wrapping_add(1);
        if let Some(running) = &mut bank.running {
            running.repeats = 0;
        }
        let next = self.execute_by_pages(index, &running, around);
        self.go_on_with(index, next, around);
    }

    /// Commands that wait for a page go on, if there is nothing to wait for any more.
    pub(super) fn go_on_with_pages(&mut self, around: &mut dyn Surroundings) {
        for index in 0..self.state.banks.len() {
            let Some(running) = &self.state.banks[index].running else {
                continue;
            };
            let Step::Faults { has_asked } = running.step else {
                continue;
            };
            let running = running.clone();
            let pending = self.pages_of(&running).map(|pages| pages.pending);
            match (has_asked, pending) {
                (true, Some(Some(pending))) if pending == fault_of(&running) => {}
                // A kernel has taken the page or the endpoint away.
                (true, _) | (_, None) => self.finish(index, Error::Aborted, 0, around),
                (false, Some(pending)) => {
                    if pending.is_none() || self.transfer_of_page(&running).is_some() {
                        self.execute_again(index, running, around);
                    }
                }
            }
        }
    }

    /// Whether a bank's transfer goes to where its page is not any more.
    fn is_stale(&self, index: usize) -> bool {
        let Some(running) = &self.state.banks[index].running else {
            return false;
        };
        let Step::Transfers(transfer) = &running.step else {
            return false;
        };
        let now = self.transfer_of_page(running);
        let is_there =
            |now: DataTransfer| (now.tile, now.remote) == (transfer.tile, transfer.remote);
        transfer.is_of_page && !now.and_then(Result::ok).is_some_and(is_there)
    }

    /// [`INVALIDATE`](flick_abi::dtu::INVALIDATE) as the root reads it.
    pub(super) fn has_stale_transfers(&self) -> bool {
        (0..self.state.banks.len()).any(|index| self.is_stale(index))
    }

    /// The root takes pages away. Transfers of them send no more packets, as when they are aborted.
    pub(super) fn invalidate(&mut self, invalidation: Invalidation) {
        self.state.pages.remove(invalidation);
        let number = u16::from(invalidation.endpoint);
        let table = self.state.endpoints.get(usize::from(number));
        if let Some(Endpoint::Pages(pages)) = table.and_then(|table| table.endpoint())
            && pages
                .pending
                .is_some_and(|fault| invalidation.takes(number, fault.page))
        {
            self.forget_fault(number);
        }
        for index in 0..self.state.banks.len() {
            if self.is_stale(index)
                && let Some(running) = &mut self.state.banks[index].running
                && let Step::Transfers(transfer) = &mut running.step
            {
                transfer.abort(running.size);
            }
        }
    }
}
