//! Models of the devices of a simulated RV64 machine, with the map of QEMU's machine `virt`.
#![warn(missing_docs)]
#![forbid(unsafe_code)]
mod aclint;
mod device;
pub mod fdt;
pub mod mock;
mod plic;
mod test_finisher;
mod timebase;
mod uart16550;

pub use aclint::{Clint, Mswi, Mtimer, Sswi};
pub use device::{BadState, Device, Finish, Refused, Surroundings, Time};
pub use plic::{BadPlic, Context, Plic, PlicDescription};
pub use test_finisher::TestFinisher;
pub use timebase::{BadFrequency, Timebase};
pub use uart16550::Uart16550;
