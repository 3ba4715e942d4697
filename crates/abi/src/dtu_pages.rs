//! Translation of addresses by a data transfer unit (`docs/dtu.md`, "Pages"): entries, and what unit and pager say
//! to each other.
//!
//! ```
//! use flick_abi::dtu::{PageAnswer, PageFault};
//!
//! let fault = PageFault { page: 0x4000, is_write: false };
//! assert_eq!(PageFault::from_bytes(&fault.bytes()), fault);
//! // The page is at 8192 of memory endpoint 11, to be read.
//! let answer = PageAnswer { error: 0, memory: 11, can_read: true, can_write: false, offset: 8192 };
//! assert_eq!(PageAnswer::from_bytes(&answer.bytes()), answer);
//! ```
use crate::file_protocol::{from_words, words};

/// Bytes of a page.
pub const PAGE_SIZE: u64 = 4096;
/// Entries of a unit.
pub const PAGE_ENTRIES: usize = 256;
/// Of the root: a write takes an entry away ([`Invalidation`]). Reads as 1 while a transfer runs whose page was taken
/// away.
pub const INVALIDATE: u64 = 0x1_8000;

/// A word of an entry ([`PageEntry::words`]), of the root.
pub const fn page_entry(entry: usize, word: usize) -> u64 {
    0x1_9000 + 32 * entry as u64 + 8 * word as u64
}

/// Bytes of a [`PageFault`].
pub const PAGE_FAULT_SIZE: usize = 24;
/// Bytes of a [`PageAnswer`].
pub const PAGE_ANSWER_SIZE: usize = 24;

const CAN_READ: u64 = 1;
const CAN_WRITE: u64 = 2;
const ALL_PAGES: u64 = 1 << 8;

/// An endpoint reaches memory by addresses of its own, through other endpoints of its activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PagesEndpoint {
    /// Its owner.
    pub activity: u16,
    /// The send endpoint to the pager, or [`NO_ANSWER_ENDPOINT`](crate::dtu::NO_ANSWER_ENDPOINT).
    pub pager: u16,
    /// Faults that were sent to the pager: the label of the last one.
    pub faults: u64,
    /// The fault that the pager has not answered.
    pub pending: Option<PageFault>,
}

impl PagesEndpoint {
    /// An endpoint without pages and faults.
    pub const fn new(activity: u16, pager: u16) -> Self {
        Self {
            activity,
            pager,
            faults: 0,
            pending: None,
        }
    }

    pub(crate) const fn state(&self) -> u64 {
        match self.pending {
            None => 0,
            Some(fault) => 1 | (fault.is_write as u64) << 1 | fault.page,
        }
    }

    pub(crate) const fn pending(state: u64) -> Option<PageFault> {
        match state & 1 {
            0 => None,
            _ => Some(PageFault {
                page: page_of(state),
                is_write: state & 2 != 0,
            }),
        }
    }
}

/// The page of an address.
pub const fn page_of(address: u64) -> u64 {
    address & !(PAGE_SIZE - 1)
}

/// A page of a [`PagesEndpoint`], and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageEntry {
    /// The endpoint.
    pub endpoint: u16,
    /// The address of the page.
    pub page: u64,
    /// The memory endpoint through which it is reached.
    pub memory: u16,
    /// Whether it may be read.
    pub can_read: bool,
    /// Whether it may be written.
    pub can_write: bool,
    /// Where it is in the memory endpoint.
    pub offset: u64,
}

impl PageEntry {
    /// The words.
    pub const fn words(&self) -> [u64; 3] {
        [
            page_of(self.page) | rights(self.can_read, self.can_write),
            self.endpoint as u64 | (self.memory as u64) << 16,
            self.offset,
        ]
    }

    /// From the words. `None`: a page that cannot be read or written is none.
    pub const fn from_words(words: [u64; 3]) -> Option<Self> {
        let [first, second, offset] = words;
        match first & (CAN_READ | CAN_WRITE) {
            0 => None,
            _ => Some(Self {
                endpoint: second as u16,
                page: page_of(first),
                memory: (second >> 16) as u16,
                can_read: first & CAN_READ != 0,
                can_write: first & CAN_WRITE != 0,
                offset,
            }),
        }
    }
}

/// What a write of [`INVALIDATE`] takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Invalidation {
    /// The endpoint whose page it is.
    pub endpoint: u8,
    /// The page. `None`: all of the endpoint.
    pub page: Option<u64>,
}

impl Invalidation {
    /// As in the register.
    pub const fn bits(self) -> u64 {
        let endpoint = self.endpoint as u64;
        match self.page {
            Some(page) => endpoint | page_of(page),
            None => endpoint | ALL_PAGES,
        }
    }

    /// From the register.
    pub const fn from_bits(bits: u64) -> Self {
        Self {
            endpoint: bits as u8,
            page: match bits & ALL_PAGES {
                0 => Some(page_of(bits)),
                _ => None,
            },
        }
    }

    /// Whether it takes a page of an endpoint away.
    pub const fn takes(self, endpoint: u16, page: u64) -> bool {
        let is_its = match self.page {
            Some(own) => own == page_of(page),
            None => true,
        };
        is_its && self.endpoint as u16 == endpoint
    }
}

/// What a unit tells a pager: the payload of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageFault {
    /// The address of the page that is missing.
    pub page: u64,
    /// Whether it is to be written.
    pub is_write: bool,
}

impl PageFault {
    /// As in a message.
    pub fn bytes(&self) -> [u8; PAGE_FAULT_SIZE] {
        words([self.page, rights(!self.is_write, self.is_write), 0])
    }

    /// From a message.
    pub fn from_bytes(bytes: &[u8; PAGE_FAULT_SIZE]) -> Self {
        let [page, right, _] = from_words(bytes);
        Self {
            page: page_of(page),
            is_write: right & CAN_WRITE != 0,
        }
    }
}

/// What a pager answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageAnswer {
    /// 0, or another number if there is no such page.
    pub error: u64,
    /// The memory endpoint of the activity through which the page is reached.
    pub memory: u16,
    /// Whether it may be read.
    pub can_read: bool,
    /// Whether it may be written.
    pub can_write: bool,
    /// Where it is in the memory endpoint.
    pub offset: u64,
}

impl PageAnswer {
    /// As in a message.
    pub fn bytes(&self) -> [u8; PAGE_ANSWER_SIZE] {
        let second = rights(self.can_read, self.can_write) | (self.memory as u64) << 16;
        words([self.error, second, self.offset])
    }

    /// From a message.
    pub fn from_bytes(bytes: &[u8; PAGE_ANSWER_SIZE]) -> Self {
        let [error, second, offset] = from_words(bytes);
        Self {
            error,
            memory: (second >> 16) as u16,
            can_read: second & CAN_READ != 0,
            can_write: second & CAN_WRITE != 0,
            offset,
        }
    }
}

const fn rights(can_read: bool, can_write: bool) -> u64 {
    (can_read as u64 * CAN_READ) | (can_write as u64 * CAN_WRITE)
}

const _: () = assert!(crate::dtu::gone(crate::dtu::MOST_ENDPOINTS) <= INVALIDATE);
const _: () = assert!(page_entry(PAGE_ENTRIES, 0) <= crate::dtu::slot_record(0, 0));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_bits_of_the_page() {
        let entry = PageEntry {
            endpoint: 9,
            page: 0x5000,
            memory: 11,
            can_read: true,
            can_write: true,
            offset: 0x2000,
        };
        assert_eq!(entry.words(), [0x5003, 0xb_0009, 0x2000]);
        assert_eq!(PageEntry::from_words(entry.words()), Some(entry));
        assert_eq!(PageEntry::from_words([0x5000, 0xb_0009, 0x2000]), None);
        for (page, bits) in [(Some(0x5000), 0x5009), (None, 0x109)] {
            let invalidation = Invalidation { endpoint: 9, page };
            assert_eq!(invalidation.bits(), bits);
            assert_eq!(Invalidation::from_bits(bits), invalidation);
            assert!(invalidation.takes(9, 0x5abc) && !invalidation.takes(8, 0x5000));
            assert_eq!(invalidation.takes(9, 0x6000), page.is_none());
        }
        let mut endpoint = PagesEndpoint::new(7, 10);
        assert_eq!(endpoint.state(), 0);
        endpoint.pending = Some(PageFault {
            page: 0x5000,
            is_write: true,
        });
        assert_eq!(endpoint.state(), 0x5003);
        assert_eq!(PagesEndpoint::pending(0x5003), endpoint.pending);
        let fault = PageFault {
            page: 0x5000,
            is_write: true,
        };
        assert_eq!((fault.bytes()[1], fault.bytes()[8]), (0x50, 2));
        let answer = PageAnswer {
            error: 1,
            memory: 0x0b,
            can_read: true,
            can_write: false,
            offset: 3,
        };
        let bytes = answer.bytes();
        assert_eq!((bytes[0], bytes[8], bytes[10], bytes[16]), (1, 1, 0x0b, 3));
    }
}
