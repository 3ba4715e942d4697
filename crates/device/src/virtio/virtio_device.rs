//! The trait between a transport and a device.
use super::split_queue::{QueueFault, SplitQueue};
use crate::device::{BadState, Surroundings};
use crate::request_faults::RequestFaults;

/// A device behind a transport. The transport has the queues and tells the driver of used buffers.
pub trait VirtioDevice: Send {
    /// The device's type (chapter 5).
    fn id(&self) -> u32;

    /// The features of its type that the device offers (bits 0 to 23 and 50 to 63). The transport
    /// adds those of queues and of itself.
    fn features(&self) -> u64;

    /// The largest size of each queue: powers of two, at most [`super::MAX_QUEUE`]. There are at
    /// most 32 queues.
    fn queue_sizes(&self) -> &'static [u16];

    /// Reads the configuration space. Bytes behind its end are 0.
    fn read_config(&self, offset: u64, bytes: &mut [u8]);

    /// Writes the configuration space. Fields that the driver may not write stay.
    fn write_config(&mut self, _offset: u64, _bytes: &[u8], _around: &mut dyn Surroundings) {}

    /// The driver or the machine resets the device.
    fn reset(&mut self) {}

    /// The driver has made buffers available on a queue, which is ready.
    fn process(
        &mut self,
        queue: usize,
        ring: &mut SplitQueue,
        around: &mut dyn Surroundings,
    ) -> Result<(), QueueFault>;

    /// Bytes from outside arrive, and the driver is ready for the device. Returns how many it
    /// takes now.
    fn input(
        &mut self,
        _bytes: &[u8],
        _rings: &mut [SplitQueue],
        _around: &mut dyn Surroundings,
    ) -> Result<usize, QueueFault> {
        Ok(0)
    }

    /// Faults of its requests, if it is a disk.
    fn request_faults(&mut self) -> Option<&mut RequestFaults> {
        None
    }

    /// See [`crate::Device::save`].
    fn save(&self) -> Vec<u8>;

    /// See [`crate::Device::load`].
    fn load(&mut self, state: &[u8]) -> Result<(), BadState>;
}
