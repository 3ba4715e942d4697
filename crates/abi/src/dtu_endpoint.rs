//! The four words of an endpoint of a data transfer unit (`docs/dtu.md`, "Registers").
use crate::dtu_pages::PagesEndpoint;

const RECEIVE: u64 = 1;
const SEND: u64 = 2;
const MEMORY: u64 = 3;
const REGISTERS: u64 = 4;
const PAGES: u64 = 5;

/// An endpoint receives messages into a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReceiveEndpoint {
    /// Its owner.
    pub activity: u16,
    /// Physical address of the first slot.
    pub buffer: u64,
    /// Bytes of a slot, as a power of two; at most 16 count.
    pub log2_slot: u8,
    /// Slots.
    pub slots: u8,
    /// Slots with a message, a bit each.
    pub occupied: u32,
    /// Slots with a message that `Fetch` has not returned, a bit each.
    pub unread: u32,
}

/// An endpoint sends messages to one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SendEndpoint {
    /// Its owner.
    pub activity: u16,
    /// The receiver's tile.
    pub tile: u16,
    /// The receiver's endpoint.
    pub endpoint: u16,
    /// The activity that the messages are for.
    pub receiver: u16,
    /// What the messages carry, and the sender cannot change.
    pub label: u64,
    /// How many messages can be sent now.
    pub credits: u16,
    /// How many credits there can be.
    pub most_credits: u16,
    /// Bytes of a message at most, with its header, as a power of two; at most 16 count.
    pub log2_message: u8,
}

/// An endpoint reaches a range of the memory of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryEndpoint {
    /// Its owner.
    pub activity: u16,
    /// Whether it allows `Read`.
    pub can_read: bool,
    /// Whether it allows `Write`.
    pub can_write: bool,
    /// The tile.
    pub tile: u16,
    /// Physical address of the first byte in the tile.
    pub address: u64,
    /// Bytes of the range.
    pub size: u64,
    /// The activity that has to be current there, because the memory has its data; 0: any.
    pub receiver: u16,
}

/// An endpoint of the root's unit reaches the registers of the unit of a tile, and of an accelerator there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterEndpoint {
    /// Its owner.
    pub activity: u16,
    /// The tile.
    pub tile: u16,
}

/// What an endpoint is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// Kind 1.
    Receive(ReceiveEndpoint),
    /// Kind 2.
    Send(SendEndpoint),
    /// Kind 3.
    Memory(MemoryEndpoint),
    /// Kind 4.
    Registers(RegisterEndpoint),
    /// Kind 5.
    Pages(PagesEndpoint),
}

impl Endpoint {
    /// The words of an endpoint that is for nothing.
    pub const NONE: [u64; 4] = [0; 4];

    /// The words.
    #[inline]
    pub const fn words(&self) -> [u64; 4] {
        match *self {
            Self::Receive(e) => [
                RECEIVE | (e.activity as u64) << 16,
                e.buffer,
                e.log2_slot as u64 | (e.slots as u64) << 8,
                e.occupied as u64 | (e.unread as u64) << 32,
            ],
            Self::Send(e) => [
                SEND | (e.activity as u64) << 16,
                e.tile as u64 | (e.endpoint as u64) << 16 | (e.receiver as u64) << 32,
                e.label,
                e.credits as u64 | (e.most_credits as u64) << 16 | (e.log2_message as u64) << 32,
            ],
            Self::Memory(e) => [
                MEMORY
                    | (e.can_read as u64) << 4
                    | (e.can_write as u64) << 5
                    | (e.activity as u64) << 16,
                e.tile as u64 | (e.receiver as u64) << 32,
                e.address,
                e.size,
            ],
            Self::Registers(e) => [REGISTERS | (e.activity as u64) << 16, e.tile as u64, 0, 0],
            Self::Pages(e) => [
                PAGES | (e.activity as u64) << 16,
                e.pager as u64,
                e.faults,
                e.state(),
            ],
        }
    }

    /// From the words; `None` for a kind that is for nothing.
    pub const fn from_words(words: [u64; 4]) -> Option<Self> {
        let [first, second, third, fourth] = words;
        let activity = (first >> 16) as u16;
        Some(match first & 15 {
            RECEIVE => Self::Receive(ReceiveEndpoint {
                activity,
                buffer: second,
                log2_slot: third as u8,
                slots: (third >> 8) as u8,
                occupied: fourth as u32,
                unread: (fourth >> 32) as u32,
            }),
            SEND => Self::Send(SendEndpoint {
                activity,
                tile: second as u16,
                endpoint: (second >> 16) as u16,
                receiver: (second >> 32) as u16,
                label: third,
                credits: fourth as u16,
                most_credits: (fourth >> 16) as u16,
                log2_message: (fourth >> 32) as u8,
            }),
            MEMORY => Self::Memory(MemoryEndpoint {
                activity,
                can_read: first >> 4 & 1 != 0,
                can_write: first >> 5 & 1 != 0,
                tile: second as u16,
                address: third,
                size: fourth,
                receiver: (second >> 32) as u16,
            }),
            REGISTERS => Self::Registers(RegisterEndpoint {
                activity,
                tile: second as u16,
            }),
            PAGES => Self::Pages(PagesEndpoint {
                activity,
                pager: second as u16,
                faults: third,
                pending: PagesEndpoint::pending(fourth),
            }),
            _ => return None,
        })
    }

    /// The owner.
    pub const fn activity(&self) -> u16 {
        match self {
            Self::Receive(endpoint) => endpoint.activity,
            Self::Send(endpoint) => endpoint.activity,
            Self::Memory(endpoint) => endpoint.activity,
            Self::Registers(endpoint) => endpoint.activity,
            Self::Pages(endpoint) => endpoint.activity,
        }
    }
}

impl ReceiveEndpoint {
    /// An empty buffer.
    pub const fn new(activity: u16, buffer: u64, log2_slot: u8, slots: u8) -> Self {
        Self {
            activity,
            buffer,
            log2_slot,
            slots,
            occupied: 0,
            unread: 0,
        }
    }

    /// Bytes of a slot.
    pub const fn slot_size(&self) -> u64 {
        1 << if self.log2_slot < 16 {
            self.log2_slot
        } else {
            16
        }
    }

    /// The address of a slot.
    pub const fn slot_address(&self, slot: u8) -> u64 {
        self.buffer
            .wrapping_add(self.slot_size().wrapping_mul(slot as u64))
    }

    /// The slot of the message at this address, as `Fetch` has returned it.
    pub const fn slot_at(&self, address: u64) -> Option<u8> {
        let slot = address.wrapping_sub(self.buffer) / self.slot_size();
        match slot < self.slots as u64 {
            true => Some(slot as u8),
            false => None,
        }
    }
}

impl SendEndpoint {
    /// Bytes of a message at most, with its header.
    pub const fn message_size(&self) -> u64 {
        1 << if self.log2_message < 16 {
            self.log2_message
        } else {
            16
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_bits_of_the_page() {
        let mut receive = ReceiveEndpoint::new(9, 0x8000_0000, 8, 4);
        receive.occupied = 3;
        receive.unread = 2;
        assert_eq!(
            Endpoint::Receive(receive).words(),
            [0x9_0001, 0x8000_0000, 0x408, 0x2_0000_0003]
        );
        assert_eq!(receive.slot_address(3), 0x8000_0300);
        assert_eq!(receive.slot_at(0x8000_03ff), Some(3));
        assert_eq!(receive.slot_at(0x8000_0400), None);
        assert_eq!(receive.slot_at(0x7fff_ffff), None);
        let send = SendEndpoint {
            activity: 7,
            tile: 1,
            endpoint: 3,
            receiver: 9,
            label: 5,
            credits: 2,
            most_credits: 4,
            log2_message: 10,
        };
        assert_eq!(
            Endpoint::Send(send).words(),
            [0x7_0002, 0x9_0003_0001, 5, 0xa_0004_0002]
        );
        let memory = MemoryEndpoint {
            activity: 1,
            can_read: false,
            can_write: true,
            tile: 2,
            address: 0x1000,
            size: 0x2000,
            receiver: 3,
        };
        assert_eq!(
            Endpoint::Memory(memory).words(),
            [0x1_0023, 0x3_0000_0002, 0x1000, 0x2000]
        );
        let registers = RegisterEndpoint {
            activity: 5,
            tile: 6,
        };
        assert_eq!(Endpoint::Registers(registers).words(), [0x5_0004, 6, 0, 0]);
        let mut pages = PagesEndpoint::new(7, 10);
        pages.faults = 3;
        assert_eq!(Endpoint::Pages(pages).words(), [0x7_0005, 10, 3, 0]);
    }

    #[test]
    fn words_come_back() {
        for kind in 0..16 {
            let words = [
                0x0123_4567_89ab_cde0 | kind,
                0x1122_3344_5566_7788,
                0xffee_ddcc_bbaa_9988,
                0x0f1e_2d3c_4b5a_6978,
            ];
            let Some(endpoint) = Endpoint::from_words(words) else {
                assert!(kind == 0 || kind > 5);
                continue;
            };
            assert_eq!(endpoint.activity(), 0x89ab);
            assert_eq!(Endpoint::from_words(endpoint.words()), Some(endpoint));
        }
    }
}
