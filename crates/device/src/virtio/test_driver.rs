//! A driver for tests: it sets a device up and puts chains of descriptors together.
use super::mmio_transport::VirtioMmio;
use super::virtio_device::VirtioDevice;
use crate::device::{Device, Time};
use crate::mock::Mock;

/// The source of the slot.
pub const SOURCE: u32 = 7;
pub const BASE: u64 = 0x8000_0000;
/// The first byte of buffers.
pub const BUFFERS: u64 = BASE + 0x1_0000;
pub const VERSION_1: u64 = 1 << 32;
pub const INDIRECT: u64 = 1 << 28;
pub const EVENT_INDEX: u64 = 1 << 29;

/// Descriptors' flags.
pub const NEXT: u16 = 1;
pub const WRITE: u16 = 2;
pub const TABLE: u16 = 4;

/// A slot with a device, and memory with its queues of 8 descriptors.
pub struct Driver {
    pub slot: VirtioMmio,
    pub around: Mock,
}

/// The areas of a queue: descriptors, available ring, used ring.
pub fn areas(queue: u64) -> [u64; 3] {
    let base = BASE + queue * 0x1000;
    [base, base + 0x400, base + 0x800]
}

impl Driver {
    /// A device that is set up, with the features that the driver takes.
    pub fn new(device: Box<dyn VirtioDevice>, features: u64) -> Self {
        Self::with_latency(device, features, 0)
    }

    pub fn with_latency(device: Box<dyn VirtioDevice>, features: u64, latency: Time) -> Self {
        let queues = device.queue_sizes().len() as u64;
        let mut driver = Self {
            slot: VirtioMmio::new(SOURCE, latency, Some(device)),
            around: Mock::with_memory(BASE, 0x10_0000),
        };
        driver.negotiate(features | VERSION_1);
        (0..queues).for_each(|queue| driver.set_up(queue));
        driver.set(0x70, 15);
        assert_eq!(driver.get(0x70), 15);
        driver
    }

    pub fn get(&mut self, offset: u64) -> u32 {
        self.slot.read(offset, 4, &mut self.around).unwrap() as u32
    }

    pub fn set(&mut self, offset: u64, value: u32) {
        let written = self.slot.write(offset, 4, value.into(), &mut self.around);
        written.unwrap();
    }

    pub fn negotiate(&mut self, features: u64) {
        self.set(0x70, 0);
        self.set(0x70, 3);
        for half in 0..2 {
            self.set(0x24, half);
            self.set(0x20, (features >> (32 * half)) as u32);
        }
        self.set(0x70, 11);
    }

    pub fn set_up(&mut self, queue: u64) {
        self.set(0x30, queue as u32);
        self.set(0x38, 8);
        for (register, area) in [0x80, 0x90, 0xa0].into_iter().zip(areas(queue)) {
            self.set(register, area as u32);
            self.set(register + 4, (area >> 32) as u32);
        }
        self.set(0x44, 1);
        assert_eq!(self.get(0x44), 1);
    }

    pub fn bytes(&mut self, address: u64, length: usize) -> &mut [u8] {
        let start = (address - BASE) as usize;
        &mut self.around.memory[start..start + length]
    }

    pub fn put(&mut self, address: u64, bytes: &[u8]) {
        self.bytes(address, bytes.len()).copy_from_slice(bytes);
    }

    pub fn u16_at(&mut self, address: u64) -> u16 {
        u16::from_le_bytes(self.bytes(address, 2).try_into().unwrap())
    }

    /// Writes a descriptor of a table.
    pub fn describe(&mut self, table: u64, number: u16, what: (u64, u32, u16, u16)) {
        let (address, length, flags, next) = what;
        let mut bytes = address.to_le_bytes().to_vec();
        bytes.extend(length.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        bytes.extend(next.to_le_bytes());
        self.put(table + u64::from(number) * 16, &bytes);
    }

    /// Writes a chain from descriptor 0 on, of buffers with their flag `WRITE` or 0.
    pub fn chain(&mut self, queue: u64, buffers: &[(u64, u32, u16)]) {
        for (number, &(address, length, flags)) in buffers.iter().enumerate() {
            let last = number + 1 == buffers.len();
            let flags = if last { flags } else { flags | NEXT };
            let what = (address, length, flags, number as u16 + 1);
            self.describe(areas(queue)[0], number as u16, what);
        }
    }

    /// Makes the chain that starts with a descriptor available, without a notification.
    pub fn offer(&mut self, queue: u64, head: u16) {
        let available = areas(queue)[1];
        let index = self.u16_at(available + 2);
        self.put(
            available + 4 + 2 * u64::from(index % 8),
            &head.to_le_bytes(),
        );
        self.put(available + 2, &index.wrapping_add(1).to_le_bytes());
    }

    /// Makes a chain available and notifies the device. Returns the written length of the last
    /// used element, if one was added.
    pub fn send(&mut self, queue: u64, head: u16) -> Option<u32> {
        let before = self.used(queue);
        self.offer(queue, head);
        self.set(0x50, queue as u32);
        (self.used(queue) != before).then(|| self.last_used(queue).1)
    }

    pub fn used(&mut self, queue: u64) -> u16 {
        self.u16_at(areas(queue)[2] + 2)
    }

    /// Head and written length.
    pub fn last_used(&mut self, queue: u64) -> (u32, u32) {
        let slot = u64::from(self.used(queue).wrapping_sub(1) % 8);
        let element = self.bytes(areas(queue)[2] + 4 + 8 * slot, 8);
        let [a, b, c, d, length @ ..] = element else {
            unreachable!()
        };
        let length: &[u8] = length;
        (
            u32::from_le_bytes([*a, *b, *c, *d]),
            u32::from_le_bytes(length.try_into().unwrap()),
        )
    }

    pub fn acknowledge(&mut self) -> u32 {
        let interrupt = self.get(0x60);
        assert_eq!(self.around.source(SOURCE), interrupt != 0);
        self.set(0x64, interrupt);
        assert!(!self.around.source(SOURCE));
        interrupt
    }
}
