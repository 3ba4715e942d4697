//! The traits between a device and the machine around it.
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

use crate::accelerator::Work;
use crate::dtu::{Dtu, Packet};
use crate::request_faults::RequestFaults;

/// Picoseconds of virtual time since the machine's reset.
pub type Time = u64;

/// An access that a device refuses: the hart gets an access fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the device refuses the access")]
pub struct Refused;

/// How a machine ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Finish {
    /// The machine stops. 0 is success, and another number is the failure's code.
    Exit(u32),
    /// The machine starts again from its reset.
    Reset,
}

/// State that [`Device::load`] refuses: truncated, of another device, or impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the saved state of the {device} is unusable: {reason}")]
pub struct BadState {
    /// The kind of the device that refuses the state.
    pub device: &'static str,
    /// The first fault that was found.
    pub reason: String,
}

/// What a device reaches beyond its own registers.
///
/// The levels that a device has set and the events that it has scheduled belong to the
/// surroundings. A snapshot saves them there, and [`Device::load`] does not repeat them.
pub trait Surroundings {
    /// The virtual time of the access or event that the device handles.
    fn now(&self) -> Time;

    /// Sets the level of a wired interrupt (a source of the interrupt controller, by its number).
    /// A device may set a level again that the source already has.
    fn set_source(&mut self, source: u32, level: bool);

    /// Sets the level of a bit of a hart's `mip` (3 MSIP, 7 MTIP, 11 MEIP, 1 SSIP, 5 STIP,
    /// 9 SEIP, 16 of a data transfer unit).
    ///
    /// SSIP is stored in the hart, and not on the line: `true` sets the bit, and the hart's
    /// software clears it (ACLINT, chapter 4). No device sets SSIP to `false`.
    fn set_hart_line(&mut self, hart: usize, bit: u32, level: bool);

    /// `Device::event` is called at `at` (or now, if that is past) with `token`. A later call with
    /// the same token replaces it; `Time::MAX` cancels. Tokens belong to the device that schedules.
    fn schedule(&mut self, token: u32, at: Time);

    /// Reads physical memory as a bus master does. Refuses a range that is not all memory.
    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refused>;

    /// Writes physical memory as a bus master does. Refuses a range that is not all memory.
    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refused>;

    /// Bytes to the console that belongs to the device.
    fn output(&mut self, bytes: &[u8]);

    /// The device may take bytes of [`Device::input`] again: each device calls this after it took
    /// fewer than it was offered and has room again, and may call it at other times. A machine may
    /// ignore the call and offer the bytes at a later time of its own.
    fn input_ready(&mut self) {}

    /// The machine ends or resets.
    fn finish(&mut self, how: Finish);

    /// The device is in the state of this name from now on, for traces.
    fn enter_state(&mut self, _name: &'static str) {}

    /// The unit has put a message into a slot, for tests that look at what units promise.
    fn message_stored(&mut self) {}

    /// The number in its tile of the hart whose access the device handles.
    fn hart(&self) -> usize {
        0
    }

    /// The root reads a register of the tile's accelerator, which the device is not.
    fn read_register(&mut self, _offset: u64) -> Result<u64, Refused> {
        Err(Refused)
    }

    /// The root writes such a register.
    fn write_register(&mut self, _offset: u64, _value: u64) -> Result<(), Refused> {
        Err(Refused)
    }

    /// Sends a packet to the unit of another tile, whose [`Device::packet`] gets it later. False: no link
    /// leads there.
    fn send(&mut self, _packet: Packet) -> bool {
        false
    }
}

/// A device with registers on the bus. `offset` is from the base of its range; `size` is 1, 2, 4
/// or 8 bytes. Values are little-endian and zero-extended.
pub trait Device {
    /// Reads the register at `offset`, with the effects that the read has.
    fn read(
        &mut self,
        offset: u64,
        size: u32,
        around: &mut dyn Surroundings,
    ) -> Result<u64, Refused>;

    /// Writes the register at `offset`. Bits of `value` beyond `size` are ignored.
    fn write(
        &mut self,
        offset: u64,
        size: u32,
        value: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused>;

    /// The time has come that the device scheduled with `token`.
    fn event(&mut self, _token: u32, _around: &mut dyn Surroundings) {}

    /// Bytes from outside arrive (console input). Returns how many it takes now.
    fn input(&mut self, _bytes: &[u8], _around: &mut dyn Surroundings) -> usize {
        0
    }

    /// A packet of another tile's unit arrives.
    fn packet(&mut self, _packet: Packet, _around: &mut dyn Surroundings) {}

    /// The machine resets: registers are as after the device's construction, and a disk keeps what
    /// was written. The surroundings have dropped all levels and events. The default is for a
    /// device without state.
    fn reset(&mut self) {}

    /// The data transfer unit that it is or has.
    fn unit(&self) -> Option<&Dtu> {
        None
    }

    /// What it has done up to a time, if it is an accelerator.
    fn work(&self, _now: Time) -> Option<Work> {
        None
    }

    /// Faults of its requests, if it is a disk.
    fn request_faults(&mut self) -> Option<&mut RequestFaults> {
        None
    }

    /// State for snapshots: `postcard` of a structure that holds all that can change.
    fn save(&self) -> Vec<u8>;

    /// Takes the state that [`save`](Device::save) of a device of the same description returned.
    /// After an error the device is as before.
    fn load(&mut self, state: &[u8]) -> Result<(), BadState>;
}

/// Bytes in a state, as one piece: `serde` takes a `Vec<u8>` for a sequence of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BytesVisitor;
        impl Visitor<'_> for BytesVisitor {
            type Value = Bytes;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(BytesVisitor)
    }
}

/// The bytes of a device's state.
pub(crate) fn save_state(state: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(state).expect("the state of a device has only types that postcard knows")
}

/// A device's state from its bytes.
pub(crate) fn load_state<T: DeserializeOwned>(
    device: &'static str,
    state: &[u8],
) -> Result<T, BadState> {
    let (value, rest) = postcard::take_from_bytes(state).map_err(|error| BadState {
        device,
        reason: error.to_string(),
    })?;
    check_state(device, rest.is_empty(), "bytes are left over")?;
    Ok(value)
}

/// Refuses a state that lacks a property.
pub(crate) fn check_state(
    device: &'static str,
    holds: bool,
    otherwise: &str,
) -> Result<(), BadState> {
    match holds {
        true => Ok(()),
        false => Err(BadState {
            device,
            reason: otherwise.to_owned(),
        }),
    }
}
