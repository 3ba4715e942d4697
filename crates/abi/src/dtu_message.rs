//! The header of a message between data transfer units (`docs/dtu.md`, "Messages").
use core::mem::offset_of;

/// Bytes of a header.
pub const HEADER_SIZE: usize = 24;
/// The message is an answer.
pub const FLAG_ANSWER: u8 = 1;
/// The message has given a credit back to its receiver.
pub const FLAG_CREDIT: u8 = 2;
/// [`Header::answer_endpoint`] of a message that takes no answer.
pub const NO_HEADER_ENDPOINT: u8 = 0xff;

/// The header of a message, as it lies in a slot of the receiver's buffer. Little-endian.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Header {
    /// [`FLAG_ANSWER`] and [`FLAG_CREDIT`].
    pub flags: u8,
    /// The sender's tile.
    pub tile: u8,
    /// The sender's endpoint; of an answer, the endpoint that received the request.
    pub endpoint: u8,
    /// The sender's endpoint that takes an answer, or [`NO_HEADER_ENDPOINT`].
    pub answer_endpoint: u8,
    /// Bytes of the payload, which follows the header.
    pub size: u16,
    /// The sender's activity.
    pub activity: u16,
    /// The label that an answer shall carry.
    pub answer_label: u64,
    /// The label of the sender, which its kernel has set; of an answer, that of the request.
    pub label: u64,
}

impl Header {
    /// From memory.
    pub const fn from_bytes(bytes: &[u8; HEADER_SIZE]) -> Self {
        let [a, b, c, d, e, f, g, h, rest @ ..] = *bytes;
        let words = u128::from_le_bytes(rest);
        let first = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        Self::from_words([first, words as u64, (words >> 64) as u64])
    }

    /// From its words in memory.
    pub const fn from_words([first, answer_label, label]: [u64; HEADER_SIZE / 8]) -> Self {
        Self {
            flags: first as u8,
            tile: (first >> 8) as u8,
            endpoint: (first >> 16) as u8,
            answer_endpoint: (first >> 24) as u8,
            size: (first >> 32) as u16,
            activity: (first >> 48) as u16,
            answer_label,
            label,
        }
    }

    /// As in memory.
    pub const fn bytes(&self) -> [u8; HEADER_SIZE] {
        let words = self.answer_label as u128 | (self.label as u128) << 64;
        let first = self.flags as u64
            | (self.tile as u64) << 8
            | (self.endpoint as u64) << 16
            | (self.answer_endpoint as u64) << 24
            | (self.size as u64) << 32
            | (self.activity as u64) << 48;
        let mut bytes = [0; HEADER_SIZE];
        let (first_bytes, rest) = bytes.split_at_mut(8);
        first_bytes.copy_from_slice(&first.to_le_bytes());
        rest.copy_from_slice(&words.to_le_bytes());
        bytes
    }

    /// Whether the message is an answer.
    pub const fn is_answer(&self) -> bool {
        self.flags & FLAG_ANSWER != 0
    }

    /// Whether the receiver can answer the message.
    pub const fn takes_answer(&self) -> bool {
        !self.is_answer() && self.answer_endpoint != NO_HEADER_ENDPOINT
    }
}

/// Bytes of a [`ForwardedHeader`].
pub const FORWARDED_HEADER_SIZE: usize = 32;

/// What lies in front of the payload that a [`Forward`](crate::dtu::Command::Forward) sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ForwardedHeader {
    /// The header that the receiver gets; the unit sets its size. With [`FLAG_ANSWER`] it is an answer.
    pub header: Header,
    /// The send endpoint whose credit comes back with the answer, or which an answer gives a credit.
    pub credit_endpoint: u16,
    /// Whether there is such a credit.
    pub has_credit: bool,
    /// How often that endpoint had been set up.
    pub credit_setup: u32,
}

impl ForwardedHeader {
    /// From memory.
    pub const fn from_bytes(bytes: &[u8; FORWARDED_HEADER_SIZE]) -> Self {
        let (header, rest) = bytes.split_at(HEADER_SIZE);
        let mut first = [0; HEADER_SIZE];
        first.copy_from_slice(header);
        Self {
            header: Header::from_bytes(&first),
            credit_endpoint: u16::from_le_bytes([rest[0], rest[1]]),
            has_credit: rest[2] & 1 != 0,
            credit_setup: u32::from_le_bytes([rest[4], rest[5], rest[6], rest[7]]),
        }
    }

    /// As in memory.
    pub const fn bytes(&self) -> [u8; FORWARDED_HEADER_SIZE] {
        let mut bytes = [0; FORWARDED_HEADER_SIZE];
        let (header, rest) = bytes.split_at_mut(HEADER_SIZE);
        header.copy_from_slice(&self.header.bytes());
        let credit = self.credit_endpoint as u64
            | (self.has_credit as u64) << 16
            | (self.credit_setup as u64) << 32;
        rest.copy_from_slice(&credit.to_le_bytes());
        bytes
    }
}

/// What a unit knows of the sender of a message, as the root reads and writes it
/// ([`slot_record`](crate::dtu::slot_record)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotRecord {
    /// The sender's tile.
    pub tile: u16,
    /// The sender's activity.
    pub activity: u16,
    /// The sender's endpoint that takes an answer.
    pub answer: Option<u16>,
    /// The label that an answer shall carry.
    pub label: u64,
    /// The sender's endpoint whose credit goes back, and how often it had been set up.
    pub credit: Option<(u16, u32)>,
}

impl SlotRecord {
    const KNOWN: u64 = 1 << 48;
    const CREDIT: u64 = 1 << 49;
    const NO_ANSWER: u16 = 0xffff;

    /// The words of a slot of whose message the unit knows nothing.
    pub const NONE: [u64; 4] = [0; 4];

    /// The words.
    pub const fn words(&self) -> [u64; 4] {
        let answer = match self.answer {
            Some(answer) => answer,
            None => Self::NO_ANSWER,
        };
        let (flag, credit) = match self.credit {
            Some((endpoint, setup)) => (Self::CREDIT, endpoint as u64 | (setup as u64) << 32),
            None => (0, 0),
        };
        let who = self.tile as u64 | (self.activity as u64) << 16 | (answer as u64) << 32;
        [who | Self::KNOWN | flag, self.label, credit, 0]
    }

    /// From the words. `None`: nothing is known of the message.
    pub const fn from_words(words: [u64; 4]) -> Option<Self> {
        let [who, label, credit, _] = words;
        if who & Self::KNOWN == 0 {
            return None;
        }
        let answer = match (who >> 32) as u16 {
            Self::NO_ANSWER => None,
            answer => Some(answer),
        };
        let credit = match who & Self::CREDIT {
            0 => None,
            _ => Some((credit as u16, (credit >> 32) as u32)),
        };
        Some(Self {
            tile: who as u16,
            activity: (who >> 16) as u16,
            answer,
            label,
            credit,
        })
    }
}

/// The endpoints of an [`EVENTS`](crate::dtu::EVENTS) or [`WAITING`](crate::dtu::WAITING) word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread(pub u64);

impl Iterator for Unread {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        let endpoint = self.0.trailing_zeros() as u16;
        self.0 &= self.0.wrapping_sub(1);
        (endpoint < 64).then_some(endpoint)
    }
}

const _: () = assert!(size_of::<Header>() == HEADER_SIZE);
const _: () = assert!(offset_of!(Header, size) == 4);
const _: () = assert!(offset_of!(Header, activity) == 6);
const _: () = assert!(offset_of!(Header, answer_label) == 8);
const _: () = assert!(offset_of!(Header, label) == 16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_the_bytes_of_the_page() {
        let header = Header {
            flags: FLAG_ANSWER | FLAG_CREDIT,
            tile: 2,
            endpoint: 4,
            answer_endpoint: NO_HEADER_ENDPOINT,
            size: 0x120,
            activity: 0x3456,
            answer_label: 0x1112_1314_1516_1718,
            label: 0x2122_2324_2526_2728,
        };
        let bytes = header.bytes();
        assert_eq!(bytes[..8], [3, 2, 4, 0xff, 0x20, 1, 0x56, 0x34]);
        assert_eq!(bytes[8..16], 0x1112_1314_1516_1718_u64.to_le_bytes());
        assert_eq!(bytes[16..], 0x2122_2324_2526_2728_u64.to_le_bytes());
        assert_eq!(Header::from_bytes(&bytes), header);
        assert!(header.is_answer() && !header.takes_answer());
        assert!(Header::default().takes_answer());
    }

    #[test]
    fn a_forwarded_header_has_the_bytes_of_the_page() {
        let forwarded = ForwardedHeader {
            header: Header {
                tile: 7,
                ..Header::default()
            },
            credit_endpoint: 0x1234,
            has_credit: true,
            credit_setup: 0x0506_0708,
        };
        let bytes = forwarded.bytes();
        assert_eq!(bytes[..HEADER_SIZE], forwarded.header.bytes());
        assert_eq!(bytes[HEADER_SIZE..], [0x34, 0x12, 1, 0, 8, 7, 6, 5]);
        assert_eq!(ForwardedHeader::from_bytes(&bytes), forwarded);
    }

    #[test]
    fn slot_records_come_back() {
        let record = SlotRecord {
            tile: 3,
            activity: 9,
            answer: Some(4),
            label: u64::MAX,
            credit: Some((5, 0x8000_0001)),
        };
        let words = record.words();
        assert_eq!(
            words,
            [0x3_0004_0009_0003, u64::MAX, 0x8000_0001_0000_0005, 0]
        );
        assert_eq!(SlotRecord::from_words(words), Some(record));
        let bare = SlotRecord {
            answer: None,
            credit: None,
            ..record
        };
        assert_eq!(SlotRecord::from_words(bare.words()), Some(bare));
        assert_eq!(SlotRecord::from_words(SlotRecord::NONE), None);
    }

    #[test]
    fn unread_endpoints_are_in_order() {
        assert!(Unread(0).eq([]));
        assert!(Unread(1 << 63 | 0b101).eq([0, 2, 63]));
    }
}
