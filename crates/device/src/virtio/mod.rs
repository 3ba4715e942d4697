//! Devices of the Virtual I/O Device specification (OASIS, version 1.2) on its MMIO transport.
//!
//! | file | part |
//! |---|---|
//! | `virtio_device.rs` | the trait between the transport and a device |
//! | `split_queue.rs` | the queue that both share with the driver |
//! | `mmio_transport.rs` | registers, status, features, interrupt |
//! | `block_device.rs`, `disk_image.rs` | the disk, and what is behind it |
//! | `virtio_console.rs` | the console |
//!
//! A driver can write anything to a queue. Whatever it writes, a notification handles at most one
//! queue of chains, and each chain is as long as the largest queue at most. A fault of a request
//! gives the request an error status. A fault of the queue sets DEVICE_NEEDS_RESET, and the device
//! rests until its reset ([`QueueFault`] has the faults).
mod block_device;
mod disk_image;
mod mmio_transport;
mod split_queue;
#[cfg(test)]
mod test_driver;
mod virtio_console;
mod virtio_device;

pub use block_device::BlockDevice;
pub use disk_image::{Disk, FileImage, Image, MemoryImage, Overlay};
pub use mmio_transport::VirtioMmio;
pub use split_queue::{Chain, MAX_QUEUE, QueueFault, Segments, SplitQueue};
pub use virtio_console::VirtioConsole;
pub use virtio_device::VirtioDevice;
