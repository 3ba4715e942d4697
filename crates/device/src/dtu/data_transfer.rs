//! The packets of a `READ` or `WRITE`. Several are under way at a time, so that a long transfer
//! uses the whole bandwidth of a link whatever its latency is.
use flick_abi::dtu::Error;
use serde::{Deserialize, Serialize};

/// Packets of a transfer under way at a time, at most. 32 of 1 KiB are what a link of 32 GB/s has
/// under way in 1 µs, there and back.
pub(super) const PACKETS_UNDER_WAY: usize = 32;

/// A transfer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct DataTransfer {
    /// The tile of the memory.
    pub tile: u16,
    /// The address in that tile, or the offset of its first register.
    pub remote: u64,
    /// The activity that has to be current there; 0: any.
    pub receiver: u16,
    /// Whether it is one of registers.
    pub is_of_registers: bool,
    /// Whether it is one of a page.
    pub is_of_page: bool,
    /// Bytes for which packets were sent.
    sent: u64,
    /// The offsets of the packets that are under way.
    under_way: Vec<u64>,
    /// The number of the first [`Error`]. The transfer ends when no packet is under way any more.
    failed: Option<u8>,
}

impl DataTransfer {
    /// A transfer that has not begun.
    pub fn new(tile: u16, remote: u64, receiver: u16) -> Self {
        Self {
            tile,
            remote,
            receiver,
            is_of_registers: false,
            is_of_page: false,
            sent: 0,
            under_way: Vec::new(),
            failed: None,
        }
    }

    /// The same for registers.
    pub fn of_registers(tile: u16, register: u64) -> Self {
        Self {
            is_of_registers: true,
            ..Self::new(tile, register, 0)
        }
    }

    /// The same for a page.
    pub fn of_page(tile: u16, remote: u64, receiver: u16) -> Self {
        Self {
            is_of_page: true,
            ..Self::new(tile, remote, receiver)
        }
    }

    /// The offset and the bytes of the next packet, if one can be sent now.
    pub fn next(&self, size: u64, packet: u32) -> Option<(u64, u32)> {
        // A part that was lost holds back those that the receiver could not take note of.
        let window = PACKETS_UNDER_WAY as u64 * u64::from(packet);
        let has_room = self.unconfirmed() < window;
        let more = self.failed.is_none() && self.sent < size && has_room;
        more.then(|| (self.sent, part_size(self.sent, size, packet)))
    }

    /// Bytes from the oldest packet that is under way to the newest.
    fn unconfirmed(&self) -> u64 {
        self.under_way.first().map_or(0, |first| self.sent - first)
    }

    /// The offsets of the packets that are under way.
    pub fn under_way(&self) -> &[u64] {
        &self.under_way
    }

    /// The packet at `sent` was sent.
    pub fn send(&mut self, size: u32) {
        self.under_way.push(self.sent);
        self.sent += u64::from(size);
    }

    /// No packet is sent from now on.
    pub fn fail(&mut self, error: Error) {
        self.failed.get_or_insert(error as u8);
    }

    /// A kernel aborts the transfer of `size` bytes, unless its last packet is under way.
    pub fn abort(&mut self, size: u64) {
        if self.sent < size {
            self.fail(Error::Aborted);
        }
    }

    /// Whether the packet at `part` is under way.
    pub fn awaits(&self, part: u64) -> bool {
        self.under_way.contains(&part)
    }

    /// The packet at `part` was answered.
    pub fn answered(&mut self, part: u64) {
        self.under_way.retain(|&other| other != part);
    }

    /// How the transfer of `size` bytes has ended.
    pub fn ended(&self, size: u64) -> Option<Error> {
        let whole = self.failed.is_some() || self.sent >= size;
        let error = self.failed.and_then(Error::from_number);
        (whole && self.under_way.is_empty()).then(|| error.unwrap_or(Error::None))
    }

    /// Whether the state can be that of a transfer of `size` bytes.
    pub fn is_possible(&self, size: u64, packet: u32) -> bool {
        let known = self
            .failed
            .is_none_or(|error| Error::from_number(error).is_some());
        let parts = self.under_way.iter();
        known
            && self.sent <= size
            && (self.sent == size || self.sent.is_multiple_of(packet.into()))
            && !self.under_way.is_empty()
            && parts
                .clone()
                .all(|&part| part < self.sent && part % u64::from(packet) == 0)
            && parts.clone().is_sorted_by(|a, b| a < b)
            && self.unconfirmed() <= PACKETS_UNDER_WAY as u64 * u64::from(packet)
    }
}

/// The bytes of the packet at `part` of a transfer of `size` bytes.
pub(super) fn part_size(part: u64, size: u64, packet: u32) -> u32 {
    size.saturating_sub(part).min(packet.into()) as u32
}
