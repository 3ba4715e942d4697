//! Surroundings for tests of devices: they record what a device does, and keep its events.
use crate::device::{Device, Finish, Refused, Surroundings, Time};
use crate::dtu::Packet;
use std::collections::{BTreeMap, BTreeSet};

/// Surroundings that record. Two that are equal have seen the same calls from their devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mock {
    /// The virtual time.
    pub now: Time,
    /// The level of each source that a device has set.
    pub sources: BTreeMap<u32, bool>,
    /// How often a device has set a source's level to high.
    pub announced: BTreeMap<u32, u32>,
    /// The level of each bit of `mip` that a device has set, by hart and bit.
    pub lines: BTreeMap<(usize, u32), bool>,
    /// The scheduled time of each token. Cancelled ones are absent.
    pub events: BTreeMap<u32, Time>,
    /// The address of the first byte of memory.
    pub memory_base: u64,
    /// The memory.
    pub memory: Vec<u8>,
    /// All console output.
    pub console: Vec<u8>,
    /// How often a device was ready for input.
    pub ready: u32,
    /// What devices asked of the machine, in order.
    pub finished: Vec<Finish>,
    /// The hart that accesses a device.
    pub hart: usize,
    /// The tiles to which links lead.
    pub tiles: BTreeSet<u16>,
    /// Packets that a device has sent to them, in order.
    pub sent: Vec<Packet>,
}

impl Mock {
    /// Surroundings with zeroed memory of `size` bytes at `base`.
    pub fn with_memory(base: u64, size: usize) -> Self {
        Self {
            memory_base: base,
            memory: vec![0; size],
            ..Self::default()
        }
    }

    /// The level of a source.
    pub fn source(&self, source: u32) -> bool {
        self.sources.get(&source) == Some(&true)
    }

    /// The level of a bit of a hart's `mip`.
    pub fn line(&self, hart: usize, bit: u32) -> bool {
        self.lines.get(&(hart, bit)) == Some(&true)
    }

    /// Lets time pass until `time`, with the device's events on the way: by time, then by token.
    /// At most `limit` events happen, so that a device that schedules without end stays testable.
    pub fn run_until(&mut self, device: &mut dyn Device, time: Time, limit: usize) {
        for _ in 0..limit {
            let next = self.events.iter().map(|(&token, &at)| (at, token)).min();
            let Some((at, token)) = next.filter(|&(at, _)| at <= time) else {
                break;
            };
            self.events.remove(&token);
            self.now = self.now.max(at);
            device.event(token, self);
        }
        self.now = self.now.max(time);
    }

    fn range(&self, address: u64, length: usize) -> Result<std::ops::Range<usize>, Refused> {
        let start = address.checked_sub(self.memory_base).ok_or(Refused)?;
        let start = usize::try_from(start).map_err(|_| Refused)?;
        let end = start.checked_add(length).ok_or(Refused)?;
        match end <= self.memory.len() {
            true => Ok(start..end),
            false => Err(Refused),
        }
    }
}

impl Surroundings for Mock {
    fn now(&self) -> Time {
        self.now
    }

    fn set_source(&mut self, source: u32, level: bool) {
        self.sources.insert(source, level);
        *self.announced.entry(source).or_default() += u32::from(level);
    }

    fn set_hart_line(&mut self, hart: usize, bit: u32, level: bool) {
        self.lines.insert((hart, bit), level);
    }

    fn schedule(&mut self, token: u32, at: Time) {
        match at {
            Time::MAX => self.events.remove(&token),
            at => self.events.insert(token, at.max(self.now)),
        };
    }

    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        let range = self.range(address, bytes.len())?;
        bytes.copy_from_slice(&self.memory[range]);
        Ok(())
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        let range = self.range(address, bytes.len())?;
        self.memory[range].copy_from_slice(bytes);
        Ok(())
    }

    fn output(&mut self, bytes: &[u8]) {
        self.console.extend_from_slice(bytes);
    }

    fn input_ready(&mut self) {
        self.ready += 1;
    }

    fn finish(&mut self, how: Finish) {
        self.finished.push(how);
    }

    fn hart(&self) -> usize {
        self.hart
    }

    fn send(&mut self, packet: Packet) -> bool {
        let is_linked = self.tiles.contains(&packet.to);
        if is_linked {
            self.sent.push(packet);
        }
        is_linked
    }
}
