//! Packets between the units of two tiles.
use serde::{Deserialize, Serialize};

/// Bytes of a packet on a link beside its payload: tiles, kind, and the words that a kind has.
const HEADER: u64 = 16;

/// One packet on its way from one unit to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// The sender's tile.
    pub from: u16,
    /// The receiver's tile, which may be the sender's own.
    pub to: u16,
    /// What it is.
    pub kind: PacketKind,
}

/// What a packet is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketKind {
    /// Bytes.
    Data(Vec<u8>),
}

impl Packet {
    /// The bytes that a link carries for it.
    pub fn bytes(&self) -> u64 {
        let payload = match &self.kind {
            PacketKind::Data(bytes) => bytes.len() as u64,
        };
        HEADER + payload
    }
}
