//! The MMIO transport (Virtio 1.2, chapter 4.2), version 2 of its registers.
use super::split_queue::{QueueFault, SplitQueue};
use super::virtio_device::VirtioDevice;
use crate::device::{
    BadState, Bytes, Device, Refused, Surroundings, Time, check_state, load_state, save_state,
};
use crate::request_faults::RequestFaults;
use serde::{Deserialize, Serialize};

const MAGIC: u32 = u32::from_le_bytes(*b"virt");
const VERSION: u32 = 2;
/// QEMU's vendor: xv6 takes no other.
const VENDOR: u32 = u32::from_le_bytes(*b"QEMU");
/// The first byte of the device's configuration space.
const CONFIG: u64 = 0x100;
/// Bytes of registers and configuration space.
const SIZE: u64 = 0x1000;

/// Bits of the features that belong to queues and the transport.
const INDIRECT: u64 = 1 << 28;
const EVENT_INDEX: u64 = 1 << 29;
const VERSION_1: u64 = 1 << 32;
const SHARED: u64 = INDIRECT | EVENT_INDEX | VERSION_1;

/// Bits of the device's status.
const DRIVER_OK: u32 = 4;
const FEATURES_OK: u32 = 8;
const NEEDS_RESET: u32 = 64;

/// Bits of the interrupt's status.
const USED_BUFFER: u32 = 1;
const CONFIG_CHANGE: u32 = 2;

/// What can change.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    status: u32,
    device_features_select: u32,
    driver_features_select: u32,
    driver_features: u64,
    queue_select: u32,
    queues: Vec<SplitQueue>,
    interrupt: u32,
    /// Notifications that the device has yet to see, one bit for each queue.
    notified: u32,
    fault: Option<QueueFault>,
    level: bool,
}

/// A slot for a virtio device: its registers in 0x1000 bytes, and one interrupt. Event tokens are
/// the numbers of queues.
pub struct VirtioMmio {
    source: u32,
    latency: Time,
    device: Option<Box<dyn VirtioDevice>>,
    state: State,
}

impl VirtioMmio {
    /// A slot that raises `source`. The device sees a notification after `latency`, and then its
    /// work takes no time. Without a device the slot is empty: its device's type is 0.
    pub fn new(source: u32, latency: Time, device: Option<Box<dyn VirtioDevice>>) -> Self {
        let state = initial(device.as_deref());
        Self {
            source,
            latency,
            device,
            state,
        }
    }

    /// What the driver has done wrong since the device's reset, if anything.
    pub fn fault(&self) -> Option<QueueFault> {
        self.state.fault
    }

    fn features(&self) -> u64 {
        let device = self.device.as_ref();
        device.map_or(0, |device| device.features() | SHARED)
    }

    /// The driver has set the device up, and neither has failed.
    fn runs(&self) -> bool {
        self.state.status & (DRIVER_OK | NEEDS_RESET) == DRIVER_OK
    }

    fn max_queue(&self) -> u16 {
        let sizes = self.device.as_ref().map_or(&[][..], |d| d.queue_sizes());
        let size = sizes.get(self.state.queue_select as usize);
        size.copied().unwrap_or_default()
    }

    fn queue(&mut self) -> Option<&mut SplitQueue> {
        self.state.queues.get_mut(self.state.queue_select as usize)
    }

    fn driver_resets(&mut self, around: &mut dyn Surroundings) {
        for queue in 0..self.state.queues.len() {
            around.schedule(queue as u32, Time::MAX);
        }
        let level = self.state.level;
        self.reset();
        self.state.level = level;
    }

    fn write_status(&mut self, value: u32, around: &mut dyn Surroundings) {
        if value == 0 {
            self.driver_resets(around);
            return;
        }
        let offered = self.features();
        let state = &mut self.state;
        // The device alone sets the bit that asks for a reset.
        let mut status = value & 0xff & !NEEDS_RESET | state.status & NEEDS_RESET;
        if status & !state.status & FEATURES_OK != 0 {
            let taken = state.driver_features;
            // Drivers like xv6's use this interface without the feature that it has. QEMU lets them.
            if taken & !offered != 0 {
                status &= !FEATURES_OK;
            }
            for queue in &mut state.queues {
                queue.indirect = taken & INDIRECT != 0;
                queue.event_index = taken & EVENT_INDEX != 0;
            }
        }
        let starts = status & !state.status & DRIVER_OK != 0;
        state.status = status;
        if starts {
            // The driver may have notified the device already, when the device was not to look.
            let notified = std::mem::take(&mut self.state.notified);
            let queues = 0..self.state.queues.len() as u32;
            for queue in queues.filter(|queue| notified >> queue & 1 != 0) {
                self.notify(queue, around);
            }
        }
    }

    fn notify(&mut self, queue: u32, around: &mut dyn Surroundings) {
        if queue as usize >= self.state.queues.len() {
            return;
        }
        if self.state.status & DRIVER_OK == 0 {
            self.state.notified |= 1 << queue;
        } else if self.latency == 0 {
            self.process(queue as usize, around);
        } else if self.state.notified >> queue & 1 == 0 {
            self.state.notified |= 1 << queue;
            let at = around.now().saturating_add(self.latency);
            around.schedule(queue, at);
        }
    }

    fn process(&mut self, queue: usize, around: &mut dyn Surroundings) {
        let ready = self.runs() && self.state.queues[queue].ready;
        let Some(device) = self.device.as_mut().filter(|_| ready) else {
            return;
        };
        let ring = &mut self.state.queues[queue];
        let before = ring.returned();
        let done = device.process(queue, ring, around);
        let done = done.and_then(|()| ring.ask_for_notification(around));
        self.settle(queue, before, done, around);
    }

    /// After the device's work on a queue: an interrupt for what it has returned, and for a fault.
    fn settle(
        &mut self,
        queue: usize,
        before: u16,
        done: Result<(), QueueFault>,
        around: &mut dyn Surroundings,
    ) {
        // What was returned before a fault is the driver's all the same.
        let interrupts = self.state.queues[queue].interrupts(before, around);
        if interrupts == Ok(true) {
            self.state.interrupt |= USED_BUFFER;
        }
        if let Err(fault) = done.and(interrupts) {
            self.state.fault = Some(fault);
            self.state.status |= NEEDS_RESET;
            self.state.interrupt |= CONFIG_CHANGE;
        }
        self.update(around);
    }

    fn update(&mut self, around: &mut dyn Surroundings) {
        let level = self.state.interrupt != 0;
        // A high level is announced again: another buffer is another cause
        // ([`crate::plic::Gateways::Message`]).
        if level || self.state.level {
            self.state.level = level;
            around.set_source(self.source, level);
        }
    }

    fn read_register(&mut self, offset: u64) -> u32 {
        let features = self.features();
        let state = &self.state;
        match offset {
            0x00 => MAGIC,
            0x04 => VERSION,
            0x08 => self.device.as_ref().map_or(0, |device| device.id()),
            0x0c => VENDOR,
            0x10 => match state.device_features_select {
                0 => features as u32,
                1 => (features >> 32) as u32,
                _ => 0,
            },
            0x34 => self.max_queue().into(),
            0x44 => self.queue().map_or(0, |queue| queue.ready.into()),
            0x60 => state.interrupt,
            0x70 => state.status,
            // Length and base of a shared memory region: there is none.
            0xb0..=0xbc => u32::MAX,
            // The generation of the configuration space (0xfc) stays 0: it never changes by itself.
            _ => 0,
        }
    }

    fn write_register(&mut self, offset: u64, value: u32, around: &mut dyn Surroundings) {
        let status = self.state.status;
        let most = self.max_queue();
        match offset {
            0x14 => self.state.device_features_select = value,
            0x20 if status & FEATURES_OK == 0 => {
                let features = &mut self.state.driver_features;
                match self.state.driver_features_select {
                    0 => set_low(features, value),
                    1 => set_high(features, value),
                    _ => {}
                }
            }
            0x24 => self.state.driver_features_select = value,
            0x30 => self.state.queue_select = value,
            0x50 => self.notify(value, around),
            0x64 => {
                self.state.interrupt &= !value;
                self.update(around);
            }
            0x70 => {
                self.write_status(value, around);
                self.update(around);
            }
            0x38 | 0x44 | 0x80..=0xa4 => {
                if let Some(queue) = self.queue() {
                    write_queue(queue, most, offset, value);
                }
            }
            _ => {}
        }
    }
}

/// The state after a reset.
fn initial(device: Option<&dyn VirtioDevice>) -> State {
    let queues = device.map_or(0, |device| device.queue_sizes().len());
    State {
        queues: vec![SplitQueue::default(); queues],
        ..State::default()
    }
}

fn set_low(register: &mut u64, value: u32) {
    *register = *register & !0xffff_ffff | u64::from(value);
}

fn set_high(register: &mut u64, value: u32) {
    *register = *register & 0xffff_ffff | u64::from(value) << 32;
}

/// Writes a register of the selected queue. A size that no queue can have makes the queue one that
/// never becomes ready, and a ready queue keeps what it has.
fn write_queue(queue: &mut SplitQueue, most: u16, offset: u64, value: u32) {
    match offset {
        0x44 if value & 1 == 0 => queue.ready = false,
        _ if queue.ready => {}
        0x44 if SplitQueue::valid_size(queue.size, most) => queue.start(),
        0x38 => {
            let size = u16::try_from(value).unwrap_or_default();
            queue.size = match SplitQueue::valid_size(size, most) {
                true => size,
                false => 0,
            };
        }
        0x80 => set_low(&mut queue.descriptors, value),
        0x84 => set_high(&mut queue.descriptors, value),
        0x90 => set_low(&mut queue.available, value),
        0x94 => set_high(&mut queue.available, value),
        0xa0 => set_low(&mut queue.used, value),
        0xa4 => set_high(&mut queue.used, value),
        _ => {}
    }
}

/// The registers take accesses of 4 bytes, and the configuration space of its fields' sizes.
fn check_access(offset: u64, size: u32) -> Result<(), Refused> {
    let fits = matches!(size, 1 | 2 | 4 | 8) && (offset >= CONFIG || size == 4);
    match fits && offset.is_multiple_of(size.into()) && offset < SIZE {
        true => Ok(()),
        false => Err(Refused),
    }
}

impl Device for VirtioMmio {
    fn read(
        &mut self,
        offset: u64,
        size: u32,
        _around: &mut dyn Surroundings,
    ) -> Result<u64, Refused> {
        check_access(offset, size)?;
        if offset < CONFIG {
            return Ok(self.read_register(offset).into());
        }
        let mut bytes = [0; 8];
        if let Some(device) = &self.device {
            device.read_config(offset - CONFIG, &mut bytes[..size as usize]);
        }
        Ok(u64::from_le_bytes(bytes))
    }

    fn write(
        &mut self,
        offset: u64,
        size: u32,
        value: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        check_access(offset, size)?;
        if offset < CONFIG {
            self.write_register(offset, value as u32, around);
        } else if let Some(device) = &mut self.device {
            let bytes = &value.to_le_bytes()[..size as usize];
            device.write_config(offset - CONFIG, bytes, around);
        }
        Ok(())
    }

    fn event(&mut self, token: u32, around: &mut dyn Surroundings) {
        let known = (token as usize) < self.state.queues.len();
        let device = self.device.as_mut();
        let faults = device.and_then(|device| device.request_faults());
        let is_held = faults.is_some_and(|faults| faults.is_held());
        if known && (is_held || self.state.notified >> token & 1 != 0) {
            self.state.notified &= !(1 << token);
            self.process(token as usize, around);
        }
    }

    fn input(&mut self, bytes: &[u8], around: &mut dyn Surroundings) -> usize {
        let runs = self.runs();
        let Some(device) = self.device.as_mut().filter(|_| runs) else {
            return 0;
        };
        let queues = &mut self.state.queues;
        let before: Vec<u16> = queues.iter().map(SplitQueue::returned).collect();
        let taken = device.input(bytes, queues, around);
        // Only queues that are ready have moved.
        for (queue, before) in before.into_iter().enumerate() {
            if self.state.queues[queue].ready {
                self.settle(queue, before, Ok(()), around);
            }
        }
        match taken {
            Ok(taken) => taken,
            Err(fault) => {
                let before = self.state.queues[0].returned();
                self.settle(0, before, Err(fault), around);
                0
            }
        }
    }

    fn request_faults(&mut self) -> Option<&mut RequestFaults> {
        self.device.as_mut()?.request_faults()
    }

    fn reset(&mut self) {
        self.state = initial(self.device.as_deref());
        if let Some(device) = &mut self.device {
            device.reset();
        }
    }

    fn save(&self) -> Vec<u8> {
        let device = self.device.as_ref().map(|device| Bytes(device.save()));
        save_state(&(&self.state, device))
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        const NAME: &str = "virtio slot";
        let (state, device): (State, Option<Bytes>) = load_state(NAME, state)?;
        let sizes = self.device.as_ref().map_or(&[][..], |d| d.queue_sizes());
        let same = device.is_some() == self.device.is_some() && state.queues.len() == sizes.len();
        check_state(NAME, same, "another device")?;
        let mut queues = state.queues.iter().zip(sizes);
        let valid = queues.all(|(queue, &most)| {
            SplitQueue::valid_size(queue.size, most) || (queue.size == 0 && !queue.ready)
        });
        check_state(NAME, valid, "a queue of a size that it cannot have")?;
        if let (Some(own), Some(device)) = (&mut self.device, device) {
            own.load(&device.0)?;
        }
        self.state = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
