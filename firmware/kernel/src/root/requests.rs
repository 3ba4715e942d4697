//! What activities of accelerators of requests have besides others: a pager, and a module that waits for it.
use flick_abi::accelerator::{
    CONTEXT, CONTROL, Control, PAGED, PAGER, PAGES, STEPS_ERROR, STEPS_PHASE, STEPS_REPLY,
};
use flick_abi::card::Error;
use flick_abi::dtu::{
    self, ACCELERATOR_REGISTERS, Endpoint, PAGE_ANSWER_SIZE, PageAnswer, PageEntry, PageFault,
    PagesEndpoint,
};

use super::remote::NoAnswer;
use crate::dtu::Unit;

/// Endpoints of memory in which pages are.
const PAGED_ENDPOINTS: u16 = 5;
/// Endpoints of an accelerator that the module uses.
pub const ENDPOINTS: usize = (PAGED + PAGED_ENDPOINTS) as usize;

/// Endpoints that programs may set up, and whether they are for memory.
pub fn wants_memory(endpoint: u64) -> Option<bool> {
    const FIRST: u64 = PAGED as u64;
    const LAST: u64 = ENDPOINTS as u64 - 1;
    match endpoint {
        FIRST..=LAST => Some(true),
        pager if pager == PAGER.into() => Some(false),
        _ => None,
    }
}

/// The endpoint of pages, of which there are none before a program has set the pager up.
pub fn pages(activity: u16) -> Endpoint {
    Endpoint::Pages(PagesEndpoint::new(activity, PAGER))
}

/// The page that the pager names as an answer to a fault, or the error with which the request ends.
pub fn named_page(fault: PageFault, words: &[u64]) -> Result<PageEntry, Error> {
    let mut bytes = [0; PAGE_ANSWER_SIZE];
    for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    let answer = PageAnswer::from_bytes(&bytes);
    let allows = match fault.is_write {
        true => answer.can_write,
        false => answer.can_read,
    };
    match (answer.error, answer.can_read || answer.can_write, allows) {
        (0, true, true) => Ok(PageEntry {
            endpoint: PAGES,
            page: fault.page,
            memory: answer.memory,
            can_read: answer.can_read,
            can_write: answer.can_write,
            offset: answer.offset,
        }),
        (0, true, false) => Err(Error::NoAccess),
        _ => Err(Error::BadAddress),
    }
}

/// The module answers its request with an error when it goes on.
pub fn fail(registers: &mut [u64], error: Error) {
    let context = &mut registers[CONTEXT as usize / 8..];
    context[STEPS_PHASE] = STEPS_REPLY;
    context[STEPS_ERROR] = error as u64;
}

impl Unit {
    /// The module of a tile was told to stop. It does so between two steps, or while it waits for a line, but not
    /// while its command waits for the pager.
    pub fn leave_pager(&self, tile: u16) -> Result<(), NoAnswer> {
        match self.read_register(tile, dtu::endpoint_word(PAGES, 3))? {
            0 => Ok(()),
            _ => self.finish_commands(tile),
        }
    }

    /// The module's activity ends, which may wait for its pager.
    pub fn end_requests(&self, tile: u16) -> Result<(), NoAnswer> {
        let end = [Control::End as u64];
        self.write_registers(tile, ACCELERATOR_REGISTERS + CONTROL, &end)?;
        self.finish_commands(tile)
    }
}
