//! The data transfer unit of a tile (`docs/dtu.md`).
mod packet;

pub use packet::{Packet, PacketKind};
