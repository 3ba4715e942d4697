//! Models of the devices of a simulated RV64 machine, with those of QEMU's machine `virt` and its
//! map. They know neither harts nor the host's clock: a device sees accesses, events and input,
//! and reaches the rest of the machine through [`Surroundings`]. So the same accesses at the same
//! virtual times give the same run.
//!
//! | file | device | base in `virt` |
//! |---|---|---|
//! | `aclint.rs`, `timebase.rs` | timer and software interrupts: [`Clint`], or [`Mswi`], [`Mtimer`] and [`Sswi`] | 0x2000000 |
//! | `plic.rs` | interrupt controller | 0xc000000 |
//! | `uart16550.rs` | serial port | 0x10000000 |
//! | `test_finisher.rs` | power-off, reset | 0x100000 |
//! | `goldfish_rtc.rs` | real-time clock | 0x101000 |
//! | `virtio/` | disk and console | 0x10001000 to 0x10008000 |
//! | `dtu/` | the data transfer unit of a tile | none |
//! | `accelerator/` | a tile with an accelerator | none |
//! | `host_tile.rs` | the bridge to the programs of the host | none |
//! | `tile_unit.rs` | the unit of such a tile, which no hart drives | none |
//!
//! `device.rs` has the traits, and `mock.rs` surroundings for tests. `fdt.rs` (with
//! `isa_string.rs`) writes the device tree by which firmware finds the devices.
//!
//! An access that a device does not know is refused where the device has no such register size,
//! and otherwise reads as 0 and does nothing when it writes, as QEMU's devices do.
//!
//! Libraries: the tree is written with `vm-fdt`, and states are saved with `postcard`. The serial
//! port of `vm-superio` is not used: it lacks the control register of its FIFOs, trigger levels,
//! timeouts, interrupt priorities and a level-triggered interrupt, which is most of a 16550A.
//! `virtio-queue` is not used because it reaches memory by host pointers
//! (`virtio/split_queue.rs`).
#![warn(missing_docs)]
#![forbid(unsafe_code)]
pub mod accelerator;
mod aclint;
mod device;
pub mod dtu;
pub mod fdt;
mod goldfish_rtc;
mod host_tile;
mod isa_string;
pub mod mock;
mod plic;
mod request_faults;
mod test_finisher;
mod tile_unit;
mod timebase;
mod uart16550;
pub mod virtio;

pub use aclint::{Clint, Mswi, Mtimer, Sswi};
pub use device::{BadState, Device, Finish, Refused, Surroundings, Time};
pub use goldfish_rtc::GoldfishRtc;
pub use host_tile::{Arrived, HostSpace, HostTile, NoSpace};
pub use plic::{BadPlic, Context, Gateways, Plic, PlicDescription};
pub use request_faults::{RequestFault, RequestFaults};
pub use test_finisher::TestFinisher;
pub use timebase::{BadFrequency, Timebase};
pub use uart16550::Uart16550;
