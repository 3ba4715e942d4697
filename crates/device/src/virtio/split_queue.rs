//! The split virtqueue (Virtio 1.2, chapter 2.7), seen from the device.
//!
//! The crate `virtio-queue` is not used: its memory is host memory that it addresses by pointers.
//! Here each access goes through [`Surroundings`], because a write of a device ends reservations
//! of harts and invalidates their decoded instructions, and is charged time.
use crate::device::{Refused, Surroundings};
use serde::{Deserialize, Serialize};

/// The largest queue, and the longest table of indirect descriptors.
pub const MAX_QUEUE: u16 = 1024;

/// The longest chain, as the specification has it (2.7.4).
const MAX_CHAIN_BYTES: u64 = 1 << 32;

const DESCRIPTOR: u64 = 16;
const NEXT: u16 = 1;
const WRITE: u16 = 2;
const INDIRECT: u16 = 4;
/// The driver's flag in the available ring: no interrupts.
const NO_INTERRUPT: u16 = 1;

/// What a driver has done wrong with a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum QueueFault {
    /// The queue or a buffer that the device must write is not in memory.
    #[error("the queue leaves the memory")]
    Memory,
    /// The available ring's index is ahead by more than the queue's size.
    #[error("more buffers are available than the queue has")]
    Index,
    /// A descriptor's number is not one of its table.
    #[error("a chain leaves its table of descriptors")]
    Number,
    /// A chain has more descriptors than its table has: it is a loop.
    #[error("a chain of descriptors has a loop")]
    Loop,
    /// A buffer to read follows one to write.
    #[error("a buffer to read follows a buffer to write")]
    Order,
    /// A table of indirect descriptors in another, before the end of a chain, or without the
    /// feature; or its length is not that of 1 to [`MAX_QUEUE`] descriptors.
    #[error("an indirect descriptor where none may be, or of a wrong length")]
    Indirect,
    /// A chain of more bytes than it may have.
    #[error("a chain of descriptors is too long")]
    TooLong,
    /// A chain without the buffer in which the device answers.
    #[error("a request has no place for its answer")]
    NoAnswer,
}

impl From<Refused> for QueueFault {
    fn from(_: Refused) -> Self {
        Self::Memory
    }
}

/// Buffers of the driver, as one string of bytes.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    /// Address and length of each.
    parts: Vec<(u64, u32)>,
    length: u64,
}

impl Segments {
    /// Bytes in all of them.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// There are no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn push(&mut self, address: u64, length: u32) {
        self.parts.push((address, length));
        self.length += u64::from(length);
    }

    /// The pieces of memory that hold `length` bytes from `at` on: address and length of each.
    fn pieces(&self, at: u64, length: usize) -> Result<Vec<(u64, usize)>, Refused> {
        let (mut skip, mut left) = (at, length);
        let mut pieces = Vec::new();
        for &(address, size) in &self.parts {
            let size = u64::from(size);
            if left == 0 {
                break;
            }
            if skip >= size {
                skip -= size;
                continue;
            }
            let piece = usize::try_from(size - skip).map_or(left, |size| size.min(left));
            pieces.push((address.checked_add(skip).ok_or(Refused)?, piece));
            left -= piece;
            skip = 0;
        }
        match left {
            0 => Ok(pieces),
            _ => Err(Refused),
        }
    }

    /// Reads the bytes from `at` on. Refuses bytes behind the end.
    pub fn read(
        &self,
        at: u64,
        mut bytes: &mut [u8],
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        for (address, length) in self.pieces(at, bytes.len())? {
            let (piece, rest) = std::mem::take(&mut bytes).split_at_mut(length);
            around.read_memory(address, piece)?;
            bytes = rest;
        }
        Ok(())
    }

    /// Writes the bytes from `at` on. Refuses bytes behind the end.
    pub fn write(
        &self,
        at: u64,
        mut bytes: &[u8],
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        for (address, length) in self.pieces(at, bytes.len())? {
            let (piece, rest) = bytes.split_at(length);
            around.write_memory(address, piece)?;
            bytes = rest;
        }
        Ok(())
    }
}

/// A chain of buffers that the driver has made available.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    head: u16,
    /// What the driver sends.
    pub readable: Segments,
    /// Where the device answers.
    pub writable: Segments,
}

#[derive(Clone, Copy)]
struct Descriptor {
    address: u64,
    length: u32,
    flags: u16,
    next: u16,
}

impl Descriptor {
    /// Address and number of descriptors of the table that this one names. Its flag `WRITE` has no
    /// meaning.
    fn table(&self) -> Result<(u64, u32), QueueFault> {
        let count = self.length / DESCRIPTOR as u32;
        let whole = self.length.is_multiple_of(DESCRIPTOR as u32);
        match whole && (1..=u32::from(MAX_QUEUE)).contains(&count) && self.flags & NEXT == 0 {
            true => Ok((self.address, count)),
            false => Err(QueueFault::Indirect),
        }
    }
}

/// A queue as the driver has set it up, and the device's place in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitQueue {
    /// Descriptors: a power of two, or 0 before the driver has chosen.
    pub size: u16,
    /// The driver has set it up.
    pub ready: bool,
    /// The address of the table of descriptors.
    pub descriptors: u64,
    /// The address of the available ring (the driver's area).
    pub available: u64,
    /// The address of the used ring (the device's area).
    pub used: u64,
    /// The driver has taken VIRTIO_F_INDIRECT_DESC.
    pub indirect: bool,
    /// The driver has taken VIRTIO_F_EVENT_IDX.
    pub event_index: bool,
    next_available: u16,
    next_used: u16,
}

impl SplitQueue {
    /// The queue of that size can be used.
    pub fn valid_size(size: u16, most: u16) -> bool {
        size.is_power_of_two() && size <= most
    }

    /// The driver sets the queue ready: both sides start from index 0.
    pub fn start(&mut self) {
        self.ready = true;
        self.next_available = 0;
        self.next_used = 0;
    }

    /// How many chains wait. Handling no more than these ends even when the device's own writes
    /// change the ring.
    pub fn waiting(&self, around: &mut dyn Surroundings) -> Result<u16, QueueFault> {
        let index = read_u16(self.available, 2, around)?;
        let count = index.wrapping_sub(self.next_available);
        match count <= self.size {
            true => Ok(count),
            false => Err(QueueFault::Index),
        }
    }

    /// Takes the next of the chains that wait.
    pub fn take(&mut self, around: &mut dyn Surroundings) -> Result<Chain, QueueFault> {
        let slot = u64::from(self.next_available % self.size.max(1));
        let head = read_u16(self.available, 4 + 2 * slot, around)?;
        let mut chain = Chain {
            head,
            ..Chain::default()
        };
        self.follow(head, &mut chain, around)?;
        self.next_available = self.next_available.wrapping_add(1);
        Ok(chain)
    }

    /// Collects the buffers of a chain. Descriptors of the queue come first; the last of them may
    /// be a table with the rest (2.7.5.3).
    fn follow(
        &self,
        head: u16,
        chain: &mut Chain,
        around: &mut dyn Surroundings,
    ) -> Result<(), QueueFault> {
        let mut table = (self.descriptors, u32::from(self.size));
        let mut left = table.1;
        let mut number = head;
        let mut in_indirect = false;
        loop {
            let descriptor = self.descriptor(table, number, around)?;
            left = left.checked_sub(1).ok_or(QueueFault::Loop)?;
            if descriptor.flags & INDIRECT != 0 {
                if in_indirect || !self.indirect {
                    return Err(QueueFault::Indirect);
                }
                table = descriptor.table()?;
                (left, number, in_indirect) = (table.1, 0, true);
                continue;
            }
            let segments = match descriptor.flags & WRITE {
                0 if !chain.writable.parts.is_empty() => return Err(QueueFault::Order),
                0 => &mut chain.readable,
                _ => &mut chain.writable,
            };
            segments.push(descriptor.address, descriptor.length);
            if chain.readable.length + chain.writable.length > MAX_CHAIN_BYTES {
                return Err(QueueFault::TooLong);
            }
            if descriptor.flags & NEXT == 0 {
                return Ok(());
            }
            number = descriptor.next;
        }
    }

    fn descriptor(
        &self,
        (table, count): (u64, u32),
        number: u16,
        around: &mut dyn Surroundings,
    ) -> Result<Descriptor, QueueFault> {
        if u32::from(number) >= count {
            return Err(QueueFault::Number);
        }
        let mut bytes = [0; DESCRIPTOR as usize];
        let address = at(table, u64::from(number) * DESCRIPTOR)?;
        around.read_memory(address, &mut bytes)?;
        let [
            a0,
            a1,
            a2,
            a3,
            a4,
            a5,
            a6,
            a7,
            l0,
            l1,
            l2,
            l3,
            f0,
            f1,
            n0,
            n1,
        ] = bytes;
        Ok(Descriptor {
            address: u64::from_le_bytes([a0, a1, a2, a3, a4, a5, a6, a7]),
            length: u32::from_le_bytes([l0, l1, l2, l3]),
            flags: u16::from_le_bytes([f0, f1]),
            next: u16::from_le_bytes([n0, n1]),
        })
    }

    /// Returns a chain to the driver, with `written` bytes at the start of its writable buffers.
    pub fn give_back(
        &mut self,
        chain: &Chain,
        written: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), QueueFault> {
        let slot = u64::from(self.next_used % self.size.max(1));
        let written = u32::try_from(written).unwrap_or(u32::MAX);
        let mut element = [0; 8];
        element[..2].copy_from_slice(&chain.head.to_le_bytes());
        element[4..].copy_from_slice(&written.to_le_bytes());
        around.write_memory(at(self.used, 4 + 8 * slot)?, &element)?;
        self.next_used = self.next_used.wrapping_add(1);
        write_u16(self.used, 2, self.next_used, around)
    }

    /// How many chains have been returned, modulo 2^16: for [`interrupts`](Self::interrupts).
    pub fn returned(&self) -> u16 {
        self.next_used
    }

    /// The driver wants an interrupt for the chains that were returned since `before` (2.7.7).
    pub fn interrupts(
        &self,
        before: u16,
        around: &mut dyn Surroundings,
    ) -> Result<bool, QueueFault> {
        if before == self.next_used {
            return Ok(false);
        }
        if !self.event_index {
            return Ok(read_u16(self.available, 0, around)? & NO_INTERRUPT == 0);
        }
        let event = read_u16(self.available, 4 + 2 * u64::from(self.size), around)?;
        let since_event = self.next_used.wrapping_sub(event).wrapping_sub(1);
        Ok(since_event < self.next_used.wrapping_sub(before))
    }

    /// Asks the driver to notify the device of the next chain (2.7.10).
    pub fn ask_for_notification(&self, around: &mut dyn Surroundings) -> Result<(), QueueFault> {
        match self.event_index {
            false => Ok(()),
            true => {
                let offset = 4 + 8 * u64::from(self.size);
                write_u16(self.used, offset, self.next_available, around)
            }
        }
    }
}

fn at(base: u64, offset: u64) -> Result<u64, QueueFault> {
    base.checked_add(offset).ok_or(QueueFault::Memory)
}

fn read_u16(base: u64, offset: u64, around: &mut dyn Surroundings) -> Result<u16, QueueFault> {
    let mut bytes = [0; 2];
    around.read_memory(at(base, offset)?, &mut bytes)?;
    Ok(u16::from_le_bytes(bytes))
}

fn write_u16(
    base: u64,
    offset: u64,
    value: u16,
    around: &mut dyn Surroundings,
) -> Result<(), QueueFault> {
    around.write_memory(at(base, offset)?, &value.to_le_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests;
