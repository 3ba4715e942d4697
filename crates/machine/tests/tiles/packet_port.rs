//! A device that sends packets to other tiles and keeps those that it gets, for tests of the network.
use std::collections::VecDeque;

use flick_device::dtu::{CommandNumber, Packet, PacketKind};
use flick_device::{BadState, Device, Refused, Surroundings, Time};
use serde::{Deserialize, Serialize};

/// Its registers, of 8 bytes each. A write of `SEND` sends a packet to the tile of that number, whose
/// payload has `SIZE` bytes and begins with `VALUE`.
pub const REGISTERS: &str = r"
.equ SEND, 0
.equ SIZE, 8
.equ VALUE, 16
.equ SENT, 24
.equ UNREAD, 32
.equ POP, 40
.equ FROM, 48
.equ ARRIVED, 56
.equ TILE, 64
.equ HART, 72
.equ NOW, 80
";

/// Bytes of a packet beside its payload.
pub const HEADER: u64 = 16;

#[derive(Default, Serialize, Deserialize)]
struct State {
    size: u64,
    value: u64,
    is_sent: bool,
    unread: VecDeque<(u64, u16, Time)>,
    /// Sender and time of the packet that was read last.
    last: (u16, Time),
}

pub struct PacketPort {
    tile: u16,
    state: State,
}

impl PacketPort {
    pub fn new(tile: usize) -> Self {
        Self {
            tile: tile as u16,
            state: State::default(),
        }
    }
}

/// The external interrupt of machine mode.
const LINE: u32 = 11;

impl Device for PacketPort {
    fn read(&mut self, offset: u64, _: u32, around: &mut dyn Surroundings) -> Result<u64, Refused> {
        let state = &mut self.state;
        Ok(match offset {
            24 => state.is_sent.into(),
            32 => state.unread.len() as u64,
            40 => {
                let (value, from, time) = state.unread.pop_front().unwrap_or_default();
                state.last = (from, time);
                if state.unread.is_empty() {
                    around.set_hart_line(0, LINE, false);
                }
                value
            }
            48 => state.last.0.into(),
            56 => state.last.1,
            64 => self.tile.into(),
            72 => around.hart() as u64,
            80 => around.now(),
            _ => return Err(Refused),
        })
    }

    fn write(
        &mut self,
        offset: u64,
        _: u32,
        value: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        let state = &mut self.state;
        match offset {
            0 => {
                let mut bytes = state.value.to_le_bytes().to_vec();
                bytes.resize(state.size.max(8) as usize, 0);
                let (bank, number) = (0, 0);
                let kind = PacketKind::Data {
                    command: CommandNumber { bank, number },
                    part: 0,
                    bytes,
                };
                let (from, to) = (self.tile, value as u16);
                state.is_sent = around.send(Packet { from, to, kind });
            }
            8 => state.size = value,
            16 => state.value = value,
            _ => return Err(Refused),
        }
        Ok(())
    }

    fn packet(&mut self, packet: Packet, around: &mut dyn Surroundings) {
        let PacketKind::Data { bytes, .. } = &packet.kind else {
            return;
        };
        let value = u64::from_le_bytes(bytes[..8].try_into().unwrap());
        let got = (value, packet.from, around.now());
        self.state.unread.push_back(got);
        around.set_hart_line(0, LINE, true);
    }

    fn reset(&mut self) {
        self.state = State::default();
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.state).unwrap()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        let bad = |error: postcard::Error| BadState {
            device: "packet port",
            reason: error.to_string(),
        };
        self.state = postcard::from_bytes(state).map_err(bad)?;
        Ok(())
    }
}
